"""The data frames work with pandas, numpy, scipy, seaborn and matplotlib without a conversion by hand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import seaborn as sns
from helpers.places import FIXTURES, ROOT
from scipy import stats

import azlatency as az
from azlatency.logs.tables import to_frame


@pytest.fixture(scope="module")
def study() -> az.Study:
    return az.load("emulated-zones", processed=ROOT / "data" / "processed")


@pytest.fixture(scope="module")
def latency(study: az.Study) -> pd.DataFrame:
    return az.latency(study)


@pytest.fixture(scope="module")
def runs(latency: pd.DataFrame) -> pd.DataFrame:
    return latency[latency["tool"] == "sockperf"]


@pytest.fixture(autouse=True)
def close_figures() -> object:
    yield None
    plt.close("all")


def test_types_of_columns(study: az.Study, latency: pd.DataFrame) -> None:
    throughput = az.throughput(study)
    for column in ("mean_ns", "median_ns", "p99_ns", "max_ns", "n"):
        assert latency[column].dtype == np.float64, column
    assert throughput["throughput_bit_s"].dtype == throughput["retransmits"].dtype == np.float64
    assert study.metrics["value"].dtype == study.quantiles["value_ns"].dtype == np.float64
    for name in az.schema.TABLES:
        types = set(map(str, study.table(name).dtypes))
        assert types <= {"str", "float64", "int64", "boolean", "datetime64[ns, UTC]"}, name
    assert study.samples["rtt_ns"].dtype == study.samples["sent_ns"].dtype == np.float64
    assert study.samples["seq"].dtype == study.metrics["line"].dtype == np.int64
    assert latency["started_at"].dtype == throughput["started_at"].dtype == "datetime64[ns, UTC]"
    assert all(latency[column].dtype == "str" for column in ("tool", "method", "zone", "median_from"))


@pytest.mark.costly
def test_logs_and_studies_have_the_same_types(study: az.Study) -> None:
    logs = az.parse(FIXTURES / "ping")
    for name in az.schema.TABLES:
        assert list(logs.table(name).columns) == list(study.table(name).columns)
        assert list(map(str, logs.table(name).dtypes)) == list(map(str, study.table(name).dtypes)), name
    assert len(az.latency(logs)) and az.latency(logs)["mean_ns"].dtype == np.float64


def test_a_date_beyond_the_range_of_nanoseconds_is_kept() -> None:
    """A manifest may contain one, and pandas cannot show it as ``datetime64[ns]``."""
    date = pa.array([datetime(9999, 12, 31, tzinfo=UTC)], pa.timestamp("us", tz="UTC"))
    late = to_frame(pa.table({"started_at": date}))
    assert late["started_at"].dt.year.tolist() == [9999] and late["started_at"].dtype == "datetime64[us, UTC]"


def test_missing_values_stay_missing(latency: pd.DataFrame) -> None:
    samples = az.parse(FIXTURES / "ping").samples
    assert samples["rtt_ns"].isna().any() and not (samples["rtt_ns"] == 0).any()
    assert latency["median_ns"].isna().any() and not (latency["median_ns"] == 0).any()


def test_run_id_is_the_index_only(study: az.Study, latency: pd.DataFrame) -> None:
    for frame in (latency, az.throughput(study), az.studies.run_table(study)):
        assert frame.index.name == "run_id" and frame.index.is_unique and "run_id" not in frame
        assert len(frame.groupby("run_id")) == len(frame) == len(frame.reset_index())
    assert study.metrics.join(latency[["path"]], on="run_id", how="inner")["path"].notna().all()
    assert study.metrics.merge(latency, on="run_id")["run_id"].isin(latency.index).all()


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (
            lambda runs: az.summarize(runs, "medain_ns"),
            KeyError,
            "unknown column 'medain_ns'; did you mean 'median_ns'?",
        ),
        (lambda runs: az.summarize(runs, by="zome"), KeyError, "unknown column 'zome'; did you mean 'zone'?"),
        (lambda runs: az.summarize(runs, by="xyz"), KeyError, "unknown column 'xyz'; the columns are source_id, first"),
        (lambda runs: az.compare(runs, runs, value="p99"), KeyError, "unknown column 'p99'; did you mean 'p99_ns'?"),
        (
            lambda runs: az.compare(runs, runs, margn=1),
            TypeError,
            "compare() got an unexpected keyword argument 'margn'",
        ),
        (lambda runs: az.plan(runs[["path", "method"]]), KeyError, "no value in any of median_ns, mean_ns, throughput"),
        (lambda runs: az.latency("mine"), TypeError, "'mine' is neither a study nor logs; pass az.load(NAME) or az.p"),
    ],
)
def test_an_error_for_a_wrong_name_or_type_lists_the_valid_ones(
    runs: pd.DataFrame, use: Callable[[pd.DataFrame], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        use(runs)
    assert str(raised.value.args[0]).startswith(message)


def test_p99(study: az.Study, latency: pd.DataFrame) -> None:
    runs = latency
    for metric, column in ((0.5, "median_ns"), (0.99, "p99_ns")):
        printed = study.quantiles[(study.quantiles["metric"] == "rtt") & (study.quantiles["q"] == metric)]
        values = printed[~(printed["beyond"] < 1)].set_index("run_id")["value_ns"]
        both = runs.index.intersection(values.index)
        assert len(both) and (runs.loc[both, column] == values[both]).all()
    (run_id,) = runs.index[(runs["tool"] == "ping") & (runs["n"] == 200)][:1]
    replies = study.samples[study.samples["run_id"] == run_id]["rtt_ns"].dropna()
    assert runs.at[run_id, "p99_ns"] == np.percentile(replies, 99, method="inverted_cdf")
    assert runs.loc[runs["n"] < 99, "p99_ns"].isna().all(), "it would be the sample maximum"


def test_pandas(study: az.Study, runs: pd.DataFrame) -> None:
    medians = runs.groupby(["path", "method"])["median_ns"].agg(["count", "mean"])
    assert medians["count"].sum() == runs["median_ns"].notna().sum()
    wide = runs.pivot_table(index="path", columns="method", values="median_ns", aggfunc="median")
    assert len(wide) == runs["path"].nunique()
    assert runs[["n", "mean_ns", "p99_ns"]].describe().notna().all(axis=None)
    joined = study.samples.merge(runs[["path", "method"]], left_on="run_id", right_index=True)
    assert joined.groupby("path")["rtt_ns"].median().gt(0).all()
    assert (runs["path"] == "az1a → az3a").sum() == len(runs.set_index("path").loc["az1a → az3a"])
    assert runs.sort_values("path")["path"].is_monotonic_increasing


def test_numpy(study: az.Study, runs: pd.DataFrame) -> None:
    rtt = study.samples["rtt_ns"].dropna()
    assert 0 < np.percentile(rtt, 50) < np.percentile(rtt, 99)
    assert np.isfinite(np.log(rtt)).all() and np.isfinite(np.log(runs["mean_ns"])).all()
    wide = (
        study.samples[study.samples["tool"] == "ping"].pivot(index="seq", columns="run_id", values="rtt_ns").to_numpy()
    )
    assert wide.dtype == np.float64 and np.isfinite(np.nanmax(wide))


def test_scipy(study: az.Study, runs: pd.DataFrame) -> None:
    near, far = (runs.loc[runs["path"] == path, "mean_ns"] for path in ("az1a → az2a", "az1a → az3a"))
    assert stats.ttest_ind(np.log(near), np.log(far), equal_var=False).pvalue < 1e-9
    assert stats.mannwhitneyu(near, far).pvalue < 1e-3
    interval = stats.bootstrap((near,), np.median, n_resamples=99, rng=1).confidence_interval
    assert near.min() <= interval.low <= interval.high <= near.max()
    one_run = study.samples[study.samples["run_id"] == study.samples["run_id"].iloc[0]]["rtt_ns"].dropna()
    assert stats.kstest(one_run, "norm").pvalue < 1e-9, "nanoseconds are not standard normal"


@pytest.mark.slow
def test_seaborn(study: az.Study, runs: pd.DataFrame) -> None:
    figure, axes = plt.subplots(7)
    sns.stripplot(runs, x="path", y="median_ns", hue="method", ax=axes[0])
    sns.stripplot(runs, x="median_ns", y="method", hue="path", ax=axes[1])
    sns.ecdfplot(study.samples, x="rtt_ns", hue="tool", ax=axes[2])
    sns.heatmap(runs.pivot_table(index="path", columns="method", values="median_ns"), ax=axes[3])
    probes = study.samples[study.samples["tool"] == "ping"]
    sns.heatmap(probes.pivot(index="run_id", columns="seq", values="rtt_ns"), ax=axes[5])
    sns.lineplot(probes.head(400), x="seq", y="rtt_ns", hue="run_id", ax=axes[6])
    sns.scatterplot(runs, x="started_at", y="mean_ns", hue="path", ax=axes[4])
    figure.canvas.draw()
    assert [label.get_text() for label in axes[0].get_xticklabels()] == [str(path) for path in runs["path"].unique()]


def test_matplotlib(study: az.Study, runs: pd.DataFrame) -> None:
    assert runs.plot(x="started_at", y="mean_ns", style=".").lines
    assert runs.set_index("path")["mean_ns"].plot.bar().patches
    _, axis = plt.subplots()
    axis.plot(runs["started_at"], runs["median_ns"], ".")
    axis.hist(runs["n"])
    samples = study.samples[study.samples["run_id"].isin(runs.index)]
    assert samples.plot(x="sent_ns", y="rtt_ns").lines and samples["rtt_ns"].plot.hist().patches
    assert study.intervals.plot.scatter(x="start_ns", y="retransmits").collections


def test_no_runs_have_no_typical_run_but_its_columns() -> None:
    """A filter may leave no row, and a frame of nothing has no column either."""
    for empty in (pd.DataFrame(), pd.DataFrame({"path": [], "median_ns": []})):
        assert {"path", "method", "estimate", "flags"} <= set(az.summarize(empty)) and az.summarize(empty).empty
