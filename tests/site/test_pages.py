"""The rendered pages in headless Chromium: no error, no request, nothing for axe, and everything by keyboard."""

from __future__ import annotations

import base64
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers.places import ROOT
from helpers.tables import text_table
from matplotlib.figure import Figure

from azlatency.kit.cells import FileRef
from azlatency.kit.objects import BOTH_WIDTHS, Chart, Finding, Findings
from azlatency.kit.sentences import Linked
from azlatency.pages.summary.card import Card, dot
from azlatency.shapes import forest
from azlatency.site import build as report
from azlatency.site import pages
from azlatency.site.search import texts_of
from azlatency.studies.imports.importer import import_study
from azlatency.studies.store.study import load

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.page,
    pytest.mark.skipif(CHROMIUM is None or os.name != "posix", reason="no Chromium"),
]


class Browser:
    """Headless Chromium on a pipe: one page at a time, with its events. Needs no driver and no port."""

    def __init__(self, profile: Path) -> None:
        here_in, there_out = os.pipe()
        there_in, here_out = os.pipe()
        options = [
            "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
            "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank",
        ]  # fmt: skip
        # The protocol wants the pipe at the descriptors 3 and 4, where pass_fds cannot put it.
        start = (
            "import fcntl, os, sys; i, o = (fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]); "
            "os.dup2(i, 3); os.dup2(o, 4); os.execv(sys.argv[3], sys.argv[3:])"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", start, str(there_in), str(there_out), str(CHROMIUM), *options],
            pass_fds=(there_in, there_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(there_in)
        os.close(there_out)
        self._out, self._in = os.fdopen(here_out, "wb", buffering=0), os.fdopen(here_in, "rb")
        self._count = 0
        self.events: list[dict[str, Any]] = []
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Log", "Runtime", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        self._out.close()
        self._in.close()
        self._process.terminate()
        self._process.wait(20)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command and its answer; events that come before it are kept."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _read(self) -> dict[str, Any]:
        content = bytearray()
        while (byte := self._in.read(1)) != b"\0":
            assert byte, "Chromium ended"
            content += byte
        message = json.loads(content)
        if "id" not in message:
            self.events.append(message)
        return message

    def open(self, page: Path, width: int = 1200, height: int = 900, scheme: str = "light", whole: bool = True) -> None:
        """Load a page and wait until it has loaded; with ``whole``, until it has taken up what stands there as text."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.call("Page.navigate", url=page.absolute().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._read()
        if whole:
            self.until("!document.querySelector('.folded')")

    def evaluate(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until something holds: a dialog closes in an event of its own."""
        look = f"const look = () => ({expression}) ? done() : setTimeout(look, 5); look(); setTimeout(failed, 30000);"
        self.evaluate(f"new Promise((done, failed) => {{ {look} }})")

    def press(self, key: str, code: int, text: str = "") -> None:
        """A key, pressed and released."""
        for kind in ("keyDown", "keyUp"):
            typed = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **typed)

    def saved(self, click: str) -> bytes:
        """What a page hands over for saving after ``click``: its text form, or its bytes as latin-1."""
        catch = """new Promise((done, failed) => {
            setTimeout(failed, 30000);
            URL.createObjectURL = blob => { blob.arrayBuffer().then(all => {
                let text = "";
                for (const byte of new Uint8Array(all)) text += String.fromCharCode(byte);
                done(btoa(text));
            }); return "#"; };
            %s })"""
        return base64.b64decode(self.evaluate(catch % click))

    def problems(self) -> list[str]:
        """What the page complained about, and what it asked for beside itself."""
        messages = []
        for event in self.events:
            params = event["params"]
            if event["method"] == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                messages.append(params["entry"]["text"])
            elif event["method"] in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                messages.append(json.dumps(params)[:300])
            elif event["method"] == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "data:")):
                    messages.append(url)
        return messages


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    running = Browser(tmp_path_factory.mktemp("chromium"))
    yield running
    running.close()


