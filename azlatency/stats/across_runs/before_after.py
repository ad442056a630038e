"""Did something change between two imports, or between the rounds of one? Like with like only, refusals typed.

Two imports: runs are matched by path, or by placement and zones where the names of paths differ; each match is compared
as two unpaired groups of runs. Rounds of one import: the later against the earlier, paired by path, for each method.
A difference of VM size is a remark, since it may be the very change that is looked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from azlatency.stats.across_runs.comparison import compare
from azlatency.stats.across_runs.run_values import value_column
from azlatency.stats.result import Comparison, Results

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Runs of one place and tool on both sides, frames of `runs`; ``by_zone``: the paths' names differ."""

    path: str
    method: str
    after: pd.DataFrame
    before: pd.DataFrame
    by_zone: bool

    def column(self, value: str | None = None) -> str:
        """The column with one number a run that is compared: ``value``, else one that both sides fill."""
        first = value_column(self.after, value)
        return first if self.before[first].notna().any() else value_column(self.before, value)

    def values(self, value: str | None = None) -> tuple[pd.Series, pd.Series]:
        """The run values that are there, after and before."""
        column = self.column(value)
        return self.after[column].dropna(), self.before[column].dropna()


def pairings(after: pd.DataFrame, before: pd.DataFrame) -> list[Pairing]:
    """What `compare_imports` holds against each other, in the order of ``after``.

    Runs are matched by path; where the name of a path stands on one side only, by placement and zones. A path of which
    neither is known matches nothing but its own name. Nothing is matched between two regions, nor an import with
    itself.
    """
    if not len(after) or not len(before) or list(after.index) == list(before.index) or elsewhere(after, before):
        return []
    common = set(after["path"]) & set(before["path"])
    mine, theirs = (_places(frame, common) for frame in (after, before))
    found = []
    for place in dict.fromkeys(mine):
        here = after[[each == place for each in mine]]
        there = before[[each == place for each in theirs]]
        for one, other in _methods(here, there):
            x, y = here[here["method"] == one], there[there["method"] == other]
            method = one if one == other else f"{one} against {other}"
            found.append(Pairing(path=_name(x, y), method=method, after=x, before=y, by_zone=place not in common))
    return found


def compare_imports(
    after: pd.DataFrame,
    before: pd.DataFrame,
    *,
    margin: float | str = "5%",
    confidence: float = 0.95,
    value: str | None = None,
    seed: int = 0,
) -> Results[Comparison]:
    """Every place and tool that both frames of `azlatency.studies.runs` hold (`pairings`), ``after`` over ``before``.

    ``value``: the column with one number a run; by default the median, else the mean, else the throughput. Labels:
    path, method (``after`` against ``before`` where they differ), runs_after, runs_before. Places matched by zone
    numbers without physical zones are refused (``logical_zone``): zone 1 of one subscription is any zone of another.
    """
    return Results(
        compare_pairing(each, margin=margin, confidence=confidence, value=value, seed=seed)
        for each in pairings(after, before)
    )


def compare_pairing(
    pairing: Pairing,
    *,
    margin: float | str = "5%",
    confidence: float = 0.95,
    value: str | None = None,
    seed: int = 0,
) -> Comparison:
    """One row of `compare_imports`."""
    x, y, column = pairing.after, pairing.before, pairing.column(value)
    labels = {
        "path": pairing.path,
        "method": pairing.method,
        "runs_after": int(x[column].notna().sum()),
        "runs_before": int(y[column].notna().sum()),
    }
    what = f"{pairing.path}, {pairing.method}"
    result = compare(x, y, margin=margin, confidence=confidence, value=column, seed=seed, labels=labels, what=what)
    return _with_remarks(result, x, y, by_zone=pairing.by_zone)


def elsewhere(after: pd.DataFrame, before: pd.DataFrame) -> bool:
    """Whether both sides name their regions and have none in common."""
    regions = [set(side["region"].dropna()) if "region" in side else set() for side in (after, before)]
    return bool(regions[0] and regions[1] and not regions[0] & regions[1])


