"""What stands across all studies: the picture of round trips, the answers to readers' questions, and pairs of zones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, takewhile
from typing import Any

from azlatency import __version__
from azlatency.kit.titles import span
from azlatency.kit.words import PLACES
from azlatency.pages.summary.card import QUOTED
from azlatency.pages.summary.readers import QUESTIONS
from azlatency.site.cards import CardView, PartView
from azlatency.site.pages import StudyView
from azlatency.stats.across_runs.placement import NEAR_TO_FAR
from azlatency.stats.across_runs.zone_pairs import short_pair
from azlatency.studies.format import format_value, join_words, one_prefix, prefixed_unit, signed_value

COMMITS = "What a commit to a replica waits for"
COMMIT = (
    "A synchronous commit of a database waits for at least one round trip to the replica that confirms it; of a quorum "
    "of replicas, for the slowest one that it needs. One round trip in a hundred took longer than the p99. A "
    "closed-loop tool sends nothing while it waits for a reply, so that a stall counts once: a commit that arrives "
    "during the stall waits longer than the p99 says. A session that waits for each commit makes at most one per round "
    "trip: 1,000 a second at 1 ms. Disk writes on both sides and load add to it; the round trip under load is not "
    "known."
)
#: What readers look for and this collection does not have.
NOT_HERE = (
    "Not in this collection: other clouds, prices, failover times, MTU and jumbo frames, peering of networks, load "
    "balancers and HTTP, a comparison of the hours of the day."
)
#: Questions that no study answers, and their answers in Markdown, by their place on the first page.
GUIDE = {
    "plan": (
        "How many runs do I need, and how long?",
        "At least seven rounds of every path, and more as [`azlatency plan`]"
        "(https://github.com/azlatency/azlatency/blob/main/docs/measure.md) says from a pilot; it writes the script, "
        "too. A 95 % interval of the p99 takes 368 independent packets in a run, of the p99.9 3,688 "
        "([percentiles](docs/percentiles.html)); a transfer, the minutes until its burst credit is used up.",
    ),
    "own_logs": (
        "How do I do this with my own logs?",
        "`git clone https://github.com/azlatency/azlatency`, and in it `pip install '.[report]'`. "
        "`azlatency report FOLDER` then builds pages like these from your logs. It reads "
        "[24 tools](https://github.com/azlatency/azlatency/blob/main/docs/tools/README.md).",
    ),
    "cite": (
        "How do I cite this, and under which license is it?",
        f"“azlatency {__version__}, https://github.com/azlatency/azlatency, *title of the study*, data version *…*; "
        "data: *its source*”. Source and data version stand at the top of a summary; some sources name no author or "
        "date. The logs are their authors’, azlatency is under the MIT license.",
    ),
}
#: Placements of the picture on the first page.
LANES = ("same_zone", "cross_zone", "cross_region")
#: What names a round trip between or inside zones.
_NAMED = ("region", "path", "pair", "method", "statistic")
#: From how many runs on a round trip is repeated.
_REPEATED = 2
#: From how many studies of real clouds on a report is a collection.
_COLLECTION = 4
#: Zones of a quorum of two.
_REPLICAS = 3
#: Heights of dots in a lane, in percent: neighbours in the order of their values stand apart.
_HEIGHTS = (50, 20, 80, 35, 65, 8, 92)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A study as the first page cites it; ``group`` is its cloud and region."""

    title: str
    group: str
    page: str
    emulated: bool
    card: CardView


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A dot, a limit or a tick of the picture; positions in percent.

    ``target``: the id on its page that a dot comes from. ``kind`` of a dot: ``once``, ``repeated``, or ``published``
    (the newest window of a series). ``held``: how many round trips of the provider are within a limit.
    """

    at: float
    text: str
    label: str = ""
    height: int = 50
    kind: str = ""
    page: str = ""
    target: str = ""
    held: str = ""


@dataclass(frozen=True, kw_only=True)
class Lane:
    """The round trips of a placement, shortest first, and their studies: cloud and region, title, and page."""

    name: str
    dots: tuple[Mark, ...]
    studies: tuple[tuple[str, str, str], ...]

    @property
    def range(self) -> str:
        """The shortest and the longest round trip."""
        return f"{self.dots[0].text} to {self.dots[-1].text}"


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Round trips of all studies on one logarithmic axis, and the limits that somebody published."""

    lanes: tuple[Lane, ...]
    limits: tuple[Mark, ...]
    ticks: tuple[Mark, ...]

    @property
    def kinds(self) -> set[str]:
        """The kinds of its dots."""
        return {dot.kind for lane in self.lanes for dot in lane.dots}

    @property
    def repeats_between_zones(self) -> bool:
        """Whether a round trip between zones was measured more than once."""
        between = [lane for lane in self.lanes if lane.name == PLACES["cross_zone"]]
        return any(dot.kind == "repeated" for lane in between for dot in lane.dots)


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """The least and the most that crossing a zone adds to a round trip, and the number of studies and paths behind it.

    ``once``: the paths that were measured once; ``published``: those of published means; ``adds``: whether no path is
    shorter than those inside; ``depends``: whether the most is at least twice the least.
    """

    adds: bool
    depends: bool
    low: Mark
    high: Mark
    studies: int
    paths: int
    once: int
    published: int


