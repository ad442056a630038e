"""The studies, chapters and pages of a site, as the templates see them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from azlatency.pages.summary.answerable import STABILITY, Unanswered, spans_hours, tail_places, unanswered
from azlatency.site.cards import CardView
from azlatency.site.markdown import Heading, markdown, plain_text
from azlatency.site.notebooks import notebook_files
from azlatency.site.outputs import Finding, Outputs, Shown
from azlatency.site.provenance import Trail
from azlatency.site.scripts import Position
from azlatency.site.search import Part, Texts
from azlatency.site.sections import METHOD, Section, kind_of, sections, split_question
from azlatency.studies.format import count_of, natural_key, plain
from azlatency.studies.imports.changes import changed_since_import
from azlatency.studies.manifest.path_pattern import AZURE_REGION
from azlatency.studies.runs.left_out import without_result
from azlatency.studies.runs.run_table import client_runs
from azlatency.studies.runs.selection import is_window
from azlatency.studies.store.study import load

#: Short names of pages whose file name is not one.
_SHORT = {
    "zone pair asymmetry": "Directions", "vm baseline": "Machines", "tool agreement": "Tools",
    "before after": "Before and after", "plan the next run": "Next measurement",
}  # fmt: skip
#: How the providers name their regions: eu-west-1, europe-west4, westeurope.
_REGIONS = {
    "AWS": r"[a-z]{2}(-[a-z]+)+-\d", "Google Cloud": r"[a-z]+-[a-z]+\d+", "Azure": AZURE_REGION,
}  # fmt: skip
#: And sizes of machines: Standard_D4s_v5, cx2-8x16.
_SIZES = {"Azure": r"Standard_.*", "IBM Cloud": r"[a-z]{2}\d[a-z]?-\d+x\d+"}


@dataclass(frozen=True, kw_only=True)
class StudyView:
    """A study as the pages describe it: ``info`` is its study.json, ``contents`` lists its runs and numbers."""

    name: str
    info: Mapping[str, object]
    contents: tuple[str, ...]
    tools: tuple[str, ...] = ()
    placements: tuple[str, ...] = ()
    """What the runs of its logs were measured with, and between; the card knows those of reported numbers."""
    vm_sizes: tuple[str, ...] = ()
    """The sizes of its machines, of logs and of reported numbers."""
    regions: tuple[str, ...] = ()
    """The regions of the ends of its runs; an empty one if the region of some is unknown."""
    version: str = ""
    """The version of its data set, as the import prints it."""
    outdated: str = ""
    """Changes since its import; empty if there are none."""
    unanswered: tuple[Unanswered, ...] = ()
    """Questions that its data cannot answer; these pages are not built."""
    tail: tuple[str, str] = ("", "")
    """The placements whose tail beyond p99 was measured, and what was not measured of the tail in the others."""
    spans_hours: bool = True
    """Whether a run or a series of runs lasts for hours."""

    def chapters(self, chapters: Sequence[Chapter]) -> tuple[Chapter, ...]:
        """Select the chapters that have something to say about this study."""
        left_out = {question.page for question in self.unanswered}
        return tuple(chapter for chapter in chapters if chapter.path.stem not in left_out)

    @property
    def title(self) -> str:
        """The study's title, else its name."""
        return str(self.info.get("title") or self.name)

    @property
    def emulated(self) -> bool:
        """Whether the numbers come from an emulated network."""
        return self.info.get("emulated") is True

    @property
    def group(self) -> str:
        """Provider and region, under which the index lists it."""
        if self.emulated:
            return "Emulated lab"
        known = len([*filter(None, self.regions)])
        several = f"{known} regions" if known > 1 else "region not said"
        return f"{self.provider or 'Provider not said'} · {self.region or several}"

    @property
    def region(self) -> str:
        """The region that its manifest states, or else the one of all its runs; empty if neither is known."""
        return str(self.info.get("region") or (self.regions[0] if len(self.regions) == 1 else ""))

    @property
    def provider(self) -> str:
        """The cloud that its regions or its VM size name; empty if neither does, or regions of several clouds."""
        regions = [self.region] if self.region else self.regions or [""]
        names = [(pattern, regions, name) for name, pattern in _REGIONS.items()]
        names += [(pattern, [str(self.info.get("vm_size") or "")], name) for name, pattern in _SIZES.items()]
        return next((name for pattern, texts, name in names if all(re.fullmatch(pattern, text) for text in texts)), "")

    @property
    def not_measured(self) -> list[str]:
        """What its cards name as not measured: what its manifest says, then what no page answers."""
        topics = [question.topic for question in self.unanswered if not question.elsewhere]
        topics += [] if self.spans_hours or STABILITY in topics else [STABILITY]
        return [topic for topic in (self.stated_as_not_measured, self.tail[1], *topics) if topic]

    @property
    def stated_as_not_measured(self) -> str:
        """What its manifest says was not measured."""
        return str(self.info.get("not_measured") or "")

    @property
    def facts(self) -> list[str]:
        """Its contents, region and VM sizes, and the date if the manifest states it."""
        date = str(self.info.get("date") or "")
        sizes = ", ".join(self.vm_sizes) or ("" if self.emulated else "VM size not said")
        return [fact for fact in (*self.contents, self.region, sizes, date) if fact]

    @property
    def facts_and_author(self) -> list[str]:
        """What the first page says of it; a summary prints its source."""
        return [*self.facts, *filter(None, [self.author])]

    @property
    def author(self) -> str:
        """Who measured: a source begins with its author and a comma, or with "Author not named:"."""
        source = str(self.info.get("source") or "")
        if unnamed := re.match(r"Author( and date)? not named", source):
            return unnamed[0].lower()
        named = re.match(r"([^,;:]{2,40}),", source)
        return f"by {named[1]}" if named else ""

    @property
    def url(self) -> str:
        """Relative address of the study's folder from the index."""
        return quote(self.name)


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """A notebook: its file, its first heading and its question."""

    path: Path
    title: str
    question: str = ""

    @property
    def file(self) -> str:
        """Name of its page."""
        return f"{self.path.stem}.html"

    @property
    def name(self) -> str:
        """Its short name, for the list of pages: ``01_latency`` is "Latency"."""
        words = self.path.stem.lstrip("0123456789_").replace("_", " ")
        return _SHORT.get(words, words.capitalize()) or self.title

    @property
    def url(self) -> str:
        """Relative address of its page within the study."""
        return quote(self.file)


