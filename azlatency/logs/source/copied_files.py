"""Files with the same bytes: one run, unless a time in each name says that they are two.

Ten pings of Windows, which prints whole milliseconds, easily give the same text twice.
"""

from __future__ import annotations

import hashlib
import re

_TIME = re.compile(
    r"(?<!\d)(?:\d{4}[-_.]?\d\d[-_.]?\d\d|\d\d[-_.]\d\d[-_.]\d{4})"
    r"(?:[T_ -]{0,3}\d\d[-:_.h]?\d\d(?:[-:_.m]?\d\d)?Z?)?(?!\d)"
    r"|(?<!\d)\d\d[-:]\d\d[-:]\d\d(?!\d)|(?<!\d)1\d{9}(?!\d)"
)


def id_at_other_time(source_id: str, path: str, first: str) -> str | None:
    """Return another id for a file with the bytes of the ``first``, if the times in their paths differ; else None."""
    times, others = _TIME.findall(path), _TIME.findall(first)
    if not times or not others or times == others:
        return None
    return hashlib.sha256(f"{source_id} {' '.join(times)}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
