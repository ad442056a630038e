"""A path is a value: it groups, sorts, hashes and prints."""

from __future__ import annotations

import doctest

import pandas as pd
import pytest

import azlatency as az
from azlatency.studies import path as path_module
from azlatency.studies.path import Endpoint, Path


def test_examples_print_what_they_show() -> None:
    assert doctest.testmod(path_module).failed == 0


def test_paths_are_equal_and_hash_by_their_text() -> None:
    path = Path.between("a", "b")
    described = Path(Endpoint(machine="a", zone="1"), Endpoint(machine="b", zone="2"))
    assert path == described == "a → b" and hash(path) == hash(described) == hash("a → b")
    assert path != Path.between("b", "a") and path != 3
    assert {path: 1}["a → b"] == 1
    assert Path(scenario="a → b") == path, "the name of a scenario replaces the machines"


def test_paths_sort_by_their_text() -> None:
    paths = [Path.between("b", "a"), Path.between("a", "c"), Path.between("a", "b")]
    assert list(map(str, sorted(paths))) == ["a → b", "a → c", "b → a"]
    assert Path.between("a", "b") < "b → a" and Path.between("b", "a") >= Path.between("a", "b")
    with pytest.raises(TypeError):
        _ = Path.between("a", "b") < 3


def test_printed_forms() -> None:
    path = Path.between("az1", "az3")
    assert (str(path), repr(path), f"{path:>12}") == ("az1 → az3", "Path('az1 → az3')", "   az1 → az3")
    assert str(Path(Endpoint(machine="az1"))) == "az1 → ?" and not Path(Endpoint(machine="az1")).is_unknown
    assert str(Path()) == "? → ?" and Path().is_unknown


@pytest.mark.parametrize("text", ["a → b", "a->b", "a  ->  b"])
def test_parse(text: str) -> None:
    assert Path.parse(text) == Path.between("a", "b")
    assert Path.parse(Path.parse(text)).ends == ("a", "b")


def test_reversed() -> None:
    path = Path(Endpoint(machine="a", zone="1"), Endpoint(machine="b", zone="2"))
    assert path.reversed() == "b → a" and path.reversed().client.zone == "2"
    assert path.reversed().reversed() == path
    assert Path(scenario="zone 1 → zone 2").reversed() == "zone 2 → zone 1"
    assert Path(scenario="AZ1 - AZ3").reversed() == "AZ1 - AZ3", "the name of a scenario shows no direction"


def test_paths_in_a_frame() -> None:
    frame = pd.DataFrame({"path": [Path.between("b", "a"), Path.between("a", "b"), Path.parse("b->a")], "x": [1, 2, 3]})
    assert frame.groupby("path")["x"].sum().to_dict() == {"a → b": 2, "b → a": 4}
    assert list(frame[frame["path"] == "b → a"]["x"]) == [1, 3]
    assert az.Path is Path
