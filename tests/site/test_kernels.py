"""Kernels that run notebooks and forget them."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.sites import write
from nbformat.v4 import new_code_cell

from azlatency.site.kernels.warm import WarmKernel


@pytest.mark.costly
def test_a_warm_kernel_forgets_the_notebook_before(tmp_path: Path) -> None:
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "toymodule.py").write_text("import warnings\ndef ask(): warnings.warn('asked')\n")
    first = write(tmp_path, "a.ipynb", new_code_cell("import toymodule\nleak = 1\ntoymodule.ask()"))
    second = write(
        tmp_path, "b.ipynb", new_code_cell("import toymodule\ntoymodule.ask()\n'leak' in globals(), study, object()")
    )
    with WarmKernel(tmp_path, {"PYTHONPATH": str(modules)}) as kernel:
        kernel.run(first, {})
        notebook, error = kernel.run(second, {"study": "x"})
        again, _ = kernel.run(second, {"study": "x"})
    assert error is None
    cell = notebook.cells[-1]
    assert "asked" in cell.outputs[0].text
    assert cell.outputs[1].data["text/plain"] == "(False, 'x', <object at 0x…>)"
    assert [cell.execution_count for cell in notebook.cells] == [1, 2, 3]
    assert notebook == again


@pytest.mark.costly
def test_no_code_of_the_working_directory_runs(tmp_path: Path) -> None:
    """It may be a stranger's folder: neither its modules nor its start-up files of IPython are executed."""
    places = ("pandas.py", "azlatency.py", "json.py", "IPython.py", "ipykernel.py", "sitecustomize.py",
              "ipython_config.py", "profile_default/startup/a.py", ".ipython/profile_default/startup/a.py")  # fmt: skip
    ran = tmp_path / "ran"
    for place in places:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(f"open({str(ran)!r}, 'a').write({place!r})\n")
    code = "import json, subprocess, sys, pandas, azlatency\nsubprocess.run([sys.executable, '-c', 'import pandas'])"
    notebook = write(tmp_path, "a.ipynb", new_code_cell(code))
    with WarmKernel(tmp_path) as kernel:
        _, error = kernel.run(notebook, {})
    assert error is None and not ran.exists()
