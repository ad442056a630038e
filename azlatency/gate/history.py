"""Judge the history of runs: whether the level of any series changed, or changed since a night.

The outcome is ``changed`` if a series changed since then, or drifts, by more than the margin, ``unchanged`` if none
did, and ``too_short`` if no series has enough points to tell. These words are stable in JSON and JUnit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from azlatency import __version__
from azlatency.gate.formats import Line, Mark, Sheet
from azlatency.gate.matching import unknown_name
from azlatency.stats.across_runs.levels import SHORTEST
from azlatency.stats.across_runs.run_history import FEWEST, VALUE_COLUMNS, Change, RunHistory, history, measured_runs
from azlatency.stats.across_runs.run_values import parse_margin
from azlatency.stats.result import SHORT, Results, explain
from azlatency.studies.format import format_value, join_words

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store.study import Study

Outcome = Literal["changed", "unchanged", "too_short"]
#: Exit codes of ``azlatency history``; 2 is a usage error.
EXIT_CODES: dict[Outcome, int] = {"unchanged": 0, "changed": 1, "too_short": 3}
_OUTCOMES: dict[Outcome, Mark] = {"changed": "bad", "unchanged": "good", "too_short": "open"}
_BARS = "▁▂▃▄▅▆▇█"
#: Most characters of a sparkline, and most series that a note names.
_WIDTH, _NAMED = 30, 3
#: A path that was not measured for this many times the usual gap has ended.
_ENDED = 3
#: Metrics that are no times, which a margin in microseconds does not fit.
_NO_TIMES = {"goodput", "loss"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """From when changes are judged: a time, or a run (its ``run_id`` or the path of its log)."""

    text: str
    time: datetime | None = None
    run_ids: frozenset[str] = frozenset()

    def includes(self, series: RunHistory, change: Change) -> bool:
        """Return whether a change is at this time or run, or later."""
        if not self.text:
            return True
        if self.time is not None and change.time is not None:
            return change.time >= self.time
        # Without start times, the order of the runs of this series decides.
        places = [place for place, ids in enumerate(series.points) if self.run_ids & set(ids)]
        return bool(places) and change.at >= places[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryJudgement:
    """All series, and which of their changes are new. ``names`` are the studies as the user named them."""

    names: tuple[str, ...]
    series: Results[RunHistory]
    since: Since
    confidence: float
    margin: str = "5%"

    @property
    def outcome(self) -> Outcome:
        """The overall result."""
        if any(map(self.is_changed, self.series)):
            return "changed"
        return "unchanged" if any(not one.refused for one in self.series) else "too_short"

    @property
    def exit_code(self) -> int:
        """0 unchanged, 1 changed, 3 too short."""
        return EXIT_CODES[self.outcome]

    def new_changes(self, series: RunHistory) -> list[Change]:
        """Return the changes of a series that are judged: new ones beyond the margin."""
        return [change for change in self.since_then(series) if change.exceeds(self.margin)]

    def since_then(self, series: RunHistory) -> list[Change]:
        """Return the new changes of a series, of any size."""
        return [change for change in series.changes if self.since.includes(series, change)]

    def is_changed(self, series: RunHistory) -> bool:
        """Return whether a series has a new change, or drifts, beyond the margin."""
        return bool(self.new_changes(series)) or series.drifts_beyond(self.margin)

    @property
    def headline(self) -> str:
        """The outcome in one sentence."""
        changed = [one for one in self.series if self.is_changed(one)]
        judged = sum(not one.refused for one in self.series)
        since = f" since {self.since.text}" if self.since.text else ""
        if changed:
            return f"Changed{since} by more than the margin of {self.margin}: {len(changed)} of {judged} series."
        if judged:
            return f"No change{since} beyond the margin of {self.margin} in {judged} series."
        longest = max((one.n for one in self.series), default=0)
        return f"Too short: {FEWEST} points per series are needed; the longest has {longest}."

    def record(self) -> dict[str, Any]:
        """Return everything for programs."""
        return {
            "azlatency": __version__,
            "studies": list(self.names),
            "since": self.since.text or None,
            "confidence": self.confidence,
            "margin": self.margin,
            "outcome": self.outcome,
            "exit_code": self.exit_code,
            "headline": self.headline,
            "series": [self._series_record(one) for one in self.series],
        }

    def _series_record(self, series: RunHistory) -> dict[str, Any]:
        new = self.new_changes(series)
        return {
            **_plain(series.row()),
            "codes": list(series.codes),
            "drift": series.drift,
            "times": [f"{time:%Y-%m-%dT%H:%M:%SZ}" for time in series.times],
            "values": [value if math.isfinite(value) else None for value in series.values],
            "changes": [{**_plain(change.row()), "new": change in new} for change in series.changes],
        }


def judge_history(
    studies: Mapping[str, Study],
    *,
    since: str = "",
    metrics: Sequence[str] = (),
    confidence: float = 0.95,
    margin: str = "5%",
    tool: str | None = None,
) -> HistoryJudgement:
    """Search the series of all studies as one family.

    Parameters
    ----------
    studies : mapping of str to Study
        The studies by name; with several, the name stands before each path.
    since : str
        Date (``2026-11-12``, UTC), age (``14d``), run or log from which changes are judged; all if empty.
    metrics : sequence of str
        ``median``, ``mean``, ``p99``, ``goodput``, ``loss``; by default all but the mean where there is a median.
    confidence : float
        One minus the probability that any series that did not change is called changed.
    margin : str
        Largest change that does not matter in practice: ``"5%"``, ``"0.05"`` or ``"2us"``. Smaller ones are shown; a
        time leaves out goodput and loss.
    tool : str, optional
        Judge only runs of this tool.

    Raises
    ------
    ValueError
        If a metric, the tool, the margin or the start is not known.
    """
    import pandas as pd

    by_time = parse_margin(margin)[1] > 0
    if by_time and (no_times := set(metrics) & _NO_TIMES):
        raise ValueError(f"margin {margin!r} is a time, and {join_words(sorted(no_times))} is none; write a share: 5%")
    if unknown := [metric for metric in metrics if metric not in VALUE_COLUMNS]:
        raise ValueError(
            unknown_name("metric", unknown[0], list(VALUE_COLUMNS), f"choose from {', '.join(VALUE_COLUMNS)}")
        )
    frames = []
    for name, study in studies.items():
        frame = measured_runs(study)
        frames.append(frame.assign(path=f"{name}: " + frame["path"]) if len(studies) > 1 else frame)
    runs = pd.concat(frames)
    if tool is not None:
        tools = sorted(set(runs["tool"]))
        if tools and tool not in tools:
            raise ValueError(unknown_name("tool", tool, tools, f"measured: {', '.join(tools)}"))
        runs = runs[runs["tool"] == tool]
    chosen = [VALUE_COLUMNS[metric] for metric in metrics] or None
    series = history(runs, value=chosen, confidence=confidence)
    return HistoryJudgement(
        names=tuple(studies),
        series=Results(one for one in series if one.unit == "ns") if by_time else series,
        since=_parse_since(since, runs),
        confidence=confidence,
        margin=margin,
    )


def _parse_since(text: str, runs: pd.DataFrame) -> Since:
    """Return from when changes are judged."""
    if not text:
        return Since(text="")
    if age := re.fullmatch(r"(\d{1,5})\s*d(?:ays?)?", text):
        return Since(text=text, time=datetime.now(UTC) - timedelta(days=int(age[1])))
    try:
        time = datetime.fromisoformat(text)
        return Since(text=text, time=time if time.tzinfo else time.replace(tzinfo=UTC))
    except ValueError:
        pass
    chosen = runs[(runs.index == text) | (runs["file"] == text)]
    if not len(chosen):
        raise ValueError(f"--since {text!r} is neither a date such as 2026-11-12, nor an age such as 14d, nor a run")
    starts = chosen["started_at"].dropna()
    start = starts.min().to_pydatetime() if len(starts) else None
    if start is not None and start.tzinfo is None:
        start = start.replace(tzinfo=UTC)
    return Since(text=text, time=start, run_ids=frozenset(map(str, chosen.index)))


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row for JSON: times in ISO 8601, values that are not finite as None."""
    plain = {}
    for name, value in row.items():
        endless = isinstance(value, float) and not math.isfinite(value)
        plain[name] = f"{value:%Y-%m-%dT%H:%M:%SZ}" if isinstance(value, datetime) else None if endless else value
    return plain


