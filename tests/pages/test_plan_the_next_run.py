"""Page 10: runs that are needed, with numbers that follow from the logs and from the binomial law."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.studies import load
from helpers.tables import cell

import azlatency as az
from azlatency.kit.objects import Chart, Note
from azlatency.pages import plan_the_next_run as page
from azlatency.studies.store.study import Study


@pytest.fixture(scope="module")
def runs() -> pd.DataFrame:
    return az.latency(load("emulated-zones"))


@pytest.fixture(scope="module")
def plans(runs: pd.DataFrame) -> pd.DataFrame:
    return az.plan(runs, 0.02)


def test_single_runs_show_no_spread_to_plan_with(cni: Study) -> None:
    runs = az.latency(cni)
    found, sizes = az.plan(runs), az.stats.percentile_sizes(runs["n"], 0.95)
    assert "10 combinations" in str(page.plans(found))
    assert isinstance(page.plans(found[:0]), Note) and isinstance(page.runs_needed(found), Note)
    assert isinstance(page.precision(az.stats.precision_curves(runs, found)), Note)
    # The shortest run has 6,738 packets: enough for p99.9 (3,688). The longest has 295,149: enough for p99.99 (36,887).
    conclusion = page.find(found, sizes)
    text = str(conclusion)
    assert conclusion.findings[0].kind == "answer" and "no spread: 5 paths" in text
    assert "every run up to p99.9," in text and "p99.99." in text


def test_a_plan_says_that_its_pilot_drifts() -> None:
    """The route of az1a → az2a is 25 µs longer from round 26 on; the other two paths stayed."""
    found = az.plan(az.latency(load("emulated-nights")))
    assert cell(page.plans(found), "az1a → az2a, ping 56 B", "flags") == "drift"
    assert cell(page.plans(found), "az1a → az3a, ping 56 B", "flags") == ""
    findings = str(page.find(found, az.stats.percentile_sizes()))
    assert "**20** runs are enough and were done: ±5 % on 2 of 3 series; 1 drifts." in findings
    assert "takes that for spread: az1a → az2a (ping 56 B)." in findings


def test_sizes_are_those_of_the_binomial_law(cni: Study) -> None:
    # Upper bound of p99 at 95 %: the smallest n with 0.99^n <= 0.05 is 299.
    table = page.smallest_sizes(az.stats.percentile_sizes(az.latency(cni)["n"], 0.95))
    assert cell(table, "p99,", "for an upper bound") == "299"
    assert cell(table, "p99,", "runs with enough for both") == "10 of 10"
    nothing = page.smallest_sizes(az.stats.percentile_sizes())
    assert cell(nothing, "p50", "runs with enough for both") == "no runs"


@pytest.mark.costly
def test_table_picture_and_sentence_say_the_same_row(runs: pd.DataFrame, plans: pd.DataFrame) -> None:
    name = {"path": "az1b → az1a", "method": "sockperf TCP 14 B"}
    (row,) = plans[(plans[list(name)] == pd.Series(name)).all(axis=1)].to_dict("records")
    needed = f"{row['high']:.0f}"
    assert cell(page.plans(plans), "az1b → az1a, sockperf TCP 14 B", "plan with") == needed
    assert f"az1b → az1a, sockperf TCP 14 B, runs for ±2 %: {needed} runs" in az.say(plans)
    curves = page.precision(az.stats.precision_curves(runs, plans))
    assert isinstance(curves, Chart)
    has = ", the 12 done are enough for ±10 %, ±1 % more than 200 (az1b → az1a, sockperf TCP 14 B)"
    assert curves.title == f"±2 % takes {needed} runs{has}"
    few = az.stats.precision_curves(runs, plans).assign(done=200)
    done = page.precision(few)
    assert isinstance(done, Chart) and done.title.startswith("The 200 runs done are enough for ±2 %, ±1 % more than")
    assert f"±2 % {row['at_pilot_spread']:.0f} [{row['low']:.0f}, {needed}] runs, 12" in curves.alt
    chart = page.runs_needed(plans)
    assert isinstance(chart, Chart) and f"[{row['low']:.0f}, {needed}] runs, 12" in chart.alt


def test_the_title_and_the_answer_count_the_paths_that_need_too_many_runs(plans: pd.DataFrame) -> None:
    with_spread = plans[plans["at_pilot_spread"].notna()]
    known = with_spread[~with_spread["flags"].str.contains("small_pilot")]
    wide, most = (known["high"] > 200).sum(), known.loc[known["high"] <= 200, "high"].max()
    chart, text = page.runs_needed(plans), str(page.find(plans, az.stats.percentile_sizes()))
    enough = f"runs: ±2 % on {len(known) - 1 - wide} of {len(known)} series; {wide} need more than 200; 1 drifts"
    enough += f"; {len(with_spread) - len(known)} with fewer than five runs not counted (lagscope TCP)"
    assert wide > 1 and isinstance(chart, Chart) and chart.title == f"Plan {most:.0f} {enough}"
    assert f"Answer: Plan **{most:.0f}** {enough}." in text and "More than 200 runs: " in text
    edges = [text.get_text() for axis in chart.figure.axes for text in axis.texts]
    assert edges.count("> 200") == (with_spread["high"] > 200).sum()
    # A series that drifts and needs more than 200 runs is one of the rows that a reader counts.
    both = plans.assign(flags=plans["flags"].mask(plans.index == known["high"].idxmax(), "dependent_runs"))
    needed = page.runs_needed(both)
    assert isinstance(needed, Chart)
    assert f"; {wide} need more than 200, 1 of them in runs that drift; 1 more drifts;" in needed.title


def test_every_row_and_dot_of_the_picture_lies_inside_its_axis(runs: pd.DataFrame) -> None:
    pilot = pd.concat([runs.assign(round=number) for number in (1, 2, 3, 4)], ignore_index=True)
    chart = page.runs_needed(az.plan(pilot[pilot["method"] == "ping 56 B"]))
    assert isinstance(chart, Chart)
    (axis,) = chart.figure.axes
    low, high = axis.get_xlim()
    dots = [float(x) for marks in axis.collections for x in marks.get_offsets()[:, 0]]
    bars = [float(x) for line in axis.lines for x in line.get_xdata()]
    assert set(map(round, dots)) == {48} and low <= min(bars) and max(bars) < 48 < high


def test_one_path_is_a_sentence(plans: pd.DataFrame) -> None:
    first = plans[plans["at_pilot_spread"].notna()].head(1)
    only = page.runs_needed(first)
    assert " ±2 % on the only series." in str(page.find(first, az.stats.percentile_sizes()))
    assert isinstance(only, Note) and "az1a → az1b, echo TCP 64 B, runs for ±2 %: " in only.text
