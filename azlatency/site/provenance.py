"""From a number on a page back to the log: its runs, its file, its line, and the text of that line.

`provenance_index` finds the lines; this module quotes them, limits their length and numbers them for a page. If a
number has many lines, the page shows the first few and counts the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from azlatency.logs.source.decode import Source, SourceError
from azlatency.logs.source.expand import expand
from azlatency.site.provenance_index import BEFORE, Found, Place, ProvenanceIndex
from azlatency.studies.format import count_of, join_words
from azlatency.studies.store.folders import data_folder
from azlatency.studies.store.study import Study

#: Characters of a line that are shown, and characters of all lines of one page.
LINE, PAGE = 160, 250_000
#: Runs that are named if a number comes from many.
NAMED = 5
_NAMED = re.compile(r"([^\s:'\"]{1,1000}):(\d{1,12})\b")


# --- the logs of a study


class StudyLogs:
    """The logs of a study, as far as they are available and unchanged since the import."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._lines: dict[Place, str | None] = {}

    @cached_property
    def _sources(self) -> dict[str, dict[str, Any]]:
        rows = self._study.sources[["source_id", "path", "sha256", "lines"]].to_dict("records")
        return {str(row["source_id"]): row for row in rows}

    def name(self, source: str) -> str:
        """Return the path of a source in its study; the name of another study comes first."""
        if source.startswith(BEFORE) and self._before is not None:
            return f"{self._before._study.name}/{self._before.name(source.removeprefix(BEFORE))}"
        return str(self._sources[source]["path"]) if source in self._sources else source

    def digest(self, source: str) -> str:
        """Return the SHA-256 of a source; empty for a file that is not a log."""
        if source.startswith(BEFORE) and self._before is not None:
            return self._before.digest(source.removeprefix(BEFORE))
        return str(self._sources[source]["sha256"]) if source in self._sources else ""

    @cached_property
    def index(self) -> ProvenanceIndex:
        """Finds the lines behind references."""
        return ProvenanceIndex(self._study, lambda name: next((text for _, text in self._texts([name])), None))

    @cached_property
    def _before(self) -> StudyLogs | None:
        return None if self.index.before is None else StudyLogs(self.index.before)

    def named_line(self, message: str) -> tuple[str, str] | None:
        """Return the first place of a log that a message names as ``file:line``, and the text of that line."""
        for match in _NAMED.finditer(message):
            for source, row in self._sources.items():
                if match[1] == row["path"] or match[1].endswith(f"/{row['path']}"):
                    place = Place(source, int(match[2]))
                    if text := self.quotes([place])[place]:
                        return f"{row['path']}:{place.line}", text
        return None

    # --- lines

    def quotes(self, places: Iterable[Place]) -> dict[Place, str | None]:
        """Return the text of each line, cut to `LINE` characters; None if the log is missing or has changed."""
        wanted = {Place(place.source, place.line) for place in places}
        by_source: dict[str, list[Place]] = {}
        for place in wanted - self._lines.keys():
            by_source.setdefault(place.source, []).append(place)
            self._lines[place] = None
        for source, text in self._texts(by_source):
            lines = text.split("\n")
            for place in by_source[source]:
                if 0 < place.line <= len(lines):
                    self._lines[place] = shown(lines[place.line - 1])
        return {place: self._lines[place] for place in wanted}

    def _texts(self, sources: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield the sources that are available and unchanged, with their texts; an archive is read once for all."""
        before, by_path = [], dict[str, list[str]]()
        for source in sources:
            if source.startswith(BEFORE):
                before.append(source.removeprefix(BEFORE))
            else:
                path, _, _ = str(self._sources[source]["path"] if source in self._sources else source).partition("!")
                by_path.setdefault(path, []).append(source)
        if before and self._before is not None:
            yield from ((f"{BEFORE}{source}", text) for source, text in self._before._texts(before))
        for path, of_path in by_path.items():
            logs = {self.digest(source): source for source in of_path}
            other = logs.pop("", None)
            for file in filter(Path.is_file, self._files(path)):
                if other is not None and self._is_inside(file):
                    yield other, file.read_text("utf-8", "replace")
                    other = None
                for member in expand(file) if logs else ():
                    if not isinstance(member, SourceError) and (found := logs.pop(member.sha256, None)) is not None:
                        yield found, member.whole_text
                    if not logs:
                        break

    def _is_inside(self, file: Path) -> bool:
        """Return whether a file is in the study's folder, or in a folder that it was imported from."""
        folders = (data_folder("raw") / self._study.name, *self._study.imported_from())
        return any(file.resolve().is_relative_to(folder.resolve()) for folder in folders if folder.is_dir())

    def _files(self, path: str) -> Iterable[Path]:
        """Yield where the file of a source may be: in the study's folder, or where the import places it."""
        yield data_folder("raw") / self._study.name / path
        yield data_folder("archive") / self._study.name / path
        roots = self._study.imported_from()
        for root in roots:
            if root.is_file() and path in (root.name, f"{root.name}/{root.name}"):
                yield root
            yield root / path
            if len(roots) > 1 and path.startswith(f"{root.name}/"):
                yield root / path.removeprefix(f"{root.name}/")


def shown(line: str) -> str:
    """Return a line of a log as a page shows it: without colours, cut, and with unprintable characters escaped."""
    whole = Source("", "", 0, "", line[: 20 * LINE]).lines
    text = " ⏎ ".join(piece.text for piece in whole)
    text = text if len(text) <= LINE else f"{text[:LINE]} …"
    return "".join(
        char if char.isprintable() else " " if char == "\t" else f"\\u{ord(char):04x}" for char in text
    ).rstrip()


# --- the trail of one page


@dataclass(frozen=True)
class RowTrail:
    """The id that a row's link leads to, and the id of the line of each of its cells, by column."""

    target: str
    at: Mapping[int, str] = field(default_factory=dict)


@dataclass
class FileView:
    """A file that numbers of the page come from, and the lines that are shown, in order: (number, text)."""

    id: str
    path: str
    sha256: str
    quotes: list[tuple[int, str | None]]
    """The text is None if a line cannot be shown."""
    missing: bool = False
    """Whether the log is missing, or has changed since the import."""


@dataclass(frozen=True)
class GroupView:
    """The runs or lines that a number comes from: the first few by file and line, and the number of others."""

    id: str
    title: str
    count: str
    """Their number in words."""
    first: tuple[tuple[str, str, str], ...]
    """(id of the file or line, path, lines in words)."""
    others: int


class Trail:
    """Collects the places that the tables of one page lead to, while the page is rendered."""

    def __init__(self, logs: StudyLogs | None) -> None:
        self._logs = logs
        self._numbers: dict[str, int] = {}
        self._places: dict[Place, None] = {}
        self._groups: dict[tuple[Found, ...], GroupView] = {}

    def row(self, row: Mapping[str, Any], name: str) -> RowTrail | None:
        """Return where a row of a table's record leads; None without references that are known."""
        if self._logs is None:
            return None
        index = self._logs.index
        cell_refs = row.get("cell_refs")
        cells = {int(column): index.find(refs) for column, refs in dict(cell_refs or {}).items() if column.isdecimal()}
        at = {column: place for column, of_cell in cells.items() for place, _ in of_cell[:1] if place.last is None}
        refs = row.get("refs")
        places = index.find(refs) or list(dict.fromkeys(place for of_cell in cells.values() for place in of_cell[:1]))
        if not places:
            return None
        lines = {column: self._use(place) for column, place in at.items()}
        # The row of one whole run or file leads to the file: its cells lead to the lines.
        of_runs = [ref for ref in refs if isinstance(ref, dict)] if isinstance(refs, list) else []
        is_whole_run = bool(of_runs) and of_runs[0].get("value") == "run"
        if len(places) == 1 and (places[0].place.last is None or places[0].what == "file" or is_whole_run):
            return RowTrail(self._use(places[0].place), lines)
        return RowTrail(self._group(name, places), lines)

    def _use(self, place: Place) -> str:
        """Return the id of a line or, for a whole run, of its file."""
        number = self._numbers.setdefault(place.source, len(self._numbers))
        if place.last is not None:
            return f"f_{number}"
        self._places[place] = None
        return f"q_{number}_{place.line}"

    def _group(self, title: str, places: Sequence[Found]) -> str:
        key = tuple(places)
        if key not in self._groups:
            named = [place for place, _ in places[:NAMED]]
            lines = [f"line {at.line}" if at.last is None else f"lines {at.line}–{at.last}" for at in named]
            # Of a whole run the first line is shown.
            links = [self._use(place._replace(last=None)) for place in named]
            first = tuple(zip(links, map(self._name, named), lines, strict=True))
            self._groups[key] = GroupView(
                f"g_{len(self._groups)}", title, _counted(places), first, len(places) - len(first)
            )
        return self._groups[key].id

    def _name(self, place: Place) -> str:
        return self._logs.name(place.source) if self._logs else place.source

    @property
    def groups(self) -> list[GroupView]:
        """The groups of runs or lines that rows lead to."""
        return list(self._groups.values())

    @cached_property
    def files(self) -> list[FileView]:
        """Each file with the lines that are shown; complete when all tables are rendered."""
        if self._logs is None:
            return []
        texts = self._logs.quotes(self._places)
        views = {
            source: FileView(f"f_{number}", self._logs.name(source), self._logs.digest(source), [])
            for source, number in self._numbers.items()
        }
        room = PAGE
        for place in sorted(self._places):
            view, text = views[place.source], texts[place]
            view.missing = view.missing or text is None
            room -= len(text or "")
            view.quotes.append((place.line, text if room > 0 else None))
        return list(views.values())


def _counted(places: Sequence[Found]) -> str:
    """Return the number of places of each kind, in words."""
    counts = Counter(what for _, what in places)
    words = join_words(count_of(count, what) for what, count in counts.items())
    return f"computed from {words}" if counts.keys() & {"number", "run"} else words
