"""ntttcp: Windows megabytes are 2**20; the rate of a run is bytes / time in decimal bits."""

from __future__ import annotations

import re

from conformance.core import Case

_PERCENT = {
    "idle_pct": "cpu_idle",
    "user_pct": "cpu_user",
    "system_pct": "cpu_system",
    "iowait_pct": "cpu_iowait",
    "softirq_pct": "cpu_softirq",
    "cpu_busy_all_pct": "cpu_process",
    "cpu_busy_all_pct_process": "cpu_process",
    "cpu_pct": "cpu_busy",
    "cpu_avg_pct": "cpu_busy",
}
_NUMBERS = {
    "cycles_per_byte": ("cycles_per_byte", 1),
    "cpu_cores": ("cpu_cores", 1),
    "cpu_mhz": ("cpu_frequency", 1e6),
    "connections_tested": ("connections", 1),
    "retrans_segs": ("retransmits", 1),
    "retransmits": ("retransmits", 1),
    "retransmitted_segments": ("retransmits", 1),
    "packets_retransmitted": ("retransmits", 1),
    "retransmitted": ("retransmits", 1),
    "packets_sent": ("packets_sent", 1),
    "packets_received": ("packets_received", 1),
    "errors": ("errors", 1),
    "tcpi_rtt_us": ("tcp_rtt_mean", 1e3),
    "tcp_average_rtt_us": ("tcp_rtt_mean", 1e3),
}
_REMARKS = (
    "realtime_lines", "interrupted", "complete", "os", "root", "computername", "role", "udp", "warmup_s", "cooldown_s",
    "threads_created", "connections_created_us", "negotiated_cycle_s", "check_rate_ratio", "throughput_printed",
    "check_cycles_per_byte_formula", "warmup_s_requested", "duration_s_requested", "l_flag_means", "crosses_midnight",
    "wrong_if_decimal_MB", "buffers_per_s", "buffers", "avg_frame_size_B", "dpcs_per_s", "pkts_per_dpc", "verbose",
    "interrupts_per_s", "pkts_per_interrupt", "no_sync", "realtime_throughput_printed", "sender_socket_buffer_bytes",
    "markdown_bold", "version_attr", "MB_is", "has_bom", "run_time_printed", "run_time_unit", "run_time_s",
    "buffer_len_B", "total_bytes_MB_printed", "cpu_pct_all_processors", "throughput_bps_from_MBps_x_1048576_x_8",
    "per_thread", "threads", "throughput_mbps_decimal", "throughput_MiBps",
)  # fmt: skip
_BITS = {"bps": 1, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9}


def compare(case: Case) -> None:
    """Compare every number of one log."""
    wanted = case.expected
    for key, metric in _PERCENT.items():
        if wanted.get(key) is not None and not _unmeasured(case, wanted[key]):
            case.check(key, wanted[key] / 100, case.metric(metric))
    for key, (metric, factor) in _NUMBERS.items():
        if wanted.get(key) is not None and not _unmeasured(case, wanted[key]):
            case.check(key, wanted[key] * factor, case.metric(metric))
    for key in ("test_duration_s", "realtime_s"):
        if wanted.get(key) is not None:
            case.check(key, wanted[key] * 1e9, case.column("duration_ns"), tolerance=1e-6)
    case.check("total_bytes", wanted.get("total_bytes"), case.metric("transferred"))
    case.check("total_bytes_approx", wanted.get("total_bytes_approx"), case.metric("transferred"), tolerance=1e-6)
    if "bytes_meg_1048576" in wanted:
        case.check("bytes_meg_1048576", wanted["bytes_meg_1048576"] * 2**20, case.metric("transferred"), tolerance=1e-6)
    _rates(case)
    for key in ("version", "ntttcp_version"):
        case.check(key, wanted.get(key), case.column("tool_version"))
    _threads(case)
    case.facts(*_REMARKS, *_PERCENT, *_NUMBERS)


def _unmeasured(case: Case, value: float) -> bool:
    """Leave out zeros of the Linux XML, which stand for fields that are not measured."""
    return value == 0 and case.path.suffix == ".xml"


def _rates(case: Case) -> None:
    wanted = case.expected
    if printed := re.fullmatch(r"([\d.]+)(\w+)", str(wanted.get("throughput_printed") or "")):
        bits = float(printed[1]) * _BITS[printed[2]]
        # Printed with two decimals; the table's value may be recomputed from bytes and time.
        close = [value for value in case.metric("throughput", stream=None) if abs(value - bits) < 0.006 * bits]
        case.check("throughput_printed", True, [bool(close)] if case.metric("throughput") else [])
    for key, tolerance in (("throughput_bps_from_bytes", 1e-3), ("throughput_bps_printed", 6e-3)):
        if wanted.get(key) is not None:
            case.check(key, wanted[key], case.metric("throughput", stream=None), tolerance=tolerance)
    for key, factor in (("mbps", 1e6), ("throughput_mbps_decimal", 1e6), ("throughput_MiBps", 8 * 2**20)):
        if wanted.get(key) is not None:
            case.check(key, wanted[key] * factor, case.metric("throughput", stream=None), tolerance=1e-3)


def _threads(case: Case) -> None:
    threads = case.expected.get("threads")
    case.facts("sum_of_thread_mbps")
    if not isinstance(threads, list):
        return
    for position, thread in enumerate(threads):
        rate = thread.get("mbps", 0) * 1e6 or thread.get("KiBps", 0) * 8192
        if rate:
            rates = [value for value in case.metric("throughput") if value]
            case.check(f"threads.{position}", rate, rates, tolerance=1e-3)
