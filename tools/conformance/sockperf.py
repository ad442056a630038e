"""sockperf: RTT/2 in µs unless the corpus says ``rtt``; MBps are 2**20 bytes per second."""

from __future__ import annotations

import re
from typing import Any

from conformance.core import Case

MICROSECOND = 1e3
_TIMES = {
    "avg": "rtt_mean",
    "summary": "rtt_mean",
    "stddev": "rtt_sd",
    "min": "rtt_min",
    "max": "rtt_max",
    "mean_ad": "rtt_mean_abs_dev",
    "median_ad": "rtt_median_abs_dev",
    "siqr": "rtt_siqr",
    "std_error": "rtt_std_error",
}
_COUNTS = {
    "total_sent": "sent",
    "total_received": "received",
    "valid_sent": "valid_sent",
    "valid_received": "valid_received",
    "dropped": "lost",
    "duplicated": "duplicates",
    "out_of_order": "out_of_order",
    "observations": "observations",
    "msg_rate": "message_rate",
    "cv": "rtt_cv",
}


def compare(case: Case) -> None:
    """Compare every number of one log."""
    wanted = case.expected
    factor = MICROSECOND * (1 if case.document.get("quantity") == "rtt" else 2)
    for key, metric in _TIMES.items():
        if wanted.get(key) is not None:
            case.check(key, wanted[key] * factor, case.metric(metric))
    for key, metric in _COUNTS.items():
        if key in wanted:
            case.check(key, wanted[key], case.metric(metric))
    for percent, value in wanted.get("percentiles", {}).items():
        case.check(f"percentiles.{percent}", value * factor, case.quantile(float(percent) / 100))
    if "p50" in wanted:
        case.check("p50", wanted["p50"] * factor, case.quantile(0.5))
    for key, metric in (("total_runtime_s", "total_duration"), ("valid_runtime_s", "valid_duration")):
        if key in wanted:
            case.check(key, wanted[key] * 1e9, case.metric(metric))
    if "ci_level" in wanted:
        case.check("ci_level", wanted["ci_level"] / 100, case.metric("rtt_ci_level"))
    for value, metric in zip(wanted.get("ci", []), ("rtt_ci_low", "rtt_ci_high"), strict=False):
        case.check("ci", value * factor, case.metric(metric))
    _bandwidth(case, wanted)
    _full_log(case, wanted)
    _words(case, wanted)


def _bandwidth(case: Case, wanted: dict[str, Any]) -> None:
    if "bw" not in wanted:
        return
    mebi = wanted["bw_unit"] == "MBps" or (
        # Up to 3.7 --increase_output_precision labels mebibytes as GBps.
        bool(re.search(r"BandWidth is \d+\.\d{9} GBps", case.text())) and not re.search(r"#3\.(8|9|10)", case.text())
    )
    bits = 8 * 2**20 * (1 if mebi else 1000)
    case.check("bw", wanted["bw"] * bits, case.metric("throughput", side="sender"))
    case.facts("bw_unit", "bw_bits", "bw_bits_unit")


def _full_log(case: Case, wanted: dict[str, Any]) -> None:
    rows = case.samples()
    if "csv_rows" in wanted:
        case.check("csv_rows", wanted["csv_rows"], [len(rows)])
    for key, position in (("first_row", 0), ("last_row", -1)):
        if key not in wanted:
            continue
        row = wanted[key]
        cells = [str(cell) for cell in row] if isinstance(row, list) else row.split(",")
        sent, received = (cells[1], cells[2]) if len(cells) > 2 else (cells[0], cells[1])
        case.check(key, _nanoseconds(received) - _nanoseconds(sent), rows and [rows[position]])
    case.facts("full_log", "csv_header", "full_rtt", "first_row", "last_row")


def _nanoseconds(text: str) -> int:
    seconds, _, fraction = text.strip().partition(".")
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0"))


def _words(case: Case, wanted: dict[str, Any]) -> None:
    version = wanted.get("version")
    if version:
        case.check("version", version, case.column("tool_version"))
    if wanted.get("no_sent") or wanted.get("no_reply") or wanted.get("too_short"):
        status = case.runs[0]["status"] if case.runs else "none"
        case.check("status", True, [status in ("failed", "no_data", "truncated")])
    if "warmup_ms" in wanted and case.metric("valid_duration"):
        playback = case.runs[0].get("test") == "playback"
        if not playback:
            case.check("warmup_ms", wanted["warmup_ms"] * 1e6, case.column("warmup_ns"))
    if "protocol" in wanted:
        case.check("protocol", wanted["protocol"].lower(), case.column("protocol"))
    if "mode" in wanted:
        case.check("mode", wanted["mode"], case.column("test"))
    if "msg_size" in wanted:
        case.check("msg_size", wanted["msg_size"], case.column("message_bytes"))
    case.facts("version", "avg_word", "summary_kind", "ended_by", "burst", "no_sent", "no_reply", "too_short", "role")
    case.facts("warmup_ms", "warmup_packets", "msg_size_from_cmdline", "endpoints", "endpoint", "servers", "mps")
    case.facts("reply_every", "time_s", "vma_version", "vma_build", "vma_time", "unmatched")
