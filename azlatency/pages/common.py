"""What the pages on latency, throughput and tails share: the typical run of each path, and printed percentiles."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from azlatency.kit.cells import GIGABITS, MICROSECONDS, Column, Format, RunsRef, Table, interval, is_missing
from azlatency.kit.cells import number as number_format
from azlatency.kit.drawing.draw import number as short_number
from azlatency.kit.drawing.heat_map import MOST_ENDS
from azlatency.kit.objects import Chart, Note
from azlatency.kit.table import Row, cited, count, flags, number, table, text
from azlatency.kit.titles import capitalised, span
from azlatency.kit.units import level
from azlatency.report.groups import main_method
from azlatency.shapes.matrix import matrix
from azlatency.stats.across_runs.zone_pairs import zones_of
from azlatency.studies.format import decimals_for, format_number, interval_decimals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Most zones of a matrix.
_MOST_ZONES = 60
#: What a column of runs is called, and its unit.
_QUANTITIES = {
    "median_ns": ("median round trip", "ns"),
    "mean_ns": ("mean round trip", "ns"),
    "p99_ns": ("99th percentile", "ns"),
    "throughput_bit_s": ("goodput", "bit/s"),
}


# --- the typical run of each path


def typical_runs(
    runs: pd.DataFrame,
    typical: pd.DataFrame,
    value: str,
    quantity: str,
    caption: str,
    *,
    further: Mapping[str, Column[Row]] | None = None,
    notes: Sequence[str] = (),
) -> Table[Row]:
    """Return one row per path and method: the range of its runs, and the typical run with its interval.

    ``typical``: `azlatency.summarize` of the column ``value`` of ``runs``; ``further``: columns before the flags.
    """
    unit = GIGABITS if _QUANTITIES[value][1] == "bit/s" else MICROSECONDS
    measured = runs[runs[value].notna()]
    spans = measured[value].astype(float).groupby([measured["path"], measured["method"]], dropna=False)
    shown = typical.merge(spans.agg(["min", "max"]), "left", left_on=["path", "method"], right_index=True)
    # Equal ends show the rounding of the tool and are left out.
    flat = shown["low"] == shown["high"]
    shown = shown.assign(low=shown["low"].mask(flat), high=shown["high"].mask(flat))
    columns = {
        "path": text("path", names_row=True),
        "method": text("method", names_row=True),
        "runs": count("n"),
        quantity: Column("", lambda row: (row["min"], row["max"]), interval(",.5g", join_equal=True), unit),
        "typical run": Column("", _estimate, _POINT, unit),
        f"{level(shown['confidence'].iloc[0])} interval": Column("", _estimate, _ENDS, unit),
        **(further or {}),
        "flags": flags(),
    }
    return table(shown, f"{caption} (scope: across runs)", columns, notes, value=value)


def _estimate(row: Row) -> tuple[float, float, float]:
    return row["estimate"], row["low"], row["high"]


def _by_width(value: tuple[float, float, float], scale: float) -> tuple[str, str, str]:
    """Return an estimate and the ends of its interval with as many digits as the interval supports."""
    estimate, low, high = value
    if is_missing(low) or is_missing(high):
        return number_format(",.5g").text(estimate, scale), "", ""
    decimals = max(
        interval_decimals(low, high, scale), decimals_for((0.0 if is_missing(estimate) else estimate) / scale)
    )
    middle, start, end = ("" if is_missing(part) else format_number(part / scale, decimals) for part in value)
    return middle, start, end


_POINT = Format(lambda value, scale: _by_width(value, scale)[0], numbers=lambda value: value[:1])
_ENDS = Format(
    lambda value, scale: " – ".join(filter(None, _by_width(value, scale)[1:])),
    ("low", "high"),
    numbers=lambda value: value[1:],
    pieces=lambda value, scale: _by_width(value, scale)[1:],
)


def zone_matrix(runs: pd.DataFrame, typical: pd.DataFrame, value: str = "median_ns") -> Chart | Note:
    """Draw the typical run from each zone (row) to each other one (column), of the method that measured most paths.

    ``typical``: `azlatency.summarize` of the column ``value`` of ``runs``.
    """
    what, unit = _QUANTITIES[value]
    main = main_method(runs, value, typical)
    zones = {path: ends for path, ends in zones_of(runs).items() if path in main.values}
    names = sorted({zone for ends in zones.values() for zone in ends})
    if len(set(zones.values())) < 3:
        return Note("No matrix: fewer than three pairs of zones are known; the chart of the paths shows them.")
    if len(names) > _MOST_ZONES:
        return Note(f"No matrix: {len(names)} zones are too many; the chart of the paths shows them.")
    read_in = GIGABITS if unit == "bit/s" else MICROSECONDS
    bounds = typical[typical["method"] == main.method].set_index("path")[["low", "high"]].dropna()
    paths = pd.DataFrame([(path, *ends, main.values[path]) for path, ends in zones.items()])
    paths = paths.set_axis(["path", "from", "to", "value"], axis=1).join(bounds, on="path")
    squares = paths.groupby(["from", "to"], as_index=False).agg(
        value=("value", "median"),
        least=("value", "min"),
        most=("value", "max"),
        low=("low", "min"),
        high=("high", "max"),
    )
    ends = squares[["least", "most"]] / read_in.scale
    squares = squares.assign(
        method=main.method,
        confidence=typical["confidence"].max(),
        text=["–".join(dict.fromkeys(map(short_number, pair))) for pair in ends.itertuples(index=False)],
    )
    light, dark = (span([end], unit) for end in (min(main.values.values()), max(main.values.values())))
    caption = "Row: client's zone; column: server's; empty: not measured."
    if len(names) > MOST_ENDS:
        caption += f" Light: {light}; dark: {dark}; the table of paths has the numbers."
    elif len(squares) < len(paths):
        caption += " Several paths: their range."
    chart = matrix(
        squares,
        "value",
        row="from",
        column="to",
        panel="method",
        text="text",
        missing="",
        ends=names,
        most=_MOST_ZONES,
        unit=read_in,
        ylabel="client's zone",
        xlabel="server's zone",
        result=f"{capitalised(what)} from zone to zone, {read_in.name} ({main.method}, {main.counts})",
        caption=caption,
        name="zone_matrix",
    )
    return replace(chart, claim=main) if isinstance(chart, Chart) else chart


# --- percentiles of single runs


def printed_percentiles(quantiles: pd.DataFrame, levels: Sequence[float] = (0.5, 0.99, 0.999)) -> Table[Row] | Note:
    """Return percentiles of single runs with the printed values that enclose them, as round-trip times."""
    shown = quantiles[quantiles["q"].isin(levels)]
    if shown.empty:
        return Note("No log of this study prints percentiles.")
    columns = {
        **PERCENTILE,
        "RTT": number("estimate", ",.3f", MICROSECONDS),
        "bracket from": number("low", ",.3f", MICROSECONDS, "0"),
        "bracket to": number("high", ",.3f", MICROSECONDS, "no bound"),
        "flags": flags(),
    }
    confidence = level(shown["confidence"].iloc[0])
    notes = [
        f"Bracket: the nearest printed values, or bounds of classes, that enclose the {confidence} interval.",
        *(f"Method: {method}." for method in shown["statistic"].unique()),
    ]
    return percentile_table(shown, "Percentiles within one run (scope: within run)", columns, notes)


def percentile_table(
    quantiles: pd.DataFrame, caption: str, columns: Mapping[str, Column[Row]], notes: Sequence[str] = ()
) -> Table[Row]:
    """Return a table of percentiles of single runs; each row names the line that prints its percentile."""
    named = quantiles["name"] if "name" in quantiles else quantiles["path"] + ", " + quantiles["method"]
    shown = table(quantiles.assign(name=named), caption, columns, notes)
    return replace(shown, source=lambda row: [RunsRef((row["run_id"],), q=row["q"])])


#: The columns that say which percentile of which run a row is about.
PERCENTILE = {
    "run": text("name"),
    "percentile": text("what"),
    "n": cited(count("n"), lambda row: [RunsRef((row["run_id"],), "n")]),
}
