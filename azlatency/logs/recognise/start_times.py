"""Start times from the output of ``date`` above a log.

::

    Tue Nov  1 18:29:46 UTC 2016            date, in most systems
    Tue 01 Nov 2016 06:29:46 PM UTC         date, in the locale en_US
    Tue, 01 Nov 2016 18:29:46 +0000         date -R
    2016-11-01T18:29:46,035520937+00:00     date -Ins; also with a blank, without a fraction, with Z

A script may print the date before a test, after it, or both. The date directly above the first log of a file belongs to
it. One between two logs is the start of the second only if the first log has a date too, and either nothing that looks
like a date follows the last log, or two dates stand there: the end of one log, and the start of the next. Other dates
stay unknown lines.

Only UTC, GMT and offsets are certain: CST is a time in America and another one in China.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import partial

from azlatency.logs.grammar.rules import BLANK, DATA, KNOWN, UNKNOWN, UNMARKED, LineAccounting
from azlatency.logs.record import Recorder, Row
from azlatency.logs.source.decode import Source

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
_DAY, _MONTH = f"(?P<weekday>{'|'.join(_DAYS)})", f"(?P<month>{'|'.join(_MONTHS)})"
_CLOCK = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)"
_HALF, _ZONE = r"(?: (?P<half>[AP]M))?", r"(?P<zone>[A-Z]{1,5}|[+-]\d\d(?::?\d\d)?)"
_DATE = r"(?P<date>\d{1,2})"
_FORMS = [
    re.compile(form)
    for form in (
        rf"{_DAY} {_MONTH} {{1,2}}{_DATE} {_CLOCK}{_HALF}(?: {_ZONE})? (?P<year>20\d\d)",
        rf"{_DAY},? {_DATE} {_MONTH} (?P<year>20\d\d) {_CLOCK}{_HALF}(?: {_ZONE})?",
        rf"(?P<year>20\d\d)-(?P<number>\d\d)-(?P<date>\d\d)[T ]{_CLOCK}(?:[.,](?P<fraction>\d{{1,9}}))? ?{_ZONE}?",
    )
]
_SHORTEST, _LONGEST = 19, 40
#: Scripts print little more than the date between two tests.
_MOST_LINES_BELOW = 12


def set_start_times(source: Source, recorder: Recorder, boundaries: Sequence[int]) -> None:
    """Set ``started_at`` of the runs below an unambiguous date; ``boundaries`` are the lines with prompts and headings.

    The lines that no parser reads have no kind yet, or are unknown lines of a log.
    """
    accounting, runs = recorder.accounting, recorder.rows["runs"]
    if not runs or len({(run["first_line"], run["last_line"]) for run in runs}) < len(runs):
        return  # runs of which the lines are mixed
    dates = dict(_find_dates(source, accounting))
    if not dates:
        return
    for number, run in _dated(sorted(runs, key=lambda run: run["first_line"]), dates, accounting, set(boundaries)):
        moment, text = _moment(dates[number])
        if moment is None:
            text = f"{text}, so started_at is left out; add it to study.toml"
            recorder.add_event("start_time_unknown", "info", text, number, run["run_id"])
        elif run.get("started_at") is None:
            run["started_at"] = moment
        accounting.mark_range(number, number, DATA if moment else KNOWN)


def _find_dates(source: Source, accounting: LineAccounting) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the number of each line that is a date and that no parser reads."""
    for kind in (UNMARKED, UNKNOWN):
        for number, text in source.find_texts(partial(accounting.find, kind)):
            line = text.strip()
            if _SHORTEST <= len(line) <= _LONGEST and line[0] in "MTWFS2":
                match = next((match for form in _FORMS if (match := form.fullmatch(line))), None)
                if match is not None and _is_day(match):
                    yield number, match


def _dated(
    runs: Sequence[Row], dates: dict[int, re.Match[str]], accounting: LineAccounting, boundaries: set[int]
) -> Iterator[tuple[int, Row]]:
    """Yield the runs that began at a date, with the line of the date."""
    numbers = sorted(dates)
    # A log takes the lines below it, so only where a run begins is certain.
    stops = [0, *(run["first_line"] for run in runs)]
    between = [
        numbers[bisect_right(numbers, stop) : bisect_left(numbers, run["first_line"])]
        for stop, run in zip(stops, runs, strict=False)
    ]
    follow_last = numbers[-1] > stops[-1]
    for index, (run, above) in enumerate(zip(runs, between, strict=True)):
        is_start = index == 0 or (bool(between[0]) and (len(above) > 1 or not follow_last))
        if above and is_start and run["first_line"] - above[-1] <= _MOST_LINES_BELOW:
            lines = range(above[-1] + 1, run["first_line"])
            if all(accounting.kind_of(number) in (BLANK, KNOWN) or number in boundaries for number in lines):
                yield above[-1], run


def _month(match: re.Match[str]) -> int:
    named = match.groupdict()
    return _MONTHS.index(named["month"]) + 1 if named.get("month") else int(match["number"])


def _is_day(match: re.Match[str]) -> bool:
    """Return whether there is such a day, of that name, and such a time of the day."""
    try:
        day = datetime(int(match["year"]), _month(match), int(match["date"]), tzinfo=UTC)
    except ValueError:
        return False
    weekday = match.groupdict().get("weekday")
    is_time = int(match["hour"]) < 24 and int(match["minute"]) < 60 and int(match["second"]) < 60
    return is_time and weekday in (None, _DAYS[day.weekday()])


def _moment(match: re.Match[str]) -> tuple[datetime | None, str]:
    """Return the time in UTC; without one, why not."""
    zone, named = match["zone"], match.groupdict()
    if zone is None:
        return None, "the date above the log has no time zone"
    if zone in ("UTC", "GMT", "Z"):
        offset = timedelta()
    elif zone[0] in "+-":
        digits = zone[1:].replace(":", "").ljust(4, "0")
        offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:])) * (-1 if zone[0] == "-" else 1)
    else:
        return None, f"the date above the log is in {zone}, which is not one time zone everywhere"
    hour, half = int(match["hour"]), named.get("half")
    if (half and not 1 <= hour <= 12) or abs(offset) >= timedelta(days=1):
        return None, f"the date above the log is not one: {match[0]!r}"
    if half:
        hour = hour % 12 + 12 * (half == "PM")
    microsecond = int((named.get("fraction") or "").ljust(6, "0")[:6])
    clock = hour, int(match["minute"]), int(match["second"]), microsecond
    local = datetime(int(match["year"]), _month(match), int(match["date"]), *clock, tzinfo=timezone(offset))
    return local.astimezone(UTC), ""
