"""Studies: logs and their manifest become a data set, and the data set one row per run."""

from azlatency.studies.emulation import configured_links, recorded_round_trips
from azlatency.studies.importer import import_study
from azlatency.studies.path import Endpoint, Path
from azlatency.studies.runs import (
    client_side_runs,
    frequency_tables,
    latency,
    other_study,
    run_table,
    select,
    throughput,
    without,
)
from azlatency.studies.store import Study, list_studies, load

__all__ = [
    "Endpoint",
    "Path",
    "Study",
    "client_side_runs",
    "configured_links",
    "frequency_tables",
    "import_study",
    "latency",
    "list_studies",
    "load",
    "other_study",
    "recorded_round_trips",
    "run_table",
    "select",
    "throughput",
    "without",
]
