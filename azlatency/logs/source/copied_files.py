"""Files with the same bytes: one run, unless times in their names, or the numbers of short ones, say that they are two.

Two runs of qperf, which prints three digits, or of the ping of Windows, which prints whole milliseconds, easily give
the same text: `zone1-zone2/qperf_1.txt` and `zone1-zone3/qperf_1.txt`.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

_TIME = re.compile(
    r"(?<!\d)(?:\d{4}[-_.]?\d\d[-_.]?\d\d|\d\d[-_.]\d\d[-_.]\d{4})"
    r"(?:[T_ -]{0,3}\d\d[-:_.h]?\d\d(?:[-:_.m]?\d\d)?Z?)?(?!\d)"
    r"|(?<!\d)\d\d[-:]\d\d[-:]\d\d(?!\d)|(?<!\d)1\d{9}(?!\d)"
)
#: A number, with the letter of a zone such as `1a`; a file manager appends `(1)` to the name of a copy.
_NUMBER = re.compile(r"(?<![\d(])\d+(?:[a-z](?![a-z]))?(?!\d|\))")
#: Longer logs have so many digits that they are never equal by chance.
_SHORT_BYTES = 1000


class CopiedFiles:
    """Which files of a set are copies of others, and the ids of the others, which do not depend on their order.

    ``given`` are the paths that contain the files; the name of a folder that is common to all tells nothing apart.
    A file without a time or number in its name is a copy of any file with its bytes.
    """

    def __init__(self, given: Iterable[Path | str] = ()) -> None:
        try:
            self._common = os.path.commonpath([str(path) for path in given])
        except ValueError:  # none, or absolute and relative ones
            self._common = ""
        # For each content, the file that stands for the files with these times or numbers in their names, and the whole
        # numbers of which some are the last ones.
        self._paths: dict[str, dict[tuple[str, ...], str]] = {}
        self._whole: dict[str, dict[tuple[str, ...], tuple[str, ...]]] = {}
        self._numbers: dict[tuple[str, str], tuple[str, ...]] = {}

    def original_of(self, source_id: str, path: str, size: int) -> str | None:
        """Add a file of this size in bytes, and return the path of the file that it is a copy of, or None."""
        pattern = _NUMBER if size <= _SHORT_BYTES else _TIME
        numbers = tuple(pattern.findall(path.removeprefix(self._common)))
        paths, whole = self._paths.setdefault(source_id, {}), self._whole.setdefault(source_id, {})
        if numbers in whole:
            return paths[whole[numbers]]
        # A member of `2026-05-01.zip` has more numbers in its path than the unpacked file.
        ends = [numbers[start:] for start in range(len(numbers) + 1)]
        fewer = next((end for end in ends if end in paths), None)
        original = None if fewer is None else paths.pop(fewer)
        paths[numbers] = original or path
        self._numbers[source_id, paths[numbers]] = numbers
        for end in ends:
            if whole.get(end, fewer) == fewer:
                whole[end] = numbers
        return original

    def id_of(self, source_id: str, path: str) -> str:
        """Return the id of a file that is not a copy, once all files are added."""
        if len(self._paths[source_id]) == 1:
            return source_id
        numbers = self._numbers[source_id, path]
        return hashlib.sha256(f"{source_id} {' '.join(numbers)}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
