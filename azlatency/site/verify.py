"""Recompute a published site from the raw logs, and compare every number that its pages show."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from azlatency.logs.parse import LogError
from azlatency.site.build import build
from azlatency.site.freshness import Record
from azlatency.studies.imports.importer import import_study

#: Elements without text for readers. Charts are drawn from the numbers of the tables beside them.
_HIDDEN = {"script", "style", "svg", "template"}
_NUMBER = re.compile(r"\S*\d\S*")
#: Pages over all studies that show their numbers. The page of changes compares with an earlier report.
_OVER_ALL = ("index.html", "across.html")
#: Characters of the text before a number that say where it stands.
_CONTEXT = 40


class Verified(NamedTuple):
    """How many pages and numbers were compared, and the differences, a line for each."""

    pages: int
    numbers: int
    differences: list[str]


class _Number(NamedTuple):
    text: str
    before: str


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in _HIDDEN

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _HIDDEN

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)


def verify(site: Path, raw: Path, progress: Callable[[int, int, str], None] | None = None) -> Verified:
    """Import the logs of a site's studies, make its pages again, and compare their numbers.

    Parameters
    ----------
    site : pathlib.Path
        Folder of a report, as ``azlatency report`` wrote it.
    raw : pathlib.Path
        Folder with the logs, one folder per study, as ``data/raw``, and the folder ``archive`` beside it, if there is
        one. They are only read.
    progress : callable, optional
        Called as in `azlatency.site.build.build`.

    Returns
    -------
    Verified
        Every text with a digit outside of charts counts as a number: values, intervals, counts, lines of logs, dates.
        The pages are made by the notebooks and the version of azlatency that are installed here.

    Raises
    ------
    LogError
        If the folder is not a site, or the logs of one of its studies are not there.
    """
    pages = sorted(page for page in Record(site).pages if "/" in page)
    studies = sorted({page.partition("/")[0] for page in pages})
    if not studies:
        raise LogError(f"{site}: not a report with studies; name the folder that azlatency report wrote")
    for name in studies:
        if not (raw / name).is_dir():
            raise LogError(f"{raw / name}: not found; {raw} must contain the logs of the study {name}")
    with TemporaryDirectory(prefix="azlatency-") as temporary:
        again, before = Path(temporary) / "site", os.environ.get("AZLATENCY_DATA")
        for link, folder in (("raw", raw.absolute()), ("archive", raw.absolute().with_name("archive"))):
            (Path(temporary) / link).symlink_to(folder, target_is_directory=True)
        os.environ["AZLATENCY_DATA"] = temporary  # the kernels of the notebooks inherit it
        try:
            for name in studies:
                import_study(name)
            failures = build(again, studies, progress=progress)
        finally:
            os.environ.pop("AZLATENCY_DATA")
            if before is not None:
                os.environ["AZLATENCY_DATA"] = before
        pages += _OVER_ALL
        found = [(page, numbers_of(site / page), numbers_of(again / page)) for page in pages]
    differences = [f"{page}: {text}" for page, published, computed in found for text in compare(published, computed)]
    return Verified(len(pages), sum(len(published) for _, published, _ in found), failures + differences)


def numbers_of(page: Path) -> list[_Number]:
    """Return the numbers of a page in their order; none if it was not made."""
    if not page.exists():
        return []
    parser = _Texts()
    parser.feed(page.read_text("utf-8"))
    text = " ".join(" ".join(parser.texts).split())
    return [
        _Number(match[0], text[max(0, match.start() - _CONTEXT) : match.start()].strip())
        for match in _NUMBER.finditer(text)
    ]


def compare(published: list[_Number], computed: list[_Number]) -> Iterator[str]:
    """Yield a line for each stretch of numbers that differ."""
    old, new = ([number.text for number in numbers] for numbers in (published, computed))
    for kind, first, last, start, end in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if kind != "equal":
            shown = (" ".join(texts) or "nothing" for texts in (old[first:last], new[start:end]))
            place = (published[first:] or computed[start:])[0].before
            yield "published {}, recomputed {}, after {!r}".format(*shown, place)
