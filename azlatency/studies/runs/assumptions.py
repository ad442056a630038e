"""What is assumed of the runs of a study, what tells them apart, and the lines of ``study.toml`` that change it."""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import takewhile

import pandas as pd

from azlatency.logs.recognise.labels import JOINED
from azlatency.logs.tables import Logs
from azlatency.studies.format import count_of, join_words, literal, plain, printable, toml_lines, toml_text
from azlatency.studies.manifest.names import is_dated, is_tool, levels_of, read_name, shared_folder, split_path
from azlatency.studies.manifest.path_pattern import MOST_FIELDS, PathPattern
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.left_out import doubtful_rows, in_words, named, used_runs, without_result
from azlatency.studies.runs.round_trips import latency
from azlatency.studies.runs.run_table import DOUBTFUL, END_COLUMNS, FROM_TABLE, client_runs, overlapping_runs, run_table
from azlatency.studies.runs.selection import is_window
from azlatency.studies.runs.throughput import throughput
from azlatency.studies.runs.treatments import (
    ASSUMED,
    FROM_LABEL,
    FROM_NAME,
    NUMBER_COUNTS,
    ONE_CLIENT,
    ONE_SERVER,
    counting_labels,
    labels_apart,
)
from azlatency.studies.store.study import Study

#: At most this many groups, names and lines are shown.
_MOST = 3
#: From this many ends of one side on, addresses rather change with every run than belong to as many machines.
_MANY = 6
#: Of names that are longer together, one is shown.
_LONGEST = 120
#: That of a tool is none, nor is a decimal.
_LAST_NUMBER = re.compile(r"(?<!\d)(?<!\d\.)(?<!iperf)(?<!hping)(?<!wrk)\d{1,9}(?=(?:iperf[23]|hping3|wrk2|\D)*$)")
#: A number with a unit sets something: 10M, 500mbit, 5ms.
_WITH_UNIT = re.compile(r"\*(?:[kmgt]i?(?:b|bits?|bps|bytes?)?|bits?|bytes?|[mun]?s|min|h)(?![a-z])", re.IGNORECASE)
_LETTER = re.compile(r"[ _-][A-Za-z]")
#: A word of a name; what stands between two tells the shapes of names apart.
_WORD = re.compile(r"([^\W_]+)")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")


def assumptions(study: Study | Logs) -> list[str]:
    """Return sentences about what is assumed, kept apart (with the line that joins it) and without a result."""
    runs = client_runs(study)
    if not len(runs):
        return []
    lines = [*_drafted(study)]
    separating = _by_number if lines else _by_differences
    codes = runs["assumed"].fillna("").str.split()
    used = used_runs(study)
    # What is assumed of one run, and a number that tells nothing apart from anything, matters to no answer.
    repeated = used[used.duplicated(["path", "method"], keep=False)]
    # Where a label names the path, nothing is assumed of its ends.
    unnamed = repeated[repeated["path"].astype(str).str.contains("?", regex=False)]
    for code in (ONE_CLIENT, ONE_SERVER):
        count = sum(code in each.split() for each in unnamed["assumed"].fillna(""))
        # Where labels keep paths apart, such as the names of clients, one end is assumed for each.
        text = ASSUMED[code] if unnamed["scenario"].nunique() < 2 else ASSUMED[code].replace(",", " per path,", 1)
        lines += [f"assumed: {text} ({count_of(count, 'run')})"] * (count > 0)
    lines += _by_labels(study, runs)
    lines += _counted(repeated, runs, separating)
    lines += _of_folders(used)
    lines += _equal(study)
    lines += windows_used(study)
    lines += _ended(study)
    lines += _against_labels(runs[runs.index.isin(study.runs.dropna(subset="scenario")["run_id"])])
    lines += _kept_apart(runs, codes)
    lines += _doubtful(study, runs)
    lines += _in_two_zones(runs)
    lines += _alone(runs)
    lines += _overlapping(runs)
    lines += in_words(runs, without_result(study))
    return [*lines, *doubtful_rows(study)]


