"""What `azlatency compare` reports of a judgement: the cells of its rows, and how to read them."""

from __future__ import annotations

from collections.abc import Callable

from azlatency.gate.formats import Line, Mark, Sheet
from azlatency.gate.verdict import HELPS, HOLM, T_INTERVAL, Judgement, Outcome, Row, RowVerdict
from azlatency.kit.claim import known_ends
from azlatency.stats.across_runs.planning import PILOT
from azlatency.stats.result import FEASIBLE, SHORT, explain
from azlatency.studies.format import format_value

#: Most names in a list of what only one side measured.
_MAX_NAMES = 6
_OUTCOMES: dict[Outcome, Mark] = {"changed": "bad", "unchanged": "good", "inconclusive": "open"}
_VERDICTS: dict[RowVerdict, Mark] = {"beyond": "bad", "within": "good", "inconclusive": "open", "refused": "refused"}
_T_ONLY = "t interval only"
_DIGITS = 4


def _value(value: float | None, row: Row) -> str:
    """Return the value of one side; both sides have the same unit."""
    return format_value(value, row.base.unit, digits=_DIGITS, like=row.base_value)


def _interval(row: Row) -> str:
    """Return the interval that decides; the level only where it is not that of the others."""
    *ends, confidence = row.comparison.decides
    low, high = known_ends(*ends)
    if low is None or high is None:
        return "" if None in ends else "not known"
    level = "" if confidence == row.comparison.ratio.confidence else f" ({100 * confidence:g} %)"
    return f"{low:.3f} – {high:.3f}{level}"


def _difference(row: Row) -> str:
    if row.difference is None:
        return ""
    sign, size = "-" if row.difference < 0 else "+", abs(row.difference)
    return sign + format_value(size, row.base.unit, digits=_DIGITS, like=size or row.base_value)


def _runs_needed(row: Row) -> str:
    """Return the runs per side that would show that nothing changed; a range if the pilot is small."""
    plan = row.plan
    if plan is None:
        return ""
    if not row.is_feasible:
        return f"over {FEASIBLE}"
    if plan.needed is not None:
        return f"{plan.needed:,}"
    if plan.low is None:
        return f"{PILOT} first"
    return f"{plan.low} – over {FEASIBLE}" if (plan.high or FEASIBLE + 1) > FEASIBLE else f"{plan.low} – {plan.high}"


def _runs(row: Row) -> str:
    if row.rounds:
        return f"{row.rounds} rounds"
    return "{runs_before} → {runs_after}".format_map(row.comparison.labels)


#: The columns of a judgement: what stands in the cell of a row.
_COLUMNS: dict[str, Callable[[Row], str]] = {
    "verdict": lambda row: row.verdict_in_words.upper() if row.verdict == "beyond" else row.verdict_in_words,
    "path": lambda row: row.path,
    "method": lambda row: row.method,
    "metric": lambda row: row.metric,
    "base": lambda row: _value(row.base_value, row),
    "candidate": lambda row: _value(row.candidate_value, row),
    "ratio": lambda row: "" if row.ratio is None else f"{row.ratio:.3f}",
    "interval": _interval,
    "difference": _difference,
    "runs": _runs,
    "needed": _runs_needed,
    "scope": lambda row: row.comparison.scope.replace("_", " "),
    "flags": lambda row: ", ".join(
        dict.fromkeys(
            [
                *(_T_ONLY if code in T_INTERVAL else SHORT[code] for code in row.comparison.codes),
                *([f"{HOLM}, p = {row.p_beyond:.2g}"] if row.is_one_of_many else []),
            ]
        )
    ),
}


