"""Which logs are there, what do their numbers mean, and was every line read? Tables and findings of page 00."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from azlatency.kit.cells import Column, FileRef, Ref, Row, RunsRef, Table
from azlatency.kit.cells import text as words_of
from azlatency.kit.findings import act, answer, info, join
from azlatency.kit.objects import Finding, Findings, Note
from azlatency.kit.table import cited, count, ends, number, table, text
from azlatency.kit.units import in_unit
from azlatency.kit.words import PLACES, PRINTED
from azlatency.logs.parse import NO_LOG
from azlatency.studies.format import count_of, join_words, natural_key, percent, plain
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.run_table import client_runs, counted_losses, run_table, whole_run_values
from azlatency.studies.runs.samples import bounded, counted
from azlatency.studies.runs.selection import is_window, window_ends
from azlatency.studies.store.hosts import differing_facts

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study

#: Most files that are listed, and most places of an event that are linked.
_MOST_FILES, _MOST_PLACES = 40, 20
_SEVERITIES = ("error", "warning", "info")
_MANIFEST = {
    "question": "Question",
    "region": "Region",
    "vm_size": "VM size",
    "accelerated_networking": "Accelerated networking",
    "placement": "Placement",
    "date": "Date",
    "source": "Source",
    "notes": "Notes",
}
#: What the values of runs are called.
_WORDS = PLACES | {"True": "on", "False": "off"}
_LINES = ("lines", "lines_data", "lines_known", "lines_blank", "lines_prose", "lines_unknown")
_NEEDED_FOR = {
    "zone": "comparing zones",
    "peer_zone": "comparing zones",
    "physical_zone": "comparing with another subscription",
    "vm_size": "comparing with the VM's specification",
    "accelerated_networking": "explaining latencies of 100 µs and more",
    "placement": "distinguishing paths within a host from paths across the network",
    "repeat": "distinguishing repeats from different experiments",
    "started_at": "ordering the runs in time",
}
_REPORTED = ("scenario", "tool", "metric", "q", "segment", "printed", "vm_size", "accelerated_networking", "notes")
_QUOTABLE = {
    "rtt_mean": "quotable; without count and spread, differences cannot be tested",
    "rtt": "quotable; a percentile without an interval",
    "rtt_min": "one packet: the best case, not typical latency",
    "rtt_max": "one packet: does not describe the path",
    "rtt_mean_ratio": "ratio of two single measurements, without an interval",
    "rtt_mean_change": "one of few changes; tested on the page Stability",
    "failed_at": "a point in time; three failures do not give a rate",
}


# --- what the manifest says


def about(study: Study) -> Table:
    """Return what the study's manifest says about it."""
    runs = client_runs(study)
    said = {"date": _dates(runs)} | {key: words for key in _MANIFEST if (words := words_of(study.info.get(key)))}
    entries = [runs, study.reported]
    rows = [(key, title, said.get(key) or _by_run(key, entries) or "not said") for key, title in _MANIFEST.items()]
    if study.info.get("emulated"):
        rows.insert(1, ("emulated", "Emulated", "yes: a lab with configured delays, not a cloud"))
    rows.append(("", "Started at", _started_at(runs)))
    columns = {"what": text("title"), "as the study describes it": text("value")}
    frame, caption = pd.DataFrame(rows, columns=["key", "title", "value"]), str(study.info.get("title", study.name))
    return table(frame, caption, columns, source=lambda row: [FileRef("study.toml", row["key"])] if row["key"] else [])


def _by_run(key: str, entries: Iterable[pd.DataFrame]) -> str:
    """Return what the entries of the runs say, where it is not one for the whole study; empty if they do not."""
    values = [value for runs in entries if key in runs for value in runs[key].dropna().unique() if value != ""]
    words = sorted({_WORDS.get(str(value)) or words_of(value) for value in values})
    return f"by run: {join_words(words)}" if words else ""


