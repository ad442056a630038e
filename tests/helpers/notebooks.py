"""Notebooks run in this process."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import nbformat


def run(notebook: Path, study: str) -> list[Any]:
    """The results of the notebook's cells for one study, in this process."""
    names: dict[str, Any] = {}
    results = []
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        tree = ast.parse(cell.source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, notebook.name, "exec"), names)
        if "parameters" in cell.metadata.get("tags", []):
            names["study"] = study
        if isinstance(last, ast.Expr):
            results.append(eval(compile(ast.Expression(last.value), notebook.name, "eval"), names))
    return results
