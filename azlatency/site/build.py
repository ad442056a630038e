"""Run the notebooks for every study and render the site; and renew the outputs that are stored in notebooks/.

A page is one notebook run for one study, in one file that needs nothing else. The index leads to the pages and collects
their findings. No page says when it was made: the same data gives the same bytes. A page is kept where nothing that it
depends on has changed (`azlatency.site.freshness`), and taken away before anything else happens where something has.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from azlatency import __version__
from azlatency.logs.parse import LogError
from azlatency.site import freshness
from azlatency.site.documentation import Documents
from azlatency.site.figures import Sketch, drawn
from azlatency.site.freshness import LISTING, Contents, Record
from azlatency.site.kernels.outputs import write_notebook
from azlatency.site.kernels.pool import run_all
from azlatency.site.kernels.warm import CellError, WarmKernel
from azlatency.site.markdown import Heading, highlighted, markdown, plain_text
from azlatency.site.outputs import Finding, Outputs
from azlatency.site.provenance import Logs, Trail
from azlatency.site.scripts import Position, Scripts, scripts
from azlatency.site.search import Part, Texts, texts_of
from azlatency.studies.store import changed_since_import, data_folder, load

#: Called with the number of pages that are done, of all, and what was done last.
Progress = Callable[[int, int, str], None]

_TEMPLATES = Path(__file__).parent / "templates"
#: Characters of all figures on the index; what goes beyond is left to the pages.
_MOST_SKETCHED = 700_000
#: A kernel needs about 250 MB.
_MOST_WORKERS = 4


# --- what a site is made of


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


# --- building


def build(
    out: Path, studies: list[str] | None = None, progress: Progress | None = None, *, force: bool = False
) -> list[str]:
    """Run the notebooks for the studies and write the site into ``out``; returns one line for each that failed.

    ``studies``: names of imported studies, all by default. ``progress(done, total, what)`` is called after each page
    that is made. ``force``: run everything again. Warns of studies with logs that changed since their import; their
    pages say so. Raises `LogError` where there is nothing to do: no notebooks, no imported study, an unknown study.
    """
    notebooks = notebooks_folder()
    chapters = _chapters(notebooks)
    views = [study_view(name) for name in dict.fromkeys(studies or _imported())]
    views.sort(key=lambda view: (view.emulated, view.name))
    for view in views:
        if view.outdated:
            warnings.warn(f"{view.name}: since the import, {view.outdated}; azlatency import", stacklevel=2)
    jobs = [Job(view, chapters, number) for view in views for number in range(len(chapters))]
    site = _Site(out, notebooks, force=force)
    kept = {job.page: made for job in jobs if (made := site.kept(job)) is not None}
    rest = [job for job in jobs if job.page not in kept]
    if not rest and site.is_whole(views, list(kept.values())):
        return []
    site.clear(list(kept))
    try:
        if progress is not None:
            progress(0, len(rest), "")
        for done, made in enumerate(run_all(rest, site.make, _kernel, _workers()), start=1):
            kept[made.page] = made
            if progress is not None:
                progress(done, len(rest), f"{made.job.chapter.path.stem}, {made.job.study.name}")
        site.finish(views, [kept[job.page] for job in jobs])
    finally:
        site.write_record()
    return [_failure(kept[job.page], out) for job in jobs if kept[job.page].error]


def store(folder: Path | None = None, progress: Progress | None = None) -> list[str]:
    """Run the notebooks of a folder (default notebooks/) with their own parameters and store the outputs in them.

    A notebook that fails is left as it is; returns one line for each.
    """
    paths = _notebook_files(folder or notebooks_folder())

    def work(path: Path, kernel: WarmKernel) -> str | None:
        notebook, error = _run(path, {}, kernel)
        if error is None:
            # Pages lead from a number to its log; a notebook does not, and holds only what its reader sees.
            for output in (each for cell in notebook.cells for each in cell.get("outputs", ())):
                record = output.get("metadata", {}).get("azlatency", {})
                for name in ("columns", "rows", "notes"):
                    record.pop(name, None)
            write_notebook(notebook, path)
        return None if error is None else f"{path}: {error}; outputs not stored"

    failures = []
    for done, failure in enumerate(run_all(paths, work, _kernel, _workers()), start=1):
        failures += [failure] if failure else []
        if progress is not None:
            progress(done, len(paths), "")
    return sorted(failures)


def notebooks_folder() -> Path:
    """``notebooks/`` of the nearest folder upwards that has it. Raises `LogError` where there is none."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "notebooks").is_dir():
            return folder / "notebooks"
    raise LogError(f"{here}: no folder notebooks/ here or above; run in the project's folder")


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


