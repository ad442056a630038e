"""`azlatency compare`: verdicts and exit codes."""

from __future__ import annotations

import csv
import html
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from helpers.places import TESTS
from helpers.sides import compare, write_side
from helpers.studies import FEW_ZONES, load
from studies.runs.test_run_table import ping

from azlatency.gate.verdict import judge
from azlatency.studies.runs.selection import select_scenario


@pytest.mark.costly
def test_rounds_without_a_change_are_inconclusive_with_too_few_runs(tmp_path: Path, raw: Path) -> None:
    """Rounds 1 and 3 against round 2: nothing changed, and there are too few runs to show it."""
    write_side(raw, tmp_path / "a", "13"), write_side(raw, tmp_path / "b", "2")
    result = compare("a", "b", "--map", "?=client", "--format", "json", cwd=tmp_path)
    assert result.returncode == 3
    judged = json.loads(result.stdout)
    assert judged["outcome"] == "inconclusive" and judged["exit_code"] == 3
    assert {row["verdict"] for row in judged["rows"]} == {"inconclusive"}
    row = next(row for row in judged["rows"] if row["path"] == "az1a → az1b" and row["method"] == "qperf tcp_lat")
    assert row["codes"] == "no_replication" and row["ratio_low"] is None
    assert (row["runs_needed_low"], row["runs_needed_high"]) == (5, 92)
    assert "5 to 92 runs on each side are needed to show it" in row["reason"]


@pytest.mark.costly
def test_a_scaled_copy_is_reported_as_changed(tmp_path: Path, raw: Path) -> None:
    write_side(raw, tmp_path / "base", "123"), write_side(raw, tmp_path / "slow", "123", scale=2.5)
    result = compare("base", "slow", "--format", "json", cwd=tmp_path)
    assert result.returncode == 1
    judged = json.loads(result.stdout)
    beyond = [row for row in judged["rows"] if row["verdict"] == "beyond"]
    assert len(beyond) == 8 and {row["method"] for row in beyond} == {"qperf tcp_lat"}
    for row in beyond:
        assert row["ratio"] == pytest.approx(2.5, rel=1e-4)
        assert row["ratio_low"] > 1.05 and row["scope"] == "across_runs" and row["p_beyond"] <= 0.05
    faster = compare("slow", "base", "--path", "az2a → az3a", cwd=tmp_path)
    assert faster.returncode == 1, "faster is a change too"
    only = compare("base", "slow", "--margin", "300%", "--path", "az2a → az3a", "--metric", "mean", cwd=tmp_path)
    assert only.returncode == 3 and "no change" in only.stdout and "one run" in only.stdout, (
        "tcp_lat within, udp_lat ran once"
    )


def test_identical_logs_on_both_sides_are_left_out(tmp_path: Path, raw: Path) -> None:
    write_side(raw, tmp_path / "a", "123"), write_side(raw, tmp_path / "b", "123")
    result = compare("a", "b", cwd=tmp_path)
    assert result.returncode == 3
    assert "logs are on both sides, byte for byte, and left out" in result.stdout


def test_a_log_on_both_sides_is_left_out_also_if_one_side_has_it_at_two_times(tmp_path: Path, raw: Path) -> None:
    log = (raw / "westeurope-azure-cni" / "az1-az3" / "qperf.log").read_bytes()
    for name, days in (("a", (1, 2)), ("b", (1,))):
        (tmp_path / name).mkdir()
        for day in days:
            (tmp_path / name / f"2026-05-0{day}.log").write_bytes(log)
    assert "byte for byte, and left out" in compare("a", "b", cwd=tmp_path).stdout


@pytest.mark.costly
def test_paths_missing_in_the_candidate_prevent_an_unchanged_outcome(tmp_path: Path, raw: Path) -> None:
    write_side(raw, tmp_path / "a", "123"), write_side(raw, tmp_path / "b", "23", scale=1.0001)
    result = compare("a", "b", "--format", "json", cwd=tmp_path)
    judged = json.loads(result.stdout)
    assert "az1a → az1b, qperf udp_lat (latency)" in judged["only_in_base"]
    assert result.returncode == 3


