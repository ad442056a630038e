"""``python -m benchmarks``: compare the CPU time of the project with that of another library.

Each row runs both alternately, in one process or in one new process each, and prints the ratio of the medians and the
goal. On a busy machine a ratio varies by about ten per cent. The rows are kept in ``build/bench.json``, with the cost
of data of 1e3 to 1e7 lines or values, which ``build/bench.svg`` shows. Names of parts (`PARTS`) run only these.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.cluster import cluster
from benchmarks.logs import FIXTURES, fixture_documents, fixture_logs, many_logs
from benchmarks.results import COSTS, keep, pair, print_changes, value, write
from benchmarks.statistics import cpu, peak_megabytes, statistics

PING_LINES, FPING_LINES, FULL_LOG_ROWS, SMALL_LOGS = 1_000_000, 500_000, 2_000_000, 10_000
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
FULL_LOG_HEAD = (
    "test was performed using the following parameters: --mps=600000 --burst=1 --reply-every=1 --msg-size=14\n"
    "packet, txTime(sec), rxTime(sec), latency(usec)\n"
)
FULL_LOG_END = "-" * 30 + "\n"
#: Prints the CPU seconds in which the JSON logs of a tool are parsed for the first time, without imports.
DECODE_ONCE = """
import sys
from benchmarks.__main__ import cpu, fixture_documents, parse
from azlatency.logs.parsers import load_parsers
load_parsers()
logs = fixture_documents()[sys.argv[1]]
print(cpu(lambda: parse(logs)))
"""
#: Prints the CPU seconds of the first parse of every small log, without reading them and `import azlatency`.
PARSE_ONCE = """
from benchmarks.__main__ import cpu, fixture_logs, parse
import azlatency
logs = [raw for tool_logs in fixture_logs().values() for raw in tool_logs]
print(cpu(lambda: parse(logs)))
"""


def child(code: str) -> float:
    """Return the CPU seconds of a new interpreter that runs ``code``."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
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


