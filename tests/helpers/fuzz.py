"""Mutants of all example logs, each classified by what the parsers make of it: ``make fuzz``.

A mutant is *equal* if every run has numbers of one run of the original, *refused* if no run is left, *missing* if
numbers are missing, *flagged* if a number differs and an event or the status says so, and *changed* if a number differs
and nothing in the text contradicts it: it was edited, or the mutant is a text that the tool could have printed. It is
**silently wrong** if a number differs although the text says the same (it was cut, joined, wrapped or encoded), or if
its numbers contradict each other without a word, and **wrongly complete** if the last run is complete although the text
was cut before its end. A cut has an *open end* instead if the tool, with other options, prints exactly the text that is
left: it was cut between two lines, and the next line is one of `OPTIONAL`, or in front of `OPTIONAL_COLUMNS`.
"""

from __future__ import annotations

import multiprocessing
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import SourceError, source_from_bytes
from azlatency.logs.tables import Logs
from helpers.places import FIXTURES

LARGEST = 9_000
#: By tool and dialect, the lines that the tool prints only with an option, or that repeat as long as it runs.
OPTIONAL = {
    r"fio .*-log|latte .*-dump|.*-csv|ntttcp .*per-stream|echo|mtr": r".*",
    r"empty_bucket": r"crnt bw = 0\.75",  # one version of the script stops four rates before the other
    r"fio": r"Disk stats",
    r"fping": r"\d+ targets|\S+ +: xmt/rcv/",
    r"hping3": r"using |HPING |len=",
    r"iostat": r"Device|.* Device$",
    r"iperf3": r"Server output:",
    r"iperf2": r"\[ *\d+\] \S+ sec \S+-PDF: ",
    r"lagscope": r"Percentile|.* Dumping ",
    r"netperf": r"[A-Z\d_]+=|Alignment ",
    r"ntttcp": r".* tcpi rtt",
    r"qperf": r"\w+ += ",
    r"sockperf": r"-+$|packet, ",
    r"uperf": r"Netstat |Run Stat|(?:Group|Strand) Details|(?:Txn|Flowop) +Count",
}
#: By tool, the columns at the end of a line that the tool prints only with an option.
OPTIONAL_COLUMNS = {r"fping": r", outage\(ms\)", r"iperf2": r" \d+/\d+\(\d+\) pkts"}
BAD = ("silently wrong", "wrongly complete")
_UNITS = (b"ms", b"us", b"usec", b"Mbits", b"Kbits", b"Gbits", b"MBytes", b"KBytes", b"GBytes", b"sec", b"KiB", b"MiB")

Facts = list[set[tuple[Any, ...]]]


@cache
def originals() -> list[tuple[str, bytes, Facts]]:
    """Return name, bytes and facts of every example log that is not large."""
    logs = []
    for path in sorted(FIXTURES.glob("*/*")):
        if path.suffix in (".gz", ".md") or path.name.endswith(".expected.json") or path.stat().st_size > LARGEST:
            continue
        raw = path.read_bytes()
        tables = read(raw)
        if tables is not None and tables.rows["runs"]:
            logs.append((f"{path.parent.name}/{path.name}", raw, facts(tables)))
    return logs


def read(raw: bytes) -> Logs | None:
    """Return the tables, or None for binary data."""
    try:
        return parse_source(source_from_bytes(raw, "a.log"))
    except SourceError:
        return None


def facts(tables: Logs) -> Facts:
    """Return the numbers of each run, without the lines that print them."""
    by_run: dict[str, set[tuple[Any, ...]]] = {row["run_id"]: set() for row in tables.rows["runs"]}
    for row in tables.rows["metrics"]:
        by_run[row["run_id"]].add((row["metric"], row["side"], row["stream"], round(row["value"], 9)))
    for row in tables.rows["quantiles"]:
        by_run[row["run_id"]].add((row["metric"], row["stream"], row["q"], row["value_ns"]))
    for row in tables.rows["intervals"]:
        by_run[row["run_id"]].add(
            ("interval", *(row.get(name) for name in ("side", "stream", "start_ns", "end_ns", "bytes")))
        )
    for block in tables.sample_blocks:
        pairs = zip(block.rtt_ns, block.status, strict=True)
        by_run[block.run_id].update(("sample", rtt) for rtt, status in pairs if status == "ok" and rtt is not None)
    return list(by_run.values())


# --- mutations

Mutation = Callable[[bytes, random.Random, bytes], bytes]


def _lines(raw: bytes) -> list[bytes]:
    return raw.splitlines(keepends=True)


def cut_at_byte(raw: bytes, draw: random.Random, other: bytes) -> bytes:
    return raw[: draw.randrange(1, len(raw) + 1)]


