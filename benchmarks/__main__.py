"""``python -m benchmarks``: CPU seconds of the project and of a peer, side by side; never a bare time.

Each row runs the code of the project and of the peer in one process, one after the other, and prints the ratio of CPU
times and the goal. A single run on a busy machine wavers by some ten per cent.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "tests" / "fixtures"
PING_LINES, ROWS, SMALL_LOGS = 1_000_000, 2_000_000, 2_000


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one call in this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def child(code: str) -> float:
    """CPU seconds of a fresh interpreter that runs ``code``."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(what: str, own: float, peer: float, against: str, goal: str) -> None:
    """Print one comparison: how many times the peer's cost, or how many times faster."""
    ratio = f"{own / peer:.2f}x its cost" if own >= peer else f"{peer / own:.1f}x faster"
    print(f"{what:44} {own:8.2f} s   {against:34} {peer:8.2f} s   {ratio:>16}   goal {goal}", flush=True)


def ping(folder: Path) -> None:
    """A ping log of a million replies against the compiled regular expression that everybody writes."""
    import azlatency as az

    path = folder / "ping.log"
    generator = random.Random(1)
    with path.open("w") as stream:
        stream.write("PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n")
        for number in range(1, PING_LINES + 1):
            reply = f"64 bytes from 10.0.0.1: icmp_seq={number % 65536} ttl=64 time={0.2 + generator.random():.3f} ms\n"
            stream.write(reply)
    pattern = re.compile(r"(\d+) bytes from (\S+): icmp_seq=(\d+) ttl=(\d+) time=([\d.]+) ms")

    def naive() -> list[float]:
        with path.open() as stream:
            return [float(match[5]) for line in stream if (match := pattern.match(line))]

    row("ping, 1e6 replies, every line accounted for", cpu(lambda: az.parse(path)), cpu(naive), "regex loop", "faster")


def full_log(folder: Path) -> None:
    """A sockperf full log, exact to the nanosecond, against pyarrow reading it as floats."""
    from pyarrow import csv

    import azlatency as az

    path, body = folder / "full.csv", folder / "body.csv"
    lines = [f"{i}, {2 + i * 1e-4:.9f}, {2 + i * 1e-4 + 5e-5:.9f}, 25.000\n" for i in range(ROWS)]
    head = "test was performed using the following parameters: --mps=600000 --burst=1 --reply-every=1 --msg-size=14\n"
    body.write_text("".join(lines))
    path.write_text(head + "packet, txTime(sec), rxTime(sec), latency(usec)\n" + "".join(lines) + "-" * 30 + "\n")
    own, peer = cpu(lambda: az.parse(path)), cpu(lambda: csv.read_csv(body))
    row("sockperf full log, 2e6 rows, exact", own, peer, "pyarrow.csv, floats", "<= 1.5x")


def small_logs() -> None:
    """Many small logs of all tools: CPU of each, and of reading them with one regular expression a line."""
    from azlatency.decode import source_from_bytes
    from azlatency.reader import parse_source

    logs = [path.read_bytes() for path in sorted(FIXTURES.glob("*/*")) if path.is_file()]
    logs = [raw for raw in logs if len(raw) <= 5_000 and not raw.lstrip().startswith(b'{\n "runs"')]
    many = [logs[index % len(logs)] for index in range(SMALL_LOGS)]
    number = re.compile(r"([\d.]+) ?(us|ms|usec|sec|Gbits/sec|Gbps)")
    own = cpu(lambda: [parse_source(source_from_bytes(raw, "x")) for raw in many])
    peer = cpu(lambda: [number.findall(line) for raw in many for line in raw.decode("latin-1").splitlines()])
    row(f"{SMALL_LOGS} small logs, parse only", own, peer, "one regex a line", "<= 0.5 ms a log")
    print(f"{'':44} {own / SMALL_LOGS * 1e3:8.3f} ms CPU a log")


def imports(folder: Path) -> None:
    """The import of all studies, and again when nothing changed."""
    from azlatency.dataset import import_study, studies

    first = cpu(lambda: [import_study(name, out=folder / "out") for name in studies()])
    again = cpu(lambda: [import_study(name, out=folder / "out") for name in studies()])
    print(f"{'re-import of unchanged studies':44} {again:8.2f} s   {'first import':34} {first:8.2f} s   "
          f"{100 * again / first:13.0f} %   goal <= 10 %")  # fmt: skip


def start() -> None:
    """What `import azlatency` and ``--help`` cost."""
    own, peer = child("import azlatency"), child("import numpy")
    row("import azlatency", own, peer, "import numpy", "<= 1.3x")
    quiet = "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n    "
    help_ = child(quiet + "from azlatency.cli import app; app(['--help'], standalone_mode=False)")
    row("azlatency --help", help_, peer, "import numpy", "without pandas")


def main() -> None:
    """All rows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start()
        small_logs()
        imports(folder)
        ping(folder)
        full_log(folder)


if __name__ == "__main__":
    main()
