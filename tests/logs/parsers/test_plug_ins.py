"""Parsers of other packages: one that cannot be used is named in a warning, and the others are loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint

import pytest

from azlatency.logs import parsers
from azlatency.logs.parsers import Parser, Signature

CACHED = (parsers.load_parsers, parsers._plug_ins, parsers.parser_version)


class Mine(Parser):
    tool = "mine"
    signatures = (Signature("mine", r"mine (\d+"),)


class Ping(Parser):
    tool = "ping"


MINE, PING, TEXT = Mine(), Ping(), "not a parser"


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """The plug-ins that are installed, before they are loaded."""
    names = ("MINE", "PING", "TEXT", "NOTHING")
    found = [EntryPoint(name.lower(), f"{__name__}:{name}", parsers.GROUP) for name in names]
    found.append(EntryPoint("gone", "azlatency.nothing.at.all:PARSER", parsers.GROUP))
    monkeypatch.setattr(parsers, "entry_points", lambda group: found)
    for cached in CACHED:
        cached.cache_clear()
    yield found
    for cached in CACHED:
        cached.cache_clear()


def test_a_plug_in_that_cannot_be_used_is_named(points: list[EntryPoint]) -> None:
    with pytest.warns(UserWarning) as warned:
        loaded = parsers.load_parsers()
    messages = [re.sub(r"\(.*?\) ", "", str(one.message)) for one in warned]
    assert [message.partition(" is not usable: ")[0] for message in messages] == [
        "parser 'mine'", "parser 'nothing'", "parser 'ping'", "parser 'text'"
    ]  # fmt: skip
    assert "another parser reads the tool 'ping'" in messages[2] and "is not an instance of" in messages[3]
    assert isinstance(loaded["ping"], Parser) and loaded["ping"] is not PING


def test_the_version_of_the_parsers_depends_on_plug_ins(points: list[EntryPoint]) -> None:
    with pytest.warns(UserWarning, match="is not usable"):
        version = parsers.parser_version()
    points[:] = points[-1:]
    for cached in CACHED:
        cached.cache_clear()
    assert parsers.parser_version() != version, "a parser of ours whose file was deleted does not count"
