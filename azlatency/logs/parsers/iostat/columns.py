"""The columns of iostat and the metrics that they become. To read a new column, add it to `COLUMNS`."""

from __future__ import annotations

_DIRECTIONS = {"r": "read", "w": "write", "d": "discard", "f": "flush"}
_WORDS = {"read": "read", "wrtn": "write", "dscd": "discard", "w+d": "write_discard"}


def _metric_by_column() -> dict[str, tuple[str, str]]:
    metrics = {
        "tps": ("iops", "/s"),
        "kB/s": ("bandwidth", "iostat kB/s"),
        "MB/s": ("bandwidth", "iostat MB/s"),
        "GB/s": ("bandwidth", "iostat GB/s"),
        "rqm/s": ("merge_rate", "/s"),
        "await": ("io_wait_mean", "ms"),
        "areq-sz": ("request_size_mean", "iostat kB"),
        "avgrq-sz": ("request_size_mean", "iostat sectors"),
        "aqu-sz": ("queue_length", "requests"),
        "avgqu-sz": ("queue_length", "requests"),
        "svctm": ("service_time_mean", "ms"),
        "%util": ("utilisation", "%"),
        "util": ("utilisation", "%"),
    }
    for letter, name in _DIRECTIONS.items():
        metrics[f"{letter}/s"] = (f"{name}_rate", "/s")
        metrics[f"{letter}kB/s"] = (f"{name}_bandwidth", "iostat kB/s")
        metrics[f"{letter}MB/s"] = (f"{name}_bandwidth", "iostat MB/s")
        metrics[f"{letter}GB/s"] = (f"{name}_bandwidth", "iostat GB/s")
        metrics[f"{letter}sec/s"] = (f"{name}_bandwidth", "iostat sectors/s")
        metrics[f"{letter}rqm/s"] = (f"{name}_merge_rate", "/s")
        metrics[f"%{letter}rqm"] = metrics[f"{letter}rqm"] = (f"{name}_merged", "%")
        metrics[f"{letter}_await"] = (f"{name}_wait_mean", "ms")
        metrics[f"{letter}areq-sz"] = (f"{name}_request_size_mean", "iostat kB")
    for word, name in _WORDS.items():
        for size, unit in (("kB", "iostat kB"), ("MB", "iostat MB"), ("GB", "iostat GB"), ("Blk", "iostat blocks")):
            metrics[f"{size}_{word}/s"] = (f"{name}_bandwidth", f"{unit}/s")
            metrics[f"{size}_{word}"] = (f"{name}_transferred", unit)
    return metrics


#: Metric and unit by header word; JSON has the same words without their %.
COLUMNS = _metric_by_column()
CPU_METRICS = {name: f"cpu_{name}" for name in ("user", "nice", "system", "iowait", "steal", "idle")}
