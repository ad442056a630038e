"""Steps of the sender's clock during one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def clock_steps(sent_ns: ArrayLike, rtt_ns: ArrayLike | None = None) -> list[int]:
    """Return the packets at which the clock was set.

    A wall clock can be stepped during a run. The round-trip time of such a packet is not a measurement.
    """
    sent = np.asarray(sent_ns, dtype="float64")
    steps = np.flatnonzero(np.diff(sent) < 0) + 1
    if rtt_ns is not None:
        steps = np.union1d(steps, np.flatnonzero(np.asarray(rtt_ns, dtype="float64") <= 0))
    return [int(packet) for packet in steps]
