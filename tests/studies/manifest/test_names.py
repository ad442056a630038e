"""What names of files and labels say."""

from __future__ import annotations

import pytest

from azlatency.studies.manifest.names import label_text, read_name, series_that_count


def parts(path: str, known: frozenset[int] = frozenset()) -> tuple[list[str], str | None]:
    name = read_name(path, known)
    return [part.text for part in name.parts], name.last.text if name.last else None


@pytest.mark.parametrize(
    ("path", "kept", "last"),
    [
        ("ping_run3.log", ["ping"], None),
        ("rep-1/ping.log", ["ping"], None),
        ("iteration_3/p.json", ["p"], None),
        ("ping_run_III.log", ["ping"], None),
        ("phase_II.log", ["phase", "II"], None),
        ("Lauf 2.txt", [], None),
        ("第3次.log", [], None),
        ("2nd_run_bbr.log", ["bbr"], None),
        ("run_2of5.log", [], None),
        ("cubic_4.log", ["cubic"], "4"),
        ("cubic/4/iperf3.json", ["cubic", "iperf3"], "4"),
        ("ping2.log", ["ping"], "2"),
        ("output12.txt", ["output"], "12"),
        ("1_ping.log", ["ping"], "1"),
        ("ping (1).log", ["ping"], "1"),
        # A number beside a thing or a setting names it.
        ("conns_100_rps_1000.txt", ["conns", "100", "rps", "1000"], None),
        ("size/64.log", ["size", "64"], None),
        ("overload_5_attackers.txt", ["overload", "5", "attackers"], None),
        ("client_1.log", ["client", "1"], None),
        ("vm1.log", ["vm1"], None),
        ("tunnel_2.log", ["tunnel", "2"], None),
        ("threads16.log", ["threads16"], None),
        ("loss_0.005.log", ["loss", "0.005"], None),
        ("v1.2.3_1.log", ["v1.2.3"], "1"),
        # Dates and times.
        ("2026-01-31/x.log", ["x"], None),
        ("time-13-10-2021_01-56/x.res", ["time", "x"], None),
        ("x_20260131T101500Z.log", ["x"], None),
        ("x-31-jan.log", ["x"], None),
        ("x_Mar_3_2026.log", ["x"], None),
        ("x_14h30.log", ["x"], None),
        ("x_12:30:05.log", ["x"], None),
        ("x_1714564801.log", ["x"], None),
        ("monday/x.log", ["x"], None),
        # Four digits, a round number and a word that begins like a month are none.
        ("ping_1024.log", ["ping"], "1024"),
        ("x_1500000000b.log", ["x", "1500000000b"], None),
        ("marvell10.log", ["marvell10"], None),
        ("10.0.0.4_to_10.0.0.5.log", ["10.0.0.4", "to", "10.0.0.5"], None),
        ("C:\\logs\\vpn\\a.txt", ["C", "logs", "vpn", "a"], None),
        ("d.zip!ipv6/x.log", ["d", "zip", "ipv6", "x"], None),
    ],
)
def test_parts_of_names(path: str, kept: list[str], last: str | None) -> None:
    assert parts(path) == (kept, last)


def test_numbers_that_the_manifest_reads_say_nothing_more() -> None:
    assert parts("x_4_17.log", frozenset({4, 17})) == (["x"], None)
    assert parts("x4_y17.log", frozenset({4, 17})) == (["x", "y"], None)
    assert parts("az1_1.log", frozenset({1})) == (["az1"], None)
    assert parts("round1_az1.log", frozenset({1})) == (["az1"], None)


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("Run 3", ""),
        ("2. Accelerated networking on", "Accelerated networking on"),
        ("10.0.0.4, 12:30", ""),
        ("via 10.0.0.1 to 10.0.0.9:5201", "via 10.0.0.1 to"),
        ("Mon 3 Mar 2026 10:00:00 UTC: bbr", "bbr"),
        ("Loss 0.5 %", "Loss 0.5"),
        ("Normal Linux", "Normal Linux"),
    ],
)
def test_labels_without_counters_dates_and_addresses(label: str, text: str) -> None:
    assert label_text(label, ends=("10.0.0.4", "10.0.0.9")) == text


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", ["a-1", "1.1", "z_", "1h", "may", "2026-01-01", "_" * 3, "run", "r1-", "01-02", "2026/01/", "+_", "1of2 "]
)
def test_long_names_take_no_time(part: str) -> None:
    assert read_name(part * 20_000)
    assert label_text(part * 20_000) is not None
    assert series_that_count([part * 20_000]) is not None
