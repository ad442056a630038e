"""What several pages share: the typical run of each path, printed percentiles, and the files behind a page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from azlatency.kit.cells import (
    MICROSECONDS,
    Column,
    FileRef,
    Format,
    Row,
    RunsRef,
    Table,
    Unit,
    is_missing,
    number_format,
)
from azlatency.kit.drawing.draw import CONFIGURED, short_number, with_interval
from azlatency.kit.drawing.heat_map import MOST_ENDS
from azlatency.kit.findings import join_by_method
from azlatency.kit.groups import main_method, place_of_ends, ranges_of, run_counts, steps_of, values_of
from azlatency.kit.intervals import interval_in, is_far_apart, without_flat
from azlatency.kit.objects import Chart, Note
from azlatency.kit.table import between, cited, count, flags, number, table, text
from azlatency.kit.titles import capitalised, extremes, span, tied
from azlatency.kit.units import read_in
from azlatency.kit.words import newest_window
from azlatency.shapes.forest import forest, two_beside
from azlatency.shapes.matrix import matrix
from azlatency.stats.across_runs.path_differences import differences_by_path
from azlatency.stats.across_runs.zone_pairs import zones_of
from azlatency.studies.emulation import NOT_EMULATED, sums_of_both_directions
from azlatency.studies.format import (
    estimate_decimals,
    fitting_unit,
    format_number,
    format_value,
    in_tens,
    join_words,
    natural_key,
    one_prefix,
    percent,
    percentile,
    plain,
)
from azlatency.studies.runs.selection import is_window

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from azlatency.studies.store.study import Study

#: Most files that are listed.
_MOST_FILES = 40
#: Most zones of a matrix.
_MOST_ZONES = 60
#: Share of the squares of a matrix without numbers that has to be filled: of zones of many regions, few are.
_FILLED = 0.1
#: Ratio of the largest value to the smallest up to which methods share an axis.
_ONE_AXIS = 200
#: What decides on an order in which rounded numbers and ranges may look out of place.
BY_TYPICAL_RUN = ", by the typical run before rounding"
#: What a column of runs is called, and its unit.
_QUANTITIES = {
    "median_ns": ("median round trip", "ns"),
    "mean_ns": ("mean round trip", "ns"),
    "p99_ns": ("99th percentile", "ns"),
    "throughput_bit_s": ("goodput", "bit/s"),
}
#: The column of configured links whose sum over both directions a column of runs contains.
_DELAYS = {"median_ns": "delay_ns", "mean_ns": "mean_ns"}


def ordered(rows: pd.DataFrame, column: str, names: Iterable[object]) -> pd.DataFrame:
    """Return rows with the values of a column in the order in which ``names`` has them first."""
    in_order = list(names)
    return rows.sort_values(column, key=lambda values: values.map(in_order.index), kind="stable")


# --- the typical run of each path


def typical_runs(
    runs: pd.DataFrame,
    typical: pd.DataFrame,
    value: str,
    quantity: str,
    caption: str,
    *,
    further: Mapping[str, Column] | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Return one row per path and method: the range of its runs, and the typical run with its interval.

    ``typical``: `azlatency.summarize` of the column ``value`` of ``runs``; ``further``: columns before the flags.
    """
    unit = read_in(_QUANTITIES[value][1])
    measured = runs[runs[value].notna()]
    spans = measured[value].astype(float).groupby([measured["path"], measured["method"]], dropna=False)
    shown = without_flat(typical.merge(spans.agg(["min", "max"]), "left", left_on=["path", "method"], right_index=True))
    estimated = {
        "typical run": Column("", _estimate, _POINT, unit),
        f"{percent(shown['confidence'].iloc[0])} interval": Column("", _estimate, _ENDS, unit),
    }
    is_single, is_published = (shown["n"] == 1).all(), is_window(measured).all()
    ranges = {"runs": count("n"), quantity: between("min", "max", ",.5g", unit, join_equal=True)}
    columns = {
        "path": text("path", names_row=True),
        "method": text("method", names_row=True),
        # The answer first: a phone shows the name of the row and three or four columns.
        **(estimated if shown["estimate"].notna().any() else {}),
        **({quantity: number("min", ",.5g", unit)} if is_single else ranges),
        **(further or {}),
        # Nobody who reads a published series can repeat it.
        "flags": flags(hide=["no_replication"] if is_published else []),
    }
    notes = [*notes, "One published window each."] if is_single and is_published else notes
    return table(shown, f"{caption} (scope: across runs)", columns, notes, value=value)


