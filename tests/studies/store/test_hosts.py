"""Facts about machines: what a recording may contain, and in what machines differ."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from helpers.command import azlatency

from azlatency.pages.what_was_measured import find, host_differences
from azlatency.studies.imports.importer import import_study
from azlatency.studies.store.hosts import changed_facts, differing_facts, host_of, hosts_frame, read_facts
from azlatency.studies.store.study import load

FACTS = "recorded_at={day}T22:00:00Z\nkernel=Linux 6.1\nmtu_bytes=1500\ncpu_governor={governor}\n"
MANIFEST = '[study]\nname = "n"\nruns = "runs.csv"\n'


def recorded(*rows: tuple[str, str, str]) -> dict[str, dict]:
    """Recordings by path: the path, the day, and the governor."""
    return {path: read_facts(FACTS.format(day=day, governor=governor).encode()) for path, day, governor in rows}


@pytest.mark.parametrize(
    ("path", "host"),
    [
        ("hosts/vm-a.txt", "vm-a"),
        ("2026-11-24/hosts/vm.a.txt", "vm.a"),
        ("hosts/until-2026-11-24T220000Z/vm-a.txt", "vm-a"),
        ("hosts/vm-a.log", None),
        ("myhosts/vm-a.txt", None),
        ("hosts.txt", None),
    ],
)
def test_the_path_names_the_machine(path: str, host: str | None) -> None:
    assert host_of(path) == host


def test_a_line_that_is_no_fact_of_its_type_is_missing() -> None:
    lines = [
        b"mtu_bytes=many", b"rx_queues=9999999999999999999", b"tx_queues=-0007", b"recorded_at=yesterday",
        b"accelerated_networking=maybe", b"kernel=", b"driver=\x1b[2J", b"qdisc=fq", b"qdisc=mq",
        b"host=other", b"unknown=1",
    ]  # fmt: skip
    assert read_facts(b"\n".join(lines)) == {"tx_queues": -7, "qdisc": "fq"}
    frame = hosts_frame({"hosts/a.txt": {}})
    assert list(frame["host"]) == ["a"] and frame.drop(columns=["host", "file"]).isna().all(axis=None)
    empty = hosts_frame({})
    assert len(empty) == 0 and not differing_facts(empty)
    empty["mine"] = 1
    assert "mine" not in hosts_frame({}).columns, "each study has its own"


def test_a_setting_that_changed_between_nights_is_shown_with_its_time() -> None:
    frame = hosts_frame(
        recorded(
            ("3/hosts/a.txt", "2026-11-03", "powersave"),
            ("1/hosts/a.txt", "2026-11-01", "performance"),
            ("2/hosts/a.txt", "2026-11-02", "performance"),
            ("1/hosts/b.txt", "2026-11-01", "performance"),
        )
    )
    assert list(frame["file"]) == ["1/hosts/a.txt", "2/hosts/a.txt", "3/hosts/a.txt", "1/hosts/b.txt"]
    assert list(frame["host"]) == ["a", "a", "a", "b"] and frame["mtu_bytes"].sum() == 6000
    assert differing_facts(frame) == {
        "CPU governor": {"performance": ["a from 2026-11-01 22:00", "b"], "powersave": ["a from 2026-11-03 22:00"]}
    }


def test_an_unknown_fact_differs_from_nothing() -> None:
    known = hosts_frame(recorded(("hosts/a.txt", "2026-11-01", "performance")))
    unknown = hosts_frame({"hosts/b.txt": {"kernel": "Linux 6.1"}})
    assert not changed_facts(known, unknown) and not changed_facts(known, hosts_frame({}))
    other = hosts_frame(recorded(("hosts/b.txt", "2026-11-02", "powersave")))
    assert changed_facts(known, other) == {"CPU governor": ("performance", "powersave")}


def measured(folder: Path, governors: str, log: bytes) -> Path:
    """A dump of the script: a log, and what two machines told."""
    (folder / "hosts").mkdir(parents=True)
    for host, governor in zip("ab", governors.split(), strict=True):
        text = FACTS.format(day="2026-11-01", governor=governor)
        (folder / "hosts" / f"{host}.txt").write_text(text, "utf-8")
    (folder / "run.log").write_bytes(log)
    (folder / "study.toml").write_text(MANIFEST, "utf-8")
    (folder / "runs.csv").write_text("log,scenario,ignore\nhosts/*,,facts about the hosts\nrun.log,a → b,\n", "utf-8")
    return folder


@pytest.fixture
def log() -> bytes:
    return b"""PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.
64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.100 ms
64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=0.110 ms

--- 10.0.0.2 ping statistics ---
2 packets transmitted, 2 received, 0% packet loss, time 1001ms
rtt min/avg/max/mdev = 0.100/0.105/0.110/0.005 ms
"""


def test_the_import_keeps_the_facts_and_sees_that_they_change(tmp_path: Path, log: bytes) -> None:
    dump = measured(tmp_path / "dump", "performance <b>x</b>", log)
    summary = import_study("n", [dump], out=tmp_path / "out")
    assert not summary.ignored and not summary.not_recognised
    study = load("n", processed=tmp_path / "out")
    table = host_differences(study)
    assert table is not None
    assert table.cells == [("CPU governor", "performance", "a"), ("CPU governor", "<b>x</b>", "b")]
    printed = pd.DataFrame({"method": ["ping"], "printed_as": ["round_trip"]})
    assert "The machines differ in CPU governor" in str(find(study, printed))
    assert import_study("n", [dump], out=tmp_path / "out").unchanged
    (dump / "hosts" / "b.txt").write_text(FACTS.format(day="2026-11-01", governor="performance"), "utf-8")
    assert not import_study("n", [dump], out=tmp_path / "out").unchanged
    assert host_differences(load("n", processed=tmp_path / "out")) is None
    (dump / "hosts" / "b.txt").write_bytes(b"x" * 70_000)
    summary = import_study("n", [dump], out=tmp_path / "out")
    assert summary.ignored == ["hosts/b.txt: too large for facts about a host"]


def test_a_comparison_says_in_what_the_machines_differ(tmp_path: Path, log: bytes) -> None:
    measured(tmp_path / "base", "performance performance", log)
    measured(tmp_path / "new", "performance powersave", log.replace(b"0.110", b"0.120"))
    result = azlatency("compare", "base", "new", "--format", "json", cwd=tmp_path)
    differ = "The machines differ in CPU governor: performance in the base, performance and powersave in the candidate"
    assert f'"{differ}"' in result.stdout
