"""Every public frame can be written and read by other libraries, and merged with the runs that it describes."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from helpers.cases import thinned
from helpers.studies import load, load_history

import azlatency as az

EXPECTED = [{"metric": "rtt_mean", "relation": "at_most", "high": 1e6, "unit": "ns"}]


@pytest.fixture(scope="module")
def study() -> az.Study:
    return az.studies.select(load("emulated-zones"), "az1a -> az2a, az2a -> az1a, az1a -> az3a")


def emulated_steps(paths: set[str]) -> pd.DataFrame:
    study = load("emulated-zones")
    links, records = az.studies.configured_links(study), az.studies.recorded_round_trips(study)
    steps = az.stats.emulated_differences(links, records, az.latency(study))
    return steps[steps["path"].isin(paths)].reset_index(drop=True)


def tails(study: az.Study, runs: pd.DataFrame) -> az.stats.tail_by_run.RunTails:
    return az.stats.tail_by_run.run_tails(study, runs, limit=1e6)


def placement_steps(paths: set[str]) -> pd.DataFrame:
    study = load("emulated-zones")
    runs = az.latency(study)
    steps = az.stats.placement.changes(az.stats.placement.conditions(study, runs), runs, "placement")
    return steps[steps["path"].isin(paths)].reset_index(drop=True)


Frames = Callable[[az.Study, pd.DataFrame], pd.DataFrame]
#: The frame of each public function that returns one.
FRAMES: dict[str, Frames] = {
    "latency": lambda study, runs: runs,
    "throughput": lambda study, runs: az.throughput(study),
    "key": lambda study, runs: az.key(runs),
    "run_table": lambda study, runs: az.studies.run_table(study),
    "client_side_runs": lambda study, runs: az.studies.client_side_runs(az.studies.run_table(study)),
    "configured_links": lambda study, runs: az.studies.configured_links(study),
    "recorded_round_trips": lambda study, runs: az.studies.recorded_round_trips(study),
    "frequency_tables": lambda *_: az.studies.frequency_tables(load("aws-euwest1-lagscope")),
    "summarize": lambda study, runs: az.summarize(runs, by=["path", "method"]),
    "quantiles": lambda study, runs: az.quantiles(study, (0.5, 0.99), labels=runs[["path", "method"]]),
    "compare": lambda study, runs: az.compare(runs, runs, labels={"path": "az1a → az2a"}),
    **{
        f"asymmetry: {name}": (lambda study, runs, name=name: getattr(az.asymmetry(study), name))
        for name in ("methods", "pairs", "cells", "order")
    },
    "emulated_differences": lambda study, runs: emulated_steps(set(runs["path"].map(str))),
    "check_expectation": lambda *_: az.stats.check_expectation([1.0, 2.0], {"relation": "at_least", "low": 1.0}),
    "baseline": lambda study, runs: az.baseline(study, EXPECTED),
    "plan": lambda study, runs: az.plan(runs),
    "runs_needed": lambda *_: az.stats.runs_needed([450e3, 440e3, 460e3, 455e3, 448e3]),
    "precision_curves": lambda study, runs: az.stats.precision_curves(runs, az.plan(runs)),
    "percentile_sizes": lambda study, runs: az.stats.percentile_sizes(runs["n"]),
    "agreement": lambda study, runs: az.stats.agreement(study).methods,
    "pairs of agreement": lambda study, runs: az.stats.agreement(study).pairs,
    "printed_quantiles": lambda study, runs: az.stats.printed_quantiles(
        study.quantiles, study.metrics, labels=runs[["path", "method", "name"]]
    ),
    **{
        f"run_tails: {name}": (lambda study, runs, name=name: getattr(tails(study, runs), name))
        for name in az.stats.tail_by_run.RunTails._fields
    },
    "printed_exceedances": lambda study, runs: az.stats.tail_by_run.printed_exceedances(study, runs, limit=1e6),
    **{
        f"run_histograms: {name}": (
            lambda study, runs, name=name: getattr(az.stats.distribution_shape.run_histograms(study, runs), name)
        )
        for name in az.stats.distribution_shape.RunHistograms._fields
    },
    "exceedance": lambda study, runs: az.stats.exceedance(study.samples["rtt_ns"].head(500), 1e6),
    "fan_out": lambda study, runs: az.stats.fan_out(study.samples["rtt_ns"].head(500), 10),
    "histogram_quantiles": lambda *_: az.stats.histogram_quantiles([1, 2], [2, 3], [500, 500], [0.5]),
    "remaining_wait": lambda study, runs: az.stats.remaining_wait(study.samples["rtt_ns"].head(500)),
    "history: changes": lambda *_: load_history("emulated-nights").changes,
    **{
        f"history: {name}": (lambda study, runs, name=name: getattr(az.history(study), name))
        for name in ("series", "points")
    },
    "sightings": lambda *_: az.stats.sightings(load_history("ibm-cloud-zones")),
    "newest_windows": lambda study, runs: az.studies.newest_windows(runs),
    "published_windows": lambda *_: az.studies.published_windows(load("ibm-cloud-zones")),
    "placement: conditions": az.stats.placement.conditions,
    "zone_pairs": lambda study, runs: az.stats.zone_pairs(
        study, runs, az.stats.placement.widest(az.stats.placement.conditions(study, runs))
    ),
    "placement: changes": lambda study, runs: placement_steps(set(runs["path"].map(str))),
    "interval_mean": lambda *_: az.stats.interval_mean([10.0, 11.0] * 20),
    "trend": lambda study, runs: az.stats.trend(study.samples["rtt_ns"].head(500)),
    "throttling": lambda *_: az.stats.throttling([10.0] * 40 + [2.0, 2.1] * 40),
    "stability: run": lambda study, runs: az.stats.stability(study.samples["rtt_ns"].head(500)).run,
    "stability: shifts": lambda *_: az.stats.stability(np.repeat([1.0, 2.0], 5000) + np.arange(10_000) % 7 / 10).shifts,
    "lifetimes: summary": lambda *_: az.stats.lifetimes([3600.0, 1210.0], [False, True]).summary,
    "lifetimes: curve": lambda *_: az.stats.lifetimes([3600.0, 1210.0], [False, True]).curve,
    "runs in time": lambda study, runs: az.stats.time_series.run_time_series(study, runs).runs,
    "rates in time": lambda study, runs: az.stats.time_series.throughput_series(study.intervals, az.throughput(study)),
    "compare_imports": lambda study, runs: az.stats.compare_imports(runs[runs["round"] > 4], runs[runs["round"] <= 4]),
    **{f"table {name}": (lambda study, runs, name=name: study.table(name)) for name in az.schema.TABLES},
}


def test_every_public_function_that_returns_a_table_is_tested() -> None:
    returned = {
        name
        for module in (az, az.studies, az.stats)
        for name in module.__all__
        if inspect.isfunction(function := getattr(module, name))
        and str(function.__annotations__["return"]).startswith("pd.DataFrame")
    }
    assert returned <= set(FRAMES)


@pytest.fixture(scope="module", params=thinned(FRAMES, 4))
def frame(request: pytest.FixtureRequest, study: az.Study) -> pd.DataFrame:
    made = FRAMES[request.param](study, az.latency(study)).copy(deep=False)
    made.attrs["name"] = request.param
    return made.reset_index() if made.index.name else made


def same(frame: pd.DataFrame, other: pd.DataFrame) -> None:
    assert len(frame.columns)
    pd.testing.assert_frame_equal(frame, other.astype(frame.dtypes.to_dict()), check_names=False, rtol=1e-14)


@pytest.mark.costly
def test_columns_have_one_type(frame: pd.DataFrame) -> None:
    assert not [name for name, kind in frame.dtypes.items() if kind is np.dtype(object)]


@pytest.mark.costly
def test_parquet_and_feather(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_parquet(tmp_path / "frame.parquet")
    same(frame, pd.read_parquet(tmp_path / "frame.parquet"))
    frame.to_feather(tmp_path / "frame.feather")
    same(frame, pd.read_feather(tmp_path / "frame.feather"))


def test_arrow(frame: pd.DataFrame) -> None:
    same(frame, pa.Table.from_pandas(frame).to_pandas())


def test_polars(frame: pd.DataFrame) -> None:
    same(frame, pl.from_pandas(frame).to_pandas())


@pytest.mark.costly
def test_duckdb(frame: pd.DataFrame) -> None:
    with duckdb.connect() as database:
        database.register("frame", frame)
        same(frame, database.sql("select * from frame").df())


def test_csv(frame: pd.DataFrame) -> None:
    dates = [name for name, kind in frame.dtypes.items() if str(kind).startswith("datetime")]
    types = {name: kind for name, kind in frame.dtypes.items() if name not in dates}
    text = frame.to_csv(index=False)
    # An empty text is read as a missing one.
    read = pd.read_csv(
        io.StringIO(text),
        dtype=types,
        parse_dates=dates,
        keep_default_na=False,
        na_values={name: [""] for name in frame.columns if not (frame[name] == "").any()},
    )
    same(frame, read)


def test_text_methods_work_on_paths(study: az.Study) -> None:
    runs = az.latency(study)
    assert runs["path"].dtype == "str" and runs["path"].str.contains("az1a").all()
    assert (runs["client_end"] + " → " + runs["server_end"] == runs["path"]).all()


def test_results_merge_with_their_runs(frame: pd.DataFrame, study: az.Study) -> None:
    runs = pd.concat([az.latency(study), az.throughput(study, sender_only=True)]).reset_index()
    shared = [name for name in ("run_id", "path", "method") if name in frame.columns]
    of_others = (
        "configured_links",
        "table sources",
        "frequency_tables",
        "table histograms",
        "history: changes",
        "sightings",
        "published_windows",
    )
    if frame.attrs["name"] in of_others or not shared:
        pytest.skip("not of these runs")
    if "run_id" in shared:
        runs = pd.concat([runs[["run_id", *shared[1:]]], az.studies.run_table(study).reset_index()[["run_id"]]])
        shared = ["run_id"]
    if "path" in shared and (frame["path"] == "all paths").all():
        shared = ["method"]
    rows = frame[frame[shared].notna().all(axis=1)]
    merged = rows.merge(runs[shared].drop_duplicates(), on=shared)
    assert len(merged) == len(rows) > 0


#: Columns that are identifiers of pandas, or the unnamed index of results.
UNNAMED = {"index", "level_0"}


def test_every_column_is_described(frame: pd.DataFrame) -> None:
    tables = (az.schema.TABLES | az.schema.FRAMES).values()
    described = {column.name: str(column) for table in tables for column in table}
    assert set(frame.columns) - UNNAMED <= set(described)
    assert all(described[name].endswith(".") for name in set(frame.columns) - UNNAMED)


@pytest.mark.parametrize(
    "name", ["ec2-token-buckets", "emulated-cloud", pytest.param("ibm-cloud-zones", marks=pytest.mark.slow)]
)
def test_every_column_of_runs_is_described_where_runs_are_made(name: str) -> None:
    study = load(name)
    for runs in (az.latency(study, percentiles=(99.0,)), az.throughput(study)):
        assert set(runs.columns) <= set(runs.attrs["columns"])


def test_the_descriptions_travel_in_parquet(study: az.Study, tmp_path: Path) -> None:
    runs = az.latency(study)
    runs.to_parquet(tmp_path / "runs.parquet")
    assert pd.read_parquet(tmp_path / "runs.parquet").attrs["columns"] == runs.attrs["columns"]
    assert runs[runs["n"] > 10].attrs["columns"]["median_ns"].endswith("Unit: ns. Source: log.")
    field = pa.parquet.read_schema(study.folder / "intervals.parquet").field("throughput_bit_s")
    assert field.metadata[b"unit"] == b"bit/s" and field.metadata[b"description"].startswith(b"Rate in the interval")