def _imported() -> list[str]:
    root = data_folder("processed")
    names = sorted(path.parent.name for path in root.glob("[!.]*/import.json"))
    if not names:
        raise LogError(f"{root}: no imported study; azlatency import --all")
    return names


def _notebook_files(folder: Path) -> list[Path]:
    paths = sorted(folder.glob("[!.]*.ipynb"))
    if not paths:
        raise LogError(f"{folder}: no notebooks (*.ipynb)")
    return paths


def _chapters(folder: Path) -> tuple[Chapter, ...]:
    """The pages of each study; index.ipynb leads through them, as the site's own index does, and is no page itself."""
    return tuple(_chapter(path) for path in _notebook_files(folder) if path.stem != "index")


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


def _kernel() -> WarmKernel:
    """A kernel in the project's folder that finds the same data as this process."""
    data = data_folder("processed").parent.absolute()
    return WarmKernel(notebooks_folder().parent, {"AZLATENCY_DATA": str(data)})


def _workers() -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, _MOST_WORKERS)


def _run(path: Path, parameters: dict[str, Any], kernel: WarmKernel) -> tuple[Any, CellError | None]:
    """Execute a notebook; one that cannot even be read becomes a notebook that shows why."""
    from nbformat.v4 import new_code_cell, new_notebook, new_output

    try:
        return kernel.run(path, parameters)
    except Exception as problem:
        error = CellError(type(problem).__name__, str(problem))
        output = new_output("error", ename=error.name, evalue=error.value, traceback=[])
        return new_notebook(cells=[new_code_cell("", id="error", outputs=[output])]), error


def _failure(page: Made, out: Path) -> str:
    job = page.job
    shown = out / job.study.name / job.chapter.file
    return f"{job.chapter.path.name}, study {job.study.name}: {page.error}; see {shown}"


# --- rendering


