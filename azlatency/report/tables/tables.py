"""Frames and results as readable tables with units in the headers: one function a table, for notebooks and pages.

Every function takes a `Study` or results and returns a `Table`, or a `Note` with the reason where there is nothing to
show. Nothing is computed here but units and layout.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from azlatency.report.objects import NO_LOG, Note, Origin, Runs, Stated, Table
from azlatency.stats.result import CODES, SHORT, Estimate

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store import Study

_MICROSECOND, _GIGABIT = 1e3, 1e9
_MANY_FILES = 40
_MANY_PLACES = 20
PRINTED = {
    "round_trip": "round trip",
    "half_round_trip": "half a round trip",
    "one_way": "one way",
    "unknown": "not said",
}


def text(value: Any) -> str:
    """A cell: empty where the value is missing, yes or no for a truth value, else its text."""
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "yes" if value else "no"
    return str(value)


def micros(value: Any, digits: int = 1) -> str:
    """A time in ns as µs with thousands separators; empty where it is missing."""
    return "" if text(value) == "" else f"{float(value) / _MICROSECOND:,.{digits}f}".replace("inf", "∞")


def gigabits(value: Any) -> str:
    """A rate in bit/s as Gbit/s with three decimals; empty where it is missing."""
    return "" if text(value) == "" else f"{float(value) / _GIGABIT:,.3f}"


def whole(value: Any) -> str:
    """A count with thousands separators; empty where it is missing."""
    return "" if text(value) == "" else f"{int(value):,}"


def remarks(codes: Iterable[str]) -> str:
    """The codes of a result in a word or two each; the floor that all results share is left to the note."""
    return ", ".join(SHORT[code] for code in codes if code != "within_run_floor")


def explained(estimates: Sequence[Estimate]) -> list[str]:
    """A note for each code that occurs: the word in the cell and its sentence."""
    codes = dict.fromkeys(code for each in estimates for code in each.codes)
    return [f"{SHORT[code].capitalize()}: {CODES[code]}." for code in codes]


def place(run_id: str, line: Any) -> tuple[str, ...]:
    """Where a printed number stands, as `Table.origins` has it; empty where the line is missing."""
    return () if text(line) == "" else (f"{run_id.rpartition('-')[0]}:{int(line)}",)


def formula(parameters: str, numbers: str = "these numbers") -> str:
    """The note below ``numbers`` that no log says: from which parameters they follow."""
    return f"Computed from {parameters} alone: {NO_LOG} {numbers}."


# --- what was measured


def about(study: Study) -> Table:
    """What the study's manifest says."""
    names = {
        "question": "Question",
        "region": "Region",
        "vm_size": "VM size",
        "accelerated_networking": "Accelerated networking",
        "placement": "Placement",
        "date": "Date",
        "source": "Source",
        "notes": "Notes",
    }
    rows = [(title, text(study.info.get(key)) or "not said") for key, title in names.items()]
    if study.info.get("emulated"):
        rows.insert(1, ("Emulated", "yes: an emulated lab with known delays, not a cloud"))
    keys = {title: key for key, title in names.items()}
    origins = [{0: (Stated("study.toml", keys.get(row[0], "emulated")),)} for row in rows]
    return Table(str(study.info.get("title", study.name)), ("what", "as the manifest says"), rows, origins=origins)


def inventory(runs: pd.DataFrame) -> Table | Note:
    """Number of runs by path (rows) and method (columns); ``runs`` as `azlatency.studies.runs.described_runs`."""
    if not len(runs):
        return Note("This study holds no logs: its numbers stand only in a text or a specification (below).")
    counts = runs.groupby(["path", "method"], sort=False).size().unstack(fill_value=0)
    counts = counts.loc[list(dict.fromkeys(runs["path"]))]
    rows = [
        (str(path), *(whole(count) if count else "–" for count in row))
        for path, row in zip(counts.index, counts.values, strict=True)
    ]
    columns = range(1, len(counts.columns) + 1)
    return Table("Runs by path and method", ("path", *counts.columns), rows, frozenset(columns))


