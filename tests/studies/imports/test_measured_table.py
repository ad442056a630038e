"""Tables of measurements that somebody else computed: the numbers, their lines and steps, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from helpers.studies import load
from hypothesis import given
from hypothesis import strategies as st

import azlatency as az
from azlatency.gate.history import judge_history
from azlatency.gate.verdict import judge
from azlatency.logs.source.decode import Source
from azlatency.pages.summary import make_card
from azlatency.studies.imports.importer import ImportSummary
from azlatency.studies.imports.measured_table import read_table
from azlatency.studies.manifest.measured_table import MeasuredTable, measured_table
from azlatency.studies.runs.assumptions import assumptions
from azlatency.studies.runs.selection import select_scenario
from azlatency.studies.store.own_files import ManifestError

#: As a person in Germany keeps it: a title, units in headings, commas, dashes, dates without ISO.
GERMAN = """\
Messung der Verfügbarkeitszonen;;;;
Von;Nach;Mittel (ms);p99 (ms);Datum
Zone 1;Zone 2;1,42;3,10;01.02.2026
Zone 1;Zone 3;0,95;-;01.02.2026
Zone 2;Zone 3;n/a;–;01.02.2026
Zone 1;Zone 2;1,4;3,2;08.02.2026
"""
GERMAN_TOML = """\
[[table]]
file = "t.csv"
columns = {started_at = "Datum", zone = "Von", peer_zone = "Nach", rtt_mean = "Mittel (ms)", rtt_p99 = "p99 (ms)"}
unit = "ms"
round_trip = true
headings = 2
decimal = ","
time_format = "%d.%m.%Y"
"""
#: Two rows of headings, thousands with a comma, half round trips, and a rate.
TWO_ROWS = """\
,,RTT/2,RTT/2,Goodput
source AZ,dest AZ,mean us,p99 us,Gbps
use1-az1,use1-az2,612,980,4.9
use1-az2,use1-az4,702,"1,100",4.7
"""
TWO_ROWS_TOML = """\
[[table]]
file = "t.csv"
columns = {zone = "source AZ", peer_zone = "dest AZ", rtt_mean = "mean us", rtt_p99 = 4, throughput = "Gbps"}
unit = "us"
rate_unit = "Gbit/s"
round_trip = false
headings = 2
decimal = "."
"""
PLAIN_TOML = """\
[[table]]
file = "t.csv"
columns = {ended_at = "end", zone = "from", peer_zone = "to", rtt_mean = "mean"}
unit = "ms"
round_trip = true
"""


def imported(tmp_path: Path, text: str, described: str) -> tuple[ImportSummary, az.Study | None]:
    """Import a study of one table."""
    folder = tmp_path / "raw" / "mine"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "t.csv").write_text(text, "utf-8")
    (folder / "study.toml").write_text(f'[study]\nregion = "eu"\n{described}', "utf-8")
    summary = az.import_study("mine", [folder], out=tmp_path / "out")
    return summary, az.load("mine", processed=tmp_path / "out") if summary.usable else None


def test_a_german_spreadsheet_is_read_as_its_author_means_it(tmp_path: Path) -> None:
    summary, study = imported(tmp_path, GERMAN, GERMAN_TOML)
    assert summary.notes == ["t.csv: 1 row without a number left out (line 5)"]
    assert study is not None
    runs = az.latency(study)
    assert list(runs["mean_ns"]) == [1_420_000, 950_000, 1_400_000]
    assert list(runs["mean_ns_resolution"]) == [10_000, 10_000, 100_000]
    assert list(runs["p99_ns"].fillna(0)) == [3_100_000, 0, 3_200_000]
    assert list(runs["path"]) == ["Zone 1 → Zone 2", "Zone 1 → Zone 3", "Zone 1 → Zone 2"]
    assert list(runs["started_at"].dt.strftime("%Y-%m-%d")) == ["2026-02-01", "2026-02-01", "2026-02-08"]
    assert set(runs["status"]) == {"summary_only"} and set(runs["region"]) == {"eu"}
    means = study.metrics[study.metrics["metric"] == "rtt_mean"]
    assert list(zip(means["line"], means["printed"], strict=True)) == [(3, "1,42"), (4, "0,95"), (6, "1,4")]
    (event,) = study.events.to_dict("records")
    assert (event["line"], event["severity"]) == (5, "info") and event[
        "text"
    ] == "1 row without a number left out (line 5)"


def test_half_round_trips_are_doubled_and_rates_are_kept(tmp_path: Path) -> None:
    _, study = imported(tmp_path, TWO_ROWS, TWO_ROWS_TOML)
    assert study is not None
    runs = az.latency(study)
    assert list(runs["mean_ns"]) == [1_224_000, 1_404_000] and list(runs["p99_ns"]) == [1_960_000, 2_200_000]
    assert list(runs["mean_ns_resolution"]) == [2000, 2000]
    assert list(study.quantiles["printed"]) == ["980", "1,100"]
    assert list(az.throughput(study)["throughput_bit_s"]) == [4.9e9, 4.7e9]
    assert set(study.runs["printed_as"]) == {"half_round_trip"}


def test_a_cell_may_have_its_own_unit(tmp_path: Path) -> None:
    text = "end,from,to,mean\n2026-01-31,1,2,850 µs\n2026-02-28,1,2,1.25ms\n2026-03-31,1,2,0.9\n"
    _, study = imported(tmp_path, text, PLAIN_TOML)
    assert study is not None
    assert list(az.latency(study)["mean_ns"]) == [850_000, 1_250_000, 900_000]


MATRIX_TOML = """\
[[table]]
file = "t.csv"
columns = {region = "row", peer_region = "column", rtt_mean = "cell"}
matrix = true
unit = "ms"
round_trip = true
"""


@pytest.mark.parametrize("corner", ["", "from,"])
def test_each_cell_of_a_matrix_is_a_run(tmp_path: Path, corner: str) -> None:
    """As cloudping.co is copied: the headings may lack the one above the first column."""
    text = f"{corner}Stockholm,Mumbai,Paris\nStockholm,4,140,32\nMumbai,137,,114\n"
    summary, study = imported(tmp_path, text, MATRIX_TOML)
    assert study is not None and summary.notes == ["t.csv: 1 row without a number left out (line 3)"]
    runs = az.latency(study)
    assert dict(zip(runs["path"], runs["mean_ns"], strict=True)) == {
        "Stockholm → Stockholm": 4e6,
        "Stockholm → Mumbai": 140e6,
        "Stockholm → Paris": 32e6,
        "Mumbai → Stockholm": 137e6,
        "Mumbai → Paris": 114e6,
    }
    assert list(runs["first_line"]) == [2, 2, 2, 3, 3]


DATES_TOML = MATRIX_TOML.replace(
    'region = "row", peer_region = "column"', 'zone = "from", peer_zone = "to", started_at = "column"'
)


@pytest.mark.parametrize("before", ["", "no,"])
def test_each_cell_below_a_date_is_a_run(tmp_path: Path, before: str) -> None:
    text = f"{before}from,to,2026-01-31,2026-02-28\n{before and '1,'}a,b,1.2,1.3\n{before and '2,'}a,c,,0.7\n"
    described = DATES_TOML.replace("{zone", '{round = "no", zone') if before else DATES_TOML
    summary, study = imported(tmp_path, text, described)
    assert study is not None and summary.notes == ["t.csv: 1 row without a number left out (line 3)"]
    runs = az.latency(study)
    assert list(zip(runs["path"], runs["started_at"].dt.month, runs["mean_ns"], runs["first_line"], strict=True)) == [
        ("zone a → zone b", 1, 1_200_000, 2),
        ("zone a → zone b", 2, 1_300_000, 2),
        ("zone a → zone c", 2, 700_000, 3),
    ]


def test_a_column_that_a_matrix_lacks_is_named_with_those_that_are_there(tmp_path: Path) -> None:
    text = "from,to,2026-01-31\na,b,1.2\n"
    (problem,) = imported(tmp_path, text, DATES_TOML.replace('"to"', '"too"'))[0].problems
    assert problem.startswith("t.csv:1: no column is called 'too' (peer_zone); did you mean 'to'?")
    with pytest.raises(ManifestError, match='the column of peer_zone is 2; of a matrix, write its heading or "row"'):
        imported(tmp_path, text, DATES_TOML.replace('"to"', "2"))


def test_a_number_a_thousand_times_the_usual_one_is_told(tmp_path: Path) -> None:
    summary, study = imported(
        tmp_path,
        "end,from,to,mean\n2026-01-31,1,2,0.52\n2026-01-31,1,3,0.61\n2026-01-31,2,3,612\n",
        PLAIN_TOML,
    )
    assert study is not None and list(study.events["code"]) == ["other_unit"]
    assert summary.notes == [
        "t.csv: rtt_mean 612 in line 4 is 1,003 times the usual one: if its unit is another, write it into the cell"
    ]


def test_rows_with_errors_are_named_where_the_others_are_used(tmp_path: Path) -> None:
    _, study = imported(tmp_path, "end,from,to,mean\n2026-01-31,1,2,0.52\n2026-01-31,1,3,?\n", PLAIN_TOML)
    line = "t.csv:3: '?' is no number (rtt_mean); correct the cell or empty it"
    assert study is not None and assumptions(study)[-1] == f"rows with errors left out: {line}"
    part = select_scenario(study, "2026-01")
    assert judge(part, part, names=("a", "b")).remarks[1:] == tuple(
        f"{a}: rows with errors left out: {line}" for a in "ab"
    )
    assert judge_history({"mine": study}).record()["left_out"] == [f"rows with errors left out: {line}"]


def test_years_in_the_names_of_tables_are_dates(tmp_path: Path) -> None:
    """A window that ended in January began in the year before."""
    folder = tmp_path / "raw" / "mine"
    folder.mkdir(parents=True)
    for year in (2025, 2026):
        (folder / f"zones-{year}-06.csv").write_text(f"end,from,to,mean\n{year}-01-15,1,2,0.5\n{year}-06-15,1,2,0.6\n")
    described = WINDOWS_TOML.replace("t.csv", "zones-*.csv")
    (folder / "study.toml").write_text(f"[study]\n{described}", "utf-8")
    az.import_study("mine", [folder], out=tmp_path / "out")
    runs = az.latency(az.load("mine", processed=tmp_path / "out"))
    assert set(runs["path"]) == {"zone 1 → zone 2"} and len(runs) == 4


@pytest.mark.costly
def test_scenarios_of_one_table_are_compared_though_their_windows_are_of_one_time(tmp_path: Path) -> None:
    text = "end,what,from,to,mean\n2026-01-31,cubic,1,2,0.5\n2026-01-31,vegas,1,2,0.6\n"
    described = PLAIN_TOML.replace("ended_at", 'scenario = "what", ended_at') + 'window = "30 d"\n'
    _, study = imported(tmp_path, text, described)
    assert study is not None
    sides = [select_scenario(study, name) for name in ("cubic", "vegas")]
    (row,) = judge(*sides, names=("cubic", "vegas")).rows.to_dict("records")
    assert (row["base"], row["candidate"]) == (5e5, 6e5)


@pytest.mark.costly
def test_a_series_of_rates_beside_one_of_times_does_no_harm(tmp_path: Path) -> None:
    """The last rates fall, in rows without a time."""
    ends = pd.date_range("2025-01-05", periods=14, freq="35D").strftime("%Y-%m-%d")
    times = [f"{end},1,2,{0.5 + 0.01 * (place % 3)}," for place, end in enumerate(ends)]
    rates = [f"{end},1,3,,{5 if place < 12 else 2}" for place, end in enumerate(ends)]
    described = PLAIN_TOML.replace('rtt_mean = "mean"', 'rtt_mean = "mean", throughput = "rate"')
    described += 'window = "30 d"\nrate_unit = "Gbit/s"\n'
    _, study = imported(tmp_path, "\n".join(["end,from,to,mean,rate", *times, *rates, ""]), described)
    assert study is not None and "one_run" in make_card(study).readers


def test_a_window_longer_than_the_series_is_told(tmp_path: Path) -> None:
    _, study = imported(tmp_path, weekly(1.5, 1.6, 1.5), WINDOWS_TOML.replace("30 d", "300 d"))
    assert study is not None
    assert assumptions(study)[-1].endswith("a window is as long as the whole series, so one of each path is left")


def test_a_path_without_a_value_in_the_newest_window_is_named(tmp_path: Path) -> None:
    text = "end,from,to,mean\n2026-01-31,1,2,0.5\n2026-01-31,1,3,0.7\n2026-03-31,1,2,0.5\n2026-03-31,1,3,-\n"
    _, study = imported(tmp_path, text, WINDOWS_TOML)
    assert study is not None and assumptions(study)[-1] == (
        "ended before the newest window, so left out of what is said of now: 1 path (zone 1 → zone 3)"
    )


def test_a_unit_in_the_heading_of_a_matrix_is_no_name(tmp_path: Path) -> None:
    described = MATRIX_TOML.replace("region", "zone").replace("peer_zone", "peer_zone")
    summary, study = imported(tmp_path, "from,z1 (ms),z2 (us)\nz1,,620\nz2,0.61,\n", described)
    assert study is None and summary.problems[0].startswith("t.csv:1: the heading 'z1 (ms)' has a unit; name the end")


def test_a_heading_that_is_no_date_is_refused_in_its_line(tmp_path: Path) -> None:
    text = "from,to,region,2026-01-31\na,b,eu,1.2\n"
    summary, study = imported(tmp_path, text, DATES_TOML)
    assert study is not None and list(az.latency(study)["mean_ns"]) == [1_200_000]
    assert summary.problems == [
        "t.csv:1: the heading 'region' is no date: add it to columns, delete it, or write time_format in study.toml:3"
    ]


def test_a_heading_that_names_a_round_trip_is_not_half_of_one(tmp_path: Path) -> None:
    text, described = "from,to,RTT (ms)\n1,2,0.62\n", PLAIN_TOML.replace('ended_at = "end", ', "")
    described = described.replace('"mean"', '"RTT (ms)"').replace("true", "false")
    summary, study = imported(tmp_path, text, described)
    assert study is None and "names a round trip, and round_trip = false" in summary.problems[0]
    _, study = imported(tmp_path, text, described.replace('"RTT (ms)"', "3"))
    assert study is not None and list(az.latency(study)["mean_ns"]) == [1_240_000]


def test_a_point_may_separate_thousands_where_semicolons_separate_cells(tmp_path: Path) -> None:
    text = "sep=;\nfrom;to;mean\n1;2;1.234\n"
    described = PLAIN_TOML.replace('ended_at = "end", ', "").replace('"ms"', '"us"')
    summary, _ = imported(tmp_path, text, described)
    assert summary.problems[0].startswith("t.csv:3: is the point in '1.234' the decimal sign? Write decimal = \".\"")
    for sign, value in ((".", 1234), (",", 1_234_000)):
        _, study = imported(tmp_path, text, f'{described}decimal = "{sign}"\n')
        assert study is not None and list(az.latency(study)["mean_ns"]) == [value]


def test_the_time_of_a_whole_table_may_stand_in_the_manifest(tmp_path: Path) -> None:
    described = PLAIN_TOML.replace('ended_at = "end", ', "") + 'ended_at = "2026-06-30"\nwindow = "30 d"\n'
    _, study = imported(tmp_path, "from,to,mean\n1,2,0.5\n", described)
    assert study is not None and str(az.latency(study)["started_at"].iloc[0]) == "2026-06-01 00:00:00+00:00"
    with pytest.raises(ManifestError, match="started_at and ended_at; keep one"):
        imported(tmp_path, "from,to,mean\n1,2,0.5\n", described + 'started_at = "2026-06-01"\n')


@pytest.mark.parametrize(("text", "start"), [("2026-06", "2026-06-01"), ("2026-W31", "2026-07-27")])
def test_months_and_weeks_begin_with_their_first_day(tmp_path: Path, text: str, start: str) -> None:
    table = f"end,from,to,mean\n{text},1,2,0.5\n"
    _, study = imported(tmp_path, table, PLAIN_TOML.replace("ended_at", "started_at"))
    assert study is not None and str(az.latency(study)["started_at"].iloc[0]) == f"{start} 00:00:00+00:00"
    summary, _ = imported(tmp_path, table, PLAIN_TOML)
    assert "is no day on which a window ended; name it started_at" in summary.problems[0]


def test_rows_and_columns_that_are_computed_from_others_are_no_ends(tmp_path: Path) -> None:
    summary, study = imported(tmp_path, "from,a,b,Average\na,1,2,1.5\nb,3,4,3.5\nAverage,2,3,\n", MATRIX_TOML)
    assert study is not None and len(az.latency(study)) == 4
    assert any("'Average' (peer_region) is no end of a path; delete" in error for error in summary.problems)


@pytest.mark.parametrize("heading", ["rtt/2", "half RTT [ms]", "one-way latency", "owd_ms", "Einweg-Latenz (ms)"])
def test_a_heading_that_names_no_round_trip_is_not_one(tmp_path: Path, heading: str) -> None:
    described = f'[[table]]\nfile = "t.csv"\ncolumns = {{zone = "a", peer_zone = "b", rtt_mean = "{heading}"}}\n'
    described += 'unit = "ms"\nround_trip = true\n'
    summary, study = imported(tmp_path, f"a,b,{heading}\n1,2,0.5\n", described)
    assert study is None and any("names no round trip, and round_trip = true" in error for error in summary.problems)
    assert imported(tmp_path, f"a,b,{heading}\n1,2,0.5\n", described.replace("true", "false"))[1] is not None


def test_remarks_without_a_heading_and_a_row_of_units_do_no_harm(tmp_path: Path) -> None:
    text = "Von;Nach;RTT;;\n;;[ms];;\nZone 1;Zone 2;1,42;;ruhig\nZone 1;Zone 3;0,95;;\n"
    described = '[[table]]\nfile = "t.csv"\ncolumns = {zone = "Von", peer_zone = "Nach", rtt_mean = "RTT"}\n'
    described += 'unit = "ms"\nround_trip = true\ndecimal = ","\n'
    _, study = imported(tmp_path, text, described)
    assert study is not None and list(az.latency(study)["mean_ns"]) == [1.42e6, 0.95e6]


def test_a_short_row_of_a_matrix_is_refused(tmp_path: Path) -> None:
    summary, study = imported(tmp_path, "from,a,b\na,1,2\nb,3\n", MATRIX_TOML)
    assert study is not None and list(az.latency(study)["mean_ns"]) == [1e6, 2e6]
    assert summary.problems == ["t.csv:3: only 1 cell under 3 headings: complete or delete the row"]


def test_a_parquet_file_is_read_as_the_csv_file_with_its_rows(tmp_path: Path) -> None:
    """Row 1 is line 2. 1.5 has no printed digits, so its step is asked."""
    ends = pd.to_datetime(["2026-01-31", "2026-02-28"])
    frame = pd.DataFrame({"end": ends, "from": ["1", "1"], "to": ["2", "3"], "mean": [1.5, 0.85]})
    folder = tmp_path / "raw" / "mine"
    folder.mkdir(parents=True)
    frame.to_parquet(folder / "t.parquet", index=False)
    described = PLAIN_TOML.replace("t.csv", "t.parquet")
    (folder / "study.toml").write_text(f"[study]\n{described}", "utf-8")
    [problem] = az.import_study("mine", [folder], out=tmp_path / "out").problems
    assert problem.startswith(
        't.parquet:1: a Parquet file shows no step of its numbers; write it, such as step = "0.01"'
    )
    (folder / "study.toml").write_text(f'[study]\n{described}step = "0.01"\n', "utf-8")
    assert not az.import_study("mine", [folder], out=tmp_path / "out").problems
    runs = az.latency(az.load("mine", processed=tmp_path / "out"))
    assert list(runs["mean_ns"]) == [1_500_000, 850_000] and list(runs["first_line"]) == [2, 3]
    assert list(runs["mean_ns_resolution"]) == [10_000, 10_000]


def weekly(*values: float, each_days: int = 7) -> str:
    ends = pd.date_range("2025-01-05", periods=len(values), freq=f"{each_days}D").strftime("%Y-%m-%d")
    rows = [f"{end},1,2,{value}\n{end},2,1,{value}" for end, value in zip(ends, values, strict=True)]
    return "\n".join(["end,from,to,mean", *rows, ""])


WINDOWS_TOML = f'{PLAIN_TOML}window = "30 d"\nsame_both_ways = true\n'


def test_a_number_that_holds_both_ways_counts_once(tmp_path: Path) -> None:
    _, study = imported(tmp_path, weekly(1.5, 1.6), WINDOWS_TOML)
    assert study is not None
    assert list(study.runs["first_line"]) == [2, 4]
    other = weekly(1.5, 1.6).replace("2,1,1.6", "2,1,1.7")
    summary, _ = imported(tmp_path, other, WINDOWS_TOML)
    assert len(summary.problems) == 1 and summary.problems[0].startswith("t.csv:5: 1.7 here and 1.6 in line 4 for the")


def test_only_windows_that_do_not_overlap_are_replicates(tmp_path: Path) -> None:
    """A mean of the 30 days up to 2 March has 23 of them in common with that up to 9 March."""
    _, study = imported(tmp_path, weekly(*(1 + week / 100 for week in range(11))), WINDOWS_TOML)
    assert study is not None
    runs = az.latency(study)
    assert len(study.runs) == 11
    # The end of a day ends the window: from 15 February to 16 March, and five weeks before, and ten.
    assert list(runs["started_at"].dt.strftime("%m-%d")) == ["12-07", "01-11", "02-15"]
    (row,) = az.summarize(runs, "mean_ns").to_dict("records")
    assert row["n"] == 3 and row["estimate"] == 1_050_000
    assert "used: 3 of 11 windows; the others overlap a later one of their path" in "\n".join(assumptions(study))
    assert list(az.history(runs).points["value"]) == [1_000_000, 1_050_000, 1_100_000]


def test_a_step_of_the_print_is_that_of_the_table_where_zeros_are_missing(tmp_path: Path) -> None:
    _, study = imported(tmp_path, weekly(1.5, 1.62), f'{WINDOWS_TOML}step = "0.01"\n')
    assert study is not None
    assert set(study.metrics["resolution"]) == {5000.0}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("2026-01-31,1,2,1,42", "t.csv:2: 5 cells under 4 headings: put texts and numbers that contain the separator"),
        ("2026-01-31,1,2,1.4,,", ""),
        ("2026-01-31,1,2,.85\n2026-02-28,1,2,1e-3", "t.csv:2: .85 (rtt_mean) is about a thousand times the others"),
        (
            "2026-01-31,1,2,1.05\n2026-02-28,1,2,1070\n2026-03-31,1,2,1.06",
            "t.csv:3: 1070 (rtt_mean) is about a thousand",
        ),
        (
            '2026-01-31,1,"2\n3",1.05',
            "t.csv:2: a line break in peer_zone: a quotation mark is missing, or one too many",
        ),
        ("0001-01-01,1,2,1.05", "t.csv:2: the year of '0001-01-01' is not between 1980 and 2099; correct it"),
        ("2026-W02,1,2,1.05", "t.csv:2: '2026-W02' is no day on which a window ended; name it started_at in "),
        (",1,2,1.05", "t.csv:2: ended_at is empty: complete it, or delete the row"),
        ("2026-01-31,1,2,-", "t.csv:1: no row has a number; check the file"),
        ("31.01.2026,1,2,1.4", "t.csv:2: '31.01.2026' is no date of the form 2026-01-31; correct it, or say how"),
        ("2026-01-31,1,,1.4", "t.csv:2: peer_zone is empty: each row needs both ends"),
        ("2026-01-31,1,2,about 3", "t.csv:2: 'about 3' is no number (rtt_mean); correct the cell or empty it"),
        ("2026-01-31,1,2,-1.4", "t.csv:2: '-1.4' is no rtt_mean: it must be above 0"),
        ("2026-01-31,1,2,1 4", "t.csv:2: '1 4' is no number with the decimal sign '.'; correct the cell"),
        ('2026-01-31,1,2,"1,42"', "t.csv:2: is the comma in '1,42' the decimal sign? Write decimal = \",\" into "),
        ("2026-01-31,1,2,12 Mbit/s", "t.csv:2: '12 Mbit/s' is no rtt_mean with a known unit"),
        ("2026-01-31,1", "t.csv:2: only 2 cells under 4 headings: complete or delete the row"),
        ("2026-01-31,1,2,1.4\n2026-01-31,1,2,1.5", "t.csv:3: 1.5 here and 1.4 in line 2 for the same ends and time"),
        (
            "2026-01-31,1,2,x\n2026-01-31,1,3,y",
            "t.csv:2: 'x' is no number (rtt_mean); correct the cell or empty it (2 ",
        ),
    ],
)
def test_bad_cells_are_told_in_one_line_with_file_and_line(tmp_path: Path, rows: str, said: str) -> None:
    summary, _ = imported(tmp_path, f"end,from,to,mean\n{rows}\n", PLAIN_TOML)
    assert len(summary.problems) == bool(said)
    assert not said or summary.problems[0].startswith(said)


@pytest.mark.parametrize(
    ("heading", "said"),
    [
        (
            "end,from,to,average",
            "no column is called 'mean' (rtt_mean); the headings are end, from, to, average; correct",
        ),
        ("end,from,to,means", "no column is called 'mean' (rtt_mean); did you mean 'means'?; correct columns in "),
        (
            "mean,from,end,mean",
            "2 columns are called 'mean' (rtt_mean): write its number, such as 1; correct columns in ",
        ),
        (",,,", "line 1 has no headings; write headings = their line into "),
    ],
)
def test_a_heading_that_is_not_there_is_told_with_those_that_are(tmp_path: Path, heading: str, said: str) -> None:
    described = PLAIN_TOML.replace('ended_at = "end", zone = "from", peer_zone = "to", ', "zone = 2, peer_zone = 3, ")
    summary, _ = imported(tmp_path, f"{heading}\n1,2,3,4\n", described)
    assert len(summary.problems) == 1 and summary.problems[0].startswith(f"t.csv:1: {said}")


def test_a_unit_in_the_heading_must_be_that_of_the_manifest(tmp_path: Path) -> None:
    described = PLAIN_TOML.replace('"mean"', '"mean [µs]"')
    summary, _ = imported(tmp_path, "end,from,to,mean [µs]\n2026-01-31,1,2,1050\n", described)
    assert summary.problems[0].startswith("t.csv:1: the heading 'mean [µs]' says µs, and unit says ms; correct one in ")


def test_of_two_different_numbers_for_one_time_neither_is_used(tmp_path: Path) -> None:
    text = "end,from,to,mean\n2026-01-31,1,2,1.05\n2026-01-31,1,2,1.07\n2026-02-28,1,2,1.1\n2026-02-28,1,2,1.10\n"
    summary, study = imported(tmp_path, text, PLAIN_TOML)
    assert study is not None and list(az.latency(study)["mean_ns"]) == [1_100_000]
    assert "1.07 here and 1.05 in line 2 for the same ends and time, so neither is used" in summary.problems[0]
    assert summary.notes == ["t.csv: 1 row with the ends, time and numbers of another left out (line 5)"]


def test_a_loss_in_percent_says_so_in_its_heading_and_is_at_most_all(tmp_path: Path) -> None:
    described = PLAIN_TOML.replace('rtt_mean = "mean"', 'rtt_mean = "mean", loss = "loss (%)"')
    text = "end,from,to,mean,loss (%)\n2026-01-31,1,2,1.05,0.02\n2026-02-28,1,2,1.05,0\n2026-03-31,1,2,1.05,120\n"
    summary, study = imported(tmp_path, text, described)
    assert study is not None
    losses = study.metrics[study.metrics["metric"] == "loss"]["value"]
    assert list(losses) == [pytest.approx(0.0002), 0.0]
    assert "'120' is no loss: it must be between 0 and 1, or 0 % and 100 %" in summary.problems[0]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("5,1,0.5,6", "rtt_p99 6 is above rtt_max 0.5"),
        ("1,2,3,1500", "rtt_p99 1500 is above rtt_max 3"),
        ("1,2,2000,1500", "rtt_mean 2 and rtt_p99 1500 are a thousand times apart: write the unit into each cell"),
    ],
)
def test_numbers_of_one_row_must_agree(tmp_path: Path, row: str, said: str) -> None:
    columns = "columns = {zone = 1, peer_zone = 2, rtt_min = 3, rtt_mean = 4, rtt_max = 5, rtt_p99 = 6}"
    described = f'[[table]]\nfile = "t.csv"\nunit = "ms"\nround_trip = true\n{columns}\n'
    summary, _ = imported(tmp_path, f"from,to,min,mean,max,p99\na,b,{row}\n", described)
    assert len(summary.problems) == 1 and summary.problems[0].startswith(f"t.csv:2: {said}")


def test_regions_are_ends_also_of_a_path_inside_one(tmp_path: Path) -> None:
    described = '[[table]]\nfile = "t.csv"\nunit = "ms"\nround_trip = true\n'
    described += 'columns = {region = "src", peer_region = "dst", rtt_mean = "mean"}\n'
    _, study = imported(tmp_path, "src,dst,mean\nSeoul,Seoul,3.3\nTokyo,Tokyo,2.2\nSeoul,Tokyo,33\n", described)
    assert study is not None
    assert list(az.latency(study)["path"]) == ["Seoul → Seoul", "Tokyo → Tokyo", "Seoul → Tokyo"]


def test_pairs_in_any_order_are_one_path_if_a_number_holds_both_ways(tmp_path: Path) -> None:
    weeks = pd.date_range("2024-01-07", periods=20, freq="7D").strftime("%Y-%m-%d")
    ways = [("1,2", "2,1")[:: 1 if place % 2 else -1] for place in range(len(weeks))]
    rows = [f"{week},{way},1.{place}" for place, week in enumerate(weeks) for way in ways[place]]
    _, study = imported(tmp_path, "\n".join(["end,from,to,mean", *rows, ""]), WINDOWS_TOML)
    assert study is not None
    runs = az.latency(study)
    assert set(runs["path"]) == {"zone 1 → zone 2"} and len(study.runs) == 20 and len(runs) == 4


def test_a_window_without_its_number_does_not_count_before_one_that_has_it(tmp_path: Path) -> None:
    ends = pd.date_range("2024-01-07", periods=40, freq="7D").strftime("%Y-%m-%d")
    rows = [f"{end},1,2,{'' if place % 5 == 4 else 1.5},9" for place, end in enumerate(ends)]
    described = WINDOWS_TOML.replace('rtt_mean = "mean"', 'rtt_mean = "mean", rtt_max = "max"')
    _, study = imported(tmp_path, "\n".join(["end,from,to,mean,max", *rows, ""]), described)
    assert study is not None and len(az.latency(study)) == 8


def test_a_table_is_never_pooled_with_a_log(tmp_path: Path) -> None:
    _, study = imported(tmp_path, "end,from,to,mean\n2026-01-31,1,2,1.05\n", f'{PLAIN_TOML}tool = "ping"\n')
    assert study is not None and set(study.runs["tool"]) == {"ping (table)"}


@given(st.text(alphabet='0123456789.,;-+eE"\n\t abZ|µ\x00', max_size=300))
def test_any_text_is_a_table_or_told(text: str) -> None:
    raw = text.encode()
    source = Source("t.csv", "0" * 64, len(raw), "utf-8", text)
    _, table = measured_table(
        "study.toml:1",
        {"file": "t.csv", "columns": {"scenario": 1, "rtt_mean": 1}, "unit": "ms", "round_trip": True},
        frozenset({"scenario"}),
    )
    logs = read_table(source, MeasuredTable.from_text(table.as_text))
    (row,) = logs.rows["sources"]
    kinds = ("data", "known", "blank", "prose", "unknown")
    assert row["lines"] == sum(row[f"lines_{kind}"] for kind in kinds)
    assert all(value["value"] > 0 for value in logs.rows["metrics"])


#: Line of ``zones.csv``, its two ends, its value in ms, and the first day of its 30, read by hand.
PUBLISHED = [
    (2, "Dallas 1", "Dallas 2", 2.13, "2023-02-18"),
    (26, "Sao Paulo 1", "Sao Paulo 2", 1.98, "2023-02-18"),
    (16537, "us-east-wdc07-a", "us-east-wdc07-a", 0.08, "2026-07-18"),
]


@pytest.mark.parametrize(("line", "zone", "peer", "milliseconds", "start"), PUBLISHED)
def test_a_published_table_has_its_numbers_and_lines(
    line: int, zone: str, peer: str, milliseconds: float, start: str
) -> None:
    study = load("ibm-cloud-zones")
    (run,) = study.runs[study.runs["first_line"] == line].to_dict("records")
    assert (run["zone"], run["peer_zone"], f"{run['started_at']:%Y-%m-%d}") == (zone, peer, start)
    (metric,) = study.metrics[study.metrics["run_id"] == run["run_id"]].to_dict("records")
    assert metric["value"] == pytest.approx(milliseconds * 1e6, rel=1e-12) and metric["line"] == line
    assert metric["resolution"] == 5000
