"""Simulate processes with a known truth, and write what the routines say about them into docs/questions/truth.md.

``python tools/coverage [--quick] [SECTION …]``: all sections, or those whose title contains a word; the others stay as
they are. ``--quick`` uses a twentieth of the repetitions and prints the rows instead of writing them. The seeds are
fixed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

import across_runs
import within_run
from table import Row, markdown

DOCUMENT = Path(__file__).parents[2] / "docs" / "questions" / "truth.md"
BEGIN, END = "<!-- coverage: written by make coverage -->", "<!-- end of coverage -->"


def main(arguments: list[str]) -> int:
    """Simulate the chosen sections, and print or write their tables."""
    quick = "--quick" in arguments
    words = [word for word in arguments if not word.startswith("-")]
    rows: list[Row] = []
    started = time.process_time()
    sections = {**across_runs.SECTIONS, **within_run.SECTIONS}
    for section, simulations in sections.items():
        if words and not any(word.lower() in section.lower() for word in words):
            continue
        for row in simulations(section, 0.05 if quick else 1.0):
            print(" | ".join([row.section, *row.cells()]), flush=True)
            rows.append(row)
    print(f"{len(rows)} rows, {time.process_time() - started:.0f} s of CPU time")
    if quick:
        return 0
    text = DOCUMENT.read_text("utf-8")
    before, rest = text.split(BEGIN)
    inside, after = rest.split(END)
    tables = {**by_section(inside.splitlines()), **by_section(markdown(rows))}
    kept = [line for section in sections for line in tables.get(section, ())]
    DOCUMENT.write_text("\n".join([before + BEGIN, "", *kept, END + after]), "utf-8")
    print(f"wrote {DOCUMENT}")
    return 0


def by_section(lines: Iterable[str]) -> dict[str, list[str]]:
    """Return the lines of each section, from its title on, without blank lines at the end."""
    sections: dict[str, list[str]] = {}
    title = ""
    for line in lines:
        title = line[4:] if line.startswith("### ") else title
        if title:
            sections.setdefault(title, []).append(line)
    return {title: ["\n".join(section_lines).rstrip(), ""] for title, section_lines in sections.items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
