"""The fio parser."""

from azlatency.logs.parsers.fio.parser import PARSER

__all__ = ["PARSER"]
