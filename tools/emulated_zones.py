"""Emulate zones with network namespaces and configured one-way delays (needs root, Linux, /dev/net/tun).

    with emulated(hosts, delays): ...      every host is a namespace

Packets pass through this process: each host has a TUN device, and a packet read from one device is written to the
device of its receiver after the delay of that direction, in order and at a limited rate. No traffic leaves the
machine. ``python tools/emulated_zones.py`` keeps three zones running until it is interrupted, for manual tests.
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import multiprocessing
import os
import random
import select
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_CLONE_NEWNET = 0x40000000
#: For shorter waits, poll instead of sleeping: the kernel wakes a sleeping process too late.
_SPIN_NS = 300_000
#: Bytes in flight per direction; further packets are dropped, as by a full queue.
_QUEUE_BYTES = 2_000_000
_MTU = 1500

#: Hosts of the tutorial (name -> address), and the one-way delays in µs between zones 1, 2 and 3.
HOSTS = {"az1a": "10.66.1.4", "az2a": "10.66.2.4", "az3a": "10.66.3.4"}
DELAYS_US = {("az1a", "az2a"): 200.0, ("az1a", "az3a"): 500.0, ("az2a", "az3a"): 350.0}


def _ip(*words: str, check: bool = True) -> None:
    subprocess.run(["ip", *words], check=check, capture_output=True)


def _enter(namespace: str) -> None:
    """Move this process into a namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{namespace}") as handle:
        if libc.setns(handle.fileno(), _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")


def _open_tun(namespace: str) -> int:
    """Open a TUN device ``az0`` inside the namespace; the handle can be used from any namespace."""
    _enter(namespace)
    handle = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(handle, _TUNSETIFF, struct.pack("16sH", b"az0", _IFF_TUN | _IFF_NO_PI))
    return handle


def _carry(
    hosts: Mapping[str, str], delays_us: Mapping[tuple[str, str], float], jitter_us: float, mbit_s: float, ready: object
) -> None:
    """Forward packets with their delays until the process is killed."""
    handles = {name: _open_tun(name) for name in hosts}
    names = {handle: name for name, handle in handles.items()}
    addresses = {bytes(map(int, address.split("."))): name for name, address in hosts.items()}
    generator = random.Random(1)
    both = {**delays_us, **{(to, start): delay for (start, to), delay in delays_us.items()}}
    free_at = dict.fromkeys(both, 0)
    last_due = dict.fromkeys(both, 0)
    in_flight = dict.fromkeys(both, 0)
    waiting: list[tuple[int, int, tuple[str, str], bytes]] = []
    count = 0
    ready.set()  # type: ignore[attr-defined]
    while True:
        now = time.monotonic_ns()
        while waiting and waiting[0][0] <= now:
            _, _, way, packet = heapq.heappop(waiting)
            in_flight[way] -= len(packet)
            with suppress(BlockingIOError):  # drop the packet if the device is full
                os.write(handles[way[1]], packet)
        left = (waiting[0][0] - now) / 1e9 if waiting else 1.0
        readable, _, _ = select.select(list(names), [], [], 0 if left < _SPIN_NS / 1e9 else left - _SPIN_NS / 1e9)
        for handle in readable:
            packet = os.read(handle, 65_536)
            receiver = addresses.get(packet[16:20]) if packet[:1] and packet[0] >> 4 == 4 else None
            way = (names[handle], receiver or "")
            if way not in both or in_flight[way] + len(packet) > _QUEUE_BYTES:
                continue
            start = max(time.monotonic_ns(), free_at[way])
            free_at[way] = start + int(len(packet) * 8e3 / mbit_s)
            held = both[way] + generator.lognormvariate(0, 0.6) * jitter_us
            count += 1
            in_flight[way] += len(packet)
            # Keep the order of the packets.
            last_due[way] = max(last_due[way], free_at[way] + int(held * 1e3))
            heapq.heappush(waiting, (last_due[way], count, way, packet))


@contextmanager
def emulated(
    hosts: Mapping[str, str],
    delays_us: Mapping[tuple[str, str], float],
    *,
    jitter_us: float = 3.0,
    mbit_s: float = 400.0,
) -> Iterator[None]:
    """Create a namespace per host, connected with one-way delays in µs; remove them at the end."""
    process = None
    try:
        for name in hosts:
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
        ready = multiprocessing.Event()
        process = multiprocessing.Process(target=_carry, args=(hosts, delays_us, jitter_us, mbit_s, ready), daemon=True)
        process.start()
        if not ready.wait(10):
            raise OSError("cannot create the TUN devices; check /dev/net/tun")
        for name, address in hosts.items():
            _ip("-n", name, "addr", "add", f"{address}/32", "dev", "az0")
            _ip("-n", name, "link", "set", "az0", "mtu", str(_MTU), "up")
            _ip("-n", name, "route", "add", "default", "dev", "az0")
        yield
    finally:
        if process is not None:
            process.kill()
            process.join()
        for name in hosts:
            _ip("netns", "del", name, check=False)


def main() -> int:
    """Keep the three zones running until interrupted."""
    if os.geteuid() != 0:
        print("network namespaces need root; run with sudo", file=sys.stderr)
        return 1
    with emulated(HOSTS, DELAYS_US):
        print("try: ip netns exec az1a ping", HOSTS["az2a"])
        try:
            time.sleep(1e9)
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