def quantities(evidence: pd.DataFrame) -> Table | Note:
    """What each latency method printed, and the proof; ``evidence`` as `evidence.printed_quantities` gives it."""
    if not len(evidence):
        return Note("No log of this study prints a latency.")
    rows = [
        (
            row.method,
            PRINTED.get(row.printed_as, row.printed_as),
            "× 2" if row.printed_as == "half_round_trip" else "× 1",
            whole(row.runs),
            "" if text(row.share_low) == "" else f"{row.share_low:.3f} – {row.share_high:.3f}",
            row.verdict,
        )
        for row in evidence.itertuples(index=False)
    ]
    headers = ("method", "the log prints", "to a round trip", "runs", "n · mean ÷ duration", "what the text proves")
    note = (
        "A closed loop sends the next probe when the last is answered: n · mean ÷ duration is near 1 for round trips, "
        "near ½ for halves."
    )
    origins = [{0: (Runs("latency", printed_as=str(row.printed_as)),)} for row in evidence.itertuples(index=False)]
    return Table("What each tool printed", headers, rows, frozenset({2, 3, 4}), (note,), origins)


def headline(headlines: pd.DataFrame, runs: pd.DataFrame) -> Table | Note:
    """The numbers people quote, as printed, and what may be concluded from them.

    ``headlines``: `azlatency.stats.unit_checks.headline_numbers` of ``runs``.
    """
    if not len(headlines):
        return Note("No run of this study prints a headline number.")
    tools = list(headlines.columns)
    rows = [
        (str(path), *(text(cell) or "–" for cell in row), _repeated(runs[runs["path"] == path]))
        for path, row in zip(headlines.index, headlines.values, strict=True)
    ]
    note = "Printed tokens, unchanged. Columns must not be compared with one another: they hold different quantities."
    headers = ("path", *tools, "what may be concluded")
    origins = [_printed_first(str(path), row) for path, row in headlines.iterrows()]
    return Table(
        "The headline numbers as printed", headers, rows, frozenset(range(1, len(tools) + 1)), (note,), origins
    )


def _printed_first(path: str, row: pd.Series) -> dict[int, Sequence[Origin]]:
    """Where the numbers of a path's first runs are printed, by the column of "method, mean" or "method, goodput"."""
    values = {"mean": "printed mean_ns", "goodput": "printed throughput"}
    found: dict[int, Sequence[Origin]] = {}
    for column, (tool, cell) in enumerate(row.items(), start=1):
        method, _, what = str(tool).rpartition(", ")
        if text(cell) and what in values:
            found[column] = (Runs(values[what], path, method),)
    return found


def _repeated(runs: pd.DataFrame) -> str:
    """What the first runs of a path's methods allow to say."""
    counts = runs.groupby("method").size()
    several = int((counts > 1).sum())
    if not several:
        return "one run each: what these connections did, no rank among paths"
    return f"first of several runs by {several} of {len(counts)} methods: see the intervals of the path"


def ledger(study: Study) -> Table | Note:
    """How every line of every source was accounted for; files with unknown lines first where there are many."""
    sources = study.sources
    if not len(sources):
        return Note("No files.")
    columns = ["lines", "lines_data", "lines_known", "lines_blank", "lines_prose", "lines_unknown"]
    chosen = sources
    notes = [
        f"{len(sources)} files, {whole(sources['lines'].sum())} lines, {whole(sources['lines_unknown'].sum())} unknown."
    ]
    if len(sources) > _MANY_FILES:
        chosen = sources[sources["lines_unknown"] > 0].head(_MANY_FILES)
        notes.append(f"Files without unknown lines ({(sources['lines_unknown'] == 0).sum()}) are only in the total.")
    rows = [(str(row["path"]), *(whole(row[name]) for name in columns)) for _, row in chosen.iterrows()]
    origins: list[dict[int, Sequence[Origin]]]
    origins = [{0: (f"{row['source_id']}:1-{row['lines']}",)} for _, row in chosen.iterrows()]
    origins.append({0: (Runs("file", every=True),)})
    rows.append(("all files", *(whole(sources[name].sum()) for name in columns)))
    headers = ("file", "lines", "data", "known", "blank", "prose", "unknown")
    return Table("Every line accounted for", headers, rows, frozenset(range(1, 7)), notes, origins)