def _counted(
    repeated: pd.DataFrame, runs: pd.DataFrame, separating_names: Callable[[pd.DataFrame, pd.DataFrame], list[str]]
) -> Iterator[str]:
    """Yield which numbers are assumed to count repeats, of names and of labels, and the lines that separate them."""
    counted = repeated[repeated["assumed"].fillna("").str.contains(NUMBER_COUNTS)]
    numbers = [tuple(counting_labels(heading.split(JOINED))) for heading in counted["heading"].fillna("")]
    of_groups = counted.assign(numbers=numbers).groupby(["path", "method"], dropna=False)
    by_name, by_label = (of_groups[column].transform("nunique") > 1 for column in ("file", "numbers"))
    letters = {levels_of(file)[-1][-2:] for file in counted["file"][by_name]}
    what = "letter" if len(letters) > 1 and all(map(_LETTER.fullmatch, letters)) else "number"
    for where, those, separating in (
        (f"the last {what} in the names of these files counts repeats", counted[by_name | ~by_label], separating_names),
        ("labels that differ in a number or in the time only count repeats", counted[by_label], _by_label),
    ):
        if len(those):
            first, *lines = separating(those, runs) or [""]
            yield f"assumed: {where} ({count_of(len(those), 'run')}){first}"
            yield from lines


def _of_folders(used: pd.DataFrame) -> Iterator[str]:
    """Yield which folders, such as those of days, hold runs that are assumed to be repeats of each other."""
    unsaid = used[~used["assumed"].fillna("").str.contains(NUMBER_COUNTS)]
    folders = unsaid["file"].map(lambda file: "/".join(split_path(file)[:-1]))
    joined = folders[folders.groupby([unsaid["path"], unsaid["method"]], dropna=False).transform("nunique") > 1]
    if len(joined):
        names = below_common_folder(joined.unique(), joined.unique())
        yield f"assumed: the runs of these folders are repeats: {named(names)} ({count_of(len(joined), 'run')})"


def _equal(study: Study | Logs) -> Iterator[str]:
    """Yield which logs are assumed to be runs of their own although they have the bytes of others."""
    if alike := list(study.sources.loc[study.sources.duplicated("sha256"), "path"]):
        names = f"although another log has the same bytes: {named(alike)}"
        yield f"assumed: no copies, {names}; delete those that are copies"


def _by_label(counted: pd.DataFrame, runs: pd.DataFrame) -> list[str]:
    """Return the entries that keep apart runs whose labels are assumed to count, if nothing else tells runs apart."""
    if counted["assumed"].str.contains(f"{FROM_NAME}|{FROM_LABEL}").any():
        return []  # an entry for "1" would join the first runs of all treatments
    files = below_common_folder(counted["file"], runs["file"])
    labels = list(
        dict.fromkeys(label for heading in counted["heading"] for label in counting_labels(heading.split(JOINED)))
    )
    chosen = [toml_lines(transcript=_glob(files), heading=literal(label), scenario=label) for label in labels]
    head = "; if they name things, add to the end of study.toml:"
    return [head, *(f"    {line}" for line in _limited([["[[run]]", *lines] for lines in chosen]))]


def _by_number(counted: pd.DataFrame, runs: pd.DataFrame) -> list[str]:
    """Return the entries that keep logs apart by their last number, if the pattern of the study reads all else."""
    names = {_LAST_NUMBER.sub("{scenario}", split_path(file)[-1]) for file in counted["file"]}
    if len(names) > _MOST or runs["scenario"].notna().any() or any({*"*{}"} & {*file} for file in counted["file"]):
        return []
    entries = [line for name in sorted(names) for line in ("[[run]]", *toml_lines(pattern=name))]
    return ["; if it names a thing, add to the end of study.toml:", *(f"    {line}" for line in entries)]


def _by_differences(counted: pd.DataFrame, runs: pd.DataFrame) -> list[str]:
    """Return the line that keeps logs apart by all words that differ between their names."""
    files = below_common_folder(counted["file"], runs["file"])
    if counted["assumed"].str.contains(FROM_LABEL).any():
        return []  # a pattern would join runs of one file that labels tell apart
    patterns = separating_patterns(files)
    by_file = runs[["file", "method"]].drop_duplicates()
    short = dict(zip(by_file["file"].unique(), below_common_folder(by_file["file"], by_file["file"]), strict=True))
    of_files = {file: _scenario(patterns, name) for file, name in short.items()}
    described = [(method, of_files[file]) for file, method in by_file.itertuples(index=False) if of_files[file]]
    if not all(of_files[file] for file in counted["file"]) or len({*described}) < len(described):
        return []
    quoted = ", ".join(f'"{toml_text(pattern)}"' for pattern in patterns)
    return [f"; if it names a thing, add below [study]: pattern = {quoted if len(patterns) == 1 else f'[{quoted}]'}"]