def _estimate(row: Row) -> tuple[float, float, float]:
    return row["estimate"], row["low"], row["high"]


def _by_width(value: tuple[float, float, float], scale: float) -> tuple[str, str, str]:
    """Return an estimate and the ends of its interval with as many digits as the interval supports."""
    estimate, low, high = value
    if is_missing(low) or is_missing(high):
        return number_format(",.5g").text(estimate, scale), "", ""
    decimals = estimate_decimals(low if is_missing(estimate) else estimate, low, high, scale)
    middle, start, end = ("" if is_missing(part) else format_number(part / scale, decimals) for part in value)
    return middle, start, end


_POINT = Format(lambda value, scale: _by_width(value, scale)[0], numbers=lambda value: value[:1])
_ENDS = Format(
    lambda value, scale: " – ".join(filter(None, _by_width(value, scale)[1:])),
    ("low", "high"),
    numbers=lambda value: value[1:],
    pieces=lambda value, scale: _by_width(value, scale)[1:],
)


def typical_forest(
    runs: pd.DataFrame,
    typical: pd.DataFrame,
    value: str = "median_ns",
    *,
    links: pd.DataFrame = NOT_EMULATED,
    expected: float | None = None,
) -> Chart | Note:
    """Draw the typical run of each path with its interval and all runs, smallest first; one panel per method.

    ``typical``: `azlatency.summarize` of the column ``value`` of ``runs``; ``links``: what an emulated network is
    configured to; ``expected``: a rate in bit/s that the VM should reach.
    """
    what, canonical = _QUANTITIES[value]
    measured = runs[runs[value].notna()]
    measured = measured.assign(value=measured[value].astype(float), step=measured.get(f"{value}_resolution", 0.0))
    if measured.empty:
        return Note(f"No chart: no log of this study contains a {what}.")
    if len(measured) == 1:
        only = measured.iloc[0]
        said = f"{what} {format_value(only['value'], canonical)}"
        if math.isinf(only["value"]):
            said = "the run lost most of its probes"
        return Note(f"No chart: one run only. {only['path']}, {only['method']}: {said}.")
    finite = measured.loc[measured["value"] < math.inf, "value"]
    unit = Unit(*fitting_unit(canonical, finite))
    rows = _forest_rows(measured, typical, unit)
    rows = rows.assign(truth=rows["path"].map(truths(links, value)).astype(float), unit=[unit] * len(rows))
    window = newest_window(measured)
    counted = "window" if window else "run"
    caption = [_forest_caption(typical, what, window)]
    if len(finite) < len(measured):
        caption.append("▶ at the edge: the run lost most of its probes, so its median is infinite.")
    if drifting := join_by_method(typical[typical["flags"].str.contains("dependent_runs")]):
        caption.append(f"Runs drift on {drifting}: if the level changed, the interval describes neither level.")
    if expected is not None:
        caption.append(f"Dashed: {plain(expected / unit.scale, 6)} {unit.name} expected of the VM.")
    if rows["truth"].notna().any():
        caption.append(CONFIGURED if canonical == "ns" else "×: configured rate of the emulated link.")
    title, named = _forest_title(measured, typical, rows, value)
    # Methods share an axis if their values are similar; a UDP test that lost nearly everything gets its own axis.
    shared = len(finite) > 0 and 0 < finite.max() <= _ONE_AXIS * finite.min()
    return forest(
        rows,
        "estimate",
        low="low",
        high="high",
        panel="method",
        row="path",
        points=measured[["method", "path", "value"]].rename(columns={"value": "estimate"}),
        line=expected,
        truth="truth",
        edge="text",
        always=named,
        unit=unit if shared else "unit",
        beside=two_beside(rows, "method", "path"),
        xlabel=f"{what} per {counted}, {unit.name}" if shared else f"{what} per {counted}",
        result=title,
        caption=" ".join(caption),
        ordering=f"Smallest first{BY_TYPICAL_RUN if (typical['n'] > 1).any() else ''}.",
        counted=f"{counted}s per path and method",
        of="paths and methods",
        name="typical_forest",
    )


