"""``python -m benchmarks``: compare the CPU time of the project with that of another library.

Each row runs both in one process, alternately, and prints the ratio of the smallest CPU times and the goal. On a busy
machine a ratio varies by about ten per cent. The rows are kept in ``build/bench.json``, with the cost of logs of 1e3 to
1e6 lines, which ``build/bench.svg`` shows.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.results import COSTS, row, save
from benchmarks.statistics import cpu, peak_megabytes, statistics

FIXTURES = Path(__file__).parents[1] / "tests" / "fixtures"
PING_LINES, FPING_LINES, ROWS, SMALL_LOGS, JSON_FILES, TURNS = 1_000_000, 500_000, 2_000_000, 10_000, 100, 3
SIZES = (1_000, 10_000, 100_000, 1_000_000)
FULL_LOG_HEAD = (
    "test was performed using the following parameters: --mps=600000 --burst=1 --reply-every=1 --msg-size=14\n"
    "packet, txTime(sec), rxTime(sec), latency(usec)\n"
)
FULL_LOG_END = "-" * 30 + "\n"


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


def ping_log(folder: Path, lines: int) -> Path:
    """Write a ping log."""
    path = folder / f"ping-{lines}.log"
    generator = random.Random(1)
    with path.open("w") as stream:
        stream.write("PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n")
        for number in range(1, lines + 1):
            reply = f"64 bytes from 10.0.0.1: icmp_seq={number % 65536} ttl=64 time={0.2 + generator.random():.3f} ms\n"
            stream.write(reply)
    return path


def full_log_body(rows: int) -> str:
    """Return the rows of a sockperf full log."""
    return "".join(f"{i}, {2 + i * 1e-4:.9f}, {2 + i * 1e-4 + 5e-5:.9f}, 25.000\n" for i in range(rows))


def json_document(intervals: int) -> bytes:
    """Return the JSON of an iperf3 test with eight streams; 60 intervals are 200 kB."""
    ends = {"local_host": "10.0.0.1", "remote_host": "10.0.0.2", "remote_port": 5201}
    connected = [{"socket": 5 + 2 * i, "local_port": 40_000 + i, **ends} for i in range(8)]

    def total(start: float, end: float, size: int, **more: object) -> dict[str, object]:
        rate = {"seconds": end - start, "bytes": size, "bits_per_second": 8 * size / (end - start)}
        return {"start": start, "end": end, **rate, **more}

    more = {"retransmits": 3, "snd_cwnd": 774126, "snd_wnd": 3102464, "rtt": 1603, "rttvar": 63, "pmtu": 8950}
    rows = [
        {
            "streams": [
                {"socket": 5 + 2 * i, **total(k, k + 1.000068, 49_204_428 + i, **more, omitted=False, sender=True)}
                for i in range(8)
            ],
            "sum": total(k, k + 1.000068, 8 * 49_204_428 + 28, retransmits=24, omitted=False, sender=True),
        }
        for k in range(intervals)
    ]
    whole = total(0, intervals + 0.01, intervals * 393_635_452, sender=True)
    start = {
        "connected": connected, "version": "iperf 3.16", "timestamp": {"timesecs": 1710425103},
        "connecting_to": {"host": "10.0.0.2", "port": 5201},
        "test_start": {"protocol": "TCP", "num_streams": 8, "blksize": 131072, "omit": 0, "duration": intervals},
    }  # fmt: skip
    end = {"streams": [], "sum_sent": {**whole, "retransmits": 24}, "sum_received": whole}
    return json.dumps({"start": start, "intervals": rows, "end": end}, indent="\t").encode()


def iperf3_json() -> None:
    """Parse JSON of iperf3 with every interval and its line; compare with the standard library's decoder alone."""
    from azlatency.logs.decode import source_from_bytes
    from azlatency.logs.parse import parse_source

    raw = json_document(60)
    own, peer = both(
        lambda: [parse_source(source_from_bytes(raw, "a.json")) for _ in range(JSON_FILES)],
        lambda: [json.loads(raw) for _ in range(JSON_FILES)],
    )
    row(f"iperf3 JSON, {JSON_FILES} files of {len(raw) // 1000} kB", own, peer, "json.loads", "<= 1.5x")


def sizes(folder: Path) -> None:
    """Measure the cost of logs of rising size; it must grow in proportion."""
    import azlatency as az

    makers: dict[str, Callable[[int], str | bytes]] = {
        "ping, lines": lambda size: ping_log(folder, size).read_bytes(),
        "sockperf full log, rows": lambda size: (
            "packet, txTime(sec), rxTime(sec), latency(usec)\n" + full_log_body(size)
        ),
        "iperf3 JSON, rows of intervals": lambda size: json_document(size // 9),
    }
    path = folder / "sized.log"
    for kind, make in makers.items():
        COSTS[kind] = {}
        for size in SIZES[:-1] if "JSON" in kind else SIZES:  # a million rows of JSON are 400 MB
            content = make(size)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            COSTS[kind][size] = min(cpu(lambda: az.parse(path)) for _ in range(TURNS))
        shown = "   ".join(f"{size:.0e}: {seconds:.3f} s" for size, seconds in COSTS[kind].items())
        print(f"{kind:44} {shown}", flush=True)
    code = f"import azlatency as az; az.parse({str(ping_log(folder, PING_LINES))!r})"
    print(f"{'ping, 1e6 replies: peak memory':44} {peak_megabytes(code):8.0f} MB{'':59} goal <= 300 MB")


def ping(folder: Path) -> None:
    """Parse a ping log with a million replies; compare with a loop over one compiled regular expression."""
    import numpy  # noqa: F401
    import pyarrow.csv  # noqa: F401

    import azlatency as az

    path = ping_log(folder, PING_LINES)
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
    rows = full_log_body(ROWS)
    body.write_text(rows)
    path.write_text(FULL_LOG_HEAD + rows + FULL_LOG_END)
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
        iperf3_json()
        sizes(folder)
    statistics()
    save()


if __name__ == "__main__":
    main()
