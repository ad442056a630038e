"""Sentences made from the rows of a frame."""

from __future__ import annotations

import pandas as pd
import pytest

import azlatency as az


def test_a_row_is_a_sentence_with_its_flags_and_several_rows_explain_them_once() -> None:
    methods = az.stats.agreement(az.load("emulated-zones")).methods
    lines = az.say(methods).splitlines()
    assert len(lines) == 7 and sum(line.endswith("(different packets)") for line in lines) == 3
    assert lines[-1].startswith("different packets: the runs differ in tool")
    alike = methods[(methods["first"] == "lagscope TCP") & (methods["second"] == "sockperf TCP 14 B")]
    assert az.say(alike).endswith("ratio 0.99, 95 % CI 0.97–1.02, a single pair 0.89–1.11, 24 pairs")


def test_what_is_no_result_has_no_sentences() -> None:
    assert az.say(pd.DataFrame()) == ""
    with pytest.raises(ValueError, match="no sentences for a frame with the columns path"):
        az.say(pd.DataFrame({"path": ["a → b"]}))
