"""What a statistic returns: an estimate with its interval, or flags that say why there is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import wraps
from html import escape
from inspect import signature
from typing import Any, ClassVar, Literal, ParamSpec, TypeVar

import pandas as pd

from azlatency.logs.schema import TABLES, document, refuse_foreign
from azlatency.studies.format import (
    count_of,
    decimals_for,
    format_estimate,
    format_interval,
    format_number,
    format_value,
)

#: Cells of a row: an attribute, or (column, path of attributes) as in ``("ratio_low", "ratio.low")``.
Row = tuple[str | tuple[str, str], ...]
Scope = Literal["within_run", "across_runs"]
Verdict = Literal["different", "different_within_margin", "equivalent", "inconclusive"]

#: Verdicts as a reader sees them.
VERDICTS: dict[Verdict, str] = {
    "different": "different",
    "different_within_margin": "different, but within the margin",
    "equivalent": "practically equivalent",
    "inconclusive": "inconclusive",
}
#: What a verdict of a difference is called where the runs resemble the runs before them.
DRIFTS = "differs in these runs, which drift"

#: More runs or rounds than this are no advice: something else has to change.
FEASIBLE = 200
#: Flags by stable code: a word or two for a table cell, and the sentence that a reader sees.
_CODES = {
    "no_values": ("no values", "the input has no values"),
    "no_replication": ("one run", "the path was measured once, so the result describes one connection; repeat the run"),
    "one_direction": ("one direction", "no pair of zones was measured in both directions"),
    "two_runs": ("two runs", "two runs give a very wide interval, which assumes normally distributed logarithms"),
    "few_runs": (
        "few runs",
        "so few runs that the interval assumes normally distributed logarithms of their values; measure at least six "
        "runs",
    ),
    "outlying_run": (
        "outlying run",
        "one run lies far from the others, so the assumption of the interval is doubtful; measure at least six runs",
    ),
    "dependent_runs": (
        "drift",
        "consecutive runs are autocorrelated, so the interval may be too short, and a difference may be one of time; "
        "alternate both sides in rounds, or spread the runs over more time",
    ),
    "close_runs": (
        "close by chance?",
        "these few runs agree more closely than those of the other paths do, so the interval is that of the variance "
        "of all paths; measure at least six runs",
    ),
    "order_assumed": (
        "order assumed",
        "not all runs have a start time or a round of their own, so the order of their files is taken as that of "
        "measuring",
    ),
    "clock_set_back": (
        "clock set back?",
        "rounds and start times disagree about the order, so the clock of a machine may have been set back; the start "
        "times are followed",
    ),
    "nights_missing": (
        "nights missing",
        "some gaps between neighbours are at least twice the usual one; the change may be in such a gap",
    ),
    "new_tool_version": (
        "new tool version",
        "the version of the tool changed at the same time, so the tool may be the cause",
    ),
    "order_unknown": (
        "order unknown",
        "the runs have neither a start time nor a round nor a file, so it is not known whether they depend on their "
        "neighbours",
    ),
    "one_machine_pair": (
        "these two machines",
        "the same two machines measured every round, so the result is about them; zone or machine: not separable; for "
        "zones, add more pairs of machines, or several control pairs within one zone",
    ),
    "one_control_pair": (
        "one control pair",
        "one control pair does not show how much machines differ, so the result is about these two machines; zone or "
        "machine: not separable; add more control pairs within one zone",
    ),
    "out_of_reach": (
        f"over {FEASIBLE} runs",
        "more runs of this kind do not help; measure in rounds, choose another quantity of the run, or accept a wider "
        "target",
    ),
    "few_clusters": ("too few groups", "too few independent groups (runs or blocks) for this method"),
    "few_effective": (
        "autocorrelated",
        "packets depend on each other, and the run has so few independent groups of them that the interval may be too "
        "short, or missing; measure longer",
    ),
    "within_run_floor": ("lower bound", "the interval assumes independent packets; the true interval is wider"),
    "tail_unresolved": ("tail unresolved", "too few observations lie above this percentile to bound it"),
    "coarse_bound": (
        "coarse bound",
        "too few effective observations lie beyond the limit, so the outer bound is that of a wider tail",
    ),
    "unbounded_upper": ("no upper bound", "the percentile may lie beyond the largest observation"),
    "maximum_in_disguise": ("sample maximum", "sample maximum reported as a percentile"),
    "interpolated": ("interpolated", "interpolated between printed percentiles with a smooth model; approximate"),
    "long_memory": (
        "long-range dependent",
        "packets stay correlated over a large part of the run, so no within-run interval is valid; measure longer or "
        "repeat the run",
    ),
    "nonstationary": ("level shift", "the level shifted during the run (change point); summarize each segment"),
    "quantised": ("quantized", "the values have steps as wide as the interval, or too few distinct levels"),
    "unit_unknown": ("unit unknown", "the log does not name its measure; state whether the values are round trips"),
    "unit_conflict": (
        "unit conflict",
        "the values disagree about their unit: round trip, half round trip, one-way delay, or another unit",
    ),
    "counts_conflict": ("counts disagree", "the counts disagree with each other, so nothing follows from them"),
    "unit_slip": ("wrong unit?", "off by a factor of a hundred or more; the expectation may be in another unit"),
    "type_p_mismatch": (
        "different packets",
        "the runs differ in tool, test, protocol, message size, amount or settings, so the difference is one of "
        "definition, not of paths",
    ),
    "missing": ("missing values", "some values are missing or could not be read; they are excluded and counted"),
    "constant": ("constant", "all values are equal"),
    "not_positive": ("not positive", "a value is zero or negative, so it has no logarithm"),
    "loss_censored": (
        "loss",
        "losses are treated as right-censored (infinite), and the lost share reaches this statistic",
    ),
    "clock_step": ("clock step", "the clock was set during the run"),
    "short_series": ("short series", "fewer than 30 intervals; the autocorrelation cannot be estimated"),
    "burst_test": ("burst", "the test ran < 60 s: burst credit may not be used up"),
    "host_wide_counter": ("host-wide counter", "the counter covers all traffic of the host, not only this path"),
    "logical_zone": ("logical zones", "zone numbers are per subscription; provide the mapping to physical zones"),
    "duplicate_runs": (
        "runs twice",
        "a run is in the frame more than once, and would count as often; drop the copies: "
        "frame[~frame.index.duplicated()]",
    ),
    "mixed_paths": (
        "several paths",
        "the runs are of several paths, which are no repeats of each other; select one path, or use by='path'",
    ),
    "incomplete_runs": ("cut or failed", "every run was cut or failed, so none is a repeat; measure again"),
    "overlapping_runs": (
        "overlap in time",
        "runs of this group overlap in time, so they may be of different machines; give each a client, a server or a "
        "scenario in study.toml",
    ),
    "doubtful_number": (
        "repeats doubtful",
        "only the last number of their names joins these runs, and their values are more than 4 times apart; say in "
        "study.toml whether the number counts repeats",
    ),
    "sender_only": (
        "sender's count",
        "the receiver of some runs did not report, and the sender's count contains what still waits in buffers",
    ),
    "mixed_sizes": (
        "size unknown",
        "the logs do not state the message size, in which other runs differ; add message_bytes to study.toml",
    ),
    "mixed_amounts": (
        "amount unknown",
        "the logs do not state the amount or duration, in which other runs differ; add requested_bytes, "
        "requested_count or requested_duration_ns to study.toml",
    ),
    "mixed_settings": (
        "setting unknown",
        "the logs do not state a setting in which other runs differ (see the method); add it to study.toml",
    ),
    "mixed_treatments": (
        "treatment unknown",
        "study.toml states a treatment of other runs of the path and not of these (see the method); add it",
    ),
    "other_vm": ("different VM size", "the VM sizes differ, so the machines may cause the difference"),
    "initiator_only": (
        "initiators",
        "a round trip crosses both directions, so this compares initiators and cannot show a one-way difference",
    ),
}
#: What is assumed of runs, because no log, name or label says it.
ASSUMED = {
    "one_client": "one client, which these logs do not name",
    "one_server": "one server, which these logs do not name",
    "number_counts": "the last number in the names of these files counts repeats",
    "scenario_from_name": "files whose names differ in more than a number or a time are of different scenarios",
    "scenario_from_label": "logs below different headings or labels are of different scenarios",
}
CODES = {code: sentence for code, (_, sentence) in _CODES.items()}
SHORT = {code: word for code, (word, _) in _CODES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """A value with the runs that it was computed from, as far as the input names them."""

    run_ids: tuple[str, ...] = ()


class Result(Computed):
    """Base of all results: flags in words, a row of a frame, a sentence, and a table in a notebook.

    A subclass has ``codes`` (keys of `CODES`), prints itself as a sentence, and names the cells of its row in ``ROW``:
    an attribute, or (column, path of attributes, places in a tuple and ``#``, its length). The statistical method is in
    the column ``statistic``: the column ``method`` is a label, the tool, test, protocol and message size.

    Attributes
    ----------
    codes : tuple of str
        Stable codes of the flags.
    run_ids : tuple of str
        Runs that the result was computed from; empty where the input does not name its runs.
    """

    __slots__ = ()
    ROW: ClassVar[Row] = ()
    codes: tuple[str, ...]

    @property
    def flags(self) -> tuple[str, ...]:
        """The warnings, and the reasons why something is not estimable, in words."""
        return explain(self.codes)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is assumed of the runs, and sentences about single runs."""
        labels = getattr(self, "labels", {})
        assumed = [f"assumed: {ASSUMED[code]}" for code in str(labels.get("assumed", "")).split()]
        notes = [note for note in str(labels.get("notes", "")).splitlines() if note]
        return (*assumed, *notes)

    def in_short(self) -> str:
        """Return the result in a sentence, its flags in a word each."""
        words = ", ".join(SHORT[code] for code in self.codes)
        return str(self).replace(self.flag_note, f" ({words})" if words else "") if self.flag_note else str(self)

    @property
    def flag_note(self) -> str:
        """The flags and remarks as the end of a sentence; empty if there are none."""
        notes = [*self.flags, *self.remarks]
        return f" ({'; '.join(notes)})" if notes else ""

    def row(self) -> dict[str, Any]:
        """Return one row of a frame: the labels, then the cells, codes joined by blanks."""
        cells = [(cell, cell) if isinstance(cell, str) else cell for cell in self.ROW]
        values = {column: _resolve(self, path) for column, path in cells}
        return {**getattr(self, "labels", {}), **values, "codes": " ".join(self.codes)}

    def to_frame(self) -> pd.DataFrame:
        """Return the row as a frame."""
        frame = pd.DataFrame([self.row()])
        # Parquet, Arrow and polars need one type per column, also where every value is missing.
        types = {str(name): _type_of(column) for name, column in frame.items() if column.dtype == object}
        return document(frame.astype(types), *TABLES, "run_table", "latency", "results")

    def _repr_html_(self) -> str:
        """Show the sentence and, below it, the cells that have a value; all text escaped."""
        cells = {name: value for name, value in self.row().items() if value is not None and value != ""}
        lines = "".join(
            f"<tr><th>{escape(str(name))}</th><td>{escape(_cell(value))}</td></tr>" for name, value in cells.items()
        )
        return f"<p>{escape(str(self))}</p><table>{lines}</table>"


_P = ParamSpec("_P")
_T = TypeVar("_T")


def _type_of(column: pd.Series) -> str:
    """Return the type of a column that pandas calls object: text, truth values, or numbers if no value is known."""
    present = column.dropna()
    if not len(present):
        types = {each.name: each.type for each in TABLES["runs"]}
        return {"string": "str", "bool": "boolean"}.get(types.get(str(column.name), ""), "float64")
    return "boolean" if all(isinstance(value, bool) for value in present) else "str"


def _resolve(result: object, path: str) -> Any:
    """Return the value at a path of attributes; None where the path ends early."""
    value: Any = result
    for name in path.split("."):
        if value is None:
            return None
        value = len(value) if name == "#" else value[int(name)] if name.isdigit() else getattr(value, name)
    return " ".join(map(str, value)) if isinstance(value, tuple) else value


def _cell(value: Any) -> str:
    """Format a value for a reader's table, without exponents down to a billionth."""
    if not isinstance(value, float) or math.isnan(value):
        return "" if value is None else str(value)
    if 0 < abs(value) < 1e-9:
        return "< 0.000000001" if value > 0 else "> -0.000000001"
    text = format_number(value, decimals_for(value, 6))
    return text.rstrip("0").rstrip(".") if "." in text else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Result):
    """An estimate with its interval and flags.

    Attributes
    ----------
    what : str
        What was estimated, for example a path and a method.
    estimate, low, high : float or None
        Estimate and ends of its interval in ``unit``; ``None`` if not estimable or unbounded.
    unit : str
        Canonical unit: ``"ns"``, ``"bit/s"``, ``"ratio"`` …
    n : int
        Observations (``scope`` within_run) or runs (across_runs).
    scope : {"within_run", "across_runs"}
        What the interval is about: one connection, or the path.
    confidence : float
        Level of the interval, between 0 and 1.
    method : str
        Method and source.
    codes : tuple of str
        Flags, keys of `CODES`.
    labels : dict
        Columns that identify the result in a frame, for example ``path`` and ``method``.
    n_effective : float or None
        Number of independent observations with the same information.
    assumptions : tuple of str
        Conditions under which the interval is valid.
    diagnostics : dict
        Numbers that support or contradict the assumptions.
    """

    what: str
    estimate: float | None
    low: float | None
    high: float | None
    unit: str
    n: int
    scope: Scope
    confidence: float
    method: str
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)
    n_effective: float | None = None
    assumptions: tuple[str, ...] = ()
    diagnostics: dict[str, float | int | str | bool] = field(default_factory=dict)

    ROW: ClassVar[Row] = (
        "what", "estimate", "low", "high", "unit", "n", "n_effective", "scope", "confidence", ("statistic", "method"),
    )  # fmt: skip

    @property
    def refused(self) -> bool:
        """Whether there is no estimate."""
        return self.estimate is None

    @property
    def _description(self) -> str:
        """The values of runs from which nothing can be estimated, as the continuation of a sentence."""
        ends = [self.diagnostics.get(name) for name in ("lowest", "highest")]
        low, high = (end if isinstance(end, float) else None for end in ends)
        if low is None or high is None:
            return ""
        runs = "the run" if self.n == 1 else count_of(self.n, "run")
        return f"; {runs} measured " + (
            format_value(low, self.unit) if low == high else format_interval(low, high, self.unit)
        )

    def __str__(self) -> str:
        if self.estimate is None:
            return f"{self.what}: not estimable{self._description}{self.flag_note}"
        value = format_estimate(self.estimate, self.low, self.high, self.unit, confidence=self.confidence)
        size = count_of(self.n, "run") if self.scope == "across_runs" else f"n = {self.n:,} in one run"
        return f"{self.what}: {value}, {size}{self.flag_note}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Result):
    """Two sides compared: effect and interval first, then what may be concluded within a practical margin.

    Attributes
    ----------
    what : str
        What was compared.
    ratio : Estimate
        First over second.
    difference : Estimate or None
        First minus second, in the unit of the values.
    verdict : {"different", "different_within_margin", "equivalent", "inconclusive"}
        Follows from intervals, never from ``p`` alone.
    margin : float
        Relative margin that is practically equivalent; 0.05 is 5 %.
    p : float or None
        p-value of "the ratio is 1" that belongs to the interval.
    scope : {"within_run", "across_runs"}
        What the verdict is about: these connections, or the paths.
    method : str
        Method and source.
    codes : tuple of str
        Flags, keys of `CODES`.
    labels : dict
        Columns that identify the result in a frame.
    inner : tuple of float or None
        Interval of the ratio at twice the error (90 % for 95 %), which decides on equivalence: two one-sided tests.
    superiority : float or None
        Share of pairs of runs in which the first side is larger, ties counted half; ``None`` for rounds.
    """

    what: str
    ratio: Estimate
    difference: Estimate | None
    verdict: Verdict
    margin: float
    p: float | None
    scope: Scope
    method: str
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)
    inner: tuple[float | None, float | None] = (None, None)
    superiority: float | None = None

    @property
    def drifts(self) -> bool:
        """Whether the verdict is a difference between runs that resemble the runs before them."""
        return self.verdict.startswith("different") and "dependent_runs" in self.codes

    @property
    def verdict_in_words(self) -> str:
        """The verdict as a reader sees it."""
        return DRIFTS if self.drifts else VERDICTS[self.verdict]

    @property
    def decides(self) -> tuple[float | None, float | None, float]:
        """The interval of the ratio that decides, and its level: ``inner`` on equivalence, else that of ``ratio``."""
        if self.verdict == "equivalent" and None not in self.inner:
            return *self.inner, round(2 * self.ratio.confidence - 1, 9)
        return self.ratio.low, self.ratio.high, self.ratio.confidence

    ROW: ClassVar[Row] = (
        "what", "verdict", "margin", ("ratio", "ratio.estimate"), ("ratio_low", "ratio.low"),
        ("ratio_high", "ratio.high"), ("difference", "difference.estimate"), ("difference_low", "difference.low"),
        ("difference_high", "difference.high"), ("unit", "difference.unit"), ("inner_low", "inner.0"),
        ("inner_high", "inner.1"), "superiority", "p", "scope",
        ("statistic", "method"),
    )  # fmt: skip

    def __str__(self) -> str:
        ratio, size = self.ratio, self._size()
        if ratio.estimate is None:
            return f"{self.what}: not estimable{self.flag_note}"
        if ratio.low is None or ratio.high is None:
            return f"{self.what}: ratio {format_value(ratio.estimate)}, no interval, {size}{self.flag_note}"
        low, high, confidence = self.decides  # the interval that a reader sees
        interval = format_estimate(ratio.estimate, low, high, confidence=confidence)
        if self.verdict not in ("different", "different_within_margin"):
            margin = f"{VERDICTS[self.verdict]} at a margin of {100 * self.margin:g} %"
            return f"{self.what}: {margin}, ratio {interval}, {size}{self.flag_note}"
        number, _, rest = interval.partition(",")
        is_time = self.difference is not None and self.difference.unit == "ns"
        words = ("slower", "faster") if is_time else ("higher", "lower")
        within = f", within the margin of {100 * self.margin:g} %" if self.verdict != "different" else ""
        what = f"{self.what}: {DRIFTS}" if self.drifts else self.what
        if ratio.estimate >= 1 or ratio.low <= 0:
            return f"{what}: {number}× {words[0]},{rest}{within}, {size}{self.flag_note}"
        # Below 1 the inverse reads better: 1.25× faster, not 0.80× slower.
        inverse = format_estimate(1 / ratio.estimate, 1 / ratio.high, 1 / ratio.low, confidence=ratio.confidence)
        number, _, rest = inverse.partition(",")
        return f"{what}: {number}× {words[1]},{rest}{within}, {size}{self.flag_note}"

    def _size(self) -> str:
        """Return the amount of data in words."""
        diagnostics = self.ratio.diagnostics
        if "runs_a" in diagnostics and "runs_b" in diagnostics:
            return f"{diagnostics['runs_a']} against {count_of(int(diagnostics['runs_b']), 'run')}"
        if "rounds" in diagnostics:
            return count_of(int(diagnostics["rounds"]), "round")
        return count_of(self.ratio.n, "run") if self.scope == "across_runs" else f"n = {self.ratio.n:,} in two runs"


