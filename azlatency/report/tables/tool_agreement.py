"""Tables of the page "Do the tools agree?"."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from azlatency.report.claim import known_ends
from azlatency.report.objects import Note
from azlatency.report.table import P_VALUE, Column, Table, interval, number, words
from azlatency.report.tables.common import (
    COUNT,
    VERDICTS,
    codes_of,
    explain,
    flags,
    from_runs,
    level,
)
from azlatency.stats.result import results_only

if TYPE_CHECKING:
    from azlatency.stats.across_runs.agreement import Agreement


@results_only
def agreements(results: Sequence[Agreement]) -> Table[Agreement] | Note:
    """Return each pair of methods with common paths and rounds; ``results`` as `agreement` returns them."""
    if not results:
        return Note("No two methods of this study measured round-trip times on the same path.")
    columns: list[Column[Agreement]] = [
        Column("first", attrgetter("first"), names_row=True),
        Column("second", attrgetter("second"), names_row=True),
        Column("verdict", _verdict),
        Column("pairs", attrgetter("pairs"), COUNT),
        Column("ratio", attrgetter("ratio.estimate"), number(".3f")),
        Column(
            f"{level(results[0].ratio.confidence)} interval",
            lambda result: known_ends(result.ratio.low, result.ratio.high),
            interval(".3f", missing="not known"),
        ),
        Column("one more pair in", lambda result: known_ends(*(result.prediction or (None, None))), interval(",.3g")),
        Column("p, equivalent", attrgetter("tost_p"), P_VALUE),
        Column("flags", lambda result: [code for code in result.codes if code != "type_p_mismatch"], words(flags)),
    ]
    notes = [
        f"Ratio: first ÷ second. Margin ±{100 * results[0].margin:g} %.",
        "p, equivalent: the larger p of two one-sided tests; a small one means equivalent.",
        *explain(codes_of(results)),
    ]
    rows = sorted(results, key=lambda result: bool(result.differs_in))
    return Table("Tools compared in pairs (scope: across runs)", columns, rows, notes, from_runs("mean_ns"))


def _verdict(result: Agreement) -> str:
    return f"different packets: {', '.join(result.differs_in)}" if result.differs_in else VERDICTS[result.verdict]