class _Site:
    """Makes pages into a folder; one template environment for all."""

    def __init__(self, out: Path, notebooks: Path, *, force: bool = False) -> None:
        self._out = out
        self._notebooks = notebooks
        self._lock = threading.Lock()
        self._contents = Contents()
        self._logs: dict[str, Logs] = {}
        self._before = Record(out)
        self._known: dict[str, dict[str, Any]] = {} if force else self._before.pages
        self._pages: dict[str, dict[str, Any]] = {}
        self._executed: dict[str, list[str]] = {}
        """Executed notebooks that are still right, with what they read."""
        self._others: list[str] = []

    @cached_property
    def _exporter(self) -> Any:
        return _exporter()

    # --- what is there already

    def kept(self, job: Job) -> Made | None:
        """The page as an earlier report left it, if nothing that it depends on has changed since."""
        page, executed = job.page, job.executed
        known = self._known.get(page, {})
        if not known or known["run"] != self._run_key(job, known["read"]):
            return None
        if self._before.is_intact(known, [executed]):
            self._executed[executed] = known["read"]
        if known["look"] != self._look(job) or not self._before.is_intact(known):
            return None
        self._pages[page] = known
        said = known["says"]
        found = tuple(Finding(**each) for each in said["findings"])
        return Made(job, found, None, Sketch(**said["sketch"]), tuple((*each,) for each in said["parts"]))

    def clear(self, kept: list[str]) -> None:
        """Remove what an earlier report wrote into the folder and is not kept, and nothing else.

        What stands in the folder afterwards is right, also where this report is interrupted.
        """
        whole = {file for page in kept for file in self._pages[page]["files"]} | self._executed.keys()
        folders = set()
        for name in {"index.html", *self._before.files} - whole:
            (self._out / name).unlink(missing_ok=True)
            folders |= set((self._out / name).parents) - {self._out, *self._out.parents}
        for folder in sorted(folders, reverse=True):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()

    def _run_key(self, job: Job, read: list[str]) -> str:
        """Of all that the outputs of a notebook depend on; ``read``: the files that it read."""
        beside = [str(path) for path in sorted(self._notebooks.glob("*.py"))]
        return freshness.key(
            freshness.code()[0],
            self._parameters(job),
            self._contents([str(job.chapter.path), *beside]),
            self._contents([*read, f"{LISTING}{data_folder('raw').absolute() / job.study.name}"]),
        )

    def _look(self, job: Job) -> str:
        """Of all that the page shows beside its notebook's outputs."""
        chapters = [(each.file, each.title, each.question) for each in job.chapters]
        documents = (self._notebooks.parent / "docs").is_dir()
        return freshness.key(freshness.code()[1], asdict(job.study), chapters, job.number, documents)

    def _parameters(self, job: Job) -> dict[str, Any]:
        return {"study": job.study.name}

    # --- pages

    def make(self, job: Job, kernel: WarmKernel) -> Made:
        """Run a notebook for a study, or take its outputs where they are still right; write page and notebook."""
        page, executed = job.page, job.executed
        if executed in self._executed:
            notebook, error, read = _stored(self._out / executed), None, self._executed[executed]
        else:
            notebook, error = _run(job.chapter.path, self._parameters(job), kernel)
            read = list(kernel.read)
            write_notebook(notebook, self._out / executed)
        # One at a time: rendering is Python in this process, and the exporter keeps state.
        with self._lock:
            html, made = self.page(job, notebook, str(error) if error else None)
            _write(self._out / page, html)
            self._note(made, page, executed, read)
        return made

    def _note(self, made: Made, page: str, executed: str, read: list[str]) -> None:
        """Record a page; one with an error is only listed, so that it is made again."""
        if made.error:
            self._others += [page, executed]
            return
        digests = {name: freshness.file_digest(self._out / name) for name in (page, executed)}
        run = self._run_key(made.job, read)
        says = {"findings": [asdict(each) for each in made.findings], "sketch": asdict(made.sketch)}
        self._pages[page] = {
            "run": run, "read": read, "look": self._look(made.job), "files": digests,
            "says": {**says, "parts": list(made.parts)},
        }  # fmt: skip

    def page(self, job: Job, notebook: Any, error: str | None) -> tuple[str, Made]:
        """The HTML of a page, and what the index and the search say of it."""
        logs = self._logs_of(job.study.name)
        view = PageView(job, error, Trail(logs), log_line=logs.told(error) if logs and error else None)
        html, resources = self._exporter.from_notebook_node(notebook, {"page": view})
        view = resources["page"]
        return html, Made(job, tuple(view.outputs.findings), error, view.outputs.sketch, view.texts.parts())

    def _logs_of(self, study: str) -> Logs | None:
        if study not in self._logs:
            try:
                self._logs[study] = Logs(load(study))
            except LogError:
                return None
        return self._logs[study]

    # --- the pages about the pages

    @cached_property
    def _documents(self) -> Documents:
        return Documents(self._notebooks.parent / "docs")

    def _whole_key(self, views: list[StudyView], made: list[Made]) -> str:
        looks = [(page.page, self._pages.get(page.page, {}).get("files")) for page in made]
        return freshness.key(freshness.code(), [asdict(view) for view in views], looks, self._documents.digest)

    def is_whole(self, views: list[StudyView], made: list[Made]) -> bool:
        """Whether index, documentation and search stand there for just these pages."""
        known = self._known.get("index.html", {})
        return bool(known) and known["run"] == self._whole_key(views, made) and self._before.is_intact(known)

    def finish(self, views: list[StudyView], made: list[Made]) -> None:
        """Write the index, the documentation and the search over all of it."""
        documents = self._documents
        environment = self._exporter.environment
        pages = {"index.html": self.index(views, made, documents)}
        pages |= documents.pages(environment)
        entries = [(page.page, page.job.chapter.title, page.job.study.title, page.parts) for page in made]
        pages["search.html"] = self._render(
            "search.html.j2", "search.html", texts=texts_of([*entries, *documents.texts()])
        )
        for name, html in pages.items():
            _write(self._out / name, html)
        digests = {name: freshness.file_digest(self._out / name) for name in pages}
        self._pages["index.html"] = {"run": self._whole_key(views, made), "files": digests}

    def index(self, views: list[StudyView], made: list[Made], documents: Documents | None = None) -> str:
        """The HTML of the index."""
        pages = {view.name: [page for page in made if page.job.study.name == view.name] for view in views}
        sketches = _sketches(made)
        return self._render(
            "site.html.j2", "index.html", studies=views, pages=pages, sketches=sketches,
            documents=documents.groups if documents else [],
        )  # fmt: skip

    def _render(self, template: str, at: str, **values: Any) -> str:
        own = {"version": __version__, "place": Position(at), "scripts": scripts()}
        return str(self._exporter.environment.get_template(template).render(own | values))

    def write_record(self) -> None:
        """Write down what stands in the folder and what it depends on."""
        files = {file for page in self._pages.values() for file in page["files"]} | set(self._others)
        if files:
            _write(self._out / Record.FILE, self._before.text(sorted(files), self._pages))


