"""Stored logs with a line that another version, option or mishap of their tool prints."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import source_from_bytes
from azlatency.logs.tables import Logs
from helpers.places import FIXTURES


def text_of(log: str) -> str:
    """Return the text of a stored log."""
    return (FIXTURES / log).read_bytes().decode()


def edited(log: str, *edits: tuple[str, str]) -> str:
    """Return the text of a stored log, with the first occurrence of each text replaced; the empty text is its start."""
    text = text_of(log)
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def parse_text(text: str, name: str) -> Logs:
    return parse_source(source_from_bytes(text.encode(), Path(name).name))


def new_events(log: str, *edits: tuple[str, str]) -> list[str]:
    """Return ``severity code: text`` of the events that edits of a stored log add."""
    before, after = (
        Counter(
            f"{event['severity']} {event['code']}: {event['text']}" for event in parse_text(text, log).rows["events"]
        )
        for text in (text_of(log), edited(log, *edits))
    )
    return list((after - before).elements())
