"""The answer of a study to its question, in one sentence with its numbers.

The shape of the answer follows from what the study measured: an emulated network, the effect of a setting, several
pairs of zones, placements, a falling rate, connect times, or expectations alone. Every number is computed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from azlatency.logs.format import count_of, format_value, join_words, one_prefix
from azlatency.report.card import (
    ALIKE,
    Badge,
    Card,
    Dot,
    Limit,
    Linked,
    RoundTrip,
    Sentence,
    TypicalRun,
    dot,
    listed,
    span,
)
from azlatency.report.findings.common import shares_held
from azlatency.report.table import FileRef, Ref, ReportedRef, RunsRef
from azlatency.report.tables.common import condition_ref
from azlatency.stats.across_runs.attainable import rounds_needed
from azlatency.stats.across_runs.emulation_check import EmulatedDifference, emulated_differences
from azlatency.stats.across_runs.placement import Change, Condition, changes, conditions, widest
from azlatency.stats.across_runs.typical_run import summarize
from azlatency.stats.across_runs.zone_pairs import zone_pairs
from azlatency.stats.within_run.time_series import falling, reported_connection_ends, throughput_series
from azlatency.studies.conclusions import conclusions
from azlatency.studies.emulation import configured_links, recorded_round_trips
from azlatency.studies.round_trip_runs import latency
from azlatency.studies.runs import client_side_runs, of_whole_runs, run_table
from azlatency.studies.throughput_runs import throughput
from azlatency.studies.zones import zone_maps

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.stats.result import Estimate
    from azlatency.studies.store import Study

#: A pair of zones is far if it takes this many times as long as the next nearer one.
_FAR = 2.0
#: A sentence and a picture of more paths are not read.
_MOST_NAMED = 12
#: Shorter transfers may show only the burst of a link; tools end a minute a little early.
_SUSTAINED_NS = 59e9
_PLACES = {
    "same_host": "on one host",
    "same_zone": "in one zone",
    "availability_set": "in the availability set",
    "proximity_placement_group": "in the placement group",
    "cross_zone": "across zones",
    "cross_region": "across regions",
}
_STEPS = {
    "availability_set": "An availability set", "proximity_placement_group": "A placement group",
    "same_zone": "Another host of the zone", "cross_zone": "Crossing zones", "cross_region": "Crossing regions",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one shape of answer says; the attributes are those of `Card`."""

    badge: Badge
    answer: Sentence = ()
    inference: Sentence = ()
    dots: tuple[Dot, ...] = ()
    axis: str = ""
    next_step: str = ""
    reported: bool = False


@dataclass(frozen=True)
class _Data:
    """A study with the tables that the answers share."""

    study: Study
    runs: pd.DataFrame
    levels: list[Condition]
    """Conditions of the kind of measurement that covers most placements and paths."""


def conclude(study: Study) -> Card:
    """Answer the question of a study.

    Parameters
    ----------
    study : Study
        An imported study.

    Returns
    -------
    Card
        A study without an answer has its question and what to measure.
    """
    runs = latency(study)
    measured = conditions(study, runs)
    data = _Data(study, runs, widest(measured))
    shapes = (_emulated, _settings, _zone_pairs, _placements, _falling_rates, _connect_times, _single_level,
              _goodputs, _expectations)  # fmt: skip
    answer = next((answer for shape in shapes if (answer := shape(data)) is not None), _NOTHING)
    first = next(iter(conclusions(study)), None)
    if answer.badge != "emulated":
        answer = replace(answer, dots=tuple(sorted(answer.dots, key=lambda dot: dot.value)))
    return Card(
        **vars(answer),
        study=study.name,
        title=str(study.info.get("title", study.name)),
        question=str(study.info.get("question", "What do these logs show?")),
        source_says=f"“{first.said}” We say: {first.we_say}" if first else "",
        likely_cause=str(study.info.get("likely_cause", "")),
        likely_cause_source=str(study.info.get("likely_cause_source", "")),
        round_trips=() if study.info.get("emulated") else tuple(_round_trips(measured)),
        limits=tuple(
            Limit(value=float(row["high"]), printed=str(row["printed"]), source=str(row["conditions"]))
            for row in study.expectations
            if row["metric"] == "rtt_mean" and row["relation"] == "at_most"
        ),
        paths=(*_typical_round_trips(runs), *_typical_runs(throughput(study), "throughput_bit_s", "bit/s")),
        files=_files(study),
    )


