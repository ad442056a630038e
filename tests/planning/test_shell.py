"""The shell script of `azlatency plan`: contents, quoting, and runs with real tools between namespaces."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from helpers.cases import thinned
from helpers.command import Completed, azlatency
from helpers.namespaces import joined, needs
from helpers.notebooks import run as run_notebook
from helpers.places import ROOT

from azlatency.logs.schema import FRAMES
from azlatency.planning.design import (
    Plan,
    Rounds,
    make_host,
)
from azlatency.planning.shell import shell_script

ROUNDS = Rounds(2, "as requested with --rounds")


HOSTILE = "a'b\"; touch pwned; $(touch pwned) `touch pwned` | & > pwned \u2019; #"


METADATA = "169.254.169.254"
SWITCHES = {"base": "echo 'it is the base'", "candidate": "exit 3"}


def plan(*arguments: object, cwd: Path) -> Completed:
    return azlatency("plan", *arguments, cwd=cwd)


ALL = ("ping", "sockperf", "sockperf-udp", "iperf3", "qperf")


def script(*, names: tuple[str, ...] = ("vm-a", "vm-b"), study: str = "mine", **options: object) -> str:
    hosts: list = []
    for at, name in enumerate(names, start=1):
        hosts.append(make_host(str(at), name, f"10.0.{at}.4", hosts))
    return shell_script(Plan(study=study, hosts=tuple(hosts), tools=ALL, rounds=ROUNDS, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("shell", ["sh", "dash", "bash", "busybox"])
def test_the_script_is_posix_shell(tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    (tmp_path / "measure.sh").write_text(script(names=(HOSTILE, "vm-b")), "utf-8")
    words = [shell, *(["sh"] if shell == "busybox" else []), "-n", "measure.sh"]
    assert subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).stderr == b""


@pytest.mark.costly
@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="no shellcheck")
@pytest.mark.parametrize("options", [pytest.param({}, marks=pytest.mark.slow), {"switches": SWITCHES, "every": 5}])
def test_shellcheck_reports_no_problem(tmp_path: Path, options: dict) -> None:
    (tmp_path / "measure.sh").write_text(script(names=("vm-a", HOSTILE), **options), "utf-8")
    checked = subprocess.run(["shellcheck", "measure.sh"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout) == (0, "")


def test_the_script_contains_only_addresses_of_hosts_and_the_metadata_service() -> None:
    """Every address in the script, the comments included."""
    addresses = set(re.findall(r"\b\d{1,3}(?:\.\d{1,3}){3}\b", script()))
    assert addresses == {"10.0.1.4", "10.0.2.4", METADATA}
    assert not re.findall(r"https?://(?!169\.254\.169\.254)", script())


@pytest.mark.skipif(shutil.which("sh") is None, reason="no POSIX shell")
def test_a_hostile_host_name_is_never_executed(tmp_path: Path) -> None:
    """The name is one word for the runner, and stays text in messages, names of files and the order that -n prints."""
    text = script(names=(HOSTILE, "vm-b"), runner=("./runner", "{name}"), study="it's $(touch pwned)")
    (tmp_path / "measure.sh").write_text(text, "utf-8")
    (tmp_path / "runner").write_text('#!/bin/sh\nprintf "%s\\n" "$#:$1" >>words\ncat >/dev/null\nexit 1\n', "utf-8")
    (tmp_path / "runner").chmod(0o755)
    order = subprocess.run(["sh", "measure.sh", "-n"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert len(order.stdout.splitlines()) == 2 * 5 * 2
    assert f"{HOSTILE}: ping -n -D -i 0.2 -c 50 10.0.2.4" in order.stdout
    run = subprocess.run(["sh", "measure.sh", "out"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 1 and f"{HOSTILE}: cannot be reached" in run.stderr
    assert (tmp_path / "words").read_text("utf-8") == f"3:{HOSTILE}\n", "the name, then sh -s"
    assert not (tmp_path / "pwned").exists()


@pytest.mark.skipif(shutil.which("sh") is None, reason="no POSIX shell")
def test_every_round_measures_base_and_candidate_in_random_order(tmp_path: Path) -> None:
    (tmp_path / "measure.sh").write_text(script(switches=SWITCHES, runner=("sh", "-c", "exec sh -s")), "utf-8")
    order = subprocess.run(["sh", "measure.sh", "-n"], cwd=tmp_path, capture_output=True, text=True, check=True)
    sides = [line.partition(":")[0] for line in order.stdout.splitlines() if line.startswith(tuple(SWITCHES))]
    assert sorted(sides[:2]) == sorted(sides[2:]) == ["base", "candidate"] and len(sides) == 4
    assert len(order.stdout.splitlines()) == 2 * (2 * 5 * 2) + 4


@pytest.mark.skipif(shutil.which("sh") is None, reason="no POSIX shell")
def test_a_command_of_a_side_that_fails_stops_the_script(tmp_path: Path) -> None:
    made = plan(
        "--host",
        "1=a@127.0.0.1",
        "--host",
        "2=b@127.0.0.2",
        "--tool",
        "ping",
        "--rounds",
        1,
        "--runner",
        "env",
        "--base",
        "exit 3",
        "--candidate",
        "exit 3",
        cwd=tmp_path,
    )
    assert made.returncode == 0, made.stderr
    run = subprocess.run(["sh", "measure.sh", "out"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 1 and re.search(r"(base|candidate): its command failed: exit 3", run.stderr)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@needs("ping", "curl")
def test_base_and_candidate_are_compared_round_by_round(tmp_path: Path) -> None:
    names = (f"azl-t{os.getpid()}-a", f"azl-t{os.getpid()}-b")
    ends = [word for at, name in enumerate(names, start=1) for word in ("--host", f"{at}={name}@10.231.11.{at}")]
    options = ("--tool", "ping", "--rounds", 6, "--seconds", 1, "--runner", "ip netns exec {name}")
    assert plan(*ends, *options, "--base", "true", "--candidate", "true", cwd=tmp_path).returncode == 0
    with joined(names, ("10.231.11.1", "10.231.11.2")):
        run = subprocess.run(["sh", "measure.sh", "out"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0 and "azlatency compare 'out/base' 'out/candidate'" in run.stderr, run.stderr
    judged = azlatency("compare", "out/base", "out/candidate", "--format", "json", cwd=tmp_path)
    rows = json.loads(judged.stdout)["rows"]
    assert [row["runs_after"] for row in rows] == [6, 6]
    # By ranks, or by means where the step of the print is wide against what rounds vary.
    assert all("log ratios of rounds" in row["statistic"] for row in rows), rows


def test_the_same_seed_gives_the_same_script() -> None:
    assert script(seed=5) == script(seed=5) != script(seed=6)


TOOLS = ("sockperf", "qperf", "iperf3", "ping")


#: A metadata service as Azure's: path without the version, answer.
AZURE = {
    f"/metadata/instance/compute/{name}": ("Metadata", "true", value)
    for name, value in (
        ("location", "westeurope"),
        ("zone", "2"),
        ("physicalZone", "weu-az3"),
        ("vmSize", "Standard_D4s_v5"),
        ("subscriptionId", "00000000-0000-0000-0000-00000000000a"),
    )
}


#: As Google's and Amazon's: path, the header that must come with it, answer.
GOOGLE = {
    f"/computeMetadata/v1/instance/{name}": ("Metadata-Flavor", "Google", f"projects/7/{kind}/{value}")
    for name, kind, value in (("zone", "zones", "europe-west1-b"), ("machine-type", "machineTypes", "n2-standard-4"))
}


AMAZON = {
    f"/latest/meta-data/{name}": ("X-aws-ec2-metadata-token", "TOKEN==", value)
    for name, value in (
        ("placement/availability-zone", "eu-west-1a"),
        ("placement/availability-zone-id", "euw1-az3"),
        ("placement/region", "eu-west-1"),
        ("instance-type", "m5.large$(touch pwned)"),
    )
}


SERVICE = """
import http.server
ANSWERS = {answers!r}
class Handler(http.server.BaseHTTPRequestHandler):
    def say(self, code, text):
        self.send_response(code)
        self.end_headers()
        self.wfile.write(text.encode())
    def do_GET(self):
        header, wanted, text = ANSWERS.get(self.path.split("?")[0], ("", None, ""))
        known = wanted is not None and self.headers.get(header) == wanted
        self.say(200 if known else 404, text if known else "no")
    def do_PUT(self):
        known = self.path == "/latest/api/token" and "X-aws-ec2-metadata-token-ttl-seconds" in self.headers
        self.say(200 if known and "AMAZON" in {cloud!r} else 404, "TOKEN==")
    def log_message(self, *_): pass
