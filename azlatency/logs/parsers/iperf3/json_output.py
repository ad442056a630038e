"""The JSON of iperf3 (``-J``, ``--json-stream``): the same tables as from the text, without its rounding.

::

    {"start": {"connected": [{"socket": 5, "local_host": "10.2.1.4", ...}], "version": "iperf 3.12",
               "timestamp": {"timesecs": 1795225326}, "connecting_to": {...}, "test_start": {"protocol": "TCP", ...}},
     "intervals": [{"streams": [{...}], "sum": {"start": 0, "end": 1.008106, "bytes": 394002432, ...}}],
     "end": {"streams": [{"sender": {...}, "receiver": {...}}], "sum_sent": {...}, "sum_received": {...},
             "cpu_utilization_percent": {...}}}
    {"event": "interval", "data": {...}}                       --json-stream (3.17): one such object per line

The keys (iperf_api.c):

- ``sum_sent`` is the count of the sender and ``sum_received`` that of the receiver, whichever end wrote the file. 0
  bytes mean that the results of that end did not arrive: missing, not zero.
- ``--bidir``: up to 3.10 ``sum``, ``sum_sent`` and ``sum_received`` occur twice, client to server first; since 3.11
  the second ones are called ``…_bidir_reverse``. Both directions are stored.
- UDP up to 3.10 has only ``sum``: bytes, rate and packets of the sender; time, jitter and loss of the receiver.
- ``max_rtt``, ``min_rtt`` and ``mean_rtt`` are estimates of the TCP stack of this end under load (``tcp_rtt_*``), not
  the round-trip time of a probe; they are stored if this end sends.
- A number may be ``-nan`` (3.0, 3.1): missing. A string or ``true`` instead of a number is damage, and reported.

Not stored: cookies, sizes of socket buffers, names of congestion controls, ``server_output_*`` (the log of the other
end as a string).
"""

from __future__ import annotations

from typing import Any

from azlatency.logs.grammar import json_tokens
from azlatency.logs.grammar.command_line import settings_of, settings_text
from azlatency.logs.grammar.json_lines import JsonLineMap
from azlatency.logs.grammar.rules import KNOWN
from azlatency.logs.grammar.units import Quantity, count, exact_bytes, nanoseconds, quantity
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import contradict, utc
from azlatency.logs.parsers.iperf3.json_intervals import JsonIntervals, number_in
from azlatency.logs.parsers.iperf3.run import Test
from azlatency.logs.parsers.iperf_rows import SUM, Connection, RateRow
from azlatency.logs.record import Recorder

_SIGNIFICANT = 6  # iperf3 3.0 prints six digits and strips zeros
_FORWARD, _REVERSE = 0, 1
#: Objects and arrays of other programs that a document may stand in, one inside the other.
_DEEPEST = 6
#: The members of a total, and the metric of each.
_METRICS = {
    "bytes": "transferred",
    "bits_per_second": "throughput",
    "retransmits": "retransmits",
    "packets": "datagrams",
    "jitter_ms": "jitter",
    "lost_packets": "lost",
    "lost_percent": "loss",
}
_ESTIMATES = {
    "mean_rtt": "tcp_rtt_mean",
    "min_rtt": "tcp_rtt_min",
    "max_rtt": "tcp_rtt_max",
    "max_snd_cwnd": "cwnd_max",
}


