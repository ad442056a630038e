"""Samples -> round trips: what was lost is late, what has only bounds is neither lost nor a number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.chart_checks import assert_fit_to_print
from helpers.results import estimates_of

import azlatency as az
from azlatency.gate.verdict import judge
from azlatency.kit.objects import Chart
from azlatency.pages import common, latency, what_was_measured
from azlatency.studies.imports.importer import import_study
from azlatency.studies.runs.samples import RunSamples, bounded, bounds, counted, median, order_statistic, round_trips
from azlatency.studies.store.study import Study, load

WINDOWS = """
Pinging 10.1.0.4 with 32 bytes of data:
{replies}

Ping statistics for 10.1.0.4:
    Packets: Sent = {n}, Received = {n}, Lost = 0 (0% loss),
Approximate round trip times in milli-seconds:
    Minimum = 0ms, Maximum = 2ms, Average = 1ms
"""


def frame(rtt: list[int | None], status: list[str], low: list[int | None], high: list[int | None]) -> pd.DataFrame:
    """Samples as a study holds them: integers of Arrow, which cannot hold ``inf``."""
    columns = {"rtt_ns": rtt, "low_ns": low, "high_ns": high}
    numbers = {name: pd.array(values, dtype="int64[pyarrow]") for name, values in columns.items()}
    return pd.DataFrame({"run_id": "a", "status": pd.array(status, dtype="string[pyarrow]"), **numbers})


NONE: list[int | None] = [None] * 4
LOST = frame([3, None, 1, 2], ["ok", "lost", "ok", "unreachable"], NONE, NONE)
BELOW = frame([None, 2, None, None], ["ok", "ok", "ok", "lost"], [0, 2, 0, None], [1, 3, 1, None])


def arrays(samples: pd.DataFrame) -> RunSamples:
    return RunSamples(samples["rtt_ns"].astype("Float64").fillna(np.inf).to_numpy(dtype="float64"), *bounds(samples))


def test_losses_are_later_than_any_reply() -> None:
    assert round_trips(LOST).tolist() == [3, np.inf, 1, 2]
    assert [bound.tolist() for bound in bounds(LOST)] == [[3, np.inf, 1, 2]] * 2
    assert median(arrays(LOST)) == 2.5


def test_an_answer_within_bounds_is_not_lost() -> None:
    assert bounded(BELOW).tolist() == [True, False, True, False]
    low, high = bounds(BELOW)
    assert (low.tolist(), high.tolist()) == ([0, 2, 0, np.inf], [1, 3, 1, np.inf])
    with pytest.raises(ValueError, match="only bounds are known of 2 of 4 round-trip times"):
        round_trips(BELOW)
    with pytest.raises(ValueError, match=r"use az\.quantiles"):
        az.stats.stability(BELOW)


def test_the_median_is_missing_where_it_has_only_bounds() -> None:
    assert np.isnan(median(arrays(BELOW)))
    assert median(arrays(frame([None, 2, 3, 4], ["ok"] * 4, [0, None, None, None], [1, None, None, None]))) == 2.5
    assert median(arrays(frame([5, None, None, None], ["ok", "lost", "lost", "lost"], NONE, NONE))) == np.inf


def test_open_ends_and_frames_without_bounds() -> None:
    open_ended = frame([None, 2, 3, 4], ["ok"] * 4, [7, None, None, None], [None, 3, None, None])
    assert bounded(open_ended).tolist() == [True, False, False, False]
    low, high = bounds(open_ended)
    assert (low.tolist(), high.tolist()) == ([7, 0, 3, 4], [np.inf, 3, 3, 4])
    assert round_trips(LOST[["rtt_ns"]]).tolist() == [3, np.inf, 1, 2]


def test_what_is_not_counted() -> None:
    status = ["warmup", "duplicate", "void", "out_of_order"]
    assert counted(frame([1, 2, 3, 4], status, NONE, NONE))["rtt_ns"].tolist() == [4]


@pytest.mark.parametrize("q, rank", [(0.0, 1), (0.5, 500), (0.99, 990), (0.999, 999), (0.9995, 1000), (1.0, 1000)])
def test_order_statistics(q: float, rank: int) -> None:
    assert order_statistic(np.arange(1.0, 1001.0), q) == rank


def study(tmp_path: Path, name: str, *texts: str) -> Study:
    """A study of these logs."""
    folder = tmp_path / "raw" / name
    folder.mkdir(parents=True)
    for number, text in enumerate(texts):
        (folder / f"ping{number}.log").write_text(text, "utf-8")
    import_study(name, [folder], out=tmp_path / "processed")
    return load(name, processed=tmp_path / "processed")


def windows(times: list[str]) -> str:
    replies = "\n".join(f"Reply from 10.1.0.4: bytes=32 time{rtt}ms TTL=128" for rtt in times)
    return WINDOWS.format(replies=replies, n=len(times))


def test_a_run_below_the_resolution_of_its_tool(tmp_path: Path) -> None:
    """Three of four replies are ``<1ms``. Of the others alone the median would be 2 ms: four times too much."""
    stored = study(tmp_path, "below", windows(["<1", "<1", "=2", "<1"] * 300))
    runs = az.latency(stored)
    assert runs["median_ns"].isna().tolist() == [True]
    assert az.stats.distribution_shape.run_histograms(stored, runs).runs.empty
    assert az.stats.time_series.run_time_series(stored, runs).runs.empty
    assert az.stats.tail_by_run.run_tails(stored, runs, limit=1e6).runs.empty
    middle, late = estimates_of(az.quantiles(stored.samples, [0.5, 0.9]))
    assert (middle.estimate, late.estimate) == (0.5e6, 2.5e6)
    conclusions = what_was_measured.find(stored, az.stats.unit_checks.printed_quantities(runs)).findings
    assert [finding.kind for finding in conclusions if finding.text.startswith("900 replies in 1 run of ping")] == [
        "act"
    ]


def test_a_run_of_which_only_bounds_are_known(tmp_path: Path) -> None:
    """No mean, no median, and still a run with percentiles."""
    stored = study(tmp_path, "bounds", windows(["<1"] * 1200).replace("Average = 1ms", "Average = 0ms"))
    runs = az.latency(stored)
    assert runs[["mean_ns", "median_ns"]].isna().all(axis=None) and runs["n"].tolist() == [1200]
    (middle,) = estimates_of(az.quantiles(stored, [0.5]))
    assert (middle.estimate, middle.labels["path"]) == (0.5e6, "? → 10.1.0.4")


def test_a_median_above_the_resolution_is_known(tmp_path: Path) -> None:
    runs = az.latency(study(tmp_path, "above", windows(["=3", "<1", "=2", "=3", "=3"] * 5)))
    assert runs[["median_ns", "n"]].to_numpy(dtype=float).tolist() == [[3e6, 25]]


def linux(times: list[float | None]) -> str:
    replies = "\n".join(
        f"64 bytes from 10.1.0.4: icmp_seq={number} ttl=64 time={rtt} ms"
        for number, rtt in enumerate(times, 1)
        if rtt is not None
    )
    answers = [rtt for rtt in times if rtt is not None]
    loss = 100 * (1 - len(answers) / len(times))
    spread = float(np.std(answers))
    return (
        f"PING 10.1.0.4 (10.1.0.4) 56(84) bytes of data.\n{replies}\n\n--- 10.1.0.4 ping statistics ---\n"
        f"{len(times)} packets transmitted, {len(answers)} received, {loss:g}% packet loss, time 9000ms\n"
        f"rtt min/avg/max/mdev = {min(answers):.3f}/{np.mean(answers):.3f}/{max(answers):.3f}/{spread:.3f} ms\n"
    )


def test_loss_in_every_list_of_runs(tmp_path: Path) -> None:
    """A lost probe once stopped every page that reads samples."""
    rng = np.random.default_rng(7)
    times: list[float | None] = [round(rtt, 3) for rtt in rng.gamma(4, 0.2, 1200) + 0.3]
    times[1::10] = [None] * 120
    stored = study(tmp_path, "lossy", linux(times))
    runs = az.latency(stored)
    ordered = sorted(rtt for rtt in times if rtt is not None)
    assert runs["median_ns"].tolist() == [pytest.approx(5e5 * (ordered[599] + ordered[600]))]
    assert runs["n"].tolist() == [1080]
    shapes = az.stats.distribution_shape.run_histograms(stored, runs)
    (shape,) = shapes.runs.itertuples()
    assert (shape.n, shape.lost, shapes.bins["count"].sum() + shape.beyond) == (1080, 120, 1080)
    assert list(az.stats.time_series.run_time_series(stored, runs).runs["lost"]) == [120]
    tails = az.stats.tail_by_run.run_tails(stored, runs, limit=10e6)
    assert tails.above["estimate"].tolist() == [pytest.approx(0.1)]


def test_compare_counts_lost_probes_as_late(tmp_path: Path) -> None:
    """If one probe in twenty is lost, the 99th percentile is infinite, however many runs there are."""
    series = [[round(1 + (number * step % 199) / 1e3, 3) for number in range(200)] for step in (3, 5, 7)]
    lossy: list[list[float | None]] = [[None if at % 20 == 3 else rtt for at, rtt in enumerate(one)] for one in series]
    before = study(tmp_path, "before", *(linux([*one]) for one in series))
    after = study(tmp_path, "after", *(linux(one) for one in lossy))
    judged = judge(before, after, names=("before", "after"), metrics=["p99", "p90"], maps=[("?", "client")])
    by_metric = judged.rows.set_index("metric")
    assert by_metric.loc["p99", ["decision", "flags"]].tolist() == ["refused", "loss_censored"]
    assert by_metric.loc["p90", "decision"] != "refused"


def test_a_run_that_lost_most_of_its_probes(tmp_path: Path) -> None:
    """Its median is infinite, so it has no interval; tables, charts and findings report the loss."""
    good: list[float | None] = [round(1 + number / 1e3, 3) for number in range(100)]
    bad: list[float | None] = [rtt if at % 5 == 0 else None for at, rtt in enumerate(good)]
    stored = study(tmp_path, "bad", linux(good), linux([*good, 1.5]), linux(bad))
    runs = az.latency(stored)
    assert runs["median_ns"].tolist() == [1_049_500, 1_050_000, np.inf]
    typical = az.summarize(runs, "median_ns")
    assert (
        list(typical["n"]) == [3] and list(typical["flags"]) == ["loss_censored"] and typical["estimate"].isna().all()
    )
    assert latency.paths(runs, typical).cells[0][2:4] == ("3", "1,049.5 – ∞")
    chart = common.typical_forest(runs, typical)
    assert isinstance(chart, Chart)
    assert "the run lost most of its probes" in chart.caption and "∞" in chart.alt
    assert_fit_to_print("lost", chart)
    note = common.typical_forest(runs.iloc[[2]], typical[:0])
    assert str(note).endswith("ping 56 B: the run lost most of its probes.")
    condition = az.stats.placement.conditions(stored, runs)
    assert list(condition["n"]) == [2] and condition["estimate"].isna().all()
    conclusions = what_was_measured.find(stored, az.stats.unit_checks.printed_quantities(runs)).findings
    assert any(
        finding.text.startswith("1 run with round-trip times lost probes, up to 80 %") for finding in conclusions
    )
