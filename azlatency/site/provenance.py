"""From a number on a page back to the log: which runs, which file, which line, and what stands there.

A row of a table says where its cells were read from (`azlatency.display.Table.origins`), or it names a path and a
method, and then the runs of that path and method stand behind it. The page quotes the lines, cut and bounded: a page
of a study with thousands of logs names the first few and counts the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from azlatency.dataset import data_folder
from azlatency.decode import Source, SourceError, expand

if TYPE_CHECKING:
    from azlatency.dataset import Study

#: Characters of a log's line that are shown, and characters of all lines that one page shows.
LINE, PAGE = 160, 250_000
#: Runs that are named where many stand behind a number.
NAMED = 5
_PLACE = re.compile(r"(.{1,1000}):(\d{1,12})(?:-(\d{1,12}))?")
_NAME = re.compile(r"name\s*=\s*[\"'](.{1,300})[\"']")
_NAMED = re.compile(r"([^\s:'\"]{1,1000}):(\d{1,12})\b")
_QUANTILE = re.compile(r"([0-9a-f]{16}-\d{2,9})@([0-9.e-]{1,20})")


class Place(NamedTuple):
    """A line of a file, or the lines ``line`` to ``last`` of a run."""

    source: str
    line: int
    last: int | None = None


@dataclass(frozen=True)
class _Run:
    path: str
    method: str
    extent: Place
    headline: Place
    """Where its mean, median or goodput is printed, else its extent."""


# --- the logs of a study


class Logs:
    """The logs behind a study, as far as they are at hand and unchanged since the import."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._lines: dict[Place, str | None] = {}

    @cached_property
    def _sources(self) -> dict[str, dict[str, Any]]:
        rows = self._study.sources[["source_id", "path", "sha256", "lines"]].to_dict("records")
        return {str(row["source_id"]): row for row in rows}

    def name(self, source: str) -> str:
        """The path of a source as the study has it."""
        return str(self._sources[source]["path"]) if source in self._sources else source

    def digest(self, source: str) -> str:
        """SHA-256 of a source; empty for a file that is no log."""
        return str(self._sources[source]["sha256"]) if source in self._sources else ""

    def places(self, said: Iterable[str]) -> list[Place]:
        """Places from their text (see `azlatency.display.Table`); what is none, or of no known file, is left out."""
        found = []
        for each in said:
            if percentile := _QUANTILE.fullmatch(each):
                line = self._percentiles.get((percentile[1], float(percentile[2])))
                found += [] if line is None else [Place(percentile[1].rpartition("-")[0], line)]
            elif match := _PLACE.fullmatch(each):
                found.append(Place(match[1], int(match[2]), int(match[3]) if match[3] else None))
        own = (self._study.info.get("reported"), self._study.info.get("baseline"))
        return [each for each in found if each.source in self._sources or each.source in own]

    @cached_property
    def _percentiles(self) -> dict[tuple[str, float], int]:
        frame = self._study.quantiles
        frame = frame[(frame["metric"] == "rtt") & frame["line"].notna()]
        keys = zip(frame["run_id"], frame["q"].astype(float), strict=True)
        return {key: int(line) for key, line in zip(keys, frame["line"], strict=True)}

    def told(self, message: str) -> tuple[str, str] | None:
        """The first line of a log that a message names as ``file:line``, and what stands there."""
        for match in _NAMED.finditer(message):
            for source, row in self._sources.items():
                if match[1] == row["path"] or match[1].endswith(f"/{row['path']}"):
                    place = Place(source, int(match[2]))
                    if text := self.quotes([place])[place]:
                        return f"{row['path']}:{place.line}", text
        return None

    # --- runs by what a row says

    def named(self, cells: Sequence[str]) -> list[_Run]:
        """The measuring runs of the paths and methods that the cells of a row name; [] where they name neither."""
        paths: set[str] = set()
        methods: set[str] = set()
        for cell in cells:
            one, other = self._parts.get(cell, ((), ()))
            paths.update(one)
            methods.update(other)
        if not paths and not methods:
            return []
        return [
            run for run in self._runs if (not paths or run.path in paths) and (not methods or run.method in methods)
        ]

    def quoted(self, cells: Sequence[str]) -> list[Place]:
        """Where the study's own files say what a row repeats: numbers from a text, expectations of a baseline."""
        return list(dict.fromkeys(place for cell in cells for place in self._quoted.get(cell, ())))

    @cached_property
    def _quoted(self) -> dict[str, list[Place]]:
        """Scenario of a reported number, or name of an expectation -> its lines."""
        found: dict[str, list[Place]] = {}
        file, frame = str(self._study.info.get("reported")), self._study.reported
        if "line" in frame and "scenario" in frame:
            for scenario, line in zip(frame["scenario"], frame["line"], strict=True):
                found.setdefault(str(scenario), []).append(Place(file, int(line)))
        names = {str(each.get("name")) for each in self._study.expectations}
        file = str(self._study.info.get("baseline"))
        for number, line in enumerate((self._text(file) or "").split("\n") if names else (), start=1):
            said = _NAME.fullmatch(line.strip())
            if said and said[1] in names:
                found.setdefault(said[1], []).append(Place(file, number))
        return found

    @cached_property
    def _parts(self) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """What a cell may say -> the paths and the methods that it names."""
        parts: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        paths = {run.path for run in self._runs}
        for run in self._runs:
            parts[run.path] = ((run.path,), ())
            parts[run.method] = ((), (run.method,))
            parts[f"{run.path}, {run.method}"] = ((run.path,), (run.method,))
            start, arrow, end = run.path.partition(" → ")
            if arrow:
                both = tuple(way for way in (run.path, f"{end} → {start}") if way in paths)
                parts[f"{start} ↔ {end}"] = parts[f"{start} - {end}"] = (both, ())
                parts[f"{end} ↔ {start}"] = parts[f"{end} - {start}"] = (both, ())
        return parts

    @cached_property
    def _runs(self) -> list[_Run]:
        from azlatency.paths import described_runs, measuring

        if not len(self._study.runs):
            return []
        headlines = self._headlines
        runs = []
        for row in measuring(described_runs(self._study)).to_dict("records"):
            extent = Place(str(row["source_id"]), int(row["first_line"]), int(row["last_line"]))
            line = headlines.get(str(row["run_id"]))
            headline = extent if line is None else Place(extent.source, line)
            runs.append(_Run(str(row["path"]), str(row["method"]), extent, headline))
        return runs

    @cached_property
    def _headlines(self) -> dict[str, int]:
        """For each run the line of its goodput or mean; else of its median."""
        frame = self._study.metrics
        frame = frame[frame["metric"].isin(["rtt_mean", "throughput"]) & frame["stream"].isna() & frame["line"].notna()]
        receiver = frame[frame["side"] == "receiver"]
        found = {run_id: line for (run_id, q), line in self._percentiles.items() if q == 0.5}
        for part in (frame, receiver):
            found |= {str(run): int(line) for run, line in zip(part["run_id"], part["line"], strict=True)}
        return found

    # --- lines

    def quotes(self, places: Iterable[Place]) -> dict[Place, str | None]:
        """What stands in each line, cut to `LINE` characters; None where the log is not at hand or has changed."""
        wanted = {Place(each.source, each.line) for each in places}
        by_source: dict[str, list[Place]] = {}
        for place in wanted - self._lines.keys():
            by_source.setdefault(place.source, []).append(place)
        for source, own in by_source.items():
            text = self._text(source)
            lines = [] if text is None else text.split("\n")
            for place in own:
                known = 0 < place.line <= len(lines)
                self._lines[place] = shown(lines[place.line - 1]) if known else None
        return {place: self._lines[place] for place in wanted}

    def _text(self, source: str) -> str | None:
        row = self._sources.get(source)
        path, _, _ = str(row["path"] if row else source).partition("!")
        for file in self._files(path):
            if row is None:
                inside = file.resolve().is_relative_to((data_folder("raw") / self._study.name).resolve())
                return file.read_text("utf-8", "replace") if inside and file.is_file() else None
            for each in expand(file) if file.is_file() else ():
                if not isinstance(each, SourceError) and each.sha256 == row["sha256"]:
                    return each.text
        return None

    def _files(self, path: str) -> Iterable[Path]:
        """Where the file of a source may be: in the study's folder, or where the import found it."""
        yield data_folder("raw") / self._study.name / path
        roots = self._study.imported_from()
        for root in roots:
            if root.is_file() and path in (root.name, f"{root.name}/{root.name}"):
                yield root
            yield root / path
            if len(roots) > 1 and path.startswith(f"{root.name}/"):
                yield root / path.removeprefix(f"{root.name}/")


