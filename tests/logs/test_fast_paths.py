"""Every fast path that is kept is taken by a real log of the tests or of the published studies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.places import FIXTURES, ROOT

from azlatency.logs.grammar import samples
from azlatency.logs.grammar.rules import RuleReader
from azlatency.logs.parse import parse_source
from azlatency.logs.parsers import load_parsers
from azlatency.logs.recognise import documents
from azlatency.logs.source import decode, expand, large
from azlatency.logs.tables import Logs

ECHO = ROOT / "data" / "raw" / "emulated-zones" / "echo_long" / "az1a-az2a" / "echo_r1.csv"
PING = ROOT / "data" / "raw" / "emulated-zones" / "ping" / "az3a-az2a" / "ping_r2.txt"
IPERF3 = FIXTURES / "iperf3" / "3.12-tcp.json"
#: Long logs of these tools are samples, so their lines are read at once too, but no real log of the tests has a hundred
#: such lines in a row: `test_large` reads made ones.
NO_LONG_LOG = {"FpingText", "_Dump"}


def parse(path: Path) -> Logs:
    (source,) = expand.expand(path)
    assert isinstance(source, decode.Source)
    return parse_source(source)


def results_of(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[Any]:
    """Return a list to which each result of a function is added."""
    results: list[Any] = []
    function: Callable[..., Any] = getattr(owner, name)

    def called(*arguments: Any, **options: Any) -> Any:
        results.append(function(*arguments, **options))
        return results[-1]

    monkeypatch.setattr(owner, name, called)
    return results


def test_a_file_that_is_one_document_is_recognised_by_its_first_key(monkeypatch: pytest.MonkeyPatch) -> None:
    found = results_of(monkeypatch, documents, "_tool_of")
    claims = results_of(monkeypatch, decode, "shaped")
    parse(IPERF3)
    assert found == ["iperf3"] and not claims


def test_lines_that_differ_only_in_their_digits_are_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    read = results_of(monkeypatch, RuleReader, "_read_block")
    parse(ECHO)
    assert any(read)


def bulk_readers() -> list[tuple[type[RuleReader], str]]:
    load_parsers()
    owners = RuleReader.__subclasses__()
    for owner in owners:
        owners += owner.__subclasses__()
    found = [(owner, name) for owner in owners for name in owner._bulk.values() if name in vars(owner)]
    return [(owner, name) for owner, name in found if owner.__module__.startswith("azlatency.")]


@pytest.mark.parametrize(("owner", "name"), bulk_readers(), ids=lambda value: getattr(value, "__qualname__", value))
def test_many_lines_are_read_at_once(monkeypatch: pytest.MonkeyPatch, owner: type[RuleReader], name: str) -> None:
    """Only `ECHO` has 64 KiB; the lines of the other logs are read here as those of longer logs are."""
    read = results_of(monkeypatch, owner, name)
    monkeypatch.setattr(decode, "_GROUPED_FROM", 0)
    folder = next(FIXTURES / part for part in owner.__module__.split(".") if (FIXTURES / part).is_dir())
    for path in [*sorted(folder.iterdir()), PING]:
        if path.suffix != ".json" and True not in read:
            parse(path)
    assert (True in read) == (owner.__name__ not in NO_LONG_LOG)


def test_samples_move_into_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """No real log of the tests has a million samples, nor 4 MB: here, a thousand and some kilobytes are many."""
    for module in (large, samples):
        monkeypatch.setattr(module, "MOST_IN_MEMORY", 1000)
    monkeypatch.setattr(expand, "_LARGE", 2**16)
    written = results_of(monkeypatch, large.Integers, "_write")
    (source,) = expand.expand(ECHO)
    assert isinstance(source, decode.Source) and isinstance(source.text, large.FileText)
    (block,) = parse_source(source).sample_blocks
    assert written and len(block.seq) > 1000
