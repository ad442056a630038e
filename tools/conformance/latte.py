"""latte: round-trip times in µs, rates per second and counts per iteration, histogram rows."""

from __future__ import annotations

from conformance.core import Case

_NUMBERS = {
    "iterations": ("observations", 1),
    "latency": ("rtt_mean", 1e3),
    "cpu_pct": ("cpu_busy", 0.01),
    "ctxswitch_per_s": ("context_switch_rate", 1),
    "ctxswitch_per_iter": ("context_switches_per_iteration", 1),
    "syscall_per_s": ("system_call_rate", 1),
    "syscall_per_iter": ("system_calls_per_iteration", 1),
    "interrupt_per_s": ("interrupt_rate", 1),
    "interrupt_per_iter": ("interrupts_per_iteration", 1),
}


def compare(case: Case) -> None:
    """Compare every number of one block."""
    wanted = case.expected
    for key, (metric, factor) in _NUMBERS.items():
        if key in wanted:
            case.check(key, wanted[key] * factor, case.metric(metric))
    case.check("msg_size", wanted.get("msg_size"), case.column("message_bytes"))
    case.check("protocol", wanted["protocol"].lower(), case.column("protocol"))
    buckets = case.buckets()
    if "hist_rows" in wanted:
        case.check("hist_rows", wanted["hist_rows"], [len(buckets)])
        case.check("hist_total", wanted.get("hist_total"), [sum(row["count"] for row in buckets)])
        slow = sum(row["count"] for row in buckets if row["low_ns"] >= 10**6)
        case.check("hist_ge_1000us", wanted.get("hist_ge_1000us"), [slow])
        low, count = wanted["hist_last"]
        case.check("hist_last", low * 1000, [buckets[-1]["low_ns"]])
        case.check("hist_last", count, [buckets[-1]["count"]])
    case.facts("send_method", "recv_method", "so_sndbuf", "so_rcvbuf", "derived_elapsed_s", "role", "hist_bin")
