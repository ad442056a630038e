"""What `azlatency compare` reports of a judgement: the cells of its rows, and how to read them."""

from __future__ import annotations

from collections.abc import Callable

from azlatency.gate.formats import Line, Mark, Sheet
from azlatency.gate.verdict import DECISIONS, HELPS, HOLM, T_INTERVAL, Decision, Judgement, Outcome, is_feasible
from azlatency.kit.cells import is_missing
from azlatency.kit.intervals import known_ends
from azlatency.kit.titles import capitalised
from azlatency.kit.words import remarks
from azlatency.stats.across_runs.planning import PILOT
from azlatency.stats.result import DRIFTS, FEASIBLE, SHORT, explain
from azlatency.stats.rows import Row
from azlatency.studies.format import format_number, format_value, percent, plain

#: Most names in a list of what only one side measured.
_MAX_NAMES = 6
_OUTCOMES: dict[Outcome, Mark] = {"changed": "bad", "unchanged": "good", "inconclusive": "open"}
_MARKS: dict[Decision, Mark] = {"beyond": "bad", "within": "good", "inconclusive": "open", "refused": "refused"}
_T_ONLY = "t interval only"
_DIGITS = 4


def _value(row: Row, name: str) -> str:
    """Return the value of one side; both sides have the same unit."""
    return format_value(row[name], row["unit"], digits=_DIGITS, like=None if is_missing(row["base"]) else row["base"])


def _interval(row: Row) -> str:
    """Return the interval that decides; the level only where it is not that of the others."""
    if is_missing(row["decides_low"]) or is_missing(row["decides_high"]):
        return ""
    low, high = known_ends(row["decides_low"], row["decides_high"])
    if low is None or high is None:
        return "not known"
    is_inner = low != row["ratio_low"]
    level = f" ({percent(2 * row['confidence'] - 1)})" if is_inner else ""
    return f"{format_number(low, 3)} – {format_number(high, 3)}{level}"


def _difference(row: Row) -> str:
    difference = row["difference"]
    if is_missing(difference):
        return ""
    size = abs(difference)
    text = format_value(size, row["unit"], digits=_DIGITS, like=size or row["base"])
    return f"{'-' if difference < 0 else '+'}{text}"


def _runs_needed(row: Row) -> str:
    """Return the runs per side that would show that nothing changed; a range if the pilot is small."""
    needed, low, high = (row[name] for name in ("needed", "needed_low", "needed_high"))
    if is_missing(row["done"]):
        return ""
    if not is_feasible(row):
        return f"over {FEASIBLE}"
    if not is_missing(needed):
        return plain(needed)
    if is_missing(low):
        return f"{PILOT} first"
    return f"{low} – over {FEASIBLE}" if is_missing(high) or high > FEASIBLE else f"{low} – {high}"


def _verdict(row: Row) -> str:
    """Return the verdict as a reader sees it."""
    return DRIFTS if row["cause"] == "drift" else DECISIONS[row["decision"]]


def _flags(row: Row) -> str:
    words = [_T_ONLY if flag in T_INTERVAL else SHORT[flag] for flag in row["flags"].split()]
    if row["cause"] == "family":
        words.append(f"{HOLM}, p = {plain(row['p_beyond'], 2)}")
    return ", ".join(dict.fromkeys(words))


#: The columns of a judgement: what stands in the cell of a row.
_COLUMNS: dict[str, Callable[[Row], str]] = {
    "verdict": lambda row: _verdict(row).upper() if row["decision"] == "beyond" else _verdict(row),
    "path": lambda row: row["path"],
    "method": lambda row: row["method"],
    "metric": lambda row: row["metric"],
    "base": lambda row: _value(row, "base"),
    "candidate": lambda row: _value(row, "candidate"),
    "ratio": lambda row: "" if is_missing(row["ratio"]) else format_number(row["ratio"], 3),
    "interval": _interval,
    "difference": _difference,
    "runs": lambda row: f"{row['rounds']} rounds" if row["rounds"] else f"{row['n_base']} → {row['n_candidate']}",
    "needed": _runs_needed,
    "scope": lambda row: row["scope"].replace("_", " "),
    "flags": _flags,
}