def events(study: Study) -> Table | Note:
    """What the parsers remarked: code, how often, and the first place."""
    if not len(study.events):
        return Note("The parsers had nothing to remark.")
    order = {"error": 0, "warning": 1, "info": 2}
    paths = dict(zip(study.sources["source_id"], study.sources["path"], strict=True))
    groups = []
    for (code, severity), group in study.events.groupby(["code", "severity"], sort=False):
        first = group.iloc[0]
        shown = f"{paths.get(first['source_id'], '')}:{first['line']}"
        places = [f"{row.source_id}:{row.line}" for row in group.head(_MANY_PLACES).itertuples()]
        groups.append(
            (
                order[severity],
                str(code),
                (str(code), str(severity), whole(len(group)), shown, str(first["text"])),
                places,
            )
        )
    groups.sort(key=lambda each: each[:3])
    headers = ("code", "severity", "times", "first place", "text there")
    rows, origins = [each[2] for each in groups], [{0: each[3]} for each in groups]
    return Table("Remarks of the parsers", headers, rows, frozenset({2}), origins=origins)


def missing(study: Study) -> Table | Note:
    """What the manifest does not say, and what cannot be asked of the study therefore."""
    needs = {
        "zone": "comparing zones",
        "peer_zone": "comparing zones",
        "physical_zone": "comparing with another subscription",
        "vm_size": "comparing with the VM's specification",
        "accelerated_networking": "explaining latency of some 100 µs and more",
        "placement": "telling a path that left the host from one that did not",
        "repeat": "telling a repeat from another experiment",
        "started_at": "ordering the runs in time",
    }
    runs = study.runs
    if not len(runs):
        return Note("No runs, so no metadata is missing.")
    rows = [
        (key, f"{runs[key].isna().sum()} of {len(runs)}", why) for key, why in needs.items() if runs[key].isna().any()
    ]
    if not rows:
        return Note("Every run says its zones, VM size, placement, repeat and time.")
    origins = [{0: (Runs("run", every=True, without=row[0]),)} for row in rows]
    headers = ("what", "runs without it", "needed for")
    return Table("Metadata that is missing", headers, rows, frozenset({1}), origins=origins)


def reported(study: Study) -> Table | Note:
    """Numbers that stand only in a text."""
    frame = study.reported
    if not len(frame):
        return Note("No numbers outside the logs.")
    columns = ("scenario", "tool", "metric", "q", "segment", "printed", "vm_size", "accelerated_networking", "notes")
    wanted = [name for name in columns if name in frame]
    rows = [
        (*(text(value) for value in row), _quotable(text(metric), text(segment)))
        for row, metric, segment in zip(
            frame[wanted].itertuples(index=False),
            frame["metric"],
            frame["segment"] if "segment" in frame else [None] * len(frame),
            strict=True,
        )
    ]
    note = "Reported in prose or tables: no log behind them, no spread. They can be quoted, not tested."
    file = str(study.info.get("reported"))
    origins = [{0: (f"{file}:{line}",)} for line in frame["line"]] if "line" in frame else []
    headers = (*wanted, "what may be concluded")
    return Table("Numbers that stand only in the text", headers, rows, notes=(note,), origins=origins)


_QUOTABLE = {
    "rtt_mean": "may be quoted; no count and no spread, so no difference can be tested",
    "rtt": "may be quoted; a percentile without interval",
    "rtt_min": "one packet: how fast it can be, not how fast it is",
    "rtt_max": "one packet: says nothing about the path",
    "rtt_mean_ratio": "ratio of two single measurements: no interval",
    "rtt_mean_change": "one change among few: tested on the page Stability",
    "failed_at": "a moment; three failures are no rate",
}


def _quotable(metric: str, segment: str) -> str:
    """What a number without its log allows to say."""
    if metric == "rtt_mean" and segment:
        return "may be quoted; a stretch of one connection, no spread"
    return _QUOTABLE.get(metric, "a circumstance, no measurement")


def expectations(study: Study) -> Table | Note:
    """What the study's baseline expects."""
    if not study.expectations:
        return Note("This study has no baseline.")
    rows = [
        (
            text(each.get("name")),
            text(each.get("tool")),
            text(each.get("relation")).replace("_", " "),
            text(each.get("printed")),
            in_unit(each.get("low"), each.get("high"), text(each.get("unit"))),
            text(each.get("conditions")),
            text(each.get("notes")),
        )
        for each in study.expectations
    ]
    headers = ("what", "tool", "relation", "as printed", "read as", "conditions", "remarks")
    origins = [_expected_at(text(each.get("name")), "high" if each.get("low") is None else "low")
               for each in study.expectations]  # fmt: skip
    return Table("What the baseline expects", headers, rows, origins=origins)


