"""Several notebooks at once, on as many kernels as there are workers."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, cast

from azlatency.site.kernels.warm import WarmKernel

Job = TypeVar("Job")
Result = TypeVar("Result")


def run_all(
    jobs: Sequence[Job], work: Callable[[Job, WarmKernel], Result], make_kernel: Callable[[], WarmKernel], workers: int
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
