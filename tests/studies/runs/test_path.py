"""A path is a value: it groups, sorts, hashes and prints."""

from __future__ import annotations

import doctest
from dataclasses import replace

import pandas as pd
import pytest

from azlatency.studies.runs import path as path_module
from azlatency.studies.runs.path import Endpoint, name_paths, with_known_ends
from azlatency.studies.runs.path import NetworkPath as Path


def test_examples_print_what_they_show() -> None:
    assert doctest.testmod(path_module).failed == 0


def test_paths_are_equal_and_hash_by_their_text() -> None:
    path = Path.between("a", "b")
    described = Path(Endpoint(machine="a", zone="1"), Endpoint(machine="b", zone="2"))
    assert path == described == "a → b" and hash(path) == hash(described) == hash("a → b")
    assert path != Path.between("b", "a") and path != 3
    assert {path: 1}["a → b"] == 1
    assert Path(scenario="a → b") == path


def test_paths_sort_by_their_text() -> None:
    paths = [Path.between("b", "a"), Path.between("a", "c"), Path.between("a", "b")]
    assert list(map(str, sorted(paths))) == ["a → b", "a → c", "b → a"]
    assert Path.between("a", "b") < "b → a" and Path.between("b", "a") >= Path.between("a", "b")
    with pytest.raises(TypeError):
        _ = Path.between("a", "b") < 3


def test_printed_forms() -> None:
    path = Path.between("az1", "az3")
    assert (str(path), repr(path), f"{path:>12}") == ("az1 → az3", "NetworkPath('az1 → az3')", "   az1 → az3")
    assert str(Path(Endpoint(machine="az1"))) == "az1 → ?" and Path(Endpoint(machine="az1")).is_unknown
    assert str(Path()) == "? → ?" and Path().is_unknown


@pytest.mark.parametrize("text", ["a → b", "a->b", "a  ->  b"])
def test_parse(text: str) -> None:
    assert Path.parse(text) == Path.between("a", "b")
    assert Path.parse(Path.parse(text)).ends == ("a", "b")


def test_reversed() -> None:
    path = Path(Endpoint(machine="a", zone="1"), Endpoint(machine="b", zone="2"))
    assert path.reversed() == "b → a" and path.reversed().client.zone == "2"
    assert path.reversed().reversed() == path
    assert Path(scenario="zone 1 → zone 2").reversed() == "zone 2 → zone 1"
    assert Path(scenario="AZ1 - AZ3").reversed() == "AZ1 - AZ3", "the name of a scenario shows no direction"


def test_paths_in_a_frame() -> None:
    frame = pd.DataFrame(
        {
            "path": [Path.between("b", "a"), Path.between("a", "b"), Path.parse("b->a")],
            "x": [1, 2, 3],
        }
    )
    assert frame.groupby("path")["x"].sum().to_dict() == {"a → b": 2, "b → a": 4}
    assert list(frame[frame["path"] == "b → a"]["x"]) == [1, 3]


# --- distinct names for distinct paths


def end(machine: str | None = None, region: str | None = None, zone: str | None = None) -> Endpoint:
    return Endpoint(machine=machine, region=region, zone=zone)


def texts(*paths: Path, methods: list[str] | None = None) -> list[str]:
    return [str(path) for path in name_paths(paths, methods or ["ping"] * len(paths))]


def test_zones_of_two_regions_have_different_names() -> None:
    google = [
        end(region=region, zone=zone) for region, zone in (("us-central1", "a"), ("us-east1", "b"), ("us-west1", "a"))
    ]
    paths = [Path(google[0], google[1]), Path(google[1], google[2])]
    assert texts(*paths) == ["us-central1-a → zone b", "zone b → us-west1-a"]
    assert [end(region="us-east-1", zone="b").place_name(), end(region="eastus", zone="1").place_name()] == [
        "us-east-1b",
        "eastus zone 1",
    ]


def test_the_same_names_or_private_addresses_in_two_regions_are_two_paths() -> None:
    regions = ("eastus", "westus")
    assert texts(*(Path(end("vm-a", region, "1"), end("vm-b", region, "2")) for region in regions)) == [
        "vm-a in eastus zone 1 → vm-b in eastus zone 2",
        "vm-a in westus zone 1 → vm-b in westus zone 2",
    ]
    assert texts(*(Path(end("10.0.0.4", region, "1"), end("10.0.0.5", region, "2")) for region in regions)) == [
        "eastus zone 1 → eastus zone 2",
        "westus zone 1 → westus zone 2",
    ]


