"""Shorthand of the findings."""

from __future__ import annotations

import pandas as pd
import pytest

from azlatency.kit import findings


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["a"], "a"),
        (["a", "b", "a"], "a and b"),
        (["a", "b", "c"], "a, b and c"),
        (["one zone, B1s", "two zones"], "one zone, B1s; two zones"),
        (["ping and qperf", "ping and latte"], "ping and qperf; ping and latte"),
    ],
)
def test_distinct_names_are_joined_as_a_list_in_english(names: list[str], text: str) -> None:
    assert findings.join(names) == text


def test_paths_of_several_methods_are_named_once() -> None:
    def joined(*rows: tuple[str, str]) -> str:
        return findings.join_by_method(pd.DataFrame(rows, columns=["path", "method"]))

    pairs = [("a → b", "ping"), ("c → d", "ping"), ("a → b", "qperf"), ("a → b", "ping")]
    assert joined(*pairs) == "a → b and c → d (ping); a → b (qperf)"
    assert joined(*pairs, ("c → d", "qperf")) == "a → b and c → d (ping, qperf)"
    assert joined(*((f"a → {place}", f"tool {place}") for place in range(20))).endswith("a → 2 (tool 2); others")


def test_findings_have_their_kind() -> None:
    assert findings.act("repeat").kind == "act" and findings.info("done").kind == "info"


def test_paths_that_were_measured_once_are_named_unless_all_were() -> None:
    frame = pd.DataFrame({"path": ["a", "b", "a"], "method": ["ping", "ping", "qperf"],
                          "flags": ["no_replication", "few_runs dependent_runs", ""]})  # fmt: skip
    (finding,) = findings.measured_once(frame)
    assert finding.text.startswith("Measured once with ping: a. ")
    assert findings.measured_once(frame[:1]) == [] == findings.measured_once(frame[1:])
    assert list(findings.has_flag(frame, "dependent_runs", "no_replication")) == [True, True, False]