# --- what is printed


def sheet(judgement: HistoryJudgement) -> Sheet:
    """Return everything that is printed of a history."""
    lines = [line for one in judgement.series for line in _lines(judgement, one)]
    used = {header for line in lines for header, cell in line.cells.items() if cell}
    lines = [
        replace(line, cells={header: cell for header, cell in line.cells.items() if header in used}) for line in lines
    ]
    order: list[Mark] = ["bad", "refused", "open", "good"]
    return Sheet(
        command="history",
        mark=_OUTCOMES[judgement.outcome],
        headline=judgement.headline,
        intro=(("History of ", ", ".join(judgement.names)), (".", "")),
        lines=tuple(sorted(lines, key=lambda line: order.index(line.mark))),
        folded="No new change",
        failure="changed",
        leave=("history", "flags", "points", "before"),
        notes=tuple(_notes(judgement)),
        properties={
            "studies": " ".join(judgement.names),
            "since": judgement.since.text,
            "confidence": str(judgement.confidence),
            "margin": judgement.margin,
            "outcome": judgement.outcome,
        },
    )


def _lines(judgement: HistoryJudgement, series: RunHistory) -> list[Line]:
    """Return a line for each new change of a series, or one line without a change; small ones are no failure."""
    new = judgement.since_then(series)
    word = "steady"
    mark: Mark = "good"
    if series.drift is not None:
        word, mark = ("DRIFTS", "bad") if judgement.is_changed(series) else ("drifts within the margin", "good")
    if series.refused:
        is_short = "few_clusters" in series.codes
        mark, word = ("open", "too short") if is_short else ("refused", "not judged")
    elif series.changes and not new:
        word = "no new change"
    lines = []
    shown: Sequence[Change | None] = new or [None]
    for change in shown:
        if change:
            word, mark = ("CHANGED", "bad") if change.exceeds(judgement.margin) else ("within the margin", "good")
        cells = {
            "verdict": word,
            "path": series.labels["path"],
            "method": series.labels["method"],
            "metric": series.labels["metric"],
            "points": str(series.n),
            "history": sparkline(series.values),
            "before": _value(series, change.before if change else None),
            "now": _value(series, change.after if change else series.level),
            "changed on": _when(change) if change else "",
            "change": change.size if change else series.drift_in_words,
            "label": change.labelled if change else "",
            "flags": ", ".join(SHORT[code] for code in series.codes),
        }
        reasons = "; ".join([series.drift_in_words] * bool(series.drift) + [*series.flags])
        message = f"changed on {_when(change)}: {change.size}" if change else f"{word}: {reasons}"
        name = f"{series.labels['method']}, {series.labels['metric']}"
        if change and len(new) > 1:
            name += f", {change.date}"
        lines.append(Line(mark=mark, cells=cells, name=name, group=series.labels["path"], message=message))
    return lines