EVIL = "</noscript></script><script>alert(1)</script><img src=x onerror=alert(2)>"
LOG = ROOT / "data" / "raw" / "westeurope-azure-cni" / "az1-az1" / "sockperf.log"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A site with one page that holds every kind of output, a concept and the search; not executed."""
    root = tmp_path_factory.mktemp("site")
    folder = root / "data" / "raw" / "toy"
    folder.mkdir(parents=True)
    fields = {"title": "Toy", "question": "Why?", "notes": "W" * 300, "source": EVIL, "date": "2026-11-24"}
    (folder / "study.toml").write_text(
        "\n".join(["[study]", *(f"{key} = {json.dumps(value)}" for key, value in fields.items()), "emulated = true"])
    )
    (folder / "run.log").write_text(LOG.read_text("utf-8") + EVIL + "\n", "utf-8")
    (root / "docs").mkdir()
    (root / "docs" / "guide.md").write_text(f"# Guide\n\n## Part\n\n{EVIL}\n\n```\n{'W' * 300}\n```\n", "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AZLATENCY_DATA", str(root / "data"))
        patch.setattr(report, "CONCEPTS", root / "docs")
        import_study("toy")
        study = pages.study_view("toy")
        chapters = tuple(
            pages.Chapter(path=Path(f"{number}.ipynb"), title="A page " + "W" * number, question="Q?")
            for number in (1, 60)
        )
        made_by = report._Site(root / "site", root / "notebooks")
        made = []
        for number in (0, 1):
            job = pages.Job(study=study, chapters=chapters, number=number)
            html, page = made_by.page(job, _notebook(rows=(60, 6)[number]), "KeyError: 'x'"[: 9 * number])
            report._write(made_by._out / job.page, html)
            made.append(page)
        job = pages.Job(
            study=study, chapters=(pages.Chapter(path=Path("00_summary.ipynb"), title="Summary"),), number=0
        )
        report._write(made_by._out / job.page, made_by.page(job, _notebook(rows=6), None)[0])
        made_by.finish([study], made)
    yield root / "site"


def _notebook(rows: int) -> Any:
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

    figure = Figure(figsize=(7, 3))
    figure.subplots().plot([3, 1, 2])
    source = load("toy").sources["source_id"][0]
    paths = [[f"path {number} with a name that is not short", *["1,234.567"] * 15] for number in range(rows)]
    sorts = [["b", "10", "5 us", "-1"], ["a", "9", "3 ms", "–"], [EVIL, "1,000", "4 us", "2"]]
    count = len(LOG.read_text("utf-8").splitlines())
    objects = [
        Chart(figure, "Round trips", "Three values: 3, 1, 2 µs."),
        _forest(),
        text_table("Numbers", ["path", *[f"p{n}" for n in range(15)]], paths, range(1, 16), ("Long. " * 60,)),
        text_table(
            "Sorted", ("name", "n", "printed", "change"), sorts, {1, 2, 3},
            refs=[
                {-1: [FileRef(source, line=1, last=9)], 1: [FileRef(source, line=count + 1)]},
                {-1: [FileRef(source, line=2)]},
            ],
        ),
        Findings((Finding("act", "Do $x^2$."), Finding("info", "<script>alert(1)</script>" + "W" * 200))),
        Card(
            study="toy", title="Toy", question="Why?", badge="indicative", reported=False,
            answer=(Linked("1 ms", FileRef(source, line=2)), "W" * 90),
            inference=("None.",), axis="mean RTT", next_step="Repeat.",
            dots=tuple(dot(f"path {n}", [n * 1e6], "ns", FileRef(source, line=2), near=n == 1) for n in (1, 2)),
            round_trips=pd.DataFrame(
                {
                    "placement": ["same_zone", "cross_zone"], "region": EVIL, "pair": "1", "path": "W" * 60,
                    "method": "ping", "value": 1e6, "low": 1e6, "high": 1e6, "p99": math.nan, "p999": math.nan,
                    "added": 1e5, "runs": 1, "statistic": EVIL, "published": [False, True], "resolution": math.nan,
                    "least": 1e6, "most": 1e6,
                }
            ),
            readers={"replicas": (EVIL, Linked("1 ms", FileRef(source, line=2)))},
        ),
    ]  # fmt: skip
    outputs = []
    for shown in objects:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(BOTH_WIDTHS, "1")
            bundle = shown._repr_mimebundle_()
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        outputs.append(new_output("display_data", data, metadata=metadata))
    outputs += [
        new_output("stream", name="stdout", text="long " * 200 + "\n" + "W" * 400),
        new_output("error", ename="KeyError", evalue="'x'", traceback=["W" * 400]),
    ]
    text = "# A page\n\n## Maths\n\n$$" + "x_1+" * 60 + "x$$\n\n| a | b |\n|--|--|\n| " + "W" * 90 + " | 2 |\n"
    return new_notebook(cells=[new_markdown_cell(text), new_code_cell("x = 1  # " + "W" * 300, outputs=outputs)])


def _forest() -> Chart:
    """A chart of two panels with long names of rows, in two widths."""
    rows = pd.DataFrame({"method": ["ping", "qperf"], "path": ["from a host with a long name to another one"] * 2})
    rows = rows.assign(us=[98.0, 1402.0], us_low=90.0, us_high=1500.0)
    chart = forest(rows, "us", panel="method", row="path", caption="Round trips again.")
    assert isinstance(chart, Chart)
    return chart


PAGES = [
    "index.html",
    "across.html",
    "changes.html",
    "search.html",
    "toy/1.html",
    "toy/60.html",
    "docs/guide.html",
]

#: The dark scheme has the same layout; axe checks its colours.
SLOW_DARK = pytest.param("dark", marks=pytest.mark.slow)


@pytest.mark.costly
@pytest.mark.parametrize("scheme", ["light", SLOW_DARK])
@pytest.mark.parametrize("page", PAGES)
def test_page_is_quiet_and_fits_a_phone(browser: Browser, site: Path, page: str, scheme: str) -> None:
    browser.open(site / page, width=390, scheme=scheme)
    assert browser.problems() == []
    assert browser.evaluate("document.documentElement.scrollWidth") <= 390
    requests = [event["params"]["request"]["url"] for event in browser.events if "request" in event["params"]]
    assert {url for url in requests if not url.startswith("data:")} == {(site / page).as_uri()}


def test_opened_details_fit_a_phone(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html", width=390)
    browser.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert browser.evaluate("document.documentElement.scrollWidth") <= 390


#: Of each figure: what a reader sees of its drawings, and how far they reach beyond their box, in pixels.
SEEN = """[...document.querySelectorAll('figure')].map(figure => {
    const box = figure.querySelector('.card').getBoundingClientRect();
    const seen = [...figure.querySelectorAll('.card svg')].filter(drawing => drawing.getClientRects().length);
    const sides = seen.map(drawing => drawing.getBoundingClientRect());
    return [seen.map(drawing => drawing.getAttribute('class')),
            Math.max(...sides.map(side => Math.max(box.left - side.left, side.right - box.right)))];
})"""


@pytest.mark.costly
@pytest.mark.parametrize(("width", "drawing"), [(320, "phone-width"), (390, "phone-width"), (1280, "page-width")])
def test_one_drawing_of_each_chart_is_shown_inside_its_box(
    browser: Browser, site: Path, width: int, drawing: str
) -> None:
    browser.open(site / "toy" / "1.html", width=width)
    seen = browser.evaluate(SEEN)
    assert [classes for classes, _ in seen] == [[None], [drawing]]
    assert all(beyond <= 0 for _, beyond in seen)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


#: The smallest letters of the drawings for phones, in points.
SMALLEST = """Math.min(...[...document.querySelectorAll('.phone-width text')].map(each => {
    const drawing = each.ownerSVGElement, scale = drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width;
    return 0.75 * scale * parseFloat(getComputedStyle(each).fontSize);
}))"""


def test_letters_of_a_chart_on_a_phone_have_eight_points(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html", width=390)
    assert browser.evaluate(SMALLEST) >= 7.9


def test_charts_beside_each_other_fill_their_columns(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html", width=1280)
    widths = browser.evaluate(
        "['.beside', '.beside figure', '.beside .card'].map(each => document.querySelector(each).clientWidth)"
    )
    assert widths[1] > 0.45 * widths[0] and widths[2] >= widths[1] - 2


def test_a_phone_enlarges_its_own_drawing_and_a_page_saves_the_wide_one(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html", width=390)
    press = "[...document.querySelectorAll('figure')].at(-1).querySelectorAll('button')[{}].click()".format
    browser.evaluate(press(0))
    assert browser.evaluate("document.querySelector('dialog svg').getAttribute('class')") == "phone-width"
    browser.evaluate("document.querySelector('dialog button').click()")
    assert b'width="504pt"' in browser.saved(press(1))


def test_page_stands_as_the_markup_says(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html")
    count = "document.querySelectorAll('{}').length".format
    assert browser.evaluate(count("figure svg[role=img]")) == 3
    assert browser.evaluate("document.querySelector('main math').getBoundingClientRect().height") > 10
    # The second figure must not use the first one's clip path and glyphs.
    ids = browser.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
    assert len(ids) == len(set(ids))
    assert browser.evaluate("getComputedStyle(document.querySelector('td.number')).textAlign") == "right"
    assert browser.evaluate("document.querySelector('figure svg path').getBoundingClientRect().width") > 0


def test_a_long_table_prints_its_first_rows_and_their_number(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html")
    table = "document.querySelector('.scroll:has(.az)')"
    browser.evaluate(f"{table}.closest('details').replaceWith({table}); {table}.classList.add('short')")
    browser.call("Emulation.setEmulatedMedia", media="print")
    seen = f"[...{table}.querySelectorAll('tbody tr')].filter(row => row.getClientRects().length).length"
    assert browser.evaluate(seen) == 10
    assert "The first 10 of " in browser.evaluate(f"getComputedStyle({table}, '::after').content")
    browser.evaluate(f"{table}.classList.remove('short')")
    assert browser.evaluate(seen) == 60
    browser.call("Emulation.setEmulatedMedia", media="")


def test_paper_announces_nothing_that_is_not_printed(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html")
    text, fold = '<div class="text"><h2>H</h2></div><div class="code"></div>', '<details class="rows">t</details>'
    words = '<details class="words explanation">why</details>'
    parts = {"table": text + fold + words, "both": text + "<figure>f</figure>" + fold + words}
    html = "".join(f'<div class="section" id="{name}">{part}</div>' for name, part in parts.items())
    closed = (
        '<details class="words" id="closed">c</details><details class="words explanation" id="not_shown">n</details>'
    )
    browser.evaluate(f"document.querySelector('main').insertAdjacentHTML('beforeend', {json.dumps(html + closed)})")
    browser.call("Emulation.setEmulatedMedia", media="print")
    shown = "['table', 'both', 'closed', 'not_shown'].filter(id => document.getElementById(id).getClientRects().length)"
    assert browser.evaluate(shown) == ["both"]
    browser.call("Emulation.setEmulatedMedia", media="")


@pytest.mark.costly
def test_page_prints(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html")
    content = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert content.startswith(b"%PDF") and len(content) > 10_000


def test_a_summary_is_a_sheet_with_title_date_version_and_source(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "00_summary.html")
    assert browser.evaluate("document.querySelector('h1').innerText") == "Toy"
    sheet = browser.evaluate("document.querySelector('#sheet').textContent")
    facts = rf"1 run \(sockperf\) · 2026-11-24 · Source: {re.escape(EVIL)} · data version [0-9a-f]{{16}}"
    assert re.fullmatch(facts, sheet)


def test_the_keyboard_reaches_the_content(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html")
    browser.press("Tab", 9)
    assert browser.evaluate("document.activeElement.className") == "skip"
    assert browser.evaluate("document.activeElement.getBoundingClientRect().left") >= 0


@pytest.mark.costly
@pytest.mark.parametrize(
    ("page", "scheme"),
    # The page of a study with a long table has what the other one has, in ten times as many rows.
    [pytest.param(page, "light", marks=pytest.mark.slow if page == "toy/1.html" else []) for page in PAGES]
    + [
        pytest.param(page, "dark", marks=[] if page in ("index.html", "toy/60.html") else pytest.mark.slow)
        for page in PAGES
    ],
)
def test_axe_finds_nothing(browser: Browser, site: Path, page: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_core_python")
    browser.open(site / page, scheme=scheme)
    if page == "search.html":
        browser.evaluate(
            "(q => { q.value = 'page'; q.dispatchEvent(new Event('input')); })(document.getElementById('q'))"
        )
    # What is folded up is looked at, too.
    browser.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    violations = _axe(browser, Path(axe.__file__).with_name("axe.min.js"))
    assert violations == []
    if page.startswith("toy/") and scheme == "light":
        browser.evaluate("document.querySelector('tr .from').click()")
        assert _axe(browser, None) == []


def _axe(browser: Browser, script: Path | None) -> list[str]:
    if script is not None:
        browser.evaluate(script.read_text("utf-8") + ";0")
    return browser.evaluate(
        "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']}).then(found => "
        "found.violations.map(each => each.id + ': ' + each.nodes.slice(0, 3).map(node => node.html).join(' | ')))"
    )


@pytest.mark.costly
def test_hostile_text_stays_text_in_every_page(browser: Browser, site: Path) -> None:
    for page in [path.relative_to(site) for path in site.rglob("*.html")]:
        browser.open(site / page)
        browser.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert browser.problems() == [], page
        assert browser.evaluate("document.querySelectorAll('img, iframe, object').length") == 0
    browser.open(site / "toy" / "1.html")
    browser.evaluate("document.querySelectorAll('table.az')[1].querySelector('td[data-at]').click()")
    assert browser.evaluate("document.querySelector('dialog .here code').textContent") == EVIL
    browser.open(site / "search.html")
    browser.evaluate("(q => { q.value = 'alert'; q.dispatchEvent(new Event('input')); })(document.getElementById('q'))")
    assert "<script>alert(1)" in browser.evaluate("document.getElementById('found').textContent")
    assert browser.problems() == []


def test_pages_stay_small(site: Path) -> None:
    for path in site.rglob("*.html"):
        assert path.stat().st_size < 1_500_000, path


# --- tables


def cells(browser: Browser, column: int) -> list[str]:
    rows = "[...document.querySelectorAll('table.az')[1].tBodies[0].rows]"
    return browser.evaluate(f"{rows}.map(row => row.cells[{column}].textContent.replace(/ log$/, ''))")


def test_cautions_stand_between_the_charts_that_open_the_page_and_its_tables(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html")
    kinds = "[...document.querySelectorAll('figure, .rows, #findings_act')].map(each => each.tagName)"
    # Two charts of one cell stand beside each other.
    assert browser.evaluate(kinds) == ["FIGURE", "FIGURE", "UL", "DETAILS", "DETAILS"]


#: Tables below a chart are folded.
OPEN_TABLES = "document.querySelectorAll('.rows').forEach(each => { each.open = true })"


def test_tables_below_a_chart_are_folded_and_a_link_opens_one(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html")
    seen = "[...document.querySelectorAll('table.az')].map(each => each.checkVisibility())"
    assert browser.evaluate(seen) == [False, False]
    names = "[...document.querySelectorAll('.rows > summary')].map(each => each.innerText)"
    assert browser.evaluate(names) == ["Numbers (60 rows)", "Sorted (3 rows)"]
    browser.evaluate("location.hash = 'table-2'")
    browser.until("document.querySelectorAll('.rows')[1].open")
    assert browser.evaluate(seen) == [False, True]


def test_tables_are_sorted_by_keyboard_and_say_so(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html")
    browser.evaluate(OPEN_TABLES)
    browser.evaluate("document.querySelectorAll('table.az')[1].tHead.querySelectorAll('.sort')[1].focus()")
    original = cells(browser, 1)
    state = "document.activeElement.closest('th').getAttribute('aria-sort')"
    for expected, order in (
        ("ascending", ["9", "10", "1,000"]),
        ("descending", ["1,000", "10", "9"]),
        (None, original),
    ):
        browser.press("Enter", 13, "\r")
        assert browser.evaluate(state) == expected and cells(browser, 1) == order
    # "5 us" and "3 ms" have no order that a script knows; what is missing comes last either way.
    heads = (
        "[...document.querySelectorAll('table.az')[1].tHead.rows[0].cells].map(each => !!each.querySelector('.sort'))"
    )
    assert browser.evaluate(heads) == [True, True, False, True]
    for order in (["-1", "2", "–"], ["2", "-1", "–"]):
        browser.evaluate("document.querySelectorAll('table.az')[1].tHead.querySelectorAll('.sort')[2].click()")
        assert cells(browser, 3) == order


def test_csv_holds_the_table_and_no_formula(browser: Browser, site: Path) -> None:
    import csv
    import io

    browser.open(site / "toy" / "1.html")
    browser.evaluate("document.querySelectorAll('table.az')[1].tBodies[0].rows[0].cells[0].firstChild.data = '=cmd()'")
    click = "[...document.querySelectorAll('button')].filter(each => each.textContent === 'CSV')[1].click()"
    text = browser.saved(click).decode("utf-8-sig")
    assert list(csv.reader(io.StringIO(text))) == [
        ["name", "n", "printed", "change"],
        ["'=cmd()", "10", "5 us", "-1"],
        ["a", "9", "3 ms", "–"],
        [EVIL, "1000", "4 us", "2"],
    ]


def test_a_number_leads_to_its_line_by_keyboard(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html")
    browser.evaluate(OPEN_TABLES)
    browser.evaluate("document.querySelectorAll('table.az')[1].querySelectorAll('.from')[1].focus()")
    browser.press("Enter", 13, "\r")
    assert "run.log" in browser.evaluate("document.querySelector('dialog[open]').textContent")
    assert LOG.read_text("utf-8").splitlines()[1].strip() in browser.evaluate(
        "document.querySelector('dialog').textContent"
    )
    browser.press("Escape", 27)
    browser.until("!document.querySelector('dialog')")
    assert browser.evaluate("document.activeElement.className") == "from"


# --- figures


def test_figures_enlarge_and_come_back(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html", width=1000)
    width = "document.querySelector('figure svg, dialog svg').getBoundingClientRect().width"
    before = browser.evaluate(width)
    browser.evaluate("[...document.querySelectorAll('button')].find(each => each.textContent === 'Enlarge').click()")
    assert browser.evaluate("document.querySelector('dialog svg').getBoundingClientRect().width") > before
    browser.press("Escape", 27)
    browser.until("!document.querySelector('dialog')")
    assert browser.evaluate(width) == before and browser.evaluate("document.querySelectorAll('figure svg').length") == 3


def test_a_figure_is_printed_alone_on_a_page_of_its_size(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html")
    browser.evaluate("window.print = () => {}")
    browser.evaluate("[...document.querySelectorAll('figure button')].find(each => each.textContent === 'PDF').click()")
    content = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])
    assert re.findall(rb"/Count (\d+)", content) == [b"1"] and b"/FontFile2" in content
    assert re.findall(rb"/MediaBox \[0 0 (\d+)[.\d]* (\d+)", content) == [(b"504", b"216")]
    browser.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not browser.evaluate("document.querySelector('.printed, .one-figure')")


def test_figures_are_saved_as_svg_and_png(browser: Browser, site: Path) -> None:
    from xml.etree import ElementTree

    browser.open(site / "toy" / "1.html")
    click = "[...document.querySelectorAll('figure button')].find(each => each.textContent === '{}').click()".format
    root = ElementTree.fromstring(browser.saved(click("SVG")).decode())
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and root.get("width") == "504pt"
    png = browser.saved(click("PNG"))
    assert png.startswith(b"\x89PNG") and int.from_bytes(png[16:20]) == 504 * 300 // 72
    assert browser.problems() == []


# --- what a page hands over as text, and takes up when it has opened


def test_pages_have_few_elements_when_they_open(site: Path) -> None:
    text = (site / "toy" / "1.html").read_text("utf-8")
    first = re.sub(r"<noscript>.*?</noscript>", "", text, flags=re.S)
    assert len(re.findall("<[a-z]", first)) < 500 < len(re.findall("<[a-z]", text))
    assert len(re.findall("<[a-z]", (site / "index.html").read_text("utf-8"))) < 300


def test_figures_long_tables_and_lines_come_by_themselves(browser: Browser, site: Path) -> None:
    text = (site / "toy" / "1.html").read_text("utf-8")
    assert text.count("<noscript><svg") == 2 and text.count("<noscript><table") == 1
    browser.open(site / "toy" / "1.html", whole=False)
    rooms = "[...document.querySelectorAll('.card')].map(each => each.getBoundingClientRect().height)"
    before = browser.evaluate(rooms)
    browser.until("!document.querySelector('.folded, noscript')")
    assert browser.evaluate("document.querySelectorAll('figure .card > svg[role=img]').length") == 3
    assert browser.evaluate("document.querySelectorAll('table.az tbody tr').length") == 63
    assert browser.evaluate("document.querySelectorAll('.provenance .file li').length") == 2
    # A figure's place was kept for it.
    assert browser.evaluate(rooms) == before and min(before) > 100
    assert browser.problems() == []


def test_heads_and_names_of_a_long_table_stay_in_view(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html", width=360)
    table = "document.querySelector('.scroll.tall')"
    browser.evaluate(OPEN_TABLES)
    browser.evaluate(f"{table}.scrollIntoView()")
    browser.until(f"{table}.scrollHeight > {table}.clientHeight")  # it is laid out
    browser.evaluate(f"{table}.scrollTo(150, 400)")
    on_top = (
        "(() => {{ const box = {0}.getBoundingClientRect(); "
        "return document.elementFromPoint(box.left + {1}, box.top + {2}).closest('th').textContent; }})()"
    )
    assert browser.evaluate(on_top.format(table, 5, 5)).strip() == "path"
    assert browser.evaluate(on_top.format(table, 5, 300)).startswith("path ")
    assert browser.evaluate(on_top.format(table, 250, 5)).startswith("p")


@pytest.fixture
def idle_never_comes(browser: Browser) -> Iterator[None]:
    """What waits for the browser to be idle, or for the reader to scroll, does not come."""
    never = "window.requestIdleCallback = () => 0; window.IntersectionObserver = class { observe() {} unobserve() {} };"
    script = browser.call("Page.addScriptToEvaluateOnNewDocument", source=never)["identifier"]
    yield
    browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


@pytest.mark.costly
@pytest.mark.usefixtures("idle_never_comes")
def test_what_is_asked_for_comes_at_once(browser: Browser, site: Path) -> None:
    page = site / "toy" / "1.html"
    browser.open(page, whole=False)
    count = "document.querySelectorAll('{}').length".format
    assert browser.evaluate(count(".folded")) == 4 and browser.evaluate(count("table.az")) == 1
    click = "[...document.querySelectorAll('button')].find(each => each.textContent === '{}').click()".format
    assert len(browser.saved(click("CSV")).decode().splitlines()) == 61
    assert browser.evaluate(count("table.az")) == 2 and browser.evaluate(count(".sort")) > 16
    browser.evaluate(click("Enlarge"))
    assert browser.evaluate(count("dialog svg path")) > 0
    browser.evaluate("document.querySelector('dialog').close(); document.querySelector('tr .from').click()")
    assert browser.evaluate(count("dialog .lines dd")) > 0
    browser.open(page, whole=False)
    find = "(q => { q.value = 'path 59'; q.dispatchEvent(new Event('input')); })(document.querySelector('[name=q]'))"
    browser.evaluate(find)
    assert "path 59 with" in browser.evaluate("document.querySelector('#hits a').textContent")
    browser.open(page, whole=False)
    browser.evaluate("location.hash = document.querySelectorAll('tr .from')[1].hash")
    browser.until("document.querySelector('.provenance :target')")
    browser.until("document.querySelector(':target').getBoundingClientRect().top < innerHeight")
    assert browser.problems() == []


@pytest.mark.costly
@pytest.mark.usefixtures("idle_never_comes")
def test_what_the_reader_opened_is_printed_and_explanations_are(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html", whole=False)
    browser.evaluate("document.querySelector('details.rows').open = true")
    assert browser.evaluate("document.querySelectorAll('.folded').length") == 4
    for name, word in (("words explanation", "explained"), ("words", "cited")):
        fold = f"<details class='{name}'><summary>More</summary><p>{word}</p></details>"
        browser.evaluate(f'document.querySelector("main").insertAdjacentHTML("beforeend", "{fold}")')
    content = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert browser.evaluate("document.querySelectorAll('.folded').length") == 0
    if reader := shutil.which("pdftotext"):
        text = subprocess.run([reader, "-layout", "-", "-"], input=content, capture_output=True, check=True).stdout
        pages = [page.split() for page in text.decode().split("\f")]
        # Explanations and the notes of a table are folded on the screen only.
        printed = {word for page in pages for word in page}
        assert {"explained", "Long."} < printed and not {"cited", "Notes", "Sorted"} & printed
        # Every page that the table goes on to begins with its head.
        assert len([page for page in pages if "p9" in page]) == len([page for page in pages if "1,234.567" in page]) > 1
    assert browser.evaluate("document.querySelectorAll('table.az tbody tr').length") == 63


def test_a_page_says_that_its_script_was_kept_from_running(browser: Browser, site: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked.html"
    text = (site / "toy" / "1.html").read_text("utf-8")
    blocked.write_text(re.sub(r"script-src [^;]*", "script-src 'none'", text, count=1), "utf-8")
    browser.open(blocked, whole=False)
    content = "getComputedStyle(document.querySelector('.card.folded'), '::before').content"
    assert "not allowed to run" in browser.evaluate(content)
    browser.open(site / "toy" / "1.html", whole=False)
    assert browser.evaluate("document.documentElement.dataset.scripts") == "run"


# --- search, colours


def test_search_finds_on_the_page_and_in_all(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html")
    browser.evaluate(
        "(q => { q.value = 'round again'; q.dispatchEvent(new Event('input')); })(document.querySelector('[name=q]'))"
    )
    hits = browser.evaluate("[...document.querySelectorAll('#hits a')].map(each => each.textContent)")
    assert hits[0].startswith("Round trips again") and hits[-1] == "All pages: round again"
    assert browser.evaluate("document.querySelector('#hits .all a').href").endswith("/search.html?q=round%20again")
    browser.open(site / "search.html")
    browser.evaluate("(q => { q.value = 'maths'; q.dispatchEvent(new Event('input')); })(document.getElementById('q'))")
    # Both pages come from one notebook: its prose is listed once, its findings under their own heading.
    hrefs = "[...document.querySelectorAll('#found a')].map(each => each.getAttribute('href'))"
    assert set(browser.evaluate(hrefs)) == {"toy/1.html#maths"}
    browser.evaluate("(q => { q.value = 'do x2'; q.dispatchEvent(new Event('input')); })(document.getElementById('q'))")
    assert browser.evaluate(hrefs) == ["toy/1.html#findings_act", "toy/60.html#findings_act"]


def test_a_path_of_right_to_left_names_keeps_its_direction(browser: Browser, tmp_path: Path) -> None:
    report._write(tmp_path / "page.html", "<!doctype html><p>\u0627\u0628 1 → \u0627\u0628 2")
    browser.open(tmp_path / "page.html")
    at = """(() => { const text = document.querySelector("p").firstChild, range = document.createRange();
      return ["1", "→", "2"].map(part => { const at = text.data.indexOf(part); range.setStart(text, at);
        range.setEnd(text, at + 1); return range.getBoundingClientRect().left; }); })()"""
    first, arrow, second = browser.evaluate(at)
    assert first < arrow < second


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The search page over a few texts of every kind."""
    parts = [
        ("text", "how", "Accelerated networking", ("Prose on accelerated networking that many pages share.",)),
        ("row", "", "Round trips by placement", ("proximity placement group · 54.0 · 57.0", "zones 2 – 3 · 1.44")),
        ("figure", "figure-1", "Accelerated networking", ("accelerated networking off → on: 0.188",)),
        ("finding", "findings_info", "What these data show", ("Accelerated networking: 80 % less in one zone.",)),
    ]
    made_by = report._Site(tmp_path_factory.mktemp("search") / "site", ROOT / "notebooks")
    page = made_by._out.with_name("search.html")
    texts = texts_of([("toy/05.html", "Placement", "Toy", parts), ("toy/06.html", "Baseline", "Toy", parts[:1])])
    report._write(page, made_by._render("search.html.j2", "search.html", texts=texts))
    return page


