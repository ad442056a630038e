"""Which runs are repeats of one another, and the paths of a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers.places import ROOT
from helpers.results import estimates_of
from helpers.studies import in_memory

import azlatency as az
from azlatency.studies.runs.run_table import overlapping_runs

AFTER, BEFORE = "westeurope-azure-cni", "westeurope-availability-set-vs-zones"


def load(name: str, out: Path) -> Any:
    az.import_study(name, out=out)
    return az.load(name, processed=out)


@pytest.mark.costly
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


# --- which runs are repeats of one another


def test_four_connections_are_not_a_repeat_of_one(tmp_path: Path) -> None:
    logs = [ROOT / "tests" / "fixtures" / "iperf3" / name for name in ("3.12-P4.txt", "3.12-verbose.txt")]
    az.import_study("mine", logs, out=tmp_path)
    runs = az.throughput(az.load("mine", processed=tmp_path))
    assert sorted(runs["method"]) == ["iperf3 TCP 1 connection", "iperf3 TCP 4 connections"]
    assert [estimate.codes for estimate in estimates_of(az.summarize(runs, "throughput_bit_s"))] == [
        ("no_replication",)
    ] * 2


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


def test_names_tell_runs_of_unknown_ends_apart(tmp_path: Path) -> None:
    """No qperf log names an end; the names of these two differ in more than a number."""
    logs = [ROOT / "tests" / "fixtures" / "qperf" / f"0.4.11-{name}.log" for name in ("vvt", "vv")]
    az.import_study("mine", logs, out=tmp_path)
    runs = az.latency(az.load("mine", processed=tmp_path))
    assert all(estimate.n == 1 for estimate in estimates_of(az.summarize(runs, "mean_ns")))
    assert {"vv: ? → ?", "vvt: ? → ?"} < set(runs["path"])


def test_names_tell_runs_apart_beside_one_whose_scenario_the_manifest_says(tmp_path: Path) -> None:
    for number, name in enumerate(("bbr_a", "cubic_b", "other"), start=1):
        (tmp_path / f"{name}.log").write_text(ping(f"10.0.0.{number}", 1.0, 1.0 + number / 10), "utf-8")
    (tmp_path / "study.toml").write_text('[study]\n[[run]]\nlog = "other.log"\nscenario = "named"\n', "utf-8")
    runs = az.studies.run_table(in_memory(tmp_path))
    assert list(runs["scenario"]) == ["named", "bbr_a", "cubic_b"]
    # No log names its client, so that their names say more than the addresses.
    assert list(runs["path"]) == ["named", "bbr_a: ? → 10.0.0.1", "cubic_b: ? → 10.0.0.2"]


@pytest.mark.parametrize(
    ("names", "prompts", "paths"),
    [
        (["capture_{}.log"], ["root@c1:~# ", "", "$ ", ""], ["c1 → 10.0.0.9"] * 4),
        # With two known clients, a third one may have run the others.
        (
            ["run{}.log"],
            ["root@c1:~# ", "root@c2:~# ", "", ""],
            ["c1 → 10.0.0.9", "c2 → 10.0.0.9", *["? → 10.0.0.9"] * 2],
        ),
        (["a/run{}.log", "b/run{}.log"], ["root@c1:~# ", "", "", ""], ["a: c1 → 10.0.0.9", "b: ? → 10.0.0.9"] * 2),
    ],
)
def test_runs_whose_client_no_log_names_are_of_the_only_one_that_is_known(
    tmp_path: Path, names: list[str], prompts: list[str], paths: list[str]
) -> None:
    for number, prompt in enumerate(prompts):
        file = tmp_path / names[number % len(names)].format(number + 1)
        file.parent.mkdir(exist_ok=True)
        command = f"{prompt}ping -c 2 10.0.0.9\n" if prompt else ""
        file.write_text(command + ping("10.0.0.9", 1.0, 2.0 + number / 8), "utf-8")
    runs = az.latency(az.parse(tmp_path))
    runs = runs.sort_values("file", key=lambda files: files.str.extract(r"(\d)\.log")[0])
    assert list(runs["path"]) == paths
    assert ["one_client" in codes.split() for codes in runs["assumed"].fillna("")] == [
        "@" not in each for each in prompts
    ]


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
    estimates = estimates_of(az.summarize(az.latency(study), "mean_ns"))
    assert [(str(estimate.labels["path"]), estimate.n) for estimate in estimates] == [
        ("gcp: us-central1-a → us-east1-b", 2),
        ("gcp: us-east1-b → us-west1-a", 2),
    ]
    found = az.asymmetry(az.latency(study))
    assert found.pairs.empty and list(found.methods["ends"]) == [3]
    assert {*found.cells["from"], *found.cells["to"]} == {"us-central1-a", "us-east1-b", "us-west1-a"}
    assert set(az.latency(az.studies.select(study, "gcp"))["path"]) == {
        str(estimate.labels["path"]) for estimate in estimates
    }


def test_zones_of_different_regions_are_not_compared(tmp_path: Path) -> None:
    """The zones a → b of one pair of regions and b → a of another are no pair of directions."""
    runs = pd.DataFrame(
        [
            {
                "region": region,
                "zone": zone,
                "peer_region": peer_region,
                "peer_zone": peer_zone,
                "round": round_,
                "method": "ping",
                "mean_ns": rtt * 1e6 + round_,
            }
            for region, zone, peer_region, peer_zone, rtt in PAIRS
            for round_ in (1, 2)
        ]
    )
    found = az.asymmetry(runs)
    assert found.pairs.empty and "one_direction" in found.methods["flags"].iloc[0]


def test_one_client_is_assumed_where_no_log_names_it(tmp_path: Path) -> None:
    logs = {f"{number}.log": ping("10.0.0.9", 1.0, 2.0 + number / 8) for number in range(2)}
    found = az.summarize(az.latency(study_of(tmp_path, "", logs)), "mean_ns")
    assert list(found["n"]) == [2] and "assumed: one client, which these logs do not name" in az.say(found)
    manifest = '[[run]]\nlog = "*"\nclient = "vm-a"\n'
    (estimate,) = estimates_of(az.summarize(az.latency(study_of(tmp_path / "known", manifest, logs)), "mean_ns"))
    assert estimate.n == 2 and estimate.estimate is not None


def test_rounds_are_in_the_order_of_their_numbers() -> None:
    table = az.studies.run_table(az.load("emulated-cloud"))
    assert table["round"].max() >= 10
    assert all(group["round"].is_monotonic_increasing for _, group in table.groupby(["path", "method"], sort=False))


# --- runs that overlap in time


def timed(*rows: tuple[str, str, int, float]) -> pd.DataFrame:
    """Return runs of one path: their id, file, start in seconds and duration in seconds."""
    ids, files, starts, durations = zip(*rows, strict=True)
    return pd.DataFrame(
        {
            "run_id": ids, "file": files, "path": "a → b", "method": "iperf3 TCP",
            "started_at": pd.to_datetime(starts, unit="s", utc=True), "duration_ns": [1e9 * each for each in durations],
        }
    )  # fmt: skip


def test_runs_that_overlap_in_time_may_be_of_different_machines() -> None:
    found = overlapping_runs(timed(("1", "x.json", 0, 10), ("2", "y.json", 5, 10), ("3", "z.json", 60, 10)))
    assert found == {"1": "2", "2": "1"}
    short = overlapping_runs(timed(("1", "x.json", 0, 2), ("2", "y.json", 0, 2)))  # six clients that start together
    assert short == {"1": "2", "2": "1"}


@pytest.mark.parametrize(
    "rows",
    [
        [("1", "x.json", 0, 10), ("2", "y.json", 10, 10)],  # one after the other
        [("1", "x.json", 60, 10), ("2", "y.json", 0, 10)],  # in another order than that of their names
        [("1", "x.json", 0, 10), ("2", "y.json", 9, 10)],  # clocks differ by a second
        [("1", "x.json", 0, 10), ("2", "x.json", 0, 10)],  # one date above two runs of a file
        [("1", "x.json", 0, 2), ("2", "y.json", 1, 2)],  # 0.9 s and 1.9 s are printed so, and clocks differ
        [("1", "x.json", 0, 1), ("2", "y.json", 0, 1)],  # shorter than the step of the start times
    ],
)
def test_runs_that_may_follow_each_other_do_not_overlap(rows: list[tuple[str, str, int, float]]) -> None:
    assert overlapping_runs(timed(*rows)) == {}


def test_a_copy_between_repeats_leaves_them_repeats(tmp_path: Path) -> None:
    """Of the second and the third log, which are equal and long, one counts; logs and a study say the same."""
    logs = {f"ping_{number}.log": ping("10.0.0.9", *[1.0, 2.0 + number / 8] * 15) for number in (1, 2, 4, 5)}
    logs["ping_3.log"] = logs["ping_2.log"]
    study = study_of(tmp_path, "", logs)
    for source in (study, az.parse(tmp_path / "raw" / "mine")):
        (estimate,) = estimates_of(az.summarize(az.latency(source), "mean_ns"))
        assert estimate.n == 4