@pytest.mark.slow
def test_percentiles_and_throughput_can_be_compared(tmp_path: Path, raw: Path) -> None:
    source = raw / "emulated-zones" / "sockperf"
    for name, rounds in (("a", "12"), ("b", "3")):
        for at in rounds:
            target = tmp_path / name / f"az1a-az2a_{at}.txt"
            target.parent.mkdir(exist_ok=True)
            target.write_bytes((source / "az1a-az2a" / f"pp_tcp_r{at}.txt").read_bytes())
        entry = '[study]\nregion = "emulated"\n[[run]]\nlog = "*"\nscenario = "az1a → az2a"\n'
        (tmp_path / name / "study.toml").write_text(entry, "utf-8")
    judged = json.loads(
        compare("a", "b", "--metric", "p99", "--metric", "p99.9", "--format", "json", cwd=tmp_path).stdout
    )
    assert [row["metric"] for row in judged["rows"]] == ["p99", "p99.9"]
    assert all((row["runs_after"], row["runs_before"]) == (1, 2) for row in judged["rows"])
    write_side(raw, tmp_path / "c", "12"), write_side(raw, tmp_path / "d", "3")
    judged = json.loads(compare("c", "d", "--metric", "throughput", "--format", "json", cwd=tmp_path).stdout)
    assert {row["method"] for row in judged["rows"]} == {"qperf tcp_bw"}


@pytest.mark.slow
def test_the_metrics_of_both_sides_are_compared_in_one_family(tmp_path: Path) -> None:
    folder = TESTS / "compare"
    sides = (folder / "base.zip", folder / "slower.zip")
    judged = json.loads(compare(*sides, "--format", "json", cwd=tmp_path).stdout)
    assert Counter(row["metric"] for row in judged["rows"]) == {"latency": 4, "throughput": 2}
    (slower,) = (row for row in judged["rows"] if row["p_beyond"] == min(other["p_beyond"] for other in judged["rows"]))
    alone = json.loads(compare(*sides, "--metric", slower["metric"], "--format", "json", cwd=tmp_path).stdout)
    (same,) = (row for row in alone["rows"] if (row["path"], row["method"]) == (slower["path"], slower["method"]))
    assert slower["p_beyond"] == pytest.approx(same["p_beyond"] * 6 / len(alone["rows"])), "six rows"
    by_time = compare(*sides, "--margin", "200us", cwd=tmp_path).stdout
    assert "Throughput is on both sides and not compared, because the margin is a time." in by_time
    assert "iperf3" not in by_time


def test_a_metric_that_the_candidate_lost_prevents_an_unchanged_outcome(tmp_path: Path) -> None:
    half(tmp_path / "odd", "base", True), half(tmp_path / "even", "base", False)
    for log in (tmp_path / "even").rglob("*"):
        if "iperf" in log.name:
            log.unlink()
    result = compare("odd", "even", "--format", "json", cwd=tmp_path)
    judged = json.loads(result.stdout)
    assert {row["metric"] for row in judged["rows"]} == {"latency"} and result.returncode == 3
    assert judged["only_in_base"] == ["az1a → az2a, iperf3 TCP (throughput)", "az2a → az1a, iperf3 TCP (throughput)"]


def test_sides_without_a_common_metric_list_what_each_measured(tmp_path: Path) -> None:
    for name, log in (("a", "ping/busybox-1.35-c4.log"), ("b", "iperf3/3.17.1-server-output.log")):
        (tmp_path / name).mkdir()
        shutil.copy(TESTS / "fixtures" / log, tmp_path / name)
    result = compare("a", "b", cwd=tmp_path)
    assert result.returncode == 3 and "Neither latency nor throughput is on both sides." in result.stdout
    assert "Measured only in the base: ? → 127.0.0.1, ping 56 B (latency)" in result.stdout
    assert "Measured only in the candidate: 10.99.0.1 → 10.99.0.2, iperf3 TCP (throughput)" in result.stdout


