"""Build a published site again from the raw logs, and compare every file.

A build is deterministic: the same logs give the same bytes. Where the site was built with other versions, what a
reader sees is compared instead: texts, attributes and the texts of charts, without the places of their marks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from azlatency.logs.parse import LogError
from azlatency.site.build import build
from azlatency.site.freshness import Record, versions
from azlatency.studies.imports.importer import import_study
from azlatency.studies.store.folders import data_in

#: Its list compares with the report that was in the folder before, which nobody else has.
NOT_REBUILT = "changes.html"
# Only the tags of its template: what is more than a list is compared.
_LIST_OF_CHANGES = re.compile(
    rb"(?<=<main id=\"main\" tabindex=\"-1\">)"
    rb"(?:[^<]|</?(?:details|summary|b|p|ul|li)(?: class=\"(?:words|text)\")?(?: open)?>)*(?=</main>)"
)
#: Folders of a site that are no studies.
_SHARED = ("docs", "notebooks")
#: What a web server needs beside a report belongs to who publishes it; any other file is compared.
_OF_THE_SERVER = frozenset({"CNAME", "robots.txt"})
_PAGES = frozenset({".htm", ".html", ".svg"})
#: What tells the next report whether a page is out of date: where its logs lie, and the code that made it.
_FRESHNESS = ("run", "read", "look")
#: What the fonts and the version of matplotlib decide in a chart.
_GEOMETRY_TEXT = """
    d x y x1 y1 x2 y2 cx cy r dx dy points transform width height viewbox style id href xlink:href clip-path
"""
_GEOMETRY = frozenset(_GEOMETRY_TEXT.split())
_CONTEXT = 60


class Verified(NamedTuple):
    """How many files were compared, the differences, a line for each, and whether only what a reader sees was."""

    files: int
    differences: list[str]
    by_text: bool


def verify(site: Path, raw: Path, progress: Callable[[int, int, str], None] | None = None) -> Verified:
    """Import the logs of a site's studies, build the site again, and compare all of its files.

    ``site`` is the folder that ``azlatency report`` wrote; ``raw`` has the logs, one folder per study, with the folder
    ``archive`` beside it, if there is one. They are only read. ``progress`` is called as in
    `azlatency.site.build.build`. What ``changes.html`` lists is left out: it depends on an earlier report. Files are
    compared byte by byte if the site names the versions that are installed here. Raises `LogError` if the folder is not
    a site, or the logs of one of its studies are not there.
    """
    studies = sorted({page.parent.name for page in site.glob("*/*.html") if page.parent.name not in _SHARED})
    if not studies or not (site / "index.html").is_file():
        raise LogError(f"{site}: not a report with studies; name the folder that azlatency report wrote")
    for name in studies:
        if not (raw / name).is_dir():
            raise LogError(f"{raw / name}: not found; {raw} must contain the logs of the study {name}")
    by_text = f'content="{versions()}"' not in (site / "index.html").read_text("utf-8", errors="replace")
    with TemporaryDirectory(prefix="azlatency-") as temporary:
        again = Path(temporary) / "site"
        for link, folder in (("raw", raw.absolute()), ("archive", raw.absolute().with_name("archive"))):
            (Path(temporary) / link).symlink_to(folder, target_is_directory=True)
        with data_in(Path(temporary)):
            for name in studies:
                import_study(name)
            failures = build(again, studies, progress=progress)
        return Verified(len(_files(again)), [*failures, *compare_sites(site, again, by_text=by_text)], by_text)


def compare_sites(site: Path, again: Path, *, by_text: bool) -> Iterator[str]:
    """Yield a line for each difference between a published report and the same report built again."""
    due, published = _files(again), _files(site)
    yield from (f"{name}: published, but not made from these logs" for name in sorted(published - due))
    yield from (f"{name}: missing" for name in sorted(due - published))
    for name in sorted(due & published):
        yield from (f"{name}: {text}" for text in compare(site / name, again / name, by_text=by_text))
    # The next report takes the answers of the first page from the record; not every copy of a site has hidden files.
    if not by_text and (site / Record.FILE).is_file() and _record(site) != _record(again):
        yield f"{Record.FILE}: published with other contents than the rebuilt one"


def _files(folder: Path) -> set[str]:
    """Return the files of a report in a folder, with hidden pages, which a web server shows like others."""
    names = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    shown = (
        name for name in names if name.suffix.lower() in _PAGES or not any(part.startswith(".") for part in name.parts)
    )
    return {name.as_posix() for name in shown} - _OF_THE_SERVER


def _record(folder: Path) -> object:
    """Return what the record of a site says, whatever folder and code built it; None if it is none."""
    try:
        record = json.loads((folder / Record.FILE).read_text("utf-8"))
        pages = {
            name: {key: page[key] for key in page if key not in _FRESHNESS} for name, page in record["pages"].items()
        }
        for page in pages.values():
            page["files"] = {name: digest for name, digest in page["files"].items() if name != NOT_REBUILT}
    except (ValueError, LookupError, AttributeError, TypeError):
        return None
    return {**record, "pages": pages}


def compare(published: Path, computed: Path, *, by_text: bool) -> Iterator[str]:
    """Yield a line for each stretch of a file that differs; ``by_text``: of what a reader sees of it."""
    old, new = published.read_bytes(), computed.read_bytes()
    if published.name == NOT_REBUILT:
        old, new = (_LIST_OF_CHANGES.sub(b"", read) for read in (old, new))
    if old == new:
        return
    first, second = (read.decode("utf-8", errors="replace") for read in (old, new))
    before, after = (_seen(text) if published.suffix == ".html" else text.split() for text in (first, second))
    found = False
    for kind, start, stop, other, end in SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        if kind != "equal":
            found = True
            texts = (" ".join(part)[:_CONTEXT] or "nothing" for part in (before[start:stop], after[other:end]))
            place = " ".join(before[max(0, start - 4) : start])
            yield "published {!r}, rebuilt {!r}, after {!r}".format(*texts, place)
    if not found and not by_text:
        yield "published with another drawing or markup than the rebuilt one"


def _seen(html: str) -> list[str]:
    """Return what a reader of a page meets, in its order: texts, tags and attributes, and the texts of charts."""
    parser = _Seen()
    parser.feed(html)
    parser.close()
    return parser.seen


class _Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self._charts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._charts += tag == "svg"
        kept = [(name, value) for name, value in attrs if not (self._charts and name in _GEOMETRY)]
        if not self._charts or kept:
            self.seen += [f"<{tag}>", *(f"{name}={value}" for name, value in kept)]

    def handle_endtag(self, tag: str) -> None:
        self._charts -= tag == "svg"

    def handle_data(self, data: str) -> None:
        self.seen += data.split()

    def handle_comment(self, data: str) -> None:
        self.seen.append(f"<!--{data}-->")
