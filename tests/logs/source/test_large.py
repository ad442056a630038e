"""Logs of any size: their text stays in a file, their samples move into one, and the tables are the same."""

from __future__ import annotations

import bz2
import gzip
import pickle
import tarfile
import zipfile
from array import array
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from helpers.cases import thinned
from helpers.large_logs import cut_small, peak_of, plain
from helpers.places import FIXTURES
from hypothesis import given, settings
from hypothesis import strategies as st

import azlatency.logs.source.expand as expand_module
from azlatency.logs import parse
from azlatency.logs.grammar import probes
from azlatency.logs.parse import parse_source
from azlatency.logs.parsers import fio
from azlatency.logs.source import large, lines
from azlatency.logs.source.decode import Source, SourceError, source_from_bytes
from azlatency.logs.source.expand import expand, expand_stream
from azlatency.logs.source.large import NULL, FileText, Integers, Labels, Repeated, extended, extremes, frequencies

LOGS = sorted(
    (path for path in FIXTURES.glob("*/*") if path.is_file() and not path.name.endswith((".expected.json", ".md"))),
    key=lambda path: path.stat().st_size,
)
#: One log of each tool.
USUAL = {path.parent.name: path for path in LOGS if path.stat().st_size < 10_000}
OPEN_FILES = Path("/proc/self/fd")
HEADER = "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n"
REPLY = "64 bytes from 10.0.0.1: icmp_seq={} ttl=64 time={} ms\n"
FULL_LOG = (
    "test was performed using the following parameters: --mps=600000 --burst=1 --reply-every=1 --msg-size=14\n"
    "packet, txTime(sec), rxTime(sec), latency(usec)\n"
)
SUMMARY = "\n--- 10.0.0.1 ping statistics ---\n{} packets transmitted, {} received, {}% packet loss, time 9ms\n"


def read_large(path: Path, piece: int) -> dict[str, Any]:
    """Return the tables of a file that is read as if it were large."""
    with pytest.MonkeyPatch.context() as patch:
        cut_small(patch, piece)
        (source,) = expand(path, name="a.log")
        assert isinstance(source, Source)
        return plain(parse_source(source))


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[] if path in USUAL.values() else pytest.mark.slow) for path in LOGS],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_a_fixture_has_the_same_tables_as_a_large_log(path: Path) -> None:
    (whole,) = expand(path, name="a.log")
    assert isinstance(whole, Source)
    assert read_large(path, 400) == plain(parse_source(whole))


@pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="this system does not list the open files")
@pytest.mark.parametrize(
    "path", thinned([*USUAL.values(), *FIXTURES.glob("iperf3/*.ndjson")], 4), ids=lambda path: path.name
)
def test_many_logs_in_one_file_need_few_open_files(tmp_path: Path, path: Path) -> None:
    many = tmp_path / "many.log"
    many.write_bytes(40 * (path.read_bytes() + b"\n"))
    before = len(list(OPEN_FILES.iterdir()))
    with pytest.MonkeyPatch.context() as patch:
        cut_small(patch, 400)
        for module in (large, probes):  # the samples of a run have files of their own, if there are a million
            patch.setattr(module, "MOST_IN_MEMORY", 2**20)
        (source,) = expand(many)
        assert isinstance(source, Source)
        logs = parse_source(source)
        assert len(list(OPEN_FILES.iterdir())) - before <= 30
    assert len(logs.rows["sources"]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("examples", [25, pytest.param(100, marks=pytest.mark.slow)])
def test_pieces_of_any_size_give_the_same_tables(tmp_path: Path, examples: int) -> None:
    path = tmp_path / "any.log"

    @settings(max_examples=examples)
    @given(piece=st.integers(40, 2000), lost=st.sets(st.integers(1, 150)),
           late=st.sets(st.integers(2, 150), max_size=4), stamped=st.booleans(), busybox=st.booleans())  # fmt: skip
    def check(piece: int, lost: set[int], late: set[int], stamped: bool, busybox: bool) -> None:
        order = [number for number in range(1, 151) if number not in lost]
        for number in late.intersection(order):
            order.insert(max(order.index(number) - 3, 0), number)
        stamp = "[1795228093.{:06d}] " if stamped else ""
        times = ("4.100", "0.301", "12.300") if busybox else ("0.301", "4.10", "31.10")
        rows = [stamp.format(n) + REPLY.format(n, times[n % 3]) for n in order]
        summary = SUMMARY.format(150, len(set(order)), round(100 * len(lost) / 150, 3))
        path.write_text(HEADER + "".join(rows) + summary)
        (whole,) = expand(path, name="a.log")
        assert isinstance(whole, Source)
        assert read_large(path, piece) == plain(parse_source(whole))

    check()


@pytest.mark.costly
@pytest.mark.parametrize(
    "packed, encoding",
    [
        *((packed, "utf-8") for packed in ("plain", "gzip", "bzip2", "zstd", "crlf", "crlf gzip", "cut")),
        *(("plain", encoding) for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1")),
        *(("cut", encoding) for encoding in ("utf-16", "utf-16-le", "cp850")),
        *(("gzip", encoding) for encoding in ("utf-16-be", "cp850")),
        ("cut accent", "utf-8"),
    ],
)
def test_a_large_log_in_any_form_is_read_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: str, encoding: str
) -> None:
    text = HEADER + "".join(REPLY.format(n, f"0.{300 + n}") for n in range(1, 400))
    if encoding != "utf-8" or packed == "cut accent":
        text = text.replace("10.0.0.1", "zone-é")
    if encoding == "cp850":  # which a phrase shows, wherever it is
        text += "Ping-Statistik für zone-é:\n"
    # Windows writes all but UTF-8 with carriage returns.
    ends_of_windows = "crlf" in packed or encoding != "utf-8"
    raw = (text.replace("\n", "\r\n") if ends_of_windows else text).encode(encoding)
    if encoding == "latin-1":
        raw = raw.replace(b"399", b"\x81")  # which cp1252 has not
    if packed.startswith("cut"):
        raw = raw[:-7] + ("é".encode()[:1] if packed == "cut accent" else b"")
    path = tmp_path / "a.log"
    zstd = partial(pa.compress, codec="zstd", asbytes=True)
    compress = {"gzip": gzip.compress, "bzip2": bz2.compress, "zstd": zstd}.get(packed.rsplit(maxsplit=1)[-1], bytes)
    path.write_bytes(compress(raw))
    (whole,) = expand(path, name="a.log")
    assert isinstance(whole, Source)
    assert read_large(path, 100) == plain(parse_source(whole))
    cut_small(monkeypatch, 100)
    (source,) = expand(path)
    assert isinstance(source, Source)
    assert isinstance(source.text, FileText)
    assert (source.whole_text, source.encoding) == (whole.whole_text, whole.encoding)
    assert source.encoding == {"utf-16": "utf-16-le"}.get(encoding, encoding)
    assert source.size_bytes == len(raw)


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz", "tar.zst", "stream"])
def test_a_large_log_in_an_archive_or_a_stream_is_read_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    text = HEADER + "".join(REPLY.format(n, f"0.{300 + n}") for n in range(1, 400))
    log, path = tmp_path / "a.log", tmp_path / f"logs.{kind}"
    log.write_text(text)
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.write(log, "a.log")
    elif kind == "stream":
        path.write_text(text)
    else:
        with tarfile.open(path, "w:gz" if kind == "tar.gz" else "w") as archive:
            archive.add(log, "a.log")
        if kind == "tar.zst":
            path.write_bytes(pa.compress(path.read_bytes(), "zstd", asbytes=True))
    (small,) = expand(log)
    cut_small(monkeypatch, 100)
    monkeypatch.setattr(expand_module, "_PIECE", 1000)
    with path.open("rb") as stream:
        (source,) = expand_stream(stream, "<stdin>") if kind == "stream" else expand(path)
    assert isinstance(source, Source)
    assert isinstance(small, Source)
    assert isinstance(source.text, FileText)
    assert (source.whole_text, source.sha256, source.size_bytes) == (text, small.sha256, len(text))
    assert source.path == ("<stdin>" if kind == "stream" else f"{path.as_posix()}!a.log")


@pytest.mark.parametrize(
    "raw",
    ["PING".encode("utf-16-le"), "PING\n".encode("utf-16")[:-1], b"x\ry", b""],
)
def test_a_single_line_is_read_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    cut_small(monkeypatch, 100)
    path = tmp_path / "a.log"
    path.write_bytes(raw)
    (source,) = expand(path)
    assert isinstance(source, Source)
    assert source == source_from_bytes(raw, path.as_posix())


def test_a_damaged_large_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_small(monkeypatch, 100)
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(b"PING 1\n" * 1000)[:-9])
    (error,) = expand(tmp_path)
    assert isinstance(error, SourceError)
    assert "damaged compressed file" in str(error)


