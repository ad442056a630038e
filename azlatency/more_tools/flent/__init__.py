"""flent: the data files (``.flent.gz``, ``.flent``) of tests that run ping, irtt and netperf at the same time.

::

    {
      "metadata": {
        "BATCH_NAME": null, …
        "HOST": "10.77.0.2", "LOCAL_HOST": "vm", "NAME": "rrul", "STEP_SIZE": 1.0, …
        "SERIES_META": {
          "Ping (ms) ICMP": {"COMMAND": "/usr/bin/fping -D …", "MEAN_VALUE": 0.048, "RUNNER": "PingRunner", …},
          "TCP upload avg": {"MEAN_VALUE": 1000.6875, "RUNNER": "AverageRunner", …}, …
        }, …
      },
      "raw_values": {
        "Ping (ms) ICMP": [{"seq": 0.0, "t": 1795559471.59723, "val": 0.067}, …],
        "Ping (ms) UDP BE": [{"dur": 0.25, "t": 1436789029.234, "val": 20.04}, …],
        "TCP upload BE": [{"dur": 1.006, "t": 1795559477.534, "val": 1454.49}, …], …
      },
      "results": {…}, "version": 4, "x_values": […]
    }

*Runs.* Each flow that a tool measured is a run: its ``raw_values``. The series in ``results`` are interpolated onto
common times, and averages, sums and fairness are computed from other flows; neither is read. All flows load the network
for each other, so the name of the test is part of ``test`` (``rrul icmp``), and the flow is one of the settings.

*Units.* Times of ping and irtt are round trips in ms, ``t`` is when the reply arrived (of a lost packet of irtt: when
it was sent). TCP flows are netperf's rates in Mbit/s over ``dur`` seconds up to ``t``. A UDP flow with ``dur`` is
netperf UDP_RR, whose round-trip time follows from the rate of transactions: up to version 3 of the file ``val`` is that
rate, since version 4 it is 1000 / rate in ms. ``MEAN_VALUE`` is in ms in each version.

*A lost datagram* stops UDP_RR, or makes it wait. If its intervals cover less than 90 % of its time, its mean is left
out (``stall``). A number missing among those of ping is a lost probe.

*Not read*: one-way delays of D-ITG (VoIP), HTTP and DNS times, iperf (its values have no known interval), statistics of
queues, CPUs and sockets; files without raw values (version 1), or whose raw values flent has computed
(``FAKE_RAW_VALUES``).
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, ClassVar

from azlatency.logs.grammar.command_line import settings_text, words_of
from azlatency.logs.grammar.json_lines import JsonLineMap, begins_document
from azlatency.logs.grammar.json_tokens import JsonObject, Kept, Scalar
from azlatency.logs.grammar.units import UnitError, nanoseconds
from azlatency.logs.parsers import Log, Parser, Signature
from azlatency.logs.parsers.common import end_run, record_no_data
from azlatency.logs.record import Recorder
from azlatency.more_tools.flent.flows import READERS, Flow

_KIND_OF_TEST = {"TCP_STREAM": "upload", "TCP_MAERTS": "download", "UDP_RR": "udp_rr"}
_PROTOCOLS = {"icmp": "icmp", "irtt": "udp", "udp_rr": "udp", "upload": "tcp", "download": "tcp"}
_NAME_OF_PARAMETER = re.compile(r"\w{1,40}")
_LONGEST = 40
_LONGEST_COMMAND = 1000
#: At most this many series that are not read are named.
_MOST_NAMED = 6
_FIRST_WITH_MS = 4


class _File:
    """One file: its metadata, its flows, and what it says about each of them."""

    def __init__(self, log: Log, recorder: Recorder, index: int) -> None:
        self.log, self.recorder = log, recorder
        self.line_map = JsonLineMap(log, recorder)
        kept: Kept = {"metadata": {"SERIES_META": {}}, "raw_values": {}}
        self.root, self.after, self.fault = self.line_map.read_document(index, kept)
        self.metadata = self.root.object("metadata")
        version = self.root.value("version")
        self.version = version if isinstance(version, int) else None
        self.not_read: list[str] = []
        self.runs = 0

    def value(self, node: JsonObject, name: str) -> Any:
        """Return the plain value of a member and mark its line as data; None if it is no string or number."""
        leaf = node.leaf(name)
        if leaf is None or leaf.value in (None, ""):
            return None
        self.line_map.mark_data(leaf)
        return leaf.value

    def text(self, node: JsonObject, name: str, longest: int = _LONGEST) -> str | None:
        """Return the first characters of a member that is a string, on one line."""
        value = self.value(node, name)
        return " ".join(value.split())[:longest] or None if isinstance(value, str) else None

    def read(self) -> None:
        """Read each flow as a run."""
        computed = self.value(self.metadata, "FAKE_RAW_VALUES")
        for name, points in () if computed else self.root.object("raw_values").pairs:
            if isinstance(points, list) and (objects := [point for point in points if isinstance(point, JsonObject)]):
                self._read_flow(name, objects)
        first = self.log.first_line
        if not self.runs:
            reason = "it has no raw values of ping, irtt or netperf, which are what is read"
            if computed:
                reason = "flent computed its raw values from interpolated ones; give the file that the test wrote"
            elif self.fault is not None:
                reason = "the file ends before its raw values; copy the whole file"
            record_no_data(self.recorder, self.log, reason)
        if self.not_read:
            others = len(self.not_read) - _MOST_NAMED
            names = ", ".join(self.not_read[:_MOST_NAMED]) + (f" and {others} more" if others > 0 else "")
            self.recorder.add_event("series_not_read", "info", f"these series are not read: {names}", first)
        failed = self.metadata.leaf("FAILED_RUNNERS")
        if failed is not None and isinstance(failed.value, int) and failed.value > 0:
            text = f"{failed.value} of the tools that flent started failed; their flows are missing or incomplete"
            self.recorder.add_event("runner_failed", "warning", text, self.line_map.mark_data(failed))

    def _read_flow(self, name: str, points: list[JsonObject]) -> None:
        meta = self.metadata.object("SERIES_META").object(name)
        kind = self._kind(name, meta, points[0])
        if kind is None or (kind == "udp_rr" and self.version is None):
            reason = " (the file ends before its version, which says what they are)" if kind else ""
            self.not_read.append(" ".join(name.split())[:_LONGEST] + reason)
            return
        run = self.recorder.start_run("flent", self.line_map.line_number(points[0].position))
        self.runs += 1
        flow = Flow(kind, meta, points, run, self.line_map, in_ms=(self.version or 0) >= _FIRST_WITH_MS)
        self._describe(flow, name)
        flow.told_ns = run.row["requested_duration_ns"]
        has_numbers = READERS[kind](flow)
        if flow.damaged:
            text = f"{len(flow.damaged)} values of this flow are not numbers of its kind; they are left out"
            run.add_event("malformed", "error", text, flow.damaged[0])
        if self.fault is not None and not self.fault.at_end:
            text = "the file is not JSON from here on; the flows above are kept"
            run.add_event("malformed", "error", text, self.line_map.line_number(self.fault.position))
        last = self.line_map.line_number(points[-1].end - 1)
        end_run(run, has_numbers=has_numbers, ended=self.fault is None, last_line=last)

    def _kind(self, name: str, meta: JsonObject, point: JsonObject) -> str | None:
        """Return what measured a flow: by its runner, or in files of 2015 and before by its name."""
        runner, command = meta.value("RUNNER"), meta.value("COMMAND")
        if runner == "NetperfDemoRunner":
            test = re.search(r" -t ([A-Z_]{3,20})(?: |$)", command) if isinstance(command, str) else None
            return _KIND_OF_TEST.get(test[1]) if test else None
        if runner is not None:
            return {"PingRunner": "icmp", "IrttRunner": "irtt"}.get(runner)
        has_length = point.get("dur") is not None
        if (direction := re.match(r"TCP (upload|download)\b", name)) and has_length:
            return direction[1]
        if name.startswith("Ping (ms) UDP") and has_length:
            return "udp_rr"
        return "icmp" if name.startswith("Ping (ms) ICMP") and not has_length else None

    def _describe(self, flow: Flow, name: str) -> None:
        """Set the columns of the run that the metadata fill."""
        metadata, run = self.metadata, flow.run
        command = self.text(flow.meta, "COMMAND", _LONGEST_COMMAND)
        words = words_of(command or "")
        remote = self.text(flow.meta, "REMOTE_HOST", 253)
        if remote and words:  # ssh HOST 'COMMAND'
            words = words_of(words[-1])
        test = self.text(metadata, "NAME")
        run.set(
            tool_version=self.text(metadata, "FLENT_VERSION"),
            test=f"{test} {flow.kind}" if test else None,
            protocol=_PROTOCOLS[flow.kind],
            command=command,
            client=remote or self.text(metadata, "LOCAL_HOST", 253),
            server=_target(words) if words else self._only_host(),
            requested_duration_ns=self._told(flow, words),
            settings=self._settings(flow, name),
        )

    def _only_host(self) -> str | None:
        """Return the host of the test, unless it has several."""
        hosts = self.metadata.get("HOSTS")
        several = isinstance(hosts, list) and len(hosts) > 1
        return None if several else self.text(self.metadata, "HOST", 253)

    def _told(self, flow: Flow, words: list[str]) -> int | None:
        """Return the length of a flow (ns): that in netperf's command, or of the test for what runs all the time."""
        lengths = [value for option, value in pairwise(words) if option == "-l"]
        if not lengths and flow.kind not in ("upload", "download"):
            total = self.metadata.leaf("TOTAL_LENGTH")
            lengths = [total.token] if total is not None and not isinstance(total.value, str) else []
        try:
            return nanoseconds(lengths[0], "s") if lengths else None
        except UnitError:
            return None

    def _settings(self, flow: Flow, name: str) -> str:
        stated = {}
        for parameter, value in self.metadata.object("TEST_PARAMETERS").pairs:
            if isinstance(value, Scalar) and _NAME_OF_PARAMETER.fullmatch(parameter) and value.value is not None:
                self.line_map.mark_data(value)
                stated[parameter] = " ".join(str(value.value).split())[:_LONGEST]
        stated["flow"] = " ".join(name.removeprefix("Ping (ms) ").split())[:_LONGEST]
        step = self.value(self.metadata, "STEP_SIZE")
        if isinstance(step, int | float):
            stated["interval"] = f"{step:g}"
        for queue in self.metadata.object("EGRESS_INFO").objects("qdiscs"):
            if queue.value("parent") == "root" and (discipline := self.text(queue, "name")):
                stated["qdisc"] = discipline
        if congestion := self.text(flow.meta, "CONG_CONTROL"):
            stated["congestion"] = congestion
        return settings_text(stated)


