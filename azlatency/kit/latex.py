"""Tables for a paper: LaTeX with the packages booktabs and siunitx."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from azlatency.kit.cells import Column, Table

Uncertainty = Literal["compact", "limits"]
_UNITS = {
    "µs": r"\micro\second", "ms": r"\milli\second", "s": r"\second", "%": r"\percent",
    "Gbit/s": r"\giga\bit\per\second", "Mbit/s": r"\mega\bit\per\second",
}  # fmt: skip
_SPECIAL = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", "→": r"$\rightarrow$", "↔": r"$\leftrightarrow$", "←": r"$\leftarrow$",
    "×": r"$\times$", "±": r"$\pm$", "≥": r"$\geq$", "≤": r"$\leq$", "∞": r"$\infty$", "−": "$-$", "–": "--",
    "µ": r"\textmu{}", "…": r"\dots{}", "½": r"$\frac{1}{2}$", "²": r"\textsuperscript{2}",
}  # fmt: skip
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
#: A cell of an aligned column: a number, with its uncertainty in the last digits, or nothing.
_NUMERIC = re.compile(r"(?:-?[\d.]+(?:\(\d+\))?)?")


def table_latex(table: Table, uncertainty: Uncertainty, label: str) -> str:
    """Write a table as a ``table`` environment; see `azlatency.kit.cells.Table.to_latex`."""
    columns = _merged(table.columns) if uncertainty == "compact" else list(table.columns)
    cells = [[_cell(column, row, uncertainty) for column in columns] for row in table.rows]
    aligned = [
        column.is_right and all(_NUMERIC.fullmatch(row[index]) for row in cells) and any(row[index] for row in cells)
        for index, column in enumerate(columns)
    ]
    spec = "".join(
        "S" if numbers else "r" if column.is_right else "l" for column, numbers in zip(columns, aligned, strict=True)
    )
    head = " & ".join(f"{{{_header(column)}}}" for column in columns)
    body = [
        " & ".join(f"{{{cell}}}" if numbers and not cell else cell for cell, numbers in zip(row, aligned, strict=True))
        + r" \\"
        for row in cells
    ]
    notes = [escape_latex(note) for note in table.notes]
    compact = uncertainty == "compact" and any(len(column.format.parts) == 3 for column in columns)
    if compact:
        notes.append("In parentheses: distance to the farther end of the interval, in units of the last digits.")
    return "\n".join(
        [
            r"% \usepackage{booktabs,siunitx}",
            r"\begin{table}",
            r"\centering",
            f"\\caption{{{' '.join([escape_latex(table.caption) + '.', *notes])}}}",
            *([f"\\label{{{label}}}"] if label else []),
            f"\\begin{{tabular}}{{{spec}}}",
            r"\toprule",
            head + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _merged(columns: Sequence[Column]) -> list[Column]:
    """Return the columns with a number and the column of its interval as one."""
    merged: list[Column] = []
    for column in columns:
        before = merged[-1] if merged else None
        if (
            before is not None
            and column.format.parts == ("low", "high")
            and before.format.parts == ("",)
            and ("interval" in column.header and before.unit == column.unit)
        ):
            merged[-1] = _with_ends(before, column)
        else:
            merged.append(column)
    return merged


def _with_ends(point: Column, ends: Column) -> Column:
    """Return a column of a number and the ends of its interval."""

    def shown(value: tuple[Any, tuple[Any, Any]], scale: float) -> tuple[str, ...]:
        return point.format.text(value[0], scale), *ends.format.shown(value[1], scale)

    def numbers(value: tuple[Any, tuple[Any, Any]]) -> tuple[Any, ...]:
        return *point.format.numbers(value[0]), *ends.format.numbers(value[1])

    def text(value: tuple[Any, tuple[Any, Any]], scale: float) -> str:
        return point.format.text(value[0], scale)

    joined = replace(point.format, parts=("", "low", "high"), numbers=numbers, text=text, pieces=shown)
    return replace(point, value=lambda row: (point.value(row), ends.value(row)), format=joined)


def escape_latex(text: str) -> str:
    """Escape what LaTeX reads as a command, and write signs that not every font has as commands."""
    return "".join(_SPECIAL.get(char, char) for char in text)


def _header(column: Column) -> str:
    unit = _UNITS.get(column.unit.name)
    return f"{escape_latex(column.header)} (\\unit{{{unit}}})" if unit else escape_latex(column.title)


def _cell(column: Column, row: Any, uncertainty: Uncertainty) -> str:
    value = column.value(row)
    if len(column.format.parts) == 3:
        point, low, high = (each if isinstance(each, int | float) else None for each in column.numbers(row))
        shown = [_plain(cell) for cell in column.format.shown(value, column.unit.scale)]
        if point is not None and low is not None and high is not None and math.isfinite(high - low):
            return (
                with_uncertainty(point, low, high)
                if uncertainty == "compact"
                else f"{shown[0]} [{shown[1]}, {shown[2]}]"
            )
        return escape_latex(" ".join(filter(None, shown[:1])))
    return escape_latex(_plain(column.format.text(value, column.unit.scale)))


def _plain(cell: str) -> str:
    """Return a number without its commas, which siunitx would not read; any other text as it is."""
    return cell.replace(",", "") if _NUMBER.fullmatch(cell) else cell


def with_uncertainty(point: float, low: float, high: float) -> str:
    """Return ``444.0(31)``: a number, and the distance to the farther end of its interval in units of its last digits.

    The distance has one significant digit, or two if the first is 1 or 2, and is rounded up.
    """
    distance = max(high - point, point - low)
    if not distance > 0:
        return f"{point:.6g}" if "e" not in f"{point:.6g}" else f"{point:.0f}"
    exponent = math.floor(math.log10(distance))
    exponent -= distance / 10.0**exponent < 3
    steps = math.ceil(round(distance / 10.0**exponent, 6))
    decimals = max(-exponent, 0)
    digits = steps * 10 ** max(exponent, 0)
    return f"{round(point / 10.0**exponent) * 10.0**exponent:.{decimals}f}({digits})"
