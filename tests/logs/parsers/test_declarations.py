"""What parsers declare about their numbers is found without loading the parsers of other tools."""

from __future__ import annotations

import subprocess
import sys

from azlatency.logs.parsers import Parser, find_parser, load_parsers


def test_the_parser_of_a_tool_is_the_one_that_reads_its_logs() -> None:
    assert {tool: find_parser(tool) for tool in load_parsers()} == load_parsers()


def test_only_the_module_of_the_tool_is_loaded() -> None:
    code = (
        "import sys; from azlatency.logs.parsers import find_parser; assert find_parser('sockperf').names_size; "
        "print([name for name in sys.modules if name.startswith(('azlatency.logs.parsers.ping', 'azlatency.more'))])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_tool_without_a_parser_declares_nothing() -> None:
    for tool in ("gone", "common"):
        assert type(find_parser(tool)) is Parser
        assert not find_parser(tool).names_size
