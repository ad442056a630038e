"""What a run of the benchmarks measured: printed, kept in ``build/bench.json``, and drawn in ``build/bench.svg``."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

BUILD = Path(__file__).parents[1] / "build"
ROWS: list[dict[str, Any]] = []
#: CPU seconds by kind of log and size.
COSTS: dict[str, dict[int, float]] = {}


def row(what: str, own: float, peer: float, against: str, goal: str) -> None:
    """Print and keep one comparison with the ratio of the CPU times."""
    ratio = f"{own / peer:.2f}x its cost" if own >= peer else f"{peer / own:.1f}x faster"
    print(f"{what:44} {own:8.2f} s   {against:34} {peer:8.2f} s   {ratio:>16}   goal {goal}", flush=True)
    ROWS.append({"what": what, "cpu_s": own, "peer": against, "peer_cpu_s": peer, "ratio": own / peer, "goal": goal})


def save() -> None:
    """Write the results and the chart of cost against size."""
    BUILD.mkdir(exist_ok=True)
    machine = {"machine": platform.machine(), "python": platform.python_version()}
    text = json.dumps({**machine, "rows": ROWS, "cpu_s_by_size": COSTS}, indent=1)
    (BUILD / "bench.json").write_text(text + "\n", "utf-8")
    if COSTS:
        _draw()


def _draw() -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for kind, costs in COSTS.items():
        axes.loglog(list(costs), list(costs.values()), marker="o", label=kind)
    axes.set_xlabel("size (lines, rows, intervals or logs)")
    axes.set_ylabel("CPU time (s)")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(BUILD / "bench.svg")
