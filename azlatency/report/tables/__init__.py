"""Tables of the pages: one module per page, named like its notebook."""

from azlatency.report.tables import (
    common,
    index,
    latency,
    summary,
    tail,
    throughput,
)
from azlatency.report.tables.common import provenance

__all__ = [
    "common", "index", "latency", "provenance",
    "summary", "tail", "throughput",
]  # fmt: skip
