"""Claims: which tool recognises which line."""

from __future__ import annotations

import re

from helpers.places import FIXTURES, ROOT

from azlatency.logs.parsers import load_parsers
from azlatency.logs.recognise.claims import find_claims
from azlatency.logs.recognise.foreign import FOREIGN_TOOLS
from azlatency.logs.source.decode import Source, source_from_bytes
from azlatency.logs.source.lines import shape_of

LATTE = ROOT / "data" / "raw" / "canadacentral-proximity-placement" / "sender.log"
PING = FIXTURES / "ping" / "iputils-20221126-loss.log"


def source_of(text: str) -> Source:
    return source_from_bytes(text.encode(), "a.log")


def test_a_log_is_claimed_by_its_tool_only() -> None:
    source = source_of(PING.read_text("utf-8"))
    claims = find_claims(source)
    assert {claim.tool for claim in claims} == {"ping"}
    assert claims[0].position == 0 and source.lines[claims[0].position].text.startswith("PING ")


def test_claims_of_two_logs_in_one_file_are_in_order_of_line() -> None:
    latte, ping = LATTE.read_text("utf-8"), PING.read_text("utf-8")
    claims = find_claims(source_of(latte + ping))
    assert [claim.position for claim in claims] == sorted(claim.position for claim in claims)
    assert list(dict.fromkeys(claim.tool for claim in claims)) == ["latte", "ping"]
    # sender.log has 13 lines, so the log of ping starts in line 14.
    assert next(claim for claim in claims if claim.tool == "ping").position == 13


def test_prose_about_a_tool_is_not_a_claim() -> None:
    assert find_claims(source_of("We ran ping and sockperf between two zones.\nThe mean was 1.2 ms.\n")) == []


def test_the_shape_of_a_signature_rules_out_no_line_that_it_matches() -> None:
    signatures = [signature for parser in load_parsers().values() for signature in parser.signatures]
    signatures += [signature for tool in FOREIGN_TOOLS.values() for signature in tool.signatures]
    texts = [path.read_text("utf-8", "replace") for path in FIXTURES.glob("*/*") if path.is_file()]
    lines = {line.strip() for text in texts for line in text.split("\n")}
    lines |= {"1  gateway (10.0.0.1)  0.381 ms  0.362 ms 0.35 ms", "RDMA_Write BW Test"}
    for signature in signatures:
        if signature.shape is not None:
            matched = [line for line in lines if signature.hint in line and signature.pattern.fullmatch(line)]
            assert matched, signature.hint
            assert all(re.fullmatch(signature.shape, shape_of(line).decode().strip()) for line in matched)
