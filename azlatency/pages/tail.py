"""How slow are the slowest packets, and how often? Tables, chart and findings of page 03."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from azlatency.kit.cells import MICROSECONDS, PERCENT, Column, Row, Table, interval, is_missing, number_format
from azlatency.kit.changes import when
from azlatency.kit.drawing.base import few_of_each
from azlatency.kit.drawing.draw import brackets
from azlatency.kit.findings import act, answer, count_or_names, has_flag, info
from azlatency.kit.groups import answer_of
from azlatency.kit.objects import Chart, Finding, Findings, Note
from azlatency.kit.table import between, count, estimated, flags, number, table, text
from azlatency.kit.titles import by_method, extremes
from azlatency.pages.common import typical_runs
from azlatency.shapes.density import density
from azlatency.stats.across_runs.main_method import Measured
from azlatency.stats.across_runs.run_history import history
from azlatency.stats.result import FEASIBLE
from azlatency.stats.within_run.tail_by_run import LEVELS
from azlatency.studies.emulation import NOT_EMULATED, planted_changes, sums_of_both_directions
from azlatency.studies.format import format_interval, format_value, join_words, one_prefix, percent, plain
from azlatency.studies.runs.groups import grouped

if TYPE_CHECKING:
    from azlatency.stats.within_run.tail_by_run import RunTails
    from azlatency.studies.store.study import Study

_NAMES = dict(zip(LEVELS, ("p50", "p99", "p99.9", "p99.99", "one in a million"), strict=True))
#: Levels that a finding names, most runs that findings name, and most runs of the chart.
_NAMED, _MOST_FINDINGS, _MOST_PANELS = (0.99, 0.999, 0.9999), 8, 6
#: A missing end is said by its cell.
_SAID_BY_CELL = ("unbounded_upper",)


# --- the p99 of a path


def across_runs(runs: pd.DataFrame, typical: pd.DataFrame, plans: pd.DataFrame) -> Table | Note:
    """Return the typical p99 of each path and method over its runs, and the runs that ±10 % need.

    ``typical``: `azlatency.summarize` of ``p99_ns``; ``plans``: `azlatency.plan` of the same column.
    """
    repeated = typical[typical["n"] > 1]
    if repeated.empty:
        return Note("No path has two runs with at least 100 packets, so there is no p99 across runs.")
    needed = plans.set_index(["path", "method"])[["needed", "low", "high"]].add_prefix("plan_")
    return typical_runs(
        runs,
        repeated.join(needed, on=["path", "method"]),
        "p99_ns",
        "p99 per run",
        "p99 across runs",
        further={"runs for ±10 %": text(_needed, right=True)},
        notes=[f"Runs for ±10 %: a range if more than {FEASIBLE} are needed, or fewer than five were done."],
    )


def _needed(row: Row) -> str:
    """Return the number of runs, else its range."""
    if not is_missing(row["plan_needed"]):
        return number_format(",.0f").text(row["plan_needed"], 1)
    return interval(",.0f").text((row["plan_low"], row["plan_high"]), 1) or "not known"


# --- the tail of each run with samples


def percentiles(found: RunTails) -> Table | Note:
    """Return the percentiles of runs with samples."""
    if found.runs.empty:
        return Note("No run of this study has 1,000 or more samples, which the percentiles of a single run need.")
    quantiles = found.quantiles
    effective = quantiles["n_effective"].where(quantiles["n_effective"] > 0, quantiles["n"])
    rows = _by_run(found).assign(
        effective=effective.groupby(quantiles["run_id"]).min(), flags=_all_flags(found.quantiles)
    )
    for q, name in _NAMES.items():
        rows = rows.join(_at_level(found.quantiles, q, name))
    columns = {
        "run": text("name"),
        "packets": count("packets"),
        "effective": count("effective"),
        **{name: _bounded(name) for name in _NAMES.values()},
        "flags": flags(hide=_SAID_BY_CELL),
    }
    notes = [
        "Low and high: the interval, where it is valid; –: the run has too few packets. Effective: the effective "
        "sample size, which accounts for autocorrelation; the smallest over the percentiles."
    ]
    return table(rows, "Percentiles from samples (scope: within run)", columns, notes, value="samples")


def _by_run(found: RunTails) -> pd.DataFrame:
    """Return the runs, one row each, by run_id."""
    return found.runs.assign(run_ids=found.runs["run_id"]).set_index("run_id", drop=False).rename_axis(None)


def _at_level(estimates: pd.DataFrame, q: float, name: str) -> pd.DataFrame:
    """Return estimates of one level with their ends by run_id, in columns that begin with a name."""
    chosen = estimates[estimates["q"] == q].set_index("run_id")
    return chosen[["estimate", "low", "high"]].set_axis([name, f"{name}_low", f"{name}_high"], axis=1)


def _all_flags(estimates: pd.DataFrame) -> pd.Series:
    """Return the flags of all estimates of a run, each once, by run_id."""
    return estimates.groupby("run_id")["flags"].agg(lambda texts: " ".join(dict.fromkeys(" ".join(texts).split())))


def _bounded(name: str) -> Column:
    """Return a column of percentiles in µs; "no bound" stands for an open end."""
    return estimated(name, f"{name}_low", f"{name}_high", ",.1f", MICROSECONDS, no_low="no bound", no_high="no bound")


def tail_curves(found: RunTails, links: pd.DataFrame = NOT_EMULATED, *, limit: float | None = None) -> Chart | Note:
    """Draw the share of packets slower than a value; six runs, the longest of each path, and a limit in ns.

    Of paths with as many packets, those with the slowest one are drawn.

    ``links``: what an emulated network is configured to.
    """
    if found.runs.empty:
        return Note("No chart: no run of this study has enough samples to show a tail.")
    by_slowest = found.runs.sort_values("largest_ns", ascending=False, kind="stable")
    shown = few_of_each(by_slowest, "path", "packets", _MOST_PANELS).sort_index()
    runs = shown.to_dict("records")
    quantiles = found.quantiles[found.quantiles["run_id"].isin(shown["run_id"]) & found.quantiles["estimate"].notna()]
    points = found.curve[found.curve["run_id"].isin(shown["run_id"])]
    points = points.assign(
        n=points["run_id"].map(shown.set_index("run_id")["packets"]),
        text=points["run_id"].map({run["run_id"]: _in_words(run, quantiles) for run in runs}),
        truth=points["path"].map(sums_of_both_directions(links)),
    )
    method, largest = by_method(
        (Measured(run["method"], run["path"], packets=run["packets"]), run["largest_ns"]) for run in runs
    )
    bars = quantiles.dropna(subset=["low", "high"])
    caption = "Share of packets slower than a given round-trip time."
    if len(bars):
        level = percent(found.above["confidence"].iloc[0])
        caption += f" Blue bars: {level} interval of the percentile, where it is valid."
    if points["truth"].notna().any():
        caption += " ×: configured round-trip delay of the emulated link."
    if len(shown) < len(found.runs):
        every = shown["path"].nunique() == found.runs["path"].nunique()
        which = "the longest of each path" if every else "the longest, then those with the slowest packet"
        caption += f" Shown: {len(shown)} of {len(found.runs)} runs, {which}."
    return density(
        points,
        "rtt_ns",
        panel="name",
        line="run_id",
        text="text",
        slower=True,
        bars=bars.assign(share=1 - bars["q"], text=bars["what"]),
        limit=limit,
        truth="truth",
        xlabel="round-trip time",
        result=extremes("slowest round trip", largest, "ns", method),
        caption=caption,
        name="tail_curves",
    )


def _in_words(run: Row, quantiles: pd.DataFrame) -> str:
    """Return the percentiles of a run with their intervals, and its slowest packet, in µs."""
    parts = []
    for row in quantiles[quantiles["run_id"] == run["run_id"]].to_dict("records"):
        ends = [row[name] / MICROSECONDS.scale for name in ("low", "high")]
        interval_words = "" if any(map(is_missing, ends)) else brackets(ends, 5)
        parts.append(f"{row['what']} {plain(row['estimate'] / MICROSECONDS.scale, 5)}{interval_words}")
    parts.append(f"largest {plain(run['largest_ns'] / MICROSECONDS.scale, 6)} µs")
    return f"{run['path']}, {run['method']}, n = {plain(run['packets'])}: {'; '.join(parts)}"


# --- how often a limit is exceeded


def above_limit(found: RunTails, printed: pd.DataFrame, limit_us: float) -> Table | Note:
    """Return how often a round trip took longer than ``limit_us`` (µs), from samples and from printed tables."""
    worst = printed.sort_values("high", ascending=False, kind="stable", na_position="last")
    worst = printed[printed.index.isin(worst.drop_duplicates(["path", "method"]).index)]
    # Classes are counted; between two percentiles nothing is known.
    origins = np.where(has_flag(worst, "interpolated"), "printed percentiles", "printed counts")
    both = [frame.assign(origin=origin) for frame, origin in ((found.above, "samples"), (worst, origins))]
    rows = pd.concat([frame for frame in both if len(frame)] or both)
    if rows.empty:
        return Note(
            "No run of this study has 1,000 or more samples, and no log prints percentiles, so no limit can be checked."
        )
    notes = ["Of several printed tables of one path and method, the one with the largest upper bound is shown."]
    columns = {
        "run": text("name"),
        "slower": number("estimate", ".3g", PERCENT),
        "interval": between("low", "high", ".3g", PERCENT, "none"),
        "packets": count("n"),
        "from": text("origin"),
        "flags": flags(),
    }
    return table(
        rows,
        f"How often slower than {plain(limit_us, 6)} µs",
        columns,
        notes if len(worst) < len(printed) else (),
        value=lambda row: "samples" if row["origin"] == "samples" else "percentiles",
    )


# --- what a request and a user wait for


def slowest_of(found: RunTails) -> Table | Note:
    """Return the median of a single call and of the slowest of many parallel calls."""
    if found.runs.empty:
        return Note("Parallel calls cannot be estimated without samples.")
    slowest = found.slowest.set_index("run_id")
    rows = _by_run(found).join(slowest[["estimate", "low", "high", "block_maxima", "flags"]])
    rows = rows.join(_at_level(found.quantiles, 0.5, "single"))
    calls = slowest["n_calls"].iloc[0]
    columns = {
        "run": text("name"),
        "one call": number("single", ",.1f", MICROSECONDS),
        f"slowest of {calls}": estimated(
            "estimate", "low", "high", ",.1f", MICROSECONDS, no_low="no bound", no_high="no bound"
        ),
        "times": number("times", ".2f"),
        f"slowest of {calls} in a row": number("block_maxima", ",.1f", MICROSECONDS),
        "flags": flags(hide=_SAID_BY_CELL),
    }
    notes = ["Medians. The calls are assumed to be independent; the last number uses consecutive packets."]
    rows = rows.assign(times=rows["estimate"] / rows["single"].where(rows["single"] > 0))
    return table(rows, f"One call, and the slowest of {calls}", columns, notes, value="samples")


def at_random_moments(found: RunTails) -> Table | Note:
    """Return how long a user waits who arrives at a random moment of a closed loop."""
    if found.waits.empty:
        return Note("No run of this study with samples is a closed loop.")
    of_runs = found.waits.drop_duplicates("run_id").set_index("run_id")
    rows = _by_run(found).loc[of_runs.index].assign(mean=of_runs["mean"], flags=_all_flags(found.waits))
    for q in (0.5, 0.99):
        rows = rows.join(_at_level(found.quantiles, q, _NAMES[q])).join(_at_level(found.waits, q, f"wait_{_NAMES[q]}"))
    columns = {
        "run": text("name"),
        "p50 of packets": number("p50", ",.1f", MICROSECONDS),
        "p50 of waits": _bounded("wait_p50"),
        "p99 of packets": number("p99", ",.1f", MICROSECONDS),
        "p99 of waits": _bounded("wait_p99"),
        "mean wait": number("mean", ",.1f", MICROSECONDS),
        "flags": flags(hide=_SAID_BY_CELL),
    }
    notes = [
        "Wait: the remaining time until the outstanding reply, for a user who arrives at a random moment. The "
        "round trip of the user comes after it."
    ]
    return table(rows, "Wait at a random arrival (time-weighted)", columns, notes, value="samples")


# --- findings


def find(
    data: Study,
    runs: pd.DataFrame,
    found: RunTails,
    quantiles: pd.DataFrame,
    shares: pd.DataFrame,
    typical: pd.DataFrame,
) -> Findings:
    """Say the p99 of each path, and the share above the limit.

    ``quantiles``: printed percentiles; ``shares``: those above the limit, from printed percentiles; ``typical``:
    `azlatency.summarize` of ``p99_ns`` of ``runs``, which are those of ``data``.
    """
    sentence, refs = answer_of(runs, "p99_ns", typical, "p99", "ns")
    findings = [answer(sentence, refs), *_over_levels(data, runs, typical)] if sentence else []
    findings += _named_levels(found)
    ranged = shares[shares["high"].notna()]
    if len(ranged):
        findings.append(info(_shares(ranged)))
    unbounded = quantiles[has_flag(quantiles, "tail_unresolved", "unbounded_upper")]
    if len(unbounded):
        shallow = unbounded.loc[unbounded["n"].idxmin()]
        sentence = (
            f"{shallow['what']} of {shallow['path']} has too few of its {plain(shallow['n'])} packets above it for an "
            f"upper bound{'; the table marks the others' if len(unbounded) > 1 else ''}."
        )
        findings.append(act(sentence))
    if found.runs.empty and quantiles.empty:
        beyond = " beyond p99" if findings else ""
        sentence = f"No run has 1,000 or more samples and no log prints percentiles, so the tail{beyond} is unknown."
        findings.append(info(sentence))
    elif not findings:
        findings.append(info("No percentile from p99 on has an interval."))
    return Findings.of(findings)


def _over_levels(data: Study, runs: pd.DataFrame, typical: pd.DataFrame) -> list[Finding]:
    """Name the paths that changed within their runs, and what did; the p99 of the median run at each level follows."""
    repeated = set(typical.loc[typical["estimate"].notna(), "method"])
    own = runs[runs["p99_ns"].notna() & runs["method"].isin(repeated)]
    if own.empty:
        return []
    late = {
        path: ("median", f"round {first} (planted)", own.index[own["round"] >= first])
        for links, first in planted_changes(data)
        for path in links
    }
    found = history(data)
    of_round_trips = found.changes[found.changes["metric"].isin(["mean", "median", "p99"])]
    for change in of_round_trips.drop_duplicates("what", keep="last").to_dict("records"):
        points = found.points[found.points["what"] == change["what"]]
        ids = " ".join(points.loc[points["position"] >= change["at"], "run_ids"]).split()
        late.setdefault(change["path"], (change["metric"], f"the change {when(change)}", pd.Index(ids)))
    changed, names, parts = set(), [], []
    for (path, method), of_path in grouped(own[own["path"].isin(list(late))], ["path", "method"]):
        metric, what, ids = late[path]
        is_late = of_path.index.isin(ids)
        if not is_late.all() and is_late.any():
            before, after = (float(of_path.loc[side, "p99_ns"].median()) for side in (~is_late, is_late))
            values = (format_value(value, "ns", like=max(before, after)) for value in (before, after))
            changed.add(metric)
            names.append(path)
            parts.append(f"{path} ({method}) {' before and '.join(values)} since {what}")
    if not parts:
        return []
    more = [f"{len(parts) - _MOST_FINDINGS} more"] if len(parts) > _MOST_FINDINGS else []
    listed = "; ".join([*parts[:_MOST_FINDINGS], *more])
    # The p99 need not move with the median.
    start = f"The {join_words(sorted(changed))} changed within the runs of {count_or_names(names)}"
    return [info(f"{start}; p99 before and since: {listed}.")]


def _shares(ranged: pd.DataFrame) -> str:
    """Say the smallest and the largest share above the limit of the method that has the largest."""
    worst = ranged.loc[ranged["estimate"].idxmax()]
    alike = ranged[ranged["method"] == worst["method"]]
    best = alike.loc[alike["estimate"].idxmin()]
    ends = [worst] if best["estimate"] == worst["estimate"] else [best, worst]
    values = " to ".join(f"**{percent(row['estimate'], 2)}** on {row['path']}" for row in ends)
    intervals = " and ".join(
        " to ".join(percent(end, 2 if end < 0.5 else 3) for end in (row["low"], row["high"]))
        + f" on {row['path']}" * (len(ends) > 1)
        for row in ends
    )
    values += ", interpolated between printed percentiles" * any("interpolated" in row["flags"] for row in ends)
    return (
        f"Slower than {plain(worst['limit'] / 1e3, 6)} µs, of the packets of a run ({worst['method']}): {values} "
        f"({percent(worst['confidence'])} CI {intervals}, too narrow if slow packets come together)."
    )


def _named_levels(found: RunTails) -> list[Finding]:
    """Say the percentiles of the first runs that have an interval."""
    bounded = found.quantiles[found.quantiles["q"].isin(_NAMED)].dropna(subset=["low", "high"])
    findings = []
    for (path, method, _), levels in bounded.groupby(["path", "method", "run_id"], sort=False):
        like = one_prefix(levels[["estimate", "low", "high"]].to_numpy().ravel(), "ns")
        parts = [
            f"{_NAMES[row['q']]} **{format_value(row['estimate'], 'ns', like=like)}** "
            f"({format_interval(row['low'], row['high'], 'ns', like=like)})"
            for row in levels.to_dict("records")
        ]
        findings.append(info(f"{path} ({method}): {', '.join(parts)}."))
    return findings[:_MOST_FINDINGS]