def _expected_at(name: str, limit: str) -> dict[int, Sequence[Origin]]:
    """Where a baseline says an expectation: its name, the number as printed, and what it is read as."""
    columns = {0: "name", 3: "printed", 4: limit}
    return {column: (Stated("baseline", key, name),) for column, key in columns.items()}


_READ_IN = {"ns": (1e3, "µs"), "bit/s": (1e9, "Gbit/s"), "bytes/s": (1e6, "MB/s"), "1/s": (1.0, "per s")}


def read_in(unit: str) -> tuple[float, str]:
    """The unit that people read instead of a canonical one: how many canonical ones it is, and its name."""
    return _READ_IN.get(unit, (1.0, unit))


def in_unit(low: Any, high: Any, unit: str) -> str:
    """A value or a range in the unit that people read: µs, Gbit/s, MB/s."""
    scale, shown = read_in(unit)
    numbers = [f"{float(value) / scale:,.6g}" for value in (low, high) if value is not None]
    return " – ".join(dict.fromkeys(numbers)) + f" {shown}"


def limits(low: float | None, high: float | None, unit: str, words: tuple[str, str, str] = ("≤ ", "≥ ", " – ")) -> str:
    """What an expectation allows, in the unit that people read; ``words``: at most, at least, and between two ends."""
    scale, shown = read_in(unit)
    at_most, at_least, to = words
    scaled = [limit / scale for limit in (low, high) if limit is not None]
    ends = [f"{limit:,.0f}" if limit >= 1e4 else f"{limit:,.4g}" for limit in scaled]
    return ("" if len(ends) == 2 else at_most if low is None else at_least) + to.join(ends) + f" {shown}"


def provenance(study: Study) -> Table | Note:
    """The files behind the page: path, hash, size, parser."""
    if not len(study.sources):
        return Note("No log files; the numbers come from the tables of the study's folder.")
    chosen = study.sources.head(_MANY_FILES)
    rows = [(row.path, row.source_id, whole(row.size_bytes), row.encoding) for row in chosen.itertuples(index=False)]
    notes = () if len(chosen) == len(study.sources) else (f"and {len(study.sources) - len(chosen)} more files",)
    headers = ("file", "SHA-256 (first 16 digits)", "bytes", "encoding")
    origins = [{0: (f"{row.source_id}:1-{row.lines}",)} for row in chosen.itertuples(index=False)]
    return Table("Files behind this page", headers, rows, frozenset({2}), notes, origins)


# --- latency

_STATISTICS = ("rtt_mean", "rtt_sd", "rtt_min", "rtt_max")


def printed_latency(study: Study, runs: pd.DataFrame) -> Table | Note:
    """Every latency figure of every run with the printed tokens; ``runs`` as `azlatency.studies.runs.latency_runs`."""
    if not len(runs):
        return Note("No log of this study gives a latency.")
    metrics = study.metrics[study.metrics["run_id"].isin(runs.index) & study.metrics["stream"].isna()]
    metrics = metrics.drop_duplicates(["run_id", "metric"]).set_index(["run_id", "metric"])
    tokens, units = metrics["printed"].to_dict(), metrics["printed_unit"].to_dict()
    lines = metrics["line"].to_dict()
    quantiles = study.quantiles[study.quantiles["run_id"].isin(runs.index) & (study.quantiles["metric"] == "rtt")]
    levels = sorted(set(quantiles["q"].astype(float)))
    printed = {(row.run_id, float(row.q)): row for row in quantiles.itertuples(index=False)}
    rows, origins = [], []
    for run_id, run in runs.iterrows():
        where = [lines.get((run_id, name)) for name in _STATISTICS[:3]]
        where += [getattr(printed.get((run_id, level)), "line", None) for level in levels]
        where.append(lines.get((run_id, _STATISTICS[3])))
        own = {column: place(str(run_id), line) for column, line in enumerate(where, start=4)}
        whole_run = (f"{run['source_id']}:{run['first_line']}-{run['last_line']}",)
        origins.append({0: whole_run, **{column: places for column, places in own.items() if places}})
        cells = [f"{run['path']}, {run['method']}", PRINTED.get(text(run["printed_as"]), "")]
        cells += [text(units.get((run_id, "rtt_mean"))), whole(run["n"])]
        cells += [text(tokens.get((run_id, name))) or "–" for name in ("rtt_mean", "rtt_sd", "rtt_min")]
        for level in levels:
            found = printed.get((run_id, level))
            mark = "†" if found is not None and text(found.resolved) == "no" else ""
            cells.append("–" if found is None else f"{found.printed}{mark}")
        rows.append((*cells, text(tokens.get((run_id, "rtt_max"))) or "–"))
    headers = ("run", "quantity", "unit", "n", "mean", "sd", "min", *(f"p{100 * level:g}" for level in levels), "max")
    notes = ["Tokens as the tool printed them, in the unit that it printed."]
    if any("†" in cell for row in rows for cell in row):
        notes.append("† not a percentile: the run has too few observations, so the tool prints its maximum.")
    return Table("Every printed latency", headers, rows, frozenset(range(3, len(headers))), notes, origins)