def _typical_round_trips(runs: pd.DataFrame) -> Iterator[TypicalRun]:
    """Yield the typical run of each path: of medians where all runs of its method have one, else of means."""
    for _, group in runs.groupby("method", sort=False):
        yield from _typical_runs(group, "median_ns" if group["median_ns"].notna().all() else "mean_ns", "ns")


def _typical_runs(runs: pd.DataFrame, column: str, unit: str) -> Iterator[TypicalRun]:
    for (path, method), group in runs.groupby(["path", "method"], sort=False) if len(runs) else ():
        value, step = float(group[column].median()), float(group[f"{column}_resolution"].max())
        yield TypicalRun(
            path=str(path), method=str(method), value=value if math.isfinite(value) else None, unit=unit,
            resolution=step if math.isfinite(step) else 0.0,
        )  # fmt: skip


def _files(study: Study) -> dict[str, tuple[str, int]]:
    """Return the files of a study with their contents' name and the number of their runs."""
    counts = study.runs["source_id"].value_counts()
    pairs = zip(study.sources["path"], study.sources["source_id"], strict=True)
    return {str(path): (str(source), int(counts.get(source, 0))) for path, source in pairs}


def _round_trips(measured: Sequence[Condition]) -> Iterator[RoundTrip]:
    for level in measured:
        for value in dict.fromkeys(level.values):
            if level.placement:
                yield RoundTrip(
                    placement=level.placement, path=level.path, method=level.method, value=value,
                    reported=level.origin == "reported",
                )  # fmt: skip


_NOTHING = Answer(
    badge="not_measured",
    inference=("No log of this study contains a latency or a rate, and no text reports one.",),
    next_step="Measure round trips with sockperf or ping on each path, in rounds; `azlatency plan` writes the script.",
)


def _axis(levels: Sequence[Condition]) -> str:
    reported = ", as reported" if levels[0].origin == "reported" else ""
    return f"{levels[0].statistic} RTT, {levels[0].kind.split()[0]}{reported}"


def _badge(levels: Sequence[Condition]) -> Badge:
    intervals = [level.typical is not None and level.typical.low is not None for level in levels]
    return "replicated" if intervals and all(intervals) else "indicative"


def _inference(levels: Sequence[Condition]) -> Sentence:
    if levels[0].origin == "reported":
        text = (
            "The text reports these numbers without logs, so the spread between runs is unknown: quote them, but do "
            "not test them."
        )
    elif _badge(levels) == "replicated":
        typical = [Linked(str(level.typical), condition_ref(level), bold=False) for level in levels[:3]]
        return "Typical runs: ", *listed((run,) for run in typical), "."
    else:
        text = "Each path was measured once, so this describes these connections; other machines may rank differently."
    return (text,)


def _values(level: Condition, *, bold: bool = False, like: float | None = None) -> Linked:
    """Return the values of a condition with where they come from; ``like`` as in `span`."""
    return Linked(span(level.values, "ns", like=like), condition_ref(level), bold=bold)


def _both(steps: Iterable[Change]) -> list[Ref]:
    """Return both sides of several comparisons."""
    return [condition_ref(level) for step in steps for level in (step.base, step.other)]


def _level_dots(levels: Sequence[Condition], label: Callable[[Condition], str]) -> tuple[Dot, ...]:
    near, like = levels[0].placement, _prefix(levels)
    return tuple(
        dot(label(level), level.values, "ns", condition_ref(level), near=level.placement == near, like=like)
        if level.typical is None or level.typical.low is None or level.typical.high is None
        else dot(label(level), (level.typical.low, level.typical.high), "ns", condition_ref(level),
                 near=level.placement == near, value=level.typical.estimate,
                 text=format_value(level.typical.estimate, "ns", like=like))
        for level in levels
    )  # fmt: skip


