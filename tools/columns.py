"""Write docs/columns.md from azlatency/logs/schema.py."""

from collections.abc import Iterator
from pathlib import Path

from azlatency.logs.schema import FRAMES, ROWS, TABLES, Column

PAGE = Path(__file__).parents[1] / "docs" / "columns.md"
_HEAD = """# Tables and columns

A log and an imported study have the same eight tables, as attributes of what `az.parse` and `az.load` return (`study.runs`), and as Parquet files. Times are in
nanoseconds, sizes in bytes, rates in bit/s, shares between 0 and 1. Latencies are round-trip times, whatever the tool prints. A missing value is missing, never 0.

The same texts are in `help(az.schema)`, in `frame.attrs["columns"]`, in the metadata of the Parquet files, and in the `datapackage.json` of each study
([Frictionless Data Package](https://datapackage.org)). *Source* is where a value comes from: the text of the *log*, the *file* (its bytes and lines), the *manifest*
(`study.toml`), the *import*, or *computed*.
"""


def page() -> str:
    """Return the text of the page."""
    parts = [_HEAD, *(_section(name, "##", columns) for name, columns in TABLES.items())]
    parts += ["## Frames\n", *(_section(name, "###", columns) for name, columns in FRAMES.items())]
    return "\n".join(parts)


def _section(name: str, level: str, columns: tuple[Column, ...]) -> str:
    head = ["| column | type | source | meaning |", "|---|---|---|---|"]
    return "\n".join([f"{level} `{name}`\n", f"{ROWS[name]}\n", *head, *_rows(columns), ""])


def _rows(columns: tuple[Column, ...]) -> Iterator[str]:
    """One row per column, but one for the two ends of an interval."""
    ends = {column.name: column for column in columns if column.doc.startswith(("Lower end", "Upper end"))}
    for column in columns:
        names, doc = f"`{column.name}`", column.doc.replace("|", "\\|")
        upper = ends.get(column.name.removesuffix("low") + "high")
        if column.name in ends and upper is not None:
            names, doc = f"{names}, `{upper.name}`", doc.replace("Lower end", "Ends")
        if not (column.name in ends and column.doc.startswith("Upper end")):
            unit = f" ({column.unit})" if column.unit else ""
            yield f"| {names} | {column.type}{unit} | {column.source} | {doc} |"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
