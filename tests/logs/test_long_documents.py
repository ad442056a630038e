"""JSON of any size: the elements of its long lists stay in the file, and the tables are the same."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.large_logs import cut_small, peak_of, plain
from helpers.places import FIXTURES

from azlatency.logs import expand as expand_module
from azlatency.logs import long_documents
from azlatency.logs import rows as rows_module
from azlatency.logs.decode import Source
from azlatency.logs.expand import expand
from azlatency.logs.large import FileText, LongText
from azlatency.logs.parse import parse_source
from azlatency.logs.parsers.fio import run
from azlatency.logs.parsers.iperf3 import json_intervals
from azlatency.logs.rows import Rows

DOCUMENTS = sorted(
    path
    for path in FIXTURES.glob("*/*")
    if not path.name.endswith(".expected.json") and path.read_bytes()[:100].lstrip().startswith(b"{")
)
IPERF3 = FIXTURES / "iperf3" / "3.12-tcp.json"
IOSTAT = FIXTURES / "iostat" / "12.6.1-x.json"
STREAM = FIXTURES / "iperf3" / "3.21-stream-P2-omit.ndjson"
FIO = FIXTURES / "fio" / "3.33-randread-bins.json"
LONG = [
    IPERF3,
    IOSTAT,
    FIXTURES / "iperf3" / "3.16-udp-omit.json",
    FIO,
    FIXTURES / "fio" / "3.33-two-jobs-one-failed.json",
]
KEYS = {"iperf3": "intervals", "iostat": "statistics", "fio": "jobs"}


def small(path: Path) -> dict[str, Any]:
    """Return the tables of a file that is read as a whole."""
    (source,) = expand(path, name="a.log")
    assert isinstance(source, Source)
    return plain(parse_source(source))


def large(path: Path, piece: int, kind: type = object) -> dict[str, Any]:
    """Return the tables of a file that is read in pieces of so many bytes."""
    with pytest.MonkeyPatch.context() as patch:
        cut_small(patch, 400)
        patch.setattr(expand_module, "_PIECE", 2**16)
        patch.setattr(json_intervals, "PIECE", piece)
        patch.setattr(long_documents, "PIECE", piece)
        patch.setattr(long_documents, "_SHOWN", (64, piece // 2))
        (source,) = expand(path, name="a.log")
        assert isinstance(source, Source)
        assert isinstance(source.text, kind)
        return plain(parse_source(source))


def kind_of(text: str) -> type:
    """Return how the text of a document stays in its file; other text may stand above the document."""
    return LongText if text.startswith("{") else FileText


def parts_of(path: Path) -> tuple[str, list[str], str]:
    """Return a document up to its long list, the elements, and the rest."""
    text = path.read_text()
    begin = place = text.index("{", text.index(f'"{KEYS[path.parent.name]}"'))
    elements: list[str] = []
    while text[place] != "]":
        end = json.JSONDecoder().raw_decode(text, place)[1]
        elements.append(text[place:end])
        place = end + len(text[end:]) - len(text[end:].lstrip(", \n\t"))
    return text[:begin], elements, text[place:]


def repeat_elements(path: Path, times: int) -> str:
    """Return a document whose long list has its elements several times."""
    head, elements, tail = parts_of(path)
    return head + ", ".join(elements * times) + tail


def long_document(path: Path, size: int) -> Iterator[str]:
    """Yield parts of a log of so many characters: an element with other digits, of iperf3 one per second."""
    if path.suffix == ".ndjson":
        head, element, *_, tail = path.read_text().splitlines(keepends=True)
        between = ""
    else:
        head, (element, *_), tail = parts_of(path)
        between = ", "
    yield head
    for number in range(size // len(element)):
        if path.parent.name == "iperf3":
            times = {"start": number, "end": number + 1, "seconds": 1, "bytes": 10**6, "bits_per_second": 8 * 10**6}
            for key, value in times.items():
                element = re.sub(rf'("{key}":\s*)[\d.]+', rf"\g<1>{value}", element)
        yield between * (number > 0) + element
    yield tail


def reports(path: Path, count: int) -> Iterator[str]:
    """Yield the reports of fio with ``--status-interval``, each a second and some bytes further."""
    text = path.read_text()
    for _ in range(count):
        for key, step in (("timestamp", 1), ("elapsed", 1), ("runtime", 1000), ("io_bytes", 10**6)):
            text = re.sub(
                rf'("{key}" : )([1-9]\d*)', lambda found, step=step: f"{found[1]}{int(found[2]) + step}", text
            )
        yield text


@pytest.mark.parametrize("piece", [700, 6000])
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_fixture_has_the_same_tables_in_pieces(path: Path, piece: int) -> None:
    assert large(path, piece) == small(path)


@pytest.mark.parametrize("path", LONG, ids=lambda path: path.name)
def test_a_document_with_a_long_list_stays_in_its_file(tmp_path: Path, path: Path) -> None:
    longer = tmp_path / "a.json"
    longer.write_text(text := repeat_elements(path, 40))
    for piece in (300, 5000, 60_000):
        assert large(longer, piece, kind_of(text)) == small(longer)


@pytest.mark.parametrize("path", [*LONG, STREAM], ids=lambda path: path.name)
def test_a_document_that_is_cut_or_damaged_has_the_same_tables(tmp_path: Path, path: Path) -> None:
    text, damaged = path.read_text(), tmp_path / "a.json"
    for place in range(3, len(text), len(text) // 23):
        for changed in (text[:place], text[:place] + "}" + text[place:], text[:place] + text[place + 1 :]):
            damaged.write_text(changed)
            assert large(damaged, 900) == small(damaged), changed[place - 3 : place + 3]
    damaged.write_text(text + "iperf3: done\n")
    assert large(damaged, 900) == small(damaged)


@pytest.mark.parametrize("path", LONG, ids=lambda path: path.name)
def test_a_document_that_is_cut_at_its_end_stays_in_its_file(tmp_path: Path, path: Path) -> None:
    text, cut = repeat_elements(path, 3), tmp_path / "a.json"
    after_comma = text.rindex(",\n\t\t") + 2 if path.parent.name == "iperf3" else len(text) - 300
    for place in (2 * len(text) // 3, after_comma, text.rindex("]")):
        cut.write_text(text[:place])
        assert large(cut, 900, kind_of(text)) == small(cut)
    head, elements, _ = parts_of(path)
    cut.write_text(head + ",\n".join(elements * 3) + ",")
    assert large(cut, 300) == small(cut)
    cut.write_text(cut.read_text() + "\n" + IOSTAT.read_text())
    assert large(cut, 300, FileText) == small(cut)


@pytest.mark.parametrize("path", LONG, ids=lambda path: path.name)
def test_documents_with_other_text_around_them_are_read_in_pieces(tmp_path: Path, path: Path) -> None:
    text, log = repeat_elements(path, 3).strip(), tmp_path / "a.log"
    cut, nan = text[: 2 * len(text) // 3], re.sub(r'("(?:rtt|util)":\s*)[\d.]+', r"\1-nan", text)
    # Texts of one tool only: the lines of others are foreign.
    for parts in (
        ("lab 7", text),
        (text, "", "done"),
        ("#", text, text),
        ("#", cut),
        (cut, text),
        ("#", nan, "#"),
        (nan,),
    ):
        log.write_text("\n".join(parts) + "\n")
        tables = large(log, 900, FileText)
        assert tables == small(log)
        assert tables["runs"]


@pytest.mark.parametrize(
    "change",
    [
        ("\n", "\r\n"),
        ("\n", " "),
        ('"end"', '"intervals":[],"end"'),
        ('"intervals"', '"intervals":[{"streams":[]}],"intervals"'),
        ('"rtt"', '"rtt":7,"rtt"'),
        ('"rtt":', '"é}]{":'),
        ('"rtt":', '"rtt":1' + 70 * "0" + ',"x":'),
        ('"rtt":', '"x":' + 60 * "[" + 60 * "]" + ',"rtt":'),
        ('"omitted"', '"note":"},{\\"streams\\":[{", "omitted"'),
        ('"streams"', '"zero":0, "streams"'),
        ('"seconds"', '"other seconds"'),
    ],
    ids=str,
)
def test_an_unusual_document_has_the_same_tables(tmp_path: Path, change: tuple[str, str]) -> None:
    path = tmp_path / "a.json"
    path.write_text(repeat_elements(IPERF3, 9).replace(*change), newline="")
    assert large(path, 2500) == small(path)


@pytest.mark.parametrize("lists", [64, 65])
def test_a_document_of_many_lists_is_read_as_a_whole(tmp_path: Path, lists: int) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"start": {}' + ', "intervals": [{}]' * lists + "}")
    assert large(path, 2500, LongText if lists == 64 else str) == small(path)


@pytest.mark.parametrize("above", ["", "lab 7\n"], ids=["alone", "below text"])
def test_a_document_that_is_not_divided_is_refused_if_it_needs_too_much_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, above: str
) -> None:
    path = tmp_path / "a.json"
    path.write_text(above + repeat_elements(IPERF3, 9).replace('"rtt":', '"x":' + 60 * "[" + 60 * "]" + ',"rtt":'))
    assert large(path, 2500)["runs"]
    size = path.stat().st_size - len(above)
    commas = path.read_text().count(",")
    for room, events in (
        (4.5 * size + 600 * commas, []),
        (4.5 * size + 600 * commas - 1, [("too_large", 1 + bool(above))]),
    ):
        monkeypatch.setattr(long_documents, "_MOST_MEMORY", room)
        found = [(event["code"], event["line"]) for event in large(path, 2500)["events"]]
        assert [event for event in found if event[0] == "too_large"] == events
        assert not events or found == events


@pytest.mark.parametrize("other", ["a: (g=0): rw=randread\n", "{}\n"], ids=["text", "document"])
def test_many_jobs_beside_other_reports_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    path = tmp_path / "a.json"
    path.write_text(repeat_elements(FIO, 9) + other)
    assert large(path, 2500) == small(path)
    monkeypatch.setattr(run, "_MOST_COMPARED", 2)
    (event,) = [event for event in large(path, 2500)["events"] if event["code"] == "too_large"]
    assert event["line"] == 1
    assert "put each document in a file of its own" in event["text"]


@pytest.mark.parametrize("name", ["3.33-two-jobs-one-failed.json", "3.33-normal-and-json.txt"])
def test_only_the_last_reports_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    path = tmp_path / "a.log"
    path.write_text("".join(reports(FIXTURES / "fio" / name, 60)))
    tables = small(path)
    monkeypatch.setattr(run, "_MOST_COMPARED", 4)
    assert large(path, 2500, FileText) == tables
    assert "status_snapshot" in {event["code"] for event in tables["events"]}


def test_a_stream_is_read_line_by_line(tmp_path: Path) -> None:
    first, *others, last = STREAM.read_text().splitlines(keepends=True)
    path = tmp_path / "a.ndjson"
    for changed in (others, [*others, "\n", *others], [*others, others[0][:50] + "\n", *others], [*others, "{}\n"]):
        path.write_text("".join([first, *changed * 20, last]))
        assert large(path, 3000, FileText) == small(path)


@pytest.mark.parametrize("path", [IPERF3, FIXTURES / "iperf3" / "3.17.1-stream.ndjson"], ids=lambda path: path.name)
def test_regular_intervals_are_columns_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    longer = tmp_path / "a.json"
    longer.write_text("".join(long_document(path, 100_000)))
    monkeypatch.setattr(expand_module, "_LARGE", 0)
    for module in (json_intervals, long_documents):
        monkeypatch.setattr(module, "PIECE", 9000)
    monkeypatch.setattr(rows_module, "_FEWEST", 0)
    (source,) = expand(longer)
    assert isinstance(source, Source)
    rows = parse_source(source).rows["intervals"]
    assert isinstance(rows, Rows)
    assert {type(part).__name__ for part in rows._parts if len(part)} == {"_ColumnsInFile"}
    assert len(rows) > 100


@pytest.mark.parametrize(
    ("key", "value"),
    [("bytes", str(10**20)), ("seconds", str(10**20)), ("socket", "1e3"), ("num_streams", '"x"'), ("blksize", '"x"')],
)
def test_impossible_values_are_read_as_in_a_short_document(tmp_path: Path, key: str, value: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(re.sub(rf'("{key}":\s*)[\d.]+', rf"\g<1>{value}", repeat_elements(IPERF3, 3)))
    tables = large(path, 900)
    assert tables == small(path)
    assert "parser_failed" not in {event["code"] for event in tables["events"]}


@pytest.mark.slow
@pytest.mark.parametrize("path", [IPERF3, IOSTAT, STREAM, FIO], ids=lambda path: path.name)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_memory_does_not_grow_with_the_document(tmp_path: Path, path: Path, packed: bool) -> None:
    """Peak memory of the whole process in megabytes for documents of 20, 40 and 80 MB."""
    peaks = []
    for size in (20, 40, 80):
        long_one = tmp_path / "a.json"
        with gzip.open(long_one, "wt", compresslevel=1) if packed else long_one.open("w") as stream:
            stream.writelines(long_document(path, size * 10**6))
        failed, peak = peak_of(
            f"logs = az.parse({str(long_one)!r})\n"
            "print({event['code'] for event in logs.rows['events']} & {'parser_failed', 'malformed', 'truncated'})"
        )
        assert failed == "set()"
        peaks.append(peak)
    assert max(peaks) <= 300
    assert peaks[2] <= 1.25 * peaks[1]


@pytest.mark.parametrize("last", ['\\n"', '\\\\"', "", "\\", '\\q"', '"x"', "\x01"], ids=repr)
@pytest.mark.parametrize("above", ["", "lab 7\n"], ids=["alone", "below text"])
def test_a_long_text_that_nobody_reads_stays_in_its_file(tmp_path: Path, above: str, last: str) -> None:
    head, tail = IPERF3.read_text().rstrip()[:-1], "\n}\n" if last.endswith('"') else ""
    lines = r"[  5]   0.00-1.00   sec  1.12 \"GBytes\"  9.65 Gbits/sec  ü \u00fc \\\n" * 200
    path = tmp_path / "a.json"
    path.write_text(f'{above}{head},\n"server_output_text": "{lines}{last}{tail}')
    assert large(path, 2500) == small(path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a long text", "a long line", "a long line of JSON"])
def test_a_long_line_needs_little_memory(tmp_path: Path, kind: str) -> None:
    """Lines of 40 to 160 MB, of which only one that nobody reads is left out."""
    path = tmp_path / "a.json"
    head, text = IPERF3.read_text().rstrip()[:-1], "[  5]   0.00-1.00   sec  1.12 GBytes  " * 10**6
    bins = ", ".join(f'"{n}": {n}' for n in range(8_000_000))
    path.write_text(
        {
            "a long text": f'{head}, "server_output_text": "{text}"}}\n',
            "a long line": f"iperf 3.12\n{text}\n",
            "a long line of JSON": f'{{"fio version": "fio-3.33", "jobs": [{{"bins": {{{bins}}}}}]}}\n',
        }[kind]
    )
    errors, peak = peak_of(
        f"summary = az.import_study('x', [{str(path)!r}], out={str(tmp_path / 'out')!r})\n"
        "print(len(summary.unreadable), sum(summary.runs_by_tool.values()))"
    )
    assert errors == ("0 1" if kind == "a long text" else "1 0")
    assert peak <= 280


@pytest.mark.slow
def test_reports_of_the_same_jobs_need_little_memory(tmp_path: Path) -> None:
    """A file of 60 MB."""
    path = tmp_path / "a.json"
    with path.open("w") as stream:
        stream.writelines(reports(FIXTURES / "fio" / "3.33-randrw-4k.json", 8000))
    printed, peak = peak_of(
        f"logs = az.parse({str(path)!r})\nprint(len(logs.rows['runs']), len(logs.rows['intervals']))"
    )
    assert printed == "1 16000"
    assert peak <= 200


@pytest.mark.slow
def test_many_jobs_in_text_need_little_memory(tmp_path: Path) -> None:
    path, text = tmp_path / "a.log", (FIXTURES / "fio" / "3.33-randrw-4k.txt").read_text()
    path.write_text("".join(re.sub(r"pid=\d+", f"pid={number}", text) for number in range(1, 7001)))
    printed, peak = peak_of(f"print(len(az.parse({str(path)!r}).rows['runs']))")
    assert printed == "7000"
    assert peak <= 200
