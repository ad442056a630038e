"""iperf3: rows of text by bracket group; sums of JSON; both sides separately, each direction by its role."""

from __future__ import annotations

import re
from typing import Any

from conformance.core import Case, Row

_SUM_ROWS = ("sum_sent", "sum_received", "sum_sent_bidir_reverse", "sum_received_bidir_reverse")
_KIBI = {"Bytes": 1, "KBytes": 1024, "MBytes": 1024**2, "GBytes": 1024**3, "TBytes": 1024**4}
_BITS = {"bits": 1, "Kbits": 1e3, "Mbits": 1e6, "Gbits": 1e9, "Tbits": 1e12}
_LOSSES = (("jitter_ms", "jitter", 1e6), ("lost", "lost", 1), ("total_datagrams", "datagrams", 1))
_WORDS = ("version", "error", "errors", "json_error", "documents_before_error", "documents", "banner_tests", "done")
_REMARKS = (
    "command", "omitted", "author_table_claim_gbps", "complete", "stalled_intervals", "gap_between_9_and_10",
    "interval_mean_bps_naive", "zero_intervals", "sender_shortfall", "offered_bps", "datagrams_sum", "bidir", "role",
    "interleaved_client_and_server", "single_summary_row", "rows_missing_in_excerpt", "last_interval_length_s",
    "protocol", "reverse", "error_lines", "bad_unsized_rows", "streams_in_end", "num_streams", "blksize",
)  # fmt: skip


def compare(case: Case) -> None:
    """Compare every number of one log."""
    wanted = case.expected
    if "moler_report" in wanted:
        moler(case)
    elif "events" in wanted:
        _document(case, wanted.get("end") or {}, "end.")
        case.facts("events")
    elif "last" in wanted:
        case.facts("last")
    elif "sum_sent" in wanted or "sum" in wanted or ("intervals" in wanted and "version" in wanted):
        _document(case, wanted, "")
        _configuration(case, wanted)
    _text(case, wanted)
    _by_hand(case, wanted)
    case.facts(*_WORDS, *_REMARKS)


# --------------------------------------------------------------------------------------------------------------- JSON


def _document(case: Case, end: Row, prefix: str) -> None:
    directions = _directions(case)
    if "duplicate_json_key" in case.codes():
        # A plain reader keeps the second of two equal keys: the corpus holds the other direction here.
        directions["forward"] = directions["reverse"]
    for name in _SUM_ROWS:
        row = end.get(name) or {}
        side = "sender" if "sent" in name else "receiver"
        stream = directions["reverse" if name.endswith("reverse") else "forward"]
        factors = {"bytes": ("transferred", 1), "bits_per_second": ("throughput", 1), "retransmits": ("retransmits", 1)}
        if side == "receiver":
            factors |= {"jitter_ms": ("jitter", 1e6), "lost_packets": ("lost", 1), "packets": ("datagrams", 1)}
        else:
            factors |= {"packets": ("datagrams", 1)}
        for key, (metric, factor) in factors.items():
            if row.get(key) is not None and not _unknown_zero(row, case, side):
                values = case.metric(metric, side=side, stream=stream)
                case.check(f"{prefix}{name}.{key}", row[key] * factor, values, tolerance=1e-5)
        # Times stand in the run's duration; words and the sender's own idea of the loss (always 0) are not kept.
        case.facts(*(f"{prefix}{name}.{key}" for key in row))
    for name in ("sum", "sum_bidir_reverse"):
        _mixed(case, end.get(name) or {}, f"{prefix}{name}", directions["reverse" if "reverse" in name else "forward"])


def _unknown_zero(row: Row, case: Case, side: str) -> bool:
    """Whether a total of 0 is unknown: of an interrupted run, or of the side that did not count."""
    return not row.get("bytes") and (
        case.runs[0]["status"] != "complete" or side == "sender" or bool(case.codes() & {"zero_is_missing"})
    )


