"""Read the logs of latency and throughput tools into tidy tables, and compare what they measured.

>>> import azlatency as az
>>> logs = az.parse("results/")                # doctest: +SKIP
>>> runs = az.latency(logs)                    # doctest: +SKIP
>>> runs[["path", "method", "median_ns"]]      # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from azlatency import shapes as charts  # noqa: F401 - a public name
    from azlatency import stats as stats
    from azlatency import studies as studies
    from azlatency.kit.words import say as say
    from azlatency.logs import schema as schema
    from azlatency.logs.parse import LogError as LogError
    from azlatency.logs.parse import parse as parse
    from azlatency.logs.tables import Logs as Logs
    from azlatency.stats.across_runs.asymmetry import asymmetry as asymmetry
    from azlatency.stats.across_runs.base_and_candidate import compare as compare
    from azlatency.stats.across_runs.baseline import baseline as baseline
    from azlatency.stats.across_runs.planning import plan as plan
    from azlatency.stats.across_runs.run_history import history as history
    from azlatency.stats.across_runs.typical_run import summarize as summarize
    from azlatency.stats.within_run.quantiles import quantiles as quantiles
    from azlatency.studies.imports.importer import import_study as import_study
    from azlatency.studies.runs.key import key as key
    from azlatency.studies.runs.round_trips import latency as latency
    from azlatency.studies.runs.throughput import throughput as throughput
    from azlatency.studies.store.folders import list_studies as list_studies
    from azlatency.studies.store.study import Study as Study
    from azlatency.studies.store.study import load as load

__version__ = "1.0.0rc1"

# The module of each public name. A name is imported on first use, so that `import azlatency` and `azlatency --help`
# stay fast. The type checker reads the imports above instead; a test compares the two.
_HOMES = {
    "parse": "azlatency.logs.parse",
    "load": "azlatency.studies.store.study",
    "import_study": "azlatency.studies.imports.importer",
    "list_studies": "azlatency.studies.store.folders",
    "Logs": "azlatency.logs.tables",
    "Study": "azlatency.studies.store.study",
    "LogError": "azlatency.logs.parse",
    "latency": "azlatency.studies.runs.round_trips",
    "throughput": "azlatency.studies.runs.throughput",
    "key": "azlatency.studies.runs.key",
    "summarize": "azlatency.stats.across_runs.typical_run",
    "quantiles": "azlatency.stats.within_run.quantiles",
    "compare": "azlatency.stats.across_runs.base_and_candidate",
    "asymmetry": "azlatency.stats.across_runs.asymmetry",
    "baseline": "azlatency.stats.across_runs.baseline",
    "history": "azlatency.stats.across_runs.run_history",
    "plan": "azlatency.stats.across_runs.planning",
    "say": "azlatency.kit.words",
    "studies": "azlatency.studies",
    "stats": "azlatency.stats",
    "charts": "azlatency.shapes",
    "schema": "azlatency.logs.schema",
}
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604


if not TYPE_CHECKING:  # the type checker would take this function for any attribute

    def __getattr__(name: str) -> object:
        import importlib
        from difflib import SequenceMatcher

        if name in _HOMES:
            module = importlib.import_module(_HOMES[name])
            # A function named like its module wins over the module.
            return getattr(module, name, module)
        if name.startswith("_"):  # what inspection asks every module for
            raise AttributeError(f"module 'azlatency' has no attribute {name!r}")
        nearest = sorted(_HOMES, key=lambda known: SequenceMatcher(None, name, known).ratio(), reverse=True)
        raise AttributeError(f"module 'azlatency' has no attribute {name!r}; names: {', '.join(nearest)}")


def __dir__() -> list[str]:
    return sorted(__all__)
