"""Numbered probes: those of a run in order of appearance, as columns so that millions of replies fit into memory."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from azlatency.logs.grammar.samples import STATUSES, SampleColumns
from azlatency.logs.source.large import MOST_IN_MEMORY, NULL, Column, extremes, pieces_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Numbers without a sample are looked for in ranges of so many.
_WINDOW = 2**24
#: Samples are sorted in ranges of so many numbers.
_SORTED = 2**20
#: Fewer samples need no numpy, whose import takes as long.
_FEW = 2**14
#: A late or repeated reply is usually one of so many samples before it.
_RECENT = 2**10

#: ICMP counts its messages in 16 bits.
SEQUENCE_NUMBERS = 2**16


@dataclass
class SequenceNumbers:
    """Numbers of probes that are printed in 16 bits, in the order of the lines."""

    wraps: int = 0
    last: int = 0

    def unwrap(self, printed: int) -> int:
        """Return the number of the probe without the wrap at 16 bits."""
        half = SEQUENCE_NUMBERS // 2
        if printed >= SEQUENCE_NUMBERS:
            return printed
        if printed - self.last < -half:
            self.wraps += 1
        elif printed - self.last > half and self.wraps:
            return printed + (self.wraps - 1) * SEQUENCE_NUMBERS
        self.last = printed
        return printed + self.wraps * SEQUENCE_NUMBERS

    def unwrap_rising(self, printed: NDArray[np.int64], highest: int) -> NDArray[np.int64] | None:
        """Return the numbers of many probes as `unwrap` does; None unless they rise from above ``highest``."""
        import numpy as np

        wraps = bool(printed.min() < SEQUENCE_NUMBERS)
        if wraps and printed.max() >= SEQUENCE_NUMBERS:
            return None
        half = SEQUENCE_NUMBERS // 2
        steps = (np.diff(printed) + half) % SEQUENCE_NUMBERS - half if wraps else np.diff(printed)
        first = self.unwrap(int(printed[0]))
        if first <= highest or first < self.wraps * SEQUENCE_NUMBERS or (steps <= 0).any():
            return None
        numbers = np.concatenate(([0], np.cumsum(steps))) + first
        if wraps:
            self.wraps, self.last = divmod(int(numbers[-1]), SEQUENCE_NUMBERS)
        return numbers


class ProbeSamples(SampleColumns):
    """Columns of the samples of one run; `NULL` marks a missing value."""

    def __init__(self) -> None:
        super().__init__()
        self.low: Column = array("q")
        self.high: Column = array("q")
        self.begins: Column = array("q")
        """Where each range of samples begins that have ascending numbers and were added one after the other."""
        self.ends: Column = array("q")
        """Where these ranges end (exclusive)."""
        self.late: dict[int, int] = {}
        """Index of the first sample of each number that was added after a higher one."""
        self.repeated: Column = array("q")
        """The number of each sample that has an earlier one."""
        self.numbers = SequenceNumbers()
        self.highest = -1

    def add_probe(
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
        self.low.append(_or_null(bounds[0]))
        self.high.append(_or_null(bounds[1]))
        self.add(seq, rtt, status, sent)
        return at

    def extend_probes(self, seq: np.ndarray, rtt: np.ndarray, sent: np.ndarray | None) -> None:
        """Add many replies in ascending order, none of which was added before."""
        nulls = array("q", [NULL]) * len(seq)
        self._add_range(int(seq[-1]), len(seq))
        self.low.extend(nulls)
        self.high.extend(nulls)
        self.extend(seq, rtt, sent)
        self.numbers.wraps, self.numbers.last = divmod(self.highest, SEQUENCE_NUMBERS)

    def _add_range(self, highest: int, count: int) -> None:
        """Note that the next ``count`` samples have ascending numbers up to ``highest``, the highest so far."""
        at = len(self.seq)
        if self.ends and self.ends[-1] == at:
            self.ends[-1] = at + count
        else:
            self.begins.append(at)
            self.ends.append(at + count)
        self.highest = highest

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

    def by_number(self) -> SampleColumns:
        """Return the samples sorted by their numbers, those of one number in the order in which they were added."""
        ordered = SampleColumns()
        columns = (self.seq, self.rtt, self.sent, self.status)
        if len(self) < _FEW:
            for index in sorted(range(len(self)), key=self.seq.__getitem__):
                ordered.add(self.seq[index], self.rtt[index], STATUSES[self.status[index]], self.sent[index])
            return ordered
        import numpy as np

        ends = [(len(piece), int(piece.min()), int(piece.max())) for piece in pieces_of(self.seq)]
        ranges = {number for piece in pieces_of(self.seq) for number in np.unique(piece // _SORTED).tolist()}
        for first in (_SORTED * number for number in sorted(ranges)):
            parts, stop = [], 0
            for length, low, high in ends:
                some = slice(stop, stop + length)
                stop = some.stop
                if low < first + _SORTED and high >= first:
                    pieces = [np.frombuffer(column[some], "B" if column is self.status else "q") for column in columns]
                    inside = (pieces[0] >= first) & (pieces[0] < first + _SORTED)
                    parts.append([piece[inside] for piece in pieces])
            seq, rtt, sent, status = map(np.concatenate, zip(*parts, strict=True))
            order = np.argsort(seq, kind="stable")
            ordered.extend(seq[order], rtt[order], sent[order], status[order].tobytes())
        return ordered


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
