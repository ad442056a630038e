"""Jobs of a known form are read as columns, with the tables that reading them number by number gives."""

from __future__ import annotations

import json
import random
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy  # noqa: F401  # without it, jobs with bins are read number by number
import pytest

from azlatency.logs.decode import source_from_bytes
from azlatency.logs.parse import parse_source
from azlatency.logs.parsers.fio import job_forms, json_output
from azlatency.logs.schema import TABLES

FIXTURES = Path(__file__).parents[2] / "fixtures" / "fio"
NAMES = ("3.16-randread-4k", "3.33-randread-bins", "3.33-randrw-4k")
NUMBER = re.compile(r"(?<=: )\d+(?:\.\d+)?(?=,?\n)")


@pytest.fixture(autouse=True)
def no_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_forms, "_forms", {})


def tables(text: str) -> dict[str, Any]:
    logs = parse_source(source_from_bytes(text.encode(), "fio.json"))
    found: dict[str, Any] = {name: logs.records(name) for name in TABLES}
    for row in found["sources"]:
        del row["imported_at"]
    return found


def slow_tables(text: str) -> dict[str, Any]:
    """Return the tables of a document whose numbers are read one by one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_output, "split_job", lambda raw: None)
        return tables(text)


def columns_of(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list to which each job that is read as columns is added."""
    found: list[object] = []
    read = json_output.Documents._read_columns

    def read_columns(self: json_output.Documents, *arguments: Any) -> json_output.Job:
        found.append(arguments)
        return read(self, *arguments)

    monkeypatch.setattr(json_output.Documents, "_read_columns", read_columns)
    return found


def document(names: list[str], change: random.Random | None = None, indent: int = 2) -> str:
    """Return a document with the jobs of several ones, whose numbers have other last digits."""
    jobs = []
    for number, name in enumerate(names):
        text = (FIXTURES / f"{name}.json").read_text()
        if change is not None:
            text = NUMBER.sub(
                lambda match: match[0][:-1] + str(change.randrange(1, 10)) if float(match[0]) else match[0], text
            )
        job = json.loads(text)["jobs"][0]
        options = {**job["job options"], "iodepth": str(2 + number), "name": "x" * number}
        jobs.append({**job, "jobname": f"job {number}", "groupid": number, "job options": options})
    return json.dumps(
        {"fio version": "fio-3.33", "timestamp": 1795227960, "jobs": jobs}, indent=indent, separators=(",", " : ")
    )