@dataclass(frozen=True, kw_only=True)
class Tile:
    """A question of readers, and the studies that answer it with what they say: emulated ones only if no other does."""

    key: str
    question: str
    answers: tuple[tuple[Source, tuple[PartView, ...]], ...]


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """The pairs of zones of a study, and what is not known.

    A row: name, round trip, what crossing adds, statistic, p99, p99.9, runs and its own id; ``shared``: the region, the
    tool and the statistic of all rows, where they have one; ``majority``: what a commit to one of two replicas waits
    for.
    """

    source: Source
    rows: tuple[tuple[str | PartView, ...], ...]
    shared: str
    majority: tuple[str, ...]
    unknown: str


def picture(sources: Sequence[Source], placements: Sequence[str] = NEAR_TO_FAR) -> Picture | None:
    """Return the round trips of several studies by placement; None without any."""
    trips = [
        (source, trip) for source in sources for trip in source.card.round_trips if trip["placement"] in placements
    ]
    if not trips:
        return None
    published = {
        (
            float(limit["value"]),
            str(limit["printed"]),
            str(limit["source"]),
            _held(source, float(limit["value"]), trips),
        )
        for source in sources
        for limit in source.card.limits
    }
    values = [float(trip["value"]) for _, trip in trips] + [value for value, *_ in published]
    start, end = math.log(min(values) / 1.3), math.log(1.3 * max(values))

    def place(value: float) -> float:
        return round(100 * (math.log(value) - start) / (end - start), 2)

    lanes = []
    for placement in placements:
        there = [(source, trip) for source, trip in trips if trip["placement"] == placement]
        there.sort(key=lambda item: float(item[1]["value"]))
        dots = tuple(
            Mark(
                at=place(trip["value"]),
                text=_typical(trip),
                label=f"{source.group}: {trip['path']}, {trip['method']}",
                height=_HEIGHTS[number % len(_HEIGHTS)] if len(there) > 1 else 50,
                kind=_kind(trip),
                page=source.page,
                target=trip["refs"].get("value", ""),
            )
            for number, (source, trip) in enumerate(there)
        )
        if dots:
            named = told_apart(list({source.page: source for source, _ in there}.values()))
            studies = tuple((source.group, source.title, source.page) for source in named)
            lanes.append(Lane(name=PLACES[placement].removeprefix("in the "), dots=dots, studies=studies))
    steps = [digit * 10.0**power for power in range(3, 10) for digit in (1, 2, 5)]
    steps = [step for step in steps if start < math.log(step) < end]
    # A phone has no room for the minor ones; without two others, they are all that tells the scale.
    major = [step for step in steps if math.log10(step).is_integer()]
    major = major if len(major) > 1 else steps
    return Picture(
        lanes=tuple(lanes),
        limits=tuple(
            Mark(at=place(value), text=f"“{printed}”", label=source, held=held)
            for value, printed, source, held in sorted(published)
        ),
        ticks=tuple(
            Mark(at=place(step), text=format_value(step, "ns", digits=1), label="" if step in major else "minor")
            for step in steps
        ),
    )


