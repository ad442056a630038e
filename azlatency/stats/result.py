"""What a statistic returns: an estimate with its interval, or a typed refusal, which is a value, not an exception."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

if TYPE_CHECKING:
    import pandas as pd

#: Cells of a row: an attribute, or (column, path of attributes) as in ``("ratio_low", "ratio.low")``.
Row = tuple[str | tuple[str, str], ...]
Scope = Literal["within_run", "across_runs"]
Verdict = Literal["different", "different_within_margin", "equivalent", "undetermined"]

#: Refusals and warnings by stable code: a word or two for a table cell, and the sentence that a reader sees.
_CODES = {
    "no_values": ("no value", "there is no value to work with"),
    "no_replication": (
        "one run",
        "nothing can be said about the path, only about this connection in these minutes",
    ),
    "one_direction": ("one direction", "no pair of zones was measured in both directions"),
    "two_runs": ("two runs", "the interval exists but is very wide"),
    "few_clusters": ("few clusters", "too few independent groups for this method"),
    "bootstrap_few_units": ("too few to resample", "fewer than 20 units: a bootstrap interval would be too narrow"),
    "within_run_floor": (
        "floor",
        "packets of one connection are not independent: the true interval is wider than this",
    ),
    "tail_unresolved": ("too few above", "too few observations lie above this percentile to bound it"),
    "unbounded_upper": ("no upper bound", "the percentile may lie beyond the largest observation"),
    "maximum_in_disguise": ("is the maximum", "the printed percentile is the largest observation"),
    "interpolated": ("interpolated", "read between printed values under a smooth law; approximate"),
    "extrapolated": ("extrapolated", "beyond the data, under the fitted tail"),
    "extrapolation_too_far": ("too far", "more than a hundred times beyond the data: no extrapolation"),
    "gpd_misfit": ("tail does not fit", "the fitted tail does not describe the exceedances"),
    "mean_tail_dominated": ("tail-dominated", "a few observations carry the mean: quote the median and the spike rate"),
    "long_memory": (
        "long memory",
        "packets resemble each other over a good part of the run: no within-run interval holds; measure longer or anew",
    ),
    "nonstationary": ("shifted", "the level shifted during the run: summarise each segment"),
    "quantised": ("quantised", "the values come in steps as wide as the interval or in too few distinct ones"),
    "unit_unknown": ("unit unknown", "the log does not say what was measured; say whether it is a round trip"),
    "unit_conflict": ("unit conflict", "the label and the closed-loop identity disagree on half or full round trip"),
    "unit_slip": ("unit slip?", "a hundred times off or more: the expectation looks as if it stood in another unit"),
    "type_p_mismatch": ("other packets", "different kinds of packets: a difference of definitions, not of paths"),
    "cannot_reach_alpha": ("cannot decide", "no data of this size can give a p-value small enough"),
    "ratio_unbounded": ("ratio unbounded", "the denominator may be zero: the ratio has no bound"),
    "separation": (
        "separated",
        "every value of one group lies beyond the other: only the exact permutation test holds",
    ),
    "missing": ("values missing", "some values are missing or could not be read: they are left out and counted"),
    "constant": ("constant", "all values are equal"),
    "not_positive": ("not positive", "a value is zero or negative: no logarithm"),
    "loss_censored": ("loss", "more was lost than lies above this percentile: counted as late, it is infinite"),
    "clock_step": ("clock step", "the clock was set during the run"),
    "clock_bound": ("clocks", "the difference may be that of the clocks: it lies within their bound"),
    "short_series": ("short series", "fewer than 30 intervals: autocorrelation cannot be judged"),
    "burst_test": ("burst", "a test of less than 60 s shows the burst, not what lasts"),
    "host_wide_counter": ("whole machine", "the counter holds all traffic of the machine, not of this path"),
    "logical_zone": ("logical zones", "zone numbers are per subscription: give the map to physical zones"),
    "path_unknown": ("path unknown", "the logs name neither end: say in a study.toml who talked to whom"),
    "other_vm": ("other VM size", "the VM sizes differ: what differs may be the machine, not the network"),
    "initiator_only": (
        "initiators",
        "round trips cross both directions: this compares initiators and says nothing about one way",
    ),
    "no_mean": ("no mean", "the fitted tail has no mean, as no path has: several kinds of delay are mixed in it"),
    "bimodal": ("two modes", "the values form several groups: a value between them may be one that never occurs"),
    "smoothed_tail": ("tail smoothed", "beyond p95 this blends the largest values: ask for the order statistic"),
    "wide": ("wide", "the interval is wider than the estimate"),
}
CODES = {code: sentence for code, (_, sentence) in _CODES.items()}
SHORT = {code: word for code, (word, _) in _CODES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """A value with the runs that it was computed from, as far as the input names them."""

    run_ids: tuple[str, ...] = ()


class Result(Computed):
    """What every result shares: its remarks in words, a row of a frame, a sentence and a table in a notebook.

    A subclass has ``codes`` (keys of `CODES`), prints itself as a sentence, and names the cells of its row in ``ROW``:
    an attribute, or (column, path of attributes, places in a tuple and ``#``, its length).
    """

    __slots__ = ()
    ROW: ClassVar[Row] = ()
    codes: tuple[str, ...]

    @property
    def remarks(self) -> tuple[str, ...]:
        """The warnings and refusals in words."""
        return explain(self.codes)

    @property
    def noted(self) -> str:
        """The remarks as the end of a sentence; empty where there is none."""
        return f" ({'; '.join(self.remarks)})" if self.codes else ""

    def row(self) -> dict[str, Any]:
        """One row of a frame: the labels, then the cells, codes joined by blanks."""
        cells = [(each, each) if isinstance(each, str) else each for each in self.ROW]
        found = {column: _reach(self, path) for column, path in cells}
        return {**getattr(self, "labels", {}), **found, "codes": " ".join(self.codes)}

    def to_frame(self) -> pd.DataFrame:
        """The row as a frame."""
        return Results([self]).to_frame()

    def _repr_html_(self) -> str:
        """The sentence and, below it, the cells that hold something; all text escaped."""
        cells = {name: value for name, value in self.row().items() if value is not None and value != ""}
        lines = "".join(
            f"<tr><th>{escape(str(name))}</th><td>{escape(_cell(value))}</td></tr>" for name, value in cells.items()
        )
        return f"<p>{escape(str(self))}</p><table>{lines}</table>"


_R = TypeVar("_R", bound=Result)


class Results(list[_R]):
    """A list of results that prints one sentence a line and shows itself as a table in a notebook."""

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        return Results(found) if isinstance(place, slice) else found

    def to_frame(self) -> pd.DataFrame:
        """One row a result."""
        import pandas as pd

        return pd.DataFrame([each.row() for each in self])

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def _repr_html_(self) -> str:
        """The rows as a table, codes as remarks in full below; all text escaped."""
        rows = [each.row() for each in self]
        names = [name for name in dict.fromkeys(name for row in rows for name in row)
                 if any(row.get(name) not in (None, "") for row in rows)]  # fmt: skip
        head = "".join(f"<th>{escape(str(name))}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell(row.get(name)))}</td>" for name in names) + "</tr>" for row in rows
        )
        remarks = explain(tuple(dict.fromkeys(code for each in self for code in each.codes)))
        notes = "".join(f"<li>{escape(each)}</li>" for each in remarks)
        return f"<table><tr>{head}</tr>{body}</table>" + (f"<ul>{notes}</ul>" if notes else "")


def _reach(result: object, path: str) -> Any:
    """The value at a path of attributes; None where the path ends early."""
    found: Any = result
    for name in path.split("."):
        if found is None:
            return None
        found = len(found) if name == "#" else found[int(name)] if name.isdigit() else getattr(found, name)
    return " ".join(map(str, found)) if isinstance(found, tuple) else found


def _cell(value: Any) -> str:
    """A value for a reader's table."""
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True)
class Estimate(Result):
    """An estimate, its interval and what may be said of it.

    ``estimate``, ``low``, ``high`` in ``unit`` (``None`` where refused or unbounded); ``n`` observations (``scope``
    within_run) or runs (across_runs), ``n_effective`` of them independent; ``confidence`` of the interval; ``method``
    with its source; ``assumptions`` and ``diagnostics`` that speak for or against it; ``codes``: keys of `CODES`.
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
        "what", "estimate", "low", "high", "unit", "n", "n_effective", "scope", "confidence", "method",
    )  # fmt: skip

    @property
    def refused(self) -> bool:
        """Whether there is no estimate."""
        return self.estimate is None

    def __str__(self) -> str:
        if self.estimate is None:
            return f"{self.what}: no answer{self.noted}"
        low = "-∞" if self.low is None else f"{self.low:.6g}"
        high = "∞" if self.high is None else f"{self.high:.6g}"
        unbounded = self.low is None and self.high is None
        interval = "no interval" if unbounded else f"{100 * self.confidence:g} % [{low}, {high}]"
        unit = "" if self.unit == "1" else f" {self.unit}"
        return f"{self.what}: {self.estimate:.6g}{unit}, {interval}, {self.scope}, n = {self.n}{self.noted}"


@dataclass(frozen=True, slots=True)
class Comparison(Result):
    """Two things compared: effect first, then what may be concluded within a practical margin.

    ``ratio`` (first over second) and ``difference`` (first minus second) are estimates; ``p`` of the test named in
    ``method`` and ``attainable_p``, the smallest that data of this size can give (``None`` where no test was made);
    ``margin`` is relative (0.05 = 5 %). ``verdict`` follows from the intervals, never from ``p`` alone.
    """

    what: str
    ratio: Estimate
    difference: Estimate | None
    verdict: Verdict
    margin: float
    p: float | None
    attainable_p: float | None
    scope: Scope
    method: str
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)

    ROW: ClassVar[Row] = (
        "what", "verdict", "margin", ("ratio", "ratio.estimate"), ("ratio_low", "ratio.low"),
        ("ratio_high", "ratio.high"), ("difference", "difference.estimate"), ("difference_low", "difference.low"),
        ("difference_high", "difference.high"), ("unit", "difference.unit"), "p", "attainable_p", "scope", "method",
    )  # fmt: skip

    def __str__(self) -> str:
        verdict = self.verdict.replace("_", " ")
        if self.ratio.estimate is None or self.ratio.low is None or self.ratio.high is None:
            return f"{self.what}: {verdict}{self.noted}"
        interval = f"{100 * self.ratio.confidence:g} % [{self.ratio.low:.4g}, {self.ratio.high:.4g}]"
        return (
            f"{self.what}: {verdict} at a margin of {100 * self.margin:g} %; "
            f"ratio {self.ratio.estimate:.4g}, {interval}, {self.scope}{self.noted}"
        )


def explain(codes: tuple[str, ...]) -> tuple[str, ...]:
    """Each code as its word and its sentence."""
    return tuple(f"{SHORT[code]}: {CODES[code]}" for code in codes)


def verdict_of(
    low: float | None, high: float | None, inner_low: float | None, inner_high: float | None, margin: float
) -> Verdict:
    """The verdict lattice for a ratio.

    ``low``, ``high``: its interval at the confidence asked for; ``inner_low``, ``inner_high``: the one at twice the
    error (90 % where 95 % was asked), as the two one-sided tests need (Schuirmann 1987). Margins: 1/(1+d) and 1+d.
    """
    differs = (low is not None and low > 1) or (high is not None and high < 1)
    within = (
        inner_low is not None and inner_high is not None and inner_low > 1 / (1 + margin) and inner_high < 1 + margin
    )
    if differs:
        return "different_within_margin" if within else "different"
    return "equivalent" if within else "undetermined"
