"""Every fixture of every parser, compared with values read by hand.

``tests/fixtures/<tool>/NAME.EXT`` is a real log; ``NAME.EXT.expected.json`` next to it lists what it must contain:

    {"runs": [{"tool": "ping", "status": "complete", ...any columns...}],
     "metrics": [{"run": 0, "metric": "rtt_mean", "value": 969000, "printed": "0.969", ...any columns...}],
     "quantiles": [{"run": 0, "q": 0.99, "value_ns": 49098}],
     "intervals": {"0": 10},              number of rows per run, or a list of rows as for metrics
     "samples": {"0": {"count": 20, "rtt_ns": [[0, 655000], [19, 301000]], "status": {"ok": 20}}},
     "events": ["percentile_is_max"],     codes that must occur; other codes must have the severity info
     "unknown": 0}
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from helpers.places import FIXTURES, ROOT

import azlatency as az
from azlatency.logs import parse
from azlatency.logs.grammar.rules import DATA
from azlatency.logs.parsers import load_parsers
from azlatency.logs.recognise.claims import find_claims
from azlatency.logs.record import Recorder
from azlatency.logs.source.decode import Source
from azlatency.logs.source.expand import expand

LOGS = sorted(
    path for path in FIXTURES.glob("*/*") if path.is_file() and not path.name.endswith((".expected.json", ".md"))
)


def name(path: Path) -> str:
    return path.relative_to(FIXTURES).as_posix()


def matches(row: dict[str, Any], wanted: dict[str, Any]) -> bool:
    for key, value in wanted.items():
        if key in ("run", "comment"):
            continue
        actual = row.get(key)
        if isinstance(value, float | int) and not isinstance(value, bool) and isinstance(actual, float | int):
            if not math.isclose(actual, value, rel_tol=1e-9, abs_tol=1e-12):
                return False
        elif actual != value:
            return False
    return True


@pytest.mark.costly
@pytest.mark.parametrize("path", LOGS, ids=name)
def test_expected_values(path: Path) -> None:
    expected = json.loads(path.with_name(path.name + ".expected.json").read_text("utf-8"))
    logs = az.parse(path)
    runs = logs.records("runs")
    assert len(runs) == len(expected["runs"])
    for run, wanted in zip(runs, expected["runs"], strict=True):
        assert matches(run, wanted), f"{wanted} not in {run}"
    ids = [run["run_id"] for run in runs]
    for table in ("metrics", "quantiles", "intervals", "histograms"):
        rows = logs.records(table)
        wanted_rows = expected.get(table, [])
        if isinstance(wanted_rows, dict):
            assert Counter(ids.index(row["run_id"]) for row in rows) == {int(k): v for k, v in wanted_rows.items() if v}
            continue
        for wanted in wanted_rows:
            candidates = [row for row in rows if row["run_id"] == ids[wanted.get("run", 0)]]
            assert any(matches(row, wanted) for row in candidates), f"{table}: no row like {wanted}"
    check_samples(logs, ids, expected.get("samples", {}))
    codes = {event["code"] for event in logs.records("events")}
    serious = {event["code"] for event in logs.records("events") if event["severity"] != "info"}
    assert set(expected.get("events", [])) <= codes
    assert serious <= set(expected.get("events", []))
    assert logs.records("sources")[0]["lines_unknown"] == expected.get("unknown", 0)


@pytest.mark.costly
@pytest.mark.parametrize("path", LOGS, ids=name)
def test_every_line_is_accounted_for_and_every_printed_token_is_on_its_line(path: Path) -> None:
    lines: dict[tuple[str, int], str] = defaultdict(str)
    for source in expand(path):
        assert isinstance(source, Source)
        for line in source.lines:
            lines[source.source_id, line.number] += line.text + "\n"
    logs = az.parse(path)
    for row in logs.records("sources"):
        parts = [row[f"lines_{kind}"] for kind in ("data", "known", "blank", "prose", "unknown")]
        assert row["lines"] == sum(parts)
    source_of = {run["run_id"]: run["source_id"] for run in logs.records("runs")}
    for row in [*logs.records("metrics"), *logs.records("quantiles")]:
        text = lines[source_of[row["run_id"]], row["line"]]
        assert row["printed"] is None or re.search(rf"(?<![\d.]){re.escape(row['printed'])}", text), row


def check_samples(logs: az.Logs, ids: list[str], expected: dict[str, Any]) -> None:
    blocks = {block.run_id: block for block in logs.sample_blocks}
    assert {ids.index(run_id) for run_id in blocks} == {int(index) for index in expected}
    for index, wanted in expected.items():
        block = blocks[ids[int(index)]]
        assert len(block.seq) == wanted["count"]
        assert block.quantity == wanted.get("quantity", "round_trip")
        for column in ("rtt_ns", "time_ns"):
            for position, value in wanted.get(column, []):
                assert getattr(block, column)[position] == value
        if "status" in wanted:
            assert Counter(block.status) == wanted["status"]


@pytest.mark.parametrize("path", LOGS, ids=name)
def test_no_other_parser_claims_the_fixture(path: Path) -> None:
    for source in expand(path):
        assert isinstance(source, Source)
        claims = find_claims(source)
        shared = load_parsers()[path.parent.name].shares
        assert {claim.tool for claim in claims if not (claim.weak and claim.tool in shared)} <= {path.parent.name}


def test_every_parser_has_fixtures() -> None:
    assert {path.parent.name for path in LOGS} >= set(load_parsers())


#: Repeated lines of data that no row points to: the folder of the fixture, their pattern, and what is kept of them.
WITHOUT_ROW = (
    ("lagscope", r"\S+: \d+% completed\.", "progress: the server, a column of the run"),
    ("fio", r"\d+, \d+, [01], (4096, )?0", "a log per operation or window: duration, size, distribution and totals"),
    ("fping", r"\[[\d:]+\]", "the time of a summary: the start of its interval"),
    ("ntttcp", r".*New connection: local:\d+ .*", "the ends of a connection: columns of the run"),
    ("wrk", r"[\d.]+%? +[\d.]+(ms)?( +\d+ +[\d.]+)?", "a percentile without further replies: the value of another row"),
)


def repeated_lines_without_row(recorder: Recorder) -> list[str]:
    """Return lines of data with numbers, of a shape that a log prints five times or more, that no row points to.

    Lines of runs with samples have no row each.
    """
    tables = ("metrics", "quantiles", "intervals", "histograms", "events")
    pointed = {row["line"] for table in tables for row in recorder.rows[table]}
    runs = {run["run_id"]: run for run in recorder.rows["runs"]}
    sampled = [runs[block.run_id] for block in recorder.samples]
    shapes: dict[str, list[str]] = defaultdict(list)
    for line in recorder.source.lines:
        shape, digits = re.subn(r"\d+", "#", line.text.strip())
        is_data = digits and recorder.accounting.kind_of(line.number) == DATA and line.number not in pointed
        if is_data and not any(run["first_line"] <= line.number <= run["last_line"] for run in sampled):
            shapes[shape].append(line.text.strip())
    return [text for texts in shapes.values() if len(texts) >= 5 for text in texts]


@pytest.mark.costly
def test_every_repeated_line_that_counts_as_data_is_in_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON and XML are left out: a row points to one of the many lines of its object."""
    recorders: list[Recorder] = []
    to_logs = parse.to_logs
    monkeypatch.setattr(parse, "to_logs", lambda recorder: recorders.append(recorder) or to_logs(recorder))
    used = set()
    studies = [path for path in (ROOT / "data" / "raw").rglob("*.*") if path.suffix in (".log", ".txt")]
    # Most logs of a study are repeats of a few.
    for path in [path for path in LOGS if path.suffix not in (".json", ".xml")] + sorted(studies)[::5]:
        recorders.clear()
        az.parse(path)
        for line in (line for recorder in recorders for line in repeated_lines_without_row(recorder)):
            reasons = [entry for entry in WITHOUT_ROW if entry[0] in path.parts and re.fullmatch(entry[1], line)]
            assert reasons, f"{path}: {line!r} counts as data and is in no table"
            used.update(reasons)
    assert used == set(WITHOUT_ROW)
