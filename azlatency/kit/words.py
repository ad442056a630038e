"""Sentences made from the rows of a frame: the one place where a result becomes words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import pandas as pd

from azlatency.kit.cells import is_missing
from azlatency.kit.changes import say_change, say_series, window_length
from azlatency.kit.titles import away_from_one, names, ratio_range, span, tied, times
from azlatency.stats.across_runs.main_method import is_reverse
from azlatency.stats.result import DRIFTS, FEASIBLE, SHORT, VERDICTS, explain
from azlatency.studies.format import (
    count_of,
    format_estimate,
    format_interval,
    format_value,
    join_words,
    percent,
    plain,
    signed,
)
from azlatency.studies.runs.path import route
from azlatency.studies.runs.selection import is_window, window_ends
from azlatency.studies.runs.treatments import ASSUMED

Row = Mapping[str, Any]
#: Placements as the end of a sentence.
PLACES = {
    "same_host": "on one host",
    "same_zone": "in one zone",
    "availability_set": "in the availability set",
    "proximity_placement_group": "in the placement group",
    "cross_zone": "across zones",
    "cross_region": "across regions",
}
#: What a log prints as a latency.
PRINTED = {"round_trip": "RTT", "half_round_trip": "RTT/2", "one_way": "one-way delay", "unknown": "not said"}
#: A ratio beyond these ends is not known.
_LOWEST, _HIGHEST = 0.001, 1_000.0
#: Ratio up to which rates are equal.
_EQUAL = 1.01
#: What may be said of changes together; "reported" and "once": their runs are not compared.
ChangeVerdict = Literal["different", "equivalent", "inconclusive", "once", "reported"]


def say(frame: pd.DataFrame) -> str:
    """Return one sentence per row of a result.

    Parameters
    ----------
    frame : DataFrame
        What a statistic returned, or rows of it: `azlatency.baseline`, ``pairs`` of
        `azlatency.asymmetry`, ``methods`` of `azlatency.stats.agreement` …

    Returns
    -------
    str
        A line per row with value, interval and number of runs. The flags of a single row follow it; those of several
        rows are explained once, below them.

    Raises
    ------
    ValueError
        If the frame is not one that a statistic returned.

    Examples
    --------
    >>> print(say(az.stats.agreement(az.load("westeurope-azure-cni")).methods))  # doctest: +SKIP
    qperf tcp_lat over sockperf TCP 14 B: practically equivalent; ratio 1.01, 95 % CI 0.99–1.03, …
    """
    if not len(frame):
        return ""
    rows = frame.to_dict("records")
    if len(rows) == 1:
        sentence, notes = _sentence(rows[0]), _explained(rows)
        return sentence + (f" ({'; '.join(notes)})" if notes else "")
    return "\n".join([*map(say_in_short, rows), *_explained(rows)])


def say_in_short(row: Row) -> str:
    """Return the sentence of one row, its flags in a word each."""
    sentence, short = _sentence(row), ", ".join(SHORT[code] for code in row["flags"].split())
    return sentence + (f" ({short})" if short else "")


def _sentence(row: Row) -> str:
    sentence = next((write for column, write in _SENTENCES.items() if column in row), None)
    if sentence is None:
        raise ValueError(f"no sentences for a frame with the columns {', '.join(map(str, row))}")
    return sentence(row)


def _explained(rows: list[dict[Any, Any]]) -> list[str]:
    """Return what the flags of the rows mean, and what else to know of their runs."""
    return [*explain(dict.fromkeys(code for row in rows for code in row["flags"].split())), *remarks(rows)]


def looks_limited(rates: pd.Series, placements: pd.Series) -> str:
    """Say that rates of several placements are so equal that a limit of both explains them better than their paths."""
    is_equal = placements.nunique() > 1 and 0 < rates.max() <= _EQUAL * rates.min()
    return f"; equal within {percent(_EQUAL - 1)}, as expected if both are rate-limited" if is_equal else ""


def with_more_connections(runs: pd.DataFrame, method: str) -> str:
    """Say what a method with more connections carried in its direction, which the one that measured most hides."""
    runs = runs[runs["method"].map(is_reverse) == is_reverse(method)]
    counts = runs.groupby("method", dropna=False)["connections"].median().dropna()
    more = counts[counts > counts.get(method, math.inf)]
    if more.empty:
        return ""
    runs = runs[runs["method"] == more.index[0]]
    rates = span(runs["throughput_bit_s"].astype(float), "bit/s")
    return f"; {plain(more.iloc[0])} connections: {rates}{in_runs(runs)} ({more.index[0]})"


def in_runs(runs: pd.DataFrame) -> str:
    """Return of how many runs a range is, if a path has several; else it is that of paths."""
    return "" if runs["path"].is_unique else f" in {count_of(len(runs), 'run')}"


def remarks(rows: Sequence[Row]) -> list[str]:
    """Return what is assumed of the runs of some rows, and the notes about single runs, each once."""
    assumed = dict.fromkeys(code for row in rows for code in str(row.get("assumed") or "").split())
    notes = dict.fromkeys(note for row in rows for note in str(row.get("notes") or "").splitlines())
    return [*(f"assumed: {ASSUMED[code]}" for code in assumed), *notes]


def runs_to_decide(decides: float) -> str:
    """Say how many runs would decide; no number where more of the same runs do not help."""
    if is_missing(decides):
        return ""
    return count_of(int(decides), "run") if decides <= FEASIBLE else f"more than {FEASIBLE} runs"


def differs(frame: pd.DataFrame) -> pd.Series:
    """Return which comparisons differ, within the margin or beyond it."""
    return frame["verdict"].astype(str).str.startswith("different")


def verdict_words(row: Row) -> str:
    """Return the verdict on a ratio in words; a difference of runs that drift is said to be one of these runs."""
    drifts = row["verdict"].startswith("different") and "dependent_runs" in row["flags"].split()
    return DRIFTS if drifts else VERDICTS[row["verdict"]]


def in_drift(frame: pd.DataFrame) -> str:
    """Return the end of "the paths differ" where runs of these comparisons, or of some of them, drift."""
    drifts = frame.loc[differs(frame), "flags"].str.contains("dependent_runs")
    if not drifts.any():
        return ""
    return " in these runs, which drift" if drifts.all() else f", {drifts.sum()} of {len(frame)} in runs that drift"


def steady(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons whose runs do not drift: over two levels, no single ratio holds."""
    return frame[~frame["flags"].str.contains("dependent_runs")]


