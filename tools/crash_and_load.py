"""Measure the cost of many logs, and kill imports and reports at random moments: ``make load``.

    python tools/crash_and_load.py [--logs 10000] [--runs 1000] [--kills 30] [--report-kills 8] [--seed 1]

Prints the CPU time of importing ``--logs`` logs of ping, of importing them again, and of a report of ``--runs`` logs,
with the size of that report. Then it kills imports and reports, and ends with an error if tables cannot be read, a site
is not the one before, or anything is left behind. All files are in a temporary folder.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

from azlatency.studies.store.study import load

_ROOT = Path(__file__).parents[1]
_LOG = """\
PING 10.0.0.4 (10.0.0.4) 56(84) bytes of data.
64 bytes from 10.0.0.4: icmp_seq=1 ttl=64 time={low:.3f} ms
64 bytes from 10.0.0.4: icmp_seq=2 ttl=64 time={high:.3f} ms

--- 10.0.0.4 ping statistics ---
2 packets transmitted, 2 received, 0% packet loss, time 1001ms
rtt min/avg/max/mdev = {low:.3f}/{mean:.3f}/{high:.3f}/{deviation:.3f} ms
"""


def write_logs(folder: Path, count: int) -> None:
    """Write logs of ping that are all different, each with two replies."""
    folder.mkdir(parents=True)
    for number in range(count):
        low, half = 0.3 + number % 100 / 1e3, 0.001 + number // 100 / 1e3
        values = {"low": low, "mean": low + half, "high": low + 2 * half, "deviation": half}
        (folder / f"{number:06}.log").write_text(_LOG.format(**values), "utf-8")


def start(data: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a command of azlatency on a folder of data."""
    environment = {**os.environ, "AZLATENCY_DATA": str(data)}
    command = [sys.executable, "-m", "azlatency", *arguments]
    return subprocess.Popen(command, cwd=_ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def seconds(data: Path, *arguments: str) -> float:
    """Run a command; return its CPU time, with that of the processes it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if start(data, *arguments).wait():
        sys.exit(f"azlatency {' '.join(arguments)} failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def kill(data: Path, latest: float, *arguments: str) -> bool:
    """Run a command and kill it at a random moment; return whether it had not ended."""
    process = start(data, *arguments)
    time.sleep(random.uniform(0, latest))
    process.kill()
    return bool(process.wait())


def digests(folder: Path) -> dict[str, str]:
    """Return the hash of each file, apart from hidden ones."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return {str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() for path in files}


def load_figures(folder: Path, logs: int, runs: int) -> None:
    """Print the cost of many logs."""
    write_logs(folder / "raw" / "many", logs)
    print(f"import of {logs:,} logs: {seconds(folder, 'import', '--study', 'many'):.1f} s of CPU")
    print(f"again: {seconds(folder, 'import', '--study', 'many'):.1f} s of CPU")
    write_logs(folder / "raw" / "some", runs)
    seconds(folder, "import", "--study", "some")
    site = folder / "site"
    print(f"report of {runs:,} logs: {seconds(folder, 'report', '--study', 'some', '--out', str(site)):.1f} s of CPU")
    sizes = [path.stat().st_size for path in site.rglob("*") if path.is_file()]
    print(f"its size: {sum(sizes) / 1e6:.1f} MB in {len(sizes)} files")


def kill_imports(folder: Path, times: int, logs: int = 300) -> None:
    """Kill imports of changed logs; the tables must be the old ones or the new ones, and nothing is left at the end."""
    write_logs(folder / "raw" / "killed", logs)
    latest = 2 * seconds(folder, "import", "--study", "killed")
    for number in range(times):
        (folder / "raw" / "killed" / "000000.log").write_text(
            _LOG.format(low=1, mean=1 + number, high=1 + 2 * number, deviation=number), "utf-8"
        )
        kill(folder, latest, "import", "--study", "killed")
        if len(load("killed", processed=folder / "processed").runs) != logs:
            sys.exit(f"kill {number + 1}: the tables are not whole")
    seconds(folder, "import", "--study", "killed")
    left = [path.name for path in (folder / "processed").iterdir() if path.name != "killed"]
    sys.exit(f"left behind: {left}") if left else print(f"{times} imports killed: tables whole, nothing left behind")


def kill_reports(folder: Path, times: int) -> None:
    """Kill reports; the old site must stay as it was."""
    write_logs(folder / "raw" / "reported", 10)
    seconds(folder, "import", "--study", "reported")
    arguments = ("report", "--study", "reported", "--out", str(folder / "out" / "site"))
    began = time.monotonic()
    seconds(folder, *arguments)
    latest, before = time.monotonic() - began, digests(folder / "out" / "site")
    for number in range(times):
        (folder / "raw" / "reported" / "study.toml").write_text(f'[study]\ntitle = "Title {number}"\n', "utf-8")
        was_killed, after = kill(folder, latest, *arguments), digests(folder / "out" / "site")
        if was_killed and after != before:
            sys.exit(f"kill {number + 1}: the site has changed")
        before = after
    seconds(folder, *arguments)
    left = [path.name for path in (folder / "out").iterdir() if path.name != "site"]
    sys.exit(f"left behind: {left}") if left else print(f"{times} reports killed: the old site stayed, nothing left")


def main() -> None:
    """Measure, then kill."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("logs", 10_000), ("runs", 1000), ("kills", 30), ("report-kills", 8), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    random.seed(options.seed)
    for work in (
        lambda folder: load_figures(folder, options.logs, options.runs),
        lambda folder: kill_imports(folder, options.kills),
        lambda folder: kill_reports(folder, options.report_kills),
    ):
        with tempfile.TemporaryDirectory() as folder:
            work(Path(folder))


if __name__ == "__main__":
    main()
