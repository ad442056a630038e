"""Judge the history of runs: whether the level of any series changed, or changed since a night.

The outcome is ``changed`` if a series changed since then, or drifts, by more than the margin, ``unchanged`` if none
did, and ``too_short`` if no series has enough points to tell. These words are stable in JSON and JUnit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import numpy as np
import pandas as pd

from azlatency import __version__
from azlatency.gate.formats import Line, Mark, Sheet
from azlatency.gate.matching import unknown_name
from azlatency.kit.cells import is_missing
from azlatency.kit.changes import (
    changed,
    date,
    date_with_interval,
    day_of,
    drifts,
    in_short_seen,
    labelled,
    on_the_way,
    seen,
    size,
    together,
)
from azlatency.stats.across_runs.levels import SHORTEST
from azlatency.stats.across_runs.run_history import (
    ENDED,
    FEWEST,
    KEYS,
    VALUE_COLUMNS,
    History,
    history,
    measured_runs,
)
from azlatency.stats.across_runs.run_values import parse_margin
from azlatency.stats.across_runs.sightings import sightings
from azlatency.stats.result import SHORT, explain
from azlatency.stats.rows import Row
from azlatency.studies.format import format_value, join_words, percent
from azlatency.studies.runs.assumptions import windows_used
from azlatency.studies.runs.left_out import doubtful_rows, named
from azlatency.studies.store.study import Study

Outcome = Literal["changed", "unchanged", "too_short"]
#: Exit codes of ``azlatency history``; 2 is a usage error.
EXIT_CODES: dict[Outcome, int] = {"unchanged": 0, "changed": 1, "too_short": 3}
_OUTCOMES: dict[Outcome, Mark] = {"changed": "bad", "unchanged": "good", "too_short": "open"}
_BARS = "▁▂▃▄▅▆▇█"
#: Most characters of a sparkline, and most series that a note names.
_WIDTH, _NAMED = 30, 3
#: What to do about a path with two names.
_ONE_NAME = "one name (machines = [...] in study.toml)"
#: Sightings that a new level may be behind, or that one may have been before.
_OPEN = ("unconfirmed", "oldest", "newest", "short")
#: Columns that the words for all that was seen are made of.
_OF_SEEN = ["what", "path", "metric", "unit", "kind", "n", "date", "date_last", "window_ns", "spacing_ns", "before",
            "after", "ratio", "limit", "ended"]  # fmt: skip
#: Metrics that are no times, which a margin in microseconds does not fit.
_NO_TIMES = {"goodput", "loss"}
#: Columns of the frames that the JSON has, in its order.
_OF_SERIES = (
    *KEYS, "what", "n", "change_count", "level", "before", "unit", "missing", "family", "scope",
    "confidence", "statistic",
)  # fmt: skip
_OF_CHANGE = (
    *KEYS, "at", "at_low", "at_high", "date", "date_low", "date_high", "window_ns", "before", "after", "unit", "ratio",
    "ratio_low", "ratio_high", "difference", "difference_low", "difference_high", "p", "label", "label_before", "scope",
)  # fmt: skip
_OF_SIGHTING = (
    *KEYS, "kind", "at", "n", "date", "date_last", "window_ns", "before", "after", "unit", "ratio", "beside", "limit",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """From when changes are judged: a time, or a run (its ``run_id`` or the path of its log)."""

    text: str
    time: datetime | None = None
    run_ids: frozenset[str] = frozenset()

    def includes(self, change: Row, points: pd.DataFrame) -> bool:
        """Return whether a change is at this time or run, or later; ``points`` are those of its series."""
        if not self.text:
            return True
        if self.time is not None and pd.notna(change["date"]):
            return bool(change["date"] >= self.time)
        # Without start times, the order of the runs of this series decides.
        places = [place for place, ids in enumerate(points["run_ids"]) if self.run_ids & set(ids.split())]
        return bool(places) and change["at"] >= places[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A series, its points, and its changes; ``recent`` are those that are judged, of any size."""

    series: Row
    points: pd.DataFrame
    changes: list[Row]
    recent: list[Row]
    #: What the points show and no test confirms, since then.
    seen: list[Row]

    @property
    def is_searched(self) -> bool:
        """Whether the series was long enough, and its runs alike."""
        return not is_missing(self.series["level"])

    @property
    def unconfirmed(self) -> str:
        """What may be another level, in words."""
        rows = [row for row in self.seen if row["kind"] in _OPEN]
        return "; ".join(seen(row, self.series["family"]) for row in rows)

    def beside(self, change: Row) -> str:
        """Say which points are on the way of a change, and which have left the new level since."""
        frame = pd.DataFrame(self.seen, columns=["kind", "what", "at", "n", "after", "unit"])
        since = [row for row in self.seen if row["kind"] == "newest" and change is self.changes[-1]]
        return "; ".join(filter(None, [on_the_way(change, frame), *(seen(row, 1) for row in since)]))

    @property
    def is_short(self) -> bool:
        """Whether the series has too few points to be searched."""
        return "few_clusters" in self.series["flags"].split()

    @property
    def new(self) -> list[Row]:
        """The judged changes beyond the margin."""
        return [change for change in self.recent if change["verdict"] == "different"]

    @property
    def is_changed(self) -> bool:
        """Whether the series has a new change, or drifts, beyond the margin."""
        return bool(self.new) or (self.series["alarmed"] and not self.changes)

    def record(self) -> dict[str, Any]:
        """Return everything for programs."""
        new = [change["at"] for change in self.new]
        return {
            **{name: _plain(self.series[name]) for name in _OF_SERIES},
            "first": _plain(self.series["date_first"]),
            "last": _plain(self.series["date_last"]),
            "codes": self.series["flags"].split(),
            "drift": _plain(self.series["drift"]),
            "times": [_plain(start) for start in self.points["date"].dropna()],
            "values": [_plain(value) for value in self.points["value"].tolist()],
            "changes": [
                {
                    **{name: _plain(change[name]) for name in _OF_CHANGE},
                    "codes": change["flags"],
                    "new": change["at"] in new,
                }
                for change in self.changes
            ],
        }


