"""``python -m benchmarks``: compare the CPU time of the project with that of another library.

Each row runs both in one process, alternately, and prints the ratio of the smallest CPU times and the goal. On a busy
machine a ratio varies by about ten per cent.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.statistics import cpu, statistics

FIXTURES = Path(__file__).parents[1] / "tests" / "fixtures"
PING_LINES, FPING_LINES, ROWS, SMALL_LOGS, TURNS = 1_000_000, 500_000, 2_000_000, 10_000, 3


def both(own: Callable[[], object], peer: Callable[[], object], turns: int = TURNS) -> tuple[float, float]:
    """Run both functions alternately; return the smallest CPU time of each in seconds."""
    times = [(cpu(own), cpu(peer)) for _ in range(turns)]
    return min(own for own, _ in times), min(peer for _, peer in times)


def child(code: str) -> float:
    """Return the CPU seconds of a new interpreter that runs ``code``."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(what: str, own: float, peer: float, against: str, goal: str) -> None:
    """Print one comparison with the ratio of the CPU times."""
    ratio = f"{own / peer:.2f}x its cost" if own >= peer else f"{peer / own:.1f}x faster"
    print(f"{what:44} {own:8.2f} s   {against:34} {peer:8.2f} s   {ratio:>16}   goal {goal}", flush=True)


def ping(folder: Path) -> None:
    """Parse a ping log with a million replies; compare with a loop over one compiled regular expression."""
    import numpy  # noqa: F401
    import pyarrow.csv  # noqa: F401

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

    own, peer = both(lambda: az.parse(path), naive)
    row("ping, 1e6 replies, every line accounted for", own, peer, "regex loop", "faster")


def fping(folder: Path) -> None:
    """Parse an fping log; compare as in `ping`."""
    import azlatency as az

    path = folder / "fping.log"
    generator = random.Random(1)
    with path.open("w") as stream:
        for number in range(FPING_LINES):
            stream.write(
                f"10.0.0.1 : [{number}], 64 bytes, {0.2 + generator.random() / 2:.3f} ms (0.450 avg, 0% loss)\n"
            )
        stream.write(f"\n10.0.0.1 : xmt/rcv/%loss = {FPING_LINES}/{FPING_LINES}/0%, min/avg/max = 0.200/0.450/0.700\n")
    pattern = re.compile(r"(\S+) +: \[(\d+)\], (\d+) bytes, ([\d.]+) ms")

    def naive() -> list[float]:
        with path.open() as stream:
            return [float(match[4]) for line in stream if (match := pattern.match(line))]

    own, peer = both(lambda: az.parse(path), naive)
    row("fping, 5e5 replies, every line accounted for", own, peer, "regex loop", "faster")


def full_log(folder: Path) -> None:
    """Parse a sockperf full log, exact to the nanosecond; compare with pyarrow, which reads floats."""
    from pyarrow import csv

    import azlatency as az

    path, body = folder / "full.csv", folder / "body.csv"
    lines = [f"{i}, {2 + i * 1e-4:.9f}, {2 + i * 1e-4 + 5e-5:.9f}, 25.000\n" for i in range(ROWS)]
    head = "test was performed using the following parameters: --mps=600000 --burst=1 --reply-every=1 --msg-size=14\n"
    body.write_text("".join(lines))
    path.write_text(head + "packet, txTime(sec), rxTime(sec), latency(usec)\n" + "".join(lines) + "-" * 30 + "\n")
    own, peer = both(lambda: az.parse(path), lambda: csv.read_csv(body))
    row("sockperf full log, 2e6 rows, exact", own, peer, "pyarrow.csv, floats", "<= 1.5x")


def small_logs() -> None:
    """Parse many small logs of all tools; compare with one regular expression per line."""
    from azlatency.logs.decode import source_from_bytes
    from azlatency.logs.parse import parse_source

    def parse(logs: list[bytes]) -> None:
        for raw in logs:
            parse_source(source_from_bytes(raw, "x"))

    logs_by_tool: dict[str, list[bytes]] = {}
    for path in sorted(FIXTURES.glob("*/*")):
        if path.stat().st_size <= 5_000 and not path.name.endswith((".expected.json", ".md", ".gz")):
            logs_by_tool.setdefault(path.parent.name, []).append(path.read_bytes())
    logs = [raw for tool_logs in logs_by_tool.values() for raw in tool_logs]
    parse(logs)
    many = [logs[index % len(logs)] for index in range(SMALL_LOGS)]
    number = re.compile(r"([\d.]+) ?(us|ms|usec|sec|Gbits/sec|Gbps)")
    own, peer = both(
        lambda: parse(many),
        lambda: [number.findall(line) for raw in many for line in raw.decode("latin-1").splitlines()],
        turns=1,  # the number of logs already averages
    )
    row(f"{SMALL_LOGS} small logs, parse only", own, peer, "one regex per line", "<= 0.5 ms per log")
    print(f"{'':44} {own / SMALL_LOGS * 1e3:8.3f} ms CPU per log, by tool:")
    for tool, tool_logs in logs_by_tool.items():
        times = max(200 // len(tool_logs), 1)
        least = min(cpu(lambda tool_logs=tool_logs, times=times: parse(tool_logs * times)) for _ in range(TURNS))
        print(f"{'':34} {tool:9} {least / times / len(tool_logs) * 1e3:8.3f}")


def imports(folder: Path) -> None:
    """Import all studies, then import them again without changes."""
    from azlatency.studies.importer import import_study
    from azlatency.studies.store import list_studies

    first = cpu(lambda: [import_study(name, out=folder / "out") for name in list_studies()])
    again = cpu(lambda: [import_study(name, out=folder / "out") for name in list_studies()])
    print(f"{'re-import of unchanged studies':44} {again:8.2f} s   {'first import':34} {first:8.2f} s   "
          f"{100 * again / first:13.0f} %   goal <= 10 %")  # fmt: skip


def start() -> None:
    """Measure `import azlatency` and ``--help``."""
    own, peer = child("import azlatency"), child("import numpy")
    row("import azlatency", own, peer, "import numpy", "<= 1.3x")
    quiet = "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n    "
    help_ = child(quiet + "from azlatency.cli import app; app(['--help'], standalone_mode=False)")
    row("azlatency --help", help_, peer, "import numpy", "without pandas")


def main() -> None:
    """Run all benchmarks."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start()
        small_logs()
        imports(folder)
        ping(folder)
        fping(folder)
        full_log(folder)
    statistics()


if __name__ == "__main__":
    main()
