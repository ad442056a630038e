"""The numbers of ping's summary: loss from the counts, and the sample deviation from the population deviation."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from azlatency.logs.grammar.units import Quantity, count, quantity
from azlatency.logs.parsers.common import check_loss, record_loss
from azlatency.logs.parsers.ping.languages import COUNT_STEMS
from azlatency.logs.record import Run

# inetutils' square root returns 0 below 0.0005 ms**2.
_INETUTILS_UNDERFLOW = "0.000"
_MICROSECOND, _MILLISECOND = 1e3, 1e6
# Larger sums of times (ns) overflow the exact computation of the deviation in iputils.
_LARGEST_SUM = 2**31 * _MICROSECOND


def to_point(token: str) -> str:
    """Return the number with a decimal point, whether the log has a point or a comma."""
    return token.replace(",", ".")


def milliseconds(token: str) -> Quantity:
    """Read milliseconds with a decimal point or comma; ``printed`` keeps the token as it is in the log."""
    return quantity(to_point(token), "ms")._replace(printed=token) if "," in token else quantity(token, "ms")


def record_extra_count(run: Run, text: str, line: int) -> None:
    """Record ``+9 duplicates`` and similar counts in any language."""
    if counter := re.fullmatch(r"\+?(\d{1,12}) ?(\D{1,40})", text):
        word = counter[2].lower()
        for metric, stems in COUNT_STEMS.items():
            if any(stem in word for stem in stems):
                run.add_metric(metric, count(counter[1]), line)
                return
    run.add_event("unknown_count", "warning", f"unrecognised counter {text!r}; it is left out", line)


def record_counts(
    run: Run,
    line: int,
    *,
    sent_token: str,
    received_token: str,
    received: int | None = None,
    lost_token: str | None = None,
    percent: str | None,
) -> None:
    """Record probes sent, received and lost, and the loss that follows from them.

    ``received`` is the number of replies where it differs from the printed one; only Windows prints ``lost_token``;
    ``percent`` is the printed loss.
    """
    sent = int(sent_token)
    # Windows counts an "unreachable" as a reply, which ``received`` corrects; its own count of losses is then too low.
    received = int(received_token) if received is None else received
    run.add_counts(line, sent=sent_token)
    run.add_metric("received", count(received_token)._replace(value=float(received)), line)
    is_known = record_loss(run, sent, received, line, percent=percent, lost=lost_token)
    if is_known and sent and percent is not None:
        check_loss(run, percent, sent, received, line)


def record_times(run: Run, line: int, *, minimum: str | None, mean: str | None, maximum: str | None) -> None:
    """Record the printed minimum, mean and maximum in milliseconds, as far as they are there."""
    for name, token in (("rtt_min", minimum), ("rtt_mean", mean), ("rtt_max", maximum)):
        if token is not None:
            run.add_metric(name, milliseconds(token), line)


def record_whole_milliseconds(run: Run, line: int, tokens: Mapping[str, str], tool: str) -> None:
    """Record times that a tool truncates to whole milliseconds, by name of their metric; 0 is not a value."""
    zeros = [name for name, token in tokens.items() if int(token) == 0]
    for name, token in tokens.items():
        if name not in zeros:
            run.add_metric(name, quantity(token, "ms").with_resolution(_MILLISECOND), line)
    if zeros:
        text = f"{', '.join(zeros)} printed as 0ms: below 1 ms, the resolution of {tool}; left out"
        run.add_event("below_resolution", "info", text, line)


def record_deviation(run: Run, token: str, line: int, *, cut_mean: bool = False) -> None:
    """Record the sample standard deviation that follows from the population deviation that every ping prints.

    ``cut_mean``: the version is unknown, and iputils before s20190709 truncates the mean to whole microseconds before
    it squares it (ping_common.c, ``finish``). Newer versions do so only if the times add up to 2**31 us. The printed
    value is then too large by an amount that depends on the mean, which the resolution includes.
    """
    received = run.value("received")
    printed = milliseconds(token)
    if received is None:
        text = "mdev is a population deviation and the number of replies is missing; it is left out"
        run.add_event("sd_not_convertible", "info", text, line)
        return
    n = int(received + (run.value("duplicates") or 0))
    spread = (run.value("rtt_max") or 0) - (run.value("rtt_min") or 0)
    if token == _INETUTILS_UNDERFLOW and spread > 0 and run.row.get("dialect") == "inetutils":
        text = "stddev is 0.000 although min < max: inetutils prints 0.000 for any value below 22.4 us; it is left out"
        run.add_event("sd_underflow", "info", text, line)
        return
    if n < 2:
        return
    factor = math.sqrt(n / (n - 1))
    half = printed.half
    mean = run.value("rtt_mean") or 0.0
    if cut_mean or n * mean >= _LARGEST_SUM:
        half = max(half, printed.value - math.sqrt(max(printed.value**2 - excess_of_cut_mean(mean), 0.0)))
    resolution = half * factor
    run.add_metric("rtt_sd", Quantity(printed.value * factor, "ns", token, resolution), line)


def excess_of_cut_mean(mean: float) -> float:
    """Return by how much (ns**2) a variance may be too large if the mean (ns) was truncated before it was squared."""
    return 2 * mean * _MICROSECOND + _MICROSECOND**2


def check_label(run: Run, label: str, line: int) -> None:
    """Report the translation that labels min/avg/max/mdev as min/avg/ewma/max; the numbers are never in that order."""
    if "ewma" in label or "移动平均" in label:
        text = f"the label {label!r} is a wrong translation; the numbers are min/avg/max/mdev"
        run.add_event("label_conflict", "info", text, line)
