"""Tables of the pages: one module per page, named like its notebook."""

from azlatency.report.tables import (
    before_after,
    common,
    index,
    latency,
    placement,
    plan_the_next_run,
    stability,
    summary,
    tail,
    throughput,
    what_was_measured,
)
from azlatency.report.tables.common import provenance

__all__ = [
    "before_after", "common", "index", "latency", "placement", "plan_the_next_run", "provenance",
    "stability", "summary", "tail", "throughput", "what_was_measured",
]  # fmt: skip
