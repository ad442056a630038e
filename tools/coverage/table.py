"""Rows of the coverage table, and how a simulation becomes a row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import compress, groupby
from typing import NamedTuple

import numpy as np


class Answer(NamedTuple):
    """What a routine said about one simulated data set.

    Attributes
    ----------
    low, high : float or None
        Interval; ``None`` for an open end.
    refused : bool
        Whether there is no answer at all.
    flagged : bool
        Whether a flag warns about the interval or the verdict.
    alarm : bool or None
        Whether a difference or a change was claimed; ``None`` for a routine without a verdict.
    estimate : float or None
        Estimate, for the width against the oracle.
    """

    low: float | None = None
    high: float | None = None
    refused: bool = False
    flagged: bool = False
    alarm: bool | None = None
    estimate: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; shares are between 0 and 1, ``None`` where they do not apply.

    ``coverage`` is the share of intervals that contain the truth, ``flagged`` the share of answers with a flag,
    ``wrong`` the share of data sets whose interval misses the truth without a flag, ``width`` the mean length of the
    intervals over that of the range that contains 95 % of the estimates (the oracle).
    """

    section: str
    process: str
    routine: str
    size: str
    repetitions: int
    coverage: float | None = None
    refused: float | None = None
    flagged: float | None = None
    width: float | None = None
    alarms: float | None = None
    wrong: float | None = None

    def cells(self) -> list[str]:
        """Return the cells of the Markdown table."""
        width = "" if self.width is None or not math.isfinite(self.width) else f"{self.width:.2f}"
        shares = (self.alarms, self.refused, self.flagged, self.wrong)
        alarms, refused, flagged, wrong = (percent(share, self.repetitions) for share in shares)
        covered = percent(self.coverage, round(self.repetitions * (1 - (self.refused or 0.0))))
        return [self.process, self.routine, self.size, covered, width, alarms, refused, flagged, wrong]


HEADER = ["process", "routine", "R or n", "coverage", "width", "false alarms", "refused", "flagged", "wrong, no flag"]


def percent(share: float | None, repetitions: int) -> str:
    """Return a share in percent with its standard error."""
    if share is None:
        return ""
    error = 100 * math.sqrt(max(share * (1 - share), 0.25 / repetitions) / repetitions)
    return f"{100 * share:.1f} ± {error:.1f}"


def simulate(
    section: str,
    process: str,
    routine: str,
    size: str,
    *,
    repetitions: int,
    seed: int,
    truth: float | None,
    answer: Callable[[np.random.Generator], Answer],
) -> Row:
    """Ask ``answer`` about ``repetitions`` simulated data sets; ``truth`` is what an interval must contain."""
    random = np.random.default_rng(seed)
    answers = [answer(random) for _ in range(repetitions)]
    given = [one for one in answers if not one.refused]
    covered = width = wrong = None
    if truth is not None:
        wrong = sum(not one.flagged and not _holds(one, truth) for one in given) / repetitions
    if truth is not None and given:
        covered = sum(_holds(one, truth) for one in given) / len(given)
        lengths = [one.high - one.low for one in given if one.low is not None and one.high is not None]
        estimates = [one.estimate for one in given if one.estimate is not None]
        if lengths and estimates:
            oracle = float(np.subtract(*np.quantile(estimates, [0.975, 0.025])))
            width = float(np.median(lengths)) / oracle if oracle > 0 else None
    alarms = [one.alarm for one in answers if one.alarm is not None]
    return Row(
        section,
        process,
        routine,
        size,
        repetitions,
        covered,
        1 - len(given) / repetitions,
        sum(one.flagged for one in answers) / repetitions,
        width,
        sum(alarms) / len(alarms) if alarms else None,
        wrong,
    )


def _holds(answer: Answer, truth: float) -> bool:
    """Return whether the interval contains the truth; an open end excludes nothing."""
    return (answer.low is None or answer.low <= truth) and (answer.high is None or truth <= answer.high)


def markdown(rows: Iterable[Row]) -> Iterator[str]:
    """Yield one table per section, with the columns that have a value."""
    for section, of_section in groupby(rows, lambda row: row.section):
        lines = [HEADER, *(row.cells() for row in of_section)]
        used = [any(line[column] for line in lines[1:]) for column in range(len(HEADER))]
        cells = ["| " + " | ".join(compress(line, used)) + " |" for line in lines]
        yield from ("", f"### {section}", "", cells[0], "|" + " --- |" * sum(used), *cells[1:])