def shown(line: str) -> str:
    """A line of a log as a page may show it: without colours, cut, and with characters that do not print as escapes."""
    whole = Source("", "", 0, "", line[: 20 * LINE]).lines
    text = " ⏎ ".join(piece.text for piece in whole)
    text = text if len(text) <= LINE else f"{text[:LINE]} …"
    return "".join(
        char if char.isprintable() else " " if char == "\t" else f"\\u{ord(char):04x}" for char in text
    ).rstrip()


# --- the trail of one page


@dataclass(frozen=True)
class RowTrail:
    """Where a row's link leads, and the line behind each of its cells, by column, as the page's script reads it."""

    target: str
    at: Mapping[int, str] = field(default_factory=dict)


@dataclass
class FileView:
    """A file that numbers of the page come from, and its lines that are shown, in order: (number, text)."""

    id: str
    path: str
    sha256: str
    quotes: list[tuple[int, str | None]]
    """None where a line cannot be shown."""
    missing: bool = False
    """Whether the log is not at hand, or has changed since the import."""


@dataclass(frozen=True)
class GroupView:
    """The runs behind one number: the first few by file and line, and how many others."""

    id: str
    title: str
    count: str
    """How many runs or lines, in words."""
    first: tuple[tuple[str, str, str], ...]
    """(id of the file or line, path, lines in words)."""
    others: int


