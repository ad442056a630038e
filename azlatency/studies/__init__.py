"""Studies: logs and their manifest become a data set, and the data set one row per run."""

from azlatency.studies.emulation import configured_links, recorded_round_trips
from azlatency.studies.imports.importer import import_study
from azlatency.studies.parameters import check_numbers
from azlatency.studies.runs.round_trips import latency
from azlatency.studies.runs.run_table import client_side_runs, frequency_tables, run_table
from azlatency.studies.runs.selection import other_study, published_windows, select, without
from azlatency.studies.runs.throughput import throughput
from azlatency.studies.store.study import Study, list_studies, load

__all__ = [
    "Study",
    "check_numbers",
    "client_side_runs",
    "configured_links",
    "frequency_tables",
    "import_study",
    "latency",
    "list_studies",
    "load",
    "other_study",
    "published_windows",
    "recorded_round_trips",
    "run_table",
    "select",
    "throughput",
    "without",
]
