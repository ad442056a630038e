"""Tables of the page "Before and after"."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from azlatency.kit.cells import P_VALUE, Column, FileRef, Ref, RunsRef, Table, interval, number, text, words
from azlatency.kit.claim import known_ends
from azlatency.kit.objects import Note
from azlatency.kit.units import DECIDES
from azlatency.report.tables.common import LABELLED_METHOD, LABELLED_PATH, codes_of, explain, flags, from_runs
from azlatency.stats.result import results_only

if TYPE_CHECKING:
    from azlatency.stats.result import Comparison
    from azlatency.studies.store.study import Study

_SETTINGS = {
    "region": "region",
    "vm_size": "VM size",
    "accelerated_networking": "accelerated networking",
    "date": "date",
    "emulated": "emulated",
}


class Setting(NamedTuple):
    """A setting of two imports, with the line of each manifest that states it."""

    name: str
    after: str
    before: str
    is_same: str
    after_ref: Ref
    before_ref: Ref


def settings(after: Study, before: Study) -> Table[Setting] | Note:
    """Return the settings of two imports."""
    if not before.info:
        return Note(
            "There is no other study to compare with. Name one in the parameter `other`, or as `before` in study.toml."
        )
    rows = []
    for key, title in _SETTINGS.items():
        values = [text(study.info.get(key)) for study in (after, before)]
        same = "not known" if not all(values) else "yes" if values[0] == values[1] else "no"
        refs = [FileRef("study.toml", key, before=is_before) for is_before in (False, True)]
        rows.append(Setting(title, values[0] or "not said", values[1] or "not said", same, *refs))
    counts = [f"{len(study.runs):,}" for study in (after, before)]
    rows.append(Setting("runs", counts[0], counts[1], "", _all_runs(after), _all_runs(before)))
    columns: list[Column[Setting]] = [
        Column("what", attrgetter("name")),
        Column(after.name, attrgetter("after"), source=lambda row: [row.after_ref]),
        Column(before.name, attrgetter("before"), source=lambda row: [row.before_ref]),
        Column("same?", attrgetter("is_same")),
    ]
    return Table("Two imports", columns, rows, source=lambda row: [row.after_ref, row.before_ref])


def _all_runs(study: Study) -> RunsRef:
    return RunsRef(tuple(study.runs["run_id"]), "run")


@results_only
def changes(results: Sequence[Comparison]) -> Table[Comparison] | Note:
    """Return comparisons with their verdicts; ``results`` as `compare_imports` returns them."""
    if not results:
        return Note(
            "Nothing to compare: no path was measured with the same tool on both sides, both are the same import, "
            "or their regions differ."
        )
    columns: list[Column[Comparison]] = [
        LABELLED_PATH,
        LABELLED_METHOD,
        Column("verdict", _verdict),
        Column("flags", attrgetter("codes"), words(flags)),
        Column("after against before", _sides),
        Column("ratio", attrgetter("ratio.estimate"), number(".3f")),
        Column("interval that decides", lambda row: known_ends(*row.decides[:2]), interval(".3f", missing="not known")),
        Column("p", attrgetter("p"), P_VALUE),
    ]
    notes = [f"Margin ±{100 * results[0].margin:g} %.", DECIDES, *explain(codes_of(results))]
    return Table("After over before (scope: across runs)", columns, results, notes, from_runs("typical"))


def _verdict(result: Comparison) -> str:
    return "not estimable" if result.ratio.estimate is None else result.verdict_in_words


def _sides(result: Comparison) -> str:
    return f"{result.labels['runs_after']} against {result.labels['runs_before']} runs"
