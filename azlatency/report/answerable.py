"""Which pages a study has data for, and what to measure for the others.

A page that could only say that nothing can be said is not built. The summary of the study lists its question with the
measurement that would answer it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from azlatency.stats.across_runs.run_history import FEWEST
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.path import NetworkPath
from azlatency.studies.runs.round_trips import latency
from azlatency.studies.runs.run_table import client_runs
from azlatency.studies.runs.samples import select_quantity
from azlatency.studies.runs.selection import other_study
from azlatency.studies.runs.throughput import throughput

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study

#: A percentile from here on describes the tail.
_TAIL = 0.99


@dataclass(frozen=True, kw_only=True)
class Unanswered:
    """A question that a study cannot answer.

    Attributes
    ----------
    page : str
        Name of the notebook without its ending.
    question : str
        What a reader asks.
    measure : str
        What to measure to answer it.
    topic : str
        What the card says was not measured; empty if only the summary lists the question.
    """

    page: str
    question: str
    measure: str
    topic: str = ""
    elsewhere: bool = False
    """Whether another page answers it, with numbers of a text or with the rate of each interval."""


class _Facts:
    """What a study contains, as far as the pages need it, without any statistic."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.latency_runs = latency(study)
        self.throughput_runs = throughput(study, sender_only=True)
        self.reported = set(study.reported["metric"]) if len(study.reported) else set()

    @property
    def has_latency(self) -> bool:
        return bool(len(self.latency_runs))

    @property
    def has_throughput(self) -> bool:
        return bool(len(self.throughput_runs))

    @property
    def has_tail(self) -> bool:
        quantiles = self.study.quantiles
        printed = bool(((quantiles["metric"] == "rtt") & (quantiles["q"] >= _TAIL)).any())
        return printed or bool(len(select_quantity(self.study.samples)))

    @property
    def has_both_directions(self) -> bool:
        table = client_runs(self.study)
        names = zip(map(NetworkPath.parse, table["path"]), table["method"], strict=True)
        ends = {(path.ends, method) for path, method in names if path.ends}
        return any(((server, client), method) in ends for (client, server), method in ends if client != server)

    @property
    def has_placements(self) -> bool:
        reported = self.study.reported
        rows = reported[reported["metric"] == "rtt_mean"] if len(reported) else reported
        settings = rows["scenario"].nunique() if len(rows) else 0
        return settings > 1 or self.latency_runs["placement"].nunique() > 1

    @property
    def has_expectations(self) -> bool:
        return bool(self.study.expectations)

    @property
    def has_time_series(self) -> bool:
        busy = grouped(self.study.intervals, "run_id").size()
        return (
            bool(len(select_quantity(self.study.samples))) or bool((busy >= 60).any()) or "failed_at" in self.reported
        )

    @property
    def has_common_paths(self) -> bool:
        methods = grouped(self.latency_runs, "path")["method"].nunique()
        return bool((methods > 1).any())

    @property
    def has_repeats(self) -> bool:
        return any(
            bool((grouped(runs, ["path", "method"]).size() > 1).any())
            for runs in (self.latency_runs, self.throughput_runs)
        )

    @property
    def has_history(self) -> bool:
        return any(
            bool((grouped(runs, ["path", "method"]).size() >= FEWEST).any())
            for runs in (self.latency_runs, self.throughput_runs)
        )

    @property
    def elsewhere(self) -> set[str]:
        """The pages without data of their own whose question another page answers."""
        rates = self.has_time_series and bool(self.study.intervals["throughput_bit_s"].notna().any())
        answered = {"01_latency": "rtt_mean" in self.reported, "02_throughput": rates}
        return {page for page, is_answered in answered.items() if is_answered}

    @property
    def has_other_study(self) -> bool:
        before = other_study(self.study, "") if self.has_repeats else None
        return before is not None and bool(before.info) and _Facts(before).has_repeats


#: By notebook: what readers of a card look for.
_TOPICS = {
    "01_latency": "round trips", "02_throughput": "throughput", "03_tail": "the tail",
    "04_zone_pair_asymmetry": "both directions of a pair", "05_placement": "the cost of a placement",
    "07_stability": "stability over hours",
}  # fmt: skip
#: By notebook: what it needs of the facts, what a reader asks, and what to measure to answer it.
_PAGES = {
    "01_latency": (
        "has_latency", "How long does a round trip take on each path?",
        "Run sockperf, qperf or ping on each path and keep the whole output.",
    ),
    "02_throughput": (
        "has_throughput", "How much data does each path carry?",
        "Run iperf3 or ntttcp on each path for at least a minute and keep its summary.",
    ),
    "03_tail": (
        "has_tail", "How slow are the slowest packets?",
        "Use a tool that prints percentiles or every packet: sockperf with --full-log, lagscope, ping.",
    ),
    "04_zone_pair_asymmetry": (
        "has_both_directions", "Is a path slower from one zone than from the other?",
        "Run the same tool from both ends of each pair, in at least six rounds.",
    ),
    "05_placement": (
        "has_placements", "What does the placement of two machines cost?",
        "Measure two placements with one tool and one message size, alternating.",
    ),
    "06_vm_baseline": (
        "has_expectations", "Does the VM deliver what its specification promises?",
        "Write the expected values to baseline.toml and measure each with the command that the source gives.",
    ),
    "07_stability": (
        "has_time_series", "Is a path stable over hours?",
        "Record every packet (ping -D, the echo test) or interval (iperf3 -i 1) for hours.",
    ),
    "08_tool_agreement": (
        "has_common_paths", "Do two tools agree on one path?",
        "Run two tools that send the same packets on the same paths, in rounds.",
    ),
    "09_before_after": (
        "has_other_study", "Did something change between two measurements?",
        "Repeat the measurement, several runs each time, and name the earlier study with before in study.toml.",
    ),
    "10_plan_the_next_run": (
        "has_repeats", "How many runs does a given precision take?",
        "Measure at least one path three times with one tool: the spread of these runs is the pilot.",
    ),
    "11_history": (
        "has_history", "Did a level change, night after night?",
        "Measure the same paths at least 20 times, each time with its start; azlatency import --append adds a night.",
    ),
}  # fmt: skip


def unanswered(study: Study) -> list[Unanswered]:
    """Return the questions that a study cannot answer, one per page that is not built for it, in their order."""
    facts = _Facts(study)
    elsewhere = facts.elsewhere
    return [
        Unanswered(
            page=page,
            question=question,
            measure=measure,
            topic=_TOPICS.get(page, ""),
            elsewhere=page in elsewhere,
        )
        for page, (needs, question, measure) in _PAGES.items()
        if not getattr(facts, needs)
    ]
