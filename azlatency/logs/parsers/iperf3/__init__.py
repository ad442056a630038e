"""The iperf3 parser."""

from azlatency.logs.parsers.iperf3.parser import PARSER

__all__ = ["PARSER"]