def most_apart(frame: pd.DataFrame) -> tuple[str, dict[str, float]]:
    """Return the method with the largest difference, and the ratio on its path or on several that are tied.

    Comparisons with ``from`` and ``to`` are named from the end whose value is larger, so that their ratio is at least
    1. No ratios if tied ones are larger on some paths and smaller on others.
    """
    ratios, sizes, intervals = {}, {}, {}
    for row in frame.to_dict("records"):
        ratio, ends = row["ratio"], [row.get("from"), row.get("to")]
        name = str(row.get("path", row["what"]))
        if all(isinstance(end, str) for end in ends):
            name, ratio = route(*(ends if ratio >= 1 else ends[::-1])), max(ratio, 1 / ratio)
        key = name, str(row["method"])
        ratios[key], sizes[key] = ratio, max(ratio, 1 / ratio)
        if row["ratio_low"] > 0 and row["ratio_high"] > 0:
            intervals[key] = away_from_one(row["ratio_low"], row["ratio_high"])
    largest = tied(sizes, max(sizes, key=sizes.__getitem__), intervals)
    # Methods send different packets: the first of the largest speaks, and no other is joined with it.
    method = max(largest, key=largest.__getitem__)[1]
    chosen = {key[0]: ratios[key] for key in largest if key[1] == method}
    return method, chosen if len({ratio > 1 for ratio in chosen.values()}) == 1 else {}


def ratio_result(frame: pd.DataFrame, what: str) -> str:
    """Return the result in words: how many comparisons differ, and the largest difference if it is not a tie."""
    if frame["ratio_low"].isna().all():
        return f"{what}: ratio {ratio_range(frame['ratio'])}, measured once, so not tested"
    counts = frame["verdict"].value_counts()
    if "different" not in counts:
        within = "different_within_margin" in counts
        result = "no difference beyond the margin shown" if within else "no difference shown"
        said = VERDICTS | {"not_tested": "not tested"}
        words = (f"{counts[name]} {word}" for name, word in said.items() if name in counts)
        return f"{what}: {result}; {', '.join(words)}"
    apart = frame[frame["verdict"] == "different"]
    result = f"{what}: {len(apart)} of {len(frame)} differ{in_drift(apart)}{also_within(counts)}"
    if (named := steady(apart)).empty:
        return result
    method, largest = most_apart(named)
    if not largest:
        return f"{result}; ratio {ratio_range(apart['ratio'])}"
    back = " against the way back" if {"from", "to"} <= set(apart.columns) else ""
    most = "most " if len(named) > len(largest) else ""
    of_method = named[named["method"] == method]
    measured = of_method.get("unit", of_method.get("value", pd.Series("")))
    as_large = "as long" if measured.astype(str).str.endswith("ns").all() else "as much"
    return f"{result}; {most}{names(largest)}{back}, {times(largest.values(), as_large)} ({method})"


