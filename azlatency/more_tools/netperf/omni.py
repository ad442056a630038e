"""The values of netperf's omni output (``-k``, ``-o``, ``-O``): addresses, sizes, CPU use and confidence."""

from __future__ import annotations

from azlatency.logs.grammar.units import count, exact_bytes, quantity
from azlatency.more_tools.netperf.run import STREAMS, NetperfRun

_SIDES = {"LOCAL": "local", "REMOTE": "remote"}
_TEXTS = {"SOURCE_ADDR": "client", "DEST_ADDR": "server", "COMMAND_LINE": "command"}
_SIZES = {"REQUEST_SIZE": "request_bytes", "RESPONSE_SIZE": "response_bytes", "TRANSPORT_MSS": "mss"}
_CPU = {
    "UTIL": "cpu_busy",
    "PERCENT_USER": "cpu_user",
    "PERCENT_SYSTEM": "cpu_system",
    "PERCENT_IOWAIT": "cpu_iowait",
    "PERCENT_SWINTR": "cpu_softirq",
}
# CPU time per transaction or per 1024 bytes: metric and unit by the column SD_UNITS.
_SERVICE_DEMAND = {"usec/Tran": ("cpu_time_per_transaction", "us"), "usec/KB": ("cpu_cost", "us/KB")}


def record_omni_values(test: NetperfRun) -> None:
    """Record the values that do not depend on others."""
    run = test.run
    for name, column in _TEXTS.items():
        if name in test.values and run.row.get(column) is None:
            run.set(**{column: test.values[name].token.strip('"') or None})
    if "PROTOCOL" in test.values and run.row.get("protocol") is None:
        test.set_kind(test.kind, test.values["PROTOCOL"].token.lower() or None)
    if burst := test.whole_number("BURST_SIZE"):
        test.burst = int(burst.token)
    if elapsed := test.number("ELAPSED_TIME"):
        test.record_elapsed(elapsed.token, elapsed.line)
    _record_sizes(test)
    for key, side in _SIDES.items():
        for name, metric in _CPU.items():
            if percent := test.number(f"{key}_CPU_{name}"):
                run.add_metric(metric, quantity(percent.token, "%"), percent.line, side=side, scope="host")
        if retransmits := test.whole_number(f"{key}_TRANSPORT_RETRANS"):
            run.add_metric("retransmits", count(retransmits.token), retransmits.line, side=side)
        if cpus := test.whole_number(f"{key}_CPU_COUNT"):
            run.add_metric("cpu_count", count(cpus.token), cpus.line, side=side, scope="host")
        _record_service_demand(test, key, side)
    _record_confidence(test)


def _record_sizes(test: NetperfRun) -> None:
    run = test.run
    for name, metric in _SIZES.items():
        if size := test.whole_number(name):
            run.add_metric(metric, exact_bytes(size.token), size.line)
    request, response = test.whole_number("REQUEST_SIZE"), test.whole_number("RESPONSE_SIZE")
    if request and response and request.token == response.token:
        run.set(message_bytes=int(request.token))
    if test.kind in STREAMS and (size := test.whole_number("LOCAL_SEND_SIZE")):
        run.set(message_bytes=int(size.token))


def _record_service_demand(test: NetperfRun, key: str, side: str) -> None:
    demand = test.number(f"{key}_SD")
    if demand is None:
        return
    units = test.values["SD_UNITS"].token if "SD_UNITS" in test.values else ""
    if units in _SERVICE_DEMAND:
        metric, unit = _SERVICE_DEMAND[units]
        test.run.add_metric(metric, quantity(demand.token, unit), demand.line, side=side, scope="host")
    else:
        test.run.add_event("unit_ambiguous", "warning", f"{key}_SD has no SD_UNITS; it is left out", demand.line)


def _record_confidence(test: NetperfRun) -> None:
    run = test.run
    if level := test.number("CONFIDENCE_LEVEL"):
        run.add_metric("throughput_ci_level", quantity(level.token, "%").with_resolution(None), level.line)
    if width := test.number("THROUGHPUT_CONFID"):
        run.add_metric("throughput_ci_width", quantity(width.token, "%"), width.line)
    if iterations := test.whole_number("CONFIDENCE_ITERATION"):
        run.add_metric("iterations", count(iterations.token), iterations.line)
    if requested := test.number("CONFIDENCE_INTERVAL"):
        test.requested_ci_width = quantity(requested.token, "%").value
        run.add_metric("throughput_ci_width_asked", quantity(requested.token, "%"), requested.line)
