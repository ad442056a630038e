"""From a number to the lines of its log."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from helpers.places import ROOT

from azlatency.kit.cells import FileRef, Ref, ReportedRef, RunsRef, ref_record
from azlatency.logs.source.expand import expand
from azlatency.site import provenance
from azlatency.site.provenance import LINE, NAMED, Place, StudyLogs, Trail, shown
from azlatency.studies.imports.importer import import_study
from azlatency.studies.store.study import Study, load

LOG = ROOT / "data" / "raw" / "westeurope-azure-cni" / "az1-az1" / "sockperf.log"


EVIL = "<script>alert(1)</script>"


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StudyLogs:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path / "data"))
    folder = tmp_path / "data" / "raw" / "mine"
    folder.mkdir(parents=True)
    (folder / "run.log").write_text(LOG.read_text("utf-8") + f"{EVIL}\x1b[31m red\u202e\n" + "W" * 999 + "\n", "utf-8")
    import_study("mine")
    return StudyLogs(load("mine"))


def test_a_line_is_quoted_as_it_stands(logs: StudyLogs) -> None:
    study = load("mine")
    source = study.sources["source_id"][0]
    printed = study.quantiles[study.quantiles["q"] == 0.99].iloc[0]
    place = Place(source, int(printed["line"]))
    # Read by hand: line 21 of the log.
    expected = LOG.read_text("utf-8").splitlines()[place.line - 1]
    assert str(printed["printed"]) in expected
    assert logs.quotes([place]) == {place: expected.rstrip()}
    count = len(LOG.read_text("utf-8").splitlines())
    assert logs.quotes([Place(source, count + 1)])[Place(source, count + 1)] == f"{EVIL} red\\u202e"
    long = logs.quotes([Place(source, count + 2)])[Place(source, count + 2)]
    assert long == "W" * LINE + " …"
    assert logs.quotes([Place(source, 10**9)]) == {Place(source, 10**9): None}


def test_a_changed_log_is_not_quoted(logs: StudyLogs, tmp_path: Path) -> None:
    source = load("mine").sources["source_id"][0]
    (tmp_path / "data" / "raw" / "mine" / "run.log").write_text("something else\n" * 99, "utf-8")
    assert logs.quotes([Place(source, 3)]) == {Place(source, 3): None}


def test_logs_of_an_archive_from_elsewhere_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the archive is read once, however many of its logs are quoted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path / "data"))
    (tmp_path / "dump").mkdir()
    for number in range(3):
        (tmp_path / "dump" / f"run{number}.log").write_text(LOG.read_text("utf-8") + f"end {number}\n", "utf-8")
    archive = Path(shutil.make_archive(str(tmp_path / "dump"), "zip", tmp_path / "dump"))
    import_study("mine", [archive])
    read: list[Path] = []
    monkeypatch.setattr(provenance, "expand", lambda path: (read.append(path), expand(path))[1])
    study = load("mine")
    last = len(LOG.read_text("utf-8").splitlines()) + 1
    places = {Place(row.source_id, last): f"end {row.path[-5]}" for row in study.sources.itertuples()}
    assert StudyLogs(study).quotes(places) == places
    assert len(places) == 3
    assert read == [archive]


def test_places_of_other_files_are_not_read(logs: StudyLogs) -> None:
    source = load("mine").sources["source_id"][0]
    refs: list[Ref] = [FileRef(file, line=1) for file in ("/etc/passwd", "../../x", "x", "")]
    refs += [FileRef(source, line=3), FileRef(source, line=3, last=9), FileRef(source), RunsRef((f"{source}-99",))]
    refs += [FileRef(file, "name") for file in ("/etc/passwd", "../study.toml", "run.log", "study.toml")]
    places = [place for place, _ in logs.index.find([ref_record(ref) for ref in refs])]
    assert places == [Place(source, 3), Place(source, 3, 9)]


def test_malformed_references_lead_nowhere(logs: StudyLogs) -> None:
    refs = [
        None, 1, [], {}, "x:1", {"ref": "Study"}, {"ref": []}, {"ref": "RunsRef", "run_ids": 3},
        {"ref": "RunsRef", "run_ids": [[], None]}, {"ref": "FileRef", "file": []}, {"ref": "FileRef", "line": "1"},
    ]  # fmt: skip
    assert logs.index.find(refs) == []
    trail = Trail(logs)
    assert trail.row({"refs": refs, "cell_refs": {"x": ["y"], "1": ["run.log:1"], "2": [], "²": [1]}}, "x") is None
    assert trail.row({"refs": 3, "cell_refs": {"1": "run.log:1"}}, "x") is None and trail.row({}, "x") is None


def row(refs: list[Ref], cells: dict[int, Ref] | None = None) -> dict[str, Any]:
    """A row of a table's record."""
    cell_refs = {str(column): [ref_record(ref)] for column, ref in (cells or {}).items()}
    return {"refs": [ref_record(ref) for ref in refs], "cell_refs": cell_refs}


