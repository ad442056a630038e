"""The imported studies of the project, loaded once per worker.

A study keeps the tables that the library computes of it, such as those of its runs, so that tests need not compute them
again. No test may change one.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from azlatency.pages import summary
from azlatency.pages.summary.card import Card
from azlatency.stats.across_runs.run_history import History, history
from azlatency.stats.within_run.time_series import RunsInTime, run_time_series
from azlatency.studies.imports.in_memory import read_study
from azlatency.studies.runs.round_trips import latency
from azlatency.studies.runs.selection import SelectedStudy
from azlatency.studies.store import study

#: The windows between six of the thirteen regions of ibm-cloud-regions, whose card takes a fifth of the time.
FEW_REGIONS = "few of ibm-cloud-regions"
#: The zones of two of the thirteen regions of ibm-cloud-zones.
FEW_ZONES = "few of ibm-cloud-zones"
_FEW = {
    FEW_REGIONS: {"Chennai", "Montreal", "Osaka", "Sao Paulo", "Tokyo", "Toronto"},
    FEW_ZONES: {"Dallas", "Madrid"},
}


@cache
def load(name: str) -> study.Study:
    if name not in _FEW:
        return study.load(name)
    whole = load(name.removeprefix("few of "))
    ends = zip(whole.runs["run_id"], whole.runs["region"], whole.runs["peer_region"], strict=True)
    return SelectedStudy.of(whole, whole.name, [run_id for run_id, *pair in ends if _FEW[name].issuperset(pair)])


def in_memory(source: Path) -> study.Study:
    """Return a folder or file of logs as a study; an import, which writes tables, takes several times longer."""
    return read_study("mine", [source])[0]


@cache
def load_in_time(name: str) -> RunsInTime:
    """Return what changes during the runs of a study."""
    return run_time_series(load(name), latency(load(name)))


@cache
def load_history(name: str) -> History:
    """Return the history of a study."""
    return history(load(name))


@cache
def load_card(name: str) -> Card:
    """Return the card of a study."""
    return summary.make_card(load(name))
