"""The sides, tools and paths that `azlatency compare` is asked for, and the rows of its reports."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.sides import write_side

import azlatency as az
from azlatency.gate.formats import Line, Sheet, markdown
from azlatency.gate.inputs import open_study
from azlatency.gate.verdict import judge
from azlatency.logs.parse import LogError
from azlatency.studies.runs.run_table import run_table
from azlatency.studies.runs.selection import select_scenario


@pytest.fixture(scope="module")
def study(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> az.Study:
    folder = tmp_path_factory.mktemp("filters")
    az.import_study("rounds", [write_side(raw, folder / "rounds", "123")], out=folder)
    return az.load("rounds", processed=folder)


def test_a_study_that_was_imported_from_elsewhere_is_not_imported_again(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path / "data"))
    az.import_study("mine", [write_side(raw, tmp_path / "elsewhere", "1")])
    assert open_study("mine").imported_from() == [tmp_path / "elsewhere"]
    with pytest.raises(LogError, match="known studies: mine"):
        open_study("yours")


@pytest.mark.parametrize(
    ("options", "message"),
    [({"tool": "qpref"}, "measured: qperf"), ({"path": "nowhere*"}, "measured: zone 1 → zone 1"),
     ({"confidence": 0.2}, "confidence 0.2 is out of range")],
)  # fmt: skip
def test_a_filter_that_fits_nothing_is_refused(study: az.Study, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        judge(study, study, names=("a", "b"), **options)


@pytest.mark.slow
def test_every_pair_of_scenarios_is_compared(study: az.Study) -> None:
    found = judge(study, None, names=("rounds", ""), across=["scenario"])
    scenarios = set(run_table(study)["scenario"])
    assert len(scenarios) > 2 and found.rows["path"].str.contains(" against ").all()
    one = select_scenario(study, min(scenarios))
    with pytest.raises(ValueError, match="the study has 1 scenarios, and --across scenario compares 2 to"):
        judge(one, None, names=("rounds", ""), across=["scenario"])


def sheet_of(count: int) -> Sheet:
    lines = (
        Line(mark="bad", cells={"verdict": "CHANGED", "path": str(at)}, name="", group="", message="")
        for at in range(count)
    )
    texts = {"command": "compare", "headline": "x", "folded": "", "failure": ""}
    return Sheet(mark="bad", intro=(), lines=tuple(lines), notes=(), properties={}, **texts)


def test_a_table_of_very_many_rows_is_cut() -> None:
    text = markdown(sheet_of(502))
    assert "| 499 |" in text and "| 500 |" not in text and "\n2 more rows.\n" in text
    assert "|" not in markdown(sheet_of(0))
