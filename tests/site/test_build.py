"""The report: notebooks run on warm kernels, pages that are safe, complete, accessible and the same each time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from helpers.sites import broken_links, write
from nbformat.v4 import new_code_cell, new_markdown_cell

from azlatency.logs.parse import LogError
from azlatency.site import build as report
from azlatency.site.scripts import scripts
from azlatency.studies.imports.importer import import_study
from azlatency.studies.store.replacing import replaced

EVIL = "</pre></style></title><script>alert(1)</script><img src=x onerror=alert(2)>"


STUDY = "evil-study"


GOOD = r"""# How long do *packets* take?

**Question:** is $x < \frac{1}{2}$, or does it cost $5 and $6?

[plain](https://example.org/a) [other page](02_fails.ipynb#it-fails) [bad](javascript:alert(3)) ![picture](https://example.org/x.png)
<script>alert(4)</script>

## Each path

$$\sum_{i=1}^n \text{rtt}_i$$

| tool | value |
|---|---:|
| ping | 1 |

### Each path
"""


DRAW = """\
from matplotlib.figure import Figure
figure = Figure(figsize=(3, 2))
figure.subplots().plot([1, 2], label=study)
d.Chart(figure, "Round trips & <b>more</b>", "Two values: 1 and 2 µs.")"""


TABLE = (
    't.Table("Lines <script>", [t.Column("line", str), t.Column("n", lambda text: 1, t.number_format())], '
    'list(events["text"]), ["A note."])'
)


FINDINGS = 'd.Findings((d.Finding("act", f"Look at {study} $x^2$"), d.Finding("info", "<script>alert(5)</script>")))'


@dataclass
class Project:
    """A folder with one hostile study and its notebooks, and what was built from it."""

    root: Path
    site: Path
    failures: list[str]

    def page(self, name: str) -> BeautifulSoup:
        return BeautifulSoup((self.site / STUDY / name).read_text("utf-8"), "html.parser")

    def index(self) -> BeautifulSoup:
        return BeautifulSoup((self.site / "index.html").read_text("utf-8"), "html.parser")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    root = tmp_path_factory.mktemp("project")
    raw = root / "data" / "raw" / STUDY
    raw.mkdir(parents=True)
    manifest = {"title": f"Title {EVIL}", "question": f"Why {EVIL}?", "notes": f"{EVIL}\u202e\u009b", "source": EVIL}
    lines = [f"{key} = {json.dumps(value)}" for key, value in manifest.items()]
    (raw / "study.toml").write_text("\n".join(["[study]", *lines, "emulated = true"]) + "\n", "utf-8")
    (raw / "run.log").write_text(f"sockperf: == version #3.7-no.git ==\n{EVIL}\n", "utf-8")
    notebooks = root / "notebooks"
    imports = "import azlatency as az\nimport azlatency.kit.objects as d\nimport azlatency.kit.cells as t\n"
    load = f"{imports}events = az.load(study).events"
    shown = [DRAW, TABLE, r'print(f"<script>{study}\u202e\x9b\x07")', "events[['text']]", FINDINGS]
    cells = [new_markdown_cell(GOOD), new_code_cell(load), *map(new_code_cell, shown)]
    write(notebooks, "01_good.ipynb", *cells)
    fail = [new_markdown_cell("# It fails"), new_code_cell("1"), new_code_cell(f"raise ValueError({EVIL!r})")]
    write(notebooks, "02_fails.ipynb", *fail, new_code_cell("2"))
    (notebooks / "03_broken.ipynb").write_text("{")
    write(notebooks, "04_dies.ipynb", new_code_cell("import os\nos._exit(1)"))
    write(notebooks, "05_quits.ipynb", new_code_cell("raise SystemExit"))
    write(notebooks, "06_after.ipynb", new_code_cell("print(1 + 1)"))
    log_error = "import azlatency as az\nraise az.LogError('run.log:2: no number here; look at it')"
    write(notebooks, "07_log.ipynb", new_code_cell(log_error))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.delenv("AZLATENCY_DATA", raising=False)
        import_study(STUDY)
        (root / "site").mkdir()
        (root / "site" / "mine.txt").write_text("kept")
        yield Project(root, root / "site", report.build(root / "site"))


@pytest.mark.slow
def test_every_notebook_has_its_page(project: Project) -> None:
    names = sorted(path.name for path in (project.site / STUDY).iterdir())
    assert names == [f"{path.stem}.html" for path in sorted((project.root / "notebooks").iterdir())]
    assert len(names) == 7


@pytest.mark.costly
def test_failures_are_one_line_each_and_lose_nothing(project: Project) -> None:
    assert [line.split(",")[0] for line in project.failures] == [
        "02_fails.ipynb",
        "03_broken.ipynb",
        "04_dies.ipynb",
        "05_quits.ipynb",
        "07_log.ipynb",
    ]
    assert all("\n" not in line for line in project.failures)
    assert "ValueError" in project.failures[0] and "kernel died" in project.failures[2]
    for page, text in (("02_fails.html", "ValueError"), ("03_broken.html", "JSON"), ("04_dies.html", "kernel died")):
        assert "This page is incomplete" in project.page(page).get_text()
        assert text in project.page(page).select_one("main").get_text()
    assert project.page("06_after.html").select_one("main p.output").get_text().strip() == "2"


def test_an_error_in_a_log_shows_the_line(project: Project) -> None:
    failure = project.page("07_log.html").select_one("main .failed")
    assert "LogError: run.log:2: no number here; look at it" in failure.get_text()
    # The second line of the fixture's log is all that it takes to harm a careless page.
    assert f"run.log:2 reads: {EVIL}" in failure.get_text() and failure.code.get_text() == EVIL


def test_index_says_what_there_is(project: Project) -> None:
    index = project.index()
    assert index.select_one("section h3").get_text().startswith(f"Title {EVIL}")
    assert "emulated" in index.select_one("section .badge").get_text()
    links = [link["href"] for link in index.select("ul.pages a")]
    assert len(links) == 7 and all(re.fullmatch(r"[\w%.'-]+/\w+\.html", link) for link in links), links
    assert index.select_one("ul.pages a").get_text() == "How long do packets take?"
    assert "is incomplete" in index.select_one("section .failed").get_text()
    assert index.find(id="own_logs") is None, "who built it knows"


def test_findings_stand_directly_under_the_question(project: Project) -> None:
    main = project.page("01_good.html").main
    boxes = [tag for tag in main.find_all("div", recursive=False) if set(tag.get("class", [])) & {"text", "findings"}]
    assert "Question:" in boxes[0].get_text() and boxes[1]["class"] == ["findings", "act"]
    assert STUDY in boxes[1].get_text() and boxes[1].select_one("math") is not None
    assert "alert(5)" in main.find(id="findings_info").get_text()


def test_links_between_pages_lead_somewhere(project: Project) -> None:
    assert broken_links(project.site) == []


def test_findings_are_found_where_they_stand(project: Project) -> None:
    documents = json.loads(
        BeautifulSoup((project.site / "search.html").read_text("utf-8"), "html.parser").select_one("#texts").string
    )
    (parts,) = (parts for url, _, _, parts in documents if url.endswith("01_good.html"))
    findings = {(anchor, *texts) for kind, anchor, _, texts in parts if kind == "finding"}
    assert findings == {
        ("findings_act", f"Look at {STUDY} x2"),
        ("findings_info", "<script>alert(5)</script>"),
    }
    assert project.page("01_good.html").find(id="findings_act").find_parent(class_="act")


def test_nothing_hostile_becomes_markup(project: Project) -> None:
    allowed = re.compile(r"https?://|mailto:|#|(\.\./)?[\w%./'-]+\.(html|ipynb)(#.*)?$")
    allowed_scripts = scripts()
    for path in project.site.rglob("*.html"):
        text = path.read_text("utf-8")
        soup = BeautifulSoup(text, "html.parser")
        for script in soup.find_all("script"):
            assert (
                script.string in (allowed_scripts.page, allowed_scripts.search) or script["type"] == "application/json"
            ), path
        if path.name == "search.html":
            content = soup.find("script", type="application/json").string
            assert "alert(5)" in content and not set(content) & set("<>&")
        policy = soup.select_one("meta[http-equiv]")["content"]
        assert (
            f"script-src {allowed_scripts.hashes};" in policy and "'unsafe-inline'" not in policy.split("style-src")[0]
        )
        text = text.replace(allowed_scripts.page, "").replace(allowed_scripts.search, "")
        assert not soup.find_all(["iframe", "object", "embed", "base", "form", "foreignObject"]), path
        assert "<img" not in text, path
        assert not re.search(r"<script>[^<]|javascript:[^)]*\"", text), path
        assert len(soup.find_all("style")) == 1
        for tag in soup.find_all(True):
            assert not [name for name in tag.attrs if name.startswith("on")], tag
            for name in ("href", "src", "xlink:href", "action", "srcset"):
                if name in tag.attrs:
                    inline = tag[name].startswith(("data:image/png", "data:,", "#"))
                    assert inline or (tag.name == "a" and allowed.match(tag[name])), tag
        for target in re.findall(r"url\(([^)]*)\)|@import", text):
            assert target.startswith("#"), target
        assert "default-src 'none'" in policy
    page = project.page("01_good.html").get_text()
    for shown in ("<script>alert(4)</script>", "onerror=alert(2)", "bad (javascript:alert(3))", f"<script>{STUDY}"):
        assert shown in page


@pytest.mark.slow
def test_a_second_run_gives_the_same_bytes(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(project.root)
    monkeypatch.setattr(report, "worker_count", lambda: 1)  # before: as many as there are cores
    report.build(tmp_path / "again", [STUDY, STUDY])
    files = {path.relative_to(tmp_path / "again"): path.read_bytes() for path in (tmp_path / "again").rglob("*.*")}
    assert len([path for path in files if path.parts[0] != "docs"]) == 3 + 1 + 1 + 2 * 7
    for path, content in files.items():
        if path.suffix in (".html", ".ipynb") and path.stem not in ("03_broken",):
            assert content == (project.site / path).read_bytes(), path


def test_an_earlier_site_is_cleared_and_nothing_else(project: Project, tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "old").mkdir(parents=True)
    for name in ("old/01.html", "index.html", "old/mine.html", "mine.txt"):
        (site / name).write_text("")
    (site / ".azlatency-site.json").write_text('["index.html", "old/01.html", "../outside.html"]')
    (tmp_path / "outside.html").write_text("")
    made = report._Site(site, project.root / "notebooks")
    with replaced(site) as folder:
        made.take_over(folder, [])
        assert len(list(site.rglob("*.*"))) == 5, "the old site stays until the new one is whole"
    assert sorted(path.name for path in site.rglob("*.*")) == ["mine.html", "mine.txt"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside.html", "site"]
    assert (tmp_path / "outside.html").exists()
    assert (project.site / "mine.txt").read_text() == "kept"


def test_nothing_to_do_is_one_line(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(project.root)
    with pytest.raises(LogError, match=re.escape(STUDY)) as unknown:
        report.build(tmp_path / "site", ["nope"])
    assert "study 'nope' not found" in str(unknown.value)
    assert not (tmp_path / "site").exists()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("azlatency.site.notebooks.INSTALLED", tmp_path / "package")
    with pytest.raises(LogError, match="no folder notebooks"):
        report.build(tmp_path / "site")
    (tmp_path / "notebooks").mkdir()
    with pytest.raises(LogError, match="no notebooks"):
        report.build(tmp_path / "site")


def test_page_has_what_a_reader_needs(project: Project) -> None:
    page = project.page("01_good.html")
    assert page.title.get_text() == f"How long do packets take? — Title {EVIL}"
    assert page.select_one("a.skip")["href"] == "#main" and page.select_one("main#main")
    assert [h.get_text() for h in page.select("h1")] == ["How long do packets take?"]
    assert "Emulated lab, not a cloud" in page.select_one("header").get_text()
    assert EVIL in page.select_one("header .crumbs").get_text()
    contents = [(link["href"], link.get_text()) for link in page.select("#contents a")]
    assert contents == [("#each-path", "Each path"), ("#each-path-2", "Each path")]
    assert page.select_one("nav.turn a[rel=next]")["href"] == "02_fails.html"
    assert page.select_one("nav [aria-current=page]")
    assert "azlatency" in page.select_one("footer").get_text()
    assert page.html["lang"] == "en"
    codes = page.select("div.code")
    assert len(codes) == 7 and page.select_one("input#show-code")
    assert STUDY in codes[0].get_text() and "none" not in codes[0].get_text()


def test_every_figure_has_a_name_and_its_numbers(project: Project) -> None:
    page = project.page("01_good.html")
    figures = page.select("figure")
    assert len(figures) == 1
    for figure in figures:
        picture = figure.select_one("svg")
        assert picture["role"] == "img"
        assert page.find(id=picture["aria-labelledby"]).get_text() == "Round trips & <b>more</b>"
        assert page.find(id=picture["aria-describedby"]).get_text() == "Two values: 1 and 2 µs."
        assert figure.select_one("figcaption").get_text() == "Round trips & <b>more</b>"
        assert figure.select_one(".reading a[href^='#']")["href"] == f"#{figure['id']}"


def test_ids_are_unique(project: Project) -> None:
    for path in project.site.rglob("*.html"):
        ids = re.findall(r'\sid="([^"]*)"', path.read_text("utf-8"))
        assert len(ids) == len(set(ids)), path


def test_tables_have_captions_scopes_and_a_scroll_region(project: Project) -> None:
    page = project.page("01_good.html")
    tables = page.select("main table")
    assert len(tables) == 2
    for table in tables:
        assert all(head.get("scope") in ("col", "row") for head in table.select("th"))
        assert table.find_parent(class_="scroll")["tabindex"] == "0"
    table = page.select_one("table.az")
    assert table.caption.get_text() == table.find_parent(class_="scroll")["aria-label"] == "Lines <script>"
    assert "onerror" in table.get_text()


def test_maths_is_mathml(project: Project) -> None:
    page = project.page("01_good.html")
    assert [tag.get("display") for tag in page.select("main math")] == ["inline", "inline", "block"]
    assert "does it cost $5 and $6?" in page.get_text()


def test_no_page_and_no_notebook_has_control_or_direction_characters(project: Project) -> None:
    """A name in a log could hide or reorder the text around it."""
    paths = [path for kind in ("html", "ipynb", "json") for path in project.site.rglob(f"*.{kind}")]
    assert {path.suffix for path in paths} == {".html", ".ipynb", ".json"}
    for path in paths:
        text = path.read_text("utf-8")
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", text), path
        # Escaped in JSON, but not in the source of a cell.
        assert not re.search(r"(?<!\\)\\u(?:00[01]|202|009)", text) or path.suffix == ".html", path
