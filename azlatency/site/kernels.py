"""Run notebooks through papermill on warm kernels: one kernel a worker, emptied between notebooks.

A cold kernel imports pandas, pyarrow, scipy and matplotlib anew for every notebook, which costs more than the notebook.
Three notebooks for six studies on two cores: papermill with a kernel for each 45 s (36 CPU-s), this 10 s (15 CPU-s,
rendering included), the same code in one script without notebooks 8.5 CPU-s. A fork of a process with the imports done
would save the second kernel's imports (2 CPU-s once), but forks what Arrow's threads hold, and Windows has none.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

#: Longest time that one cell may take, in seconds.
CELL_TIMEOUT = 600
_ENGINE = "azlatency-warm"
_RESET = "__import__('azlatency.site.kernels').site.kernels.reset_session()"
_READ = "print(__import__('azlatency.site.kernels').site.kernels.files_read())"
# A log of its own: papermill and nbclient report failures there that reach the reader as the page's error anyway.
_log = logging.getLogger("azlatency.site.kernels")
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


# --- the kernel


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

        With ``parameters`` a cell with their values stands below the cell tagged ``parameters``. The file is only read;
        raises what reading it raises.
        """
        import papermill
        from papermill.exceptions import PapermillExecutionError

        _register_engine()
        kept: list[Any] = []
        # The error is read from the outputs: papermill does not count SystemExit as one.
        with suppress(PapermillExecutionError):
            papermill.execute_notebook(
                str(notebook),
                None,
                parameters,
                engine_name=_ENGINE,
                kernel_name="python3",
                language="python",
                progress_bar=False,
                kernel=self,
                kept=kept,
            )
        executed = normalise(kept[0], _cell_ids(notebook))
        error = _first_error(executed)
        self.read = () if error else tuple(json.loads(self._execute(_READ)))
        return executed, error

    def execute_cells(self, nb_man: Any) -> None:
        """Run the cells of papermill's execution manager; what stops the kernel becomes the cell's error output."""
        from nbclient.exceptions import CellControlSignal, DeadKernelError
        from papermill.clientwrap import PapermillNotebookClient

        self._ready()
        # A generous wait for output: on a busy machine nbclient's four seconds end healthy notebooks.
        options = {"timeout": CELL_TIMEOUT, "iopub_timeout": 60, "record_timing": False, "log": _log}
        client = PapermillNotebookClient(nb_man, km=self._manager, coalesce_streams=True, **options)
        client.kc = self._client  # nbclient shuts down neither a manager nor a client that it did not make
        try:
            client.execute()
        except (DeadKernelError, CellControlSignal) as error:
            text = "the kernel died; perhaps it ran out of memory" if isinstance(error, DeadKernelError) else str(error)
            _note_error(nb_man.nb, client.code_cells_executed, type(error).__name__, text)
            self.stop()

    def stop(self) -> None:
        """End the kernel at once; it holds nothing that is worth saving."""
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
            transport=_transport(self._scratch),
        )
        try:
            run_sync(self._manager.start_kernel)(
                cwd=str(self._folder),
                env=self._environment(),
                extra_arguments=["--HistoryManager.hist_file=:memory:"],
            )
            self._client = self._manager.client()
            self._client.start_channels()
            run_sync(self._client.wait_for_ready)(timeout=60)
            self._client.allow_stdin = False
            self._execute(_RESET)
        except BaseException:
            self.stop()
            raise

    def _environment(self) -> dict[str, str]:
        env = os.environ | {
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
        from nbclient import NotebookClient
        from nbformat.v4 import new_code_cell, new_notebook

        notebook = new_notebook(cells=[new_code_cell(code)])
        client = NotebookClient(notebook, km=self._manager, timeout=60, log=_log)
        client.kc = self._client
        # Not stored in the history: the notebook's own first cell is number one, in its tracebacks too.
        client.execute_cell(notebook.cells[0], 0, store_history=False)
        return "".join(output.text for output in notebook.cells[0].outputs if output.output_type == "stream")


def reset_session() -> None:
    """Called in the kernel between notebooks: forget all names, close figures, let warnings appear again.

    Imported modules stay, which is the point.
    """
    import gc
    import warnings

    from IPython import get_ipython

    _listen()
    _read.clear()
    get_ipython().reset(new_session=True)
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
    # Leaving the block marks the filters as changed, upon which Python forgets which warnings it has shown. Otherwise a
    # notebook's output would depend on which notebooks ran before it.
    with warnings.catch_warnings():
        pass
    # reset() has collected; what is left are modules. Not to look at them again saves 0.1 s a notebook.
    gc.freeze()


#: Paths that were opened for reading or listed in this process since the last `reset_session`.
_read: set[tuple[str, str]] = set()


@lru_cache(maxsize=1)
def _listen() -> None:
    """Note every file that Python opens from now on; there is no way to stop."""

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            if isinstance(arguments[0], str) and "w" not in (arguments[1] or "r"):
                _read.add(("", arguments[0]))
        elif event in ("os.listdir", "os.scandir") and isinstance(arguments[0], str):
            _read.add(("names in ", arguments[0]))

    sys.addaudithook(note)


def files_read() -> str:
    """Called in the kernel after a notebook: what it read, as a JSON list of paths; a listed folder as "names in …".

    Only what may change a result: files of the data and of the project, not those of Python and its libraries. Of
    folders only those of the data, for Python itself lists the others; and not the folder of all imports, for to look
    for one of them says nothing about the others.
    """
    data = Path(os.environ.get("AZLATENCY_DATA", "data")).absolute()
    libraries = (Path(sys.prefix), Path(__file__).parents[1])
    found = set()
    for kind, name in _read:
        path = Path(name).absolute()
        ours = path.is_relative_to(data) and path != data / "processed"
        ours |= not kind and path.is_relative_to(Path.cwd()) and path.suffix not in (".py", ".pyc")
        if ours and path.exists() and not any(path.is_relative_to(folder) for folder in libraries):
            found.add(f"{kind}{path}")
    return json.dumps(sorted(found))


def _register_engine() -> None:
    """Make `WarmKernel` known to papermill, once."""
    from papermill.engines import Engine, papermill_engines
    from papermill.exceptions import PapermillException

    with suppress(PapermillException):
        papermill_engines.get_engine(_ENGINE)
        return

    class WarmEngine(Engine):
        """papermill's bookkeeping around `WarmKernel.execute_cells`."""

        @classmethod
        def execute_managed_notebook(
            cls, nb_man: Any, kernel_name: str, *, kernel: WarmKernel, kept: list[Any], **_: Any
        ) -> None:
            try:
                kernel.execute_cells(nb_man)
            finally:
                # Kept here, because papermill gives no notebook back after an error and adds its own red text to it.
                kept.append(deepcopy(nb_man.nb))

    papermill_engines.register(_ENGINE, WarmEngine)


def _first_error(nb: Any) -> CellError | None:
    outputs = (output for cell in nb.cells if cell.cell_type == "code" for output in cell.outputs)
    return next((CellError(each.ename, each.evalue) for each in outputs if each.output_type == "error"), None)


def _own_python() -> Any:
    """Kernels of the Python that runs this, whatever kernel the user has registered as "python3"."""
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

    class OwnPython(KernelSpecManager):
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            return KernelSpec(argv=argv, display_name="Python 3", language="python")

    return OwnPython()


def _transport(folder: Path) -> str:
    """Sockets in the file system need no port, and nobody else can connect; their paths may have 100 characters."""
    return "ipc" if os.name == "posix" and len(str(folder)) < 80 else "tcp"


def _note_error(nb: Any, executed: int, name: str, text: str) -> None:
    """Put an error that came from outside the notebook below the cell that was running."""
    from nbformat.v4 import new_output

    code = [cell for cell in nb.cells if cell.cell_type == "code" and cell.source.strip()]
    cell = code[max(executed, 1) - 1]
    cell.outputs.append(new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"]))


# --- what a notebook looks like after it ran


def normalise(nb: Any, known_ids: Sequence[str] = ()) -> Any:
    """Change an executed notebook in place into the form that the same input always gives; returns it.

    No times, no process ids, no addresses; cells counted from 1; ids that are not in ``known_ids`` (papermill invents
    one for the cell of parameters) derived from the cell's text.
    """
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
    return nb


def write_notebook(nb: Any, path: Path) -> None:
    """Write a notebook: keys sorted, a line end at the end, the old file replaced in one step."""
    import nbformat

    text = nbformat.writes(nb, version=4, sort_keys=True).rstrip("\n") + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    beside.write_text(text, "utf-8", newline="\n")
    os.replace(beside, path)


def _cell_ids(notebook: Path) -> list[str]:
    return [cell["id"] for cell in json.loads(notebook.read_text("utf-8"))["cells"] if "id" in cell]


def _cell_id(cell: Any, known: Sequence[str], taken: set[str]) -> str:
    """The cell's own id, or one made of its text; a number tells equal cells apart."""
    name = cell.id if cell.get("id") in known else sha256(cell.source.encode()).hexdigest()[:8]
    unique, number = name, 1
    while unique in taken:
        number += 1
        unique = f"{name}-{number}"
    taken.add(unique)
    return unique


_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
#: The file that ipykernel invents for a cell holds its process id; an address in a repr is another one each time.
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
    package = Path(__file__).parents[1]
    for folder, instead in ((package, package.name), (Path(sys.prefix), "<python>"), (Path.home(), "~")):
        text = text.replace(f"{folder}{os.sep}", f"{instead}/")
    return text


# --- several notebooks

Job = TypeVar("Job")
Result = TypeVar("Result")


def run_all(
    jobs: Sequence[Job],
    work: Callable[[Job, WarmKernel], Result],
    make_kernel: Callable[[], WarmKernel],
    workers: int,
) -> Iterator[Result]:
    """``work(job, kernel)`` for every job, each worker with its own kernel; results in the order in which they come.

    The workers are threads: what takes time happens in the kernels, which are processes. Two worker processes would
    import papermill and nbconvert twice. What ``work`` raises ends everything and is raised here.
    """
    stop = threading.Event()
    todo = iter(list(jobs))
    lock = threading.Lock()
    done: queue.SimpleQueue[tuple[Result | None, BaseException | None]] = queue.SimpleQueue()
    kernels = [make_kernel() for _ in range(min(workers, len(jobs)))]

    def serve(kernel: WarmKernel) -> None:
        with kernel:
            while not stop.is_set():
                with lock:
                    job = next(todo, None)
                if job is None:
                    return
                try:
                    done.put((work(job, kernel), None))
                except BaseException as error:
                    done.put((None, error))

    threads = [threading.Thread(target=serve, args=(kernel,), daemon=True) for kernel in kernels]
    for thread in threads:
        thread.start()
    try:
        for _ in jobs:
            result, error = done.get()
            if error is not None:
                raise error
            yield cast(Result, result)
    except BaseException:
        stop.set()
        for kernel in kernels:
            kernel.kill()
        raise
    finally:
        for thread in threads:
            thread.join()
