"""Compare other readers with this library on the fixtures of this project: the measured part of docs/peers.md.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install jc pingparsing mslisa
    python tools/peers.py /tmp/peers/bin/python

Each installed reader gets every fixture that contains one run of ping, sockperf or lagscope and whose mean RTT was
read by hand. The mean that it returns is equal (to the last printed digit), different, or none; the same holds for
the packets sent and received, if they were read by hand. Each reader is called as its documentation or its own code
calls it. Readers that are not installed are skipped. Differences are listed on standard error.
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
_EXTENSIONS = (".log", ".txt")
Values = dict[str, float | None]


# --- runs in the Python of the other readers: paths on standard input, one JSON object on standard output


def _jc(text: str, tool: str) -> Values:
    import jc

    result: Any = jc.parse("ping", text, quiet=True)
    mean = result.get("round_trip_ms_avg")
    return {"mean_us": None if mean is None else 1e3 * mean, "sent": result.get("packets_transmitted"),
            "received": result.get("packets_received")}  # fmt: skip


def _pingparsing(text: str, tool: str) -> Values:
    import pingparsing

    result = pingparsing.PingParsing().parse(text).as_dict()
    mean = result["rtt_avg"]
    return {"mean_us": None if mean is None else 1e3 * mean, "sent": result["packet_transmit"],
            "received": result["packet_receive"]}  # fmt: skip


def _lisa(text: str, tool: str) -> Values:
    """Call the methods of LISA that read text, without the machine that its classes need."""
    from types import SimpleNamespace

    if tool == "sockperf":
        from lisa.tools.sockperf import Sockperf

        reader = Sockperf.__new__(Sockperf)
        return {"mean_us": float(reader.get_statistics(text)["average_latency_us"])}
    from lisa.tools.lagscope import Lagscope

    reader = Lagscope.__new__(Lagscope)
    reader._log = SimpleNamespace(debug=lambda *_: None)  # type: ignore[attr-defined]
    mean = float(reader.get_average(SimpleNamespace(stdout=text)))
    # -1 means that there is no mean.
    return {"mean_us": None if mean < 0 else mean}


PEERS: dict[str, tuple[str, tuple[str, ...], Callable[[str, str], Values]]] = {
    "jc": ("jc", ("ping",), _jc),
    "pingparsing": ("pingparsing", ("ping",), _pingparsing),
    "LISA": ("mslisa", ("sockperf", "lagscope"), _lisa),
}


def read_as_peer(name: str) -> None:
    """Read ``{tool: [path, …]}`` from standard input; print the version and the values or the error of each path."""
    from importlib.metadata import version

    package, _, reader = PEERS[name]
    result: dict[str, Any] = {"version": version(package), "files": {}}
    for tool, paths in json.load(sys.stdin).items():
        for path in paths:
            try:
                text = Path(path).read_text("utf-8", "replace")
                result["files"][path] = reader(text, tool)
            except (Exception, SystemExit) as error:
                result["files"][path] = {"error": type(error).__name__}
    # A reader may have replaced sys.stdout.
    print(json.dumps(result), file=sys.__stdout__)


# --- runs here


def read_by_hand(tool: str) -> dict[str, Values]:
    """Return the values read by hand, by path, for each fixture with one run."""
    by_log: dict[str, Values] = {}
    for file in sorted((FIXTURES / tool).glob("*.expected.json")):
        log = file.with_name(file.name.removesuffix(".expected.json"))
        content = json.loads(file.read_text("utf-8"))
        if log.suffix not in _EXTENSIONS or len(content["runs"]) != 1:
            continue
        metrics = {row["metric"]: row["value"] for row in content.get("metrics", []) if row.get("run", 0) == 0}
        if "rtt_mean" in metrics:
            counts = {name: metrics.get(name) for name in ("sent", "received")}
            by_log[str(log)] = {"mean_us": metrics["rtt_mean"] / 1e3, **counts}
    return by_log


def ours(tool: str, paths: list[str]) -> dict[str, Values]:
    """Return the values of this library, by path."""
    import azlatency as az

    by_path: dict[str, Values] = {}
    for path in paths:
        rows = [row for row in az.parse(path).rows["metrics"] if row["stream"] is None]
        values = {row["metric"]: row["value"] for row in reversed(rows)}
        mean = values.get("rtt_mean")
        by_path[path] = {"mean_us": None if mean is None else mean / 1e3, "sent": values.get("sent"),
                       "received": values.get("received")}  # fmt: skip
    return by_path


def grade(expected: float, value: float | None) -> str:
    """Return whether two values are equal, different, or one is missing."""
    if value is None:
        return "none"
    return "equal" if abs(value - expected) <= max(0.0006 * abs(expected), 0.06) else "different"


_GRADES = ("equal", "different", "none")


def row(tool: str, name: str, expected: dict[str, Values], files: dict[str, Any]) -> str:
    """Return one row of the table; print differences on standard error."""
    means: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for path, values in expected.items():
        answer = files[path]
        means[result := grade(values["mean_us"] or 0.0, answer.get("mean_us"))] += 1
        if result != "equal":
            actual = answer.get("error", answer.get("mean_us"))
            print(f"{name}: {Path(path).name}: {actual}, expected {values['mean_us']}", file=sys.stderr)
        for key in ("sent", "received"):
            if values[key] is not None:
                counts[grade(values[key] or 0.0, answer.get(key))] += 1
    numbers = [str(means[result]) for result in _GRADES]
    numbers += [str(counts[result]) if tool == "ping" else "" for result in _GRADES]
    return "| " + " | ".join([tool, name, str(len(expected)), *numbers]) + " |"


def main() -> int:
    """Print the table in Markdown."""
    if len(sys.argv) == 3 and sys.argv[1] == "--read-as":
        read_as_peer(sys.argv[2])
        return 0
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    print("| tool | reader | logs | mean: equal | different | none | counts: equal | different | none |")
    print("|---|---|---|---|---|---|---|---|---|")
    for tool in TOOLS:
        values = read_by_hand(tool)
        print(row(tool, "azlatency", values, ours(tool, list(values))))
        for name, (_, tools, _) in PEERS.items():
            if tool not in tools:
                continue
            words = [sys.argv[1], __file__, "--read-as", name]
            done = subprocess.run(
                words, input=json.dumps({tool: list(values)}), capture_output=True, text=True, check=False
            )
            if done.returncode:
                print(f"{name}: not installed; skipped", file=sys.stderr)
                continue
            answer = json.loads(done.stdout[done.stdout.index("{") :])
            print(row(tool, f"{name} {answer['version']}", values, answer["files"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
