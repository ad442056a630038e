"""What a sockperf run was, and the checks of its label, its drops and its duration."""

from __future__ import annotations

import math
import re
from statistics import NormalDist

from azlatency.logs.grammar.units import nanoseconds
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.common import contradict, exceeds, slack
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
# The time that a throughput test prints has three decimals, whatever --increase_output_precision adds to others.
_HALF_MS_NS = 0.5e6
# sockperf's quantile of the normal distribution has a few digits.
_QUANTILE_STEP = 0.005
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
                size = log.option("-m", "--msg-size") or str(_DEFAULT_MESSAGE_BYTES)
                row["message_bytes"] = int(size) if size.isdigit() else None  # "-m $size"
            seconds = log.option("-t", "--time")
            if seconds and seconds.isdigit():
                row["requested_duration_ns"] = nanoseconds(seconds, "sec")
    if row.get("test") is None and _asked_for_few_replies(run):
        row["test"] = "under-load"
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


def _asked_for_few_replies(run: Run) -> bool:
    """Return whether the counts are those of under-load: replies to some messages only, and a warm-up left out.

    Ping-pong asks for a reply to every message. Playback leaves out no warm-up (client.cpp 440): fewer than two steps
    from one asked-for reply to the next are missing from its valid part.
    """
    names = ("sent", "valid_sent", "valid_received", "lost", "out_of_order")
    counts = [value for name in names if (value := run.value(name)) is not None]
    if len(counts) < len(names):
        return False
    sent, valid_sent, *replies = counts
    steps = sum(replies) - 1
    return 0 < 2 * steps <= valid_sent - 1 and sent - valid_sent >= 2 * (valid_sent - 1) / steps


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


def check_rates(run: Run) -> None:
    """Report the message rate and the bandwidth of a throughput test that count, time and size contradict."""
    sent, rate, bandwidth = run.row_of("sent"), run.row_of("message_rate"), run.row_of("throughput", side="sender")
    duration, size = run.row.get("duration_ns"), run.row.get("message_bytes")
    if rate is None:
        return
    if sent is not None and duration and duration > _HALF_MS_NS:
        # Skipped messages may be counted.
        least = 1e9 * (sent["value"] - (run.value("skipped") or 0.0)) / (duration + _HALF_MS_NS) - 1
        most = 1e9 * sent["value"] / (duration - _HALF_MS_NS) + 1
        if not least <= rate["value"] <= most:
            text = f"{sent['value']:.0f} messages in {duration / 1e9:g} s are not {rate['printed']} per second"
            contradict(run, "rate_mismatch", text, rate["line"])
    if bandwidth is not None and size:
        due = 8 * size * rate["value"]
        if abs(bandwidth["value"] - due) > 8 * size + slack(bandwidth):
            shown = f"{bandwidth['printed']} {bandwidth['printed_unit']}"
            text = f"{rate['printed']} messages of {size} bytes per second are {due / 1e6:.6g} Mbit/s, not {shown}"
            contradict(run, "rate_mismatch", text, bandwidth["line"])


def check_spread(run: Run) -> None:
    """Report measures of spread that exclude each other: cv, standard error and interval follow from n, mean and sd."""
    mean, sd, n = run.row_of("rtt_mean"), run.row_of("rtt_sd"), run.value("observations")
    cv, error = run.row_of("rtt_cv"), run.row_of("rtt_std_error")
    level, low, high = (run.row_of(f"rtt_ci_{name}") for name in ("level", "low", "high"))
    if mean is None or sd is None:
        return
    deviation = run.row_of("rtt_mean_abs_dev")
    if deviation is not None and exceeds(deviation, sd):
        text = f"mean-ad={deviation['printed']} is greater than std-dev {sd['printed']}"
        contradict(run, "impossible_spread", text, deviation["line"])
    if cv is not None and abs(cv["value"] * mean["value"] - sd["value"]) > (
        slack(cv) * mean["value"] + slack(sd) + cv["value"] * slack(mean)
    ):
        text = f"cv={cv['printed']} is not std-dev {sd['printed']} divided by the mean {mean['printed']}"
        contradict(run, "summary_mismatch", text, cv["line"])
    if error is None or not n:
        return
    if abs(error["value"] - sd["value"] / math.sqrt(n)) > slack(error, sd):
        text = f"std-error={error['printed']} is not std-dev {sd['printed']} divided by the root of {n:.0f}"
        contradict(run, "summary_mismatch", text, error["line"])
    if level is None or low is None or high is None:
        return
    if not 0 < level["value"] < 1:
        contradict(run, "summary_mismatch", f"{level['printed']} % is no level of an interval", level["line"])
        return
    half_width = NormalDist().inv_cdf((1 + level["value"]) / 2) * error["value"]
    rounding = _QUANTILE_STEP * half_width + 3 * slack(error) + slack(mean)
    for end, due in ((low, mean["value"] - half_width), (high, mean["value"] + half_width)):
        if abs(end["value"] - due) > rounding + slack(end):
            text = f"ci=[{low['printed']}, {high['printed']}] is not {level['printed']} % around {mean['printed']}"
            contradict(run, "summary_mismatch", text, end["line"])
            return


def check_duration(run: Run) -> None:
    """Report a valid part that is longer than the run, and a run that is 0.45 s shorter than requested.

    Since 3.2 the timer ignores warm-up and cool-down.
    """
    valid, total = run.row_of("valid_duration"), run.row_of("total_duration")
    if valid is not None and total is not None and exceeds(valid, total):
        text = f"the valid duration {valid['printed']} s is longer than the whole run, {total['printed']} s"
        contradict(run, "impossible_duration", text, valid["line"])
    row = run.row
    measured, requested = row.get("duration_ns"), row.get("requested_duration_ns")
    if not measured or not requested or row["status"] != "complete":
        return
    if abs(requested - measured - _SHORTER_NS) < _SHORTER_SLACK_NS:
        text = f"{measured / 1e9:g} s of {requested / 1e9:g} s requested, as in every run since 3.2 (client.cpp 58)"
        run.add_event("shorter_than_asked", "info", text, row["first_line"])