def _dates(runs: pd.DataFrame) -> str:
    """Return the first and the last day of the runs, and of published windows, those on which they ended."""
    days = runs["started_at"].where(~is_window(runs), window_ends(runs["started_at"], runs["duration_ns"])).dropna()
    ends = [f"{day:%Y-%m-%d}" for day in (days.min(), days.max())] if len(days) else []
    return " to ".join(dict.fromkeys(ends)) + (" (of the runs)" if ends else "")


def _started_at(runs: pd.DataFrame) -> str:
    """Say when the first and the last run started."""
    if len(runs) and is_window(runs).all():
        return "no time of day: each value is a mean over whole days"
    known = runs["started_at"].dropna()
    if known.empty:
        return "no date in the logs"
    ends = " to ".join(dict.fromkeys(f"{moment:%Y-%m-%d %H:%M}" for moment in (known.min(), known.max())))
    return f"{ends} UTC ({plain(len(known))} of {count_of(len(runs), 'run')})"


def host_differences(study: Study) -> Table | None:
    """Return the facts in which the machines of a study differ; None if none is known to differ."""
    differing = differing_facts(study.hosts)
    rows = [(fact, value, "; ".join(hosts)) for fact, values in differing.items() for value, hosts in values.items()]
    if not rows:
        return None
    columns = {"what": text("fact"), "value": text("value"), "machines": text("hosts")}
    note = (
        "A difference between paths may be one between machines. As the script of the measurement recorded it; a fact "
        "that a machine did not tell is left out."
    )
    frame = pd.DataFrame(rows, columns=["fact", "value", "hosts"])
    return table(frame, "What differs between the machines", columns, [note])


def missing(study: Study) -> Table | Note:
    """Return the metadata that the manifest lacks, and what each item is needed for."""
    runs = study.runs
    if not len(runs):
        return Note("No runs, so no metadata is missing.")
    without = {column: runs.loc[runs[column].isna(), "run_id"] for column in _NEEDED_FOR}
    rows = [
        (column, f"{len(run_ids)} of {len(runs)}", _NEEDED_FOR[column], " ".join(run_ids))
        for column, run_ids in without.items()
        if len(run_ids)
    ]
    if not rows:
        return Note("The manifest has zones, VM size, placement, repeat and time of every run.")
    columns: dict[str, Column] = {
        "what": text("column"),
        "runs without it": text("share", right=True),
        "needed for": text("needed"),
    }
    frame = pd.DataFrame(rows, columns=["column", "share", "needed", "run_ids"])
    return table(frame, "Missing metadata", columns, value="run")


# --- runs and their numbers


def inventory(runs: pd.DataFrame) -> Table | Note:
    """Return the number of runs by path (rows) and method (columns)."""
    if not len(runs):
        return Note("This study has no logs: its numbers come from a text or a specification (below).")
    methods = dict.fromkeys(runs["method"])
    rows = []
    for path, group in grouped(runs, "path"):
        by_method = {method: run_ids for method, run_ids in grouped(group, "method").groups.items()}
        rows.append(
            {
                "path": path,
                **{method: len(by_method[method]) if method in by_method else None for method in methods},
                "run_ids": " ".join(str(run_id) for run_ids in by_method.values() for run_id in run_ids),
            }
        )
    columns = {"path": text("path"), **{str(method): number(method, ",.0f", missing="–") for method in methods}}
    return table(pd.DataFrame(rows), "Runs by path and method", columns)


def quantities(evidence: pd.DataFrame) -> Table | Note:
    """Return what each latency method printed, and the evidence for it."""
    if not len(evidence):
        return Note("No log of this study prints a latency.")
    printed = evidence["printed_as"]
    shown = evidence.assign(
        printed=printed.map(PRINTED).fillna(printed),
        factor=printed.eq("half_round_trip").map({True: "× 2", False: "× 1"}),
    )
    columns: dict[str, Column] = {
        "method": text("method", names_row=True),
        "the log prints": text("printed"),
        "to RTT": text("factor", right=True),
        "runs": count("runs"),
        "n · mean ÷ duration": ends("share_low", "share_high", ".3f"),
        "evidence": text("verdict"),
    }
    note = (
        "A closed loop sends the next probe when the last one is answered: n · mean ÷ duration is near 1 if the tool "
        "prints round-trip times, and near ½ if it prints RTT/2."
    )
    return table(shown, "What each tool printed", columns, [note], value="latency")


