"""Find changes with Apache Otava, in an environment of its own, because Otava pins versions of numpy and SciPy.

Standard input: a JSON list of series; standard output: the positions of the changes of each series.
"""

from __future__ import annotations

import json
import sys

from otava.analysis import compute_change_points  # type: ignore[import-not-found]


def main() -> None:
    """Answer with the window and the p-value that `otava analyze` uses by default, and with a p-value of 5 %."""
    answers = []
    for values in json.load(sys.stdin):
        by_level = [compute_change_points(values, window_len=50, max_pvalue=level)[0] for level in (0.001, 0.05)]
        answers.append([[int(change.index) for change in changes] for changes in by_level])
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
