"""Write the results of a study as files of other programs.

The names of columns and metrics contain their unit, and a metric has one unit: times are round-trip times in ns, rates
bit/s, losses fractions.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from azlatency.logs.parse import LogError
from azlatency.logs.schema import TABLES, document
from azlatency.stats.across_runs.run_history import KEYS, VALUE_COLUMNS, history
from azlatency.studies.format import count_of, escape_formula, printable
from azlatency.studies.runs.round_trips import latency
from azlatency.studies.runs.throughput import throughput
from azlatency.studies.store.replacing import remove_unfinished, unfinished
from azlatency.studies.store.study import Study
from azlatency.studies.store.tables import TABLE_FILES

if TYPE_CHECKING:
    import duckdb

#: What is better, for Otava: 1 is more, -1 is less.
_DIRECTION = {"goodput": 1}
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9]+")


def export(study: Study, target: Path, format: str) -> list[str]:
    """Write a study in one of `FORMATS`; return what to tell: what was written, and what was left out.

    Nothing that exists is overwritten: `LogError`. A file or folder appears as a whole.
    """
    remove_unfinished(target.parent)
    if target.exists():
        raise LogError(f"{target}: exists; choose another name, or delete it")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = unfinished(target.parent)
    try:
        told = FORMATS[format](study, part)
        os.replace(part, target)
    finally:
        remove_unfinished(target.parent)
    return told


def _frames(study: Study) -> dict[str, pd.DataFrame]:
    """Return the frames that are exported by name; the index ``run_id`` is a column."""
    changes = history(study).changes
    frames = {"latency": latency(study).reset_index(), "throughput": throughput(study).reset_index()}
    if len(changes):
        frames["changes"] = document(changes, *TABLES, "run_table", "latency", "results")
    if len(study.hosts):
        frames["hosts"] = study.hosts
    return frames


def _told(frames: dict[str, pd.DataFrame]) -> list[str]:
    return [f"{name}: {count_of(len(frame), 'row')}" for name, frame in frames.items()]


def _csv(study: Study, target: Path) -> list[str]:
    target.mkdir()
    frames = _frames(study)
    for name, frame in frames.items():
        texts = [column for column in frame if frame[column].dtype == "str"]
        frame.assign(**{column: frame[column].map(escape_formula) for column in texts}).to_csv(
            target / f"{name}.csv", index=False
        )
    return _told(frames)


def _parquet(study: Study, target: Path) -> list[str]:
    target.mkdir()
    frames = _frames(study)
    for name, frame in frames.items():
        frame.to_parquet(target / f"{name}.parquet", index=False)
    return _told(frames)


def _duckdb(study: Study, target: Path) -> list[str]:
    """Write tables of the results, and views of the tables of the study where they are, with comments on columns."""
    try:
        import duckdb
    except ImportError:
        raise LogError("DuckDB is not installed; run: pip install 'azlatency[scale]'") from None
    frames = _frames(study)
    try:
        _fill(duckdb.connect(str(target)), study, frames)
    except (
        duckdb.IOException,
        duckdb.TransactionException,
        duckdb.FatalException,
    ) as error:  # a full disk, which is no OSError here
        raise LogError(f"{printable(str(error))}; free space or check the permissions") from None
    return [*_told(frames), f"views of the tables in {study.folder.resolve()}"]


def _fill(connection: duckdb.DuckDBPyConnection, study: Study, frames: dict[str, pd.DataFrame]) -> None:
    with connection as database:
        for name, frame in frames.items():
            database.register("frame", frame)
            database.execute(f'CREATE TABLE "{name}" AS SELECT * FROM frame')
            database.unregister("frame")
            for column, text in frame.attrs.get("columns", {}).items():
                if column in frame.columns:
                    database.execute(f"COMMENT ON COLUMN {_name(name)}.{_name(str(column))} IS {_text(str(text))}")
        for name, columns in TABLES.items():
            place = study.folder.resolve() / (f"{name}.parquet" if name != "samples" else f"samples/*/{TABLE_FILES}")
            if not list(place.parent.parent.glob(f"*/{TABLE_FILES}") if name == "samples" else [place]):
                continue
            options = ", hive_partitioning = true" if name == "samples" else ""
            database.execute(f"CREATE VIEW {_name(name)} AS FROM read_parquet({_text(str(place))}{options})")
            known = {row[0] for row in database.execute(f"DESCRIBE {_name(name)}").fetchall()}
            for column in columns:
                if column.name in known:
                    database.execute(f"COMMENT ON COLUMN {_name(name)}.{_name(column.name)} IS {_text(str(column))}")


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _without_time(points: pd.DataFrame) -> list[str]:
    left = int(points["date"].isna().sum())
    return [f"{count_of(left, 'value')} without a start time left out; add started_at to study.toml"] if left else []


def _influx(study: Study, target: Path) -> list[str]:
    """Write InfluxDB line protocol with times in ns: one field per line, named like its column."""
    points, lines = history(study).points, []
    for row in points[points["date"].notna()].to_dict("records"):
        if abs(row["value"]) == float("inf"):
            continue  # most probes were lost; the protocol has no infinity
        tags = {"study": study.name, **{name: row[name] for name in ("path", "method", "label")}}
        head = ",".join(["azlatency", *(f"{key}={_tag(text)}" for key, text in tags.items() if text)])
        stamp = int(row["date"].timestamp()) * 10**9 + row["date"].microsecond * 1000
        lines.append(f"{head} {VALUE_COLUMNS[row['metric']]}={row['value']!r} {stamp}\n")
    target.write_text("".join(lines), "utf-8", newline="\n")
    return [f"points: {count_of(len(lines), 'line')}", *_without_time(points)]


def _tag(text: str) -> str:
    """Escape the value of a tag. A backslash at its end would escape what follows, so none is kept."""
    return re.sub(r"([,= ])", r"\\\1", printable(text).replace("\\", "/"))


def _bencher(study: Study, target: Path) -> list[str]:
    """Write Bencher Metric Format: the last point of each series, as one report of a night."""
    report: dict[str, dict[str, dict[str, float]]] = {}
    for row in history(study).points.drop_duplicates(KEYS, keep="last").to_dict("records"):
        if abs(row["value"]) != float("inf"):
            name = f"{row['path']}, {row['method']}"
            report.setdefault(name, {})[VALUE_COLUMNS[row["metric"]]] = {"value": row["value"]}
    target.write_text(json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False) + "\n", "utf-8")
    return [f"benchmarks: {len(report)}"]


def _otava(study: Study, target: Path) -> list[str]:
    """Write a CSV file per series, and ``otava.yaml``, which names them."""
    target.mkdir()
    points = history(study).points
    rows: dict[str, list[str]] = {}
    owners: dict[str, str] = {}
    tests: dict[str, object] = {}
    for row in points[points["date"].notna()].to_dict("records"):
        column = VALUE_COLUMNS[row["metric"]]
        name = _NOT_IN_NAMES.sub("_", f"{row['path']} {row['method']} {column}").strip("_")
        # Names that differ in other characters only, such as the arrow of the way back.
        while owners.setdefault(name, row["what"]) != row["what"]:
            name += "_"
        text = escape_formula(printable(row["label"])).replace('"', "'")
        line = f'{row["date"]:%Y-%m-%d %H:%M:%S +0000},"{text}",{row["value"]!r}\n'
        rows.setdefault(name, [f"time,label,{column}\n"]).append(line)
        direction = _DIRECTION.get(row["metric"], -1)
        tests[name] = {
            "type": "csv", "file": f"{name}.csv", "time_column": "time", "attributes": ["label"],
            "metrics": {column: {"column": column, "direction": direction}},
        }  # fmt: skip
    for name, lines in rows.items():
        (target / f"{name}.csv").write_text("".join(lines), "utf-8", newline="\n")
    # JSON is YAML.
    (target / "otava.yaml").write_text(json.dumps({"tests": tests}, indent=1) + "\n", "utf-8")
    return [f"series: {len(rows)}", *_without_time(points)]


#: The function of each format, and the ends of names that choose it.
FORMATS: dict[str, Callable[[Study, Path], list[str]]] = {
    "duckdb": _duckdb, "csv": _csv, "parquet": _parquet, "influx": _influx, "bencher": _bencher, "otava": _otava,
}  # fmt: skip
SUFFIXES = {".duckdb": "duckdb", ".lp": "influx", ".json": "bencher", "": "csv"}