http.server.HTTPServer(("169.254.169.254", 80), Handler).serve_forever()
"""


@contextmanager
def metadata_service(namespace: str, cloud: str, answers: dict[str, tuple[str, str, str]]) -> Iterator[None]:
    """A metadata service inside a namespace, at the address that all clouds use."""
    subprocess.run(["ip", "-n", namespace, "addr", "add", f"{METADATA}/32", "dev", "lo"], check=True)
    code = SERVICE.format(answers=answers, cloud=cloud)
    service = subprocess.Popen(["ip", "netns", "exec", namespace, sys.executable, "-c", code])
    try:
        patience = ["--retry", "20", "--retry-connrefused", "--retry-delay", "1"]
        ask = ["curl", "-s", *patience, "--noproxy", "*", f"http://{METADATA}/"]
        subprocess.run(["ip", "netns", "exec", namespace, *ask], capture_output=True, check=True)
        yield
    finally:
        service.kill()
        service.wait()


def left_running(names: tuple[str, str]) -> set[str]:
    """The tools that still run in the namespaces a while later; other tests have namespaces of their own."""
    deadline = time.monotonic() + 10
    while (tools := running_in(names)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return tools


def running_in(names: tuple[str, str]) -> set[str]:
    programs = set()
    for name in names:
        pids = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=True).stdout.split()
        for pid in pids:
            with suppress(OSError):
                programs.add((Path("/proc") / pid / "comm").read_text().strip())
    return programs & set(TOOLS)


@needs(*TOOLS, "curl", "ethtool", "tc")
def test_a_plan_runs_between_namespaces_and_its_logs_are_imported_and_reported(tmp_path: Path) -> None:
    names = (f"azl-p{os.getpid()}-a", f"azl-p{os.getpid()}-b")
    ends = [word for at, name in enumerate(names, start=1) for word in ("--host", f"{at}={name}@10.231.8.{at}")]
    tools = [word for tool in TOOLS for word in ("--tool", tool)]
    options = (
        "--rounds",
        1,
        "--seconds",
        1,
        "--study",
        "real",
        "--region",
        "westeurope",
        "--runner",
        "ip netns exec {name}",
    )
    assert plan(*ends, *tools, *options, cwd=tmp_path).returncode == 0
    with joined(names, ("10.231.8.1", "10.231.8.2")):
        carry_out = ["sh", "measure.sh", "logs"]
        with metadata_service(names[1], "AZURE", AZURE):
            run = subprocess.run(carry_out, cwd=tmp_path, capture_output=True, text=True, check=False)
            next((tmp_path / "logs").glob("zone1-zone2_*/round01_ping.log")).unlink()
            again = subprocess.run(carry_out, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert left_running(names) == set()
    assert run.returncode == 0, run.stderr
    assert run.stderr.count(" of 8: ") == 8
    assert again.stderr.count(" of 8: ") == 1, "only what is missing is measured again"
    result = azlatency("import", "logs", "--study", "real", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("real: 2 iperf3, 2 ping, 4 qperf, 2 sockperf (8 files parsed")
    assert "not recognised" not in result.stderr and "errors" not in result.stderr
    hosts = tmp_path / "logs" / "hosts"
    assert len(list(hosts.glob("*.txt"))) == len(list(hosts.glob("until-*/*.txt"))) == 2, "both starts are kept"
    for file in hosts.glob("*.txt"):
        facts = dict(line.split("=", 1) for line in file.read_text("utf-8").splitlines())
        assert (facts["driver"], facts["mtu_bytes"]) == ("veth", "1500") and facts["interface"].startswith("azl")
        assert {"qdisc", "offloads", "rx_queues", "version_sockperf"} <= facts.keys()
    check_import(tmp_path, names)
    check_report(tmp_path)


def check_import(folder: Path, names: tuple[str, str]) -> None:
    """The manifest says of every run what the plan and the metadata service know."""
    import azlatency as az

    study = az.load("real", processed=folder / "data" / "processed")
    runs = az.studies.run_table(study)
    there, back = f"{names[0]} → {names[1]}", f"{names[1]} → {names[0]}"
    assert set(runs["path"]) == {there, back}
    assert set(runs["placement"]) == {"cross_zone"} and set(runs["round"]) == {1}
    first = runs[runs["path"] == back]
    assert set(first["zone"]) == {"2"} and set(first["physical_zone"]) == {"weu-az3"}
    assert set(first["vm_size"]) == {"Standard_D4s_v5"} and set(first["region"]) == {"westeurope"}
    assert set(first["subscription"].str[:13]) == {"subscription-"}, "pseudonymised"
    assert first["accelerated_networking"].notna().all()
    other = runs[runs["path"] == there]
    assert set(other["region"]) == {"westeurope"} and other["vm_size"].isna().all()
    assert set(other["peer_vm_size"]) == {"Standard_D4s_v5"} and set(other["peer_physical_zone"]) == {"weu-az3"}
    assert runs["started_at"].notna().all() and set(runs["status"]) == {"complete"}
    assert (runs[runs["tool"] == "sockperf"]["message_bytes"] == 64).all()
    assert "sockperf version" in study.info["notes"]
    rows = list(csv.DictReader((folder / "logs" / "runs.csv").read_text("utf-8").splitlines()))
    assert len({row["log"] for row in rows}) == 1 + 8
    assert tomllib.loads((folder / "logs" / "study.toml").read_text("utf-8"))["study"]["name"] == "real"


def check_report(folder: Path) -> None:
    """A page shows its runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AZLATENCY_DATA", str(folder / "data"))
        results = run_notebook(ROOT / "notebooks" / "01_latency.ipynb", "real")
    assert any("sockperf TCP 64 B" in repr(result) for result in results)


