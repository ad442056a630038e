"""``[[table]]`` of ``study.toml``: what must be said, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from azlatency.studies.manifest import measured_table
from azlatency.studies.manifest.manifest import read_manifest
from azlatency.studies.store.own_files import ManifestError


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('file = "t.csv"', 'needs file = "…" and columns'),
        (
            'file = "t.csv"\ncolumns = {zone = "from", peer_zone = "to", rtt_mean = "mean"}',
            "are the times round trips? Write round_trip",
        ),
        ('file = "t.csv"\ncolumns = {zone = "from"}', "no column holds a number"),
        ('file = "t.csv"\ncolumns = {zones = "from", rtt_mean = "m"}', "'zones' is no key of a run and no number"),
        (
            'file = "t.csv"\ncolumns = {scenario = 1, rtt_mean = "m"}\nround_trip = true\nunit = "parsec"',
            "unit = 'parsec' is not",
        ),
        (
            'file = "t.csv"\ncolumns = {scenario = 1, rtt_mean = "m"}\nround_trip = 1',
            "round_trip = 1 is not of type bool",
        ),
        (
            'file = "t.csv"\nround_trip = true\nwindow = "month"\ncolumns = {scenario = 1, ended_at = 2, rtt_mean = 3}',
            'write it as in window = "',
        ),
        ('file = "x.csv"\ncolumns = {scenario = 1, rtt_mean = "m"}\nround_trip = true', "x.csv"),
        ('file = "t.csv"\ncolumns = {rtt_mean = true}\nround_trip = true', "the column of rtt_mean is True"),
        ('file = "t.csv"\ncolumns = {zone = "from", rtt_mean = "m"}', "columns do not say the ends of a path"),
        (
            'file = "t.csv"\ncolumns = {peer_zone = "from", rtt_mean = "m"}',
            "zone and peer_zone are the two ends of a path",
        ),
        ('file = "t.csv"\ncolumns = {zone = 1, peer_zone = 1, rtt_mean = 2}', "zone and peer_zone are the two ends of"),
        ('file = "t.csv"\ncolumns = {scenario = 1, rtt_p99 = "m"}', "beside rtt_p99, a table needs rtt_mean"),
        ('file = "t.csv"\ncolumns = {scenario = 1, rtt_median = 2, rtt_p50 = 3}', "two columns hold one percentile"),
        ('file = "t.csv"\ncolumns = {scenario = 1, throughput = 2}\nwindow = "30 d"', "window needs started_at or"),
        ('file = "t.csv"\ncolumns = {scenario = 1, throughput = 2}\ntime_format = "%b %Y"', "with day and year"),
        ('file = "t.csv"\ncolums = 3', "unknown key 'colums' in [[table]]; did you mean 'columns'?"),
    ],
)
def test_a_table_that_is_not_described_is_refused_with_what_to_write(tmp_path: Path, lines: str, said: str) -> None:
    (tmp_path / "t.csv").write_text("from,mean\n1,2\n", "utf-8")
    (tmp_path / "study.toml").write_text(f'[study]\nregion = "eu"\n[[table]]\n{lines}\n', "utf-8")
    with pytest.raises(ManifestError) as caught:
        read_manifest(tmp_path)
    assert said in str(caught.value) and "study.toml:3: " in str(caught.value)


def test_every_module_that_reads_tables_makes_an_import_out_of_date() -> None:
    studies = Path(measured_table.__file__).parents[1]
    found = {
        f"{path.parent.name}/{path.name}"
        for part in ("imports", "manifest")
        for path in (studies / part).glob("*table*.py")
    }
    assert found == set(measured_table._READERS)
