"""The site around the pages: what is run again, the way from a number to its log, search, documentation."""

from __future__ import annotations

import json
import re
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from helpers.places import ROOT
from helpers.sites import broken_links, write
from nbformat.v4 import new_code_cell, new_markdown_cell

from azlatency.report.table import FileRef, Ref, ReportedRef, RunsRef, ref_record
from azlatency.site import build as report
from azlatency.site import freshness
from azlatency.site.api import _markdown, modules
from azlatency.site.documentation import Documents
from azlatency.site.kernels.warm import WarmKernel
from azlatency.site.markdown import markdown
from azlatency.site.provenance import LINE, NAMED, Logs, Place, Trail, shown
from azlatency.site.search import WHOLE, texts_of
from azlatency.studies.importer import import_study
from azlatency.studies.store import Study, load

LOG = ROOT / "data" / "raw" / "westeurope-azure-cni" / "az1-az1" / "sockperf.log"
EVIL = "<script>alert(1)</script>"


# --- what is run again


@dataclass
class Project:
    """A folder with two studies and two notebooks; ``build`` gives the notebooks that were run for it."""

    root: Path
    ran: list[tuple[str, str]] = field(default_factory=list)

    @property
    def site(self) -> Path:
        return self.root / "site"

    def build(self, *studies: str, force: bool = False) -> list[tuple[str, str]]:
        self.ran.clear()
        report.build(self.site, list(studies) or None, force=force)
        return sorted(self.ran)

    def log(self, study: str, name: str, text: str) -> None:
        folder = self.root / "data" / "raw" / study
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "study.toml").write_text(f'[study]\nname = "{study}"\n', "utf-8")
        (folder / name).write_text(text, "utf-8")

    def text(self, page: str) -> str:
        return (self.site / page).read_text("utf-8")


