"""The rates of netperf, the round-trip time that follows from them, interim results, and the checks of a run."""

from __future__ import annotations

from azlatency.logs.grammar.units import Quantity, UnitError, canonical_unit, quantity
from azlatency.logs.parsers.common import contradict, utc
from azlatency.more_tools.netperf.run import MICROSECOND, SECOND, TRANSACTIONS, NetperfRun, Rate

_FEW_TRANSACTIONS = 100
_STALL = 2.0
_LONGEST_MEAN = 1.02
_RATE_TOLERANCE = 2e-3
_EARLY_END = 0.9


def record_rates(test: NetperfRun) -> None:
    """Record the transaction rate or throughput, and the round-trip time that the rate implies."""
    run = test.run
    for name in list(test.values):
        if name == "TRANSACTION_RATE" and (value := test.number(name)):
            test.record_transactions(quantity(value.token, "Trans/s"), value.line)
        elif name == "THROUGHPUT" and (value := test.number(name)):
            _record_omni_throughput(test, value.token, value.line)
    if test.rate is not None:
        run.add_metric("transaction_rate", *test.rate)
    printed = test.number("RT_LATENCY")
    if test.kind == "rr" and printed and (test.rate is None or printed.line <= test.rate.line):
        run.add_metric("rtt_from_rate", quantity(printed.token, "us"), printed.line)
    elif test.rate is not None and test.rate.quantity.value:
        _record_rtt_from_rate(test, test.rate)


def _record_omni_throughput(test: NetperfRun, token: str, line: int) -> None:
    """Record ``THROUGHPUT`` in the unit of the column THROUGHPUT_UNITS, or in that of tests with transactions."""
    units = test.values["THROUGHPUT_UNITS"].token if "THROUGHPUT_UNITS" in test.values else ""
    if not units and test.kind in TRANSACTIONS and not test.log.option("-f"):
        units = "Trans/s" if test.log.arguments else test.assume_transactions(line)
    try:
        readable = canonical_unit(units) in ("bit/s", "1/s")
    except UnitError:
        readable = False
    if readable:
        test.record_rate(token, units, line)
    else:
        problem = f"is in {units}" if units else "has no THROUGHPUT_UNITS"
        test.run.add_event("unit_ambiguous", "warning", f"THROUGHPUT {problem}; it is left out", line)


def _record_rtt_from_rate(test: NetperfRun, rate: Rate) -> None:
    """Record (1 + burst) / rate if test and burst are known."""
    run = test.run
    if test.kind in ("crr", "cc"):
        text = "each transaction of this test opens a connection; its rate gives no round-trip time"
        run.add_event("not_a_round_trip", "info", text, rate.line)
    elif test.kind is None:
        text = "the log does not name the test, and TCP_CRR prints the same table; its rate gives no round-trip time"
        run.add_event("test_unknown", "warning", text, rate.line)
    elif test.kind == "rr" and test.burst is None and test.migrated:
        text = "the log does not print the burst; the rate gives no round-trip time"
        run.add_event("burst_unknown", "warning", text, rate.line)
    elif test.kind == "rr":
        rtt = (1 + (test.burst or 0)) * SECOND / rate.quantity.value
        resolution = rtt * rate.quantity.half / rate.quantity.value
        run.add_metric("rtt_from_rate", Quantity(rtt, "ns", None, resolution), rate.line)


def record_interims(test: NetperfRun) -> None:
    """Record the interim results of ``-D`` as intervals of uneven length."""
    if not test.interims:
        return
    start = test.interims[0].stop_ns - test.interims[0].length_ns
    test.run.set(started_at=utc(start))
    for interim in test.interims:
        try:
            rate = quantity(interim.rate, interim.unit)
        except UnitError:
            text = f"the interim result is in {interim.unit}; its rate is left out"
            test.run.add_event("unit_ambiguous", "warning", text, interim.line)
            continue
        throughput = rtt = None
        if rate.unit == "bit/s":
            throughput = rate.value
        elif test.kind == "rr" and test.burst is not None and rate.value:
            rtt = round((1 + test.burst) * SECOND / rate.value)
        stop = interim.stop_ns - start
        test.run.add_interval(
            side=None,
            stream=None,
            start_ns=max(stop - interim.length_ns, 0),
            end_ns=stop,
            throughput_bit_s=throughput,
            throughput_printed_bit_s=throughput,
            rtt_ns=rtt,
            omitted=False,
            line=interim.line,
        )


def check_run(test: NetperfRun) -> None:
    """Report numbers that contradict one another, and what the tool leaves out of its output."""
    run, line = test.run, test.run.row["first_line"]
    mean = run.value(f"{test.prefix}_mean")
    rate, rtt = run.value("transaction_rate"), run.value("rtt_from_rate")
    if printed := test.number("RT_LATENCY"):
        rtt = quantity(printed.token, "us").value
    if rate and rtt and test.burst is not None:
        product = rate * rtt / SECOND
        if abs(product / (1 + test.burst) - 1) > _RATE_TOLERANCE:
            text = f"rate times round-trip time is {product:.4g}, not 1 + burst = {1 + test.burst}"
            run.add_event("rate_mismatch", "warning", text, line)
        elif mean and test.kind == "rr" and "CONFIDENCE_ITERATION" not in test.values and mean > _LONGEST_MEAN * rtt:
            text = f"the rate implies {rtt / MICROSECOND:g} us per round trip, the mean is {mean / MICROSECOND:g} us"
            contradict(run, "rate_mismatch", text, line)
        elif mean and test.kind == "rr" and rtt > _STALL * mean:
            text = f"the rate implies {rtt / MICROSECOND:g} us per round trip, the mean is {mean / MICROSECOND:g} us: "
            run.add_event("stall", "warning", text + "the test stalled", line)
    width = run.value("throughput_ci_width")
    if width is not None and test.requested_ci_width is not None and width > test.requested_ci_width:
        text = (
            f"the confidence interval of the rate is {100 * width:g}% wide; "
            f"{100 * test.requested_ci_width:g}% was requested"
        )
        run.add_event("confidence_not_reached", "warning", text, line)
    _check_duration(test, rate, line)


def _check_duration(test: NetperfRun, rate: float | None, line: int) -> None:
    """Report the only traces of a lost datagram and of Ctrl-C: too few transactions, and too short a run."""
    run, row = test.run, test.run.row
    duration, requested = row.get("duration_ns"), row.get("requested_duration_ns")
    if rate and duration and row.get("test") == "udp_rr" and rate * duration / SECOND < _FEW_TRANSACTIONS:
        text = f"only about {rate * duration / SECOND:.0f} transactions: a lost datagram may have ended the test"
        run.add_event("udp_loss_possible", "warning", text, line)
    if duration and requested and duration < _EARLY_END * requested and row["status"] == "complete":
        text = f"the test ran for {duration / SECOND:g} of {requested / SECOND:g} s; netperf does not print why"
        run.end_as("interrupted", "warning", text, line)
