"""Coverage experiments on statistics across runs: C4, C5, C10, C12, C13, C14 of the statistics' specification.

Each prints the attained share. The fast ones run always; those marked slow repeat them with more data sets and more
settings (``make test-slow``, add ``-s`` to see the numbers). Where the specification says that a common method fails,
it is shown to fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from helpers.cases import stream, within
from helpers.rank_tests import rank_sum_tails
from helpers.results import compare_runs

from azlatency.stats.across_runs.agreement import bland_altman
from azlatency.stats.across_runs.asymmetry import asymmetry
from azlatency.stats.across_runs.typical_run import typical_run

slow = pytest.mark.slow


def told(name: str, share: float, repetitions: int) -> float:
    print(f"{name}: {100 * share:.1f} % of {repetitions}")
    return share


def holds(low: float, high: float, truth: float) -> bool:
    return low <= truth <= high


# --- C4: two levels; runs are the replicates


def two_level(runs: int, random: np.random.Generator, packets: int = 400) -> np.ndarray:
    """Packets of runs that differ by 5 %: lognormal around a run effect whose logarithm has mean 0."""
    effects = np.exp(random.normal(0, 0.05, runs))
    return effects[:, None] * np.exp(random.normal(-0.005, 0.1, (runs, packets)))


def c4(runs: int, statistic: Callable[..., np.ndarray], truth: float, repetitions: int) -> tuple[float, float, float]:
    """Coverage of t on log run values, of pooled packets, and of a two-level percentile bootstrap."""
    random = stream(400 + runs)
    library = pooled = bootstrap = 0
    for _ in range(repetitions):
        x = two_level(runs, random)
        values = statistic(x, axis=1)
        typical = typical_run(values)
        library += holds(typical["low"], typical["high"], truth)
        logs = np.log(x).ravel()
        centre = statistic(logs)
        # 1.2533 = sqrt(pi/2): the standard error of a median of normal values.
        factor = 1.2533 if statistic is np.median else 1.0
        pooled += abs(centre - math.log(truth)) <= 1.96 * factor * logs.std() / math.sqrt(logs.size)
        noise = 0.1 * factor / math.sqrt(x.shape[1])
        drawn = np.log(values)[random.integers(0, runs, (199, runs))] + random.normal(0, noise, (199, runs))
        low, high = np.quantile(drawn.mean(axis=1), [0.025, 0.975])
        bootstrap += low <= math.log(truth) <= high
    return library / repetitions, pooled / repetitions, bootstrap / repetitions


C4 = {"mean": (np.mean, 1.0), "median": (np.median, math.exp(-0.005))}


def check_c4(runs: int, what: str, repetitions: int) -> None:
    library, pooled, bootstrap = c4(runs, *C4[what], repetitions)
    assert within(told(f"C4 R={runs} {what}, t on log run values", library, repetitions), 0.95, repetitions)
    assert told(f"C4 R={runs} {what}, pooled packets", pooled, repetitions) < 0.4
    told(f"C4 R={runs} {what}, two-level bootstrap", bootstrap, repetitions)
    if runs <= 5:
        assert bootstrap < 0.9


@pytest.mark.costly
@pytest.mark.parametrize("what", C4)
@pytest.mark.parametrize("runs", [3, 5])
def test_c4_few_runs(runs: int, what: str) -> None:
    check_c4(runs, what, 300)


@slow
@pytest.mark.parametrize("what", C4)
@pytest.mark.parametrize("runs", [2, 3, 5, 10, 20])
def test_c4_full(runs: int, what: str) -> None:
    check_c4(runs, what, 2000)


# --- C5: the ratio


def bootstrap_ratio(x: np.ndarray, y: np.ndarray, draws: int, random: np.random.Generator) -> np.ndarray:
    """The percentile bootstrap of a ratio of means, which is not offered."""
    a = x[random.integers(0, len(x), (draws, len(x)))].mean(axis=1)
    b = y[random.integers(0, len(y), (draws, len(y)))].mean(axis=1)
    return np.asarray(np.quantile(a / b, [0.025, 0.975]))


def check_c5(n: int, cv: float, repetitions: int) -> None:
    random = stream(500 + n)
    sigma = math.sqrt(math.log1p(cv**2))
    by_logs = by_bootstrap = by_z = 0
    for _ in range(repetitions):
        x, y = 1.2 * np.exp(random.normal(0, sigma, n)), np.exp(random.normal(0, sigma, n))
        row = compare_runs(x, y)
        by_logs += holds(row["ratio_low"], row["ratio_high"], 1.2)
        low, high = bootstrap_ratio(x, y, 299, random)
        by_bootstrap += low <= 1.2 <= high
        error = math.sqrt((np.log(x).var(ddof=1) + np.log(y).var(ddof=1)) / n)
        by_z += abs(np.log(x).mean() - np.log(y).mean() - math.log(1.2)) <= 1.96 * error
    name = f"C5 n={n} CV={cv:.0%}"
    assert within(told(f"{name}, t on logs", by_logs / repetitions, repetitions), 0.95, repetitions)
    bootstrap = told(f"{name}, percentile bootstrap", by_bootstrap / repetitions, repetitions)
    z = told(f"{name}, z on logs", by_z / repetitions, repetitions)
    if n <= 5:
        assert bootstrap < 0.925 and z < 0.93


@pytest.mark.parametrize(("n", "cv"), [(3, 0.05), (5, 0.1)])
def test_c5_ratio(n: int, cv: float) -> None:
    check_c5(n, cv, 200)


@slow
@pytest.mark.parametrize("cv", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("n", [3, 5, 10])
def test_c5_full(n: int, cv: float) -> None:
    check_c5(n, cv, 4000)


# --- C12: two one-sided tests at the margin


def check_c12(repetitions: int) -> None:
    random = stream(12)
    rounds, packets = 8, 400
    equal = naive = 0
    for _ in range(repetitions):
        effects = random.normal(math.log(1.02), 0.006, rounds)
        ratio = np.exp(effects)
        verdict = compare_runs(ratio, np.ones(rounds), paired=True, margin="2%")["verdict"]
        equal += verdict in ("equivalent", "different_within_margin")
        pooled = (effects[:, None] + random.normal(0, 0.1, (rounds, packets))).ravel()
        error = pooled.std() / math.sqrt(pooled.size)
        naive += pooled.mean() + 1.645 * error < math.log(1.02) and pooled.mean() - 1.645 * error > -math.log(1.02)
    assert told("C12 at the margin, rounds", equal / repetitions, repetitions) <= 0.06 + 2 * _error(repetitions)
    assert told("C12 at the margin, pooled packets", naive / repetitions, repetitions) > 0.07


def _error(repetitions: int) -> float:
    """Monte Carlo standard error of a share of 5 %."""
    return math.sqrt(0.05 * 0.95 / repetitions)


def test_c12_size_of_equivalence() -> None:
    check_c12(250)


@slow
def test_c12_full() -> None:
    check_c12(10_000)


@slow
def test_c12_power() -> None:
    """At half the margin eight rounds with a spread of .6 % usually establish equivalence: 62 %; Student's t 99.4 %.

    A tenth are rounds that resemble their neighbours by chance, whose intervals are widened; in the others, eight
    rounds cannot exclude that they do.
    """
    random = stream(121)
    verdicts = [
        compare_runs(np.exp(random.normal(math.log(1.01), 0.006, 8)), np.ones(8), paired=True, margin="2%")["verdict"]
        for _ in range(2000)
    ]
    share = sum(verdict in ("equivalent", "different_within_margin") for verdict in verdicts) / len(verdicts)
    assert told("C12 power at half the margin", share, len(verdicts)) > 0.58


# --- C13: stopping when the interval is narrow


def stopped(draw: Callable[[int], np.ndarray], truth: float, floor: int, repetitions: int) -> float:
    """Coverage of the t interval at the moment of stopping at ±2 %, from ``floor`` runs on."""
    from scipy.stats import t

    most = 400
    quantiles = t.ppf(0.975, np.arange(1, most))
    held = 0
    for _ in range(repetitions):
        x = draw(most)
        n = np.arange(1, most + 1)
        mean = np.cumsum(x) / n
        spread = np.sqrt(np.maximum(np.cumsum(x**2) - n * mean**2, 0) / np.maximum(n - 1, 1))
        half = np.concatenate([[math.inf], quantiles * spread[1:] / np.sqrt(n[1:])])
        at = np.flatnonzero((half <= math.log(1.02)) & (n >= floor))
        last = at[0] if at.size else most - 1
        held += abs(mean[last] - truth) <= half[last]
    return held / repetitions


def check_c13(repetitions: int) -> None:
    random = stream(13)

    def regular(n: int) -> np.ndarray:
        return random.normal(0, 0.05, n)

    def rare(n: int) -> np.ndarray:
        return random.normal(0, 0.02, n) + 0.3 * (random.random(n) < 0.1)

    good = told("C13 normal, from 20 runs", stopped(regular, 0, 20, repetitions), repetitions)
    assert within(good, 0.95, repetitions)
    early = told("C13 normal, from 3 runs", stopped(regular, 0, 3, repetitions), repetitions)
    assert early < good
    for floor in (3, 5, 10):
        assert (
            told(f"C13 slow mode of 10 %, from {floor} runs", stopped(rare, 0.03, floor, repetitions), repetitions)
            < 0.8
        )
    late = told("C13 slow mode of 10 %, from 20 runs", stopped(rare, 0.03, 20, repetitions), repetitions)
    assert 0.7 < late < 0.95


def test_c13_stopping() -> None:
    check_c13(800)


@slow
def test_c13_full() -> None:
    check_c13(5000)


# --- C14: a thing against itself must be found different in at most 6 %


def different(verdict: str) -> bool:
    return verdict.startswith("different")


def aa_unpaired(x: np.ndarray, y: np.ndarray) -> tuple[bool, ...]:
    result = compare_runs(x, y)
    return different(result["verdict"]), result["p"] < 0.05


def aa_paired(x: np.ndarray, y: np.ndarray) -> tuple[bool, ...]:
    result = compare_runs(x, y, paired=True)
    return different(result["verdict"]), result["p"] < 0.05


def aa_ranks(x: np.ndarray, y: np.ndarray) -> tuple[bool, ...]:
    return (rank_sum_tails(x, y).two_sided < 0.05,)


def aa_agreement(x: np.ndarray, y: np.ndarray) -> tuple[bool, ...]:
    return (different(bland_altman(x, y)["verdict"]),)


AA: dict[str, Callable[[np.ndarray, np.ndarray], tuple[bool, ...]]] = {
    "unpaired": aa_unpaired, "paired": aa_paired, "ranks": aa_ranks, "agreement": aa_agreement,
}  # fmt: skip


def check_aa(name: str, runs: tuple[int, int], law: str, repetitions: int) -> None:
    random = stream(1400 + sum(runs))
    draws = {
        "lognormal": lambda n: np.exp(random.normal(0, 0.1, n)),
        "heavy": lambda n: np.exp(0.05 * random.standard_t(3, n)),
        "quantised": lambda n: np.round(np.exp(random.normal(0, 0.1, n)), 1),
    }
    alarms = np.array([AA[name](draws[law](runs[0]), draws[law](runs[1])) for _ in range(repetitions)])
    for at, share in enumerate(alarms.mean(axis=0)):
        kind = "p" if at else "verdict"
        told(f"C14 {name}, {law}, {runs[0]} v {runs[1]}, {kind}", share, repetitions)
        assert share <= 0.06 + 2 * _error(repetitions)


@pytest.mark.costly
@pytest.mark.parametrize("name", AA)
def test_c14_a_thing_against_itself(name: str) -> None:
    check_aa(name, (6, 6), "lognormal", 300)


@slow
@pytest.mark.parametrize("law", ["lognormal", "heavy", "quantised"])
@pytest.mark.parametrize("runs", [(3, 3), (5, 5), (8, 8), (12, 12), (5, 9)])
@pytest.mark.parametrize("name", AA)
def test_c14_full(name: str, runs: tuple[int, int], law: str) -> None:
    if runs[0] != runs[1] and name in ("paired", "agreement"):
        pytest.skip("pairs have equal sizes")
    check_aa(name, runs, law, 3000)


def check_aa_matrix(repetitions: int) -> None:
    """Three zones, eight rounds, nothing but noise: any pair, any rank."""
    random = stream(142)
    zones = ("1", "2", "3")
    ways = [(i, j) for i in zones for j in zones if i != j]
    frame = pd.DataFrame(
        [{"path": f"az{i} → az{j}", "zone": i, "peer_zone": j, "round": r} for r in range(8) for i, j in ways]
    )
    wrong = np.zeros(2)
    for _ in range(repetitions):
        common = np.repeat(random.normal(0, 0.05, 8), len(ways))  # a round is slow for all: kept by joint flips
        frame["median_ns"] = 1e6 * np.exp(common + random.normal(0, 0.02, len(frame)))
        found = asymmetry(frame)
        wrong[0] += bool(found.methods["different"].iloc[0])
        wrong[1] += found.order["rank"].notna().any()
    for name, share in zip(("any pair", "any rank"), wrong / repetitions, strict=True):
        told(f"C14 matrix, {name}", share, repetitions)
        assert share <= 0.06 + 2 * _error(repetitions)


@pytest.mark.slow
def test_c14_matrices_of_noise() -> None:
    check_aa_matrix(100)


@slow
def test_c14_matrices_full() -> None:
    check_aa_matrix(1500)


def test_c14_packets_are_not_replicates() -> None:
    """The rank test of the packets of two connections of one law, AR(1) with rho .95: "different" nearly always."""
    from scipy.signal import lfilter
    from scipy.stats import mannwhitneyu

    random = stream(144)
    n, rho, repetitions = 2000, 0.95, 100
    wrong = 0
    for _ in range(repetitions):
        sides = [lfilter([math.sqrt(1 - rho**2)], [1, -rho], random.normal(size=n + 200))[200:] for _ in "ab"]
        wrong += mannwhitneyu(*sides).pvalue < 0.05
    assert told("C14 Mann-Whitney on packets, rho .95", wrong / repetitions, repetitions) > 0.5
