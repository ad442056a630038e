"""What must hold for every log of the latency tools: cut anywhere, joined, and read at any speed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from helpers.cases import thinned
from helpers.places import FIXTURES

from azlatency.logs.parse import parse_source
from azlatency.logs.recognise.claims import find_claims
from azlatency.logs.source.decode import Source, source_from_bytes
from azlatency.logs.source.expand import expand
from azlatency.logs.tables import Logs

TOOLS = ("echo", "fping", "lagscope", "latte", "netperf", "ping", "psping", "qperf", "sockperf")
LOGS = sorted(
    path for tool in TOOLS for path in (FIXTURES / tool).iterdir() if not path.name.endswith((".expected.json", ".md"))
)


def name(path: Path) -> str:
    return path.relative_to(FIXTURES).as_posix()


def values(tables: Logs) -> list[dict[tuple[Any, ...], float]]:
    """The metrics of each run in order."""
    runs: dict[str, dict[tuple[Any, ...], float]] = {row["run_id"]: {} for row in tables.rows["runs"]}
    for row in tables.rows["metrics"]:
        runs[row["run_id"]][row["metric"], row["side"], row["stream"]] = row["value"]
    for row in tables.rows["quantiles"]:
        runs[row["run_id"]]["quantile", row["q"], row["stream"]] = row["value_ns"]
    return list(runs.values())


def flagged(tables: Logs) -> bool:
    return any(row["severity"] != "info" for row in tables.rows["events"])


def cuts(lines: int, most: int) -> list[int]:
    """Every line of a short log; of a long one its beginning, its end and some between."""
    if lines <= most:
        return list(range(1, lines))
    step = lines // (most // 3)
    return sorted({*range(1, most // 3), *range(1, lines, step), *range(lines - most // 3, lines)})


@pytest.mark.parametrize("most", [pytest.param(27, id="some"), pytest.param(300, id="many", marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", thinned(LOGS, 5), ids=name)
def test_a_log_cut_at_any_line_gives_no_other_number(path: Path, most: int) -> None:
    raw = path.read_bytes().splitlines(keepends=True)
    whole = values(parse_source(source_from_bytes(b"".join(raw), path.name)))
    for stop in cuts(len(raw), most):
        tables = parse_source(source_from_bytes(b"".join(raw[:stop]), path.name))
        codes = {row["code"] for row in tables.rows["events"]}
        assert "parser_failed" not in codes
        for ordinal, numbers in enumerate(values(tables)):
            for key, value in numbers.items():
                if not math.isclose(whole[ordinal].get(key, math.nan), value, rel_tol=1e-12):
                    assert flagged(tables), f"{key} is {value} when cut after line {stop}, and no event says so"


@pytest.mark.costly
@pytest.mark.parametrize("step", [pytest.param(37, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", thinned(LOGS, 5), ids=name)
def test_a_log_cut_inside_any_of_its_last_lines_gives_no_other_number(path: Path, step: int) -> None:
    """Cut after each of the last 10 bytes, and after every ``step``-th of the last 400."""
    raw = path.read_bytes()
    if path.suffix == ".csv":
        raw = raw[:3000]
    whole = values(parse_source(source_from_bytes(raw, path.name)))
    last = range(len(raw) - 1, max(len(raw) - 400, 0), -1)
    for stop in sorted({*last[:10], *last[::step]}):
        tables = parse_source(source_from_bytes(raw[:stop], path.name))
        for ordinal, numbers in enumerate(values(tables)):
            for key, value in numbers.items():
                if not math.isclose(whole[ordinal].get(key, math.nan), value, rel_tol=1e-12):
                    assert flagged(tables) or "no_final_line_feed" in {row["code"] for row in tables.rows["events"]}, (
                        f"{key} is {value} when cut after byte {stop}, and no event says so"
                    )


def opening(path: Path) -> bool:
    """Whether the log begins with a line that begins a log, so that it can follow another one."""
    source = next(iter(expand(path)))
    assert isinstance(source, Source)
    claims = find_claims(source)
    return bool(claims) and not claims[0].weak and claims[0].position <= 1


@pytest.mark.costly
@pytest.mark.parametrize("tool", TOOLS)
def test_two_logs_in_a_file_are_the_runs_of_both(tool: str) -> None:
    logs = [path for path in LOGS if path.parent.name == tool and path.suffix == ".log" and opening(path)]
    for first, second in zip(logs, [*logs[1:], *logs[:1]], strict=True):
        joined = first.read_bytes() + second.read_bytes()
        apart = [*values(parse_source(source_from_bytes(first.read_bytes(), first.name)))]
        apart += values(parse_source(source_from_bytes(second.read_bytes(), second.name)))
        assert values(parse_source(source_from_bytes(joined, "joined.log"))) == apart, f"{first.name} + {second.name}"