@pytest.mark.costly
@needs("ping", "curl")
@pytest.mark.parametrize(
    ("cloud", "answers", "zone", "physical", "region", "size"),
    thinned(
        [
            ("AMAZON", AMAZON, "eu-west-1a", "euw1-az3", "eu-west-1", "m5.large(touch pwned)"),
            ("GOOGLE", GOOGLE, "europe-west1-b", "europe-west1-b", "europe-west1", "n2-standard-4"),
        ],
        2,
    ),
)
def test_metadata_of_other_clouds_is_read(
    tmp_path: Path, cloud: str, answers: dict, zone: str, physical: str, region: str, size: str
) -> None:
    """Answers of the service are filtered, and a contradiction with the plan is reported."""
    names = (f"azl-c{os.getpid()}-a", f"azl-c{os.getpid()}-b")
    ends = [word for at, name in enumerate(names, start=1) for word in ("--host", f"{at}={name}@10.231.9.{at}")]
    options = ("--tool", "ping", "--rounds", 1, "--seconds", 1, "--runner", "ip netns exec {name}")
    assert plan(*ends, *options, cwd=tmp_path).returncode == 0
    with joined(names, ("10.231.9.1", "10.231.9.2")), metadata_service(names[0], cloud, answers):
        words = ["sh", "measure.sh", "logs"]
        run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert f"{names[0]}: planned in zone 1, but its metadata service reports {zone}; {zone} is recorded" in run.stderr
    rows = list(csv.DictReader((tmp_path / "logs" / "runs.csv").read_text("utf-8").splitlines()))
    (row,) = (row for row in rows if row["scenario"].startswith(names[0]))
    assert (row["zone"], row["physical_zone"], row["region"], row["vm_size"]) == (zone, physical, region, size)
    assert (row["peer_zone"], row["peer_region"], row["peer_vm_size"]) == ("2", "", "")
    assert not list(tmp_path.rglob("pwned"))


