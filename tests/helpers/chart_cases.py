"""Every chart of the collection, drawn from a study as the notebooks draw it, and samples that are hard to draw."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

import azlatency as az
from azlatency.report import charts
from azlatency.report.objects import Chart, Note
from azlatency.stats.across_runs.placement import FACTORS


def every_chart(study: Any) -> dict[str, Callable[[], Chart | Note]]:
    """A function for each chart that a page may show of the study; the statistics are computed once."""
    runs, streams = az.latency_runs(study), az.throughput_runs(study)
    labels = runs[["path", "method"]]
    printed = az.printed_quantiles(study.quantiles, study.metrics, labels=labels)
    sampled = az.quantiles(study.samples, az.shapes.CURVE, labels=labels)
    conditions = az.placement.conditions(study, runs)
    widest = az.placement.of_widest_methods(conditions)
    changes = [each for factor in FACTORS for each in az.placement.changes(conditions, factor)]
    both_ways, plans = az.asymmetry(study), az.plans_by_path(runs)
    expected = az.evidence.expected_bandwidth(study)
    goodput = az.by_path(streams, "throughput", unit="bit/s")
    rounds = [*az.compare_rounds_of(runs), *az.compare_rounds_of(streams)]
    return {
        "printed curves": lambda: charts.percentile_curves(printed),
        "sampled curves": lambda: charts.percentile_curves(sampled, "samples"),
        "shapes": lambda: charts.run_shapes(az.shapes.shapes_of_runs(study, runs)),
        "medians": lambda: charts.latency_forest(
            runs, az.by_path(runs, "median_ns"), az.shapes.medians(printed + sampled)
        ),
        "means": lambda: charts.latency_forest(runs, az.by_path(runs, "mean_ns"), value="mean_ns"),
        "goodput": lambda: charts.throughput_forest(streams, goodput, expected=expected),
        "intervals": lambda: charts.throughput_series(study.intervals, streams),
        "tails": lambda: charts.tail_curves(az.runtails.tails_of_runs(study, runs, limit=1e6), limit=1e6),
        "placement": lambda: charts.placement_values(widest),
        "estimation": lambda: charts.estimation_plot(az.placement.changes(widest, "placement")),
        "changes": lambda: charts.single_changes(changes[:30]),
        "series": lambda: charts.run_series(az.intime.runs_in_time(study, runs)),
        "segments": lambda: charts.last_segments(az.intime.reported_segments(study.reported)),
        "matrices": lambda: charts.zone_matrices(both_ways),
        "latency both ways": lambda: charts.asymmetry_forest(both_ways),
        "goodput both ways": lambda: charts.asymmetry_forest(both_ways, "throughput"),
        "baseline": lambda: charts.baseline_bullets(az.check_baseline(study)),
        "runs needed": lambda: charts.runs_needed_forest(plans),
        "precision": lambda: charts.precision_chart(az.precision_curves(runs, plans)),
        "agreement": lambda: charts.agreement_plot(az.against(az.agreement(runs), "sockperf TCP 14 B")),
        "rounds": lambda: charts.changes_forest(rounds),
        "shift functions": lambda: charts.shift_functions(az.shapes.shift_functions(study, runs)),
    }


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
    ).set_index("run_id", drop=False)
    return SimpleNamespace(samples=pd.concat(frames, ignore_index=True)), runs
