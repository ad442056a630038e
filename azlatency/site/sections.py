"""The sections of a notebook as a page shows them: an answer first, its explanation folded.

The prose of a notebook is the same for every study. A page shows the heading and the first sentence of each text and
folds the rest. Of the tables it shows one that no chart precedes; in the sections for a closer look, the charts
(page.html.j2). Why a cell has nothing to show stands at the end of the page, in place of a section without data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

#: The section that a page folds as a whole: sources of the methods, and the list of files.
METHOD = "Method and provenance"
#: Beginning of the paragraph that names the study whose outputs a notebook has stored.
STORED = "*Stored with the study"
_HEADING = re.compile(r"\A\s*(#{1,6} .+)\n*")
_SENTENCE = re.compile(r"(.+?[.:?!])(?=\s+[A-Z*`]|\s*\Z)", re.S)
#: Beginnings of paragraphs that are not sentences: formulas, tables, lists, quotes, code.
_BLOCK = ("$$", "|", "- ", "* ", "1. ", ">", "```", "    ")


@dataclass(frozen=True, kw_only=True)
class Part:
    """A text cell and the code cells after it; ``lead`` and ``more`` are its Markdown, shown and folded."""

    lead: str
    more: str
    cells: tuple[Any, ...]

    @property
    def heading(self) -> str:
        """The heading that the part begins with, without its marks."""
        match = _HEADING.match(self.lead)
        return match[1].lstrip("# ") if match else ""

    @property
    def is_code(self) -> bool:
        """Whether the part belongs to the code of the page: its cells are tagged so, and none failed."""
        outputs = [output for cell in self.cells for output in cell.outputs]
        tagged = bool(self.cells) and all("code" in cell.metadata.get("tags", []) for cell in self.cells)
        return tagged and all(output["output_type"] != "error" for output in outputs)

    @property
    def is_silent(self) -> bool:
        """Whether a text without a heading introduces cells that show nothing."""
        code = [cell for cell in self.cells if cell.source.strip()]
        return bool(code) and not self.heading and all(_note(output) for cell in code for output in cell.outputs)

    @property
    def body(self) -> str:
        """The whole text below the heading."""
        return f"{_HEADING.sub('', self.lead)} {self.more}".strip()


@dataclass(frozen=True, kw_only=True)
class Section:
    """The parts from one second-level heading to the next."""

    parts: tuple[Part, ...]

    @property
    def title(self) -> str:
        """The heading of the section."""
        return self.parts[0].heading

    @property
    def shown(self) -> tuple[Part, ...]:
        """The parts that introduce something, and the first one, which has the heading."""
        return self.parts[:1] + tuple(part for part in self.parts[1:] if self.is_method or not part.is_silent)

    @property
    def is_method(self) -> bool:
        """Whether the section is about methods and files."""
        return self.title == METHOD

    @property
    def reason(self) -> str:
        """Why cells of the section have nothing to show; empty if all of them have."""
        return " ".join(filter(None, dict.fromkeys(map(_note, self._outputs))))

    @property
    def is_empty(self) -> bool:
        """Whether the section has neither anything to show, besides its code, nor a text beside its reasons."""
        silent = any(part.cells for part in self.parts) and not any(part.body for part in self.parts)
        outputs = [output for part in self.parts if not part.is_code for cell in part.cells for output in cell.outputs]
        return bool(self.title and (outputs or silent)) and all(map(_note, outputs))

    @property
    def _outputs(self) -> list[Any]:
        return [output for part in self.parts for cell in part.cells for output in cell.outputs]


def kind_of(output: Any) -> str:
    """Return what one of our outputs is: "table", "figure", "caption", "note"; empty for any other."""
    return str(output.get("metadata", {}).get("azlatency", {}).get("kind", ""))


def _note(output: Any) -> str:
    """Return the sentence of a `Note`, else an empty text."""
    return str(output["data"].get("text/plain", "")) if kind_of(output) == "note" else ""


def split_question(source: str) -> tuple[str, str]:
    """Split the first text of a page after the paragraph with the question.

    The paragraph that names the study of the stored outputs is left out: a page has a study of its own.
    """
    head, question, rest = source.partition("**Question:**")
    asked, *others = rest.split("\n\n")
    return f"{head}{question}{asked}", "\n\n".join(text for text in others if not text.startswith(STORED))


def split_lead(source: str) -> tuple[str, str]:
    """Split a text after its heading and the first sentence below it."""
    heading = _HEADING.match(source)
    body = source[heading.end() :] if heading else source
    paragraph = body.partition("\n\n")[0]
    if paragraph.lstrip().startswith(_BLOCK):
        end = len(paragraph)
    else:
        sentence = _SENTENCE.match(paragraph)
        end = sentence.end() if sentence else len(paragraph)
    return f"{heading[1]}\n\n{body[:end]}" if heading else body[:end], body[end:].strip()


def sections(notebook: Any) -> list[Section]:
    """Return the sections of an executed notebook, without the question of its first text."""
    groups: list[list[Part]] = []
    for part in _parts(notebook):
        if not groups or part.lead.startswith("## ") or not part.lead:
            groups.append([])
        groups[-1].append(part)
    return [Section(parts=tuple(parts)) for parts in groups]


def _parts(notebook: Any) -> Iterator[Part]:
    texts = [index for index, cell in enumerate(notebook.cells) if cell.cell_type == "markdown"]
    ends = [*texts[1:], len(notebook.cells)] if texts else []
    if not texts or texts[0] > 0:
        before = notebook.cells[: texts[0] if texts else None]
        yield Part(lead="", more="", cells=_code(before))
    for number, (start, end) in enumerate(zip(texts, ends, strict=True)):
        source = str(notebook.cells[start].source)
        lead, more = split_lead(source) if number else ("", split_question(source)[1].strip())
        yield Part(lead=lead, more=more, cells=_code(notebook.cells[start + 1 : end]))


def _code(cells: list[Any]) -> tuple[Any, ...]:
    return tuple(cell for cell in cells if cell.cell_type == "code")
