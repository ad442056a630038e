"""Every chart of the collection, drawn from a study as the notebooks draw it, and samples that are hard to draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

import azlatency as az
from azlatency import shapes as charts
from azlatency.kit.objects import Chart, Note
from azlatency.pages import (
    before_after,
    common,
    history,
    latency,
    placement,
    plan_the_next_run,
    stability,
    tail,
    tool_agreement,
    transfers,
    vm_baseline,
    zone_pair_asymmetry,
)
from azlatency.stats.across_runs.placement import FACTORS


class StudyResults:
    """What the notebooks compute of a study for their charts; each result is computed once, when it is first used."""

    def __init__(self, study: Any) -> None:
        self.study = study

    @cached_property
    def runs(self) -> pd.DataFrame:
        return az.latency(self.study)

    @cached_property
    def streams(self) -> pd.DataFrame:
        return az.throughput(self.study)

    @cached_property
    def printed(self) -> Any:
        labels = self.runs[["path", "method"]]
        return az.stats.printed_quantiles(self.study.quantiles, self.study.metrics, labels=labels)

    @cached_property
    def sampled(self) -> Any:
        return az.quantiles(self.study.samples, az.stats.distribution_shape.CURVE, labels=self.runs[["path", "method"]])

    @cached_property
    def medians(self) -> Any:
        return az.summarize(self.runs, "median_ns")

    @cached_property
    def conditions(self) -> Any:
        return az.stats.placement.conditions(self.study, self.runs)

    @cached_property
    def links(self) -> Any:
        return az.studies.configured_links(self.study)

    @cached_property
    def asymmetries(self) -> Any:
        return az.asymmetry(self.study)

    @cached_property
    def conformances(self) -> Any:
        return az.baseline(self.study)

    @cached_property
    def plans(self) -> Any:
        return az.plan(self.runs)

    @cached_property
    def agreements(self) -> Any:
        return az.stats.agreement(self.study)

    @cached_property
    def halves(self) -> Any:
        late = self.runs["round"] > self.runs["round"].median()
        return az.stats.compare_imports(self.runs[late], self.runs[~late])

    @cached_property
    def steps(self) -> Any:
        return az.stats.placement.changes(az.stats.placement.widest_methods(self.conditions), self.runs, "placement")

    @cached_property
    def changes(self) -> Any:
        return pd.concat(az.stats.placement.changes(self.conditions, self.runs, factor) for factor in FACTORS)

    @cached_property
    def tails(self) -> Any:
        return az.stats.tail_by_run.run_tails(self.study, self.runs, limit=1e6)

    @cached_property
    def in_time(self) -> Any:
        return az.stats.time_series.run_time_series(self.study, self.runs)

    @cached_property
    def run_shapes(self) -> Any:
        return az.stats.distribution_shape.run_histograms(self.study, self.runs)

    @cached_property
    def zone_pairs(self) -> Any:
        levels = az.stats.placement.widest(self.conditions)
        return az.stats.zone_pairs(self.study, self.runs, levels)

    @cached_property
    def emulated_differences(self) -> Any:
        links, records = az.studies.configured_links(self.study), az.studies.recorded_round_trips(self.study)
        return az.stats.emulated_differences(links, records, self.runs)

    @cached_property
    def long_transfers(self) -> pd.DataFrame:
        table = az.studies.client_side_runs(az.studies.run_table(self.study))
        return table[table["duration_ns"] > 60e9]

    @cached_property
    def precision(self) -> Any:
        return az.stats.precision_curves(self.runs, self.plans)


def every_chart(study: Any, results: StudyResults | None = None) -> dict[str, Callable[[], Chart | Note]]:
    """A function for each chart that a page may show of the study; the statistics are computed once, on demand."""
    of = results or StudyResults(study)
    return {
        "printed curves": lambda: latency.percentile_curves(of.printed, of.links),
        "sampled curves": lambda: latency.percentile_curves(of.sampled, of.links, samples=True),
        "shapes": lambda: latency.run_shapes(of.run_shapes, of.links),
        "runs in order": lambda: latency.order_of_runs(of.runs, az.summarize(of.runs), of.links),
        "history": lambda: history.history(az.history(study)),
        "medians": lambda: common.typical_forest(of.runs, of.medians, links=of.links),
        "means": lambda: common.typical_forest(of.runs, az.summarize(of.runs, "mean_ns"), "mean_ns"),
        "goodput": lambda: common.typical_forest(
            of.streams,
            az.summarize(of.streams, "throughput_bit_s"),
            "throughput_bit_s",
            expected=az.stats.unit_checks.expected_bandwidth(study),
        ),
        "intervals": lambda: transfers.throughput_series(study.intervals, of.streams, links=of.links),
        "tails": lambda: tail.tail_curves(of.tails, of.links, limit=1e6),
        "placement": lambda: placement.placement_values(
            az.stats.placement.widest_methods(of.conditions), of.runs, of.links
        ),
        "steps": lambda: placement.single_changes(of.steps, of.links, of.runs),
        "changes": lambda: placement.single_changes(of.changes[:30], of.links, of.runs),
        "series": lambda: stability.run_series(of.in_time, study, of.links),
        "latency both ways": lambda: zone_pair_asymmetry.asymmetry_forest(of.asymmetries, of.links),
        "goodput both ways": lambda: zone_pair_asymmetry.asymmetry_forest(of.asymmetries, of.links, "throughput"),
        "baseline": lambda: vm_baseline.baseline_bullets(of.conformances),
        "runs needed": lambda: plan_the_next_run.runs_needed(of.plans),
        "precision": lambda: plan_the_next_run.precision(of.precision),
        "agreement": lambda: tool_agreement.agreement_plot(of.agreements, "sockperf TCP 14 B"),
        "halves": lambda: before_after.changes_forest(of.halves),
        "zone map": lambda: charts.zone_map(of.zone_pairs, of.links),
        "emulated errors": lambda: zone_pair_asymmetry.emulated_errors(of.emulated_differences),
        "long intervals": lambda: transfers.throughput_series(
            study.intervals,
            of.long_transfers,
            az.stats.time_series.throughput_series(study.intervals, of.long_transfers),
        ),
    }


class DrawnCharts(Mapping[str, Chart | Note]):
    """Every chart of a study by its name; each is drawn once, when it is first used."""

    def __init__(self, results: StudyResults) -> None:
        self._draw = every_chart(results.study, results)
        self._drawn: dict[str, Chart | Note] = {}

    def __getitem__(self, name: str) -> Chart | Note:
        if name not in self._drawn:
            self._drawn[name] = self._draw[name]()
        return self._drawn[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._draw)

    def __len__(self) -> int:
        return len(self._draw)


def hard_samples() -> dict[str, np.ndarray]:
    """Round trips in ns, ``inf`` where there was no answer: what a chart meets once in a while."""
    generator = np.random.default_rng(7)
    usual = 1e5 * np.exp(0.1 * generator.standard_normal(5_000))
    return {
        "one": usual[:1],
        "two": usual[:2],
        "constant": np.full(2_000, 1e5),
        "two values": np.where(generator.random(2_000) < 0.3, 1e5, 1.01e5),
        "two modes": np.concatenate([usual[:1_000], 8 * usual[:1_000]]),
        "heavy": 1e5 * generator.pareto(0.8, 5_000) + 1e5,
        "lost": np.where(generator.random(2_000) < 0.4, np.inf, usual[:2_000]),
        "nearly all lost": np.where(np.arange(2_000) < 1_990, np.inf, usual[:2_000]),
        "all lost": np.full(500, np.inf),
    }


def study_of(samples: dict[str, np.ndarray]) -> tuple[Any, pd.DataFrame]:
    """A study that has samples only, each run in the second of two rounds, and its runs."""
    frames = []
    for name, values in samples.items():
        for number in (1, 2):
            sent = 1e8 * np.arange(len(values))
            rtt = pd.Series(values).replace(np.inf, np.nan).astype("Float64")
            frames.append(pd.DataFrame({"run_id": f"{name} {number}", "sent_ns": sent, "rtt_ns": rtt, "status": "ok"}))
    runs = pd.DataFrame(
        [
            {"run_id": f"{name} {number}", "path": f"{name} → host", "method": "ping 56 B", "round": number}
            | {"closed_loop": True, "status": "complete", "duration_ns": 2e11}
            for name in samples
            for number in (1, 2)
        ]
    ).set_index("run_id")
    no_classes = pd.DataFrame(columns=["run_id", "metric", "stream"])
    return SimpleNamespace(samples=pd.concat(frames, ignore_index=True), histograms=no_classes), runs
