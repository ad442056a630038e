"""Results of the statistics across runs as readable tables: one function a table, for notebooks and pages.

As in `tables` every function returns a `Table`, or a `Note` with the reason where there is nothing to show,
and computes nothing but units and layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from azlatency.report.objects import Note, Origin, Runs, Stated, Table
from azlatency.report.tables.tables import formula, gigabits, limits, micros, read_in, remarks, text, whole
from azlatency.stats.result import CODES, SHORT, Comparison, Estimate
from azlatency.studies.emulation import both_directions

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.across_runs.agreement import Agreement
    from azlatency.stats.across_runs.asymmetry import Asymmetry
    from azlatency.stats.across_runs.baseline import Conformance
    from azlatency.stats.across_runs.emulation_check import KnownStep
    from azlatency.stats.across_runs.planning import PercentileSize, Plan, ZoneRounds
    from azlatency.stats.within_run.distribution_shape import ShiftFunction
    from azlatency.studies.store import Study

_ARROW = " → "
#: The value of a run that each metric compares, as `Runs` names it.
_COMPARED = {"latency": "typical"}
VERDICTS = {
    "different": "different",
    "different_within_margin": "different, but within the margin",
    "equivalent": "equal in practice",
    "undetermined": "undetermined",
}


def notes_of(codes: Iterable[str]) -> list[str]:
    """A note for each code: the word that stands in the cells and its sentence."""
    return [f"{SHORT[code][0].upper()}{SHORT[code][1:]}: {CODES[code]}." for code in dict.fromkeys(codes)]


def between(low: float | None, high: float | None, scale: float = 1.0, form: str = ",.4g") -> str:
    """An interval, empty where there is none."""
    return "" if low is None or high is None else f"{low / scale:{form}} – {high / scale:{form}}"


# --- both directions


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
        notes_of(codes), _typical(rows),
    )  # fmt: skip


def _typical(rows: Sequence[Sequence[str]]) -> list[dict[int, Sequence[Origin]]]:
    """Rows that are computed from the typical values of the runs that they name."""
    return [{0: (Runs("typical"),)} for _ in rows]


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
        "Triangles (scope: across runs)", headers, sorted(rows), frozenset({2, 3, 4, 5}), notes, _typical(rows)
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
    return Table("Ranks of the pairs (scope: across runs)", headers, rows, frozenset({2, 3, 4}), notes, _typical(rows))


# --- beside what was programmed

_REAL = "The network of this study was not programmed: its true one-way delays and rates are known to nobody."


def programmed_delays(links: pd.DataFrame, found: Sequence[Asymmetry]) -> Table | Note:
    """Programmed one-way delays beside the round trips measured from both ends.

    ``links``: `azlatency.programmed_links`; ``found``: `azlatency.asymmetry`.
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


def known_steps(found: Sequence[KnownStep]) -> Table | Note:
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


def programmed_rates(links: pd.DataFrame, found: Sequence[Asymmetry]) -> Table | Note:
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


# --- baselines


def conformance(results: Sequence[Conformance]) -> Table | Note:
    """Each expectation beside the runs that measured it; ``results``: `azlatency.check_baseline`."""
    if not results:
        return Note("This study has no baseline, so there is nothing to hold its runs against.")
    measured = [each for each in results if each.mean is not None]
    if not measured:
        return Note(
            "No run of this study measured what the baseline expects: every expectation stays inconclusive. What would "
            "have to be run stands below."
        )
    rows = []
    for each in measured:
        scale, unit = read_in(each.unit)
        rows.append(
            (
                f"{each.what}, {each.labels.get('path', '')}",
                str(each.labels.get("method", "")),
                limits(each.limit_low, each.limit_high, each.unit),
                whole(each.runs),
                f"{(each.mean or 0.0) / scale:,.5g} {unit}",
                between(each.low, each.high, scale),
                "" if each.ratio is None else f"{each.ratio:.2f}",
                each.status,
                whole(each.decides),
                remarks(each.codes),
            )
        )
    level = f"{100 * measured[0].confidence:g} %"
    headers = (
        "expectation", "method", "expected", "runs", "mean run", f"one-sided {level} bounds", "× limit", "verdict",
        "runs to decide", "remark",
    )  # fmt: skip
    notes = ["× limit: the mean over the nearer limit; 1.00 lies within."]
    origins: list[dict[int, Sequence[Origin]]]
    origins = [{0: (_measured(each),), 2: (Stated("baseline", "printed", each.what),)} for each in measured]
    return Table("Expected and measured (scope: across runs)", headers, rows, frozenset({3, 4, 5, 6, 8}),
                 [*notes, *notes_of(code for each in measured for code in each.codes)], origins)  # fmt: skip


