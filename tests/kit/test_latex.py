"""Tables as LaTeX with booktabs and siunitx."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers.small_frames import runs

import azlatency as az
from azlatency.kit.cells import MICROSECONDS, Column, Table, number_format, with_interval
from azlatency.kit.latex import escape_latex, with_uncertainty
from azlatency.pages import latency


@pytest.mark.parametrize(
    ("point", "low", "high", "text"),
    [
        (444, 441, 447, "444(3)"),
        (444, 432, 469, "444(25)"),
        (444.12, 443.9, 444.2, "444.12(22)"),
        (1234.5, 1100, 1500, "1230(270)"),
        (0.0123, 0.012, 0.0126, "0.01230(30)"),
        (9.99, 9.5, 10.4, "10.0(5)"),
        (99.6, 98.5, 100.7, "99.6(11)"),
        (5, 5, 5, "5"),
    ],
)
def test_a_number_with_its_uncertainty(point: float, low: float, high: float, text: str) -> None:
    assert with_uncertainty(point, low, high) == text


def test_the_interval_is_never_wider_than_the_number_says() -> None:
    for distance in (0.99, 1.01, 2.94, 2.99, 3.01, 9.4, 9.96, 19.9):
        number_, digits = re.fullmatch(r"([\d.]+)\((\d+)\)", with_uncertainty(500, 500 - distance, 500)).groups()  # type: ignore[union-attr]
        decimals = len(number_.partition(".")[2])
        assert int(digits) / 10**decimals >= distance


def test_an_estimate_and_text_with_special_characters() -> None:
    columns = [
        Column("path", lambda row: row[0]),
        Column("typical", lambda row: row[1], with_interval(",.0f"), MICROSECONDS),
        Column("n & m", lambda row: row[2], number_format(",.0f")),
    ]
    rows = [("a_1 → b%", (444e3, 432e3, 469e3), 1234567), ("c", (444e3, None, None), None)]
    table = Table("RTT & more", columns, rows, ["50 % of $x"])
    compact = table.to_latex(uncertainty="compact", label="tab:rtt") or ""
    assert r"a\_1 $\rightarrow$ b\% & 444(25) & 1234567 \\" in compact
    assert r"{path} & {typical (\unit{\micro\second})} & {n \& m} \\" in compact
    assert r"\caption{RTT \& more. 50 \% of \$x In parentheses: distance" in compact and r"\label{tab:rtt}" in compact
    limits = table.to_latex() or ""
    assert r"& 444 [432, 469] &" in limits and r"c & 444 & {} \\" in limits and r"\label" not in limits
    assert limits.count(r"\begin") == limits.count(r"\end") == 2 and r"\toprule" in limits


def test_a_number_and_the_column_of_its_interval_become_one() -> None:
    frame = runs(median_ns=[100e3, 102e3, 99e3, 101e3])
    table = latency.paths(frame, az.summarize(frame, "median_ns", by=["path", "method"]))
    text = table.to_latex(uncertainty="compact") or ""  # type: ignore[union-attr]
    assert re.search(r"& \d+(\.\d+)?\(\d+\) &", text) and "interval (" not in text
    assert "interval (" in (table.to_latex() or "")  # type: ignore[union-attr]


def test_it_is_written_to_a_file_and_wrong_options_are_named(tmp_path: Path) -> None:
    table = Table("t", [Column("a", lambda row: row)], ["x"])
    assert table.to_latex(tmp_path / "t.tex") is None
    assert (tmp_path / "t.tex").read_text("utf-8") == table.to_latex()
    with pytest.raises(ValueError, match=r"uncertainty = 'both' is not one of limits, compact"):
        table.to_latex(uncertainty="both")  # type: ignore[arg-type]


def test_no_command_of_a_log_survives() -> None:
    assert escape_latex(r"\input{x}$^2~") == r"\textbackslash{}input\{x\}\$\textasciicircum{}2\textasciitilde{}"