def test_the_runner_is_quoted_word_by_word(tmp_path: Path) -> None:
    result = plan(
        "--host",
        "1=a b@10.0.0.1",
        "--host",
        "2=c@10.0.0.2",
        "--tool",
        "ping",
        "--rounds",
        1,
        "--runner",
        "ssh -l 'me too' {name}",
        cwd=tmp_path,
    )
    assert result.returncode == 0
    (line,) = (line for line in (tmp_path / "measure.sh").read_text().splitlines() if line.startswith("    1) ssh"))
    assert shlex.split(line.removeprefix("    1) ").removesuffix(" ;;")) == ["ssh", "-l", "me too", "a b", "sh", "-s"]


#: What the script needs on a host, besides its tools. All else is a fact that may be missing.
BASE = ("sh", "cat", "cut", "date", "env", "grep", "head", "mkdir", "paste", "sed", "sort", "timeout", "tr", "uname")
CHRONYC = """#!/bin/sh
cat <<'END'
Reference ID    : {reference}
System time     : 0.000012345 seconds {direction} of NTP time
Leap status     : {leap}
END
"""


def told(tmp_path: Path, bin_: Path) -> list[dict[str, str]]:
    """Run a plan of ping on this machine, whose path is ``bin_``; return what its hosts told."""
    ends = ("--host", "1=a@127.0.0.1", "--host", "2=b@127.0.0.2")
    runner = ("--runner", f"env PATH={bin_}")
    assert plan(*ends, "--tool", "ping", "--rounds", 1, "--seconds", 1, *runner, cwd=tmp_path).returncode == 0
    subprocess.run(["sh", "measure.sh", "logs"], cwd=tmp_path, capture_output=True, check=False)
    recordings = sorted((tmp_path / "logs" / "hosts").glob("*.txt"))
    return [dict(line.split("=", 1) for line in one.read_text("utf-8").splitlines()) for one in recordings]


