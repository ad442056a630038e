"""iostat: kB are 1024 bytes, waits are in ms; one run per report, the first one since boot."""

from __future__ import annotations

from typing import Any

from conformance.core import Case, Row

_RATES = {"r/s": "read_rate", "w/s": "write_rate", "d/s": "discard_rate", "f/s": "flush_rate", "tps": "iops"}
_MERGES = {"rrqm/s": "read_merge_rate", "wrqm/s": "write_merge_rate", "drqm/s": "discard_merge_rate"}
_SIZES = {"rkB/s": "read_bandwidth", "wkB/s": "write_bandwidth", "dkB/s": "discard_bandwidth"}
_REQUESTS = {
    "rareq-sz": "read_request_size_mean",
    "wareq-sz": "write_request_size_mean",
    "dareq-sz": "discard_request_size_mean",
}
_WAITS = {
    "r_await": "read_wait_mean",
    "w_await": "write_wait_mean",
    "d_await": "discard_wait_mean",
    "f_await": "flush_wait_mean",
    "await": "io_wait_mean",
    "svctm": "service_time_mean",
}
_SHARES = {"rrqm": "read_merged", "wrqm": "write_merged", "drqm": "discard_merged", "util": "utilisation"}
_COLUMNS: dict[str, tuple[str, float]] = {
    **{name: (metric, 1) for name, metric in {**_RATES, **_MERGES}.items()},
    **{name: (metric, 1024) for name, metric in {**_SIZES, **_REQUESTS}.items()},
    **{name: (metric, 1e6) for name, metric in _WAITS.items()},
    **{name: (metric, 0.01) for name, metric in _SHARES.items()},
    **{f"%{name}": (metric, 0.01) for name, metric in _SHARES.items()},
    "aqu-sz": ("queue_length", 1),
    "avgqu-sz": ("queue_length", 1),
    "avgrq-sz": ("request_size_mean", 512),
    "kB_read_s": ("read_bandwidth", 1024),
    "kB_wrtn_s": ("write_bandwidth", 1024),
    "kB_wd_s": ("write_discard_bandwidth", 1024),
    "kB_read": ("read_transferred", 1024),
    "kB_wrtn": ("write_transferred", 1024),
    "MB_read/s": ("read_bandwidth", 2**20),
    "MB_wrtn/s": ("write_bandwidth", 2**20),
    "MB_dscd/s": ("discard_bandwidth", 2**20),
    "MB_read": ("read_transferred", 2**20),
    "MB_wrtn": ("write_transferred", 2**20),
    "MB_dscd": ("discard_transferred", 2**20),
}
_SUFFIXES = {"k": 1024, "M": 1024**2, "G": 1024**3}


def compare(case: Case) -> None:
    """Compare every number of one log."""
    wanted = case.expected
    for device, row in (wanted.get("devices") or {}).items():
        _device(case, f"devices.{device}", row, device)
    for key in ("cpu", "first_cpu"):
        _cpu(case, key, wanted.get(key) or {})
    first: Row = wanted.get("first") or {}
    _cpu(case, "first.avg-cpu", first.get("avg-cpu") or {})
    for position, row in enumerate(first.get("disk") or []):
        _device(case, f"first.disk.{position}", row, row["disk_device"])
    if row := wanted.get("first_disk_row"):
        _device(case, "first_disk_row", row, row["disk_device"])
    reports = wanted.get("reports", wanted.get("avg_cpu_blocks") or None)
    case.check("reports", reports, [len(case.runs)])
    case.facts("avg_cpu_blocks", "device_headers", "header_line", "header_word", "columns", "timestamps", "kernel")
    case.facts("host", "date", "cpus", "nodename", "number_of_cpus", "disks_first", "no_devices", "identity")
    case.facts("avgrq_sz_unit", "columns_order", "values_carry_suffix", "suffix_rule", "first_is_since_boot", "first")


def _cpu(case: Case, key: str, row: Row) -> None:
    for name, value in row.items():
        case.check(f"{key}.{name}", value / 100, case.metric(f"cpu_{name}", 0))


def _device(case: Case, key: str, row: Row, device: str) -> None:
    case.facts(f"{key}.disk_device")
    for name, value in row.items():
        if name not in _COLUMNS:
            continue
        metric, factor = _COLUMNS[name]
        number: Any = value
        if isinstance(value, str):
            # --human: the suffix takes the place of the unit in the header.
            number, factor = float(value[:-1]) * _SUFFIXES[value[-1]], 1
        case.check(f"{key}.{name}", number * factor, case.metric(metric, stream=device))
