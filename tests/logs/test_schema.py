"""The schema: column names, Arrow types and documented examples."""

from __future__ import annotations

import doctest

import pytest

from azlatency.logs import schema


def test_the_examples_of_the_schema_run() -> None:
    assert doctest.testmod(schema).failed == 0


@pytest.mark.parametrize("table", schema.TABLES)
def test_names_and_arrow_fields_of_a_table_agree(table: str) -> None:
    assert tuple(schema.arrow_schema(table).names) == schema.names(table)
    assert len(set(schema.names(table))) == len(schema.names(table))


def test_times_are_whole_nanoseconds_and_runs_are_named_by_text() -> None:
    samples = schema.arrow_schema("samples")
    assert str(samples.field("rtt_ns").type) == "int64" and str(samples.field("run_id").type) == "string"