def headline(headlines: pd.DataFrame, runs: pd.DataFrame) -> Table | Note:
    """Return the headline numbers as printed, and the conclusions that they support."""
    if not len(headlines):
        return Note("No run of this study prints a headline number.")
    rows: dict[str, Row] = {}
    for cell in headlines.to_dict("records"):
        row = rows.setdefault(cell["path"], {"path": cell["path"]})
        row[f"{cell['method']}, {cell['quantity']}"] = cell
    names = dict.fromkeys(name for row in rows.values() for name in row if name != "path")
    frame = pd.DataFrame([{**dict.fromkeys(names), **row} for row in rows.values()])
    frame["conclusion"] = [_repeated(runs[runs["path"] == path]) for path in rows]
    columns = {"path": text("path"), **{name: _headline(name) for name in names}, "conclusion": text("conclusion")}
    note = "Printed tokens, unchanged. Do not compare columns: they are different quantities."
    return table(frame, "The headline numbers as printed", columns, [note])


def _headline(name: str) -> Column:
    """Return a column of printed numbers, each with the line that prints it."""

    def source(row: Row) -> list[Ref]:
        cell = row[name]
        if not isinstance(cell, dict):
            return []
        return [RunsRef((cell["run_id"],), "printed", None if pd.isna(cell["line"]) else int(cell["line"]))]

    def printed(row: Row) -> str:
        return row[name]["printed"] if isinstance(row[name], dict) else ""

    return cited(text(printed, "–", right=True), source)


def _repeated(runs: pd.DataFrame) -> str:
    """Return what the first runs of a path support."""
    counts = grouped(runs, "method").size()
    several = int((counts > 1).sum())
    if not several:
        return "one run per method: describes these connections, not the path"
    return f"first of several runs by {several} of {len(counts)} methods; see the intervals of the path"


# --- numbers without a log


def reported(study: Study) -> Table | Note:
    """Return the numbers that an author reports without their logs."""
    if not len(study.reported):
        return Note("No numbers outside the logs.")
    columns = {name: text(name) for name in _REPORTED if name in study.reported} | {"conclusion": text(_conclusion)}
    note = "Reported in prose or tables: no log, no spread. Cite them as published; no test is possible."
    file = str(study.info.get("reported"))

    def source(row: Row) -> list[Ref]:
        return [FileRef(file, line=int(row["line"]))] if "line" in row else []

    return table(study.reported, "Numbers reported without a log", columns, [note], source=source)


def _conclusion(row: Row) -> str:
    """Return what a number without its log supports."""
    metric = words_of(row["metric"])
    if metric == "rtt_mean" and words_of(row.get("segment")):
        return "quotable; a segment of one connection, without its spread"
    return _QUOTABLE.get(metric, "context, not a measurement")


def expectations(study: Study) -> Table | Note:
    """Return what the study's baseline expects."""
    if not study.expectations:
        return Note("This study has no baseline.")
    names = ("name", "tool", "relation", "printed", "conditions", "notes")
    rows = [
        {
            **{name: words_of(expectation.get(name)) for name in names},
            "read": in_unit(expectation.get("low"), expectation.get("high"), words_of(expectation.get("unit"))),
            "limit": "high" if expectation.get("low") is None else "low",
        }
        for expectation in study.expectations
    ]

    def stated(key: str) -> Callable[[Row], list[Ref]]:
        return lambda row: [FileRef("baseline", key, row["name"])]

    columns = {
        "what": text("name"),
        "read as": cited(text("read"), lambda row: stated(row["limit"])(row)),
        "relation": text("relation"),
        "tool": text("tool"),
        "as printed": cited(text("printed"), stated("printed")),
        "conditions": text("conditions"),
        "notes": text("notes"),
    }
    frame = pd.DataFrame(rows).assign(relation=lambda rows: rows["relation"].str.replace("_", " "))
    return table(frame, "What the baseline expects", columns, source=stated("name"))


