"""lagscope: round-trip times in µs; tables and lists are truncated to whole µs."""

from __future__ import annotations

from conformance.core import Case

MICROSECOND = 1e3


def compare(case: Case) -> None:
    """Compare every number of one log."""
    wanted = case.expected
    for key, metric in (("min", "rtt_min"), ("max", "rtt_max"), ("avg", "rtt_mean")):
        if wanted.get(key) is not None:
            case.check(key, wanted[key] * MICROSECOND, case.metric(metric))
    case.check("count", wanted.get("count"), case.metric("observations"))
    for percent, value in wanted.get("percentiles", {}).items():
        q = float(percent) / 100
        values = case.quantile(q)
        # Floored: the table may hold the middle of [value, value + 1) µs.
        case.check(
            f"percentiles.{percent}", True, [value * MICROSECOND <= number < (value + 1) * 1e3 for number in values]
        )
    _histogram(case)
    samples = case.samples(statuses=("ok", "warmup"))
    if "n_replies" in wanted:
        case.check("n_replies", wanted["n_replies"], [len(samples)])
    for key, position in (("first", 0), ("last", -1)):
        if key in wanted:
            case.check(key, wanted[key] * MICROSECOND, samples and [samples[position]])
    case.check("version", wanted.get("version"), case.column("tool_version"))
    failed = bool(case.runs) and case.runs[0]["status"] in ("failed", "no_data")
    case.check("error", "error" in wanted or None, [failed])
    case.facts("csv_file", "json_file", "monotone", "local_port", "socket", "remote", "start", "end", "error")


def _histogram(case: Case) -> None:
    wanted, buckets = case.expected, case.buckets()
    for key in ("hist_rows", "hist_shown_rows"):
        case.check(key, wanted.get(key), [len(buckets)] if buckets else [])
    case.check("hist_total", wanted.get("hist_total"), [sum(row["count"] for row in buckets)] if buckets else [])
    for key, position in (("hist_first", 0), ("hist_last", -1)):
        if key in wanted and not buckets:
            case.check(key, wanted[key][1], [])
        elif key in wanted:
            low, count = wanted[key]
            case.check(key, low * MICROSECOND, [buckets[position]["low_ns"]] if buckets else [])
            case.check(key, count, [buckets[position]["count"]] if buckets else [])
    case.facts("hist_elided", "bin_width")
