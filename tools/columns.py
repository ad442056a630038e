"""Write docs/columns.md from azlatency/logs/schema.py."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from azlatency.logs.schema import FRAMES, ROWS, TABLES, Column

PAGE = Path(__file__).parents[1] / "docs" / "columns.md"
_HEAD = """# Tables and columns

A log and an imported study have the same eight tables, as attributes of what `az.parse` and `az.load` return (`study.runs`), and as Parquet files. Times are in
nanoseconds, sizes in bytes, rates in bit/s, shares between 0 and 1. Latencies are round-trip times, whatever the tool prints. A missing value is missing, never 0.

The same texts are in `help(az.schema)`, `frame.attrs["columns"]`, the metadata of the Parquet files, and the `datapackage.json` of each study
([Frictionless Data Package](https://datapackage.org)). The source of a value is the text of the *log*, the *file* (its bytes and lines), the *manifest*
(`study.toml`), the *import*, or *computed*; a column names its source where it is not the usual one of its table.
"""


def page() -> str:
    """Return the text of the page."""
    parts = [_HEAD, *(_section(name, "##", columns) for name, columns in TABLES.items())]
    parts += ["## Frames\n", *(_section(name, "###", columns) for name, columns in FRAMES.items())]
    return "\n".join(parts)


def _section(name: str, level: str, columns: tuple[Column, ...]) -> str:
    source = Counter(column.source for column in columns).most_common(1)[0][0]
    head = [f"{level} `{name}`\n", f"{ROWS[name]} Source: *{source}*.\n"]
    return "\n".join([*head, *_items(columns, source), ""])


def _items(columns: tuple[Column, ...], source: str) -> Iterator[str]:
    """One item per column, but one for the two ends of an interval."""
    upper_ends = {column.name: column for column in columns if column.doc.startswith("Upper end")}
    for column in columns:
        if column.name in upper_ends:
            continue
        names, doc = f"`{column.name}`", column.doc
        if column.doc.startswith("Lower end"):
            upper = upper_ends[column.name.removesuffix("low") + "high"]
            interval = doc.removeprefix("Lower end of the ")
            names, doc = f"{names}, `{upper.name}`", interval[0].upper() + interval[1:]
        kinds = [column.type, column.unit, "" if column.source == source else f"*{column.source}*"]
        yield f"- {names} ({', '.join(filter(None, kinds))}): {doc}"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
