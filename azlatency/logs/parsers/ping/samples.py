"""The probes of one run in order of appearance, stored as columns so that a million replies fit into memory."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from azlatency.logs.parsers.common import SEQUENCE_NUMBERS, SequenceNumbers
from azlatency.logs.source.large import MOST_IN_MEMORY, NULL, Column, Integers, extremes, pieces_of

if TYPE_CHECKING:
    import numpy as np

STATUSES = ("ok", "lost", "unreachable", "duplicate", "void")
#: Numbers without a sample are looked for in ranges of so many.
_WINDOW = 2**24
#: Fewer samples need no numpy, whose import takes as long.
_FEW = 2**14
#: A late or repeated reply is usually one of so many samples before it.
_RECENT = 2**10


def _integers() -> Column:
    return array("q")


@dataclass
class ProbeSamples:
    """Columns of the samples of one run; `NULL` marks a missing value."""

    seq: Column = field(default_factory=_integers)
    sent: Column = field(default_factory=_integers)
    rtt: Column = field(default_factory=_integers)
    low: Column = field(default_factory=_integers)
    high: Column = field(default_factory=_integers)
    status: bytearray | Integers = field(default_factory=bytearray)
    """Indexes into `STATUSES`."""
    begins: Column = field(default_factory=_integers)
    """Where each range of samples begins that have ascending numbers and were added one after the other."""
    ends: Column = field(default_factory=_integers)
    """Where these ranges end (exclusive)."""
    late: dict[int, int] = field(default_factory=dict)
    """Index of the first sample of each number that was added after a higher one."""
    repeated: Column = field(default_factory=_integers)
    """The number of each sample that has an earlier one."""
    numbers: SequenceNumbers = field(default_factory=SequenceNumbers)
    highest: int = -1

    def add(
        self,
        seq: int,
        rtt: int | None,
        status: str,
        sent: int | None = None,
        bounds: tuple[int | None, int | None] = (None, None),
    ) -> int | None:
        """Add one sample and return its index; None if the probe has a sample that says more.

        A reply replaces an earlier "no answer yet"; a second reply is a duplicate.
        """
        index = self.find(seq)
        if index is not None and status in ("ok", "void"):
            if STATUSES[self.status[index]] in ("lost", "unreachable"):
                self.sent[index], self.rtt[index] = _or_null(sent), _or_null(rtt)
                self.status[index] = STATUSES.index(status)
                return index
            status = "duplicate"
        elif index is not None and status != "duplicate":
            return None
        at = len(self.seq)
        if index is not None:
            self.repeated.append(seq)
        elif seq < self.highest:
            self.late[seq] = at
        else:
            self._add_range(seq, 1)
        self.seq.append(seq)
        self.status.append(STATUSES.index(status))
        low, high = bounds
        self.sent.append(NULL if sent is None else sent)
        self.rtt.append(NULL if rtt is None else rtt)
        self.low.append(NULL if low is None else low)
        self.high.append(NULL if high is None else high)
        if at == MOST_IN_MEMORY:
            self._move_into_files()
        return at

    def extend(self, seq: np.ndarray, sent: np.ndarray | None, rtt: np.ndarray) -> None:
        """Add many replies in ascending order, none of which was added before."""
        nulls = array("q", [NULL]) * len(seq)
        self._add_range(int(seq[-1]), len(seq))
        self.seq.frombytes(seq.tobytes())
        self.rtt.frombytes(rtt.tobytes())
        self.sent.frombytes((nulls if sent is None else sent).tobytes())
        self.status.extend(bytes([STATUSES.index("ok")]) * len(seq))
        self.low.extend(nulls)
        self.high.extend(nulls)
        self.numbers.wraps, self.numbers.last = divmod(self.highest, SEQUENCE_NUMBERS)
        if len(self.seq) > MOST_IN_MEMORY:
            self._move_into_files()

    def _add_range(self, highest: int, count: int) -> None:
        """Note that the next ``count`` samples have ascending numbers up to ``highest``, the highest so far."""
        at = len(self.seq)
        if self.ends and self.ends[-1] == at:
            self.ends[-1] = at + count
        else:
            self.begins.append(at)
            self.ends.append(at + count)
        self.highest = highest

    def _move_into_files(self) -> None:
        if isinstance(self.status, bytearray):
            self.status = Integers(self.status)
            for name in ("seq", "sent", "rtt", "low", "high", "begins", "ends", "repeated"):
                setattr(self, name, Integers(getattr(self, name)))

    def find(self, seq: int) -> int | None:
        """Return the index of the first sample with this sequence number, or None."""
        if seq > self.highest:
            return None
        if (index := self.late.get(seq)) is not None:
            return index
        number = _count_up_to(seq, 0, len(self.begins), lambda number: self.seq[self.begins[number]]) - 1
        if number < 0:
            return None
        index = _count_up_to(seq, self.begins[number], self.ends[number], self.seq.__getitem__) - 1
        return index if self.seq[index] == seq else None

    def count(self, *statuses: str) -> int:
        """Count the samples that have one of these statuses."""
        return sum(self.status.count(STATUSES.index(status)) for status in statuses)

    def count_present(self, start: int, stop: int) -> int:
        """Count the sequence numbers from ``start`` up to ``stop`` that have a sample."""
        return _count_between(self.seq, start, stop) - _count_between(self.repeated, start, stop)

    def add_lost(self, start: int, stop: int) -> None:
        """Add the sequence numbers from ``start`` up to ``stop`` that have no sample as lost, at the end."""
        for numbers in self._missing(start, stop):
            nulls = array("q", [NULL]) * len(numbers)
            self.seq.frombytes(numbers.tobytes())
            self.status.extend(bytes([STATUSES.index("lost")]) * len(numbers))
            for column in (self.sent, self.rtt, self.low, self.high):
                column.frombytes(nulls.tobytes())

    def _missing(self, start: int, stop: int) -> Iterator[array[int] | np.ndarray]:
        """Yield the sequence numbers without a sample, in order, in pieces."""
        if len(self.seq) < _FEW:
            present = set(self.seq)
            numbers = (seq for seq in range(start, stop) if seq not in present)
            while some := array("q", islice(numbers, _FEW)):
                yield some
            return
        import numpy as np

        for low in range(start, stop, _WINDOW):
            absent = np.ones(min(_WINDOW, stop - low), dtype=np.bool_)
            for piece in pieces_of(self.seq):
                absent[piece[(piece >= low) & (piece < low + len(absent))] - low] = False
            for first in range(0, len(absent), MOST_IN_MEMORY):
                yield np.flatnonzero(absent[first : first + MOST_IN_MEMORY]) + (low + first)


def _count_between(column: Column, start: int, stop: int) -> int:
    low, high = extremes(column) if column else (start, start)
    if start <= low and high < stop:
        return len(column)
    return sum(int(((piece >= start) & (piece < stop)).sum()) for piece in pieces_of(column))


def _count_up_to(value: int, low: int, high: int, at: Callable[[int], int]) -> int:
    """Return the index after the last value up to ``value``, where ``at`` rises from ``low`` to ``high``."""
    # What is looked for is usually among the last ones, which are not in a file.
    if low < high - _RECENT and at(high - _RECENT) <= value:
        low = high - _RECENT
    return bisect_right(range(high), value, low, high, key=at)


def _or_null(value: int | None) -> int:
    return NULL if value is None else value