def test_a_wrapped_large_log_is_unwrapped(tmp_path: Path) -> None:
    rows = [
        HEADER,
        *(REPLY.format(n, f"0.{300 + n}") for n in range(1, 60)),
        *SUMMARY.format(59, 59, 0).splitlines(True),
    ]
    path = tmp_path / "a.log"
    path.write_text("".join(f"> {row}" for row in rows))
    tables = read_large(path, 200)
    assert len(tables["samples"]) == 59
    assert [event["code"] for event in tables["events"]] == ["unwrapped", "truncated"]


VALUES = st.one_of(st.integers(-(10**15), 10**15), st.just(NULL))


@given(st.lists(st.lists(VALUES, max_size=12), max_size=6), st.data())
def test_a_column_in_a_file_is_like_an_array(batches: list[list[int]], data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "MOST_IN_MEMORY", 5)
        expected, column = array("q"), Integers()
        for index, batch in enumerate(batches):
            if index % 2:
                column.extend(array("q", batch))
            else:
                for value in batch:
                    column.append(value)
            expected.extend(batch)
        for _ in range(3 if expected else 0):
            at, value = data.draw(st.integers(0, len(expected) - 1)), data.draw(VALUES)
            expected[at] = column[at] = value
        assert len(column) == len(expected)
        assert list(column) == [None if value == NULL else value for value in expected]
        assert [column[at] for at in range(len(column))] == list(column)
        assert column[1:7].tolist() == list(expected[1:7])
        assert column.count(NULL) == expected.count(NULL)
        assert (7 in column) == (7 in expected)
        assert list(pickle.loads(pickle.dumps(column))) == list(column)
        assert frequencies(column) == frequencies(expected)
        assert list(column.map(lambda values: values + 1)) == [None if v == NULL else v + 1 for v in expected]
        if expected and NULL not in expected:
            assert extremes(column) == extremes(expected)


def test_columns_of_text() -> None:
    codes = Integers(bytearray([0, 1, 1]))
    labels = Labels(codes, ("ok", "lost"))
    assert (list(labels), labels[1], labels[1:], len(labels)) == (["ok", "lost", "lost"], "lost", ["lost", "lost"], 3)
    same = Repeated("ok", 5)
    assert (list(same), len(same[1:3]), same[-1]) == (["ok"] * 5, 2, "ok")


def test_a_column_moves_into_a_file_when_it_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    monkeypatch.setattr(large, "MOST_IN_MEMORY", 5)
    short = extended(array("q"), np.arange(5))
    assert isinstance(short, array)
    assert list(extended(short, np.arange(2))) == [0, 1, 2, 3, 4, 0, 1]
    assert isinstance(extended(short, np.arange(2)), Integers)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ping", "sockperf", "fping", "ping gzip", "ping zip"])
