"""Run the installed tools between two network namespaces and parse their output: ``make fixtures`` (needs root, Linux).

If a new version of a tool prints something new, it is reported as an unknown line. Traffic stays inside the two
namespaces that this script creates and removes. Tools that are not installed are listed and skipped. Without root or
network namespaces, nothing runs and the exit code is 0.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import azlatency as az

CLIENT, SERVER = "azlatency-client", "azlatency-server"
ADDRESS = {CLIENT: "10.231.7.1", SERVER: "10.231.7.2"}
#: (expected tool, command in the namespace of the client, server to start first, extension of the output file)
RUNS = [
    ("ping", "ping -c 5 -i 0.2 {server}", "", "log"),
    ("ping", "ping -D -O -q -c 5 -i 0.2 {server}", "", "log"),
    ("fping", "fping -c 5 -p 50 {server}", "", "log"),
    ("fping", "fping -C 5 -q -p 50 {server}", "", "log"),
    ("sockperf", "sockperf ping-pong -i {server} --tcp -t 1 -p 12345", "sockperf server --tcp -p 12345", "log"),
    ("sockperf", "sockperf ping-pong -i {server} -t 1 -p 12346 --full-rtt", "sockperf server -p 12346", "log"),
    ("sockperf", "sockperf under-load -i {server} -t 1 -p 12347 --mps 2000", "sockperf server -p 12347", "log"),
    ("sockperf", "sockperf throughput -i {server} -t 1 -p 12348 -m 1400", "sockperf server -p 12348", "log"),
    ("qperf", "qperf {server} -t 1 -vvs tcp_bw tcp_lat udp_lat", "qperf", "log"),
    ("iperf3", "iperf3 -c {server} -t 2 -O 1 -p 5201", "iperf3 -s -1 -p 5201", "log"),
    ("iperf3", "iperf3 -c {server} -t 1 -J -P 2 -p 5202", "iperf3 -s -1 -p 5202", "json"),
    ("iperf3", "iperf3 -c {server} -t 1 -u -b 20M -p 5203", "iperf3 -s -1 -p 5203", "log"),
    ("fio", "fio --name=x --filename={folder}/x --rw=randread --bs=4k --size=4M --runtime=1 --time_based", "", "log"),
    ("fio", "fio --name=x --filename={folder}/x --rw=randwrite --bs=4k --size=4M --output-format=json", "", "json"),
    ("iostat", "iostat -x -t 1 2", "", "log"),
]


def sh(*words: str, check: bool = True) -> subprocess.CompletedProcess[bytes]:
    """Run a command and capture its output."""
    return subprocess.run(words, check=check, capture_output=True)


@contextmanager
def namespaces() -> Iterator[None]:
    """Create two namespaces connected by a pair of virtual interfaces; remove them at the end."""
    try:
        for name in (CLIENT, SERVER):
            sh("ip", "netns", "add", name)
        sh("ip", "link", "add", "azl0", "netns", CLIENT, "type", "veth", "peer", "name", "azl1", "netns", SERVER)
        for name, device in ((CLIENT, "azl0"), (SERVER, "azl1")):
            sh("ip", "-n", name, "addr", "add", f"{ADDRESS[name]}/24", "dev", device)
            sh("ip", "-n", name, "link", "set", device, "up")
            sh("ip", "-n", name, "link", "set", "lo", "up")
        yield
    finally:
        for name in (CLIENT, SERVER):
            sh("ip", "netns", "del", name, check=False)


def run(command: str, server: str, output: Path) -> None:
    """Run one tool from the client to the server; write standard output and standard error to one file."""
    inside = ["ip", "netns", "exec"]
    daemon = None
    if server:
        words = [*inside, SERVER, *server.split()]
        daemon = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
    try:
        with output.open("wb") as stream:
            filled = command.format(server=ADDRESS[SERVER], folder=output.parent)
            words = [*inside, CLIENT, *filled.split()]
            environment = {**os.environ, "LC_ALL": "C"}
            subprocess.run(words, stdout=stream, stderr=subprocess.STDOUT, timeout=60, check=False, env=environment)
    finally:
        if daemon is not None:
            daemon.kill()
            daemon.wait()


def check_output(tool: str, output: Path) -> str:
    """Return what is wrong with the parsed output; empty if everything was read."""
    tables = az.parse(output)
    (source,) = tables.rows["sources"]
    runs = tables.rows["runs"]
    if not runs or {row["tool"] for row in runs} != {tool}:
        return f"recognised as {[row['tool'] for row in runs]}"
    if source["lines_unknown"]:
        line = next(row for row in tables.rows["events"] if row["code"] == "unknown_line")
        return f"{source['lines_unknown']} unknown lines, the first is {line['line']}: {line['text']}"
    if any(row["status"] not in ("complete",) for row in runs):
        return f"status {[row['status'] for row in runs]}"
    return "; ".join(tables.errors())


def main() -> int:
    """Run all installed tools; return 1 if any output was not read completely."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        print("this script needs root and the command ip; nothing was run")
        return 0
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            with namespaces():
                for index, (tool, command, server, extension) in enumerate(RUNS):
                    if shutil.which(command.split()[0]) is None:
                        print(f"not installed  {command}")
                        continue
                    output = Path(folder) / f"{index:02d}.{extension}"
                    run(command, server, output)
                    problem = check_output(tool, output)
                    failures += bool(problem)
                    print(f"{'FAILED' if problem else 'ok':13}  {command}{': ' + problem if problem else ''}")
        except subprocess.CalledProcessError as error:
            print(f"network namespaces are not available ({error.stderr.decode().strip()}); nothing was run")
            return 0
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
