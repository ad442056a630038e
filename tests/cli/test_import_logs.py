"""`azlatency import`: what is copied, imported and drafted."""

from __future__ import annotations

import re
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest
from helpers.cases import thinned
from helpers.command import azlatency
from helpers.places import FIXTURES, TESTS


@pytest.fixture
def log(raw: Path) -> Path:
    return raw / "westeurope-azure-cni" / "az1-az3" / "sockperf.log"


def test_import_prints_a_summary(tmp_path: Path, raw: Path) -> None:
    shutil.copytree(raw / "westeurope-availability-set-vs-zones", tmp_path / "data" / "raw" / "as")
    result = azlatency("import", "--all", cwd=tmp_path)
    assert result.returncode == 0
    assert result.stdout.startswith("as: 2 iperf3, 2 ping, 4 sockperf (8 files parsed, 0 unchanged)")
    assert result.stderr == "", "study.toml lists what its source does not tell"
    manifest = tmp_path / "data" / "raw" / "as" / "study.toml"
    manifest.write_text(manifest.read_text("utf-8").replace("not_said", "# not_said"), "utf-8")
    assert "missing: zone, peer_zone (4 runs); add them to" in azlatency("import", "--study", "as", cwd=tmp_path).stderr
    assert "unchanged" in azlatency("import", "--study", "as", cwd=tmp_path).stdout


def test_an_import_without_usable_logs_exits_1(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("hello\n")
    result = azlatency("import", "x.log", "--study", "mine", "--out", tmp_path / "out", cwd=tmp_path)
    assert result.returncode == 1
    assert "no log recognised in x.log:1: " in result.stderr


def test_an_invalid_manifest_is_reported_in_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "raw" / "broken"
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text("[study\n", "utf-8")
    result = azlatency("import", "--study", "broken", cwd=tmp_path)
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert "study.toml:1:" in result.stderr


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ('[[run]]\nlog = "other/*"\nzone = "1"\n', "a.log:2: no entry of study.toml matches this log; add one"),
        ('[[run]]\nlog = "*"\nzone = "1"\n[[run]]\nlog = "a*"\nzone = "2"\n', "study.toml:6; keep one"),
    ],
)
def test_a_log_without_or_with_contradicting_manifest_entries_is_an_error(
    tmp_path: Path, log: Path, entries: str, says: str
) -> None:
    folder = tmp_path / "data" / "raw" / "mine"
    folder.mkdir(parents=True)
    shutil.copy(log, folder / "a.log")
    (folder / "study.toml").write_text('[study]\nregion = "westeurope"\n' + entries, "utf-8")
    result = azlatency("import", "--study", "mine", cwd=tmp_path)
    (line,) = (line for line in result.stderr.splitlines() if line.startswith("  error: "))
    assert says in line


def test_import_of_an_unknown_study_lists_the_known_studies(tmp_path: Path, raw: Path) -> None:
    shutil.copytree(raw / "uksouth-echo-latency", tmp_path / "data" / "raw" / "uksouth-echo-latency")
    result = azlatency("import", "--study", "nothing", cwd=tmp_path)
    assert result.returncode == 1
    assert "study 'nothing' not found. Known studies: uksouth-echo-latency" in result.stderr