def test_rows_lead_to_lines_or_to_their_runs(logs: StudyLogs) -> None:
    study = load("mine")
    source, run_id = study.sources["source_id"][0], study.runs["run_id"][0]
    trail = Trail(logs)
    whole = trail.row(row([FileRef(source, line=1, last=9)], {1: FileRef(source, line=4)}), "x")
    assert whole is not None and whole.target == "f_0" and whole.at == {1: "q_0_4"}
    # Line 13 of the log, read by hand: the mean.
    mean = trail.row(row([RunsRef((run_id,), "mean_ns")]), "x")
    assert mean is not None and mean.target == "q_0_13" and mean.at == {}
    assert trail.row(row([RunsRef(("another",), "mean_ns")]), "x") is None
    by_cells = trail.row(row([], {1: FileRef(source, line=4)}), "x")
    assert by_cells is not None and by_cells.target == "q_0_4", "a row of a headline has references of cells alone"
    samples = trail.row(row([RunsRef((run_id,), "samples")]), "all")
    assert samples is not None and samples.target == "g_0"
    assert trail.groups[0].count == "computed from 1 run" and trail.groups[0].others == 0
    assert [(file.path, [line for line, _ in file.quotes]) for file in trail.files] == [("run.log", [2, 4, 13])]


def test_many_runs_are_counted_and_the_first_named(logs: StudyLogs) -> None:
    source = load("mine").sources["source_id"][0]
    trail = Trail(logs)
    assert trail.row(row([FileRef(source, line=line) for line in range(1, 21)]), "x") is not None
    assert trail.groups[0].count == "20 lines" and trail.groups[0].others == 20 - NAMED
    assert len(trail.groups[0].first) == NAMED == len(trail.files[0].quotes)


def test_reported_numbers_and_expectations_lead_to_their_lines(tmp_path: Path) -> None:
    def imported(name: str) -> Study:
        import_study(name, [ROOT / "data" / "raw" / name], out=tmp_path)
        return load(name, processed=tmp_path)

    trail = Trail(StudyLogs(imported("uksouth-echo-latency")))
    assert trail.row(row([ReportedRef("Same AZ", "rtt_mean")]), "Same AZ") is not None
    quotes = trail.files[0].quotes
    assert trail.files[0].path == "reported.csv" and quotes[0][0] == 2
    # Read by hand: the second line of reported.csv.
    assert str(quotes[0][1]).startswith(
        "Same AZ,echo,rtt_mean,mean,,,uksouth,1,uksouth,1,Standard_B1s,,same_zone,850 μs"
    )
    study = imported("westeurope-azure-cni")
    trail, name = Trail(StudyLogs(study)), study.expectations[0]["name"]
    assert trail.row(row([FileRef("baseline", "name", name)]), name) is not None
    assert name in str(trail.files[0].quotes[0][1]) and trail.files[0].path == "baseline.toml"


def test_control_characters_are_shown() -> None:
    assert shown("a\tb\x00c\x1b[0m\x07 \u2066") == "a b\\u0000c\\u0007 \\u2066"
    assert shown("progress\rdone") == "progress ⏎ done"