def _legend(judgement: Judgement) -> dict[str, str]:
    """Explain how to read the columns of the rows."""
    rows = judgement.rows.to_dict("records")
    if not rows:
        return {}
    legend = {
        "ratio": "Base: the median run. Ratio: candidate / base of the typical runs (ranks or Welch's t) with its "
        f"{percent(judgement.confidence)} confidence interval; candidate and difference are the ratio applied to the "
        "base. Runs: base → candidate; they are the replicates. Changed: the ratio is beyond the margin of "
        f"{judgement.margin} (a test that belongs to the interval, Holm's method over all rows). No change: the "
        f"{percent(2 * judgement.confidence - 1)} interval lies within the margin (TOST). Latencies are "
        "round-trip times. The comparison does not show the cause: hosts and time of day may differ as well."
    }
    if any(map(_runs_needed, rows)):
        legend["needed"] = (
            "Needed: the runs on each side that would show with 80 % probability that nothing changed beyond the "
            f"margin, if nothing did. It is a range if there are fewer than {PILOT} runs. A change about as large as "
            "the margin stays inconclusive."
        )
        if not all(map(is_feasible, rows)):
            legend["needed"] += f" Over {FEASIBLE}: more of the same runs do not help. {capitalised(HELPS)}."
    return legend


def _notes(judgement: Judgement) -> list[str]:
    """Explain what the rows have in common, and what was left out."""
    rows = judgement.rows.to_dict("records")
    notes = [f"{remark}." for remark in judgement.remarks]
    notes += [f"{line}." for line in remarks(rows)]
    if any(row["rounds"] for row in rows):
        notes.append(
            "Rounds: base and candidate were measured in turns. The ratio is that within the rounds; what changed from "
            "round to round does not count."
        )
    if any(row["cause"] == "family" for row in rows):
        notes.append(
            f"{HOLM}: alone, the row would be a change; among {len(rows)} rows, one such interval may be "
            "chance. Compare fewer paths, or measure more runs."
        )
    flags = dict.fromkeys(flag for row in rows for flag in row["flags"].split())
    notes += [f"{text}." for text in explain(flag for flag in flags if flag not in T_INTERVAL)]
    if T_INTERVAL & set(flags):
        notes.append(
            f"{_T_ONLY}: two or three runs on a side; the verdict uses a pooled t interval, which assumes log-normal "
            "values that vary as much on both sides."
        )
    for side, names in (("base", judgement.only_in_base), ("candidate", judgement.only_in_candidate)):
        if names:
            unique = list(dict.fromkeys(names))  # a scenario is compared with each other one
            more = f" and {len(unique) - _MAX_NAMES} more" if len(unique) > _MAX_NAMES else ""
            notes.append(f"Measured only in the {side}: {'; '.join(unique[:_MAX_NAMES])}{more}.")
    return notes


def sheet(judgement: Judgement) -> Sheet:
    """Return everything that is printed of a comparison."""
    rows = judgement.rows.to_dict("records")
    missing = list(judgement.only_in_base)
    return Sheet(
        command="compare",
        mark=_OUTCOMES[judgement.outcome],
        headline=judgement.headline,
        intro=(("Candidate ", judgement.candidate), (" against base ", judgement.base), (".", "")),
        lines=tuple(map(_line, rows)),
        folded="No change beyond the margin",
        legend=_legend(judgement),
        notes=tuple(_notes(judgement)),
        properties={
            name: str(getattr(judgement, name)) for name in ("base", "candidate", "margin", "confidence", "outcome")
        },
        failure="beyond_margin",
        # The difference of two single runs is their result; elsewhere, ratio and interval say it, too.
        leave=("scope", "flags", "needed", *(["difference"] if any(map(_interval, rows)) else [])),
        # An empty suite would be a success in CI.
        missing=tuple(missing or ["nothing"] * (not rows)),
    )


def _line(row: Row) -> Line:
    cells = {header: cell(row) for header, cell in _COLUMNS.items()}
    is_beyond = row["decision"] == "beyond"
    return Line(
        mark=_MARKS[row["decision"]],
        cells=cells,
        name=f"{row['method']}, {row['metric']}",
        group=row["path"],
        message=f"ratio {cells['ratio']}, interval {cells['interval']}"
        if is_beyond
        else f"{_verdict(row)}: {row['reason']}",
    )
