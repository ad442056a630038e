"""From when changes of a history are judged, and what cannot be judged."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from helpers.nights import CHANGED, FIRST, NIGHTS, changed_nights, values, write_nights

import azlatency as az
from azlatency.gate.history import HistoryJudgement, judge_history, sheet, sparkline
from azlatency.kit.changes import date as date_of


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> az.Study:
    folder = tmp_path_factory.mktemp("since")
    az.import_study("nights", [changed_nights(folder / "nights")], out=folder)
    return az.load("nights", processed=folder)


def new_changes(judgement: HistoryJudgement) -> int:
    return sum(len(judged.new) for judged in judgement.series)


def night(number: int) -> str:
    return str(FIRST + timedelta(days=number))


@pytest.mark.costly
@pytest.mark.parametrize(
    ("since", "new"),
    [("", 1), (night(CHANGED - 5), 1), (night(CHANGED + 5), 0), (f"{night(CHANGED - 5)}T00:00:00+00:00", 1),
     (f"{(datetime.now(UTC).date() - date(2026, 9, 1)).days} d", 1), ("1 day", 0),
     (f"{night(CHANGED - 5)}/az1-az3/qperf.log", 1), (f"{night(CHANGED + 5)}/az1-az3/qperf.log", 0)],
)  # fmt: skip
def test_changes_are_judged_from_a_date_an_age_or_a_log_on(study: az.Study, since: str, new: int) -> None:
    assert new_changes(judge_history({"nights": study}, since=since)) == new


@pytest.mark.parametrize(
    ("options", "message"),
    [({"since": "yesterday"}, "--since 'yesterday' is neither a date such as 2026-11-12, nor an age such as 14d"),
     ({"metrics": ["p98"]}, "p98"), ({"metrics": ["loss"], "margin": "2us"}, "'2us' is a time, and loss is none"),
     ({"tool": "pign"}, "measured: qperf")],
)  # fmt: skip
def test_what_is_not_known_is_refused(study: az.Study, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        judge_history({"nights": study}, **options)


def test_runs_of_one_tool_are_judged_alone(study: az.Study) -> None:
    assert len(judge_history({"nights": study}, tool="qperf").series) == 2


def test_runs_without_times_are_judged_from_a_run_on(tmp_path: Path) -> None:
    """The names of the logs are numbers, so that the change has the number of a run and no date."""
    nights = changed_nights(tmp_path / "nights")
    numbered = tmp_path / "numbered"
    numbered.mkdir()
    for number in range(NIGHTS):
        (nights / night(number)).rename(numbered / f"{number:02}")
    manifest = '[study]\npattern = "{repeat}/az{zone}-az{peer_zone}/qperf.log"\n'
    (numbered / "study.toml").write_text(manifest, "utf-8")
    az.import_study("numbered", [numbered], out=tmp_path)
    study = az.load("numbered", processed=tmp_path)
    for start, new in ((CHANGED - 5, 1), (CHANGED + 5, 0)):
        judgement = judge_history({"numbered": study}, since=f"{start:02}/az1-az3/qperf.log")
        assert new_changes(judgement) == new
    (change,) = [change for judged in judgement.series for change in judged.changes]
    assert date_of(change) == f"run {change['at'] + 1}"
    lines = [line for line in sheet(judge_history({"numbered": study})).lines if "CHANGED" in line.cells.values()]
    assert lines[0].cells["changed on"].startswith("run ")


def test_a_series_without_a_new_change_says_so(study: az.Study) -> None:
    lines = sheet(judge_history({"nights": study}, since=night(CHANGED + 5))).lines
    assert sorted(line.cells["verdict"] for line in lines) == ["no change", "no new change"]


def test_what_only_the_newest_points_show_is_not_called_no_change(tmp_path: Path) -> None:
    level = [*values(450, 20), 600.0, 605.0]
    az.import_study("newest", [write_nights(tmp_path / "newest", {"az1-az3": level})], out=tmp_path)
    judgement = judge_history({"newest": az.load("newest", processed=tmp_path)})
    (line,) = sheet(judgement).lines
    assert judgement.exit_code == 0 and line.cells["verdict"] == "not confirmed" and line.mark == "open"
    assert line.cells["change"].endswith("% in the last 2 points, since 2026-09-21: too few to test")
    earlier = judge_history({"newest": az.load("newest", processed=tmp_path)}, since="2026-09-22")
    assert [line.cells["verdict"] for line in sheet(earlier).lines] == ["no change"]


def test_two_changes_of_one_series_are_named_with_their_dates(tmp_path: Path) -> None:
    level = np.array(values(1080, 60)) * np.repeat([1.0, 1.2, 1.0], 20)
    az.import_study("twice", [write_nights(tmp_path / "twice", {"az1-az3": [*level]})], out=tmp_path)
    lines = sheet(judge_history({"twice": az.load("twice", processed=tmp_path)})).lines
    assert [line.name.rpartition(", ")[2] for line in lines] == ["2026-09-21", "2026-10-11"]


def test_a_history_of_equal_values_is_a_level_line() -> None:
    assert sparkline([5.0] * 4) == "▄" * 4


@pytest.mark.costly
def test_more_than_a_few_paths_that_ended_are_counted(tmp_path: Path) -> None:
    levels = {f"az1-az{zone}": values(450 + zone, 12 + zone) for zone in range(2, 12)}
    folder = write_nights(tmp_path / "ended", levels | {"az2-az1": values(400, 40)})
    az.import_study("ended", [folder], out=tmp_path)
    notes = sheet(judge_history({"ended": az.load("ended", processed=tmp_path)})).notes
    assert "7 more paths are no longer measured." in notes


def test_paths_that_ended_on_one_date_are_one_line(tmp_path: Path) -> None:
    levels = {f"az1-az{zone}": values(450 + zone, 22) for zone in range(2, 7)}
    folder = write_nights(tmp_path / "ended", levels | {"az2-az1": values(400, 40)})
    az.import_study("ended", [folder], out=tmp_path)
    notes = sheet(judge_history({"ended": az.load("ended", processed=tmp_path)})).notes
    named = "zone 1 → zone 2, zone 1 → zone 3, zone 1 → zone 4, …"
    assert f"5 paths were last measured on 2026-09-22 ({named})." in notes