def test_runs_of_different_requested_rates_are_not_comparable(tmp_path: Path) -> None:
    log = (TESTS / "fixtures" / "iperf3" / "3.16-udp-omit.json").read_text("utf-8")
    for side, rate in (("a", "40000000"), ("b", "60000000")):
        (tmp_path / side).mkdir()
        for number in (1, 2):
            text = log.replace('"target_bitrate":\t40000000', f'"target_bitrate":\t{rate}').replace(
                '"timesecs":\t', f'"timesecs":\t{number}'
            )
            (tmp_path / side / f"{number}.json").write_text(text, "utf-8")
    (row,) = json.loads(compare("a", "b", "--format", "json", cwd=tmp_path).stdout)["rows"]
    assert row["codes"] == "type_p_mismatch" and row["ratio"] is None and row["metric"] == "throughput"


@pytest.mark.costly
def test_a_field_that_differs_is_named_with_the_command_that_compares_across_it(tmp_path: Path) -> None:
    """A requested rate that differs on purpose: refused without --across, compared with it."""
    log = (TESTS / "fixtures" / "iperf3" / "3.12-tcp.json").read_text("utf-8")
    for side, rate in (("slow", 10), ("fast", 20)):
        (tmp_path / side).mkdir()
        for number in range(2):
            text = log.replace('"target_bitrate":\t0', f'"target_bitrate":\t{rate}000000')
            text = text.replace('"bits_per_second":\t', f'"bits_per_second":\t{number + 1}', 1)
            (tmp_path / side / f"run{number}.json").write_text(text, "utf-8")
    refused = compare("slow", "fast", cwd=tmp_path)
    assert refused.returncode == 3
    command = "azlatency compare slow fast --across target_rate_bit_s"
    assert f"differ in target_rate_bit_s. If that is what you compare: {command}" in refused.stdout
    rows = json.loads(compare("slow", "fast", "--across", "target_rate_bit_s", "--format", "json", cwd=tmp_path).stdout)
    assert [row["verdict"] for row in rows["rows"]] != ["refused"] and rows["rows"][0]["ratio"] is not None
    wrong = compare("slow", "fast", "--across", "target_rate", cwd=tmp_path)
    assert wrong.returncode == 2 and "did you mean 'target_rate_bit_s'" in wrong.stderr


def test_scenarios_that_are_settings_are_compared(tmp_path: Path) -> None:
    """The logs state the algorithm that the names name: naming the scenario lets this setting differ, and no other."""
    log = (TESTS / "fixtures" / "iperf3" / "3.12-tcp.json").read_text("utf-8")
    (tmp_path / "tcp").mkdir()
    for number, algorithm in enumerate(("bbr", "bbr", "cubic", "cubic")):
        text = log.replace('"bbr"', f'"{algorithm}"').replace("1795225326", str(1795225326 + 100 * number))
        (tmp_path / "tcp" / f"{algorithm}_{number % 2}.json").write_text(text, "utf-8")
    (row,) = json.loads(compare("tcp", "--across", "scenario", "--format", "json", cwd=tmp_path).stdout)["rows"]
    assert row["ratio"] == 1 and row["method"] == "iperf3 TCP" and row["path"].startswith("cubic against bbr")


