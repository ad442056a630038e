"""What a run of the benchmarks measured: printed, kept in ``build/bench.json``, drawn, and compared with the last one.

``python -m benchmarks.results`` makes ``build/bench.json`` the stored result, `STORED`, and writes the page of the
documentation that shows it.
"""

from __future__ import annotations

import json
import platform
import re
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build"
STORED = ROOT / "benchmarks" / "stored.json"
PAGE, CHART = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "images" / "benchmarks.svg"
#: A ratio varies by about a tenth on a busy machine.
MARGIN = 0.25
ROWS: list[dict[str, Any]] = []
#: The rows of single tools, which share a line of the page.
ONE_TOOL = re.compile(r"a small log of (\w+): CPU")
#: CPU seconds by kind of data and size.
COSTS: dict[str, dict[int, float]] = {}


def pair(
    what: str,
    measure: Callable[[], float],
    peers: dict[str, Callable[[], float]],
    goals: Sequence[float | None] = (),
    turns: int = 5,
) -> None:
    """Measure the project and its peers in turn, and keep the ratio to each peer.

    ``own`` and the values of ``peers`` return seconds. ``goals`` are the largest ratios to each peer.
    """
    measured = [(measure(), *(peer() for peer in peers.values())) for _ in range(turns)]
    columns = list(zip(*measured, strict=True))
    for index, name in enumerate(peers):
        most = goals[index] if index < len(goals) else None
        keep(what, columns[0], name, columns[index + 1], most)


def keep(what: str, seconds: Sequence[float], peer: str, against: Sequence[float], most: float | None = None) -> None:
    """Print and keep one comparison: seconds of each turn, and the ratio of the medians."""
    ratio = statistics.median(seconds) / statistics.median(against)
    ROWS.append(
        {
            "what": what,
            "own_s": list(seconds),
            "peer": peer,
            "peer_s": list(against),
            "ratio": ratio,
            "most": most,
        }
    )
    _print(
        f"{what:52} {statistics.median(seconds):9.3f} s   {peer:34} {statistics.median(against):9.3f} s   "
        f"{in_words(ratio):>13}   {goal_of(ROWS[-1])}"
    )


def value(what: str, number: float, unit: str, most: float | None = None) -> None:
    """Print and keep one number."""
    ROWS.append({"what": what, "value": number, "unit": unit, "most": most})
    _print(f"{what:52} {_digits(number):>9} {unit:66} {goal_of(ROWS[-1])}")


def in_words(ratio: float) -> str:
    """Return a ratio of costs in words."""
    return f"{ratio:.2f}× its cost" if ratio >= 1 else f"{1 / ratio:.1f}× faster"


def goal_of(row: dict[str, Any]) -> str:
    """Return the goal of a row and whether it is met."""
    if row["most"] is None:
        return ""
    most, got = row["most"], row.get("ratio", row.get("value"))
    if "ratio" in row:
        text = f"≤ {most:g}×" if most >= 1 else f"≥ {1 / most:g}× faster"
    else:
        text = f"≤ {most:g} {row['unit']}"
    return f"{text}: {'met' if got <= most else 'missed'}"


def write() -> None:
    """Write the results so far and the chart of cost against size."""
    BUILD.mkdir(exist_ok=True)
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    content = {"machine": machine, "rows": ROWS, "cpu_s_by_size": COSTS}
    (BUILD / "bench.json").write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    if COSTS:
        draw(COSTS, BUILD / "bench.svg")


def print_changes() -> None:
    """Compare the results with the stored one."""
    if STORED.is_file():
        print("\nCompared with the stored result (azlatency.compare of the ratios of each turn):")
        print("\n".join(compare(json.loads(STORED.read_text("utf-8"))["rows"], ROWS)))