def _mixed(case: Case, row: Row, prefix: str, stream: str | None) -> None:
    """Compare the UDP sum: bytes and rate of the sender, loss and jitter of the receiver."""
    pairs = {"jitter_ms": ("jitter", "receiver", 1e6), "lost_packets": ("lost", "receiver", 1)}
    if row.get("sender", True) or row.get("bytes"):
        pairs |= {"bytes": ("transferred", "sender", 1), "packets": ("datagrams", "sender", 1)}
    for key, (metric, side, factor) in pairs.items():
        if row.get(key) is None:
            continue
        values = case.metric(metric, side=side, stream=stream)
        if key == "bytes" and not values:
            values = case.metric(metric, side="receiver", stream=stream)
        if key == "packets" and not values:
            values = case.metric(metric, side="receiver", stream=stream)
        case.check(f"{prefix}.{key}", row[key] * factor, values, tolerance=1e-5)
    case.facts(*(f"{prefix}.{key}" for key in row))


def _directions(case: Case) -> dict[str, str | None]:
    """Return the streams of the table by direction; they are null unless the test is bidirectional."""
    streams = {row["stream"] for row in case.tables.rows["metrics"] if row["metric"] == "throughput"}
    client = any((stream or "").startswith("TX-C") for stream in streams)
    server = any((stream or "").startswith("TX-S") for stream in streams)
    if client:
        return {"forward": "TX-C", "reverse": "RX-C"}
    if server:
        return {"forward": "RX-S", "reverse": "TX-S"}
    return {"forward": None, "reverse": None}


def _configuration(case: Case, wanted: Row) -> None:
    if wanted.get("version"):
        case.check("version", wanted["version"].removeprefix("iperf "), case.column("tool_version"))
    if wanted.get("protocol"):
        case.check("protocol", wanted["protocol"].lower(), case.column("protocol"))
    if wanted.get("duration"):
        case.check("duration", wanted["duration"] * 10**9, case.column("requested_duration_ns"))
    if wanted.get("omit") is not None:
        case.check("omit", wanted["omit"] * 10**9, case.column("warmup_ns"))
    case.check("blksize", wanted.get("blksize") or None, case.column("message_bytes"))
    case.check("num_streams", wanted.get("num_streams"), case.column("connections"))
    cpu = wanted.get("cpu") or {}
    for key, (metric, side) in {
        "host_total": ("cpu_process", "local"),
        "host_user": ("cpu_user", "local"),
        "host_system": ("cpu_system", "local"),
        "remote_total": ("cpu_process", "remote"),
        "remote_user": ("cpu_user", "remote"),
        "remote_system": ("cpu_system", "remote"),
    }.items():
        if cpu.get(key) is not None:
            case.check(f"cpu.{key}", cpu[key] / 100, case.metric(metric, side=side))
    _json_intervals(case, wanted)
    case.facts("duration", "omit", "cpu")