def _places(frame: pd.DataFrame, common: set[Any]) -> list[str]:
    """What a run is matched by: its path where both imports know it, else its placement and zones."""
    places = []
    for at in range(len(frame)):
        row = frame.iloc[at]
        if row["path"] in common:
            places.append(str(row["path"]))
            continue
        ends = [
            next((str(row[name]) for name in names if name in frame.columns and frame[name].notna().iloc[at]), "")
            for names in (("physical_zone", "zone"), ("peer_physical_zone", "peer_zone"))
        ]
        # Neither zones nor placement known: two such runs may be of any two paths.
        known = any(ends) or ("placement" in frame.columns and frame["placement"].notna().iloc[at])
        places.append(f"{row['placement']} {' '.join(sorted(ends))}" if known else str(row["path"]))
    return places


def _methods(after: pd.DataFrame, before: pd.DataFrame) -> list[tuple[str, str]]:
    """Pairs of methods of one tool: the same method where both have it, else every two that have no such partner."""
    pairs = []
    mine = dict.fromkeys(after["method"])
    for one in mine:
        tool = after.loc[after["method"] == one, "tool"].iloc[0]
        others = dict.fromkeys(before.loc[before["tool"] == tool, "method"])
        left = [other for other in others if other not in mine]
        pairs += [(str(one), str(other)) for other in ([one] if one in others else left)]
    return pairs


def _name(x: pd.DataFrame, y: pd.DataFrame) -> str:
    names = list(dict.fromkeys([*x["path"], *y["path"]]))
    return str(names[0]) if len(names) == 1 else " against ".join(map(str, names))


def _with_remarks(result: Comparison, x: pd.DataFrame, y: pd.DataFrame, *, by_zone: bool) -> Comparison:
    codes = list(result.codes)
    if min(result.labels["runs_after"], result.labels["runs_before"]) < 2:
        codes.append("no_replication")
    sizes = [set(side["vm_size"].dropna()) for side in (x, y)] if "vm_size" in x and "vm_size" in y else [set(), set()]
    if sizes[0] and sizes[1] and sizes[0] != sizes[1]:
        codes.append("other_vm")
    zoned = any("zone" in side and side["zone"].notna().any() for side in (x, y))
    physical = all("physical_zone" in side and side["physical_zone"].notna().all() for side in (x, y))
    unsound = by_zone and zoned and not physical
    if unsound:
        codes.append("logical_zone")
    codes = list(dict.fromkeys(codes))
    if not unsound:
        return replace(result, codes=tuple(codes))
    ratio = replace(result.ratio, estimate=None, low=None, high=None, codes=tuple(codes))
    return replace(result, ratio=ratio, difference=None, verdict="undetermined", p=None, codes=tuple(codes))


def compare_rounds_of(
    runs: pd.DataFrame, *, margin: float | str = "5%", confidence: float = 0.95, seed: int = 0
) -> Results[Comparison]:
    """The last round over the first, for each method that has two or more, paired by path.

    An answer for the study as a whole: "have all paths become slower?". Labels: path, method, first, last.
    """
    if not len(runs) or "round" not in runs.columns:
        return Results()
    known = runs[runs["round"].notna()]
    found = []
    for method, own in known.groupby("method", sort=False):
        rounds: Sequence[Any] = sorted(set(own["round"]))
        if len(rounds) < 2:
            continue
        column = value_column(own)
        first, last = (own[own["round"] == each].assign(round=lambda frame: frame["path"]) for each in
                       (rounds[0], rounds[-1]))  # fmt: skip
        labels = {"path": "all paths", "method": str(method), "first": rounds[0], "last": rounds[-1]}
        what = f"{method}, round {rounds[-1]} over round {rounds[0]}"
        found.append(compare(last, first, margin=margin, confidence=confidence, paired=True, value=column, what=what,
                             labels=labels, seed=seed))  # fmt: skip
    return Results(found)