def truths(links: pd.DataFrame, value: str) -> dict[str, float]:
    """Return what a column of runs is configured to be, by path; nothing of a column that no link configures."""
    if value in _DELAYS:
        return sums_of_both_directions(links, _DELAYS[value])
    return dict(links["rate_bit_s"]) if value == "throughput_bit_s" and len(links) else {}


def _forest_rows(measured: pd.DataFrame, typical: pd.DataFrame, unit: Unit) -> pd.DataFrame:
    """Return a row per path and method, smallest first: the typical run, if it stands for its runs, and its text."""
    estimates = {(row["path"], row["method"]): row for row in typical.to_dict("records")}
    rows = []
    for (path, method), of_path in measured.groupby(["path", "method"], sort=False, dropna=False):
        runs, step = of_path["value"], float(of_path["step"].max())
        row, finite = estimates.get((path, method)), runs[runs < math.inf]
        estimate, interval_ends = math.nan if row is None else row["estimate"], interval_in(row)
        size = runs.median() if math.isnan(estimate) else estimate
        # Runs that are too far apart for an interval have no number that stands for them.
        if interval_ends is None and finite.nunique() != 1:
            estimate = math.nan
        shown = finite.iloc[0] if math.isnan(estimate) and len(finite) == 1 else estimate
        text_at_edge = "" if math.isnan(shown) else short_number(shown / unit.scale, step / unit.scale)
        low, high = interval_ends or (math.nan, math.nan)
        if interval_ends is not None:
            text_at_edge = with_interval(estimate / unit.scale, (low / unit.scale, high / unit.scale))
        rows.append((method, str(path), len(runs), size, estimate, low, high, text_at_edge))
    columns = ["method", "path", "n", "size", "estimate", "low", "high", "text"]
    by_size = pd.DataFrame(rows, columns=columns).sort_values(["size", "path"], kind="stable")
    return ordered(by_size, "method", measured["method"])


def _forest_title(
    measured: pd.DataFrame, typical: pd.DataFrame, rows: pd.DataFrame, value: str
) -> tuple[str, list[str]]:
    """Say from where to where the typical runs of the main method reach; also return the paths at both ends.

    A range is said where no number stands for runs.
    """
    main = main_method(measured, value, typical)
    if main.empty:
        return "", []
    (what, unit), method, window = _QUANTITIES[value], main["method"].iloc[0], newest_window(measured)
    of_main = rows[rows["method"] == method].dropna(subset=["low", "high"])
    intervals = dict(zip(of_main["path"], zip(of_main["low"], of_main["high"], strict=True), strict=True))
    wide = {path: interval_ends for path, interval_ends in intervals.items() if is_far_apart(interval_ends)}
    ranges, steps = wide | ranges_of(main), steps_of(main)
    # A window is a mean of many runs.
    found = None if window else differences_by_path(measured, method, value)
    said, values = f"{method}, {window}" if window else method, values_of(main)
    title = extremes(what, values, unit, said, ranges=ranges, found=found, steps=steps)
    ends = (choose(values, key=values.__getitem__) for choose in (min, max))
    return title, [path for end in ends for path in tied(values, end, found=found)]


