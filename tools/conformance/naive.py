"""A second reading of logs without expected values: plain patterns on the summary lines, without the parsers.

It knows no runs, sections or versions: every number of a summary line must occur in the tables of its file, converted.
Numbers that the tables leave out on purpose (unknown, below the resolution) are left out here as well.
"""

from __future__ import annotations

import bz2
import gzip
import json
import re
from collections.abc import Callable
from typing import Any

from conformance.core import Case

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_KIBI = {"Bytes": 1, "KBytes": 1024, "MBytes": 1024**2, "GBytes": 1024**3}
# -f K, M, G: bytes per second, 1024-based.
_BITS = {"bits": 1, "Kbits": 1e3, "Mbits": 1e6, "Gbits": 1e9} | {unit: 8 * size for unit, size in _KIBI.items()}
_NANO = {"ns": 1, "us": 1e3, "ms": 1e6, "sec": 1e9}
_NUMBER = r"([\d.]+)"
_CLOSING = re.compile(
    rf"\[[^]]+\]\S*\s+{_NUMBER}-{_NUMBER}\s+sec\s+{_NUMBER} (\w+)\s+{_NUMBER} (\w+)/sec.*(sender|receiver)"
)


def compare(case: Case) -> None:
    """Compare the numbers that plain patterns find in the text of one log."""
    text = plain(case.path.read_bytes())
    readers: dict[str, Callable[[Case, str], None]] = {
        "sockperf": sockperf,
        "qperf": qperf,
        "ping": ping,
        "fping": fping,
        "lagscope": lagscope,
        "netperf": netperf,
        "iperf3": iperf3,
        "ntttcp": ntttcp,
        "fio": fio,
        "iostat": iostat,
        "echo": echo,
    }
    for tool in sorted({str(run["tool"]) for run in case.runs}):
        if tool in readers:
            readers[tool](case, text)


def plain(raw: bytes) -> str:
    """Return the text without escapes; UTF-16 is recognised by its mark or its zeros."""
    for magic, opener in ((b"\x1f\x8b", gzip.decompress), (b"BZh", bz2.decompress)):
        if raw.startswith(magic):
            raw = opener(raw)
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = raw.decode("utf-16", "replace")
    elif raw[1:2] == b"\x00":
        text = raw.decode("utf-16-le", "replace")
    else:
        text = raw.decode("utf-8-sig", "replace")
    return _ESCAPES.sub("", text).replace("\r\n", "\n")


def sockperf(case: Case, text: str) -> None:
    """Averages, counts, percentiles and rates of the closing block; sums of the full log."""
    factor = 2e3
    for line in text.splitlines():
        if match := re.search(rf"avg-(lat|latency|rtt)=\s*{_NUMBER} \(std-dev={_NUMBER}", line):
            factor = 1e3 if match[1] == "rtt" else 2e3
            case.check("avg", float(match[2]) * factor, case.metric("rtt_mean"))
            case.check("std-dev", float(match[3]) * factor, case.metric("rtt_sd"))
        elif match := re.search(rf"(MAX|MIN)>? observation =\s*{_NUMBER}", line):
            case.check(match[1], float(match[2]) * factor, case.metric(f"rtt_{match[1].lower()}"))
        elif match := re.search(rf"percentile {_NUMBER}\s?=\s*{_NUMBER}", line):
            case.check(f"p{match[1]}", float(match[2]) * factor, case.quantile(float(match[1]) / 100))
        elif match := re.search(r"Total (\d+) observations", line):
            case.check("observations", int(match[1]), case.metric("observations"))
        elif match := re.search(r"dropped messages = (\d+);.*duplicated.* = (\d+);.*out-of-order.* = (\d+)", line):
            for number, metric in zip(match.groups(), ("lost", "duplicates", "out_of_order"), strict=True):
                case.check(metric, int(number), case.metric(metric))
        elif match := re.search(r"Total Run.*SentMessages=(\d+); ReceivedMessages=(\d+)", line):
            case.check("sent", int(match[1]), case.metric("sent"))
            case.check("received", int(match[2]), case.metric("received"))
        elif match := re.search(r"Message Rate is (\d+) ", line):
            case.check("rate", int(match[1]), case.metric("message_rate"))
        elif match := re.search(rf"BandWidth is {_NUMBER} MBps", line):
            case.check("bandwidth", float(match[1]) * 8 * 2**20, case.metric("throughput"))
    times = [
        (cells[1], cells[2])
        for line in text.splitlines()
        if (cells := re.fullmatch(r"\d+, (\d+\.\d{9}), (\d+\.\d{9}), [\d.]+", line.strip()) or [])
    ]
    if times:
        total = sum(_nano(received) - _nano(sent) for sent, received in times)
        rows = case.samples()
        case.check("rows", len(times), [len(rows)])
        case.check("sum of rows", total, [sum(row or 0 for row in rows)])


