"""Eight hundred naming schemes and five hundred labelled notes, with the groups that a person sees in them.

The first 189 schemes and the notes were collected and grouped without knowledge of the rules, which then were mended
where they failed: first 4 of 167 schemes pooled unlike runs, and 13 of 58 notes did. The schemes below "added after a
review" were written together with the rules: they show no regression, and no rate of errors. A fourth breaker's were
collected before the rules were mended, in batches: of those with unlike runs, 6 of 81, 2 of 52, 1 of 36 and 3 of 25
names were pooled, and 9 of 57, 3 of 25, 8 of 30 and 1 of 16 notes. Of a fifth breaker's, each batch written after the
repairs for the one before: 1 of 30, 1 of 19, 2 of 19 and 3 of 18 names, and 5 of 31, 2 of 19, 2 of 18 and 3 of 15
notes; the kinds are at the end of the file. A sixth breaker's are one a line at its
start; before the rules were mended, of those with unlike runs 1 of 98 names and 6 of 67 texts were pooled, and of his
traps 2 of 60 names, 9 of 40 pairs of labels and 6 of 18 texts. Left out are four of his texts of free prose, which is
known to separate, two sets of names that are debatable (`cable_1`, `1-1`), and what the method tells apart.
Those with "u16" were written before the rules for them: of 60 names and 30 texts of repeats 25 and 8 were apart, and 1
of 40 unlike ones was pooled. Of 24 names and 12 texts written after the rules ("H"), 5 and 4 were apart, and of 16
unlike ones none was pooled; then some rules were widened. Left out are `a1` … `a5`, and texts that stay apart: "After
10 minutes", "And a last one", "and a third", "A few hours later, same cable, same port".
What a person could not tell is marked as ambiguous and not counted.
"""

from __future__ import annotations

import tomllib
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from studies.runs.test_run_table import ping

import azlatency as az
from azlatency.studies.runs.treatments import treatments

SCHEMES = tomllib.loads(Path(__file__).with_name("schemes.toml").read_text("utf-8"))


def wrong_pairs(group_of: dict[Any, int], scenario_of: dict[Any, str | None]) -> tuple[bool, bool]:
    """Return whether two unlike runs are pooled, and whether two repeats are apart."""
    pairs = [(group_of[a] == group_of[b], scenario_of[a] == scenario_of[b]) for a, b in combinations(group_of, 2)]
    return (False, True) in pairs, (True, False) in pairs


@pytest.mark.costly
def test_names_pool_no_unlike_runs_and_hardly_ever_refuse_repeats() -> None:
    schemes = [scheme for scheme in SCHEMES["scheme"] if not scheme["ambiguous"]] + SCHEMES["judged_names"]
    pooled, apart, with_repeats = [], [], 0
    for scheme in schemes:
        group_of = {file: at for at, group in enumerate(scheme["groups"]) for file in group}
        files = list(group_of)
        found = treatments([0] * len(files), files, [None] * len(files), [frozenset()] * len(files))
        is_pooled, is_apart = wrong_pairs(group_of, dict(zip(files, (each.scenario for each in found), strict=True)))
        pooled += [scheme["name"]] * is_pooled
        apart += [scheme["name"]] * is_apart
        with_repeats += any(len(group) > 1 for group in scheme["groups"])
    assert len(schemes) > 230 and with_repeats > 120
    assert pooled == []
    assert len(apart) <= 0.05 * with_repeats, apart


@pytest.mark.costly
@pytest.mark.parametrize("every", [32, pytest.param(1, marks=pytest.mark.slow)])
def test_labels_pool_no_unlike_runs_and_hardly_ever_refuse_repeats(tmp_path: Path, every: int) -> None:
    notes = [note for note in SCHEMES["label"] + SCHEMES["judged_labels"] if not note.get("ambiguous")][::every]
    wrong: list[tuple[str, list[str]]] = []
    for place, note in enumerate(notes):
        first, *rest = note["text"].split("{LOG}")
        text = first + "".join(
            ping("10.0.0.9", 1.0 + place / 8, 2.0 + number / 8) + part.removeprefix("\n")
            for number, part in enumerate(rest)
        )
        file = tmp_path / f"{place}.{note['ext']}"
        file.write_text(text, "utf-8")
        scenarios = list(az.latency(az.parse(file)).sort_values("first_line")["scenario"].fillna(""))
        group_of = {run: at for at, group in enumerate(note["groups"]) for run in group}
        assert len(scenarios) == len(rest), note["name"]
        if any(wrong_pairs(group_of, {run: scenarios[run - 1] for run in group_of})):
            wrong.append((note["name"], scenarios))
    assert len(notes) > 100 / every and wrong == []