def _measured(each: Conformance) -> Runs:
    """The runs that an expectation was held against."""
    metric, path, method = (str(each.labels.get(name) or "") for name in ("metric", "path", "method"))
    streams = metric in ("throughput", "retransmits")
    return Runs(metric, path, method, every=not path and not method, ways="data" if streams else "")


def still_to_run(results: Sequence[Conformance], expectations: Sequence[Mapping[str, Any]]) -> Table | Note:
    """For each expectation that is not decided everywhere: what was run, what is missing, the command where known."""
    if not expectations:
        return Note("This study has no baseline: write what its VMs should deliver into its folder (baseline.toml).")
    rows: list[tuple[str, ...]] = []
    origins: list[dict[int, Sequence[Origin]]] = []
    for each in expectations:
        own = [result for result in results if result.what == each.get("name")]
        open_ones = [result for result in own if result.status == "inconclusive"]
        if not open_ones:
            continue
        runs = sum(result.runs for result in own)
        decides = [result.decides for result in open_ones if result.decides is not None]
        missing = "runs of any kind" if not runs else (
            f"up to {max(decides)} runs of a path" if decides else "repeats on each path"
        )  # fmt: skip
        lasting = "60 s or longer" if str(each.get("unit")) in ("bit/s", "bytes/s", "1/s") else "any length"
        how = each.get("command") or each.get("conditions") or "not said"
        rows.append(
            (str(each.get("name")), str(each.get("tool") or "any"), whole(runs), missing, lasting, str(how))
        )  # fmt: skip
        counted = (_measured(result) for result in own if result.runs)
        origins.append({0: (Stated("baseline", "name", str(each.get("name"))), *counted)})
    if not rows:
        return Note("Every expectation is decided on every path that was measured.")
    headers = ("expectation", "tool", "runs so far", "missing", "each run", "command or conditions, as the source says")
    notes = [
        "A test of throughput or disk shorter than 60 s shows a burst that may be granted for a while, not what lasts: "
        "where a command asks for less, lengthen it."
    ]
    return Table("What would have to be run", headers, rows, frozenset({2}), notes, origins)


def unquantified(study: Study) -> Table | Note:
    """Commands that the study's source runs without saying what they should show."""
    commands = study.info.get("unquantified") or []
    if not commands:
        return Note("The source of this study gives no command without a number to expect.")
    rows = [(text(each.get("name")), text(each.get("tool")), text(each.get("command"))) for each in commands]
    notes = ["What such a run shows can be described and kept for later comparison; it cannot pass or fail."]
    headers = ("what", "tool", "command, as the source gives it")
    origins = [{0: (Stated("baseline", "name", row[0]),)} for row in rows]
    return Table("Commands without an expectation", headers, rows, notes=notes, origins=origins)


def vms_needed(vms: Sequence[tuple[float, int]], confidence: float) -> Table:
    """How many VMs must be measured before their worst is a limit that a share of all VMs keeps."""
    rows = [(f"{100 * share:g} % of all VMs", whole(count)) for share, count in vms]
    headers = ("the worst measured value is kept by", f"VMs to measure, at {100 * confidence:g} % confidence")
    notes = [formula("the share and the confidence level")]
    return Table("From these VMs to every VM", headers, rows, frozenset({1}), notes)


def shift_functions(found: Sequence[ShiftFunction]) -> Table | Note:
    """Last round over first at some percentiles, one row two runs; ``found``: `azlatency.shapes.shift_functions`."""
    if not found:
        return Note("No path of this study left samples of two rounds by one method.")
    shown = [level for level in found[0].levels if level.labels["q"] in (0.1, 0.5, 0.9, 0.95, 0.99)]
    names = [float(level.labels["q"]) for level in shown]
    rows = []
    for each in found:
        by_level = {float(level.labels["q"]): level.ratio for level in each.levels}
        cells = [_ratio(by_level.get(q)) for q in names]
        sizes = f"{each.sizes[0]:,} and {each.sizes[1]:,}"
        rows.append((each.path, each.method, f"{each.last} ÷ {each.first}", sizes, *cells))
    codes = [code for each in found for level in each.levels for code in level.codes]
    headers = ("path", "method", "runs", "packets", *(f"p{100 * q:g}" for q in names))
    title = "Two runs, percentile by percentile (scope: within run)"
    origins = [
        {0: (Runs("samples", each.path, each.method, rounds=tuple(name.removeprefix("round ") for name in both)),)}
        for each in found
        for both in [(each.first, each.last)]
    ]
    return Table(title, headers, rows, frozenset(range(4, 4 + len(names))), notes_of(codes), origins)


def _ratio(ratio: Estimate | None) -> str:
    if ratio is None or ratio.estimate is None:
        return "no answer"
    ends = between(ratio.low, ratio.high, form=".2f")
    return f"{ratio.estimate:.3f}" + (f" ({ends})" if ends else "")


# --- planning


