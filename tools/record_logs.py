"""Record the logs of the tutorial and of the comparison tests: real tools between emulated zones (needs root).

    python tools/record_logs.py tutorial      docs/tutorial/dump.zip: three zones, five rounds, logs only
    python tools/record_logs.py compare       tests/compare/{base,slower}.zip: one pair, ten rounds, manifest included

The logs are measured by a script that ``azlatency plan`` writes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from emulated_zones import DELAYS_US, HOSTS, emulated

ROOT = Path(__file__).parents[1]
_PAIR = {name: HOSTS[name] for name in ("az1a", "az2a")}
#: One-way delay of the slower recording in µs: 60 µs more than the base, which adds about a fifth to the RTT.
_SLOWER_US = 260.0


def record(
    target: Path,
    hosts: Mapping[str, str],
    delays: Mapping[tuple[str, str], float],
    tools: list[str],
    rounds: int,
    *,
    logs_only: bool,
) -> None:
    """Plan, measure and pack. ``logs_only``: pack only the logs, without the manifest that the script wrote."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        words = [sys.executable, "-m", "azlatency", "plan", "--rounds", str(rounds), "--seconds", "1", "--study",
                 target.stem, "--region", "emulated", "--runner", "ip netns exec {name}"]  # fmt: skip
        for name, address in hosts.items():
            words += ["--host", f"{name[2]}={name}@{address}"]
        for tool in tools:
            words += ["--tool", tool]
        subprocess.run(words, cwd=folder, check=True)
        with emulated(hosts, delays):
            subprocess.run(["sh", "measure.sh", "logs"], cwd=folder, check=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted((folder / "logs").rglob("*.*")):
                inside = file.relative_to(folder / "logs")
                if file.is_file() and not (logs_only and (len(inside.parts) == 1 or inside.parts[0] == "hosts")):
                    archive.write(file, inside)


def main() -> int:
    """Record what the argument names."""
    what = sys.argv[1:]
    # Raise the priority: other load on the machine would appear as latency.
    os.nice(-12)
    if what == ["tutorial"]:
        record(ROOT / "docs/tutorial/dump.zip", HOSTS, DELAYS_US, ["sockperf", "ping", "iperf3"], 5, logs_only=True)
    elif what == ["compare"]:
        for name, delay in (("base", 200.0), ("slower", _SLOWER_US)):
            delays = {("az1a", "az2a"): delay}
            target = ROOT / f"tests/compare/{name}.zip"
            record(target, _PAIR, delays, ["sockperf", "ping", "iperf3"], 10, logs_only=False)
    else:
        print(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
