"""The report: notebooks run on warm kernels, pages that are safe, complete, accessible and the same each time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup
from helpers.sites import broken_links, write
from helpers.tables import text_table
from nbformat.v4 import new_code_cell, new_markdown_cell

from azlatency.logs.parse import LogError
from azlatency.site import build as report
from azlatency.site import notebooks
from azlatency.site.figures import svg
from azlatency.site.formulas import mathml
from azlatency.site.kernels.warm import WarmKernel
from azlatency.site.markdown import Heading, markdown
from azlatency.site.outputs import Outputs, own_table
from azlatency.site.scripts import scripts
from azlatency.studies.importer import import_study

EVIL = "</pre></style></title><script>alert(1)</script><img src=x onerror=alert(2)>"
STUDY = "evil & <i>'names'"

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
    't.Table("Lines <script>", [t.Column("line", str), t.Column("n", lambda text: 1, t.number())], '
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
    manifest = {"title": f"Title {EVIL}", "question": f"Why {EVIL}?", "notes": EVIL, "source": EVIL}
    lines = [f"{key} = {json.dumps(value)}" for key, value in manifest.items()]
    (raw / "study.toml").write_text("\n".join(["[study]", *lines, "emulated = true"]) + "\n", "utf-8")
    (raw / "run.log").write_text(f"sockperf: == version #3.7-no.git ==\n{EVIL}\n", "utf-8")
    notebooks = root / "notebooks"
    imports = "import azlatency as az\nimport azlatency.report.objects as d\nimport azlatency.report.table as t\n"
    load = f"{imports}events = az.load(study).events"
    shown = [DRAW, TABLE, 'print(f"<script>{study}")', "events[['text']]", FINDINGS]
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


# --- the site as a whole


def test_every_notebook_has_its_page(project: Project) -> None:
    names = sorted(path.name for path in (project.site / STUDY).iterdir())
    assert names == [f"{path.stem}.html" for path in sorted((project.root / "notebooks").iterdir())]
    assert len(names) == 7


def test_failures_are_one_line_each_and_lose_nothing(project: Project) -> None:
    assert [line.split(",")[0] for line in project.failures] == [
        "02_fails.ipynb", "03_broken.ipynb", "04_dies.ipynb", "05_quits.ipynb", "07_log.ipynb",
    ]  # fmt: skip
    assert all("\n" not in line for line in project.failures)
    assert "ValueError" in project.failures[0] and "kernel died" in project.failures[2]
    for page, text in (("02_fails.html", "ValueError"), ("03_broken.html", "JSON"), ("04_dies.html", "kernel died")):
        assert "This page is incomplete" in project.page(page).get_text()
        assert text in project.page(page).select_one("main").get_text()
    assert project.page("06_after.html").select_one("main p.output").get_text().strip() == "2"


def test_an_error_in_a_log_shows_the_line(project: Project) -> None:
    told = project.page("07_log.html").select_one("main .failed")
    assert "LogError: run.log:2: no number here; look at it" in told.get_text()
    # The second line of the fixture's log is all that it takes to harm a careless page.
    assert f"run.log:2 reads: {EVIL}" in told.get_text() and told.code.get_text() == EVIL


def test_index_says_what_there_is(project: Project) -> None:
    index = project.index()
    assert index.select_one("section h2").get_text().startswith(f"Title {EVIL}")
    assert "emulated" in index.select_one("section .badge").get_text()
    links = [link["href"] for link in index.select("ol.pages h4 a")]
    assert len(links) == 7 and all(re.fullmatch(r"[\w%.'-]+/\w+\.html", link) for link in links), links
    first = index.select("ol.pages > li")[0]
    assert first.h4.get_text() == "How long do packets take?"
    assert first.select_one(".asked").get_text().startswith("is ")
    assert first.select_one(".verdict.act").get_text().startswith(f"Look at {STUDY}")
    assert first.select_one(".sketch svg")["aria-label"] == "Round trips & <b>more</b>"
    # Words of a sketch are text, not outlines, and harmless as such.
    assert first.select(".sketch svg text") and not first.select(".sketch svg use[href^='#DejaVu'], .sketch svg b")
    assert "Incomplete" in index.select("ol.pages > li")[1].get_text()
    assert STUDY in index.select_one(".findings.act li").get_text()
    assert index.select_one(".findings.act math") is not None
    assert "alert(5)" in index.select_one(".findings.info li").get_text()


def test_links_between_pages_lead_somewhere(project: Project) -> None:
    assert broken_links(project.site) == []


def test_nothing_hostile_becomes_markup(project: Project) -> None:
    allowed = re.compile(r"https?://|mailto:|#|(\.\./)?[\w%./'-]+\.(html|ipynb)(#.*)?$")
    own = scripts()
    for path in project.site.rglob("*.html"):
        text = path.read_text("utf-8")
        soup = BeautifulSoup(text, "html.parser")
        for script in soup.find_all("script"):
            assert script.string in (own.page, own.search) or script["type"] == "application/json", path
        if path.name == "search.html":
            content = soup.find("script", type="application/json").string
            assert "alert(5)" in content and not set(content) & set("<>&")
        policy = soup.select_one("meta[http-equiv]")["content"]
        assert f"script-src {own.hashes};" in policy and "'unsafe-inline'" not in policy.split("style-src")[0]
        text = text.replace(own.page, "").replace(own.search, "")
        assert not soup.find_all(["iframe", "object", "embed", "base", "form", "img", "foreignObject"]), path
        assert not re.search(r"<img|<script>[^<]|javascript:[^)]*\"", text), path
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


def test_a_second_run_gives_the_same_bytes(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(project.root)
    report.build(tmp_path / "again", [STUDY, STUDY])
    files = {path.relative_to(tmp_path / "again"): path.read_bytes() for path in (tmp_path / "again").rglob("*.*")}
    assert len(files) == 1 + 1 + 1 + 2 * 7
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
    report._Site(site, project.root / "notebooks").clear([])
    assert sorted(path.name for path in site.rglob("*.*")) == [".azlatency-site.json", "mine.html", "mine.txt"]
    assert (tmp_path / "outside.html").exists()
    assert (project.site / "mine.txt").read_text() == "kept"


def test_nothing_to_do_is_one_line(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(project.root)
    with pytest.raises(LogError, match=re.escape(STUDY)) as unknown:
        report.build(tmp_path / "site", ["nope"])
    assert "study 'nope' not found" in str(unknown.value)
    assert not (tmp_path / "site").exists()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LogError, match="no folder notebooks"):
        report.build(tmp_path / "site")
    (tmp_path / "notebooks").mkdir()
    with pytest.raises(LogError, match="no notebooks"):
        report.build(tmp_path / "site")


# --- one page


def test_page_has_what_a_reader_needs(project: Project) -> None:
    page = project.page("01_good.html")
    assert page.title.get_text() == f"How long do packets take? — Title {EVIL}"
    assert page.select_one("a.skip")["href"] == "#main" and page.select_one("main#main")
    assert [h.get_text() for h in page.select("h1")] == ["How long do packets take?"]
    assert "Emulated lab, not Azure" in page.select_one("header").get_text()
    assert EVIL in page.select_one("header .question").get_text()
    contents = [(link["href"], link.get_text()) for link in page.select("#contents a")]
    assert contents == [("#each-path", "Each path"), ("#each-path-2", "Each path")]
    assert page.select_one("nav.turn a[rel=next]")["href"] == "02_fails.html"
    assert page.select_one("nav [aria-current=page]")
    assert "azlatency" in page.select_one("footer").get_text()
    assert page.html["lang"] == "en"
    codes = page.select("details.code")
    assert len(codes) == 7 and not any(code.has_attr("open") for code in codes)
    assert "evil & <i>" in codes[0].get_text() and "none" not in codes[0].get_text()


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
    own = page.select_one("table.az")
    assert own.caption.get_text() == own.find_parent(class_="scroll")["aria-label"] == "Lines <script>"
    assert "onerror" in own.get_text()


def test_maths_is_mathml(project: Project) -> None:
    page = project.page("01_good.html")
    assert [tag.get("display") for tag in page.select("main math")] == ["inline", "block", "inline"]
    assert "does it cost $5 and $6?" in page.get_text()


# --- rendering, piece by piece


@pytest.mark.parametrize(
    "source",
    [
        "<script>alert(1)</script>",
        "text <img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "[a](<java\tscript:alert(1)>)",
        "[a](data:text/html;base64,PHNjcmlwdD4=)",
        "[a](//example.org)",
        "[a](vbscript:x 'title\" onmouseover=\"alert(1)')",
        "![x](javascript:alert(1))",
        '<a href="javascript:alert(1)">x</a>',
        "<svg onload=alert(1)>",
        '<https://example.org/"onmouseover=alert(1)//>',
        "$\\text{<img src=x onerror=alert(1)>}$",
        "$$\\text{</math><script>alert(1)</script>}$$",
        "\\begin{x}<script>\\end{x}",
        "$\\href{javascript:alert(1)}{x}$",
        "```html\n</code></pre><script>alert(1)</script>\n```",
        "```<script>\nx\n```",
        "| <script> |\n|---|\n| [x](javascript:y) |",
        "# <script>alert(1)</script>",
        "[x]: javascript:alert(1)\n\n[x]",
    ],
)
def test_markdown_stays_text(source: str) -> None:
    soup = BeautifulSoup(markdown(source), "html.parser")
    assert not soup.find_all(["script", "img", "svg", "iframe", "style"])
    for tag in soup.find_all(True):
        assert not [name for name in tag.attrs if name.startswith("on")]
        assert re.match(r"https?://example\.org|#", tag.get("href", "#"))


def test_headings_are_collected() -> None:
    headings: list[Heading] = []
    markdown("## A *b* $c$\n\n## A b c\n\n### main", headings)
    assert [(each.level, each.id) for each in headings] == [(2, "a-b-c"), (2, "a-b-c-2"), (3, "main-2")]


def test_maths_that_cannot_be_read_is_shown_as_it_is() -> None:
    assert mathml(r"\nosuch{x}") == r'<code class="latex">$\nosuch{x}$</code>'
    assert mathml(r"\frac{1}") == r'<code class="latex">$\frac{1}$</code>'
    assert str(mathml("a < b & c")).count("<mo>&lt;</mo>") == 1
    assert mathml(r"x_1", block=True).startswith('<math display="block"')


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"caption": "x", "columns": [], "rows": [{}], "notes": []},
        {"caption": "x", "columns": [], "rows": 3, "notes": []},
        {"caption": "x", "columns": [{"header": "x"}], "rows": [], "notes": []},
        {"caption": "x", "columns": "x", "rows": [], "notes": []},
        {"caption": "x", "columns": [], "rows": [{"cells": ["1"], "csv": []}], "notes": []},
    ],
)
def test_a_record_that_is_not_a_table_is_not_shown(record: dict[str, Any]) -> None:
    assert own_table(record) is None


def test_all_text_of_a_table_is_escaped_and_long_cells_may_break() -> None:
    table = text_table(EVIL, (EVIL, "n", "text"), [(EVIL, "2 < 3", "long " * 20)], {1}, (EVIL,))
    soup = BeautifulSoup(str(own_table(table.record())), "html.parser")
    assert soup.script is None and [head.get_text() for head in soup.select("th")] == [EVIL, "n", "text", EVIL]
    assert [cell.get("class") for cell in soup.select("td")][:2] == [["number"], ["long"]]
    assert soup.td is not None and soup.td.get_text() == "2 < 3"


def test_a_table_of_many_rows_is_cut_and_says_so() -> None:
    record = text_table("A", ("x",), [(str(number),) for number in range(1234)]).record()
    soup = BeautifulSoup(str(own_table(record)), "html.parser")
    assert len(soup.select("tbody tr")) == 500
    assert soup.caption is not None
    assert soup.caption.get_text() == "A (the first 500 of 1,234 rows; all are in the notebook behind this page)"


def test_svg_keeps_what_draws_and_nothing_else() -> None:
    source = """<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/x.dtd">
    <svg xmlns="http://www.w3.org/2000/svg"
     xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9" onload="alert(1)">
    <metadata>x</metadata><style>*{fill:url(http://example.org)}</style><script>alert(1)</script>
    <defs><path id="p" d="M 0.123456 1  L 2 2.5 "/><clipPath id="c"><rect width="9"/></clipPath>
    <path id="unused"/></defs>
    <foreignObject><p>x</p></foreignObject><a href="javascript:alert(1)"><text>gone</text></a>
    <use xlink:href="#p" clip-path="url(#c)" style="fill:none" onclick="alert(1)"/>
    <use xlink:href="https://example.org/x.svg#p"/><image href="https://example.org/x.png"/>
    <image href="data:image/png;base64,AAAA"/><image href="data:image/svg+xml;base64,AAAA"/>
    <rect style="fill:url(https://example.org)"/><rect style="fill:u\\72l(x)"/>
    <text>a &lt; b<set attributeName="x"/></text>
    <animate/></svg>"""
    text = str(svg(source, "o1_", "A <name>", "o1_alt"))
    assert text.startswith('<svg viewBox="0 0 9 9" role="img" aria-labelledby="o1_title" aria-describedby="o1_alt">')
    assert '<title id="o1_title">A &lt;name&gt;</title>' in text
    assert '<path id="o1_0" d="M 0.12 1 L 2 2.5" />' in text and "unused" not in text
    assert '<use href="#o1_0" clip-path="url(#o1_1)" style="fill:none" />' in text
    assert 'href="data:image/png;base64,AAAA"' in text and "a &lt; b" in text
    assert not re.search(r"example|script|onload|onclick|foreign|animate|svg\+xml|metadata|gone|xmlns|<set|72l", text)


@pytest.mark.parametrize("source", ["", "<p/>", "<svg", "<!DOCTYPE x [<!ENTITY a 'b'>]><svg>&a;</svg>"])
def test_what_is_not_svg_is_not_shown_as_svg(source: str) -> None:
    assert svg(source, "o1_", "x") is None


@pytest.mark.parametrize(
    ("data", "said", "kind"),
    [
        ({"text/html": "<table></table>", "text/plain": "t"}, {}, "text"),
        ({"text/html": "<b>x</b>"}, {"kind": "table"}, "text"),
        ({"application/javascript": "alert(1)"}, {}, "text"),
        ({"image/svg+xml": "<b>", "text/plain": "t"}, {"kind": "figure"}, "text"),
        ({"image/png": "iVBORw0KGgo=\n", "text/plain": "t"}, {}, "figure"),
        ({"image/png": '"><script>', "text/plain": "t"}, {}, "text"),
        (
            {"application/vnd.azlatency.findings+json": [{"kind": "x", "text": ""}], "text/plain": "t"},
            {},
            "text",
        ),
        ({"application/vnd.azlatency.findings+json": "no", "text/plain": "t"}, {}, "text"),
        ({"application/vnd.azlatency.findings+json": [{"kind": "act", "text": "x"}]}, {}, "findings"),
        ({"text/markdown": "<script>"}, {}, "markdown"),
    ],
)
def test_outputs_that_are_not_ours_come_as_text(data: dict[str, Any], said: dict[str, Any], kind: str) -> None:
    output = {"output_type": "display_data", "data": data, "metadata": {"azlatency": said}}
    shown = Outputs().show(output)
    assert shown.kind == kind
    assert "<script" not in shown.html


# --- kernels and stored outputs


def test_a_warm_kernel_forgets(tmp_path: Path) -> None:
    (tmp_path / "toymodule.py").write_text("import warnings\ndef ask(): warnings.warn('asked')\n")
    first = write(tmp_path, "a.ipynb", new_code_cell("import toymodule\nleak = 1\ntoymodule.ask()"))
    second = write(
        tmp_path, "b.ipynb", new_code_cell("import toymodule\ntoymodule.ask()\n'leak' in globals(), study, object()")
    )
    with WarmKernel(tmp_path) as kernel:
        kernel.run(first, {})
        notebook, error = kernel.run(second, {"study": "x"})
        again, _ = kernel.run(second, {"study": "x"})
    assert error is None
    cell = notebook.cells[-1]
    assert "asked" in cell.outputs[0].text
    assert cell.outputs[1].data["text/plain"] == "(False, 'x', <object at 0x…>)"
    assert [each.execution_count for each in notebook.cells] == [1, 2, 3]
    assert notebook == again


def test_storing_outputs_twice_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data" / "processed").mkdir(parents=True)
    good = write(tmp_path / "notebooks", "01.ipynb", new_markdown_cell("# T"), new_code_cell("study, 'é'"))
    bad = write(tmp_path / "notebooks", "02.ipynb", new_code_cell("1 / 0"))
    before = bad.read_bytes()
    failures = notebooks.store()
    stored = good.read_bytes()
    assert notebooks.store(tmp_path / "notebooks") == failures
    assert good.read_bytes() == stored
    assert [line.split(": ")[1] for line in failures] == ["ZeroDivisionError"] and bad.read_bytes() == before
    assert stored.endswith(b"}\n") and "é".encode() in stored
    content = json.loads(stored)
    assert content["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert [cell["metadata"] for cell in content["cells"]] == [{"tags": ["parameters"]}, {}, {}]
    assert content["cells"][2]["outputs"][0]["data"]["text/plain"] == ["('none', 'é')"]
    assert [cell["id"] for cell in content["cells"]] == [cell.id for cell in nbformat.read(good, 4).cells]