LOAD = "import azlatency as az\nstudied = az.load(study)\nlen(studied.sources)"
ALL = [("01", "a"), ("01", "b"), ("02", "a"), ("02", "b")]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    made = Project(tmp_path)
    for name in ("a", "b"):
        made.log(name, "sockperf.log", LOG.read_text("utf-8"))
    write(tmp_path / "notebooks", "01.ipynb", new_markdown_cell("# One"), new_code_cell(LOAD))
    write(tmp_path / "notebooks", "02.ipynb", new_code_cell(LOAD + ", len(az.load('a').sources)"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AZLATENCY_DATA", raising=False)
    for name in ("a", "b"):
        import_study(name)
    run = WarmKernel.run

    def noted(kernel: WarmKernel, path: Path, parameters: dict[str, Any]) -> Any:
        made.ran.append((path.stem, parameters["study"]))
        return run(kernel, path, parameters)

    monkeypatch.setattr(WarmKernel, "run", noted)
    # Starting a kernel costs more than these notebooks.
    monkeypatch.setattr(report, "worker_count", lambda: 1)
    yield made


def test_only_what_changed_is_run_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    assert project.build() == ALL
    before = {path: path.stat().st_mtime_ns for path in project.site.rglob("*.*")}
    assert project.build() == []
    assert {path: path.stat().st_mtime_ns for path in project.site.rglob("*.*")} == before
    # A study's logs: its own pages, and the page of another study that loads it.
    project.log("b", "more.log", LOG.read_text("utf-8") + "\n")
    import_study("b")
    assert project.build() == [("01", "b"), ("02", "b")]
    project.log("a", "more.log", LOG.read_text("utf-8") + "\n")
    import_study("a")
    assert project.build() == [("01", "a"), ("02", "a"), ("02", "b")]
    # The same logs read anew from other files are the same data.
    (project.root / "data" / "raw" / "a" / "more.log").touch()
    import_study("a")
    assert project.build() == []
    # A notebook.
    write(project.root / "notebooks", "01.ipynb", new_markdown_cell("# Uno"), new_code_cell(LOAD))
    assert project.build() == [("01", "a"), ("01", "b")]
    assert "Uno" in project.text("a/02.html") and "One" not in project.text("a/02.html")
    # The look alone: rendered anew from what was computed.
    results, looks = freshness.code()
    monkeypatch.setattr(freshness, "code", lambda: (results, looks + "x"))
    (project.site / "a" / "01.html").unlink()
    assert project.build() == [] and "Uno" in project.text("a/01.html")
    # The library.
    monkeypatch.setattr(freshness, "code", lambda: (results + "x", looks))
    assert project.build() == ALL
    assert project.build(force=True) == ALL
    assert broken_links(project.site) == []


def test_a_page_that_was_touched_is_made_anew(project: Project) -> None:
    project.build()
    page = project.site / "a" / "01.html"
    whole = page.read_text("utf-8")
    page.write_text("stale")
    (project.site / "notebooks" / "b" / "02.ipynb").write_text("{}")
    assert project.build() == [("02", "b")]
    assert page.read_text("utf-8") == whole


def test_an_interrupted_report_leaves_nothing_stale(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.build()
    project.log("a", "more.log", LOG.read_text("utf-8") + "\n")
    import_study("a")
    run = WarmKernel.run

    def interrupted(kernel: WarmKernel, path: Path, parameters: dict[str, Any]) -> Any:
        if (path.stem, parameters["study"]) == ("02", "b"):
            raise KeyboardInterrupt
        return run(kernel, path, parameters)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(WarmKernel, "run", interrupted)
        project.build()
    left = {path.relative_to(project.site).as_posix() for path in project.site.rglob("*.html")}
    assert "b/01.html" in left and "b/02.html" not in left and "index.html" not in left
    again = project.build()
    assert ("02", "b") in again and ("01", "b") not in again
    assert broken_links(project.site) == []


def test_other_studies_leave_the_site(project: Project) -> None:
    project.build()
    project.build("b")
    assert not (project.site / "a").exists() and (project.site / "b" / "01.html").exists()
    assert project.build() == [("01", "a"), ("02", "a")]


def test_logs_that_changed_since_the_import_are_told(project: Project) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        project.build("b")
    project.log("b", "sockperf.log", LOG.read_text("utf-8").replace("percentile", "Percentile"))
    project.log("b", "new.log", "")
    with pytest.warns(UserWarning, match="b is out of date: 1 file added, 1 changed. Run: azlatency import --study b"):
        assert project.build("b") == [("01", "b"), ("02", "b")]
    for page in ("index.html", "b/01.html"):
        assert "The data set changed since the import" in project.text(page)
    import_study("b")
    project.build("b")
    assert "The data set changed since the import" not in project.text("b/01.html")


def test_a_failed_page_is_never_kept(project: Project) -> None:
    failing = write(project.root / "notebooks", "02.ipynb", new_code_cell("raise ValueError('now')"))
    assert len(report.build(project.site)) == 2
    assert project.build() == [("02", "a"), ("02", "b")]
    assert "ValueError: now" in project.text("index.html") and "ValueError: now" in project.text("a/02.html")
    failing.unlink()
    assert project.build() == []
    assert not (project.site / "a" / "02.html").exists() and "02.html" not in project.text("index.html")


# --- from a number to its log


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Logs:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path / "data"))
    folder = tmp_path / "data" / "raw" / "mine"
    folder.mkdir(parents=True)
    (folder / "run.log").write_text(LOG.read_text("utf-8") + f"{EVIL}\x1b[31m red\u202e\n" + "W" * 999 + "\n", "utf-8")
    import_study("mine")
    return Logs(load("mine"))


def test_a_line_is_quoted_as_it_stands(logs: Logs) -> None:
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


def test_a_changed_log_is_not_quoted(logs: Logs, tmp_path: Path) -> None:
    source = load("mine").sources["source_id"][0]
    (tmp_path / "data" / "raw" / "mine" / "run.log").write_text("something else\n" * 99, "utf-8")
    assert logs.quotes([Place(source, 3)]) == {Place(source, 3): None}


def test_logs_of_an_archive_from_elsewhere_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path / "data"))
    (tmp_path / "dump").mkdir()
    shutil.copy(LOG, tmp_path / "dump" / "run.log")
    archive = Path(shutil.make_archive(str(tmp_path / "dump"), "zip", tmp_path / "dump"))
    import_study("mine", [archive])
    study = load("mine")
    place = Place(study.sources["source_id"][0], 1)
    assert Logs(study).quotes([place]) == {place: LOG.read_text("utf-8").splitlines()[0].rstrip()}