# --- the shapes of an answer


def _width(steps: Sequence[EmulatedDifference]) -> float:
    return statistics.median((step.difference.high or math.inf) - (step.difference.low or 0.0) for step in steps)


def _emulated(data: _Data) -> Answer | None:
    """Say how many intervals contain the delays that the emulator recorded."""
    records = recorded_round_trips(data.study)
    steps = emulated_differences(configured_links(data.study), records, data.runs)
    checked = [step for step in steps if step.holds is not None]
    if not checked:
        return None
    worst = max(checked, key=lambda step: abs(step.error or 0.0))
    by_method = {step.method: [other for other in checked if other.method == step.method] for step in checked}
    method, shown = max(by_method.items(), key=lambda item: (len(item[1]), -_width(item[1])))
    like = one_prefix((value for step in shown[:6] for value in (step.difference.estimate or 0.0, step.recorded)), "ns")
    shares = [
        (Linked(share, *(RunsRef(step.run_ids, step.value) for step in steps)),)
        for share, steps in shares_held(checked)
    ]
    truth = [FileRef("truth.json", file) for file in records["file"].reindex(list(worst.run_ids)).dropna()]
    return Answer(
        badge="emulated",
        answer=(
            *listed(shares),
            " contain the difference between a path and the shortest one that the emulator recorded; the measured "
            "differences are off by at most ",
            Linked(format_value(abs(worst.error or 0), "ns"), RunsRef(worst.run_ids, worst.value)),
            " of ",
            Linked(format_value(worst.recorded, "ns"), *truth, bold=False),
            f" ({worst.method}).",
        ),
        inference=(
            f"Of {len(checked)} intervals at 95 %, about {0.95 * len(checked):.0f} should contain the truth. The "
            "delays were configured on one machine: nothing here describes a cloud.",
        ),
        dots=tuple(
            dot(
                step.path,
                (step.difference.low or 0.0, step.difference.high or 0.0),
                "ns",
                RunsRef(step.difference.run_ids, step.value),
                value=step.difference.estimate,
                near=not step.holds,
                text=f"{format_value(step.difference.estimate, 'ns', like=like)} "
                f"(recorded {format_value(step.recorded, 'ns', like=like)})",
            )
            for step in shown[:6]
        ),
        axis=f"{shown[0].value.removesuffix('_ns')} RTT less that of {shown[0].reference}, {method}, 95 % CI",
        next_step="Compare the tools: what remains is the time that a host takes longer after a longer wait.",
    )


def _settings(data: _Data) -> Answer | None:
    """Say what accelerated networking changes, and whether a placement group adds to it."""
    steps = changes(data.levels, "accelerated_networking")
    if not steps:
        return None
    grouped = [
        step for step in changes(data.levels, "placement") if step.other.placement == "proximity_placement_group"
    ]
    levels = sorted(_compared([*steps, *grouped]), key=lambda level: -max(level.values))
    like = _prefix(levels)
    parts: list[Sentence] = [
        (
            Linked(_percent(step), *_both([step])),
            f" {_PLACES.get(step.other.placement or '', step.other.path)} (",
            *(_values(step.base, like=like), " → ", _values(step.other, like=like), ")"),
        )
        for step in sorted(steps, key=lambda step: step.ratio_high)
    ]
    text: Sentence = ("Accelerated networking: ", *listed(parts), ".")
    for step in grouped:
        change = "no visible gain" if step.ratio_low <= 1 <= step.ratio_high else _percent(step)
        text += (" A placement group on top: ", Linked(change, *_both([step])), " (")
        text += (_values(step.other, like=like), ").")
    text += _sizes(changes(data.levels, "vm_size"), like)
    return Answer(
        badge=_badge(levels),
        reported=levels[0].origin == "reported",
        answer=text,
        inference=_inference(levels),
        dots=_dots_of_settings(levels, like),
        axis=_axis(levels),
        next_step=f"Measure each setting in at least {rounds_needed(len(steps) + len(grouped))} rounds, on and off "
        "alternating, on the same machines.",
    )