def _forest_caption(typical: pd.DataFrame, what: str, window: str) -> str:
    """Describe the dots and bars that the figure has; ``window``: what the values of a published series cover."""
    once = (typical["n"] < 2).all()
    if window and once:
        return f"{capitalised(what)} by path and method, as published for {window}."
    dots = f"{capitalised(what)} by path and method; each dot is a run."
    answered = typical[typical["estimate"].notna()]
    if len(answered):
        return (
            f"{dots} Bar: {percent(answered['confidence'].iloc[0])} interval of the path's typical run, the median "
            "run; without a bar, it was measured once or the runs are too far apart for an interval."
        )
    if once:
        return f"{dots} No path has two runs with the same method, so there are no intervals; a second run may differ."
    return f"{dots} No path has an interval; the table says why."


def zone_matrix(
    runs: pd.DataFrame, typical: pd.DataFrame, value: str = "median_ns", *, filled: float = 0.0
) -> Chart | Note:
    """Draw the typical run from each zone (row) to each other one (column), of the method that measured most paths.

    ``typical``: `azlatency.summarize` of the column ``value`` of ``runs``; ``filled``: share of its squares below which
    there is no matrix, where the chart of the paths says the same.
    """
    what, unit = _QUANTITIES[value]
    main = main_method(runs, value, typical)
    if main.empty:
        return Note(f"No matrix: no log of this study contains a {what}.")
    values = values_of(main)
    zones = {path: ends for path, ends in zones_of(runs).items() if path in values}
    names = sorted({zone for ends in zones.values() for zone in ends})
    if len(set(zones.values())) < 3:
        return Note("No matrix: fewer than three pairs of zones are known; the chart of the paths shows them.")
    if len(names) > _MOST_ZONES:
        return Note(f"No matrix: {len(names)} zones are too many; the chart of the paths shows them.")
    least = max(filled, _FILLED * (len(names) > MOST_ENDS))
    if len(set(zones.values())) < least * len(names) ** 2:
        return Note("No matrix: most pairs of zones were not measured; the chart of the paths shows those that were.")
    shown_unit = Unit(*fitting_unit(unit, main["estimate"]))
    squares = _squares(main, zones, typical, shown_unit)
    ends_of_all = [squares["least"].min(), squares["most"].max()]
    steps = [squares.loc[at, "step"] for at in (squares["least"].idxmin(), squares["most"].idxmax())]
    light, dark = (span([end], unit, step=step) for end, step in zip(ends_of_all, steps, strict=True))
    # Each end as its square has it.
    scale, like = shown_unit.scale, one_prefix(ends_of_all, unit)
    ends = [in_tens(end / scale, step / scale) * scale for end, step in zip(ends_of_all, steps, strict=True)]
    reach = span(ends, unit, like=like, step=min(steps))
    place, method = place_of_ends(names, runs), main["method"].iloc[0]
    caption = f"Row: client's {place}; column: server's; hatched: not measured."
    if len(names) > MOST_ENDS:
        caption += f" Light: {light}; dark: {dark}; the table of paths has the numbers."
    elif len(squares) < len(zones):
        caption += " Several paths: their range."
    return matrix(
        squares,
        "value",
        row="from",
        column="to",
        panel="method",
        text="text",
        missing="",
        ends=names,
        most=_MOST_ZONES,
        unit=shown_unit,
        ylabel=f"client's {place}",
        xlabel=f"server's {place}",
        result=f"{capitalised(what)} by pair of {place}s: {reach} ({method}, {run_counts(main, runs)})",
        caption=caption,
        name="zone_matrix",
    )