@dataclass(frozen=True, kw_only=True)
class Job:
    """One page to build: chapter ``number`` of ``chapters`` for a study."""

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
        """The previous chapter of this study."""
        return self.chapters[self.number - 1] if self.number else None

    @property
    def next(self) -> Chapter | None:
        """The next chapter of this study."""
        return self.chapters[self.number + 1] if self.number + 1 < len(self.chapters) else None


@dataclass(frozen=True, kw_only=True)
class Made:
    """A built page: its entries for the index and the search, and the error that ended its notebook, if any."""

    job: Job
    findings: tuple[Finding, ...]
    error: str | None = None
    card: CardView | None = None
    parts: tuple[Part, ...] = ()

    @property
    def page(self) -> str:
        """Its path in the site."""
        return self.job.page


@dataclass(kw_only=True)
class PageView:
    """The variables of a page template; collects headings and texts while the page is rendered."""

    job: Job
    error: str | None
    trail: Trail = field(default_factory=lambda: Trail(None))
    headings: list[Heading] = field(default_factory=list)
    texts: Texts = field(default_factory=Texts)
    not_shown: list[tuple[str, str]] = field(default_factory=list)
    """Sections that the page leaves out: the heading, and why."""
    log_line: tuple[str, str] | None = None
    """The log line that the error names, and its text."""

    @cached_property
    def outputs(self) -> Outputs:
        """The outputs of the page; their tables link to the logs."""
        return Outputs(self.trail)

    @property
    def place(self) -> Position:
        """The position of the page in the site."""
        return Position(self.job.page)

    def markdown(self, source: str) -> str:
        """Render a text cell as HTML."""
        html = markdown(source, self.headings)
        self.texts.html(html)
        return html

    def opening(self, notebook: Any) -> str:
        """Return the beginning of the first text cell, up to the question: the findings follow it."""
        texts = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
        return split_question(texts[0].source)[0] if texts else ""

    def sections(self, notebook: Any) -> list[Section]:
        """Return the sections that have something to show; `not_shown` lists the others, and why."""
        kept = []
        for section in sections(notebook):
            if section.is_method or not section.is_empty:
                kept.append(section)
            elif section.reason:
                self.not_shown.append((section.title, section.reason))
        return kept

    def hidden(self, source: str) -> str:
        """Render a text that shows with the code: a search does not lead to it."""
        return markdown(source)

    def injected(self, notebook: Any) -> bool:
        """Return whether the notebook has a cell of injected parameters."""
        return any("injected-parameters" in cell.metadata.get("tags", []) for cell in notebook.cells)

    def shown(self, cell: Any) -> list[Shown]:
        """Prepare the outputs of a cell."""
        return [self.outputs.show(output) for output in cell.outputs if kind_of(output) not in ("caption", "note")]

    def groups(self, cell: Any) -> list[tuple[bool, list[Shown]]]:
        """Prepare the outputs of a cell, and say which ones stand side by side: figures, never a table."""
        shown = self.shown(cell)
        for output in shown:
            self.texts.output(output)
        groups = [list(group) for _, group in groupby(shown, key=lambda output: output.kind == "figure")]
        return [(group[0].kind == "figure" and len(group) > 1, group) for group in groups]

    @property
    def contents(self) -> list[Heading]:
        """The headings of the table of contents, without what ends every page."""
        return [heading for heading in self.headings if heading.level in (2, 3) and heading.text != METHOD]

    @property
    def has_title(self) -> bool:
        """Whether the notebook has a first-level heading."""
        return any(heading.level == 1 for heading in self.headings)

    @property
    def notebook_url(self) -> str:
        """Relative address of the executed notebook."""
        return f"../notebooks/{self.job.study.url}/{quote(self.job.chapter.path.name)}"


