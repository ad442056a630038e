"""Quantiles of runs in files are those of the same values in memory."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import azlatency as az
from azlatency.logs import schema
from azlatency.stats.within_run import large_runs
from azlatency.stats.within_run.large_runs import estimate_large_run
from azlatency.stats.within_run.one_run import Options, sort_run
from azlatency.studies import segments
from azlatency.studies.segments import Segment
from azlatency.studies.store import load

LEVELS = (0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999)
OPTIONS = Options(confidence=0.95)


def series(n: int, rho: float = 0.0, seed: int = 1) -> np.ndarray:
    """Dependent lognormal round-trip times in whole ns."""
    rng = np.random.default_rng(seed)
    from scipy.signal import lfilter

    slow = lfilter([np.sqrt(1 - rho**2)], [1.0, -rho], rng.standard_normal(n))
    return np.rint(100_000 * np.exp(0.3 * slow))


def stored(folder: Path, values: np.ndarray, rows: int = 30_000, **columns: list[int | None]) -> list[Segment]:
    """Write the samples of one run in row groups; infinite values are lost."""
    lost = np.isinf(values)
    numbers = pa.array(np.where(lost, 0, values).astype(np.int64), mask=lost)
    constants = {name: pa.repeat(text, len(values)) for name, text in (("run_id", "a-01"), ("status", "ok"))}
    bounds = {
        name: pa.array(columns[name], pa.int64()) if name in columns else pa.nulls(len(values), pa.int64())
        for name in ("low_ns", "high_ns")
    }
    table = pa.table({**constants, "rtt_ns": numbers, **bounds})
    path = folder / "part-0.parquet"
    pq.write_table(table, path, row_group_size=rows)
    file = pq.ParquetFile(path).metadata
    return [Segment(str(path), i, 0, file.row_group(i).num_rows) for i in range(file.num_row_groups)]


CASES = {
    "independent": series(100_000),
    "dependent": series(100_000, 0.9),
    "lost": np.where(np.random.default_rng(2).random(100_000) < 0.003, np.inf, series(100_000)),
    "steps of 1 µs": np.rint(series(100_000) / 10_000) * 10_000,
    "two levels": np.where(np.random.default_rng(3).random(100_000) < 0.3, 1000.0, 2000.0),
    "constant": np.full(50_000, 1234.0),
    "all lost": np.full(5_000, np.inf),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("independent", [True, False])
def test_estimates_and_flags_are_those_in_memory(tmp_path: Path, name: str, independent: bool) -> None:
    values = CASES[name]
    options = dataclasses.replace(OPTIONS, independent=independent)
    lower, upper = estimate_large_run(stored(tmp_path, values), LEVELS, options)
    assert lower is upper
    run = sort_run(values, options)
    for got, wanted in zip(upper, (run.estimate(level) for level in LEVELS), strict=True):
        assert got.estimate == wanted.estimate
        assert got.n == wanted.n and got.method == wanted.method
        if independent:
            assert (got.low, got.high, set(got.codes)) == (wanted.low, wanted.high, set(wanted.codes))


@pytest.mark.parametrize("q", [0.5, 0.9, 0.999])
def test_the_estimate_is_an_order_statistic_of_numpy(tmp_path: Path, q: float) -> None:
    values = series(100_003, 0.5)
    (estimate,) = estimate_large_run(stored(tmp_path, values, rows=9_999), [q], OPTIONS)[1]
    assert estimate.estimate == np.quantile(values, q, method="inverted_cdf")


@pytest.mark.parametrize("n", [1 << 18, pytest.param(1 << 20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("rho", [0.0, 0.9, 0.99])
def test_batches_measure_the_dependence(tmp_path: Path, rho: float, n: int) -> None:
    values = series(n, rho)
    _, upper = estimate_large_run(stored(tmp_path, values, rows=n // 4), [0.5, 0.99], OPTIONS)
    run = sort_run(values, OPTIONS)
    for got, level in zip(upper, (0.5, 0.99), strict=True):
        assert got.diagnostics["tau"] == pytest.approx(run.estimate(level).diagnostics["tau"], rel=0.25)
        assert got.low is not None and got.high is not None and got.low < got.estimate < got.high


@pytest.mark.parametrize("what", ["long memory", "level shift"])
def test_long_range_dependence_is_flagged(tmp_path: Path, what: str) -> None:
    rng, n = np.random.default_rng(5), 1 << 19
    if what == "level shift":
        values = 1e5 + 1000 * rng.standard_normal(n) + 500 * (np.arange(n) > n // 3)
    else:  # ARFIMA(0, 0.4, 0) by its spectrum
        frequencies = np.fft.rfftfreq(2 * n, 0.5)
        frequencies[0] = frequencies[1]
        spectrum = np.fft.rfft(rng.standard_normal(2 * n)) * (2 * np.sin(np.pi * frequencies / 2)) ** -0.4
        values = 1e5 + 1000 * np.fft.irfft(spectrum)[:n]
    (estimate,) = estimate_large_run(stored(tmp_path, np.rint(values)), [0.5], OPTIONS)[1]
    assert "long_memory" in estimate.codes and estimate.low is None


def test_interval_censored_values_have_two_sides(tmp_path: Path) -> None:
    values = series(20_000)
    bounds = {"low_ns": [None] * 20_000, "high_ns": [None] * 20_000}
    for i in range(0, 20_000, 7):
        bounds["high_ns"][i] = 1_000_000
        values[i] = np.inf
    lower, upper = estimate_large_run(stored(tmp_path, values, **bounds), [0.1, 0.5], OPTIONS)
    low = np.where(np.arange(20_000) % 7 == 0, 0.0, values)
    high = np.where(np.arange(20_000) % 7 == 0, 1_000_000.0, values)
    for estimates, ends in ((lower, low), (upper, high)):
        assert [e.estimate for e in estimates] == [np.quantile(ends, q, method="inverted_cdf") for q in (0.1, 0.5)]


@cache
def at_once(name: str) -> dict[tuple[str, float], az.stats.result.Estimate]:
    """The estimates of a study whose samples are loaded as a whole."""
    return {(e.labels["run_id"], e.labels["q"]): e for e in az.quantiles(load(name), [0.5, 0.9])}


@pytest.mark.parametrize("name", ["emulated-zones", pytest.param("emulated-cloud", marks=pytest.mark.slow)])
@pytest.mark.parametrize("large_run", [False, True])
def test_a_large_study_is_read_in_pieces(monkeypatch: pytest.MonkeyPatch, name: str, large_run: bool) -> None:
    study = load(name)
    wanted = at_once(name)
    monkeypatch.setattr(segments, "_TOGETHER", 2)
    monkeypatch.setattr(large_runs, "LARGE", 0 if large_run else len(study.samples) - 1)
    monkeypatch.setattr(type(study), "samples", property(lambda _: pytest.fail("the samples were loaded")))
    with ThreadPoolExecutor(2) as executor:
        got = {(e.labels["run_id"], e.labels["q"]): e for e in az.quantiles(study, [0.5, 0.9], executor=executor)}
    assert wanted.keys() == got.keys() and wanted
    for key, estimate in wanted.items():
        if large_run:
            assert got[key].estimate == estimate.estimate and got[key].n == estimate.n
            assert got[key].labels == estimate.labels
        else:
            assert got[key] == estimate


def test_schema_of_the_stored_columns() -> None:
    assert {"run_id", "rtt_ns", "status", "low_ns", "high_ns"} <= set(schema.names("samples"))
