"""Manifests: what they say, what they may not say, and where it is told when they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.places import ROOT

from azlatency.logs.parse import parse
from azlatency.studies.manifest.manifest import Manifest, ManifestError, read_baseline, read_manifest, read_reported

STUDY = '[study]\nname = "toy"\nregion = "westeurope"\nvm_size = "Standard_D8ds_v4"\n'


def manifest(tmp_path: Path, text: str, runs: str | None = None) -> Manifest:
    (tmp_path / "study.toml").write_text(text, "utf-8")
    if runs is not None:
        (tmp_path / "runs.csv").write_text(runs, "utf-8")
    return read_manifest(tmp_path)


def test_an_entry_describes_its_logs(tmp_path: Path) -> None:
    toy = manifest(tmp_path, STUDY + '[[run]]\nlog = "az1-az3/*.log"\nzone = "1"\npeer_zone = "3"\nrepeat = 2\n')
    run: dict[str, object] = {"heading": None}
    assert toy.describe(run, "az1-az3/x.log") == []
    assert run["zone"] == "1" and run["peer_zone"] == "3" and run["repeat"] == 2
    assert run["region"] == run["peer_region"] == "westeurope"
    assert run["vm_size"] == run["peer_vm_size"] == "Standard_D8ds_v4"
    assert run["placement"] == "cross_zone", "follows from the zones"
    assert run["study"] == "toy"


def test_a_heading_selects_logs_of_a_notes_file(tmp_path: Path) -> None:
    toy = manifest(
        tmp_path, STUDY + '[[run]]\ntranscript = "notes.md"\nheading = "az1 - az3"\nscenario = "AZ1 - AZ3"\n'
    )
    inside: dict[str, object] = {"heading": "Notes / Azure CNI / AZ1 - AZ3"}
    assert toy.describe(inside, "notes.md") == []
    assert inside["scenario"] == "AZ1 - AZ3"
    (event,) = toy.describe({"heading": "Notes / AZ1 - AZ2"}, "notes.md")
    assert event[:2] == ("manifest_missing", "warning")


def test_a_pattern_reads_values_from_paths(tmp_path: Path) -> None:
    """One line for a Kubernetes benchmark; an entry adds to it, a contradiction names both lines."""
    pattern = 'pattern = "host-{region}-{zone}_gcp/target-{peer_region}-{peer_zone}/*/{scenario}_{repeat}.res"\n'
    toy = manifest(tmp_path, f'[study]\n{pattern}[[run]]\nlog = "*"\nround = 2\n[[run]]\nlog = "*_9.res"\nzone = "c"\n')
    run: dict[str, object] = {"heading": None}
    assert toy.describe(run, "host-us-central1-a_gcp/target-us-east1-b/2024/tcp_rr_3.res") == []
    assert (run["region"], run["zone"], run["peer_region"], run["peer_zone"]) == ("us-central1", "a", "us-east1", "b")
    assert (run["scenario"], run["repeat"], run["round"], run["placement"]) == ("tcp_rr", 3, 2, "cross_region")
    (event,) = toy.describe({"heading": None}, "host-us-central1-a_gcp/target-us-east1-b/x/y_9.res")
    assert "zone is 'a' in" in event[2] and "study.toml:2 and 'c' in" in event[2] and "study.toml:6" in event[2]


def test_the_region_of_a_cloud_zone_is_in_its_name(tmp_path: Path) -> None:
    toy = manifest(tmp_path, '[study]\npattern = "{zone}_{peer_zone}.log"\n')
    run: dict[str, object] = {"heading": None}
    assert toy.describe(run, "us-east-1b_europe-west1-c.log") == []
    assert (run["region"], run["peer_region"]) == ("us-east-1", "europe-west1")
    plain: dict[str, object] = {"heading": None}
    assert toy.describe(plain, "1_2.log") == [] and plain["peer_region"] is None and "region" not in plain


def test_a_csv_has_one_row_a_log(tmp_path: Path) -> None:
    rows = "log,zone,accelerated_networking,started_at\na.txt,1,true,2026-11-21T01:25:33.133Z\n"
    toy = manifest(tmp_path, STUDY + 'runs = "runs.csv"\n', rows)
    run: dict[str, object] = {"heading": None}
    assert toy.describe(run, "a.txt") == []
    assert run["accelerated_networking"] is True
    assert str(run["started_at"]) == "2026-11-21 01:25:33.133000+00:00"


def test_a_log_matched_twice_with_different_values_names_both_places(tmp_path: Path) -> None:
    text = STUDY + '[[run]]\nlog = "*.log"\nzone = "1"\n[[run]]\nlog = "a*"\nzone = "2"\n'
    (event,) = manifest(tmp_path, text).describe({"heading": None}, "a.log")
    code, severity, message = event
    assert (code, severity) == ("manifest_conflict", "error")
    assert "study.toml:5" in message and "study.toml:8" in message


def test_a_log_matched_twice_with_equal_values_is_fine(tmp_path: Path) -> None:
    text = STUDY + '[[run]]\nlog = "*.log"\nzone = "1"\n[[run]]\nlog = "a*"\nzone = "1"\npeer_zone = "1"\n'
    assert manifest(tmp_path, text).describe({"heading": None}, "a.log") == []


def test_an_entry_may_list_its_logs(tmp_path: Path) -> None:
    toy = manifest(tmp_path, STUDY + '[[run]]\nlog = ["*.md", "*.html"]\nignore = "text"\n[[run]]\nlog = "*.json"\n')
    assert [toy.ignored(path) for path in ("a.md", "b.html", "c.json")] == ["text", "text", None]
    assert {entry.place.rpartition(":")[2] for entry in toy.entries} == {"5", "8"}


def test_the_log_is_never_overruled(tmp_path: Path) -> None:
    toy = manifest(tmp_path, STUDY + '[[run]]\nlog = "*"\nmessage_bytes = 350\n')
    run: dict[str, object] = {"heading": None, "message_bytes": 1400}
    (event,) = toy.describe(run, "a.log")
    assert event[:2] == ("manifest_contradiction", "error")
    assert run["message_bytes"] == 1400
    silent: dict[str, object] = {"heading": None, "message_bytes": None}
    assert toy.describe(silent, "a.log") == []
    assert silent["message_bytes"] == 350


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[study\n", "study.toml:1:"),
        ('[study]\nmachines = "10.*=pod"\n', "study.toml:2: machines = '10.*=pod' is not of type list"),
        ('[study]\nnot_said = ["zome"]\n', "study.toml:2: not_said: 'zome' is no key of a run"),
        ('[study]\nmachines = ["10.*"]\n', "study.toml:2: machines = ['10.*'] is no list of"),
        ("[study]\nmachines = [1]\n", "study.toml:2: machines = [1] is no list of"),
        (STUDY + "[[run]]\nlog = 3 3\n", "study.toml:6:"),
        (STUDY + '[[run]]\nlog = "*"\nzoen = "1"\n', "study.toml:5: unknown key 'zoen'"),
        (STUDY + '[[run]]\nzone = "1"\n', "study.toml:5: the entry has neither log, pattern nor transcript"),
        (STUDY + '[[run]]\nlog = "*"\nplacement = "near"\n', "placement 'near'"),
        (STUDY + '[[run]]\nlog = "*"\nrepeat = "often"\n', "repeat = 'often' is not of type int64"),
        (STUDY + "[[run]]\nlog = []\n", "log = [] is not of type string"),
        (STUDY + '[[run]]\nlog = ["*", 3.5]\n', "log = 3.5 is not of type string"),
        (STUDY + "[other]\n", "unknown table [other]"),
        (STUDY + 'runs = "missing.csv"\n', "missing.csv: No such file"),
        ('[study]\ncolour = "red"\n', "unknown key 'colour'"),
    ],
)
def test_a_wrong_manifest_is_one_line_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ManifestError) as caught:
        manifest(tmp_path, text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_study_of_the_project_can_be_read(raw: Path) -> None:
    names = []
    for folder in sorted(path.parent for path in raw.glob("*/study.toml")):
        study = read_manifest(folder)
        assert study.name == folder.name
        assert study.study["question"].endswith("?")
        names.append(study.name)
        read_baseline(study, "expectation")
        read_reported(study)
    assert len(names) == 13


def test_the_typing_error_in_the_baseline_is_reported(raw: Path) -> None:
    """The page says 40-50ms; it can only mean us."""
    expectations = read_baseline(read_manifest(raw / "cassandra-vm-baseline"), "expectation")
    (latency,) = (expectation for expectation in expectations if expectation["metric"] == "rtt_mean")
    assert (latency["low"], latency["high"], latency["unit"]) == (40_000, 50_000, "ns")
    assert latency["printed"] == "40-50ms"
    assert "µs" in latency["notes"]


def test_reported_numbers_without_logs_are_not_runs() -> None:
    """The author published tables but no logs."""
    study = ROOT / "data" / "raw" / "uksouth-echo-latency"
    manifest = read_manifest(study)
    assert len(read_reported(manifest)) > 10
    logs = [path for path in study.rglob("*") if path.is_file() and not manifest.is_own_file(path.name)]
    assert not [path for path in logs if parse(path).rows["runs"]]
