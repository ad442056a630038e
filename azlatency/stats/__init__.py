"""Statistics: run frames or plain numbers in, results with their scope, method and flags out. They draw nothing.

``across_runs`` is about paths: runs are the replicates. ``within_run`` is about one connection: packets are the data.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from azlatency.stats import unit_checks as unit_checks
    from azlatency.stats.across_runs import placement as placement
    from azlatency.stats.across_runs.agreement import agreement as agreement
    from azlatency.stats.across_runs.attainable import percentile_sizes as percentile_sizes
    from azlatency.stats.across_runs.attainable import rounds_needed as rounds_needed
    from azlatency.stats.across_runs.attainable import smallest_n as smallest_n
    from azlatency.stats.across_runs.baseline import check_expectation as check_expectation
    from azlatency.stats.across_runs.before_after import compare_imports as compare_imports
    from azlatency.stats.across_runs.emulation_check import emulated_differences as emulated_differences
    from azlatency.stats.across_runs.planning import precision_curves as precision_curves
    from azlatency.stats.across_runs.planning import runs_needed as runs_needed
    from azlatency.stats.across_runs.sightings import sightings as sightings
    from azlatency.stats.across_runs.zone_pairs import zone_pairs as zone_pairs
    from azlatency.stats.within_run import distribution_shape as distribution_shape
    from azlatency.stats.within_run import tail_by_run as tail_by_run
    from azlatency.stats.within_run import time_series as time_series
    from azlatency.stats.within_run.exceedance import exceedance as exceedance
    from azlatency.stats.within_run.fan_out import fan_out as fan_out
    from azlatency.stats.within_run.histograms import histogram_quantiles as histogram_quantiles
    from azlatency.stats.within_run.lifetimes import lifetimes as lifetimes
    from azlatency.stats.within_run.printed_quantiles import printed_quantiles as printed_quantiles
    from azlatency.stats.within_run.remaining_wait import remaining_wait as remaining_wait
    from azlatency.stats.within_run.stability import stability as stability
    from azlatency.stats.within_run.throttling import throttling as throttling
    from azlatency.stats.within_run.throughput_intervals import interval_mean as interval_mean
    from azlatency.stats.within_run.trend import trend as trend

# Imported on first use: SciPy alone takes longer to load than most commands to run. Five names are modules, which are
# public as a whole.
_HOMES = {
    "agreement": "across_runs.agreement",
    "check_expectation": "across_runs.baseline",
    "compare_imports": "across_runs.before_after",
    "distribution_shape": "within_run.distribution_shape",
    "emulated_differences": "across_runs.emulation_check",
    "exceedance": "within_run.exceedance",
    "fan_out": "within_run.fan_out",
    "histogram_quantiles": "within_run.histograms",
    "interval_mean": "within_run.throughput_intervals",
    "lifetimes": "within_run.lifetimes",
    "percentile_sizes": "across_runs.attainable",
    "placement": "across_runs.placement",
    "precision_curves": "across_runs.planning",
    "printed_quantiles": "within_run.printed_quantiles",
    "remaining_wait": "within_run.remaining_wait",
    "rounds_needed": "across_runs.attainable",
    "runs_needed": "across_runs.planning",
    "sightings": "across_runs.sightings",
    "smallest_n": "across_runs.attainable",
    "stability": "within_run.stability",
    "tail_by_run": "within_run.tail_by_run",
    "throttling": "within_run.throttling",
    "time_series": "within_run.time_series",
    "trend": "within_run.trend",
    "unit_checks": "unit_checks",
    "zone_pairs": "across_runs.zone_pairs",
}
__all__ = [*_HOMES]  # noqa: PLE0604


if not TYPE_CHECKING:  # the type checker would take this function for any attribute

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'azlatency.stats' has no attribute {name!r}; names: {', '.join(_HOMES)}")
        module = importlib.import_module(f"azlatency.stats.{_HOMES[name]}")
        return getattr(module, name, module)


def __dir__() -> list[str]:
    return __all__
