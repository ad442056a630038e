"""``azlatency DUMP``: what a dump of logs says, one row per path and method, without a study."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import typer

from azlatency.cli.common import Sources, command, console, folded, no_file, print_error, print_note, progress
from azlatency.cli.grid import print_table, print_text
from azlatency.studies.format import count_of, format_estimate, format_interval, format_value

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.cli.grid import Row
    from azlatency.studies.imports.in_memory import MemoryStudy

#: Columns that leave a narrow terminal, the least important one first.
_LEAVE = ("p99", "method")
_ENDING = re.compile(r"(?:\.(?:zip|tar|tgz|gz|bz2|xz|zst|7z|log|txt|json))+$", re.IGNORECASE)
_MOST_PROBLEMS = 4
#: What a row says of runs whose value is their mean: a median is another number.
_MEAN = "mean"
#: Ends of the names of files that may be tables of measurements.
_TABLES = (".csv", ".tsv")


@command("answer", "azlatency ~/dump.zip", "azlatency before.log after.log")
def answer(
    sources: Sources,
) -> None:
    """Print the median run of each path and method of a dump, with its interval. Nothing is written.

    What the names of files say about zones and repeats is applied; what is assumed is printed below the table.
    Exit code 0: at least one run was read, and no file failed; 1: no log was recognised, a log contains an error, or a
    file could not be read; 2: usage error.
    """
    with opened(sources) as study:
        print_answer(study)


@contextmanager
def opened(sources: list[str]) -> Iterator[MemoryStudy]:
    """Read logs into a study in memory, with the study.toml that their names suggest.

    Raises `LogError` if no log is recognised; ends with exit code 1, like an import, if a file could not be read or a
    log contains an error.
    """
    from azlatency.logs.parse import LogError
    from azlatency.studies.drafts.draft import draft
    from azlatency.studies.imports.in_memory import read_study
    from azlatency.studies.imports.ingest import readable

    name = _name_of(sources[0])
    with readable([Path(source) for source in sources]) as paths:
        with progress("read") as bar:
            study, summary = read_study(name, paths, bar)
        problems, others = summary.unreadable + summary.problems, summary.not_recognised
        lines = folded(problems)
        for line in lines[:_MOST_PROBLEMS]:
            print_error(line)
        if len(lines) > _MOST_PROBLEMS:
            print_error(f"and {count_of(len(lines) - _MOST_PROBLEMS, 'more line')}; azlatency check lists them")
        unknown = not_recognised(others) if others else ""
        if not summary.runs_by_tool:
            if not others and not problems:
                raise LogError(no_file(sources))
            raise LogError(f"{sources[0]}: {unknown or 'no log can be used; azlatency check lists the reasons'}")
        if others:
            print_note(unknown)
        for line in folded(summary.duplicates):
            print_note(line)
        if not study.manifest.files:
            study = study.described(draft(name, study))
        yield study
        if problems:
            raise typer.Exit(1)


def not_recognised(messages: list[str]) -> str:
    """Count files without a log, by the ends of their names; give the reason of the one that is most like a log."""
    from azlatency.logs.source.expand import path_of
    from azlatency.studies.imports.importer import most_telling

    example = most_telling(messages)
    endings = [PurePath(path_of(line)).suffix for line in messages]
    if not {*_TABLES}.isdisjoint(endings):
        example = example.removesuffix("; see azlatency parse --explain")
        example += "; azlatency check drafts what study.toml must say of a table of measurements"
    if len(messages) == 1:
        return f"no log recognised in {example}"
    kinds = Counter(ending or "without an ending" for ending in endings).most_common(_MOST_PROBLEMS)
    rest = len(messages) - sum(number for _, number in kinds)
    counts = ", ".join(f"{number} {kind}" for kind, number in [*kinds, *([("others", rest)] if rest else [])])
    return f"no log recognised in {count_of(len(messages), 'file')} ({counts}), for example {example}"


def _name_of(source: str) -> str:
    """Return a name for a study of a dump: that of its file or folder, without endings and unusual characters."""
    stem = _ENDING.sub("", Path(source).resolve().name if source != "-" else "stdin")
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-_")[:60] or "dump"


def print_answer(study: MemoryStudy) -> None:
    """Print a row per path and method, what is assumed, and the flags in words."""
    import pandas as pd

    from azlatency.stats.across_runs.main_method import asked_rates, measured_runs
    from azlatency.stats.across_runs.typical_run import summarize
    from azlatency.stats.result import explain
    from azlatency.studies.runs.assumptions import assumptions
    from azlatency.studies.runs.left_out import counted_once, measured_otherwise
    from azlatency.studies.runs.round_trips import latency
    from azlatency.studies.runs.throughput import throughput

    round_trips, streams = latency(study), throughput(study, sender_only=True)
    # What senders were told comes after what paths carry.
    paced = pd.Series([run.paced > 0 for run in measured_runs(streams)], streams.index, dtype=bool)
    streams = streams.loc[paced.sort_values(kind="stable").index]
    found = summarize(round_trips), summarize(streams, "throughput_bit_s")
    estimates = [estimate for frame in found for estimate in frame.to_dict("records")]
    runs = pd.concat([frame[["path", "scenario", "file"]] for frame in (round_trips, streams)])
    is_nameless = (runs["path"] == "? → ?") & (runs["file"].nunique() > 1)
    folders = runs["file"].map(lambda file: PurePath(file).parent.name or PurePath(file).stem)
    names = runs["scenario"].fillna(folders.where(is_nameless)).dropna()
    rows = [_row(estimate, names, round_trips["p99_ns"], asked_rates(streams)) for estimate in estimates]
    out = console()
    if rows:
        print_table(
            out, rows, texts=("path", "method"), leave=_LEAVE, names=[estimate["what"] for estimate in estimates]
        )
    else:
        from azlatency.kit.sentences import plain_sentence
        from azlatency.pages.summary import make_card

        said = plain_sentence(make_card(study).answer)
        print_text(
            out, said or "No run has a round-trip time or a network rate; azlatency parse shows what the logs contain."
        )
    if any(_MEAN in row["flags"].split(", ") for row in rows):
        print_text(out, f"{_MEAN}: the value of a run is its mean, because not every run of this method has a median")
    for line in explain(dict.fromkeys(code for estimate in estimates for code in estimate["flags"].split())):
        print_text(out, line)
    notes = dict.fromkeys(note for estimate in estimates for note in estimate["notes"].splitlines())
    others = measured_otherwise(study) if rows else []
    lines = [*assumptions(study), *folded([*notes, *counted_once(study), *others])]
    for line in lines:
        print_note(line)
    if not study.manifest.files and any("study.toml:" in line for line in lines):
        print_note("study.toml is written by: azlatency import DUMP --study NAME")


def _row(estimate: Mapping[Any, Any], names: pd.Series, tails: pd.Series, asked: pd.Series) -> Row:
    from azlatency.kit.intervals import interval_in
    from azlatency.kit.titles import span
    from azlatency.stats.result import SHORT
    from azlatency.studies.runs.path import with_label

    unit, middle, low, high = (estimate[name] for name in ("unit", "estimate", "lowest", "highest"))
    value = "" if math.isnan(middle) else format_value(middle, unit, digits=3)
    if not value and not math.isnan(low) and not math.isnan(high):
        value = format_value(low, unit) if low == high else format_interval(low, high, unit)
    ends = interval_in(estimate)
    interval = "too far apart" if not math.isnan(estimate["low"]) and ends is None else ""
    if not math.isnan(middle) and ends is not None:
        # The digits that the interval supports, in both columns.
        both = format_estimate(middle, *ends, unit, confidence=None)
        value, interval = both.removesuffix(")").split(" (")
    run_ids = estimate["run_ids"].split()
    of_runs = tails[tails.index.isin(run_ids)]
    path = with_label(str(estimate["path"]), names[names.index.isin(run_ids)].unique())
    flags = [SHORT[code] for code in estimate["flags"].split()]
    if (told := asked[asked.index.isin(run_ids)]).notna().any():
        flags.insert(0, f"{span(told.dropna(), 'bit/s')} asked for")
    if estimate["value"] == "mean_ns":
        flags.insert(0, _MEAN)
    return {
        "path": path,
        "method": str(estimate["method"]),
        "runs": str(estimate["n"]),
        "median run": value,
        "95 % CI": interval,
        "p99": _tail(float(of_runs.median()) if unit == "ns" else math.nan),
        "flags": ", ".join(flags),
    }


def _tail(value_ns: float) -> str:
    """Return a percentile; it is infinite if more probes than the share beyond it were lost."""
    if math.isnan(value_ns):
        return ""
    return "lost" if math.isinf(value_ns) else format_value(value_ns, "ns", digits=3)
