"""Quantiles of runs in files are those of the same values in memory."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.places import FIXTURES

import azlatency as az
from azlatency.logs import schema
from azlatency.stats.rows import Row
from azlatency.stats.within_run import large_runs
from azlatency.stats.within_run.large_runs import connect, estimate_large_run
from azlatency.stats.within_run.one_run import Options, sort_run
from azlatency.studies.store.study import load

LEVELS = (0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999)
OPTIONS = Options(confidence=0.95)


def series(n: int, rho: float = 0.0, seed: int = 1) -> np.ndarray:
    """Dependent lognormal round-trip times in whole ns."""
    rng = np.random.default_rng(seed)
    from scipy.signal import lfilter

    slow = lfilter([np.sqrt(1 - rho**2)], [1.0, -rho], rng.standard_normal(n))
    return np.rint(100_000 * np.exp(0.3 * slow))


def estimate(
    folder: Path, values: np.ndarray, levels: Sequence[float], options: Options = OPTIONS, **columns: list[int | None]
) -> tuple[list[Row], list[Row]]:
    """Write the samples of one run to Parquet and estimate its quantiles from there; infinite values are lost."""
    lost = np.isinf(values)
    numbers = pa.array(np.where(lost, 0, values).astype(np.int64), mask=lost)
    texts = {"run_id": "a-01", "status": "ok", "quantity": "round_trip"}
    constants = {name: pa.repeat(text, len(values)) for name, text in texts.items()}
    bounds = {
        name: pa.array(columns[name], pa.int64()) if name in columns else pa.nulls(len(values), pa.int64())
        for name in ("low_ns", "high_ns")
    }
    (folder / "tool=ping").mkdir()
    path = folder / "tool=ping" / "part-0.parquet"
    pq.write_table(pa.table({**constants, "rtt_ns": numbers, **bounds}), path, row_group_size=30_000)
    with connect(folder) as connection:
        return estimate_large_run(connection, "a-01", levels, options)


CASES = {
    "independent": series(100_000),
    "dependent": series(100_000, 0.9),
    "lost": np.where(np.random.default_rng(2).random(100_000) < 0.003, np.inf, series(100_000)),
    "steps of 1 µs": np.rint(series(100_000) / 10_000) * 10_000,
    "two levels": np.where(np.random.default_rng(3).random(100_000) < 0.3, 1000.0, 2000.0),
    "constant": np.full(50_000, 1234.0),
    "all lost": np.full(5_000, np.inf),
}


@pytest.mark.costly
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("independent", [True, False])
def test_estimates_and_flags_are_those_in_memory(tmp_path: Path, name: str, independent: bool) -> None:
    values = CASES[name]
    options = dataclasses.replace(OPTIONS, independent=independent)
    lower, upper = estimate(tmp_path, values, LEVELS, options)
    assert lower is upper
    run = sort_run(values, options)
    for got, wanted in zip(upper, (run.estimate(level) for level in LEVELS), strict=True):
        same = ["n", "estimate", *(["low", "high"] if independent else [])]
        np.testing.assert_array_equal([got[name] for name in same], [wanted[name] for name in same])
        assert got["statistic"] == wanted["statistic"]
        assert not independent or set(got["flags"].split()) == set(wanted["flags"].split())


@pytest.mark.parametrize("q", [0.5, 0.9, 0.999])
def test_the_estimate_is_an_order_statistic_of_numpy(tmp_path: Path, q: float) -> None:
    values = series(100_003, 0.5)
    (got,) = estimate(tmp_path, values, [q])[1]
    assert got["estimate"] == np.quantile(values, q, method="inverted_cdf")


@pytest.mark.costly
@pytest.mark.parametrize("n", [1 << 18, pytest.param(1 << 20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("rho", [0.0, 0.9, 0.99])
def test_batches_measure_the_dependence(tmp_path: Path, rho: float, n: int) -> None:
    values = series(n, rho)
    _, upper = estimate(tmp_path, values, [0.5, 0.99])
    run = sort_run(values, OPTIONS)
    for got, level in zip(upper, (0.5, 0.99), strict=True):
        assert got["n_effective"] == pytest.approx(run.estimate(level)["n_effective"], rel=0.25)
        assert got["low"] < got["estimate"] < got["high"]


@pytest.mark.costly
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
    (got,) = estimate(tmp_path, np.rint(values), [0.5])[1]
    assert "long_memory" in got["flags"] and np.isnan(got["low"])


def test_interval_censored_values_have_two_sides(tmp_path: Path) -> None:
    values = series(20_000)
    bounds = {"low_ns": [None] * 20_000, "high_ns": [None] * 20_000}
    for i in range(0, 20_000, 7):
        bounds["high_ns"][i] = 1_000_000
        values[i] = np.inf
    lower, upper = estimate(tmp_path, values, [0.1, 0.5], **bounds)
    low = np.where(np.arange(20_000) % 7 == 0, 0.0, values)
    high = np.where(np.arange(20_000) % 7 == 0, 1_000_000.0, values)
    for estimates, ends in ((lower, low), (upper, high)):
        assert [row["estimate"] for row in estimates] == [
            np.quantile(ends, q, method="inverted_cdf") for q in (0.1, 0.5)
        ]


@cache
def at_once(name: str) -> dict[tuple[str, float], Row]:
    """The estimates of a study whose samples are loaded as a whole."""
    return _by_run(load(name))


def _by_run(study: az.Study) -> dict[tuple[str, float], Row]:
    rows = az.quantiles(study, [0.9]).astype(object).where(lambda cells: cells.notna(), None).to_dict("records")
    return {(row["run_id"], row["q"]): row for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["emulated-zones", pytest.param("emulated-cloud", marks=pytest.mark.slow)])
@pytest.mark.parametrize("large_run", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_large_study_is_read_in_pieces(monkeypatch: pytest.MonkeyPatch, name: str, large_run: bool) -> None:
    study = load(name)
    wanted = at_once(name)
    monkeypatch.setattr(large_runs, "LARGE", 0 if large_run else len(study.samples) - 1)
    monkeypatch.setattr(type(study), "samples", property(lambda _: pytest.fail("the samples were loaded")))
    got = _by_run(study)
    assert wanted.keys() == got.keys() and wanted
    for key, expected in wanted.items():
        if large_run:
            same = ("estimate", "n", "path", "method")
            assert [got[key][name] for name in same] == [expected[name] for name in same]
        else:
            assert got[key] == expected


WINDOWS = "Pinging 10.1.0.4 with 32 bytes of data:\n" + "".join(
    f"Reply from 10.1.0.4: bytes=32 time{time} TTL=64\n" for time in ("=1ms", "<1ms", "=2ms", "<1ms")
)


@pytest.mark.costly
def test_lost_and_bounded_replies_and_packets_that_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "windows.log").write_text(WINDOWS)
    logs = [*FIXTURES.glob("ping/*.log"), *FIXTURES.glob("psping/*.log"), *FIXTURES.glob("sockperf/*.log")]
    az.import_study("mixed", [tmp_path / "windows.log", *logs], out=tmp_path / "out")
    study = load("mixed", processed=tmp_path / "out")
    assert {"ok", "lost", "warmup"} <= set(study.samples["status"]) and study.samples["low_ns"].notna().any()
    labels = az.latency(study)[["path", "method"]]
    wanted = az.quantiles(study, [0.1, 0.5, 0.9], independent=True, labels=labels)
    monkeypatch.setattr(large_runs, "LARGE", 0)
    got = az.quantiles(study, [0.1, 0.5, 0.9], independent=True, labels=labels)
    pd.testing.assert_frame_equal(got, wanted)


def test_without_duckdb_one_line_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_runs, "LARGE", 10)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(az.LogError, match=r"more than 10 samples need the package duckdb; install azlatency\[scale\]"):
        az.quantiles(load("emulated-zones"))


def test_schema_of_the_stored_columns() -> None:
    assert {"run_id", "rtt_ns", "status", "low_ns", "high_ns"} <= set(schema.names("samples"))