def _json_intervals(case: Case, wanted: Row) -> None:
    """Compare the sums with the intervals of a run; a bidirectional one has a row per direction."""
    roles = {row["stream"] for row in case.intervals()} & {"TX-C", "RX-C", "TX-S", "RX-S"}
    whole = [row for row in case.intervals() if row["stream"] is None or row["stream"] in roles]
    share = 2 if roles else 1
    case.check("intervals", wanted["intervals"], [len(whole) // share])
    omitted = sum(bool(row["omitted"]) for row in whole) // share
    case.check("omitted_intervals", wanted["omitted_intervals"], [omitted])


# --------------------------------------------------------------------------------------------------------------- text


def _text(case: Case, wanted: Row) -> None:
    rows = wanted.get("summary_rows") or []
    for position, row in enumerate(rows):
        read = _printed_row(row) if isinstance(row, str) else row
        _row(case, f"summary_rows.{position}", read)
    if "interval_rows_not_omitted" in wanted:
        rows = case.intervals()
        counted = sum(not row["omitted"] for row in rows)
        # A row printed twice at the end and the unlabelled closing row of UDP up to 3.1 have the same shape.
        twice = sum(event["code"] == "duplicate_interval" for event in case.tables.rows["events"])
        counts = [counted, counted + twice] + ([counted + _unlabelled(case)] if _unlabelled(case) else [])
        case.check("interval_rows_not_omitted", wanted["interval_rows_not_omitted"], counts)
        case.check("omitted_rows", wanted["omitted_rows"], [sum(bool(row["omitted"]) for row in rows)])
    if "interval_rows" in wanted:
        # Counted with the closing rows, whose shape is the same.
        counts = len(case.intervals()) + len(case.metric("transferred"))
        case.check("interval_rows", wanted["interval_rows"], [counts])
    case.facts("summary_rows")


def _unlabelled(case: Case) -> int:
    """Return the number of summary rows of UDP up to 3.1, which name no side."""
    return len(re.findall(r"(?m)^\[.*Mbits/sec +[\d.]+ ms +\d+/\d+ \([^)]*\) *$", case.text())) - sum(
        row["jitter_ns"] is not None for row in case.intervals()
    )


def _printed_row(text: str) -> Row:
    match = re.search(r"\[\s*(\S+)\]\s*([\d.]+)-([\d.]+)\s+sec\s+([\d.]+) (\w+)\s+([\d.]+) (\w+)/sec(.*)", text)
    if match is None:
        return {}
    rest = match[8].strip()
    row: Row = {
        "id": match[1],
        "bytes": float(match[4]) * _KIBI[match[5]],
        "bits_per_second": float(match[6]) * _BITS[match[7]],
        "side": rest.split()[-1] if rest else None,
        "rest": rest,
    }
    return row


def _row(case: Case, key: str, row: Row) -> None:
    if not row:
        return
    side = row.get("side")
    streams = _stream_names(row)
    zero = not row["bytes"] and ("zero_is_missing" in case.codes() or case.runs[0]["status"] != "complete")
    for name, metric in (("bytes", "transferred"), ("bits_per_second", "throughput")):
        if row.get(name) is None or zero:
            continue
        values = [value for stream in streams for value in case.metric(metric, stream=stream, **_of_side(side))]
        case.check(f"{key}.{name}", row[name], values, tolerance=1e-6)
    rest = str(row.get("rest") or "")
    if (count := re.match(r"(\d+)\s+(?:sender|$)", rest)) and side == "sender" and not zero:
        values = [value for stream in streams for value in case.metric("retransmits", side="sender", stream=stream)]
        datagrams = [value for stream in streams for value in case.metric("datagrams", side="sender", stream=stream)]
        case.check(f"{key}.retransmits", int(count[1]), values or datagrams)
    if (loss := re.match(r"([\d.]+) ms\s+(\d+)/(\d+) \(", rest)) and side != "sender":
        for metric, value in (("jitter", float(loss[1]) * 1e6), ("lost", int(loss[2])), ("datagrams", int(loss[3]))):
            values = [number for stream in streams for number in case.metric(metric, stream=stream)]
            case.check(f"{key}.{metric}", value, values)


def _of_side(side: str | None) -> dict[str, str]:
    return {"side": side} if side in ("sender", "receiver") else {}


def _stream_names(row: Row) -> list[str | None]:
    """Return the names that the stream may have in the table; null if it is the only one."""
    role, number = row.get("role"), row.get("id")
    if role:
        return [f"{role} {number}" if number != "SUM" else role, role]
    return [None] if number in (None, "SUM") else [None, str(number)]


# ------------------------------------------------------------------------------------------------------------ by hand


def _by_hand(case: Case, wanted: Row) -> None:
    for key in ("sender", "receiver", "row"):
        if isinstance(wanted.get(key), dict):
            _hand_row(case, key, wanted[key], None)
    for key, streams in (("forward", ("TX-C",)), ("reverse", ("RX-C",))):
        for side, row in (wanted.get(key) or {}).items() if isinstance(wanted.get(key), dict) else ():
            _hand_row(case, f"{key}.{side}", row, streams[0])
    for position, row in enumerate(wanted.get("final_rows_client") or []):
        _hand_row(case, f"final_rows_client.{position}", row, None)
    if "loss_pct_exact" in wanted:
        case.check("loss_pct_exact", wanted["loss_pct_exact"] / 100, case.metric("loss"), tolerance=1e-9)
    case.check("out_of_order", wanted.get("out_of_order"), case.metric("out_of_order"))
    case.check("sent_datagrams", wanted.get("sent_datagrams"), case.metric("datagrams"))
    counted = [row for row in case.intervals() if not row["omitted"]]
    total = sum(row["retransmits"] or 0 for row in counted)
    for key in ("interval_retransmits_sum_not_omitted", "interval_retransmits_sum"):
        case.check(key, wanted.get(key), [total])
    if "tx_interval_retransmits_sum" in wanted:
        sent = sum(row["retransmits"] or 0 for row in counted if row["stream"] == "TX-C")
        case.check("tx_interval_retransmits_sum", wanted["tx_interval_retransmits_sum"], [sent])
    case.check("intervals_not_omitted", wanted.get("intervals_not_omitted"), [len(counted)])
    if "version" not in wanted and "intervals" in wanted:
        case.check("intervals", wanted["intervals"], [len(counted)])
    for key, side in (("client_intervals", "sender"), ("server_intervals", "receiver")):
        if key in wanted:
            case.check(key, wanted[key], [sum(row["side"] == side for row in counted)])
    if "tail_interval" in wanted:
        row = wanted["tail_interval"]
        tails = [interval["bytes"] for interval in counted if interval["start_ns"] >= row["start_s"] * 1e9]
        case.check("tail_interval.bytes", row["bytes"], tails)
    case.facts("tail_interval", "sender", "receiver", "row", "forward", "reverse", "final_rows_client")


def _hand_row(case: Case, key: str, row: Any, stream: str | None) -> None:
    if not isinstance(row, dict):
        return
    side = row["side"] if row.get("side") in ("sender", "receiver") else None
    where: dict[str, Any] = {"stream": stream, **_of_side(side)}
    for name, metric in (("bytes", "transferred"), ("bits_per_second", "throughput"), ("retransmits", "retransmits")):
        if row.get(name) is not None:
            case.check(f"{key}.{name}", row[name], case.metric(metric, **where), tolerance=1e-6)
    if side == "sender":
        case.check(f"{key}.total_datagrams", row.get("total_datagrams"), case.metric("datagrams", **where))
        return
    for name, metric, factor in _LOSSES:
        if row.get(name) is not None:
            case.check(f"{key}.{name}", row[name] * factor, case.metric(metric, stream=stream))


# -------------------------------------------------------------------------------------------- moler (iperf2 as well)


def moler(case: Case) -> None:
    """Compare reports of nokia/moler, whose rates are bytes per second: totals and first intervals."""
    for endpoints, report in case.expected["moler_report"].items():
        key = f"moler_report.{endpoints}"
        if not isinstance(report, dict):
            continue
        if "first" in report:
            _moler_row(case, f"{key}.first", report["first"])
            _moler_row(case, f"{key}.last", report["last"])
        else:
            _moler_row(case, key, report)
        case.facts(key)
    case.facts("command_options", "moler_report")


def _moler_row(case: Case, key: str, row: Row) -> None:
    printed = row.get("Transfer Raw")
    number, unit = str(printed).split()
    size = float(number) * _KIBI[unit]
    totals = case.metric("transferred")
    sizes = totals + [interval["bytes"] for interval in case.intervals() if interval["bytes"] is not None]
    if size:
        case.check(f"{key}.Transfer", size, sizes, tolerance=1e-6)
    rate = row.get("Bitrate Raw") or row.get("Bandwidth Raw")
    number, unit = str(rate).split()
    bits = float(number) * _BITS[unit.removesuffix("/sec")]
    printed_rates = [
        interval["throughput_printed_bit_s"]
        for interval in case.intervals()
        if interval["throughput_printed_bit_s"] is not None
    ]
    if bits:
        case.check(f"{key}.rate", bits, case.metric("throughput") + printed_rates, tolerance=1e-6)
    if "Jitter" in row and row.get("Lost_vs_Total_Datagrams"):
        value = float(str(row["Jitter"]).split()[0]) * 1e6
        jitters = case.metric("jitter") + [e["jitter_ns"] for e in case.intervals() if e["jitter_ns"] is not None]
        case.check(f"{key}.Jitter", value, jitters)
        lost, total = row["Lost_vs_Total_Datagrams"]
        losts = case.metric("lost") + [e["lost"] for e in case.intervals() if e["lost"] is not None]
        case.check(f"{key}.lost", lost, losts)
        counts = case.metric("datagrams") + [e["datagrams"] for e in case.intervals() if e["datagrams"] is not None]
        case.check(f"{key}.datagrams", total, counts)