def json_logs(folder: Path) -> None:
    """Parse the real JSON logs of each tool repeatedly, and once in a new process; compare with a decoder alone."""
    for tool, logs in fixture_documents().items():
        what = f"{tool} JSON, {len(logs)} real logs of {sum(map(len, logs)) // len(logs) / 1000:.1f} kB"
        times = max(2_000_000 // sum(map(len, logs)), 1)
        pair(
            f"{what}, repeated",
            lambda logs=logs, times=times: cpu(lambda: parse(logs * times)),
            {"json.loads": lambda logs=logs, times=times: cpu(lambda: [json.loads(raw) for raw in logs * times])},
            turns=3,
        )
        once = min(float(subprocess.check_output([sys.executable, "-c", DECODE_ONCE, tool])) for _ in range(3))
        value(f"{what}, once in a new process: CPU per log", once / len(logs) * 1e3, "ms")


def echo(folder: Path) -> None:
    """Parse real CSV files of echo_test, exact to the nanosecond; csv and pandas read floats."""
    import csv

    import pandas as pd

    import azlatency as az

    paths = sorted(FIXTURES.parents[1].glob("data/raw/emulated-zones/echo_long/*/*.csv"))

    def rows() -> None:
        for path in paths:
            with path.open(newline="") as stream:
                [float(row["rtt_us"]) for row in csv.DictReader(stream)]

    pair(
        f"echo_test CSV, {len(paths)} real logs of {paths[0].stat().st_size // 1000} kB",
        lambda: cpu(lambda: az.parse(*paths)),
        {
            "csv.DictReader, one column": lambda: cpu(rows),
            "pandas.read_csv": lambda: cpu(lambda: [pd.read_csv(path) for path in paths]),
        },
        turns=3,
    )


def ping(folder: Path) -> None:
    """Parse a synthetic ping log with a million replies; no real log of the tests is as long."""
    import polars as pl
    import pyarrow.compute as pc
    from pyarrow import csv

    import azlatency as az

    path = ping_log(folder, PING_LINES)
    pattern = re.compile(r"(\d+) bytes from (\S+): icmp_seq=(\d+) ttl=(\d+) time=([\d.]+) ms")

    def loop() -> None:
        with path.open() as stream:
            [float(match[5]) for line in stream if (match := pattern.match(line))]

    def arrow() -> None:
        options = csv.ReadOptions(column_names=["line"], skip_rows=1)
        lines = csv.read_csv(path, options, csv.ParseOptions(delimiter="\x01"))["line"]
        for part in (4, 6):
            text = pc.list_element(pc.split_pattern(lines, " "), part)
            pc.cast(pc.utf8_slice_codeunits(text, 9 if part == 4 else 5, None), "float64")

    def split() -> None:
        frame = pl.scan_csv(
            path, has_header=False, separator="\x01", skip_lines=1, quote_char=None, new_columns=["line"]
        )
        words = pl.col("line").str.split(" ")
        numbers = [
            words.list.get(at).str.slice(start).cast(pl.Float64).alias(name)
            for name, at, start in (("seq", 4, 9), ("time", 6, 5))
        ]
        frame.select(numbers).collect(engine="streaming")

    peers = {"regex loop, times only": loop, "pyarrow compute, split": arrow, "polars, split": split}
    pair(
        "synthetic ping log, 1e6 replies, every line accounted for",
        lambda: cpu(lambda: az.parse(path)),
        {name: lambda peer=peer: cpu(peer) for name, peer in peers.items()},
        [1.0],
        turns=3,
    )
    whole = f"import azlatency as az; az.import_study('x', [{str(path)!r}], out={str(folder / 'whole')!r})"
    # Its parser "ping" counts each sequence number in the list of all, so 1e6 replies would take it hours.
    jc = f"import jc; list(jc.parse('ping_s', open({str(path)!r})))"
    seconds = child(whole.replace("'x'", "'timed'"))
    keep(
        "synthetic ping log, 1e6 replies, to Parquet, whole process",
        [seconds],
        "jc, ping_s, whole process",
        [child(jc)],
        1 / 7,
    )
    value("synthetic ping log, 1e6 replies, to Parquet: peak memory", peak_megabytes(whole), "MB", 300)
    large = ping_log(folder, 10 * PING_LINES)
    ten = whole.replace(str(path), str(large)).replace("'x'", "'ten'")
    value("synthetic ping log, 1e7 replies, to Parquet: peak memory", peak_megabytes(ten), "MB", 300)
    with zipfile.ZipFile(folder / "ping.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.write(large, "ping.log")
    packed = whole.replace(str(path), str(folder / "ping.zip")).replace("'x'", "'zip'")
    value(
        "synthetic ping log, 1e7 replies in a zip archive, to Parquet: peak memory", peak_megabytes(packed), "MB", 300
    )


def fping(folder: Path) -> None:
    """Parse a synthetic fping log; compare as in `ping`."""
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

    def loop() -> None:
        with path.open() as stream:
            [float(match[4]) for line in stream if (match := pattern.match(line))]

    pair(
        "synthetic fping log, 5e5 replies, every line accounted for",
        lambda: cpu(lambda: az.parse(path)),
        {"regex loop, times only": lambda: cpu(loop)},
        [1.0],
        turns=3,
    )


def full_log(folder: Path) -> None:
    """Parse a synthetic sockperf full log, exact to the nanosecond; pyarrow and pandas read floats."""
    import pandas as pd
    from pyarrow import csv

    import azlatency as az

    path, body = folder / "full.csv", folder / "body.csv"
    rows = full_log_body(FULL_LOG_ROWS)
    body.write_text(rows)
    path.write_text(FULL_LOG_HEAD + rows + FULL_LOG_END)
    pair(
        "synthetic sockperf full log, 2e6 rows, exact",
        lambda: cpu(lambda: az.parse(path)),
        {
            "pyarrow.csv, floats": lambda: cpu(lambda: csv.read_csv(body)),
            "pandas.read_csv, floats": lambda: cpu(lambda: pd.read_csv(body, header=None)),
        },
        [1.0],
        turns=3,
    )
    code = f"import azlatency as az; az.import_study('full', [{str(path)!r}], out={str(folder / 'full')!r})"
    value("synthetic sockperf full log, 2e6 rows, to Parquet: peak memory", peak_megabytes(code), "MB", 300)


def parse(logs: list[bytes]) -> None:
    """Parse small logs."""
    from azlatency.logs.parse import parse_source
    from azlatency.logs.source.decode import source_from_bytes

    for raw in logs:
        parse_source(source_from_bytes(raw, "x"))


def small_logs(folder: Path) -> None:
    """Parse and import many small logs of all tools."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context
    from time import perf_counter, sleep

    import pandas as pd

    from azlatency.studies.imports.importer import import_study

    logs_by_tool = fixture_logs()
    logs = [raw for tool_logs in logs_by_tool.values() for raw in tool_logs]
    *many, another = many_logs(SMALL_LOGS + 1)
    number = re.compile(r"([\d.]+) ?(us|ms|usec|sec|Gbits/sec|Gbps)")
    texts = [raw.decode("latin-1") for raw in many]

    def lines() -> None:
        for text in texts:
            for line in text.splitlines():
                number.findall(line)

    def frames() -> None:
        for text in texts[: SMALL_LOGS // 10]:
            pd.DataFrame(
                {"line": text.splitlines(), "number": [str(number.findall(line)) for line in text.splitlines()]}
            )

    pair(
        f"{SMALL_LOGS:,} small logs of all tools, parse only",
        lambda: cpu(lambda: parse(many)),
        {"one regex per line": lambda: cpu(lines), "a DataFrame per file (a tenth, scaled)": lambda: 10 * cpu(frames)},
        [None, None],
        turns=3,
    )
    for tool, tool_logs in logs_by_tool.items():
        times = max(100 // len(tool_logs), 1)
        least = min(cpu(lambda tool_logs=tool_logs, times=times: parse(tool_logs * times)) for _ in range(3))
        value(f"a small log of {tool}: CPU", least / times / len(tool_logs) * 1e3, "ms", 0.5)
    once = min(float(subprocess.check_output([sys.executable, "-c", PARSE_ONCE])) for _ in range(3))
    value("each of the different small logs once, in a new process: CPU per log", once / len(logs) * 1e3, "ms")
    value("a small log, all tools: CPU", min(cpu(lambda: parse(many)) for _ in range(2)) / SMALL_LOGS * 1e3, "ms")
    source = folder / "small"
    source.mkdir()
    for index, raw in enumerate(many):
        (source / f"{index:05}.log").write_bytes(raw)

    def imported(name: str = "small", **options: object) -> float:
        return cpu(lambda: import_study(name, [source], out=folder / "out", **options))

    first = imported()
    value(f"import of {SMALL_LOGS:,} small logs to Parquet: CPU per log", first / SMALL_LOGS * 1e3, "ms", 0.6)
    value("import again, nothing changed", 100 * imported() / first, "% of the first import", 10)
    (source / "new.log").write_bytes(another)
    value("import again, one log added", 100 * imported() / first, "% of the first import", 10)
    (source / "study.toml").write_text('[study]\nregion = "westeurope"\n')
    value("import again, a line of study.toml changed", 100 * imported() / first, "% of the first import", 10)
    few = folder / "few"
    few.mkdir()
    for index, raw in enumerate(many[:1_000]):
        (few / f"{index:05}.log").write_bytes(raw)
    import_study("few", [few], out=folder / "out")
    (few / "study.toml").write_text('[study]\nregion = "westeurope"\n')
    edited = cpu(lambda: import_study("few", [few], out=folder / "out"))
    value("import of 1,000 logs again, a line of study.toml changed: CPU", edited, "s", 0.5)

    def wall(**options: object) -> float:
        begin = perf_counter()
        import_study("wall", [source], out=folder / f"wall-{perf_counter()}", **options)
        return perf_counter() - begin

    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        list(executor.map(sleep, [0.5, 0.5]))  # starts the workers
        pair(
            "import of small logs by two processes, wall time",
            lambda: wall(executor=executor),
            {"by one process": wall},
            [1.0],
            turns=3,
        )


def check(folder: Path) -> None:
    """Check a folder of logs on the command line; the time must grow in proportion."""
    logs = many_logs(2_000)
    seconds = {}
    for count in (1_000, 2_000):
        source = folder / f"check-{count}"
        source.mkdir()
        for index, raw in enumerate(logs[:count]):
            (source / f"{index:05}.log").write_bytes(raw)
        command = f"from azlatency.cli import app; app(['check', {str(source)!r}], standalone_mode=False)"
        seconds[count] = child(command)
    parse = child(f"import azlatency as az; az.parse({str(folder / 'check-2000')!r})")
    keep("azlatency check of 2,000 logs", [seconds[2_000]], "az.parse of the same", [parse], 1.5)
    value("azlatency check, 2,000 over 1,000 logs", seconds[2_000] / seconds[1_000], "times the CPU", 2.2)


def sizes(folder: Path) -> None:
    """Measure the cost of logs of rising size; it must grow in proportion."""
    import azlatency as az

    def full(size: int) -> Path:
        path = folder / "sized.csv"
        path.write_text(FULL_LOG_HEAD + full_log_body(size) + FULL_LOG_END)
        return path

    makers: dict[str, Callable[[int], Path]] = {
        "synthetic ping log, lines": lambda size: ping_log(folder, size),
        "synthetic sockperf full log, rows": full,
    }
    for kind, make in makers.items():
        COSTS[kind] = {}
        for size in SIZES:
            path = make(size)
            COSTS[kind][size] = min(cpu(lambda path=path: az.parse(path)) for _ in range(3 if size < 10**6 else 1))
        value(f"{kind}: 1e7 over 1e6", COSTS[kind][10**7] / COSTS[kind][10**6], "times the CPU", 12)


def start(folder: Path) -> None:
    """Measure `import azlatency` and ``--help``."""
    numpy = {"import numpy": lambda: child("import numpy")}
    pair("import azlatency", lambda: child("import azlatency"), numpy, [1.3])
    code = "from azlatency.cli import app; app(['--help'], standalone_mode=False)"
    pair("azlatency --help", lambda: child(code), numpy)


def report(folder: Path) -> None:
    """Build the report of two studies; compare with the code of its notebooks as one script."""
    import nbformat

    names = ("emulated-zones", "westeurope-azure-cni")
    code = ["import matplotlib, os", "matplotlib.use('agg')", "get = lambda value: None", f"os.chdir({str(folder)!r})"]
    for name in names:
        for path in sorted((FIXTURES.parents[1] / "notebooks").glob("*.ipynb")):
            for cell in nbformat.read(path, 4).cells:
                if cell.cell_type == "code":
                    # A notebook shows the value of the last line.
                    code.append(cell.source)
                    if "parameters" in cell.metadata.get("tags", []):
                        code.append(f"study = {name!r}")
    script = folder / "script.py"
    script.write_text("\n".join(code))
    os.environ["AZLATENCY_DATA"] = str(FIXTURES.parents[1] / "data")
    out = f"'report', '--force', '--out', {str(folder / 'site')!r}"
    site = f"from azlatency.cli import app; app([{out}, {', '.join(f'{w!r}' for n in names for w in ('--study', n))}])"
    keep(
        "report of two studies, executed and rendered",
        [child(site)],
        "the notebooks' code as one script",
        [child(f"exec(compile(open({str(script)!r}).read(), 'script', 'exec'))")],
        2.0,
    )


PARTS = (start, small_logs, check, json_logs, echo, full_log, fping, ping, statistics, cluster, report, sizes)


def main(names: list[str]) -> None:
    """Run the benchmarks of these names, by default all."""
    for part in PARTS:
        if not names or part.__name__ in names:
            with tempfile.TemporaryDirectory() as folder:
                part(Path(folder))
            write()
    print_changes()


if __name__ == "__main__":
    main(sys.argv[1:])
