"""Studies: logs and their manifest become a data set, and the data set one row per run."""

from azlatency.studies.emulation import configured_links, recorded_round_trips
from azlatency.studies.importer import import_study
from azlatency.studies.round_trip_runs import latency
from azlatency.studies.runs import client_side_runs, frequency_tables, run_table
from azlatency.studies.selection import other_study, select, without
from azlatency.studies.store import Study, list_studies, load
from azlatency.studies.throughput_runs import throughput

__all__ = [
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
