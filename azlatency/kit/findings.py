"""Shorthand that several pages' findings share."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from azlatency.kit.cells import Ref
from azlatency.kit.objects import Finding
from azlatency.stats.across_runs.run_history import FEWEST
from azlatency.studies.format import join_words, plain

#: Most names that are listed, and most paths that a finding names; the tables list all.
_MOST_PATHS, _MOST_NAMED = 8, 3
#: Most groups of paths that the same methods measured.
_MOST_GROUPS = 3


def act(text: str) -> Finding:
    """Make a finding that asks the reader to do something."""
    return Finding("act", text)


def answer(text: str, refs: Iterable[Iterable[Ref]] = ()) -> Finding:
    """Make the finding that answers the question of a page: one sentence of at most 30 words.

    ``refs``: what its bold parts come from, in their order.
    """
    return Finding("answer", text, tuple(map(tuple, refs)))


def info(text: str) -> Finding:
    """Make a finding for information."""
    return Finding("info", text)


def join(names: Iterable[str], most: int = _MOST_PATHS) -> str:
    """Join distinct names as English does: "a", "a and b", "a, b and c"; names after the ``most``-th are "others".

    Between names that contain a comma or "and" stand semicolons.
    """
    unique = list(dict.fromkeys(names))
    if len(unique) > most:
        unique = [*unique[: most - 1], "others"]
    if any(", " in name or " and " in name for name in unique):
        return "; ".join(unique)
    return join_words(unique)


def count_or_names(paths: Iterable[str]) -> str:
    """Join the names of a few paths; of many only their number."""
    unique = list(dict.fromkeys(paths))
    return join(unique) if len(unique) <= _MOST_NAMED else f"{plain(len(unique))} paths"


def join_by_method(rows: pd.DataFrame) -> str:
    """Join the ``path`` of each ``method``, equal ones once: "a → b and c → d (ping, qperf); a → c (latte)"."""
    groups: dict[str, list[str]] = {}
    for method, paths in rows["path"].astype(str).groupby(rows["method"].astype(str), sort=False, dropna=False):
        groups.setdefault(count_or_names(paths), []).append(str(method))
    texts = [f"{names} ({', '.join(methods)})" for names, methods in groups.items()]
    return "; ".join(texts if len(texts) <= _MOST_GROUPS else [*texts[:_MOST_GROUPS], "others"])


def measured_once(typical: pd.DataFrame) -> list[Finding]:
    """Name the paths with a single run; where no path has more, the answer and the summary say so."""
    single = typical[has_flag(typical, "no_replication")]
    if len(single) in (0, len(typical)):
        return []
    methods = list(dict.fromkeys(single["method"]))
    method = f" with {join(methods)}" if len(methods) < typical["method"].nunique() else ""
    names = count_or_names(single["path"].astype(str))
    return [act(f"Measured once{method}: {names}. Repeat the runs, in rounds, before you rank the paths.")]


def hidden_levels(typical: pd.DataFrame) -> list[Finding]:
    """Warn of typical runs of series that are long enough for a history and whose runs resemble their neighbours."""
    series = typical[(typical["n"] >= FEWEST) & has_flag(typical, "dependent_runs")]
    if series.empty:
        return []
    names = join_by_method(series)
    return [
        act(f"Runs that resemble their neighbours may hide a change of level; the page *History* tests it: {names}.")
    ]


def has_flag(frame: pd.DataFrame, *names: str) -> pd.Series:
    """Return which rows of a result have one of these flags."""
    return frame["flags"].map(lambda flags: not set(names).isdisjoint(flags.split())).astype(bool)
