"""Pseudonyms: nothing that is published shows a name of the dump, and every number stays."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from helpers.command import azlatency
from helpers.places import FIXTURES, ROOT

from azlatency.logs.parse import LogError
from azlatency.studies.imports.importer import import_study
from azlatency.studies.imports.pseudonyms import Pseudonyms, write_pseudonymised
from azlatency.studies.runs.run_table import run_table
from azlatency.studies.store.study import load

SECRETS = (
    "contoso", "alice", "zanzibar", "quagga", "10.20.30.4", "fd12:3456::77", "0a:1b:2c:3d:4e:5f",
    "8c5e1f0a-1111-4222-8333-123456789abc", "ip-10-20-30-9", "zulu-prod",
)  # fmt: skip
PING = """\
alice@zanzibar1:~$ /home/alice/bin/ping -c 2 quagga
PING quagga.contoso.internal (10.20.30.4) 56(84) bytes of data.
64 bytes from quagga.contoso.internal (10.20.30.4): icmp_seq=1 ttl=64 time=0.338 ms
64 bytes from quagga.contoso.internal (10.20.30.4): icmp_seq=2 ttl=64 time=0.638 ms

--- quagga.contoso.internal ping statistics ---
2 packets transmitted, 2 received, 0% packet loss, time 1001ms
rtt min/avg/max/mdev = 0.338/0.488/0.638/0.150 ms
alice@zanzibar1:~$ arp -n
fd12:3456::77 dev eth0 lladdr 0a:1b:2c:3d:4e:5f REACHABLE
"""
NOTES = (
    "/subscriptions/8c5e1f0a-1111-4222-8333-123456789abc/resourceGroups/contoso-lab/providers/"
    "Microsoft.Compute/virtualMachines/zanzibar1\n"
    "$ iperf3 -c ip-10-20-30-9.eu-west-1.compute.internal\n"
    "iperf3: error - unable to connect to server: Connection refused\n"
)
MANIFEST = """\
[study]
title = "Between two zones"
region = "westeurope"
subscription = "zulu-prod"