def _plain(value: Any) -> Any:
    """Return a value for JSON: times in ISO 8601, values that are missing or not finite as None."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%SZ}" if pd.notna(value) else None
    return None if isinstance(value, float) and not math.isfinite(value) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryJudgement:
    """All series, and which of their changes are new. ``names`` are the studies as the user named them."""

    names: tuple[str, ...]
    series: tuple[Judged, ...]
    since: Since
    confidence: float
    margin: str = "5%"
    #: Of each path, whether it is inside a zone or between zones, as far as that is known.
    placements: Mapping[str, str]
    #: What the studies leave out because of errors.
    left_out: tuple[str, ...]

    @property
    def outcome(self) -> Outcome:
        """The overall result."""
        if any(judged.is_changed for judged in self.series):
            return "changed"
        return "unchanged" if any(judged.is_searched for judged in self.series) else "too_short"

    @property
    def exit_code(self) -> int:
        """0 unchanged, 1 changed, 3 too short."""
        return EXIT_CODES[self.outcome]

    @property
    def headline(self) -> str:
        """The outcome in one sentence."""
        changed = sum(judged.is_changed for judged in self.series)
        searched = sum(judged.is_searched for judged in self.series)
        since = f" since {self.since.text}" if self.since.text else ""
        if changed:
            return f"Changed{since} by more than the margin of {self.margin}: {changed} of {searched} series."
        if searched:
            return f"No change{since} beyond the margin of {self.margin} in {searched} series."
        longest = max((judged.series["n"] for judged in self.series), default=0)
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
            "left_out": list(self.left_out),
            "series": [judged.record() for judged in self.series],
            "seen": [
                {
                    **{name: _plain(row[name]) for name in _OF_SIGHTING},
                    "text": seen(row, judged.series["family"]),
                }
                for judged in self.series
                for row in judged.seen
            ],
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
    """Search the series of all studies as one family; with several studies, their names stand before each path.

    ``since``: date (``2026-11-12``, UTC), age (``14d``), run or log from which changes are judged; all if empty.
    ``metrics``: ``median``, ``mean``, ``p99``, ``goodput``, ``loss``; by default all but the mean where there is a
    median. ``confidence``: one minus the probability that any series that did not change is called changed. ``margin``:
    largest change that does not matter in practice, ``"5%"``, ``"0.05"`` or ``"2us"``; a time leaves out goodput and
    loss. Raises `ValueError` if a metric, the tool, the margin or the start is not known.
    """
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
    found, start = history(runs, value=chosen, margin=margin, confidence=confidence), _parse_since(since, runs)
    if by_time:
        found = found._replace(series=found.series[found.series["unit"] == "ns"])
    return HistoryJudgement(
        names=tuple(studies),
        series=tuple(_judged(found, start)),
        since=start,
        confidence=confidence,
        margin=margin,
        placements=dict(zip(runs["path"], runs["placement"], strict=True)),
        left_out=tuple(line for study in studies.values() for line in (*windows_used(study), *doubtful_rows(study))),
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


def _judged(found: History, since: Since) -> Iterator[Judged]:
    """Yield each series with its points, its changes, and what its points show besides."""
    points, changes, shown = (
        dict(iter(frame.groupby(KEYS, sort=False, dropna=False)))
        for frame in (found.points, found.changes, sightings(found))
    )
    for row in found.series.to_dict("records"):
        key = tuple(row[name] for name in KEYS)
        of_series = changes[key].to_dict("records") if key in changes else []
        recent = [change for change in of_series if since.includes(change, points[key])]
        of_points = shown[key].to_dict("records") if key in shown else []
        # The first points, and a short series, moved after them.
        ends = [
            sighting | {"date": sighting["date_last"], "at": sighting["at"] + sighting["n"] - 1}
            if sighting["kind"] in ("oldest", "short")
            else sighting
            for sighting in of_points
        ]
        seen_since = [row for row, end in zip(of_points, ends, strict=True) if since.includes(end, points[key])]
        yield Judged(series=row, points=points[key], changes=of_series, recent=recent, seen=seen_since)


# --- what is printed


def sheet(judgement: HistoryJudgement) -> Sheet:
    """Return everything that is printed of a history."""
    short = [judged.series for judged in judgement.series if judged.is_short]
    if len(short) <= _NAMED:
        short = []
    lines = [line for judged in judgement.series if not (short and judged.is_short) for line in _lines(judged)]
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
        notes=tuple([*_too_short(short), *_notes(judgement)]),
        missing=tuple(row["what"] for row in short),
        properties={
            "studies": " ".join(judgement.names),
            "since": judgement.since.text,
            "confidence": str(judgement.confidence),
            "margin": judgement.margin,
            "outcome": judgement.outcome,
        },
    )


def _lines(judged: Judged) -> list[Line]:
    """Return a line for each new change of a series, or one line without a change; small ones are no failure."""
    series, codes = judged.series, judged.series["flags"].split()
    word, drift = "no change", drifts(series)
    mark: Mark = "good"
    if drift:
        word, mark = ("DRIFTS", "bad") if judged.is_changed else ("drifts within the margin", "good")
    if not judged.is_searched:
        mark, word = ("open", "too short") if judged.is_short else ("refused", "not judged")
    elif judged.unconfirmed and not drift:
        mark, word = "open", "not confirmed"
    elif judged.changes and not judged.recent:
        word = "no new change"
    name = f"{series['method']}, {series['metric']}"
    if not judged.recent:
        reasons = "; ".join([*filter(None, [drift, judged.unconfirmed]), *explain(codes)])
        cells = _cells(judged, word, now=_value(series, "level"), change=drift or judged.unconfirmed)
        return [Line(mark=mark, cells=cells, name=name, group=series["path"], message=f"{word}: {reasons}")]
    lines = []
    for change in judged.recent:
        word, mark = ("CHANGED", "bad") if change["verdict"] == "different" else ("within the margin", "good")
        day, amount = date_with_interval(change), "; ".join(filter(None, [size(change), judged.beside(change)]))
        ends = {"before": _value(change, "before"), "now": _value(change, "after")}
        cells = _cells(judged, word, **ends, day=day, change=amount, label=labelled(change))
        full = f"{name}, {date(change)}" if len(judged.recent) > 1 else name
        message = f"{changed(change, day)}: {amount}"
        lines.append(Line(mark=mark, cells=cells, name=full, group=series["path"], message=message))
    return lines


def _cells(
    judged: Judged, verdict: str, *, now: str, change: str, before: str = "", day: str = "", label: str = ""
) -> dict[str, str]:
    return {
        "verdict": verdict,
        **{name: judged.series[name] for name in KEYS},
        "points": str(judged.series["n"]),
        "history": sparkline(judged.points["value"].tolist()),
        "before": before,
        "now": now,
        "changed on": day,
        "change": change,
        "label": label,
        "flags": ", ".join(SHORT[code] for code in judged.series["flags"].split()),
    }


def _value(row: Row, name: str) -> str:
    return "" if is_missing(row[name]) else format_value(row[name], row["unit"], digits=4)


def sparkline(values: Sequence[float]) -> str:
    """Return the values as a line of bars, the median of neighbours where there are many; losses of most are full."""
    parts = np.array_split(np.array(values, dtype=float), min(len(values), _WIDTH))
    middles = np.array([np.median(part) for part in parts])
    finite = middles[np.isfinite(middles)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    if high <= low:
        return "".join(_BARS[3 if math.isfinite(value) else -1] for value in middles)
    scaled = np.where(np.isfinite(middles), (middles - low) / (high - low), 1.0)
    return "".join(_BARS[int(share * (len(_BARS) - 1) + 0.5)] for share in scaled)


def _too_short(rows: Sequence[Row]) -> list[str]:
    """Count series that have no rows of their own, because they are too short and many."""
    paths = list(dict.fromkeys(row["path"] for row in rows))
    count = f"{len(rows)} series have fewer than {FEWEST} points, too few to judge"
    return [f"{count} ({named(paths, _NAMED)})."] if rows else []


def _notes(judgement: HistoryJudgement) -> list[str]:
    """Explain how to read the rows, and what is odd about the nights."""
    searched = [judged for judged in judgement.series if judged.is_searched]
    reading = (
        "One point per run, or per night with several runs (their median). Significance is corrected for the number "
        f"of series with at least {FEWEST} points: if nothing changed, any change is reported with a probability of at "
        f"most {percent(1 - judgement.confidence, 2)}, except where a path stays at chance levels for weeks. A "
        f"change is reported after {SHORTEST} points at the new level, or more if it is small. Changes within the "
        f"margin of {judgement.margin} are shown, but are not a failure; a series drifts if a line fits it better than "
        "levels. "
        "Before and now: medians of the points (loss: means). Latencies are round-trip times. The date has its 95 % "
        "interval. The history does not show the cause."
    )
    notes = [f"{line}." for line in judgement.left_out] + ([reading] if searched else [])
    rows = [judged.series for judged in judgement.series]
    named = ["path", "at_low", "at_high", "n", "date", "date_low", "date_high", "window_ns"]
    new = pd.DataFrame([change for judged in searched for change in judged.new], columns=named)
    notes += [f"{sentence}." for sentence in together(new)]
    seen_rows = pd.DataFrame([row for judged in judgement.series for row in judged.seen], columns=_OF_SEEN)
    notes += in_short_seen(seen_rows)
    notes += _ended(rows, judgement.placements)
    if missing := [row for row in rows if row["missing"]]:
        most = max(missing, key=lambda row: row["missing"])
        what = "Nights without a run" if is_missing(most["window_ns"]) else "Points missing between windows"
        notes.append(f"{what} in {len(missing)} series, most in {most['what']}: {most['missing']}.")
    flagged = [*(row for judged, row in zip(judgement.series, rows, strict=True) if not judged.is_short)]
    flagged += [change for judged in searched for change in judged.new]
    codes = dict.fromkeys(code for row in flagged for code in row["flags"].split())
    return notes + [f"{text}." for text in explain(tuple(codes))]


def _ended(rows: Sequence[Row], placements: Mapping[str, str]) -> list[str]:
    """Name the paths that are no longer measured, and those that began then: they may have been renamed."""
    timed = [row for row in rows if row["n"] > 1 and pd.notna(row["date_first"])]
    if not timed:
        return []
    paths: dict[str, Row] = {}
    for row in timed:
        known = paths.setdefault(row["path"], dict(row))
        known["date_first"] = min(known["date_first"], row["date_first"])
        known["date_last"] = max(known["date_last"], row["date_last"])
    latest = max(row["date_last"] for row in paths.values())
    near = ENDED * max((row["date_last"] - row["date_first"]) / (row["n"] - 1) for row in timed)
    ended: dict[datetime, list[Row]] = {}
    for row in paths.values():
        if latest - row["date_last"] > near:
            ended.setdefault(row["date_last"], []).append(row)
    notes = [_ended_together(of_date, paths, placements, near) for of_date in ended.values() if len(of_date) > _NAMED]
    few = [row for of_date in ended.values() if len(of_date) <= _NAMED for row in of_date]
    for row in few[:_NAMED]:
        begun = _begun([row], paths, placements, near)
        others = named([other["path"] for other in begun], _NAMED)
        hint = f"; {others} began then: if it is the same path, give both {_ONE_NAME}" if begun else ""
        notes.append(f"{row['path']} was last measured on {day_of(row['date_last'], row['window_ns'])}{hint}.")
    if len(few) > _NAMED:
        notes.append(f"{len(few) - _NAMED} more paths are no longer measured.")
    return notes


def _begun(ended: Sequence[Row], paths: Mapping[str, Row], placements: Mapping[str, str], near: timedelta) -> list[Row]:
    """Return the paths that began when others ended, each inside a zone or between zones as one of these."""
    last, placed = ended[0]["date_last"], {placements[row["path"]] for row in ended}
    # Windows under both names overlap; runs of a path under a new name do not begin before the last under the old one.
    early = timedelta() if is_missing(ended[0]["window_ns"]) else near
    return [
        row
        for path, row in paths.items()
        if -early < row["date_first"] - last <= near and placements[path] in placed and row["date_last"] > last
    ]


def _ended_together(
    ended: Sequence[Row], paths: Mapping[str, Row], placements: Mapping[str, str], near: timedelta
) -> str:
    """Say how many paths ended on one date, and how many began then."""
    text = f"{len(ended)} paths were last measured on {day_of(ended[0]['date_last'], ended[0]['window_ns'])}"
    begun = _begun(ended, paths, placements, near)
    if not begun:
        return f"{text} ({named([row['path'] for row in ended], _NAMED)})."
    days = sorted({day_of(row["date_first"], row["window_ns"]) for row in begun})
    when = " to ".join(dict.fromkeys([days[0], days[-1]]))
    return f"{text}, and {len(begun)} began then ({when}): if some are the same paths, give each {_ONE_NAME}."