def _prefix(levels: Iterable[Condition]) -> float:
    """Return the value whose prefix all values of a card take."""
    return one_prefix((value for level in levels for value in level.values), "ns")


def _sizes(steps: Sequence[Change], like: float) -> Sentence:
    """Say whether larger machines are consistently faster or slower, with the same network settings."""
    plain = [step for step in steps if step.other.accelerated_networking is not True]
    if not plain:
        return ()
    values = span([value for level in _compared(plain) for value in level.values], "ns", like=like)
    faster, slower = (
        all(test) for test in ([step.ratio_high < 1 for step in plain], [step.ratio_low > 1 for step in plain])
    )
    effect = "larger ones are faster" if faster else "larger ones are slower" if slower else "no consistent effect"
    refs = _both(plain)
    return " VM size: ", Linked(effect, *refs), " (", Linked(values, *refs, bold=False), ")."


def _dots_of_settings(levels: Sequence[Condition], like: float) -> tuple[Dot, ...]:
    labels = [
        f"{_PLACES.get(level.placement or '', level.path)}, {'on' if level.accelerated_networking else 'off'}"
        for level in levels
    ]
    return tuple(
        dot(label, level.values, "ns", condition_ref(level), near=not level.accelerated_networking, like=like)
        for label, level in zip(labels, levels, strict=True)
    )


def _compared(steps: Iterable[Change]) -> list[Condition]:
    """Return the conditions of several comparisons, each once."""
    return list({id(level): level for step in steps for level in (step.base, step.other)}.values())


def _percent(step: Change) -> str:
    """Return the smaller end of a relative change, so that a range of runs is not overstated."""
    ratio = step.ratio_high if step.ratio_high < 1 else step.ratio_low
    return f"{'−' if ratio < 1 else '+'}{100 * abs(ratio - 1):.0f} %"


def _zone_pairs(data: _Data) -> Answer | None:
    """Say which pairs of zones are far, and how well the two directions of a pair agree."""
    if not data.levels or data.levels[0].origin == "reported":
        return None
    pairs = zone_pairs(data.study, data.runs, data.levels)
    across = {(pair.first, pair.second): pair.values for pair in pairs if not pair.inside}
    inside = {(pair.first, pair.second): pair.values for pair in pairs if pair.inside}
    if len(across) < 2:
        return None
    origins = {(pair.first, pair.second): RunsRef(pair.run_ids, f"{data.levels[0].statistic}_ns") for pair in pairs}
    like = _prefix(data.levels)

    def between(*chosen: tuple[str, str]) -> Linked:
        values = [value for pair in chosen for value in (across | inside)[pair]]
        return Linked(span(values, "ns", like=like), *(origins[pair] for pair in chosen))

    ordered = sorted(across, key=lambda pair: max(across[pair]))
    far = _far_zone(across)
    if far is not None:
        zone, others, rest = far
        near: list[Sentence] = [(between(pair), f" between zones {pair[0]} and {pair[1]}") for pair in rest]
        near += [(between(pair), f" inside zone {pair[0]}") for pair in inside]
        text: Sentence = (
            f"Zone {zone} is far: ",
            between(*others),
            " to the other zones, against ",
            *listed(near),
            ".",
        )
    else:
        ends = ordered[-1], ordered[0]
        factor = max(across[ends[0]]) / min(across[ends[1]])
        text = ("The pairs differ up to ", Linked(f"{factor:.1f}×", *(origins[pair] for pair in ends)), ": ")
        text += (*listed((f"{pair[0]}–{pair[1]} ", between(pair)) for pair in ordered), ".")
        if (worst := max((max(values) / min(values) - 1 for values in across.values()), default=0)) > 0:
            within = Linked(f"{math.ceil(100 * worst)} %", *(origins[pair] for pair in across), bold=False)
            text += (" Both directions agree within ", within, ".")
        text += tuple(part for pair in inside for part in (f" Inside {pair[0]}: ", between(pair), "."))
    local = [level for level in data.levels if level.placement == "same_host"]
    dots = [
        dot("one host (never on the network)", level.values, "ns", condition_ref(level), near=True, like=like)
        for level in local
    ]
    dots += [
        dot(f"inside zone {pair[0]}", values, "ns", origins[pair], near=True, like=like)
        for pair, values in inside.items()
    ]
    dots += [dot(f"zones {pair[0]} – {pair[1]}", across[pair], "ns", origins[pair], like=like) for pair in ordered]
    return Answer(
        badge=_badge(data.levels),
        answer=text,
        inference=_inference(data.levels),
        dots=tuple(dots),
        axis=_axis(data.levels),
        next_step=(
            f"Repeat every pair in at least {rounds_needed(len(across))} rounds, both directions next to each other."
        ),
    )


