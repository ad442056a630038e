"""Each number of a table leads to its log: every table of every notebook, made from the studies of the repository."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from helpers.places import ROOT

import azlatency as az
from azlatency.report.objects import NO_LOG, Reported, Runs, Stated, Table
from azlatency.site.provenance import Logs, Trail
from azlatency.site.provenance_index import Found
from azlatency.studies.store import Study, import_study, load

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[01]*.ipynb"))
STUDIES = (
    "westeurope-azure-cni", "westeurope-availability-set-vs-zones", "uksouth-echo-latency",
    "canadacentral-proximity-placement", "cassandra-vm-baseline",
)  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder with the imported studies, the logs where they are in the repository."""
    root = tmp_path_factory.mktemp("data")
    (root / "raw").symlink_to(ROOT / "data" / "raw")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AZLATENCY_DATA", str(root))
        for name in (*STUDIES, "emulated-zones"):
            import_study(name)
        yield root


def tables(notebook: Path, study: str) -> list[Table]:
    """The tables that the cells of a notebook return; its charts are not drawn."""
    names: dict[str, Any] = {}
    found = []
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(cell["source"])).body
        body = [each for each in body if not (isinstance(each, ast.Expr) and ".charts." in ast.unparse(each))]
        shown = ast.unparse(body.pop()) if body and isinstance(body[-1], ast.Expr) else "None"
        exec(compile(ast.Module(body, []), notebook.name, "exec"), names)
        names["study"] = study
        found.append(eval(shown, names))
    return [each for each in found if isinstance(each, Table)]


class Row(NamedTuple):
    """A row of a table as a page gets it."""

    table: Table
    cells: tuple[str, ...]
    said: Mapping[str, Any]

    @property
    def numbers(self) -> dict[int, str]:
        """The cells that are numbers: flush right, or beginning with a digit."""
        cells = enumerate(self.cells)
        return {
            column: cell for column, cell in cells
            if re.search(r"\d", cell) and (column in self.table.numeric or (column and cell[0].isdigit()))
        }  # fmt: skip


def rows(notebook: Path, study: str) -> Iterator[Row]:
    for table in tables(notebook, study):
        origins = table._repr_mimebundle_()[1]["azlatency"].get("origins", [])
        for number, cells in enumerate(table.rows):
            yield Row(table, tuple(cells), origins[number] if number < len(origins) else {})


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_number_of_every_table_has_an_answer(notebook: Path, data: Path) -> None:
    without = []
    for study in STUDIES:
        trail = Trail(Logs(load(study)))
        for row in rows(notebook, study):
            if row.numbers and trail.row(row.cells, row.said) is None:
                without += (
                    [] if any(NO_LOG in note for note in row.table.notes) else [(study, row.table.caption, row.cells)]
                )
    assert without == []


@pytest.mark.parametrize("name", ["01", "02", "05", "06", "10"])
def test_as_many_lines_are_named_as_a_row_has_runs(name: str, data: Path) -> None:
    notebook = next(each for each in NOTEBOOKS if each.name.startswith(name))
    compared = 0
    for study in ("emulated-zones", "westeurope-azure-cni"):
        origins = Logs(load(study)).origins
        for row in rows(notebook, study):
            column = next(
                (row.table.headers.index(each) for each in ("runs", "done") if each in row.table.headers), None
            )
            said = row.said.get("0", [])
            if column is None or len(said) != 1 or said[0]["from"] != "Runs":
                continue
            assert len(origins.found(said, row.cells)) == int(row.cells[column].replace(",", "")), row.cells
            compared += 1
    assert compared >= 12


