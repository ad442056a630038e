"""Quantiles of histograms bound those of the values."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from helpers.cases import stream
from helpers.results import estimates_of

import azlatency as az
from azlatency.stats.within_run.histograms import histogram_quantiles
from azlatency.stats.within_run.quantiles import quantiles


def test_the_interval_of_a_histogram_contains_that_of_its_values() -> None:
    values = stream(11).lognormal(0, 0.5, 20_000)
    edges = np.geomspace(values.min() * 0.999, values.max() * 1.001, 400)
    counts, _ = np.histogram(values, edges)
    found = histogram_quantiles(edges[:-1], edges[1:], counts, (0.5, 0.99))
    exact = quantiles(values, (0.5, 0.99), independent=True)
    assert (found["low"] <= exact["low"]).all() and (found["high"] >= exact["high"]).all()
    assert (found["high"] / exact["high"]).max() < 1.02 and (exact["low"] / found["low"]).max() < 1.02
    assert list(found["estimate"]) == pytest.approx(list(exact["estimate"]), rel=0.02)
    assert found["flags"].str.contains("within_run_floor").all()


def test_an_open_bin_has_no_upper_end() -> None:
    found = histogram_quantiles([0.0, 1.0], [1.0, math.nan], [50, 50], (0.9,))
    assert found[["high", "estimate"]].isna().all(axis=None) and "unbounded_upper" in found["flags"].item()
    nothing = histogram_quantiles([], [], [], (0.5,))
    assert nothing["estimate"].isna().all() and nothing["flags"].item() == "no_values"


def test_the_class_is_the_resolution() -> None:
    """Whole microseconds: the estimate is half a microsecond away, and the interval contains the class."""
    values = np.floor(stream(580).lognormal(5, 0.02, 100_000))
    low, counts = np.unique(values, return_counts=True)
    for result in histogram_quantiles(low, low + 1, counts, (0.1, 0.5, 0.99, 0.999)).itertuples():
        exact = np.sort(values)[math.ceil(100_000 * result.q - 1e-9) - 1]
        assert result.estimate == exact + 0.5
        assert result.low <= exact and result.high >= exact + 1
    assert "quantised" in histogram_quantiles(low, low + 1, counts, (0.5,))["flags"].item()
    with pytest.raises(ValueError, match="one length"):
        histogram_quantiles([1.0], [2.0, 3.0], [1])


LOG = """> lagscope -s10.0.0.4 -Pone.json
lagscope 1.0.1
10:00:00 INFO: New connection: local:25001 [socket:3] --> 10.0.0.4:6001
10:00:09 INFO: TEST COMPLETED.
10:00:09 INFO: Ping statistics for 10.0.0.4:
10:00:09 INFO: \t  Number of successful Pings: 1000
10:00:09 INFO: \t  Minimum = 10.250us, Maximum = 13.500us, Average = 11.820us

Percentile\t Latency(us)
     50% \t 11
     75% \t 12
     90% \t 12
     95% \t 12
     99% \t 13
   99.9% \t 13
  99.99% \t 13
 99.999% \t 13
"""
PAIR = '\t\t{{\n\t\t\t"latency": {},\n\t\t\t"frequency": {}\n\t\t}}'


def test_a_table_next_to_its_log_is_counted_once_and_narrows_the_interval(tmp_path: Path) -> None:
    """One run as text and as table, then the table of another run beside them."""
    pairs = ",\n".join(PAIR.format(low, count) for low, count in ((10, 100), (11, 500), (12, 380), (13, 20)))
    (tmp_path / "run.log").write_text(LOG)
    (tmp_path / "one.json").write_text('{\n\t"latencies":[\n' + pairs + "\n\t]\n}\n")
    logs = az.parse(tmp_path)
    runs = az.latency(logs)
    assert list(runs["median_from"]) == ["printed"]
    curves = estimates_of(az.stats.printed_quantiles(logs.quantiles, logs.metrics, az.studies.frequency_tables(logs)))
    (median,) = (curve for curve in curves if curve.labels["run_id"] == runs.index[0] and curve.labels["q"] == 0.5)
    assert (median.low, median.estimate, median.high, median.n) == (11_000, 11_000, 12_000, 1000)
    (tmp_path / "other.json").write_text((tmp_path / "one.json").read_text().replace("380", "300"))
    runs = az.latency(az.parse(tmp_path))
    alone = runs[runs["median_from"] == "classes"]
    assert len(runs) == 2 and list(alone["median_ns"]) == [11_500] and list(alone["p99_ns"]) == [13_500]