def test_memory_does_not_grow_with_the_log(tmp_path: Path, kind: str) -> None:
    """Peak memory of the whole process in megabytes for 1, 3 and 9 times the lines."""
    peaks = []
    header, row = {
        "ping": (HEADER, lambda n: REPLY.format(n % 65536, f"0.{300 + n % 97}")),
        "sockperf": (FULL_LOG, lambda n: f"{n}, {2 + n}.000000000, {2 + n}.000{n % 97:06d}, 25.000\n"),
        "fping": ("", lambda n: f"10.0.0.1 : [{n}], 64 bytes, 0.{300 + n % 97} ms (0.348 avg, 0% loss)\n"),
    }[kind.split(maxsplit=1)[0]]
    for times in (1, 3, 9):
        path = tmp_path / "a.log"
        with gzip.open(path, "wt", compresslevel=1) if "gzip" in kind else path.open("w") as stream:
            stream.write(header)
            for start in range(0, times * 700_000, 10_000):
                stream.write("".join(map(row, range(start, start + 10_000))))
        if "zip" in kind.split():
            with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
                packed.write(path)
            path = tmp_path / "a.zip"
        count, peak = peak_of(
            f"logs = az.parse({str(path)!r})\nprint(sum(len(block.seq) for block in logs.sample_blocks))"
        )
        peaks.append(peak)
        assert int(count) == times * 700_000
    assert max(peaks) <= 300
    assert peaks[2] <= 1.25 * peaks[1]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["utf-16-le", "cp1252", "wrapped", "reply by reply"])
def test_text_in_any_form_needs_little_memory(tmp_path: Path, form: str) -> None:
    """A ping log of 50 MB or more."""
    path, count = tmp_path / "a.log", 900_000
    header, row = HEADER.replace("10.0.0.1 ", "zone-é "), REPLY
    if form == "wrapped":
        header, row = f"> {HEADER}", f"> {REPLY}"
    elif form == "reply by reply":  # as Windows prints them, which truncates times
        header = "Pinging 10.0.0.1 with 32 bytes of data:\n"
        row = f"{'Reply from 10.0.0.1: bytes=32 time={1}ms TTL=64':60}\n"
    with path.open("w", encoding="utf-8" if form in ("wrapped", "reply by reply") else form) as stream:
        stream.write(header)
        for start in range(0, count, 10_000):
            numbers = range(start, start + 10_000)
            stream.write("".join(row.format(n % 65536, 1 + n % 9 if "{1}" in row else f"0.{n % 997}") for n in numbers))
    samples, peak = peak_of(
        f"logs = az.parse({str(path)!r})\nprint(sum(len(block.seq) for block in logs.sample_blocks))"
    )
    assert int(samples) == count
    assert peak <= 200


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["late", "repeated"])
def test_late_and_repeated_replies_need_little_memory(tmp_path: Path, kind: str) -> None:
    path, count = tmp_path / "a.log", 1_500_000
    with path.open("w") as stream:
        stream.write(HEADER)
        for n in range(10, count, 10):
            order = [*range(n + 1, n + 10), n] if kind == "late" else [*range(n, n + 10), n + 9]
            stream.write("".join(REPLY.format(seq % 65536, f"0.{300 + seq % 97}") for seq in order))
    statuses, peak = peak_of(
        f"(block,) = az.parse({str(path)!r}).sample_blocks\nprint(block.status.count('ok'), len(block.seq))"
    )
    assert statuses == (
        f"{count - 10} {count - 10}" if kind == "late" else f"{count - 10} {count - 10 + count // 10 - 1}"
    )
    assert peak <= 200


