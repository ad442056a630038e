"""Measure a study on emulated zones: real tools between namespaces that a delay hub connects (root, two cores).

    python tools/rig/measure.py tools/rig/emulated-zones.toml data/raw/emulated-zones

The hub polls on core 0 and the tools run on core 1, all with real-time priority, because a process that sleeps wakes up
late. During a run nothing else gets a core; between runs the machine pauses. The order of the paths is random in every
round. The script writes the logs, ``runs.csv`` and ``truth.json``: the configured links, and for each run what the hub
recorded in that run. Traffic stays inside the namespaces.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RIG = Path(__file__).parent
LINK = ("base_us", "jitter_median_us", "jitter_sigma", "spike_probability", "spike_scale_us", "spike_shape",
        "spike_cap_us", "rate_mbit_s", "queue_kb")  # fmt: skip
COLUMNS = ("log", "scenario", "zone", "physical_zone", "peer_zone", "peer_physical_zone", "placement", "repeat",
           "round", "protocol", "message_bytes", "started_at", "notes")  # fmt: skip
ECHO_SERVER = """
import socketserver
class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(65536): self.request.sendall(data)
socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer(("0.0.0.0", 7777), Echo).serve_forever()
"""
#: Prints the time before the output of a command: two runs of qperf may print the same bytes.
STAMPED = 'date -u +%Y-%m-%dT%H:%M:%S.%NZ; exec "$@"\n'
#: Command of each client; that of its server, if it needs one; name of the log; what the log does not print.
TOOLS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "sockperf": ("sockperf ping-pong --tcp -i {address} -p 11111 -t 1", "sockperf server --tcp -i 0.0.0.0 -p 11111",
                 "pp_tcp_r{round}.txt", {"message_bytes": 14}),
    "qperf": ("sh {stamped} qperf {address} -t 1 -vvs --precision 5 tcp_lat", "qperf", "tcp_lat_r{round}.txt", {}),
    "ping": ("ping -D -n -i 0.005 -c 200 {address}", "", "ping_r{round}.txt", {}),
    "iperf3": ("iperf3 -c {address} -t 1 -J", "iperf3 -s", "tcp_r{round}.json", {}),
    "echo_test": ("{python} {echo_client} {address} 7777 --frequency 0.004 --count 200 --log-dir {folder}",
                  "{python} {echo_server}", "echo_r{round}.csv", {"message_bytes": 64}),
    "echo_long": (
        "{python} {echo_client} {address} 7777 --size 256 --frequency 0.002 --count 3000 --log-dir {folder}",
        "{python} {echo_server}",
        "echo_r{round}.csv",
        {"message_bytes": 256},
    ),
    "ntttcp": ("ntttcp -s {address} -t 1 -W 0 -C 0 -P 4", "ntttcp -r -P 4 -t 1", "sender_r{round}.txt", {}),
    "lagscope": ("lagscope -s{address} -n1000 -i0 -P", "lagscope -r", "{client}-{server}_r{round}.txt", {}),
}  # fmt: skip


class Hub:
    """The delay hub as a process with commands on its standard input."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen(
            ["chrt", "-f", "50", "taskset", "-c", "0", str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def ask(self, *words: object) -> str:
        """Send a command and return the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        return self._line()

    def do(self, *words: object) -> None:
        """Send a command that must be done."""
        if (answer := self.ask(*words)) != "done":
            raise SystemExit(f"{' '.join(map(str, words))}: {answer}")

    def pause(self, *, still: bool) -> None:
        """Stop polling, so that other processes get the core, or continue."""
        self._process.send_signal(signal.SIGSTOP if still else signal.SIGCONT)

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


class Links:
    """The configured links of a scenario, and what deviates from them in a round."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.zones: dict[str, str] = {name: host["zone"] for name, host in scenario["hosts"].items()}
        self._scenario = scenario
        self.configured = {
            (start, end): self._link(start, end) for start in self.zones for end in self.zones if start != end
        }

    def _link(self, start: str, end: str) -> dict[str, float]:
        link = {**self._scenario["links"][f"{self.zones[start]}->{self.zones[end]}"]}
        offsets: dict[str, float] = self._scenario.get("machine_offset_us", {})
        link["base_us"] += offsets.get(start, 0.0) + offsets.get(end, 0.0)
        return link

    def link(self, start: str, end: str, number: int) -> dict[str, float]:
        """Return the link of one direction in a round: as configured, or as a change of the scenario sets it."""
        link = {**self.configured[start, end]}
        for change in self._scenario.get("link_changes", []):
            if change["link"] == f"{start}->{end}" and number >= change["from_round"]:
                link |= {key: value for key, value in change.items() if key in LINK}
        return link

    def extra_us(self, client: str, server: str, number: int, slow: bool) -> float:
        """Return what a run adds to the delay of each of its two directions."""
        extra = self._scenario["slow_runs"]["extra_us"] if slow else 0.0
        for change in self._scenario.get("route_changes", []):
            if number >= change["from_round"] and {self.zones[client], self.zones[server]} == set(change["zones"]):
                extra += change["extra_us"]
        for noise in self._scenario.get("noisy_rounds", []):
            if number == noise["round"] and {self.zones[client], self.zones[server]} == set(noise["zones"]):
                extra += noise["extra_us"]
        return float(extra)


def real_time(priority: int, command: list[str]) -> list[str]:
    """Return a command that runs with real-time priority on the core of the tools, in turns with its peer."""
    return ["chrt", "-r", str(priority), "taskset", "-c", "1", *command]


def inside(host: str) -> list[str]:
    """Return the words that run a command in a host's namespace, without the mounts of ``ip netns exec``."""
    return ["nsenter", f"--net=/run/netns/{host}"]


@contextmanager
def machine() -> Iterator[None]:
    """Let real-time processes use a whole core, and serve the kernel's network threads before them."""
    settings = {"/proc/sys/kernel/sched_rt_runtime_us": "-1", "/proc/sys/kernel/sched_rr_timeslice_ms": "1"}
    before = {name: Path(name).read_text() for name in settings}
    threads = subprocess.run(["pgrep", "ksoftirqd|^rcu_"], capture_output=True, text=True, check=True).stdout.split()
    try:
        for name, value in settings.items():
            Path(name).write_text(value)
        for thread in threads:
            subprocess.run(["chrt", "-f", "-p", "60", thread], check=True)
        yield
    finally:
        for name, value in before.items():
            Path(name).write_text(value)
        for thread in threads:
            subprocess.run(["chrt", "-o", "-p", "0", thread], check=False)


@contextmanager
def namespaces(hosts: dict[str, dict[str, str]]) -> Iterator[None]:
    """Create a namespace per host; remove them at the end."""
    try:
        for name in hosts:
            subprocess.run(["ip", "netns", "add", name], check=True)
            subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
        yield
    finally:
        for name in hosts:
            subprocess.run(["ip", "netns", "del", name], check=False)


class Recorder:
    """Runs the tools of a scenario and writes their logs and the manifest."""

    def __init__(self, scenario: dict[str, Any], hub: Hub, target: Path, work: Path, echo_client: str) -> None:
        self.scenario, self.hub, self.target, self.work = scenario, hub, target, work
        self.hosts: dict[str, dict[str, str]] = scenario["hosts"]
        self.links = Links(scenario)
        self.generator = random.Random(scenario["seed"])
        self.rows: list[dict[str, Any]] = []
        self.records: dict[str, dict[str, Any]] = {}
        (work / "echo_server.py").write_text(ECHO_SERVER)
        (work / "stamped.sh").write_text(STAMPED)
        self.words = {
            "python": sys.executable,
            "echo_client": echo_client,
            "echo_server": work / "echo_server.py",
            "stamped": work / "stamped.sh",
            "folder": work,
        }

    def serve(self, tool: str, host: str) -> subprocess.Popen[bytes] | None:
        """Start the server of a tool."""
        if not (command := TOOLS[tool][1].format(**self.words).split()):
            return None
        return subprocess.Popen(
            real_time(10, [*inside(host), *command]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def measure(self, tool: str, client: str, server: str, number: int) -> None:
        """Run one tool once from client to server, with its own server process and its own record of the hub."""
        rate = self.scenario.get("slow_runs", {}).get("probability", 0.0)
        slow = self.generator.random() < rate
        extra = self.links.extra_us(client, server, number, slow)
        command, _, name, facts = TOOLS[tool]
        words = {
            **self.words,
            "address": self.hosts[server]["address"],
            "client": client,
            "server": server,
            "round": number,
        }
        log = Path(tool) / f"{client}-{server}" / name.format(**words)
        process = self.serve(tool, server)
        time.sleep(0.25)
        spin = subprocess.Popen(["chrt", "-f", "5", "taskset", "-c", "1", str(self.work / "awake")])
        self.hub.pause(still=False)
        for way in ((client, server), (server, client)):
            link = self.links.link(*way, number)
            self.hub.do("link", *way, *({**link, "base_us": link["base_us"] + extra}[key] for key in LINK))
        self.hub.do("reset")
        started = datetime.now(UTC)
        client_words = real_time(10, [*inside(client), *command.format(**words).split()])
        try:
            run = subprocess.run(
                client_words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20, check=False
            )
        finally:
            record = json.loads(self.hub.ask("report", client, server))
            self.hub.pause(still=True)
            spin.kill()
            if process is not None:
                process.kill()
                process.wait()
            spin.wait()
        self.records[log.as_posix()] = {**record, "extra_us": 2 * extra}
        self._keep(tool, log, run)
        zones = self.links.zones[client], self.links.zones[server]
        self.rows.append(
            {
                "log": log.as_posix(),
                "scenario": f"{client} → {server}",
                "repeat": number,
                "round": number,
                "zone": zones[0][-1],
                "physical_zone": f"emulated-{zones[0]}",
                "peer_zone": zones[1][-1],
                "peer_physical_zone": f"emulated-{zones[1]}",
                "placement": "same_zone" if zones[0] == zones[1] else "cross_zone",
                "started_at": started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                **facts,
                "notes": f"exit status {run.returncode}" if run.returncode else "",
            }
        )

    def _keep(self, tool: str, log: Path, run: subprocess.CompletedProcess[bytes]) -> None:
        (self.target / log).parent.mkdir(parents=True, exist_ok=True)
        if not tool.startswith("echo"):
            (self.target / log).write_bytes(run.stdout)
            return
        for file in sorted(self.work.glob("echo_client_*")):
            if file.suffix == ".csv":
                shutil.copyfile(file, self.target / log)
            file.unlink()

    def run(self) -> None:
        """Measure all rounds; the order of tools and paths is random within a round."""
        for tool in self.scenario["tools"]:
            shutil.rmtree(self.target / tool, ignore_errors=True)
        for number in range(1, max(self.scenario["tools"].values()) + 1):
            both = [path for pair in self.scenario["pairs"] for path in (pair, "->".join(reversed(pair.split("->"))))]
            runs = [
                (tool, *path.split("->"))
                for tool, rounds in self.scenario["tools"].items()
                if number <= rounds
                for path in self.scenario.get("paths", {}).get(tool, both)
            ]
            self.generator.shuffle(runs)
            for tool, client, server in runs:
                self.measure(tool, client, server, number)
            print(f"round {number}: {len(runs)} runs", flush=True)

    def write(self) -> None:
        """Write the manifest of the runs and the truth."""
        kept: list[dict[str, str]] = []
        if (manifest := self.target / "runs.csv").is_file():
            with manifest.open(newline="", encoding="utf-8") as file:
                kept = [row for row in csv.DictReader(file) if row["log"].split("/")[0] not in self.scenario["tools"]]
        with manifest.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(sorted(self.rows, key=lambda row: row["log"]) + kept)
        left_out = ("links", "tools", "pairs", "paths")
        scenario = {key: value for key, value in self.scenario.items() if key not in left_out}
        if (file := self.target / "truth.json").is_file():
            earlier = json.loads(file.read_text("utf-8")).get("runs", {})
            self.records |= {
                log: item for log, item in earlier.items() if log.split("/")[0] not in self.scenario["tools"]
            }
        truth = {
            "what": "delays that tools/rig emulated between network namespaces on one machine, with one clock",
            "one_way_delay": "serialisation at rate_mbit_s + base_us + lognormal(jitter_median_us, jitter_sigma) + "
            "with spike_probability a Pareto(spike_scale_us, spike_shape) up to spike_cap_us; in order",
            **scenario,
            "links": {f"{start}->{end}": link for (start, end), link in self.links.configured.items()},
            "runs": dict(sorted(self.records.items())),
        }
        file.write_text(compact(truth) + "\n", encoding="utf-8")


def compact(value: Any, depth: int = 0) -> str:
    """Return JSON with one line per innermost object, so that a line of the file is a link or a run."""
    if isinstance(value, dict) and any(isinstance(item, dict) for item in value.values()):
        indent = " " * (depth + 1)
        items = [f"{indent}{json.dumps(key)}: {compact(item, depth + 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(items) + "\n" + " " * depth + "}"
    return json.dumps(value, ensure_ascii=False)


def main() -> int:
    """Measure the scenario that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", type=Path, help="TOML file with hosts, links, pairs and tools")
    parser.add_argument("target", type=Path, help="folder of the study")
    parser.add_argument("--rounds", type=int, help="at most this many rounds, for a trial")
    parser.add_argument("--tool", help="measure only this tool again and keep the other logs")
    parser.add_argument("--echo-client", default="echo_client.py", help="the client of echo_test")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("network namespaces and real-time priorities need root; run with sudo", file=sys.stderr)
        return 1
    scenario = tomllib.loads(options.scenario.read_text("utf-8"))
    if options.tool:
        scenario["tools"] = {options.tool: scenario["tools"][options.tool]}
    paths = {
        tool: Path(options.echo_client).is_file() if tool.startswith("echo") else bool(shutil.which(tool))
        for tool in scenario["tools"]
    }
    for tool in [tool for tool in scenario["tools"] if not paths[tool]]:
        print(f"{tool}: not found; left out", file=sys.stderr)
        del scenario["tools"][tool]
    if options.rounds:
        scenario["tools"] = {tool: min(rounds, options.rounds) for tool, rounds in scenario["tools"].items()}
    with tempfile.TemporaryDirectory() as temporary, namespaces(scenario["hosts"]), machine():
        work = Path(temporary)
        for program, source in (("hub", "delay_hub.c"), ("awake", "keep_awake.c")):
            subprocess.run(["cc", "-O2", "-o", work / program, RIG / source, "-lm"], check=True)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(30))
        os.sched_setaffinity(0, {1})
        hub = Hub(work / "hub")
        try:
            for name, host in scenario["hosts"].items():
                hub.do("host", name, name, host["address"])
                for words in (
                    ["addr", "add", f"{host['address']}/8", "dev", "az0"],
                    ["link", "set", "az0", "mtu", "1500", "up"],
                ):
                    subprocess.run(["ip", "-n", name, *words], check=True)
            options.target.mkdir(parents=True, exist_ok=True)
            recorder = Recorder(scenario, hub, options.target, work, options.echo_client)
            for (start, end), link in recorder.links.configured.items():
                hub.do("link", start, end, *(link[key] for key in LINK))
            recorder.run()
            recorder.write()
        finally:
            hub.pause(still=False)
            hub.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
