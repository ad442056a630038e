"""What the names of a dump suggest about its runs, and the questions whose answers complete its ``study.toml``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from azlatency.logs.tables import Logs
from azlatency.studies.drafts.draft import described_by_names, draft, literal, quoted
from azlatency.studies.format import printable
from azlatency.studies.runs.path import route
from azlatency.studies.runs.run_table import client_runs

_SHOWN = 4
_MOST_SHAPES = 24
_NUMBER = re.compile(r"[0-9]+")


class Group(NamedTuple):
    """Runs that count as repeats of each other: their path, method and message size, treatment and number."""

    path: str
    method: str
    size: str
    treatment: str
    repeats: int


@dataclass(frozen=True)
class Question:
    """A question, the names that caused it, the possible answers (any text if there are none) and the default."""

    text: str
    names: Sequence[str]
    answers: Sequence[str]
    default: str


def groups(logs: Logs, paths: Sequence[str]) -> list[Group]:
    """Return which runs would repeat each other with the drafted ``study.toml``, the most repeated first.

    ``paths`` are those of the sources.
    """
    by_source = {row["source_id"]: row["path"] for row in logs.rows["sources"]}
    values = described_by_names(logs, paths)
    described = Logs({**logs.rows, "runs": []})
    for row in logs.rows["runs"]:
        of_name = values.get(by_source[row["source_id"]], {})
        described.rows["runs"].append({**row, **{name: of_name[name] for name in of_name if not row.get(name)}})
    runs = client_runs(described)
    sizes = [f"{size:.0f} B" if size > 0 else "" for size in runs["message_bytes"].astype(float)]
    ends = [route(*names) for names in zip(runs["client_end"].fillna("?"), runs["server_end"].fillna("?"), strict=True)]
    treatments = runs["scenario"].astype(object).where(runs["scenario"].notna(), "")
    keys = list(zip(ends, runs["method"], sizes, treatments, strict=True))
    return [Group(*key, repeats) for key, repeats in Counter(keys).most_common()]


def questions(logs: Logs, paths: Sequence[str]) -> dict[str, Question]:
    """Return what the names leave open, at most three questions; the default answer of each pools nothing."""
    asked = {}
    values = described_by_names(logs, paths)
    treatments = {of_name["scenario"]: path for path, of_name in values.items() if of_name.get("scenario")}
    if treatments:
        text = "Were these measured under different conditions? With no, runs of the same path and method are repeats"
        names = [f"{words} ({path})" for words, path in treatments.items()]
        asked["treatments"] = Question(text, names, ("yes", "no"), "yes")
    open_paths = _without_client(logs, paths)
    if len(_numbers(open_paths)) > 1:
        text = "The logs do not name the client. Is the number in the names the client, or a repeat?"
        asked["number"] = Question(text, open_paths, ("client", "repeat", "neither"), "neither")
    if open_paths:
        text = "Which machine was the client of all these logs? Leave it empty if there were several"
        asked["client"] = Question(text, open_paths, (), "")
    return asked


def answered(name: str, logs: Logs, paths: Sequence[str], ask: Callable[[Question], str]) -> str:
    """Ask what the names leave open, and return the ``study.toml``."""
    asked = questions(logs, paths)
    answers: dict[str, str] = {}
    for key, question in asked.items():
        if key != "client" or answers.get("number") != "client":
            answers[key] = ask(question).strip()
    entries: list[str] = []
    if (kind := answers.get("number")) in ("client", "repeat"):
        field = "zone" if kind == "client" else "repeat"
        shapes = dict.fromkeys(_shape(path, field) for path in asked["number"].names)
        entries += [f'[[run]]\npattern = "{quoted(shape)}"' for shape in shapes if shape][:_MOST_SHAPES]
    if client := answers.get("client"):
        named = ", ".join(f'"{quoted(literal(path))}"' for path in asked["client"].names)
        entries.append(f'[[run]]\nlog = [{named}]\nclient = "{quoted(client)}"')
    text = draft(name, logs, paths, treatments=answers.get("treatments") != "no")
    return text + "".join(f"\n{entry}\n" for entry in entries)


def shown(question: Question) -> str:
    """Return the names that caused a question, the first few."""
    names = [printable(name) for name in question.names[:_SHOWN]]
    more = len(question.names) - len(names)
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def _without_client(logs: Logs, paths: Sequence[str]) -> list[str]:
    """Return the logs of runs whose client neither the log nor its name says."""
    by_source = {row["source_id"]: row["path"] for row in logs.rows["sources"]}
    values = described_by_names(logs, paths)
    found: dict[str, None] = {}
    for row in logs.rows["runs"]:
        path = by_source[row["source_id"]]
        if not (row.get("client") or row.get("zone") or {"zone", "client", "region"} & set(values.get(path, {}))):
            found[path] = None
    return list(found)


def _numbers(paths: Sequence[str]) -> set[str]:
    """Return the last numbers in the names of files, if each name has one."""
    found = [_NUMBER.findall(PurePosixPath(path).stem) for path in paths]
    return {numbers[-1] for numbers in found} if all(found) else set()


def _shape(path: str, field: str) -> str:
    """Return the pattern of a name whose last number is a field; empty if it cannot be written as one."""
    name = path.rpartition("/")[2]
    stem, suffix = PurePosixPath(name).stem, PurePosixPath(name).suffix
    match = list(_NUMBER.finditer(stem))[-1]
    if set("{}*") & set(name) or not (stem[: match.start()] + suffix):
        return ""
    return f"{stem[: match.start()]}{{{field}}}{stem[match.end() :]}{suffix}"
