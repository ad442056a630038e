"""The iperf2 parser."""

from azlatency.logs.parsers.iperf2.parser import PARSER

__all__ = ["PARSER"]
