"""Parquet files as text, and those that are none."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from azlatency.logs.source import parquet
from azlatency.logs.source.decode import Source, SourceError
from azlatency.logs.source.expand import expand


def written(folder: Path, table: pa.Table) -> Path:
    pq.write_table(table, folder / "t.parquet")
    return folder / "t.parquet"


def test_the_rows_are_lines(tmp_path: Path) -> None:
    table = pa.table({"from": ["a", "b"], "rtt": [0.5, None]})
    [source] = expand(written(tmp_path, table))
    assert isinstance(source, Source) and source.text == '"from","rtt"\n"a",0.5\n"b",\n'


def test_a_damaged_or_nested_file_is_one_line(tmp_path: Path) -> None:
    path = written(tmp_path, pa.table({"x": [[1, 2], [3]]}))
    [nested] = expand(path)
    [duration] = expand(written(tmp_path, pa.table({"rtt": pa.array([800_000], pa.duration("ns"))})))
    assert isinstance(duration, SourceError) and ":1: 'rtt' is a duration; write it as a number" in str(duration)
    path.write_bytes(path.read_bytes()[:60])
    [cut] = expand(path)
    for error in (nested, cut):
        assert isinstance(error, SourceError) and ":1: no Parquet file of plain columns: " in str(error)
        assert "\n" not in str(error)


def test_a_long_text_in_many_rows_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "LARGEST_WHOLE", 100_000)
    path = written(tmp_path, pa.table({"x": pa.array(["a" * 10_000] * 2500).dictionary_encode()}))
    assert path.stat().st_size < 5000
    [error] = expand(path)
    assert str(error) == f"{path}:1: more than 100000 bytes as text; split the table"
