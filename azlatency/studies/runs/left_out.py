"""Runs whose values are not used: repeats that were cut or failed, and runs that measured nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from azlatency.logs.tables import Logs
from azlatency.studies.format import count_of, join_words, plain, printable
from azlatency.studies.runs.copies import COPIED_RUN
from azlatency.studies.runs.round_trips import has_times, latency
from azlatency.studies.runs.run_table import REVERSE, client_runs, whole_run_values
from azlatency.studies.runs.throughput import throughput
from azlatency.studies.store.study import Study

#: Statuses of runs that do not repeat a complete one, in words.
_INCOMPLETE = {"truncated": "cut", "failed": "failed", "no_data": "no data"}
#: Why a run with replies has neither a mean nor a percentile.
_BOUNDED = "RTTs below the resolution of the tool"
#: Metrics that do not make a result: counts of probes.
_COUNTS = ("sent", "received", "lost", "loss")
#: Codes of the events of tables that every answer repeats, and what stands before them.
_DOUBTFUL = {"table_cell": "rows with errors left out: ", "other_unit": ""}
_MOST = 3


def is_incomplete(runs: pd.DataFrame) -> pd.Series:
    """Return which of the runs of one path and method were cut or failed, and so repeat no other one."""
    return runs["status"].isin(list(_INCOMPLETE))


def has_complete_repeat(runs: pd.DataFrame, by: Sequence[str] = ("path", "method")) -> pd.Series:
    """Return which runs were cut or failed where another run with the same values in ``by`` is complete.

    Nothing is computed from them, nor do they decide which number of the others is.
    """
    if "status" not in runs.columns:
        return pd.Series(data=False, index=runs.index)
    incomplete = is_incomplete(runs)
    return incomplete & ~incomplete.groupby([runs[name] for name in by], dropna=False).transform("all")


def cut_in_words(cut: pd.DataFrame) -> tuple[str, ...]:
    """Return the sentence that names runs that were cut or failed, and are left out, if there are any."""
    files = cut["file"] if "file" in cut.columns else cut.index.astype(str)
    names = dict.fromkeys(f"{file} ({_INCOMPLETE[status]})" for file, status in zip(files, cut["status"], strict=True))
    return (f"{count_of(len(cut), 'run')} left out: {named([*names])}",) if names else ()


def named(names: Sequence[str], most: int = _MOST) -> str:
    """Name a few files, paths or lines."""
    return ", ".join(map(printable, names[:most])) + (", …" if len(names) > most else "")


def without_result(study: Study | Logs) -> dict[str, str]:
    """Return for each run that measured neither a time nor a rate, nor anything else, the reason in words.

    Also for one of which only bounds are known, such as a ping whose replies took less than 1 ms: it has no value.
    """
    runs, metrics = client_runs(study), study.metrics
    measured = _with_time_or_rate(study) | {*metrics.loc[~metrics["metric"].isin(_COUNTS), "run_id"]}
    sent, received = (whole_run_values(metrics, name) for name in ("sent", "received"))
    reasons = {}
    for run_id, status in runs.loc[~runs.index.isin(measured), "status"].items():
        if sent.get(run_id, 0) > 0 and received.get(run_id) == 0:
            reasons[str(run_id)] = f"no reply: {plain(sent[run_id])} of {plain(sent[run_id])} lost"
        elif status in _INCOMPLETE:
            reasons[str(run_id)] = _INCOMPLETE[status]
    times = latency(study)
    bounded = times.index[times[["mean_ns", "median_ns", "p99_ns"]].isna().all(axis=1)]
    rates = {str(run_id).removesuffix(REVERSE) for run_id in throughput(study, sender_only=True).index}
    return reasons | {str(run_id): _BOUNDED for run_id in bounded.difference([*rates])}


def measured_otherwise(study: Study | Logs) -> list[str]:
    """Return the sentence that counts the runs that measured something else, such as disks, if there are any."""
    runs = client_runs(study)
    others = runs[~runs.index.isin(_with_time_or_rate(study) | without_result(study).keys())]
    counts = others["tool"].value_counts(sort=False)
    names = join_words([f"{count_of(number, 'run')} of {tool}" for tool, number in counts.items()])
    have = "has" if len(others) == 1 else "have"
    return [f"{names} {have} no round trip or goodput; azlatency parse shows what they measured"] if names else []


def counted_once(study: Study) -> list[str]:
    """Return a line for each run that prints the values of another one, in its file or in a copy of it."""
    files, events = study.sources.set_index("source_id")["path"], study.events
    copies = events.loc[events["code"] == COPIED_RUN, ["source_id", "line", "text"]]
    return [f"{files[source]}:{line}: {text}" for source, line, text in copies.itertuples(index=False)]


def in_words(runs: pd.DataFrame, reasons: Mapping[str, str]) -> list[str]:
    """Return the sentence that names those of the runs that have no result, if any."""
    chosen = runs[runs.index.isin(list(reasons))]
    files = [f"{file} ({reasons[run_id]})" for run_id, file in chosen["file"].items()]
    return (
        [f"{count_of(len(files), 'run')} without a result left out: {named([*dict.fromkeys(files)])}"] if files else []
    )


def doubtful_rows(study: Study | Logs) -> list[str]:
    """Return a line that names cut or failed runs whose values are used, and one for the first error of each table.

    The row of a published table with an error is left out; the first odd number of a table is named, too.
    """
    whole = getattr(study, "whole", study)
    events = whole.events[whole.events["code"].isin(list(_DOUBTFUL))].drop_duplicates(["source_id", "code"])
    files = whole.sources.set_index("source_id")["path"]
    return _cut_but_used(study) + [
        f"{_DOUBTFUL[code]}{printable(files[source])}:{line}: {printable(text)}"
        for source, code, line, text in events[["source_id", "code", "line", "text"]].itertuples(index=False)
    ]


def _cut_but_used(study: Study | Logs) -> list[str]:
    """Return the sentence that names the cut or failed runs that stand for their path and method, if there are any."""
    if not study.runs["status"].isin(list(_INCOMPLETE)).any():
        return []
    used = used_runs(study)
    cut = used[is_incomplete(used)]
    names = dict.fromkeys(
        f"{file} ({_INCOMPLETE[status]})" for file, status in zip(cut["file"], cut["status"], strict=True)
    )
    have = "it has" if len(cut) == 1 else "they have"
    reason = f"because {have} no complete repeat: {named([*names])}"
    return [f"{count_of(len(cut), 'cut or failed run')} used, {reason}"] if names else []


def used_runs(study: Study | Logs) -> pd.DataFrame:
    """Return the runs whose times and rates are used; cut or failed ones only if no repeat of them is complete."""
    runs = client_runs(study)
    runs = runs[runs.index.isin(_with_time_or_rate(study))]
    return runs[~has_complete_repeat(runs)]


def _with_time_or_rate(study: Study | Logs) -> set[str]:
    frames = [latency(study)]
    if (study.metrics["metric"] == "throughput").any():
        frames.append(throughput(study, sender_only=True))
    if has_times(study, "connect"):
        frames.append(latency(study, quantity="connect"))
    return {str(run_id).removesuffix(REVERSE) for frame in frames for run_id in frame.index}
