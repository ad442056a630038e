"""The sections of a notebook: the answer first, the explanation folded, and one sentence where nothing is to show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from helpers.places import ROOT
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from azlatency.kit.objects import Note
from azlatency.site.pages import Chapter, Job, PageView, StudyView
from azlatency.site.sections import METHOD, sections, split_lead


def _cell(*values: object) -> Any:
    outputs = []
    for value in values:
        data, metadata = value._repr_mimebundle_() if isinstance(value, Note) else ({"text/plain": str(value)}, {})
        outputs.append(new_output("display_data", data, metadata=metadata))
    return new_code_cell("x", outputs=outputs)


@pytest.mark.parametrize(
    ("source", "lead", "more"),
    [
        ("## Head\n\nOne sentence. Another.", "## Head\n\nOne sentence.", "Another."),
        ("## Head\n\nRTT/2 is 1.5 of it: so it is. *Limits.*\n\nNone.", "## Head\n\nRTT/2 is 1.5 of it: so it is.",
         "*Limits.*\n\nNone."),
        ("Only a sentence without an end", "Only a sentence without an end", ""),
        ("## Head", "## Head\n\n", ""),
        ("## Head\n\n$$p^n. A$$\n\nMore.", "## Head\n\n$$p^n. A$$", "More."),
        ("## Head\n\n| a. B | b |\n|---|---|\n", "## Head\n\n| a. B | b |\n|---|---|\n", ""),
    ],
)  # fmt: skip
def test_a_text_is_shown_up_to_its_first_sentence(source: str, lead: str, more: str) -> None:
    assert split_lead(source) == (lead, more)


def test_a_section_without_anything_to_show_gives_its_reason() -> None:
    notebook = new_notebook(
        cells=[
            new_markdown_cell("# Page\n\n**Question:** why?\n\nBecause."),
            new_code_cell("import x"),
            new_markdown_cell("## Empty\n\nProse."),
            _cell(Note("No log has it.")),
            new_markdown_cell("The same again:"),
            _cell(Note("No log has it."), Note("Nor that.")),
            new_markdown_cell("## Full\n\nProse."),
            _cell(Note("No log has it.")),
            _cell("a table"),
            new_markdown_cell("## Pictures"),
            new_code_cell("show(*charts)  # none"),
            new_markdown_cell("## Prepared\n\nProse."),
            new_code_cell("import y"),
            new_markdown_cell("## Method and provenance\n\nOne. Two."),
            _cell(Note("No files.")),
        ]
    )
    start, empty, full, pictures, prepared, method = sections(notebook)
    assert (start.parts[0].lead, start.parts[0].more, start.reason) == ("", "Because.", "")
    assert (empty.title, empty.is_empty, empty.reason) == ("Empty", True, "No log has it. Nor that.")
    assert (full.title, full.is_empty, full.reason) == ("Full", False, "No log has it.")
    assert pictures.is_empty and not pictures.reason and not prepared.is_empty
    assert not full.is_method and method.is_method and method.parts[0].body == "One. Two."


def test_no_cell_is_lost_from_a_notebook_without_texts() -> None:
    first, second = new_code_cell("a"), new_code_cell("b")
    (section,) = sections(new_notebook(cells=[first, second]))
    assert section.parts[0].cells == (first, second)


def test_the_section_that_a_page_folds_is_a_section_of_the_notebooks() -> None:
    cells = [cell for path in (ROOT / "notebooks").glob("*.ipynb") for cell in nbformat.read(path, as_version=4).cells]
    headings = {cell.source.partition("\n")[0].removeprefix("## ") for cell in cells if cell.cell_type == "markdown"}
    assert METHOD in headings


def test_a_text_that_introduces_nothing_is_left_out() -> None:
    notebook = new_notebook(
        cells=[
            new_markdown_cell("# Page"),
            new_markdown_cell("## Full\n\nProse."),
            _cell("a table"),
            new_markdown_cell("The same again:"),
            _cell(Note("No log has it.")),
            new_markdown_cell("And in plain pandas:"),
            new_code_cell("None"),
            new_markdown_cell("Last:"),
            _cell("a chart"),
        ]
    )
    _, full = sections(notebook)
    assert [part.lead for part in full.shown] == ["## Full\n\nProse.", "Last:"]
    assert full.reason == "No log has it."


def test_cells_tagged_as_code_show_with_the_code_unless_they_failed() -> None:
    failed = new_output("error", ename="E", evalue="x", traceback=[])
    cells = [_cell("a frame"), _cell("a frame"), new_code_cell("x", outputs=[failed])]
    for cell in (cells[0], cells[2]):
        cell.metadata["tags"] = ["code"]
    notebook = new_notebook(cells=[part for cell in cells for part in (new_markdown_cell("In plain pandas:"), cell)])
    assert [part.is_code for section in sections(notebook) for part in section.parts] == [True, False, False]


def test_a_section_whose_code_alone_prints_something_has_nothing_to_show() -> None:
    code = _cell("a frame")
    code.metadata["tags"] = ["code"]
    texts = ["# Page\n\n**Question:** why?", "## Empty\n\nProse.", "In pandas:"]
    start, empty, pandas = map(new_markdown_cell, texts)
    _, section = sections(new_notebook(cells=[start, empty, _cell(Note("No log.")), pandas, code]))
    assert section.is_empty and section.reason == "No log."


def test_a_page_names_as_hidden_only_the_sections_that_are_not_on_it() -> None:
    notebook = new_notebook(
        cells=[
            new_markdown_cell("# Page\n\n**Question:** why?"),
            _cell(Note("No findings.")),
            new_markdown_cell("## Full\n\nProse."),
            _cell(Note("No log has it."), "a chart"),
            new_markdown_cell("## Empty\n\nProse."),
            _cell(Note("Nor that.")),
            new_markdown_cell("## Method and provenance\n\nOne."),
            _cell(Note("No files.")),
        ]
    )
    chapters = (Chapter(path=Path("p.ipynb"), title="Page"),)
    job = Job(study=StudyView(name="a", info={}, contents=()), chapters=chapters, number=0)
    page = PageView(job=job, error=None)
    assert [section.title for section in page.sections(notebook)] == ["", "Full", "Method and provenance"]
    assert page.not_shown == [("Empty", "Nor that.")]
