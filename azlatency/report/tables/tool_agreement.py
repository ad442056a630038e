"""Tables of the page "Do the tools agree?"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.objects import Note, Runs, Table
from azlatency.report.tables.common import VERDICTS, between, notes_of, remarks, whole

if TYPE_CHECKING:
    from azlatency.stats.across_runs.agreement import Agreement


def agreements(found: Sequence[Agreement]) -> Table | Note:
    """Every two methods with common (path, round) pairs; ``found``: `azlatency.agreement`."""
    if not found:
        return Note("No two methods of this study measured a round trip on one path, so there is nothing to compare.")
    rows = [
        (
            each.first,
            each.second,
            f"other packets: {', '.join(each.differs_in)}" if each.differs_in else VERDICTS[each.verdict],
            whole(each.pairs),
            "" if each.ratio.estimate is None else f"{each.ratio.estimate:.3f}",
            between(each.ratio.low, each.ratio.high, form=".3f"),
            "" if each.prediction is None else between(*each.prediction, form=",.3g"),
            "" if each.tost_p is None else f"{each.tost_p:.3f}",
            remarks(code for code in each.codes if code != "type_p_mismatch"),
        )
        for each in sorted(found, key=lambda each: bool(each.differs_in))
    ]
    level = f"{100 * found[0].ratio.confidence:g} %"
    headers = (
        "first", "second", "verdict", "pairs", "ratio", f"{level} interval", "one more pair in", "p, equal", "remark",
    )  # fmt: skip
    notes = [
        f"Ratio: first ÷ second. Margin ±{100 * found[0].margin:g} %.",
        "p, equal: the larger p of two one-sided tests; a small one says equal.",
        *notes_of(code for each in found for code in each.codes),
    ]
    origins = [{0: (Runs("mean_ns"),)} for _ in rows]
    return Table("Tools beside one another (scope: across runs)", headers, rows, frozenset(range(3, 8)), notes, origins)
