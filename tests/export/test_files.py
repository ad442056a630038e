"""`azlatency export`: each format is read back by its program, or by the grammar that its documentation states."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
from helpers.cases import stream
from helpers.command import azlatency
from helpers.nights import write_nights
from helpers.places import ROOT
from helpers.studies import load

import azlatency as az
from azlatency.export import files
from azlatency.studies.imports.importer import import_study
from azlatency.studies.store.study import Study

#: What a report in Bencher Metric Format may contain, and the longest name of a measure and of a benchmark.
NUMBER = {"type": "number"}
MEASURE = {
    "type": "object",
    "properties": {"value": NUMBER, "lower_value": NUMBER, "upper_value": NUMBER},
    "required": ["value"],
    "additionalProperties": False,
}
REPORT = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "propertyNames": {"pattern": "^[a-z0-9_-]{1,64}$"},
        "additionalProperties": MEASURE,
    },
    "propertyNames": {"maxLength": 1024},
    "minProperties": 1,
}
#: A line of InfluxDB: measurement, tags with escaped separators, one float field, time in ns.
LINE = re.compile(r"azlatency((?:,\w+=(?:\\[,= ]|[^,= \\])+)+) (\w+)=(-?[\d.e+]+) (\d{19})")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with a study of 40 nights, in which one path changes."""
    folder = tmp_path_factory.mktemp("project")
    levels, slower = ([float(value) for value in 450 * stream(seed).lognormal(0, 0.02, 40)] for seed in (71, 72))
    slower = [value * (1.1 if night >= 25 else 1) for night, value in enumerate(slower)]
    write_nights(folder / "data" / "raw" / "nightly", {"az1-az2": levels, "az1-az3": slower})
    assert azlatency("import", "--study", "nightly", cwd=folder).returncode == 0
    return folder


@pytest.fixture(scope="module")
def study(project: Path) -> Study:
    return az.load("nightly", processed=project / "data" / "processed")


def export(project: Path, target: str, *options: str) -> Path:
    result = azlatency("export", "nightly", "--to", target, *options, cwd=project)
    assert result.returncode == 0, result.stderr
    return project / target


def values(study: Study) -> list[float]:
    return sorted(float(value) for value in az.latency(study)["mean_ns"])


@pytest.mark.costly
def test_duckdb_reads_tables_views_and_what_columns_mean(project: Path, study: Study) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(export(project, "nightly.duckdb")), read_only=True) as database:
        assert sorted(row[0] for row in database.execute("SELECT mean_ns FROM latency").fetchall()) == values(study)
        assert database.execute("SELECT count(*) FROM runs").fetchone() == (len(study.runs),)
        assert database.execute("SELECT path, metric FROM changes").fetchall() == [("zone 1 → zone 3", "mean")]
        comments = dict(
            database.execute("SELECT column_name, comment FROM duckdb_columns() WHERE comment IS NOT NULL").fetchall()
        )
    assert "RTT" in comments["mean_ns"] or "round" in comments["mean_ns"].lower()
    assert "Unit: bytes." in comments["message_bytes"]


def test_csv_and_parquet_hold_the_frames(project: Path, study: Study) -> None:
    from_csv = pd.read_csv(export(project, "results") / "latency.csv")
    from_parquet = pd.read_parquet(export(project, "parquet", "--format", "parquet") / "latency.parquet")
    assert sorted(from_csv["mean_ns"]) == sorted(from_parquet["mean_ns"]) == values(study)


def fields(file: Path) -> Iterator[tuple[dict[str, str], str, float, int]]:
    """Yield tags, field, value and time of each line."""
    for line in file.read_text("utf-8").splitlines():
        match = LINE.fullmatch(line)
        assert match, line
        tags = dict(re.findall(r"(\w+)=((?:\\.|[^,\\])+)", match[1]))
        yield (
            {key: re.sub(r"\\(.)", r"\1", text) for key, text in tags.items()},
            match[2],
            float(match[3]),
            int(match[4]),
        )


def test_influx_lines_follow_the_grammar(project: Path, study: Study) -> None:
    lines = list(fields(export(project, "nightly.lp")))
    assert sorted(value for *_, value, _ in lines) == values(study) and {field for _, field, *_ in lines} == {"mean_ns"}
    assert {tags["path"] for tags, *_ in lines} == {"zone 1 → zone 2", "zone 1 → zone 3"}
    assert str(pd.Timestamp(min(time for *_, time in lines), tz="UTC")) == "2026-09-01 00:00:00+00:00"


def test_influx_reads_the_lines(project: Path, study: Study) -> None:
    """The reader is a library that others wrote for this format."""
    reader = pytest.importorskip("line_protocol_parser", reason="make test-slow installs it")
    lines = export(project, "read.lp").read_text("utf-8").splitlines()
    points = [reader.parse_line(line) for line in lines]
    assert {point["measurement"] for point in points} == {"azlatency"}
    assert sorted(point["fields"]["mean_ns"] for point in points) == values(study)
    assert {point["tags"]["path"] for point in points} == {"zone 1 → zone 2", "zone 1 → zone 3"}


