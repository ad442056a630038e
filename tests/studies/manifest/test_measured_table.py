"""``[[table]]`` of ``study.toml``: what must be said, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from azlatency.studies.manifest.manifest import read_manifest
from azlatency.studies.store.own_files import ManifestError


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('file = "t.csv"', 'needs file = "…" and columns'),
        ('file = "t.csv"\ncolumns = {zone = "from", rtt_mean = "mean"}', "are the times round trips? Write round_trip"),
        ('file = "t.csv"\ncolumns = {zone = "from"}', "no column holds a number"),
        ('file = "t.csv"\ncolumns = {zones = "from", rtt_mean = "m"}', "'zones' is no key of a run and no number"),
        ('file = "t.csv"\ncolumns = {rtt_mean = "m"}\nround_trip = true\nunit = "parsec"', "unit = 'parsec' is not"),
        ('file = "t.csv"\ncolumns = {rtt_mean = "m"}\nround_trip = 1', "round_trip = 1 is not of type bool"),
        (
            'file = "t.csv"\ncolumns = {rtt_mean = "m"}\nround_trip = true\nwindow = "a month"',
            'write it as in window = "',
        ),
        ('file = "x.csv"\ncolumns = {rtt_mean = "m"}\nround_trip = true', "x.csv"),
        ('file = "t.csv"\ncolumns = {rtt_mean = true}\nround_trip = true', "the column of rtt_mean is True"),
        ('file = "t.csv"\ncolums = 3', "unknown key 'colums' in [[table]]; did you mean 'columns'?"),
    ],
)
def test_a_table_that_is_not_described_is_refused_with_what_to_write(tmp_path: Path, lines: str, said: str) -> None:
    (tmp_path / "t.csv").write_text("from,mean\n1,2\n", "utf-8")
    (tmp_path / "study.toml").write_text(f'[study]\nregion = "eu"\n[[table]]\n{lines}\n', "utf-8")
    with pytest.raises(ManifestError) as caught:
        read_manifest(tmp_path)
    assert said in str(caught.value) and "study.toml:3: " in str(caught.value)
