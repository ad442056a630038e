"""The Data Package beside the Parquet files describes exactly the columns that they have."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
from helpers.studies import load

from azlatency.logs import schema


@pytest.mark.parametrize("name", ["emulated-zones", "aws-euwest1-lagscope"])
def test_the_description_has_the_columns_of_the_files(name: str) -> None:
    folder = load(name).folder
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    assert package["name"] == name and package["profile"] == "data-package"
    described = set()
    for resource in package["resources"]:
        fields = resource["schema"]["fields"]
        units = {column.name: column.unit for column in schema.TABLES[resource["name"]]}
        for path in [resource["path"]] if isinstance(resource["path"], str) else resource["path"]:
            described.add(path)
            assert pq.read_schema(folder / path).names == [field["name"] for field in fields]
        assert all(field["description"] and field.get("unit", "") == units[field["name"]] for field in fields)
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet")}
    assert described == files - {"parsed_runs.parquet"}


def test_keys_lead_to_columns_of_other_tables() -> None:
    package = json.loads((load("emulated-zones").folder / "datapackage.json").read_text("utf-8"))
    tables = {resource["name"]: resource["schema"] for resource in package["resources"]}
    assert tables["runs"]["primaryKey"] == "run_id"
    for table in tables.values():
        for key in table.get("foreignKeys", ()):
            reference = key["reference"]
            assert tables[reference["resource"]]["primaryKey"] == reference["fields"]
            assert key["fields"] in {field["name"] for field in table["fields"]}
