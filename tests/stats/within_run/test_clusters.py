"""Clusters of slow packets."""

from __future__ import annotations

import numpy as np

from azlatency.stats.within_run.clusters import cluster_maxima


def test_clusters_are_cut_at_long_gaps() -> None:
    x = np.zeros(1000)
    for start in range(0, 1000, 100):
        x[start : start + 5] = np.arange(5) + start + 1.0
    maxima, theta = cluster_maxima(x, 0.5)
    assert list(maxima) == [start + 5.0 for start in range(0, 1000, 100)]
    assert theta < 0.4
    assert list(cluster_maxima(x, 1e9)[0]) == []
