"""Tables declared by columns: text, HTML, CSV values, and the references that they carry."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from helpers.tables import text_table

from azlatency.kit.cells import (
    GIGABITS,
    MICROSECONDS,
    P_VALUE,
    PERCENT,
    Column,
    FileRef,
    Format,
    ReportedRef,
    RunsRef,
    Table,
    interval,
    number_format,
    ref_record,
    table_html,
    tied,
    with_interval,
    words,
)

HOSTILE = "</td><script>alert(1)</script>"


class Row(NamedTuple):
    """A row of results."""

    path: str
    value: float | None
    low: float | None
    high: float | None
    run_ids: tuple[str, ...] = ("r-01",)


COLUMNS: list[Column] = [
    Column("path", lambda row: row.path),
    Column("RTT", lambda row: row.value, number_format(",.1f"), MICROSECONDS),
    Column("interval", lambda row: (row.low, row.high), interval(",.0f"), MICROSECONDS),
]
ROWS = [Row("a → b", 1234567.8, 1e6, 2e6), Row("b → a", None, None, 5.0)]


def test_a_table_in_text_is_aligned() -> None:
    assert repr(Table("Title", COLUMNS, ROWS)).splitlines() == [
        "Title",
        "",
        "path   RTT, µs   interval, µs",
        "a → b  1,234.6  1,000 – 2,000",
        "b → a",
    ]
    table = text_table("Title", ("path", "µs"), [("A", "1,000"), ("Bcd", "2")], {1}, ("Note.",))
    assert repr(table).splitlines() == ["Title", "", "path     µs", "A     1,000", "Bcd       2", "Note."]


def test_a_table_is_one_semantic_table_and_escapes_everything() -> None:
    table = text_table(HOSTILE, ("path", HOSTILE), [("A", HOSTILE), ("B", "2")], {1}, (HOSTILE,))
    soup = BeautifulSoup(table_html(table.record()), "html.parser")
    assert soup.script is None
    assert soup.caption is not None and soup.caption.text == HOSTILE
    assert [cell["scope"] for cell in soup.find_all("th")] == ["col", "col", "row", "row"]
    assert [cell.text for cell in soup.find_all("td", class_="number")] == [HOSTILE, "2"]


def test_an_empty_table() -> None:
    assert "path" in repr(Table("Title", COLUMNS, []))
    assert "<tbody>" in table_html(Table("Title", COLUMNS, []).record())


def test_a_notebook_shows_the_first_rows_of_a_long_table_and_its_text_all() -> None:
    rows = [Row(f"path {number}", 1.0, None, None) for number in range(21)]
    data, metadata = Table("Title", COLUMNS, rows)._repr_mimebundle_()
    soup = BeautifulSoup(data["text/html"], "html.parser")
    assert len(soup.select("tbody tr")) == 20
    assert soup.caption is not None
    assert soup.caption.get_text() == "Title (the first 20 of 21 rows; print the table for all)"
    assert "path 20" in data["text/plain"] and len(metadata["azlatency"]["rows"]) == 21


@pytest.mark.parametrize(
    ("shown", "value", "scale", "cell"),
    [
        (words(), pd.NA, 1, ""),
        (words(), True, 1, "yes"),
        (words(missing="–"), None, 1, "–"),
        (number_format(",.1f"), 1234.56, 1, "1,234.6"),
        (number_format(",.1f"), float("inf"), 1, "∞"),
        (number_format(",.4g"), 168_249e3, 1e3, "168,200"),
        (number_format(",.3g"), 1e300, 1, "1e+300"),
        (number_format(",.3g"), 2.164e-8, 0.01, "0.00000216"),
        (number_format(",.0f", missing="none"), float("nan"), 1, "none"),
        (interval(".2f"), (1.0, 2.0), 1, "1.00 – 2.00"),
        (interval(".2f", "none"), (1.0, None), 1, "none"),
        (interval(".2f", no_high="no bound"), (1.0, None), 1, "1.00 – no bound"),
        (interval(".0f", join_equal=True), (1.2, 1.3), 1, "1"),
        (with_interval(",.1f"), (1e3, 5e2, 2e3), 1e3, "1.0 (0.5 – 2.0)"),
        (with_interval(",.1f"), (1e3, None, float("nan")), 1e3, "1.0"),
        (with_interval(",.1f"), (None, None, None), 1e3, "–"),
    ],
)
def test_formats_show_values_and_what_is_missing(shown: Format, value: object, scale: float, cell: str) -> None:
    assert shown.text(value, scale) == cell
    assert len(shown.numbers(value)) == len(shown.parts)


def test_csv_values_are_precise_and_an_interval_has_two() -> None:
    assert COLUMNS[2].csv_headers() == ["interval low, µs", "interval high, µs"]
    assert [value for column in COLUMNS for value in column.csv_values(ROWS[0])] == [
        "a → b",
        "1234.5678",
        "1000",
        "2000",
    ]
    assert COLUMNS[1].csv_values(ROWS[1]) == [""]
    share: Column[float] = Column("lost", lambda row: row, number_format(".1f"), PERCENT)
    assert share.csv_values(1 / 3) == ["33.3333333333"] and share.title == "lost, %"


def test_references_travel_with_rows_and_cells() -> None:
    columns = [*COLUMNS, Column("x", lambda row: "1", source=lambda row: [FileRef("study.toml", "region")])]
    record = Table("T", columns, ROWS, source=lambda row: [RunsRef(row.run_ids, "median_ns")]).record()
    assert record["rows"][0]["refs"] == [{"ref": "RunsRef", "run_ids": ("r-01",), "value": "median_ns"}]
    assert record["rows"][0]["cell_refs"] == {"4": [{"ref": "FileRef", "file": "study.toml", "key": "region"}]}
    assert ref_record(ReportedRef("A", "rtt_mean")) == {"ref": "ReportedRef", "scenario": "A", "metric": "rtt_mean"}


def test_a_page_gets_links_and_csv_values() -> None:
    class Links(NamedTuple):
        target: str
        at: dict[int, str]

    names = []

    def links(row: object, name: str) -> Links:
        names.append(name)
        return Links("g_0", {1: "q_0_4"})

    soup = BeautifulSoup(table_html(Table("T", COLUMNS, ROWS).record(), links, most_rows=1), "html.parser")
    assert names == ["a → b"] and [link["href"] for link in soup.select("a.from")] == ["#g_0"]
    assert [cell.get("data-at") for cell in soup.select("td")] == ["q_0_4", None, None]
    assert soup.select_one("tbody th").text == "a → b\N{NO-BREAK SPACE}log", "the link is on the line of the name"
    assert [cell.get("data-csv") for cell in soup.select("td")] == ["1234.5678", None, None]
    assert soup.caption is not None and "the first 1 of 2 rows" in soup.caption.text


@pytest.mark.parametrize(("value", "shown"), [(-1e-12, "+0.0"), (1e-12, "+0.0"), (-1234.56, "−1,234.6")])
def test_a_signed_zero_does_not_depend_on_rounding_errors(value: float, shown: str) -> None:
    assert number_format("+z,.1f").text(value, 1.0) == shown


def test_a_table_becomes_a_frame_and_a_csv_file_with_its_numbers(tmp_path: Path) -> None:
    """Numbers have the unit of the header and their full precision, whatever the cells show."""
    estimates = [Column("typical", lambda row: (row.value, row.low, row.high), with_interval(), MICROSECONDS)]
    table = Table("Title", [*COLUMNS, *estimates], ROWS)
    frame = table.to_frame()
    ends = ["interval low, µs", "interval high, µs"]
    assert list(frame) == ["path", "RTT, µs", *ends, "typical, µs", "typical low, µs", "typical high, µs"]
    assert frame["RTT, µs"].tolist()[0] == 1234.5678 and frame["RTT, µs"].isna().tolist() == [False, True]
    assert frame[ends].iloc[0].tolist() == [1000, 2000] and frame["typical high, µs"].tolist() == [2000, 0.005]
    assert frame.dtypes[1:].map(str).eq("float64").all()
    table.to_csv(tmp_path / "table.csv")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "table.csv"), frame, check_dtype=False)
    assert table.to_csv() == (tmp_path / "table.csv").read_text("utf-8")
    assert list(Table("Title", COLUMNS, []).to_frame()) == list(frame)[:4]


def test_a_spreadsheet_does_not_execute_the_text_of_a_log() -> None:
    table = Table("Title", [Column("name", str)], ["=HYPERLINK(1)", "@x", "-5", "zone 1"])
    assert table.to_csv() == "name\n'=HYPERLINK(1)\n'@x\n-5\nzone 1\n"
    assert table.to_frame()["name"][0] == "=HYPERLINK(1)", "only the file is guarded"


def test_a_p_value_is_never_zero() -> None:
    assert [P_VALUE.text(p, 1.0) for p in (0.00049, 0.0005, 0.25, None)] == ["< 0.001", "0.001", "0.250", ""]


def test_a_column_has_a_unit_in_which_its_values_are_readable() -> None:
    rates = Table("t", [Column("rate", float, number_format(",.3g"), GIGABITS)], [862.0, 2.28e6])
    assert rates.headers == ["rate, Mbit/s"] and rates.cells[-1] == ("2.28",)
    times = Table("t", [Column("time", float, number_format(",.1f"), MICROSECONDS)], [2.69e6, 1_082.5e6])
    assert times.headers == ["time, ms"] and times.cells == [("2.7",), ("1,082.5",)]
    wide = Table("t", [Column("time", float, number_format(",.1f"), MICROSECONDS)], [26e3, 1_082.5e6])
    assert wide.headers == ["time, µs"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Dallas dal12–dal14", ["dal12–dal14"]),
        ("us-south-dal10-a–us-south-dal12-a", ["us-south-dal10-a", "us-south-dal12-a"]),
        ("by 2025-12-14: −2.15 ms (−80.2 %), round-trip time", ["2025-12-14", "−2.15 ms", "−80.2 %"]),
        ("zone-1" * 10 + ' <a href="#log-1">TCP-RR</a>', []),
        ("of a half-trip --full-rtt (ping 56 B, 95 % CI)", ["--full-rtt", "56 B", "95 % CI"]),
        (
            "after 4.6–50.2 min. 6 pairs, 40 – 50 µs, 20,000 per s, 95 % CI 2.1–8.4, Zone 1, az2a ↔ az3a",
            ["4.6–50.2 min", "6 pairs", "40 – 50 µs", "20,000 per s", "95 % CI 2.1–8.4", "Zone 1", "az2a ↔ az3a"],
        ),
        ("(Dallas 1 → Dallas 3, Washington 1 → Washington 3)", ["Dallas 1 → Dallas 3"]),
        (
            "az1a → az2a, az1a → us-south-dal10-a, az-latency-test",
            ["az1a → az2a", "us-south-dal10-a", "az-latency-test"],
        ),
        ('<svg><text>5 µs</text></svg><script>f(1 - 2, "5 s")</script><!-- 5 s --> 5 s', ["5 s"]),
    ],
)
def test_short_names_dates_and_numbers_with_units_are_not_broken(text: str, kept: list[str]) -> None:
    page = BeautifulSoup(tied(text), "html.parser")
    assert [each.text for each in page.select("span.tied")] == kept
    assert page.text == BeautifulSoup(text, "html.parser").text
