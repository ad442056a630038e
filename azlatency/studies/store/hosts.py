"""Facts about the machines of a study, such as kernel, CPU and MTU.

The script of `azlatency plan` records them in ``hosts/NAME.txt``, a line ``fact=value`` for each. If it is started
again, the earlier recording moves to a folder below. A line that is not a known fact with a value of its type is left
out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pandas as pd

from azlatency.logs.schema import FRAMES, document
from azlatency.studies.format import join_words

#: A larger file is not one of the script.
LARGEST_RECORDING = 2**16
_RECORDING = re.compile(r"(?:.*/)?hosts/(?:[^/]+/)?([^/]+)\.txt", re.DOTALL)
_LINE = re.compile(r"([a-z0-9_]{1,40})=(.{1,200})")
_BOOLEANS = {"true": True, "false": False}
_TYPES = {column.name: column.type for column in FRAMES["hosts"]}
#: The facts in which machines of one comparison should be equal, in words. Places differ on purpose, clocks always.
COMPARED = {
    "kernel": "kernel",
    "vm_size": "VM size",
    "cpu_model": "CPU model",
    "cpu_governor": "CPU governor",
    "isolation": "isolated CPUs",
    "clock_source": "clock source",
    "mtu_bytes": "MTU in bytes",
    "driver": "driver",
    "rx_queues": "receive queues",
    "tx_queues": "transmit queues",
    "offloads": "offloads",
    "qdisc": "queueing discipline",
    "accelerated_networking": "accelerated networking",
    **{name: name.replace("version_", "version of ") for name in _TYPES if name.startswith("version_")},
}


def host_of(path: str) -> str | None:
    """Return the machine that a file of a study describes; None if its path is not that of a recording."""
    match = _RECORDING.fullmatch(path)
    return match[1] if match else None


def read_facts(raw: bytes) -> dict[str, str | int | bool]:
    """Return the facts of a recording by their columns in the frame ``hosts``; of equal names, the first counts."""
    facts: dict[str, str | int | bool] = {}
    for line in raw.decode("utf-8", "replace").splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is None or match[1] in facts or match[1] not in _TYPES or match[1] in ("host", "file"):
            continue
        value = _typed(match[2].strip(), _TYPES[match[1]])
        if value is not None:
            facts[match[1]] = value
    return facts


def _typed(text: str, kind: str) -> str | int | bool | None:
    """Return a value of the type of its column, a time as text; None if it is not of that type."""
    if kind == "int64":
        return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None
    if kind == "bool":
        return _BOOLEANS.get(text)
    if kind == "timestamp":
        try:
            return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).isoformat()
        except ValueError:
            return None
    return text if text and text.isprintable() else None


def hosts_frame(recordings: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """Return the frame ``hosts`` of recordings by their path, in the order of the machines and of time."""
    return document(_frame(recordings) if recordings else _empty_frame().copy(), "hosts")


@cache
def _empty_frame() -> pd.DataFrame:
    """Return the frame of most studies, made once: its types take longer than the rest of a small study's import."""
    return _frame({})


def _frame(recordings: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    dtypes = {"string": "str", "int64": "Int64", "bool": "boolean", "timestamp": "datetime64[us, UTC]"}
    rows = [{"host": host_of(path), "file": path, **facts} for path, facts in recordings.items()]
    frame = pd.DataFrame(rows, columns=list(_TYPES))
    frame["recorded_at"] = pd.to_datetime(frame["recorded_at"], utc=True)
    frame = frame.astype({name: dtypes[kind] for name, kind in _TYPES.items()})
    return frame.sort_values(["host", "recorded_at", "file"], ignore_index=True)


def differing_facts(hosts: pd.DataFrame) -> dict[str, dict[str, list[str]]]:
    """Return the facts in which machines, or recordings of one machine, differ: the machines by value, in words.

    A machine whose value changed is named with the time of its first recording of each value. A fact that is unknown
    differs from nothing. ``hosts`` is `Study.hosts`.
    """
    differing: dict[str, dict[str, list[str]]] = {}
    for fact, title in COMPARED.items():
        known = hosts.dropna(subset=[fact])
        if known[fact].nunique() < 2:
            continue
        values = differing.setdefault(title, {})
        for host, recordings in known.groupby("host", dropna=False):
            firsts = recordings[recordings[fact].ne(recordings[fact].shift()).fillna(True)]
            times = firsts["recorded_at"].dt.strftime(" from %Y-%m-%d %H:%M").fillna(" from an unknown time")
            for value, since in zip(firsts[fact].map(str), times, strict=True):
                values.setdefault(value, []).append(f"{host}{since}" if len(firsts) > 1 else str(host))
    return differing


def changed_facts(before: pd.DataFrame, after: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Return the facts whose values on two sides differ, in words: those before and those after."""
    changed: dict[str, tuple[str, str]] = {}
    if before.empty or after.empty:
        return changed
    for fact, title in COMPARED.items():
        old, new = (sorted(set(map(str, hosts[fact].dropna()))) for hosts in (before, after))
        if old and new and old != new:
            changed[title] = (join_words(old), join_words(new))
    return changed
