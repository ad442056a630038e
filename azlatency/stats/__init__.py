"""Statistics: run frames or plain numbers in, results with their scope, method and flags out. They draw nothing.

``across_runs`` is about paths: runs are the replicates. ``within_run`` is about one connection: packets are the data.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from azlatency.stats import unit_checks
    from azlatency.stats.across_runs import placement
    from azlatency.stats.across_runs.agreement import agreement
    from azlatency.stats.across_runs.attainable import percentile_sizes, rounds_needed, smallest_n
    from azlatency.stats.across_runs.baseline import check_expectation
    from azlatency.stats.across_runs.before_after import compare_imports
    from azlatency.stats.across_runs.emulation_check import emulated_differences
    from azlatency.stats.across_runs.planning import precision_curves, runs_needed
    from azlatency.stats.across_runs.sightings import sightings
    from azlatency.stats.across_runs.zone_pairs import zone_pairs
    from azlatency.stats.within_run import distribution_shape, tail_by_run, time_series
    from azlatency.stats.within_run.exceedance import exceedance
    from azlatency.stats.within_run.fan_out import fan_out
    from azlatency.stats.within_run.histograms import histogram_quantiles
    from azlatency.stats.within_run.lifetimes import lifetimes
    from azlatency.stats.within_run.printed_quantiles import printed_quantiles
    from azlatency.stats.within_run.remaining_wait import remaining_wait
    from azlatency.stats.within_run.stability import stability
    from azlatency.stats.within_run.throttling import throttling
    from azlatency.stats.within_run.throughput_intervals import interval_mean
    from azlatency.stats.within_run.trend import trend

# Functions are imported on first use: SciPy alone takes longer to load than most commands to run.
_HOMES = {
    "across_runs.agreement": "agreement",
    "across_runs.attainable": "percentile_sizes rounds_needed smallest_n",
    "across_runs.baseline": "check_expectation",
    "across_runs.before_after": "compare_imports",
    "across_runs.emulation_check": "emulated_differences",
    "across_runs.planning": "precision_curves runs_needed",
    "across_runs.sightings": "sightings",
    "across_runs.zone_pairs": "zone_pairs",
    "within_run.exceedance": "exceedance",
    "within_run.fan_out": "fan_out",
    "within_run.histograms": "histogram_quantiles",
    "within_run.lifetimes": "lifetimes",
    "within_run.printed_quantiles": "printed_quantiles",
    "within_run.remaining_wait": "remaining_wait",
    "within_run.stability": "stability",
    "within_run.throttling": "throttling",
    "within_run.throughput_intervals": "interval_mean",
    "within_run.trend": "trend",
}
# Modules that are public as a whole.
_MODULES = {
    "distribution_shape": "within_run.distribution_shape",
    "placement": "across_runs.placement",
    "tail_by_run": "within_run.tail_by_run",
    "time_series": "within_run.time_series",
    "unit_checks": "unit_checks",
}
__all__ = [
    "agreement", "check_expectation", "compare_imports", "distribution_shape", "emulated_differences",
    "exceedance", "fan_out", "histogram_quantiles", "interval_mean", "lifetimes", "percentile_sizes", "placement",
    "precision_curves", "printed_quantiles", "remaining_wait", "rounds_needed", "runs_needed", "sightings",
    "smallest_n", "stability", "tail_by_run", "throttling", "time_series", "trend", "unit_checks", "zone_pairs",
]  # fmt: skip


if not TYPE_CHECKING:  # the type checker would take this function for any attribute

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            return importlib.import_module(f"azlatency.stats.{_MODULES[name]}")
        home = next((module for module, names in _HOMES.items() if name in names.split()), None)
        if home is None:
            raise AttributeError(f"module 'azlatency.stats' has no attribute {name!r}; names: {', '.join(__all__)}")
        return getattr(importlib.import_module(f"azlatency.stats.{home}"), name)


def __dir__() -> list[str]:
    return __all__