def latency_paths(runs: pd.DataFrame, estimates: Sequence[Estimate]) -> Table | Note:
    """Path by path: runs, range of run medians, interval or refusal; latencies are round trips."""
    if not estimates:
        return Note("No log of this study gives a latency.")
    return _paths(
        runs, estimates, "median_ns", "median round trip of a run, µs", _MICROSECOND, "Typical round trip by path"
    )


def throughput_paths(runs: pd.DataFrame, estimates: Sequence[Estimate]) -> Table | Note:
    """Path by path: runs, range of run goodputs, interval or refusal."""
    if not estimates:
        return Note("No log of this study gives a throughput.")
    return _paths(runs, estimates, "throughput", "goodput of a run, Gbit/s", _GIGABIT, "Goodput by path")


def _paths(
    runs: pd.DataFrame, estimates: Sequence[Estimate], value: str, header: str, scale: float, title: str
) -> Table:
    groups = {key: group for key, group in runs[runs[value].notna()].groupby(["path", "method"], sort=False)}
    rows = []
    for each in estimates:
        values = groups[each.labels["path"], each.labels["method"]][value].astype(float) / scale
        span = f"{values.min():,.5g}" if len(values) == 1 else f"{values.min():,.5g} – {values.max():,.5g}"
        span = span.replace("inf", "∞")
        typical = "" if each.estimate is None else f"{each.estimate / scale:,.5g}"
        ends = "" if each.low is None or each.high is None else f"{each.low / scale:,.5g} – {each.high / scale:,.5g}"
        path, method = str(each.labels["path"]), str(each.labels["method"])
        rows.append((path, method, whole(each.n), span, typical, ends, remarks(each.codes)))
    level = f"{100 * estimates[0].confidence:g} %"
    headers = ("path", "method", "runs", header, "typical run", f"{level} interval", "remark")
    origins = [{0: (Runs(value, row[0], row[1]),)} for row in rows]
    return Table(f"{title} (scope: across runs)", headers, rows, frozenset({2, 3, 4, 5}), explained(estimates), origins)


def brackets(estimates: Sequence[Estimate], levels: Sequence[float] = (0.5, 0.99, 0.999)) -> Table | Note:
    """Percentiles of single runs with their brackets, as round trips."""
    chosen = [each for each in estimates if each.labels["q"] in levels]
    if not chosen:
        return Note("No log of this study prints percentiles.")
    rows = [
        (
            f"{each.labels['path']}, {each.labels['method']}",
            each.what,
            whole(each.n),
            micros(each.estimate, 3),
            micros(each.low, 3) or "0",
            micros(each.high, 3) or "no bound",
            remarks(each.codes),
        )
        for each in chosen
    ]
    level = f"{100 * chosen[0].confidence:g} %"
    headers = ("run", "percentile", "n", "round trip, µs", f"{level} from, µs", "to, µs", "remark")
    notes = [f"Method: {chosen[0].method}.", *explained(chosen)]
    return Table(
        "Percentiles within one run (scope: within run)",
        headers,
        rows,
        frozenset({2, 3, 4, 5}),
        notes,
        _printed_at(chosen),
    )


def _printed_at(estimates: Sequence[Estimate]) -> list[dict[int, tuple[str, ...]]]:
    """Where percentiles of single runs are printed: their run and the percentile of it."""
    return [
        {0: (f"{each.labels['run_id']}@{float(each.labels['q'])}",)} if "run_id" in each.labels else {}
        for each in estimates
    ]


