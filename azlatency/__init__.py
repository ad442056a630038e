"""azlatency: raw logs of sockperf, qperf, iperf3, ntttcp, latte, ping and an echo test as tidy tables.

>>> import azlatency as az
>>> az.parse("sockperf.log").quantiles     # doctest: +SKIP
>>> az.load("westeurope-azure-cni").runs            # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

# Names are imported on first use: `import azlatency` stays cheap, and so does `azlatency --help`.
_HOMES = {
    "parse": "azlatency.logs.parse",
    "Logs": "azlatency.logs.tables",
    "LogError": "azlatency.logs.parse",
    "load": "azlatency.studies.store",
    "list_studies": "azlatency.studies.store",
    "import_study": "azlatency.studies.store",
    "Study": "azlatency.studies.store",
    "Path": "azlatency.studies.path",
    "Endpoint": "azlatency.studies.path",
    "run_table": "azlatency.studies.runs",
    "latency": "azlatency.studies.runs",
    "throughput": "azlatency.studies.runs",
    "client_side_runs": "azlatency.studies.runs",
    "select": "azlatency.studies.runs",
    "other_study": "azlatency.studies.runs",
    "configured_links": "azlatency.studies.emulation",
    "configured_differences": "azlatency.stats.across_runs.emulation_check",
    "charts": "azlatency.report.charts",
    "tables": "azlatency.report.tables",
    "runtails": "azlatency.stats.within_run.tail_by_run",
    "shapes": "azlatency.stats.within_run.distribution_shape",
    "intime": "azlatency.stats.within_run.time_series",
    "placement": "azlatency.stats.across_runs.placement",
    "findings": "azlatency.report.findings",
    "schema": "azlatency.logs.schema",
    "evidence": "azlatency.stats.unit_checks",
    "printed_quantiles": "azlatency.stats.within_run.printed_quantiles",
    "summarize": "azlatency.stats.across_runs.means",
    "typical_run": "azlatency.stats.across_runs.means",
    "quantiles": "azlatency.stats.within_run.quantiles",
    "histogram_quantiles": "azlatency.stats.within_run.histograms",
    "history": "azlatency.stats.across_runs.history",
    "median_of_runs": "azlatency.stats.across_runs.quantiles_of_runs",
    "mean": "azlatency.stats.within_run.means",
    "mean_from_summary": "azlatency.stats.within_run.means",
    "exceedance": "azlatency.stats.within_run.exceedance",
    "table_exceedance": "azlatency.stats.within_run.exceedance",
    "stability": "azlatency.stats.within_run.stability",
    "event_test": "azlatency.stats.within_run.events",
    "trend": "azlatency.stats.within_run.trend",
    "warm_up": "azlatency.stats.within_run.warm_up",
    "lifetimes": "azlatency.stats.within_run.lifetimes",
    "interval_mean": "azlatency.stats.within_run.throughput_intervals",
    "throttling": "azlatency.stats.within_run.throttling",
    "clock_steps": "azlatency.stats.within_run.clock_steps",
    "fit_tail": "azlatency.stats.within_run.tail",
    "shape_by_threshold": "azlatency.stats.within_run.tail",
    "return_level": "azlatency.stats.within_run.return_levels",
    "fan_out": "azlatency.stats.within_run.fan_out",
    "coordinated_omission": "azlatency.stats.within_run.coordinated_omission",
    "time_weighted_quantiles": "azlatency.stats.within_run.coordinated_omission",
    "dependence": "azlatency.stats.within_run.dependence",
    "compare": "azlatency.stats.across_runs.comparison",
    "compare_quantiles": "azlatency.stats.across_runs.comparison",
    "shift_function": "azlatency.stats.across_runs.comparison",
    "adjust": "azlatency.stats.multiplicity",
    "agreement": "azlatency.stats.across_runs.agreement",
    "Agreement": "azlatency.stats.across_runs.agreement",
    "against": "azlatency.stats.across_runs.agreement",
    "compare_imports": "azlatency.stats.across_runs.before_after",
    "compare_rounds_of": "azlatency.stats.across_runs.before_after",
    "check_expectation": "azlatency.stats.across_runs.baseline",
    "check_baseline": "azlatency.stats.across_runs.baseline",
    "check_percentile": "azlatency.stats.across_runs.baseline",
    "vms_by_share": "azlatency.stats.across_runs.baseline",
    "runs_needed": "azlatency.stats.across_runs.planning",
    "runs_to_decide": "azlatency.stats.across_runs.planning",
    "runs_for_spread": "azlatency.stats.across_runs.planning",
    "plans_by_path": "azlatency.stats.across_runs.planning",
    "precision_curves": "azlatency.stats.across_runs.planning",
    "confirm_by_path": "azlatency.stats.across_runs.planning",
    "percentile_sizes": "azlatency.stats.across_runs.planning",
    "rounds_by_zones": "azlatency.stats.across_runs.planning",
    "confirm": "azlatency.stats.across_runs.planning",
    "smallest_n": "azlatency.stats.across_runs.planning",
    "rounds_needed": "azlatency.stats.across_runs.planning",
    "may_stop": "azlatency.stats.across_runs.planning",
    "repeats": "azlatency.stats.across_runs.repeats",
    "repeats_by_path": "azlatency.stats.across_runs.repeats",
    "samples_per_run": "azlatency.stats.across_runs.repeats",
    "asymmetry": "azlatency.stats.across_runs.asymmetry",
    "Asymmetry": "azlatency.stats.across_runs.asymmetry",
    "one_way_difference": "azlatency.stats.across_runs.asymmetry",
    "rank_sets": "azlatency.stats.across_runs.ranking",
}
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    import importlib

    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'azlatency' has no attribute {name!r}")
    module = importlib.import_module(home)
    # A function named like its module wins over the module.
    return getattr(module, name, module)


def __dir__() -> list[str]:
    return sorted(__all__)
