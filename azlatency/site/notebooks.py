"""The notebooks of a project: where they are, how one is run, and how their stored outputs are renewed."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from azlatency.kit.objects import BOTH_WIDTHS, WITHOUT_PNG
from azlatency.logs.parse import LogError
from azlatency.site.kernels.outputs import write_notebook
from azlatency.site.kernels.pool import run_all
from azlatency.site.kernels.warm import CellError, WarmKernel
from azlatency.studies.store.folders import data_folder

#: Called with the number of pages that are done, of all, and what was done last.
Progress = Callable[[int, int, str], None]
#: A kernel needs about 250 MB.
_MOST_WORKERS = 4
_PACKAGE = Path(__file__).parents[1]
#: The folder with the notebooks and the documentation: in the package, or the checkout that is installed in place.
INSTALLED = _PACKAGE / "project" if (_PACKAGE / "project").is_dir() else _PACKAGE.parent


def store(folder: Path | None = None) -> list[str]:
    """Run the notebooks of a folder (default notebooks/) with their own parameters and store the outputs in them.

    A notebook that fails is left as it is; returns one line for each.
    """
    paths = notebook_files(folder or notebooks_folder())

    def work(path: Path, kernel: WarmKernel) -> str | None:
        notebook, error = run_notebook(path, {}, kernel)
        if error is None:
            # Only pages link numbers to logs; a notebook contains only what its reader sees.
            for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
                record = output.get("metadata", {}).get("azlatency", {})
                for name in ("columns", "rows", "notes"):
                    record.pop(name, None)
            write_notebook(notebook, path)
        return None if error is None else f"{path}: {error}; outputs not stored"

    return sorted(failure for failure in run_all(paths, work, partial(new_kernel, png=True), worker_count()) if failure)


def notebooks_folder() -> Path:
    """``notebooks/`` of the nearest folder upwards that has it, otherwise that of the installed package."""
    here = Path.cwd()
    for folder in (here, *here.parents, INSTALLED):
        if (folder / "notebooks").is_dir():
            return folder / "notebooks"
    raise LogError(f"{here}: no folder notebooks/ here or above; run in the project's folder")


def notebook_files(folder: Path) -> list[Path]:
    """Return the notebooks of a folder, sorted. Raises `LogError` if there are none."""
    paths = sorted(folder.glob("[!.]*.ipynb"))
    if not paths:
        raise LogError(f"{folder}: no notebooks (*.ipynb)")
    return paths


def new_kernel(*, png: bool = False) -> WarmKernel:
    """Start a kernel in the project's folder that uses the same data as this process.

    Charts are drawn for pages, at both widths; with ``png`` for notebooks, as SVG and PNG.
    """
    drawing = {} if png else {WITHOUT_PNG: "1", BOTH_WIDTHS: "1"}
    data = data_folder("processed").parent.absolute()
    project = notebooks_folder().parent
    return WarmKernel(Path.cwd() if project == INSTALLED else project, {"AZLATENCY_DATA": str(data)} | drawing)


def worker_count() -> int:
    """Return the number of kernels to run at once."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, _MOST_WORKERS)


def run_notebook(path: Path, parameters: dict[str, Any], kernel: WarmKernel) -> tuple[Any, CellError | None]:
    """Execute a notebook; one that cannot even be read becomes a notebook that shows why."""
    from nbformat.v4 import new_code_cell, new_notebook, new_output

    try:
        return kernel.run(path, parameters)
    except Exception as problem:
        error = CellError(type(problem).__name__, str(problem))
        output = new_output("error", ename=error.name, evalue=error.value, traceback=[])
        return new_notebook(cells=[new_code_cell("", id="error", outputs=[output])]), error
