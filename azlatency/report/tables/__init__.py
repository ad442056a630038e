"""Tables of the pages: one module per page, named like its notebook."""

from azlatency.report.tables import (
    common,
    index,
    summary,
    what_was_measured,
)
from azlatency.report.tables.common import provenance

__all__ = [
    "common", "index", "provenance", "summary", "what_was_measured",
]  # fmt: skip
