"""Zone numbers are per subscription; only physical zones can be compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from azlatency.studies.manifest.manifest import ManifestError, read_manifest
from azlatency.studies.manifest.zones import ZoneMapError, pseudonym, read_zone_maps

ONE = "11111111-1111-1111-1111-111111111111"
TWO = "22222222-2222-2222-2222-222222222222"


def azure(subscription: str, *physical: str) -> str:
    mappings = [
        {"logicalZone": str(i), "physicalZone": f"westeurope-{number}"} for i, number in enumerate(physical, start=1)
    ]
    location = {
        "id": f"/subscriptions/{subscription}/locations/westeurope",
        "name": "westeurope",
        "displayName": "Gävle",
        "availabilityZoneMappings": mappings,
    }
    without = {"id": "x", "name": "westcentralus", "availabilityZoneMappings": None}
    return json.dumps([location, without], ensure_ascii=False)


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_two_subscriptions_number_their_zones_differently(tmp_path: Path, encoding: str) -> None:
    maps = read_zone_maps(
        [
            write(tmp_path / "one.json", azure(ONE, "az1", "az2", "az3"), encoding),
            write(tmp_path / "two.json", azure(TWO, "az3", "az1", "az2"), encoding),
        ]
    )
    assert maps.physical(ONE, "westeurope", "1") == "westeurope-az1"
    assert maps.physical(TWO, "westeurope", "1") == "westeurope-az3"
    assert maps.physical(None, "westeurope", "1") is None, "which of the two is not known"
    assert maps.physical(ONE, "northeurope", "1") is None


def test_the_rest_call_and_a_map_without_subscription(tmp_path: Path) -> None:
    content = {"value": json.loads(azure(ONE, "az2", "az1"))}
    content["value"][0]["id"] = "x"
    maps = read_zone_maps([write(tmp_path / "rest.json", json.dumps(content))])
    assert maps.physical(None, "westeurope", "1") == maps.physical("any", "westeurope", "1") == "westeurope-az2"


def test_amazon_and_google(tmp_path: Path) -> None:
    zones = {"AvailabilityZones": [{"ZoneName": "us-east-1a", "ZoneId": "use1-az4", "RegionName": "us-east-1"}]}
    maps = read_zone_maps([write(tmp_path / "aws.json", json.dumps(zones))])
    assert maps.physical(None, "us-east-1", "us-east-1a") == "use1-az4"
    assert maps.physical(None, None, "europe-west1-b") == "europe-west1-b"


@pytest.mark.parametrize(
    ("text", "says"), [("{", "not JSON"), ("{}", "neither availabilityZoneMappings"), ("[1]", "neither avail")]
)
def test_an_invalid_zone_map_is_reported_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ZoneMapError, match=says):
        read_zone_maps([write(tmp_path / "odd.json", text)])


def test_a_manifest_resolves_zones_and_hides_subscriptions(tmp_path: Path) -> None:
    write(tmp_path / "one.json", azure(ONE, "az3", "az1", "az2"))
    text = (
        f'[study]\nregion = "westeurope"\nsubscription = "{ONE}"\nzone_maps = ["one.json"]\n'
        'pseudonymise_subscriptions = true\n[[run]]\nlog = "*"\nzone = "1"\npeer_zone = "3"\n'
    )
    write(tmp_path / "study.toml", text)
    manifest = read_manifest(tmp_path)
    run: dict[str, object] = {"heading": None}
    assert manifest.describe(run, "a.log") == []
    assert (run["physical_zone"], run["peer_physical_zone"]) == ("westeurope-az3", "westeurope-az2")
    assert run["subscription"] == pseudonym(ONE) != ONE
    assert manifest.is_own_file("one.json")


def test_a_zone_map_that_contradicts_the_manifest_is_reported(tmp_path: Path) -> None:
    write(tmp_path / "one.json", azure(ONE, "az3"))
    text = (
        f'[study]\nregion = "westeurope"\nsubscription = "{ONE}"\nzone_maps = ["one.json"]\n'
        '[[run]]\nlog = "*"\nzone = "1"\nphysical_zone = "westeurope-az1"\n'
    )
    write(tmp_path / "study.toml", text)
    (event,) = read_manifest(tmp_path).describe({"heading": None}, "a.log")
    assert event[:2] == ("manifest_contradiction", "error")


def test_a_missing_map_is_one_line(tmp_path: Path) -> None:
    write(tmp_path / "study.toml", '[study]\nzone_maps = ["missing.json"]\n')
    with pytest.raises(ManifestError, match=r"missing.json: No such file"):
        read_manifest(tmp_path)
