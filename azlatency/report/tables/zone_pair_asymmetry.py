"""Tables of the page "Both directions between zones"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from azlatency.report.objects import Note, Origin, Runs, Stated, Table
from azlatency.report.tables.common import (
    VERDICTS,
    between,
    gigabits,
    micros,
    notes_of,
    read_in,
    remarks,
    text,
    typical_values,
    whole,
)
from azlatency.studies.emulation import both_directions

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.across_runs.asymmetry import Asymmetry
    from azlatency.stats.across_runs.emulation_check import KnownStep
    from azlatency.stats.result import Comparison, Estimate


_ARROW = " → "


#: The value of a run that each metric compares, as `Runs` names it.
_COMPARED = {"latency": "typical"}


def directions(found: Sequence[Asymmetry]) -> Table | Note:
    """What each method measured in both directions, and the answer in a word; ``found`` as `azlatency.asymmetry`."""
    if not found:
        return Note("This study holds no log of a path between two ends, so there are no directions to compare.")
    rows = [
        (
            each.metric,
            str(each.labels.get("method", "")),
            whole(len(each.nodes)),
            whole(len(each.pairs)),
            whole(each.rounds),
            _answer(each),
            remarks(code for code in each.codes if code != "initiator_only"),
        )
        for each in found
    ]
    headers = ("what", "method", "ends", "pairs of zones, both ways", "rounds", "directions", "remark")
    codes = [code for each in found for code in each.codes if code != "initiator_only"]
    origins = [{0: (Runs(_COMPARED.get(each.metric, each.metric), method=row[1], ways="both"),)}
               for each, row in zip(found, rows, strict=True)]  # fmt: skip
    return Table("What was measured in both directions", headers, rows, frozenset({2, 3, 4}), notes_of(codes), origins)


def _answer(each: Asymmetry) -> str:
    if each.refused:
        return "no answer"
    if not each.pairs:
        return "no pair in both directions"
    if each.different:
        return "differ: " + ", ".join(f"{pair.labels['from']}{_ARROW}{pair.labels['to']}" for pair in each.different)
    if each.symmetric_enough:
        return "equal in practice in every pair"
    if not any(pair.ratio.low is not None for pair in each.pairs):
        return "one round: shown, not judged"
    return "undetermined"


def both_ways(found: Sequence[Asymmetry], metric: str = "latency") -> Table | Note:
    """Every pair by every method: both directions, their ratio and difference, and the verdict."""
    own = [each for each in found if each.metric == metric and (each.pairs or each.null)]
    if not own:
        return Note(f"No pair of ends of this study was measured in both directions for {metric}.")
    scale, unit = read_in(own[0].unit)
    unit = "segments" if unit == "count" else unit
    rows, paths = [], {}
    for each in own:
        matrix = each.matrix() / scale
        for pair in (*each.pairs, *each.null):
            start, end = str(pair.labels["from"]), str(pair.labels["to"])
            paths[f"{start} ↔ {end}" + (" (one zone)" if pair in each.null else "")] = f"{start}{_ARROW}{end}"
            rows.append(
                (
                    f"{start} ↔ {end}" + (" (one zone)" if pair in each.null else ""),
                    str(each.labels["method"]),
                    VERDICTS[pair.verdict] if pair.ratio.low is not None else "one round",
                    whole(pair.ratio.n),
                    f"{matrix.loc[start, end]:,.4g}",
                    f"{matrix.loc[end, start]:,.4g}",
                    "" if pair.ratio.estimate is None else f"{pair.ratio.estimate:.3f}",
                    between(pair.ratio.low, pair.ratio.high, form=".2f" if (pair.ratio.high or 0) < 100 else ",.2g"),
                    remarks(code for code in pair.codes if code not in ("initiator_only", "no_replication")),
                )
            )
    rows.sort(key=lambda row: ("(one zone)" in row[0], row[0]))
    headers = (
        "pair", "method", "verdict", "rounds", f"there, {unit}", f"back, {unit}", "ratio", "interval", "remark"
    )  # fmt: skip
    codes = [code for each in own for pair in (*each.pairs, *each.null) for code in pair.codes]
    title = {"latency": "Round trips", "throughput": "Goodput", "retransmits": "Retransmits (plus ½)"}[metric]
    value = _COMPARED.get(metric, metric)
    origins = [{0: (Runs(value, paths[row[0]], row[1], ways="both"),)} for row in rows]
    return Table(
        f"{title} in both directions (scope: across runs)", headers, rows, frozenset(range(3, 8)), notes_of(codes),
        origins,
    )  # fmt: skip


def initiators(found: Sequence[Asymmetry]) -> Table | Note:
    """What each initiator adds to its round trips, and the rest around each triangle that no initiator explains."""
    own = [each for each in found if each.node_effects]
    if not own:
        return Note(
            "No initiator effects: no pair of different zones was measured in both directions, so what an initiator "
            "adds cannot be told from the path."
        )
    rows = [
        (
            str(each.labels["method"]),
            one.what,
            whole(one.n),
            micros(one.estimate),
            between(one.low, one.high, 1e3, ",.1f"),
            remarks(code for code in one.codes if code != "initiator_only"),
        )
        for each in own
        for one in (*each.node_effects, *each.curls)
    ]
    codes = [code for each in own for one in (*each.node_effects, *each.curls) for code in one.codes]
    headers = ("method", "what", "rounds", "adds, µs", "interval, µs", "remark")
    return Table(
        "What initiators add, and what they cannot explain (scope: across runs)", headers, rows, frozenset({2, 3, 4}),
        notes_of(codes), typical_values(rows),
    )  # fmt: skip


def detours(found: Sequence[Asymmetry]) -> Table | Note:
    """The direct way against each detour, corrected for the inside of the zone that the detour passes."""
    own = [each for each in found if each.detours]
    if not own:
        return Note("No triangle: no three zones of this study were measured pair by pair by one method.")
    rows = [
        (
            one.what,
            str(each.labels["method"]),
            whole(one.n),
            micros(one.estimate),
            between(one.low, one.high, 1e3, ",.0f"),
            f"{float(one.diagnostics['ratio']):.2f}",
            "yes" if one.diagnostics["violated"] else "no" if one.low is not None else "one round: not judged",
        )
        for each in own
        for one in each.detours
    ]
    sources = dict.fromkeys(str(one.diagnostics["own_zone"]) for each in own for one in each.detours)
    notes = [f"The inside of the zone passed: {'; '.join(sources)}."]
    headers = (
        "direct way and detour", "method", "rounds", "direct less detour, µs", "interval, µs", "direct ÷ detour",
        "detour shorter?",
    )  # fmt: skip
    return Table(
        "Triangles (scope: across runs)", headers, sorted(rows), frozenset({2, 3, 4, 5}), notes, typical_values(rows)
    )


def ranks(found: Sequence[Asymmetry]) -> Table | Note:
    """Every rank that the data cannot exclude, for each pair of zones."""
    own = [each for each in found if each.ranking]
    if not own:
        return Note("No ranks: fewer than two pairs of zones were measured by one method.")
    rows = [
        (
            str(each.labels["method"]),
            one.what,
            whole(one.level.n),
            micros(one.level.estimate),
            between(one.level.low, one.level.high, 1e3, ",.1f"),
            str(one.low) if one.low == one.high else f"{one.low} to {one.high}",
            remarks(one.codes),
        )
        for each in own
        for one in each.ranking
    ]
    level = f"{100 * own[0].confidence:g} %"
    headers = ("method", "pair", "rounds", "round trip, µs", f"{level} interval, µs", "rank, 1 = shortest", "remark")
    notes = [f"The ranks of one method hold together with {level} confidence.",
             *notes_of(code for each in own for one in each.ranking for code in one.codes)]  # fmt: skip
    return Table(
        "Ranks of the pairs (scope: across runs)", headers, rows, frozenset({2, 3, 4}), notes, typical_values(rows)
    )


_REAL = "The network of this study was not programmed: its true one-way delays and rates are known to nobody."


def configured_delays(links: pd.DataFrame, found: Sequence[Asymmetry]) -> Table | Note:
    """Programmed one-way delays beside the round trips measured from both ends.

    ``links``: `azlatency.configured_links`; ``found``: `azlatency.asymmetry`.
    """
    if not len(links):
        return Note(_REAL)
    rows = []
    for each in found:
        for pair in each.pairs if each.metric == "latency" else ():
            start, end = str(pair.labels["from"]), str(pair.labels["to"])
            if (programmed := both_directions(links, start, end)) is None:
                continue
            there, back = programmed
            cells = {(cell.labels["from"], cell.labels["to"]): cell for cell in each.cells}
            matrix = each.matrix()
            rows.append(
                (
                    f"{start} ↔ {end}",
                    str(each.labels["method"]),
                    micros(there["mean_ns"], 0),
                    micros(back["mean_ns"], 0),
                    micros(there["mean_ns"] + back["mean_ns"], 0),
                    micros(there["achieved_ns"] + back["achieved_ns"], 0),
                    _with_interval(matrix.loc[start, end], cells[start, end]),
                    _with_interval(matrix.loc[end, start], cells[end, start]),
                    VERDICTS[pair.verdict] if pair.ratio.low is not None else "one round",
                )
            )
    if not rows:
        return Note("The network was programmed, but no method measured round trips in both directions.")
    headers = (
        "pair", "method", "programmed there", "programmed back", "sum of both", "sum the emulator achieved",
        "measured from the first", "measured from the second", "directions",
    )  # fmt: skip
    notes = [
        "All in µs. Programmed: mean one-way delay with its jitter; achieved: what the emulator itself noted when "
        "idle. A round trip of a tool also holds the two hosts' own time, so it is expected above both sums."
    ]
    title = "Round trips beside the programmed one-way delays"
    rows.sort()
    origins: list[dict[int, Sequence[Origin]]] = [
        {0: (Runs("typical", _way(row[0]), row[1], ways="both"), *_programmed(_way(row[0]), _MEAN, _ACHIEVED)),
         **_each_way(row[0], _MEAN)}
        for row in rows
    ]  # fmt: skip
    return Table(title, headers, rows, frozenset(range(2, 8)), notes, origins)


#: What the description of an emulated network calls the numbers of a direction.
_MEAN, _ACHIEVED, _RATE = "expected_mean_one_way_us_without_overhead", "mean_us", "rate_mbit_s"


def _way(pair: str) -> str:
    """ "a ↔ b" as the path "a → b"."""
    return pair.replace(" ↔ ", _ARROW)


def _programmed(path: str, *keys: str) -> tuple[Stated, ...]:
    """Where numbers of both directions of a path are programmed."""
    start, _, end = path.partition(_ARROW)
    return tuple(Stated("truth.json", key, each) for key in keys for each in (f"{start}->{end}", f"{end}->{start}"))


def _each_way(pair: str, key: str) -> dict[int, Sequence[Origin]]:
    """Where the cells "programmed there" and "programmed back" of a row come from."""
    there, back = _programmed(_way(pair), key)
    return {2: (there,), 3: (back,)}


def _with_interval(value: Any, cell: Estimate) -> str:
    ends = between(cell.low, cell.high, 1e3, ",.0f")
    return micros(value, 0) + (f" ({ends})" if ends else "")


def configured_differences(found: Sequence[KnownStep]) -> Table | Note:
    """How much longer each path is than the shortest pair, as measured and as programmed.

    ``found``: `azlatency.known_steps`.
    """
    told = [each for each in found if each.difference.low is not None and each.difference.high is not None]
    if not found:
        return Note(_REAL)
    if not told:
        return Note("No method measured the shortest pair and another one in several runs, so no step has an interval.")
    rows = [
        (
            each.method,
            each.path,
            whole(each.difference.n),
            micros(each.difference.estimate),
            between(each.difference.low, each.difference.high, 1e3, ",.1f"),
            micros(each.programmed),
            text(each.holds(each.programmed)),
            micros(each.achieved),
            text(each.holds(each.achieved)),
        )
        for each in told
    ]
    counts = []
    for method in dict.fromkeys(each.method for each in told):
        own = [each for each in told if each.method == method]
        counts.append(
            f"{method}: {sum(bool(each.holds(each.programmed)) for each in own)} of {len(own)} programmed and "
            f"{sum(bool(each.holds(each.achieved)) for each in own)} of {len(own)} achieved steps inside"
        )
    level = f"{100 * told[0].difference.confidence:g} %"
    headers = (
        "method", "path", "runs", "longer by, µs", "interval, µs", "programmed, µs", "inside", "achieved idle, µs",
        "inside, too",
    )  # fmt: skip
    notes = [
        "; ".join(counts) + ".",
        f"Against {told[0].reference}, both directions of it. Mean round trips; {level} intervals, each by itself, "
        "across runs. Single runs are left out.",
    ]
    origins = [{0: _step_origins(each)} for each in told]
    return Table("Steps beside the programmed ones", headers, rows, frozenset({2, 3, 5, 7}), notes, origins)


def _step_origins(each: KnownStep) -> tuple[Origin, ...]:
    """The runs of a path and those of the shortest pair, and what was programmed for both."""
    near = Runs("mean_ns", each.reference, each.method, ways="both")
    programmed = (_programmed(path, _MEAN, _ACHIEVED) for path in (each.path, each.reference))
    return Runs("mean_ns", each.path, each.method), near, *(one for both in programmed for one in both)


def configured_rates(links: pd.DataFrame, found: Sequence[Asymmetry]) -> Table | Note:
    """Programmed rates of both directions beside the goodputs measured in them."""
    if not len(links):
        return Note(_REAL)
    rows = []
    for each in found:
        for pair in each.pairs if each.metric == "throughput" else ():
            start, end = str(pair.labels["from"]), str(pair.labels["to"])
            if (programmed := both_directions(links, start, end)) is None:
                continue
            there, back = (way["rate"] for way in programmed)
            matrix = each.matrix()
            rows.append(
                (
                    f"{start} ↔ {end}",
                    str(each.labels["method"]),
                    gigabits(there),
                    gigabits(back),
                    f"{there / back:.2f}",
                    gigabits(matrix.loc[start, end]),
                    gigabits(matrix.loc[end, start]),
                    "" if pair.ratio.estimate is None else f"{pair.ratio.estimate:.2f}",
                    between(pair.ratio.low, pair.ratio.high, form=".2f"),
                    _holds(pair, there / back),
                )
            )
    if not rows:
        return Note("The network was programmed, but no method measured goodput in both directions.")
    headers = (
        "pair", "method", "programmed there", "programmed back", "ratio", "measured there", "measured back", "ratio",
        "interval", "programmed ratio in it?",
    )  # fmt: skip
    notes = [
        "Rates in Gbit/s. A programmed rate is a ceiling of the link with all headers; goodput is what the application "
        "got. A tool that does not fill the link shows no ratio of links."
    ]
    rows.sort()
    origins: list[dict[int, Sequence[Origin]]] = [
        {0: (Runs("throughput", _way(row[0]), row[1], ways="both"), *_programmed(_way(row[0]), _RATE)),
         **_each_way(row[0], _RATE)}
        for row in rows
    ]  # fmt: skip
    return Table("Goodput beside the programmed rates", headers, rows, frozenset(range(2, 9)), notes, origins)


def _holds(pair: Comparison, due: float) -> str:
    if pair.ratio.low is None or pair.ratio.high is None:
        return "one round"
    return "yes" if pair.ratio.low <= due <= pair.ratio.high else "no"
