"""A judgement as a terminal table, as Markdown for a job summary, as JSON, and as JUnit XML.

Names of paths come from logs and manifests, so every format escapes them: markup is shown, never obeyed. Computes
nothing but units.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from azlatency import __version__
from azlatency.gate.verdict import Judgement, Row
from azlatency.stats.across_runs.planning import PILOT
from azlatency.stats.result import SHORT, explain

if TYPE_CHECKING:
    from rich.table import Table

#: Rows in full in Markdown: a job summary holds 1 MiB.
_MOST_ROWS = 500
_WORDS = {"beyond": "CHANGED", "within": "no change", "undetermined": "undetermined", "refused": "refused"}
_MARKS = {"beyond": "❌", "within": "✅", "undetermined": "❔", "refused": "⛔"}
_OUTCOMES = {"changed": "❌", "unchanged": "✅", "undetermined": "❔"}
_SCALES = {"ns": (1e3, "µs"), "bit/s": (1e9, "Gbit/s")}
#: A code that says why there is no p-value; here it tells what a verdict rests on.
_NO_EXACT_TEST = "cannot_reach_alpha"
_HEADERS = (
    "verdict", "path", "method", "metric", "ratio", "interval", "difference", "runs", "needed", "scope", "remark"
)  # fmt: skip
#: What Markdown, or the HTML in it, would obey.
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~$@<>&:])")
#: Characters that XML 1.0 cannot hold.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _cells(row: Row) -> tuple[str, ...]:
    """The texts of a row, as `_HEADERS`."""
    found = row.comparison
    labels = found.labels
    return (
        _WORDS[row.verdict],
        row.path,
        row.method,
        row.metric,
        _number(found.ratio.estimate),
        _interval(row),
        _difference(row),
        f"{labels['runs_after']} against {labels['runs_before']}",
        _needed(row),
        found.scope.replace("_", " "),
        ", ".join("t only" if code == _NO_EXACT_TEST else SHORT[code] for code in found.codes),
    )


def _needed(row: Row) -> str:
    """Runs on each side that show that nothing changed, where nothing did; a range from a small pilot."""
    plan = row.plan
    if plan is None:
        return ""
    if plan.needed is not None:
        return f"{plan.needed:,}"
    return f"{PILOT} first" if plan.low is None else f"{plan.low:,} – {plan.high or '?':,}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _interval(row: Row) -> str:
    ratio = row.comparison.ratio
    return "" if ratio.low is None or ratio.high is None else f"{ratio.low:.3f} – {ratio.high:.3f}"


def _difference(row: Row) -> str:
    found = row.comparison.difference
    if found is None or found.estimate is None:
        return ""
    scale, unit = _SCALES.get(found.unit, (1.0, found.unit))
    return f"{found.estimate / scale:+,.4g} {unit}"


def _notes(judgement: Judgement) -> list[str]:
    """What stands below every form: how to read it, what was left out."""
    notes = [
        f"Ratio: candidate over base, {100 * judgement.confidence:g} % interval, runs are the replicates. Changed: the "
        f"whole interval lies beyond the margin of {judgement.margin} (Holm over all rows). No change: two one-sided "
        "tests. Latencies are round trips; a difference between hosts or hours is no proof of a cause.",
        *judgement.remarks,
    ]
    if judgement.count("undetermined"):
        notes.append(
            "Needed: runs on each side that show, with 80 % probability, that nothing changed beyond the margin, if "
            f"nothing did. A range comes from a pilot of fewer than {PILOT} runs. A change close to the margin stays "
            "undetermined."
        )
    codes = tuple(dict.fromkeys(code for row in judgement.rows for code in row.comparison.codes))
    notes += [f"{remark}." for remark in explain(tuple(code for code in codes if code != _NO_EXACT_TEST))]
    if _NO_EXACT_TEST in codes:
        notes.append(
            "t only: with so few runs no exact test can decide; the verdict rests on the t interval, for which the "
            "logarithms of run values are taken as normal."
        )
    for side, names in (("base", judgement.only_in_base), ("candidate", judgement.only_in_candidate)):
        if names:
            more = f" and {len(names) - 20} more" if len(names) > 20 else ""
            notes.append(f"In the {side} only: {'; '.join(names[:20])}{more}.")
    return notes


# --- terminal


def table(judgement: Judgement) -> Table:
    """For `rich`; every cell is text without markup and without control characters."""
    from rich.table import Table
    from rich.text import Text

    found = Table(box=None, pad_edge=False, header_style="bold")
    for header in _HEADERS:
        words = header in ("path", "method", "remark")
        found.add_column(header, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    found.columns[0].justify = "left"
    styles = {"beyond": "bold red", "within": "green", "undetermined": "yellow", "refused": "magenta"}
    for row in judgement.rows:
        cells = [Text(_printable(cell)) for cell in _cells(row)]
        cells[0].stylize(styles[row.verdict])
        found.add_row(*cells)
    return found


def notes(judgement: Judgement) -> list[str]:
    """The lines below the table."""
    return [_printable(note) for note in _notes(judgement)]


# --- Markdown


def markdown(judgement: Judgement) -> str:
    """For a job summary or a comment on a merge request: the verdict, what changed, and the rest folded away."""
    base, candidate = (_escaped(name) for name in (judgement.base, judgement.candidate))
    lines = [
        f"### {_OUTCOMES[judgement.outcome]} {_escaped(judgement.headline)}",
        "",
        f"Candidate **{candidate}** against base **{base}**.",
        "",
    ]
    loud = [row for row in judgement.rows if row.verdict != "within"]
    calm = [row for row in judgement.rows if row.verdict == "within"]
    lines += _markdown_table(loud)
    if calm:
        lines += [
            "<details><summary>No change beyond the margin</summary>",
            "",
            *_markdown_table(calm),
            "</details>",
            "",
        ]
    lines += [f"- {_escaped(note)}" for note in _notes(judgement)]
    return "\n".join(lines) + "\n"


def _markdown_table(rows: list[Row]) -> list[str]:
    if not rows:
        return []
    lines = ["| " + " | ".join(_HEADERS) + " |", "|" + "|".join([" --- "] * len(_HEADERS)) + "|"]
    for row in rows[:_MOST_ROWS]:
        cells = [_escaped(cell) for cell in _cells(row)]
        cells[0] = f"{_MARKS[row.verdict]} {cells[0]}"
        lines.append("| " + " | ".join(cells) + " |")
    if len(rows) > _MOST_ROWS:
        lines += ["", f"{len(rows) - _MOST_ROWS} rows more."]
    return [*lines, ""]


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is: one line, no markup, no link; a mention or a reference is broken up."""
    plain = _MARKDOWN.sub(lambda found: f"&#{ord(found[1])};", _printable(text))
    plain = plain.replace("&#64;", "&#64;&#8203;").replace("&#35;", "&#35;&#8203;")
    return re.sub(r"(?i)\bwww\.", lambda found: f"{found[0][:-1]}&#46;", plain)


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