def _regions(runs: pd.DataFrame) -> tuple[str, ...]:
    """Return the regions of the ends of runs; that of a disk, whose log names no end, is no one's."""
    has_ends = runs[["client", "server", "region", "peer_region"]].notna().any(axis=1)
    return tuple(sorted({*runs.loc[has_ends, ["region", "peer_region"]].fillna("").to_numpy().ravel()}))


def study_view(name: str) -> StudyView:
    """Describe an imported study; an unknown name raises a `LogError` that lists the known studies."""
    study = load(name)
    study.verify()
    # A test whose other end, or whose frequency table, is a log of its own is one run.
    table = client_runs(study)
    runs = table["tool"].value_counts().sort_index()
    contents = []
    if len(runs):
        tools = ", ".join(f"{plain(number)} {tool}" for tool, number in runs.items())
        tools = tools if len(runs) > 1 else runs.index[0].removesuffix(" (table)")
        counted = "published mean" if is_window(table).all() else "run"
        failed = len(without_result(study))
        left_out = f"; {plain(failed)} without a result" if failed else ""
        contents.append(f"{count_of(int(runs.sum()), counted)} ({tools}{left_out})")
    reported = json.loads((study.folder / "reported.json").read_text("utf-8"))
    if reported:
        contents.append(f"{count_of(len(reported), 'number')} from a text, without a log")
    if study.expectations:
        contents.append(f"{count_of(len(study.expectations), 'expected value')} of a baseline")
    return StudyView(
        name=name,
        info=study.info,
        contents=tuple(contents or ["nothing that was recognised"]),
        version=study.data_version,
        tools=tuple(runs.index),
        vm_sizes=_vm_sizes(table, reported, study.info.get("vm_size")),
        regions=_regions(study.runs),
        placements=tuple(sorted(set(study.runs["placement"].dropna()))),
        outdated=changed_since_import(name),
        unanswered=tuple(unanswered(study)),
        tail=tail_places(study),
        spans_hours=spans_hours(study),
    )


def _vm_sizes(runs: pd.DataFrame, reported: Sequence[Mapping[str, object]], stated: object) -> tuple[str, ...]:
    """Return the sizes that the runs, the reported numbers or the manifest name, each once."""
    named = [stated, *runs["vm_size"].dropna(), *(row.get("vm_size") for row in reported)]
    return tuple(sorted({str(size) for size in named if size}, key=natural_key))


def chapters_of(folder: Path) -> tuple[Chapter, ...]:
    """Return the pages of each study; the site's index replaces index.ipynb."""
    return tuple(_chapter(path) for path in notebook_files(folder) if path.stem != "index")


def _chapter(path: Path) -> Chapter:
    """Read the first heading of a notebook (else its file name) and the paragraph that starts with "Question:".

    An unreadable notebook also gets a page, which shows the error.
    """
    try:
        cells = json.loads(path.read_bytes())["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    except (OSError, ValueError, KeyError, TypeError):
        return Chapter(path=path, title=path.stem)
    paragraphs = [paragraph for text in texts for paragraph in text.split("\n\n")]
    lines = [line for paragraph in paragraphs for line in paragraph.splitlines()]
    title = next((plain_text(line) for line in lines if line.startswith("# ")), path.stem)
    question = next((plain_text(paragraph) for paragraph in paragraphs if paragraph.startswith("**Question:**")), "")
    return Chapter(path=path, title=title, question=question.removeprefix("Question:").strip())
