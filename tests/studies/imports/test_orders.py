"""An import that grew in any order of changes has the bytes of a fresh one."""

from __future__ import annotations

import random
import shutil
import zipfile
from pathlib import Path

import pytest
from helpers.cases import thinned
from helpers.places import FIXTURES

from azlatency.studies.imports import importer
from azlatency.studies.imports.importer import import_study

LOGS = [FIXTURES / "ping" / "busybox-1.35-c4.log", FIXTURES / "ping" / "busybox-1.35-loss.log",
        FIXTURES / "iperf3" / "3.12-tcp.json", FIXTURES / "qperf" / "0.4.11-vv.log"]  # fmt: skip
NAMES = [
    "a.log", "b/a.log", "run1.log", "run2.log", "2026-01-31/x.log", "2026-02-01/x.log", "x_20260131T1000.log",
    "x_20260131T1100.log", "dump.zip", "2026-01-31.zip",
]  # fmt: skip

#: The number of a process that does not exist.
NO_PROCESS = 999_999_999


def change(folder: Path, choose: random.Random) -> None:
    """Add, rewrite, rename or delete a file at random."""
    present = sorted(path for path in folder.rglob("*") if path.is_file())
    target = folder / choose.choice(NAMES)
    action = choose.choice(["add", "add", "rename", "delete"]) if present else "add"
    target.parent.mkdir(parents=True, exist_ok=True)
    if action == "add" and target.suffix == ".zip":
        with zipfile.ZipFile(target, "w") as archive:
            for log in choose.sample(LOGS, 2):
                archive.writestr(zipfile.ZipInfo(log.name), log.read_bytes())
    elif action == "add":
        shutil.copyfile(choose.choice(LOGS), target)
    elif action == "rename" and not target.exists() and target.suffix == present[0].suffix:
        present[0].rename(target)
    elif action == "delete" and len(present) > 1:
        present[-1].unlink()


def tables(folder: Path) -> dict[str, bytes]:
    """Return the bytes of the tables; the stamp has times of files."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "import.json")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.costly
@pytest.mark.parametrize("seed", thinned(range(200), 200))
def test_any_order_of_changes_gives_the_bytes_of_a_fresh_import(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose, raw, grown = random.Random(seed), tmp_path / "raw", tmp_path / "grown"
    raw.mkdir()
    write = importer.write_study
    for step in range(8):
        change(raw, choose)
        if choose.random() < 0.25:  # an import that is killed before it writes

            def killed(*_arguments: object, **_options: object) -> None:
                raise KeyboardInterrupt

            monkeypatch.setattr(importer, "write_study", killed)
            with pytest.raises(KeyboardInterrupt):
                import_study("mine", [raw], out=grown, rebuild=True)
            monkeypatch.setattr(importer, "write_study", write)
        if step and choose.random() < 0.25:  # what one leaves that is killed between its two renames
            (grown / "mine").rename(grown / f".mine.{NO_PROCESS}.old")
        import_study("mine", [raw], out=grown)
        assert [path.name for path in grown.iterdir()] == ["mine"]
        fresh = tmp_path / f"fresh{step}"
        import_study("mine", [raw], out=fresh)
        assert tables(grown / "mine") == tables(fresh / "mine"), step