class Trail:
    """Collects what the tables of one page lead to, while the page is rendered."""

    def __init__(self, logs: Logs | None) -> None:
        self._logs = logs
        self._numbers: dict[str, int] = {}
        self._places: dict[Place, None] = {}
        self._groups: dict[tuple[Place, ...], GroupView] = {}

    def row(self, cells: Sequence[str], origins: Mapping[str, Sequence[str]]) -> RowTrail | None:
        """Where the row leads; None where nothing is known of its origin."""
        if self._logs is None:
            return None
        own = {int(column): self._logs.places(said) for column, said in origins.items() if column.isdigit()}
        at = {column: self._use(places[0]) for column, places in own.items() if column and places}
        whole = own.get(0, [])
        if len(whole) == 1:
            return RowTrail(self._use(whole[0]), at)
        if whole:
            return RowTrail(self._group("several lines", "lines", whole, whole), at)
        runs = [] if "reported" in cells else self._logs.named(cells)
        if not runs and (lines := self._logs.quoted(cells)):
            return RowTrail(
                self._use(lines[0]) if len(lines) == 1 else self._group(cells[0], "lines", lines, lines), at
            )
        if runs:
            title = " ".join(dict.fromkeys(f"{run.path}, {run.method}" for run in runs[:1]))
            title = title if len({(run.path, run.method) for run in runs}) == 1 else cells[0]
            return RowTrail(
                self._group(title, "runs", [run.headline for run in runs], [run.extent for run in runs]), at
            )
        return None

    def _use(self, place: Place) -> str:
        """The id of a line or, for a whole run, of its file."""
        number = self._numbers.setdefault(place.source, len(self._numbers))
        if place.last is not None:
            return f"f_{number}"
        self._places[place] = None
        return f"q_{number}_{place.line}"

    def _group(self, title: str, what: str, places: Sequence[Place], extents: Sequence[Place]) -> str:
        key = tuple(extents)
        if key not in self._groups:
            first = tuple(
                (self._use(place), self._name(place), _lines(place)) for place in list(dict.fromkeys(places))[:NAMED]
            )
            count = len(set(extents))
            told = f"{count} {what if count > 1 else what.removesuffix('s')}"
            self._groups[key] = GroupView(f"g_{len(self._groups)}", title, told, first, count - len(first))
        return self._groups[key].id

    def _name(self, place: Place) -> str:
        return self._logs.name(place.source) if self._logs else place.source

    @property
    def groups(self) -> list[GroupView]:
        """The groups of runs that rows lead to."""
        return list(self._groups.values())

    @cached_property
    def files(self) -> list[FileView]:
        """Every file that something leads to, with the lines that are shown; complete when all tables were rendered."""
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


def _lines(place: Place) -> str:
    return f"line {place.line}" if place.last is None else f"lines {place.line}–{place.last}"
