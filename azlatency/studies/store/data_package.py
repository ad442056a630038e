"""The description of a study's files for programs that do not know azlatency: a Frictionless Data Package."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from azlatency.logs import schema
from azlatency.studies.store.tables import stored_schema

FILE = "datapackage.json"
_TYPES = {"string": "string", "int64": "integer", "float64": "number", "bool": "boolean", "timestamp": "datetime"}
_KEYS = {"sources": "source_id", "runs": "run_id"}


def data_package(name: str, title: str | None, files: Iterable[PurePosixPath]) -> dict[str, Any]:
    """Describe the Parquet files of a study: their columns with type, unit, source and meaning, and their keys.

    ``files`` are relative to the folder of the study; those that belong to no table are left out.
    """
    of_table: dict[str, list[str]] = {}
    for file in files:
        if file.suffix == ".parquet":
            of_table.setdefault(file.parts[0].removesuffix(".parquet"), []).append(file.as_posix())
    resources = [_resource(table, sorted(of_table[table])) for table in schema.TABLES if table in of_table]
    return {"profile": "data-package", "name": name, **({"title": title} if title else {}), "resources": resources}


def _resource(table: str, files: list[str]) -> dict[str, Any]:
    stored = stored_schema(table).names
    columns = [column for column in schema.TABLES[table] if column.name in stored]
    fields = [
        {"name": column.name, "type": _TYPES[column.type], "description": column.doc, "source": column.source}
        | ({"unit": column.unit} if column.unit else {})
        for column in columns
    ]
    own = _KEYS.get(table)
    names = {column.name for column in columns}
    keys = [
        {"fields": key, "reference": {"resource": other, "fields": key}}
        for other, key in _KEYS.items()
        if key in names and key != own
    ]
    described = {"fields": fields} | ({"primaryKey": own} if own else {}) | ({"foreignKeys": keys} if keys else {})
    return {
        "name": table,
        "path": files if len(files) > 1 else files[0],
        "format": "parquet",
        "mediatype": "application/vnd.apache.parquet",
        "description": schema.ROWS[table],
        "schema": described,
    }
