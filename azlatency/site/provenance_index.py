"""What a table says of a number's origin (`azlatency.report.objects.Origin`) -> runs and lines of a study.

Origins come with the outputs of a notebook: what is malformed, or of no known file, leads nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from azlatency.logs.parse import LogError
from azlatency.studies.store import load

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store import Study

_PLACE = re.compile(r"(.{1,1000}):(\d{1,12})(?:-(\d{1,12}))?")
_NAME = re.compile(r"name\s*=\s*[\"'](.{1,300})[\"']")
_QUANTILE = re.compile(r"([0-9a-f]{16}-\d{2,9})@(\d(?:\.\d{1,18})?(?:e-\d{1,3})?)")
_ARROW = " → "
_AGAINST = " against "
#: Begins the source of a place in the study that the manifest calls ``before``.
BEFORE = "before:"
_METRICS = {"mean_ns": "rtt_mean", "n": "observations"}
_REVERSE = re.compile(r" stream-reverse\b")


class Place(NamedTuple):
    """A line of a file, or the lines ``line`` to ``last`` of a run."""

    source: str
    line: int
    last: int | None = None


class Found(NamedTuple):
    """Where a number comes from: the place to show, and what it is: a (printed) number, (own) run, file or line."""

    place: Place
    what: str = "line"


@dataclass(frozen=True)
class Run:
    """A run as rows of tables name it."""

    id: str
    path: str
    method: str
    round: str
    ends: tuple[str, ...]
    """Initiator and responder: the ends of the path, else the zones; empty where neither is known."""
    extent: Place
    fields: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def sends(self) -> str:
        """The path in the direction of its data: the other way round for a reverse stream."""
        start, arrow, end = self.path.partition(_ARROW)
        reverse = str(self.fields.get("test")).endswith("-reverse")
        return f"{end}{_ARROW}{start}" if arrow and reverse else self.path


class Origins:
    """Leads from what tables say to the lines of a study; ``text``: the text of one of its files, or None."""

    def __init__(self, study: Study, text: Callable[[str], str | None]) -> None:
        self._study = study
        self._text = text
        self._known: dict[str, tuple[Mapping[str, int], Iterable[str]]] = {}
        self._files: dict[str, list[str]] = {}

    @cached_property
    def before(self) -> Study | None:
        """The study that the manifest names as the one before, where it is imported."""
        try:
            return load(str(self._study.info["before"]), processed=self._study.folder.parent)
        except (KeyError, LogError, ValueError):  # a name that cannot be one of a folder
            return None

    @cached_property
    def _before(self) -> Origins | None:
        return None if self.before is None else Origins(self.before, lambda source: self._text(BEFORE + source))

    @cached_property
    def own_files(self) -> frozenset[str]:
        """Files of the study's folder that are no logs and may be quoted."""
        named = (self._study.info.get(name) for name in ("reported", "baseline"))
        return frozenset(("study.toml", "truth.json", *(name for name in named if isinstance(name, str))))

    def found(self, said: Iterable[Any], cells: Sequence[str] = ()) -> list[Found]:
        """Where all that is ``said`` leads; ``cells`` of the row, for origins that leave path and method to it."""
        places: list[Found] = []
        for each in said if isinstance(said, list | tuple) else ():
            places += self._text_place(each) if isinstance(each, str) else self._record(each, cells)
        return list(dict.fromkeys(places))

    def _text_place(self, said: str) -> list[Found]:
        if percentile := _QUANTILE.fullmatch(said):
            line = self._percentiles.get((percentile[1], float(percentile[2])))
            return [] if line is None else [Found(Place(percentile[1].rpartition("-")[0], line))]
        match = _PLACE.fullmatch(said)
        if match is None or match[1] not in self._sources | self.own_files:
            return []
        last = int(match[3]) if match[3] else None
        return [Found(Place(match[1], int(match[2]), last), "own run" if last else "line")]

    def _record(self, said: Any, cells: Sequence[str]) -> list[Found]:
        if not isinstance(said, Mapping):
            return []
        if said.get("before"):
            # By their text, as everything of the other study is.
            told = {name: value for name, value in said.items() if name != "before"}
            there = [] if self._before is None else self._before._record(told, cells)
            return [Found(place._replace(source=BEFORE + place.source), what) for place, what in there]
        known: dict[str, Callable[[Mapping[str, Any], Sequence[str]], list[Found]]]
        known = {"Runs": self._runs_of, "Stated": self._stated, "Reported": self._reported}
        resolve = known.get(str(said.get("from")))
        return [] if resolve is None else resolve(said, cells)

    @cached_property
    def _sources(self) -> frozenset[str]:
        return frozenset(map(str, self._study.sources["source_id"]))

    # --- runs

    def _runs_of(self, said: Mapping[str, Any], cells: Sequence[str]) -> list[Found]:
        value = str(said.get("value", ""))
        if value == "file":
            rows = zip(self._study.sources["source_id"], self._study.sources["lines"], strict=True)
            return [Found(Place(str(source), 1, int(lines)), "file") for source, lines in rows]
        return self._at(value, self._chosen(said, cells))

    def _chosen(self, said: Mapping[str, Any], cells: Sequence[str]) -> list[Run]:
        path, method, ways = (str(said.get(name, "")) for name in ("path", "method", "ways"))
        if run_id := str(said.get("run", "")):
            chosen = [run for run in self.runs if run.id == run_id]
        elif said.get("every"):
            chosen = list(self.all_runs if said.get("value") == "run" else self.runs)
        elif path or method:
            chosen = [run for run in self.runs if _goes(run, path, ways) and _by(run, method, ways)]
        else:
            chosen = self.named(cells)
        if rounds := said.get("rounds"):
            kept = set(map(str, rounds)) if isinstance(rounds, list | tuple) else set()
            chosen = [run for run in chosen if run.round in kept]
        if without := str(said.get("without", "")):
            chosen = [run for run in chosen if run.fields.get(without) is None]
        if printed_as := str(said.get("printed_as", "")):
            chosen = [run for run in chosen if run.fields.get("printed_as") == printed_as]
        return [run for run in chosen if str(said.get("part", "")) in run.method]

    def named(self, cells: Sequence[str]) -> list[Run]:
        """The measuring runs of the paths and methods that the cells of a row name; [] where they name neither."""
        paths: set[str] = set()
        methods: set[str] = set()
        for cell in cells:
            for name in (cell,) if cell in self._parts else cell.split(_AGAINST):
                one, other = self._parts.get(name, ((), ()))
                paths.update(one)
                methods.update(other)
        if not paths and not methods:
            return []
        return [run for run in self.runs if (not paths or run.path in paths) and (not methods or run.method in methods)]

    def title(self, cells: Sequence[str]) -> str:
        """What the row is about: the paths and methods that its cells name, else its first cell."""
        return ", ".join(cell for cell in cells if cell in self._parts) or cells[0]

    @cached_property
    def _parts(self) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """What a cell may say -> the paths and the methods that it names."""
        parts: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
        paths = {run.path for run in self.runs}
        for run in self.runs:
            parts[run.path] = ((run.path,), ())
            parts[run.method] = ((), (run.method,))
            parts[f"{run.path}, {run.method}"] = ((run.path,), (run.method,))
            start, arrow, end = run.path.partition(_ARROW)
            if arrow:
                both = tuple(way for way in (run.path, f"{end}{_ARROW}{start}") if way in paths)
                parts[f"{start} ↔ {end}"] = parts[f"{start} - {end}"] = (both, ())
                parts[f"{end} ↔ {start}"] = parts[f"{end} - {start}"] = (both, ())
        return parts

    @cached_property
    def all_runs(self) -> list[Run]:
        """Every run, in the order of `azlatency.studies.runs.run_table`."""
        from azlatency.studies.runs import run_table

        return [] if not len(self._study.runs) else [_run(row) for row in _rows(run_table(self._study))]

    @cached_property
    def runs(self) -> list[Run]:
        """The runs that measured: no receiving ends, no servers."""
        from azlatency.studies.runs import client_side_runs, run_table

        if not len(self._study.runs):
            return []
        kept = set(client_side_runs(run_table(self._study)).index)
        return [run for run in self.all_runs if run.id in kept]

    # --- the line of a run that says a value

    def _at(self, value: str, runs: list[Run]) -> list[Found]:
        if value == "run":
            return [Found(run.extent, "run") for run in runs]
        if value == "typical":
            tried = (self._at(name, runs) for name in ("median_ns", "mean_ns", "throughput"))
            return next((found for found in tried if found), [])
        if value in ("samples", "percentiles", "intervals"):
            held: dict[str, Mapping[str, int | None]]
            held = {"samples": self._sampled, "percentiles": self._tables, "intervals": self._intervals}
            known = held[value]
            return [_whole_or_line(run, known[run.id]) for run in runs if run.id in known]
        if value not in self._known:
            self._known[value] = self._lines(value)
        lines, others = self._known[value]
        found = [_whole_or_line(run, lines.get(run.id)) for run in runs if run.id in lines or run.id in others]
        # A table that repeats what is printed computes nothing from it.
        return [each._replace(what="printed number") for each in found] if value.startswith("printed ") else found

    def _lines(self, value: str) -> tuple[Mapping[str, int], Iterable[str]]:
        """By run the line that says a value; and the runs that say it nowhere, but hold what it is computed from."""
        medians = {run: line for (run, q), line in self._percentiles.items() if q == 0.5}
        if not value:
            return medians | self._metric("rtt_mean") | self._metric("throughput"), {run.id for run in self.runs}
        if value in ("median_ns", "latency"):
            return medians if value == "median_ns" else medians | self._metric("rtt_mean"), self._sampled
        printed = value.startswith("printed ")
        name = value.removeprefix("printed ")
        lines = self._metric(_METRICS.get(name, name), printed)
        if name != "n":
            return lines, ()
        # Streams count their messages, too: n is that of a latency.
        latency = medians.keys() | self._metric("rtt_mean").keys() | self._sampled.keys()
        counts = self._metric("received") | lines
        return {run: line for run, line in counts.items() if run in latency}, self._sampled

    def _metric(self, name: str, printed: bool = False) -> dict[str, int]:
        """By run the line of a metric: the receiver's where there are several, else the first."""
        frame = self._study.metrics
        frame = frame[(frame["metric"] == name) & frame["stream"].isna() & frame["line"].notna()]
        frame = frame[frame["printed"].notna()] if printed else frame
        receiver = frame[frame["side"] == "receiver"]
        return _first_lines(frame) | _first_lines(receiver)

    @cached_property
    def _percentiles(self) -> dict[tuple[str, float], int]:
        frame = self._study.quantiles
        frame = frame[(frame["metric"] == "rtt") & frame["line"].notna()]
        keys = zip(frame["run_id"], frame["q"].astype(float), strict=True)
        return {key: int(line) for key, line in zip(keys, frame["line"], strict=True)}

    @cached_property
    def _tables(self) -> dict[str, int]:
        """By run the first line of its printed percentiles."""
        return {run: line for (run, _), line in sorted(self._percentiles.items(), key=lambda each: -each[1])}

    @cached_property
    def _intervals(self) -> dict[str, int]:
        frame = self._study.intervals
        return _first_lines(frame[frame["line"].notna()])

    @cached_property
    def _sampled(self) -> dict[str, None]:
        """The runs that left samples."""
        import pyarrow.parquet as pq

        files = sorted((self._study.folder / "samples").glob("tool=*/*.parquet"))
        columns = (pq.read_table(file, columns=["run_id"], partitioning=None)["run_id"] for file in files)
        return dict.fromkeys(str(run) for column in columns for run in column.unique().to_pylist())

    # --- what stands in the study's own files

    def _stated(self, said: Mapping[str, Any], _: Sequence[str]) -> list[Found]:
        named, key, entry = (str(said.get(name, "")) for name in ("file", "key", "entry"))
        file = str(self._study.info.get("baseline")) if named == "baseline" else named
        if file not in self.own_files:
            return []
        lines = self._of_file(file)
        start, end = _entry(lines, entry)
        says = re.compile(rf'\s*"?{re.escape(key)}"?\s*[=:]')
        found = (number for number in range(start, end) if says.match(lines[number]))
        return [Found(Place(file, number + 1)) for number in found][:1]

    def _reported(self, said: Mapping[str, Any], _: Sequence[str]) -> list[Found]:
        frame, file = self._study.reported, str(self._study.info.get("reported"))
        wanted = tuple(str(said.get(name, "")) for name in ("scenario", "metric", "q"))
        found = []
        for row in _rows(frame) if "line" in frame else ():
            told = tuple(_said(row, name) for name in ("scenario", "metric", "q"))
            if told == wanted and bool(_said(row, "segment")) == bool(said.get("segment")):
                found.append(Found(Place(file, int(row["line"]))))
        return found

    def quoted(self, cells: Sequence[str]) -> list[Found]:
        """Where the study's own files say what a row repeats: numbers from a text, expectations of a baseline."""
        return list(dict.fromkeys(found for cell in cells for found in self._quoted.get(cell, ())))

    @cached_property
    def _quoted(self) -> dict[str, list[Found]]:
        """Scenario of a reported number, or name of an expectation -> its lines."""
        found: dict[str, list[Found]] = {}
        file, frame = str(self._study.info.get("reported")), self._study.reported
        if "line" in frame and "scenario" in frame:
            for scenario, line in zip(frame["scenario"], frame["line"], strict=True):
                found.setdefault(str(scenario), []).append(Found(Place(file, int(line))))
        names = {str(each.get("name")) for each in self._study.expectations}
        file = str(self._study.info.get("baseline"))
        for number, line in enumerate(self._of_file(file) if names else (), start=1):
            said = _NAME.fullmatch(line.strip())
            if said and said[1] in names:
                found.setdefault(said[1], []).append(Found(Place(file, number)))
        return found

    def _of_file(self, file: str) -> list[str]:
        if file not in self._files:
            self._files[file] = (self._text(file) or "").split("\n")
        return self._files[file]