def _far_zone(
    across: dict[tuple[str, str], tuple[float, ...]],
) -> tuple[str, list[tuple[str, str]], list[tuple[str, str]]] | None:
    """Return the zone that all far pairs share, these pairs, and the near pairs; None if no zone is far."""
    ordered = sorted(across, key=lambda pair: max(across[pair]))
    for cut in range(1, len(ordered)):
        near, far = ordered[:cut], ordered[cut:]
        if min(across[far[0]]) < _FAR * max(across[near[-1]]):
            continue
        shared = set(far[0]).intersection(*map(set, far)) - {zone for pair in near for zone in pair}
        if len(shared) == 1:
            return shared.pop(), far, near
    return None


def _placements(data: _Data) -> Answer | None:
    """Say what each placement costs compared with the nearest one."""
    steps = changes(data.levels, "placement")
    if not steps:
        return None
    text: Sentence = ()
    order, levels = dict.fromkeys(step.other.placement for step in steps), _compared(steps)
    like = _prefix(levels)
    for placement in order:
        text += _cost([step for step in steps if step.other.placement == placement], like, first=not text)
    return Answer(
        badge=_badge(levels),
        reported=levels[0].origin == "reported",
        answer=text + _separated(data, steps) + _broken(data.study),
        inference=_inference(levels),
        dots=_level_dots(levels, _label),
        axis=_axis(levels),
        next_step=(
            "Record every packet, and start the connections at different times"
            if levels[0].origin == "reported"
            else "Repeat each placement on the same machines"
        )
        + f", in at least {rounds_needed(len(order))} rounds.",
    )


def _cost(steps: Sequence[Change], like: float, *, first: bool) -> Sentence:
    """Return the sentence about one placement: difference, ratio and values by message size."""
    digits = 2 if steps[0].base.origin == "reported" else 3
    ratios = [ratio for step in steps for ratio in (step.ratio_low, step.ratio_high)]
    gaps = [_middle(step.other) - _middle(step.base) for step in steps]
    ends = dict.fromkeys(format_value(ratio, digits=digits) for ratio in (min(ratios), max(ratios)))
    sized = len({step.other.message_bytes for step in steps}) > 1
    values: list[Sentence] = [
        (
            _values(step.other, like=like),
            *((" against ", _values(step.base, like=like)) if first else ()),
            f" at {step.other.message_bytes:,} B" if sized else "",
        )
        for step in sorted(steps, key=lambda step: step.other.message_bytes or 0)
    ]
    verb = "costs" if min(gaps) > 0 else "changes the round trip by"
    name, refs = _STEPS.get(steps[0].other.placement or "", steps[0].other.path), _both(steps)
    return (
        f"{'' if first else ' '}{name} {verb} ",
        *(Linked(span(gaps, "ns", digits=2, like=like), *refs), " (", Linked(f"{'–'.join(ends)}×", *refs), "): "),
        *(*listed(values), "."),
    )


def _middle(level: Condition) -> float:
    estimate = level.typical.estimate if level.typical is not None else None
    return (min(level.values) + max(level.values)) / 2 if estimate is None else estimate


def _label(level: Condition) -> str:
    size = f", {level.message_bytes:,} B" if level.message_bytes else ""
    return f"{level.path}{size}"


