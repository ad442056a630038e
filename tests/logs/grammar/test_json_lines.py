"""The lines that JSON documents and their values occupy."""

from __future__ import annotations

from azlatency.logs.grammar.json_lines import JsonLineMap
from azlatency.logs.grammar.rules import DATA, KNOWN
from azlatency.logs.parsers import Log
from azlatency.logs.record import Recorder
from azlatency.logs.source.decode import source_from_bytes

DOCUMENT = 'start\n{\n  "mean": 1.5,\n  "n": 12\n}\nend\n'


def line_map(text: str) -> JsonLineMap:
    source = source_from_bytes(text.encode(), "a.json")
    return JsonLineMap(Log(source, "fio", source.lines), Recorder(source))


def test_a_position_is_in_the_line_that_an_editor_shows() -> None:
    lines = line_map(DOCUMENT)
    assert lines.text == DOCUMENT
    assert [lines.line_number(DOCUMENT.index(word)) for word in ("start", "mean", "12", "end")] == [1, 3, 4, 6]


def test_a_document_marks_its_lines_and_returns_the_line_after_it() -> None:
    lines = line_map(DOCUMENT)
    document, after, error = lines.read_document(1)
    assert (after, error) == (5, None)
    mean = document.leaf("mean")
    assert mean is not None and lines.mark_data(mean) == 3
    kinds = [lines.recorder.accounting.kind_of(number) for number in range(2, 6)]
    assert kinds == [KNOWN, DATA, KNOWN, KNOWN]


def test_a_truncated_document_ends_with_the_log() -> None:
    document, after, error = line_map('{\n  "mean": 1.5,\n  "n": 1').read_document(0)
    assert after == 3 and error is not None and error.at_end
    # The 1 may be the start of 12.
    assert document.value("mean") == 1.5 and document.leaf("n") is None


def test_the_named_parts_of_a_truncated_document_are_kept() -> None:
    text = '{"jobs": [{"n": 1, "read": {"a": 1}}, {"n": 2, "read": {"a": 1, "b": '
    document, _, error = line_map(text).read_document(0, {"jobs": {}})
    assert error is not None and error.at_end
    jobs = document.objects("jobs")
    assert [(job.value("n"), bool(job.end), bool(job.object("read").pairs)) for job in jobs] == [
        (1, True, True),
        (2, False, False),
    ]