def test_the_directions_of_bidirectional_tests_are_compared(tmp_path: Path) -> None:
    log = (TESTS / "fixtures" / "iperf3" / "3.12-bidir.txt").read_text("utf-8")
    for side, port in (("a", 40_000), ("b", 41_000)):
        (tmp_path / side).mkdir()
        for number in range(2):  # the ports and the last digit of a rate differ, so that no log is a copy of another
            text = log.replace("2.81 Gbits", f"2.8{number} Gbits").replace("port 5", f"port {port + number}")
            (tmp_path / side / f"run{number}.txt").write_text(text, "utf-8")
    rows = json.loads(compare("a", "b", "--format", "json", cwd=tmp_path).stdout)["rows"]
    assert {row["method"] for row in rows} == {"iperf3 stream-bidir TCP", "iperf3 stream-bidir-reverse TCP"}


@pytest.mark.slow
def test_the_output_does_not_depend_on_the_seed_of_hashes(tmp_path: Path) -> None:
    half(tmp_path / "odd", "base", True), half(tmp_path / "even", "slower", False)
    command = (sys.executable, "-m", "azlatency", "compare", "odd", "even", "--format", "json")
    seeded = os.environ | {"PYTHONHASHSEED": "4242", "AZLATENCY_DATA": str(tmp_path / "data")}
    other = subprocess.run(command, cwd=tmp_path, env=seeded, capture_output=True, text=True, check=False).stdout
    output = compare("odd", "even", "--format", "json", cwd=tmp_path).stdout
    assert json.loads(output)["rows"] and output == other


def half(folder: Path, archive: str, odd: bool) -> Path:
    """Keep only the odd or only the even rounds of a recorded study."""
    with zipfile.ZipFile(TESTS / "compare" / f"{archive}.zip") as packed:
        packed.extractall(folder)
    rows = list(csv.DictReader((folder / "runs.csv").read_text("utf-8").splitlines()))
    for row in rows:
        if row["round"] and (int(row["round"]) % 2 == 1) != odd:
            (folder / row["log"]).unlink()
    return folder