def test_bencher_gets_the_last_night(project: Path, study: Study) -> None:
    report = json.loads(export(project, "night.json").read_text("utf-8"))
    jsonschema.validate(report, REPORT)
    last = az.latency(study).sort_values("started_at").tail(2)
    assert sorted(measures["mean_ns"]["value"] for measures in report.values()) == sorted(last["mean_ns"])


def test_otava_gets_a_file_per_series_and_its_configuration(project: Path, study: Study) -> None:
    folder = export(project, "otava", "--format", "otava")
    tests = json.loads((folder / "otava.yaml").read_text("utf-8"))["tests"]
    found = []
    for test in tests.values():
        rows = list(csv.DictReader((folder / test["file"]).read_text("utf-8").splitlines()))
        (metric,) = test["metrics"].values()
        assert [*rows[0]] == [test["time_column"], *test["attributes"], metric["column"]] and metric["direction"] == -1
        found += [float(row[metric["column"]]) for row in rows]
    assert sorted(found) == values(study)


@pytest.mark.skipif(not shutil.which("otava"), reason="Apache Otava is not installed: pipx install apache-otava")
def test_otava_finds_the_change(project: Path) -> None:
    """Otava pins other packages than this project, so it has an environment of its own."""
    folder = export(project, "for-otava", "--format", "otava")
    (name,) = (path.stem for path in folder.glob("*zone_3*.csv"))
    command = ["otava", "analyze", name, "--config-file", "otava.yaml", "--since", "2026-08-01"]
    analysis = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=True).stdout
    (changed,) = (line for line in re.findall(r"[+-]\d+\.\d+%", analysis))
    assert changed == "+10.3%" and "2026-09-26" in analysis.partition(changed)[2].split("\n")[2]


def test_a_hidden_copy_of_a_table_is_not_in_a_view(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    import_study("mine", [ROOT / "data" / "raw" / "emulated-zones" / "ping" / "az1a-az2a"], out=tmp_path)
    study = az.load("mine", processed=tmp_path)
    files.export(study, tmp_path / "views.duckdb", "duckdb")
    samples = study.folder / "samples" / "tool=ping" / "part-0.parquet"
    shutil.copy(samples, samples.with_name("._part-0.parquet"))
    with duckdb.connect(str(tmp_path / "views.duckdb"), read_only=True) as database:
        assert database.execute("SELECT count(*) FROM samples").fetchone() == (len(study.samples),)


def test_nothing_is_overwritten_and_unknown_names_need_a_format(project: Path) -> None:
    (project / "there").mkdir()
    refused = azlatency("export", "nightly", "--to", "there", cwd=project)
    assert refused.returncode == 1 and "exists; choose another name" in refused.stderr
    assert azlatency("export", "nightly", "--to", "x.xls", cwd=project).returncode == 2
    assert not [path for path in project.iterdir() if path.name.endswith(".part")]


def test_what_a_killed_export_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    finished = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    left = tmp_path / f".azlatency.{int(finished.stdout)}.part"
    left.mkdir()
    (left / "latency.csv").write_text("half", "utf-8")
    running = tmp_path / ".azlatency.1.part"
    running.mkdir()
    files.export(load("westeurope-azure-cni"), tmp_path / "results", "csv")
    assert not left.exists() and running.exists(), "an export that is running keeps its files"
    left.mkdir()
    with pytest.raises(az.LogError, match="exists; choose another name"):
        files.export(load("westeurope-azure-cni"), tmp_path / "results", "csv")
    assert not left.exists(), "also if this one is refused"
    # DuckDB writes a log beside its file.
    log = tmp_path / f".azlatency.{int(finished.stdout)}.part.wal"
    log.write_bytes(b"half")
    with pytest.raises(az.LogError, match="exists; choose another name"):
        files.export(load("westeurope-azure-cni"), tmp_path / "results", "csv")
    assert not log.exists()


FULL_DISK = """
import resource, signal, sys
from azlatency.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), resource.RLIM_INFINITY))
main()
"""


@pytest.mark.costly
@pytest.mark.parametrize(
    ("size", "target"),
    [
        pytest.param(10_000, "n.duckdb", marks=pytest.mark.slow),
        pytest.param(60_000, "n.duckdb", marks=pytest.mark.slow),
        pytest.param(50, "n.lp", marks=pytest.mark.slow),
        (50, "n"),
    ],
)
def test_a_full_disk_is_one_line_and_leaves_nothing(project: Path, size: int, target: str) -> None:
    pytest.importorskip("resource")
    before = sorted(project.iterdir())
    command = [sys.executable, "-c", FULL_DISK, str(size), "export", "nightly", "--to", target]
    done = subprocess.run(command, check=False, cwd=project, capture_output=True, text=True)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.endswith("free space or check the permissions\n")
    assert sorted(project.iterdir()) == before