def separating_patterns(files: Sequence[str]) -> list[str]:
    """Return patterns whose scenario is all words that differ between names of one shape; none if there is none."""
    shapes: dict[tuple[str, ...], list[list[str]]] = {}
    for words in map(_WORD.split, files):
        shapes.setdefault(tuple(words[::2]), []).append(words)
    if any({*"*{}"} & {*file} for file in files) or len(shapes) > _MOST:
        return []
    patterns: list[str] = []
    for names in shapes.values():
        differs = [len({*words}) > 1 for words in zip(*names, strict=True)]
        # Names of other shapes may have the same numbers.
        differs = [each or (len(shapes) > 1 and at == 1) for at, each in enumerate(differs)]
        if not 0 < sum(differs) <= MOST_FIELDS:
            return []
        words = ["{scenario}" if differ else word for word, differ in zip(names[0], differs, strict=True)]
        start = max((at + 1 for at, word in enumerate(words[: differs.index(True)]) if word == "/"), default=0)
        patterns.append("".join(words[start:]))
    return patterns


def _scenario(patterns: Iterable[str], file: str) -> str:
    """Return the scenario that the first of the patterns which describes a file reads from it."""
    found = (PathPattern.parse(pattern, {"scenario": "string"}).match(file) for pattern in patterns)
    return next((values["scenario"] for values in found if values), "")


#: What patterns read from names, and their fields.
_READ = {
    "regions": ("region", "peer_region"), "zones": ("zone", "peer_zone"), "ends": ("client", "server"),
    "scenarios": ("scenario",), "rounds": ("round",), "repeats": ("repeat",),
}  # fmt: skip


def _drafted(study: Study | Logs) -> Iterator[str]:
    info = getattr(study, "info", {})
    given = (info.get("drafted") and info.get("pattern")) or []
    if patterns := [given] if isinstance(given, str) else given:
        fields = set(re.findall(r"\{(\w+)\}", " ".join(patterns)))
        read = join_words(what for what, names in _READ.items() if not fields.isdisjoint(names))
        yield f"assumed: {read} as the names say: {named(patterns)}"


def _by_labels(study: Study | Logs, runs: pd.DataFrame) -> Iterator[str]:
    """Yield which labels say the zones, if the draft read them from labels: a file name says those of one pair."""
    info = getattr(study, "info", {})
    if not info.get("drafted"):
        return
    ends = runs[["zone", "peer_zone"]].fillna("").agg(JOINED.join, axis=1)
    is_zoned = (ends != JOINED) & runs["heading"].notna()
    pairs = ends[is_zoned].groupby(runs["file"], dropna=False).transform("nunique")
    labels = runs.loc[pairs.index[pairs > (1 if info.get("pattern") else 0)], "heading"].drop_duplicates()
    if len(labels):
        yield f"assumed: zones as the labels say: {named(list(labels))}"


#: The number of a kind of names, with what separates it.
_NUMBER_OF_KIND = re.compile(r"[-_. ]?\*(?=[^*]*$)")
#: What an entry joins if names or labels differ in one word.
_ALL = "all of these are"


