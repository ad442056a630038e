"""Clusters of exceedances: late packets arrive together, and each cluster counts once.

Source: Ferro & Segers, JRSS-B 65:545 (2003).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from azlatency.stats.arrays import FloatArray


def _intervals_estimator(places: NDArray[np.intp]) -> float:
    import numpy as np

    gaps = np.diff(places).astype("float64")
    if len(gaps) < 2:
        return 1.0
    if gaps.max() > 2:
        denominator = len(gaps) * float(((gaps - 1) * (gaps - 2)).sum())
        theta = 2 * float((gaps - 1).sum()) ** 2 / denominator if denominator else 1.0
    else:
        theta = 2 * float(gaps.sum()) ** 2 / (len(gaps) * float((gaps**2).sum()))
    return min(theta, 1.0)


def cluster_maxima(x: FloatArray, threshold: float) -> tuple[FloatArray, float]:
    """Return the largest value of each cluster of exceedances, and the extremal index theta.

    Clusters are separated at the floor(theta N) longest gaps (Ferro & Segers 2003, section 4).
    """
    import numpy as np

    places = np.flatnonzero(x > threshold)
    theta = _intervals_estimator(places)
    if len(places) < 2:
        return x[places], theta
    gaps = np.diff(places)
    count = min(int(theta * len(places)), len(gaps))
    longest = np.sort(gaps)[::-1]
    # Of gaps tied with the last separating one, an arbitrary few would separate; only longer ones do, if there are any.
    separating = gaps > longest[count] if count < len(gaps) else gaps > 0
    starts = np.concatenate([[0], np.flatnonzero(separating) + 1])
    return np.maximum.reduceat(x[places], starts), theta
