"""A file that is one JSON document is read without a search for logs, with the same result."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.places import FIXTURES

from azlatency.logs import parse
from azlatency.logs.recognise.documents import SourceLines, find_document
from azlatency.logs.source.decode import Source, source_from_bytes
from azlatency.logs.tables import Logs

DOCUMENTS = sorted(path for path in FIXTURES.glob("*/*.json") if not path.name.endswith(".expected.json"))


def source(text: str) -> Source:
    return source_from_bytes(text.encode(), "a.json")


def tables(logs: Logs) -> dict[str, object]:
    rows = {name: rows for name, rows in logs.rows.items() if name != "sources"}
    (row,) = logs.rows["sources"]
    return {**rows, "lines": {name: value for name, value in row.items() if name.startswith("lines")}}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_tables_are_those_of_the_search(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = path.read_bytes()
    quick = tables(parse.parse_source(source_from_bytes(raw, "a.json")))
    monkeypatch.setattr(parse, "find_document", lambda source: None)
    assert quick == tables(parse.parse_source(source_from_bytes(raw, "a.json")))


def test_most_fixtures_are_documents() -> None:
    are_documents = [find_document(source_from_bytes(path.read_bytes(), "a.json")) is not None for path in DOCUMENTS]
    assert sum(are_documents) > 0.5 * len(DOCUMENTS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "iperf Done.\n",
        '{"start": 5}',  # no tool writes that
        '{"start": {}, "end": {}} x',
        '{"start": {}',
        '{"start": {}}\n{"start": {}}\n',
        '{"start": {"version": "\x1b[1m"}}',
        '{"sysstat": {"hosts": [{"statistics": [{"cpu-load": []}]}]}}',
    ],
)
def test_other_texts_are_searched(text: str) -> None:
    assert find_document(source(text)) is None


def test_the_lines_of_a_document_are_not_built() -> None:
    whole = source((FIXTURES / "iperf3" / "3.12-tcp.json").read_text("utf-8"))
    parse.parse_source(whole)
    assert "lines" not in vars(whole)


def test_lines_are_those_of_the_source() -> None:
    text = source('{"start": {\n"version": "iperf 3.12"}\n}\n')
    lines = SourceLines(text)
    assert list(lines) == list(text.lines)
    assert [lines[0], lines[-1], lines[1:]] == [text.lines[0], text.lines[-1], text.lines[1:]]
    assert len(lines) == 3


@pytest.mark.costly
@pytest.mark.parametrize(
    "nested", ['{"a":' * 3000 + "1" + "}" * 3000, "[" * 3000 + "]" * 3000], ids=["objects", "lists"]
)
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_deeply_nested_document_is_read_up_to_the_nested_part(path: Path, nested: str) -> None:
    """json and msgspec raise `RecursionError` for such a text."""
    head, brace, rest = path.read_bytes().decode("utf-16" if "utf16" in path.name else "utf-8").partition("{")
    (row,) = parse.parse_source(source(f'{head}{brace}"deep":{nested},{rest}')).rows["sources"]
    assert row["lines"] == sum(row[f"lines_{kind}"] for kind in ("data", "known", "blank", "prose", "unknown"))