def _held(stated: Source, limit: float, trips: Sequence[tuple[Source, Mapping[str, Any]]]) -> str:
    """Say how many round trips across zones of the provider whose limit a study states were measured below it."""
    provider = stated.group.partition(" · ")[0]
    across = [
        trip
        for source, trip in trips
        if trip["placement"] == "cross_zone" and source.group.partition(" · ")[0] == provider
    ]
    below = f"{sum(float(trip['value']) < limit for trip in across)} of {len(across)} medians or means across zones"
    once = " (one run or quoted number each)" * all(_kind(trip) == "once" for trip in across)
    slow = any((trip[tail] or 0.0) > limit for trip in across for tail in ("p99", "p999"))
    packets = "; single packets were not" if slow else ""
    without = "connect times are left out, and pings where another tool measured"
    return f"{below} on {provider} were below{once}{packets}; {without}" if across else ""


def clouds_of(studies: Sequence[StudyView]) -> list[str]:
    """Return the clouds of a collection; empty for a reader's own logs, of which the words about one would be false."""
    clouds = [study.provider for study in studies if not study.emulated]
    return sorted(set(clouds)) if len(clouds) >= _COLLECTION and all(clouds) else []


def guide_of(studies: Sequence[StudyView]) -> dict[str, tuple[str, str]]:
    """Return the questions about a collection: `GUIDE`, or none."""
    return GUIDE if clouds_of(studies) else {}


def crossing(sources: Sequence[Source]) -> Crossing | None:
    """Return the least and the most that crossing a zone adds to a round trip, over all studies that measured it."""
    added = [
        (float(trip["added"]), source, trip, row)
        for source in sources
        for row, trip in _zone_trips(source).items()
        if trip["added"] is not None
    ]
    if not added:
        return None
    added.sort(key=lambda item: item[0])
    adds = added[0][0] >= 0
    low, high = (
        Mark(
            at=0.0,
            text=format_value(value, "ns", digits=2) if adds else signed_value(value, "ns"),
            label=f"{source.title}: {trip['path']}, {trip['method']}",
            page=f"across.html#{row}",
        )
        for value, source, trip, row in (added[0], added[-1])
    )
    studies, kinds = len({source.page for _, source, *_ in added}), Counter(_kind(trip) for _, _, trip, _ in added)
    once, published = kinds["once"], kinds["published"]
    return Crossing(
        adds=adds, depends=not adds or added[-1][0] >= 2 * added[0][0], low=low, high=high, studies=studies,
        paths=len(added), once=once, published=published,
    )  # fmt: skip


def tiles(sources: Sequence[Source]) -> tuple[Tile, ...]:
    """Return the questions of readers that any of the studies answers: with logs before what a text reports."""
    found = []
    sources = told_apart(sources)
    for key, question in QUESTIONS.items():
        some = [(source, source.card.readers[key]) for source in sources if key in source.card.readers]
        # An emulated lab answers only what no study of a real cloud does.
        real = [(source, parts) for source, parts in some if not source.emulated]
        if some:
            answers = sorted(real or some, key=lambda answer: answer[0].card.badge_text == QUOTED)
            found.append(Tile(key=key, question=question, answers=tuple(answers)))
    return tuple(found)


def told_apart(sources: Sequence[Source]) -> list[Source]:
    """Return the sources; one that shares its cloud and region with another is named by its cloud and title."""
    shared = Counter(source.group for source in sources)
    return [
        replace(source, group=f"{source.group.partition(' · ')[0]} · {source.title.partition(',')[0]}")
        if shared[source.group] > 1
        else source
        for source in sources
    ]


