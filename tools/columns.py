"""Write docs/columns.md from azlatency/logs/schema.py."""

from pathlib import Path

from azlatency.logs.schema import FRAMES, ROWS, TABLES, Column

PAGE = Path(__file__).parents[1] / "docs" / "columns.md"
_HEAD = """# Tables and columns

A log and an imported study have the same eight tables, as attributes of what `az.parse` and `az.load` return (`study.runs`), and as Parquet files. Times are in
nanoseconds, sizes in bytes, rates in bit/s, shares between 0 and 1. Latencies are round-trip times, whatever the tool prints. A missing value is missing, never 0.

The same texts are in `help(az.schema)`, in `frame.attrs["columns"]`, in the metadata of the Parquet files, and in the `datapackage.json` of each study
([Frictionless Data Package](https://datapackage.org)). *Source* is where a value comes from: the text of the *log*, the *file* as a whole (its bytes and lines),
the *manifest* (`study.toml`), the *import*, or *computed* from others.
"""


def page() -> str:
    """Return the text of the page."""
    parts = [_HEAD, *(_section(f"`{name}`", name, columns) for name, columns in TABLES.items())]
    parts += ["## Frames\n", *(_section(f"`{name}`", name, columns) for name, columns in FRAMES.items())]
    return "\n".join(parts)


def _section(title: str, name: str, columns: tuple[Column, ...]) -> str:
    level = "##" if name in TABLES else "###"
    rows = [
        f"| `{column.name}` | {column.type} | {column.unit} | {column.source} | {column.doc.replace('|', chr(92) + '|')} |"
        for column in columns
    ]
    head = ["| column | type | unit | source | meaning |", "|---|---|---|---|---|"]
    return "\n".join([f"{level} {title}\n", f"{ROWS[name]}\n", *head, *rows, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
