"""The fixtures of the tests of parsers."""

from helpers.parsed import read, seed

__all__ = ["read", "seed"]
