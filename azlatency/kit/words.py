"""Sentences made from the rows of a frame: the one place where a result becomes words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from azlatency.report.table import is_missing
from azlatency.stats.across_runs.planning import FEASIBLE
from azlatency.stats.result import ASSUMED, CODES, SHORT, VERDICTS
from azlatency.studies.format import count_of, format_estimate, format_interval, format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    Row = Mapping[str, Any]


def say(frame: pd.DataFrame) -> str:
    """Return one sentence per row of a result.

    Parameters
    ----------
    frame : DataFrame
        What a statistic returned, or rows of it: `azlatency.baseline`, or ``methods`` of `azlatency.stats.agreement`.

    Returns
    -------
    str
        A line per row with value, interval and number of runs. The flags of a single row follow it; those of several
        rows are explained once, below them.

    Raises
    ------
    ValueError
        If the frame is not one that a statistic returned.

    Examples
    --------
    >>> print(say(az.stats.agreement(az.load("westeurope-azure-cni")).methods))  # doctest: +SKIP
    qperf tcp_lat over sockperf TCP 14 B: practically equivalent; ratio 1.01, 95 % CI 0.99–1.03, …
    """
    if not len(frame):
        return ""
    sentence = next((write for column, write in _SENTENCES.items() if column in frame.columns), None)
    if sentence is None:
        raise ValueError(f"no sentences for a frame with the columns {', '.join(map(str, frame.columns))}")
    rows = frame.to_dict("records")
    if len(rows) == 1:
        notes = _explained(rows)
        return sentence(rows[0]) + (f" ({'; '.join(notes)})" if notes else "")
    lines = []
    for row in rows:
        short = ", ".join(SHORT[code] for code in row["flags"].split())
        lines.append(sentence(row) + (f" ({short})" if short else ""))
    return "\n".join([*lines, *_explained(rows)])


def _explained(rows: list[dict[Any, Any]]) -> list[str]:
    """Return what the flags of the rows mean, what is assumed of their runs, and the notes about single runs."""
    flags = dict.fromkeys(code for row in rows for code in row["flags"].split())
    assumed = dict.fromkeys(code for row in rows for code in str(row.get("assumed") or "").split())
    notes = dict.fromkeys(note for row in rows for note in str(row.get("notes") or "").splitlines())
    return [
        *(f"{SHORT[code]}: {CODES[code]}" for code in flags),
        *(f"assumed: {ASSUMED[code]}" for code in assumed),
        *notes,
    ]


def runs_to_decide(decides: float) -> str:
    """Say how many runs would decide; no number where more of the same runs do not help."""
    if is_missing(decides):
        return ""
    return count_of(int(decides), "run") if decides <= FEASIBLE else f"more than {FEASIBLE} runs"


def _agreement(row: Row) -> str:
    name = f"{row['first']} over {row['second']}"
    if is_missing(row["ratio"]):
        return f"{name}: not estimable"
    different = f"not comparable, they differ in {' and '.join(row['differs_in'].rsplit(', ', 1))}"
    subject = different if row["differs_in"] else VERDICTS[row["verdict"]]
    value = format_estimate(row["ratio"], *_ends(row, "ratio"), confidence=row["confidence"])
    low, high = _ends(row, "prediction")
    single = "" if low is None else f", a single pair {format_interval(low, high)}"
    return f"{name}: {subject}; ratio {value}{single}, {count_of(row['n'], 'pair')}"


def _conformance(row: Row) -> str:
    name = ", ".join(str(row[key]) for key in ("what", "path", "method") if row.get(key))
    if is_missing(row["estimate"]):
        return f"{name}: {row['status']}"
    unit, ratio = row["unit"], row["ratio"]
    level = f", {format_value(ratio, 'fraction')} of the limit" if not is_missing(ratio) else ""
    decides = runs_to_decide(row["decides"])
    more = f"; {decides} would decide" if decides else ""
    low, high = _ends(row)
    bounds = ""
    if low is not None and high is not None:
        interval = format_interval(low, high, unit, like=row["estimate"])
        bounds = f", one-sided {100 * row['confidence']:g} % bounds {interval}"
    typical = f"typical run {format_value(row['estimate'], unit)}{bounds}{level}, {count_of(row['n'], 'run')}"
    return f"{name}: {row['status']}; {typical}{more}"


def _ends(row: Row, of: str = "") -> tuple[float | None, float | None]:
    """Return the ends of an interval, ``None`` for an open one."""
    low, high = (row[f"{of}_{end}" if of else end] for end in ("low", "high"))
    return None if is_missing(low) else low, None if is_missing(high) else high


#: The sentence of a row, by a column that only its kind of frame has.
_SENTENCES: dict[str, Callable[[Row], str]] = {"prediction_low": _agreement, "relation": _conformance}
