"""The raw values of one flow: samples of ping and irtt, intervals of netperf."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from azlatency.logs.grammar.json_lines import JsonLineMap
from azlatency.logs.grammar.json_tokens import JsonObject, Scalar
from azlatency.logs.grammar.probes import ProbeSamples
from azlatency.logs.grammar.samples import SampleColumns
from azlatency.logs.grammar.units import Quantity, UnitError, count, exact_bytes, nanoseconds, quantity
from azlatency.logs.parsers.common import timed_columns, utc
from azlatency.logs.record import Run
from azlatency.logs.source.large import extremes

_SECOND = 10**9
_RATE = "flent Mbits/s"
#: netperf prints rates with two decimals.
_RATE_RESOLUTION = 0.005
#: An interval that is so many times as long as the others is one in which UDP_RR waited.
_MANY_TIMES = 10
_LEAST_COVERED = 0.9
#: More missing numbers are damage.
_MOST_LOST = 2**20


@dataclass
class Flow:
    """One flow while it is read.

    ``kind`` is icmp, irtt, udp_rr, upload or download; ``in_ms`` is whether the values of UDP_RR are times and not
    rates; ``told_ns`` is how long the flow was to last; ``damaged`` has the lines of values that were left out.
    """

    kind: str
    meta: JsonObject
    points: list[JsonObject]
    run: Run
    line_map: JsonLineMap
    in_ms: bool
    told_ns: int | None = None
    damaged: list[int] = field(default_factory=list)

    def number(self, node: JsonObject, name: str) -> Scalar | None:
        """Return a member that is a number of at least 0; None if it is missing or something else (damage)."""
        leaf = node.leaf(name)
        if leaf is None or leaf.token in ("null", "true", "false"):
            return None
        if isinstance(leaf.value, int | float) and leaf.value >= 0:
            return leaf
        self.damaged.append(self.line_map.line_number(leaf.position))
        return None

    def time(self, node: JsonObject, name: str, unit: str) -> int | None:
        """Return a member in ns; None if it is missing or no time that a tool measures (damage)."""
        leaf = self.number(node, name)
        try:
            return None if leaf is None else nanoseconds(leaf.token, unit)
        except UnitError:
            self.damaged.append(self.line_map.line_number(node.position))
            return None

    def add(self, metric: str, name: str, unit: str, side: str | None = None) -> None:
        """Add a number of the metadata of the flow as a metric."""
        if (leaf := self.number(self.meta, name)) is not None:
            self.run.add_metric(metric, quantity(leaf.token, unit), self.line_map.mark_data(leaf), side=side)


# --- ping and irtt


def read_round_trips(flow: Flow) -> bool:
    """Read the samples of ping or irtt, and the summary that the tool printed; return whether there is any."""
    run = flow.run
    run.set(printed_as="round_trip")
    samples = _samples(flow)
    run.add_samples(**timed_columns(run, samples, None, "s"))
    if flow.kind == "irtt":
        for metric, name in (("rtt_min", "RTT_MIN"), ("rtt_mean", "RTT_MEAN"), ("rtt_max", "RTT_MAX")):
            flow.add(metric, name, "ms")
        if (median := flow.number(flow.meta, "RTT_MEDIAN")) is not None:
            run.add_quantile(0.5, quantity(median.token, "ms"), flow.line_map.mark_data(median))
        for metric, name in (("sent", "PACKETS_SENT"), ("received", "PACKETS_RECEIVED")):
            _add_count(flow, metric, name)
    else:
        for metric, name in (("rtt_min", "MIN_VALUE"), ("rtt_mean", "MEAN_VALUE"), ("rtt_max", "MAX_VALUE")):
            flow.add(metric, name, "ms")
    return len(samples) > 0


def _add_count(flow: Flow, metric: str, name: str, side: str | None = None) -> None:
    leaf = flow.meta.leaf(name)
    if leaf is not None and re.fullmatch(r"\d{1,15}", leaf.token):
        read = exact_bytes if metric == "transferred" else count
        flow.run.add_metric(metric, read(leaf.token), flow.line_map.mark_data(leaf), side=side)


def _samples(flow: Flow) -> SampleColumns:
    """Return the samples in the order of their numbers; a number of ping that is missing is a lost probe."""
    samples = ProbeSamples()
    for index, point in enumerate(flow.points):
        time = flow.time(point, "t", "s")
        is_lost = point.value("lost") is True
        rtt = None if is_lost else flow.time(point, "val", "ms")
        if rtt is None and not is_lost:
            continue
        seq = flow.number(point, "seq")
        number = index if seq is None else int(seq.value)
        number = samples.numbers.unwrap(number) if flow.kind == "icmp" else number
        flow.line_map.mark_data(point.leaf("lost" if is_lost else "val") or point)
        samples.add_probe(number, rtt, "lost" if is_lost else "ok", None if time is None else time - (rtt or 0))
    if flow.kind == "icmp" and samples:
        least = extremes(samples.seq)[0]
        first = min(least, _first_number(flow, least))
        if samples.highest - first + 1 - samples.count_present(first, samples.highest + 1) > _MOST_LOST:
            flow.damaged.append(flow.line_map.line_number(flow.points[-1].position))
        else:
            samples.add_lost(first, samples.highest)
    return samples.by_number()


def _first_number(flow: Flow, first_seen: int) -> int:
    """Return the number of the first probe: fping counts from 0 and ping from 1; without a command, it is unknown."""
    program = re.search(r"(?:^|[/ '])(f?)ping6? ", str(flow.meta.value("COMMAND")))
    return first_seen if program is None else 0 if program[1] else 1


# --- netperf


class _Interval(NamedTuple):
    stop_ns: int
    length_ns: int
    rate: Scalar


def _intervals(flow: Flow) -> list[_Interval]:
    intervals = []
    for point in flow.points:
        stop, length, value = flow.time(point, "t", "s"), flow.time(point, "dur", "s"), flow.number(point, "val")
        if stop is not None and length is not None and value is not None:
            flow.line_map.mark_data(value)
            intervals.append(_Interval(stop, length, value))
    return intervals


def _add_intervals(flow: Flow, intervals: list[_Interval]) -> None:
    """Add intervals with times since the start of the first one; netperf's have uneven lengths."""
    if not intervals:
        return
    start = intervals[0].stop_ns - intervals[0].length_ns
    if start >= 0:
        flow.run.set(started_at=utc(start))
    for interval in intervals:
        stop = interval.stop_ns - start
        flow.run.add_interval(
            side=None,
            stream=None,
            start_ns=max(stop - interval.length_ns, 0),
            end_ns=stop,
            omitted=False,
            line=flow.line_map.line_number(interval.rate.position),
            **_values(flow, interval.rate),
        )


