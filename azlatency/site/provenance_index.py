"""Where a number of a table comes from: references (`azlatency.kit.cells`) -> files and lines of a study.

References come with the outputs of a notebook, which may be anyone's: one that is malformed, or of an unknown run or
file, leads nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd
import pyarrow.parquet as pq

from azlatency.logs.parse import LogError
from azlatency.studies.runs.run_table import REVERSE
from azlatency.studies.store.study import Study, load
from azlatency.studies.store.tables import TABLE_FILES

_NAME = re.compile(r"name\s*=\s*[\"'](.{1,300})[\"']")
#: Begins the source of a place in the study that the manifest calls ``before``.
BEFORE = "before:"
_METRICS = {"mean_ns": "rtt_mean", "n": "observations", "throughput_bit_s": "throughput"}
#: Values that are printed among the percentiles.
_QUANTILES = {"median_ns": 0.5, "p99_ns": 0.99}
#: What stands for each run of a reference by its value: the first of these that the run has.
_FIRST_OF = {
    "": ("throughput", "mean_ns", "median_ns"),
    "typical": ("median_ns", "mean_ns", "throughput"),
    "latency": ("mean_ns", "median_ns"),
}


class Place(NamedTuple):
    """A line of a file, or the lines ``line`` to ``last`` of a run."""

    source: str
    line: int
    last: int | None = None


class Found(NamedTuple):
    """A place, and what it is: a "number", a "printed number", a "run", a "file" or a "line"."""

    place: Place
    what: str = "line"


class ProvenanceIndex:
    """Finds the lines behind the references of a study's tables.

    ``read`` takes the name of one of the study's files or a source_id, and returns its text, or None.
    """

    def __init__(self, study: Study, read: Callable[[str], str | None]) -> None:
        self._study = study
        self._read = read
        self._lines: dict[str, Mapping[str, int | None]] = {}

    @cached_property
    def before(self) -> Study | None:
        """The study that the manifest names as the one before, where it is imported."""
        try:
            return load(str(self._study.info["before"]), processed=self._study.folder.parent)
        except (KeyError, LogError, ValueError):  # a name that cannot be one of a folder
            return None

    @cached_property
    def _before(self) -> ProvenanceIndex | None:
        return None if self.before is None else ProvenanceIndex(self.before, lambda name: self._read(BEFORE + name))

    @cached_property
    def own_files(self) -> frozenset[str]:
        """Files of the study's folder that are not logs and may be quoted."""
        named = (self._study.info.get(name) for name in ("reported", "baseline"))
        return frozenset(("study.toml", "truth.json", *(name for name in named if isinstance(name, str))))

    def find(self, refs: object) -> list[Found]:
        """Return the places that the records of references (`azlatency.kit.cells.ref_record`) lead to."""
        finders = {"RunsRef": self._runs, "FileRef": self._file, "ReportedRef": self._reported}
        places: dict[Found, None] = {}
        for ref in refs if isinstance(refs, list | tuple) else ():
            finder = finders.get(str(ref.get("ref"))) if isinstance(ref, Mapping) else None
            places |= dict.fromkeys(finder(ref) if finder else ())
        return list(places)

    # --- runs

    def _runs(self, ref: Mapping[str, Any]) -> list[Found]:
        run_ids = ref.get("run_ids")
        known = [str(run_id).removesuffix(REVERSE) for run_id in run_ids] if isinstance(run_ids, list | tuple) else []
        places = []
        for run_id in known:
            if run_id in self._extents:
                places.append(self._run(run_id, ref))
            elif self._before is not None and run_id in self._before._extents:
                place, what = self._before._run(run_id, ref)
                places.append(Found(place._replace(source=BEFORE + place.source), what))
        return places

    def _run(self, run_id: str, ref: Mapping[str, Any]) -> Found:
        """Return the line of a run that prints a value, else the whole run."""
        value, q, extent = str(ref.get("value", "")), ref.get("q"), self._extents[run_id]
        if isinstance(line := ref.get("line"), int):
            return Found(Place(extent.source, line), "printed number" if value == "printed" else "number")
        if isinstance(q, float):
            line = self._percentiles.get((run_id, q))
        else:
            names = _FIRST_OF.get(value, (value,))
            if value == "typical" and run_id in self._sampled:
                names = ("median_ns",)  # not printed: computed from the samples
            line = next((line for name in names if (line := self._line(name).get(run_id)) is not None), None)
        return Found(extent, "run") if line is None else Found(Place(extent.source, line), "number")

    @cached_property
    def _extents(self) -> dict[str, Place]:
        """The lines of each run."""
        runs = self._study.runs
        columns = (runs[name] for name in ("run_id", "source_id", "first_line", "last_line"))
        return {
            str(run): Place(str(source), int(first), int(last))
            for run, source, first, last in zip(*columns, strict=True)
        }

    def _line(self, value: str) -> Mapping[str, int | None]:
        """By run the line that prints a value."""
        if value not in self._lines:
            self._lines[value] = self._find_lines(value)
        return self._lines[value]

    def _find_lines(self, value: str) -> Mapping[str, int]:
        if value in ("run", "samples", "intervals"):
            return {}
        if value == "percentiles":
            return {run: line for (run, _), line in sorted(self._percentiles.items(), key=lambda item: -item[1])}
        if value in _QUANTILES:
            return {run: line for (run, q), line in self._percentiles.items() if q == _QUANTILES[value]}
        lines = self._metric(_METRICS.get(value, value))
        # What stands for a value that is not printed: the replies, and the rate of transactions.
        others = {"n": "received", "mean_ns": "rtt_from_rate"}
        return (self._metric(others[value]) if value in others else {}) | lines

    def _metric(self, name: str) -> dict[str, int]:
        """By run the line that prints a metric: the receiver's where there are several, else the first."""
        frame = self._study.metrics
        frame = frame[(frame["metric"] == name) & frame["stream"].isna() & frame["printed"].notna()]
        return _first_lines(frame) | _first_lines(frame[frame["side"] == "receiver"])

    @cached_property
    def _percentiles(self) -> dict[tuple[str, float], int]:
        frame = self._study.quantiles
        frame = frame[(frame["metric"] == "rtt") & frame["line"].notna()]
        keys = zip(frame["run_id"], frame["q"].astype(float), strict=True)
        return {key: int(line) for key, line in zip(keys, frame["line"], strict=True)}

    @cached_property
    def _sampled(self) -> frozenset[str]:
        """The runs that left samples."""
        files = (self._study.folder / "samples").glob(f"tool=*/{TABLE_FILES}")
        columns = (pq.read_table(file, columns=["run_id"], partitioning=None)["run_id"] for file in files)
        return frozenset(str(run_id) for column in columns for run_id in column.unique().to_pylist())

    # --- files

    def _file(self, ref: Mapping[str, Any]) -> list[Found]:
        if ref.get("before"):
            there = [] if self._before is None else self._before._file({**ref, "before": False})
            return [Found(place._replace(source=BEFORE + place.source), what) for place, what in there]
        named, key, entry = (str(ref.get(name, "")) for name in ("file", "key", "entry"))
        line, last = ref.get("line"), ref.get("last")
        file = str(self._study.info.get("baseline")) if named == "baseline" else named
        if isinstance(line, int) and file in self._sources | self.own_files:
            return [Found(Place(file, line, last), "file") if isinstance(last, int) else Found(Place(file, line))]
        if not key or file not in self.own_files:
            return []
        lines = (self._read(file) or "").split("\n")
        starts_with_key = re.compile(rf'\s*"?{re.escape(key)}"?\s*[=:]')
        numbers = (number for number in range(*_entry(lines, entry)) if starts_with_key.match(lines[number]))
        return [Found(Place(file, number + 1)) for number in numbers][:1]

    @cached_property
    def _sources(self) -> frozenset[str]:
        return frozenset(map(str, self._study.sources["source_id"]))

    def _reported(self, ref: Mapping[str, Any]) -> list[Found]:
        frame, file = self._study.reported, str(self._study.info.get("reported"))
        if not {"line", "scenario", "metric"} <= set(frame.columns):
            return []
        texts = frame.reindex(columns=["scenario", "metric", "q", "segment"]).astype("string").fillna("")
        chosen = (texts["segment"] != "") == bool(ref.get("segment"))
        for name in ("scenario", "metric", "q"):
            chosen &= texts[name] == str(ref.get(name, ""))
        return [Found(Place(file, int(line))) for line in frame.loc[chosen, "line"]]


def _first_lines(frame: pd.DataFrame) -> dict[str, int]:
    first = frame[frame["line"].notna()].drop_duplicates("run_id")
    return {str(run): int(line) for run, line in zip(first["run_id"], first["line"], strict=True)}


def _entry(lines: Sequence[str], entry: str) -> tuple[int, int]:
    """Return the line range (from 0) of a named entry in a TOML or JSON file, or the whole file if it has none."""
    if not entry:
        return 0, len(lines)
    for number, line in enumerate(lines):
        name = _NAME.fullmatch(line.strip())
        if (name and name[1] == entry) or line.strip().startswith(f'"{entry}":'):
            heads = [at for at, text in enumerate(lines) if text.startswith("[")]
            start = max((at for at in heads if at < number), default=number) if name else number
            return start, min((at for at in heads if at > number), default=len(lines))
    return 0, 0