@pytest.fixture
def bin_(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in (*BASE, "ping"):
        if (found := shutil.which(name)) is None:
            pytest.skip(f"no {name}")
        (folder / name).symlink_to(found)
    return folder


def test_a_missing_tool_is_a_missing_fact(tmp_path: Path, bin_: Path) -> None:
    """Without ip, tc, ethtool, lscpu, getent, find, chronyc: no fact of the interface, and no guess."""
    facts = told(tmp_path, bin_)
    assert len(facts) == 2
    for one in facts:
        assert one["version_ping"] and one["kernel"].startswith("Linux") and one["recorded_at"]
        assert not {"interface", "mtu_bytes", "driver", "offloads", "qdisc", "clock_offset_ns"} & set(one)
        assert all(one.values())


@pytest.mark.costly
@pytest.mark.parametrize(
    ("reference", "direction", "leap", "offset"),
    thinned(
        [
            ("50484330 (PHC0)", "slow", "Insert second", "-0000012345"),
            ("A9FEA97B (169.254.169.123)", "fast", "Normal", "0000012345"),
            ("7F7F0101 ()", "fast", "Normal", None),
            ("00000000 ()", "fast", "Not synchronised", None),
        ],
        2,
    ),
)
def test_the_offset_of_a_clock_that_follows_nothing_is_unknown(
    tmp_path: Path, bin_: Path, reference: str, direction: str, leap: str, offset: str | None
) -> None:
    (bin_ / "chronyc").write_text(CHRONYC.format(reference=reference, direction=direction, leap=leap), "utf-8")
    (bin_ / "chronyc").chmod(0o755)
    assert {one.get("clock_offset_ns") for one in told(tmp_path, bin_)} == {offset}


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="no shellcheck")
def test_shellcheck_reports_no_problem_in_what_runs_on_the_hosts(tmp_path: Path) -> None:
    text = script().partition("cat <<'END'\n")[2].partition("\nEND\n")[0]
    (tmp_path / "facts.sh").write_text(f"peer='10.0.0.1'\n{text}\n", "utf-8")
    checked = subprocess.run(["shellcheck", "-s", "sh", "facts.sh"], cwd=tmp_path, capture_output=True, check=False)
    assert (checked.returncode, checked.stdout) == (0, b"")


def test_every_fact_of_the_script_is_a_column() -> None:
    """All but the cloud, and the subscription, which is not published."""
    facts = set(re.findall(r"^ *(?:\[ .*\|\| )?fact ([a-z_]+) ", script(), re.MULTILINE)) - {"cloud", "subscription"}
    versions = set(re.findall(r"^version ([a-z0-9]+) ", script(), re.MULTILINE))
    assert {"kernel", "mtu_bytes", "qdisc", "vm_size"} <= facts and "sockperf" in versions
    columns = {column.name for column in FRAMES["hosts"]}
    assert facts | {f"version_{tool}" for tool in versions} | {"rx_queues", "tx_queues"} <= columns


@pytest.mark.slow
@needs("sockperf")
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_an_interrupted_script_stops_its_servers_and_can_continue(tmp_path: Path, number: int) -> None:
    names = (f"azl-i{os.getpid()}-a", f"azl-i{os.getpid()}-b")
    ends = [word for at, name in enumerate(names, start=1) for word in ("--host", f"{at}={name}@10.231.10.{at}")]
    options = ("--tool", "sockperf", "--rounds", 1, "--seconds", 1, "--runner", "ip netns exec {name}")
    assert plan(*ends, *options, cwd=tmp_path).returncode == 0
    with joined(names, ("10.231.10.1", "10.231.10.2")):
        words = ["sh", "measure.sh", "logs"]
        # In a background job, SIGINT is ignored, and a shell cannot change that for a signal ignored from its start.
        with subprocess.Popen(
            words,
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        ) as running:
            assert running.stderr is not None
            while b"1 of 2" not in running.stderr.readline():
                pass
            # As a terminal does it: to the whole group.
            os.killpg(running.pid, number)
            running.wait(30)
        assert running.returncode != 0
        assert left_running(names) == set()
        again = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert again.returncode == 0 and left_running(names) == set(), again.stderr
    rows = list(csv.DictReader((tmp_path / "logs" / "runs.csv").read_text("utf-8").splitlines()))
    assert len({row["log"] for row in rows}) == len(rows) == 3
