"""fping: one run per host, in ms; -C lists contain null for a probe without a reply."""

from __future__ import annotations

from typing import Any

from conformance.core import Case

MILLISECOND = 1e6
_COUNTS = {"xmt": "sent", "sent": "sent", "rcv": "received", "received": "received", "n": "sent", "lost": "lost"}
_TIMES = {"min": "rtt_min", "avg": "rtt_mean", "max": "rtt_max", "outage_ms": "outage"}


def compare(case: Case) -> None:
    """Compare every number of every host."""
    if not case.text().strip():
        # The numbers of these runs went to standard error, which is a separate log of the corpus.
        case.facts(*case.expected)
        return
    for host, wanted in case.expected.items():
        runs = case.of(server=host)
        run = runs[0] if runs else len(case.runs)
        if host == "global":
            case.facts("global")
        elif isinstance(wanted, list):
            replies = case.samples(run, statuses=("ok", "duplicate", "out_of_order", "lost"))
            for position, value in enumerate(wanted):
                rtt = replies[position] if position < len(replies) else None
                if value is None:
                    case.check(host, True, [rtt is None])
                else:
                    case.check(host, value * MILLISECOND, [] if rtt is None else [rtt])
        elif isinstance(wanted, dict):
            _host(case, host, wanted, run)
        elif wanted is not None:
            case.check(host, wanted * MILLISECOND, case.metric("rtt_mean", run) or case.samples(run))


def _host(case: Case, host: str, wanted: dict[str, Any], run: int) -> None:
    if "xmt" in wanted and not case.metric("sent", run):
        _replies(case, host, wanted, run)
        return
    for key, value in wanted.items():
        if key in _COUNTS:
            case.check(f"{host}.{key}", value, case.metric(_COUNTS[key], run))
        elif key in _TIMES:
            case.check(f"{host}.{key}", value * MILLISECOND, case.metric(_TIMES[key], run))
        elif key == "loss_pct":
            case.check(f"{host}.{key}", value / 100, case.metric("loss", run))
        elif key == "intervals":
            case.check(f"{host}.{key}", value, [len(case.intervals(run))])
        elif key == "per_interval":
            case.check(f"{host}.{key}", value, [row["datagrams"] for row in case.intervals(run)])
        elif key in ("lost_index", "first", "last"):
            samples = case.samples(run, statuses=("ok", "lost"))
            place = {"first": 0, "last": -1}.get(key, value)
            rtt = samples[place] if samples else None
            if key == "lost_index":
                case.check(f"{host}.{key}", True, [rtt is None])
            else:
                case.check(f"{host}.{key}", value * MILLISECOND, [] if rtt is None else [rtt])


def _replies(case: Case, host: str, wanted: dict[str, Any], run: int) -> None:
    """Compare standard output alone, whose summary went to standard error, by its replies."""
    replies = [value for value in case.samples(run) if value is not None]
    case.check(f"{host}.rcv", wanted["rcv"], [len(replies)])
    for key, value in (("min", min(replies, default=None)), ("max", max(replies, default=None))):
        if key in wanted:
            case.check(f"{host}.{key}", wanted[key] * MILLISECOND, [] if value is None else [value])
    case.facts(f"{host}.xmt", f"{host}.loss_pct", f"{host}.avg")
