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


class CopiedFiles:
    """Which files of a set are copies of others, and the ids of the others, which do not depend on their order.

    A file without a time in its name is a copy of any file with its bytes.
    """

    def __init__(self) -> None:
        # For each content, the file that stands for the files with these times in their names.
        self._paths: dict[str, dict[tuple[str, ...], str]] = {}

    def original_of(self, source_id: str, path: str) -> str | None:
        """Add a file, and return the path of the file that it is a copy of; None if it is not a copy."""
        times = tuple(_TIME.findall(path))
        paths = self._paths.setdefault(source_id, {})
        if times and () in paths:
            paths[times] = paths.pop(())
        if times not in paths and (times or not paths):
            paths[times] = path
            return None
        return paths.get(times) or next(iter(paths.values()))

    def id_of(self, source_id: str, path: str) -> str:
        """Return the id of a file that is not a copy, once all files are added."""
        paths = self._paths[source_id]
        if len(paths) == 1:
            return source_id
        times = next(times for times, original in paths.items() if original == path)
        return hashlib.sha256(f"{source_id} {' '.join(times)}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
