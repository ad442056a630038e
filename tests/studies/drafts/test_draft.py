"""Drafts of a manifest that can be read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from helpers.cases import thinned
from helpers.places import FIXTURES

import azlatency as az
from azlatency.gate.inputs import open_study
from azlatency.studies.drafts.draft import _describe, draft, draft_runs
from azlatency.studies.manifest.manifest import read_manifest
from azlatency.studies.runs.assumptions import assumptions


@pytest.mark.parametrize("study", thinned(["westeurope-azure-cni", "emulated-zones"], 2))
def test_a_draft_of_a_real_study_describes_every_log(raw: Path, tmp_path: Path, study: str) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(raw / study, folder, ignore=shutil.ignore_patterns("*.toml", "runs.csv", "truth.json"))
    tables = az.parse(folder)
    for row in tables.rows["sources"]:
        row["path"] = Path(row["path"]).relative_to(folder).as_posix()
    paths = [row["path"] for row in tables.rows["sources"]]
    (folder / "study.toml").write_text(draft("mine", tables), "utf-8")
    manifest = read_manifest(folder)
    for path in paths:
        run: dict[str, object] = {"heading": None}
        assert manifest.describe(run, path) == [], path
        if "az1-az3" in path or "az1a-az3a" in path:
            assert (run["zone"], run["peer_zone"]) == ("1", "3")


def test_hostile_file_names_stay_inside_their_string(tmp_path: Path) -> None:
    folder = tmp_path / 'az1-az2"\n[study]\n'
    folder.mkdir()
    shutil.copy(next((FIXTURES / "ping").glob("*.log")), tmp_path / 'az1-az2"\n[study]\n' / "x.log")
    tables = az.parse(tmp_path)
    for row in tables.rows["sources"]:
        row["path"] = Path(row["path"]).relative_to(tmp_path).as_posix()
    (tmp_path / "study.toml").write_text(draft("x", tables), "utf-8")
    assert len(read_manifest(tmp_path).entries) == 1


@pytest.mark.parametrize(
    ("path", "zones"),
    [
        ("client-az1-server-az3_2024-05-01.log", "1 3"),
        ("server-az3/client-az1/y_r2.log", "1 3"),
        ("az1a-az3a/pp_tcp_r1.txt", "1 3"),
        ("az1-3_ping.txt", "1 3"),
        ("zone1_to_2/x.log", "1 2"),
        ("az9-az14_run1.log", "9 14"),
        ("zone10_zone2/x.log", "10 2"),
        ("az01-az02.log", "1 2"),
        ("AZ1_AZ2.log", "1 2"),
        ("zone-1-to-zone-2.log", "1 2"),
        ("az1-az2/az1-az2_r1.log", "1 2"),
        ("zone1-zone2_az1a-az2a/round01_ping.log", "1 2"),
        ("az1-az2/az2-az1.log", None),
        ("2024-05-01_az1-az2.log", "1 2"),
        ("zone-1-zone-2_run1_2024.txt", "1 2"),
        ("us-central1-a_to_us-east1-b.log", "us-central1-a us-east1-b"),
        ("us-east-1b-us-west-2a/run3/x.log", "us-east-1b us-west-2a"),
        ("use1-az1-use1-az2.log", "use1-az1 use1-az2"),
        ("iperf3-eu-north-1a-eu-north-1c-1.json", "eu-north-1a eu-north-1c"),
        ("AvailabilityZone1-AvailabilityZone3.log", "1 3"),
        ("zone_b_to_zone_c.log", "b c"),
        ("az3<-az1.log", "1 3"),
        ("westeurope_az1-az3.log", "1 3"),
        ("westeurope-1.log", None),
        ("westeurope-4_to_westeurope-1_3.log", "4 1"),
        ("westeurope-1_az3.log", None),
        ("run-1_run-2.log", None),
        ("ping-z1z2.txt", "1 2"),
        ("iperf-Z1Z3-reverse.json", "1 3"),
        ("az2az3/az2az3_run1.log", "2 3"),
        ("zone1zone2_20260131.log", "1 2"),
        ("z1z2z3.log", None),
        ("z1z2/z2z3.log", None),
        ("r1r2.log", None),
        ("xyz1z2.log", None),
        ("host-us-central1-a_gcp/target-europe-west1-c/tcp_rr_3.res", "us-central1-a europe-west1-c"),
        ("az1-2024-05-01.log", None),
        ("az1_2024.log", None),
        ("server-az1-server-az2.log", None),
        ("z1/z2/z3.log", None),
        ("az1/x.log", None),
        ("az{1}-az3.log", None),
        ("az1-az2*.log", None),
    ],
)
def test_zones_in_names(path: str, zones: str | None) -> None:
    """A digit of a date is not a zone, and ambiguous names are left out."""
    pairs = [" ".join(item.values[key] for key in ("zone", "peer_zone")) for item in _describe([path])]
    assert pairs == ([zones] if zones else [])


@pytest.mark.parametrize(
    ("paths", "zones"),
    [
        (["t3/a_to_a.json", "t3/a_to_b.json", "t3/b_to_a.txt"], ["a a", "a b", "b a"]),
        (["1-3/r1.log", "1-2/r1.log", "2-3/r1.log"], ["1 3", "1 2", "2 3"]),
        (["dump.zip!1to3_ping.log", "dump.zip!3to1_ping.log"], ["1 3", "3 1"]),
        (["5-1/x.log", "5-2/x.log", "5-3/x.log"], []),
        (["eastus2-1-2-run1.txt", "eastus2-2-3-run1.txt", "eastus2-1-1-run1.txt"], ["1 2", "2 3", "1 1"]),
        (["eastus2-1-2.txt", "eastus2-1-3.txt"], []),
        (["eastus2-1-1.txt", "eastus2-1-2.txt", "eastus2-2-1.txt"], []),
        (["uksouth-1-2-2024.txt", "uksouth-2-1-2024.txt"], []),
        (["uksouth-1-5.txt", "uksouth-5-1.txt"], []),
        (["uksouth-1-256.txt", "uksouth-2-1400.txt"], []),
        (["mtu-1-2.txt", "mtu-2-3.txt"], []),
        (["a_to_b.log"], []),
        (["1-1.log"], []),
        (["a-1.log", "1-a.log"], []),
        (["vm1_vm2.log", "vm2_vm1.log"], ["vm1 vm2", "vm2 vm1"]),
        (["latency_h1-h4-1.txt", "latency_h1-h2-1.txt"], ["h1 h4", "h1 h2"]),
        (["run1-run2.log", "m64-m1400.log"], []),
        (["2024-1-2/x.log", "2024-2-1/x.log"], []),
        (["1-2-2024/x.log", "2-1-2024/x.log"], []),
    ],
)
def test_bare_letters_and_digits_are_zones_if_some_are_at_both_ends(paths: list[str], zones: list[str]) -> None:
    zoned = [item.values for item in _describe(paths) if "zone" in item.values]
    assert [f"{values['zone']} {values['peer_zone']}" for values in zoned] == zones


def test_two_bare_zones_behind_a_region_of_azure_keep_it() -> None:
    described = _describe(["eastus2-1-2-run1.txt", "eastus2-2-3-run1.txt", "uksouth-1-2-run1.txt"])
    assert {item.pattern for item in described} == {"{region}-{zone}-{peer_zone}-run{repeat}.*"}
    assert described[0].values == {"region": "eastus2", "zone": "1", "peer_zone": "2", "repeat": "1"}


def test_names_of_machines_that_the_addresses_in_the_logs_contradict_are_none() -> None:
    """Thresholds of queues: k115-k219, k120-k224 … between the same two machines."""
    names = ["iperf-k115-k219.log", "iperf-k120-k224.log"]
    same, other = ("10.10.1.1", "10.10.1.2"), ("10.10.1.1", "10.10.1.3")
    for second, zones in ((same, 0), (other, 0), (("", "10.10.1.3"), 2)):
        described = _describe(names, {names[0]: [same], names[1]: [second]})
        assert sum("zone" in item.values for item in described) == zones


def test_a_log_from_the_other_end_of_its_pair_gets_no_zones() -> None:
    """A log whose client is the server of the other logs of the pair was taken at the end that is named last."""
    there, back, unknown = ("10.68.1.4", "10.68.2.4"), ("10.68.2.4", "10.68.1.4"), ("", "10.68.2.4")
    reverse = "iperf-z1z2-reverse.json"
    names = {"iperf-z1z2.json": [there], "ping-z1z2.txt": [unknown], reverse: [back]}
    assert {item.path for item in _describe([*names], names)} == {*names} - {reverse}
    # With one log of each direction, nothing says which of them the names describe.
    assert len(_describe([*names][::2], names)) == 2
    # Two hosts of one zone may measure in both directions.
    same = {name.replace("z1z2", "z1z1"): ends for name, ends in names.items()}
    assert len(_describe([*same], same)) == 3


def test_a_pattern_of_other_logs_does_not_read_a_log_from_the_other_end() -> None:
    names = {f"az1-az2_run{number}.log": [("10.0.1.4", "10.0.2.4")] for number in range(1, 6)}
    names["az1-az2_run6.log"] = [("10.0.2.4", "10.0.1.4")]
    zoned = {item.path for item in _describe([*names], names) if "zone" in item.values}
    assert zoned == {*names} - {"az1-az2_run6.log"}


def test_patterns_that_contradict_each_other_are_left_out() -> None:
    """The folder's zones are those of the file's name in one path only."""
    assert _describe(["az1-az2/az3-az1.log"]) == []
    assert [str(item) for item in _describe(["az1-az2/r1.log", "az2-az1/r2.log"])] == [
        "az1-az2/r1.log: zone 1 → zone 2, repeat 1",
        "az2-az1/r2.log: zone 2 → zone 1, repeat 2",
    ]


def test_a_drafted_table_has_one_row_per_log(raw: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(raw / "westeurope-azure-cni", folder, ignore=shutil.ignore_patterns("*.toml"))
    (folder / "odd[1].log").write_text("hello")
    tables = az.parse(folder)
    for row in tables.rows["sources"]:
        row["path"] = Path(row["path"]).relative_to(folder).as_posix()
    (folder / "runs.csv").write_text(draft_runs(tables), "utf-8")
    (folder / "study.toml").write_text('[study]\nruns = "runs.csv"\n', "utf-8")
    manifest = read_manifest(folder)
    assert manifest.ignored("odd[1].log") == "no log of a known tool"
    run: dict[str, object] = {"heading": None}
    assert manifest.describe(run, "az1-az3/qperf.log") == [] and (run["zone"], run["peer_zone"]) == ("1", "3")


def test_zones_of_azure_keep_the_regions_that_their_names_contain() -> None:
    # Without its region, zone 2 of eastus would be the same end as zone 2 of westeurope.
    assert _assigned(["eastus-az1_westeurope-az2.log", "westeurope-1_to_uksouth-3/x.log"]) == {
        "eastus-az1_westeurope-az2.log": {
            "region": "eastus",
            "zone": "1",
            "peer_region": "westeurope",
            "peer_zone": "2",
        },
        "westeurope-1_to_uksouth-3/x.log": {
            "region": "westeurope",
            "zone": "1",
            "peer_region": "uksouth",
            "peer_zone": "3",
        },
    }


def _assigned(paths: list[str]) -> dict[str, dict[str, str]]:
    return {item.path: dict(item.values) for item in _describe(paths)}


def test_a_draft_of_many_folders_is_short(tmp_path: Path) -> None:
    paths = [f"x_r{number}/a.log" for number in range(40)]
    tables = az.parse(FIXTURES / "ping" / "busybox-1.35-c4.log")
    (source,) = tables.rows["sources"]
    tables.rows["sources"] = [source | {"path": path} for path in paths]
    assert draft("x", tables).count("[[run]]") <= 24


def _draft(paths: list[str], tool: str = "ping") -> str:
    logs = az.Logs()
    logs.rows["sources"] = [{"source_id": path, "path": path} for path in paths]
    logs.rows["runs"] = [{"source_id": path, "tool": tool} for path in paths]
    return draft("x", logs)


def test_a_draft_has_one_entry_for_each_group_of_logs_without_zones() -> None:
    repeats = _draft([f"ping_run{number}.log" for number in range(1, 7)])
    assert repeats.count("[[run]]") == repeats.count('log = "*"') == 1
    treatments = _draft(["vpn/ipsec_1.txt", "vpn/ipsec_2.txt", "vpn/openvpn_1.txt", "plain/a_1.txt"])
    assert treatments.count("[[run]]") == 3 and "scenario = " not in treatments
    assert 'log = ["vpn/ipsec_1.txt", "vpn/ipsec_2.txt"]' in treatments and 'log = "plain/*"' in treatments


def test_folders_that_tell_names_apart_are_scenarios() -> None:
    paths = [f"aws/{size}/a_to_{zone}.json" for size in ("m5large", "t3micro") for zone in "ab"]
    text = _draft(paths, "iperf3")
    assert '  "{scenario}/{zone}_to_{peer_zone}.*",' in text
    assert "# aws/m5large/a_to_b.json: m5large, zone a → zone b" in text
    # Such a scenario would hide what else the names say.
    more = [path.replace(".json", f"_{law}.json") for path in paths for law in ("cubic", "bbr")]
    assert "{scenario}" not in _draft(more, "iperf3") and "{scenario}" not in _draft(["a_to_b.json", "b_to_a.json"])
    assert "{scenario}" not in _draft(["x/a_to_b.json", "x/b_to_a.json", "ping_3.json", "ping_8.json"])
    days = [f"2026-09-{day:02}/az1-az{zone}.json" for day in range(1, 9) for zone in (2, 3)]
    assert '  "az{zone}-az{peer_zone}.*",' in _draft(days, "iperf3")


def test_folders_of_both_ends_are_one_pattern() -> None:
    """A file that names the reverse direction is read as such, and one of a third machine is left out."""
    hosts, targets = ("lon04_ibm", "us-east4-a_gcp"), ("ap-northeast-1_aws", "us-west1-a_gcp")
    names = ("bw_host_target_1.res", "bw_target_host_1.res", "bw_proxy_target_1.res")
    paths = [f"host-{h}/target-{t}/time-{n}/{name}" for h in hosts for t in targets for n in (1, 2) for name in names]
    assert {item.pattern for item in _describe(paths)} == {
        "host-{region}/target-{peer_region}/*/*host_target*",
        "host-{peer_region}/target-{region}/*/*target_host*",
    }
    reverse = _assigned(paths)["host-lon04_ibm/target-us-west1-a_gcp/time-1/bw_target_host_1.res"]
    assert reverse == {"region": "us-west1-a_gcp", "peer_region": "lon04_ibm"}
    assert not any("proxy" in path for path in _assigned(paths))


def test_a_name_that_does_not_fit_leaves_the_others_in_the_draft() -> None:
    paths = [f"az{a}-az{b}_r{n}.log" for a in (1, 2) for b in (1, 2, 3) for n in (1, 2)]
    odd = [f"odd{n}/az1_then_az{n % 9}-x{n}_y.log" for n in range(60)]
    assert {item.path for item in _describe([*paths, *odd])} >= set(paths)


@pytest.mark.costly
@pytest.mark.parametrize("ends", ["az0{}-az0{}", "AZ{}_AZ{}", "zone-{}-to-zone-{}", "10.{}.0.4_to_10.{}.0.5"])
@pytest.mark.parametrize("odd", ["{}-az3", "{}_az3", "{}-to-zone-3", "{}_to_10.9.9.9", "{}_copy"])
def test_two_names_that_do_not_fit_never_empty_the_draft(ends: str, odd: str, tmp_path: Path) -> None:
    """The pattern of the others would read the odd names as well, so the others get entries instead."""
    pairs = [("1", "2"), ("2", "1"), ("2", "3"), ("3", "2")]
    logs = {f"ping_{ends.format(*zones)}_{repeat}.txt": zones for zones in pairs for repeat in (1, 2)}
    strange = [f"ping_{odd.format(ends.format(*zones))}_9.txt" for zones in pairs[:2]]
    (tmp_path / "study.toml").write_text(_draft([*logs, *strange]), "utf-8")
    manifest = read_manifest(tmp_path)
    for path, (near, far) in logs.items():
        run: dict[str, object] = {"heading": None}
        assert manifest.describe(run, path) == [], path
        if "10." in ends:
            assert (run["client"], run["server"]) == (f"10.{near}.0.4", f"10.{far}.0.5")
        else:
            assert (run["zone"], run["peer_zone"]) == (near, far)


def test_folders_named_by_addresses_are_no_scenarios() -> None:
    described = _assigned(["10.1.0.4_to_10.2.0.5/ping.log", "10.1.0.4_to_10.3.0.5/ping.log"])
    assert {key for values in described.values() for key in values} == {"client", "server"}


def test_a_draft_does_not_ask_for_zones_that_the_log_prints(tmp_path: Path) -> None:
    shutil.copy(FIXTURES / "avzone" / "qperf.log", tmp_path / "zones.log")
    tables = az.parse(tmp_path / "zones.log")
    for row in tables.rows["sources"]:
        row["path"] = "zones.log"
    text = draft("mine", tables)
    assert "zone = " not in text
    (tmp_path / "study.toml").write_text(text, "utf-8")
    run: dict[str, object] = {"heading": None, "zone": "1", "peer_zone": "3", "region": "uksouth"}
    assert read_manifest(tmp_path).describe(run, "zones.log") == []
    assert run["placement"] == "cross_zone"


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("from_eu-west-1a.txt", {"zone": "eu-west-1a"}),
        ("to_zone2/ping.log", {"peer_zone": "2"}),
        ("zone2/ping.log", {}),
        ("from_zone1_via_zone2_to_zone3.txt", {}),
        ("fping-from-vm-zone4.log", {"zone": "4"}),
        # Words with a number in front of two zones, and what Amazon's names and ids have in common.
        ("set1-az1-az2.txt", {"zone": "1", "peer_zone": "2"}),
        ("day1-az1-to-az2.txt", {"zone": "1", "peer_zone": "2"}),
        ("usw2-az1-az2-sockperf.txt", {"zone": "1", "peer_zone": "2"}),
        ("usw2-az1-usw2-az2-1.txt", {"zone": "usw2-az1", "peer_zone": "usw2-az2"}),
        ("us-east-1a-to-1b/1.txt", {"zone": "1a", "peer_zone": "1b"}),
        ("az1a-2b.txt", {}),
        # The folder of a machine is the client.
        ("vm1/vm1-to-vm2.txt", {"zone": "vm1", "peer_zone": "vm2"}),
        ("node1/sockperf-node2-3.txt", {"zone": "node1", "peer_zone": "node2"}),
        ("k1/k2.log", {}),
    ],
)
def test_zones_are_of_the_ends_that_a_name_says(path: str, values: dict[str, str]) -> None:
    assert _assigned([path]).get(path, {}) == values


@pytest.mark.parametrize(
    "shape", ["=== {pair} run {repeat} ===", "=== {pair} ===", "#### run {repeat}: {pair} ####", "$ ./measure {pair}"]
)
def test_labels_that_name_two_zones_say_them(shape: str, tmp_path: Path) -> None:
    log = (FIXTURES / "ping" / "iputils-20221126-s8.log").read_text("utf-8")
    banners = [
        shape.format(pair=f"zone{zone} -> zone{peer}", repeat=repeat)
        for repeat in (1, 2)
        for zone, peer in ((1, 2), (1, 3), (2, 3))
    ]
    (tmp_path / "bench.txt").write_text("\n".join(f"{banner}\n{log}\n" for banner in banners), "utf-8")
    study = open_study(str(tmp_path))
    runs = study.runs.iloc[: len(banners)]
    assert [*zip(runs["zone"], runs["peer_zone"], strict=True)] == [("1", "2"), ("1", "3"), ("2", "3")] * 2
    assert any(line.startswith("assumed: zones as the labels say: ") for line in assumptions(study))


@pytest.mark.parametrize("label", ["from zone{}", "client zone {}, run 2", "from us-east-1{}"])
def test_a_label_that_names_the_zone_of_one_end(label: str, tmp_path: Path) -> None:
    log = (FIXTURES / "ping" / "iputils-20221126-s8.log").read_text("utf-8")
    zones = "ab" if label.endswith("1{}") else "12"
    text = "\n".join(f"=== {label.format(zone)} ===\n{log}\n" for zone in zones)
    (tmp_path / "bench.txt").write_text(text, "utf-8")
    study = open_study(str(tmp_path))
    assert [zone[-1] for zone in study.runs["zone"]] == [*zones] and study.runs["peer_zone"].isna().all()
    assert any(line.startswith("assumed: zones as the labels say: ") for line in assumptions(study))