def test_places_of_other_files_are_not_read(logs: Logs) -> None:
    source = load("mine").sources["source_id"][0]
    refs: list[Ref] = [FileRef(file, line=1) for file in ("/etc/passwd", "../../x", "x", "")]
    refs += [FileRef(source, line=3), FileRef(source, line=3, last=9), FileRef(source), RunsRef((f"{source}-99",))]
    refs += [FileRef(file, "name") for file in ("/etc/passwd", "../study.toml", "run.log", "study.toml")]
    places = [place for place, _ in logs.index.find([ref_record(ref) for ref in refs])]
    assert places == [Place(source, 3), Place(source, 3, 9)]


def test_malformed_references_lead_nowhere(logs: Logs) -> None:
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


def test_rows_lead_to_lines_or_to_their_runs(logs: Logs) -> None:
    study = load("mine")
    source, run_id = study.sources["source_id"][0], study.runs["run_id"][0]
    trail = Trail(logs)
    whole = trail.row(row([FileRef(source, line=1, last=9)], {1: FileRef(source, line=4)}), "x")
    assert whole is not None and whole.target == "f_0" and whole.at == {1: "q_0_4"}
    # Line 13 of the log, read by hand: the mean.
    mean = trail.row(row([RunsRef((run_id,), "mean_ns")]), "x")
    assert mean is not None and mean.target == "q_0_13" and mean.at == {}
    assert trail.row(row([RunsRef(("another",), "mean_ns")]), "x") is None
    samples = trail.row(row([RunsRef((run_id,), "samples")]), "all")
    assert samples is not None and samples.target == "g_0"
    assert trail.groups[0].count == "computed from 1 run" and trail.groups[0].others == 0
    assert [(file.path, [line for line, _ in file.quotes]) for file in trail.files] == [("run.log", [2, 4, 13])]


def test_many_runs_are_counted_and_the_first_named(logs: Logs) -> None:
    source = load("mine").sources["source_id"][0]
    trail = Trail(logs)
    assert trail.row(row([FileRef(source, line=line) for line in range(1, 21)]), "x") is not None
    assert trail.groups[0].count == "20 lines" and trail.groups[0].others == 20 - NAMED
    assert len(trail.groups[0].first) == NAMED == len(trail.files[0].quotes)


def test_reported_numbers_and_expectations_lead_to_their_lines(tmp_path: Path) -> None:
    def imported(name: str) -> Study:
        import_study(name, [ROOT / "data" / "raw" / name], out=tmp_path)
        return load(name, processed=tmp_path)

    trail = Trail(Logs(imported("uksouth-echo-latency")))
    assert trail.row(row([ReportedRef("Same AZ", "rtt_mean")]), "Same AZ") is not None
    quotes = trail.files[0].quotes
    assert trail.files[0].path == "reported.csv" and quotes[0][0] == 2
    # Read by hand: the second line of reported.csv.
    assert str(quotes[0][1]).startswith(
        "Same AZ,echo,rtt_mean,mean,,,uksouth,1,uksouth,1,Standard_B1s,,same_zone,850 μs"
    )
    study = imported("westeurope-azure-cni")
    trail, name = Trail(Logs(study)), study.expectations[0]["name"]
    assert trail.row(row([FileRef("baseline", "name", name)]), name) is not None
    assert name in str(trail.files[0].quotes[0][1]) and trail.files[0].path == "baseline.toml"


