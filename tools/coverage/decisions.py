"""How often `az.compare` is right, beside Welch's t, Mann-Whitney's test and paired sign ranks, on the same runs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu, t, ttest_ind

from azlatency.stats.across_runs.comparison import Setting, compare_sides, sides_of

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
SIZES = (3, 5, 10, 20)
#: The margin of a verdict, and the change that is to be found.
MARGIN, CHANGE = 0.05, 0.10


def autoregressive(coefficient: float) -> Draw:
    """Return logarithms that are an AR(1) process with a standard deviation of 3.5 %."""

    def draw(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
        logs = random.standard_normal(runs)
        for run in range(1, runs):
            logs[run] = coefficient * logs[run - 1] + math.sqrt(1 - coefficient**2) * logs[run]
        return 0.035 * logs

    return draw


def slow_runs(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """Return logarithms of runs of which one in ten takes half as long again."""
    return np.asarray(random.normal(0, 0.035, runs) + math.log(1.5) * (random.random(runs) < 0.1))


def hours(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """Return logarithms of runs of which three of an hour share a third of their variance."""
    shared = np.repeat(random.standard_normal(runs // 3 + 2), 3)[random.integers(3) :][:runs]
    return np.asarray(0.035 * (math.sqrt(1 / 3) * shared + math.sqrt(2 / 3) * random.standard_normal(runs)))


#: The last process was not used to choose a method or a limit.
PROCESSES: dict[str, Draw] = {
    "normal, 2 %": lambda random, runs: random.normal(0, 0.02, runs),
    "normal, 3.5 %": lambda random, runs: random.normal(0, 0.035, runs),
    "normal, 5 %": lambda random, runs: random.normal(0, 0.05, runs),
    "heavy tail (t, 3 df)": lambda random, runs: 0.02 * random.standard_t(3, runs),
    "one run in ten 1.5× slower": slow_runs,
    "AR(1), 0.3": autoregressive(0.3),
    "AR(1), 0.5": autoregressive(0.5),
    "AR(1), 0.8": autoregressive(0.8),
    "three runs per hour (not tuned on)": hours,
}
HEADER = (
    "process",
    "wrong *different*: ours",
    "Welch",
    "Mann-Whitney",
    "+10 % found: ours",
    "Welch",
    "Mann-Whitney",
    "no change shown: ours",
    "two t tests",
    "flagged dependent",
)


def no_change_by_t(x: NDArray[np.float64], y: NDArray[np.float64]) -> bool:
    """Return whether two one-sided t tests show that the logarithms differ by less than the margin."""
    runs = len(x)
    error = math.sqrt((x.var(ddof=1) + y.var(ddof=1)) / runs)
    return bool(abs(x.mean() - y.mean()) + float(t.ppf(0.95, 2 * runs - 2)) * error < math.log1p(MARGIN))


def percentages(process: str, runs: int, repetitions: int) -> list[str]:
    """Return the percentages of a process with a number of runs on each side."""
    random = np.random.default_rng(list(PROCESSES).index(process) * 100 + runs)
    draw, counts = PROCESSES[process], np.zeros(9)
    for _ in range(repetitions):
        x, y = draw(random, runs), draw(random, runs)
        same, changed = (
            compare_sides(sides_of(np.exp(side), np.exp(y)), Setting(MARGIN)) for side in (x, x + math.log1p(CHANGE))
        )
        counts += [
            same["verdict"].startswith("different"),
            ttest_ind(x, y, equal_var=False).pvalue < 0.05,
            mannwhitneyu(x, y).pvalue < 0.05,
            changed["verdict"].startswith("different"),
            ttest_ind(x + math.log1p(CHANGE), y, equal_var=False).pvalue < 0.05,
            mannwhitneyu(x + math.log1p(CHANGE), y).pvalue < 0.05,
            same["verdict"] in ("equivalent", "different_within_margin"),
            no_change_by_t(x, y),
            "dependent_runs" in same["flags"],
        ]
    return [f"{100 * count / repetitions:.0f}" for count in counts]


def row(process: str, repetitions: int) -> str:
    """Return one line of the table; a cell has a percentage for each size."""
    by_size = [percentages(process, runs, repetitions) for runs in SIZES]
    return f"| {process} | {' | '.join('/'.join(cell) for cell in zip(*by_size, strict=True))} |"


def rounds(repetitions: int) -> list[str]:
    """Return the lines of a design in rounds of random order, in which both sides share what happens over time."""
    lines = []
    for name, regime in (("AR(1), 0.8", autoregressive(0.8)), ("day and night", _day_and_night)):
        for runs in (6, 12):
            random, counts = np.random.default_rng(runs), np.zeros(3)
            for _ in range(repetitions):
                shared = 5 * regime(random, runs)
                x, y = (shared + random.normal(0, 0.02, runs) for _ in "ab")
                for at, change in enumerate((0.0, 0.05, CHANGE)):
                    sides = sides_of(np.exp(x + math.log1p(change)), np.exp(y), paired=True)
                    result = compare_sides(sides, Setting())
                    counts[at] += result["verdict"].startswith("different")
            shares = (f"{100 * count / repetitions:.0f}" for count in counts)
            lines.append(f"| {name} | {runs} | {' | '.join(shares)} |")
    return lines


def _day_and_night(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
    return np.asarray(np.where((np.arange(runs) + random.integers(runs)) % runs < runs / 2, 0.0, 0.1))


def tables(repetitions: int) -> str:
    """Return both tables as Markdown; shares are in percent."""
    lines = [f"| {' | '.join(HEADER)} |", "|" + " --- |" * len(HEADER)]
    lines += [row(process, repetitions) for process in PROCESSES]
    lines += ["", "Rounds (`paired=True`), order within each random, 2 % between runs of a round:", ""]
    lines += ["| shared over time | rounds | wrong *different* | +5 % found | +10 % found |", "|" + " --- |" * 5]
    return "\n".join([*lines, *rounds(repetitions)])
