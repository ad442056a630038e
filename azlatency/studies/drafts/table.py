"""The first ``[[table]]`` of a CSV file that looks like a table of measurements; see ``azlatency check``."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Sequence
from itertools import islice

from azlatency.logs.source.decode import Source
from azlatency.logs.source.large import TooLargeError
from azlatency.studies.format import printable, toml_text
from azlatency.studies.manifest.measured_table import MOMENTS, RATES
from azlatency.studies.manifest.table_rows import CELL, DATE, TableRow, table_rows

#: What a heading says about its column, in the order in which they are tried. The same key is used once.
_HINTS = (
    (r"end|ended|until", "ended_at"),
    (r"time|date|datum|zeit|fecha|day|week|month|when|timestamp|start|started", "started_at"),
    (r"(?:from|src|source|client)\W*(?:zone|az)|(?:zone|az)\W*(?:from|src|source|client)", "zone"),
    (r"(?:to|dst|dest|target|server|peer)\W*(?:zone|az)|(?:zone|az)\W*(?:to|dst|dest|target|server|peer)", "peer_zone"),
    (r"from|src|source|client|origin|sender|von", "client"),
    (r"to|dst|dest|destination|target|server|peer|receiver|nach", "server"),
    (r"region", "region"),
    (r"zone|az", "zone"),
    (r"p50|median", "rtt_median"), (r"p99", "rtt_p99"), (r"p95", "rtt_p95"), (r"p90", "rtt_p90"),
    (r"p99\.9", "rtt_p99.9"), (r"min|minimum", "rtt_min"), (r"max|maximum", "rtt_max"),
    (r"throughput|bandwidth|goodput|[kmg]bps|[kmg]bit/s", "throughput"), (r"loss", "loss"),
    (r"rtt|latency|ping|avg|average|mean|mittel|ms|us|µs", "rtt_mean"),
)  # fmt: skip
_UNIT = re.compile(r"(?<![a-zµμ])(?P<unit>ns|us|µs|μs|ms|[kmg]bit/s|[kmg]bps)(?![a-zµμ])", re.IGNORECASE)
_TIME = re.compile(r"\d{4}|\d\d?[./]\d\d?[./]\d\d")
_MOST_ROWS = 100


def draft_table(source: Source, name: str) -> list[str]:
    """Return a ``[[table]]`` for a file that looks like a table of measurements, and what it asks; empty for another.

    What a heading does not say is a comment, and so is whether the times are round trips.
    """
    try:
        rows = [row for row in islice(table_rows(source), _MOST_ROWS) if any(row.cells)]
    except (csv.Error, TooLargeError):
        return []
    at = next((at for at in range(len(rows) - 1) if _is_heading(rows[at], rows[at + 1])), None)
    if at is None:
        return []
    head = rows[at]
    below = [row.cells for row in rows[at + 1 :] if len(row.cells) == len(head.cells)]
    columns: dict[str, str] = {}
    times: list[str] = []
    left = []
    for heading, *cells in zip(head.cells, *below, strict=True):
        key = _hinted(heading, cells, columns)
        if key and heading:
            columns[key] = heading
            times += cells if key in MOMENTS else []
        elif heading:
            left.append(heading)
    said = ", ".join(f'{_toml_key(key)} = "{toml_text(heading)}"' for key, heading in columns.items())
    lines = ["[[table]]", f'file = "{toml_text(name)}"', f"columns = {{{said}}}"]
    if left:
        lines.append(f"# not used: {', '.join(map(printable, left))}"[:200])
    rtts = [name for name in columns if name.startswith("rtt_")]
    for key, names in (("unit", rtts), ("rate_unit", [name for name in columns if name == "throughput"])):
        units = [match["unit"] for each in names if (match := _UNIT.search(columns[each].replace("_", " ")))]
        if units:
            lines.append(f'{key} = "{units[0]}"')
        elif names:
            lines.append(f'# {key} = "…"   # the unit of {printable(columns[names[0]])}')
    if rtts:
        lines.append("# round_trip = true   # or false: half round trips. Ask who measured")
    if head.first_line > 1:
        lines.append(f"headings = {head.first_line}")
    if any("," in cell for cells in below for cell in cells if CELL.fullmatch(cell)):
        lines.append('# decimal = ","   # or ".": what the comma in a number is')
    if any(times) and not all(DATE.match(time) for time in times if time):
        lines.append(f'# time_format = "%d.%m.%Y"   # how {printable(next(filter(None, times)))} is written')
    lines.append('# window = "30 d"   # if each number is about so long a time')
    return lines


def _is_heading(row: TableRow, below: TableRow) -> bool:
    texts = [cell for cell in row.cells if cell]
    return len(texts) > 1 and not any(map(CELL.fullmatch, texts)) and any(map(CELL.fullmatch, below.cells))


def _hinted(heading: str, cells: Sequence[str], taken: Collection[str]) -> str | None:
    """Return the key of a column by its heading and its cells; None if they do not say one, or another has it."""
    words = heading.replace("_", " ")
    for hint, key in _HINTS:
        if key in taken or not re.search(rf"(?<![^\W\d])(?:{hint})(?![\w.])", words, re.IGNORECASE):
            continue
        if key in MOMENTS:
            fits = any(map(_TIME.search, cells))
        else:
            fits = not (key.startswith("rtt_") or key in RATES or key == "loss") or any(map(CELL.fullmatch, cells))
        if fits:
            return key
    return None


def _toml_key(key: str) -> str:
    return f'"{key}"' if "." in key else key