def also_within(counts: pd.Series) -> str:
    """Return the end of "2 of 3 differ" where others differ within the margin."""
    within = counts.get("different_within_margin", 0)
    return f", {within} more within the margin" if within else ""


def verdict_on(steps: pd.DataFrame, tests: int = 1) -> ChangeVerdict:
    """Return what may be said of several changes together: different only if all are, in one direction.

    ``steps``: rows of `azlatency.stats.placement.changes`. ``tests``: the number of changes that these were chosen from
    (Bonferroni); 1 if their intervals allow for it.
    """
    if (steps["origin"] == "reported").any():
        return "reported"
    if steps["flags"].str.contains("no_replication").all():
        return "once"
    verdicts = set(steps["verdict"])
    if verdicts == {"different"} and (steps["ratio"] > 1).nunique() == 1:
        is_shown = bool((steps["p"] * tests < 1 - steps["confidence"]).all())
        return "different" if is_shown or tests == 1 else "inconclusive"
    return "equivalent" if verdicts <= {"equivalent", "different_within_margin"} else "inconclusive"


def change_words(steps: pd.DataFrame, tests: int = 1) -> str:
    """Say the verdict on changes that are not shown to differ: "cannot tell: the ratio may be 0.99 to 1.6"."""
    verdict = verdict_on(steps, tests)
    if verdict == "equivalent":
        return f"no difference (at most {at_most([*steps['inner_low'].dropna(), *steps['inner_high'].dropna()])})"
    if verdict == "inconclusive":
        if (steps["verdict"] == "different").all():
            return (
                f"cannot tell from {tests} comparisons" if tests > 1 else "cannot tell: some are longer, some shorter"
            )
        if steps["ratio_low"].isna().any():
            return "cannot tell"
        return f"cannot tell: the ratio may be {ratio_ends(steps['ratio_low'].min(), steps['ratio_high'].max())}"
    return "as reported" if verdict == "reported" else "measured once"


def ratios_of(steps: pd.DataFrame) -> tuple[str, str]:
    """Return the ratios of changes and, as the end of a sentence, the interval that contains all of them."""
    interval = format_interval(steps["ratio_low"].min(), steps["ratio_high"].max())
    return ratio_range(steps["ratio"]), f"95 % CI {interval}"


def at_most(ratios: Sequence[float]) -> str:
    """Return how far ratios are from 1 at most, in percent: "3 %"."""
    return percent(max(max(ratio, 1 / ratio) for ratio in ratios) - 1, 2)


def ratio_ends(low: float | None, high: float | None) -> str:
    """Return what a ratio may be: "0.99 to 392"; ends that are not known read as 0 and "more than 1,000"."""
    least = plain(low) if low and low >= _LOWEST else 0
    return f"{least} to {plain(high) if high and high < _HIGHEST else 'more than 1,000'}"


