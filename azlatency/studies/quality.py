"""What each log is good for, in plain words: the answer of ``azlatency check``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from azlatency.logs.record import Row
from azlatency.logs.tables import Logs

Grade = Literal["good", "limited", "useless"]

#: What a remark forbids, by code; codes that are not here limit nothing by themselves.
_LIMITS = {
    "unit_conflict": "do not use its latencies: the label and the proof disagree",
    "percentile_is_max": "leave out the percentiles that are its maximum",
    "out_of_order_discarded": "its mean leans towards delayed replies",
    "truncated": "it stops before its end: use what stands, do not call it a complete run",
    "interrupted": "it was stopped by hand: shorter than asked for",
    "rate_mismatch": "do not use the rates that contradict bytes and time",
    "tail_loss": "its loss is a lower bound",
    "udp_loss_possible": "a lost datagram may have stalled it: its mean can be far too high",
    "receiver_side": "it repeats the run of the sender's log: do not count it twice",
    "same_run_as_log": "it repeats the run of the log beside it: do not count it twice",
    "same_run_as_csv": "it repeats the run of the CSV beside it: do not count it twice",
    "not_monotone": "its percentiles contradict one another and are left out",
    "no_percentile": "what it calls a percentile is none and is left out",
    "impossible_spread": "its mean, range and sd cannot belong together: it may have been edited",
    "impossible_duration": "its probes do not fit into its time: it may have been edited",
    "unit_assumed": "a unit is not printed and was assumed",
    "clock_step": "its clock was set during the run: the marked samples are void",
    "value_conflict": "it says two different things of one number",
    "identity_failed": "its numbers do not fit one another: it may have been edited",
    "manifest_contradiction": "the manifest contradicts it",
    "unknown_line": "lines of it were not understood: a new version of the tool, or foreign text",
    "below_resolution": "some values are only known to lie below the tool's resolution",
    "duration_overrun": "it ran longer than asked for: its rate is an average over a stall or a drain",
}


@dataclass(frozen=True)
class Check:
    """One source: whether it can be used, for what, and what to keep in mind (with line numbers)."""

    path: str
    grade: Grade
    uses: tuple[str, ...]
    remarks: tuple[str, ...]

    def __str__(self) -> str:
        head = {"good": "can be used for", "limited": "can be used, with care, for", "useless": "cannot be used"}[
            self.grade
        ]
        lines = [f"{self.path}: {head}{' ' + ', '.join(self.uses) if self.uses else ''}"]
        return "\n".join([*lines, *(f"  {remark}" for remark in self.remarks)])


def check(tables: Logs) -> list[Check]:
    """A `Check` for each source of the tables, in their order."""
    return [_check_source(tables, source) for source in tables.rows["sources"]]


def _check_source(tables: Logs, source: Row) -> Check:
    own = source["source_id"]
    runs = [row for row in tables.rows["runs"] if row["source_id"] == own]
    events = [row for row in tables.rows["events"] if row["source_id"] == own]
    uses = tuple(dict.fromkeys(use for run in runs for use in _uses(tables, run)))
    remarks = tuple(_remarks(events))
    if not uses:
        return Check(source["path"], "useless", (), remarks)
    loud = any(event["severity"] != "info" or event["code"] in _LIMITS for event in events)
    return Check(source["path"], "limited" if loud else "good", uses, remarks)


def _uses(tables: Logs, run: Row) -> list[str]:
    """What a run gives: its mean, percentiles up to the last that its n supports, samples, throughput, disk figures."""
    names = {row["metric"] for row in tables.rows["metrics"] if row["run_id"] == run["run_id"]}
    uses = []
    if "rtt_mean" in names:
        uses.append("the mean round trip")
    elif "rtt_from_rate" in names:
        uses.append("the mean round trip by its rate")
    supported = [
        row["q"] for row in tables.rows["quantiles"] if row["run_id"] == run["run_id"] and (row["beyond"] or 0) >= 1
    ]
    if supported:
        uses.append(f"percentiles up to p{100 * max(supported):g}")
    if any(block.run_id == run["run_id"] for block in tables.sample_blocks):
        uses.append("single round trips")
    if "connect_mean" in names:
        uses.append("connect times (no round trips)")
    if "throughput" in names:
        uses.append("throughput")
    if names & {"bandwidth", "iops"}:
        uses.append("disk throughput and latency")
    return uses


def _remarks(events: list[Row]) -> list[str]:
    """One line for each code: what it means for the use, how often, and the first line."""
    found = []
    for code in dict.fromkeys(event["code"] for event in events):
        same = [event for event in events if event["code"] == code]
        if same[0]["severity"] == "info" and code not in _LIMITS:
            continue
        first, often = same[0], f" ({len(same)} times)" if len(same) > 1 else ""
        meaning = f"{_LIMITS[code]}: " if code in _LIMITS else ""
        found.append(f"line {first['line']}{often}: {meaning}{first['text']}")
    return found