def _separated(data: _Data, steps: Sequence[Change]) -> Sentence:
    """Say that the slow packets of the nearer placement are faster than the fastest of the farther one."""
    if steps[0].base.origin != "log":
        return ()
    minima = of_whole_runs(data.study.metrics, "rtt_min")["value"]
    comparisons: list[Sentence] = []
    for step in sorted(steps, key=lambda step: step.other.message_bytes or 0):
        slow = data.runs.loc[list(step.base.run_ids), "p99_ns"].max()
        fast = minima.reindex(list(step.other.run_ids)).min()
        if not slow < fast:
            return ()
        tail = Linked(format_value(slow, "ns"), RunsRef(step.base.run_ids, q=0.99), bold=False)
        least = Linked(format_value(fast, "ns"), RunsRef(step.other.run_ids, "rtt_min"), bold=False)
        size = f" at {step.other.message_bytes:,} B" if step.other.message_bytes else ""
        comparisons.append((tail, " against ", least, size))
    near, far = (_PLACES.get(level.placement or "", level.path) for level in (steps[0].base, steps[0].other))
    return f" The p99 {near} is below the minimum {far} (", *listed(comparisons), ")."


def _broken(study: Study) -> Sentence:
    """Say how many connections broke, if a text reports when."""
    ends = reported_connection_ends(study.reported)
    if ends is None:
        return ()
    refs = [ReportedRef(path, "failed_at") for path in ends.paths]
    text: Sentence = (" ", Linked(count_of(len(ends.paths), "connection"), *refs, bold=False), " broke")
    return (*text, f", {ends.together + 1} of them within a minute." if ends.together else ".")


def _falling_rates(data: _Data) -> Answer | None:
    """Say when and to what rate transfers fall, if at least half of them do."""
    import pandas as pd

    chosen, tested = falling(throughput_series(data.study.intervals, client_side_runs(run_table(data.study))))
    if not chosen or 2 * len(chosen) < len(tested):
        return None
    runs = pd.DataFrame(
        {
            "path": [rate.path for rate in chosen],
            "method": chosen[0].method,
            "run_id": [rate.run_id for rate in chosen],
            "burst": [rate.throttled.burst_rate for rate in chosen],
            "sustained": [rate.throttled.sustained_rate for rate in chosen],
            "seconds": [rate.throttled.at_s for rate in chosen],
        },
        index=[rate.run_id for rate in chosen],
    )
    runs["seconds"] *= 1e9
    sustained, moment = (
        {str(estimate.labels["path"]): estimate for estimate in summarize(runs, column, unit=unit)}
        for column, unit in (("sustained", "bit/s"), ("seconds", "ns"))
    )
    middles = runs.groupby("path", sort=False)[["burst", "sustained", "seconds"]].median()
    paths = sorted(middles.index, key=lambda path: middles.at[path, "sustained"])
    refs = {path: RunsRef(sustained[path].run_ids, "intervals") for path in paths}
    falls = {path: f"{middles.at[path, 'seconds'] / 60e9:.1f} min" for path in paths}
    like = one_prefix((*middles["sustained"], *middles["burst"]), "bit/s")
    rates = {path: format_value(middles.at[path, "sustained"], "bit/s", like=like) for path in paths}
    top = span((middles["burst"].min(), middles["burst"].max()), "bit/s", digits=2, like=like)
    inference = [
        Linked(
            f"{path} {falls[path]} ({count_of(moment[path].n, 'run')}{_minutes(moment[path])})", refs[path], bold=False
        )
        for path in paths
    ]
    return Answer(
        badge="replicated" if any(moment[path].low is not None for path in paths) else "indicative",
        answer=(
            Linked(
                f"{len(chosen)} of {len(tested)}",
                RunsRef(tuple(rate.run_id for rate in tested), "intervals"),
                bold=False,
            ),
            " transfers fall from about ",
            Linked(top, *refs.values()),
            " and stay low (median runs): ",
            *listed(
                (f"{path} to ", Linked(rates[path], refs[path]), " after ", Linked(falls[path], refs[path]))
                for path in paths
            ),
            ".",
        ),
        inference=("Until the fall: ", *listed((part,) for part in inference), "."),
        dots=tuple(
            dot(
                path,
                (
                    sustained[path].low or middles.at[path, "sustained"],
                    sustained[path].high or middles.at[path, "sustained"],
                ),
                "bit/s",
                refs[path],
                value=middles.at[path, "sustained"],
                text=f"{rates[path]} after {falls[path]}",
            )
            for path in paths
        ),
        axis="median rate after the fall",
        next_step="Run a transfer until its rate has fallen before you rely on it; a test of less than "
        f"{middles['seconds'].max() / 60e9:.0f} min measures the burst.",
    )