def shares_held(judged: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return how many intervals contain the recorded delay, apart for medians and means, and their rows."""
    groups = sorted(judged.groupby("value", sort=False, dropna=False), key=lambda item: -len(item[1]))
    if len(groups) == 1:
        return [(f"{share_held(judged)} confidence intervals", judged)]
    return [(f"{share_held(rows)} intervals of {str(value).removesuffix('_ns')}s", rows) for value, rows in groups]


def share_held(judged: pd.DataFrame) -> str:
    """Return how many of the intervals contain the recorded delay: "All 12", "Both" or "22 of 24"."""
    held = int(judged["holds"].sum())
    if held == len(judged) > 1:
        return "Both" if held == 2 else f"All {held}"
    return f"{held} of {len(judged)}"


def _agreement(row: Row) -> str:
    name = f"{row['first']} over {row['second']}"
    if is_missing(row["ratio"]):
        return f"{name}: not estimable"
    different = f"not comparable, they differ in {join_words(row['differs_in'].split(', '))}"
    subject = different if row["differs_in"] else VERDICTS[row["verdict"]]
    value = format_estimate(row["ratio"], *_ends(row, "ratio"), confidence=row["confidence"])
    low, high = _ends(row, "prediction")
    single = "" if low is None else f", a new pair {format_interval(low, high)}"
    return f"{name}: {subject}; ratio {value}{single}, {count_of(row['n'], 'pair')}"


def _conformance(row: Row) -> str:
    name = ", ".join(str(row[key]) for key in ("what", "path", "method") if row.get(key))
    if is_missing(row["estimate"]):
        return f"{name}: {row['status']}"
    unit, ratio = row["unit"], row["ratio"]
    level = f", {format_value(ratio, 'fraction')} of the limit" if not is_missing(ratio) else ""
    decides = runs_to_decide(row["decides"])
    more = f"; {decides} would decide" if decides else ""
    low, high = _ends(row)
    bounds = ""
    if low is not None and high is not None:
        interval = format_interval(low, high, unit, like=row["estimate"])
        bounds = f", one-sided {percent(row['confidence'])} bounds {interval}"
    typical = f"typical run {format_value(row['estimate'], unit)}{bounds}{level}, {count_of(row['n'], 'run')}"
    return f"{name}: {row['status']}; {typical}{more}"


def _ends(row: Row, of: str = "") -> tuple[float | None, float | None]:
    """Return the ends of an interval, ``None`` for an open one."""
    low, high = (row[f"{of}_{end}" if of else end] for end in ("low", "high"))
    return None if is_missing(low) else low, None if is_missing(high) else high


def _directions(row: Row) -> str:
    subject = "initiators" if row["metric"] == "latency" else "data directions"
    pairs = count_of(row["pairs"], "pair")
    if not row["ends"]:
        return f"{row['what']}: not estimable"
    if not row["pairs"]:
        verdict = "no pair of zones was measured in both directions"
    elif row["different"]:
        flagged = {"one_machine_pair", "one_control_pair"} & set(row["flags"].split())
        machines = " between these machines; zone or machine: not separable" if flagged else ""
        verdict = f"{subject} differ in {row['different']} of {pairs}{machines}"
    elif row["inconclusive"]:
        verdict = f"{subject}: {row['inconclusive']} of {pairs} inconclusive, none different"
    else:
        verdict = f"{subject} are practically equivalent in {pairs}"
    return f"{row['what']}: {verdict}, {count_of(row['rounds'], 'round')}"


def _plan(row: Row) -> str:
    name = ", ".join(str(row[key]) for key in ("path", "method", "what") if row.get(key))
    unit, needed, (low, high) = row["unit"], row["needed"], _ends(row)
    if not is_missing(needed):
        return f"{name}: {needed:,.0f} {unit}, {row['more']:,.0f} more than measured"
    if "out_of_reach" in row["flags"].split():
        return f"{name}: more than {FEASIBLE} {unit}"
    if low is None:
        return f"{name}: not estimable"
    if high is None:
        return f"{name}: at least {low:,.0f} {unit}"
    return f"{name}: between {low:,.0f} and {high:,.0f} {unit}"


def _comparison(row: Row) -> str:
    what, size = row["what"], count_of(row["n"], "run")
    if "rounds" in row["statistic"]:
        size = count_of(row["n"], "round")
    elif not is_missing(row.get("n_base")):
        size = f"{int(row['n_candidate'])} against {count_of(int(row['n_base']), 'run')}"
    if is_missing(row["ratio"]):
        return f"{what}: not estimable"
    if is_missing(row["ratio_low"]) or is_missing(row["ratio_high"]):
        return f"{what}: ratio {format_value(row['ratio'])}, no interval, {size}"
    # The interval that a reader sees is the one that decides.
    ratio, low, high, verdict = row["ratio"], *_ends(row, "decides"), row["verdict"]
    confidence = row["confidence"] if low == row["ratio_low"] else round(2 * row["confidence"] - 1, 9)
    interval = format_estimate(ratio, low, high, confidence=confidence)
    if not verdict.startswith("different"):
        margin = f"{VERDICTS[verdict]} at a margin of {percent(row['margin'])}"
        return f"{what}: {margin}, ratio {interval}, {size}"
    words = ("slower", "faster") if row["unit"] == "ns" else ("higher", "lower")
    within = f", within the margin of {percent(row['margin'])}" if verdict != "different" else ""
    start = f"{what}: {DRIFTS}" if "dependent_runs" in row["flags"].split() else what
    if ratio >= 1 or row["ratio_low"] <= 0:
        number, _, rest = interval.partition(",")
        return f"{start}: {number}× {words[0]},{rest}{within}, {size}"
    # Below 1 the inverse reads better: 1.25× faster, not 0.80× slower.
    inverse = format_estimate(1 / ratio, 1 / row["ratio_high"], 1 / row["ratio_low"], confidence=row["confidence"])
    number, _, rest = inverse.partition(",")
    return f"{start}: {number}× {words[1]},{rest}{within}, {size}"


def _estimate(row: Row) -> str:
    unit, runs = row["unit"], count_of(row["n"], "run")
    if is_missing(row["estimate"]):
        low, high = row.get("lowest"), row.get("highest")
        if is_missing(low) or is_missing(high):
            return f"{row['what']}: not estimable"
        values = format_value(low, unit) if low == high else format_interval(low, high, unit)
        return f"{row['what']}: not estimable; {'the run' if row['n'] == 1 else runs} measured {values}"
    value = format_estimate(row["estimate"], *_ends(row), unit, confidence=row["confidence"])
    size = runs if row["scope"] == "across_runs" else f"n = {row['n']:,} in one run"
    return f"{row['what']}: {value}, {size}"


def _trend(row: Row) -> str:
    tau = "" if is_missing(row["kendall"]) else f", Kendall's tau {row['kendall']:.2f}"
    return f"{_estimate(row)}{tau}"


def _level(row: Row) -> str:
    start = f"{row['name']}: " if row.get("name") else ""
    if is_missing(row["stable"]):
        return f"{start}stability not estimable"
    shifts = "no level shift"
    if row["shift_count"]:
        shifts = f"{count_of(row['shift_count'], 'level shift')}, {row['confirmed']} confirmed"
    return f"{start}{shifts}, in {row['blocks']:,} blocks of {row['n']:,} packets"


def _shift(row: Row) -> str:
    start = f"{row['name']}: " if row.get("name") else ""
    change, unit = row["change"], row["unit"]
    interval = format_interval(row["change_low"], row["change_high"], unit, like=change)
    moment = f"at {row['at']:.6g} ({row['at_low']:.6g} to {row['at_high']:.6g})"
    state = "confirmed" if row["confirmed"] else "not confirmed"
    size = f"{format_value(change, unit)} ({interval}), {signed(100 * row['relative'], 1)} %"
    return f"{start}level shift of {size}, {moment}, {state}"


def _throttling(row: Row) -> str:
    start = f"{row['name']}: " if row.get("name") else ""
    if is_missing(row["found"]):
        return f"{start}throttling not estimable"
    if not row["found"]:
        return f"{start}no throttling within {row['seconds']:.6g} s"
    rates = [f"{row[name]:.6g} {row['unit']}" for name in ("burst_rate", "sustained_rate")]
    return f"{start}rate falls after {row['at_s']:.6g} s: {rates[0]}, then {rates[1]}"


def _lifetime(row: Row) -> str:
    counts = f"{row['losses']} of {count_of(row['n'], 'connection')} lost in {row['seconds']:.6g} s together"
    none_lost = not row["losses"] and not is_missing(row["rate_high"])
    bound = f"; at most one loss in {1 / row['rate_high']:.6g} s" if none_lost else ""
    if is_missing(row["estimate"]):
        return f"{counts}; median lifetime not reached{bound}"
    low, high = _ends(row)
    ends = f"{'0' if low is None else f'{low:.6g}'} to {'∞' if high is None else f'{high:.6g}'}"
    return f"{counts}; median lifetime {row['estimate']:.6g} s, {percent(row['confidence'])} CI {ends} s{bound}"


#: The sentence of a row, by a column that only its kind of frame has.
_SENTENCES: dict[str, Callable[[Row], str]] = {
    "prediction_low": _agreement,
    "relation": _conformance,
    "superiority": _comparison,
    "ends": _directions,
    "at_pilot_spread": _plan,
    "test_statistic": _shift,
    "at_low": say_change,
    "change_count": say_series,
    "shift_count": _level,
    "burst_rate": _throttling,
    "losses": _lifetime,
    "kendall": _trend,
    "estimate": _estimate,
}


def newest_window(runs: pd.DataFrame) -> str:
    """Return what the newest window of a published series covers: "the 30 days to 2026-08-16"; empty without one."""
    windows = runs[is_window(runs)]
    if windows.empty or windows["started_at"].isna().all():
        return ""
    last = windows.loc[[windows["started_at"].idxmax()]]
    end = window_ends(last["started_at"], last["duration_ns"]).iloc[0]
    return f"the {window_length(last['duration_ns'].iloc[0])} to {end:%Y-%m-%d}"


def broke_together(broken: pd.DataFrame) -> str:
    """Return how many connections broke together: "2 of them 3 s apart"; empty if none did.

    ``broken`` is as returned by `reported_connection_ends`.
    """
    together = broken["together"].to_numpy(dtype=bool)
    if not together.any():
        return ""
    if together.sum() > 1:
        return f"{together.sum() + 1} of them within a minute of another"
    apart = 1e9 * float(broken["after_s"].diff()[together].iloc[0])
    return f"2 of them {span([apart], 'ns', step=1e9)} apart"
