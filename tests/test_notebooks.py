"""The rules of the notebooks: thin, parameterised, stored with outputs; and the numbers of the two first studies."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from helpers.places import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MOST_LINES = 9


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> Any:
    return nbformat.read(request.param, as_version=4)


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3


def test_one_cell_holds_the_typed_parameters(notebook: Any) -> None:
    tagged = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    assert len(tagged) == 1
    lines = tagged[0].source.splitlines()
    for line, node in zip(lines, ast.parse(tagged[0].source).body, strict=True):
        assert isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Constant)
        assert "  # " in line, "each parameter has a comment"
    assert "study" in [node.target.id for node in ast.parse(tagged[0].source).body]


def test_pages_of_results_can_look_at_some_pairs_and_save_their_charts() -> None:
    """Of every page but those of a whole study: typed parameters, and the load cell uses them."""
    for path in NOTEBOOKS:
        if path.stem in ("index", "00_summary", "00_what_was_measured"):
            continue
        sources = [cell.source for cell in code_cells(nbformat.read(path, as_version=4))]
        assert 'pairs: str = ""' in sources[0] and 'export: str = ""' in sources[0], path.stem
        assert f'az.charts.export(export, f"figures/{{study}}/{path.stem}")' in sources[1]
        assert "az.studies.select(az.load(study), pairs)" in sources[1]


def test_cells_are_thin(notebook: Any) -> None:
    for cell in code_cells(notebook):
        assert len(cell.source.splitlines()) <= MOST_LINES
        assert not cell.source.rstrip().endswith(";")
        for node in ast.walk(ast.parse(cell.source)):
            assert not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.For | ast.While | ast.Lambda)
            if isinstance(node, ast.Import):
                assert {alias.name for alias in node.names} <= {"azlatency", "numpy", "pandas"}
            if isinstance(node, ast.ImportFrom):
                assert node.module in ("azlatency.pages", "scipy.stats")


def test_the_title_asks_a_question_and_the_answer_stands_below_it(notebook: Any) -> None:
    first = notebook.cells[0]
    assert first.cell_type == "markdown"
    assert first.source.startswith("# ")
    assert "**Question:**" in first.source
    shown = next(cell for cell in code_cells(notebook) if cell.outputs)
    kinds = {kind for output in shown.outputs for kind in output.data}
    assert {"application/vnd.azlatency.findings+json", "application/vnd.azlatency.card+json"} & kinds
    headings = [
        line.removeprefix("## ")
        for cell in notebook.cells
        for line in cell.source.splitlines()
        if line.startswith("## ")
    ]
    assert headings[-1] == "Method and provenance"
    assert all(cell.cell_type == "code" for cell in notebook.cells[1 : notebook.cells.index(shown)])


def test_outputs_are_stored_and_in_order(notebook: Any) -> None:
    cells = code_cells(notebook)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    # Parameters, the loading of a study, and differences of machines where there are none, print nothing.
    assert sum(bool(cell.outputs) for cell in cells) >= len(cells) - 3
    for cell in cells:
        assert not any(output.output_type in ("error", "stream") for output in cell.outputs)
    assert not {"papermill", "execution"} & set(notebook.metadata)


def text_of(stem: str) -> str:
    path = next(path for path in NOTEBOOKS if path.stem == stem)
    notebook = nbformat.read(path, as_version=4)
    outputs = [output for cell in code_cells(notebook) for output in cell.outputs]
    return "\n".join(output.get("data", {}).get("text/plain", "") for output in outputs)


#: The summary table of the second study's notes: iperf3 (Gbit/s), ntttcp (Gbit/s), qperf (us), sockperf (us).
SUMMARY = {
    "Single node": ("25.7", "98.39", "16.9", "16.791"),
    "AZ1 - AZ1": ("11.8", "11.82", "38.8", "37.645"),
    "AZ1 - AZ2": ("11.8", "11.82", "60.5", "60.563"),
    "AZ2 - AZ3": ("8.25", "11.91", "718", "708.390"),
    "AZ1 - AZ3": ("7.91", "11.87", "699", "698.945"),
}


@pytest.mark.parametrize("path", SUMMARY)
def test_the_second_studys_summary_is_reproduced(path: str) -> None:
    table = text_of("00_what_was_measured").split("The headline numbers as printed")[1].split("Printed tokens")[0]
    (line,) = (line for line in table.splitlines() if line.startswith(path))
    iperf3, ntttcp, qperf, sockperf = SUMMARY[path]
    cells = line.removeprefix(path).split("  ")
    cells = [cell.strip() for cell in cells if cell.strip()]
    assert cells[0] == f"{iperf3} Gbits/sec"
    assert cells[1] == f"{ntttcp} Gbps"
    assert cells[-3] == f"{qperf} us"
    assert cells[-2] == f"{sockperf} usec"
    assert cells[-1].startswith("one run per method")


def test_the_page_on_throughput_names_the_path_that_never_crossed_the_network() -> None:
    assert "between programs on one host. It never crossed the network" in text_of("02_throughput")


def test_a_code_host_shows_the_caption_of_each_figure_and_the_study(notebook: Any) -> None:
    """A code host runs no script and shows one form of each output."""
    outputs = [output for cell in code_cells(notebook) for output in cell.outputs]
    kinds = [output.get("metadata", {}).get("azlatency", {}).get("kind") for output in outputs]
    for figure, output in enumerate(outputs):
        if kinds[figure] == "figure":
            assert {"image/svg+xml", "image/png"} <= output.data.keys(), "Jupyter shows SVG in trusted notebooks only"
            assert kinds[figure + 1] == "caption"
            assert outputs[figure + 1].data["text/markdown"].startswith("**Figure.** ")
            assert outputs[figure + 1].data["text/plain"] == f"Figure. {output.metadata['azlatency']['caption']}"
    (parameters,) = (cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", []))
    (study,) = (line for line in parameters.source.splitlines() if line.startswith("study:"))
    assert f"(`{study.split(chr(34))[1]}`).*" in notebook.cells[0].source


def test_the_notebooks_stay_small_enough_for_a_repository() -> None:
    assert sum(path.stat().st_size for path in NOTEBOOKS) < 6_000_000


# --- a page is shown


def shown_by(page: Path) -> list[str]:
    """Return the public functions of a page that make something to show: a table, a chart, findings."""
    functions = [node for node in ast.parse(page.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)]
    made = {"Chart", "Table", "Findings"}
    return [
        function.name
        for function in functions
        if not function.name.startswith("_")
        and made & set(re.findall(r"\w+", ast.unparse(function.returns or function)))
    ]


PAGES = sorted((ROOT / "azlatency" / "pages").glob("[a-z]*.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_notebooks_show_everything_that_a_page_makes(page: Path) -> None:
    own = [path for path in NOTEBOOKS if path.stem.lstrip("0123456789_") == page.stem]
    shared = set() if own else {"percentile_table", "typical_runs"}  # parts of the tables of pages
    cells = [cell.source for path in own or NOTEBOOKS for cell in code_cells(nbformat.read(path, as_version=4))]
    shown = set(re.findall(r"\.(\w+)\(", "\n".join(cells)))
    assert set(shown_by(page)) - shared <= shown, "add a cell, or delete the function"
    assert shown_by(page)
