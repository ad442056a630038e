"""A study of nights: one log of qperf per path and night, with levels that are set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from helpers.cases import stream
from helpers.command import Completed, azlatency

FIRST = date(2026, 9, 1)
#: Nights of `changed_nights`, and the night on which the level changes.
NIGHTS, CHANGED = 40, 25
MANIFEST = '[study]\npattern = "{started_at}/az{zone}-az{peer_zone}/qperf.log"\n'


def write_night(folder: Path, night: int, path: str, half_us: float) -> Path:
    """Write the log of one path of one night; qperf prints half of the round trip."""
    file = folder / str(FIRST + timedelta(days=night)) / path / "qperf.log"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        f"tcp_lat:\n    latency   =  {half_us:.5g} us\n    msg_rate  =  {1e3 / half_us:.5g} K/sec\n", "utf-8"
    )
    return file


def write_nights(folder: Path, levels: Mapping[str, Sequence[float]]) -> Path:
    """Write a folder of nights with its study.toml: for each path one value per night."""
    for path, values in levels.items():
        for night, value in enumerate(values):
            write_night(folder, night, path, value)
    (folder / "study.toml").write_text(MANIFEST, "utf-8")
    return folder


def values(level: float, number: int = NIGHTS) -> list[float]:
    """Return healthy values of a path."""
    return [float(value) for value in level * stream(int(level)).lognormal(0, 0.02, number)]


def changed_nights(folder: Path) -> Path:
    """Write nights in which one of two paths becomes 8 % slower."""
    slower = np.array(values(1080)) * np.where(np.arange(NIGHTS) >= CHANGED, 1.08, 1.0)
    return write_nights(folder, {"az1-az2": values(450), "az1-az3": [*slower]})


def history(*arguments: object, cwd: Path) -> Completed:
    """Run `azlatency history` without the studies of this project."""
    return azlatency("history", *arguments, cwd=cwd, AZLATENCY_DATA=str(cwd / "data"))