def _nano(text: str) -> int:
    return int(text.replace(".", ""))


def qperf(case: Case, text: str) -> None:
    """Latencies and bandwidths."""
    test = ""
    for line in text.splitlines():
        if match := re.fullmatch(r"([a-z_]+):\s*", line):
            test = match[1]
        elif match := re.search(r"^\s+latency\s+=\s+([\d.,]+) (\w+)", line):
            half = 1 if test == "rc_rdma_read_lat" else 2
            value = float(match[1].replace(",", "")) * _NANO[match[2]] * half
            case.check(f"{test}.latency", value, case.metric("rtt_mean"))
        elif match := re.search(r"^\s+(?:send_|recv_)?bw\s+=\s+([\d.,]+) (|K|M|G)(B|b)/sec", line):
            value = float(match[1].replace(",", "")) * {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}[match[2]]
            case.check(f"{test}.bw", value * (8 if match[3] == "B" else 1), case.metric("throughput"))
        elif match := re.search(r"^\s+loc_send_msgs\s+=\s+([\d,]+) *$", line):
            case.check(f"{test}.sent", int(match[1].replace(",", "")), case.metric("sent"))


def ping(case: Case, text: str) -> None:
    """Read the two closing lines and the number of replies."""
    replies = 0
    for line in text.splitlines():
        if match := re.search(r"(\d+) packets transmitted, (\d+) (?:packets )?received", line):
            case.check("sent", int(match[1]), case.metric("sent"))
            case.check("received", int(match[2]), case.metric("received"))
        elif match := re.search(rf"(?:rtt|round-trip) min/avg/max\S* = {_NUMBER}/{_NUMBER}/{_NUMBER}", line):
            for value, metric in zip(match.groups(), ("rtt_min", "rtt_mean", "rtt_max"), strict=True):
                case.check(metric, float(value) * 1e6, case.metric(metric))
        elif re.search(r"bytes from .*(?:time=|: icmp_seq)", line):
            replies += 1
    if replies and case.runs[0]["status"] == "complete":
        kept = case.samples(statuses=("ok", "duplicate", "out_of_order"))
        case.check("replies", replies, [len(kept)])


def fping(case: Case, text: str) -> None:
    """Read the counts and extremes of each host."""
    for line in text.splitlines():
        tail = rf"min/avg/max = {_NUMBER}/{_NUMBER}/{_NUMBER}"
        if match := re.match(rf"(\S+)\s*: xmt/rcv/%loss = (\d+)/(\d+)/\d+%(?:, {tail})?", line):
            runs = case.of(server=match[1])
            counts = [value for run in runs for value in case.metric("received", run)]
            rows = [row for row in case.intervals() if row["datagrams"] is not None]
            counts += [row["datagrams"] - (row["lost"] or 0) for row in rows]
            case.check(f"{match[1]}.rcv", int(match[3]), counts)
            if match[5] and counts and not case.intervals():
                means = [value for run in runs for value in case.metric("rtt_mean", run)]
                case.check(f"{match[1]}.avg", float(match[5]) * 1e6, means)


