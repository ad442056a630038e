"""Simulate processes with a known truth, and count how often the routines are right.

``python tools/coverage`` writes the tables of verdicts into docs/questions/truth.md. ``--quick`` uses a twentieth of
the repetitions and prints them instead. ``--within [WORD …]`` prints the sections about statistics within a run, or
those whose title contains a word. The seeds are fixed.
"""

from __future__ import annotations

import sys
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "questions" / "truth.md"
BEGIN, END = "<!-- coverage: written by make coverage -->", "<!-- end of coverage -->"
REPETITIONS = 1000


def main(arguments: list[str]) -> int:
    """Simulate, and print or write the tables."""
    quick = "--quick" in arguments
    if "--within" in arguments:
        import within_run

        words = [word.lower() for word in arguments if not word.startswith("-")]
        for section, simulations in within_run.SECTIONS.items():
            if not words or any(word in section.lower() for word in words):
                for row in simulations(section, 0.05 if quick else 1.0):
                    print(" | ".join([row.section, *row.cells()]), flush=True)
        return 0
    import decisions

    tables = decisions.tables(REPETITIONS // 20 if quick else REPETITIONS)
    if quick:
        print(tables)
        return 0
    before, rest = DOCUMENT.read_text("utf-8").split(BEGIN)
    after = rest.split(END)[1]
    DOCUMENT.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}", "utf-8")
    print(f"wrote {DOCUMENT}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
