"""The first ``[[table]]`` of a CSV file that looks like a table of measurements; see ``azlatency check``."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from azlatency.logs.source.decode import Source
from azlatency.logs.source.large import TooLargeError
from azlatency.studies.format import printable, toml_text
from azlatency.studies.manifest.measured_table import MOMENTS
from azlatency.studies.manifest.table_rows import CELL, DATE, TableRow, table_rows, unit_in

#: What a heading says about its column, in the order in which they are tried. The same key is used once.
_HINTS = (
    (r"end|ended|until", "ended_at"),
    (r"time|date|datum|zeit|fecha|day|week|month|when|timestamp|start|started", "started_at"),
    (r"(?:from|src|source|client)\W*(?:zone|az)|(?:zone|az)\W*(?:from|src|source|client)", "zone"),
    (r"(?:to|dst|dest|target|server|peer)\W*(?:zone|az)|(?:zone|az)\W*(?:to|dst|dest|target|server|peer)", "peer_zone"),
    (r"(?:from|src|source|client|sending)\W*region|region\W*(?:from|src|source)", "region"),
    (r"(?:to|dst|dest|target|server|peer|receiving|destination)\W*region|region\W*(?:to|dst)", "peer_region"),
    (r"from|src|source|client|origin|sender|von", "client"),
    (r"to|dst|dest|destination|target|server|peer|receiver|nach", "server"),
    (r"region", "region"),
    (r"zone|az", "zone"),
    (r"p50|median", "rtt_median"), (r"p99", "rtt_p99"), (r"p95", "rtt_p95"), (r"p90", "rtt_p90"),
    (r"p99\.9", "rtt_p99.9"), (r"min|minimum", "rtt_min"), (r"max|maximum", "rtt_max"),
    (r"throughput|bandwidth|goodput|durchsatz|[kmg]bps|[kmg]bit/s", "throughput"), (r"loss|verlust|perte", "loss"),
    (r"avg|average|mean|mittel|mittelwert|moyenne", "rtt_mean"),
    (r"rtt|latency|ping|ms|us|µs|msec|milliseconds", "rtt_mean"),
)  # fmt: skip
#: Spreads, counts and moments are no round trips.
_NO_TIME = r"ts|epoch|timestamp|std|stddev|stdev|sd|dev|deviation|jitter|mdev|var|variance|count|n|loss"
_PLACE = frozenset({"client", "server", "zone", "peer_zone", "region", "peer_region"})
_TIME = re.compile(r"\d{4}|\d\d?[./]\d\d?[./]\d\d")
#: A date that could be a number with separators, too.
_DAY = re.compile(r"\d\d?[./]\d\d?[./](?:\d\d)?\d\d")
_MOST_ROWS, _MOST_COLUMNS = 100, 200


def draft_table(source: Source, name: str) -> list[str]:
    """Return a ``[[table]]`` for a file that looks like a table of measurements, and what it asks; empty for another.

    What a heading does not say is a comment, and so is whether the times are round trips.
    """
    try:
        rows = [row for row in islice(table_rows(source), _MOST_ROWS) if any(row.cells)]
    except (csv.Error, TooLargeError):
        return []
    at = _headings_at(rows)
    if at is None or len(rows[at].cells) > _MOST_COLUMNS:
        return []
    head = rows[at]
    below = [row.cells for row in rows[at + 1 :] if len(row.cells) == len(head.cells)]
    cells = dict(enumerate(zip(*below, strict=True))) if below else {}
    columns = _columns_of(head, cells)
    left = [heading for place, heading in enumerate(head.cells) if heading and place not in columns.values()]
    times = [time for key, place in columns.items() if key in MOMENTS for time in cells.get(place, ())]
    headings = {key: head.cells[place] for key, place in columns.items()}
    named = {
        key: f'"{toml_text(heading)}"' if head.cells.count(heading) == 1 else str(columns[key] + 1)
        for key, heading in headings.items()
    }
    dates = [heading for heading in left if _TIME.match(heading)]
    matrix, what = [], "not used"
    if len(dates) > 1 and not times:  # each heading is a time, and each cell below it a number
        named |= {"started_at": '"column"', "rtt_mean": '"cell"'}
        headings |= {"rtt_mean": f"the cells below {dates[0]}"}
        times, left = dates, [heading for heading in left if heading not in dates]
        what = "neither an end nor a date; add ends to columns, delete the others"
        matrix = ["matrix = true   # the dates are headings; ended_at, if they are the ends of windows"]
    elif 2 * len({*head.cells[1:]} & {row[0] for row in below}) > len(head.cells[1:]):  # rows and columns are the ends
        named = {"client": '"row"', "server": '"column"', "rtt_mean": '"cell"'}
        headings, left = {"rtt_mean": "the cells"}, []
        matrix = ["matrix = true   # zone and peer_zone, or region and peer_region, if the ends are these"]
    if not named:
        return []
    said = ", ".join(f'"{key}" = {text}' if "." in key else f"{key} = {text}" for key, text in named.items())
    not_used = [f"# {what}: {', '.join(map(printable, left))}"[:200]] if left else []
    return [
        "[[table]]",
        f'file = "{toml_text(name)}"',
        f"columns = {{{said}}}",
        *matrix,
        *not_used,
        *_questions(headings, head.first_line, below, times),
    ]


def _columns_of(head: TableRow, cells: Mapping[int, Sequence[str]]) -> dict[str, int]:
    """Return the place of the column of each key, in their order, as far as the headings say it."""
    columns: dict[str, int] = {}
    # Each hint takes the first heading that fits it, so that a mean goes before a time of another kind.
    for hint, key in _HINTS:
        for place, heading in enumerate(head.cells):
            is_free = key not in columns and place not in columns.values()
            if heading and is_free and _fits(hint, key, heading, cells.get(place, ())):
                columns[key] = place
    return dict(sorted(columns.items(), key=lambda column: column[1]))


def _questions(
    headings: Mapping[str, str], line: int, below: Sequence[Sequence[str]], times: Sequence[str]
) -> Iterator[str]:
    """Yield what the cells say besides, and, as comments, what they do not say."""
    rtts = [name for name in headings if name.startswith("rtt_")]
    for key, names in (("unit", rtts), ("rate_unit", [name for name in headings if name == "throughput"])):
        units = [unit for each in names if (unit := unit_in(headings[each]))]
        if units:
            yield f'{key} = "{units[0]}"'
        elif names:
            yield f'# {key} = "…"   # the unit of {printable(headings[names[0]])}'
    if rtts:
        yield "# round_trip = true   # or false: half round trips. Ask who measured"
    if line > 1:
        yield f"headings = {line}"
    if any("," in cell for cells in below for cell in cells if CELL.fullmatch(cell)):
        yield '# decimal = ","   # or ".": what the comma in a number is'
    others = [time for time in times if _TIME.search(time) and not DATE.match(time)]
    if others:
        guess = '"%m/%d/%Y"   # or "%d/%m/%Y":' if "/" in others[0] else '"%d.%m.%Y"   #'
        yield f"# time_format = {guess} how {printable(others[0])} is written"
    yield '# window = "30 d"   # if each number is about so long a time'


def _headings_at(rows: Sequence[TableRow]) -> int | None:
    """Return the place of the headings: above the first row with a number, the row with most different texts."""
    numbers = [
        at
        for at, row in enumerate(rows)
        if any(CELL.fullmatch(cell) and not _DAY.fullmatch(cell) for cell in row.cells if cell)
    ]
    texts = [len({cell for cell in row.cells if cell}) for row in rows[: numbers[0]]] if numbers else []
    return texts.index(max(texts)) if texts and max(texts) > 1 else None


def _fits(hint: str, key: str, heading: str, cells: Collection[str]) -> bool:
    """Return whether a heading says that its column holds a key, and its cells have that form."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", heading).replace("_", " ")
    if not re.search(rf"(?<![^\W\d])(?:{hint})(?![\w.])", words, re.IGNORECASE):
        return False
    if key in MOMENTS:
        return any(map(_TIME.search, cells))
    are_numbers = any(map(CELL.fullmatch, cells))
    if key in _PLACE:
        return True
    is_time = key.startswith("rtt_")
    return are_numbers and not (is_time and re.search(rf"(?<![^\W\d])(?:{_NO_TIME})(?![^\W\d])", words, re.IGNORECASE))
