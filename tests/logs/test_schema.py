"""The schema: column names, Arrow types and documented examples."""

from __future__ import annotations

import copy
import doctest
import pickle

import pytest
from helpers.studies import load

import azlatency as az
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


def test_every_column_has_a_sentence_and_a_source() -> None:
    for table, columns in (schema.TABLES | schema.FRAMES).items():
        assert len({column.name for column in columns}) == len(columns), f"{table} says two things of one name"
        for column in columns:
            assert column.doc.endswith(".") and column.doc[0] not in " ,;", (table, column.name)
            sources = set(column.source.split(", "))
            assert sources <= {"log", "file", "manifest", "import", "computed"}, (table, column.name)
            if column.unit:
                unit = {"ns": "_ns", "bytes": "bytes", "bit/s": "_bit_s", "1/s": "_per_s"}[column.unit]
                assert unit in column.name, f"{column.name} of {table} does not name its unit"


def test_the_texts_of_the_columns_of_a_frame_cannot_be_changed() -> None:
    frame = az.latency(load("westeurope-azure-cni"))
    texts = frame.attrs["columns"]
    for change in (
        lambda: texts.__setitem__("median_ns", "x"), lambda: texts.update(median_ns="x"), texts.clear, texts.popitem,
        lambda: texts.pop("median_ns"), lambda: texts.setdefault("x", "x"), lambda: texts.__delitem__("median_ns"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=r"change a copy: dict\(frame\.attrs\['columns'\]\)"):
            change()
    for copied in (
        copy.copy(texts),
        copy.deepcopy(texts),
        pickle.loads(pickle.dumps(texts)),
        frame[:1].attrs["columns"],
    ):
        assert copied == texts and copied["median_ns"].endswith("Unit: ns. Source: log.")


def test_help_shows_every_column() -> None:
    text = schema.__doc__ or ""
    assert all(str(column) in text for columns in schema.TABLES.values() for column in columns)
    with pytest.raises(KeyError, match="no table 'interval'; tables and frames: sources, runs"):
        schema.describe("interval")
