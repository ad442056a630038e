"""netperf: transactions per second and µs; the mean of the histogram and the inverse of the rate are two metrics."""

from __future__ import annotations

from typing import Any

from conformance.core import EXACT, Case

MICROSECOND = 1e3
_NUMBERS: dict[str, tuple[str, float, dict[str, str]]] = {
    "trans_per_s": ("transaction_rate", 1, {}),
    "elapsed_s": ("elapsed", 1e9, {}),
    "mean": ("rtt_mean", MICROSECOND, {}),
    "min": ("rtt_min", MICROSECOND, {}),
    "max": ("rtt_max", MICROSECOND, {}),
    "rt_latency_us": ("rtt_from_rate", MICROSECOND, {}),
    "stddev": ("rtt_sd_population", MICROSECOND, {}),
    "req": ("request_bytes", 1, {}),
    "rsp": ("response_bytes", 1, {}),
    "cpu_local": ("cpu_busy", 0.01, {"side": "local"}),
    "cpu_remote": ("cpu_busy", 0.01, {"side": "remote"}),
    "sdem_local": ("cpu_time_per_transaction", MICROSECOND, {"side": "local"}),
    "sdem_remote": ("cpu_time_per_transaction", MICROSECOND, {"side": "remote"}),
    "confidence_iteration": ("iterations", 1, {}),
    "confidence_level": ("throughput_ci_level", 0.01, {}),
    "confidence_interval": ("throughput_ci_width_asked", 0.01, {}),
    "throughput_confid": ("throughput_ci_width", 0.01, {}),
    "hist_total": ("observations", 1, {}),
    "throughput": ("throughput", 1e6, {}),
}


def compare(case: Case) -> None:
    """Compare every number of one log."""
    wanted = case.expected
    prefix = "transaction" if case.runs and case.runs[0].get("test") == "tcp_crr" else "rtt"
    for key, (metric, factor, where) in _NUMBERS.items():
        if wanted.get(key) is not None:
            # Three decimals; the table may hold the exact inverse of the rate.
            tolerance = 1e-5 if key == "rt_latency_us" else EXACT
            case.check(key, wanted[key] * factor, case.metric(metric, **where), tolerance=tolerance)
    for key in ("p50", "p90", "p99"):
        if key in wanted:
            case.check(key, wanted[key] * MICROSECOND, case.quantile(int(key[1:]) / 100, metric=prefix))
    if wanted.get("mean_rtt_us") is not None:
        _mean(case, wanted)
    if wanted.get("test"):
        case.check("test", wanted["test"].lower(), case.column("test"))
    case.check("remote", wanted.get("remote"), case.column("server"))
    for position, (_, seconds, _) in enumerate(wanted.get("interim", [])):
        row = (case.intervals() + [{}] * 9)[position]
        length = (row["end_ns"] - row["start_ns"]) / 1e9 if row else None
        case.check(f"interim.{position}", seconds, [] if length is None else [length], tolerance=1e-6)
    if "hist" in wanted:
        counts = [row["count"] for row in case.buckets()]
        total = sum(sum(decade) for decade in wanted["hist"].values())
        case.check("hist", total, [sum(counts)] if counts else [])
    case.facts("throughput_unit", "burst", "outstanding", "error")


def _mean(case: Case, wanted: dict[str, Any]) -> None:
    """Compare the inverse of the rate, which is a round-trip time except for TCP_CRR."""
    if case.runs and case.runs[0].get("test") == "tcp_crr":
        case.facts("mean_rtt_us")
        return
    means = case.metric("rtt_from_rate")
    case.check("mean_rtt_us", wanted["mean_rtt_us"] * MICROSECOND, means, tolerance=2e-5)
