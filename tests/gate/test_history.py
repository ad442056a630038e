"""The history of a study: planted changes, odd nights, several studies."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from helpers.nights import CHANGED, FIRST, NIGHTS, changed_nights, history, values, write_night, write_nights
from helpers.studies import load

import azlatency as az
from azlatency.gate.history import HistoryJudgement, judge_history, sheet
from azlatency.stats.across_runs.levels import find_steps


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return changed_nights(tmp_path_factory.mktemp("nights") / "nights")


def test_a_planted_change_has_its_date_and_size_and_fails_the_job(nights: Path) -> None:
    result = history(nights, "--format", "json", cwd=nights.parent)
    record = json.loads(result.stdout)
    assert result.returncode == record["exit_code"] == 1 and record["outcome"] == "changed"
    changed = [series for series in record["series"] if series["changes"]]
    (change,) = changed[0]["changes"]
    assert [series["path"] for series in changed] == ["zone 1 → zone 3"]
    dates = [str(FIRST + timedelta(days=CHANGED + shift)) for shift in (-1, 0, 1)]
    assert change["date"][:10] in dates and change["ratio"] == pytest.approx(1.08, abs=0.02)
    assert change["ratio_low"] < 1.08 < change["ratio_high"]


def test_too_few_nights_end_with_3(nights: Path, tmp_path: Path) -> None:
    few = write_nights(tmp_path / "few", {"az1-az2": values(450, 9)})
    result = history(few, cwd=tmp_path)
    assert result.returncode == 3 and "10 points per series are needed; the longest has 9" in result.stdout


@pytest.mark.costly
def test_many_short_series_are_one_line_and_skipped_cases(tmp_path: Path) -> None:
    levels = {f"az1-az{zone}": values(450 + zone, 9) for zone in range(2, 7)} | {"az2-az1": values(400, 22)}
    folder = write_nights(tmp_path / "short", levels)
    lines = history(folder, cwd=tmp_path).stdout.splitlines()
    assert not any(line.startswith("too short") for line in lines) and lines[1].startswith("no change  zone 2 → zone 1")
    shown = "zone 1 → zone 2, zone 1 → zone 3, zone 1 → zone 4, …"
    assert any(f"5 series have fewer than 10 points, too few to judge ({shown})." in line for line in lines)
    assert 'tests="6"' in history(folder, "--format", "junit", cwd=tmp_path).stdout


@pytest.mark.costly
def test_a_missing_night_and_a_renamed_path_are_told(nights: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(nights, tmp_path / "odd")
    shutil.rmtree(folder / str(FIRST + timedelta(days=8)))
    for night in range(30, NIGHTS):
        shutil.move(
            folder / str(FIRST + timedelta(days=night)) / "az1-az2", folder / f"{FIRST + timedelta(days=night)}/az1-az4"
        )
    within = shutil.copytree(folder, tmp_path / "within")
    result = history(folder, cwd=tmp_path)
    assert "Nights without a run in 2 series" in result.stdout
    assert "zone 1 → zone 2 was last measured on 2026-09-30; zone 1 → zone 4 began then" in result.stdout
    for night in range(30, NIGHTS):
        day = within / str(FIRST + timedelta(days=night))
        shutil.move(day / "az1-az4", day / "az2-az2")
    inside = history(within, cwd=tmp_path).stdout
    assert "zone 1 → zone 2 was last measured on 2026-09-30." in inside, "a path inside a zone is not one between zones"


@pytest.mark.costly
def test_several_studies_are_one_family(nights: Path, tmp_path: Path) -> None:
    other = write_nights(tmp_path / "other", {"az1-az2": values(470)})
    record = json.loads(history(nights, other, "--format", "json", cwd=tmp_path).stdout)
    assert {series["family"] for series in record["series"]} == {3}
    assert {series["path"].partition(": ")[0] for series in record["series"]} == {str(nights), str(other)}


def test_a_night_with_several_runs_is_one_point(tmp_path: Path) -> None:
    folder = write_nights(tmp_path / "several", {"az1-az2": values(450, 22)})
    write_night(folder, 3, "az1-az2", 455.0).rename(folder / "2026-09-04" / "az1-az2" / "qperf_2.log")
    write_night(folder, 3, "az1-az2", 450.0)
    manifest = (folder / "study.toml").read_text("utf-8").replace("qperf.log", "qperf*.log")
    (folder / "study.toml").write_text(manifest, "utf-8")
    record = json.loads(history(folder, "--format", "json", cwd=tmp_path).stdout)
    assert [series["n"] for series in record["series"]] == [22]


def test_the_planted_changes_of_the_emulated_nights_are_found_and_no_other(raw: Path) -> None:
    """The tail from round 36 on is in what the emulator recorded; in the p99 of ping, stalls of the machine hide it."""
    study = load("emulated-nights")
    slower, narrower = az.history(study).changes.to_dict("records")
    assert (slower["path"], slower["metric"]) == ("az1a → az2a", "median")
    assert (narrower["path"], narrower["metric"]) == ("az3a → az2a", "goodput")
    truth = json.loads((raw / "emulated-nights" / "truth.json").read_text("utf-8"))["runs"]

    def recorded(log: str, key: str) -> np.ndarray:
        return np.array([truth[log.format(number)][key] for number in range(1, 61)])

    medians = recorded("ping/az1a-az2a/ping_r{}.txt", "median_us")
    planted = np.median(medians[25:]) / np.median(medians[:25])
    assert slower["at"] == 25 and slower["ratio"] == pytest.approx(planted, abs=0.02)
    assert narrower["at"] == 45 and narrower["ratio"] == pytest.approx(0.5, abs=0.02)
    (tail,) = find_steps(recorded("ping/az1a-az3a/ping_r{}.txt", "p99_us"), 0.05 / 11)
    assert tail.at == 35 and find_steps(recorded("ping/az2a-az3a/ping_r{}.txt", "p99_us"), 0.05 / 11) == []


@pytest.fixture(scope="module")
def published() -> HistoryJudgement:
    return judge_history({"ibm-cloud-zones": load("ibm-cloud-zones")})


@pytest.mark.costly
def test_what_no_test_confirms_in_published_windows_is_told_below_the_table(published: HistoryJudgement) -> None:
    """The values are those of zones.csv.gz in windows that do not overlap, the last to 2026-08-16."""
    notes = sheet(published).notes
    (together,) = (note for note in notes if "So many together" in note)
    assert together.startswith("14 series moved by −33 % to −14 % after their first points, until 2024-11-24 ")
    assert "(jp-tok-tok02-a → jp-tok-tok05-a −33 %, us-east-wdc06-a → us-east-wdc07-a −22 %, " in together
    # Dallas 1–3 fell from 2.70 to 2.28 ms in April 2023. dal14–dal14 is printed as 0.08, then as 0.10 ms.
    apart = (
        "2 series moved after the first points, too few to test (Dallas 2 → Dallas 3 −25 %, Dallas 1 → Dallas 3 −18 %)."
    )
    assert apart in notes and "dal14-a → us-south-dal14-a" not in "".join(notes)
    (short,) = (note for note in notes if note.startswith("7 series with fewer than ten points moved"))
    # 0.57 → 0.27 ms and 0.18 → 0.13 ms.
    assert "in-mum-mum02-a → in-mum-mum05-a −53 %" in short and "in-che-che02-a → in-che-che02-b −28 %" in short
    assert (
        "60 paths were last measured on 2024-09-01, and 64 began then (2024-08-11 to 2024-09-15): if some are the same "
        "paths, give each one name (machines = [...] in study.toml)."
    ) in notes


def test_a_row_says_what_the_first_and_last_points_show(published: HistoryJudgement) -> None:
    rows = {line.group: line.cells for line in sheet(published).lines}
    for path, words in (
        (
            "jp-tok-tok02-a → jp-tok-tok05-a",
            "−33 % from the first 4 disjoint windows (to 2024-11-24) to later ones: too few to test",
        ),
        # 0.87 to 0.84 ms, then 0.63 to 0.76.
        (
            "us-east-wdc04-a → us-east-wdc06-a",
            "−20 % from the first 3 disjoint windows (to 2024-10-20) to later ones: too few to test",
        ),
        # 0.16 and 0.17 ms until 2026-03-29, and 0.13 from the window to 2026-05-03 on.
        ("ca-mon-mon04-a → ca-mon-mon04-b", "−24 % in the last 4 disjoint windows, by 2026-05-03: too few to test"),
        # 1.84 to 1.99 ms, then 2.23.
        (
            "London 1 → London 3",
            "+19 % in the last disjoint window against the 5 before, by 2024-09-01: too few to test",
        ),
    ):
        assert rows[path]["verdict"] == "not confirmed" and rows[path]["change"] == words
    # 1.76 to 2.48 ms until 2025-10-05, then 1.34 to 1.45, and 2.01 in the last window.
    dallas = rows["us-south-dal10-a → us-south-dal12-a"]
    assert dallas["verdict"] == "CHANGED" and dallas["now"] == "1.380 ms"
    assert dallas["change"].endswith("; +46 % in the last disjoint window, by 2026-08-16: too few to test")
    assert rows["us-south-dal10-a → us-south-dal14-a"]["changed on"] == "2024-10-20 – 2026-08-16"
    steps = "; in more than one step, with 3 points between the levels"
    assert rows["us-south-dal12-a → us-south-dal14-a"]["change"].endswith(steps)
    assert not any(cells["change"] for path, cells in rows.items() if "Madrid" in path or "mad0" in path)


def test_the_json_lists_what_no_test_confirms(published: HistoryJudgement) -> None:
    rows = json.loads(json.dumps(published.record(), allow_nan=False))["seen"]
    (tokyo,) = (row for row in rows if row["path"] == "jp-tok-tok02-a → jp-tok-tok05-a")
    assert (tokyo["kind"], tokyo["n"], tokyo["before"], tokyo["after"]) == ("oldest", 4, 1.47e6, 0.98e6)
    assert tokyo["text"] == "−33 % from the first 4 disjoint windows (to 2024-11-24) to later ones: too few to test"
    (mumbai,) = (row for row in rows if row["path"] == "in-mum-mum02-a → in-mum-mum05-a")
    assert (mumbai["kind"], mumbai["n"], mumbai["before"], mumbai["after"]) == ("short", 6, 570e3, 270e3)


@pytest.mark.costly
def test_what_was_seen_before_the_date_is_not_told() -> None:
    judgement = judge_history({"ibm-cloud-zones": load("ibm-cloud-zones")}, since="2026-01-01")
    notes = " ".join(sheet(judgement).notes)
    assert "after their first points" not in notes
    assert "In 1 series, fewer than five points were off their level" in notes
    kinds = {row["kind"] for row in judgement.record()["seen"]}
    assert kinds == {"newest", "came_and_went", "unconfirmed", "short", "on_the_way"}
