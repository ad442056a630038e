"""The workers of a Dask cluster as an executor of ``concurrent.futures``."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager
from typing import cast

from azlatency.logs.parse import LogError

#: Seconds to wait for a scheduler, and for its first worker.
_PATIENCE, _PATIENCE_FOR_WORKER = 8, 20


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Yield an executor whose functions run on the workers of a Dask cluster, as ``tcp://10.0.0.4:8786``.

    A task whose worker dies is given to another worker; its result counts once.

    Raises `LogError` if ``distributed`` is not installed, no scheduler answers, there is no worker, or workers keep
    dying.
    """
    try:
        from distributed import Client
        from distributed.comm.addressing import get_address_host_port
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise LogError("--dask needs the package distributed; install azlatency[dask]") from None
    # What happens to the connection is told below, in one line.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        get_address_host_port(address)  # a client that fails because of its address takes 40 s to end
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise LogError(f"{address}: no Dask scheduler answers ({reason}); check the address") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_PATIENCE_FOR_WORKER)
        except TimeoutError:
            raise LogError(f"{address}: the Dask cluster has no worker; start one") from None
        try:
            yield cast("Executor", client.get_executor(pure=False))
        except KilledWorker as error:
            died = f"{error.allowed_failures + 1} workers died on the same logs"
            raise LogError(f"{address}: {died}; give them more memory and import again") from None
        except CancelledError:
            raise LogError(f"{address}: the connection to the Dask scheduler was lost; import again") from None
        except ImportError as error:
            raise LogError(f"{address}: a worker cannot load azlatency ({error}); install it there") from None