def plans(found: Sequence[Plan]) -> Table | Note:
    """Runs needed path by path; ``found``: `azlatency.plans_by_path`."""
    if not found:
        return Note("This study holds no runs to learn a spread from: begin with a handful of rounds of every path.")
    known = [each for each in found if each.at_pilot_spread is not None]
    if not known:
        return Note(
            f"Each of {len(found)} combinations of path and method was measured once: one run shows no spread, so no "
            "number of runs can be derived from it. Begin with a handful of rounds."
        )
    rows = [
        (
            str(each.labels["path"]),
            str(each.labels["method"]),
            whole(each.done),
            whole(each.at_pilot_spread),
            f"{whole(each.low)} – {whole(each.high) or '∞'}",
            whole(each.high) or "more than can be named",
            "range only: few runs" if "few_clusters" in each.codes else remarks(each.codes),
        )
        for each in known
    ]
    headers = (
        "path", "method", "done", "at the pilot's spread", "range", "plan with", "remark"
    )  # fmt: skip
    notes = [f"{known[0].what}, {100 * known[0].confidence:g} % confidence; {known[0].method}."]
    if len(known) < len(found):
        notes.append(f"{len(found) - len(known)} further combinations were measured once or without any spread.")
    return Table(
        f"{known[0].what[0].upper()}{known[0].what[1:]} (scope: across runs)", headers, rows, frozenset(range(2, 6)),
        notes, [{0: (Runs(str(each.labels.get("value", "typical"))),)} for each in known],
    )  # fmt: skip


def confirmed(found: Sequence[Plan]) -> Table | Note:
    """What exact CONFIRM says of paths with many runs; ``found``: `azlatency.confirm_by_path`."""
    if not found:
        return Note("This study holds no runs.")
    answered = [each for each in found if not each.codes]
    if not answered:
        most = max(each.done for each in found)
        return Note(
            f"No path of this study has enough runs: CONFIRM looks back at more than ten runs of one path and method, "
            f"and the most that any has here is {most}."
        )
    rows = [
        (
            str(each.labels["path"]),
            str(each.labels["method"]),
            whole(each.done),
            whole(each.needed) or f"more than {whole(each.done)}",
        )
        for each in answered
    ]
    headers = ("path", "method", "runs done", "runs that would have done")
    notes = [f"{answered[0].what}; {answered[0].method}."]
    return Table("CONFIRM, exact (scope: across runs)", headers, rows, frozenset({2, 3}), notes, _typical(rows))


def smallest_sizes(found: Sequence[PercentileSize]) -> Table:
    """Fewest observations for each percentile; ``found``: `azlatency.percentile_sizes`."""
    runs = found[0].runs
    rows = [
        (
            f"p{100 * each.q:.6g}",
            whole(each.two),
            whole(each.upper),
            whole(each.range),
            f"{each.enough:,} of {each.runs:,}" if runs else "no runs",
        )
        for each in found
    ]
    headers = (
        "percentile",
        "for both bounds",
        "for an upper bound",
        "smallest to largest",
        "runs with enough for both",
    )
    notes = [
        "Independent observations. Packets of one connection are not: with a dependence that makes ten packets worth "
        "one, ten times as many are needed.",
        formula("the percentile and the confidence level", "the first three columns"),
    ]
    origins = [{0: (Runs("n", every=True),)} for _ in rows] if runs else []
    return Table("Fewest observations of one run", headers, rows, frozenset({1, 2, 3, 4}), notes, origins)


def rounds(found: Sequence[ZoneRounds], runs: pd.DataFrame) -> Table:
    """Fewest rounds before a test can decide; ``found``: `azlatency.rounds_by_zones`, ``runs`` those of the study."""
    rows = [(str(each.zones), whole(each.pairs), whole(each.rounds), whole(each.unpaired)) for each in found]
    headers = ("zones", "pairs to tell apart", "rounds, both ends in each", "or runs on each side, without rounds")
    known = runs["round"].dropna() if len(runs) else ()
    done = f"This study has {len(set(known))} rounds." if len(known) else "This study was not measured in rounds."
    notes = [
        done, "That is when a test can begin to decide, not when it will: plan more.",
        formula("the number of zones and the confidence level"),
    ]  # fmt: skip
    return Table("Before any test can reach its level", headers, rows, frozenset(range(4)), notes)


# --- agreement