def _rows_out_of_order(kind: str, count: int) -> Iterator[str]:
    """Yield a log of iperf in which every second row, or the last third of them, is not in the order of time."""
    if kind == "iperf3":
        yield "Connecting to host 10.2.2.4, port 5201\n"
        yield "[  5] local 10.2.1.4 port 44000 connected to 10.2.2.4 port 5201\n"
        yield "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
        for n in (n ^ 1 for n in range(count)):
            yield f"[  5] {n:4}.00-{n + 1:4}.00  sec  1.12 GBytes  9.62 Gbits/sec    0   1.35 MBytes       \n"
        return
    for n in range(count):
        at, size = n % (2 * count // 3), 25_000_000 + n
        clock = f"20260101{at // 3600 % 24:02}{at // 60 % 60:02}{at % 60:02}"
        yield f"{clock},10.99.0.1,43282,10.99.0.2,5601,3,{at}.0-{at + 1}.0,{size},{8 * size}\n"


@pytest.mark.parametrize("kind", ["iperf3", "iperf2"])
def test_rows_out_of_order_have_the_same_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    path = tmp_path / "a.log"
    path.write_text("".join(rows := list(_rows_out_of_order(kind, 300))) + rows[-1])
    (whole,) = expand(path, name="a.log")
    assert isinstance(whole, Source)
    tables = plain(parse_source(whole))
    assert read_large(path, 400) == tables
    assert {event["code"] for event in tables["events"]} & {"duplicate_interval", "repeated_row"}


def read_beyond(path: Path, most: int) -> dict[str, Any]:
    """Return the tables of a file of which fewer bytes fit into memory."""
    with pytest.MonkeyPatch.context() as patch:
        cut_small(patch, 100)
        for module in (expand_module, fio, lines, parse):
            patch.setattr(module, "LARGEST_WHOLE", most)
        (source,) = expand(path, name="a.log")
        assert isinstance(source, Source)
        return plain(parse_source(source))


def errors(tables: dict[str, Any]) -> list[tuple[int, str, str]]:
    return [(event["line"], event["code"], event["text"]) for event in tables["events"] if event["severity"] == "error"]


def test_lines_that_do_not_fit_into_memory_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text(HEADER + "".join(f"{'x' * (n % 7)} row {n}\n" for n in range(200)))
    tables = read_beyond(path, 1000)
    ((line, code, text),) = errors(tables)
    assert 1 < line < 201 and code == "too_large" and tables["sources"][0]["lines_unknown"] == 201
    assert text == (
        "more than 1000 bytes of lines that differ in more than their digits do not fit into memory; split the file"
    )


def test_samples_beyond_that_size_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    replies = "".join(REPLY.format(n, f"0.{300 + n}") for n in range(1, 60))
    path.write_text(HEADER + replies + SUMMARY.format(59, 59, 0))
    tables = read_beyond(path, 1000)
    assert not errors(tables) and len(tables["samples"]) == 59


@pytest.mark.parametrize("tool", ["fio", "iperf3"])
def test_other_logs_beyond_that_size_are_refused_in_one_line(tmp_path: Path, tool: str) -> None:
    name = {"fio": "3.33-randread-4k.txt", "iperf3": "3.0.11-server-interrupted.log"}[tool]
    path = tmp_path / "a.log"
    path.write_bytes(20 * (FIXTURES / tool / name).read_bytes())
    size = path.stat().st_size - 1
    what = "jobs" if tool == "fio" else "logs"
    assert [text for _, _, text in errors(read_beyond(path, size))] == [
        f"{what} of {tool} in a file of more than {size} bytes do not fit into memory; split the file"
    ]


def test_a_large_file_without_a_log_is_one_event(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("".join(f"{n} rows of another program\n" for n in range(100, 300)))
    tables = read_beyond(path, 1000)
    assert [event["code"] for event in tables["events"]] == ["not_recognised"]
    assert tables["sources"][0]["lines_unknown"] == 200


def test_only_the_first_unknown_lines_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse, "_MOST_UNKNOWN", 3)
    log = HEADER + REPLY.format(1, "0.338") + "".join(f"line {n} of another program\n" for n in range(9))
    tables = plain(parse_source(source_from_bytes(log.encode(), "a.log")))
    told = [event["text"] for event in tables["events"] if event["code"] == "unknown_line"]
    assert told == ["no rule matches 'line 0 of another program' and the lines up to 5"]
    assert errors(tables)[-1][:2] == (6, "too_large")
    assert tables["sources"][0]["lines_unknown"] == 9


def test_json_that_does_not_fit_into_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut_small(monkeypatch, 100)
    monkeypatch.setattr(expand_module, "LARGEST_WHOLE", 1000)
    (tmp_path / "a.json").write_text('{"other tool": "none-3"}' + " " * 1000)
    (tmp_path / "b.log").write_text(HEADER + REPLY.format(1, "0.338") * 30)
    with gzip.open(tmp_path / "c.json.gz", "wt") as packed:
        packed.write("{" + " " * 3000)
    refused, log, packed_refused = expand(tmp_path)
    assert isinstance(log, Source)
    assert str(refused) == (
        f"{tmp_path.as_posix()}/a.json:1: JSON of more than 1000 bytes does not fit into memory; "
        "split it, or use the text output of the tool"
    )
    assert "c.json.gz:1: JSON of more than 1000 bytes" in str(packed_refused)
