"""Every case of every oracle, every number of it, within the oracle's own tolerance; none is left out."""

from __future__ import annotations

import importlib
from collections import Counter
from typing import Any

import pytest
from helpers.cases import ORACLES, content
from helpers.oracle_answers import entry_of, problems

for _theme in ("comparisons", "location", "paths", "times"):
    importlib.import_module(f"helpers.oracle_answers.{_theme}")

FILES = sorted(path.stem for path in ORACLES.glob("*.json"))
#: How many cases each file holds: an oracle that shrinks must be noticed.
COUNTS = {
    "asymmetry_matrix": 7, "autocorrelation_ess": 3, "changepoint": 7,
    "misc_latency": 8, "order_statistic_ci": 332, "printed_percentile_tables": 129, "project_methods": 17,
    "quantiles_robust": 14, "rank_effect_tests": 16, "summary_tests": 14,
}  # fmt: skip
CASES = [pytest.param(name, case, id=f"{name}:{case['id']}") for name in FILES for case in content(name)["cases"]]


@pytest.mark.costly
@pytest.mark.parametrize(("name", "case"), CASES)
def test_every_number_of_every_case(name: str, case: dict[str, Any]) -> None:
    entry = entry_of(name, case["id"])
    assert entry is not None, "no answer is registered for this case"
    differences = problems(case["expected"], entry.answer(case["input"]), case, entry)
    assert not differences, "\n".join(differences)


def test_no_case_is_left_out() -> None:
    assert Counter(param.values[0] for param in CASES) == COUNTS
    assert len({param.id for param in CASES}) == sum(COUNTS.values())