@pytest.mark.costly
@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        # Findings first, prose last and once.
        ("accelerated networking", ["finding", "figure", "text"]),
        ("PPG", ["table"]),
        ("1.44", ["table"]),
        ("acelerated", ["finding", "figure", "text"]),
        ("networking baselin", []),
    ],
)
def test_search_puts_findings_first_and_forgives_one_error(
    browser: Browser, searched: Path, query: str, kinds: list[str]
) -> None:
    browser.open(searched)
    browser.evaluate(
        f"(q => {{ q.value = {query!r}; q.dispatchEvent(new Event('input')); }})(document.getElementById('q'))"
    )
    hits = browser.evaluate("[...document.querySelectorAll('#found li')].map(each => each.dataset.kind)")
    assert hits == kinds
    assert browser.problems() == []


def test_a_lone_page_searches_itself(browser: Browser, site: Path, tmp_path: Path) -> None:
    lone = tmp_path / "from-a-mail.html"
    shutil.copy(site / "toy" / "1.html", lone)
    browser.open(lone)
    browser.evaluate(
        "(q => { q.value = 'round'; q.dispatchEvent(new Event('input')); })(document.querySelector('[name=q]'))"
    )
    assert browser.evaluate("document.querySelectorAll('#hits .all').length") == 0
    browser.evaluate("document.querySelector('[name=q]').focus()")
    browser.press("Enter", 13, "\r")
    assert browser.evaluate("document.activeElement.closest('#hits') !== null")
    assert browser.problems() == []


