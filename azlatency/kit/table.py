"""A table of a page is a frame and a dictionary: for each header, the columns of the frame and how they are written.

>>> from azlatency.kit.table import count, ends, number, table, text
>>> frame = pd.DataFrame({"path": ["a → b"], "n": [6], "ratio": [1.012], "ratio_low": [0.99], "ratio_high": [1.03]})
>>> columns = {"path": text("path"), "pairs": count("n"), "ratio": number("ratio", ".3f"),
...            "interval": ends("ratio_low", "ratio_high", ".2f")}
>>> table(frame, "Two tools", columns)
Two tools
<BLANKLINE>
path   pairs  ratio     interval
a → b      6  1.012  0.99 – 1.03
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

import pandas as pd

from azlatency.kit.cells import (
    P_VALUE,
    PLAIN,
    Column,
    Ref,
    ReportedRef,
    Row,
    RunsRef,
    Table,
    Unit,
    interval,
    is_missing,
    number_format,
    with_interval,
    words,
)
from azlatency.kit.intervals import known_ends
from azlatency.kit.titles import capitalised
from azlatency.stats.result import FLAGS, SHORT


def table(
    frame: pd.DataFrame,
    caption: str,
    columns: Mapping[str, Column],
    notes: Sequence[str] = (),
    *,
    value: str | Callable[[Row], str] = "",
    others: Callable[[Row], list[Ref]] | None = None,
    source: Callable[[Row], list[Ref]] | None = None,
) -> Table:
    """Return a table with one row per row of the frame; each flag in the frame is explained in a note.

    ``value``: what each run in the column ``run_ids`` of a row contributed, as in `RunsRef`; ``others``: what
    else a row's numbers come from; ``source``: what they come from instead.
    """
    titled = [replace(column, header=header) for header, column in columns.items()]
    flagged = " ".join(frame["flags"]) if "flags" in frame else ""
    explained = [f"{capitalised(SHORT[flag])}: {FLAGS[flag]}." for flag in dict.fromkeys(flagged.split())]
    rows: list[Row] = [{str(name): cell for name, cell in row.items()} for row in frame.to_dict("records")]

    def refs(row: Row) -> list[Ref]:
        runs = RunsRef(tuple(row["run_ids"].split()), value(row) if callable(value) else value)
        return [runs, *(others(row) if others else ())]

    return Table(caption, titled, rows, [*notes, *explained], source or (refs if "run_ids" in frame else None))


def text(
    name: str | Callable[[Row], str], missing: str = "", *, names_row: bool = False, right: bool = False
) -> Column:
    """Return a column of words: those of a column of the frame, or what a function says of a row.

    ``names_row``: they tell the rows apart; ``right``: they are set as numbers are.
    """
    say = itemgetter(name) if isinstance(name, str) else name
    return Column("", say, words(missing=missing), align="right" if right else None, names_row=names_row)


def number(name: str, spec: str = ",.4g", unit: Unit = PLAIN, missing: str = "") -> Column:
    """Return a column of numbers, in canonical units, under a format specification."""
    return Column("", itemgetter(name), number_format(spec, missing), unit)


def count(name: str) -> Column:
    """Return a column of whole numbers."""
    return number(name, ",.0f")


def ends(
    low: str, high: str, spec: str = ",.4g", unit: Unit = PLAIN, missing: str = "", *, open_end: str = ""
) -> Column:
    """Return a column of intervals; one that is too wide to say anything is not shown.

    ``open_end`` stands for an end that is missing; without it, the interval is ``missing``.
    """

    def known(row: Row) -> tuple[float | None, float | None]:
        pair = row[low], row[high]
        return pair if any(map(is_missing, pair)) else known_ends(*pair)

    return Column("", known, interval(spec, missing, no_low=open_end, no_high=open_end), unit)


def between(
    low: str,
    high: str,
    spec: str,
    unit: Unit = PLAIN,
    missing: str = "",
    *,
    no_high: str = "",
    join_equal: bool = False,
) -> Column:
    """Return a column of ranges of any width: of runs, of shares, of differences; equal ends may be one number."""
    return Column("", itemgetter(low, high), interval(spec, missing, no_high=no_high, join_equal=join_equal), unit)


def estimated(
    value: str, low: str, high: str, spec: str = ",.1f", unit: Unit = PLAIN, *, no_low: str = "", no_high: str = ""
) -> Column:
    """Return a column of values with their intervals; "–" stands for a missing value."""
    return Column("", itemgetter(value, low, high), with_interval(spec, no_low=no_low, no_high=no_high), unit)


def cited(column: Column, source: Callable[[Row], Iterable[Ref]]) -> Column:
    """Return a column whose cells name the place that their number comes from."""
    return replace(column, source=source)


def condition_ref(level: Mapping[str, Any]) -> Ref:
    """Return the runs of a row of `azlatency.stats.placement.conditions`, or the line of the text that reports it."""
    if level["origin"] == "reported":
        return ReportedRef(level["path"], "rtt_mean")
    return RunsRef(tuple(level["run_ids"].split()), level["value"])


def p_value(name: str) -> Column:
    """Return a column of p-values."""
    return Column("", itemgetter(name), P_VALUE)


def flags(*, hide: Sequence[str] = (), hide_if_decided: Sequence[str] = ()) -> Column:
    """Return the column ``flags``, in a word or two each, without those that the table says otherwise.

    ``hide_if_decided``: flags that only matter where the verdict is inconclusive.
    """

    def shown(row: Row) -> str:
        decided = row.get("verdict", "inconclusive") != "inconclusive"
        hidden = {"within_run_floor", *hide, *(hide_if_decided if decided else ())}
        return ", ".join(SHORT[code] for code in dict.fromkeys(row["flags"].split()) if code not in hidden)

    return Column("", shown)
