"""Report what each log can be used for, in plain words; see ``azlatency check``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from azlatency.logs.record import Row
from azlatency.logs.schema import ROUND_TRIP
from azlatency.logs.tables import Logs
from azlatency.studies.format import percentile
from azlatency.studies.runs.round_trips import one_outstanding
from azlatency.studies.runs.run_table import ROLES_OF_TEST, SIDES

Grade = Literal["good", "limited", "useless", "server"]

#: How the uses begin that promise a row of `azlatency.latency`.
LATENCY_USES = (
    "the mean RTT",
    "the median RTT",
    "percentiles ",
    "RTTs of single probes",
    "the frequency table of RTTs",
)
#: Streams that stand for a run: none, or a direction of a bidirectional test.
_WHOLE_RUN = {None, *(role for roles in ROLES_OF_TEST.values() for role in roles)}
#: What an event means for the use of its log, by code. Info events with other codes do not limit the use.
_LIMITS = {
    "unit_conflict": "do not use its latencies: the label contradicts the arithmetic of the log",
    "percentile_is_max": "do not use the percentiles that are the sample maximum",
    "out_of_order_discarded": "its mean is biased towards delayed replies",
    "truncated": "the log is truncated: do not treat it as a complete run",
    "interrupted": "it was interrupted: the run is shorter than requested",
    "rate_mismatch": "do not use the rates that contradict bytes and time",
    "tail_loss": "its loss is a lower bound",
    "udp_loss_possible": "a lost datagram may have stalled the test: its mean can be far too high",
    "receiver_side": "it repeats the run of the sender's log: do not count it twice",
    "same_run_as_log": "it repeats the run of another log in its folder: do not count it twice",
    "same_run_as_csv": "it repeats the run of the CSV file in its folder: do not count it twice",
    "not_monotone": "its percentiles contradict each other and are left out",
    "no_percentile": "a value that it labels as a percentile is not one and is left out",
    "impossible_spread": "its mean, range and standard deviation contradict each other: it may have been edited",
    "impossible_duration": "its probes do not fit into its duration: it may have been edited",
    "unit_assumed": "a unit is not printed and was assumed",
    "clock_step": "the clock was set during the run: the marked samples are not used",
    "value_conflict": "it contains two different values of the same quantity",
    "identity_failed": "its numbers contradict each other: it may have been edited",
    "manifest_contradiction": "the manifest contradicts it",
    "unknown_line": "some lines were not recognised: a new version of the tool, or text of another program",
    "below_resolution": "some values are below the resolution of the tool (interval-censored)",
    "duration_overrun": "it ran longer than requested: its rate includes a stall or the draining of buffers",
}


@dataclass(frozen=True)
class Check:
    """What one source can be used for, with caveats and their line numbers.

    The grades are: usable, usable with caveats, unusable, and the log of a server, which prints no result.
    """

    path: str
    grade: Grade
    uses: tuple[str, ...]
    remarks: tuple[str, ...]

    def __str__(self) -> str:
        verdicts = {
            "good": "usable for ",
            "limited": "usable with caveats for ",
            "useless": "unusable",
            "server": "the log of a server, without a result of its own",
        }
        lines = [f"{self.path}: {verdicts[self.grade]}{', '.join(self.uses)}"]
        return "\n".join([*lines, *(f"  {remark}" for remark in self.remarks)])


def check(tables: Logs) -> list[Check]:
    """Check each source of parsed logs; return one result per source, in their order."""
    runs_of, events_of = (_grouped(tables.rows[name], "source_id") for name in ("runs", "events"))
    metrics = _grouped((row for row in tables.rows["metrics"] if row["stream"] in _WHOLE_RUN), "run_id")
    quantiles = _grouped(tables.rows["quantiles"], "run_id")
    # Looked at lazily: a block may be in a file, and most begin with a reply.
    round_trips = (block for block in tables.sample_blocks if block.quantity == ROUND_TRIP)
    answered = {block.run_id for block in round_trips if any(status == "ok" for status in block.status)}
    counted = {
        row["run_id"] for row in tables.rows["histograms"] if row["metric"] == "rtt" and row.get("stream") is None
    }
    checks = []
    for source in tables.rows["sources"]:
        runs, events = (rows.get(source["source_id"], []) for rows in (runs_of, events_of))
        measured = [
            _uses(
                metrics.get(run["run_id"], []),
                quantiles.get(run["run_id"], []),
                has_samples=run["run_id"] in answered,
                has_classes=run["run_id"] in counted,
            )
            for run in runs
        ]
        of_source = tuple(dict.fromkeys(use for uses in measured for use in uses))
        tools = ", ".join(dict.fromkeys(run["tool"] for run in runs))
        of_servers = bool(runs) and all(run.get("test") == "server" for run in runs)
        checks.append(_check_source(source, of_source, events, tools, of_servers=of_servers))
    return checks


def _grouped(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return groups


def _check_source(source: Row, uses: tuple[str, ...], events: Sequence[Row], tools: str, *, of_servers: bool) -> Check:
    by_code = _grouped(events, "code")
    remarks = tuple(_remarks(by_code))
    if not uses and of_servers and not any(event["severity"] == "error" for event in events):
        return Check(source["path"], "server", (), remarks)
    if tools and not uses and not remarks:
        remarks = (f"a log of {tools} without a round-trip time or a rate of a network",)
    if not uses:
        return Check(source["path"], "useless", (), remarks)
    has_caveats = any(
        code in _LIMITS or any(event["severity"] != "info" for event in those) for code, those in by_code.items()
    )
    return Check(source["path"], "limited" if has_caveats else "good", uses, remarks)


def _uses(metrics: list[Row], quantiles: list[Row], *, has_samples: bool, has_classes: bool) -> list[str]:
    """List what a run measured: mean, percentiles with an observation beyond them, samples and rates.

    A use that begins like one of `LATENCY_USES` promises a row of `latency`, ``"throughput"`` one of `throughput`.
    """
    values = {row["metric"]: row["value"] for row in metrics}
    uses = []
    if "rtt_mean" in values:
        uses.append("the mean RTT")
    elif one_outstanding(values.get("rtt_from_rate"), values.get("transaction_rate")):
        uses.append("the mean RTT, computed from the rate")
    elif any((row["metric"], row["q"]) == ("rtt", 0.5) and row["beyond"] is None for row in quantiles):
        uses.append("the median RTT")
    for metric in dict.fromkeys(row["metric"] for row in quantiles):
        supported = [row["q"] for row in quantiles if row["metric"] == metric and (row["beyond"] or 0) >= 1]
        if supported:
            of_other = "" if metric == "rtt" else f"{metric.replace('_', ' ')} "
            uses.append(f"{of_other}percentiles up to {percentile(max(supported))}")
    if has_samples:
        uses.append("RTTs of single probes")
    if has_classes:
        uses.append("the frequency table of RTTs")
    if "connect_mean" in values:
        uses.append("connection times (not RTTs)")
    sides = {row["side"] for row in metrics if row["metric"] == "throughput"}
    if SIDES[0] in sides:
        uses.append("throughput")
    elif SIDES[1] in sides:
        uses.append("the rate of the sender (not throughput)")
    elif sides:
        uses.append("a rate of unknown direction (not compared)")
    if values.keys() & {"bandwidth", "iops"}:
        uses.append("disk throughput and latency")
    if not uses and "loss" in values:
        uses.append("packet loss")
    return uses


def _remarks(by_code: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """Yield a line per event code: its first line number, how often it occurs, and what it means."""
    for code, (first, *others) in by_code.items():
        if first["severity"] != "info" or code in _LIMITS:
            count = f" ({len(others) + 1} times)" if others else ""
            meaning = f"{_LIMITS[code]}: " if code in _LIMITS else ""
            yield f"line {first['line']}{count}: {meaning}{first['text']}"