def _value(series: RunHistory, value: float | None) -> str:
    return "" if value is None else format_value(value, series.unit, digits=4)


def _when(change: Change) -> str:
    """Return the date of a change with its interval."""
    if change.time is None or change.time_low is None or change.time_high is None:
        return f"run {change.at + 1} ({change.at_low + 1}–{change.at_high + 1})"
    low, high = change.time_low, change.time_high
    if low.date() == high.date() and low != high:
        return f"{change.time:%Y-%m-%d %H:%M} ({low:%H:%M} – {high:%H:%M})"
    return f"{change.time:%Y-%m-%d}" + ("" if low == high else f" ({low:%m-%d} – {high:%m-%d})")


def sparkline(values: Sequence[float]) -> str:
    """Return the values as a line of bars, the median of neighbours where there are many; losses of most are full."""
    import numpy as np

    parts = np.array_split(np.array(values, dtype=float), min(len(values), _WIDTH))
    middles = np.array([np.median(part) for part in parts])
    finite = middles[np.isfinite(middles)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    if high <= low:
        return "".join(_BARS[3 if math.isfinite(value) else -1] for value in middles)
    scaled = np.where(np.isfinite(middles), (middles - low) / (high - low), 1.0)
    return "".join(_BARS[int(share * (len(_BARS) - 1) + 0.5)] for share in scaled)


def _notes(judgement: HistoryJudgement) -> list[str]:
    """Explain how to read the rows, and what is odd about the nights."""
    judged = [one for one in judgement.series if not one.refused]
    notes = [
        "One point per run, or per night with several runs (their median). The series with at least "
        f"{FEWEST} points are one family: if nothing changed, any change is called with a probability of at "
        f"most {100 * (1 - judgement.confidence):.2g} %, except where a path stays at chance levels for weeks. A new "
        f"level shows when it has lasted {SHORTEST} points, or longer if it is small. Changes within the margin of "
        f"{judgement.margin} are shown, but are no failure; a series drifts if a line fits it better than levels. "
        "Before and now: medians of the points (loss: means). Latencies are round-trip times. The date has its 95 % "
        "interval. The history does not show the cause."
    ] * bool(judged)
    notes += _ended(judgement.series)
    if missing := [one for one in judgement.series if one.missing]:
        most = max(missing, key=lambda one: one.missing)
        notes.append(f"Nights without a run in {len(missing)} series, most in {most.what}: {most.missing}.")
    codes = dict.fromkeys(code for one in judgement.series for code in one.codes)
    codes |= dict.fromkeys(code for one in judged for change in judgement.new_changes(one) for code in change.codes)
    return notes + [f"{text}." for text in explain(tuple(codes))]


def _ended(series: Sequence[RunHistory]) -> list[str]:
    """Name the paths that are no longer measured, and those that began then: they may have been renamed."""
    timed = [one for one in series if len(one.times) > 1]
    if not timed:
        return []
    spans: dict[str, tuple[datetime, datetime]] = {}
    for path, group in groupby(timed, key=lambda one: str(one.labels["path"])):
        ends = [(one.times[0], one.times[-1]) for one in group]
        spans[path] = min(first for first, _ in ends), max(last for _, last in ends)
    latest = max(last for _, last in spans.values())
    usual = max((one.times[-1] - one.times[0]) / (one.n - 1) for one in timed)
    ended = {path: last for path, (_, last) in spans.items() if latest - last > _ENDED * usual}
    notes = []
    for path, last in list(ended.items())[:_NAMED]:
        begun = [other for other, (first, _) in spans.items() if timedelta() < first - last <= _ENDED * usual]
        hint = (
            f"; {join_words(begun[:_NAMED])} began then: if it is the same path, give both one name (machines = [...] "
            "in study.toml)"
            if begun
            else ""
        )
        notes.append(f"{path} was last measured on {last:%Y-%m-%d}{hint}.")
    if len(ended) > _NAMED:
        notes.append(f"{len(ended) - _NAMED} more paths are no longer measured.")
    return notes
