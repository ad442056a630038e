"""Patterns of file names: what they read, and what they refuse."""

from __future__ import annotations

import time

import pytest

from azlatency.studies.manifest.path_pattern import PathPattern, PatternError

TYPES = {
    **dict.fromkeys(("region", "zone", "peer_region", "peer_zone", "scenario", "client"), "string"),
    "repeat": "int64", "started_at": "timestamp", "accelerated_networking": "bool",
}  # fmt: skip


def match(pattern: str, path: str) -> dict[str, str] | None:
    return PathPattern.parse(pattern, TYPES).match(path)


@pytest.mark.parametrize(
    ("pattern", "path", "values"),
    [
        (
            "host-{region}-{zone}_gcp/target-{peer_region}-{peer_zone}/*/{scenario}_{repeat}.res",
            "dump.tgz!host-us-central1-a_gcp/target-europe-west1-c/2024-05-01/tcp_rr_3.res",
            "us-central1 a europe-west1 c tcp_rr 3",
        ),
        ("{region}-{zone}/{peer_region}{peer_zone}.log", "top/us-east-1-use1-az1/us-west-2b.log", None),
        ("{region}-{zone}/{peer_zone}.log", "top/us-east-1-use1-az1/use1-az2.log", "us-east-1 use1-az1 use1-az2"),
        ("az{zone}-az{peer_zone}_*_r{repeat}.txt", "az1-az3_2024-05-01_r12.txt", "1 3 12"),
        ("az{zone}-az{peer_zone}.txt", "az1-az3_x/y.txt", None),
        ("r{repeat}.txt", "rx.txt", None),
        ("{started_at}_{accelerated_networking}.log", "2024-05-01T10:00:00Z_yes.log", "2024-05-01T10:00:00Z yes"),
    ],
)
def test_values_of_a_path(pattern: str, path: str, values: str | None) -> None:
    if "}{" in pattern:
        with pytest.raises(PatternError, match="nothing separates"):
            match(pattern, path)
        return
    fields = match(pattern, path)
    # The fields in the order of the pattern.
    names = [part.partition("}")[0] for part in pattern.split("{")[1:]]
    assert (None if fields is None else " ".join(fields[name] for name in names)) == values


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("x.log", "no field"),
        ("{zone", "unpaired brace"),
        ("{}", "unknown field"),
        ("{zone}-{zone}", "occurs twice"),
        ("*{zone}", "nothing separates"),
        ("-".join(f"{{{name}}}" for name in TYPES) + "/*" * 70, "more than 16 fields"),
    ],
)
def test_unusable_patterns(pattern: str, says: str) -> None:
    with pytest.raises(PatternError, match=says):
        match(pattern, "x")


def test_the_time_is_bounded() -> None:
    names = ("region", "zone", "scenario", "client", "peer_region", "peer_zone")
    pattern = "-".join(f"{{{name}}}" for name in names) + "!"
    start = time.process_time()
    assert match(pattern, "-" * 255) is None and match(pattern, "-" * 256 + "x!") is None
    assert time.process_time() - start < 5, "a pattern with backtracking takes years"
