"""Which runs of the same path and method repeat each other, by the names of their files and the labels above them.

Runs are repeats unless something tells them apart. What a name or a label tells apart becomes the scenario of the
runs; what nothing tells apart is assumed to be the same, and the assumption is kept. See ``docs/concepts/repeats.md``.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, combinations, groupby, pairwise
from operator import attrgetter
from typing import NamedTuple

from azlatency.logs.recognise.labels import COMMAND, JOINED, NUMBER_ALONE
from azlatency.studies.manifest.names import (
    Name,
    Part,
    is_dated,
    is_file_name,
    is_result,
    is_thing,
    is_tool,
    label_text,
    may_count,
    number_in,
    read_name,
    read_names,
    says_again,
    says_no_amount,
    series_that_count,
    shared_folder,
    siblings_that_count,
    split_path,
    split_time_of_day,
    without_gap,
)

_NUMBERS, _NUMBER = re.compile(r"\d+"), re.compile(r"(\d+)")
#: The number of a run in a command: ``make bench RUN=2``, ``./bench.sh --run 2``; ``--runs 2`` is how many.
_RUN = re.compile(r"\b(?:run|trial|attempt|round)[= ]\d{1,4}\b", re.IGNORECASE)
#: What is assumed of a run, in the column ``assumed``.
ONE_CLIENT, ONE_SERVER, NUMBER_COUNTS = "one_client", "one_server", "number_counts"
FROM_NAME, FROM_LABEL = "scenario_from_name", "scenario_from_label"
#: What is assumed of runs, because no log, name or label says it.
ASSUMED = {
    ONE_CLIENT: "one client, which these logs do not name",
    ONE_SERVER: "one server, which these logs do not name",
    NUMBER_COUNTS: "the last number in the names of these files counts repeats",
    FROM_NAME: "files whose names differ in more than a number or a time are of different scenarios",
    FROM_LABEL: "logs below different headings or labels are of different scenarios",
}
#: Numbers that count nothing: 0.1, -1.
_FRACTION = re.compile(r"[+-]?\d+\.\d+|[+-]\d+")
#: What stands around labels.
_MARKS = " *_#:=-"
#: Folders above these are compared together.
_MOST_LEVELS = 12
#: The scenario of a name that says nothing, beside others that do.
_OTHER = "other"
#: The path of a log, and the numbers in it that the manifest reads.
_Key = tuple[str, frozenset[int]]
#: The words of a name but its last number, with their folders.
_Rest = tuple[tuple[int, str], ...]


class Described(NamedTuple):
    """What the names and labels of a run say about it: its scenario if they tell it apart, and what is assumed."""

    scenario: str | None
    assumed: tuple[str, ...]


def treatments(
    groups: Sequence[Hashable],
    files: Sequence[str],
    headings: Sequence[str | None],
    known: Sequence[frozenset[int]],
    others: Iterable[str] = (),
    ends: Sequence[Collection[str]] | None = None,
) -> list[Described]:
    """Return for each run what its name and its label say.

    Runs of equal ``groups`` have everything else in common: ends, tool, test, settings. ``files`` and ``headings``:
    path of the log, and the headings above the run (``outer / inner``), `with_inherited` ones; one that is the name of
    a file is the last part of the path. ``known``: the numbers of each run that the manifest reads from its name, round
    and repeat.
    ``others``: further files, such as a copy or an empty log; their numbers fill the gaps between those of the runs.
    ``ends``: the addresses of the client and the server of each run, which say nothing more in its label.
    """
    ends = ends or [()] * len(files)
    quoted = [(heading or "").split(JOINED) for heading in headings]
    files = ["!".join([file, *filter(is_file_name, parts)]) for file, parts in zip(files, quoted, strict=True)]
    headings = [JOINED.join(part for part in parts if not is_file_name(part)) for parts in quoted]
    files, others = ([unicodedata.normalize("NFC", file) for file in each] for each in (files, others))
    places: dict[Hashable, list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(group, []).append(place)
    described = [Described(None, ())] * len(files)
    # The number of the folder of all counts nothing: az.parse("2"). Its words say what numbers below it are.
    folder = shared_folder([*files, *others])
    words = _NUMBERS.sub("", folder).strip("/")
    files, others = (
        ["/".join([words, file.removeprefix(folder)]).lstrip("/") for file in each] for each in (files, others)
    )
    series = series_that_count([*files, *others])
    series |= siblings_that_count(dict.fromkeys(files), series)
    # So do the numbers of runs of other paths: six of "ping_1" … "ping_7", and one with another server.
    taken = _numbers_of([*others, *files])
    # "bbr_0", "bbr_1", "cubic_0", "cubic_1" count repeats, and "gro_0", "gro_1" alone may switch a setting.
    may_switch = len(_numbers_of(files)) == 1
    for runs in places.values():
        if len(runs) == 1:
            continue
        by_names = _by_names([files[run] for run in runs], [known[run] for run in runs], taken, series, may_switch)
        by_labels = labels_apart([headings[run] for run in runs], [ends[run] for run in runs])
        for run, (name, counts), (label, label_counts) in zip(runs, by_names, by_labels, strict=True):
            assumed = [FROM_NAME] if name else []
            assumed += [FROM_LABEL] if label else []
            assumed += [NUMBER_COUNTS] if counts or label_counts else []
            described[run] = Described(JOINED.join(filter(None, (name, label))) or None, tuple(assumed))
    return described


def _numbers_of(files: Iterable[str]) -> dict[_Rest, set[int]]:
    """Return the last numbers of names, by the rest of the name."""
    numbers: dict[_Rest, set[int]] = {}
    for name in map(read_name, dict.fromkeys(files)):
        if name.last is not None:
            numbers.setdefault(_rest(name), set()).add(number_in(name.last.text))
    return numbers


def _rest(name: Name) -> _Rest:
    return tuple((part.level, part.text.casefold()) for part in name.parts)


def _by_names(
    files: Sequence[str],
    known: Sequence[frozenset[int]],
    taken: Mapping[_Rest, set[int]],
    series: frozenset[str],
    may_switch: bool,
) -> list[tuple[str, bool]]:
    """Return what the name of each run says that not all say, and whether its last number counts repeats."""
    names = read_names(dict.fromkeys(zip(files, known, strict=True)).keys(), series)
    counted = _counted(names, taken)
    is_switch = may_switch and all(map(_is_switch, names.values()))
    if counted == names.keys() and (is_switch or _are_amounts(names.values())):
        counted = set()
    parts = {key: name.parts if key in counted else _with_number(name) for key, name in names.items()}
    if _have_other_counters(names.values()):  # "day_1" and "night_1"
        parts = {
            key: tuple(sorted((*parts[key], *name.counters), key=lambda part: (-part.level, part.start)))
            for key, name in names.items()
        }
    texts = {key: tuple((part.level, part.text.casefold()) for part in kept) for key, kept in parts.items()}
    # A word that some names say twice tells them apart: "az1-az1", "victim_ping_attacker_ping".
    first = next(iter(texts.values()))
    common = {text for text in first if all(each.count(text) == first.count(text) for each in texts.values())}
    shown = {key: _shown(key[0], _told_apart(parts[key], texts[key], common)) for key in names}
    different = set(texts.values())
    if len(different) == 1:
        return [("", key in counted) for key in zip(files, known, strict=True)]
    if "" in shown.values() or len({text.casefold() for text in shown.values()}) < len(different):
        # One name has no word of its own, or the words of two differ in their order only: show whole folders.
        by_level = {key: [_of_level(text, level) for level in range(_MOST_LEVELS)] for key, text in texts.items()}
        levels = {at for at, found in enumerate(zip(*by_level.values(), strict=True)) if len(set(found)) > 1}
        # A tool that all names have would tell its runs from the same ones of another tool.
        tools = {text for text in common if is_tool(text[1])}
        shown = {
            key: _shown(
                key[0],
                [
                    part
                    for part, text in zip(parts[key], texts[key], strict=True)
                    if min(part.level, _MOST_LEVELS - 1) in levels and text not in tools
                ],
            )
            or _OTHER
            for key in names
        }
    return [(shown[key], key in counted) for key in zip(files, known, strict=True)]


def _have_other_counters(names: Iterable[Name]) -> bool:
    """Return whether names count with different words."""
    words = {frozenset(part.text.casefold() for part in name.counters) for name in names}
    return any(one and other and not one & other for one, other in combinations(words, 2))


def _of_level(texts: Sequence[tuple[int, str]], level: int) -> tuple[str, ...]:
    """Return the words of a folder; those of all higher ones for the last level."""
    return tuple(text for depth, text in texts if min(depth, _MOST_LEVELS - 1) == level)


def _counted(names: Mapping[_Key, Name], taken: Mapping[_Rest, set[int]]) -> set[_Key]:
    """Return the names whose last number counts repeats: from 0 or 1, without a gap, among names alike in all else."""
    alike: dict[_Rest, dict[_Key, int | None]] = {}
    for key, name in names.items():
        alike.setdefault(_rest(name), {})[key] = None if name.last is None else number_in(name.last.text)
    if all(len(numbers) == 1 for numbers in alike.values()):  # "01_default", "02_bbr": nothing repeats
        return set()
    fractions = {
        tuple((level, text) for level, text in _rest(name) if not _FRACTION.fullmatch(text))
        for name in names.values()
        if any(_FRACTION.fullmatch(part.text) for part in name.parts)
    }
    pairs = _number_pairs(names.values())
    every = [number for numbers in alike.values() for number in numbers.values() if number is not None]
    # "1_direct", "2_vpn", "3_vpn", "4_direct": one number counts the runs of all treatments.
    is_serial = len(every) == len(names) and without_gap(every) and all(len(numbers) > 1 for numbers in alike.values())
    counted: set[_Key] = set()
    for rest, numbers in alike.items():
        values = {number for number in numbers.values() if number is not None}
        if not values or rest in fractions or rest in pairs:  # "loss_0.1" beside "loss_1": the number is a setting
            continue
        values |= {number for number in taken.get(rest, ()) if number < max(values)}
        if len(values) < len(numbers) and any(map(_has_dates_below, numbers, map(names.get, numbers))):
            continue
        # The first of "ping.log", "ping_2.log", "ping_3.log" has no number.
        firsts = (0, 1, 2) if None in numbers.values() else (0, 1)
        if is_serial or without_gap(values, firsts):
            counted.update(numbers)
    return counted


def _has_dates_below(key: _Key, name: Name | None) -> bool:
    """Return whether the last number is that of a folder with a file of a date: ``turbo_1/2026-01-31.log``."""
    return bool(name and name.last and name.last.level) and is_dated(split_path(key[0])[-1])


def _is_switch(name: Name) -> bool:
    """Return whether the number of a name may switch a setting: ``gro_0`` and ``gro_1``, but not ``ping_0``."""
    if name.last is None or number_in(name.last.text) > 1:
        return False
    before = [part.text for part in name.parts[: name.place] if part.level == name.last.level]
    return bool(before) and not before[-1].isdecimal() and not all(map(is_result, before))


def _are_amounts(names: Iterable[Name]) -> bool:
    """Return whether the same word stands behind all numbers, which says what they count: ``ping_1_walls``."""
    behind = {
        tuple(part.text.casefold() for part in name.parts[name.place : name.place + 1] if part.level == name.last.level)
        for name in names
        if name.last is not None
    }
    word = next(iter(behind))[:1] if len(behind) == 1 else ()
    return bool(word) and word[0].isalpha() and not says_no_amount(word[0])


def _number_pairs(names: Iterable[Name]) -> set[_Rest]:
    """Return the rests of names that end with two bare numbers which both count: ``rtt-1-1`` … ``rtt-2-3`` are pairs.

    Behind a thing or a setting, the first number is its value: ``client_1_3``.
    """
    alike: dict[_Rest, dict[int, _Rest]] = {}
    for name in names:
        before = name.parts[name.place - 1 : name.place] if name.last is not None and name.place else ()
        is_pair = before and name.last and before[0].level == name.last.level and before[0].text.isdecimal()
        if is_pair and not any(is_thing(part.text) for part in name.parts[max(name.place - 2, 0) : name.place - 1]):
            rest = _rest(name._replace(parts=name.parts[: name.place - 1] + name.parts[name.place :]))
            alike.setdefault(rest, {})[number_in(before[0].text)] = _rest(name)
    return {rest for firsts in alike.values() if len(firsts) > 1 and without_gap(firsts) for rest in firsts.values()}


def _told_apart(
    parts: Sequence[Part], texts: Sequence[tuple[int, str]], common: Collection[tuple[int, str]]
) -> list[Part]:
    """Return the parts that not all names have; a number with the thing that it names, such as ``rps_1000``."""
    chosen: dict[int, None] = {}
    for at, (part, text) in enumerate(zip(parts, texts, strict=True)):
        if text in common:
            continue
        beside = [place for place in (at - 1, at + 1) if 0 <= place < len(parts) and part.text.isdecimal()]
        named = [place for place in beside if parts[place].level == part.level and is_thing(parts[place].text)]
        chosen |= dict.fromkeys([at, *named[:1]])
    return [parts[at] for at in sorted(chosen)]


def _with_number(name: Name) -> tuple[Part, ...]:
    """Return the parts of a name with its last number, which does not count repeats."""
    return name.parts if name.last is None else (*name.parts[: name.place], name.last, *name.parts[name.place :])


def _shown(path: str, parts: Sequence[Part]) -> str:
    """Return parts of a path as they are written there, those of one folder joined by what stands between them."""
    levels = split_path(path)[::-1]
    texts = []
    for level, group in groupby(parts, attrgetter("level")):
        text, end = "", None
        for part in group:
            between = "" if end is None else levels[level][end : part.start]
            text += (between if len(between) <= 1 else " ") + part.text
            end = part.start + len(part.text)
        texts.append(text)
    return "/".join(texts)


class _Chain(NamedTuple):
    """The labels of a run that say something: what is compared of them, and their texts."""

    keys: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


def with_inherited(
    files: Sequence[str], headings: Sequence[str | None], ends: Sequence[Collection[str]]
) -> list[str | None]:
    """Return the headings of runs with the labels that they inherit from a run above them in the same file.

    A label that says only that its run is another one ("Second run") inherits the one in its place, unless the first
    run there has such a label, too ("Run 1"). See `_heads` for one that stands below several others.
    """
    found = list(headings)
    places: dict[str, list[int]] = {}
    for place, file in enumerate(files):
        places.setdefault(file, []).append(place)
    for runs in places.values():
        parts = [_parts(headings[run]) for run in runs]
        if len({*map(tuple, parts)}) == 1:
            continue
        chains: list[_Chain] = []
        seen: set[tuple[str, ...]] = set()
        counted: set[tuple[str, ...]] = set()
        for texts, keys in zip(parts, _compared_parts(parts, [ends[run] for run in runs]), strict=True):
            above, chain = chains[-1] if chains else _Chain(), _Chain()
            for at, (text, key) in enumerate(zip(texts, keys, strict=True)):
                place = len(chain.keys)
                is_free = above.keys[:place] == chain.keys and (chain.keys not in counted or says_again(text))
                is_free &= not any(keys[at:])  # "Run 2" may be a section: below it stands what the run is
                if key:
                    chain = _Chain((*chain.keys, key), (*chain.texts, text))
                elif is_free and place < len(above.keys):
                    chain = _Chain(above.keys[: place + 1], above.texts[: place + 1])
                elif chain.keys not in seen:
                    counted.add(chain.keys)
            seen |= {chain.keys[:place] for place in range(len(chain.keys) + 1)}
            chains.append(chain)
        for run, texts, chain, head in zip(runs, parts, chains, _heads([each.keys for each in chains]), strict=True):
            of_head = () if head is None else chains[head].texts
            if of_head and not chain.keys:  # "tuned" between "Run 2" and "Run 3": with which one, nobody knows
                of_head = (f"below {of_head[-1]}",)
            found[run] = JOINED.join(dict.fromkeys([*of_head, *chain.texts, *texts])) or None
    return found


def _heads(labels: Sequence[tuple[str, ...]]) -> list[int | None]:
    """Return for each run in order the run whose label its own is kept below, if any.

    Of A, x, B, x, the text x says the same below two labels that stand only once, and is no treatment common to both;
    of A, x, B, A, x, B, it is.
    """
    starts = [at for at, label in enumerate(labels) if not at or label != labels[at - 1]]
    count = Counter(labels[at] for at in starts)
    followed = sum(count[labels[one]] == 1 < count[labels[other]] for one, other in pairwise(starts))
    if followed < (1 if not labels[0] else 2) or (labels[0] and count[labels[0]] > 1):
        return [None] * len(labels)
    heads: list[int | None] = []
    head = None
    for at, label in enumerate(labels):
        head = at if count[label] == 1 else head
        heads.append(head if count[label] > 1 else None)
    return heads


def labels_apart(
    headings: Sequence[str | None], ends: Sequence[Collection[str]] | None = None
) -> list[tuple[str, bool]]:
    """Return what the label of each run says that not all say, and whether others are assumed to count repeats.

    ``ends`` are the addresses of the client and the server of each run.
    """
    parts = [_parts(heading) for heading in headings]
    compared = _compared_parts(parts, ends or [()] * len(parts))
    common = set.intersection(*map(set, compared)) | {""}
    alike: dict[str, list[str]] = {}
    for texts, keys in zip(parts, compared, strict=True):
        for text, key in zip(texts, keys, strict=True):
            alike.setdefault(key, []).append(text.strip(_MARKS))
    shown = {key: _common(texts) for key, texts in alike.items()}
    apart = [JOINED.join(shown[key] for key in dict.fromkeys(keys) if key not in common) for keys in compared]
    counting: dict[str, set[tuple[str, ...]]] = {}
    for label, texts in zip(apart, parts, strict=True):
        counting.setdefault(label, set()).add(tuple(counting_labels(texts)))
    # One bare number counts nothing.
    counts = {
        label: len(those - {()}) > 1 or (len(those) > 1 and any(map(may_count, chain(*those))))
        for label, those in counting.items()
    }
    return [(label, counts[label]) for label in apart]


def _common(texts: Sequence[str]) -> str:
    """Return labels that differ in a number only with a star in its place, others as the first: "round * zone 1"."""
    pieces = {tuple(_NUMBER.split(text)) for text in texts}
    if len({len(each) for each in pieces}) > 1 or len({each[::2] for each in pieces}) > 1:
        return texts[0]
    return "".join(words[0] if len({*words}) == 1 else "*" for words in zip(*pieces, strict=True))


def _parts(heading: str | None) -> list[str]:
    return list(filter(None, (heading or "").split(JOINED)))


def _compared_parts(parts: Sequence[Sequence[str]], ends: Sequence[Collection[str]]) -> list[list[str]]:
    """Return what is compared of each label, nothing of those that count."""
    # "=== 1 ===" … "=== 3 ===" count, "=== 64 ===" and "=== 1400 ===" do not.
    alone = {text for texts in parts for text in texts if NUMBER_ALONE.fullmatch(text)}
    counting = alone if without_gap({*map(number_in, alone)}) else set()
    series = series_that_count((text for texts in parts for text in texts if text not in counting), are_labels=True)
    # "First run, this morning", "Second run, this evening"; but mornings and evenings of several runs are treatments.
    texts = {text for texts in parts for text in texts}
    timed = {text: split for text in texts if (split := split_time_of_day(text.strip(_MARKS), series))}
    if all(len({*each}) == len(timed) for each in zip(*timed.values(), strict=True)):
        counting |= timed.keys()
    return [
        ["" if text in counting else _compared(text.strip(_MARKS), series, tuple(known)) for text in texts]
        for texts, known in zip(parts, ends, strict=True)
    ]


def counting_labels(labels: Iterable[str]) -> list[str]:
    """Return the labels that are assumed to count repeats if they differ: nothing but a number, and `may_count`."""
    return [text for text in labels if NUMBER_ALONE.fullmatch(text) or may_count(text)]


@lru_cache(maxsize=8192)
def _compared(text: str, series: frozenset[str], ends: tuple[str, ...]) -> str:
    """Return what is compared of a label; of a command all, because numbers and addresses in it are settings."""
    return (_RUN.sub(" ", text) if text.startswith(COMMAND) else label_text(text, series, ends)).casefold()
