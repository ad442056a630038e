"""Paths of two sides: the same rule for their names, and a hint where nothing matches."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from helpers.cases import thinned
from helpers.places import ROOT
from helpers.sides import compare, write_side

from azlatency.gate.matching import align_paths, nothing_in_common
from azlatency.studies.manifest.machine_names import parse_maps
from azlatency.studies.runs.path import Endpoint, NetworkPath


def frame(*paths: NetworkPath) -> pd.DataFrame:
    return pd.DataFrame({"path": pd.Series(list(paths), dtype=object), "method": ["ping"] * len(paths)})


def test_names_that_are_ambiguous_on_one_side_are_those_of_both() -> None:
    ends = [Endpoint(machine="10.0.0.4", region=region) for region in ("eastus", "westus")]
    near, far = (NetworkPath(end, Endpoint(machine="x")) for end in ends)
    after, before = align_paths(frame(near, far), frame(near))
    assert list(map(str, before["path"])) == [str(after["path"][0])] == ["10.0.0.4 in eastus → x"]


def test_addresses_that_change_are_mapped() -> None:
    after, before = (frame(NetworkPath.between(f"10.0.{run}.4", "server")) for run in (1, 2))
    assert not set(after["path"]) & set(before["path"])
    after, before = align_paths(after, before, parse_maps(["10.0.*=client"]))
    assert list(after["path"]) == list(before["path"]) == ["client → server"]
    with pytest.raises(ValueError, match="is not PATTERN=NAME"):
        parse_maps(["10.0.*"])


def test_scenarios_that_are_compared_do_not_name_paths() -> None:
    sides = (frame(NetworkPath(Endpoint(zone="1"), Endpoint(zone="2"), scenario)) for scenario in ("before", "after"))
    after, before = align_paths(*sides, scenarios=False)
    assert list(after["path"]) == list(before["path"]) == ["zone 1 → zone 2"]


def runs(path: str, method: str = "ping", client: str | None = None, server: str | None = None) -> pd.DataFrame:
    return pd.DataFrame({"path": [path], "method": [method], "client": [client], "server": [server]})


def test_ends_with_other_names_are_joined_by_the_options_that_are_printed() -> None:
    (hint,) = nothing_in_common(runs("? → 10.1.0.5", server="10.1.0.5"), runs("? → 10.2.7.9", server="10.2.7.9"))
    assert hint.endswith("add: --map 10.1.0.5=server --map 10.2.7.9=server")
    (hint,) = nothing_in_common(runs("a → b", client="a", server="b b"), runs("c → b", client="c", server="b b"))
    assert hint.endswith("add: --map a=client --map c=client"), "the servers have one name"


def test_several_paths_without_a_common_one_name_those_that_are_most_alike() -> None:
    base = pd.concat([runs("a-1 → b-1", server="b-1"), runs("x → y", server="y")])
    (hint,) = nothing_in_common(base, runs("a-2 → b-2", server="b-2"))
    assert "a-1 → b-1 and a-2 → b-2" in hint
    assert nothing_in_common(base, base.iloc[:0]) == []
    (hint,) = nothing_in_common(base, runs("zzz", server="zzz"))
    assert hint == "No path is on both sides; give the ends the same names with --map PATTERN=NAME"


def test_equal_ends_with_other_methods_have_nothing_in_common() -> None:
    (hint,) = nothing_in_common(runs("a → b"), runs("a → b", "sockperf TCP"))
    assert "different methods: ping in the base, sockperf TCP in the candidate" in hint and "--map" not in hint
    assert nothing_in_common(runs("a → b"), runs("a → b")) == [], "they are copies, or in different regions"


@pytest.mark.costly
@pytest.mark.parametrize(
    ("of_before", "of_after"), thinned([("124", "136"), ("1245", "1245"), ("1235678", "12345678")], 3)
)
def test_lost_runs_are_settled_by_the_lines_that_are_printed(tmp_path: Path, of_before: str, of_after: str) -> None:
    rounds = ROOT / "data" / "raw" / "emulated-nights" / "ping" / "az1a-az3a"
    for side, numbers, first in (("before", of_before, 0), ("after", of_after, 10)):
        (tmp_path / side).mkdir()
        for number in numbers:
            shutil.copy(rounds / f"ping_r{first + int(number)}.txt", tmp_path / side / f"az1-az2_{number}.log")
    refused = compare("before", "after", cwd=tmp_path)
    assert refused.returncode == 3
    lines = re.findall(r"runs of the (\w+) apart: .* write (run=\S+) into study.toml in its folder", refused.stdout)
    for side, line in lines:
        (tmp_path / {"base": "before", "candidate": "after"}[side] / "study.toml").write_text(line, "utf-8")
    settled = compare("before", "after", cwd=tmp_path)
    assert f"{len(of_before)} → {len(of_after)}" in settled.stdout, settled.stdout + settled.stderr


@pytest.mark.costly
def test_two_scenarios_of_one_study(tmp_path: Path, raw: Path) -> None:
    folder = tmp_path / "data" / "raw" / "mine"
    for name, scale in (("old", 1.0), ("new", 2.5)):
        write_side(raw, folder / name, "123", scale=scale)
        (folder / name / "study.toml").unlink(missing_ok=True)
    entries = [f'[[run]]\nlog = "{name}/*"\nscenario = "{name}"\n' for name in ("old", "new")]
    entries += [f'[[run]]\nlog = "*az1a-az{zone}a*"\nzone = "1"\npeer_zone = "{zone}"\n' for zone in (2, 3)]
    (folder / "study.toml").write_text("".join(entries), "utf-8")
    result = compare("mine@old", "mine@new", "--tool", "qperf", cwd=tmp_path)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "zone 1 → zone 2" in result.stdout
    missing = compare("mine@old", "mine@nothing", cwd=tmp_path)
    assert missing.returncode == 2 and "mine has no scenario 'nothing'; known: new, old" in missing.stderr
