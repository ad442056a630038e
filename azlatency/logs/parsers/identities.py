"""Identities that the numbers of a run keep, as data, and the one checker that holds them for all tools.

Every log keeps `EVERYWHERE`; what else a tool keeps, its parser declares as ``Parser.identities``. A run with numbers
that exclude each other, beyond the rounding of what is printed, is ``failed``.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from operator import itemgetter, mul
from statistics import median_low
from typing import NamedTuple

from azlatency.logs.grammar.units import scale
from azlatency.logs.parsers.common import exceeds, slack
from azlatency.logs.record import Recorder, Row

_Place = tuple[str | None, str | None]
#: What is derived from a difference, or from two clocks, may be negative.
_SIGNED = ("_ci_low", "one_way_latency_min", "one_way_latency_mean", "one_way_latency_max")
#: What lies between the minimum and the maximum of a metric: the ends of the names of metrics, and their texts.
_INSIDE = {"mean": "mean", "geometric_mean": "geometric mean", "last": "last value"}
#: A total of rates is taken over its own time, those of its streams over theirs.
_OWN_TIMES = 0.02
#: Intervals that follow each other begin and end within a hundredth of a second.
_BETWEEN_INTERVALS_NS = 20e6


class Contradiction(NamedTuple):
    """What is wrong at a line; ``severity`` is a warning where a missing line explains it."""

    code: str
    text: str
    line: int
    severity: str = "error"


@dataclass
class Numbers:
    """The numbers of one run: its row, its metrics, its intervals, the buckets of histograms, and its quantiles."""

    run: Row
    metrics: Sequence[Row]
    intervals: Sequence[Row]
    buckets: Sequence[Row] = ()
    quantiles: Sequence[Row] = ()

    @cached_property
    def places(self) -> Mapping[_Place, Mapping[str, Row]]:
        """The metrics by name, for each side and stream."""
        places: dict[_Place, dict[str, Row]] = defaultdict(dict)
        for row in self.metrics:
            places[row["side"], row["stream"]][row["metric"]] = row
        return places

    @property
    def of_run(self) -> Mapping[str, Row]:
        """The metrics of the run as a whole, by name."""
        return self.places.get((None, None), {})

    def with_all(self, *names: str) -> Iterator[tuple[_Place, Mapping[str, Row]]]:
        """Yield each side and stream that has all metrics of these names, with its metrics."""
        return ((place, rows) for place, rows in self.places.items() if rows.keys() >= {*names})

    @cached_property
    def counted(self) -> Mapping[_Place, Sequence[Row]]:
        """The intervals that are not omitted, by side and stream."""
        found: dict[_Place, list[Row]] = defaultdict(list)
        for row in self.intervals:
            if row["omitted"] is False:
                found[row["side"], row["stream"]].append(row)
        return found


#: What the numbers of a run keep: it yields every contradiction.
Identity = Callable[[Numbers], Iterator[Contradiction]]


def not_negative(numbers: Numbers) -> Iterator[Contradiction]:
    """Check that no metric, and neither the duration nor the length of an interval, is negative."""
    if (duration := numbers.run.get("duration_ns")) is not None and duration < 0:
        yield Contradiction("negative", f"the run lasts {duration / 1e9:g} s", numbers.run["first_line"])
    for rows in numbers.places.values():
        for name, row in rows.items():
            if row["value"] < 0 and not name.endswith(_SIGNED):
                yield Contradiction("negative", f"{name} is {row['printed']}", row["line"])
    for row in numbers.intervals:
        if row["end_ns"] < row["start_ns"]:
            text = f"the interval from {row['start_ns'] / 1e9:g} s ends at {row['end_ns'] / 1e9:g} s"
            yield Contradiction("negative", text, row["line"])


def whole_cpu(numbers: Numbers) -> Iterator[Contradiction]:
    """Check that no share of the time of all processors of a host is greater than all of it."""
    for rows in numbers.places.values():
        for name, row in rows.items():
            is_share = name.startswith("cpu_") and row["unit"] == "fraction" and row["scope"] == "host"
            if is_share and row["value"] > 1 + slack(row):
                text = f"{name} is {row['printed']} %, more than all processors of the host"
                yield Contradiction("value_conflict", text, row["line"])


def spread(numbers: Numbers) -> Iterator[Contradiction]:
    """Check that a mean or last value is in the range of its metric, and that the standard deviation is possible there.

    The sample standard deviation of n values is at most half the range times sqrt(n / (n - 1)).
    """
    for rows in numbers.places.values():
        n = rows.get("observations") or numbers.of_run.get("observations")
        for prefix in dict.fromkeys(name.rpartition("_")[0] for name in rows if name.endswith(("_min", "_max"))):
            low, high, deviation = (rows.get(f"{prefix}_{name}") for name in ("min", "max", "sd"))
            if low is not None and high is not None:
                if exceeds(low, high):
                    text = f"the minimum {low['printed']} is greater than the maximum {high['printed']}"
                    yield Contradiction("not_monotone", text, high["line"])
                    continue
                # The values of a rate are those of intervals: their number is not that of the observations.
                values = rows.get(f"{prefix}_samples") or (n if high["unit"] == "ns" else None)
                count = max(values["value"] if values else 2, 2)
                most = (high["value"] - low["value"]) / 2 * math.sqrt(count / (count - 1))
                if deviation is not None and deviation["value"] > most + 2 * slack(low, high, deviation):
                    between = f"{low['printed']} and {high['printed']}"
                    text = f"a deviation of {deviation['printed']} is impossible between {between}"
                    yield Contradiction("impossible_spread", text, deviation["line"])
            inside = {name: rows[f"{prefix}_{key}"] for key, name in _INSIDE.items() if f"{prefix}_{key}" in rows}
            if "mean" not in inside and low is not None and high is not None and prefix in rows:
                inside["mean"] = rows[prefix]
            for name, row in inside.items():
                if (low is not None and exceeds(low, row)) or (high is not None and exceeds(row, high)):
                    ends = " to ".join(end["printed"] or "?" for end in (low, high) if end is not None)
                    text = f"the {name} {row['printed']} of {prefix} is not in its range, {ends}"
                    yield Contradiction("impossible_spread", text, row["line"])


def mean_of_quantiles(numbers: Numbers) -> Iterator[Contradiction]:
    """Check each mean against the quantiles, of which each says what share is at most, or at least, so long.

    A quantile of n observations may be the value beside it: each end of a share is uncertain by one observation.
    Where n is unknown, there are at least as many as the highest quantile needs.
    """
    latencies: dict[tuple[str, str | None], list[Row]] = defaultdict(list)
    for row in numbers.quantiles:
        latencies[row["metric"], row["stream"]].append(row)
    for (metric, stream), quantiles in latencies.items():
        found = numbers.places.get((None, stream), {})
        mean, low, high = (found.get(f"{metric}_{name}") for name in ("mean", "min", "max"))
        if mean is None:
            continue
        rows = sorted(quantiles, key=itemgetter("q"))
        n = found["observations"]["value"] if "observations" in found else None
        count = rows[0]["n"] or n or 1 / (1 - rows[-1]["q"])
        shares = [0.0, *(row["q"] for row in rows), 1.0]
        values = [low["value"] if low else 0.0, *(row["value_ns"] for row in rows)]
        widths = [right - left for left, right in pairwise(shares)]
        rounding = 2 * slack(mean, *rows) + 2 * (max(values) - min(values)) / count
        least = sum(map(mul, widths, values)) - rounding
        most = math.inf
        if high is not None:
            most = sum(map(mul, widths, [*values[1:], high["value"]])) + rounding + 2 * high["value"] / count
        if values == sorted(values) and not least <= mean["value"] <= most:
            text = f"a mean of {mean['printed']} is impossible: the quantiles allow {least:.4g} to {most:.4g} ns"
            yield Contradiction("impossible_spread", text, mean["line"])


def rising_buckets(numbers: Numbers) -> Iterator[Contradiction]:
    """Check that the buckets that count something begin at rising edges, so that none is there twice."""
    lows: dict[tuple[str, str | None], int] = {}
    told: set[tuple[str, str | None]] = set()
    for row in numbers.buckets:
        key = row["metric"], row.get("stream")
        if not row["count"]:
            continue  # netperf prints a bucket from 0 for each power of ten
        if key in lows and row["low_ns"] <= lows[key] and key not in told:
            told.add(key)
            text = f"the bucket from {row['low_ns'] / 1e3:g} us stands below one from {lows[key] / 1e3:g} us"
            yield Contradiction("not_monotone", text, row["line"])
        lows[key] = row["low_ns"]


def equal_buckets(numbers: Numbers, rounding_ns: int = 0) -> Iterator[Contradiction]:
    """Check that all buckets but the first and the last are equally wide, up to the rounding of their edges."""
    inner = [row for row in numbers.buckets[1:-1] if row["high_ns"] is not None]
    usual = median_low([row["high_ns"] - row["low_ns"] for row in inner]) if inner else 0
    for row in inner:
        width = row["high_ns"] - row["low_ns"]
        if abs(width - usual) > rounding_ns:
            text = f"the bucket from {row['low_ns'] / 1e3:g} us is {width / 1e3:g} us wide, not {usual / 1e3:g} us"
            yield Contradiction("value_conflict", text, row["line"])
            return


def at_most(part: str, whole: str, numbers: Numbers) -> Iterator[Contradiction]:
    """Check that a count does not exceed another of the same side and stream."""
    for (side, _), rows in numbers.with_all(part, whole):
        # Each end of a ping-pong counts its own messages: one more or less.
        if side not in ("local", "remote") and exceeds(rows[part], rows[whole]):
            text = f"{part} {rows[part]['value']:.0f} exceeds {whole} {rows[whole]['value']:.0f}"
            yield Contradiction("count_mismatch", text, rows[part]["line"])


def no_time_without_reply(numbers: Numbers) -> Iterator[Contradiction]:
    """Check that a run without a reply has no time."""
    rows = numbers.of_run
    times = [row for name, row in rows.items() if name in ("rtt_min", "rtt_mean", "rtt_max")]
    if times and "received" in rows and rows["received"]["value"] == 0:
        text = f"{times[0]['metric']} is {times[0]['printed']}, but no reply was received"
        yield Contradiction("count_mismatch", text, times[0]["line"])


def requested_count(numbers: Numbers) -> Iterator[Contradiction]:
    """Check that as many probes were sent as the command asks for, unless it has a deadline (``ping -w``)."""
    requested, sent = numbers.run.get("requested_count"), numbers.of_run.get("sent")
    if not requested or sent is None or " -w" in (numbers.run.get("command") or ""):
        return
    if sent["value"] > requested:
        text = f"{sent['value']:.0f} probes were sent, but the command asks for {requested}"
        yield Contradiction("count_mismatch", text, sent["line"])
    elif sent["value"] < requested:
        text = f"only {sent['value']:.0f} of {requested} probes were sent: the tool was stopped, or the log is edited"
        yield Contradiction("interrupted", text, sent["line"], "warning")


def is_sum(whole: str, parts: Sequence[str], numbers: Numbers) -> Iterator[Contradiction]:
    """Check that a count is the sum of others of the same side and stream."""
    for _, rows in numbers.with_all(whole, *parts):
        if rows[whole]["value"] != sum(rows[name]["value"] for name in parts):
            counts = " and ".join(f"{name} {rows[name]['value']:.0f}" for name in parts)
            text = f"{counts} are not {whole} {rows[whole]['value']:.0f} together"
            yield Contradiction("count_mismatch", text, rows[parts[-1]]["line"])


def whole_count(fraction: str, whole: str, numbers: Numbers) -> Iterator[Contradiction]:
    """Check that a fraction is an integer divided by a count of its side and stream: 1 % of 5 probes cannot be lost.

    mtr divides by the probes without the one that is still on its way (net.c, net_loss), so the count may be one less.
    """
    for _, rows in numbers.with_all(fraction, whole):
        share, n = rows[fraction], rows[whole]["value"]
        parts = [share["value"] * (n - under_way) for under_way in (0, 1)]
        # Tools round or truncate: up to one unit of the last digit, twice the half-width.
        if all(abs(part - round(part)) > 2 * slack(share) * n + 1e-6 for part in parts):
            text = f"no count of {n:.0f} {whole} is a {fraction} of {share['printed']}"
            yield Contradiction("count_mismatch", text, share["line"])


def sum_of_streams(metric: str, numbers: Numbers) -> Iterator[Contradiction]:
    """Check that the total of a side is the sum of its streams; a greater one may lack the line of a stream."""
    for side in dict.fromkeys(side for side, _ in numbers.places):
        found = [rows.get(metric) for (at, _), rows in numbers.places.items() if at == side]
        streams = [row for row in found if row is not None and row["scope"] == "stream"]
        total = next((row for row in found if row is not None and row["stream"] is None), None)
        if total is None or not streams:
            continue
        expected = sum(row["value"] for row in streams)
        difference = total["value"] - expected
        if abs(difference) <= _OWN_TIMES * expected + slack(total, *streams):
            continue
        shown = f"{total['value']:.6g}, the streams add up to {expected:.6g} {total['unit']}"
        text = f"the total {metric} is {shown}"
        if difference > 0:
            yield Contradiction("lines_missing", f"{text}; a stream is missing", total["line"], "warning")
        else:
            yield Contradiction("sum_mismatch", text, total["line"])


def sum_of_intervals(metric: str, numbers: Numbers, tolerance: float = 0.0) -> Iterator[Contradiction]:
    """Check that a count of a side, or of a stream, is the sum of those of its intervals, if none is missing.

    Only what is omitted is not counted. ``tolerance`` is the share by which the end of the test may be counted in one
    of them only.
    """
    for place, rows in numbers.with_all(metric):
        total, intervals = rows[metric], numbers.counted.get(place, ())
        if tolerance and not total["value"]:
            continue  # iperf3 prints 0 datagrams where the other end told nothing
        counts = [row[metric] for row in intervals]
        if not counts or None in counts or not _follow_each_other(intervals, numbers.run.get("duration_ns")):
            continue
        if abs(sum(counts) - total["value"]) > tolerance * total["value"]:
            text = f"{metric} is {total['value']:.0f}, but its {len(counts)} intervals have {sum(counts)}"
            yield Contradiction("sum_mismatch", text, total["line"])


def _follow_each_other(intervals: Sequence[Row], duration_ns: int | None) -> bool:
    """Return whether the intervals follow each other from the beginning of the test to its end."""
    ends = [(row["start_ns"], row["end_ns"]) for row in intervals]
    gaps = [start - end for (_, end), (start, _) in pairwise([(0, 0), *sorted(ends)])]
    last = max(end for _, end in ends)
    return bool(max(gaps) <= _BETWEEN_INTERVALS_NS and last >= (1 - _OWN_TIMES) * (duration_ns or math.inf))


def bytes_of_datagrams(numbers: Numbers) -> Iterator[Contradiction]:
    """Check that what a sender transferred is its datagrams times their size."""
    size = numbers.run.get("message_bytes")
    for (side, _), rows in numbers.with_all("datagrams", "transferred") if size else ():
        datagrams, transferred = rows["datagrams"], rows["transferred"]
        due = size * datagrams["value"]
        if side == "sender" and abs(due - transferred["value"]) > _OWN_TIMES * due + slack(transferred):
            shown = f"{transferred['printed']} {transferred['printed_unit']}"
            text = f"{datagrams['value']:.0f} datagrams of {size} bytes are not {shown}"
            yield Contradiction("count_mismatch", text, datagrams["line"])


def closed_loop_rate(numbers: Numbers) -> Iterator[Contradiction]:
    """Check that the transactions of a closed loop, each after the other, do not take longer than the time."""
    rows = numbers.of_run
    rate = rows.get("transaction_rate")
    if rate is None or not numbers.run.get("closed_loop") or (numbers.run.get("connections") or 1) > 1:
        return
    for name in ("rtt_mean", "transaction_mean"):
        mean = rows.get(name)
        if mean is not None and rate["value"] * (mean["value"] - slack(mean)) > (1 + _OWN_TIMES) * scale("s"):
            text = f"{rate['value']:g} transactions in a second, one after the other, cannot take {mean['printed']}"
            yield Contradiction("rate_mismatch", text, mean["line"])


SENT_IS_RECEIVED_AND_LOST: Identity = partial(is_sum, "sent", ("received", "lost"))
EVERYWHERE: tuple[Identity, ...] = (
    *(not_negative, whole_cpu, spread, mean_of_quantiles, rising_buckets, no_time_without_reply, requested_count),
    *(partial(at_most, *pair) for pair in (("received", "sent"), ("valid_received", "valid_sent"))),
    *(partial(at_most, "lost", whole) for whole in ("sent", "datagrams")),
    *(partial(whole_count, "loss", whole) for whole in ("sent", "datagrams")),
)


def check_identities(recorder: Recorder, declared: Mapping[str, Sequence[Identity]]) -> None:
    """Add an event for every identity that a run breaks; a complete run that breaks one is then ``failed``.

    ``declared``: what each tool keeps besides `EVERYWHERE`.
    """
    of_runs: dict[str, dict[str, list[Row]]] = {}
    for table in ("metrics", "intervals", "histograms", "quantiles"):
        rows = of_runs[table] = defaultdict(list)
        for row in recorder.rows[table]:
            rows[row["run_id"]].append(row)
    told = {(event["run_id"], event["code"], event["severity"]) for event in recorder.rows["events"]}
    for run in recorder.rows["runs"]:
        run_id = run["run_id"]
        numbers = Numbers(run, *(rows.get(run_id, ()) for rows in of_runs.values()))
        for identity in (*EVERYWHERE, *declared.get(run["tool"], ())):
            for code, text, line, severity in identity(numbers):
                if (run_id, code, severity) not in told:
                    recorder.add_event(code, severity, text, line, run_id)
