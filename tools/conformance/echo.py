"""echo_test: µs; the CSV has the samples, the log the counts."""

from __future__ import annotations

import statistics

from conformance.core import Case

MICROSECOND = 1e3


def compare(case: Case) -> None:
    """Compare every number of one file."""
    wanted = case.expected
    if wanted.get("kind") == "csv":
        _rows(case)
        return
    for key, metric in (("min", "rtt_min"), ("max", "rtt_max"), ("avg", "rtt_mean"), ("stddev", "rtt_sd")):
        if wanted.get(key) is not None:
            case.check(key, wanted[key] * MICROSECOND, case.metric(metric))
    for key in ("sent", "received", "lost"):
        case.check(key, wanted.get(key), case.metric(key))
    if "loss_pct" in wanted:
        exact = case.metric("lost")[0] / case.metric("sent")[0]
        case.check("loss_pct", round(exact * 100, 1), [wanted["loss_pct"]])
        case.check("loss_pct", exact, case.metric("loss"))
    case.facts("kind", "error", "end", "rows", "first_rtt", "last_rtt")


def _rows(case: Case) -> None:
    """Compare the samples of the CSV, which does not have the numbers of packets sent and lost."""
    wanted = case.expected
    samples = [value for value in case.samples(statuses=("ok", "warmup")) if value is not None]
    case.check("rows", wanted.get("rows"), [len(samples)])
    case.check("received", wanted.get("received"), [len(samples)])
    if samples:
        numbers = {"min": min(samples), "max": max(samples), "avg": statistics.fmean(samples)}
        numbers |= {"first_rtt": samples[0], "last_rtt": samples[-1]}
        if len(samples) > 1:
            numbers["stddev"] = statistics.stdev(samples)
        for key, value in numbers.items():
            if wanted.get(key) is not None:
                case.check(key, wanted[key] * MICROSECOND, [value], tolerance=1e-6)
    case.facts("kind", "error", "end", "sent", "lost", "loss_pct", "stddev")
