"""What the tables of several pages share: cells, notes, and the tables that more than one page shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from azlatency.report.objects import NO_LOG, Note, Origin, Runs, Table
from azlatency.stats.result import CODES, SHORT

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.result import Estimate
    from azlatency.stats.within_run.tail_by_run import RunTail
    from azlatency.stats.within_run.time_series import RunInTime
    from azlatency.studies.store import Study


MICROSECOND, GIGABIT = 1e3, 1e9


PRINTED = {
    "round_trip": "round trip",
    "half_round_trip": "half a round trip",
    "one_way": "one way",
    "unknown": "not said",
}


VERDICTS = {
    "different": "different",
    "different_within_margin": "different, but within the margin",
    "equivalent": "equal in practice",
    "undetermined": "undetermined",
}


MANY_FILES = 40


def text(value: Any) -> str:
    """A cell: empty where the value is missing, yes or no for a truth value, else its text."""
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "yes" if value else "no"
    return str(value)


def micros(value: Any, digits: int = 1) -> str:
    """A time in ns as µs with thousands separators; empty where it is missing."""
    return "" if text(value) == "" else f"{float(value) / MICROSECOND:,.{digits}f}".replace("inf", "∞")


def gigabits(value: Any) -> str:
    """A rate in bit/s as Gbit/s with three decimals; empty where it is missing."""
    return "" if text(value) == "" else f"{float(value) / GIGABIT:,.3f}"


def whole(value: Any) -> str:
    """A count with thousands separators; empty where it is missing."""
    return "" if text(value) == "" else f"{int(value):,}"


def remarks(codes: Iterable[str]) -> str:
    """The codes of a result in a word or two each; the floor that all results share is left to the note."""
    return ", ".join(SHORT[code] for code in codes if code != "within_run_floor")


def explained(estimates: Sequence[Estimate]) -> list[str]:
    """A note for each code that occurs: the word in the cell and its sentence."""
    codes = dict.fromkeys(code for each in estimates for code in each.codes)
    return [f"{SHORT[code].capitalize()}: {CODES[code]}." for code in codes]


def notes_of(codes: Iterable[str]) -> list[str]:
    """A note for each code: the word that stands in the cells and its sentence."""
    return [f"{SHORT[code][0].upper()}{SHORT[code][1:]}: {CODES[code]}." for code in dict.fromkeys(codes)]


def between(low: float | None, high: float | None, scale: float = 1.0, form: str = ",.4g") -> str:
    """An interval, empty where there is none."""
    return "" if low is None or high is None else f"{low / scale:{form}} – {high / scale:{form}}"


def place(run_id: str, line: Any) -> tuple[str, ...]:
    """Where a printed number stands, as `Table.origins` has it; empty where the line is missing."""
    return () if text(line) == "" else (f"{run_id.rpartition('-')[0]}:{int(line)}",)


def formula(parameters: str, numbers: str = "these numbers") -> str:
    """The note below ``numbers`` that no log says: from which parameters they follow."""
    return f"Computed from {parameters} alone: {NO_LOG} {numbers}."


_READ_IN = {"ns": (1e3, "µs"), "bit/s": (1e9, "Gbit/s"), "bytes/s": (1e6, "MB/s"), "1/s": (1.0, "per s")}


def read_in(unit: str) -> tuple[float, str]:
    """The unit that people read instead of a canonical one: how many canonical ones it is, and its name."""
    return _READ_IN.get(unit, (1.0, unit))


def in_unit(low: Any, high: Any, unit: str) -> str:
    """A value or a range in the unit that people read: µs, Gbit/s, MB/s."""
    scale, shown = read_in(unit)
    numbers = [f"{float(value) / scale:,.6g}" for value in (low, high) if value is not None]
    return " – ".join(dict.fromkeys(numbers)) + f" {shown}"


def limits(low: float | None, high: float | None, unit: str, words: tuple[str, str, str] = ("≤ ", "≥ ", " – ")) -> str:
    """What an expectation allows, in the unit that people read; ``words``: at most, at least, and between two ends."""
    scale, shown = read_in(unit)
    at_most, at_least, to = words
    scaled = [limit / scale for limit in (low, high) if limit is not None]
    ends = [f"{limit:,.0f}" if limit >= 1e4 else f"{limit:,.4g}" for limit in scaled]
    return ("" if len(ends) == 2 else at_most if low is None else at_least) + to.join(ends) + f" {shown}"


def provenance(study: Study) -> Table | Note:
    """The files behind the page: path, hash, size, parser."""
    if not len(study.sources):
        return Note("No log files; the numbers come from the tables of the study's folder.")
    chosen = study.sources.head(MANY_FILES)
    rows = [(row.path, row.source_id, whole(row.size_bytes), row.encoding) for row in chosen.itertuples(index=False)]
    notes = () if len(chosen) == len(study.sources) else (f"and {len(study.sources) - len(chosen)} more files",)
    headers = ("file", "SHA-256 (first 16 digits)", "bytes", "encoding")
    origins = [{0: (f"{row.source_id}:1-{row.lines}",)} for row in chosen.itertuples(index=False)]
    return Table("Files behind this page", headers, rows, frozenset({2}), notes, origins)


def paths_table(
    runs: pd.DataFrame, estimates: Sequence[Estimate], value: str, header: str, scale: float, title: str
) -> Table:
    """Path by path: runs, range of run values, interval or the reason why there is none."""
    groups = {key: group for key, group in runs[runs[value].notna()].groupby(["path", "method"], sort=False)}
    rows = []
    for each in estimates:
        values = groups[each.labels["path"], each.labels["method"]][value].astype(float) / scale
        span = f"{values.min():,.5g}" if len(values) == 1 else f"{values.min():,.5g} – {values.max():,.5g}"
        span = span.replace("inf", "∞")
        typical = "" if each.estimate is None else f"{each.estimate / scale:,.5g}"
        ends = "" if each.low is None or each.high is None else f"{each.low / scale:,.5g} – {each.high / scale:,.5g}"
        path, method = str(each.labels["path"]), str(each.labels["method"])
        rows.append((path, method, whole(each.n), span, typical, ends, remarks(each.codes)))
    level = f"{100 * estimates[0].confidence:g} %"
    headers = ("path", "method", "runs", header, "typical run", f"{level} interval", "remark")
    origins = [{0: (Runs(value, row[0], row[1]),)} for row in rows]
    return Table(f"{title} (scope: across runs)", headers, rows, frozenset({2, 3, 4, 5}), explained(estimates), origins)


def typical_values(rows: Sequence[Sequence[str]]) -> list[dict[int, Sequence[Origin]]]:
    """Rows that are computed from the typical values of the runs that they name."""
    return [{0: (Runs("typical"),)} for _ in rows]


def samples_of(runs: Iterable[RunInTime | RunTail]) -> list[dict[int, Sequence[Origin]]]:
    """Rows that are computed from the samples of one run each."""
    return [{0: (Runs("samples", run=each.run_id),)} for each in runs]