def test_colours_follow_the_system_until_the_reader_chooses(browser: Browser, site: Path) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    browser.open(site / "toy" / "1.html", scheme="light")
    assert browser.evaluate(background) == "rgb(255, 255, 255)"
    browser.open(site / "toy" / "1.html", scheme="dark")
    assert browser.evaluate(background) == "rgb(20, 24, 29)"
    browser.evaluate("[...document.querySelectorAll('.top button')].at(-1).click()")
    assert browser.evaluate(background) == "rgb(255, 255, 255)"
    browser.evaluate("localStorage.clear()")


@pytest.mark.slow
def test_the_index_can_be_filtered(browser: Browser, site: Path) -> None:
    """Four studies of four tools, one of them in the fold of the emulated lab."""
    html = (site / "index.html").read_text("utf-8")
    start = html.index('<section class="answer"')
    end = html.index("</section>", start) + len("</section>")
    card = html[start:end]
    cards = [
        card.replace('data-tool="', f'data-tool="{tool}|').replace("toy_title", tool)
        for tool in ("fio", "ping", "qperf", EVIL.replace("<", "&lt;"))
    ]
    cards[0] = f'<details><summary>lab</summary><div class="cards">{cards[0]}</div></details>'
    (site / "filters.html").write_text(html[:start] + "".join(cards) + html[end:], "utf-8")
    browser.open(site / "filters.html")
    shown = "[...document.querySelectorAll('.cards>{}')].filter(each => each.checkVisibility()).length".format
    choose = "const s = document.querySelector('.filters select'); s.value = '{}'; s.dispatchEvent(new Event('change'))"
    assert browser.evaluate(shown("section")) == 3
    browser.evaluate(f"(() => {{ {choose.format('fio')} }})()")
    assert browser.evaluate(shown("section")) == 1
    said = "0 of 3 studies, and 1 of 1 of the emulated lab"
    assert browser.evaluate("document.querySelector('.filters [role=status]').textContent") == said
    assert not browser.problems()


