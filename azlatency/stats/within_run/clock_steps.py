"""Steps of the sender's clock during one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def clock_steps(sent_ns: ArrayLike, rtt_ns: ArrayLike | None = None) -> list[int]:
    """Return the packets at which the clock was set.

    Parameters
    ----------
    sent_ns : array_like, shape (n,)
        Send times in ns.
    rtt_ns : array_like, shape (n,), optional
        Round-trip times in ns.

    Returns
    -------
    list of int
        0-based packets whose send time precedes that of the packet before, or whose round-trip time is not positive.

    Notes
    -----
    A wall clock can be stepped during a run. The round-trip time of such a packet is not a measurement.

    Examples
    --------
    >>> from azlatency.stats.within_run.clock_steps import clock_steps
    >>> clock_steps([0, 10, 5, 15], [1, 1, 1, -3])
    [2, 3]
    """
    import numpy as np

    sent = np.asarray(sent_ns, dtype="float64")
    steps = np.flatnonzero(np.diff(sent) < 0) + 1
    if rtt_ns is not None:
        steps = np.union1d(steps, np.flatnonzero(np.asarray(rtt_ns, dtype="float64") <= 0))
    return [int(packet) for packet in steps]
