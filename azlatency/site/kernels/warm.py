"""An IPython kernel that runs notebook after notebook; papermill fills in their parameters."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azlatency.site.kernels.outputs import cell_ids, normalise

#: Longest time that one cell, or the start of a kernel, may take, in seconds: machines may be busy.
CELL_TIMEOUT = 600
_RESET = "__import__('azlatency.site.kernels.session').site.kernels.session.reset_session()"
_READ = "print(__import__('azlatency.site.kernels.session').site.kernels.session.files_read())"
#: No history on disk. IPython must not put the working directory on the import path: it may be a stranger's folder, and
#: its `pandas.py` would run.
_KERNEL_OPTIONS = ["--HistoryManager.hist_file=:memory:", "--InteractiveShellApp.ignore_cwd=True"]
# A log of its own: papermill and nbclient report failures there that reach the reader as the page's error anyway.
_log = logging.getLogger(__name__)
_log.propagate = False
_log.addHandler(logging.NullHandler())


@dataclass(frozen=True)
class CellError:
    """The error that ended a notebook."""

    name: str
    value: str

    def __str__(self) -> str:
        first = self.value.strip().splitlines()
        return f"{self.name}: {first[0]}" if first else self.name


class WarmKernel:
    """An IPython kernel that runs notebook after notebook; started on first use, and again after it died.

    ``folder``: its working directory. ``env``: environment variables on top of this process's. For one thread only.
    """

    def __init__(self, folder: Path, env: dict[str, str] | None = None) -> None:
        self._folder = folder
        self._env = env or {}
        self._manager: Any = None
        self._client: Any = None
        self._scratch: Path | None = None
        self.read: tuple[str, ...] = ()
        """Files that the last notebook opened, as `files_read` gives them."""

    def __enter__(self) -> WarmKernel:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def run(self, notebook: Path, parameters: dict[str, Any]) -> tuple[Any, CellError | None]:
        """Execute a copy of a notebook; returns it normalised, with the error that ended it, if any.

        With ``parameters``, a cell with their values follows the cell tagged ``parameters``. The file is only read;
        raises what reading it raises.
        """
        import papermill

        prepared = papermill.execute_notebook(
            str(notebook), None, parameters, kernel_name="python3", language="python", prepare_only=True
        )
        self._ready()
        self._run_cells(prepared)
        executed = normalise(prepared, cell_ids(notebook))
        error = _first_error(executed)
        self.read = () if error else tuple(json.loads(self._execute(_READ)))
        return executed, error

    def _run_cells(self, nb: Any) -> None:
        """Run cells up to the first error, which is in the outputs, as is what stops the kernel."""
        from nbclient.exceptions import CellControlSignal, CellExecutionError, DeadKernelError

        # A generous wait for output: on a busy machine nbclient's four seconds end healthy notebooks.
        client = self._cell_client(
            nb, iopub_timeout=60, raise_on_iopub_timeout=True, record_timing=False, coalesce_streams=True
        )
        try:
            client.execute()
        except CellExecutionError:
            pass
        except (DeadKernelError, CellControlSignal) as error:
            text = "the kernel died; perhaps it ran out of memory" if isinstance(error, DeadKernelError) else str(error)
            _note_error(nb, client.code_cells_executed, type(error).__name__, text)
            self.stop()

    def _cell_client(self, nb: Any, **options: Any) -> Any:
        """Return what runs the cells of a notebook on this kernel."""
        from nbclient import NotebookClient

        client = NotebookClient(nb, km=self._manager, timeout=CELL_TIMEOUT, log=_log, **options)
        client.kc = self._client  # nbclient shuts down neither a manager nor a client that it did not make
        return client

    def stop(self) -> None:
        """Kill the kernel; it has no state to save."""
        from jupyter_core.utils import run_sync

        if self._client is not None:
            self._client.stop_channels()
        if self._manager is not None:
            run_sync(self._manager.shutdown_kernel)(now=True)
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
        self._manager = self._client = self._scratch = None

    def kill(self) -> None:
        """End the kernel's process from another thread; its own thread then sees a dead kernel."""
        process = getattr(getattr(self._manager, "provisioner", None), "process", None)
        if process is not None:
            process.kill()

    def _ready(self) -> None:
        """Start the kernel, or empty it."""
        if self._manager is not None:
            try:
                self._execute(_RESET)
                return
            except Exception:
                self.stop()
        self._start()

    def _start(self) -> None:
        from jupyter_client.manager import AsyncKernelManager
        from jupyter_core.utils import run_sync

        self._scratch = Path(tempfile.mkdtemp(prefix="azlatency-"))
        self._manager = AsyncKernelManager(
            kernel_name="python3",
            kernel_spec_manager=_own_python(),
            connection_file=str(self._scratch / "kernel.json"),
            # Sockets in the file system need no port, and nobody else can connect; their paths may have 100 characters.
            transport="ipc" if os.name == "posix" and len(str(self._scratch)) < 80 else "tcp",
        )
        try:
            run_sync(self._manager.start_kernel)(
                cwd=str(self._folder), env=self._environment(), extra_arguments=_KERNEL_OPTIONS
            )
            self._client = self._manager.client()
            self._client.start_channels()
            run_sync(self._client.wait_for_ready)(timeout=CELL_TIMEOUT)
            self._client.allow_stdin = False
            self._execute(_RESET)
        except BaseException:
            self.stop()
            raise

    def _environment(self) -> dict[str, str]:
        env = os.environ | {
            "PYTHONSAFEPATH": "1",  # nor does Python put it there, in the kernel and in what the kernel starts
            "PYTHONHASHSEED": "0",  # the order of a set must not differ between two reports
            "IPYTHONDIR": str(self._scratch),  # no start-up files of the user's
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            # One core a kernel: the other one has a kernel of its own.
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # where it is set, each kernel compiles pandas anew
        return env | self._env

    def _execute(self, code: str) -> str:
        """Run code outside any notebook and return what it prints; raises where it fails."""
        from nbformat.v4 import new_code_cell, new_notebook

        notebook = new_notebook(cells=[new_code_cell(code)])
        # Not stored in the history: the notebook's own first cell is number one, in its tracebacks too.
        self._cell_client(notebook).execute_cell(notebook.cells[0], 0, store_history=False)
        return "".join(output.text for output in notebook.cells[0].outputs if output.output_type == "stream")


def _first_error(nb: Any) -> CellError | None:
    outputs = (out for cell in nb.cells if cell.cell_type == "code" for out in cell.outputs)
    return next((CellError(out.ename, out.evalue) for out in outputs if out.output_type == "error"), None)


def _own_python() -> Any:
    """Kernels of the Python that runs this, whatever kernel the user has registered as "python3"."""
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

    class OwnPython(KernelSpecManager):
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            return KernelSpec(argv=argv, display_name="Python 3", language="python")

    return OwnPython()


def _note_error(nb: Any, executed: int, name: str, text: str) -> None:
    """Put an error that came from outside the notebook below the cell that was running."""
    from nbformat.v4 import new_output

    code = [cell for cell in nb.cells if cell.cell_type == "code" and cell.source.strip()]
    cell = code[max(executed, 1) - 1]
    cell.outputs.append(new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"]))