@pytest.mark.parametrize("name", NAMES)
def test_third_document_of_a_form_is_read_as_columns(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (FIXTURES / f"{name}.json").read_text()
    known = columns_of(monkeypatch)
    expected = slow_tables(text)
    assert [tables(text) for _ in range(2)] == [expected] * 2
    assert not known
    assert tables(text) == expected
    assert len(known) == 1


def test_jobs_of_one_document(monkeypatch: pytest.MonkeyPatch) -> None:
    known = columns_of(monkeypatch)
    text = document(["3.33-randread-bins"] * 4 + ["3.33-randrw-4k"] * 3)
    assert tables(text) == slow_tables(text)
    assert len(known) == 5


def test_jobs_with_other_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    known = columns_of(monkeypatch)
    change = random.Random(3)
    for turn in range(6):
        text = document([NAMES[turn % 2 * 2]] * 5, change, indent=turn // 3 + 1)
        assert tables(text) == slow_tables(text), turn
    assert len(known) >= 15


@pytest.mark.parametrize(
    ("old", "new", "columns"),
    [
        ('"354304" : 1,', '"346112" : 1,', 4),  # bins out of order
        ('"346112" : 1,', '"" : 1,', 4),
        ('"346112" : 1,', '"346112" : 2,', 4),  # the sum is not the count
        ('"min" : 3717', '"min" : 52996812', 5),  # greater than the maximum
        ('"ctx" : 2037', f'"ctx" : {10**30}', 5),  # nothing needs it
        ('"ctx" : 2037', '"ctx" : 2037, "total_err" : 3', 4),
    ],
)
def test_one_job_among_others_is_odd(old: str, new: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    head, *jobs = re.split('(?="jobname")', document(["3.33-randread-bins"] * 6))
    assert old in jobs[3]
    jobs[3] = jobs[3].replace(old, new, 1)
    text = "".join([head, *jobs])
    known = columns_of(monkeypatch)
    assert tables(text) == slow_tables(text)
    assert len(known) == columns


@pytest.mark.parametrize("name", NAMES)
def test_every_number_may_be_zero(name: str) -> None:
    """Which numbers are 0 decides what a job is read as, so such a job may have another template."""
    text = (FIXTURES / f"{name}.json").read_text()
    for _ in range(2):
        tables(text)
    few = [match.span() for match in re.finditer(r'"bins" : \{[^}]*\}|"ctx"(?s:.*)', text)]  # bins, and the rest
    for match in NUMBER.finditer(text):
        if match.start() % 20 and any(start <= match.start() < end for start, end in few):
            continue
        changed = text[: match.start()] + ("0.000000" if "." in match[0] else "0") + text[match.end() :]
        assert tables(changed) == slow_tables(changed), text.count("\n", 0, match.start()) + 1


def test_number_that_is_left_out_is_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is too large, in a direction without I/O, whose numbers become no rows."""
    text = (FIXTURES / "3.33-randread-bins.json").read_text()
    for _ in range(2):
        tables(text)
    known = columns_of(monkeypatch)
    place = text.index('"drop_ios" : 0', text.index('"write" : {'))
    changed = text[:place] + text[place:].replace('"drop_ios" : 0', f'"drop_ios" : {10**20}', 1)
    assert tables(changed) == slow_tables(changed)
    assert not known
    assert tables(text) == slow_tables(text)
    assert known


def test_threads_learn_and_forget_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_forms, "_MOST_FORMS", 1)
    texts = [document([name] * 3, indent=indent) for name in NAMES for indent in (1, 2)]
    expected = [slow_tables(text) for text in texts]
    known = columns_of(monkeypatch)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(2) as threads:
            assert list(threads.map(tables, texts * 4)) == expected * 4
    finally:
        sys.setswitchinterval(interval)
    assert known


@pytest.mark.parametrize("value", ["9" * 16, "1" * 25, "0.1234567890123456789", "1e3", "-5", "null", '"7"', "[1, 2]"])
@pytest.mark.parametrize("key", ["runtime", "io_bytes", "groupid", "mean", "99.000000", "N", "usr_cpu", "346112"])
def test_odd_values(key: str, value: str) -> None:
    text = (FIXTURES / "3.33-randread-bins.json").read_text()
    for _ in range(2):
        tables(text)
    changed = re.sub(rf'("{re.escape(key)}" : )[\d.]+', rf"\g<1>{value}", text, count=1)
    assert changed != text
    assert tables(changed) == slow_tables(changed)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"346112" : 1,', '"346112" : 1, "350208" : 1,'),
        ('"346112" : 1,', '"354304" : 1,'),
        ('"346112" : 1,', '"" : 1,'),
        ('"346112" : 1,', '"34 6112" : 1,'),
        ('"5.000000" : 937984', '"7.000000" : 937984'),
        ('"5.000000" : 937984', '"5.00" : 937984, "6.0000" : 1'),
        ('"5.000000" : 937984', '"" : 9, "5.000000" : 937984'),
        ('"iodepth" : "64"', '"iodepth" : "7", "iodepth" : "9"'),
        ('"iodepth" : "64"', '"iodepth" : "}"'),
        ('"iodepth" : "64"', '"iodepth" : 64'),
        ('"jobname" : "raid0"', '"jobname" : "5\\"6"'),
        ('"jobname" : "raid0"', '"jobname" : "9", "hostname" : "10.0.0.1"'),
        ('"short_ios" : 0', '"short_ios" : 0, "short_ios" : 5'),
        ('"drop_ios" : 0', '"drop_ios" : 5.0'),
        ('"jobname" : "raid0"', '"jobname" : "raid0", "x" : "bins"'),
        ('"clat_ns" : {', '"clat_ns" : {"x" : "bins", '),
        ('"latency_window" : 0', '"latency_window" : 0, "bins" : 5'),
        ('"job options" : {', '"x" : {"job options" : {"rw" : "write",\n"iodepth" : "9"\n}}, "job options" : {'),
    ],
)
def test_odd_members(old: str, new: str) -> None:
    text = (FIXTURES / "3.33-randread-bins.json").read_text()
    for _ in range(2):
        tables(text)
    assert old in text
    changed = text.replace(old, new)
    for _ in range(3):
        assert tables(changed) == slow_tables(changed)


def test_jobs_of_the_same_name_in_a_document_are_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """``numjobs=2`` without ``group_reporting``: the second of the jobs looks like a later report of the first."""
    text = document(["3.33-randrw-4k"] * 4)
    start = text.index('"job 3"')
    last = text[start:].replace('"job 3"', '"job 2"').replace('"groupid" : 3', '"groupid" : 2')
    last = re.sub(r'("runtime" : |"io_bytes" : )([1-9]\d*)', r"\g<1>1\2", last)
    known = columns_of(monkeypatch)
    found = tables(text[:start] + last)
    assert len(known) == 3
    assert found == slow_tables(text[:start] + last)
    assert [row["first_line"] for row in found["runs"]] == [
        number for number, line in enumerate(text.splitlines(), start=1) if line == "    {"
    ]
    assert not found["intervals"]


def test_runtime_that_is_no_time_is_left_out() -> None:
    text = (FIXTURES / "3.33-randrw-4k.json").read_text()
    found = tables(re.sub(r'"runtime" : \d+', '"runtime" : 99999999999999', text))
    assert [(row["status"], row["duration_ns"]) for row in found["runs"]] == [("complete", None)]