def _exporter() -> Any:
    """nbconvert's HTML exporter with our template, which escapes everything that is not marked as safe."""
    from nbconvert.exporters import HTMLExporter, TemplateExporter

    class PageExporter(HTMLExporter):
        def _create_environment(self) -> Any:
            environment = super()._create_environment()
            environment.autoescape = True
            environment.trim_blocks = environment.lstrip_blocks = True
            return environment

        def from_notebook_node(self, nb: Any, resources: Any = None, **kw: Any) -> Any:
            # Past HTMLExporter's own step, which parses the page once more to add what ours has: alternative texts.
            return TemplateExporter.from_notebook_node(self, nb, self._init_resources(resources), **kw)

    return PageExporter(
        template_name="azlatency", template_file="page.html.j2", extra_template_basedirs=[str(_TEMPLATES)]
    )


# --- files


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    beside.write_text(text, "utf-8", newline="\n")
    os.replace(beside, path)


def _sketches(made: list[Made]) -> dict[str, str]:
    """For the index the figure of each page by its path, the smallest first, as far as there is room."""
    room = _MOST_SKETCHED
    chosen: dict[str, str] = {}
    for size, number in sorted((len(page.sketch.svg), number) for number, page in enumerate(made)):
        if 0 < size <= room:
            room -= size
            chosen[made[number].page] = drawn(made[number].sketch.svg, f"s{number}_", made[number].sketch.title)
    return chosen


def _stored(path: Path) -> Any:
    import nbformat

    return nbformat.read(path, as_version=4)


def main(arguments: list[str]) -> int:
    """``python -m azlatency.site.build --store [FOLDER]``: renew the outputs stored in the notebooks."""
    if not arguments or arguments[0] != "--store" or len(arguments) > 2:
        print("usage: python -m azlatency.site.build --store [FOLDER]", file=sys.stderr)
        return 2
    try:
        failures = store(Path(arguments[1]) if len(arguments) == 2 else None)
    except LogError as error:
        failures = [str(error)]
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