def _minutes(time: Estimate) -> str:
    """Return the interval of a time in minutes; empty without one."""
    if time.low is None or time.high is None:
        return ""
    return f", {100 * time.confidence:g} % CI {time.low / 60e9:.1f}–{time.high / 60e9:.1f} min"


def _connect_times(data: _Data) -> Answer | None:
    """Say how long it takes to open a connection; a connect time is not a round trip."""
    study = data.study
    least, mean = (of_whole_runs(study.metrics, f"connect_{name}")["value"] for name in ("min", "mean"))
    table = run_table(study)
    table = table[table.index.isin(least.index)]
    if not len(table):
        return None
    paths = {path: list(map(str, group.index)) for path, group in table.groupby("path", sort=False)}
    like = one_prefix((*least.reindex(table.index).dropna(), *mean.reindex(table.index).dropna()), "ns")

    def times(values: pd.Series, metric: str, run_ids: list[str], *, bold: bool = True) -> Linked:
        return Linked(span(values.reindex(run_ids), "ns", like=like), RunsRef(tuple(run_ids), metric), bold=bold)

    lowest = [least.reindex(ids).min() for ids in paths.values()]
    alike = len(paths) > 1 and max(lowest) < ALIKE * min(lowest)
    return Answer(
        badge="indicative",
        answer=(
            "Opening a TCP connection takes at least ",
            *listed((times(least, "connect_min", ids), f" on {path}") for path, ids in paths.items()),
            " (means ",
            *listed((times(mean, "connect_mean", ids, bold=False),) for ids in paths.values()),
            "); neither path is visibly shorter." if alike and len(paths) == 2 else ").",
            *_differing_zone_maps(study),
        ),
        inference=(
            "A connect takes longer than a round trip of a payload, and few runs with slow outliers do not rank paths.",
        ),
        dots=tuple(
            dot(str(path), least.reindex(ids), "ns", RunsRef(tuple(ids), "connect_min"), like=like)
            for path, ids in paths.items()
        ),
        axis="fastest TCP connect of each run",
        next_step=(
            "Measure round trips (sockperf or qperf) between all pairs, in rounds, and keep the zone map of the "
            "subscription."
        ),
    )


def _differing_zone_maps(study: Study) -> Sentence:
    """Say that a zone number means different places in the subscriptions whose maps the study has."""
    maps = zone_maps(study)
    places: dict[str, set[str]] = {}
    for (_, _, zone), physical in maps.items():
        places.setdefault(zone, set()).add(physical)
    zone, names = max(places.items(), key=lambda item: len(item[1]), default=("", set()))
    if len(names) < 2:
        return ()
    named = Linked(join_words(sorted(names)), FileRef("study.toml", "zone_maps"))
    return f" Zone {zone} is ", named, f" in {len({key[0] for key in maps})} subscriptions."


def _single_level(data: _Data) -> Answer | None:
    """Say the round trip of each path, where nothing can be compared."""
    if not data.levels:
        return None
    like = _prefix(data.levels)
    parts: list[Sentence] = [(_values(level, bold=True, like=like), f" on {level.path}") for level in data.levels]
    return Answer(
        badge=_badge(data.levels),
        reported=data.levels[0].origin == "reported",
        answer=(f"The {data.levels[0].statistic} round trip takes ", *listed(parts), "."),
        inference=_inference(data.levels),
        dots=_level_dots(data.levels, _label),
        axis=_axis(data.levels),
        next_step="Measure a second path or setting with the same tool and message size, in rounds.",
    )