def _whole_or_line(run: Run, line: int | None) -> Found:
    return Found(run.extent, "run") if line is None else Found(Place(run.extent.source, line), "number")


def _first_lines(frame: pd.DataFrame) -> dict[str, int]:
    first = frame.drop_duplicates("run_id")
    return {str(run): int(line) for run, line in zip(first["run_id"], first["line"], strict=True)}


def _goes(run: Run, path: str, ways: str) -> bool:
    """Whether a run is one of a path; see `azlatency.report.objects.Runs`."""
    if ways == "both":
        return not path or _ARROW.join(run.ends) == path or _ARROW.join(reversed(run.ends)) == path
    return path in ("", run.sends if ways == "data" else run.path)


def _by(run: Run, method: str, ways: str) -> bool:
    return method in ("", run.method) or (ways == "both" and _REVERSE.sub("", run.method) == method)


def _entry(lines: Sequence[str], entry: str) -> tuple[int, int]:
    """The lines, from 0, of the entry of that name in a TOML file, or after its key in a JSON file; all without one."""
    if not entry:
        return 0, len(lines)
    for number, line in enumerate(lines):
        named = _NAME.fullmatch(line.strip())
        if (named and named[1] == entry) or line.strip().startswith(f'"{entry}":'):
            heads = [at for at, each in enumerate(lines) if each.startswith("[")]
            start = max((at for at in heads if at < number), default=number) if named else number
            return start, min((at for at in heads if at > number), default=len(lines))
    return 0, 0


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _said(row: Mapping[str, Any], name: str) -> str:
    import pandas as pd

    value = row.get(name)
    return "" if value is None or pd.isna(value) else str(value)


def _run(row: Mapping[str, Any]) -> Run:
    extent = Place(str(row["source_id"]), int(row["first_line"]), int(row["last_line"]))
    path, zones = str(row["path"]), (_said(row, "physical_zone") or _said(row, "zone"),
                                     _said(row, "peer_physical_zone") or _said(row, "peer_zone"))  # fmt: skip
    start, arrow, end = path.partition(_ARROW)
    ends = (start, end) if arrow else tuple(f"zone {zone}" for zone in zones) if all(zones) else ()
    known = {name: value if _said(row, name) else None for name, value in row.items()}
    return Run(str(row["run_id"]), path, str(row["method"]), _said(row, "round"), ends, extent, known)
