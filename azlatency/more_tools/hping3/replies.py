"""The replies of one hping3 run, sorted by the numbers of their probes, with the probes that have none."""

from __future__ import annotations

from array import array
from itertools import chain, repeat
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from azlatency.logs.grammar.samples import STATUSES, SampleColumns
from azlatency.logs.source.large import NULL, extremes, pieces_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SECOND_NS = 10**9
#: More probes without a reply are counted but not stored one by one.
_MOST_LOST = 10**7
#: At most this many replies are sorted without NumPy.
_FEW = 2**12
_OK, _DUPLICATE, _LOST = (STATUSES.index(status) for status in ("ok", "duplicate", "lost"))


class Reply(NamedTuple):
    """One reply: number of its probe, time in ns, line, and whether it is a duplicate as far as is known."""

    seq: int
    rtt: int
    line: int
    duplicate: bool


class Replies:
    """Replies in the order of the log: those with rising numbers as columns, the few others as a list.

    ``slow`` has the replies after a second and later, but no duplicates.
    """

    def __init__(self) -> None:
        self.rising, self.others, self.slow = SampleColumns(), list[Reply](), list[Reply]()
        self.highest = -1

    def __len__(self) -> int:
        return len(self.rising) + len(self.others)

    def add(self, reply: Reply) -> None:
        """Add one reply."""
        if reply.rtt >= SECOND_NS and not reply.duplicate:
            self.slow.append(reply)
        if reply.duplicate or reply.seq <= self.highest:
            self.others.append(reply)
            return
        self.highest = reply.seq
        self.rising.add(reply.seq, reply.rtt)

    def extend(self, seq: NDArray[np.int64], rtt: NDArray[np.int64], first_line: int) -> None:
        """Add the replies of consecutive lines, whose numbers rise."""
        import numpy as np

        self.highest = int(seq[-1])
        self.rising.extend(seq, rtt)
        for index in np.flatnonzero(rtt >= SECOND_NS).tolist():
            self.slow.append(Reply(int(seq[index]), int(rtt[index]), first_line + index, duplicate=False))

    def find_duplicates(self) -> int:
        """Mark the replies to probes that have another one above, and return the number of duplicates."""
        if self.others:
            rising = self.rising.seq
            pieces = [rising] if isinstance(rising, array) else (piece.tolist() for piece in rising.pieces())
            answered = {reply.seq for reply in self.others}.intersection(chain.from_iterable(pieces))
            for index, reply in enumerate(self.others):
                repeated = reply.duplicate or reply.seq in answered
                answered.update(() if repeated else [reply.seq])
                self.others[index] = reply._replace(duplicate=repeated)
            repeated_lines = {reply.line for reply in self.others if reply.duplicate}
            self.slow = [reply for reply in self.slow if reply.line not in repeated_lines]
        return sum(reply.duplicate for reply in self.others)

    def extremes(self) -> tuple[int, int]:
        """Return the shortest and the longest time in ns."""
        ends = [reply.rtt for reply in self.others] + list(extremes(self.rising.rtt) if self.rising else ())
        return min(ends), max(ends)

    def longest(self, below: int) -> int | None:
        """Return the longest time below a limit in ns, without duplicates; None if there is none."""
        times = [reply.rtt for reply in self.others if not reply.duplicate and reply.rtt < below]
        if self.rising and (most := extremes(self.rising.rtt)[1]) < below:
            return max(most, *times) if times else most
        for piece in pieces_of(self.rising.rtt):
            times += piece[piece < below].tolist()
            times = [max(times)] if times else []
        return max(times, default=None)

    def sort(self, sent: int | None) -> SampleColumns:
        """Return the replies sorted by number; with ``sent``, each probe below it without one is a lost sample."""
        if not self.others and (sent is None or len(self.rising) == sent == self.highest + 1):
            return self.rising
        others = sorted(self.others, key=lambda reply: (reply.seq, reply.duplicate))
        if max(len(self), sent or 0) <= _FEW:
            return self._sort_few(others, sent or 0)
        import numpy as np

        answered = [reply.seq for reply in others if not reply.duplicate]
        below = sum(int((piece < (sent or 0)).sum()) for piece in (*pieces_of(self.rising.seq), np.array(answered)))
        if sent is not None and sent - below > _MOST_LOST:
            sent = None
        merged, done = SampleColumns(), 0
        end = max(sent or 0, self.highest + 1, *(reply.seq + 1 for reply in others))
        empty = np.array([], np.int64)
        pieces = zip(pieces_of(self.rising.seq), pieces_of(self.rising.rtt), strict=True)
        for seq, rtt in chain(pieces, [(empty, empty)]):
            stop = int(seq[-1]) + 1 if len(seq) else end
            inside = [reply for reply in others if done <= reply.seq < stop]
            first = [True] * len(seq) + [not reply.duplicate for reply in inside]
            numbers = np.concatenate((seq, np.array([reply.seq for reply in inside], np.int64)))
            lost = np.setdiff1d(np.arange(done, min(stop, sent or 0)), numbers[first])
            times = np.concatenate((rtt, np.array([reply.rtt for reply in inside], np.int64), np.full(len(lost), NULL)))
            status = np.array([_OK if whole else _DUPLICATE for whole in first] + [_LOST] * len(lost), np.uint8)
            numbers = np.concatenate((numbers, lost))
            order = np.argsort(numbers, kind="stable")
            merged.extend(numbers[order], times[order], status=status[order].tobytes())
            done = stop
        return merged

    def _sort_few(self, others: list[Reply], sent: int) -> SampleColumns:
        """Return the replies and lost samples of a short run sorted by number; to import NumPy would take longer."""
        rows: list[tuple[int, int | None, str]] = list(zip(self.rising.seq, self.rising.rtt, repeat("ok")))
        rows += [(reply.seq, reply.rtt, "duplicate" if reply.duplicate else "ok") for reply in others]
        answered = {seq for seq, _, status in rows if status == "ok"}
        rows += [(seq, None, "lost") for seq in range(sent) if seq not in answered]
        merged = SampleColumns()
        for seq, rtt, status in sorted(rows, key=itemgetter(0)):
            merged.add(seq, rtt, status)
        return merged