# --- was every line read


def ledger(study: Study) -> Table | Note:
    """Return how every line of every file was accounted for; of many files, those with unknown lines."""
    files = study.sources.sort_values("path", key=lambda paths: paths.map(natural_key), kind="stable")
    if not len(files):
        return Note("No files.")
    unknown = files["lines_unknown"]
    notes = [f"{len(files)} files, {plain(files['lines'].sum())} lines, {plain(unknown.sum())} unknown."]
    listed = files
    if len(files) > _MOST_FILES:
        listed = files[unknown > 0].head(_MOST_FILES)
        notes.append(f"Files without unknown lines ({(unknown == 0).sum()}) are only in the total.")
    total = pd.DataFrame([{"path": "all files", "source_id": "", **files[list(_LINES)].sum()}])
    columns = {"file": text("path"), **{name.removeprefix("lines_"): count(name) for name in _LINES}}
    ends_of_files = zip(files["source_id"], files["lines"], strict=True)
    whole = {source_id: FileRef(source_id, line=1, last=last) for source_id, last in ends_of_files}

    def source(row: Row) -> list[Ref]:
        return [whole[row["source_id"]]] if row["source_id"] else [*whole.values()]

    shown = pd.concat([listed[["path", "source_id", *_LINES]], total])
    return table(shown, "Every line accounted for", columns, notes, source=source)


def events(study: Study) -> Table | Note:
    """Return the parsers' events: code, count, and the first place."""
    if not len(study.events):
        return Note("The parsers reported no events.")
    paths = dict(zip(study.sources["source_id"], study.sources["path"], strict=True))
    rows = []
    for (code, severity), group in grouped(study.events, ["code", "severity"]):
        first = group.iloc[0]
        linked = group.head(_MOST_PLACES)
        rows.append(
            {
                "code": code,
                "severity": severity,
                "times": len(group),
                "place": f"{paths.get(first['source_id'], '')}:{first['line']}",
                "text": str(first["text"]),
                "places": list(zip(linked["source_id"], linked["line"].astype(int), strict=True)),
            }
        )
    rows.sort(key=lambda row: (_SEVERITIES.index(row["severity"]), row["code"]))
    columns = {
        "code": text("code"),
        "severity": text("severity"),
        "times": count("times"),
        "first place": text("place"),
        "text there": text("text"),
    }

    def source(row: Row) -> list[Ref]:
        return [FileRef(source_id, line=line) for source_id, line in row["places"]]

    return table(pd.DataFrame(rows), "Events of the parsers", columns, source=source)


# --- findings


