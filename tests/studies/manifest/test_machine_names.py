"""Names for machines whose addresses change with every run."""

from __future__ import annotations

from pathlib import Path

import azlatency as az
from azlatency.studies.manifest.machine_names import mapped, parse_maps
from azlatency.studies.runs.run_table import run_table


def test_the_first_pattern_that_matches_counts() -> None:
    maps = parse_maps(["10.0.*=a=b", "10.*=c"])
    assert [mapped(name, maps) for name in ("10.0.0.1", "10.1.0.1", "host", None)] == ["a=b", "c", "host", None]


def test_changing_addresses_are_named_by_patterns(tmp_path: Path) -> None:
    """Each run has a new pod; with names for them, runs repeat each other and services stay apart."""
    for number, server in enumerate(["10.42.1.3", "10.42.7.9", "10.43.0.5"]):
        (tmp_path / f"{number}.log").write_text(f"PING {server} ({server}) 56(84) bytes of data.\n")
    text = '[study]\nmachines = ["10.42.*=pod", "10.4*=service"]\n[[run]]\nlog = "*"\nscenario = "cilium"\n'
    (tmp_path / "study.toml").write_text(text.replace("machines", "# machines"))
    summary = az.import_study("mine", [tmp_path], out=tmp_path / "out")
    assert [note[:44] for note in summary.notes] == [
        "scenario 'cilium' covers 3 paths, which are ",
        "if addresses change with every run, as those",
    ]
    (tmp_path / "study.toml").write_text(text)
    az.import_study("mine", [tmp_path], out=tmp_path / "out")
    study = az.load("mine", processed=tmp_path / "out")
    paths = run_table(study)["path"].map(str).tolist()
    assert paths == ["cilium: ? → pod", "cilium: ? → pod", "cilium: ? → service"]
    assert study.runs["server"].tolist() == ["10.42.1.3", "10.42.7.9", "10.43.0.5"]