def _kept_apart(runs: pd.DataFrame, codes: pd.Series) -> Iterator[str]:
    """Yield what tells runs with the same ends and the same method apart, and the line that joins them, once."""
    advised: list[str] = []
    for code, what in ((FROM_NAME, "names"), (FROM_LABEL, "labels")):
        apart = runs[[code in each for each in codes]]
        if not len(apart):
            continue
        scenarios = list(dict.fromkeys(map(str, apart["scenario"])))
        most = _MOST if sum(map(len, scenarios[:_MOST])) <= _LONGEST else 1
        yield f"kept apart by their {what}: {named(scenarios, most)}"
        by_file = apart.drop_duplicates("file")
        files = below_common_folder(by_file["file"], runs["file"])
        are_labels = code == FROM_LABEL
        names = scenarios if are_labels else list(map(str, by_file["scenario"]))
        entries = joining_entries(files, names, are_labels=are_labels)
        which = "those that differ in their last number only are"
        if entries == joining_entry(files, are_labels=are_labels):
            has_both = apart["assumed"].str.contains(FROM_NAME) & apart["assumed"].str.contains(FROM_LABEL)
            inner = _by_heading(scenarios, files) if are_labels else by_last_word(files, names, runs["file"])
            # An entry would join runs that the other one tells apart; and it chooses no run by an inherited label.
            labels = zip(apart["scenario"].astype(str), apart["heading"].fillna(""), strict=True)
            is_own = all(
                any(fnmatchcase(each, heading_pattern(label.split(JOINED)[0])) for each in heading.split(JOINED))
                for label, heading in labels
            )
            inner = [] if has_both.any() or (are_labels and not is_own) else inner
            entries = inner or entries
            which = f"those that differ in their last {'label' if are_labels else 'word'} only are" if inner else _ALL
        if entries == advised:
            continue
        advised = entries
        yield f"  if {which} repeats of each other, add to the end of study.toml:"
        yield from (f"    {line}" for line in entries)


def joining_entries(files: Sequence[str], scenarios: Sequence[str], *, are_labels: bool = False) -> list[str]:
    """Return the entries of ``study.toml`` that join scenarios: those whose names differ in a number only, if any.

    ``scenarios`` are those of the files, or all labels. An entry of a label is that of a heading in the files; of a
    label below another one it would say too much.
    """
    scenarios = _first_labels(scenarios) if are_labels else scenarios
    names = scenarios if are_labels else files
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(_LAST_NUMBER.sub("*", heading_pattern(name) if are_labels else literal(name)), []).append(name)
    scenario_of = dict(zip(names, scenarios, strict=True))
    repeated = {
        kind: alike
        for kind, alike in kinds.items()
        if len({scenario_of[name] for name in alike}) > 1 and not _WITH_UNIT.search(kind)
    }
    named_so = {literal(name): name for name in names}
    is_chain = are_labels and any(JOINED in name for name in names)
    # "A*" is also the pattern of "A_tuned", and "A{repeat}" is not, but no pattern describes a heading.
    says_more = are_labels and any(fnmatchcase(name, kind) for kind in repeated for name in {*names} - {*kinds[kind]})
    if len(kinds) == 1 or not repeated or is_chain or says_more:
        return joining_entry(files, are_labels=are_labels)
    if not are_labels and len(repeated) > _MOST and (patterns := _in_any_folder(repeated)):
        return patterns
    # A name is no scenario once the entries name all others.
    named_yet = {kind: alike for kind, alike in kinds.items() if len(alike) > 1 and kind not in repeated}
    repeated |= named_yet if not are_labels and len(kinds) <= _MOST else {}
    archives = {kind.rpartition("!")[0] for kind in repeated}
    within = f"{min(archives)}!" if len(archives) == 1 and not are_labels else ""
    return _limited(
        [
            [
                "[[run]]",
                *(
                    toml_lines(transcript=_glob(files), heading=kind)
                    if are_labels
                    else _of_number(kind, alike, named_so, kinds)
                ),
                *toml_lines(scenario=_without_numbers(kind.removeprefix(within))),
            ]
            for kind, alike in repeated.items()
        ]
    )


def _first_labels(chains: Sequence[str]) -> Sequence[str]:
    """Return the first label of each chain, if those that differ in a number only have the same labels below them."""
    parts = [chain.partition(JOINED) for chain in chains]
    below: dict[str, set[str]] = {}
    for first, _, rest in parts:
        below.setdefault(_LAST_NUMBER.sub("*", first), set()).add(rest)
    firsts = [first for first, _, _ in parts]
    return firsts if len({*firsts}) == len(chains) and all(len(each) == 1 for each in below.values()) else chains


def by_last_word(files: Sequence[str], scenarios: Sequence[str], every_file: Iterable[str]) -> list[str]:
    """Return the entries that join names of one shape which differ in the last of several words only, if any.

    A word that no scenario contains, such as a counter, does not tell names apart.
    """
    shapes: dict[tuple[str, ...], dict[str, str]] = {}
    for file, scenario in zip(files, scenarios, strict=True):
        shapes.setdefault(tuple(_WORD.split(file)[::2]), {})[file] = scenario
    others = {*below_common_folder(every_file, every_file)}
    entries = [
        _by_last_word(alike, others - alike.keys(), {*scenarios} - {*alike.values()}) for alike in shapes.values()
    ]
    # Two shapes may have the same scenarios.
    return next(filter(None, entries), [])