# --- JSON


def record(judgement: Judgement) -> dict[str, Any]:
    """Everything, for programs: the names of `Comparison.row` and the verdicts."""
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
    """One test case a row: a failure where it changed, skipped where nothing could be decided, else passed.

    The elements and attributes are those that the common schemas share (Ant's JUnit.xsd, in its order). A comparison in
    which nothing stands on both sides is one skipped case, so that no reader takes an empty suite for a success.
    """
    moment = datetime.now(UTC).replace(microsecond=0, tzinfo=None).isoformat()
    failed = judgement.count("beyond")
    lost = [] if judgement.rows and not judgement.only_in_base else list(judgement.only_in_base) or ["nothing"]
    skipped = judgement.count("undetermined") + judgement.count("refused") + len(lost)
    suite = ElementTree.Element(
        "testsuite",
        name="azlatency compare", tests=str(len(judgement.rows) + len(lost)), failures=str(failed), errors="0",
        skipped=str(skipped), time="0", timestamp=moment, hostname="localhost", id="0", package="azlatency",
    )  # fmt: skip
    properties = ElementTree.SubElement(suite, "properties")
    for name in ("base", "candidate", "margin", "confidence", "outcome"):
        ElementTree.SubElement(properties, "property", name=name, value=_xml(str(getattr(judgement, name))))
    for row in judgement.rows:
        _case(suite, row)
    for name in lost:
        case = ElementTree.SubElement(
            suite, "testcase", name=_xml(name), classname="not measured on both sides", time="0"
        )
        ElementTree.SubElement(case, "skipped", message="in the base only: nothing to compare")
    ElementTree.SubElement(suite, "system-out").text = _xml("\n".join([judgement.headline, *_notes(judgement)]))
    ElementTree.SubElement(suite, "system-err")
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ElementTree.Element, row: Row) -> None:
    name = f"{row.method}, {row.metric}"
    case = ElementTree.SubElement(suite, "testcase", name=_xml(name), classname=_xml(row.path), time="0")
    text = "; ".join(f"{header}: {cell}" for header, cell in zip(_HEADERS, _cells(row), strict=True) if cell)
    if row.verdict == "beyond":
        message = f"ratio {_number(row.comparison.ratio.estimate)}, interval {_interval(row)}"
        failure = ElementTree.SubElement(case, "failure", message=_xml(message), type="beyond_margin")
        failure.text = _xml(text)
    elif row.verdict != "within":
        ElementTree.SubElement(case, "skipped", message=_xml(f"{row.verdict}: {row.reason}"))


def _xml(text: str) -> str:
    """Text without the characters that XML cannot hold; the writer escapes the rest."""
    return _NOT_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