def _values(flow: Flow, value: Scalar) -> dict[str, float | int | None]:
    if flow.kind != "udp_rr":
        rate = quantity(value.token, _RATE).value
        return {"throughput_bit_s": rate, "throughput_printed_bit_s": rate}
    if not value.value:
        return {}
    printed = quantity(value.token, "ms" if flow.in_ms else "/s").value
    rtt, rate = (printed, _SECOND / printed) if flow.in_ms else (_SECOND / printed, printed)
    return {"operations_per_s": rate, "rtt_ns": round(rtt)}


def read_stream(flow: Flow) -> bool:
    """Read a TCP flow: netperf's rate at the receiver, and its interim rates; return whether there is any."""
    run, intervals = flow.run, _intervals(flow)
    run.set(connections=1, duration_ns=flow.time(flow.meta, "ELAPSED_TIME", "s") or None)
    _add_intervals(flow, intervals)
    flow.add("throughput", "MEAN_VALUE", _RATE, side="receiver")
    _add_count(flow, "retransmits", "TCP_RETRANSMIT", side="sender")
    _add_count(flow, "transferred", "BYTES_SENT", side="sender")
    _add_count(flow, "transferred", "BYTES_RECVD", side="receiver")
    size = flow.meta.value("SEND_SIZE")
    run.set(message_bytes=size if type(size) is int and size > 0 else None)
    return bool(intervals) or run.value("throughput", side="receiver") is not None


def read_transactions(flow: Flow) -> bool:
    """Read netperf UDP_RR: the rates of its intervals, and the round-trip time that its mean rate implies."""
    run, intervals = flow.run, _intervals(flow)
    run.set(closed_loop=True, printed_as="round_trip", connections=1)
    usual = statistics.median_low([interval.length_ns for interval in intervals] or [0])
    whole = [interval for interval in intervals if interval.length_ns <= _MANY_TIMES * usual]
    _add_intervals(flow, whole)
    covered = sum(interval.length_ns for interval in whole)
    mean = flow.number(flow.meta, "MEAN_VALUE")
    if flow.told_ns and covered < _LEAST_COVERED * flow.told_ns:
        text = (
            f"transactions took {covered / _SECOND:.3g} of {flow.told_ns / _SECOND:g} s: a lost datagram stopped them"
        )
        run.add_event("stall", "warning", f"{text}; their mean is left out", run.row["first_line"])
    elif mean is not None and mean.value:
        line = flow.line_map.mark_data(mean)
        time = quantity(mean.token, "ms")
        rate = _SECOND / time.value
        run.add_metric("transaction_rate", Quantity(rate, "1/s", None, _RATE_RESOLUTION), line)
        run.add_metric("rtt_from_rate", time.with_resolution(time.value * _RATE_RESOLUTION / rate), line)
    return bool(whole)


#: What reads the flows of each kind; returns whether the flow has numbers.
READERS: dict[str, Callable[[Flow], bool]] = {
    "icmp": read_round_trips,
    "irtt": read_round_trips,
    "udp_rr": read_transactions,
    "upload": read_stream,
    "download": read_stream,
}
