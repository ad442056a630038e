"""A plugin for pytest that lets the notebooks of a worker share one kernel. Load it with ``-p helpers.shared_kernel``.

nbval starts a kernel for every notebook, and each kernel imports pandas, scipy and matplotlib again, which costs more
than the notebook itself. The report shares kernels in the same way (`azlatency.site.kernels`).
"""

from __future__ import annotations

import os
from typing import Any

from nbval import plugin
from nbval.kernel import RunningKernel

from azlatency.kit.objects import WITHOUT_PNG

_RESET = "__import__('azlatency.site.kernels.session').site.kernels.session.reset_session()"
#: nbval compares the words of a figure, but of its picture (`nbval.cfg`) only that there is one. Other tests draw it.
#: A study that several notebooks load keeps the frames that were computed of it; each frame is handed out as a copy.
_WORDS_ONLY = """
import azlatency.kit.drawing.base, azlatency.kit.objects, functools
azlatency.load = functools.cache(azlatency.load)
azlatency.kit.drawing.base.freeze = lambda figure: None
azlatency.kit.objects.Chart.svg = lambda chart: "<?xml></svg>\\n"
del azlatency, functools
"""
_TIMEOUT = 600
#: The kernel that no notebook uses at the moment.
_idle: list[RunningKernel] = []


def _take(name: str, cwd: str, startup_timeout: int) -> RunningKernel:
    """Return the idle kernel without the names of its last notebook, or a new one."""
    if _idle:
        return _run(_idle.pop(), _RESET)
    return _run(RunningKernel(name, cwd=cwd, startup_timeout=startup_timeout), _WORDS_ONLY)


def _run(kernel: RunningKernel, code: str) -> RunningKernel:
    message = kernel.execute_cell_input(code, allow_stdin=False)
    kernel.await_reply(message, timeout=_TIMEOUT)
    kernel.await_idle(message, _TIMEOUT)
    return kernel


def _give_back(notebook: Any) -> None:
    # nbval has stopped the kernel if a cell took too long.
    if notebook.kernel is not None and notebook.kernel.is_alive():
        _idle.append(notebook.kernel)


def pytest_configure() -> None:
    os.environ[WITHOUT_PNG] = "1"  # nbval does not compare pictures
    plugin.RunningKernel = _take
    plugin.IPyNbFile.teardown = _give_back


def pytest_sessionfinish() -> None:
    for kernel in _idle:
        kernel.stop()
