"""Format a sheet of results as Markdown or as JUnit XML.

Names of paths come from logs and manifests, so every format escapes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal
from xml.etree import ElementTree

from azlatency.studies.format import printable

Mark = Literal["bad", "good", "open", "refused"]
#: Most rows of a Markdown table, so that it fits into a job summary (1 MiB).
_MAX_ROWS = 500
_MARKS: dict[Mark, str] = {"bad": "❌", "good": "✅", "open": "❔", "refused": "⛔"}
#: Characters with a meaning in Markdown, or in HTML inside it.
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~$@<>&:])")
#: Characters that XML 1.0 cannot contain.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row: its cells by header, the first of which is the verdict, and its test case of JUnit."""

    mark: Mark
    cells: Mapping[str, str]
    name: str
    group: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Everything that a command prints.

    ``intro`` are pairs of a text and a name that Markdown prints in bold. Lines with the mark ``good`` are folded in
    Markdown under ``folded``. ``failure`` is the type of a failed test case; ``missing`` are names of further test
    cases that are skipped. ``leave`` are the columns that leave a narrow table, the least important one first;
    ``legend`` explains columns, and stands above the notes.
    """

    command: str
    mark: Mark
    headline: str
    intro: tuple[tuple[str, str], ...]
    lines: tuple[Line, ...]
    folded: str
    notes: tuple[str, ...]
    properties: Mapping[str, str]
    failure: str
    leave: tuple[str, ...] = ()
    legend: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    @property
    def explained(self) -> list[str]:
        """The legend and the notes."""
        return [*self.legend.values(), *self.notes]

    def count(self, *marks: Mark) -> int:
        """Return the number of lines with one of these marks."""
        return sum(line.mark in marks for line in self.lines)


# --- Markdown


def markdown(sheet: Sheet) -> str:
    """Return Markdown for a job summary or a comment: the outcome, what changed, and the other rows folded."""
    intro = "".join(f"{text}**{_escape_markdown(name)}**" if name else text for text, name in sheet.intro)
    lines = [
        f"### {_MARKS[sheet.mark]} {_escape_markdown(sheet.headline)}",
        "",
        intro,
        "",
        *_markdown_table([line for line in sheet.lines if line.mark != "good"]),
    ]
    good = [line for line in sheet.lines if line.mark == "good"]
    if good:
        summary = f"<details><summary>{sheet.folded}</summary>"
        lines += [summary, "", *_markdown_table(good), "</details>", ""]
    lines += [f"- {_escape_markdown(note)}" for note in sheet.explained]
    return "\n".join(lines) + "\n"


def _markdown_table(rows: Sequence[Line]) -> list[str]:
    if not rows:
        return []
    headers = list(rows[0].cells)
    lines = ["| " + " | ".join(headers) + " |", "|" + "|".join([" --- "] * len(headers)) + "|"]
    for row in rows[:_MAX_ROWS]:
        cells = [_escape_markdown(cell) for cell in row.cells.values()]
        cells[0] = f"{_MARKS[row.mark]} {cells[0]}"
        lines.append("| " + " | ".join(cells) + " |")
    if len(rows) > _MAX_ROWS:
        lines += ["", f"{len(rows) - _MAX_ROWS} more rows."]
    return [*lines, ""]


def _escape_markdown(text: str) -> str:
    """Escape text so that Markdown shows it unchanged, without markup, links, mentions or references."""
    plain = _MARKDOWN.sub(lambda match: f"&#{ord(match[1])};", printable(text))
    plain = plain.replace("&#64;", "&#64;&#8203;").replace("&#35;", "&#35;&#8203;")
    return re.sub(r"(?i)\bwww\.", lambda match: f"{match[0][:-1]}&#46;", plain)


# --- JUnit


def junit(sheet: Sheet) -> str:
    """Return JUnit XML with one test case per row: failed if it changed, skipped if inconclusive, otherwise passed.

    Elements and attributes are those that the common schemas share (Ant's JUnit.xsd, in its order).
    """
    suite = ElementTree.Element(
        "testsuite",
        name=f"azlatency {sheet.command}",
        tests=str(len(sheet.lines) + len(sheet.missing)),
        failures=str(sheet.count("bad")),
        errors="0",
        skipped=str(sheet.count("open", "refused") + len(sheet.missing)),
        time="0",
        timestamp=datetime.now(UTC).replace(microsecond=0, tzinfo=None).isoformat(),
        hostname="localhost",
        id="0",
        package="azlatency",
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in sheet.properties.items():
        ElementTree.SubElement(properties, "property", name=name, value=_xml(value))
    for line in sheet.lines:
        _add_case(suite, line, sheet.failure)
    for name in sheet.missing:
        case = ElementTree.SubElement(
            suite, "testcase", name=_xml(name), classname="not measured on both sides", time="0"
        )
        ElementTree.SubElement(case, "skipped", message="measured only in the base")
    ElementTree.SubElement(suite, "system-out").text = _xml("\n".join([sheet.headline, *sheet.explained]))
    ElementTree.SubElement(suite, "system-err")
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _add_case(suite: ElementTree.Element, line: Line, failed: str) -> None:
    case = ElementTree.SubElement(suite, "testcase", name=_xml(line.name), classname=_xml(line.group), time="0")
    if line.mark == "bad":
        failure = ElementTree.SubElement(case, "failure", message=_xml(line.message), type=failed)
        failure.text = _xml("; ".join(f"{header}: {cell}" for header, cell in line.cells.items() if cell))
    elif line.mark != "good":
        ElementTree.SubElement(case, "skipped", message=_xml(line.message))


def _xml(text: str) -> str:
    """Escape the characters that XML cannot contain; the writer escapes the rest."""
    return _NOT_XML.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
