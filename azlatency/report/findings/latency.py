"""Findings of the page on latency."""

from __future__ import annotations

import pandas as pd

from azlatency.kit.findings import act, answer, info, join_by_method, measured_once
from azlatency.kit.objects import Findings
from azlatency.report.groups import answer_of, main_method
from azlatency.stats import rows
from azlatency.stats.across_runs.main_method import measured_runs, rank_methods
from azlatency.stats.across_runs.run_order import FEWEST
from azlatency.stats.across_runs.typical_run import DIAGNOSTICS
from azlatency.studies.format import count_of, format_value


def find(
    runs: pd.DataFrame,
    medians: pd.DataFrame,
    means: pd.DataFrame,
    within: pd.DataFrame,
) -> Findings:
    """Answer how long a round trip takes; name dependent and single runs, and percentiles that are maxima.

    Parameters
    ----------
    runs : DataFrame
        One row per run with a latency.
    medians, means : DataFrame
        Estimates across runs (ns), one row per path and method. A mean is used only where no median exists.
    within : DataFrame
        Printed percentiles of single runs (ns).

    Returns
    -------
    Findings
        At least one finding.
    """
    if not len(runs):
        return Findings.of([info("No log of this study contains a latency.")])
    both = [frame for frame in (medians, means) if len(frame)] or [medians]
    typical = pd.concat(both).drop_duplicates(["path", "method"])
    across = rows.estimates(typical, *DIAGNOSTICS)
    best = rank_methods(measured_runs(runs))[0]
    statistic = "median" if runs.loc[runs["method"] == best, "median_ns"].notna().all() else "mean"
    main = main_method(runs, f"{statistic}_ns", medians if statistic == "median" else means)
    findings = [answer(answer_of(main, runs, f"{statistic} round trip", "ns"), main)] if main.values else []
    findings += measured_once(typical)
    tested = [estimate for estimate in across if estimate.n >= FEWEST and not estimate.refused]
    dependent = [(one.labels["path"], one.labels["method"]) for one in tested if "dependent_runs" in one.codes]
    if dependent:
        text = (
            f"Neighbouring runs resemble each other on {len(dependent)} of {len(tested)} paths and methods: "
            f"{join_by_method(dependent)}. Spread the runs over more time; to compare, alternate both sides in rounds."
        )
        findings.append(act(text))
        warm_ups = [(one.what, int(one.diagnostics.get("warm_up_runs", 0))) for one in tested]
        apart = "in measuring order lie apart from all later runs; leave them out"
        findings += [act(f"{what}: the first {count_of(first, 'run')} {apart}.") for what, first in warm_ups if first]
    maxima = [percentile for percentile in rows.estimates(within) if "maximum_in_disguise" in percentile.codes]
    if maxima:
        shortest = min(maxima, key=lambda percentile: percentile.n)
        value = format_value(shortest.estimate, "ns")
        text = (
            f"The printed {shortest.what} of {shortest.labels['path']} ({value}) is the largest of {shortest.n:,} "
            "observations. Do not quote it as a percentile."
        )
        findings.append(act(text))
    return Findings.of(findings)
