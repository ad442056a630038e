"""qperf: means of RTT/2, except for the RDMA read; one run per block, in order."""

from __future__ import annotations

from typing import Any

from conformance.core import Case

_FULL = ("rc_rdma_read_lat",)


def compare(case: Case) -> None:
    """Compare every number of one log."""
    for key, value in case.expected.items():
        if key == "tests":
            _tests(case, value)
        elif key == "conf":
            case.facts(key)
        elif key == "msg_sizes":
            for ordinal, size in enumerate(value):
                case.check(key, _size(size), case.column("message_bytes", ordinal))
        elif key == "values_us":
            _series(case, key, value, "tcp_lat", "rtt_mean", 2e3)
        elif key.endswith("_lat_us") and isinstance(value, list):
            _series(case, key, value, key.removesuffix("_us"), "rtt_mean", 2e3)
        elif key.endswith("_bw_Bps") and isinstance(value, list):
            _series(case, key, value, key.removesuffix("_Bps"), "throughput", 8)
        elif isinstance(value, dict):
            _block(case, key, value)
        elif value is None:
            case.facts(key)


def _tests(case: Case, names: list[str]) -> None:
    tests = [run.get("test") for run in case.runs]
    for name in names:
        case.check("tests", True, [name in tests or name == "conf"])


def _size(size: Any) -> int:
    return size if isinstance(size, int) else int(float(size))


def _series(case: Case, key: str, values: list[float], test: str, metric: str, factor: float) -> None:
    runs = case.of(test=test)
    for position, value in enumerate(values):
        numbers = case.metric(metric, runs[position]) if position < len(runs) else []
        case.check(key, value * factor, numbers)


def _block(case: Case, test: str, wanted: dict[str, Any]) -> None:
    runs = case.of(test=test)
    run = runs[0] if runs else len(case.runs)
    factors: dict[str, tuple[str, float, dict[str, str]]] = {
        "latency_us": ("rtt_mean", 1e3 if test in _FULL else 2e3, {}),
        "bw_Bps": ("throughput", 8, {}),
        "bw_bitps": ("throughput", 1, {}),
        "msg_rate": ("message_rate", 1, {}),
        "send_msgs": ("sent", 1, {"side": "sender"}),
        "recv_msgs": ("received", 1, {"side": "receiver"}),
        "loc_send_bytes": ("sent_bytes", 1, {"side": "local"}),
        "loc_send_msgs": ("sent", 1, {"side": "local"}),
        "loc_recv_msgs": ("received", 1, {"side": "local"}),
        "rem_send_msgs": ("sent", 1, {"side": "remote"}),
        "rem_recv_msgs": ("received", 1, {"side": "remote"}),
        "loc_real_time_s": ("elapsed", 1e9, {"side": "local"}),
        "rem_real_time_s": ("elapsed", 1e9, {"side": "remote"}),
    }
    for name, value in wanted.items():
        key = f"{test}.{name}"
        if name in factors:
            metric, factor, where = factors[name]
            case.check(key, value * factor, case.metric(metric, run, **where))
        elif name == "msg_size":
            case.check(key, value, case.column("message_bytes", run))
        elif name == "time_s":
            case.check(key, value * 10**9, case.column("requested_duration_ns", run))
        elif name in ("timeout_s", "quantity", "mtu_size", "recv_max_cqe") or name.startswith("derived_"):
            case.facts(key)
