"""Tables of the page "Before and after"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.objects import Note, Origin, Runs, Stated, Table
from azlatency.report.tables.common import VERDICTS, between, notes_of, remarks, text, whole

if TYPE_CHECKING:
    from azlatency.stats.result import Comparison, Estimate
    from azlatency.stats.within_run.distribution_shape import ShiftFunction
    from azlatency.studies.store import Study


def settings(after: Study, before: Study) -> Table | Note:
    """What two imports say of their circumstances, side by side."""
    if not before.info:
        return Note(
            "There is no other study to compare with: name one in the parameter `other`, or as `before` in study.toml."
        )
    names = {
        "region": "region", "vm_size": "VM size", "accelerated_networking": "accelerated networking", "date": "date",
        "emulated": "emulated",
    }  # fmt: skip
    rows: list[tuple[str, ...]] = []
    for key, title in names.items():
        one, other = (text(study.info.get(key)) for study in (after, before))
        same = "not known" if not one or not other else "yes" if one == other else "no"
        rows.append((title, one or "not said", other or "not said", same))
    counts = [whole(len(study.runs)) for study in (after, before)]
    said = [(Stated("study.toml", key), Stated("study.toml", key, before=True)) for key in names]
    origins: list[dict[int, Sequence[Origin]]] = [{0: both, 1: both[:1], 2: both[1:]} for both in said]
    rows.append(("runs", *counts, ""))
    origins.append({0: (Runs("run", every=True), Runs("run", every=True, before=True))})
    return Table("Two imports side by side", ("what", after.name, before.name, "same?"), rows, origins=origins)


def changes(found: Sequence[Comparison]) -> Table | Note:
    """Comparisons with their verdicts and refusals; ``found``: `azlatency.compare_imports` or `compare_rounds_of`."""
    if not found:
        return Note(
            "Nothing to compare: no path was measured by one tool on both sides (or in two rounds), or both sides are "
            "the same import, or they are of different regions."
        )
    rows = [
        (
            str(each.labels["path"]),
            str(each.labels["method"]),
            "refused" if each.ratio.estimate is None else VERDICTS[each.verdict],
            remarks(each.codes),
            _sides(each),
            "" if each.ratio.estimate is None else f"{each.ratio.estimate:.3f}",
            between(each.ratio.low, each.ratio.high, form=".3f"),
            "" if each.p is None else f"{each.p:.3f}",
        )
        for each in found
    ]
    level = f"{100 * found[0].ratio.confidence:g} %"
    headers = ("path", "method", "verdict", "reason", "after against before", "ratio", f"{level} interval", "exact p")
    notes = [f"Margin ±{100 * found[0].margin:g} %.", *notes_of(code for each in found for code in each.codes)]
    origins = [{0: _compared(each)} for each in found]
    return Table("After over before (scope: across runs)", headers, rows, frozenset({5, 6, 7}), notes, origins)


def _compared(each: Comparison) -> tuple[Origin, ...]:
    """The runs of two rounds, or of the paths and methods that the row names on both sides."""
    if "first" in each.labels:
        rounds = (str(each.labels["first"]), str(each.labels["last"]))
        return (Runs("typical", method=str(each.labels["method"]), rounds=rounds),)
    return Runs("typical"), Runs("typical", before=True)


def _sides(each: Comparison) -> str:
    if "first" in each.labels:
        return f"round {each.labels['last']} against {each.labels['first']}, {each.ratio.n} paths"
    return f"{each.labels['runs_after']} against {each.labels['runs_before']} runs"


def lattice(margin: str) -> Table:
    """What each verdict means: the interval against 1, and against the margin."""
    rows = (
        ("different", "leaves 1 out", "is exceeded", "a change that may matter"),
        ("different, but within the margin", "leaves 1 out", "is kept", "a change too small to matter"),
        ("equal in practice", "holds 1", "is kept", "no change that matters"),
        ("undetermined", "holds 1", "is exceeded", "both are possible: measure more"),
        ("refused", "none", "–", "not comparable, or one run"),
    )
    headers = ("verdict", "the interval", f"the margin, {margin}", "in words")
    return Table("The verdicts", headers, rows)


def shift_functions(found: Sequence[ShiftFunction]) -> Table | Note:
    """Last round over first at some percentiles, one row two runs; ``found``: `azlatency.shapes.shift_functions`."""
    if not found:
        return Note("No path of this study left samples of two rounds by one method.")
    shown = [level for level in found[0].levels if level.labels["q"] in (0.1, 0.5, 0.9, 0.95, 0.99)]
    names = [float(level.labels["q"]) for level in shown]
    rows = []
    for each in found:
        by_level = {float(level.labels["q"]): level.ratio for level in each.levels}
        cells = [_ratio(by_level.get(q)) for q in names]
        sizes = f"{each.sizes[0]:,} and {each.sizes[1]:,}"
        rows.append((each.path, each.method, f"{each.last} ÷ {each.first}", sizes, *cells))
    codes = [code for each in found for level in each.levels for code in level.codes]
    headers = ("path", "method", "runs", "packets", *(f"p{100 * q:g}" for q in names))
    title = "Two runs, percentile by percentile (scope: within run)"
    origins = [
        {0: (Runs("samples", each.path, each.method, rounds=tuple(name.removeprefix("round ") for name in both)),)}
        for each in found
        for both in [(each.first, each.last)]
    ]
    return Table(title, headers, rows, frozenset(range(4, 4 + len(names))), notes_of(codes), origins)


def _ratio(ratio: Estimate | None) -> str:
    if ratio is None or ratio.estimate is None:
        return "no answer"
    ends = between(ratio.low, ratio.high, form=".2f")
    return f"{ratio.estimate:.3f}" + (f" ({ends})" if ends else "")
