"""The ping parser."""

from azlatency.logs.parsers.ping.parser import PARSER

__all__ = ["PARSER"]
