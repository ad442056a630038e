"""Network namespaces for tests with real tools: made, joined by a pair of virtual interfaces, removed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skip without root, without network namespaces, or without one of the programs."""
    missing = [program for program in ("ip", *programs) if shutil.which(program) is None]
    if missing:
        return pytest.mark.skip(f"not installed: {', '.join(missing)}")
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return pytest.mark.skip("needs root")
    probe = subprocess.run(["ip", "netns", "add", f"azl-probe-{os.getpid()}"], capture_output=True, check=False)
    subprocess.run(["ip", "netns", "del", f"azl-probe-{os.getpid()}"], capture_output=True, check=False)
    return pytest.mark.skipif(probe.returncode != 0, reason="no network namespaces here")


@contextmanager
def joined(names: Sequence[str], addresses: Sequence[str]) -> Iterator[None]:
    """Two namespaces with an address each (/24) on a pair of virtual interfaces; removed whatever happens."""

    def ip(*words: str, check: bool = True) -> None:
        subprocess.run(["ip", *words], capture_output=True, check=check)

    tag = os.getpid() % 100_000
    try:
        for name in names:
            ip("netns", "add", name)
        ends = [f"azl{tag}a", f"azl{tag}b"]
        ip("link", "add", ends[0], "netns", names[0], "type", "veth", "peer", "name", ends[1], "netns", names[1])
        for name, device, address in zip(names, ends, addresses, strict=True):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", device)
            ip("-n", name, "link", "set", device, "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield
    finally:
        for name in names:
            ip("netns", "del", name, check=False)
