"""Measure what a Dask cluster of two workers costs: logs that are imported.

Scheduler and workers are processes of their own, so that the CPU time of each is known. The tables of ``docs/scale.md``
multiply these numbers.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.logs import many_logs
from benchmarks.results import value
from benchmarks.statistics import cpu, peak_megabytes

LOGS, FEWER, EMPTY = 10_000, 1_000, 2_000


@contextmanager
def processes(folder: Path) -> Iterator[tuple[str, list[Any]]]:
    """Run a scheduler and two workers with one thread each; their address and processes, the scheduler first."""
    import psutil

    found = folder / "scheduler.json"
    common = ["--scheduler-file", str(found)]
    commands = [["dask_scheduler", "--port", "0", "--no-dashboard"],
                *[["dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard"]] * 2]  # fmt: skip
    running = [
        subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{name}", *options, *common],
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd=folder,
        )
        for name, *options in commands
    ]
    try:
        while not found.is_file():
            time.sleep(0.1)
        yield str(found), [psutil.Process(process.pid) for process in running]
    finally:
        for process in running:
            process.terminate()
            process.wait()


def spent(of: Iterable[Any]) -> float:
    """Return the CPU seconds of processes so far."""
    return float(sum(times.user + times.system for times in (process.cpu_times() for process in of)))


class Weighing(Executor):
    """Runs tasks in a thread and adds up the size of what they return."""

    def __init__(self) -> None:
        self._threads, self.sizes = ThreadPoolExecutor(1), list[int]()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        def weighed() -> Any:
            result = function(*arguments, **options)
            self.sizes.append(len(pickle.dumps(result)))
            return result

        return self._threads.submit(weighed)


def logs(folder: Path, executor: Executor, cluster: list[Any]) -> None:
    """Import many small logs."""
    from azlatency.studies.imports.importer import import_study

    source = folder / "small"
    source.mkdir()
    for index, raw in enumerate(many_logs(LOGS)):
        (source / f"{index:05}.log").write_bytes(raw)
    scheduler, *workers = cluster
    import_study("first", [source], out=folder, executor=executor)  # loads the modules
    turns = []
    for turn in range(3):
        before = spent(workers)
        own = cpu(lambda turn=turn: import_study(f"turn{turn}", [source], out=folder, executor=executor))
        turns.append((spent(workers) - before, own))
    value("a small log on a cluster: CPU of the workers", min(on for on, _ in turns) / LOGS * 1e3, "ms")
    value("a small log on a cluster: CPU of the importing process", min(own for _, own in turns) / LOGS * 1e3, "ms")
    weighing = Weighing()
    import_study("weighed", [source], out=folder, executor=weighing)
    value("a small log on a cluster: sent by the workers", sum(weighing.sizes) / LOGS / 1e3, "kB")
    few = folder / "few"
    few.mkdir()
    for path in sorted(source.iterdir())[:FEWER]:
        path.rename(few / path.name)
    code = "import azlatency as az; az.import_study('peak', [{!r}], out={!r})"
    less, more = (peak_megabytes(code.format(str(of), str(folder / of.name / "out"))) for of in (few, source))
    value("a small log on a cluster: memory of the importing process", 1e3 * (more - less) / (LOGS - 2 * FEWER), "kB")
    value("memory of a worker after 40,000 small logs", max(w.memory_info().rss for w in workers) / 1e6, "MB")
    begin, before = time.perf_counter(), spent([scheduler])
    list(executor.map(abs, range(EMPTY)))
    value("an empty task on a cluster: CPU of the scheduler", (spent([scheduler]) - before) / EMPTY * 1e3, "ms")
    value("an empty task on a cluster: time", (time.perf_counter() - begin) / EMPTY * 1e3, "ms")


def cluster(folder: Path) -> None:
    """Run both on a cluster of two workers."""
    from distributed import Client

    with processes(folder) as (found, running), Client(scheduler_file=found, set_as_default=False) as client:
        client.wait_for_workers(2)
        executor = client.get_executor(pure=False)
        logs(folder, executor, running)
