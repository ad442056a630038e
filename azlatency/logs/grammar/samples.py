"""The samples of a run while its log is read: columns that move into temporary files once they are long."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from azlatency.logs.source.large import (
    MOST_IN_MEMORY,
    NULL,
    Column,
    Integers,
    Labels,
    Repeated,
    extended,
    extremes,
    nullable,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STATUSES = ("ok", "lost", "duplicate", "void", "warmup", "unreachable")


class SampleColumns:
    """Samples in the order in which a log prints them, with times in ns; `NULL` is a missing value."""

    def __init__(self) -> None:
        self.seq: Column = array("q")
        self.sent: Column = array("q")
        self.rtt: Column = array("q")
        self.status: bytearray | Integers = bytearray()
        """Indexes into `STATUSES`."""

    def __len__(self) -> int:
        return len(self.seq)

    def add(self, seq: int, rtt: int | None, status: str = "ok", sent: int | None = None) -> None:
        """Add one sample."""
        self.seq.append(seq)
        self.sent.append(NULL if sent is None else sent)
        self.rtt.append(NULL if rtt is None else rtt)
        self.status.append(STATUSES.index(status))
        self._move_into_files()

    def _move_into_files(self) -> None:
        if len(self.seq) > MOST_IN_MEMORY and isinstance(self.status, bytearray):
            for name, column in vars(self).items():
                if isinstance(column, array | bytearray):
                    setattr(self, name, Integers(column))

    def extend(
        self,
        seq: NDArray[np.int64],
        rtt: NDArray[np.int64],
        sent: NDArray[np.int64] | None = None,
        status: bytes | None = None,
    ) -> None:
        """Add many samples; ``status`` contains indexes into `STATUSES`, by default of ok."""
        import numpy as np

        self.seq, self.rtt = extended(self.seq, seq), extended(self.rtt, rtt)
        self.sent = extended(self.sent, np.full(len(seq), NULL) if sent is None else sent)
        self.status.extend(bytes(len(seq)) if status is None else status)
        self._move_into_files()

    def relabel(self, count: int, status: str) -> None:
        """Give the first samples another status."""
        for index in range(count):
            self.status[index] = STATUSES.index(status)

    def count(self, *statuses: str) -> int:
        """Return how many samples have one of these statuses."""
        return sum(self.status.count(STATUSES.index(status)) for status in statuses)

    def extremes(self) -> tuple[int, int] | None:
        """Return the shortest and the longest time (ns) of the samples with the status ok; None if there are none."""
        if not self.count("ok"):
            return None
        if self.count("ok") == len(self):
            return extremes(self.rtt)
        times = [rtt for _, rtt, status in self.rows() if status == "ok"]
        return min(times), max(times)

    def rows(self) -> Iterator[tuple[int, Any, str]]:
        """Yield sequence number, time (None if missing) and status of each sample."""
        for seq, rtt, code in zip(self.seq, self.rtt, self.status, strict=True):
            yield seq, None if rtt == NULL else rtt, STATUSES[code]

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the arguments of `azlatency.logs.record.Run.add_samples`."""
        status: Sequence[str] = Repeated("ok", len(self))
        if self.count("ok") < len(self):
            codes = self.status
            status = Labels(codes, STATUSES) if isinstance(codes, Integers) else [STATUSES[code] for code in codes]
        return {"seq": self.seq, "sent_ns": nullable(self.sent), "rtt_ns": nullable(self.rtt), "status": status}
