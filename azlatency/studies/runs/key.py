"""What makes two runs repeats of each other: one definition for summaries, comparisons, plans, histories and pages.

Two runs repeat each other if they have the same path, the same tool, test, protocol and direction, and the same value
in every field of `FIELDS`; names and labels can tell them apart, too (`azlatency.studies.runs.treatments`). The name of
a method contains the fields in which the runs of a study differ and no others. A run whose value is unknown in a field
in which others differ repeats no run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from azlatency.logs.grammar.command_line import UNKNOWN_SETTING, settings_of
from azlatency.logs.parsers import find_parser, load_parsers
from azlatency.logs.schema import refuse_foreign
from azlatency.studies.format import count_of, did_you_mean, format_value

#: A test of less than a second, or of fewer bytes than 100 segments of 1448 bytes, shows how a transfer starts.
BURST_NS, BURST_BYTES = 1e9, 100 * 1448
#: The receiver of a test of 10 s measures up to 10.6 s on a long path, and the sender 9.6 s.
_SECONDS_LESS = 0.4
#: Tests that a method does not name, because they are what the tool measures.
_USUAL_TESTS = ("echo", "stream", "ping-pong")
#: What the method of a run ends with whose receiver's count is unknown.
SENDER = " (sender)"
#: The prefix of the columns with single settings.
_SETTING = "setting "
#: The setting that is a rate in bit/s with decimal prefixes, and perhaps a number of packets sent at once ("100M/10").
_BIT_RATE = "bitrate"
_PREFIXED_RATE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)([kmgt]?)(?:/\d{1,9})?", re.IGNORECASE)
#: The key of the value of settings that a command or a document leaves out.
_OTHERS = ""


class Field(NamedTuple):
    """One field of the key, a column of the run table.

    ``refusal``: code of the refusal to pool runs whose value is unknown. ``text`` returns a value as a method names it,
    ``unknown`` is what a method says of an unknown one. ``on_path``: only runs of one path are compared, because the
    values of different paths differ anyway.
    """

    column: str
    refusal: str
    text: Callable[[Any], str]
    unknown: str
    on_path: bool = False


def _rate(value: float) -> str:
    number, unit = format_value(value, "bit/s", digits=6).split(" ")
    return f"{float(number):g} {unit}" if value else "unlimited"


FIELDS = (
    Field("message_bytes", "mixed_sizes", lambda value: f"{value:.0f} B", "unknown size"),
    Field("request_bytes", "mixed_sizes", lambda value: f"request {value:.0f} B", "unknown request"),
    Field("response_bytes", "mixed_sizes", lambda value: f"response {value:.0f} B", "unknown response"),
    Field("connections", "mixed_settings", lambda value: count_of(round(value), "connection"), "unknown connections"),
    Field("target_rate_bit_s", "mixed_settings", _rate, "unknown rate"),
    Field("amount", "mixed_amounts", str, "unknown amount"),
    Field("warmup_ns", "mixed_settings", lambda value: f"warm-up {value / 1e9:g} s", "unknown warm-up"),
    Field("placement", "mixed_treatments", str, "unknown placement", on_path=True),
    Field("vm_size", "mixed_treatments", str, "unknown VM size", on_path=True),
    Field("peer_vm_size", "mixed_treatments", lambda value: f"to {value}", "unknown peer VM size", on_path=True),
    Field(
        "accelerated_networking", "mixed_treatments",
        lambda value: f"accelerated networking {'on' if value else 'off'}", "unknown accelerated networking",
        on_path=True,
    ),
)  # fmt: skip
#: Columns of the run table that the key adds, apart from those of single settings.
COLUMNS = ("request_bytes", "response_bytes", "target_rate_bit_s", "amount", "burst")
#: What names a test without its fields.
_BASE = ("tool", "test", "protocol")


def key(runs: pd.DataFrame) -> pd.DataFrame:
    """Return what makes runs repeats of each other.

    Parameters
    ----------
    runs : DataFrame
        One row per run, as returned by `azlatency.latency` or `azlatency.throughput`.

    Returns
    -------
    DataFrame
        The columns ``path``, ``method``, ``unknown`` (codes of the refusals to pool the run), and the fields of the
        key; sizes in bytes, rates in bit/s, times in ns. Runs with equal ``path`` and ``method`` repeat each other if
        ``unknown`` is empty.

    Examples
    --------
    >>> import azlatency as az
    >>> runs = az.throughput(az.load("westeurope-azure-cni"))
    >>> print(az.key(runs)[["path", "method", "amount"]].head(2).to_string(index=False))
           path       method amount
    Single node   iperf3 TCP   10 s
    Single node qperf tcp_bw   10 s
    """
    refuse_foreign(runs)
    names = ("path", "method", "unknown", *_BASE, *(field.column for field in FIELDS), "settings", "side")
    return runs[[name for name in names if name in runs.columns]]


def describe(
    runs: pd.DataFrame, metric: Callable[[str], pd.Series], sender_times: Callable[[], pd.Series]
) -> pd.DataFrame:
    """Add the columns of the key to the table ``runs``.

    ``metric`` returns the values of a metric by ``run_id``, and ``sender_times`` how long each sender sent (ns): its
    receiver may count for seconds more, until the last datagram arrives.
    """
    values = {name: runs["run_id"].map(metric(name)).astype(float) for name in ("request_bytes", "response_bytes")}
    # A tool that can be told a rate prints it, or only its command states it.
    asked = runs["run_id"].map(metric("target_rate")).astype(float)
    values["target_rate_bit_s"] = asked.fillna(runs["settings"].map(_bit_rate).astype(float)).fillna(0.0)
    transferred = runs["run_id"].map(metric("transferred")).astype(float)
    is_stream = runs["run_id"].map(metric("throughput")).notna() & runs["printed_as"].isna()
    measured = runs["duration_ns"].astype(float)
    is_open = is_stream & runs[["requested_bytes", "requested_count", "requested_duration_ns"]].isna().all(axis=1)
    sent = runs["run_id"].map(sender_times()).fillna(measured) if is_open.any() else measured
    short = (measured < BURST_NS) | (transferred < BURST_BYTES) | (runs["requested_bytes"] < BURST_BYTES)
    amounts = [
        _requested(*asked) or (_measured(duration, size) if stream else None)
        for *asked, duration, size, stream in zip(
            *(runs[name].astype(float) for name in ("requested_bytes", "requested_count", "requested_duration_ns")),
            sent,
            transferred,
            is_stream,
            strict=True,
        )
    ]
    described = runs.assign(**values, burst=is_stream & short)
    described["amount"] = runs["run_id"].map(dict(zip(runs["run_id"], amounts, strict=True))).astype("str")
    return described


def _bit_rate(settings: object) -> float | None:
    """Return the rate in bit/s that the settings of a run state."""
    stated = settings_of(settings).get(_BIT_RATE, "") if isinstance(settings, str) else ""
    match = _PREFIXED_RATE.fullmatch(stated)
    return float(match[1]) * 1000.0 ** " kmgt".index(match[2].lower() or " ") if match else None


def _requested(size: float, count: float, duration: float) -> str | None:
    """Return the amount or duration that a test was told, for example ``10 KiB``, ``n = 100`` or ``10 s``."""
    parts = [bytes_text(size)] if size > 0 else []
    parts += [f"n = {count:.0f}"] if count > 0 else []
    parts += [f"{duration / 1e9:g} s"] if duration > 0 and not parts else []
    return ", ".join(parts) or None


def _measured(duration: float, size: float) -> str | None:
    """Return the amount of a stream whose log does not state it: whole seconds, or the bytes of a burst."""
    if not duration < BURST_NS:
        return f"{math.floor(duration / 1e9 + _SECONDS_LESS)} s" if math.isfinite(duration) else None
    return f"about {format_value(size, 'bytes', digits=2)}" if size > 0 else None


def bytes_text(size: float) -> str:
    """Return a number of bytes with the prefix that leaves the fewest digits: ``10 KiB``, ``200 MB``, ``1,448 B``."""
    units = [("B", 1), *((f"{prefix}B", 1000**n) for n, prefix in enumerate("kMGT", 1)),
             *((f"{prefix}iB", 1024**n) for n, prefix in enumerate("KMGT", 1))]  # fmt: skip
    whole = [(size / factor, unit) for unit, factor in units if size % factor == 0]
    number, unit = min(whole, default=(size, "B"))
    return f"{number:,.0f} {unit}"


def label(runs: pd.DataFrame, across: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """Return the method of each run, and the refusals of runs whose key is unknown, joined by blanks.

    ``runs`` has the columns of `describe` and ``path``; the methods of several tables that are compared are those of
    the tables together. ``across``: fields that may differ (`is_across`), which no method names.
    """
    methods = bases(runs)
    unknown: list[dict[str, None]] = [{} for _ in range(len(runs))]
    paths = [str(path) for path in runs["path"]]
    for field, values in _columns(runs):
        if is_across(field.column, across):
            continue
        if len(known := {*values} - {None}) < 2 and UNKNOWN_SETTING not in known:
            continue
        groups: dict[tuple[str, ...], list[int]] = {}
        for place, method in enumerate(methods):
            groups.setdefault((method, paths[place]) if field.on_path else (method,), []).append(place)
        for places in groups.values():
            known = {values[place] for place in places} - {None}
            if len(known) < 2 and UNKNOWN_SETTING not in known:
                continue
            for place in places:
                is_unknown = values[place] in (None, UNKNOWN_SETTING)
                named = field.unknown if is_unknown else field.text(values[place])
                if named not in methods[place].split(" "):
                    methods[place] = f"{methods[place]} {named}".strip()
                if is_unknown:
                    unknown[place][field.refusal] = None
    for place, side in enumerate(runs["side"]) if "side" in runs.columns else ():
        methods[place] += SENDER * (side == "sender")
    return methods, [" ".join(codes) for codes in unknown]


def _columns(runs: pd.DataFrame) -> Iterable[tuple[Field, Sequence[Any]]]:
    """Yield the fields, those of single settings included, with the value of each run; None if it is unknown."""
    for field in FIELDS:
        if field.column in runs.columns:
            column = runs[field.column]
            yield field, column.astype(object).where(column.notna(), None).tolist()
    if "settings" not in runs.columns:
        return
    settings = _settings_of(runs)
    # A rate that could be read is a field of its own.
    rates = runs["target_rate_bit_s"] if "target_rate_bit_s" in runs.columns else pd.Series(0.0, runs.index)
    for each, rate in zip(settings, rates, strict=True):
        if each and rate > 0:
            each.pop(_BIT_RATE, None)
    for name in sorted({name for each in settings if each for name in each}):
        yield _setting(name), [each and each.get(name, each[_OTHERS]) for each in settings]


def _settings_of(runs: pd.DataFrame) -> list[dict[str, str | None] | None]:
    """Return the settings of each run; None if nothing states them, and under `_OTHERS` what those left out are."""
    commands = runs["command"].notna() if "command" in runs.columns else [False] * len(runs)
    rows = zip(runs["settings"], commands, strict=True)
    return [
        None
        if pd.isna(text)
        else {_OTHERS: "default", "congestion": "default" if command else None, **settings_of(text)}
        for text, command in rows
    ]


def _setting(name: str) -> Field:
    def text(value: str) -> str:
        return f"default {name}" if value == "default" else f"{name} {value}".strip()

    return Field(_SETTING + name, "mixed_settings", text, f"unknown {name}")


def bases(runs: pd.DataFrame) -> list[str]:
    """Return the method of each run without the fields in which the runs differ: tool, test, protocol, bursts."""
    used = [name for name in (*_BASE, "message_bytes", "burst") if name in runs.columns]
    return [_base(row) for row in runs[used].itertuples(index=False)]


def _base(row: Any) -> str:
    parts = [str(row.tool)]
    if isinstance(row.test, str) and row.test not in _USUAL_TESTS:
        parts.append(row.test)
    if isinstance(row.protocol, str) and row.protocol != "icmp" and row.protocol not in parts[-1].lower():
        parts.append(row.protocol.upper())
    if math.isfinite(row.message_bytes) and find_parser(row.tool).names_size:
        parts.append(f"{row.message_bytes:.0f} B")
    if getattr(row, "burst", False):
        parts.append("burst")
    return " ".join(parts)


def differing(frames: Sequence[pd.DataFrame], across: Sequence[str] = ()) -> list[str]:
    """Return the columns of the key in which runs of several frames are known to differ: they repeat nothing.

    Columns that describe the path or the treatment do not count, because they may be what is compared. A field of
    ``across`` (`is_across`) may differ between the frames, but not within one of them.
    """
    named = _differing(frames)
    within = {name for frame in frames for name in _differing([frame])} if across and named else set()
    return [name for name in named if name in within or not is_across(name, across)]


def _differing(frames: Sequence[pd.DataFrame]) -> list[str]:
    if sum(map(len, frames)) < 2:
        return []
    found = []
    for name in (*_BASE, *(field.column for field in FIELDS if not field.on_path)):
        # Series.dropna takes ten times as long as all the rest, for the few rows of a path.
        cells = (cell for frame in frames if name in frame.columns for cell in frame[name].unique())
        if len({cell for cell in cells if not pd.isna(cell)}) > 1:
            found.append(name)
    stated = [frame[["settings", *({"command"} & {*frame.columns})]] for frame in frames if "settings" in frame.columns]
    if stated and len({text for frame in stated for text in frame["settings"].unique()}) > 1:
        fields = _columns(pd.concat(stated))
        found += [field.column for field, values in fields if len({*values} - {None}) > 1]
    return found


def is_across(column: str, across: Sequence[str]) -> bool:
    """Return whether a field may differ: it is named, or it is one of the ``settings`` (``congestion``, ``window``).

    A ``scenario`` that is compared may be a setting.
    """
    setting = column.removeprefix(_SETTING)
    return column in across or setting in across or (setting != column and bool({"settings", "scenario"} & {*across}))


def check_across(across: Sequence[str], runs: pd.DataFrame) -> None:
    """Raise `ValueError` if a field that may differ is none of the key."""
    known = [*_BASE, "settings", *(field.column.removeprefix(_SETTING) for field, _ in _columns(runs))]
    for name in across:
        if name not in known:
            if any(name in {**parser.options, **parser.switches} for parser in load_parsers().values()):
                raise ValueError(f"no run names its {name}; compare without --across {name}")
            fields = ", ".join(dict.fromkeys(known))
            raise ValueError(f"unknown field {name!r}{did_you_mean(name, known) or ';'} choose from {fields}")
