"""The probes of one run in order of appearance, stored as columns so that a million replies fit into memory."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from azlatency.logs.large import MOST_IN_MEMORY, NULL, Column, Integers, pieces_of
from azlatency.logs.parsers.common import SEQUENCE_NUMBERS, SequenceNumbers

if TYPE_CHECKING:
    import numpy as np

STATUSES = ("ok", "lost", "unreachable", "duplicate", "void")
#: Numbers without a sample are looked for in ranges of so many.
_WINDOW = 2**24
#: Fewer samples need no numpy, whose import takes as long.
_FEW = 2**14


def _integers() -> Column:
    return array("q")


class Block(NamedTuple):
    """Samples in ascending order that were added at once: where consecutive numbers start, and at which index."""

    first: int
    first_index: int
    length: int
    starts: np.ndarray
    offsets: np.ndarray

    def count_below(self, seq: int) -> int:
        """Count the sequence numbers below ``seq``."""
        position = int(self.starts.searchsorted(seq)) - 1
        if position < 0:
            return 0
        stop = self.offsets[position + 1] if position + 1 < len(self.offsets) else self.length
        return int(min(self.offsets[position] + seq - self.starts[position], stop))


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
    starts: Column = field(default_factory=_integers)
    """First number of each range of consecutive numbers that `add` added in order; each lost probe begins another."""
    places: Column = field(default_factory=_integers)
    """Index of the sample of that number."""
    lengths: Column = field(default_factory=_integers)
    """How many numbers are in the range."""
    late: dict[int, int] = field(default_factory=dict)
    """Index of the first sample of each other sequence number that `add` added."""
    blocks: list[Block] = field(default_factory=list)
    """The blocks added by `extend`."""
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
        if index is None and seq < self.highest:
            self.late[seq] = at
        elif index is None:
            length = self.lengths[-1] if self.lengths else 0
            if length and self.starts[-1] + length == seq and self.places[-1] + length == at:
                self.lengths[-1] += 1
            else:
                self.starts.append(seq)
                self.places.append(at)
                self.lengths.append(1)
            self.highest = seq
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
        import numpy as np

        nulls = array("q", [NULL]) * len(seq)
        offsets = np.concatenate(([0], np.flatnonzero(np.diff(seq) > 1) + 1))
        self.blocks.append(Block(int(seq[0]), len(self.seq), len(seq), seq[offsets], offsets))
        self.seq.frombytes(seq.tobytes())
        self.rtt.frombytes(rtt.tobytes())
        self.sent.frombytes((nulls if sent is None else sent).tobytes())
        self.status.extend(bytes([STATUSES.index("ok")]) * len(seq))
        self.low.extend(nulls)
        self.high.extend(nulls)
        self.numbers.wraps, self.numbers.last = divmod(int(seq[-1]), SEQUENCE_NUMBERS)
        self.highest = int(seq[-1])
        if len(self.seq) > MOST_IN_MEMORY:
            self._move_into_files()

    def _move_into_files(self) -> None:
        if isinstance(self.status, bytearray):
            self.status = Integers(self.status)
            for name in ("seq", "sent", "rtt", "low", "high"):
                setattr(self, name, Integers(getattr(self, name)))

    def find(self, seq: int) -> int | None:
        """Return the index of the first sample with this sequence number, or None."""
        if seq > self.highest:
            return None
        index = self.late.get(seq)
        if index is None and (position := bisect_right(self.starts, seq)):
            beyond = seq - self.starts[position - 1]
            index = self.places[position - 1] + beyond if beyond < self.lengths[position - 1] else None
        if index is None and self.blocks:
            position = bisect_right(self.blocks, seq, key=lambda block: block.first) - 1
            if position >= 0:
                block = self.blocks[position]
                below = block.count_below(seq)
                if block.count_below(seq + 1) > below:
                    return block.first_index + below
        return index

    def count(self, *statuses: str) -> int:
        """Count the samples that have one of these statuses."""
        return sum(self.status.count(STATUSES.index(status)) for status in statuses)

    def count_present(self, start: int, stop: int) -> int:
        """Count the sequence numbers from ``start`` up to ``stop`` that have a sample."""
        inside = sum(start <= seq < stop for seq in self.late)
        ranges = zip(self.starts, self.lengths, strict=True)
        inside += sum(max(min(stop, first + length) - max(start, first), 0) for first, length in ranges)
        return inside + sum(block.count_below(stop) - block.count_below(start) for block in self.blocks)

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


def _or_null(value: int | None) -> int:
    return NULL if value is None else value
