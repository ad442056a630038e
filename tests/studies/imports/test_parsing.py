"""Parsing files in batches: what a worker returns travels between processes."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from helpers.places import FIXTURES

from azlatency.studies.imports import parsing
from azlatency.studies.imports.parsing import parse_batch, split
from azlatency.studies.store.tables import row_groups

LOG = FIXTURES / "ping" / "busybox-1.35-c4.log"


def test_a_batch_is_the_same_after_a_journey(monkeypatch: pytest.MonkeyPatch) -> None:
    together = parse_batch([("a.log", str(LOG), None)])
    monkeypatch.setattr(parsing, "_MOST_SAMPLES", 3)
    batch = parse_batch([("a.log", str(LOG), None)])
    there = pickle.loads(pickle.dumps(batch))
    assert there.files == batch.files == together.files
    assert all(there.tables[name].equals(table) for name, table in batch.tables.items())
    (samples,) = there.large.values()
    assert there.tables["samples"].num_rows == 0
    (piece,) = row_groups(samples.files["ping"], ["seq", "rtt_ns"])
    assert piece.equals(together.tables["samples"].select(["seq", "rtt_ns"]).combine_chunks())


def test_files_are_divided_by_number_and_size(tmp_path: Path) -> None:
    files = {f"{number}.log": str(tmp_path) for number in range(40)}
    marks = {path: {"size": 10, "tool": None} for path in files}
    assert [len(batch) for batch in split(files, marks)] == [16, 16, 8]
    marks["3.log"]["size"] = 2**30
    assert [len(batch) for batch in split(files, marks)] == [3, 1, 16, 16, 4]
