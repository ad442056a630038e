"""The netperf parser."""

from azlatency.logs.parsers.netperf.parser import PARSER

__all__ = ["PARSER"]
