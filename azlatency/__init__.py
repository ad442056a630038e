"""azlatency: raw logs of sockperf, qperf, iperf3, ntttcp, latte, ping and an echo test as tidy tables.

>>> import azlatency as az
>>> az.parse("sockperf.log").frame("quantiles")     # doctest: +SKIP
>>> az.load("westeurope-azure-cni").runs            # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

# Names are imported on first use: `import azlatency` stays cheap, and so does `azlatency --help`.
_HOMES = {
    "parse": "azlatency.reader",
    "Tables": "azlatency.reader",
    "LogError": "azlatency.reader",
    "load": "azlatency.dataset",
    "studies": "azlatency.dataset",
    "import_study": "azlatency.dataset",
    "Study": "azlatency.dataset",
    "described_runs": "azlatency.paths",
    "latency_runs": "azlatency.paths",
    "throughput_runs": "azlatency.paths",
    "measuring": "azlatency.paths",
    "select": "azlatency.paths",
    "other_study": "azlatency.paths",
    "programmed_links": "azlatency.programmed",
    "known_steps": "azlatency.stats.truth",
    "charts": "azlatency.charts",
    "tables": "azlatency.tables",
    "runtails": "azlatency.stats.runtails",
    "shapes": "azlatency.stats.shapes",
    "intime": "azlatency.stats.intime",
    "placement": "azlatency.stats.placement",
    "answers_tail": "azlatency.answers_tail",
    "answers": "azlatency.answers",
    "findings": "azlatency.findings",
    "schema": "azlatency.schema",
    "evidence": "azlatency.stats.evidence",
    "printed_quantiles": "azlatency.stats.quantiles",
    "by_path": "azlatency.stats.means",
    "across_runs": "azlatency.stats.means",
    "quantiles": "azlatency.stats.quantiles",
    "interval_quantiles": "azlatency.stats.quantiles",
    "histogram_quantiles": "azlatency.stats.histograms",
    "two_level": "azlatency.stats.bootstrap",
    "modes": "azlatency.stats.modes",
    "history": "azlatency.stats.history",
    "harrell_davis": "azlatency.stats.distribution",
    "quantile_ratio": "azlatency.stats.distribution",
    "distribution_band": "azlatency.stats.distribution",
    "median_of_runs": "azlatency.stats.quantiles",
    "mean": "azlatency.stats.means",
    "mean_from_summary": "azlatency.stats.means",
    "exceedance": "azlatency.stats.exceedance",
    "table_exceedance": "azlatency.stats.exceedance",
    "stability": "azlatency.stats.stability",
    "event_test": "azlatency.stats.stability",
    "trend": "azlatency.stats.stability",
    "warm_up": "azlatency.stats.stability",
    "lifetimes": "azlatency.stats.stability",
    "interval_mean": "azlatency.stats.stability",
    "throttling": "azlatency.stats.stability",
    "clock_steps": "azlatency.stats.stability",
    "fit_tail": "azlatency.stats.tail",
    "shape_by_threshold": "azlatency.stats.tail",
    "return_level": "azlatency.stats.tail",
    "fan_out": "azlatency.stats.tail",
    "closed_loop": "azlatency.stats.tail",
    "time_weighted_quantiles": "azlatency.stats.tail",
    "dependence": "azlatency.stats.dependence",
    "compare": "azlatency.stats.comparison",
    "compare_summaries": "azlatency.stats.comparison",
    "compare_quantiles": "azlatency.stats.comparison",
    "shift_function": "azlatency.stats.comparison",
    "adjust": "azlatency.stats.multiplicity",
    "agreement": "azlatency.stats.agreement",
    "Agreement": "azlatency.stats.agreement",
    "against": "azlatency.stats.agreement",
    "compare_imports": "azlatency.stats.beforeafter",
    "compare_rounds_of": "azlatency.stats.beforeafter",
    "check_expectation": "azlatency.stats.baseline",
    "check_baseline": "azlatency.stats.baseline",
    "check_percentile": "azlatency.stats.baseline",
    "vms_by_share": "azlatency.stats.baseline",
    "runs_needed": "azlatency.stats.planning",
    "runs_to_decide": "azlatency.stats.planning",
    "runs_for_spread": "azlatency.stats.planning",
    "plans_by_path": "azlatency.stats.planning",
    "precision_curves": "azlatency.stats.planning",
    "confirm_by_path": "azlatency.stats.planning",
    "percentile_sizes": "azlatency.stats.planning",
    "rounds_by_zones": "azlatency.stats.planning",
    "confirm": "azlatency.stats.planning",
    "smallest_n": "azlatency.stats.planning",
    "rounds_needed": "azlatency.stats.planning",
    "may_stop": "azlatency.stats.planning",
    "repeats": "azlatency.stats.repeats",
    "heterogeneity": "azlatency.stats.repeats",
    "repeats_by_path": "azlatency.stats.repeats",
    "samples_per_run": "azlatency.stats.repeats",
    "asymmetry": "azlatency.stats.asymmetry",
    "Asymmetry": "azlatency.stats.asymmetry",
    "one_way_difference": "azlatency.stats.asymmetry",
    "rank_sets": "azlatency.stats.ranking",
    "align_zones": "azlatency.stats.matrices",
    "rank_effect": "azlatency.stats.rankeffect",
    "PrintedTable": "azlatency.stats.tablebounds",
    "superiority_bounds": "azlatency.stats.tablebounds",
}
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    import importlib

    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'azlatency' has no attribute {name!r}")
    module = importlib.import_module(home)
    # A function named like its module wins over the module.
    return getattr(module, name, module) if home.rpartition(".")[2] == name else getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)
