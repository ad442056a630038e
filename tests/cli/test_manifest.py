"""`azlatency manifest`."""

from __future__ import annotations

import shutil
from pathlib import Path

from helpers.command import azlatency


def test_manifest_writes_a_draft_and_never_overwrites(tmp_path: Path, raw: Path) -> None:
    shutil.copytree(raw / "westeurope-azure-cni", tmp_path / "mine", ignore=shutil.ignore_patterns("*.toml"))
    printed = azlatency("manifest", "mine", cwd=tmp_path)
    assert '"az{zone}-az{peer_zone}/*",' in printed.stdout
    assert "    # az1-az1/iperf3.log: zone 1 → zone 1\n" in printed.stdout
    assert "az1-az3/sockperf.log,,1,3,,,,,,,\n" in azlatency("manifest", "mine", "--runs", cwd=tmp_path).stdout
    assert azlatency("manifest", "mine", "--write", cwd=tmp_path).returncode == 0
    assert azlatency("manifest", "mine", "--write", cwd=tmp_path).returncode == 2
    assert azlatency("import", "mine", "--study", "mine", cwd=tmp_path).returncode == 0
