"""Warm-up: how many packets at the beginning of a run to drop (White, Simulation 69:323, 1997)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from azlatency.stats.arrays import to_array

if TYPE_CHECKING:
    from azlatency.stats.arrays import Values


def warm_up(data: Values) -> int:
    """Return how many packets to drop at the beginning so that the mean of the rest is most precise (MSER-5).

    Parameters
    ----------
    data : array_like, Series or DataFrame, shape (n,)
        Round-trip times in the order of sending.

    Returns
    -------
    int
        Number of packets, a multiple of 5 in the first half of the run; 0 for fewer than 40 packets.

    Notes
    -----
    On means of five packets, the cut d minimises the sum of squares after d over (B - d)^2 (White 1997).

    Examples
    --------
    >>> import numpy as np
    >>> from azlatency.stats.within_run.warm_up import warm_up
    >>> noise = np.random.default_rng(1).normal(100, 1, 1000)
    >>> warm_up(noise + np.where(np.arange(1000) < 50, 50, 0))
    50
    """
    import numpy as np

    x, _ = to_array(data)
    count = len(x) // 5
    if count < 8:
        return 0
    means = x[: count * 5].reshape(count, 5).mean(axis=1)
    if not np.isfinite(means).all():
        return 0
    centred = means - means.mean()
    remaining = np.arange(count, 0, -1)
    sums, squares = np.cumsum(centred[::-1])[::-1], np.cumsum(centred[::-1] ** 2)[::-1]
    score = (squares - sums**2 / remaining) / remaining**2
    return 5 * int(score[: count // 2].argmin())
