"""Tables on a terminal of any width. A cell is never cropped, because half a number is another number.

If a table is too wide, its less important columns go first, the flags move below it, and at last each row becomes a
block of lines. A pipe has no width: there, every row is one line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from azlatency.studies.format import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    Row = Mapping[str, str]

#: The column that moves below a narrow table.
FLAGS = "flags"
_GAP = "  "


def print_table(
    out: Console,
    rows: Sequence[Row],
    *,
    texts: Sequence[str] = (),
    leave: Sequence[str] = (),
    names: Sequence[str] = (),
    styles: Sequence[str] = (),
) -> list[str]:
    """Print rows of cells by header, as wide as the terminal; columns without a value are left out.

    Returns the columns that leave the table because the terminal is too narrow: those of ``leave``, the least important
    one first; `FLAGS` moves below it. Columns of ``texts`` are aligned to the left and may wrap between words; one of
    them leaves only if it says the same of every row, which then stands below the table.
    ``names``: what the flags below a table call each row; ``styles``: of the first cell of each row.
    """
    if not rows:
        return []
    width = out.width if out.file.isatty() else None
    safe = [{header: printable(cell) for header, cell in row.items()} for row in rows]
    lines, left = _lines(safe, width, texts, leave, list(map(printable, names)), styles or [""] * len(rows))
    for line in lines:
        out.print(line, soft_wrap=True)
    return left


def print_text(out: Console, text: str, style: str = "") -> None:
    """Print a line of text, wrapped between words on a terminal and whole in a pipe."""
    from rich.text import Text

    safe = printable(text)
    for line in wrap(safe, out.width) if out.file.isatty() else [safe]:
        out.print(Text(line, style=style), soft_wrap=True)


def _lines(
    rows: Sequence[Row],
    width: int | None,
    texts: Sequence[str],
    leave: Sequence[str],
    names: Sequence[str],
    styles: Sequence[str],
) -> tuple[Iterator[Text], list[str]]:
    """Return the lines of the widest form of a table that fits, and the columns that it leaves out."""
    headers = [header for header in rows[0] if any(row[header] for row in rows)]
    leave = [header for header in leave if header in headers]
    if width is None:
        return _grid(rows, headers, _natural_widths(rows, headers), texts, styles), []
    stages = [[header for header in headers if header not in leave[:count]] for count in range(len(leave) + 1)]
    # A column that says something of a row which it does not say of another one stays.
    telling = {text for text in texts if len({row.get(text, "") for row in rows}) > 1}
    stages = [columns for columns in stages if telling <= set(columns)]
    for wrapping in ((), texts):
        for columns in stages:
            widths = _fitted_widths(rows, columns, width, wrapping)
            if widths is not None:
                left = [header for header in leave if header not in columns]
                grid = _grid(rows, columns, widths, texts, styles)
                return _with_rest(grid, rows, left, width, names, texts), left
    return _blocks(rows, headers, width, styles), []


def _natural_widths(rows: Sequence[Row], columns: Sequence[str]) -> dict[str, int]:
    from rich.cells import cell_len

    return {column: max(cell_len(text) for text in (column, *(row[column] for row in rows))) for column in columns}


def _fitted_widths(
    rows: Sequence[Row], columns: Sequence[str], width: int, wrapping: Sequence[str]
) -> dict[str, int] | None:
    """Return the widths of the columns, or None if they do not fit; a cell wraps into two lines at most."""
    from rich.cells import cell_len

    natural = _natural_widths(rows, columns)
    least = natural | {
        column: max(cell_len(column), *map(_half_width, {row[column] for row in rows}))
        for column in columns
        if column in wrapping
    }
    spare = width - sum(least.values()) - len(_GAP) * (len(columns) - 1)
    if spare < 0:
        return None
    widths = {}
    for column in columns:
        more = min(spare, natural[column] - least[column])
        widths[column] = least[column] + more
        spare -= more
    return widths


def _half_width(text: str) -> int:
    """Return the smallest width at which a text has two lines."""
    from rich.cells import cell_len

    words = text.split()
    splits = ((" ".join(words[:place]), " ".join(words[place:])) for place in range(len(words) + 1))
    return min(max(map(cell_len, lines)) for lines in splits)


def _grid(
    rows: Sequence[Row], columns: Sequence[str], widths: Mapping[str, int], texts: Sequence[str], styles: Sequence[str]
) -> Iterator[Text]:
    """Yield the header and the lines of each row."""
    from rich.cells import cell_len
    from rich.text import Text

    def aligned(cell: str, column: str) -> str:
        blanks = " " * (widths[column] - cell_len(cell))
        return cell + blanks if column in texts or column == columns[0] else blanks + cell

    yield Text(_GAP.join(aligned(column, column) for column in columns).rstrip(), style="bold")
    for row, style in zip(rows, styles, strict=True):
        wrapped = {
            column: wrap(row[column], widths[column]) if column in texts else [row[column]] for column in columns
        }
        for number in range(max(map(len, wrapped.values()))):
            cells = [aligned("".join(lines[number : number + 1]), column) for column, lines in wrapped.items()]
            yield Text.assemble((cells[0], style), _GAP.join(["", *cells[1:]]).rstrip())


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Wrap a text between words; a word that is wider than the lines keeps its line."""
    from rich.cells import cell_len

    lines: list[str] = []
    for word in text.split():
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append((indent if lines else "") + word)
    return lines or [""]


def _with_rest(
    grid: Iterator[Text],
    rows: Sequence[Row],
    left: Sequence[str],
    width: int,
    names: Sequence[str],
    texts: Sequence[str],
) -> Iterator[Text]:
    """Yield a table, and below it what has no column: flags, texts that are those of every row, names of the rest."""
    from rich.text import Text

    yield from grid
    notes = []
    if FLAGS in left:
        named: dict[str, list[str]] = {}
        for name, row in zip(names, rows, strict=True):
            named.setdefault(row[FLAGS], []).append(name)
        notes += [
            f"flags of {'every row' if len(those) == len(rows) else '; '.join(those)}: {flags}"
            for flags, those in named.items()
            if flags
        ]
    notes += [f"{header} of every row: {rows[0][header]}" for header in left if header in texts and header != FLAGS]
    if hidden := [header for header in left if header not in (FLAGS, *texts)]:
        notes.append(f"columns left out at this width: {', '.join(hidden)}")
    for note in notes:
        yield from map(Text, wrap(note, width, indent=_GAP))


def _blocks(rows: Sequence[Row], headers: Sequence[str], width: int, styles: Sequence[str]) -> Iterator[Text]:
    """Yield each row as a block of lines, one per cell."""
    from rich.text import Text

    for row, style in zip(rows, styles, strict=True):
        for header in headers:
            if row[header]:
                first, *rest = wrap(f"{header}: {row[header]}", width, indent=_GAP)
                yield Text(first, style=style if header == headers[0] else "")
                yield from map(Text, rest)
        yield Text()