def unresolved(estimates: Sequence[Estimate]) -> Table | Note:
    """Printed percentiles that the run cannot support."""
    unsupported = {"tail_unresolved", "unbounded_upper", "maximum_in_disguise"}
    chosen = [each for each in estimates if unsupported & set(each.codes)]
    if not chosen:
        return Note("Every printed percentile of this study is supported by its run's number of observations.")
    rows = [
        (
            f"{each.labels['path']}, {each.labels['method']}",
            each.what,
            whole(each.n),
            f"{each.n * (1 - each.labels['q']):.3g}",
            micros(each.estimate, 3),
            micros(each.low, 3) or "0",
            remarks(each.codes),
        )
        for each in chosen
    ]
    headers = ("run", "percentile", "n", "observations above it", "printed as, µs", "at least, µs", "why")
    notes = explained(chosen)
    return Table(
        "Percentiles that the log cannot support", headers, rows, frozenset({2, 3, 4, 5}), notes, _printed_at(chosen)
    )


# --- throughput


def throughput(study: Study, runs: pd.DataFrame) -> Table | Note:
    """Every goodput as printed, with the side that counted it and its retransmits; ``runs`` as `throughput_runs`."""
    if not len(runs):
        return Note("No log of this study gives a throughput.")
    duration = runs["duration_ns"].astype("float64") / 1e9
    scopes = {"host": "whole machine", "stream": "this connection", "run": "this test"}
    origins = _goodput_origins(study, runs)
    rows = [
        (
            f"{run['path']}, {run['method']}",
            text(run["repeat"]),
            f"{text(run['printed'])} {text(run['printed_unit'])}",
            gigabits(run["throughput"]),
            text(run["side"]),
            text(run["connections"]),
            "" if math.isnan(seconds) else f"{seconds:.2f}",
            whole(run["retransmits"]),
            scopes.get(text(run["retransmits_scope"]), ""),
        )
        for (_, run), seconds in zip(runs.iterrows(), duration, strict=True)
    ]
    headers = (
        "run",
        "repeat",
        "as printed",
        "Gbit/s",
        "counted by",
        "connections",
        "seconds",
        "retransmits",
        "counted on",
    )
    notes = [
        "Goodput: application bytes. The receiver's count stands where the log has it; the two sides are never added."
    ]
    return Table("Every goodput", headers, rows, frozenset({2, 3, 5, 6, 7}), notes, origins)


def _goodput_origins(study: Study, runs: pd.DataFrame) -> list[dict[int, Sequence[str]]]:
    """Where goodput (columns 2 and 3) and retransmits (7) of each run are printed."""
    own = study.metrics[study.metrics["stream"].isna()]
    lines: dict[tuple[str, str, str], Any] = {}
    for row in own[own["metric"].isin(["throughput", "retransmits"])].itertuples(index=False):
        side = text(row.side) if row.metric == "throughput" else ""
        lines.setdefault((row.run_id, row.metric, side), row.line)
    origins: list[dict[int, Sequence[str]]] = []
    for run_id, run in runs.iterrows():
        rate = place(str(run_id), lines.get((str(run_id), "throughput", text(run["side"]))))
        again = place(str(run_id), lines.get((str(run_id), "retransmits", "")))
        found: dict[int, Sequence[str]] = {2: rate, 3: rate, 7: again}
        whole_run = (f"{run['source_id']}:{run['first_line']}-{run['last_line']}",)
        origins.append({0: whole_run, **{column: places for column, places in found.items() if places}})
    return origins


def against_expected(comparison: pd.DataFrame) -> Table | Note:
    """Goodput beside the bandwidth expected of the VM; ``comparison`` as `evidence.against_bandwidth` gives it."""
    if not len(comparison):
        return Note("No expected bandwidth is known for this study, or no throughput was measured.")
    rows = [
        (row.path, row.method, gigabits(row.throughput), gigabits(row.expected), f"{row.ratio:.2f}", row.remark)
        for row in comparison.itertuples(index=False)
    ]
    headers = ("path", "method", "goodput, Gbit/s", "expected, Gbit/s", "ratio", "what may be concluded")
    origins = [{0: (Runs("throughput", row[0], row[1]),)} for row in rows]
    return Table("Goodput and the VM's expected bandwidth", headers, rows, frozenset({2, 3, 4}), origins=origins)