def find(study: Study, printed: pd.DataFrame) -> Findings:
    """Summarize a study's logs: tools and paths, RTT/2, unknown lines, errors, packet loss, censored values.

    ``printed``: what `azlatency.stats.unit_checks.printed_quantities` returns.
    """
    if not len(study.runs):
        counts = {"a baseline": len(study.expectations), "reported numbers": len(study.reported)}
        contents = join_words(name for name, count in counts.items() if count) or "nothing"
        return Findings.of(
            [answer(f"This study has no logs, only {contents}. Cite its numbers as published; no test is possible.")]
        )
    runs, events = client_runs(study), study.events
    tools = ", ".join(sorted(set(study.runs["tool"])))
    # A program or a licence beside the logs is not a log that is read in part.
    logs = study.sources[study.sources["source_id"].isin(study.runs["source_id"])]
    unread = events[(events["code"] == "unknown_line") & events["source_id"].isin(logs["source_id"])]
    paths, unknown = runs["path"].nunique(), int(logs["lines_unknown"].sum())
    lines = f"**{count_of(unknown, 'line')}** not recognised" if unknown else "every line recognised"
    uncounted = len(run_table(study)) - len(runs)
    of_table = bool(is_window(runs).all())
    kind, others = ("published mean", "mean") if of_table else ("run", "further record")
    reason = "of windows that overlap a later one" if of_table else "of the same traffic"
    same = f" ({count_of(uncounted, others)} {reason} not counted)" if uncounted else ""
    counted_runs = f"**{count_of(len(runs), kind)}** of {tools} over {count_of(paths, 'path')}{same}"
    findings = [answer(f"{counted_runs}; {lines}.")]
    findings += _printed_quantities(printed)
    if len(unread):
        findings.append(act(f"Not every line was recognised, first {_place(study, unread)}"))
    errors = events[(events["severity"] == "error") & ~events["text"].str.startswith(f"{NO_LOG};")]
    if len(errors):
        findings.append(act(f"A file has an error: {_place(study, errors)}"))
    if differing := differing_facts(study.hosts):
        findings.append(act(f"The machines differ in {join(differing)}: a difference between paths may be theirs."))
    return Findings.of(findings + _lost(study) + _censored(study))


def _place(study: Study, events: pd.DataFrame) -> str:
    """Return place and text of the first of some events, and that there are others."""
    first = events.iloc[0]
    file = study.sources.set_index("source_id")["path"].get(first["source_id"], "")
    others = "; the page lists the others" if len(events) > 1 else ""
    return f"`{file}:{first['line']}`: {first['text']}{others}."


def _printed_quantities(printed: pd.DataFrame) -> list[Finding]:
    """Say which methods print half round trips and which print round-trip times."""
    halves = printed.loc[printed["printed_as"] == "half_round_trip", "method"]
    wholes = printed.loc[printed["printed_as"] == "round_trip", "method"]
    if len(halves) and len(wholes):
        text = (
            f"{join(halves)} {_verb(halves)} RTT/2; {join(wholes)} {_verb(wholes)} round-trip times. Compare the "
            "tables here, not the numbers in the logs."
        )
        return [act(text)]
    if len(halves):
        return [act(f"{join(halves)} {_verb(halves)} RTT/2; every table and chart here shows round-trip times.")]
    return [info(f"{join(wholes)} {_verb(wholes)} round-trip times.")] if len(wholes) else []


def _verb(methods: Sequence[object]) -> str:
    return "prints" if len(methods) == 1 else "print"


def _lost(study: Study) -> list[Finding]:
    """Say that runs lost probes, and what that means for their means and medians."""
    counts = counted_losses(study.metrics).astype(float)
    counts = counts[(counts["lost"] > 0) & counts.index.isin(set(whole_run_values(study.metrics, "rtt_mean").index))]
    shares = (counts["lost"] / counts["sent"]).sort_values(ascending=False, kind="stable")
    if not len(shares):
        return []
    text = (
        f"{count_of(len(shares), 'run')} with round-trip times lost probes, up to "
        f"{percent(shares.iloc[0], 3)} of them. A printed mean covers only the replies, while medians and percentiles "
        "from samples count a lost probe as infinite. Compare loss before latency."
    )
    return [act(text)]


def _censored(study: Study) -> list[Finding]:
    """Say that some replies are interval-censored, and which pages leave their runs out."""
    samples = counted(study.samples)
    censored = samples[bounded(samples)]
    if not len(censored):
        return []
    text = (
        f"{plain(len(censored))} replies in {count_of(censored['run_id'].nunique(), 'run')} of "
        f"{join(censored['tool'])} are interval-censored (such as `time<1ms`). Percentiles use the bounds; a median "
        "that falls among these replies is missing; the pages on distributions, tails and stability leave these runs "
        "out. Use a tool with finer resolution."
    )
    return [act(text)]