def _by_last_word(scenario_of: Mapping[str, str], other_files: Collection[str], taken: Collection[str]) -> list[str]:
    files, scenarios = [*scenario_of], [*scenario_of.values()]
    names = [_WORD.split(file) for file in files]
    said = {word for scenario in scenarios for word in _WORD.split(scenario)}
    differs = [at for at, words in enumerate(zip(*names, strict=True)) if len({*words}) > 1]
    slots = [at for at in differs if {words[at] for words in names} <= said]
    outer = [tuple(words[at] for at in slots[:-1]) for words in names]
    levels: dict[str, list[str]] = {}
    for file, words in zip(files, outer, strict=True):
        levels.setdefault("/".join(words), []).append(file)
    if len(slots) < 2 or not 1 < len(levels) < len({*scenarios}) or not levels.keys().isdisjoint(taken):
        return []
    fields = dict.fromkeys(differs, "*") | dict.fromkeys(slots[:-1], "{scenario}")
    pattern = "".join(fields.get(at, word) for at, word in enumerate(names[0]))
    is_plain = not any({*"*{}"} & {*file} for file in files) and len(differs) <= MOST_FIELDS
    if is_plain and not any(_scenario([pattern], other) for other in other_files):
        return ["[[run]]", *toml_lines(pattern=pattern)]
    return _limited([["[[run]]", _log_of(alike), *toml_lines(scenario=level)] for level, alike in levels.items()])


def heading_pattern(label: str) -> str:
    """Return the pattern of a label, whose stars stand for numbers that count."""
    return literal(label).replace("[*]", "*")


