"""`azlatency verify`: every file of a report from the raw logs."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.command import azlatency
from helpers.places import ROOT

from azlatency.site.freshness import Record
from azlatency.site.verify import NOT_REBUILT, compare_sites, verify

STUDY = "westeurope-psping"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the logs of a study, and its report."""
    folder = tmp_path_factory.mktemp("published")
    shutil.copytree(ROOT / "data" / "raw" / STUDY, folder / "data" / "raw" / STUDY)
    (folder / "notebooks").symlink_to(ROOT / "notebooks")
    assert azlatency("import", "--all", cwd=folder).returncode == 0
    assert azlatency("report", "--study", STUDY, "--out", "site", cwd=folder).returncode == 0
    return folder


@pytest.mark.slow
def test_a_report_is_built_again_on_another_machine(report: Path, tmp_path: Path) -> None:
    raw, site = report / "data" / "raw", tmp_path / "site"
    shutil.copytree(report / "site", site)
    done = azlatency("verify", site, raw, cwd=report)
    assert done.returncode == 0 and "all equal" in done.stdout, done.stderr
    (site / STUDY / "11_new.html").write_text("<h1>Zone 3 is 999 ms slower</h1>", "utf-8")
    # A page that the record of the site does not name any more is compared all the same.
    record = json.loads((site / ".azlatency-site.json").read_text("utf-8"))
    del record["pages"][f"{STUDY}/00_summary.html"]
    (site / ".azlatency-site.json").write_text(json.dumps(record), "utf-8")
    page = site / STUDY / "00_summary.html"
    page.write_text(page.read_text("utf-8").replace("2.08 ms", "2.08 µs"), "utf-8")
    done = azlatency("verify", site, raw, cwd=report)
    assert done.returncode == 1
    assert f"{STUDY}/11_new.html: published, but not made from these logs" in done.stderr
    assert f"{STUDY}/00_summary.html: published 'µs" in done.stderr
    (site / "index.html").unlink()
    assert "not a report with studies" in azlatency("verify", site, raw, cwd=report).stderr
    done = azlatency("verify", report / "site", tmp_path, cwd=report)
    assert done.returncode == 1 and f"must contain the logs of the study {STUDY}" in done.stderr


def tamper(site: Path, choose: random.Random) -> Path:
    """Make one change anywhere in a site; return the file."""
    listed = site / NOT_REBUILT
    files = [file for file in sorted(site.rglob("*.*")) if file.name != Record.FILE]
    file = choose.choice(files)
    raw = file.read_bytes()
    free = range(len(raw)) if file != listed else range(raw.index(b"<main"))
    place = choose.choice(free)
    other = raw[place] % 127 + 1
    changed = {
        "replaced": raw[:place] + bytes([other]) + raw[place + 1 :],
        "inserted": raw[:place] + bytes([other]) + raw[place:],
        "removed": raw[:place] + raw[place + 1 :],
    }
    action = choose.choice([*changed, *changed, *changed, "deleted", "added"])
    if action == "deleted":
        file.unlink()
    elif action == "added":
        file = file.with_name(f"copy-{file.name}")
        file.write_bytes(raw)
    else:
        file.write_bytes(changed[action])
    return file


@pytest.mark.slow
def test_a_hundred_single_changes_are_noticed(report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each change alone, anywhere in the site; the site is built again once."""
    choose, pristine, site = random.Random(1), report / "site", tmp_path / "site"
    shutil.copytree(pristine, site)
    monkeypatch.chdir(report)
    noticed: list[bool] = []

    def compare_changed(published: Path, again: Path, *, by_text: bool) -> Iterator[str]:
        assert list(compare_sites(published, again, by_text=by_text)) == []
        for _ in range(100):
            file = tamper(site, choose)
            found = list(compare_sites(published, again, by_text=by_text))
            noticed.append(any(line.startswith(f"{file.relative_to(site).as_posix()}: ") for line in found))
            file.unlink(missing_ok=True)
            if (original := pristine / file.relative_to(site)).exists():
                shutil.copyfile(original, file)
        return iter(())

    monkeypatch.setattr("azlatency.site.verify.compare_sites", compare_changed)
    verify(site, report / "data" / "raw")
    assert noticed == [True] * 100