def _legend(judgement: Judgement) -> dict[str, str]:
    """Explain how to read the columns of the rows."""
    if not judgement.rows:
        return {}
    legend = {
        "ratio": "Base: the median run. Ratio: candidate / base over all pairs of runs (Hodges-Lehmann) with its "
        f"{100 * judgement.confidence:g} % confidence interval; candidate and difference are the ratio applied to the "
        "base. Runs: base → candidate; they are the replicates. Changed: the ratio is beyond the margin of "
        f"{judgement.margin} (a test that belongs to the interval, Holm's method over all rows). No change: the "
        f"{100 * (2 * judgement.confidence - 1):g} % interval lies within the margin (TOST). Latencies are "
        "round-trip times. The comparison does not show the cause: hosts and time of day may differ as well."
    }
    if any(map(_runs_needed, judgement.rows)):
        legend["needed"] = (
            "Needed: the runs on each side that would show with 80 % probability that nothing changed beyond the "
            f"margin, if nothing did. It is a range if there are fewer than {PILOT} runs. A change about as large as "
            "the margin stays inconclusive."
        )
        if any(not row.is_feasible for row in judgement.rows):
            legend["needed"] += f" Over {FEASIBLE}: more of the same runs do not help. {HELPS}."
    return legend


def _notes(judgement: Judgement) -> list[str]:
    """Explain what the rows have in common, and what was left out."""
    notes = [f"{remark}." for remark in judgement.remarks]
    notes += [f"{line}." for line in dict.fromkeys(line for row in judgement.rows for line in row.comparison.remarks)]
    if any(row.rounds for row in judgement.rows):
        notes.append(
            "Rounds: base and candidate were measured in turns. The ratio is that within the rounds; what changed from "
            "round to round does not count."
        )
    if any(row.is_one_of_many for row in judgement.rows):
        notes.append(
            f"{HOLM}: alone, the row would be a change; among {len(judgement.rows)} rows, one such interval may be "
            "chance. Compare fewer paths, or measure more runs."
        )
    codes = dict.fromkeys(code for row in judgement.rows for code in row.comparison.codes)
    notes += [f"{text}." for text in explain(tuple(code for code in codes if code not in T_INTERVAL))]
    if T_INTERVAL & set(codes):
        notes.append(
            f"{_T_ONLY}: two or three runs on a side; the verdict uses a pooled t interval, which assumes that the "
            "logarithms of the run values are normally distributed and vary as much on both sides."
        )
    for side, names in (("base", judgement.only_in_base), ("candidate", judgement.only_in_candidate)):
        if names:
            more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
            notes.append(f"Measured only in the {side}: {'; '.join(names[:_MAX_NAMES])}{more}.")
    return notes


def sheet(judgement: Judgement) -> Sheet:
    """Return everything that is printed of a comparison."""
    missing = list(judgement.only_in_base)
    return Sheet(
        command="compare",
        mark=_OUTCOMES[judgement.outcome],
        headline=judgement.headline,
        intro=(("Candidate ", judgement.candidate), (" against base ", judgement.base), (".", "")),
        lines=tuple(map(_line, judgement.rows)),
        folded="No change beyond the margin",
        legend=_legend(judgement),
        notes=tuple(_notes(judgement)),
        properties={
            name: str(getattr(judgement, name)) for name in ("base", "candidate", "margin", "confidence", "outcome")
        },
        failure="beyond_margin",
        # The difference of two single runs is their result; elsewhere, ratio and interval say it, too.
        leave=("scope", "flags", "needed", *(["difference"] if any(map(_interval, judgement.rows)) else [])),
        # An empty suite would be a success in CI.
        missing=tuple(missing or ["nothing"] * (not judgement.rows)),
    )


def _line(row: Row) -> Line:
    cells = {header: cell(row) for header, cell in _COLUMNS.items()}
    return Line(
        mark=_VERDICTS[row.verdict],
        cells=cells,
        name=f"{row.method}, {row.metric}",
        group=row.path,
        message=f"ratio {cells['ratio']}, interval {cells['interval']}"
        if row.verdict == "beyond"
        else f"{row.verdict_in_words}: {row.reason}",
    )