def _limited(entries: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of the first entries, and how many more there are."""
    more = len(entries) - _MOST
    lines = [line for entry in entries[:_MOST] for line in entry]
    return [*lines, *([f"# the same for {more} more of these names"] if more > 0 else [])]


def _by_heading(scenarios: Sequence[str], files: Sequence[str]) -> list[str]:
    """Return the entries that join runs below one heading, whatever else is written above them; none if there is one.

    An entry chooses runs by one label, so that it must be below no other heading.
    """
    chains = [tuple(scenario.split(JOINED)) for scenario in scenarios]
    most = max(map(len, chains))
    outer = dict.fromkeys(chain[: max(most - 1, 1)] for chain in chains)
    headings = [chain[-1] for chain in outer]
    of_outer = [{chain[: len(each)] for chain in chains if each[-1] in chain} for each in outer]
    if most < 2 or len(outer) < 2 or any(len(each) > 1 for each in of_outer) or len({*headings}) < len(headings):
        return []
    chosen = [toml_lines(transcript=_glob(files), heading=heading_pattern(each), scenario=each) for each in headings]
    return _limited([["[[run]]", *lines] for lines in chosen])


def _of_number(kind: str, files: Sequence[str], named_so: Mapping[str, str], kinds: Iterable[str]) -> list[str]:
    """Return the line that chooses files whose names differ in their last number, and no other file.

    A file of that name without the number is the first of them: ``lan.txt``, ``lan2.txt``. ``named_so``: all files by
    their literal patterns.
    """
    if first := named_so.get(_NUMBER_OF_KIND.sub("", kind)):
        return [_log_of([first, *files])]
    # A pattern matches in any folder, and has its own meaning of braces and stars.
    if {*"*{}"}.isdisjoint(files[0]) and not any(other.endswith((f"/{kind}", f"!{kind}")) for other in kinds):
        return toml_lines(pattern=_LAST_NUMBER.sub("{repeat}", files[0]))
    return [_log_of(files)]


def _log_of(files: Iterable[str]) -> str:
    quoted = [f'"{toml_text(literal(file))}"' for file in files]
    return f"log = [{', '.join(quoted)}]"


def _in_any_folder(repeated: Mapping[str, Sequence[str]]) -> list[str]:
    """Return an entry for each name that stands in many folders, which tell its runs apart themselves; else none."""
    files = {split_path(alike[0])[-1] for alike in repeated.values()}
    names = {_LAST_NUMBER.sub("{repeat}", file) for file in files}
    if len(names) > _MOST or names & files or any({*"*{}"} & {*file} for file in files):
        return []
    return [line for name in sorted(names) for line in ("[[run]]", *toml_lines(pattern=name))]


def _doubtful(study: Study | Logs, every_run: pd.DataFrame) -> Iterator[str]:
    """Yield runs whose last number may name a thing, and the lines that make it a scenario, or a repeat."""
    for runs in (latency(study), throughput(study)):
        doubtful = runs[runs["unknown"].fillna("").str.contains(DOUBTFUL)]
        for _, group in grouped(doubtful, ["path", "method"]):
            files = below_common_folder(group["file"], every_run["file"])
            of_labels = len(files) == 1 and bool(counting_labels(str(group["heading"].iloc[0]).split(JOINED)))
            number = "number of the label" if of_labels else "last number"
            yield (
                f"not pooled: {named(files)}: their values are more than 4 times apart, so the {number} may "
                "name a thing"
            )
            yield "  if it does, add an entry for each to the end of study.toml:"
            entry = toml_lines(log=literal(files[0]), scenario=" ".join(levels_of(files[0].rpartition("!")[2])))
            one_entry = [f"    {line}" for line in ("[[run]]", *entry)]
            yield from _by_label(group, every_run)[1:] if of_labels else one_entry
            yield "  if it counts repeats, add instead:"
            yield from (f"    {line}" for line in joining_entry(files))
            return


def below_common_folder(files: Iterable[str], every_file: Iterable[str]) -> list[str]:
    """Return the paths of logs; of no study, below the folder of all, which becomes its folder."""
    chosen = list(dict.fromkeys(files))
    if not os.path.isabs(chosen[0]):
        return chosen
    root = shared_folder(every_file)
    return [file.removeprefix(root) for file in chosen]


def _without_numbers(kind: str) -> str:
    """Return the words of a name without its number; not tools and dates, so that runs of several have one scenario."""
    texts = []
    for level in levels_of(kind):
        if is_dated(level) and not any(map(str.isalpha, level)):
            continue
        *words, end = _WORD.split(level.replace("*", ""))  # what stands in front of each word, and the word
        kept = [front + word for front, word in zip(words[::2], words[1::2], strict=True) if not is_tool(word)]
        texts.append("".join([*kept, end]).strip("-_. ="))
    return "/".join(filter(None, texts)) or "same"


def joining_entry(files: Sequence[str], *, are_labels: bool = False) -> list[str]:
    """Return the lines of the entry of ``study.toml`` that makes logs repeats of each other, whatever their labels."""
    folders = {file.rpartition("/")[0] for file in files}
    names = {_LAST_NUMBER.sub("{repeat}", file.rpartition("/")[2]) for file in files}
    same = 'scenario = "same"'
    is_counted = len(names) == 1 and len(folders) == 1 and "{" in min(names) and not {"*", "}"} & set(files[0])
    if is_counted and not are_labels:
        # Without its number, each name says the same, except where the number has a unit ("5m") or sets a thing.
        is_repeat = len({_words_but_number(file) for file in files}) == 1
        return ["[[run]]", *toml_lines(pattern=min(names)), *([] if is_repeat else [same])]
    return ["[[run]]", *toml_lines(log=_glob(files)), same]


def _words_but_number(file: str) -> tuple[str, ...]:
    name = file.rpartition("/")[2]
    return tuple(part.text for part in read_name(name, [int(number) for number in _LAST_NUMBER.findall(name)]).parts)


def _glob(files: Sequence[str]) -> str:
    """Return a pattern of the files: of several, that of their folder."""
    if len(files) == 1:
        return literal(files[0])
    folder = os.path.commonpath([file.rpartition("/")[0] or "." for file in files])
    return f"{literal(folder)}/*" if folder else "*"


def windows_used(study: Study | Logs) -> Iterator[str]:
    """Yield how many rows of tables count, if the windows of the others overlap theirs."""
    rows = run_table(study)
    rows = rows[rows["dialect"] == FROM_TABLE]
    if not rows["counted"].all():
        used = f"{plain(rows['counted'].sum())} of {plain(len(rows))}"
        line = f"used: {used} windows; the others overlap a later one of their path"
        is_one = rows["counted"].sum() == len(rows[["path", "method"]].drop_duplicates())
        yield line + ("; a window is as long as the whole series, so one of each path is left" if is_one else "")


def _ended(study: Study | Logs) -> Iterator[str]:
    """Yield which paths of tables have no value in the newest window."""
    rows = run_table(study)
    windows = rows[is_window(rows) & rows["started_at"].notna()]
    last = grouped(windows, ["path", "method"])["started_at"].max()
    ended = last[last < last.groupby("method", dropna=False).transform("max")].index.get_level_values("path")
    if len(ended):
        names = f"{count_of(len(ended), 'path')} ({named(list(ended))})"
        yield f"ended before the newest window, so left out of what is said of now: {names}"


def _against_labels(runs: pd.DataFrame) -> Iterator[str]:
    """Yield two labels of runs that have one scenario in ``study.toml``, which is used."""
    for _, group in grouped(runs, ["path", "method"]):
        headings = list(group["heading"].astype(object).where(group["heading"].notna(), None))
        labels = [label for label, _ in labels_apart(headings)]
        places: dict[str, str] = {}
        for label, file, line in zip(labels, group["file"], group["first_line"], strict=True):
            places.setdefault(label, f"{printable(label) or 'no label'} ({printable(file)}:{line})")
        if len(places) > 1:
            first, second, *_ = places.values()
            yield f"study.toml is used against labels: {printable(group['scenario'].iloc[0])}, not {first} and {second}"
            return


def _in_two_zones(runs: pd.DataFrame) -> Iterator[str]:
    """Yield the first address that stands in two zones of a region."""
    places: dict[tuple[str, str], dict[str, str]] = {}
    for machine, region, zone, _ in END_COLUMNS:
        ends = runs[[machine, region, zone, "file"]].dropna(subset=[machine, zone]).fillna("")
        for address, of_region, of_zone, file in ends.itertuples(index=False):
            places.setdefault((address, of_region), {}).setdefault(of_zone, file)
    for (address, _), files in places.items():
        if len(files) > 1 and _ADDRESS.fullmatch(address):
            said = [f"in zone {zone} ({printable(file)})" for zone, file in list(files.items())[:2]]
            yield f"{address} is {join_words(said)}: check which end the names give first; peer_zone is the server's"
            return


def _overlapping(runs: pd.DataFrame) -> Iterator[str]:
    """Yield two runs that overlap in time, and the line that tells them apart."""
    found = overlapping_runs(runs.reset_index())
    for run_id, other in list(found.items())[:1]:
        files = [str(runs.at[name, "file"]) for name in (run_id, other)]
        yield f"not pooled: {join_words(map(printable, files))} overlap in time"
        yield "  if they are of different machines, add an entry for each to the end of study.toml:"
        for file, client in zip(files, ("one", "other"), strict=True):
            yield from (f"    {line}" for line in ("[[run]]", *toml_lines(log=literal(file), client=client)))


def _alone(runs: pd.DataFrame) -> Iterator[str]:
    """Yield the line that joins runs that are all alone on their paths, because their addresses change."""
    prefixes: set[tuple[str, ...]] = set()
    for method, group in grouped(runs, "method"):
        if group["scenario"].notna().all() and group["scenario"].is_unique:
            continue  # names or labels tell these ends apart
        pairs = group[["client_end", "server_end"]].value_counts(dropna=False)
        ends = [*group["client_end"].dropna(), *group["server_end"].dropna()]
        if len(pairs) < _MOST or pairs.max() > 1 or not all(map(_ADDRESS.fullmatch, ends)):
            continue
        if len(pairs) < _MANY and 1 in (group["client_end"].nunique(), group["server_end"].nunique()):
            continue  # one end stays, so the others may be as many machines
        octets = list(zip(*(end.split(".") for end in ends), strict=True))
        prefix = tuple(each[0] for each in takewhile(lambda each: len(set(each)) == 1, octets))
        if prefix and prefix not in prefixes:
            prefixes.add(prefix)  # the key may stand in study.toml once
            yield f"each of {len(pairs)} runs of {method} has ends of its own"
            yield "  if their addresses change with every run, add to study.toml, below [study]:"
            yield f'    machines = ["{".".join(prefix)}.*=machines"]'