def agreements(found: Sequence[Agreement]) -> Table | Note:
    """Every two methods with common (path, round) pairs; ``found``: `azlatency.agreement`."""
    if not found:
        return Note("No two methods of this study measured a round trip on one path, so there is nothing to compare.")
    rows = [
        (
            each.first,
            each.second,
            f"other packets: {', '.join(each.differs_in)}" if each.differs_in else VERDICTS[each.verdict],
            whole(each.pairs),
            "" if each.ratio.estimate is None else f"{each.ratio.estimate:.3f}",
            between(each.ratio.low, each.ratio.high, form=".3f"),
            "" if each.prediction is None else between(*each.prediction, form=",.3g"),
            "" if each.tost_p is None else f"{each.tost_p:.3f}",
            remarks(code for code in each.codes if code != "type_p_mismatch"),
        )
        for each in sorted(found, key=lambda each: bool(each.differs_in))
    ]
    level = f"{100 * found[0].ratio.confidence:g} %"
    headers = (
        "first", "second", "verdict", "pairs", "ratio", f"{level} interval", "one more pair in", "p, equal", "remark",
    )  # fmt: skip
    notes = [
        f"Ratio: first ÷ second. Margin ±{100 * found[0].margin:g} %.",
        "p, equal: the larger p of two one-sided tests; a small one says equal.",
        *notes_of(code for each in found for code in each.codes),
    ]
    origins = [{0: (Runs("mean_ns"),)} for _ in rows]
    return Table("Tools beside one another (scope: across runs)", headers, rows, frozenset(range(3, 8)), notes, origins)


# --- before and after


def settings(after: Study, before: Study) -> Table | Note:
    """What two imports say of their circumstances, side by side."""
    if not before.info:
        return Note(
            "There is no other study to compare with: name one in the parameter `other`, or as `before` in study.toml."
        )
    names = {
        "region": "region", "vm_size": "VM size", "accelerated_networking": "accelerated networking", "date": "date",
        "emulated": "emulated",
    }  # fmt: skip
    rows: list[tuple[str, ...]] = []
    for key, title in names.items():
        one, other = (text(study.info.get(key)) for study in (after, before))
        same = "not known" if not one or not other else "yes" if one == other else "no"
        rows.append((title, one or "not said", other or "not said", same))
    counts = [whole(len(study.runs)) for study in (after, before)]
    said = [(Stated("study.toml", key), Stated("study.toml", key, before=True)) for key in names]
    origins: list[dict[int, Sequence[Origin]]] = [{0: both, 1: both[:1], 2: both[1:]} for both in said]
    rows.append(("runs", *counts, ""))
    origins.append({0: (Runs("run", every=True), Runs("run", every=True, before=True))})
    return Table("Two imports side by side", ("what", after.name, before.name, "same?"), rows, origins=origins)


def changes(found: Sequence[Comparison]) -> Table | Note:
    """Comparisons with their verdicts and refusals; ``found``: `azlatency.compare_imports` or `compare_rounds_of`."""
    if not found:
        return Note(
            "Nothing to compare: no path was measured by one tool on both sides (or in two rounds), or both sides are "
            "the same import, or they are of different regions."
        )
    rows = [
        (
            str(each.labels["path"]),
            str(each.labels["method"]),
            "refused" if each.ratio.estimate is None else VERDICTS[each.verdict],
            remarks(each.codes),
            _sides(each),
            "" if each.ratio.estimate is None else f"{each.ratio.estimate:.3f}",
            between(each.ratio.low, each.ratio.high, form=".3f"),
            "" if each.p is None else f"{each.p:.3f}",
        )
        for each in found
    ]
    level = f"{100 * found[0].ratio.confidence:g} %"
    headers = ("path", "method", "verdict", "reason", "after against before", "ratio", f"{level} interval", "exact p")
    notes = [f"Margin ±{100 * found[0].margin:g} %.", *notes_of(code for each in found for code in each.codes)]
    origins = [{0: _compared(each)} for each in found]
    return Table("After over before (scope: across runs)", headers, rows, frozenset({5, 6, 7}), notes, origins)


def _compared(each: Comparison) -> tuple[Origin, ...]:
    """The runs of two rounds, or of the paths and methods that the row names on both sides."""
    if "first" in each.labels:
        rounds = (str(each.labels["first"]), str(each.labels["last"]))
        return (Runs("typical", method=str(each.labels["method"]), rounds=rounds),)
    return Runs("typical"), Runs("typical", before=True)


def _sides(each: Comparison) -> str:
    if "first" in each.labels:
        return f"round {each.labels['last']} against {each.labels['first']}, {each.ratio.n} paths"
    return f"{each.labels['runs_after']} against {each.labels['runs_before']} runs"


def lattice(margin: str) -> Table:
    """What each verdict means: the interval against 1, and against the margin."""
    rows = (
        ("different", "leaves 1 out", "is exceeded", "a change that may matter"),
        ("different, but within the margin", "leaves 1 out", "is kept", "a change too small to matter"),
        ("equal in practice", "holds 1", "is kept", "no change that matters"),
        ("undetermined", "holds 1", "is exceeded", "both are possible: measure more"),
        ("refused", "none", "–", "not comparable, or one run"),
    )
    headers = ("verdict", "the interval", f"the margin, {margin}", "in words")
    return Table("The verdicts", headers, rows)
