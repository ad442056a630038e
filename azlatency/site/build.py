"""Run the notebooks for every study and write the site.

A page is one notebook, run for one study, in a single file. The index links to the pages and collects their findings.
No page says when it was made: the same data gives the same bytes. A page is kept if nothing that it depends on has
changed (`azlatency.site.freshness`). The new site is made beside the old one and replaces it as a whole.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import warnings
from dataclasses import asdict
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import msgspec

from azlatency import __version__
from azlatency.kit.cells import tied
from azlatency.logs.parse import LogError
from azlatency.pages.summary.card import MEANINGS
from azlatency.site import freshness
from azlatency.site.cards import plain_parts, stored_card
from azlatency.site.changes import changes, reports
from azlatency.site.documentation import CONCEPTS, Document, concepts
from azlatency.site.figures import scheme_style
from azlatency.site.freshness import LISTING, Record
from azlatency.site.front import (
    COMMIT,
    COMMITS,
    LANES,
    NOT_HERE,
    Source,
    answered,
    clouds_of,
    crossing,
    guide_of,
    pairs,
    picture,
    tiles,
)
from azlatency.site.kernels.outputs import write_notebook
from azlatency.site.kernels.pool import run_all
from azlatency.site.kernels.warm import WarmKernel
from azlatency.site.markdown import highlighted, markdown_line, plain_text
from azlatency.site.notebooks import (
    Progress,
    new_kernel,
    notebooks_folder,
    run_notebook,
    store,
    worker_count,
)
from azlatency.site.outputs import Finding
from azlatency.site.pages import Job, Made, PageView, StudyView, chapters_of, study_view
from azlatency.site.provenance import StudyLogs, Trail
from azlatency.site.scripts import Position, scripts
from azlatency.site.search import Part, texts_of
from azlatency.studies.format import in_order, visible
from azlatency.studies.store.folders import data_folder, imported_studies
from azlatency.studies.store.replacing import recover, replaced, write_whole
from azlatency.studies.store.study import load

_TEMPLATES = Path(__file__).parent / "templates"


def build(
    out: Path, studies: list[str] | None = None, progress: Progress | None = None, *, force: bool = False
) -> list[str]:
    """Run the notebooks for imported studies (default: all) and write the site; return one line per page that failed.

    ``progress`` is called as ``progress(done, total, what)`` after each page; ``force`` runs everything again. Warns of
    data sets that changed since their import; their pages say so, too.

    Raises `LogError` if there are no notebooks, no imported study, or an unknown study.
    """
    notebooks = notebooks_folder()
    chapters = chapters_of(notebooks)
    names = dict.fromkeys(studies or imported_studies())
    if not names:
        raise LogError(f"{data_folder('processed')}: no imported study; azlatency import --all")
    views = [study_view(name) for name in names]
    views.sort(key=lambda view: (view.emulated, view.name))
    for view in views:
        if view.outdated:
            warnings.warn(
                f"{view.name} is out of date: {view.outdated}. Run: azlatency import --study {view.name}", stacklevel=2
            )
    shown = {view.name: view.chapters(chapters) for view in views}
    jobs = [
        Job(study=view, chapters=shown[view.name], number=number)
        for view in views
        for number in range(len(shown[view.name]))
    ]
    out = out.resolve()
    recover(out)
    site = _Site(out, notebooks, force=force)
    kept = {job.page: made for job in jobs if (made := site.kept(job)) is not None}
    rest = [job for job in jobs if job.page not in kept]
    if not rest and site.is_whole(views, list(kept.values())):
        return []
    with replaced(out) as folder:
        site.take_over(folder, list(kept))
        if progress is not None:
            progress(0, len(rest), "")
        for done, made in enumerate(run_all(rest, site.make, new_kernel, worker_count()), start=1):
            kept[made.page] = made
            if progress is not None:
                progress(done, len(rest), f"{made.job.chapter.path.stem}, {made.job.study.name}")
        site.finish(views, [kept[job.page] for job in jobs])
        site.write_record()
    return [
        f"{job.chapter.path.name}, study {job.study.name}: {kept[job.page].error}; see {out / job.page}"
        for job in jobs
        if kept[job.page].error
    ]


# --- rendering


class _Site:
    """Makes pages into a folder."""

    def __init__(self, out: Path, notebooks: Path, *, force: bool = False) -> None:
        self._site = self._out = out
        self._notebooks = notebooks
        self._lock = threading.Lock()
        self._digest = cache(freshness.content_digest)
        self._logs: dict[str, StudyLogs] = {}
        self._before = Record(out)
        self._known: dict[str, dict[str, Any]] = {} if force else self._before.pages
        self._pages: dict[str, dict[str, Any]] = {}
        self._executed: dict[str, list[str]] = {}
        """Executed notebooks that are still right, with what they read."""
        self._others: list[str] = []

    # --- pages of an earlier report

    def kept(self, job: Job) -> Made | None:
        """Return the page of an earlier report if nothing that it depends on has changed since."""
        page, executed = job.page, job.executed
        known = self._known.get(page, {})
        if not known or known["run"] != self._run_key(job, self._absolute(known["read"])):
            return None
        if self._before.is_intact(known, [executed]):
            self._executed[executed] = self._absolute(known["read"])
        if known["look"] != self._look(job) or not self._before.is_intact(known):
            return None
        self._pages[page] = known
        says = known["says"]
        return Made(
            job=job,
            findings=msgspec.convert(says["findings"], tuple[Finding, ...]),
            card=stored_card(says["card"]),
            parts=msgspec.convert(says["parts"], tuple[Part, ...]),
        )

    def take_over(self, folder: Path, kept: list[str]) -> None:
        """Take the kept pages and every file that is not of a report over to a new folder, and write there."""
        self._out = folder
        whole = {file for page in kept for file in self._pages[page]["files"]} | self._executed.keys()
        written = {"index.html", Record.FILE, *self._before.files} - whole
        for file in sorted(path for path in self._site.rglob("*") if path.is_file() or path.is_symlink()):
            name = file.relative_to(self._site)
            if name.as_posix() not in written:
                (self._out / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, self._out / name, follow_symlinks=False)

    def _run_key(self, job: Job, read: list[str]) -> str:
        """Hash everything that the outputs of a notebook depend on; ``read``: the files that it read."""
        modules = [str(path) for path in sorted(self._notebooks.glob("*.py"))]
        return freshness.key(
            freshness.code()[0],
            self._parameters(job),
            self._digests([str(job.chapter.path), *modules]),
            self._digests([*read, f"{LISTING}{data_folder('raw').absolute() / job.study.name}"]),
        )

    def _digests(self, names: list[str]) -> dict[str, str]:
        return {name: self._digest(name) for name in names}

    def _absolute(self, read: list[str]) -> list[str]:
        """Return the files that a record names."""
        return [self._place(name, back=True) for name in read]

    def _place(self, name: str, *, back: bool) -> str:
        """Name a file that a notebook read by its place in the project, or back: a record names no absolute path."""
        listing = LISTING if name.startswith(LISTING) else ""
        name = name.removeprefix(LISTING)
        folders = {"{raw}": data_folder("raw"), "{processed}": data_folder("processed"), "{notebooks}": self._notebooks}
        for mark, folder in folders.items():
            old, new = (mark, str(folder.absolute())) if back else (str(folder.absolute()), mark)
            if name == old or name.startswith((f"{old}/", f"{old}{os.sep}")):
                return f"{listing}{new}{name[len(old) :]}"
        return listing + (
            os.path.normpath(self._notebooks.absolute() / name)
            if back
            else os.path.relpath(name, self._notebooks.absolute())
        )

    def _look(self, job: Job) -> str:
        """Hash everything that the page shows besides the outputs of its notebook."""
        chapters = [(chapter.file, chapter.title, chapter.question) for chapter in job.chapters]
        return freshness.key(freshness.code()[1], asdict(job.study), chapters, job.number)

    def _parameters(self, job: Job) -> dict[str, Any]:
        return {"study": job.study.name}

    # --- pages

    def make(self, job: Job, kernel: WarmKernel) -> Made:
        """Run a notebook for a study, or take its outputs where they are still right; write page and notebook."""
        import nbformat

        page, executed = job.page, job.executed
        if executed in self._executed:
            notebook, error = nbformat.read(self._out / executed, as_version=4), None
            read = self._executed[executed]
        else:
            notebook, error = run_notebook(job.chapter.path, self._parameters(job), kernel)
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
        portable = [self._place(name, back=False) for name in read]
        says = msgspec.to_builtins({"findings": made.findings, "card": made.card, "parts": made.parts})
        look = self._look(made.job)
        self._pages[page] = {"run": run, "read": portable, "look": look, "files": digests, "says": says}

    def page(self, job: Job, notebook: Any, error: str | None) -> tuple[str, Made]:
        """Return a page: its HTML and its entries for the index and the search."""
        logs = self._logs_of(job.study.name)
        line = logs.named_line(error) if logs and error else None
        view = PageView(job=job, error=error, trail=Trail(logs), log_line=line)
        html, resources = _exporter().from_notebook_node(notebook, {"page": view})
        view = resources["page"]
        made = Made(
            job=job,
            findings=tuple(view.outputs.findings),
            error=error,
            card=view.outputs.card,
            parts=view.texts.parts(),
        )
        return html, made

    def _logs_of(self, study: str) -> StudyLogs | None:
        if study not in self._logs:
            try:
                self._logs[study] = StudyLogs(load(study))
            except LogError:
                return None
        return self._logs[study]

    # --- the pages about the pages

    @cached_property
    def _documents(self) -> list[Document]:
        return concepts(CONCEPTS)

    def _whole_key(self, views: list[StudyView], made: list[Made]) -> str:
        looks = [(page.page, self._pages.get(page.page, {}).get("files")) for page in made]
        concepts = [asdict(document) for document in self._documents]
        return freshness.key(freshness.code(), [asdict(view) for view in views], looks, concepts)

    def is_whole(self, views: list[StudyView], made: list[Made]) -> bool:
        """Return whether index, documentation and search exist for exactly these pages."""
        known = self._known.get("index.html", {})
        return bool(known) and known["run"] == self._whole_key(views, made) and self._before.is_intact(known)

    def finish(self, views: list[StudyView], made: list[Made]) -> None:
        """Write the index, the concepts and the search over all of it."""
        pages = {
            "index.html": self.index(views, made), "across.html": self.across(made),
            "changes.html": self.changes(views, made),
        }  # fmt: skip
        # Of results that fit equally well, those of the first page and of real clouds are listed first.
        entries = [
            (page.page, page.job.chapter.title, page.job.study.title, page.parts)
            for page in sorted(made, key=lambda page: page.job.study.emulated)
        ]
        for document in self._documents:
            text, parts = document.content()
            pages[document.at] = self._render(
                "document.html.j2", document.at, document=document, html=text, documents=self._documents
            )
            entries.append((document.at, document.title, "Concepts", parts))
        guide = tuple(
            ("finding", anchor, question, (plain_text(said),)) for anchor, (question, said) in guide_of(views).items()
        )
        guide += (("text", "", "Clouds", (NOT_HERE,)),) if clouds_of(views) else ()
        sources = _sources(made)
        asked = tuple(
            ("finding", f"question_{tile.key}", tile.question, tuple(plain_parts(parts) for _, parts in tile.answers))
            for tile in tiles(sources)
        )
        entries.insert(0, ("index.html", "First page", "All studies", (*asked, *guide)))
        if pairs(sources):
            entries.append(
                ("across.html", "All round trips", "All studies", (("finding", "pairs", COMMITS, (COMMIT,)),))
            )
        pages["search.html"] = self._render("search.html.j2", "search.html", texts=texts_of(entries))
        for name, html in pages.items():
            _write(self._out / name, html)
        digests = {name: freshness.file_digest(self._out / name) for name in pages}
        self._pages["index.html"] = {"run": self._whole_key(views, made), "files": digests}

    def index(self, views: list[StudyView], made: list[Made]) -> str:
        """Return the HTML of the first page: studies of real clouds first, by the number of questions they answer."""
        pages = {view.name: [page for page in made if page.job.study.name == view.name] for view in views}
        cards = {page.job.study.name: page.card for page in made if page.card}
        sources = _sources(made)
        counts = answered(sources)
        first = {name: own[0].page for name, own in pages.items() if own}
        ordered = sorted(views, key=lambda view: (view.emulated, -counts.get(first.get(view.name, ""), 0), view.name))
        return self._render(
            "site.html.j2",
            "index.html",
            crossing=crossing(sources),
            picture=picture([source for source in sources if not source.emulated], LANES),
            tiles=tiles(sources),
            studies=ordered,
            pages=pages,
            cards=cards,
            documents=self._documents,
            clouds=clouds_of(views),
            not_here=NOT_HERE,
            guide=[(anchor, question, markdown_line(said)) for anchor, (question, said) in guide_of(views).items()],
        )

    def across(self, made: list[Made]) -> str:
        """Return the page with all round trips."""
        sources = _sources(made)
        real = [source for source in sources if not source.emulated]
        return self._render(
            "across.html.j2",
            "across.html",
            picture=picture(real),
            pairs=pairs(sources),
            commit=COMMIT,
            commits=COMMITS,
            documents=self._documents,
        )

    def changes(self, views: list[StudyView], made: list[Made]) -> str:
        """Return the page with what changed since the report that was in the folder before."""
        earlier = [(page, known["says"]) for page, known in self._before.pages.items() if "says" in known]
        before = reports(
            (page, stored_card(says["card"]), (finding["text"] for finding in says["findings"]))
            for page, says in earlier
        )
        now = reports((page.page, page.card, (finding.text for finding in page.findings)) for page in made)
        titles = {view.name: view.title for view in views}
        listed = [
            (titles.get(name, name), found)
            for name in dict.fromkeys([*titles, *before])
            if (found := changes(before.get(name), now.get(name)))
        ]
        return self._render("changes.html.j2", "changes.html", listed=listed if before else None)

    def _render(self, template: str, at: str, **values: Any) -> str:
        return str(_exporter().environment.get_template(template).render(place=Position(at), **values))

    def write_record(self) -> None:
        """Record the files in the folder and what they depend on."""
        files = {file for page in self._pages.values() for file in page["files"]} | set(self._others)
        if files:
            _write(self._out / Record.FILE, self._before.text(sorted(files), self._pages))


@cache
def _exporter() -> Any:
    """Return nbconvert's HTML exporter with our template, which escapes everything that is not marked as safe.

    All reports of a process share its templates: to compile them takes longer than to render a page.
    """
    from nbconvert.exporters import HTMLExporter, TemplateExporter

    class PageExporter(HTMLExporter):
        def _create_environment(self) -> Any:
            environment = super()._create_environment()
            environment.autoescape = True
            environment.trim_blocks = environment.lstrip_blocks = True
            environment.globals |= {
                "figure_colours": scheme_style(), "versions": freshness.versions(), "version": __version__,
                "scripts": scripts(), "meanings": MEANINGS, "highlighted": highlighted,
            }  # fmt: skip
            return environment

        def from_notebook_node(self, nb: Any, resources: Any = None, **kw: Any) -> Any:
            # Past HTMLExporter's own step, which parses the page once more to add what ours has: alternative texts.
            return TemplateExporter.from_notebook_node(self, nb, self._init_resources(resources), **kw)

    return PageExporter(
        template_name="azlatency", template_file="page.html.j2", extra_template_basedirs=[str(_TEMPLATES)]
    )


def _sources(made: list[Made]) -> list[Source]:
    return [
        Source(
            title=page.job.study.title,
            group=page.job.study.group,
            page=f"{page.job.study.url}/{page.job.chapter.url}",
            emulated=page.job.study.emulated,
            card=page.card,
        )
        for page in made
        if page.card
    ]


# --- files


def _write(path: Path, text: str) -> None:
    write_whole(path, tied(in_order(visible(text))) if path.suffix == ".html" else text)


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
