"""Write the tables of a study to ``data/processed/<study>``.

A study is replaced as a whole: the tables are written to a temporary folder, which is then renamed. A reader finds
either the old tables or the new ones.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from azlatency.studies.format import FORMULA, escape_formula
from azlatency.studies.imports.parsing import SAMPLE_OPTIONS, LargeSamples
from azlatency.studies.manifest.manifest import Manifest, read_baseline, read_reported
from azlatency.studies.store.data_package import FILE, data_package
from azlatency.studies.store.replacing import replaced
from azlatency.studies.store.study import Stamp, digest, write_stamp
from azlatency.studies.store.tables import PARSED_RUNS, sample_folder

#: Tables with at most this many rows are also written as CSV.
CSV_ROWS = 10_000


def write_study(
    folder: Path,
    tables: Mapping[str, pa.Table],
    large: Mapping[str, LargeSamples],
    linked: Iterable[Path],
    stamp: Stamp,
    manifest: Manifest,
) -> None:
    """Write all files of a study, then replace its folder.

    ``large`` are the samples of large logs by source, ``linked`` those in the old folder.
    """
    try:
        with replaced(folder) as staging:
            (staging / "samples").mkdir()
            for file in linked:
                _link(file, staging / file.relative_to(folder))
            for source_id, samples in large.items():
                samples.save(staging, source_id)
            for name, table in tables.items():
                if name == "samples":
                    _write_samples(staging, table)
                else:
                    _write_table(staging / f"{name}.parquet", table, with_csv=name != PARSED_RUNS)
            for name, text in descriptions(stamp["study"], manifest).items():
                _write_text(staging / name, text)
            files = [PurePosixPath(path.relative_to(staging).as_posix()) for path in staging.rglob("*.parquet")]
            package = data_package(stamp["study"], manifest.study.get("title"), files)
            _write_text(staging / FILE, _json(package))
            written = (path for path in staging.rglob("*") if path.is_file() and path.suffix != ".csv")
            hashes = {path.relative_to(staging).as_posix(): digest([path]) for path in sorted(written)}
            write_stamp(staging, stamp | {"tables": hashes})
    except OSError as error:
        if error.filename is None:  # a full disk
            raise OSError(error.errno, error.strerror or str(error), str(folder)) from None
        raise
    finally:
        with suppress(OSError):  # it exists and is not empty, unless this import created it and failed
            folder.parent.rmdir()


def _link(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(file, target)
    except OSError:  # a file system without hard links
        shutil.copy2(file, target)


def _write_samples(folder: Path, samples: pa.Table) -> None:
    """Write the samples of each tool to a file of its own."""
    for tool in pc.unique(samples["tool"]).to_pylist():
        place = folder / sample_folder(tool)
        place.mkdir(exist_ok=True)
        of_tool = samples.filter(pc.equal(samples["tool"], tool)).drop_columns(["tool"])
        pq.write_table(of_tool.combine_chunks(), place / "part-0.parquet", **SAMPLE_OPTIONS)


def _write_table(path: Path, table: pa.Table, *, with_csv: bool) -> None:
    """Write a table as Parquet, and as CSV, too, if a spreadsheet can open it."""
    pq.write_table(table.combine_chunks(), path, compression="zstd")
    if with_csv and table.num_rows <= CSV_ROWS:
        csv.write_csv(_escape_formulas(table), path.with_suffix(".csv"))


def _escape_formulas(table: pa.Table) -> pa.Table:
    """Return a table for a CSV file, see `escape_formula`; Parquet contains the text of the log."""
    for index, column in enumerate(table.columns):
        if not pa.types.is_string(column.type):
            continue
        if pc.any(pc.match_substring_regex(column, FORMULA)).as_py():
            escaped = pa.array(map(escape_formula, column.to_pylist()), column.type)
            table = table.set_column(index, table.schema.field(index), escaped)
    return table


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")


def descriptions(name: str, manifest: Manifest) -> dict[str, str]:
    """Return the JSON files of a study, which hold what the manifest and the files that it names say."""
    study = {
        "name": name,
        **manifest.study,
        "scenarios": manifest.scenarios(),
        "conclusions": manifest.conclusions,
        "unquantified": read_baseline(manifest, "unquantified"),
    }
    return {
        "study.json": _json(study),
        "expectations.json": _json(read_baseline(manifest, "expectation")),
        "reported.json": _json(read_reported(manifest)),
    }


def _json(content: Any) -> str:
    # Dates of TOML become text.
    return json.dumps(content, ensure_ascii=True, indent=1, default=str) + "\n"
