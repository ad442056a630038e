"""Executed notebooks in a form that the same input always gives: no times, no process ids, no addresses."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from azlatency.studies.format import visible
from azlatency.studies.store.replacing import write_whole


def normalise(nb: Any, known_ids: Sequence[str] = ()) -> Any:
    """Change an executed notebook in place into the form that the same input always gives; returns it.

    No times, no process ids, no addresses, no control characters of names; cells counted from 1; ids that are not in
    ``known_ids`` (papermill invents one for the cell of parameters) derived from the cell's text.
    """
    from nbformat import from_dict

    language = {"name": "python"}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nb.metadata = type(nb.metadata)({"kernelspec": kernel, "language_info": language})
    nb.nbformat, nb.nbformat_minor = 4, 5
    count = 0
    ended = False
    taken: set[str] = set()
    for cell in nb.cells:
        for key in ("papermill", "execution", *(() if cell.metadata.get("tags") else ("tags",))):
            cell.metadata.pop(key, None)
        cell.id = _cell_id(cell, known_ids, taken)
        if cell.cell_type != "code":
            continue
        # Counted here: what a dying kernel still says of the count is a matter of chance.
        ran = bool(cell.source.strip()) and not ended
        count += ran
        cell.execution_count = count if ran else None
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = cell.execution_count
            ended = ended or output.output_type == "error"
            _scrub(output)
        # Names in logs are untrusted.
        cell.outputs = [from_dict(visible(output)) for output in cell.outputs]
    return nb


def write_notebook(nb: Any, path: Path) -> None:
    """Write a notebook: keys sorted, a line end at the end, the old file replaced in one step."""
    import nbformat

    text = nbformat.writes(nb, version=4, sort_keys=True).rstrip("\n") + "\n"
    write_whole(path, text)


def cell_ids(notebook: Path) -> list[str]:
    """Return the ids of the notebook file's cells."""
    return [cell["id"] for cell in json.loads(notebook.read_text("utf-8"))["cells"] if "id" in cell]


def _cell_id(cell: Any, known: Sequence[str], taken: set[str]) -> str:
    """Return the id of a cell, or derive one from its text; equal cells get a number."""
    name = cell.id if cell.get("id") in known else sha256(cell.source.encode()).hexdigest()[:8]
    unique, number = name, 1
    while unique in taken:
        number += 1
        unique = f"{name}-{number}"
    taken.add(unique)
    return unique


_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
#: The file name that ipykernel gives a cell contains its process id; the address in a repr varies.
_VOLATILE = (
    (re.compile(r"\S*[/\\]ipykernel_\d+[/\\]\d+\.py"), "<cell>"),
    (re.compile(r"(?<= at )0x[0-9a-f]+(?=>)"), "0x…"),
)


def _scrub(output: Any) -> None:
    """Take out of an output's text what differs between two runs or two machines."""
    if output.output_type == "stream":
        output.text = _clean(output.text)
    elif output.output_type == "error":
        output.evalue = _clean(output.evalue)
        output.traceback = [_clean(line) for line in output.traceback]
    elif "text/plain" in output.data:
        output.data["text/plain"] = _clean(output.data["text/plain"])


def _clean(text: str) -> str:
    text = _ANSI.sub("", text)
    for pattern, instead in _VOLATILE:
        text = pattern.sub(instead, text)
    package = Path(__file__).parents[2]
    for folder, instead in ((package, package.name), (Path(sys.prefix), "<python>"), (Path.home(), "~")):
        text = text.replace(f"{folder}{os.sep}", f"{instead}/")
    return text
