"""Colours that readers with any kind of sight tell apart, by computation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from azlatency.kit.drawing.palette import DARK, ESTIMATE, GREY, HUES, INK, RANGE, RUN, looks, pair_of, told_apart
from azlatency.studies.runs.path import NetworkPath

#: Simulation of dichromacy on linear RGB (Machado, Oliveira and Fernandes 2009, severity 1).
SIGHT = {
    "usual": np.eye(3),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def linear(colour: str) -> np.ndarray:
    values = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of linear RGB, white point D65."""
    ratio = TO_XYZ @ np.clip(rgb, 0, 1) / np.array([0.95047, 1.0, 1.08883])
    x, y, z = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one: str, two: str) -> float:
    light = sorted(float(TO_XYZ[1] @ linear(colour)) + 0.05 for colour in (one, two))
    return light[1] / light[0]


def test_the_measures_know_black_and_white() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21, abs=0.01)
    assert lab(linear("#ffffff")) == pytest.approx([100, 0, 0], abs=0.02)


@pytest.mark.parametrize("colour", [*HUES, ESTIMATE, RUN, GREY, INK, RANGE])
def test_every_colour_has_enough_contrast_in_both_schemes(colour: str) -> None:
    assert contrast(colour, "#ffffff") >= 3
    assert contrast(DARK[colour], DARK["#ffffff"]) >= 4.5


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_of_pairs_can_be_distinguished(sight: str, scheme: str) -> None:
    for one, two in itertools.combinations(HUES, 2):
        seen = [lab(SIGHT[sight] @ linear(hue if scheme == "light" else DARK[hue])) for hue in (one, two)]
        assert np.linalg.norm(seen[0] - seen[1]) >= 30, (one, two)


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_roles_are_told_apart(sight: str, scheme: str) -> None:
    """Estimates, runs, what is inconclusive and the ground truth differ by 30; shapes, too, tell them apart."""
    for one, two in itertools.combinations((ESTIMATE, RUN, GREY, INK), 2):
        seen = [lab(SIGHT[sight] @ linear(hue if scheme == "light" else DARK[hue])) for hue in (one, two)]
        assert np.linalg.norm(seen[0] - seen[1]) >= 30, (one, two)


def test_a_pair_has_one_colour_and_each_direction_its_dash() -> None:
    there, back, other = NetworkPath.between("a", "b"), NetworkPath.between("b", "a"), NetworkPath.between("a", "c")
    look = looks([there, back, other, "Single node"])
    assert look[there].colour == look[back].colour and look[there].dash != look[back].dash
    assert len({style.colour for style in look.values()}) == 3


def test_as_many_pairs_are_shown_as_there_are_colours() -> None:
    values: dict[NetworkPath | str, float] = {
        NetworkPath.between("a", f"host {number}"): float(number) for number in range(20)
    }
    values |= {path.reversed(): size + 0.5 for path, size in list(values.items()) if isinstance(path, NetworkPath)}
    shown = told_apart(values)
    assert len({pair_of(path) for path in shown}) == len(HUES) == len({style.colour for style in looks(shown).values()})
    assert shown[0] == "a → host 0" and shown[-1] == "host 19 → a" and len(shown) == 2 * len(HUES)
    assert told_apart({"Single node": 1.0}) == ["Single node"] and told_apart({}) == []
