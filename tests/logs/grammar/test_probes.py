"""The samples of ping against a plain list, in memory and with every column in a file."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.large_logs import cut_small
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from azlatency.logs.grammar.probes import ProbeSamples
from azlatency.logs.grammar.samples import STATUSES

_one = st.tuples(st.integers(0, 60), st.sampled_from(["ok", "lost", "duplicate", "void", "unreachable"]))
_many = st.lists(st.integers(1, 3), min_size=1, max_size=12)


@pytest.fixture(params=["in memory", "in files"])
def _columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "in files":
        cut_small(monkeypatch, 400)


@pytest.mark.costly
@pytest.mark.usefixtures("_columns")
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(_one | _many, max_size=40), st.integers(0, 5), st.integers(0, 80))
def test_every_sample_is_found_by_its_number(steps: list[tuple[int, str] | list[int]], start: int, stop: int) -> None:
    found = ProbeSamples()
    expected: list[tuple[int, str]] = []  # as the log prints them
    first: dict[int, int] = {}
    for step in steps:
        if isinstance(step, list):
            numbers = np.cumsum(step) + found.highest
            found.extend_probes(numbers, numbers * 10, None)
            for seq in numbers.tolist():
                first[seq] = len(expected)
                expected.append((seq, "ok"))
            continue
        seq, status = step
        index = found.add_probe(seq, None, status)
        if seq not in first:
            first[seq] = len(expected)
            expected.append((seq, status))
        elif status in ("ok", "void") and expected[first[seq]][1] in ("lost", "unreachable"):
            expected[first[seq]] = seq, status
            assert index == first[seq]
        elif status in ("lost", "unreachable"):
            assert index is None
        else:
            expected.append((seq, "duplicate"))
    assert list(zip(found.seq, (STATUSES[code] for code in found.status), strict=True)) == expected
    assert [found.find(seq) for seq in range(-1, 200)] == [first.get(seq) for seq in range(-1, 200)]
    inside = {seq for seq in first if start <= seq < stop}
    assert found.count_present(start, stop) == len(inside)
    found.add_lost(start, stop)
    assert list(found.seq)[len(expected) :] == [seq for seq in range(start, stop) if seq not in inside]
    assert {len(column) for column in (found.sent, found.rtt, found.low, found.high, found.status)} == {len(found.seq)}
    assert list(found.by_number().rows()) == sorted(found.rows(), key=lambda row: row[0])
