"""``ping -j`` of iputils: one JSON object per line; the object of the summary ends the run."""

from __future__ import annotations

import json
import re
from typing import TypeGuard

from azlatency.logs.grammar.rules import DATA, Line
from azlatency.logs.grammar.units import nanoseconds
from azlatency.logs.parsers import Log
from azlatency.logs.parsers.ping.summary import record_counts, record_deviation, record_times
from azlatency.logs.parsers.ping.text import DECIMAL, STAMP, PingText
from azlatency.logs.record import Recorder

_OBJECT = re.compile(STAMP + r"(\{.*\})")
_DUPLICATE = re.compile(r"\A\([^()]{2,20}!\)")  # in any language
_LONGEST = 4096


def read_json(log: Log, recorder: Recorder) -> None:
    """Read a log of JSON lines; other lines are read as text."""
    reader = PingText(log, recorder)
    for line in log.lines:
        # A duplicate is marked in front of its object; before "pipe" was mended, its comma was the last of the object.
        text = re.sub(r", ?\}$", "}", _DUPLICATE.sub("", line.text.strip(), count=1))
        match = _OBJECT.fullmatch(text) if len(text) < _LONGEST else None
        try:
            members = json.loads(match[2]) if match else None
        except (ValueError, RecursionError):
            members = None
        if isinstance(members, dict):
            reader.begin_after_summary(line)
            reader.run.set(dialect="iputils-json")
        if match is None or not isinstance(members, dict) or not _read_object(reader, line, members, match["stamp"]):
            reader.feed([line], recorder.accounting)
            continue
        recorder.accounting.mark(line.number, DATA)
        reader.ping.last_line = line.number
    reader.ping.finish(log.last_line)


def _read_object(reader: PingText, line: Line, members: dict[str, object], stamp: str | None) -> bool:
    """Read one object; return whether it is a reply or a summary of ping."""
    seq, time = members.get("seq"), members.get("time")
    if _is_count(seq, digits=10) and _is_decimal(time):
        arrival = nanoseconds(stamp, "s") if stamp else None
        reader.add_reply(line, seq, time, arrival, duplicate=bool(members.get("dup")))
        return True
    sent, received = members.get("transmitted"), members.get("received")
    if not _is_count(sent) or not _is_count(received):
        return False
    run = reader.run
    reader.ping.summary = line
    if isinstance(members.get("host"), str):
        run.set(server=members["host"])
    if _is_count(time):
        run.set(duration_ns=nanoseconds(str(time), "ms"))
    extras = (name for name in ("duplicates", "errors", "corrupted") if _is_count(members.get(name)))
    run.add_counts(line.number, **{name: str(members[name]) for name in extras})
    # "loss" is a percentage cut to a whole number.
    loss = members.get("loss")
    reader.printed_loss = str(loss) if isinstance(loss, int | float) else None
    record_counts(run, line.number, sent_token=str(sent), received_token=str(received), percent=reader.printed_loss)
    times = members.get("rtt")
    if isinstance(times, dict):
        minimum, mean, maximum, deviation = (
            token if _is_decimal(token := times.get(key)) else None for key in ("min", "avg", "max", "mdev")
        )
        reader.ping.has_times = True
        record_times(run, line.number, minimum=minimum, mean=mean, maximum=maximum)
        if deviation is not None:
            record_deviation(run, deviation, line.number)
    return True


def _is_count(value: object, digits: int = 12) -> TypeGuard[int]:
    """Whether a member is a count of at most as many digits as the rules for text allow; a longer one is damage."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**digits


def _is_decimal(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and re.fullmatch(DECIMAL, value) is not None
