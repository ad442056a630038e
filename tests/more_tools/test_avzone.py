from __future__ import annotations

from pathlib import Path

import pytest
from helpers.places import FIXTURES

import azlatency as az
from azlatency.studies.manifest.manifest import read_manifest

TABLES = (FIXTURES / "avzone" / "qperf.log").read_text("utf-8")
PAIRS = [("1", "2"), ("1", "3"), ("2", "1"), ("2", "3"), ("3", "1"), ("3", "2")]


def table(title: str, *cells: str) -> str:
    """A table of the script with the six cells, row by row."""
    rows = [cells[0:2], cells[2:4], cells[4:6]]
    texts = [[f" {cell:>12} " for cell in row] for row in rows]
    for place, row in enumerate(texts):
        row.insert(place, " " * 14)
    lines = [f"| zone {zone} |" + "|".join(row) + "|" for zone, row in enumerate(texts, start=1)]
    head = f"{title}:\n         {'-' * 46}\n         |    zone 1    |    zone 2    |    zone 3    |\n"
    return head + "\n".join(["-" * 55, *lines, "-" * 55]) + "\n"


def place(region: str = "westeurope") -> str:
    return f"Region:  {region}\nVM Type:  Standard_D8s_v3\n"


def test_the_matrix_answers_without_a_manifest(tmp_path: Path) -> None:
    (tmp_path / "zones.log").write_text(TABLES, "utf-8")
    logs = az.parse(tmp_path / "zones.log")
    assert list(az.summarize(az.latency(logs))["path"]) == [f"zone {a} → zone {b}" for a, b in PAIRS]
    # Twice what is printed.
    assert list(az.latency(logs)["mean_ns"]) == [22_600, 23_600, 16_660, 23_800, 14_100, 14_820]


def test_the_averages_of_niping_are_round_trips(read) -> None:
    latencies = table("Latency", *(f"0.{number}10 ms" for number in range(1, 7)))
    log = read(place() + latencies + "\n" + table("Bandwidth", *["412 MB/s"] * 6))
    assert [log.value("rtt_mean", run=number) for number in range(6)] == [n * 100_000 + 10_000 for n in range(1, 7)]
    assert [row["printed_as"] for row in log.runs[:6]] == ["round_trip"] * 6
    assert [row["status"] for row in log.runs[6:]] == ["no_data"] * 6, "the rate of an echo, rounded up"
    assert not log.codes("error")


def test_milliseconds_alone_do_not_say_which_tool_it_was(read) -> None:
    log = read(place() + table("Latency", *["1.02 ms"] * 6))
    assert log.codes("error") == ["tool_unknown"] * 6
    assert not log.tables.rows["metrics"]
    log = read(place() + table("Latency", *["1.02 ms"] * 6) + table("Bandwidth", *["1.1 GB/sec"] * 6))
    assert log.value("rtt_mean") == 2_040_000, "the rates of qperf say it"


def test_the_pairs_of_the_script_that_mixed_them_up_are_not_used(read) -> None:
    log = read(place() + table("Latency", "70 us", "", "", "80 us", "90 us", ""))
    assert set(log.codes("error")) == {"pairs_mixed_up"}
    assert not log.tables.rows["metrics"]
    log = read(place() + table("Latency", "70 us", "x", "71 us", "80 us", "90 us", ""))
    assert log.value("rtt_mean") == 140_000, "a failed test alone leaves the others"


def test_tables_of_several_regions_keep_their_regions(read) -> None:
    log = read(TABLES + place("uksouth") + table("Latency", *["60 us"] * 6))
    assert [row["region"] for row in log.runs] == ["westeurope"] * 12 + ["uksouth"] * 6


def test_tables_without_a_region_are_two_calls_if_a_table_comes_twice(read) -> None:
    latency = table("Latency", *["60 us"] * 6)
    log = read(latency + latency)
    assert [row["zone"] for row in log.runs] == [client for client, _ in PAIRS] * 2


@pytest.mark.parametrize("text", [place(), place() + "Latency:\n" + "-" * 46 + "\n"])
def test_tables_without_rows_are_a_log_without_data(read, text: str) -> None:
    log = read(text)
    assert [row["status"] for row in log.runs] == ["no_data"]


def test_a_study_takes_the_zones_from_the_log_and_refuses_others(tmp_path: Path) -> None:
    def described(text: str, **printed: str) -> tuple[dict[str, object], list[tuple[str, str, str]]]:
        (tmp_path / "study.toml").write_text(f'[study]\nname = "mine"\n{text}', "utf-8")
        run: dict[str, object] = dict(printed)
        return run, read_manifest(tmp_path).describe(run, "zones.log")

    printed = {"region": "uksouth", "peer_region": "uksouth", "zone": "1", "peer_zone": "3"}
    run, events = described('region = "westeurope"\nplacement = "same_zone"\n', **printed, placement="cross_zone")
    assert not events
    assert {key: run[key] for key in printed} == printed, "a default gives way to the log"
    assert run["placement"] == "cross_zone"
    run, events = described('[[run]]\nlog = "*"\nzone = "2"\npeer_zone = "3"\nvm_size = "F8"\n', **printed)
    assert [code for code, _, _ in events] == ["manifest_contradiction"]
    assert "zone is '1' in the log and '2' in " in events[0][2]
    assert (run["zone"], run["peer_vm_size"]) == ("1", "F8")