def answered(sources: Sequence[Source]) -> Mapping[str, int]:
    """Return how many of the readers' questions each study answers, by its page."""
    return {source.page: len(source.card.readers) for source in sources}


def pairs(sources: Sequence[Source]) -> tuple[Pairs, ...]:
    """Return the pairs of zones of each study with what a commit waits for, nearest first."""
    found = []
    for source in sources:
        trips = _zone_trips(source)
        if not any(trip["placement"] == "cross_zone" for trip in trips.values()):
            continue
        names, shared = _names(list(trips.values()))
        rows = tuple(
            (
                name,
                *(_linked(_typical(trip), trip, "value"), _subtraction(trip), trip["statistic"]),
                *(_linked(format_value(trip[key], "ns") or "–", trip, key) for key in ("p99", "p999")),
                *(_runs(trip), row),
            )
            for name, (row, trip) in zip(names, trips.items(), strict=True)
        )
        measured = list(trips.values())
        found.append(
            Pairs(source=source, rows=rows, shared=shared, majority=_majority(measured), unknown=_unknown(measured))
        )
    return tuple(found)


def _majority(trips: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Say what a commit waits for that needs one of two replicas, for each region of three zones with all their pairs.

    Of more zones, the three whose leader waits least. Of several tools, the one that measured most paths.
    """
    across = [trip for trip in trips if trip["placement"] == "cross_zone"]
    methods = Counter(trip["method"] for trip in across)
    most_paths = max(methods, key=methods.__getitem__, default="")
    regions: dict[str, dict[str, list[float]]] = {}
    for trip in across:
        if trip["method"] == most_paths:
            of_pair = regions.setdefault(str(trip["region"] or ""), {}).setdefault(str(trip["pair"]), [])
            of_pair.append(float(trip["value"]))
    said, left_out = [], list[str]()
    like = one_prefix([value for pairs in regions.values() for values in pairs.values() for value in values], "ns")
    for region, pairs in regions.items():
        choices = list(_choices_of_three(pairs))
        if not choices:
            left_out.append(region)
            continue
        waits: dict[str, list[str]] = {}
        for zone, nearest in min(choices, key=lambda choice: sorted(map(max, choice.values()), reverse=True)).items():
            waits.setdefault(span(nearest, "ns", like=like), []).append(zone)
        of_zones = "; ".join(f"{wait} in {join_words(names)}" for wait, names in waits.items())
        best = f"least of {len(choices)} choices of three zones: " if len(choices) > 1 else ""
        said.append(f"{region}: {best}{of_zones}" if len(regions) > 1 else f"{best}{of_zones}")
    others = [f"left out: {join_words(left_out)} (pairs missing)"] if said and left_out else []
    return (*said, *others)


def _choices_of_three(pairs: Mapping[str, list[float]]) -> Iterator[dict[str, list[float]]]:
    """Yield each choice of three zones with all their pairs: of each zone, the round trips to the nearer of the others.

    ``pairs``: the round trips of each pair, called by its zones in order.
    """
    for zones in combinations(sorted({zone for pair in pairs for zone in pair.split("–")}), _REPLICAS):
        of_choice = ["–".join(two) for two in combinations(zones, 2)]
        if set(of_choice) <= pairs.keys():
            yield {zone: min((pairs[pair] for pair in of_choice if zone in pair.split("–")), key=max) for zone in zones}


def _names(trips: Sequence[Mapping[str, Any]]) -> tuple[list[str], str]:
    """Return the names of paths by what tells them apart, and what all of them share.

    A pair of zones names a path that goes from its first to its last end, unless a study has both directions.
    """
    regions, paths, pairs, methods, statistics = ([str(trip[name] or "") for trip in trips] for name in _NAMED)
    ends = [pair.split("–") for pair in pairs]
    is_short = all(path == f"{end[0]} → {end[-1]}" for path, end in zip(paths, ends, strict=True))
    if is_short and len({*zip(regions, pairs, methods, strict=True)}) == len(trips):
        prefixes = {region: _prefix(ends, regions, region) for region in set(regions)}
        paths = [
            short_pair(pair) if "–" in pair else pair.removeprefix(prefixes[region])
            for region, pair in zip(regions, pairs, strict=True)
        ]
    shared = [names[0] for names in (regions, methods, statistics) if len({*names}) == 1]
    told_apart = [names for names in (regions, paths, methods) if names is paths or len({*names}) > 1]
    return [", ".join(filter(None, names)) for names in zip(*told_apart, strict=True)], ", ".join(filter(None, shared))


def _prefix(ends: Sequence[Sequence[str]], regions: Sequence[str], region: str) -> str:
    """Return the words with which the names of all zones of a region begin: "us-south-"."""
    zones = {zone for some, of_region in zip(ends, regions, strict=True) if of_region == region for zone in some}
    words = zip(*(zone.split("-") for zone in zones), strict=False)
    shared = takewhile(lambda same: len({*same}) == 1, words)
    return "".join(f"{word}-" for word, *_ in shared) if len(zones) > 1 else ""


def _zone_trips(source: Source) -> dict[str, Mapping[str, Any]]:
    """Return the round trips inside and between zones of a study, nearest first, by the id of their row."""
    trips = [trip for trip in source.card.round_trips if trip["placement"] in ("same_zone", "cross_zone")]
    trips.sort(key=lambda trip: (str(trip["region"]), float(trip["value"])))
    return {f"{source.page}-{number}": trip for number, trip in enumerate(trips, start=1)}


def _kind(trip: Mapping[str, Any]) -> str:
    if trip["published"]:
        return "published"
    return "once" if trip["runs"] < _REPEATED else "repeated"


def _typical(trip: Mapping[str, Any]) -> str:
    """Return the typical round trip, or the range that a text reports."""
    ends = [trip["value"]] if trip["runs"] else [trip["low"], trip["high"]]
    return span(ends, "ns", like=one_prefix(ends, "ns"), step=trip["resolution"] or 0.0)


def _linked(text: str, trip: Mapping[str, Any], key: str) -> PartView:
    return PartView(text=text, target=trip["refs"].get(key, ""))


def _subtraction(trip: Mapping[str, Any]) -> str:
    """Return what crossing adds, as the round trip minus the mean inside its zones: "38.7 µs (105.5 µs − 66.8 µs)"."""
    if trip["added"] is None:
        return "–"
    value, added = float(trip["value"]), float(trip["added"])
    terms = value, value - added, added
    like = one_prefix(terms, "ns") or added
    scale, _ = prefixed_unit("ns", like)
    # A number of a text may be the middle of a range.
    is_whole = not trip["runs"] or all(math.isclose(term, scale * round(term / scale)) for term in terms)
    step = scale / (1 if is_whole or value >= 1000 * scale else 10)
    # The printed terms add up.
    from_, less = (step * round(term / step) for term in terms[:2])
    terms = from_, less, from_ - less
    minuend, subtrahend, rest = (format_value(term, "ns", digits=9, like=like, step=step) for term in terms)
    return f"{rest} ({minuend} − {subtrahend})"


def _runs(trip: Mapping[str, Any]) -> str:
    """Return the number of runs; of a published series that of its windows, and how far their values range."""
    if not trip["published"]:
        return str(trip["runs"] or "reported")
    ends = [trip["least"], trip["most"]]
    reach = span(ends, "ns", like=one_prefix(ends, "ns"), step=trip["resolution"] or 0.0)
    return f"newest of {trip['runs']} windows ({reach})"


def _unknown(trips: Sequence[Mapping[str, Any]]) -> str:
    """Say what is not known of the pairs of a study."""
    missing = ["p99"] if all(trip["p99"] is None for trip in trips) else []
    missing += ["how much a second run differs"] if all(_kind(trip) != "repeated" for trip in trips) else []
    return join_words(missing)
