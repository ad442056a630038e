"""The typical run: t on logarithms of run values, against scipy, and what the replicates are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from azlatency.stats.across_runs.means import typical_run
from azlatency.stats.result import CODES


def test_the_interval_is_t_on_logarithms() -> None:
    from scipy.stats import ttest_1samp

    values = [53.804825, 57.9592, 58.4382, 58.543175, 61.248425, 60.76945]
    result = typical_run(values)
    reference = ttest_1samp(np.log(values), 0).confidence_interval(0.95)
    assert result.low == pytest.approx(math.exp(reference.low))
    assert result.high == pytest.approx(math.exp(reference.high))
    assert result.scope == "across_runs"
    assert result.n == 6


@pytest.mark.parametrize(
    ("values", "code"),
    [([], "no_values"), ([5.0], "no_replication"), ([5.0, 0.0], "not_positive"), ([5.0, math.inf], "loss_censored")],
)
def test_inputs_without_an_estimate_are_refused(values: list[float], code: str) -> None:
    result = typical_run(values)
    assert result.refused
    assert result.codes == (code,)
    assert CODES[code] in str(result)


def test_two_runs_and_constant_runs_are_flagged() -> None:
    assert typical_run([5.0, 6.0]).codes == ("two_runs",)
    constant = typical_run([5.0, 5.0, 5.0])
    assert constant.codes == ("constant",)
    assert constant.low == constant.high == pytest.approx(5.0)


def test_runs_not_packets_are_the_replicates() -> None:
    """Coverage experiment C4 in small: a 5 % run effect; t on run medians holds the truth, pooled packets do not."""
    from scipy.stats import t

    generator = np.random.Generator(np.random.PCG64(11))
    runs, packets, repetitions = 5, 100, 400
    held = pooled = 0
    for _ in range(repetitions):
        effects = np.exp(generator.normal(0.0, 0.05, runs))
        values = effects[:, None] * generator.lognormal(0.0, 0.1, (runs, packets))
        result = typical_run(np.median(values, axis=1))
        assert result.low is not None and result.high is not None
        held += result.low <= 1.0 <= result.high
        logs = np.log(values).ravel()
        half = t.ppf(0.975, logs.size - 1) * logs.std(ddof=1) / math.sqrt(logs.size)
        pooled += abs(logs.mean()) <= half
    assert 0.92 <= held / repetitions <= 0.98
    assert pooled / repetitions < 0.5
