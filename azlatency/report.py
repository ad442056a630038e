"""Run the notebooks for every study and render the site; and renew the outputs that are stored in notebooks/.

A page is one notebook run for one study, in one file that needs nothing else. The index leads to the pages and collects
their findings. No page says when it was made: the same data gives the same bytes.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from azlatency import __version__
from azlatency.dataset import data_folder, load
from azlatency.kernels import CellError, WarmKernel, run_all, write_notebook
from azlatency.reader import LogError
from azlatency.render import Finding, Heading, Outputs, highlighted, markdown, plain_text

Progress = Callable[[int, int], None]

_TEMPLATES = Path(__file__).parent / "templates"
_FILES = ".azlatency-site.json"
#: A kernel needs about 250 MB.
_MOST_WORKERS = 4


# --- what a site is made of


@dataclass(frozen=True)
class StudyView:
    """What pages say about a study. ``info`` is its study.json, ``holds`` what it consists of, in words."""

    name: str
    info: dict[str, Any]
    holds: tuple[str, ...]

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
    def previous(self) -> Chapter | None:
        """The chapter before, in this study."""
        return self.chapters[self.number - 1] if self.number else None

    @property
    def next(self) -> Chapter | None:
        """The chapter after, in this study."""
        return self.chapters[self.number + 1] if self.number + 1 < len(self.chapters) else None


@dataclass(frozen=True)
class Made:
    """A page that was made: what it found, and the error that cut it short, if any."""

    job: Job
    findings: tuple[Finding, ...]
    error: str | None
    files: tuple[str, ...]


@dataclass
class PageView:
    """What the template of a page works with; collects headings and findings while the page is rendered."""

    job: Job
    error: str | None
    version: str = __version__
    headings: list[Heading] = field(default_factory=list)
    outputs: Outputs = field(default_factory=Outputs)

    def markdown(self, source: str) -> str:
        """A text cell as HTML."""
        return markdown(source, self.headings)

    def code(self, source: str) -> str:
        """A code cell as HTML."""
        return highlighted(source)

    def injected(self, notebook: Any) -> bool:
        """Whether the notebook holds papermill's cell of parameters."""
        return any("injected-parameters" in cell.metadata.get("tags", []) for cell in notebook.cells)

    def show(self, output: Any) -> Any:
        """An output, ready for its macro."""
        return self.outputs.show(output)

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


def build(out: Path, studies: list[str] | None = None, progress: Progress | None = None) -> list[str]:
    """Run every notebook for every study and write the site into ``out``; returns one line for each that failed.

    ``studies``: names of imported studies, all by default. ``progress(done, total)`` is called after each page. Raises
    `LogError` where there is nothing to do: no notebooks, no imported study, an unknown study. Files that an earlier
    call wrote are removed first: an interrupted report shows no old page as a new one.
    """
    chapters = _chapters(notebooks_folder())
    views = [study_view(name) for name in dict.fromkeys(studies or _imported())]
    views.sort(key=lambda view: (view.emulated, view.name))
    jobs = [Job(view, chapters, number) for view in views for number in range(len(chapters))]
    _clear(out)
    site = _Site(out)
    made: list[Made] = []
    if progress is not None:
        progress(0, len(jobs))
    for page in run_all(jobs, site.make, _kernel, _workers()):
        made.append(page)
        if progress is not None:
            progress(len(made), len(jobs))
    made.sort(key=lambda page: jobs.index(page.job))
    _write(out / "index.html", site.index(views, made))
    files = sorted(["index.html", *(file for page in made for file in page.files)])
    _write(out / _FILES, json.dumps(files, ensure_ascii=False, indent=1) + "\n")
    return [_failure(page, out) for page in made if page.error]


def store(folder: Path | None = None, progress: Progress | None = None) -> list[str]:
    """Run the notebooks of a folder (default notebooks/) with their own parameters and store the outputs in them.

    A notebook that fails is left as it is; returns one line for each.
    """
    paths = _notebook_files(folder or notebooks_folder())

    def work(path: Path, kernel: WarmKernel) -> str | None:
        notebook, error = _run(path, {}, kernel)
        if error is None:
            write_notebook(notebook, path)
        return None if error is None else f"{path}: {error}; outputs not stored"

    failures = []
    for done, failure in enumerate(run_all(paths, work, _kernel, _workers()), start=1):
        failures += [failure] if failure else []
        if progress is not None:
            progress(done, len(paths))
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
    return StudyView(name, study.info, tuple(holds or ["nothing that was recognised"]))


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
    import nbformat

    try:
        cells = nbformat.read(path, as_version=4).cells
    except Exception:
        return Chapter(path, path.stem)
    lines = [line for cell in cells if cell.cell_type == "markdown" for line in cell.source.splitlines()]
    title = next((plain_text(line) for line in lines if line.startswith("# ")), path.stem)
    question = next((plain_text(line) for line in lines if line.startswith("**Question:**")), "")
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

    def __init__(self, out: Path) -> None:
        self._out = out
        self._lock = threading.Lock()

    @cached_property
    def _exporter(self) -> Any:
        return _exporter()

    def make(self, job: Job, kernel: WarmKernel) -> Made:
        """Run a notebook for a study and write its page and the executed notebook."""
        notebook, error = _run(job.chapter.path, {"study": job.study.name}, kernel)
        page = f"{job.study.name}/{job.chapter.file}"
        executed = f"notebooks/{job.study.name}/{job.chapter.path.name}"
        # One at a time: rendering is Python in this process, and the exporter keeps state.
        with self._lock:
            html, findings = self.page(job, notebook, str(error) if error else None)
        write_notebook(notebook, self._out / executed)
        _write(self._out / page, html)
        return Made(job, findings, str(error) if error else None, (page, executed))

    def page(self, job: Job, notebook: Any, error: str | None) -> tuple[str, tuple[Finding, ...]]:
        """The HTML of a page and its findings."""
        html, resources = self._exporter.from_notebook_node(notebook, {"page": PageView(job, error)})
        return html, tuple(resources["page"].outputs.findings)

    def index(self, views: list[StudyView], made: list[Made]) -> str:
        """The HTML of the index."""
        pages = {view.name: [page for page in made if page.job.study.name == view.name] for view in views}
        template = self._exporter.environment.get_template("site.html.j2")
        return str(template.render(studies=views, pages=pages, version=__version__))


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


def _clear(out: Path) -> None:
    """Remove what an earlier report wrote into ``out``, and nothing else."""
    for name in ("index.html", *_listed(out)):
        (out / name).unlink(missing_ok=True)
    for folder in sorted({(out / name).parent for name in _listed(out)} - {out}, reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _listed(out: Path) -> Iterable[str]:
    try:
        names = json.loads((out / _FILES).read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return [
        name
        for name in names
        if isinstance(name, str) and ".." not in Path(name).parts and not Path(name).is_absolute()
    ]


def main(arguments: list[str]) -> int:
    """``python -m azlatency.report --store [FOLDER]``: renew the outputs stored in the notebooks."""
    if not arguments or arguments[0] != "--store" or len(arguments) > 2:
        print("usage: python -m azlatency.report --store [FOLDER]", file=sys.stderr)
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
