"""A manifest from somebody else reads nothing outside its folder, and every wrong value is one line with its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import azlatency as az
from azlatency.studies.manifest.manifest import read_manifest
from azlatency.studies.store import own_files
from azlatency.studies.store.own_files import ManifestError, own_file

NAMES = ["/etc/passwd", "../x.csv", "a/../../x.csv", "", ".", "a\0b", "..\\x.csv", "/dev/zero", "missing.csv", "sub"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", ["reported", "baseline", "runs", "zone_maps"])
def test_a_manifest_names_files_of_its_folder_only(tmp_path: Path, key: str, name: str) -> None:
    (tmp_path / "x.csv").write_text("log\n")
    (tmp_path / "study" / "sub").mkdir(parents=True)
    escaped = name.replace("\\", "\\\\").replace("\0", "\\u0000")
    value = f'["{escaped}"]' if key == "zone_maps" else f'"{escaped}"'
    (tmp_path / "study" / "study.toml").write_text(f'[study]\ntitle = "x"\n{key} = {value}\n', "utf-8")
    with pytest.raises(ManifestError, match=r"study\.toml:3: .+; \w+"):
        read_manifest(tmp_path / "study")


def test_links_and_large_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "link.csv").symlink_to("/etc/passwd")
    (folder / "linked").symlink_to("/etc")
    (folder / "large.csv").write_text("x" * 100)
    for name in ("link.csv", "linked/passwd"):
        with pytest.raises(ManifestError, match="symbolic link"):
            own_file(folder, name, "study.toml:2")
    monkeypatch.setattr(own_files, "LARGEST_FILE", 99)
    with pytest.raises(ManifestError, match="has 100 bytes"):
        own_file(folder, "large.csv", "study.toml:2")
    (folder / "study.toml").symlink_to("/etc/hostname")
    with pytest.raises(ManifestError, match="is a symbolic link"):
        az.import_study("mine", [folder], out=tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[[run]]\nlog="*"\nrepeat=999999999999999999999999\n', 1),
        ('[[run]]\nlog="*"\nrepeat=inf\n', 1),
        ('[[run]] # first\nlog="*"\n[[ run ]]\nlog="*"\nrepeat=1.5\n', 3),
        ('[[run]]\nlog="*"\nrepeat=true\n', 1),
        ('[[run]]\nlog="*"\nstarted_at="0001-01-01T00:00:00+23:59"\n', 1),
        ('[[run]]\nlog="*"\nzone=["1"]\n', 1),
        ("[[run]]\nlog=5.5\n", 1),
        ('[study]\n\nregion=["a"]\n', 3),
        ("[study]\nruns=5\n", 2),
        ("[study]\nzone_maps=[1]\n", 2),
        ("[study]\nname=1\n", 2),
        ("[study]\nemulated=1\n", 2),
        ('[study]\nplacement="near"\n', 2),
        ('title="x"\n', 1),
        ("\nstudy=5\n", 2),
        ("[run]\nlog=5\n", 1),
        ("[study]\ntitle = " + "[" * 3000 + "]" * 3000 + "\n", 1),
        ("[study]\ndate = " + "9" * 5000 + "\n", 1),
        ('[study]\npattern="{zone}{region}"\n', 2),
        ('[study]\npattern="{colour}.log"\n', 2),
        ('[study]\npattern="x.log"\n', 2),
    ],
)
def test_wrong_values_are_one_line_with_their_place(tmp_path: Path, text: str, line: int) -> None:
    (tmp_path / "study.toml").write_text(text, "utf-8")
    with pytest.raises(ManifestError) as caught:
        az.import_study("mine", [tmp_path], out=tmp_path / "out")
    message = str(caught.value)
    assert re.search(rf"study\.toml:{line}: ", message), message
    assert "\n" not in message.strip() and len(message) < 1000


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("runs.csv", b"log,zone\na.log,1,2\n", "runs.csv:2: more cells than columns"),
        ("runs.csv", b"log,zone\na.log,\xff\n", "runs.csv:2: not UTF-8 text"),
        ("runs.csv", b"log,zone\na.log," + b"x" * 200_000 + b"\n", "runs.csv:1: field larger than field limit"),
        ("zones.json", b"[" * 100_000, "zones.json:1: nested too deeply"),
        ("zones.json", b'[{"availabilityZoneMappings": [{"x": 1}]}]', "zones.json:1: not a zone map"),
        ("base.toml", b"expectation = 5\n", "base.toml:1: expectation is not a list of tables"),
    ],
)
def test_wrong_files_are_one_line_with_their_place(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    key = {"runs.csv": 'runs = "{}"', "zones.json": 'zone_maps = ["{}"]', "base.toml": 'baseline = "{}"'}[name]
    (tmp_path / "study.toml").write_text(f"[study]\n{key.format(name)}\n", "utf-8")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ManifestError, match=re.escape(says)):
        az.import_study("mine", [tmp_path], out=tmp_path / "out")
    assert not (tmp_path / "out" / "mine").exists()
