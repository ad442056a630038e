"""The findings of each page: the answer to its question, what to know before you rely on it, and the rest.

One module per page, named like its notebook, each with one function ``find``. Every number in a finding comes from
the results passed in. A finding keeps to its scope: one run supports a statement about a connection, not about a path.
"""

from azlatency.report.findings import (
    index,
    summary,
)

__all__ = [
    "index", "summary",
]  # fmt: skip
