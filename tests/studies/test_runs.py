"""Which runs a page looks at: some pairs only, and the study that it is held against."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers.places import ROOT

import azlatency as az
from azlatency.report import tables
from azlatency.report.answerable import unanswered
from azlatency.report.objects import Note
from azlatency.report.table import Table
from azlatency.studies.runs import of_scenario

AFTER, BEFORE = "westeurope-azure-cni", "westeurope-availability-set-vs-zones"


def load(name: str, out: Path) -> Any:
    az.import_study(name, out=out)
    return az.load(name, processed=out)


# --- some pairs only


def test_a_study_of_some_pairs() -> None:
    study = az.load("emulated-zones")
    some = az.studies.select(study, "1-3, az2a -> az1a")
    assert set(az.latency(some)["path"]) == {"az1a → az3a", "az3a → az1a", "az2a → az1a"}
    assert set(some.samples["run_id"]) <= set(some.runs["run_id"])
    assert az.studies.select(study, " ") is study
    with pytest.raises(az.LogError, match=r"no path or pair of zones named 1-9\. Known: az1a → az1b, "):
        az.studies.select(study, "1-9")


def test_scenarios_of_reported_numbers_can_be_selected(tmp_path: Path) -> None:
    study = load("uksouth-echo-latency", tmp_path)
    assert set(az.studies.select(study, "Same AZ").reported["scenario"]) == {"Same AZ"}


@pytest.mark.parametrize("rows", [az.studies.run_table, az.latency, az.throughput])
def test_rows_that_were_changed_do_not_change_what_is_returned_next(rows: Any) -> None:
    study = az.load(AFTER)
    first, expected = rows(study), rows(az.load(AFTER))
    first["path"], first.loc[first.index[0], "method"] = "elsewhere", "other"
    pd.testing.assert_frame_equal(rows(study), expected)


def test_logs_that_were_added_are_counted() -> None:
    logs = az.parse(ROOT / "data" / "raw" / AFTER / "az1-az1" / "sockperf.log")
    assert len(az.latency(logs)) == 1
    logs.extend(az.parse(ROOT / "data" / "raw" / AFTER / "az1-az2" / "sockperf.log"))
    assert len(az.latency(logs)) == 2


# --- the study before


def test_a_manifest_names_the_study_before(tmp_path: Path) -> None:
    load(BEFORE, tmp_path)
    study = load(AFTER, tmp_path)
    assert az.studies.other_study(study, "").name == BEFORE
    assert isinstance(tables.before_after.settings(study, az.studies.other_study(study, "")), Table)
    assert az.studies.other_study(az.studies.select(study, "AZ1 - AZ2"), "").name == BEFORE


def test_without_another_study_the_page_says_so(tmp_path: Path) -> None:
    """The manifest's is not imported, or there is none: nothing fails, nothing is compared."""
    for name in (AFTER, "uksouth-echo-latency"):
        study = load(name, tmp_path)
        none = az.studies.other_study(study, "")
        assert not len(none.runs) and not len(az.latency(none)) and not len(az.throughput(none))
        assert list(az.stats.compare_imports(az.latency(study), az.latency(none))) == []
        assert isinstance(tables.before_after.settings(study, none), Note)


def test_a_study_that_is_named_and_missing_is_an_error(tmp_path: Path) -> None:
    study = load(AFTER, tmp_path)
    with pytest.raises(az.LogError, match=f"study 'nope' not found. Known studies: {AFTER}"):
        az.studies.other_study(study, "nope")


# --- which runs are repeats of one another


def test_four_connections_are_not_a_repeat_of_one(tmp_path: Path) -> None:
    logs = [ROOT / "tests" / "fixtures" / "iperf3" / name for name in ("3.12-P4.txt", "3.12-verbose.txt")]
    az.import_study("mine", logs, out=tmp_path)
    runs = az.throughput(az.load("mine", processed=tmp_path))
    assert sorted(runs["method"]) == ["iperf3 TCP 1 connection", "iperf3 TCP 4 connections"]
    assert [estimate.codes for estimate in az.summarize(runs, "throughput_bit_s")] == [("no_replication",)] * 2


