"""Small logs of all tools: those of the tests, and as many of them with other values as a benchmark needs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "tests" / "fixtures"
#: The last digit of a number with decimals, or of a whole number of three or more digits.
_LAST_DIGIT = re.compile(rb"(?<![\w.:])(?:\d+\.\d*|\d\d+)(\d)(?![\d.:])")
#: So many digits are replaced in one log: enough for some hundred different ones.
_DIGITS = 3


def fixture_logs() -> dict[str, list[bytes]]:
    """Return the small logs of the tests by tool."""
    logs: dict[str, list[bytes]] = {}
    for path in sorted(FIXTURES.glob("*/*")):
        if path.is_file() and path.stat().st_size <= 5_000 and path.suffix not in (".json", ".md", ".gz"):
            logs.setdefault(path.parent.name, []).append(path.read_bytes())
    return logs


def fixture_documents() -> dict[str, list[bytes]]:
    """Return the logs of the tests that are one JSON document by tool, of the tools that have several."""
    documents: dict[str, list[bytes]] = {}
    for path in sorted(FIXTURES.glob("*/*")):
        if path.is_file() and not path.name.endswith(".expected.json") and (raw := path.read_bytes()).startswith(b"{"):
            with suppress(ValueError):
                json.loads(raw)
                documents.setdefault(path.parent.name, []).append(raw)
    return {tool: logs for tool, logs in documents.items() if len(logs) > 1}


def many_logs(count: int) -> list[bytes]:
    """Return logs of all tools in turn, each with values of its own.

    A log that is needed again gets other last digits in printed numbers, so that no log is a copy of another one. Only
    digits are replaced whose replacement changes a printed value and no event: the log stays as complete as it was.
    Logs without such digits, for example those with no run, get line feeds at the end.
    """
    variants = [_variants(raw) for logs in fixture_logs().values() for raw in logs]
    return [next(variants[index % len(variants)]) for index in range(count)]


def _variants(raw: bytes) -> Iterator[bytes]:
    """Yield the log, then the log with other digits, then with line feeds."""
    yield raw
    events, values = _parsed(raw)
    places: list[int] = []
    for match in reversed(list(_LAST_DIGIT.finditer(raw))):
        other = _with_digits(raw, [match.start(1)], [(raw[match.start(1)] - 48 + 1) % 10])
        got_events, got_values = _parsed(other)
        if got_events == events and got_values != values:
            places.append(match.start(1))
            if len(places) == _DIGITS:
                break
    seen = {values}
    for digits in product(range(10), repeat=len(places)):
        other = _with_digits(raw, places, digits)
        got_events, got_values = _parsed(other)
        if got_events == events and got_values not in seen:
            seen.add(got_values)
            yield other
    while True:
        raw += b"\n"
        yield raw


def _with_digits(raw: bytes, places: list[int], digits: list[int] | tuple[int, ...]) -> bytes:
    changed = bytearray(raw)
    for place, digit in zip(places, digits, strict=True):
        changed[place] = 48 + digit
    return bytes(changed)


def _parsed(raw: bytes) -> tuple[list[object], str]:
    """Return the codes of the events of a log, and its values."""
    from azlatency.logs.parse import parse_source
    from azlatency.logs.source.decode import source_from_bytes

    logs = parse_source(source_from_bytes(raw, "x"))
    values = [row for table in ("metrics", "quantiles", "intervals") for row in logs.rows[table]]
    samples = [list(block.rtt_ns) for block in logs.sample_blocks]
    return sorted(row["code"] for row in logs.rows["events"]), str((values, samples))