def refuse_frames(**arguments: object) -> None:
    """Raise `TypeError` if an argument that must be a list of results is a data frame."""
    for name, value in arguments.items():
        refuse_foreign(value)
        if hasattr(value, "columns"):
            raise TypeError(
                f"{name} is a data frame, but must be a list of results: pass what the function that computed them "
                "returned, for example az.summarize(runs), without to_frame()"
            )


def results_only(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Make a function refuse data frames for the parameters that are not annotated as such."""
    parameters = signature(function)
    others = {name for name, text in function.__annotations__.items() if "DataFrame" not in str(text)}

    @wraps(function)
    def run(*args: _P.args, **keywords: _P.kwargs) -> _T:
        given = parameters.bind(*args, **keywords).arguments
        for value in given.values():
            refuse_foreign(value)
        refuse_frames(**{name: value for name, value in given.items() if name in others})
        return function(*args, **keywords)

    return run


def explain(codes: Iterable[str]) -> tuple[str, ...]:
    """Return each code as its word and its sentence."""
    return tuple(f"{SHORT[code]}: {CODES[code]}" for code in codes)


def verdict_of(
    low: float | None, high: float | None, inner_low: float | None, inner_high: float | None, margin: float
) -> Verdict:
    """Return the verdict on a ratio from two of its intervals.

    Two one-sided tests: Schuirmann 1987.
    """
    differs = (low is not None and low > 1) or (high is not None and high < 1)
    within = (
        inner_low is not None and inner_high is not None and inner_low > 1 / (1 + margin) and inner_high < 1 + margin
    )
    if differs:
        return "different_within_margin" if within else "different"
    return "equivalent" if within else "inconclusive"