def cut_at_line(raw: bytes, draw: random.Random, other: bytes) -> bytes:
    lines = _lines(raw)
    return b"".join(lines[: draw.randrange(1, len(lines) + 1)])


def drop_line(raw: bytes, draw: random.Random, other: bytes) -> bytes:
    lines = _lines(raw)
    del lines[draw.randrange(len(lines))]
    return b"".join(lines)


def double_line(raw: bytes, draw: random.Random, other: bytes) -> bytes:
    lines = _lines(raw)
    place = draw.randrange(len(lines))
    return b"".join([*lines[: place + 1], *lines[place:]])


def join(raw: bytes, draw: random.Random, other: bytes) -> bytes:
    return other + raw if other.endswith(b"\n") else other + b"\n" + raw


def encode(raw: bytes, draw: random.Random, other: bytes) -> bytes:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return raw
    return draw.choice(
        (
            lambda: text.encode("utf-16"),
            lambda: b"\xef\xbb\xbf" + raw,
            lambda: text.replace("\n", "\r\n").encode(),
            lambda: "".join(f"> {line}" for line in text.splitlines(keepends=True)).encode(),
        )
    )()


def wrap(raw: bytes, draw: random.Random, other: bytes) -> bytes:
    width = draw.choice((60, 72, 80, 100, 120))
    pieces = (line[at : at + width] for line in raw.split(b"\n") for at in range(0, max(len(line), 1), width))
    return b"\n".join(pieces)


def swap_lines(raw: bytes, draw: random.Random, other: bytes) -> bytes:
    lines = _lines(raw)
    one, two = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return b"".join(lines)


def interleave(raw: bytes, draw: random.Random, other: bytes) -> bytes:
    waiting, mixed = [_lines(raw), _lines(other)], []
    while all(waiting):
        mixed.append(draw.choice(waiting).pop(0))
    return b"".join([*mixed, *waiting[0], *waiting[1]])


def _edit(raw: bytes, draw: random.Random, pattern: bytes, change: Callable[[bytes], bytes]) -> bytes:
    places = list(re.finditer(pattern, raw))
    if not places:
        return raw
    place = draw.choice(places)
    return raw[: place.start()] + change(place[0]) + raw[place.end() :]


def edit_digit(raw: bytes, draw: random.Random, other: bytes) -> bytes:
    return _edit(raw, draw, rb"\d", lambda digit: bytes([draw.choice(b"0123456789".replace(digit, b""))]))


def edit_unit(raw: bytes, draw: random.Random, other: bytes) -> bytes:
    return _edit(raw, draw, rb"\b(?:" + b"|".join(_UNITS) + rb")\b", lambda unit: draw.choice(_UNITS))


def mark_thousands(raw: bytes, draw: random.Random, other: bytes) -> bytes:
    mark = draw.choice((b",", b".", b"'", b" "))
    return _edit(raw, draw, rb"(?<![\d.])\d{4,9}(?![\d.])", lambda digits: digits[:-3] + mark + digits[-3:])


def use_comma(raw: bytes, draw: random.Random, other: bytes) -> bytes:
    return _edit(raw, draw, rb"\d\.\d", lambda digits: digits.replace(b".", b","))


CUTS: tuple[Mutation, ...] = (cut_at_byte, cut_at_line)
#: Mutants that print no other numbers than the original.
SAME_NUMBERS: tuple[Mutation, ...] = (*CUTS, join, encode, wrap)
OTHERS: tuple[Mutation, ...] = (
    *(drop_line, double_line, swap_lines, interleave),
    *(edit_digit, edit_unit, mark_thousands, use_comma),
)
MUTATIONS = (*SAME_NUMBERS, *OTHERS)


# --- classification


def classify(mutation: Mutation, known: Facts, mutant: bytes, raw: bytes, whole: Facts) -> str:
    """Return the class of a mutant of ``raw``.

    ``known`` are the runs that it may contain, ``whole`` those of its original.
    """
    tables = read(mutant)
    if tables is None or not tables.rows["runs"]:
        return "refused"
    warnings = [event for event in tables.rows["events"] if event["severity"] != "info"]
    runs = facts(tables)
    result = "equal"
    for index, (run, numbers) in enumerate(zip(tables.rows["runs"], runs, strict=True)):
        silent = run["status"] == "complete" and not warnings
        is_last = index == len(runs) - 1
        if not any(numbers <= original for original in known):
            if silent and is_last and mutation in CUTS and has_open_end(mutant, raw, run):
                return "open end"
            if silent and (mutation in SAME_NUMBERS or contradicts(tables, run["run_id"])):
                return "silently wrong"
            result = "changed" if silent else "flagged"
        elif mutation in CUTS and run["status"] == "complete" and is_last:
            original = whole[index] if index < len(whole) else set()
            if numbers < original:
                return "open end" if has_open_end(mutant, raw, run) else "wrongly complete"
    if result == "equal" and sum(map(len, runs)) < sum(map(len, known)):
        result = "missing"
    return result


