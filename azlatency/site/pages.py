"""The studies, chapters and pages of a site, as the templates see them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from azlatency import __version__
from azlatency.site.figures import Sketch
from azlatency.site.markdown import Heading, highlighted, markdown, plain_text
from azlatency.site.notebooks import notebook_files
from azlatency.site.outputs import Finding, Outputs
from azlatency.site.provenance import Trail
from azlatency.site.scripts import Position, Scripts, scripts
from azlatency.site.search import Part, Texts
from azlatency.studies.changes import changed_since_import
from azlatency.studies.store import load


@dataclass(frozen=True)
class StudyView:
    """What pages say about a study. ``info`` is its study.json, ``holds`` what it consists of, in words."""

    name: str
    info: dict[str, Any]
    holds: tuple[str, ...]
    outdated: str = ""
    """What changed since its import, in words."""

    @property
    def title(self) -> str:
        """The study's title, else its name."""
        return str(self.info.get("title") or self.name)

    @property
    def emulated(self) -> bool:
        """Whether the numbers come from an emulated network."""
        return self.info.get("emulated") is True

    @property
    def facts(self) -> list[str]:
        """What it holds, where and when it was measured, as far as one value holds for the whole study."""
        keys = ("region", "vm_size", "date")
        return [*self.holds, *(str(self.info[key]) for key in keys if self.info.get(key))]

    @property
    def about(self) -> list[tuple[str, str]]:
        """What the manifest says of its source."""
        keys = {"source": "Source", "notes": "Notes", "name": "Name"}
        return [(label, str(self.info[key]).strip()) for key, label in keys.items() if self.info.get(key)]

    @property
    def url(self) -> str:
        """The study's folder as seen from the index."""
        return quote(self.name)


@dataclass(frozen=True)
class Chapter:
    """A notebook: its file, its first heading and the question that it says it answers."""

    path: Path
    title: str
    question: str = ""

    @property
    def file(self) -> str:
        """Name of its page."""
        return f"{self.path.stem}.html"

    @property
    def url(self) -> str:
        """Its page as seen from another page of the study."""
        return quote(self.file)


@dataclass(frozen=True)
class Job:
    """One page to make: chapter ``number`` of ``chapters`` for a study."""

    study: StudyView
    chapters: tuple[Chapter, ...]
    number: int

    @property
    def chapter(self) -> Chapter:
        """The chapter of this page."""
        return self.chapters[self.number]

    @property
    def page(self) -> str:
        """Path of its page in the site."""
        return f"{self.study.name}/{self.chapter.file}"

    @property
    def executed(self) -> str:
        """Path of its executed notebook in the site."""
        return f"notebooks/{self.study.name}/{self.chapter.path.name}"

    @property
    def previous(self) -> Chapter | None:
        """The chapter before, in this study."""
        return self.chapters[self.number - 1] if self.number else None

    @property
    def next(self) -> Chapter | None:
        """The chapter after, in this study."""
        return self.chapters[self.number + 1] if self.number + 1 < len(self.chapters) else None


@dataclass(frozen=True)
class Made:
    """A page that was made: what the index and the search say of it, and the error that cut it short, if any."""

    job: Job
    findings: tuple[Finding, ...]
    error: str | None = None
    sketch: Sketch = field(default_factory=Sketch)
    parts: tuple[Part, ...] = ()

    @property
    def page(self) -> str:
        """Its path in the site."""
        return self.job.page

    @property
    def verdict(self) -> Finding | None:
        """What it says first: to act on, else for information."""
        first = sorted(self.findings, key=lambda each: each.kind != "act")
        return first[0] if first else None


@dataclass
class PageView:
    """What the template of a page works with; collects headings, findings and texts while the page is rendered."""

    job: Job
    error: str | None
    trail: Trail = field(default_factory=lambda: Trail(None))
    version: str = __version__
    headings: list[Heading] = field(default_factory=list)
    texts: Texts = field(default_factory=Texts)
    log_line: tuple[str, str] | None = None
    """The line of a log that the error names, and what stands there."""

    @cached_property
    def outputs(self) -> Outputs:
        """The outputs of the page; their tables lead to the logs."""
        return Outputs(self.trail)

    @property
    def place(self) -> Position:
        """Where the page stands in the site."""
        return Position(self.job.page)

    @property
    def scripts(self) -> Scripts:
        """The scripts of the page."""
        return scripts()

    def markdown(self, source: str) -> str:
        """A text cell as HTML."""
        html = markdown(source, self.headings)
        self.texts.html(html)
        return html

    def code(self, source: str) -> str:
        """A code cell as HTML."""
        return highlighted(source)

    def injected(self, notebook: Any) -> bool:
        """Whether the notebook holds papermill's cell of parameters."""
        return any("injected-parameters" in cell.metadata.get("tags", []) for cell in notebook.cells)

    def show(self, output: Any) -> Any:
        """An output, ready for its macro."""
        shown = self.outputs.show(output)
        self.texts.output(shown)
        return shown

    @property
    def contents(self) -> list[Heading]:
        """The headings of the table of contents."""
        return [each for each in self.headings if each.level in (2, 3)]

    @property
    def has_title(self) -> bool:
        """Whether the notebook brings its own first heading."""
        return any(each.level == 1 for each in self.headings)

    @property
    def notebook_url(self) -> str:
        """The executed notebook as seen from the page."""
        return f"../notebooks/{self.job.study.url}/{quote(self.job.chapter.path.name)}"


def study_view(name: str) -> StudyView:
    """What the pages say about an imported study. Raises `LogError` that lists the known ones for an unknown name."""
    study = load(name)
    summary = json.loads((study.folder / "import.json").read_text("utf-8"))["summary"]
    runs = summary["runs_by_tool"]
    holds = []
    if runs:
        count = sum(runs.values())
        tools = ", ".join(f"{number} {tool}" for tool, number in runs.items())
        holds.append(f"{_counted(count, 'run')} ({tools})")
    if reported := json.loads((study.folder / "reported.json").read_text("utf-8")):
        holds.append(f"{_counted(len(reported), 'number')} from a text, without a log")
    if study.expectations:
        holds.append(f"a baseline of {_counted(len(study.expectations), 'expectation')}")
    return StudyView(name, study.info, tuple(holds or ["nothing that was recognised"]), changed_since_import(name))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def chapters_of(folder: Path) -> tuple[Chapter, ...]:
    """The pages of each study; index.ipynb leads through them, as the site's own index does, and is no page itself."""
    return tuple(_chapter(path) for path in notebook_files(folder) if path.stem != "index")


def _chapter(path: Path) -> Chapter:
    """A notebook's first heading, else its name, and the paragraph that starts with "Question:".

    An unreadable notebook gets its page, too, and the page says why.
    """
    try:
        cells = json.loads(path.read_bytes())["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    except (OSError, ValueError, KeyError, TypeError):
        return Chapter(path, path.stem)
    paragraphs = [paragraph for text in texts for paragraph in text.split("\n\n")]
    lines = [line for paragraph in paragraphs for line in paragraph.splitlines()]
    title = next((plain_text(line) for line in lines if line.startswith("# ")), path.stem)
    question = next((plain_text(each) for each in paragraphs if each.startswith("**Question:**")), "")
    return Chapter(path, title, question.removeprefix("Question:").strip())