def test_runs_of_different_requested_rates_are_not_repeats(tmp_path: Path) -> None:
    log = (ROOT / "tests" / "fixtures" / "iperf3" / "3.16-udp-omit.json").read_text(encoding="utf-8")
    faster = log.replace('"target_bitrate":\t40000000', '"target_bitrate":\t60000000')
    for name, text in (("slow", log), ("fast", faster)):
        (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
    both = az.parse(tmp_path)
    assert sorted(az.throughput(both)["method"]) == ["iperf3 UDP 40 Mbit/s", "iperf3 UDP 60 Mbit/s"]
    (printed,) = az.parse(tmp_path / "slow.json").metrics.query("metric == 'target_rate'").itertuples()
    assert (printed.value, printed.unit, printed.printed, printed.line) == (4e7, "bit/s", "40000000", 36)


def test_methods_keep_their_names_where_nothing_divides_them(tmp_path: Path) -> None:
    az.import_study("mine", [ROOT / "tests" / "fixtures" / "iperf3" / "3.12-P4.txt"], out=tmp_path)
    assert list(az.throughput(az.load("mine", processed=tmp_path))["method"]) == ["iperf3 TCP"]


def test_runs_of_unknown_ends_are_not_pooled(tmp_path: Path) -> None:
    """No qperf log names an end: three logs in a folder may be three paths."""
    logs = [ROOT / "tests" / "fixtures" / "qperf" / f"0.4.11-{name}.log" for name in ("vvt", "vv")]
    az.import_study("mine", logs, out=tmp_path)
    runs = az.latency(az.load("mine", processed=tmp_path))
    by_method = {estimate.labels["method"]: estimate for estimate in az.summarize(runs, "mean_ns")}
    assert set(runs["path"]) == {"? → ?"}
    assert [estimate.codes for estimate in by_method.values() if estimate.n > 1] == [("path_unknown",)]
    assert all(estimate.estimate is None for estimate in by_method.values())


# --- paths of a manifest


def study_of(tmp_path: Path, manifest: str, logs: dict[str, str]) -> Any:
    """Import logs (text by path) with a manifest."""
    folder = tmp_path / "raw" / "mine"
    for name, text in logs.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    (folder / "study.toml").write_text(manifest, "utf-8")
    az.import_study("mine", [folder], out=tmp_path / "out")
    return az.load("mine", processed=tmp_path / "out")


def ping(host: str, *milliseconds: float) -> str:
    """Return the output of iputils."""
    replies = "".join(
        f"64 bytes from {host}: icmp_seq={n} ttl=64 time={time:.3f} ms\n" for n, time in enumerate(milliseconds, 1)
    )
    count, mean = len(milliseconds), sum(milliseconds) / len(milliseconds)
    spread = (sum(time * time for time in milliseconds) / count - mean * mean) ** 0.5
    return (
        f"PING {host} ({host}) 56(84) bytes of data.\n{replies}\n--- {host} ping statistics ---\n"
        f"{count} packets transmitted, {count} received, 0% packet loss, time {1000 * (count - 1)}ms\n"
        f"rtt min/avg/max/mdev = {min(milliseconds):.3f}/{mean:.3f}/{max(milliseconds):.3f}/{spread:.3f} ms\n"
    )


PAIRS = (("us-central1", "a", "us-east1", "b", 25.0), ("us-east1", "b", "us-west1", "a", 66.0))


def test_a_scenario_over_region_pairs_is_not_pooled(tmp_path: Path) -> None:
    manifest, logs = "[study]\n", {}
    for number, (region, zone, peer_region, peer_zone, rtt) in enumerate(PAIRS):
        manifest += (
            f'[[run]]\nlog = "{number}/*"\nscenario = "gcp"\nregion = "{region}"\nzone = "{zone}"\n'
            f'peer_region = "{peer_region}"\npeer_zone = "{peer_zone}"\n'
        )
        logs |= {f"{number}/{repeat}.log": ping(f"10.{number}.0.9", rtt, rtt + 1 + repeat / 8) for repeat in range(2)}
    study = study_of(tmp_path, manifest, logs)
    note = "scenario 'gcp' covers 2 paths, which are never pooled: gcp: us-central1-a → us-east1-b, "
    assert az.import_study("mine", [tmp_path / "raw/mine"], out=tmp_path / "out").notes[0].startswith(note)
    estimates = az.summarize(az.latency(study), "mean_ns")
    assert [(str(estimate.labels["path"]), estimate.n) for estimate in estimates] == [
        ("gcp: us-central1-a → us-east1-b", 2), ("gcp: us-east1-b → us-west1-a", 2)]  # fmt: skip
    (result,) = az.asymmetry(az.latency(study))
    assert result.pairs == () and set(result.nodes) == {"us-central1-a", "us-east1-b", "us-west1-a"}
    assert set(az.latency(az.studies.select(study, "gcp"))["path"]) == {
        str(estimate.labels["path"]) for estimate in estimates
    }


def test_zones_of_different_regions_are_not_compared(tmp_path: Path) -> None:
    """The zones a → b of one pair of regions and b → a of another are no pair of directions."""
    runs = pd.DataFrame([
        {"region": region, "zone": zone, "peer_region": peer_region, "peer_zone": peer_zone, "round": round_,
         "method": "ping", "mean_ns": rtt * 1e6 + round_}
        for region, zone, peer_region, peer_zone, rtt in PAIRS for round_ in (1, 2)
    ])  # fmt: skip
    (result,) = az.asymmetry(runs)
    assert result.pairs == () and "one_direction" in result.codes


def test_runs_of_an_unknown_client_are_not_pooled(tmp_path: Path) -> None:
    logs = {f"{number}.log": ping("10.0.0.9", 1.0, 2.0 + number / 8) for number in range(2)}
    (estimate,) = az.summarize(az.latency(study_of(tmp_path, "", logs)), "mean_ns")
    assert estimate.codes == ("end_unknown",) and estimate.estimate is None
    manifest = '[[run]]\nlog = "*"\nclient = "vm-a"\n'
    (estimate,) = az.summarize(az.latency(study_of(tmp_path / "known", manifest, logs)), "mean_ns")
    assert estimate.n == 2 and estimate.estimate is not None


def test_an_open_class_has_no_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame({"run_id": "r", "low_ns": [0.0, 10.0], "high_ns": [10.0, pd.NA], "count": [30, 90]})
    monkeypatch.setattr(az.studies.runs, "frequency_tables", lambda study: table.convert_dtypes())
    runs = pd.DataFrame({"median_ns": float("nan"), "p99_ns": float("nan"), "median_from": None}, index=["r"])
    az.studies.runs._fill_from_classes(None, runs)
    assert runs.loc["r"].isna().all()


# --- two scenarios of one study


def two_scenarios(tmp_path: Path, before: str = "@old") -> az.Study:
    folder = tmp_path / "raw" / "mine"
    for scenario, dump in (("old", "base.zip"), ("new", "slower.zip")):
        with zipfile.ZipFile(ROOT / "tests" / "compare" / dump) as logs:
            names = [name for name in logs.namelist() if name.endswith("sockperf.log")]
            logs.extractall(folder / scenario, names)
    pattern = 'pattern = "{scenario}/zone{zone}-zone{peer_zone}_*/round{round}_*"\n'
    (folder / "study.toml").write_text(f'[study]\ntitle = "Upgrade"\nbefore = "{before}"\n{pattern}', "utf-8")
    az.import_study("mine", [folder], out=tmp_path)
    return az.load("mine", processed=tmp_path)


def test_the_page_compares_two_scenarios_of_one_study(tmp_path: Path) -> None:
    study = two_scenarios(tmp_path)
    before = az.studies.other_study(study, "")
    after = az.studies.without(study, before)
    assert (after.name, before.name) == ("mine@new", "mine@old") and not set(after.runs.run_id) & set(
        before.runs.run_id
    )
    changes = az.stats.compare_imports(az.latency(after), az.latency(before))
    assert [change.labels["path"] for change in changes] == ["zone 1 → zone 2", "zone 2 → zone 1"]
    assert all(change.verdict == "different" and 1.2 < change.ratio.estimate < 1.3 for change in changes)
    settings = tables.before_after.settings(after, before)
    assert isinstance(settings, Table) and [col.header for col in settings.columns[1:3]] == ["mine@new", "mine@old"]
    assert "09_before_after" not in {question.page for question in unanswered(study)}
    assert az.studies.without(study, az.studies.other_study(study, "mine")) is study


def test_a_scenario_is_compared_with_one_other(tmp_path: Path) -> None:
    study = two_scenarios(tmp_path, "@older")
    assert not az.studies.other_study(study, "").info, "the manifest names no scenario of the study"
    with pytest.raises(az.LogError, match=r"mine has no scenario 'older'; known: new, old"):
        az.studies.other_study(study, "@older")
    old = of_scenario(study, "old")
    with pytest.raises(az.LogError, match=r"mine@old is compared with one other scenario; .* pairs: none"):
        az.studies.without(old, old)


def test_rounds_are_in_the_order_of_their_numbers() -> None:
    table = az.studies.run_table(az.load("emulated-cloud"))
    assert table["round"].max() >= 10
    assert all(group["round"].is_monotonic_increasing for _, group in table.groupby(["path", "method"], sort=False))


def test_each_direction_of_a_bidirectional_test_has_a_goodput() -> None:
    logs = az.parse(ROOT / "tests" / "fixtures" / "iperf3" / "3.12-bidir.txt")
    rows = az.throughput(logs)
    # Lines 14 and 16 of the log, [TX-C] and [RX-C] as their receivers counted them; lines 13 and 15, retransmits.
    assert list(rows["throughput_bit_s"]) == [2.81e9, 2.79e9] and list(rows["retransmits"]) == [2342, 2259]
    assert list(rows["method"]) == ["iperf3 stream-bidir TCP", "iperf3 stream-bidir-reverse TCP"]
    assert set(rows["side"]) == {"receiver"}
    assert list(rows.index) == [f"{logs.runs.at[0, 'run_id']}{end}" for end in ("", "-reverse")]


def test_the_log_of_a_server_has_the_same_directions_as_that_of_a_client() -> None:
    rows = az.throughput(az.parse(ROOT / "tests" / "fixtures" / "iperf3" / "3.14-server-bidir-P2.log"))
    # [SUM][RX-S] is data from the client, and [SUM][TX-S] data to the client, whose count the server does not know.
    assert dict(zip(rows["test"], rows["throughput_bit_s"], strict=True)) == {
        "stream-bidir": 196e6, "stream-bidir-reverse": 197e6,
    }  # fmt: skip
    assert list(rows["side"]) == ["receiver", "sender"]
