"""The latencies of netperf: histogram, minimum, mean, maximum, deviation and percentiles."""

from __future__ import annotations

import math

from azlatency.logs.grammar.units import Quantity, count, quantity
from azlatency.logs.parsers.common import complete_quantile
from azlatency.more_tools.common import netperf_percentile
from azlatency.more_tools.netperf.run import MICROSECOND, SECOND, NetperfRun

_EXTREMES = {"MIN_LATENCY": "min", "MEAN_LATENCY": "mean", "MAX_LATENCY": "max"}
_QUANTILES = {"P50_LATENCY": 0.5, "P90_LATENCY": 0.9, "P99_LATENCY": 0.99}
_DEVIATION = "STDDEV_LATENCY"


def record_histogram(test: NetperfRun) -> None:
    """Record the buckets of ``-v 2`` and the number of observations."""
    run = test.run
    metric = "send_call" if test.histogram_of_calls else test.prefix
    for low, high, number, line in test.buckets:
        run.add_bucket(metric=metric, stream=None, low_ns=low, high_ns=high, count=number, line=line)
    if test.histogram_total is None:
        if test.buckets:
            text = "the histogram has no total; rows are missing"
            run.add_event("count_mismatch", "warning", text, test.buckets[-1][3])
        return
    total, line = test.histogram_total
    run.add_metric("observations", count(total), line)
    counted = sum(number for _, _, number, _ in test.buckets)
    if counted != int(total):
        text = f"the buckets add up to {counted}, but the total is {total}; rows are missing"
        run.add_event("count_mismatch", "warning", text, line)


def record_latencies(test: NetperfRun) -> None:
    """Record the printed latencies under the name of what the test measures."""
    run, prefix = test.run, test.prefix
    names = [name for name in (*_EXTREMES, *_QUANTILES, _DEVIATION) if test.number(name)]
    if not names:
        return
    first_line = test.values[names[0]].line
    if test.kind is None:
        text = "the log does not name the test, so its latencies may not be round-trip times; they are left out"
        run.add_event("test_unknown", "warning", text, first_line)
        return
    if test.kind != "rr":
        text = f"the latencies of a {run.row['test']} test are not round-trip times; they are stored as {prefix}_*"
        run.add_event("not_a_round_trip", "info", text, first_line)
    for name, ending in _EXTREMES.items():
        if latency := test.number(name):
            # Clock readings are truncated to whole microseconds, however many decimals the mean is printed with.
            value = quantity(latency.token, "us").with_resolution(float(MICROSECOND))
            run.add_metric(f"{prefix}_{ending}", value, latency.line)
    _record_deviation(test)
    _record_quantiles(test)


def _record_deviation(test: NetperfRun) -> None:
    """Record the population deviation, and the sample deviation if the number of transactions is known well enough."""
    run, prefix = test.run, test.prefix
    deviation = test.number(_DEVIATION)
    if deviation is None:
        return
    printed = quantity(deviation.token, "us").with_resolution(float(MICROSECOND))
    low, high = (run.value(f"{prefix}_{name}") for name in ("min", "max"))
    if low is not None and high is not None and printed.value > (high - low) / 2 + 2 * MICROSECOND:
        text = (
            f"a deviation of {deviation.token} us is impossible between {low / MICROSECOND:g} and "
            f"{high / MICROSECOND:g} us: the log is edited; all three are left out"
        )
        run.add_event("impossible_spread", "error", text, deviation.line)
        for name in ("min", "max"):
            run.remove_metric(f"{prefix}_{name}")
        return
    run.add_metric(f"{prefix}_sd_population", printed, deviation.line)
    bounds = _transaction_bounds(test)
    if bounds is not None and bounds[0] >= 2:
        factors = [math.sqrt(n / (n - 1)) for n in bounds]
        if (factors[0] - factors[1]) * printed.value <= MICROSECOND / 10:
            sample = Quantity(printed.value * factors[1], "ns", deviation.token, printed.resolution, "us")
            run.add_metric(f"{prefix}_sd", sample, deviation.line)
            return
    text = "the deviation is that of the population, and the number of transactions is missing; it is not converted"
    run.add_event("sd_not_convertible", "info", text, deviation.line)


def _transaction_bounds(test: NetperfRun) -> tuple[float, float] | None:
    """Return the least and greatest number of transactions that the log allows."""
    total = test.run.value("observations")
    if total is not None:
        return total, total
    rate = test.number("TRANSACTION_RATE")
    if rate is None and "THROUGHPUT_UNITS" in test.values and test.values["THROUGHPUT_UNITS"].token == "Trans/s":
        rate = test.number("THROUGHPUT")
    if rate is None or test.duration is None:
        return None
    printed, half = quantity(rate.token, "Trans/s"), test.duration.half
    low, high = (max(test.duration.value + sign * half, 0.0) / SECOND * printed.value for sign in (-1, 1))
    return low, high


def _record_quantiles(test: NetperfRun) -> None:
    """Record the percentiles, which the tool interpolates inside buckets of two significant digits."""
    run, previous = test.run, 0.0
    table, total = test.recorder.rows["quantiles"], run.value("observations")
    begun = len(table)
    for name, q in _QUANTILES.items():
        latency = test.number(name)
        if latency is None:
            continue
        value = quantity(latency.token, "us")
        if value.value < previous:
            text = f"{name} is below the percentile before it; all percentiles are left out"
            run.add_event("not_monotone", "error", text, latency.line)
            del table[begun:]
            return
        previous = value.value
        row = run.add_quantile(q, netperf_percentile(value), latency.line, metric=test.prefix, origin="histogram")
        if total and row is not None:
            complete_quantile(row, int(total), int(q * int(total)))
