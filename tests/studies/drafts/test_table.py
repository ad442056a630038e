"""The first ``[[table]]`` of a CSV file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies.imports.test_measured_table import GERMAN

from azlatency.logs.source.decode import Source
from azlatency.logs.source.expand import expand
from azlatency.studies.drafts.table import draft_table


def source_of(tmp_path: Path, text: str) -> Source:
    file = tmp_path / "t.csv"
    file.write_text(text, "utf-8")
    (source,) = (found for found in expand(file) if isinstance(found, Source))
    return source


def test_a_draft_says_what_the_headings_say_and_asks_the_rest(tmp_path: Path) -> None:
    assert draft_table(source_of(tmp_path, GERMAN), "t.csv") == [
        "[[table]]",
        'file = "t.csv"',
        'columns = {client = "Von", server = "Nach", rtt_mean = "Mittel (ms)", rtt_p99 = "p99 (ms)", '
        'started_at = "Datum"}',
        'unit = "ms"',
        "# round_trip = true   # or false: half round trips. Ask who measured",
        "headings = 2",
        '# decimal = ","   # or ".": what the comma in a number is',
        '# time_format = "%d.%m.%Y"   # how 01.02.2026 is written',
        '# window = "30 d"   # if each number is about so long a time',
    ]
    assert draft_table(source_of(tmp_path, "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data.\n"), "t.csv") == []


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (
            "from,to,max_ms,min_ms,stddev_ms,avg_ms\na,b,3,1,0.1,2\n",
            'client = "from", server = "to", rtt_max = "max_ms", rtt_min = "min_ms", rtt_mean = "avg_ms"',
        ),
        (
            "az_from,az_to,jitter_ms,latency_ms\na,b,0.1,3\n",
            'zone = "az_from", peer_zone = "az_to", rtt_mean = "latency_ms"',
        ),
        (
            "SourceRegion,TargetRegion,AvgLatency(ms),StdDev(ms),Loss(%)\na,b,2,.1,0\n",
            'region = "SourceRegion", peer_region = "TargetRegion", rtt_mean = "AvgLatency(ms)", loss = "Loss(%)"',
        ),
        (
            ",,RTT,RTT,Goodput\nsource AZ,dest AZ,mean us,p99 us,Gbps\na,b,612,980,4.9\n",
            'zone = "source AZ", peer_zone = "dest AZ", rtt_mean = "mean us", rtt_p99 = "p99 us", throughput = "Gbps"',
        ),
        ("from,to,value\nA,A,\nA,B,8\n", 'client = "from", server = "to"'),
        ("ts_epoch_ms,dst,seq,rtt_ms\n1764000000123,b,1,0.5\n", 'server = "dst", rtt_mean = "rtt_ms"'),
    ],
)
def test_headings_say_which_column_is_what(tmp_path: Path, text: str, columns: str) -> None:
    assert draft_table(source_of(tmp_path, text), "t.csv")[2] == f"columns = {{{columns}}}"


def test_a_column_for_each_date_is_a_matrix(tmp_path: Path) -> None:
    source = source_of(tmp_path, "from,to,01.02.2026,08.02.2026,remark\n1,2,0.5,0.6,calm\n")
    assert draft_table(source, "t.csv") == [
        "[[table]]",
        'file = "t.csv"',
        'columns = {client = "from", server = "to", started_at = "column", rtt_mean = "cell"}',
        "matrix = true   # the dates are headings; ended_at, if they are the ends of windows",
        "# neither an end nor a date; add ends to columns, delete the others: remark",
        '# unit = "…"   # the unit of the cells below 01.02.2026',
        "# round_trip = true   # or false: half round trips. Ask who measured",
        '# time_format = "%d.%m.%Y"   # how 01.02.2026 is written',
        '# window = "30 d"   # if each number is about so long a time',
    ]


def test_a_square_of_names_is_a_matrix(tmp_path: Path) -> None:
    lines = draft_table(source_of(tmp_path, "from/to,z1,z2\nz1,,0.6\nz2,0.6,\n"), "t.csv")
    assert lines[2:5] == [
        'columns = {client = "row", server = "column", rtt_mean = "cell"}',
        "matrix = true   # zone and peer_zone, or region and peer_region, if the ends are these",
        '# unit = "…"   # the unit of the cells',
    ]


@given(st.text(alphabet='0123456789.,;-+eE"\n\t abZ|µ\x00', max_size=300))
def test_any_text_has_a_draft_or_none(text: str) -> None:
    assert isinstance(draft_table(Source("t.csv", "0" * 64, len(text.encode()), "utf-8", text), "t.csv"), list)