def _target(words: list[str]) -> str | None:
    """Return the host that a command measures: netperf's last ``-H``, or the last word of the others."""
    hosts = [value for option, value in pairwise(words) if option == "-H"]
    host = hosts[-1] if hosts else words[-1]
    return None if host.startswith("-") else host.strip("[]")


class FlentParser(Parser):
    """Reads the data files of flent; see `azlatency.more_tools.flent`."""

    tool = "flent"
    commands = ("flent",)
    document_keys: ClassVar = {"metadata": '{\n    "BATCH_NAME"'}
    units: ClassVar = {"flent Mbits/s": ("bit/s", 10**6)}
    signatures = (Signature('"metadata"', r'\{?\s{0,20}"metadata" ?: ?\{', then=r'"BATCH_NAME" ?: ?.{1,300}'),)

    def parse(self, log: Log, recorder: Recorder) -> None:
        """Read one file."""
        # Text may stand above the file.
        index = next((index for index, line in enumerate(log.lines) if '"metadata"' in line.text), 0)
        if index and not begins_document(log.lines[index].text):
            index -= 1
        if not begins_document(log.lines[index].text):
            record_no_data(recorder, log, "the brace that begins the file is missing; give the whole file")
        else:
            _File(log, recorder, index).read()


PARSER = FlentParser()