def test_control_characters_are_shown() -> None:
    assert shown("a\tb\x00c\x1b[0m\x07 \u2066") == "a b\\u0000c\\u0007 \\u2066"
    assert shown("progress\rdone") == "progress ⏎ done"


# --- search and documents


def test_texts_cannot_end_their_block_and_stay_within_bounds() -> None:
    part = ("id", EVIL, "</script>&" + "word " * 300)
    text = texts_of([(f"study {number}/x.html", EVIL, "a", (part,) * 20) for number in range(100)])
    assert not set(text) & set("<>&")
    assert len(text) < 1.4 * WHOLE
    assert json.loads(text)[0][:2] == ["study%200/x.html", EVIL]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's own documentation, and a hostile page, as a site."""
    root = tmp_path_factory.mktemp("documents")
    shutil.copytree(ROOT / "docs", root / "docs")
    (root / "docs" / "evil.md").write_text(f"# {EVIL}\n\n[a](javascript:alert(1)) [b](../../x.md) {EVIL}\n", "utf-8")
    site = report._Site(root / "site", root / "notebooks")
    site.finish([], [])
    return root / "site"


def test_the_documentation_leads_nowhere_wrong(documents: Path) -> None:
    assert broken_links(documents) == []


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.name)
def test_what_a_document_links_to_is_in_the_project(path: Path) -> None:
    text = re.sub(r"```.*?```|`[^`]*`", "", path.read_text("utf-8"), flags=re.S)
    targets = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    missing = [target for target in targets if target and not (path.parent / target).exists()]
    assert missing == []


def test_every_document_is_reached_from_the_index(documents: Path) -> None:
    index = BeautifulSoup((documents / "index.html").read_text("utf-8"), "html.parser")
    listed = {link["href"] for link in index.select(".documents a")}
    written = {path.relative_to(ROOT).with_suffix(".html").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert written <= listed and "docs/api/azlatency.stats.within_run.quantiles.html" in listed


def test_documents_are_safe_and_small(documents: Path) -> None:
    evil = (documents / "docs" / "evil.html").read_text("utf-8")
    assert EVIL not in evil and "javascript:alert" not in re.sub(r"\(javascript:alert\(1\)\)", "", evil)
    for path in documents.rglob("*.html"):
        assert path.stat().st_size < 1_500_000, path
        text = path.read_text("utf-8")
        assert not re.search(r'(?:src|href)="(?:https?:)?//[^"]*\.(?:js|css|png)"', text), path


def test_every_public_name_is_documented() -> None:
    from azlatency import _HOMES

    documented = {f"{module.name}.{entry.name}": entry for module in modules(_HOMES) for entry in module.entries}
    namespaces = {".".join(name.split(".")[:-1]) for name in documented}
    for name, home in _HOMES.items():
        entry = documented.get(f"{home}.{name}")
        assert entry is not None or any(f"{each}.".startswith(f"{home}.") for each in namespaces), name
        assert entry is None or (entry.text and entry.signature.startswith((f"{name}(", f"class {name}"))), name
    assert "strict: bool=False" in documented["azlatency.logs.parse.parse"].signature
    assert "azlatency.report.findings.latency.conclude" in documented


def test_numpydoc_sections_become_lists() -> None:
    text = """Return the runs.

Parameters
----------
runs : DataFrame
    One row per run, see :func:`latency`.

    A second paragraph.
margin : float

Returns
-------
Table
    The runs.

Examples
--------
>>> runs()  # doctest: +SKIP
1

More.
"""
    html = markdown(_markdown(text))
    page = BeautifulSoup(html, "html.parser")
    assert [item.code.get_text() for item in page.select("li")] == ["runs", "margin", "Table"]
    assert [title.get_text() for title in page.select("p > strong")] == ["Parameters", "Returns", "Examples"]
    assert "A second paragraph." in page.li.get_text() and ":func:" not in page.get_text()
    assert page.pre.get_text().splitlines() == [">>> runs()", "1"]


def test_no_documentation_is_no_error(tmp_path: Path) -> None:
    assert Documents(tmp_path / "docs").groups == []
