"""What logs can be used for."""

from __future__ import annotations

import time
from pathlib import Path
from timeit import repeat

import pytest
from helpers.places import FIXTURES

import azlatency as az
from azlatency.gate.verdict import frames_of_metric
from azlatency.logs.source.decode import Source
from azlatency.logs.source.expand import expand
from azlatency.pages.summary.answerable import unanswered
from azlatency.studies.imports.importer import import_study
from azlatency.studies.imports.measured_table import read_table
from azlatency.studies.manifest.measured_table import MeasuredTable
from azlatency.studies.quality import LATENCY_USES, check


def test_uses_of_a_good_log(raw: Path) -> None:
    (file_check,) = check(az.parse(raw / "westeurope-availability-set-vs-zones" / "zone3-zone1" / "sockperf-m1400.log"))
    assert file_check.grade == "good"
    assert file_check.uses == ("the mean RTT", "percentiles up to p99.999")


def test_a_short_run_is_limited(raw: Path) -> None:
    (file_check,) = check(az.parse(raw / "westeurope-azure-cni" / "az2-az3" / "sockperf.log"))
    assert file_check.grade == "limited"
    assert file_check.uses == ("the mean RTT", "percentiles up to p99.9")
    assert any("do not use the percentiles that are the sample maximum" in remark for remark in file_check.remarks)


def test_an_unusable_file_states_the_reason(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("nothing\n")
    (file_check,) = check(az.parse(tmp_path / "x.log"))
    assert file_check.grade == "useless"
    assert "no log of a known tool" in str(file_check)


@pytest.mark.parametrize("lines", range(1, 15))
def test_a_sockperf_log_that_ends_before_its_percentiles_is_checked(raw: Path, tmp_path: Path, lines: int) -> None:
    """Without its command, such a run has no test."""
    whole = (raw / "westeurope-availability-set-vs-zones" / "zone3-zone1" / "sockperf-m1400.log").read_text("utf-8")
    (tmp_path / "cut.log").write_text("".join(whole.splitlines(keepends=True)[1 : 1 + lines]), "utf-8")
    (file_check,) = check(az.parse(tmp_path / "cut.log"))
    assert file_check.grade in ("useless", "limited") and file_check.remarks


def test_a_table_of_medians_is_usable(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,p50\n1,2,0.5\n", "utf-8")
    [source] = expand(tmp_path / "t.csv")
    columns = {"zone": "a", "peer_zone": "b", "rtt_median": "p50"}
    table = MeasuredTable(place="study.toml:1", columns=columns, unit="ms", numbers=("rtt_median",))
    assert isinstance(source, Source)
    (file_check,) = check(read_table(source, table))
    assert (file_check.grade, file_check.uses) == ("good", ("the median RTT",))


def test_a_log_of_a_host_is_no_table_of_measurements() -> None:
    """`azlatency check` asked for the columns of a log that a parser had read."""
    (file_check,) = check(az.parse(Path(__file__).parents[1] / "fixtures" / "iostat" / "12.6.1-c.log"))
    assert file_check.grade == "useless"
    assert file_check.remarks == ("a log of iostat without a round-trip time or a rate of a network",)


def test_a_mislabelled_log_is_detected(raw: Path, tmp_path: Path) -> None:
    """A log edited from half round trips to round trips contradicts its own closed loop."""
    log = (raw / "westeurope-azure-cni" / "az2-az3" / "sockperf.log").read_text("utf-8")
    edited = log.replace("avg-latency=", "avg-rtt=").replace("Latency is", "Round trip is")
    (tmp_path / "edited.log").write_text(edited)
    (file_check,) = check(az.parse(tmp_path / "edited.log"))
    assert any("the label contradicts the arithmetic of the log" in remark for remark in file_check.remarks)


def test_a_check_of_many_files_is_that_of_each(raw: Path) -> None:
    folder = raw / "westeurope-azure-cni"
    together = check(az.parse(folder))
    assert together == [event for file in sorted(folder.rglob("*.*")) for event in check(az.parse(file))]


def test_the_time_of_a_check_is_linear(raw: Path) -> None:
    """Ten times as many logs, less than thirty times as long; it was a hundred times."""
    logs = az.parse(raw / "westeurope-azure-cni" / "az1-az3")

    def copies(number: int) -> az.Logs:
        many = az.Logs()
        for copy in range(number):
            for name, rows in logs.rows.items():
                for row in rows:
                    ids = {key: f"{row[key]}-{copy}" for key in ("source_id", "run_id") if key in row}
                    many.rows[name].append({**row, **ids})
        return many

    def seconds(number: int) -> float:
        many = copies(number)
        return min(repeat(lambda: check(many), timer=time.process_time, number=1, repeat=3))

    assert len(check(copies(30))) == len(copies(30).rows["sources"])
    assert seconds(300) < 30 * seconds(30)


@pytest.mark.slow
def test_a_use_is_kept_by_the_frames(tmp_path: Path) -> None:
    """What a check promises is in the frames of runs, in the metrics of compare and on pages, and nothing else is."""
    for path in sorted(FIXTURES.glob("*/*")):
        if path.name.endswith((".expected.json", ".md")):
            continue
        logs = az.parse(path)
        uses = [use for file_check in check(logs) for use in file_check.uses]
        promised = any(use.startswith(LATENCY_USES) for use in uses), "throughput" in uses
        assert promised == (len(az.latency(logs)) > 0, len(az.throughput(logs)) > 0), path
        if not logs.rows["runs"]:
            continue
        import_study("one", [path], out=tmp_path, replace=True)
        study = az.load("one", processed=tmp_path)
        compared = tuple(len(frames_of_metric(study, study, metric)[0]) > 0 for metric in ("latency", "throughput"))
        without = {item.page for item in unanswered(study)}
        with_sender = len(az.throughput(study, sender_only=True)) > 0
        assert compared == (promised[0], with_sender), path
        assert compared == ("01_latency" not in without, "02_throughput" not in without), path


def test_connect_times_are_not_promised_as_round_trips(raw: Path) -> None:
    (file_check,) = check(az.parse(raw / "westeurope-psping" / "az01-az02.txt"))
    assert file_check.uses == ("connection times (not RTTs)",)
