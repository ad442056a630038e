"""Sections of the coverage table about statistics across runs."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from table import Answer, Row, simulate

from azlatency import latency, load
from azlatency.gate.verdict import decide
from azlatency.stats import asymmetry, compare, history
from azlatency.stats.across_runs.before_after import Pairing, compare_pairings
from azlatency.stats.across_runs.run_order import shared_orders
from azlatency.stats.across_runs.run_values import run_values, value_column
from azlatency.stats.across_runs.typical_run import PathRuns
from azlatency.stats.across_runs.typical_run import typical_runs as summaries

#: Apache Otava runs in an environment of its own: it pins versions of numpy and SciPy.
OTAVA = "apache-otava==0.8.0"
Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]


class Process(NamedTuple):
    """A law of run values: ``draw`` returns runs in the order of measuring, ``median`` is that of the law."""

    name: str
    draw: Draw
    median: float


def clusters(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """Return runs of two machines: 60 % near 100 and 40 % near 150."""
    return np.where(random.random(runs) < 0.6, 100.0, 150.0) * random.lognormal(0, 0.01, runs)


def slow_runs(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """Return runs of which one in ten is eight times slower."""
    return np.where(random.random(runs) < 0.1, 800.0, 100.0) * random.lognormal(0, 0.02, runs)


def autoregressive(coefficient: float) -> Draw:
    """Return a process whose logarithms are AR(1) with a standard deviation of 5 %."""

    def draw(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
        logs = random.standard_normal(runs)
        for run in range(1, runs):
            logs[run] = coefficient * logs[run - 1] + math.sqrt(1 - coefficient**2) * logs[run]
        return np.asarray(100 * np.exp(0.05 * logs))

    return draw


def hours(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """Return runs of which three of an hour share two thirds of their variance; the series starts within an hour."""
    of_hours = np.repeat(random.standard_normal(runs // 3 + 2), 3)[random.integers(3) :][:runs]
    return np.asarray(100 * np.exp(0.05 * (0.8 * of_hours + 0.6 * random.standard_normal(runs))))


def moving_average(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """Return runs with the mean of four shocks each, the last of which are new: neighbours share three of four."""
    shocks = random.standard_normal(runs + 3)
    return np.asarray(100 * np.exp(0.05 * np.convolve(shocks, np.ones(4), "valid") / 2))


def pairwise_average(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """Return runs with the sum of two shocks each, one of which the run before had, too."""
    shocks = random.standard_normal(runs + 1)
    return np.asarray(100 * np.exp(0.05 * (shocks[1:] + shocks[:-1]) / math.sqrt(2)))


def different_paths(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """Return runs of a path whose spread is its own: 1.3 to 20 % (the middle 95 % of paths)."""
    return np.asarray(100 * np.exp(0.05 * random.lognormal(0, 0.7) * random.standard_normal(runs)))


def drifting(random: np.random.Generator, runs: int) -> NDArray[np.float64]:
    """Return runs that become slower by 10 % in all: both sides of a comparison in the same rounds."""
    return np.asarray(100 * np.exp(0.1 * np.arange(runs) / runs) * random.lognormal(0, 0.05, runs))


def median_of(draw: Draw) -> float:
    """Return the median of a law without a closed form, from four million values."""
    return float(np.median(draw(np.random.default_rng(99), 4_000_000)))


INDEPENDENT = [
    Process("normal, CV 5 %", lambda random, runs: random.normal(100, 5, runs), 100.0),
    Process("two clusters, 60 : 40", clusters, median_of(clusters)),
    Process("one run in ten 8× slower", slow_runs, median_of(slow_runs)),
    Process("exponential", lambda random, runs: random.exponential(100, runs), 100 * math.log(2)),
    Process("floor + lognormal", lambda random, runs: 100 + random.lognormal(1, 1.5, runs), 100 + math.e),
    Process("Pareto, shape 1.2", lambda random, runs: 100 * (1 + random.pareto(1.2, runs)), 100 * 2 ** (1 / 1.2)),
    Process("uniform, printed in steps of 1 %", lambda random, runs: random.uniform(90, 110, runs).round(), 100.0),
]
PRECISE = Process("normal, CV 3.5 %", lambda random, runs: random.normal(100, 3.5, runs), 100.0)
DEPENDENT = [Process(f"AR(1), {rho}", autoregressive(rho), 100.0) for rho in (0.3, 0.5, 0.8)]
SHARED = [
    Process("three runs per hour", hours, 100.0),
    Process("moving average of four", moving_average, 100.0),
    Process("drift of 10 %", drifting, 100 * math.exp(0.05)),
]
#: Not used to choose the limits of the flags.
NEIGHBOURS = Process("moving average of two", pairwise_average, 100.0)
DIFFERENT_PATHS = Process("normal, CV 1.3 to 20 % by path", different_paths, 100.0)
#: Flags that say that a verdict may be wrong because runs depend on each other.
DEPENDENCE = {"dependent_runs", "if_weakly_dependent"}


#: Paths of a page, all measured in the same way.
PAGE = 8


def typical_runs(section: str, share: float) -> Iterator[Row]:
    """Yield the coverage of the typical run: of a path alone, and of one of eight paths."""
    for process in (*INDEPENDENT, DIFFERENT_PATHS, *DEPENDENT, *SHARED, NEIGHBOURS):
        for runs in (2, 3, 5, 6, 8, 10, 20):
            for paths in (1, PAGE):

                def answer(
                    random: np.random.Generator, process: Process = process, runs: int = runs, paths: int = paths
                ) -> Answer:
                    step = 1.0 if "steps" in process.name else 0.0
                    drawn = [run_values(process.draw(random, runs)) for _ in range(paths)]
                    page = [PathRuns(str(path), {}, replace(values, resolution=step))
                            for path, values in enumerate(drawn)]  # fmt: skip
                    result = summaries(page)[0]
                    return Answer(
                        result.low, result.high, result.low is None, bool(result.codes), None, result.estimate
                    )

                routine = "typical_run, one path" if paths == 1 else f"summarize, {paths} paths"
                yield simulate(section, process.name, routine, f"R = {runs}", repetitions=round(400 * share),
                               seed=runs, truth=process.median, answer=answer)  # fmt: skip


def comparisons(section: str, share: float) -> Iterator[Row]:
    """Yield how often two sets of runs of one process are called different or equal, and a change is found."""
    for process in (*INDEPENDENT, *DEPENDENT, *SHARED):
        for runs in (3, 5, 6, 8, 10, 20) if process in (INDEPENDENT[0], *DEPENDENT, *SHARED) else (5, 10, 20):
            for factor, whatever_flags in ((1.0, True), (1.0, False), (1.1, True), (1.2, True), (1.5, True)):
                dependent = process in (*DEPENDENT, *SHARED)
                if not (factor == 1.0 if dependent else whatever_flags and (factor < 1.2 or process == INDEPENDENT[0])):
                    continue

                def answer(
                    random: np.random.Generator, process: Process = process, runs: int = runs, factor: float = factor,
                    whatever_flags: bool = whatever_flags,
                ) -> Answer:  # fmt: skip
                    step = 1.0 if "steps" in process.name else None
                    result = compare(factor * process.draw(random, runs), process.draw(random, runs), resolution=step)
                    alarm = result.verdict == "different" or (factor == 1.0 and result.verdict.startswith("different"))
                    alarm &= whatever_flags or DEPENDENCE.isdisjoint(result.codes)
                    return Answer(
                        result.ratio.low, result.ratio.high, result.ratio.low is None, bool(result.codes), alarm,
                        result.ratio.estimate,
                    )  # fmt: skip

                routine = "no change" if factor == 1.0 else f"{100 * factor - 100:.0f} % slower (share found)"
                routine = f"compare, {routine}" if whatever_flags else "compare, no change (different without a flag)"
                yield simulate(section, process.name, routine, f"{runs} v. {runs}", repetitions=round(400 * share),
                               seed=runs, truth=factor, answer=answer)  # fmt: skip


def equivalences(section: str, share: float) -> Iterator[Row]:
    """Yield how often two sets of runs that differ by the margin are called equivalent; runs vary by 1 %."""
    for process in (INDEPENDENT[0], *DEPENDENT, SHARED[0]):
        for runs in (3, 5, 6, 10, 20):

            def answer(random: np.random.Generator, process: Process = process, runs: int = runs) -> Answer:
                slower, base = ((process.draw(random, runs) / 100) ** 0.2 for _ in "ab")
                verdict = compare(1.05 * slower, base, margin=0.05).verdict
                return Answer(alarm=verdict in ("equivalent", "different_within_margin"))

            yield simulate(section, process.name, "compare, 5 % slower (share called equivalent)", f"{runs} v. {runs}",
                           repetitions=round(400 * share), seed=runs, truth=None, answer=answer)  # fmt: skip


#: Pairs of machines of the two zones, by design; pairs within one zone are control pairs.
DESIGNS = {
    "one pair of machines": [("az1a", "az2a")],
    "one control pair": [("az1a", "az2a"), ("az1a", "az1b")],
    "3 machines per zone": list(combinations([f"az{zone}{machine}" for zone in "12" for machine in "abc"], 2)),
}


def rounds(kind: str, random: np.random.Generator, number: int, pairs: list[tuple[str, str]]) -> pd.DataFrame:
    """Return round trips in both directions of each pair, all of one length but for what ``kind`` adds."""
    rows = []
    for i, j in [way for pair in pairs for way in (pair, pair[::-1])]:
        offset = random.normal(0, 0.05) if kind == "sticky" else 0.0
        noise = autoregressive(0.5)(random, number) if kind == "AR" else 100 * random.lognormal(0, 0.05, number)
        # The drift of a fixed order: the first direction of a pair is always measured first.
        drift = 0.02 * (i > j) * np.arange(number) if kind == "drift" else 0.0
        for at, value in enumerate(noise * np.exp(offset + drift)):
            rows.append({"path": f"{i} → {j}", "zone": i[:3], "peer_zone": j[:3], "round": at,
                         "median_ns": 1e4 * value})  # fmt: skip
    return pd.DataFrame(rows)


def directions(section: str, share: float) -> Iterator[Row]:
    """Yield how often any pair of directions without a difference is called different."""
    kinds = {
        "independent rounds": "", "offset of 5 % per pair": "sticky", "AR(1), 0.5": "AR", "drift, fixed order": "drift",
    }  # fmt: skip
    for name, kind in kinds.items():
        for design, pairs in DESIGNS.items():

            def answer(random: np.random.Generator, kind: str = kind, pairs: list[tuple[str, str]] = pairs) -> Answer:
                (result,) = asymmetry(rounds(kind, random, 8, pairs))
                codes = {code for pair in result.pairs for code in pair.codes}
                return Answer(flagged=bool(codes & {"one_machine_pair", "one_control_pair"}),
                              alarm=bool(result.different))  # fmt: skip

            repetitions = round((60 if len(pairs) > 2 else 200) * share)
            yield simulate(section, name, f"asymmetry, {design}", "8 rounds", repetitions=repetitions, seed=8,
                           truth=None, answer=answer)  # fmt: skip


def series_of(process: Process, runs: int, step: float, repetitions: int) -> list[NDArray[np.float64]]:
    """Return series of runs whose second half is ``step`` times slower."""
    random = np.random.default_rng(runs)
    factors = np.where(np.arange(runs) < runs // 2, 1.0, step)
    return [process.draw(random, runs) * factors for _ in range(repetitions)]


def otava(series: list[NDArray[np.float64]]) -> list[tuple[list[int], list[int]]]:
    """Return the changes that Apache Otava finds in each series: with its defaults, and at a level of 5 %."""
    command = [sys.executable, "-m", "uv", "run", "--quiet", "--no-project", "--with", OTAVA, "python"]
    answer = subprocess.run(
        [*command, str(Path(__file__).with_name("otava_changes.py"))], check=True, capture_output=True, text=True,
        input=json.dumps([values.tolist() for values in series]),
    )  # fmt: skip
    return [(defaults, liberal) for defaults, liberal in json.loads(answer.stdout)]


def histories(section: str, share: float) -> Iterator[Row]:
    """Yield how often a change is found in a history without one, and in one with a step of 20 %."""
    repetitions = round(100 * share)
    for process in (*INDEPENDENT[:3], *DEPENDENT):
        for step in (1.0, 1.2):
            series = series_of(process, 40, step, repetitions)
            what = "no change" if step == 1.0 else "20 % slower from the middle (share found)"
            results = [history(values, permutations=99) for values in series]
            flagged = sum(bool(result.codes) for result in results) / repetitions
            alarms = sum(bool(result.changes) for result in results) / repetitions
            yield Row(section, process.name, f"history, {what}", "R = 40", repetitions, flagged=flagged, alarms=alarms)
            yield from beside(section, process, what, "R = 40", series)


def beside(section: str, process: Process, what: str, size: str, series: list[NDArray[np.float64]]) -> Iterator[Row]:
    """Yield how often Apache Otava finds a change in the same series."""
    answers = otava(series)
    for at, level in enumerate(("p ≤ 0.001, its default", "p ≤ 0.05")):
        alarms = sum(bool(changes[at]) for changes in answers) / len(series)
        yield Row(section, process.name, f"Apache Otava ({level}), {what}", size, len(series), alarms=alarms)


def beside_otava(section: str, share: float) -> Iterator[Row]:
    """Yield how often `compare` and Apache Otava find a change from the first half of a series to the second."""
    repetitions = round(200 * share)
    for process in (INDEPENDENT[0], INDEPENDENT[2], DEPENDENT[1]):
        for runs in (10, 20):
            for step in (1.0, 1.1, 1.2):
                series = series_of(process, 2 * runs, step, repetitions)
                what = "no change" if step == 1.0 else f"{100 * step - 100:.0f} % slower (share found)"
                results = [compare(values[runs:], values[:runs]) for values in series]
                different = sum(result.verdict.startswith("different") for result in results) / repetitions
                flagged = sum(bool(result.codes) for result in results) / repetitions
                size = f"{runs} v. {runs}"
                yield Row(section, process.name, f"compare, {what}", size, repetitions, flagged=flagged,
                          alarms=different)  # fmt: skip
                yield from beside(section, process, what, size, series)


#: Rows of one `azlatency compare`, and the questions about its exit code: change, what counts, and its name.
PATHS = 4
EXITS = (
    (1.0, "beyond", "exit 1, no change"),
    (1.05, "within", "a row “no change”, changed by the margin of 5 %"),
    (1.1, "beyond", "a row “changed”, 10 % slower"),
    (1.2, "beyond", "a row “changed”, 20 % slower"),
)


def exit_codes(section: str, share: float) -> Iterator[Row]:
    """Yield how often `azlatency compare` of four paths with a margin of 5 % is wrong or finds a change."""
    for process in (PRECISE, *INDEPENDENT[:4], *DEPENDENT, SHARED[0]):
        for runs in (6, 10, 20):
            for factor, verdict, what in EXITS:
                # Each data set has one exit code, but four rows.
                repetitions = round((300 if what.startswith("exit") else 100) * share)
                random = np.random.default_rng(runs)
                judged = [
                    judge_paths([(factor * process.draw(random, runs), process.draw(random, runs))
                                 for _ in range(PATHS)])
                    for _ in range(repetitions)
                ]  # fmt: skip
                hits = [[row == verdict for row in rows] for rows in judged]
                alarms = np.any(hits, axis=1) if what.startswith("exit") else np.ravel(hits)
                yield Row(section, process.name, what, f"{runs} v. {runs}", len(alarms), alarms=float(np.mean(alarms)))


def judge_paths(paths: list[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> list[str]:
    """Return the verdicts of `azlatency compare` on paths that were measured in the same rounds."""
    orders = shared_orders([(np.log(after), np.log(before)) for after, before in paths])
    compared = [
        compare(after, before, order=order) for (after, before), order in zip(paths, orders, strict=True)
    ]  # fmt: skip
    return [verdict for verdict, _ in decide(compared, 0.95)]


def real_halves(section: str, share: float) -> Iterator[Row]:
    """Yield what `azlatency compare` says about two random halves of the rounds of a real recording."""
    for name in ("emulated-zones", "emulated-cloud"):
        runs = latency(load(name))
        for method, group in runs.groupby("method", sort=False):
            column = value_column(group)
            repeated = [path for _, path in group.groupby("path") if path[column].notna().sum() >= 12]
            rounds = sorted(set(group["round"]))
            repetitions = round(40 * share)
            random = np.random.default_rng(1)
            halves = []
            for _ in range(repetitions if repeated else 0):
                half = set(random.permutation(rounds)[: len(rounds) // 2])
                sides = [(path[path["round"].isin(half)], path[~path["round"].isin(half)]) for path in repeated]
                halves.append([
                    Pairing(path=str(a["path"].iloc[0]), method=str(method), after=a, before=b, by_zone=False)
                    for a, b in sides
                ])  # fmt: skip
            for margin in ("5%", "10%", "15%") if halves else ():
                verdicts = [
                    [verdict for verdict, _ in decide(compare_pairings(matched, margin=margin, value=column), 0.95)]
                    for matched in halves
                ]
                codes = [1 if "beyond" in rows else 0 if set(rows) == {"within"} else 3 for rows in verdicts]
                for code in (0, 1, 3):
                    yield Row(section, f"{name}, {method}", f"exit {code}, halves of {len(repeated)} paths, {margin}",
                              "6 v. 6", repetitions, alarms=codes.count(code) / repetitions)  # fmt: skip
                pairs = repetitions * len(repeated)
                unchanged = sum(rows.count("within") for rows in verdicts) / pairs
                yield Row(section, f"{name}, {method}", f"a row “no change”, {margin}", "6 v. 6", pairs,
                          alarms=unchanged)  # fmt: skip


SECTIONS: dict[str, Callable[[str, float], Iterator[Row]]] = {
    "Typical run: coverage of the 95 % interval": typical_runs,
    "Comparison of two sets of runs": comparisons,
    "Equivalence of two sets of runs at the margin": equivalences,
    "Exit codes of azlatency compare": exit_codes,
    "Exit codes of azlatency compare for halves of real runs": real_halves,
    "compare beside Apache Otava": beside_otava,
    "Directions of a pair": directions,
    "History of runs, beside Apache Otava": histories,
}
