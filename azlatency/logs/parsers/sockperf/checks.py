"""What a sockperf run was, and the checks of its label, its drops and its duration."""

from __future__ import annotations

import re

from azlatency.logs.grammar.units import nanoseconds
from azlatency.logs.parsers import Log
from azlatency.logs.record import Row, Run

_TESTS = {
    "ping-pong": ("ping-pong", "pp"),
    "under-load": ("under-load", "ul"),
    "throughput": ("throughput", "tp"),
    "playback": ("playback", "pb"),
    "server": ("server", "sr"),
}
_NUMBER = re.compile(r"\d{1,9}")
_DEFAULT_MESSAGE_BYTES = 14
_PING_PONG_RATE = "600000"
_SHARE_TOLERANCE = 0.03
# Messages of the last 50 ms of a run are not counted (TEST_END_COOLDOWN_MSEC).
_COOL_DOWN_NS = 50e6
_SHORTER_NS, _SHORTER_SLACK_NS = 450e6, 30e6


def describe_run(run: Run, log: Log, *, full_log_options: str | None, closed_loop_share: float | None) -> None:
    """Set the columns that follow from the command line, the options line of a full log, or the numbers."""
    row = run.row
    if full_log_options is not None:
        _read_full_log_options(row, full_log_options)
    for test, spellings in _TESTS.items():
        if any(word in spellings for word in log.arguments):
            row["test"] = test
            if row.get("message_bytes") is None:
                size = log.option("-m", "--msg-size")
                row["message_bytes"] = int(size) if size and size.isdigit() else _DEFAULT_MESSAGE_BYTES
            seconds = log.option("-t", "--time")
            if seconds and seconds.isdigit():
                row["requested_duration_ns"] = nanoseconds(seconds, "sec")
    if row.get("test") is None and closed_loop_share is not None:
        # Only a closed loop spends its whole time in round trips.
        distance = min(abs(closed_loop_share - 0.5) / 0.5, abs(closed_loop_share - 1.0))
        row["test"] = "ping-pong" if distance <= _SHARE_TOLERANCE else None
    if row.get("test") == "playback" and row.get("warmup_ns"):
        row["warmup_ns"] = 0  # a warm-up time is printed, but playback omits no message
    if row.get("test") in ("ping-pong", "under-load"):
        row["closed_loop"] = row["test"] == "ping-pong"
    row["client"] = row.get("client") or log.host
    row["connections"] = 1 if row.get("server") else None


def _read_full_log_options(row: Row, text: str) -> None:
    options = dict(word[2:].split("=", 1) for word in text.split() if "=" in word)
    numbers = {name: token for name, token in options.items() if _NUMBER.fullmatch(token)}
    row["message_bytes"] = int(numbers["msg-size"]) if "msg-size" in numbers else None
    if "msg-size" not in options:
        row["message_bytes"] = _DEFAULT_MESSAGE_BYTES
    row["requested_duration_ns"] = nanoseconds(numbers["time"], "sec") if "time" in numbers else None
    if row.get("test") is None:
        # Only ping-pong keeps the built-in rate; under-load always sets one.
        paced = options.get("mps") not in (_PING_PONG_RATE, None)
        row["test"] = "under-load" if paced or options.get("reply-every", "1") != "1" else "ping-pong"


def check_label(run: Run, share: float, *, half: bool) -> None:
    """Report a label that contradicts the closed loop, which spends its whole time in round trips.

    ``share`` is n * mean / duration with the mean as printed: 0.5 for half round trips, 1 for round trips.
    """
    if run.row.get("test") != "ping-pong":
        return
    expected, opposite = (0.5, 1.0) if half else (1.0, 0.5)
    if abs(share - opposite) <= _SHARE_TOLERANCE * opposite:
        label = "half round trips" if half else "round trips"
        text = f"labelled {label}, but n*mean/duration = {share:.3f} instead of {expected}; the log is mislabelled"
        run.add_event("unit_conflict", "error", text, run.row["first_line"])


def check_drops(run: Run) -> None:
    """Report drops that are not losses: every message was answered, but some replies arrived after the cool-down."""
    lost, slowest = run.row_of("lost"), run.value("rtt_max") or 0.0
    sent, received = run.value("valid_sent"), run.value("valid_received")
    if lost is not None and lost["value"] and sent is not None and sent == received and slowest > _COOL_DOWN_NS:
        text = f"{lost['value']:.0f} 'dropped', but all {sent:.0f} messages were answered: late replies, not losses"
        run.add_event("false_drops", "warning", text, lost["line"])


def check_duration(run: Run) -> None:
    """Report a run that is 0.45 s shorter than requested: since 3.2 the timer ignores warm-up and cool-down."""
    row = run.row
    measured, requested = row.get("duration_ns"), row.get("requested_duration_ns")
    if not measured or not requested or row["status"] != "complete":
        return
    if abs(requested - measured - _SHORTER_NS) < _SHORTER_SLACK_NS:
        text = f"{measured / 1e9:g} s of {requested / 1e9:g} s requested, as in every run since 3.2 (client.cpp 58)"
        run.add_event("shorter_than_asked", "info", text, row["first_line"])
