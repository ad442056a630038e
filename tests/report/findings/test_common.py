"""Shorthand of the findings."""

from __future__ import annotations

import pytest

from azlatency.report import findings


@pytest.mark.parametrize(
    ("names", "text"), [(["a"], "a"), (["a", "b", "a"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_distinct_names_are_joined_as_a_list_in_english(names: list[str], text: str) -> None:
    assert findings.common.join(names) == text


def test_findings_have_their_kind() -> None:
    assert findings.common.act("repeat").kind == "act" and findings.common.info("done").kind == "info"
