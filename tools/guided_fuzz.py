"""Fuzz the parsers of some tools with atheris, guided by the lines of code that a text reaches: ``make fuzz-guided``.

A text that makes a parser fail, loses a line, or gives a number that is not finite is written to ``build/fuzz``.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["azlatency.logs"]):
    from azlatency.logs.parse import parse_source
    from azlatency.logs.parsers import load_parsers
    from azlatency.logs.source.decode import SourceError, source_from_bytes

    load_parsers()

LARGEST = 6_000
KINDS = ("data", "known", "blank", "prose", "unknown")


def check(raw: bytes) -> None:
    """Read a text; raise AssertionError if what is read is not sound."""
    try:
        tables = parse_source(source_from_bytes(raw, "a.log"))
    except SourceError:
        return
    failed = [event["text"] for event in tables.rows["events"] if event["code"] == "parser_failed"]
    assert not failed, failed
    (source,) = tables.rows["sources"]
    assert source["lines"] == sum(source[f"lines_{kind}"] for kind in KINDS), source
    runs = {run["run_id"] for run in tables.rows["runs"]}
    for row in (*tables.rows["metrics"], *tables.rows["quantiles"]):
        assert row["run_id"] in runs, row
        assert math.isfinite(row["value"] if "value" in row else row["value_ns"]), row


def main(seconds: str, *tools: str) -> None:
    """Fuzz with the example logs of the tools; those of all tools if none is named."""
    root = Path(__file__).parents[1]
    work = root / "build" / "fuzz"
    seeds = work / "seeds"
    seeds.mkdir(parents=True, exist_ok=True)
    for folder in sorted((root / "tests" / "fixtures").iterdir()):
        for path in sorted(folder.iterdir()) if not tools or folder.name in tools else ():
            if path.suffix not in (".gz", ".md") and ".expected." not in path.name and path.stat().st_size <= LARGEST:
                (seeds / f"{folder.name}-{path.name}").write_bytes(path.read_bytes())
    options = [
        f"-max_len={LARGEST}",
        f"-max_total_time={seconds}",
        "-timeout=10",
        "-verbosity=1",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={work}/", str(seeds)], check)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