def _squares(
    main: pd.DataFrame, zones: Mapping[str, tuple[str, str]], typical: pd.DataFrame, unit: Unit
) -> pd.DataFrame:
    """Return a row per pair of zones: the median of its paths, their range in words, and its widest interval."""
    bounds = typical[typical["method"] == main["method"].iloc[0]].set_index("path")[["low", "high"]]
    ends_of_paths = pd.DataFrame.from_dict(zones, orient="index", columns=["from", "to"])
    paths = main.join(ends_of_paths, on="path", how="inner").join(bounds.dropna(), on="path")
    # The middle of several runs without an interval is finer than the print of one.
    paths = paths.assign(step=paths["step"].where(paths["lowest"].isna()).fillna(0.0))
    squares = paths.groupby(["from", "to"], as_index=False).agg(
        method=("method", "first"), value=("estimate", "median"), least=("estimate", "min"), most=("estimate", "max"),
        low=("low", "min"), high=("high", "max"), step=("step", "min"),
    )  # fmt: skip
    ends = zip(*(squares[name] / unit.scale for name in ("least", "most", "step")), strict=True)
    return squares.assign(
        confidence=typical["confidence"].max() if len(typical) else math.nan,
        text=["–".join(dict.fromkeys(short_number(end, step) for end in (low, high))) for low, high, step in ends],
    )


# --- percentiles of single runs


def printed_percentiles(quantiles: pd.DataFrame, levels: Sequence[float] = (0.5, 0.99, 0.999)) -> Table | Note:
    """Return percentiles of single runs with the printed values that enclose them, as round-trip times."""
    shown = quantiles[quantiles["q"].isin(levels)]
    if shown.empty:
        which = f" such as {join_words(map(percentile, levels))}" if len(quantiles) else ""
        return Note(f"No log of this study prints percentiles{which}.")
    columns = {
        **PERCENTILE,
        "RTT": number("estimate", ",.3f", MICROSECONDS),
        "bracket from": number("low", ",.3f", MICROSECONDS, "no bound"),
        "bracket to": number("high", ",.3f", MICROSECONDS, "no bound"),
        "flags": flags(),
    }
    confidence = percent(shown["confidence"].iloc[0])
    notes = [
        f"Bracket: the nearest printed values, or bounds of classes, that enclose the {confidence} interval.",
        *(f"Method: {method}." for method in shown["statistic"].unique()),
    ]
    return percentile_table(shown, "Percentiles within one run (scope: within run)", columns, notes)


def percentile_table(
    quantiles: pd.DataFrame, caption: str, columns: Mapping[str, Column], notes: Sequence[str] = ()
) -> Table:
    """Return a table of percentiles of single runs; each row names the line that prints its percentile."""
    named = quantiles["name"] if "name" in quantiles else quantiles["path"] + ", " + quantiles["method"]
    return table(
        quantiles.assign(name=named),
        caption,
        columns,
        notes,
        source=lambda row: [RunsRef((row["run_id"],), q=row["q"])],
    )


#: The columns that say which percentile of which run a row is about.
PERCENTILE = {
    "run": text("name"),
    "percentile": text("what"),
    "n": cited(count("n"), lambda row: [RunsRef((row["run_id"],), "n")]),
}


# --- the files behind a page


def provenance(study: Study) -> Table | Note:
    """Return the logs behind the page: path, hash, size, encoding."""
    logs = study.sources[study.sources["source_id"].isin(study.runs["source_id"])]
    if not len(logs):
        return Note("No log files; the numbers come from the tables of the study's folder.")
    by_name = logs.sort_values("path", key=lambda paths: paths.map(natural_key), kind="stable")
    others = len(by_name) - _MOST_FILES
    columns = {
        "file": text("path"),
        # A source_id may also be of the path, which tells equal files apart.
        "SHA-256 of the file (first 16 digits)": text(lambda file: file["sha256"][:16]),
        "bytes, unpacked": count("size_bytes"),
        "encoding": text("encoding"),
    }
    return table(
        by_name.head(_MOST_FILES),
        "Files behind this page",
        columns,
        [f"and {others} more files"] if others > 0 else [],
        source=lambda file: [FileRef(file["source_id"], line=1, last=int(file["lines"]))],
    )