class Documents:
    """Reads the JSON documents of one log."""

    def __init__(self, log: Log, recorder: Recorder) -> None:
        self.log, self.recorder = log, recorder
        self.line_map = JsonLineMap(log, recorder, whole=True)
        self.intervals = JsonIntervals(self.line_map, recorder)
        self.begun = 0  # tests
        self.test: Test | None = None

    # --- documents

    def read(self, index: int) -> int:
        """Read the document that begins in line ``index``; return the index of the first line after it."""
        begin = self.line_map.begin(index)
        try:
            end = self._document(begin)
        except json_tokens.JsonError as error:
            return self._broken(begin, error)
        self.line_map.mark_between(begin, end, KNOWN)
        return self.line_map.line_index(end - 1) + 1

    def _broken(self, begin: int, error: json_tokens.JsonError) -> int:
        """Keep what is complete in a document that is cut or damaged, and report it."""
        number = self.line_map.line_number(error.position)
        test = self.test or self._open(begin)
        test.cut = True
        if error.at_end:
            self.recorder.accounting.raise_range(self.line_map.line_number(begin), self.log.last_line, KNOWN)
            test.last_line = self.log.last_line
            following = len(self.log.lines)
        else:
            text = "the document is not JSON from here on; the members above are kept"
            test.run.add_event("malformed", "error", text, number)
            following = max(self.line_map.line_index(error.position), self.line_map.line_index(begin) + 1)
            self.line_map.mark_up_to(begin, following)
            test.last_line = number
        self.close(test.last_line)
        return following

    def close(self, last_line: int) -> None:
        """Finish the open test, if there is one."""
        test, self.test = self.test, None
        if test is not None:
            test.finish(min(last_line, test.last_line))

    def _open(self, position: int, form: str = "json") -> Test:
        self.close(self.log.last_line)
        number = self.line_map.line_number(position)
        run = self.recorder.start_run("iperf3", number)
        self.test = Test(self.log, run, form, number)
        self.begun += 1
        return self.test

    def _document(self, begin: int) -> int:
        """Read one object: an event of a stream, or a whole test."""
        first = json_tokens.skip_blanks(self.line_map.text, begin + 1)
        if self.line_map.text.startswith('"event"', first):
            return self._event(begin)
        self.close(self.log.last_line)
        return self._read_test(begin)

    # --- a stream of events

    def _event(self, begin: int) -> int:
        if '"interval"' in self.line_map.text[begin : begin + 40] and self.test is not None:
            end = self.intervals.read_event(begin, self.test)
        else:
            node, end = json_tokens.read_value(self.line_map.text, begin)
            self._other_event(node, begin)
        if self.test is not None:
            self.test.last_line = self.line_map.line_number(end - 1)
        return end

    def _other_event(self, node: json_tokens.JsonObject, begin: int) -> None:
        name, content = node.value("event"), node.object("data")
        is_label = name not in ("start", "interval", "end", "error") or not (content.pairs or node.leaf("data"))
        if self.test is None and is_label:  # a script prints such lines, too
            return
        if name == "start" or self.test is None:
            self._open(begin, "json-stream")
        test = self.test
        assert test is not None
        if name == "start":
            self._start(content, test)
        elif name == "end" and not test.ended:
            test.ended = True
            self._end(content, test)
        elif name == "end" and content.pairs:  # a server that is stopped after a test prints an end without content
            text = "the test has ended in a line above; this end is left out"
            test.run.add_event("repeated_end", "error", text, self.line_map.line_number(begin))
        elif name == "error" and (leaf := node.leaf("data")) is not None:
            self._error(leaf, test)

    # --- a document

    def _read_test(self, begin: int, depth: int = 0) -> int:
        """Read the members of a document one by one, so that a cut document keeps the complete ones.

        Scripts store documents inside objects of their own, ``{"status": "ok", "data": {"start": …}}``.
        """
        text, place = self.line_map.text, json_tokens.skip_blanks(self.line_map.text, begin + 1)
        test: Test | None = None
        while text[place : place + 1] != "}":
            key, place = json_tokens.read_string(text, place)
            place = json_tokens.skip_colon(text, place)
            if key == "intervals" and text[place : place + 1] == "[" and test is not None:
                place = self.intervals.read(place, test)
            elif key in ("start", "end") and text[place : place + 1] == "{":
                test = test or self._open(begin)
                node = json_tokens.JsonObject()
                read_section = self._start if key == "start" else self._end
                try:
                    place = json_tokens.read_object(text, place, node)
                except json_tokens.JsonError:
                    test.cut = True
                    read_section(node, test)
                    raise
                read_section(node, test)
            elif test is None and depth < _DEEPEST and text[place : place + 1] in ("{", "["):
                place = self._read_inside(place, depth + 1)
            else:
                value, place = json_tokens.read_value(text, place)
                is_text = isinstance(value, json_tokens.Scalar) and isinstance(value.value, str)
                # In an object around it, it is the error of another program.
                if key == "error" and is_text and (test is not None or not depth):
                    self._error(value, test := test or self._open(begin))
            place = json_tokens.skip_comma(text, place, "}")
        if test is not None and test is self.test:
            test.last_line = self.line_map.line_number(place)
            test.ended = True
            if self._idle(test):
                self._forget(test)
            elif not test.blank:
                self.close(self.line_map.line_number(place))
        return place + 1

    def _read_inside(self, place: int, depth: int) -> int:
        """Read the documents in an object or an array of another program."""
        text = self.line_map.text
        if text[place] == "{":
            return self._read_test(place, depth)
        place = json_tokens.skip_blanks(text, place + 1)
        while text[place : place + 1] != "]":
            if text[place : place + 1] == "{":
                place = self._read_test(place, depth)
            else:
                place = json_tokens.read_value(text, place)[1]
            place = json_tokens.skip_comma(text, place, "]")
        return place + 1

    def _idle(self, test: Test) -> bool:
        """Whether this is the document that a server writes when it is stopped while it waits for a client."""
        stopped = test.failure is None and test.run.row["status"] == "interrupted"
        return test.empty and not test.connections and stopped and len(self.recorder.rows["runs"]) > 1

    def _forget(self, test: Test) -> None:
        rows = self.recorder.rows
        rows["runs"].remove(test.run.row)
        rows["events"] = [event for event in rows["events"] if event["run_id"] != test.run.run_id]
        self.begun -= 1
        self.test = None

    def _leaf(self, node: json_tokens.JsonObject, name: str, test: Test) -> json_tokens.Scalar | None:
        """Return a member that is a number; None if it is missing or another value, which is reported."""
        return number_in(node, name, self.line_map, test.run)

    # --- start

    def _start(self, node: json_tokens.JsonObject, test: Test) -> None:
        run = test.run
        if isinstance(version := node.value("version"), str):
            run.set(tool_version=version.removeprefix("iperf ").strip() or None)
        self._clock(node.object("timestamp"), test)
        if (host := node.object("connecting_to").value("host")) is not None:
            test.server = False
            run.set(server=host)
        elif (host := node.object("accepted_connection").value("host")) is not None:
            test.server = True
            run.set(client=host)
        for connection in node.objects("connected"):
            names = ("socket", "local_host", "local_port", "remote_host", "remote_port")
            test.add_connection(Connection(*(str(connection.value(name)) for name in names)))
            self.line_map.mark_data(connection)
        if node.get("test_start") is not None:
            self._test_start(node.object("test_start"), test)
            asked = node.object("test_start")
            sizes = {
                "window": node.value("sock_bufsize"),
                "MSS": node.value("tcp_mss"),
                "fq-rate": asked.value("fqrate"),
            }
            sizes |= {name: asked.value(name) for name in ("tos", "gso", "gro")}
            stated = {name: str(value) for name, value in sizes.items() if type(value) is int and value}
            run.set(settings=settings_text(stated))  # a document names all of them
            connected = len(list(node.objects("connected")))
            # Both directions of --bidir, which old versions do not state, have connections of their own.
            if test.streams and connected and connected not in (test.streams, 2 * test.streams):
                text = f"{test.streams} streams were asked for, but {connected} connected"
                contradict(run, "count_mismatch", text, run.row["first_line"])
        for leaf in (node.leaf("version"), node.object("connecting_to").leaf("host")):
            if leaf is not None:
                self.line_map.mark_data(leaf)
        self._target(node, test)

    def _clock(self, node: json_tokens.JsonObject, test: Test) -> None:
        seconds, leaf = node.value("timesecs"), node.leaf("timemillisecs")
        if not isinstance(seconds, int | float) or not 0 <= seconds < 2**37:
            return
        milliseconds = leaf.value if leaf is not None and isinstance(leaf.value, int) else None
        if milliseconds is not None and abs(milliseconds / 1000 - seconds) < 2:
            test.run.set(started_at=utc(milliseconds * 10**6))
        else:
            test.run.set(started_at=utc(int(seconds) * 10**9))
        self.line_map.mark_data(node)

    def _test_start(self, node: json_tokens.JsonObject, test: Test) -> None:
        duration, omit = (self._leaf(node, name, test) for name in ("duration", "omit"))
        protocol = node.value("protocol")
        test.reverse, test.bidir = bool(node.value("reverse")), bool(node.value("bidir"))
        streams, block = (node.value(name) for name in ("num_streams", "blksize"))
        test.streams = streams if type(streams) is int and streams else None
        test.run.set(
            protocol=protocol.lower() if isinstance(protocol, str) else None,
            message_bytes=block if type(block) is int and block else None,
            requested_duration_ns=nanoseconds(duration.token, "sec") if duration and duration.value else None,
            warmup_ns=nanoseconds(omit.token, "sec") if omit else None,
            requested_bytes=_amount(node),
        )
        for _, value in node.pairs:
            if isinstance(value, json_tokens.Scalar):
                self.line_map.mark_data(value)
        self._target(node, test)

    def _target(self, node: json_tokens.JsonObject, test: Test) -> None:
        """Read the requested bit rate; 0 stands for none."""
        target = self._leaf(node, "target_bitrate", test)
        if target is not None and isinstance(target.value, int) and target.value > 0:
            test.report_target(target.token, self.line_map.line_number(target.position))

    # --- end

    def _end(self, node: json_tokens.JsonObject, test: Test) -> None:
        congestion = node.value("sender_tcp_congestion")
        if isinstance(congestion, str) and congestion:
            stated = settings_of(test.run.row.get("settings")) | {"congestion": congestion[:40]}
            test.run.set(settings=settings_text(stated))
        streams = node.objects("streams")
        test.bidir = test.bidir or len(node.all("sum_sent")) > 1 or len(node.all("sum")) > 1
        several = (test.streams or len(streams)) > 1
        for stream in streams:
            self._stream_totals(stream, test, several=several)
        for direction in (_FORWARD, _REVERSE):
            self._totals(node, direction, test)
        self._cpu(node.object("cpu_utilization_percent"), test)

    def _stream_totals(self, node: json_tokens.JsonObject, test: Test, *, several: bool) -> None:
        """Read one stream: the totals of both ends of TCP, one object for both ends of UDP."""
        sender, receiver, udp = (node.object(name) for name in ("sender", "receiver", "udp"))
        flags = [end.value("sender") for end in (sender, receiver, udp) if end.leaf("sender") is not None]
        flag = flags[0] if flags else None
        sends = test.local_side(None) == "sender" if flag is None or (not test.bidir and udp.pairs) else bool(flag)
        role = test.role_of(sends)
        if several:
            for side, end in (("sender", sender), ("receiver", receiver)):
                self._total(end, side, str(end.value("socket")), role, test)
            self._total(udp, "mixed", str(udp.value("socket")), role, test)
        if sender.pairs and sends:
            names = (role, str(sender.value("socket")) if several else None)
            self._tcp_estimates(sender, " ".join(filter(None, names)) or None, test, several=several)

    def _tcp_estimates(self, node: json_tokens.JsonObject, name: str | None, test: Test, *, several: bool) -> None:
        """Read what the TCP stack of the sending end estimated for its socket."""
        place: dict[str, Any] = {"side": "sender", "stream": name, "scope": "stream" if several else "run"}
        for key, metric in _ESTIMATES.items():
            if (leaf := self._leaf(node, key, test)) is None or not leaf.value:
                continue
            number = self.line_map.mark_data(leaf)
            unit = "bytes" if metric == "cwnd_max" else "us"
            if not leaf.token.isdigit():
                text = f"{key} {leaf.token} is not a whole number of {unit}; it is left out"
                test.run.add_event("no_count", "warning", text, number)
                continue
            value = exact_bytes(leaf.token) if unit == "bytes" else quantity(leaf.token, unit)
            test.run.add_metric(metric, value, number, **place)

    def _totals(self, node: json_tokens.JsonObject, direction: int, test: Test) -> None:
        if direction == _REVERSE and not test.bidir:
            return
        role = test.role_in_direction(direction)
        sent, received, mixed = (
            self._direction_node(node, name, direction) for name in ("sum_sent", "sum_received", "sum")
        )
        self._total(sent, "sender", SUM, role, test)
        self._total(received, "receiver", SUM, role, test)
        if not sent.pairs and not received.pairs and not test.cut:
            self._total(mixed, "mixed", SUM, role, test)

    def _direction_node(self, node: json_tokens.JsonObject, name: str, direction: int) -> json_tokens.JsonObject:
        totals = [total for total in node.all(name) if isinstance(total, json_tokens.JsonObject)]
        if len(totals) > 1 and direction == _FORWARD and name in ("sum_sent", "sum"):
            text = f"{len(totals)} members {name!r}, one per direction; both are stored"
            test = self.test
            if test is not None:
                test.run.add_event("duplicate_json_key", "info", text, self.line_map.line_number(totals[1].position))
        if len(totals) > direction:
            return totals[direction]
        return node.object(name + "_bidir_reverse") if direction == _REVERSE else json_tokens.JsonObject()

    def _total(self, node: json_tokens.JsonObject, side: str, stream: str, role: str | None, test: Test) -> None:
        leaves = {name: self._leaf(node, name, test) for name in ("start", "end", *_METRICS, "out_of_order")}
        start, end = leaves.pop("start"), leaves.pop("end")
        if start is None or end is None:
            return
        number = self.line_map.mark_data(node.leaf("bytes") or end)
        row = RateRow(
            line=number,
            stream=stream,
            role=role,
            start_ns=nanoseconds(start.token, "sec"),
            end_ns=nanoseconds(end.token, "sec"),
            slack_ns=sum(_number(leaf, "sec").half for leaf in (start, end)),
            bytes=_optional(leaves["bytes"], "Bytes"),
            rate=_optional(leaves["bits_per_second"], "bits/sec"),
            retransmits=_count(leaves["retransmits"]),
            datagrams=_count(leaves["packets"]),
            side="sender" if side == "mixed" else side,
            mixed=side == "mixed",
            datagrams_side=test.local_side(role) if side == "mixed" else None,
            lines={_METRICS[key]: self.line_map.mark_data(leaf) for key in _METRICS if (leaf := node.leaf(key))},
        )
        test.summary.append(row)
        row.jitter = _optional(leaves["jitter_ms"], "ms") if side != "sender" else None
        if row.jitter is None:
            return
        row.lost = _count(leaves["lost_packets"])
        percent, late = node.leaf("lost_percent"), leaves["out_of_order"]
        row.percent = None if percent is None else percent.token
        if late is not None and (out_of_order := _count(late)) is not None:
            test.out_of_order.append((self.line_map.mark_data(late), stream, out_of_order))

    def _cpu(self, node: json_tokens.JsonObject, test: Test) -> None:
        for side, prefix in (("local", "host"), ("remote", "remote")):
            leaves = [self._leaf(node, f"{prefix}_{name}", test) for name in ("total", "user", "system")]
            printed = [leaf for leaf in leaves if leaf is not None]
            if len(printed) == len(leaves):
                test.add_cpu(side, *((_number(leaf, "%"), self.line_map.mark_data(leaf)) for leaf in printed))

    def _error(self, leaf: json_tokens.Scalar, test: Test) -> None:
        text, number = str(leaf.value), self.line_map.mark_data(leaf)
        if test.server and test.summary and "unexpectedly closed" in text:
            # The client closed its connections without a message.
            test.run.add_event("message", "info", f"iperf3 reported: {text}", number)
            return
        if "terminated" not in text:
            test.failure = (number, text.removeprefix("error - "))
            return
        if test.server and test.ended and test.summary:
            return  # every server is stopped after its tests
        test.unreached = test.server is None and not test.connections and "the server has" in text
        test.run.set(status="interrupted")
        if not test.empty or test.connections:
            test.run.add_event("interrupted", "warning", f"{text}; the totals cover the time until then", number)


def _number(leaf: json_tokens.Scalar, unit: str) -> Quantity:
    """Read a printed number; an integer is exact."""
    value = quantity(leaf.token, unit, significant=_SIGNIFICANT)
    return Quantity(value.value, value.unit, value.printed, None) if isinstance(leaf.value, int) else value


def _optional(leaf: json_tokens.Scalar | None, unit: str) -> Quantity | None:
    return None if leaf is None else _number(leaf, unit)


def _count(leaf: json_tokens.Scalar | None) -> Quantity | None:
    if leaf is None:
        return None
    return count(leaf.token) if isinstance(leaf.value, int) else Quantity(float(leaf.value), "count", leaf.token, None)


def _amount(node: json_tokens.JsonObject) -> int | None:
    """Return the number of bytes that a test was told to send (``-n``, ``-k``); None if it was told a time."""
    size, blocks, block = (node.value(name) for name in ("bytes", "blocks", "blksize"))
    if type(size) is int and size > 0:
        return size
    return blocks * block if type(blocks) is int and type(block) is int and blocks * block > 0 else None
