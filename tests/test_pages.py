"""The rendered pages in headless Chromium: no error, no request, no sideways scrolling at phone width."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

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
            pass_fds=(there_in, there_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
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

    def open(self, page: Path, width: int = 1200, height: int = 900, scheme: str = "light") -> None:
        """Load a page and wait until it has loaded."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.call("Page.navigate", url=page.absolute().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._read()

    def evaluate(self, expression: str) -> Any:
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def problems(self) -> list[str]:
        """What the page complained about, and what it asked for beside itself."""
        found = []
        for event in self.events:
            params = event["params"]
            if event["method"] == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(params["entry"]["text"])
            elif event["method"] in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                found.append(json.dumps(params)[:300])
            elif event["method"] == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "data:")):
                    found.append(url)
        return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    running = Browser(tmp_path_factory.mktemp("chromium"))
    yield running
    running.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with one page that holds every kind of output; not executed."""
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

    from azlatency import report
    from azlatency.display import Chart, Finding, Findings, Table

    figure = Figure(figsize=(7, 3))
    figure.subplots().plot([3, 1, 2])
    rows = [[f"path {number} with a name that is not short", *["1,234.567"] * 15] for number in range(60)]
    objects = [
        Chart(figure, "Round trips", "Three values: 3, 1, 2 µs."),
        Chart(figure, "Round trips again", "The same."),
        Table(
            "Numbers",
            ["path", *[f"p{number}" for number in range(15)]],
            rows,
            frozenset(range(1, 16)),
            ("Long. " * 60,),
        ),
        Findings((Finding("act", "Do $x^2$."), Finding("info", "<script>alert(1)</script>" + "W" * 200))),
    ]
    outputs = []
    for each in objects:
        said = each._repr_mimebundle_()
        data, metadata = said if isinstance(said, tuple) else (said, {})
        outputs.append(new_output("display_data", data, metadata=metadata))
    outputs += [
        new_output("stream", name="stdout", text="long " * 200 + "\n" + "W" * 400),
        new_output("error", ename="KeyError", evalue="'x'", traceback=["W" * 400]),
    ]
    text = "# A page\n\n## Maths\n\n$$" + "x_1+" * 60 + "x$$\n\n| a | b |\n|--|--|\n| " + "W" * 90 + " | 2 |\n"
    notebook = new_notebook(cells=[new_markdown_cell(text), new_code_cell("x = 1  # " + "W" * 300, outputs=outputs)])
    chapters = tuple(report.Chapter(Path(f"{number}.ipynb"), "A page " + "W" * number) for number in (1, 60))
    study = report.StudyView(
        "toy", {"title": "Toy", "question": "Why?", "emulated": True, "notes": "W" * 300}, ("a run",)
    )
    folder = tmp_path_factory.mktemp("site")
    pages = report._Site(folder)
    job = report.Job(study, chapters, 0)
    html, findings = pages.page(job, notebook, "KeyError: 'x'")
    (folder / "toy").mkdir()
    (folder / "toy" / "1.html").write_text(html, "utf-8")
    made = [report.Made(job, findings, "KeyError", ())]
    (folder / "index.html").write_text(pages.index([study], made), "utf-8")
    return folder


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["index.html", "toy/1.html"])
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


def test_page_stands_as_the_markup_says(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html")
    count = "document.querySelectorAll('{}').length".format
    assert browser.evaluate(count("figure svg[role=img]")) == 2
    assert browser.evaluate(count("script")) == 0
    assert browser.evaluate("document.querySelector('main math').getBoundingClientRect().height") > 10
    # The second figure must not use the first one's clip path and glyphs.
    ids = browser.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
    assert len(ids) == len(set(ids))
    assert browser.evaluate("getComputedStyle(document.querySelector('td.number')).textAlign") == "right"
    assert browser.evaluate("document.querySelector('figure svg path').getBoundingClientRect().width") > 0


def test_page_prints(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html")
    content = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert content.startswith(b"%PDF") and len(content) > 10_000


def test_the_keyboard_reaches_the_content(browser: Browser, site: Path) -> None:
    browser.open(site / "toy" / "1.html")
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
    assert browser.evaluate("document.activeElement.className") == "skip"
    assert browser.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