def _goodputs(data: _Data) -> Answer | None:
    """Say the goodput of each path or, of many paths, the lowest and the highest."""
    runs = throughput(data.study)
    if not len(runs):
        return None
    # A transfer that reached the rate that it was told to send at says nothing about more.
    limited = runs["throughput_bit_s"] > 0.95 * runs["target_rate_bit_s"].where(runs["target_rate_bit_s"] > 0)
    unlimited = runs.loc[~limited, "method"]
    method = (unlimited if len(unlimited) else runs["method"]).value_counts().index[0]
    runs = runs[runs["method"] == method]
    rates = runs["throughput_bit_s"].astype(float)
    groups, like = rates.groupby(runs["path"], sort=False), one_prefix(rates, "bit/s")
    dots = tuple(
        dot(str(path), values, "bit/s", RunsRef(tuple(map(str, values.index)), "throughput"), like=like)
        for path, values in groups
    )
    axis = f"goodput, {method}"
    values: list[Sentence] = [(Linked(value.text, *value.refs), f" on {value.label}") for value in dots]
    answer: Sentence = ("Goodput: ", *listed(values), ".")
    if len(dots) > _MOST_NAMED:
        order = groups.median().reset_index(drop=True).sort_values(kind="stable").index
        low, high = (values[order[end]] for end in (0, -1))
        answer = (f"Goodput over {len(dots)} paths: from ", *low, " to ", *high, ".")
        shown = dict.fromkeys([*order[: _MOST_NAMED // 2], *order[-_MOST_NAMED // 2 :]])
        dots, axis = tuple(dots[index] for index in shown), f"{axis}: the lowest and the highest of {len(dots)} paths"
    short = runs["duration_ns"].isna() | (runs["duration_ns"] < _SUSTAINED_NS)
    bursts = ("A transfer of less than a minute may show a burst; the sustained rate may be lower.",)
    replicated = all(groups.count() > 1)
    missing = [*(() if replicated else ("in rounds",)), *(("for at least a minute",) if short.any() else ())]
    return Answer(
        badge="replicated" if replicated else "indicative",
        answer=answer,
        inference=(*_intervals_of_ends(runs, like), *(bursts if short.any() else ())),
        dots=dots,
        axis=axis,
        next_step=f"Repeat each transfer {', '.join(missing)}."
        if missing
        else "Plan the rounds that smaller differences need with the page *Planning the next measurement*.",
    )


def _intervals_of_ends(runs: pd.DataFrame, like: float) -> Sentence:
    """Say how certain the lowest and the highest typical goodput are, if both have an interval."""
    typical = summarize(runs, "throughput_bit_s")
    parts = [
        f"{item.labels['path']} {span((item.low, item.high), 'bit/s', like=like)}"
        for item in sorted(typical, key=lambda item: item.estimate or 0.0)
        if item.low is not None and item.high is not None
    ]
    if len(parts) < max(2, len(typical)):
        return ()
    level = f"{100 * typical[0].confidence:g} % CI of the typical run"
    return (f"Lowest and highest, {level}: {parts[0]} and {parts[-1]}. ",)


def _expectations(data: _Data) -> Answer | None:
    """Say what is expected of a machine that nobody measured."""
    expected = data.study.expectations
    if not expected:
        return None
    tools = sorted({str(expectation["tool"]) for expectation in expected if expectation.get("tool")})
    return Answer(
        badge="not_measured",
        answer=(
            "Not known yet: the text states ",
            Linked(
                count_of(len(expected), "expected value"),
                *(FileRef("baseline", "name", str(expectation.get("name"))) for expectation in expected),
                bold=False,
            ),
            f" for {join_words(tools)}, and publishes no log.",
        ),
        next_step=(
            f"Run {join_words(tools)} with the commands of the page *VM baseline* and import the logs into this study."
        ),
    )
