"""Each number of a table leads to its log: every table of every notebook, made from the studies of the repository."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest
from helpers.places import ROOT
from helpers.studies import load, load_in_time

import azlatency as az
from azlatency.kit.cells import NO_LOG, FileRef, Ref, ReportedRef, RunsRef, Table, ref_record
from azlatency.site.provenance import StudyLogs, Trail

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[01]*.ipynb"))
MEASURED, ZONE_PAIRS, BASELINE, PLAN = (
    ROOT / "notebooks" / f"{name}.ipynb"
    for name in ("00_what_was_measured", "04_zone_pair_asymmetry", "06_vm_baseline", "10_plan_the_next_run")
)
STUDIES = (
    "westeurope-azure-cni", "westeurope-availability-set-vs-zones", "uksouth-echo-latency",
    "canadacentral-proximity-placement", "cassandra-vm-baseline",
)  # fmt: skip


@cache
def logs_of(study: str) -> StudyLogs:
    return StudyLogs(load(study))


@cache
def tables(notebook: Path, study: str) -> list[Table]:
    """Return the tables that the cells of a notebook return; its charts are not drawn."""
    names: dict[str, Any] = {}
    shown_values = []
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(cell["source"])).body
        body = [node for node in body if not (isinstance(node, ast.Expr) and ".charts." in ast.unparse(node))]
        shown = ast.unparse(body.pop()) if body and isinstance(body[-1], ast.Expr) else "None"
        with mock.patch.object(az, "load", load):
            exec(compile(ast.Module(body, []), notebook.name, "exec"), names)
            names["study"] = study
            shown_values.append(eval(shown, names))
    return [value for value in shown_values if isinstance(value, Table)]


def test_the_p99_of_a_run_leads_to_the_line_that_prints_it() -> None:
    study = load("aws-euwest1-lagscope")
    index = logs_of("aws-euwest1-lagscope").index
    for run_id in az.latency(study).index:
        (place,) = index.find([ref_record(RunsRef((run_id,), "p99_ns"))])
        assert place.what == "number" and [place] == index.find([ref_record(RunsRef((run_id,), q=0.99))])


class Row(NamedTuple):
    """A row of a table as a page gets it."""

    table: Table
    columns: Sequence[Mapping[str, Any]]
    record: Mapping[str, Any]

    @property
    def cells(self) -> list[str]:
        """The cells as a reader sees them."""
        return list(self.record["cells"])

    @property
    def numbers(self) -> dict[int, str]:
        """The cells that are numbers: flush right, or beginning with a digit."""
        return {
            column: cell
            for column, cell in enumerate(self.cells)
            if re.search(r"\d", cell) and (self.columns[column]["right"] or (column and cell[0].isdigit()))
        }


def rows(notebook: Path, study: str) -> Iterator[Row]:
    for table in tables(notebook, study):
        page = table.record()
        yield from (Row(table, page["columns"], record) for record in page["rows"])


@pytest.mark.costly
@pytest.mark.parametrize(
    "notebook",
    [path if path == MEASURED else pytest.param(path, marks=pytest.mark.slow) for path in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_every_number_of_every_table_has_an_answer(notebook: Path) -> None:
    without = []
    for study in STUDIES:
        trail = Trail(logs_of(study))
        for row in rows(notebook, study):
            if row.numbers and trail.row(row.record, row.cells[0]) is None:
                without += (
                    [] if any(NO_LOG in note for note in row.table.notes) else [(study, row.table.caption, row.cells)]
                )
    assert without == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["02", "06", *(pytest.param(name, marks=pytest.mark.slow) for name in ("01", "05", "10"))]
)
def test_as_many_lines_are_named_as_a_row_has_runs(name: str) -> None:
    notebook = next(path for path in NOTEBOOKS if path.name.startswith(name))
    compared = 0
    for study in ("emulated-zones", "westeurope-azure-cni"):
        index = logs_of(study).index
        # A test with a log at each end is one run, and its row leads to both logs.
        other_ends = set(az.throughput(load(study))["other_end"].dropna())
        for row in rows(notebook, study):
            headers = [column["header"] for column in row.columns]
            column = next((headers.index(header) for header in ("runs", "done") if header in headers), None)
            refs = row.record["refs"]
            if column is None or len(refs) != 1 or refs[0]["ref"] != "RunsRef":
                continue
            run_ids = tuple(run_id for run_id in refs[0]["run_ids"] if run_id not in other_ends)
            counts = row.cells[column].replace(",", "").split(" / ")
            assert len(index.find([refs[0] | {"run_ids": run_ids}])) == sum(map(int, counts)), row.cells
            compared += 1
    assert compared >= 12


def test_a_printed_number_stands_in_the_line_that_it_leads_to() -> None:
    for study in ("emulated-zones", "westeurope-azure-cni", "canadacentral-proximity-placement"):
        logs = logs_of(study)
        for row in (row for row in rows(MEASURED, study) if "headline" in row.table.caption):
            assert set(row.numbers) == {int(column) for column in row.record["cell_refs"]}
            for column, refs in row.record["cell_refs"].items():
                place = logs.index.find(refs)[0].place
                token, quoted = row.cells[int(column)].split(" ")[0], str(logs.quotes([place])[place])
                # The JSON of iperf3 has count and rate on two lines; a stream of the tables has one, that of the count.
                assert token in quoted or '"bytes"' in quoted, row.cells


@pytest.mark.parametrize("study", [pytest.param("emulated-zones", marks=pytest.mark.slow), "westeurope-azure-cni"])
def test_sizes_of_runs_lead_to_the_runs_that_were_counted(study: str) -> None:
    (row, *_) = (row for row in rows(PLAN, study) if row.table.caption.startswith("Fewest observations"))
    assert row.cells[4].endswith(f" of {len(logs_of(study).index.find(row.record['refs'])):,}")


def lines(logs: StudyLogs, *refs: Ref | Mapping[str, Any]) -> list[tuple[str, int, str | None]]:
    """File, line and text of what references lead to."""
    places = logs.index.find([ref if isinstance(ref, Mapping) else ref_record(ref) for ref in refs])
    return [
        (logs.name(place.source), place.line, logs.quotes([place])[place._replace(last=None)]) for place, _ in places
    ]


@pytest.mark.slow
def test_what_was_configured_leads_to_its_line() -> None:
    row = next(row for row in rows(ZONE_PAIRS, "emulated-zones") if "recorded differences" in row.table.caption)
    assert row.cells[1] == "az1a → az2a"
    # Read by hand in truth.json: this path and its way back, then the shortest path, with which it is compared.
    there, _, near, _ = lines(logs_of("emulated-zones"), *(ref for ref in row.record["refs"] if "file" in ref))
    assert there[:2] == ("truth.json", 13)
    assert str(there[2]).strip().startswith('"az1a->az2a": {"base_us": 85.0,')
    assert str(near[2]).strip().startswith('"az1a->az1b": {"base_us": 25.0,')


def test_an_expectation_leads_to_its_number() -> None:
    logs = logs_of("cassandra-vm-baseline")
    row = next(row for row in rows(BASELINE, "cassandra-vm-baseline") if row.cells[0].startswith("network latency"))
    # Read by hand in baseline.toml.
    assert lines(logs, *row.record["cell_refs"]["4"]) == [("baseline.toml", 12, 'printed = "40-50ms"')]
    assert lines(logs, *row.record["cell_refs"]["1"]) == [("baseline.toml", 9, "low = 40_000")]


def test_reported_numbers_lead_to_the_line_of_that_number() -> None:
    logs = logs_of("uksouth-echo-latency")
    mean = lines(logs, ReportedRef("Same AZ", "rtt_mean"))
    assert [(file, line) for file, line, _ in mean] == [("reported.csv", 2)] and "850 μs" in str(mean[0][2])
    assert "1,050 μs" in str(lines(logs, ReportedRef("Same AZ", "rtt", "0.99"))[0][2])
    segments = lines(logs, ReportedRef("Same AZ", "rtt_mean", segment=True))
    assert len(segments) == 5 and "813.14" in str(segments[0][2])


def test_a_comparison_leads_to_the_runs_of_both_studies() -> None:
    studies = load("westeurope-azure-cni"), load("westeurope-availability-set-vs-zones")
    quoted = lines(logs_of("westeurope-azure-cni"), *(RunsRef(tuple(study.runs["run_id"]), "run") for study in studies))
    other = [name for name, _, _ in quoted if name.startswith("westeurope-availability-set-vs-zones/")]
    assert (len(quoted) - len(other), len(other)) == (25, 8) and all(text for _, _, text in quoted)


def test_a_file_of_the_study_before_leads_there() -> None:
    quoted = lines(logs_of("westeurope-azure-cni"), FileRef("study.toml", "region", before=True))
    assert [file for file, _, _ in quoted] == ["westeurope-availability-set-vs-zones/study.toml"]
    assert "region" in str(quoted[0][2])


def test_the_life_of_connections_leads_to_the_connections() -> None:
    found = load_in_time("emulated-zones")
    (life,) = az.stats.time_series.connection_lifetimes(found.runs).summary.to_dict("records")
    assert len(lines(logs_of("emulated-zones"), RunsRef(tuple(life["run_ids"].split()), "samples"))) == life["n"] > 0