[[run]]
log = "*"
zone = "1"
peer_zone = "2"
"""


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    folder = tmp_path / "dump"
    (folder / "zanzibar1-quagga").mkdir(parents=True)
    (folder / "zanzibar1-quagga" / "ping_quagga.log").write_text(PING, "utf-8")
    (folder / "notes.md").write_text(NOTES, "utf-8")
    (folder / "study.toml").write_text(MANIFEST, "utf-8")
    with zipfile.ZipFile(folder / "alice.zip", "w") as archive:
        archive.writestr("zanzibar1/ping.log", PING.replace("0.638", "0.738").replace("0.488", "0.538"))
    return folder


def published(folder: Path) -> str:
    """All names of files below a folder, and their contents; tables as text."""
    import pyarrow.parquet as pq

    texts = []
    for path in sorted(folder.rglob("*")):
        texts.append(path.relative_to(folder).as_posix())
        if path.suffix == ".parquet":
            texts.append(str(pq.read_table(path).to_pylist()))
        elif path.is_file():
            texts.append(path.read_bytes().decode("utf-8", "replace"))
    return "\n".join(texts).casefold()


def test_no_name_reaches_the_data(dump: Path, tmp_path: Path) -> None:
    key = tmp_path / "names.json"
    result = azlatency("import", dump, "--study", "mine", "--pseudonymise", key, cwd=tmp_path)
    assert result.returncode == 1 and "error: notes.md:3: iperf3 stopped" in result.stderr
    data = published(tmp_path / "data")
    assert [name for name in SECRETS if name in data] == []
    assert str(tmp_path) not in data
    assert {"10.20.30.4", "alice", "zulu-prod"} <= set(json.loads(key.read_text("utf-8")))
    assert key.stat().st_mode & 0o077 == 0
    study = load("mine", processed=tmp_path / "data" / "processed")
    assert sorted(study.runs["tool"]) == ["iperf3", "ping", "ping"]
    assert sorted(study.metrics.query("metric == 'rtt_max'")["value"]) == [638_000, 738_000]
    assert (dump / "notes.md").read_text("utf-8") == NOTES


def test_patterns_of_machines_become_their_pseudonyms(tmp_path: Path) -> None:
    dump, new = tmp_path / "dump", tmp_path / "new"
    dump.mkdir()
    new.mkdir()
    for number, address in enumerate(["10.77.0.1", "10.77.0.2", "10.78.0.1"]):
        (dump / f"{number}.log").write_text(f"PING {address} ({address}) 56(84) bytes of data.\n")
    (dump / "study.toml").write_text("[study]\nmachines = [\"10.77.*=pod\", '10.99.*=gone']\n")
    assert write_pseudonymised([dump], new, tmp_path / "key.json").refused == []
    import_study("mine", [new / "copy"], out=tmp_path / "out")
    study = load("mine", processed=tmp_path / "out")
    assert sorted(run_table(study)["path"].map(str)) == ["? → 198.18.0.3", "? → pod", "? → pod"]
    assert study.info["machines"] == ["198.18.0.1=pod", "198.18.0.2=pod", "gone=gone"]


def test_a_pattern_that_an_earlier_one_covers_changes_no_machine(tmp_path: Path) -> None:
    dump, new = tmp_path / "dump", tmp_path / "new"
    dump.mkdir()
    new.mkdir()
    (dump / "a.log").write_text("PING 10.77.0.1 (10.77.0.1) 56(84) bytes of data.\n")
    (dump / "study.toml").write_text('[study]\nmachines = ["10.77.*=pod", "10.77.0.1=pod"]\n')
    assert write_pseudonymised([dump], new, tmp_path / "key.json").refused == []
    assert 'machines = ["198.18.0.1=pod", "pod=pod"]' in (new / "copy" / "study.toml").read_text()


def test_equal_names_have_equal_pseudonyms_in_every_study(dump: Path, tmp_path: Path) -> None:
    copies = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        assert write_pseudonymised([dump], tmp_path / name, tmp_path / "key.json").refused == []
        copies.append(published(tmp_path / name / "copy"))
    assert copies[0] == copies[1]


def test_a_file_whose_numbers_would_change_is_refused(tmp_path: Path) -> None:
    log, key = tmp_path / "ping.log", tmp_path / "key.json"
    log.write_text(PING, "utf-8")
    key.write_text('{"received": "word1"}', "utf-8")
    (tmp_path / "work").mkdir()
    (refused,) = write_pseudonymised([log], tmp_path / "work", key).refused
    assert "its numbers would change" in refused
    assert not list((tmp_path / "work" / "copy").iterdir())


@pytest.mark.parametrize("content", ["[1]", "{", '{"a": 1}'])
def test_a_wrong_key_file_is_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "key.json").write_text(content, "utf-8")
    with pytest.raises(LogError, match=r"key\.json:1: not a"):
        Pseudonyms(tmp_path / "key.json")


def test_the_key_does_not_lie_with_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path))
    with pytest.raises(LogError, match="the key must not lie with the data"):
        Pseudonyms(tmp_path / "raw" / "mine" / "key.json")


@pytest.mark.slow
def test_no_name_and_no_absolute_path_reaches_the_site(dump: Path, tmp_path: Path) -> None:
    data = {"AZLATENCY_DATA": str(tmp_path / "data")}
    result = azlatency("import", dump, "--study", "mine", "--pseudonymise", tmp_path / "key.json", **data)
    assert result.returncode == 0, result.stderr
    result = azlatency("report", "--study", "mine", "--out", tmp_path / "site", cwd=ROOT, **data)
    assert result.returncode == 0, result.stderr
    site = published(tmp_path / "site")
    assert "198.18.0.1" in site
    places = (str(tmp_path), str(ROOT), str(Path.home()))
    assert [name for name in (*SECRETS, *places) if name.casefold() in site] == []


@pytest.mark.slow
def test_every_example_log_keeps_its_numbers(tmp_path: Path) -> None:
    """A file whose numbers would change is refused: none is."""
    shutil.copytree(FIXTURES, tmp_path / "logs", ignore=shutil.ignore_patterns("*.md", "*.expected.json"))
    (tmp_path / "work").mkdir()
    assert write_pseudonymised([tmp_path / "logs"], tmp_path / "work", tmp_path / "key.json").refused == []
    files = [
        [path for path in folder.rglob("*") if path.is_file()]
        for folder in (tmp_path / "logs", tmp_path / "work" / "copy")
    ]
    assert len(files[0]) == len(files[1])


#: Lines that name somebody, and the names.
LINES = [
    (r"C:\Users\Jane Quokka\tools>psping 10.20.30.4", ["jane quokka"]),
    (r'{"command": "C:\\Users\\jquokka\\ping.exe -n 4"}', ["jquokka"]),
    ("PING vm.zebra.de (10.20.30.4)", ["zebra"]),
    ("api.zebra.cloud answered", ["zebra.cloud"]),
    ("az vm create -g rg-zebra -n vmquokka --vnet-name netzebra", ["rg-zebra", "vmquokka", "netzebra"]),
    ("quokka7# ping -c 2 10.20.30.4", ["quokka7"]),
    ("sharon@shop-db:~$ ping -c 2 10.20.30.4", ["sharon", "shop-db"]),
    (r"ZEBRADOM\jquokka logged on", ["zebradom", "jquokka"]),
    ("scp out.log jq@quokka7:/tmp", ["quokka7"]),
    ("scp out.log quokka7:", ["quokka7"]),
    ("sudo -u quokka ping 10.20.30.4", ["quokka"]),
    ("USERNAME=jquokka", ["jquokka"]),
    ("COMPUTERNAME=ZEBRA01", ["zebra01"]),
    ('"connecting_to": {"host": "quokka", "port": 5201}', ["quokka"]),
    ("::ffff:10.20.30.4 answered", ["10.20.30.4"]),
    ("2001:1234:0:0:0:0:0:77 answered", ["2001:1234:0:0:0:0:0:77"]),
    ("lladdr 0a1b.2c3d.4e5f REACHABLE", ["0a1b.2c3d.4e5f"]),
]


@pytest.mark.parametrize(("line", "names"), LINES)
def test_names_of_a_line_are_replaced(line: str, names: list[str], tmp_path: Path) -> None:
    pseudonyms = Pseudonyms(tmp_path / "key.json")
    pseudonyms.collect(f"{line}\n")
    text = pseudonyms.replace(f"{line}\n").casefold()
    assert [name for name in names if name in text] == []


def test_addresses_in_names_of_files_are_those_of_the_texts(tmp_path: Path) -> None:
    pseudonyms = Pseudonyms(tmp_path / "key.json")
    pseudonyms.collect("10-1-0-4_to_52-1-0-5.log\nPING 52.1.0.5 (52.1.0.5) 56(84) bytes of data.\n23-11-20-26.log")
    assert pseudonyms.replace("10-1-0-4_to_52-1-0-5.log 23-11-20-26.log") == (
        "198-18-0-2_to_198-18-0-1.log 23-11-20-26.log"
    )


def test_what_may_be_left_is_listed(tmp_path: Path) -> None:
    folder = tmp_path / "Zebra"
    folder.mkdir()
    token = "0123456789abcdef0123"
    (folder / "quokka.log").write_text(PING + f"token {token} for lab.zebralike\n", "utf-8")
    result = azlatency("import", folder, "--study", "mine", "--pseudonymise", tmp_path / "k.json", cwd=tmp_path)
    assert result.returncode == 0
    (line,) = [line for line in result.stderr.splitlines() if "may still be names" in line]
    assert f"1 dotted names (lab.zebralike); 1 long hexadecimal tokens ({token})" in line


def test_what_tools_print_of_themselves_stays(tmp_path: Path) -> None:
    """Pseudonyms of all fixtures and of a study: no file is refused, so no number depends on a name."""
    folder = tmp_path / "logs"
    shutil.copytree(FIXTURES, folder, ignore=shutil.ignore_patterns("*.expected.json", "*.md"))
    study = ROOT / "data" / "raw" / "westeurope-availability-set-vs-zones"
    (tmp_path / "work").mkdir()
    assert write_pseudonymised([folder, study], tmp_path / "work", tmp_path / "key.json").refused == []