def test_a_printed_number_stands_in_the_line_that_it_leads_to(data: Path) -> None:
    for study in ("emulated-zones", "westeurope-azure-cni", "canadacentral-proximity-placement"):
        logs = Logs(load(study))
        headline = [row for row in rows(NOTEBOOKS[0], study) if "headline" in row.table.caption]
        cells = {(number, column) for number, row in enumerate(headline) for column in row.numbers}
        assert cells == {(number, int(each)) for number, row in enumerate(headline) for each in row.said}
        for number, column in cells:
            row = headline[number]
            place = next(each.place for each in logs.origins.found(row.said[str(column)], row.cells))
            token, quoted = row.cells[column].split(" ")[0], str(logs.quotes([place])[place])
            # The JSON of iperf3 has count and rate on two lines; a stream of the tables has one, that of the count.
            assert token in quoted or '"bytes"' in quoted, row.cells


@pytest.mark.parametrize("study", ["emulated-zones", "westeurope-azure-cni"])
def test_sizes_of_runs_lead_to_the_runs_that_were_counted(study: str, data: Path) -> None:
    (row, *_) = (row for row in rows(NOTEBOOKS[10], study) if row.table.caption.startswith("Fewest observations"))
    assert row.cells[4].endswith(f" of {len(Logs(load(study)).origins.found(row.said['0'], row.cells)):,}")


def lines(logs: Logs, *said: Runs | Stated | Reported) -> list[tuple[str, int, str | None]]:
    """File, line and text of what origins lead to."""
    found: list[Found] = logs.origins.found([each.record() for each in said])
    return [
        (logs.name(place.source), place.line, logs.quotes([place])[place._replace(last=None)]) for place, _ in found
    ]


def test_what_was_programmed_leads_to_its_line(data: Path) -> None:
    row = next(row for row in rows(NOTEBOOKS[4], "emulated-zones") if "programmed one-way" in row.table.caption)
    assert (row.cells[0], row.cells[2]) == ("az1a ↔ az2a", "65")
    # Read by hand in truth.json.
    file, line, said = lines(Logs(load("emulated-zones")), _stated(row, 2))[0]
    assert (file, line) == ("truth.json", 94)
    assert str(said).strip() == '"expected_mean_one_way_us_without_overhead": 65.11,'


def _stated(row: Row, column: int) -> Stated:
    said = dict(row.said[str(column)][0])
    assert said.pop("from") == "Stated"
    return Stated(**said)


def test_an_expectation_leads_to_its_number(data: Path) -> None:
    logs = Logs(load("cassandra-vm-baseline"))
    row = next(row for row in rows(NOTEBOOKS[6], "cassandra-vm-baseline") if row.cells[0].startswith("network latency"))
    # Read by hand in baseline.toml.
    assert lines(logs, _stated(row, 3)) == [("baseline.toml", 12, 'printed = "40-50ms"')]
    assert lines(logs, _stated(row, 4)) == [("baseline.toml", 9, "low = 40_000")]


def test_reported_numbers_lead_to_the_line_of_that_number(data: Path) -> None:
    logs = Logs(load("uksouth-echo-latency"))
    mean = lines(logs, Reported("Same AZ", "rtt_mean"))
    assert [(file, line) for file, line, _ in mean] == [("reported.csv", 2)] and "850 μs" in str(mean[0][2])
    assert "1,050 μs" in str(lines(logs, Reported("Same AZ", "rtt", "0.99"))[0][2])
    stretches = lines(logs, Reported("Same AZ", "rtt_mean", segment=True))
    assert len(stretches) == 5 and "813.14" in str(stretches[0][2])


def test_a_comparison_leads_to_the_runs_of_both_studies(data: Path) -> None:
    logs = Logs(load("westeurope-azure-cni"))
    found = lines(logs, Runs("run", every=True), Runs("run", every=True, before=True))
    other = [name for name, _, _ in found if name.startswith("westeurope-availability-set-vs-zones/")]
    assert (len(found) - len(other), len(other)) == (25, 8) and all(text for _, _, text in found)


def test_the_life_of_connections_leads_to_the_connections(data: Path) -> None:
    study: Study = load("emulated-zones")
    life = az.intime.connections(az.intime.runs_in_time(study, az.latency(study)))
    assert len(lines(Logs(study), Runs("samples", every=True, part="TCP"))) == life.n