def lagscope(case: Case, text: str) -> None:
    """Extremes, mean and percentiles; counts of lists."""
    for line in text.splitlines():
        if match := re.search(rf"Minimum = {_NUMBER}us, Maximum = {_NUMBER}us, Average = {_NUMBER}us", line):
            for value, metric in zip(match.groups(), ("rtt_min", "rtt_max", "rtt_mean"), strict=True):
                case.check(metric, float(value) * 1e3, case.metric(metric))
        elif match := re.fullmatch(rf"\s*{_NUMBER}%\s+(\d+)", line):
            q = float(match[1]) / 100
            low = int(match[2]) * 1e3
            case.check(f"p{match[1]}", True, [low <= value <= low + 1e3 for value in case.quantile(q)])
        elif match := re.search(r"Number of successful Pings: (\d+)", line):
            case.check("pings", int(match[1]), case.metric("received"))
    rows = re.findall(r"(?m)^\s*\d+,\s*\d+$", text)
    if text.startswith("Index"):
        case.check("rows", len(rows), [len(case.samples(statuses=("ok", "warmup")))])
    if '"latencies"' in text[:80]:
        counts = sum(int(frequency) for frequency in re.findall(r'"frequency":\s*(\d+)', text))
        case.check("frequency", counts, [sum(row["count"] for row in case.buckets())])


def netperf(case: Case, text: str) -> None:
    """Keys of omni tests and the row of classic ones."""
    keys = {
        "MEAN_LATENCY": ("rtt_mean", 1e3),
        "MIN_LATENCY": ("rtt_min", 1e3),
        "MAX_LATENCY": ("rtt_max", 1e3),
        "THROUGHPUT": ("transaction_rate", 1),
    }
    stream = "STREAM" in text
    for line in text.splitlines():
        if (match := re.fullmatch(rf"([A-Z_0-9]+)={_NUMBER}", line.strip())) and match[1] in keys and not stream:
            metric, factor = keys[match[1]]
            case.check(match[1], float(match[2]) * factor, case.metric(metric))
        elif match := re.fullmatch(r"P(\d+)_LATENCY=(\d+)", line.strip()):
            case.check(match[0], int(match[2]) * 1e3, case.quantile(int(match[1]) / 100))
        elif match := re.fullmatch(rf"\d+\s+\d+\s+\d+\s+\d+\s+{_NUMBER}\s+{_NUMBER}", line.strip()):
            case.check("rate", float(match[2]), case.metric("transaction_rate"))
            case.check("elapsed", float(match[1]) * 1e9, case.metric("elapsed"))
        elif match := re.fullmatch(rf"\d+\s+\d+\s+\d+\s+{_NUMBER}\s+{_NUMBER}", line.strip()):
            case.check("throughput", float(match[2]) * 1e6, case.metric("throughput"))


def documents(text: str) -> list[dict[str, Any]]:
    """Yield every JSON object that begins a line, whatever is between them."""
    values, position = [], 0
    while (start := re.compile(r"(?m)^\s*\{").search(text, position)) is not None:
        try:
            value, position = json.JSONDecoder().raw_decode(text, start.end() - 1)
        except ValueError:
            position = start.end()
            continue
        values.append(value)
    return values


def iperf3(case: Case, text: str) -> None:
    """Read the closing rows of text, or the sums of JSON."""
    for document in documents(text):
        end = document.get("data") if document.get("event") == "end" else document.get("end")
        if not isinstance(end, dict) or "duplicate_json_key" in case.codes():
            continue
        for name in ("sum_sent", "sum_received"):
            row: dict[str, Any] = end.get(name) or {}
            if row.get("bytes"):
                match = case.metric("transferred") + case.metric("throughput")
                case.check(f"{name}.bytes", row["bytes"], match)
                case.check(f"{name}.rate", row["bits_per_second"], match, tolerance=1e-5)
    for line in text.splitlines():
        # A server's text may stand as one string in the JSON of its client.
        if r"\n" not in line and (match := _CLOSING.search(line)) and float(match[3]):
            size, rate = float(match[3]) * _KIBI[match[4]], float(match[5]) * _BITS[match[6]]
            case.check("bytes", size, case.metric("transferred", side=match[7]), tolerance=1e-6)
            case.check("rate", rate, case.metric("throughput", side=match[7]), tolerance=1e-6)


