"""ping of every system: milliseconds; mdev is the population deviation, the table has the sample deviation."""

from __future__ import annotations

import json
import math
from typing import Any

from conformance.core import Case

MILLISECOND = 1e6
_WARNED = ("stddev_printed", "stddev_is_bogus", "loss_pct_printed", "received_printed", "lost_printed")
_TIMES = {
    "rtt_min": ("min", "round_trip_ms_min", "rtt_min"),
    "rtt_mean": ("avg", "round_trip_ms_avg", "rtt_avg"),
    "rtt_max": ("max", "round_trip_ms_max", "rtt_max"),
}
_COUNTS = {
    "sent": ("transmitted", "sent", "packets_transmitted", "packet_transmit"),
    "received": ("received", "packets_received", "packet_receive", "true_received"),
    "duplicates": ("duplicates", "packet_duplicate_count"),
    "errors": ("errors",),
}


def compare(case: Case) -> None:
    """Compare every number of one log, and every reply."""
    wanted = case.expected
    for metric, keys in _TIMES.items():
        for key in keys:
            if wanted.get(key) is None:
                continue
            if wanted[key] == 0 and "below_resolution" in case.codes():
                # Windows cuts what is under a millisecond to 0; the table says so instead of a number.
                case.check(key, True, [not case.metric(metric)])
                continue
            case.check(key, wanted[key] * MILLISECOND, case.metric(metric))
    _counts(case, wanted)
    _spread(case, wanted)
    _replies(case, wanted)
    _facts(case)


def _counts(case: Case, wanted: dict[str, Any]) -> None:
    for metric, keys in _COUNTS.items():
        for key in keys:
            if key in wanted and not (key == "received" and "true_received" in wanted):
                counts = case.metric(metric) or ([0] if metric == "duplicates" and case.metric("sent") else [])
                if key != "duplicates" or not key.startswith("packet") or wanted[key]:
                    case.check(key, wanted[key], counts)
    sent, received = case.metric("sent"), case.metric("received")
    for key in ("loss_pct", "loss_pct_true", "true_loss_pct", "packet_loss_percent", "packet_loss_rate"):
        if wanted.get(key) is None or (key == "loss_pct" and "true_loss_pct" in wanted):
            continue
        # Printed percentages are cut or rounded; the table holds the quotient of the counts.
        exact = 100 * (1 - received[0] / sent[0]) if sent and sent[0] else None
        close = exact is not None and abs(exact - wanted[key]) < (1 if key != "loss_pct_true" else 0.001)
        case.check(key, exact / 100 if close and exact is not None else wanted[key] / 100, case.metric("loss"))
    case.check("lost", None if "true_received" in wanted else wanted.get("lost"), case.metric("lost"))
    case.check("packet_loss_count", wanted.get("packet_loss_count"), case.metric("lost"))


def _spread(case: Case, wanted: dict[str, Any]) -> None:
    observations = case.metric("observations")
    n = observations[0] if observations else 0
    for key in ("mdev", "stddev", "round_trip_ms_stddev", "rtt_mdev"):
        if wanted.get(key) is None or wanted.get("stddev_is_bogus"):
            continue
        sample = wanted[key] * MILLISECOND * (math.sqrt(n / (n - 1)) if n > 1 else 1)
        if n > 1:
            case.check(key, sample, case.metric("rtt_sd"))
        else:
            case.facts(key)


def _replies(case: Case, wanted: dict[str, Any]) -> None:
    answered = case.samples(statuses=("ok", "duplicate", "out_of_order"))
    if "replies" in wanted and wanted["replies"] and not wanted.get("truncated_replies"):
        times = [value for value in wanted["replies"] if value is not None]
        for position, value in enumerate(times):
            rtt = answered[position] if position < len(answered) else None
            case.check("replies", value * MILLISECOND, [] if rtt is None else [rtt])
    for key in ("n_replies", "n_responses", "n_reply_lines"):
        if wanted.get(key):
            case.check(key, wanted[key], [_lines_kept(case, key)])
    if "n_dup_lines" in wanted:
        case.check("n_dup_lines", wanted["n_dup_lines"], [len(case.samples(statuses=("duplicate",)))])
    for position, pair in enumerate(wanted.get("replies_interval", [])):
        if pair is None:
            case.facts("replies_interval")
            continue
        blocks = [b for b in case.tables.sample_blocks if b.low_ns is not None]
        lows = [b.low_ns[i] for b in blocks for i, s in enumerate(b.status) if s == "ok" and b.low_ns]
        case.check(f"replies_interval.{position}", pair[0] * MILLISECOND, lows)
    if "n_timeouts" in wanted:
        lost = case.samples(statuses=("lost",))
        case.check("n_timeouts", wanted["n_timeouts"], [len(lost)])
    for position, stamp in enumerate(wanted.get("timestamps", [])):
        # -D prints when the reply came; the table holds when the probe left.
        pairs = [pair for b in case.tables.sample_blocks for pair in zip(b.sent_ns, b.rtt_ns, strict=True)]
        sent = [None if None in pair else pair[0] + pair[1] for pair in pairs]
        first = wanted["timestamps"][0]
        if position < len(sent) and sent[position] is not None and sent[0] is not None:
            case.check("timestamps", round((stamp - first) * 1e6), [round((sent[position] - sent[0]) / 1e3)])


def _lines_kept(case: Case, key: str) -> int:
    every = case.samples(statuses=("ok", "duplicate", "out_of_order", "lost", "unreachable"))
    answered = case.samples(statuses=("ok", "duplicate", "out_of_order"))
    if key != "n_responses":
        return len(answered)
    peer = case.path.with_suffix(".peer.json")
    if peer.exists():
        document = json.loads(peer.read_text("utf-8"))
        kinds = [response.get("type") for response in document.get("responses", [])]
        if all(kind in ("reply", "duplicate_reply", None) for kind in kinds):
            return len(answered)
        replies = sum(kind in ("reply", "duplicate_reply") for kind in kinds)
        return len(answered) + len(kinds) - replies
    return len(every)


def _facts(case: Case) -> None:
    case.facts(*_WARNED, "host", "ip", "time_ms", "otime", "rtime", "id", "ident", "ipg", "ewma", "pipe", "truncated")
    case.facts("json", "destination_ip", "destination", "data_bytes", "pattern", "source_ip", "note", "interrupted")
    case.facts("packet_duplicate_rate", "packet_duplicate_count", "unreachable", "received", "loss_pct", "lost")
    case.facts("timestamps", "replies", "replies_interval", "n_responses", "n_replies", "duplicates")
