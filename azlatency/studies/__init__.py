"""Studies: logs and their manifest become a data set, and the data set one row per run."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from azlatency.studies.emulation import configured_links as configured_links
    from azlatency.studies.emulation import recorded_round_trips as recorded_round_trips
    from azlatency.studies.imports.importer import import_study as import_study
    from azlatency.studies.parameters import check_numbers as check_numbers
    from azlatency.studies.runs.round_trips import latency as latency
    from azlatency.studies.runs.run_table import client_side_runs as client_side_runs
    from azlatency.studies.runs.run_table import frequency_tables as frequency_tables
    from azlatency.studies.runs.run_table import run_table as run_table
    from azlatency.studies.runs.selection import newest_windows as newest_windows
    from azlatency.studies.runs.selection import other_study as other_study
    from azlatency.studies.runs.selection import published_windows as published_windows
    from azlatency.studies.runs.selection import select as select
    from azlatency.studies.runs.selection import without as without
    from azlatency.studies.runs.throughput import throughput as throughput
    from azlatency.studies.store.folders import list_studies as list_studies
    from azlatency.studies.store.study import Study as Study
    from azlatency.studies.store.study import load as load

# Arrow's own pool keeps up to 70 MB of what is freed. It is chosen when Arrow is imported, which is later.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")

# Imported on first use: `azlatency --help` and `azlatency parse` need no more of this package than `studies.format`.
_HOMES = {
    "Study": "store.study",
    "check_numbers": "parameters",
    "client_side_runs": "runs.run_table",
    "configured_links": "emulation",
    "frequency_tables": "runs.run_table",
    "import_study": "imports.importer",
    "latency": "runs.round_trips",
    "list_studies": "store.folders",
    "load": "store.study",
    "newest_windows": "runs.selection",
    "other_study": "runs.selection",
    "published_windows": "runs.selection",
    "recorded_round_trips": "emulation",
    "run_table": "runs.run_table",
    "select": "runs.selection",
    "throughput": "runs.throughput",
    "without": "runs.selection",
}
__all__ = [*_HOMES]  # noqa: PLE0604


if not TYPE_CHECKING:  # the type checker would take this function for any attribute

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'azlatency.studies' has no attribute {name!r}; names: {', '.join(_HOMES)}")
        return getattr(importlib.import_module(f"azlatency.studies.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