def compare(stored: list[dict[str, Any]], rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each ratio that differs from its stored one by more than the margin, or cannot be judged."""
    import azlatency as az

    before = {(row["what"], row["peer"]): row for row in stored if "ratio" in row}
    lines, judged = [], 0
    for row in rows:
        old = before.get((row["what"], row.get("peer")))
        if "ratio" not in row or old is None:
            continue
        ratios = [
            [ours / peer for ours, peer in zip(side["own_s"], side["peer_s"], strict=True)] for side in (old, row)
        ]
        found = az.compare(*ratios, margin=MARGIN, unit="1", what=f"{row['what']}, against {row['peer']}")
        judged += 1
        if found["verdict"].iloc[0] != "equivalent":
            lines.append(f"  {az.say(found)}")
    return [*lines, f"  {judged - len(lines)} of {judged} ratios are equal to within {MARGIN:.0%}"]


def draw(costs: dict[str, dict[int, float]], path: Path) -> None:
    """Draw cost against size on logarithmic axes."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.5, 4), layout="constrained")
    axes = figure.subplots()
    for kind, seconds in costs.items():
        axes.loglog([int(size) for size in seconds], list(seconds.values()), marker="o", label=kind)
    axes.set_xlabel("lines, rows or values")
    axes.set_ylabel("CPU time (s)")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    with mpl.rc_context({"svg.hashsalt": "azlatency"}):
        figure.savefig(path, metadata={"Date": None})


def page(stored: dict[str, Any]) -> str:
    """Return the page of the documentation that shows a result."""
    ratios, values = [], []
    tools: dict[str, dict[str, Any]] = {}
    for row in stored["rows"]:
        tool = ONE_TOOL.fullmatch(row["what"])
        if tool:
            tools[tool[1]] = row
        elif "ratio" in row:
            ours, peer = statistics.median(row["own_s"]), statistics.median(row["peer_s"])
            ratios.append(
                f"| {row['what']} | {_seconds(ours)} | {row['peer']}: {_seconds(peer)} | {in_words(row['ratio'])} | "
                f"{goal_of(row)} |"
            )
        elif row["most"] is not None:
            values.append(f"| {row['what']} | {_digits(row['value'])} {row['unit']} | {goal_of(row)} |")
    if tools:
        values.insert(0, _tools(tools))
    sizes = sorted({int(size) for seconds in stored["cpu_s_by_size"].values() for size in seconds})
    costs = []
    for kind, seconds in stored["cpu_s_by_size"].items():
        cells = [_seconds(seconds[str(size)]) if str(size) in seconds else "" for size in sizes]
        costs.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(
        [
            "# Benchmarks: cost relative to other libraries",
            "",
            "azlatency and the other library alternate within each run. Times are medians of CPU time on a busy "
            f"machine with two cores ({stored['machine']});",
            "only the ratio carries over to other machines. `make bench` repeats the measurement and compares the "
            "ratios; `make bench-store` updates this page. All values",
            "are in `benchmarks/stored.json`.",
            "",
            "| work | azlatency | other library | ratio | goal |",
            "|---|---|---|---|---|",
            *ratios,
            "",
            "## Further goals",
            "",
            "| what | measured | goal |",
            "|---|---|---|",
            *values,
            "",
            "## Cost against size",
            "",
            "![CPU time against size, on logarithmic axes](images/benchmarks.svg)",
            "",
            f"| CPU time at | {' | '.join(f'{size:,}' for size in sizes)} |",
            f"|---|{'---|' * len(sizes)}",
            *costs,
            "",
        ]
    )


def store() -> None:
    """Make the last result the stored one, and write its page."""
    STORED.write_text((BUILD / "bench.json").read_text("utf-8"), "utf-8")
    stored = json.loads(STORED.read_text("utf-8"))
    PAGE.write_text(page(stored), "utf-8")
    draw(stored["cpu_s_by_size"], CHART)


def _tools(rows: dict[str, dict[str, Any]]) -> str:
    """Return the line that stands for the small logs of all tools, with the fastest and the slowest tool."""
    ordered = sorted(rows, key=lambda tool: float(rows[tool]["value"]))
    ends = [f"{_digits(rows[tool]['value'])} {rows[tool]['unit']} ({tool})" for tool in (ordered[0], ordered[-1])]
    met = sum(row["value"] <= row["most"] for row in rows.values())
    most = rows[ordered[0]]["most"]
    return f"| a small log of one tool: CPU | {' to '.join(ends)} | ≤ {most:g} ms: {met} of {len(rows)} tools met |"


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _digits(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def _print(line: str) -> None:
    print(line.rstrip(), flush=True)


if __name__ == "__main__":
    store()
