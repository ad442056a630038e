"""Identities that the numbers of a run keep, as data, and the one checker that holds them for all tools.

Every log keeps `EVERYWHERE`; what else a tool keeps, its parser declares as ``Parser.identities``. A run with numbers
that exclude each other, beyond the rounding of what is printed, is ``failed``.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
    """The numbers of one run: its row, its metrics by side and stream, its intervals and the buckets of histograms."""

    run: Row
    places: dict[_Place, dict[str, Row]]
    intervals: Sequence[Row]
    buckets: Sequence[Row] = ()
    quantiles: Sequence[Row] = ()

    @cached_property
    def counted(self) -> Mapping[_Place, Sequence[Row]]:
        """The intervals that are not omitted, by side and stream."""
        found: dict[_Place, list[Row]] = defaultdict(list)
        for row in self.intervals:
            if row["omitted"] is False:
                found[row["side"], row["stream"]].append(row)
        return found


@dataclass(frozen=True)
class NotNegative:
    """No metric, and neither the duration nor the length of an interval, is negative."""

    def check(self, numbers: Numbers) -> Iterator[Contradiction]:
        """Yield every number that is negative."""
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


@dataclass(frozen=True)
class Spread:
    """What a metric has between its extremes is between them, and its standard deviation is possible for that range.

    The sample standard deviation of n values is at most half the range times sqrt(n / (n - 1)).
    """

    def check(self, numbers: Numbers) -> Iterator[Contradiction]:
        """Yield every minimum above its maximum, every mean or last value outside, and every impossible deviation."""
        for rows in numbers.places.values():
            n = rows.get("observations") or numbers.places.get((None, None), {}).get("observations")
            for prefix in dict.fromkeys(name.rpartition("_")[0] for name in rows if name.endswith(("_min", "_max"))):
                low, high, deviation = (rows.get(f"{prefix}_{name}") for name in ("min", "max", "sd"))
                if low is not None and high is not None:
                    if exceeds(low, high):
                        text = f"the minimum {low['printed']} is greater than the maximum {high['printed']}"
                        yield Contradiction("not_monotone", text, high["line"])
                        continue
                    count = max(n["value"] if n else 2, 2)
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


@dataclass(frozen=True)
class MeanOfQuantiles:
    """A mean is possible for the quantiles of its observations: each says what share is at most, or at least, so long.

    A quantile of n observations may be the value beside it: each end of a share is uncertain by one observation.
    Where n is unknown, there are at least as many as the highest quantile needs.
    """

    def check(self, numbers: Numbers) -> Iterator[Contradiction]:
        """Yield every mean that the quantiles, the minimum and the maximum of the same latency exclude."""
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


@dataclass(frozen=True)
class RisingBuckets:
    """The buckets of a histogram that count something begin at rising edges, so none is there twice."""

    def check(self, numbers: Numbers) -> Iterator[Contradiction]:
        """Yield the first bucket of each histogram that does not begin above the one before it."""
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


@dataclass(frozen=True)
class EqualBuckets:
    """The buckets of a histogram are equally wide but for the first and the last, up to the rounding of their edges."""

    rounding_ns: int = 0

    def check(self, numbers: Numbers) -> Iterator[Contradiction]:
        """Yield the first bucket of another width than most."""
        inner = [row for row in numbers.buckets[1:-1] if row["high_ns"] is not None]
        if not inner:
            return
        usual = median_low([row["high_ns"] - row["low_ns"] for row in inner])
        for row in inner:
            width = row["high_ns"] - row["low_ns"]
            if abs(width - usual) > self.rounding_ns:
                text = f"the bucket from {row['low_ns'] / 1e3:g} us is {width / 1e3:g} us wide, not {usual / 1e3:g} us"
                yield Contradiction("value_conflict", text, row["line"])
                return


@dataclass(frozen=True)
class AtMost:
    """A count does not exceed another of the same side and stream."""

    part: str
    whole: str

    def check(self, numbers: Numbers) -> Iterator[Contradiction]:
        """Yield every part that exceeds its whole."""
        for (side, _), rows in numbers.places.items():
            if side in ("local", "remote") or not {self.part, self.whole} <= rows.keys():
                continue  # each end of a ping-pong counts its own messages: one more or less
            part, whole = rows[self.part], rows[self.whole]
            if exceeds(part, whole):
                text = f"{self.part} {part['value']:.0f} exceeds {self.whole} {whole['value']:.0f}"
                yield Contradiction("count_mismatch", text, part["line"])


@dataclass(frozen=True)
class NoTimeWithoutReply:
    """Without a reply, no round trip has a time."""

    def check(self, numbers: Numbers) -> Iterator[Contradiction]:
        """Yield the first time of a run that received nothing."""
        rows = numbers.places.get((None, None), {})
        times = [row for name, row in rows.items() if name in ("rtt_min", "rtt_mean", "rtt_max")]
        if times and "received" in rows and rows["received"]["value"] == 0:
            text = f"{times[0]['metric']} is {times[0]['printed']}, but no reply was received"
            yield Contradiction("count_mismatch", text, times[0]["line"])


@dataclass(frozen=True)
class RequestedCount:
    """A tool sends as many probes as its command asks for, unless it is stopped or has a deadline (``ping -w``)."""

    def check(self, numbers: Numbers) -> Iterator[Contradiction]:
        """Yield a number of probes that is not the one in the command; fewer are a run that was stopped."""
        requested, sent = numbers.run.get("requested_count"), numbers.places.get((None, None), {}).get("sent")
        if not requested or sent is None or " -w" in (numbers.run.get("command") or ""):
            return
        if sent["value"] > requested:
            text = f"{sent['value']:.0f} probes were sent, but the command asks for {requested}"
            yield Contradiction("count_mismatch", text, sent["line"])
        elif sent["value"] < requested:
            text = (
                f"only {sent['value']:.0f} of {requested} probes were sent: the tool was stopped, or the log is edited"
            )
            yield Contradiction("interrupted", text, sent["line"], "warning")


@dataclass(frozen=True)
class Sum:
    """A count is the sum of others of the same side and stream."""

    whole: str
    parts: tuple[str, ...]

    def check(self, numbers: Numbers) -> Iterator[Contradiction]:
        """Yield every count that is not the sum of its parts."""
        for rows in numbers.places.values():
            if not {self.whole, *self.parts} <= rows.keys():
                continue
            whole, parts = rows[self.whole], [rows[name] for name in self.parts]
            if whole["value"] != sum(part["value"] for part in parts):
                counts = " and ".join(f"{name} {rows[name]['value']:.0f}" for name in self.parts)
                text = f"{counts} are not {self.whole} {whole['value']:.0f} together"
                yield Contradiction("count_mismatch", text, parts[-1]["line"])


@dataclass(frozen=True)
class WholeCount:
    """A fraction is an integer divided by a count of the same side and stream: 1 % of 5 probes cannot be lost.

    mtr divides by the probes without the one that is still on its way (net.c, net_loss), so the count may be one less.
    """

    fraction: str
    whole: str

    def check(self, numbers: Numbers) -> Iterator[Contradiction]:
        """Yield every fraction that no integer gives."""
        for rows in numbers.places.values():
            if not {self.fraction, self.whole} <= rows.keys():
                continue
            fraction, whole = rows[self.fraction], rows[self.whole]
            parts = [fraction["value"] * (whole["value"] - under_way) for under_way in (0, 1)]
            # Tools round or truncate: up to one unit of the last digit, twice the half-width.
            if all(abs(part - round(part)) > 2 * slack(fraction) * whole["value"] + 1e-6 for part in parts):
                text = f"no count of {whole['value']:.0f} {self.whole} is a {self.fraction} of {fraction['printed']}"
                yield Contradiction("count_mismatch", text, fraction["line"])


@dataclass(frozen=True)
class SumOfStreams:
    """The value of the run at a side is the sum of those of its streams."""

    metric: str

    def check(self, numbers: Numbers) -> Iterator[Contradiction]:
        """Yield every total that is not the sum of its streams; one that is greater may lack the line of a stream."""
        for side in dict.fromkeys(side for side, _ in numbers.places):
            found = [rows.get(self.metric) for (at, _), rows in numbers.places.items() if at == side]
            streams = [row for row in found if row is not None and row["scope"] == "stream"]
            total = next((row for row in found if row is not None and row["stream"] is None), None)
            if total is None or not streams:
                continue
            expected = sum(row["value"] for row in streams)
            difference = total["value"] - expected
            if abs(difference) <= _OWN_TIMES * expected + slack(total, *streams):
                continue
            shown = f"{total['value']:.6g}, the streams add up to {expected:.6g} {total['unit']}"
            text = f"the total {self.metric} is {shown}"
            if difference > 0:
                yield Contradiction("lines_missing", f"{text}; a stream is missing", total["line"], "warning")
            else:
                yield Contradiction("sum_mismatch", text, total["line"])


@dataclass(frozen=True)
class SumOfIntervals:
    """A count of the run at a side, or of a stream, is the sum of those of its intervals, if none is missing.

    Only what is omitted is not counted. ``tolerance`` is the share by which the end of the test may be counted in one
    of them only.
    """

    metric: str
    tolerance: float = 0.0

    def check(self, numbers: Numbers) -> Iterator[Contradiction]:
        """Yield every total that is not the sum of its intervals."""
        for place, rows in numbers.places.items():
            total = rows.get(self.metric)
            if total is None or (self.tolerance and not total["value"]):
                continue  # iperf3 prints 0 datagrams where the other end told nothing
            intervals = numbers.counted.get(place, ())
            counts = [row[self.metric] for row in intervals]
            if not counts or None in counts or not self._is_whole(intervals, numbers.run.get("duration_ns")):
                continue
            if abs(sum(counts) - total["value"]) > self.tolerance * total["value"]:
                text = f"{self.metric} is {total['value']:.0f}, but its {len(counts)} intervals have {sum(counts)}"
                yield Contradiction("sum_mismatch", text, total["line"])

    @staticmethod
    def _is_whole(intervals: Sequence[Row], duration_ns: int | None) -> bool:
        """Return whether the intervals follow each other from the beginning of the test to its end."""
        ends = [(row["start_ns"], row["end_ns"]) for row in intervals]
        gaps = [start - end for (_, end), (start, _) in pairwise([(0, 0), *sorted(ends)])]
        last = max(end for _, end in ends)
        return bool(max(gaps) <= _BETWEEN_INTERVALS_NS and last >= (1 - _OWN_TIMES) * (duration_ns or math.inf))


@dataclass(frozen=True)
class BytesOfDatagrams:
    """What a sender transferred is its datagrams times their size."""

    def check(self, numbers: Numbers) -> Iterator[Contradiction]:
        """Yield every number of datagrams that its bytes contradict."""
        size = numbers.run.get("message_bytes")
        for (side, _), rows in numbers.places.items():
            if side != "sender" or not size or not {"datagrams", "transferred"} <= rows.keys():
                continue
            datagrams, transferred = rows["datagrams"], rows["transferred"]
            due = size * datagrams["value"]
            if abs(due - transferred["value"]) > _OWN_TIMES * due + slack(transferred):
                shown = f"{transferred['printed']} {transferred['printed_unit']}"
                text = f"{datagrams['value']:.0f} datagrams of {size} bytes are not {shown}"
                yield Contradiction("count_mismatch", text, datagrams["line"])


@dataclass(frozen=True)
class ClosedLoopRate:
    """A closed loop over one connection: its transactions, each after the other, do not take longer than the time."""

    def check(self, numbers: Numbers) -> Iterator[Contradiction]:
        """Yield every mean that the transaction rate of a closed loop excludes."""
        rows = numbers.places.get((None, None), {})
        rate = rows.get("transaction_rate")
        if rate is None or not numbers.run.get("closed_loop") or (numbers.run.get("connections") or 1) > 1:
            return
        for name in ("rtt_mean", "transaction_mean"):
            mean = rows.get(name)
            if mean is not None and rate["value"] * (mean["value"] - slack(mean)) > (1 + _OWN_TIMES) * scale("s"):
                text = f"{rate['value']:g} transactions in a second, one after the other, cannot take {mean['printed']}"
                yield Contradiction("rate_mismatch", text, mean["line"])


Identity = (
    NotNegative
    | Spread
    | MeanOfQuantiles
    | RisingBuckets
    | EqualBuckets
    | AtMost
    | NoTimeWithoutReply
    | RequestedCount
    | Sum
    | WholeCount
    | SumOfStreams
    | SumOfIntervals
    | BytesOfDatagrams
    | ClosedLoopRate
)
SENT_IS_RECEIVED_AND_LOST = Sum("sent", ("received", "lost"))
EVERYWHERE: tuple[Identity, ...] = (
    NotNegative(),
    Spread(),
    MeanOfQuantiles(),
    RisingBuckets(),
    NoTimeWithoutReply(),
    RequestedCount(),
    AtMost("received", "sent"),
    AtMost("valid_received", "valid_sent"),
    AtMost("lost", "sent"),
    AtMost("lost", "datagrams"),
    WholeCount("loss", "sent"),
    WholeCount("loss", "datagrams"),
)


def check_identities(recorder: Recorder, declared: Mapping[str, Sequence[Identity]]) -> None:
    """Add an event for every identity that a run breaks; a complete run that breaks one is then ``failed``.

    ``declared``: what each tool keeps besides `EVERYWHERE`.
    """
    places: dict[str, dict[_Place, dict[str, Row]]] = defaultdict(lambda: defaultdict(dict))
    for row in recorder.rows["metrics"]:
        places[row["run_id"]][row["side"], row["stream"]][row["metric"]] = row
    intervals: dict[str, list[Row]] = defaultdict(list)
    for row in recorder.rows["intervals"]:
        intervals[row["run_id"]].append(row)
    buckets: dict[str, list[Row]] = defaultdict(list)
    for row in recorder.rows["histograms"]:
        buckets[row["run_id"]].append(row)
    quantiles: dict[str, list[Row]] = defaultdict(list)
    for row in recorder.rows["quantiles"]:
        quantiles[row["run_id"]].append(row)
    told = {(event["run_id"], event["code"], event["severity"]) for event in recorder.rows["events"]}
    for run in recorder.rows["runs"]:
        run_id = run["run_id"]
        numbers = Numbers(
            run, places[run_id], intervals.get(run_id, ()), buckets.get(run_id, ()), quantiles.get(run_id, ())
        )
        for identity in (*EVERYWHERE, *declared.get(run["tool"], ())):
            for code, text, line, severity in identity.check(numbers):
                if (run_id, code, severity) not in told:
                    recorder.add_event(code, severity, text, line, run_id)
