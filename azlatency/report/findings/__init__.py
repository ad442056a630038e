"""The card of a study: the answer to its question."""

from azlatency.report.findings import summary

__all__ = ["summary"]