def ntttcp(case: Case, text: str) -> None:
    """Totals of the console; bytes of XML."""
    for line in text.splitlines():
        if match := re.search(r"total bytes\s*:\s*(\d+)", line):
            case.check("bytes", int(match[1]), case.metric("transferred"))
        elif match := re.search(rf"INFO:\s+test duration\s*:\s*{_NUMBER}", line):
            case.check("duration", float(match[1]) * 1e9, case.column("duration_ns"), tolerance=1e-6)
        elif match := re.search(r"retrans segs\s*:\s*(\d+)", line):
            case.check("retransmits", int(match[1]), case.metric("retransmits"))
        elif match := re.search(rf"cycles/byte\s*:\s*{_NUMBER}", line):
            case.check("cycles", float(match[1]), case.metric("cycles_per_byte"))
    ntttcp_json(case, text)


def ntttcp_json(case: Case, text: str) -> None:
    """Numbers of JSON, all of them written as text."""
    if match := re.search(rf'"metric" : "cycles/byte",\s*"value" : "{_NUMBER}"', text):
        case.check("cycles", float(match[1]), case.metric("cycles_per_byte"))
    if match := re.search(rf'(?s)"totalBytes" : \{{.{{0,80}}?"value" : "{_NUMBER}".*"realTime" : \{{', text):
        mega = float(match[1])
        near = [value for value in case.metric("transferred") if abs(value - mega * 1e6) <= 1e6]
        case.check("megabytes", True, [bool(near)])


def fio(case: Case, text: str) -> None:
    """IOPS of text and of JSON."""
    for match in re.finditer(rf"(?m)^\s+(read|write): IOPS={_NUMBER}(k?), BW=", text):
        iops = float(match[2]) * (1000 if match[3] else 1)
        # Of text and JSON of one run in one file the JSON is kept, which has all digits.
        tolerance = 5e-3 if '"jobs"' in text else 1e-6
        case.check("iops", iops, case.metric("iops", stream=match[1]), tolerance=tolerance)
    for line in text.splitlines():
        fields = line.split(";")
        if len(fields) > 100 and fields[0] == "3":
            for stream, place in (("read", 5), ("write", 46)):
                if int(fields[place]):
                    case.check("terse KiB", int(fields[place]) * 1024, case.metric("transferred", stream=stream))
                    case.check("terse IOPS", int(fields[place + 2]), case.metric("iops", stream=stream))
    start = text.find("{\n")
    try:
        document = json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else {}
    except ValueError:
        return
    for job in document.get("jobs") or []:
        for stream in ("read", "write"):
            row = job.get(stream) or {}
            if row.get("total_ios") and not job.get("error"):
                case.check("iops", row["iops"], case.metric("iops", stream=stream), tolerance=1e-6)
                case.check("bytes", row["io_bytes"], case.metric("transferred", stream=stream))
                mean = (row.get("clat_ns") or {}).get("mean")
                match = case.metric("completion_latency_mean", stream=stream)
                case.check("clat mean", mean, match, tolerance=1e-6)


def iostat(case: Case, text: str) -> None:
    """CPU rows in order."""
    if text.lstrip().startswith("{"):
        reports = json.loads(text)["sysstat"]["hosts"][0]["statistics"]
        case.check("reports", len(reports), [len(case.runs)])
        for position, report in enumerate(reports):
            idle = (report.get("avg-cpu") or {}).get("idle")
            if idle is not None:
                case.check("idle", idle / 100, case.metric("cpu_idle", position))
        return
    rows = re.findall(r"avg-cpu:.*\n\s+([\d.]+)\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+([\d.]+)", text)
    for position, (user, idle) in enumerate(rows):
        case.check("user", float(user) / 100, case.metric("cpu_user", position))
        case.check("idle", float(idle) / 100, case.metric("cpu_idle", position))


def echo(case: Case, text: str) -> None:
    """Rows of the CSV; counts of the log."""
    rows = re.findall(r"(?m)^\d+,[^,]+,\d+,\d+,([\d.]+)$", text)
    if rows:
        samples = [value for value in case.samples(statuses=("ok", "warmup")) if value is not None]
        case.check("rows", len(rows), [len(samples)])
        case.check("largest", max(float(row) for row in rows) * 1e3, [max(samples)], tolerance=1e-6)
    if match := re.search(r"Packets: Sent = (\d+), Received = (\d+)", text):
        case.check("sent", int(match[1]), case.metric("sent"))
