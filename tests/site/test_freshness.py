"""What is run again: pages whose notebook, data or code changed, and no others."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from helpers.places import ROOT
from helpers.sites import broken_links, write
from nbformat.v4 import new_code_cell, new_markdown_cell

from azlatency.site import build as report
from azlatency.site import freshness, pages
from azlatency.site.kernels.warm import WarmKernel
from azlatency.studies.imports.importer import import_study

LOG = ROOT / "data" / "raw" / "westeurope-azure-cni" / "az1-az1" / "sockperf.log"


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
ALL_OF_B = [page for page in ALL if page[1] == "b"]


class SharedKernel(WarmKernel):
    """A kernel that the end of a report does not stop; starting one costs more than these notebooks."""

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedKernel]:
    folder = tmp_path_factory.mktemp("project")
    shared = SharedKernel(folder, {"AZLATENCY_DATA": str(folder / "data")})
    yield shared
    shared.stop()


@pytest.fixture
def project(kernel: SharedKernel, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    root = kernel._folder
    for entry in root.iterdir():
        shutil.rmtree(entry)
    made = Project(root)
    for name in ("a", "b"):
        made.log(name, "sockperf.log", LOG.read_text("utf-8"))
    write(root / "notebooks", "01.ipynb", new_markdown_cell("# One"), new_code_cell(LOAD))
    write(root / "notebooks", "02.ipynb", new_code_cell(LOAD + ", len(az.load('a').sources)"))
    monkeypatch.chdir(root)
    monkeypatch.delenv("AZLATENCY_DATA", raising=False)
    for name in ("a", "b"):
        import_study(name)
    run = WarmKernel.run

    def noted(kernel: WarmKernel, path: Path, parameters: dict[str, Any]) -> Any:
        made.ran.append((path.stem, parameters["study"]))
        return run(kernel, path, parameters)

    monkeypatch.setattr(WarmKernel, "run", noted)
    monkeypatch.setattr(report, "new_kernel", lambda: kernel)
    # No concepts: each build would write all of them again, which `test_documentation` proves.
    monkeypatch.setattr(report, "CONCEPTS", root / "docs")
    # What the data cannot answer takes as long as everything else; it does not decide which pages are made.
    monkeypatch.setattr(pages, "unanswered", lambda _: ())
    monkeypatch.setattr(report, "worker_count", lambda: 1)
    yield made


@pytest.mark.slow
def test_a_report_that_fails_leaves_the_site_as_it_was(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.build("a")
    before = {path: path.read_bytes() for path in project.root.rglob("site/**/*") if path.is_file()}
    record = project.text(freshness.Record.FILE)
    assert "{processed}/a/import.json" in record and str(project.root) not in record, "a record names no folder"

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    # At the first page, and with everything written but the last step.
    for step in ("make", "write_record"):
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(report._Site, step, killed)
            project.build("a", force=True)
        assert {path: path.read_bytes() for path in project.root.rglob("site/**/*") if path.is_file()} == before
    assert not list(project.root.glob(".site*"))


@pytest.mark.costly
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
    assert ">Uno</a>" in project.text("a/02.html") and ">One</a>" not in project.text("a/02.html")
    # The look alone: rendered anew from what was computed.
    results, looks = freshness.code()
    monkeypatch.setattr(freshness, "code", lambda: (results, looks + "x"))
    (project.site / "a" / "01.html").unlink()
    assert project.build() == [] and "Uno" in project.text("a/01.html")
    assert broken_links(project.site) == []
    # The library; one study is enough to show it.
    monkeypatch.setattr(freshness, "code", lambda: (results + "x", looks))
    assert project.build("b") == ALL_OF_B
    assert project.build("b", force=True) == ALL_OF_B


@pytest.mark.costly
def test_a_page_that_was_edited_is_rendered_again(project: Project) -> None:
    project.build()
    page = project.site / "a" / "01.html"
    whole = page.read_text("utf-8")
    page.write_text("stale")
    (project.site / "notebooks" / "b" / "02.ipynb").write_text("{}")
    assert project.build() == [("02", "b")]
    assert page.read_text("utf-8") == whole


@pytest.mark.costly
def test_pages_of_other_studies_are_removed(project: Project) -> None:
    project.build()
    project.build("b")
    assert not (project.site / "a").exists() and (project.site / "b" / "01.html").exists()
    assert project.build() == [("01", "a"), ("02", "a")]


@pytest.mark.slow
def test_logs_that_changed_since_the_import_are_reported(project: Project) -> None:
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


@pytest.mark.slow
def test_a_failed_page_is_never_kept(project: Project) -> None:
    failing = write(project.root / "notebooks", "02.ipynb", new_code_cell("raise ValueError('now')"))
    assert len(report.build(project.site)) == 2
    assert project.build() == [("02", "a"), ("02", "b")]
    assert "ValueError: now" in project.text("index.html") and "ValueError: now" in project.text("a/02.html")
    failing.unlink()
    assert project.build() == []
    assert not (project.site / "a" / "02.html").exists() and "02.html" not in project.text("index.html")


@pytest.mark.slow
def test_a_key_of_a_name_that_is_not_utf_8() -> None:
    """Such names of logs are shown with their bytes escaped."""
    assert freshness.key("M\udcfcnchen.log") != freshness.key("München.log")


def test_the_code_of_pages_counts_as_the_code_of_statistics_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A changed table of a page was not made again until the version of azlatency changed."""
    monkeypatch.setattr(freshness, "PACKAGE", tmp_path)
    known = freshness.code.__wrapped__()
    for name, changed in {
        "pages/latency.py": (1, 0),
        "stats/mean.py": (1, 0),
        "site/front.py": (0, 1),
        "cli/a.py": (0, 0),
    }.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("")
        now = freshness.code.__wrapped__()
        assert tuple(int(a != b) for a, b in zip(known, now, strict=True)) == changed, name
        known = now