@pytest.mark.costly
def test_import_copies_a_dump_and_drafts_a_manifest(tmp_path: Path, raw: Path) -> None:
    """The archive is copied unchanged, its logs are imported, and missing metadata is requested."""
    source = tmp_path / "source"
    shutil.copytree(raw / "westeurope-azure-cni", source, ignore=shutil.ignore_patterns("*.toml"))
    dump = Path(shutil.make_archive(str(tmp_path / "dump"), "zip", source))
    bytes_before = dump.read_bytes()
    result = azlatency("import", dump, "--study", "mine", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert re.match(r"mine: 5 iperf3, 5 ntttcp, \d+ qperf, 5 sockperf \(1 file parsed, 0 unchanged\)", result.stdout)
    assert "drafted data/raw/mine/study.toml" in result.stdout.replace(f"{tmp_path}/", "")
    assert re.search(r"missing: zone, .*\([45] runs\)", result.stderr), "the draft's zones are applied"
    assert "assumed: zones as the names say: az{zone}-az{peer_zone}/*" in result.stderr
    assert dump.read_bytes() == bytes_before == (tmp_path / "data" / "raw" / "mine" / "dump.zip").read_bytes()
    manifest = (tmp_path / "data" / "raw" / "mine" / "study.toml").read_text("utf-8")
    assert '"az{zone}-az{peer_zone}/*",' in manifest and 'log = "dump.zip!single-node/*"' in manifest
    again = azlatency("import", "--study", "mine", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "unchanged" in again.stdout and "drafted" not in again.stdout
    assert "unchanged" in azlatency("import", dump, "--study", "mine", cwd=tmp_path).stdout


def test_import_accepts_folders_notes_and_standard_input(tmp_path: Path, raw: Path) -> None:
    log = raw / "westeurope-azure-cni" / "az1-az3" / "sockperf.log"
    (tmp_path / "logs").mkdir()
    shutil.copy(log, tmp_path / "logs")
    (tmp_path / "notes.md").write_text("# AZ1 - AZ2\n\n```\n" + log.read_text("utf-8") + "```\n", "utf-8")
    assert azlatency("import", "logs", "notes.md", "--study", "mine", cwd=tmp_path).returncode == 0
    piped = azlatency("import", "-", "--study", "mine", cwd=tmp_path, stdin=log.read_bytes() + b"\n")
    assert piped.returncode == 1 and "error: stdin.log:2: no entry of study.toml matches this log" in piped.stderr
    assert piped.stdout.startswith("mine: 3 sockperf"), piped.stdout + piped.stderr
    kept = sorted(path.name for path in (tmp_path / "data" / "raw" / "mine").rglob("*") if path.is_file())
    assert kept == ["notes.md", "sockperf.log", "stdin.log", "study.toml"]


def test_import_never_overwrites_a_log(tmp_path: Path, log: Path) -> None:
    (tmp_path / "run.log").write_bytes(log.read_bytes())
    assert azlatency("import", "run.log", "--study", "mine", cwd=tmp_path).returncode == 0
    (tmp_path / "run.log").write_bytes(log.read_bytes() + b"\n")
    (tmp_path / "other.log").write_bytes(log.read_bytes() + b"\n\n")
    result = azlatency("import", "other.log", "run.log", "--study", "mine", cwd=tmp_path)
    assert result.returncode == 1
    assert "already exists with different content; rename one, or import it as another study" in result.stderr
    kept = tmp_path / "data" / "raw" / "mine"
    assert (kept / "run.log").read_bytes() == log.read_bytes()
    assert not (kept / "other.log").exists(), "all or nothing"


def test_import_does_not_keep_unusable_logs(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("hello\n")
    result = azlatency("import", "x.log", "--study", "mine", cwd=tmp_path)
    assert result.returncode == 1 and "nothing was copied" in result.stderr
    assert not (tmp_path / "data" / "raw" / "mine").exists()


@pytest.mark.parametrize("top", ["", "packed/"])
def test_import_keeps_the_manifest_of_an_archive(tmp_path: Path, log: Path, top: str) -> None:
    with zipfile.ZipFile(tmp_path / "s.zip", "w") as archive:
        archive.write(log, f"{top}a.log")
        archive.writestr(f"{top}study.toml", '[[run]]\nlog = "a.log"\nzone = "7"\npeer_zone = "8"\n')
    result = azlatency("import", "s.zip", "--study", "mine", cwd=tmp_path)
    assert result.returncode == 0 and "zone" not in result.stderr
    assert sorted(path.name for path in (tmp_path / "data" / "raw" / "mine").iterdir()) == ["a.log", "study.toml"]


@pytest.mark.costly
@pytest.mark.parametrize("name", thinned(["../study.toml", "/study.toml", "..\\study.toml"], 2))
def test_an_archive_cannot_write_outside_its_folder(tmp_path: Path, log: Path, name: str) -> None:
    (tmp_path / "inner").mkdir()
    with zipfile.ZipFile(tmp_path / "inner" / "s.zip", "w") as archive:
        archive.write(log, "a.log")
        archive.writestr(name, "[study]\n")
    with tarfile.open(tmp_path / "inner" / "t.tar", "w") as tar:
        tar.add(log, "study.toml")
        tar.add(log, name)
    for file in ("s.zip", "t.tar"):
        azlatency("import", file, "--study", file[0], cwd=tmp_path / "inner")
    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("study.toml"))
    assert all(path.startswith("inner/data/") for path in written), written
    assert not list((tmp_path / "inner" / "data").rglob("s.zip.toml"))


def test_many_files_that_are_no_logs_are_counted(tmp_path: Path, log: Path) -> None:
    dump = tmp_path / "dump"
    dump.mkdir()
    shutil.copy(log, dump)
    for number in range(7):
        (dump / f"{number}.c").write_text(f"int main() {{ return {number}; }}\n", "utf-8")
    result = azlatency("import", "dump", "--study", "mine", cwd=tmp_path)
    assert result.returncode == 0
    (line,) = (line for line in result.stderr.splitlines() if "no log " in line)
    assert line.startswith("  no log recognised in 7 files (7 .c), for example 0.c:1: no log of a known tool; ")
    draft = (tmp_path / "data" / "raw" / "mine" / "study.toml").read_text("utf-8")
    assert draft.count("# not recognised: ") == 3 and draft.endswith("# … and 4 more files\n")


def test_copies_of_different_files_are_counted_together(tmp_path: Path, log: Path) -> None:
    dump = tmp_path / "dump"
    for number in range(7):
        for copy in "ab":
            (dump / copy).mkdir(parents=True, exist_ok=True)
            (dump / copy / f"{number}.log").write_bytes(log.read_bytes() + b"\n" * number)
    result = azlatency("import", "dump", "--study", "mine", cwd=tmp_path)
    (line,) = (line for line in result.stderr.splitlines() if "skipped" in line)
    assert line == "  skipped: b/0.log: identical to a/0.log; counted once (and 6 more like it)"


def test_a_project_inside_a_project_keeps_its_own_tables(tmp_path: Path, raw: Path) -> None:
    """The study of the project around it has the same name, and stays."""
    shutil.copytree(raw / "westeurope-azure-cni", tmp_path / "data" / "raw" / "mine")
    assert azlatency("import", "--study", "mine", cwd=tmp_path).returncode == 0
    outer = tmp_path / "data" / "processed" / "mine" / "import.json"
    before = outer.read_bytes()
    assert azlatency("init", "inner", cwd=tmp_path).returncode == 0
    inner = tmp_path / "inner"
    assert (inner / "data" / "processed").is_dir()
    logs = raw / "canadacentral-proximity-placement"
    result = azlatency("import", logs, "--study", "mine", cwd=inner / "notebooks")
    assert result.returncode == 0, result.stderr
    assert f"-> {inner / 'data' / 'processed' / 'mine'}," in result.stdout
    shutil.rmtree(inner / "data" / "processed")
    assert "-> data/processed/mine," in azlatency("import", "--study", "mine", cwd=inner).stdout
    assert outer.read_bytes() == before


def test_a_study_of_another_folder_is_replaced_only_on_request(tmp_path: Path, raw: Path) -> None:
    out = tmp_path / "tables"
    for project, study in (("a", "westeurope-azure-cni"), ("b", "canadacentral-proximity-placement")):
        shutil.copytree(raw / study, tmp_path / project / "data" / "raw" / "mine")
    arguments = ("import", "--study", "mine", "--out", out)
    assert azlatency(*arguments, cwd=tmp_path / "a").returncode == 0
    before = (out / "mine" / "import.json").read_bytes()
    refused = azlatency(*arguments, cwd=tmp_path / "b")
    assert refused.returncode == 1 and len(refused.stderr.splitlines()) == 1
    assert f"was imported from {tmp_path / 'a' / 'data' / 'raw' / 'mine'}, not from " in refused.stderr
    assert "--replace" in refused.stderr
    more = azlatency("import", raw / "uksouth-echo-latency", *arguments[1:], cwd=tmp_path / "b")
    assert more.returncode == 1 and not list((tmp_path / "b" / "data" / "raw" / "mine").glob("*echo*"))
    assert (out / "mine" / "import.json").read_bytes() == before
    assert azlatency(*arguments, "--rebuild", cwd=tmp_path / "b").returncode == 1
    assert azlatency(*arguments, "--replace", cwd=tmp_path / "b").returncode == 0
    assert azlatency(*arguments, cwd=tmp_path / "b").returncode == 0


def test_a_project_that_was_moved_keeps_its_studies(tmp_path: Path, raw: Path) -> None:
    shutil.copytree(raw / "westeurope-azure-cni", tmp_path / "a" / "data" / "raw" / "mine")
    assert azlatency("import", "--study", "mine", cwd=tmp_path / "a").returncode == 0
    (tmp_path / "a").rename(tmp_path / "b")
    result = azlatency("import", "--study", "mine", cwd=tmp_path / "b")
    assert result.returncode == 0 and "unchanged" in result.stdout


def test_a_drafted_table_of_runs_is_never_overwritten(tmp_path: Path, log: Path) -> None:
    (tmp_path / "logs").mkdir()
    for name in ("bbr_1.log", "cubic_1.log"):
        (tmp_path / "logs" / name).write_bytes(log.read_bytes() + name.encode() + b"\n")
    done = azlatency("import", "logs", "--study", "mine", "--runs-csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = (tmp_path / "data" / "raw" / "mine" / "runs.csv").read_text("utf-8").splitlines()
    assert rows[0].startswith("log,scenario,zone") and rows[1].startswith("bbr_1.log,bbr,")
    again = azlatency("import", "--study", "mine", "--runs-csv", cwd=tmp_path)
    assert again.returncode == 2 and "runs.csv already exists" in again.stderr


def test_the_exit_code_says_whether_every_log_is_sound(tmp_path: Path, raw: Path) -> None:
    """A picture is not a log; a log with an error is imported, and named."""
    dump = tmp_path / "dump"
    dump.mkdir()
    shutil.copy(raw / "westeurope-azure-cni" / "az1-az3" / "sockperf.log", dump / "a.log")
    (dump / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    sound = azlatency("import", dump, "--study", "mine", cwd=tmp_path)
    assert sound.returncode == 0 and "  no log recognised in picture.png:1: binary file" in sound.stderr
    assert azlatency("parse", dump, "--format", "csv").returncode == 0
    more = tmp_path / "more"
    more.mkdir()
    shutil.copy(TESTS / "fixtures" / "iperf3" / "3.9-refused.json", more / "b.json")
    merged = azlatency("import", more, "--study", "mine", cwd=tmp_path)
    assert merged.returncode == 1 and "  error: b.json" in merged.stderr
    assert "mine existed already: 1 new file added to its 3 files, nothing overwritten\n" in merged.stderr


def test_a_draft_of_many_scenarios_can_be_imported_again(tmp_path: Path) -> None:
    text = (FIXTURES / "ping" / "busybox-1.35-c4.log").read_text("utf-8")
    (tmp_path / "dump").mkdir()
    for letter in "abcdefghijklmnopqrstuvwxyz":
        (tmp_path / "dump" / f"law {letter * 4}.log").write_text(f"{letter * 4}\n{text}", "utf-8")
    first = azlatency("import", "dump", "--study", "mine", cwd=tmp_path)
    assert (first.returncode, "more log" in (tmp_path / "data/raw/mine/study.toml").read_text("utf-8")) == (0, True)
    again = azlatency("import", "--study", "mine", cwd=tmp_path)
    assert again.returncode == 0 and "no entry" not in again.stderr, again.stderr


def test_an_import_asks_for_no_zone_of_a_server_without_an_address(tmp_path: Path, log: Path) -> None:
    for folder in ("zone1-zone2", "zone1-zone3"):
        (tmp_path / "dump" / folder).mkdir(parents=True)
        shutil.copy(log, tmp_path / "dump" / folder / "sockperf.log")
    (tmp_path / "dump" / "server.log").write_text(
        "sockperf: == version #3.7-no.git == \nsockperf: [SERVER] listen on:\n"
        "[ 0] IP = 0.0.0.0         PORT = 11112 # TCP\nsockperf: Warmup stage (sending a few dummy messages)...\n"
    )
    result = azlatency("import", "dump", "--study", "mine", cwd=tmp_path)
    assert result.returncode == 0
    assert "0.0.0.0" not in result.stderr
    assert "zone (" not in result.stderr