def test_a_scenario_of_several_paths_does_not_replace_their_ends() -> None:
    ends = [end(region=region) for region in ("us-central1", "us-east1", "us-west1")]
    paths = [
        Path(ends[0], ends[1], "gcp"),
        Path(ends[1], ends[2], "gcp"),
        Path(ends[0], ends[1], "other"),
    ]
    assert texts(*paths) == ["gcp: us-central1 → us-east1", "gcp: us-east1 → us-west1", "other"]
    machines = [Path(end(name), end("10.0.0.9"), "both") for name in ("10.0.0.4", "10.0.0.5")]
    assert texts(*machines) == ["both: 10.0.0.4 → 10.0.0.9", "both: 10.0.0.5 → 10.0.0.9"]


def test_zones_name_a_path_if_a_log_names_addresses_or_one_machine_only() -> None:
    """sockperf names its server, iperf3 both ends: the runs belong to one path."""
    one, both = (
        Path(end(zone="1"), end("10.0.2.4", zone="2")),
        Path(end("10.0.1.4", zone="1"), end("10.0.2.4", zone="2")),
    )
    assert texts(one, both) == ["zone 1 → zone 2"] * 2
    assert texts(both) == ["zone 1 → zone 2"]
    assert texts(Path(end("vm-a", zone="1"), end("vm-b", zone="2"))) == ["vm-a → vm-b"]
    for path in (one, both):
        assert len(set(texts(path, replace(path, server=end("10.0.2.5", zone="2"))))) == 2, "two servers stay apart"


def test_a_scenario_of_one_path_names_it() -> None:
    """A log that does not name the client, or a tool that writes a host's name, does not make another path."""
    known, nameless = Path(end("10.0.0.4"), end("10.0.0.9"), "one"), Path(end(), end("10.0.0.9"), "one")
    by_name = Path(end("vm-a"), end("vm-b"), "one")
    assert texts(known, nameless, by_name, methods=["sockperf", "sockperf", "iperf3"]) == ["one"] * 3


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ([("c", "s"), (None, "s"), ("c", None), (None, None)], ["c → s"] * 4),
        ([("c", "s"), (None, "t"), (None, None)], ["c → s", "? → t", "? → ?"]),
        ([("c", "s"), ("d", "s"), (None, "s")], ["c → s", "d → s", "? → s"]),
        ([("c", None), (None, "s")], ["c → ?", "? → s"]),
    ],
)
def test_an_unknown_end_is_the_only_one_that_agrees(
    ends: list[tuple[str | None, str | None]], expected: list[str]
) -> None:
    paths = [Path(Endpoint(machine=client), Endpoint(machine=server)) for client, server in ends]
    assert [path.text for path in with_known_ends(paths, ["ping"] * len(paths))] == expected
    assert with_known_ends(paths, [*map(str, range(len(paths)))]) == paths, "methods are compared"


def test_a_long_name_of_notes_is_shown_by_the_parts_that_tell_it_apart() -> None:
    note = "host had no /dev/kvm, so the guests could not boot, and the datapath is the one of a bridge"
    names = [f"a / {note} / GRO on", f"a / {note} / GRO off", f"b / {note} / bridge", "short"]
    shown = texts(*(Path(end(), end("10.0.0.9"), name, True) for name in names))
    assert [text.removesuffix(": ? → 10.0.0.9") for text in shown] == ["a / GRO on", "a / GRO off", "b", "short"]
    tied = [Path(end(), end("10.0.0.9"), f"x / {note} {number}", True) for number in (1, 2)]
    assert len(set(texts(*tied))) == 2, "parts that are equal where they are cut stay whole"


def test_a_label_that_names_both_ends_is_the_name_of_its_only_path() -> None:
    nameless, known = Path(end(), end("10.0.2.4"), "az1 -> az2", True), end("10.0.1.4")
    assert texts(nameless) == ["az1 -> az2"]
    assert texts(nameless, replace(nameless, client=known)) == ["az1 -> az2"] * 2
    assert len(set(texts(nameless, replace(nameless, server=end("10.0.3.4"))))) == 2
    assert texts(Path(end(), end("10.0.2.4"), "vpn", True)) == ["vpn: ? → 10.0.2.4"]
