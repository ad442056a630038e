"""PsPing: milliseconds; connection times are not round-trip times and have their own metrics."""

from __future__ import annotations

from conformance.core import Case

MILLISECOND = 1e6


def compare(case: Case) -> None:
    """Compare every number of one log."""
    wanted = case.expected
    prefix = "connect" if wanted.get("mode") == "tcp_connect" else "rtt"
    for key, metric in (("min", "min"), ("max", "max"), ("avg", "mean"), ("derived_mean", "mean")):
        if wanted.get(key) is not None:
            case.check(key, wanted[key] * MILLISECOND, case.metric(f"{prefix}_{metric}"))
    for key in ("sent", "received", "lost"):
        case.check(key, wanted.get(key), case.metric(key))
    if "loss_pct" in wanted:
        case.check("loss_pct", wanted["loss_pct"] / 100, case.metric("loss"))
    replies = case.samples()
    for position, value in enumerate(wanted.get("replies", [])):
        rtt = replies[position] if position < len(replies) else None
        case.check("replies", value * MILLISECOND, [] if rtt is None else [rtt])
    if "n_reply_lines" in wanted:
        case.check("n_reply_lines", wanted["n_reply_lines"], [len(case.samples(statuses=("ok", "warmup")))])
    buckets = case.buckets()
    for position, (low, count) in enumerate(wanted.get("hist", [])):
        row = buckets[position] if position < len(buckets) else {}
        case.check(f"hist.{position}", low * MILLISECOND, [row["low_ns"]] if row else [])
        case.check(f"hist.{position}", count, [row["count"]] if row else [])
    if "hist_total" in wanted:
        case.check("hist_total", wanted["hist_total"], [sum(row["count"] for row in buckets)])
    case.check("size", wanted.get("size"), case.column("message_bytes"))
    case.check("total_bytes", wanted.get("total_bytes"), case.metric("transferred"))
    case.check("version", wanted.get("version"), case.column("tool_version"))
    case.facts("mode", "iterations", "warmup")
