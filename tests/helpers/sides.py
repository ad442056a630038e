"""Two sides for `azlatency compare`, made of three rounds of qperf between emulated zones."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from helpers.command import Completed, azlatency
from helpers.places import TESTS


def write_side(raw: Path, folder: Path, rounds: str, *, scale: float = 1.0, rename: str | None = None) -> Path:
    """Write qperf logs of some rounds; ``scale`` multiplies the printed latencies and adjusts the message rates."""

    def scaled(match: re.Match[str]) -> str:
        return f"{match[1]}{float(match[2]) * scale:.6g}{match[3]}{float(match[4]) / scale:.6g}"

    source = TESTS / "compare" / "rounds"
    rows = [
        row for row in csv.DictReader((source / "runs.csv").read_text("utf-8").splitlines()) if row["round"] in rounds
    ]
    for row in rows:
        target = folder / row["log"]
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (source / row["log"]).read_text("utf-8")
        pattern = r"(latency\s+=\s+)([\d.]+)( us\n\s+msg_rate\s+=\s+)([\d.]+)"
        target.write_text(re.sub(pattern, scaled, text) if scale != 1 else text, "utf-8")
        if rename and row["scenario"] == "az1a → az2a":
            row["scenario"] = rename
    (folder / "study.toml").write_text('[study]\nregion = "emulated"\nruns = "runs.csv"\n', "utf-8")
    with (folder / "runs.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return folder


def compare(*arguments: object, cwd: Path) -> Completed:
    return azlatency("compare", *arguments, cwd=cwd, AZLATENCY_DATA=str(cwd / "data"))
