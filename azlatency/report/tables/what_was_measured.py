"""Tables of the page "What was measured"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.objects import Note, Origin, Runs, Stated, Table
from azlatency.report.tables.common import MANY_FILES, PRINTED, in_unit, text, whole

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store import Study


_MANY_PLACES = 20


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
    """Number of runs by path (rows) and method (columns); ``runs`` as `azlatency.studies.runs.run_table`."""
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
    if len(sources) > MANY_FILES:
        chosen = sources[sources["lines_unknown"] > 0].head(MANY_FILES)
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