SINGLE_METRICS = [["latency"], ["mean"], ["p99"], ["throughput"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "metric_sets",
    [
        pytest.param([["latency", "mean", "p90", "p99", "throughput"]], id="together"),
        pytest.param(SINGLE_METRICS, id="each", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("archive", ["base", pytest.param("slower", marks=pytest.mark.slow)])
def test_odd_against_even_rounds_of_one_study_never_change(
    tmp_path: Path, archive: str, metric_sets: list[list[str]]
) -> None:
    half(tmp_path / "odd", archive, True), half(tmp_path / "even", archive, False)
    for metrics in metric_sets:
        options = [word for metric in metrics for word in ("--metric", metric)]
        assert compare("odd", "even", *options, cwd=tmp_path).returncode in (0, 3)


@pytest.mark.slow
def test_no_change_is_shown_with_enough_runs(tmp_path: Path) -> None:
    half(tmp_path / "odd", "base", True), half(tmp_path / "even", "base", False)
    few, enough = (
        compare("odd", "even", "--tool", "sockperf", "--margin", margin, "--format", "json", cwd=tmp_path)
        for margin in ("3%", "8%")
    )
    assert (few.returncode, enough.returncode) == (3, 0), enough.stdout
    judged = json.loads(enough.stdout)
    assert [row["verdict"] for row in judged["rows"]] == ["within", "within"]
    assert all(row["ratio_low"] < 1 < row["ratio_high"] for row in judged["rows"])
    rows = json.loads(few.stdout)["rows"]
    assert any(row["verdict"] == "inconclusive" and row["runs_needed"] > 5 for row in rows)


@pytest.mark.costly
def test_an_added_delay_is_detected_and_measured(tmp_path: Path) -> None:
    """The slower recording has 60 µs more per direction, so 120 µs more RTT."""
    folder = TESTS / "compare"
    sides = (folder / "base.zip", folder / "slower.zip")
    result = compare(*sides, "--tool", "sockperf", "--format", "json", cwd=tmp_path)
    assert result.returncode == 1, result.stdout
    for row in json.loads(result.stdout)["rows"]:
        assert row["verdict"] == "beyond" and row["p_beyond"] < 0.001
        assert row["difference_low"] < 120e3 < row["difference_high"]
        assert (row["runs_after"], row["runs_before"]) == (10, 10)
    wide = compare(*sides, "--tool", "sockperf", "--margin", "200us", cwd=tmp_path)
    assert wide.returncode == 0, "a margin in microseconds"


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "spread", "ratio"), [(3, 0.1, 1.0), (5, 0.2, 1.0), (5, 0.05, 1.05), (10, 0.03, 1.05)])
def test_false_changes_are_at_most_one_in_twenty(runs: int, spread: float, ratio: float) -> None:
    """Compare six paths 300 times, with no change or with a change of exactly the margin."""
    import numpy as np
    import pandas as pd

    from azlatency.gate.verdict import Compared, judged
    from azlatency.stats.across_runs.before_after import compare_pairings, pairings
    from azlatency.stats.across_runs.comparison import Setting

    random = np.random.default_rng(1)

    def side(name: str, factor: float) -> pd.DataFrame:
        values = 1e6 * factor * np.exp(random.normal(0, spread, 6 * runs))
        frame = pd.DataFrame({"path": [f"a → {at // runs}" for at in range(6 * runs)], "median_ns": values})
        return frame.assign(method="ping", tool="ping", placement="cross_zone").set_index(
            pd.Index([f"{name}{at}" for at in range(6 * runs)])
        )

    claimed = shown = 0
    for _ in range(300):
        matched = pairings(side("a", ratio), side("b", 1.0))
        sides = [pairing.sides() for pairing in matched]
        rows = compare_pairings(matched, sides, Setting("5%"))
        compared = [
            Compared(row, pairing, pair, "median_ns") for row, pairing, pair in zip(rows, matched, sides, strict=True)
        ]
        decisions = judged(compared, 0.95)["decision"]
        claimed += (decisions == "beyond").any()
        shown += ratio > 1 and (decisions == "within").all()
    assert claimed / 300 < 0.075, "5 % and three standard errors"
    assert shown / 300 < 0.075, "a change by the margin is not reported as no change"


@pytest.mark.slow
def test_ten_slower_runs_on_each_side_are_decided_on_every_row() -> None:
    """120 µs more on 444 to 610 µs; some of the ping runs are several times slower than the others."""
    result = compare("base.zip", "slower.zip", "--metric", "latency", "--format", "json", cwd=TESTS / "compare")
    judged = json.loads(result.stdout)
    assert result.returncode == 1 and [row["verdict"] for row in judged["rows"]] == ["beyond"] * 4
    assert max(row["p_beyond"] for row in judged["rows"]) < 0.05


@pytest.mark.costly
def test_a_change_between_runs_that_drift_is_no_failure(tmp_path: Path) -> None:
    """Both sides rise from run to run: the time may be the cause, so the gate asks for rounds and exits with 3."""
    sides = [[1.0 + 0.01 * run for run in range(10)], [1.5 + 0.01 * run for run in range(10)]]
    for side, times in zip("ab", sides, strict=True):
        (tmp_path / side).mkdir()
        for run, time in enumerate(times):
            text = f"tcp_lat:\n    latency  =  {100 * time:.1f} us\n"
            (tmp_path / side / f"run{run}.txt").write_text(text, "utf-8")
    result = compare("a", "b", "--format", "json", cwd=tmp_path)
    (row,) = json.loads(result.stdout)["rows"]
    assert result.returncode == 3 and row["verdict"] == "inconclusive" and "dependent_runs" in row["codes"]
    assert "differs in these runs, which drift: measure both sides alternating in rounds" in row["reason"]
    assert "differs in these runs, which drift" in compare("a", "b", "--format", "markdown", cwd=tmp_path).stdout


@pytest.fixture
def cut_and_dead(tmp_path: Path) -> Path:
    """Two sides of ping logs: seven complete runs; five complete ones, a cut one and one without a reply."""
    for side, rtt in (("before", 1.0), ("after", 1.01)):
        (tmp_path / side).mkdir()
        for number in range(1, 8 if side == "before" else 6):
            text = ping("10.0.0.9", rtt, rtt + 0.1 + number / 1000, rtt + 0.2)
            (tmp_path / side / f"ping_{number}.log").write_text(text, "utf-8")
    cut = ping("10.0.0.9", 1.0, 9.0, 9.0).partition("\n---")[0]
    (tmp_path / "after" / "ping_6.log").write_text(cut, "utf-8")
    dead = (
        "PING 10.0.0.9 (10.0.0.9) 56(84) bytes of data.\n\n--- 10.0.0.9 ping statistics ---\n"
        "12 packets transmitted, 0 received, 100% packet loss, time 11254ms\n"
    )
    (tmp_path / "after" / "ping_7.log").write_text(dead, "utf-8")
    return tmp_path


@pytest.mark.slow
def test_the_number_of_runs_is_that_of_the_runs_used_and_the_others_are_named(cut_and_dead: Path) -> None:
    printed = {
        form: compare("before", "after", "--format", form, cwd=cut_and_dead).stdout
        for form in ("table", "json", "markdown", "junit")
    }
    (row,) = json.loads(printed["json"])["rows"]
    assert (row["runs_before"], row["runs_after"]) == (7, 5)
    assert all("7 → 5" in printed[form] for form in ("table", "markdown"))
    for form, text in printed.items():
        plain = html.unescape(text)
        assert "1 run left out: ping_6.log (cut)" in plain, form
        assert "after: 1 run without a result left out: ping_7.log (no reply: 12 of 12 lost)" in plain, form


@pytest.mark.costly
def test_the_forecast_of_runs_does_not_contain_a_cut_run(cut_and_dead: Path) -> None:
    for number in range(1, 6):
        text = ping("10.0.0.9", 0.9, 1.0 + number / 10, 2.0)
        (cut_and_dead / "after" / f"ping_{number}.log").write_text(text, "utf-8")
    forecast = ("runs_needed", "runs_needed_low", "runs_needed_high", "reason")
    rows = []
    for _ in range(2):
        (row,) = json.loads(compare("before", "after", "--format", "json", cwd=cut_and_dead).stdout)["rows"]
        rows.append([row[name] for name in forecast])
        for number in (6, 7):
            (cut_and_dead / "after" / f"ping_{number}.log").unlink(missing_ok=True)
    assert rows[0] == rows[1] and rows[0][0], "the cut run is ten times as slow as the others"


def test_a_side_without_a_single_reply_says_so(cut_and_dead: Path) -> None:
    for log in (cut_and_dead / "after").iterdir():
        if log.name != "ping_7.log":
            log.unlink()
    done = compare("before", "after", cwd=cut_and_dead)
    assert done.returncode == 3 and "no reply: 12 of 12 lost" in done.stdout


@pytest.mark.costly
def test_the_windows_that_are_compared_are_named() -> None:
    """Of weekly means of 30 days, one disjoint window a month counts: to 2025-08-31 and to 2026-08-16."""
    judged = judge(*(select_scenario(load(FEW_ZONES), month) for month in ("2025-08", "2026-08")), names=("a", "b"))
    assert judged.remarks[0] == (
        "Published windows are compared: those that ended 2025-08-31 (base) and 2026-08-16 (candidate)"
    )
    june, july = (select_scenario(load(FEW_ZONES), month) for month in ("2026-06", "2026-07"))
    assert judge(june, july, names=("June", "July")).remarks[:2] == (
        "Windows of June that share time with those of July are left out",
        "Published windows are compared: those that ended 2026-06-21 (base) and 2026-07-26 (candidate)",
    )
    (row,) = judged.rows[judged.rows["path"] == "us-south-dal10-a → us-south-dal12-a"].to_dict("records")
    assert (row["base"], row["candidate"]) == (2.48e6, 2.01e6)
