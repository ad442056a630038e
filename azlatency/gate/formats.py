"""Format a judgement as a terminal table, as Markdown, as JSON or as JUnit XML.

Names of paths come from logs and manifests, so every format escapes them. The only arithmetic is the conversion of
units.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from azlatency import __version__
from azlatency.gate.verdict import HELPS, HOLM, T_INTERVAL, VERDICTS, Cell, Judgement, Row, RowVerdict
from azlatency.stats.across_runs.planning import FEASIBLE, PILOT
from azlatency.stats.result import SHORT, explain
from azlatency.studies.format import format_value, printable

if TYPE_CHECKING:
    from rich.table import Table

#: Most rows of a Markdown table, so that it fits into a job summary (1 MiB).
_MAX_ROWS = 500
#: Most names in a list of what only one side measured.
_MAX_NAMES = 6
_MARKS: dict[RowVerdict, str] = {"beyond": "❌", "within": "✅", "undetermined": "❔", "refused": "⛔"}
_STYLES: dict[RowVerdict, str] = {
    "beyond": "bold red",
    "within": "green",
    "undetermined": "yellow",
    "refused": "magenta",
}
_OUTCOME_MARKS = {"changed": "❌", "unchanged": "✅", "undetermined": "❔"}
_T_ONLY = "t interval only"
_DIGITS = 4
#: Characters with a meaning in Markdown, or in HTML inside it.
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~$@<>&:])")
#: Characters that XML 1.0 cannot contain.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _value(value: float | None, row: Row) -> str:
    """Return the value of one side; both sides have the same unit."""
    return format_value(value, row.base.unit, digits=_DIGITS, like=row.base.estimate)


def _interval(row: Row) -> str:
    """Return the interval that decides; the level only where it is not that of the others."""
    low, high, confidence = row.comparison.decides
    if low is None or high is None:
        return ""
    level = "" if confidence == row.comparison.ratio.confidence else f" ({100 * confidence:g} %)"
    return f"{low:.3f} – {high:.3f}{level}"


def _difference(row: Row) -> str:
    difference = row.comparison.difference
    if difference is None or difference.estimate is None:
        return ""
    sign, size = "-" if difference.estimate < 0 else "+", abs(difference.estimate)
    return sign + format_value(size, difference.unit, digits=_DIGITS, like=size or row.base.estimate)


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


#: The columns of a judgement: what stands in the cell of a row.
_COLUMNS: dict[str, Callable[[Row], str]] = {
    "verdict": lambda row: VERDICTS[row.verdict].upper() if row.verdict == "beyond" else VERDICTS[row.verdict],
    "path": lambda row: row.path,
    "method": lambda row: row.method,
    "metric": lambda row: row.metric,
    "base": lambda row: _value(row.base.estimate, row),
    "candidate": lambda row: _value(row.candidate_value, row),
    "ratio": lambda row: "" if (ratio := row.comparison.ratio.estimate) is None else f"{ratio:.3f}",
    "interval": _interval,
    "difference": _difference,
    "runs": lambda row: "{runs_after} against {runs_before}".format_map(row.comparison.labels),
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


def _cells(row: Row) -> dict[str, str]:
    return {header: cell(row) for header, cell in _COLUMNS.items()}


def _notes(judgement: Judgement) -> list[str]:
    """Explain how to read the rows, and what was left out."""
    notes = [
        "Base: the median run. Ratio: candidate / base over all pairs of runs (Hodges-Lehmann) with its "
        f"{100 * judgement.confidence:g} % confidence interval; candidate and difference are the ratio applied to the "
        "base. The runs are the replicates. Changed: the ratio is beyond the margin of "
        f"{judgement.margin} (a test that belongs to the interval, Holm's method over all rows). No change: two "
        "one-sided tests show that the ratio is within the margin; their interval has twice the error. Latencies are "
        "round-trip times. The comparison does not show the cause: hosts and time of day may differ as well.",
        *(f"{remark}." for remark in judgement.remarks),
    ]
    if judgement.count("undetermined"):
        notes.append(
            "Needed: the runs on each side that would show with 80 % probability that nothing changed beyond the "
            f"margin, if nothing did. It is a range if there are fewer than {PILOT} runs. A change about as large as "
            "the margin stays inconclusive."
        )
    if any(not row.is_feasible for row in judgement.rows):
        notes.append(f"Over {FEASIBLE}: more of the same runs do not help. {HELPS}.")
    if any(row.is_one_of_many for row in judgement.rows):
        notes.append(
            f"{HOLM}: alone, the row would be a change; among {len(judgement.rows)} rows, one such interval may be "
            "chance. Compare fewer paths, or measure more runs."
        )
    codes = dict.fromkeys(code for row in judgement.rows for code in row.comparison.codes)
    notes += [f"{text}." for text in explain(tuple(code for code in codes if code not in T_INTERVAL))]
    if T_INTERVAL & set(codes):
        notes.append(
            f"{_T_ONLY}: two or three runs on a side; the verdict uses Welch's t interval, which assumes that the "
            "logarithms of the run values are normally distributed."
        )
    for side, names in (("base", judgement.only_in_base), ("candidate", judgement.only_in_candidate)):
        if names:
            more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
            notes.append(f"Measured only in the {side}: {'; '.join(names[:_MAX_NAMES])}{more}.")
    return notes


# --- terminal


def table(judgement: Judgement) -> Table:
    """Return the rows as a table for `rich`. The cells contain neither markup nor control characters."""
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, header_style="bold")
    for header in _COLUMNS:
        is_text = header in ("path", "method", "flags")
        justify = "left" if is_text or header == "verdict" else "right"
        grid.add_column(header, justify=justify, no_wrap=not is_text, overflow="fold")  # type: ignore[arg-type]
    for row in judgement.rows:
        cells = [Text(printable(cell)) for cell in _cells(row).values()]
        cells[0].stylize(_STYLES[row.verdict])
        grid.add_row(*cells)
    return grid


def notes(judgement: Judgement) -> list[str]:
    """Return the lines below the table."""
    return [printable(note) for note in _notes(judgement)]


# --- Markdown


def markdown(judgement: Judgement) -> str:
    """Return Markdown for a job summary or a comment: the outcome, what changed, and the other rows folded."""
    base, candidate = (_escape_markdown(name) for name in (judgement.base, judgement.candidate))
    lines = [
        f"### {_OUTCOME_MARKS[judgement.outcome]} {_escape_markdown(judgement.headline)}",
        "",
        f"Candidate **{candidate}** against base **{base}**.",
        "",
        *_markdown_table([row for row in judgement.rows if row.verdict != "within"]),
    ]
    unchanged = [row for row in judgement.rows if row.verdict == "within"]
    if unchanged:
        summary = "<details><summary>No change beyond the margin</summary>"
        lines += [summary, "", *_markdown_table(unchanged), "</details>", ""]
    lines += [f"- {_escape_markdown(note)}" for note in _notes(judgement)]
    return "\n".join(lines) + "\n"


def _markdown_table(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    lines = ["| " + " | ".join(_COLUMNS) + " |", "|" + "|".join([" --- "] * len(_COLUMNS)) + "|"]
    for row in rows[:_MAX_ROWS]:
        cells = [_escape_markdown(cell) for cell in _cells(row).values()]
        cells[0] = f"{_MARKS[row.verdict]} {cells[0]}"
        lines.append("| " + " | ".join(cells) + " |")
    if len(rows) > _MAX_ROWS:
        lines += ["", f"{len(rows) - _MAX_ROWS} more rows."]
    return [*lines, ""]


def _escape_markdown(text: str) -> str:
    """Escape text so that Markdown shows it unchanged, without markup, links, mentions or references."""
    plain = _MARKDOWN.sub(lambda match: f"&#{ord(match[1])};", printable(text))
    plain = plain.replace("&#64;", "&#64;&#8203;").replace("&#35;", "&#35;&#8203;")
    return re.sub(r"(?i)\bwww\.", lambda match: f"{match[0][:-1]}&#46;", plain)


# --- JSON


def record(judgement: Judgement) -> dict[str, Cell | list[str] | list[dict[str, Cell]]]:
    """Return everything for programs. The words of verdicts and outcomes are stable."""
    return {
        "azlatency": __version__,
        "base": judgement.base,
        "candidate": judgement.candidate,
        "margin": judgement.margin,
        "confidence": judgement.confidence,
        "outcome": judgement.outcome,
        "exit_code": judgement.exit_code,
        "headline": judgement.headline,
        "rows": [row.record() for row in judgement.rows],
        "only_in_base": list(judgement.only_in_base),
        "only_in_candidate": list(judgement.only_in_candidate),
        "remarks": list(judgement.remarks),
    }


# --- JUnit


def junit(judgement: Judgement) -> str:
    """Return JUnit XML with one test case per row: failed if it changed, skipped if inconclusive, otherwise passed.

    Elements and attributes are those that the common schemas share (Ant's JUnit.xsd, in its order). If the two sides
    have nothing in common, the suite contains one skipped case, so that CI does not report an empty suite as a success.
    """
    missing = list(judgement.only_in_base)
    if not judgement.rows and not missing:
        missing = ["nothing"]
    suite = ElementTree.Element(
        "testsuite",
        name="azlatency compare",
        tests=str(len(judgement.rows) + len(missing)),
        failures=str(judgement.count("beyond")),
        errors="0",
        skipped=str(judgement.count("undetermined") + judgement.count("refused") + len(missing)),
        time="0",
        timestamp=datetime.now(UTC).replace(microsecond=0, tzinfo=None).isoformat(),
        hostname="localhost",
        id="0",
        package="azlatency",
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name in ("base", "candidate", "margin", "confidence", "outcome"):
        ElementTree.SubElement(properties, "property", name=name, value=_xml(str(getattr(judgement, name))))
    for row in judgement.rows:
        _add_case(suite, row)
    for name in missing:
        case = ElementTree.SubElement(
            suite, "testcase", name=_xml(name), classname="not measured on both sides", time="0"
        )
        ElementTree.SubElement(case, "skipped", message="measured only in the base")
    ElementTree.SubElement(suite, "system-out").text = _xml("\n".join([judgement.headline, *_notes(judgement)]))
    ElementTree.SubElement(suite, "system-err")
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _add_case(suite: ElementTree.Element, row: Row) -> None:
    name = f"{row.method}, {row.metric}"
    case = ElementTree.SubElement(suite, "testcase", name=_xml(name), classname=_xml(row.path), time="0")
    if row.verdict == "beyond":
        cells = _cells(row)
        message = f"ratio {cells['ratio']}, interval {cells['interval']}"
        failure = ElementTree.SubElement(case, "failure", message=_xml(message), type="beyond_margin")
        failure.text = _xml("; ".join(f"{header}: {cell}" for header, cell in cells.items() if cell))
    elif row.verdict != "within":
        message = f"{VERDICTS[row.verdict]}: {row.reason}"
        ElementTree.SubElement(case, "skipped", message=_xml(message))


def _xml(text: str) -> str:
    """Escape the characters that XML cannot contain; the writer escapes the rest."""
    return _NOT_XML.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