def has_open_end(mutant: bytes, raw: bytes, run: dict[str, Any]) -> bool:
    """Return whether the tool, with other options, could have ended where the text was cut."""
    kept, rest = mutant.rstrip(b" \t"), raw[len(mutant) :].decode(errors="replace")
    if kept.endswith(b"\n") or rest.lstrip(" \t").startswith(("\n", "\r\n")):
        patterns, following = OPTIONAL, next(iter(rest.strip().splitlines()), "")
    else:
        patterns, following = OPTIONAL_COLUMNS, rest
    kind = f"{run['tool']} {run.get('dialect')}"
    return any(re.match(tool, kind) and re.match(line, following) for tool, line in patterns.items())


def contradicts(tables: Logs, run_id: str) -> bool:
    """Return whether the numbers of a run exclude each other, by rules that do not share code with the parsers."""
    values = {
        (row["metric"], row["side"], row["stream"]): (row["value"], row["resolution"] or 0.0)
        for row in tables.rows["metrics"]
        if row["run_id"] == run_id and row["side"] not in ("local", "remote")  # each end counts its own messages
    }

    def exceeds(small: tuple[float, float] | None, large: tuple[float, float] | None) -> bool:
        if small is None or large is None:
            return False
        return small[0] - large[0] > 1.01 * (small[1] + large[1]) + 1e-6 * abs(large[0])

    for name, side, stream in values:
        stem, _, ending = name.rpartition("_")
        if ending == "mean":
            low, mean, high = (values.get((f"{stem}_{end}", side, stream)) for end in ("min", "mean", "max"))
            if exceeds(low, mean) or exceeds(mean, high):
                return True
    for part, whole in (("received", "sent"), ("lost", "sent"), ("lost", "datagrams")):
        if any(exceeds(values.get((part, *place)), values.get((whole, *place))) for _, *place in values):
            return True
    rows = sorted(
        (row["metric"], str(row["stream"]), row["q"], row["value_ns"], row["resolution_ns"] or 0.0)
        for row in tables.rows["quantiles"]
        if row["run_id"] == run_id
    )
    return any(one[:2] == two[:2] and exceeds((one[3], one[4]), (two[3], two[4])) for one, two in pairwise(rows))


def draw_mutants(seed: int, count: int) -> Iterator[tuple[str, Mutation, Facts, bytes, bytes, Facts]]:
    """Yield description and mutation, then the other arguments of `classify`."""
    logs = originals()
    for ordinal in range(count):
        draw = random.Random(f"{seed} {ordinal}")
        mutation = MUTATIONS[ordinal % len(MUTATIONS)]
        name, raw, whole = draw.choice(logs)
        other_name, other, other_facts = draw.choice(logs)
        joined = mutation in (join, interleave)
        known = [*whole, *other_facts] if joined else whole
        what = f"{name} {mutation.__name__}{' ' + other_name if joined else ''} {seed} {ordinal}"
        yield what, mutation, known, mutation(raw, draw, other), raw, whole


def classify_many(task: tuple[int, int]) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Classify the mutants of one seed; return their number by mutation and class, and the bad ones."""
    counts: Counter[tuple[str, str]] = Counter()
    bad = []
    for what, mutation, *case in draw_mutants(*task):
        result = classify(mutation, *case)
        counts[mutation.__name__, result] += 1
        if result in BAD:
            bad.append(f"{result}: {what}")
    return counts, bad


def main(count: int, seed: int) -> int:
    """Classify ``count`` mutants in two processes; print the table; return 1 if one is bad."""
    part = 1000
    counts: Counter[tuple[str, str]] = Counter()
    bad: list[str] = []
    with multiprocessing.Pool(2) as pool:
        tasks = ((seed * 1_000_000 + number, part) for number in range(count // part))
        for some, worse in pool.imap_unordered(classify_many, tasks):
            counts += some
            bad += worse
    classes = ("equal", "missing", "flagged", "refused", "changed", "open end", *BAD)
    print(f"{'mutation':16}" + "".join(f"{name:>18}" for name in classes))
    for mutation in MUTATIONS:
        name = mutation.__name__
        print(f"{name:16}" + "".join(f"{counts[name, result]:18}" for result in classes))
    totals = (sum(number for (_, outcome), number in counts.items() if outcome == result) for result in classes)
    print(f"{'all':16}" + "".join(f"{total:18}" for total in totals))
    print("\n".join(sorted(bad)))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
