"""What other readers get out of the project's own fixtures, beside this library: the measured part of docs/peers.md.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install jc pingparsing mslisa
    python tools/peers.py /tmp/peers/bin/python

Every fixture with one run of ping, sockperf or lagscope whose mean round trip was read by hand is given to each reader
that is installed there. The mean that it returns is the same (to the last printed digit), another, or none; so are the
packets sent and received, where they were read by hand. Each reader is called as its own documentation or its own code
calls it; a peer that is not installed is left out. What is not the same is listed on standard error.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parents[1] / "tests" / "fixtures"
TOOLS = ("ping", "sockperf", "lagscope")
_ENDINGS = (".log", ".txt")
Values = dict[str, float | None]


# --- in the peers' Python: FILE... on standard input, one JSON object out


def _jc(text: str, tool: str) -> Values:
    import jc

    found: Any = jc.parse("ping", text, quiet=True)
    mean = found.get("round_trip_ms_avg")
    return {"mean_us": None if mean is None else 1e3 * mean, "sent": found.get("packets_transmitted"),
            "received": found.get("packets_received")}  # fmt: skip


def _pingparsing(text: str, tool: str) -> Values:
    import pingparsing

    found = pingparsing.PingParsing().parse(text).as_dict()
    mean = found["rtt_avg"]
    return {"mean_us": None if mean is None else 1e3 * mean, "sent": found["packet_transmit"],
            "received": found["packet_receive"]}  # fmt: skip


def _lisa(text: str, tool: str) -> Values:
    """LISA's methods want a machine; what reads text does not, so they are called without one."""
    from types import SimpleNamespace

    if tool == "sockperf":
        from lisa.tools.sockperf import Sockperf

        reader = Sockperf.__new__(Sockperf)
        return {"mean_us": float(reader.get_statistics(text)["average_latency_us"])}
    from lisa.tools.lagscope import Lagscope

    reader = Lagscope.__new__(Lagscope)
    reader._log = SimpleNamespace(debug=lambda *_: None)  # type: ignore[attr-defined]
    mean = float(reader.get_average(SimpleNamespace(stdout=text)))
    # -1 is its way to say that there is none.
    return {"mean_us": None if mean < 0 else mean}


PEERS: dict[str, tuple[str, tuple[str, ...], Callable[[str, str], Values]]] = {
    "jc": ("jc", ("ping",), _jc),
    "pingparsing": ("pingparsing", ("ping",), _pingparsing),
    "LISA": ("mslisa", ("sockperf", "lagscope"), _lisa),
}


def read_as_peer(name: str) -> None:
    """Read ``{tool: [path, …]}`` from standard input; print the version and, by path, the values or the error."""
    from importlib.metadata import version

    package, _, reader = PEERS[name]
    found: dict[str, Any] = {"version": version(package), "files": {}}
    for tool, paths in json.load(sys.stdin).items():
        for path in paths:
            try:
                text = Path(path).read_text("utf-8", "replace")
                found["files"][path] = reader(text, tool)
            except (Exception, SystemExit) as error:
                found["files"][path] = {"error": type(error).__name__}
    # A reader may have taken sys.stdout for itself.
    print(json.dumps(found), file=sys.__stdout__)


# --- here


def expected(tool: str) -> dict[str, Values]:
    """By path of each fixture with one run: what was read by hand."""
    found: dict[str, Values] = {}
    for file in sorted((FIXTURES / tool).glob("*.expected.json")):
        log = file.with_name(file.name.removesuffix(".expected.json"))
        content = json.loads(file.read_text("utf-8"))
        if log.suffix not in _ENDINGS or len(content["runs"]) != 1:
            continue
        metrics = {row["metric"]: row["value"] for row in content.get("metrics", []) if row.get("run", 0) == 0}
        if "rtt_mean" in metrics:
            counts = {name: metrics.get(name) for name in ("sent", "received")}
            found[str(log)] = {"mean_us": metrics["rtt_mean"] / 1e3, **counts}
    return found


def ours(tool: str, paths: list[str]) -> dict[str, Values]:
    """The same of this library."""
    import azlatency as az

    found: dict[str, Values] = {}
    for path in paths:
        rows = [row for row in az.parse(path).rows["metrics"] if row["stream"] is None]
        values = {row["metric"]: row["value"] for row in reversed(rows)}
        mean = values.get("rtt_mean")
        found[path] = {"mean_us": None if mean is None else mean / 1e3, "sent": values.get("sent"),
                       "received": values.get("received")}  # fmt: skip
    return found


def grade(due: float, got: float | None) -> str:
    """The same, another value, or none."""
    if got is None:
        return "none"
    return "the same" if abs(got - due) <= max(0.0006 * abs(due), 0.06) else "another"


_GRADES = ("the same", "another", "none")


def row(tool: str, name: str, due: dict[str, Values], files: dict[str, Any]) -> str:
    """One row of the table; what is not the same goes to standard error."""
    means: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for path, wanted in due.items():
        got = files[path]
        means[found := grade(wanted["mean_us"] or 0.0, got.get("mean_us"))] += 1
        if found != "the same":
            told = got.get("error", got.get("mean_us"))
            print(f"{name}: {Path(path).name}: {told}, not {wanted['mean_us']}", file=sys.stderr)
        for key in ("sent", "received"):
            if wanted[key] is not None:
                counts[grade(wanted[key] or 0.0, got.get(key))] += 1
    numbers = [str(means[each]) for each in _GRADES]
    numbers += [str(counts[each]) if tool == "ping" else "" for each in _GRADES]
    return "| " + " | ".join([tool, name, str(len(due)), *numbers]) + " |"


def main() -> int:
    """The table in Markdown."""
    if len(sys.argv) == 3 and sys.argv[1] == "--read-as":
        read_as_peer(sys.argv[2])
        return 0
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    print("| logs of | reader | logs | mean: the same | another | none | counts: the same | another | none |")
    print("|---|---|---|---|---|---|---|---|---|")
    for tool in TOOLS:
        due = expected(tool)
        print(row(tool, "azlatency", due, ours(tool, list(due))))
        for name, (_, tools, _) in PEERS.items():
            if tool not in tools:
                continue
            words = [sys.argv[1], __file__, "--read-as", name]
            done = subprocess.run(
                words, input=json.dumps({tool: list(due)}), capture_output=True, text=True, check=False
            )
            if done.returncode:
                print(f"{name}: not installed there", file=sys.stderr)
                continue
            answer = json.loads(done.stdout[done.stdout.index("{") :])
            print(row(tool, f"{name} {answer['version']}", due, answer["files"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