@pytest.mark.slow
def test_without_scripts_everything_is_still_said(browser: Browser, site: Path) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(site / "toy" / "1.html", whole=False)
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.evaluate("document.querySelectorAll('button').length") == 0
    assert browser.evaluate("document.querySelectorAll('.provenance .file li').length") == 2
    assert browser.evaluate("document.querySelectorAll('table.az tbody tr').length") == 63
    assert browser.evaluate("document.querySelectorAll('.card svg[role=img] path').length") > 0
    assert browser.evaluate("getComputedStyle(document.querySelector('.room')).display") == "none"
    assert browser.evaluate("getComputedStyle(document.querySelector('.tall')).height") != "0px"
    target = "document.getElementById(document.querySelectorAll('tr .from')[1].hash.slice(1)).textContent"
    assert browser.evaluate(target).strip() == LOG.read_text("utf-8").splitlines()[1].strip()
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(site / "index.html", whole=False)
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.evaluate("document.querySelectorAll('ul.pages a').length") == 2


def test_a_disk_hides_no_region() -> None:
    """The log of fio names no end; that of a ping whose ends have no region leaves the region of the study open."""
    network = {"client": "vm-1", "server": "vm-2", "region": "europe-west1", "peer_region": "europe-west1"}
    runs = pd.DataFrame([network, dict.fromkeys(network)])
    assert pages._regions(runs) == ("europe-west1",)
    assert pages._regions(pd.DataFrame([network, dict.fromkeys(network) | {"server": "10.0.0.9"}]))[0] == ""
