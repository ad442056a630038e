"""Logs that were parsed before: the same tables, in bounded space, and never a failure because of the cache."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from helpers.places import ROOT

from azlatency.logs import cache, schema
from azlatency.logs.cache import cached, parse_cached
from azlatency.logs.source.decode import Source, SourceError
from azlatency.logs.source.expand import expand
from azlatency.logs.tables import Logs


def sources() -> list[Source]:
    files = [path for path in sorted((ROOT / "tests" / "fixtures").glob("*/*")) if path.is_file()]
    files = [path for path in files if path.stat().st_size < 5_000][::3]
    return [source for path in files for source in expand(path) if not isinstance(source, SourceError)]


def tables(logs: Logs) -> dict[str, Any]:
    records = {name: logs.records(name) for name in schema.TABLES}
    for row in records["sources"]:
        del row["imported_at"]
    return records


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "parsed-logs.sqlite"


def forbid_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "parse_source", lambda *_args, **_options: pytest.fail("the log was parsed again"))


def test_tables_of_the_fixtures_are_the_same(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    several = sources()
    with cached(file):
        fresh = [tables(parse_cached(source)) for source in several]
    forbid_parsing(monkeypatch)
    with cached(file):
        for source, wanted in zip(several, fresh, strict=True):
            again = parse_cached(source)
            assert tables(again) == wanted
            assert all(again.to_arrow(name).schema == schema.arrow_schema(name) for name in schema.TABLES)


def test_an_entry_belongs_to_bytes_tool_name_and_parsers(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "a.log"
    log.write_text("64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.31 ms\n")
    parsed = []
    parse = cache.parse_source
    monkeypatch.setattr(cache, "parse_source", lambda source, tool: parsed.append(source) or parse(source, tool=tool))
    (source,) = expand(log)
    (tmp_path / "sub").mkdir()
    moved = (tmp_path / "sub" / "a.log").absolute()
    moved.write_bytes(log.read_bytes())
    (elsewhere,) = expand(moved)
    (renamed,) = expand(log, name="b.log")
    with cached(file):
        for one, tool in ((source, None), (source, None), (source, "latte"), (elsewhere, None), (renamed, None)):
            logs = parse_cached(one, tool)
            assert logs.rows["sources"][0]["path"] == one.path
        assert len(parsed) == 3
        monkeypatch.setattr(cache, "parser_version", lambda: "other")
        parse_cached(source)
        assert len(parsed) == 4


def test_the_oldest_entries_are_removed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    several = sources()[:60]
    monkeypatch.setattr(cache, "_WRITTEN_TOGETHER", 5)
    monkeypatch.setattr(cache, "LARGEST", 60_000)
    with cached(file):
        for source in several:
            parse_cached(source)
    with sqlite3.connect(file) as connection:
        (size, keys) = connection.execute("SELECT sum(size), group_concat(key) FROM tables").fetchone()
    assert 0 < size <= 60_000
    assert several[-1].sha256 in keys and several[0].sha256 not in keys and file.stat().st_size <= 60_000


def test_a_damaged_or_unwritable_cache_is_not_used(file: Path, tmp_path: Path) -> None:
    (source, *_) = sources()
    file.parent.mkdir()
    file.write_bytes(b"not a database" * 100)
    with cached(file):
        assert parse_cached(source).rows["sources"]
    with cached(file):  # a new one
        parse_cached(source)
    with sqlite3.connect(file) as connection:
        assert connection.execute("UPDATE tables SET content = X'00'").rowcount == 1
    with cached(file):
        assert parse_cached(source).rows["sources"]
    (tmp_path / "file").write_text("")
    with cached(tmp_path / "file" / "cache.sqlite"):
        assert parse_cached(source).rows["sources"]


def test_a_locked_cache_delays_nobody(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_SECONDS_TO_WAIT", 0.01)
    (source, *_) = sources()
    with cached(file):
        pass
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with cached(file):
        assert parse_cached(source).rows["sources"]
    other.close()


def test_without_the_context_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "default_file", lambda: pytest.fail("the cache was opened"))
    assert parse_cached(sources()[0]).rows["sources"]


def test_the_folder_of_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AZLATENCY_CACHE", str(tmp_path))
    assert cache.default_file() == tmp_path / "parsed-logs.sqlite"
    monkeypatch.delenv("AZLATENCY_CACHE")
    assert "azlatency" in os.fspath(cache.default_file())
