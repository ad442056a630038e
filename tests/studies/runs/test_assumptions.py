"""What is assumed of runs, and the lines that join or separate them."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pandas as pd
import pytest
from helpers.cases import thinned
from helpers.places import FIXTURES
from helpers.results import estimates_of
from helpers.studies import in_memory
from studies.runs.test_run_table import ping

import azlatency as az
from azlatency.studies.runs.assumptions import _alone, assumptions, joining_entries, joining_entry


def logs(folder: Path, *names: str, host: str = "10.0.0.9") -> az.Logs:
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(ping(host.format(number), 1.0, 2.0 + number / 8), "utf-8")
    return az.parse(folder)


def expanded(name: str) -> list[str]:
    """Return the names that a shell makes of braces: ``{a,b}_1``."""
    parts = [part.split(",") for part in re.split("[{}]", name)]
    return ["".join(words) for words in product(*parts)]


def test_an_entry_names_the_runs_too_whose_numbers_count_already() -> None:
    files = [f"{place}/{number}.txt" for place in ("direct", "vpn") for number in (1, 2, 3)]
    entries = joining_entries(files, ["direct"] * 3 + ["vpn/1", "vpn/2", "vpn/3"])
    assert [line for line in entries if line.startswith("scenario")] == ['scenario = "vpn"', 'scenario = "direct"']


def test_labels_below_numbered_ones_are_joined_by_the_number() -> None:
    labels = [f"{queue} {number} / q={queue}" for queue in ("fq_codel", "cake") for number in (1, 2)]
    entries = joining_entries(["aqm.txt"], labels, are_labels=True)
    assert [line for line in entries if line.startswith("heading")] == ['heading = "fq_codel *"', 'heading = "cake *"']
    others = [*labels[:3], "cake 2 / pfifo"]
    assert joining_entries(["aqm.txt"], others, are_labels=True)[1] == 'log = "aqm.txt"'


def test_one_client_is_assumed_only_of_runs_that_repeat_each_other(tmp_path: Path) -> None:
    said = assumptions(logs(tmp_path, "near.log", "far.log"))
    assert not [line for line in said if "one client" in line]


def test_clients_that_labels_name_are_kept_apart_and_joined_by_the_advised_entry(tmp_path: Path) -> None:
    text = "".join(f"10.{number}.0.2 Pinging 10.0.0.9\n{ping('10.0.0.9', 1.0, 1.2, 1.4)}\n" for number in (0, 1, 2))
    (tmp_path / "02_all.txt").write_text(text, "utf-8")
    found = assumptions(az.parse(tmp_path))
    assert found[0].startswith("kept apart by their labels: 10.0.0.2 Pinging")
    entry = [line.strip() for line in found if line.startswith("    ")]
    assert entry == ["[[run]]", 'log = "02_all.txt"', 'scenario = "same"']
    folder = tmp_path / "raw" / "mine"
    folder.mkdir(parents=True)
    (folder / "02_all.txt").write_text(text, "utf-8")
    (folder / "study.toml").write_text("\n".join(["[study]", *entry]), "utf-8")
    assert [estimate.n for estimate in estimates_of(az.summarize(az.latency(in_memory(folder)), "mean_ns"))] == [3]


def test_a_short_log_with_the_bytes_of_its_neighbour_is_a_run_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "raw" / "mine"
    folder.mkdir(parents=True)
    for number, latency in ((1, 225), (2, 233), (3, 233)):
        (folder / f"qperf_{number}.txt").write_text(f"tcp_lat:\n    latency  =  {latency} us\n", "utf-8")
    (folder / "study.toml").write_text("[study]\n", "utf-8")
    study = in_memory(folder)
    assert list(az.latency(study)["mean_ns"]) == [450_000, 466_000, 466_000]
    said = "assumed: no copies, although another log has the same bytes: qperf_3.txt; delete those that are copies"
    assert said in assumptions(study)


def test_repeats_of_an_unnamed_client_are_assumed_to_be_of_one(tmp_path: Path) -> None:
    assert assumptions(logs(tmp_path, "ping_run1.log", "ping_run2.log")) == [
        "assumed: one client, which these logs do not name (2 runs)"
    ]


@pytest.mark.parametrize("days", [("mon", "tue"), ("2026-03-13", "2026-03-14")])
def test_folders_of_days_whose_runs_are_repeats_are_said(tmp_path: Path, days: tuple[str, str]) -> None:
    found = assumptions(logs(tmp_path, *(f"{day}/ping.log" for day in days)))
    assert f"assumed: the runs of these folders are repeats: {', '.join(days)} (2 runs)" in found


def test_what_is_kept_apart_is_said_with_the_line_that_joins_it(tmp_path: Path) -> None:
    found = assumptions(logs(tmp_path, "bbr_1.log", "bbr_2.log", "cubic_1.log"))
    assert found[1:3] == [
        "assumed: the last number in the names of these files counts repeats (2 runs); if it names a thing, add below "
        '[study]: pattern = "bbr_{scenario}.log"',
        "kept apart by their names: bbr, cubic",
    ]
    assert found[-3:] == ["    [[run]]", '    log = "*"', '    scenario = "same"']


def test_the_line_that_joins_changing_addresses_is_said_once() -> None:
    servers = [f"10.0.0.{number}" for number in range(6)]
    methods = ["ping 56 B"] * 6 + ["ping 64 B"] * 6
    runs = pd.DataFrame({"method": methods, "client_end": "10.1.0.1", "server_end": servers * 2, "scenario": None})
    assert list(_alone(runs))[2:] == ['    machines = ["10.*=machines"]']


def test_the_line_for_numbers_with_a_gap_makes_them_repeats(tmp_path: Path) -> None:
    names = ("ping_1.log", "ping_2.log", "ping_9.log")
    folder = tmp_path / "raw" / "mine"
    *_, head, pattern = assumptions(logs(folder, *names))
    assert pattern == '    pattern = "ping_{repeat}.log"'
    (folder / "study.toml").write_text(f"[study]\n{head}\n{pattern}\n", "utf-8")
    (estimate,) = estimates_of(az.summarize(az.latency(in_memory(folder)), "mean_ns"))
    assert estimate.n == 3


@pytest.mark.costly
@pytest.mark.parametrize(
    ("milliseconds", "entry", "pooled"),
    [
        ((0.3, 0.9, 1.0), None, True),
        ((0.3, 0.9, 2.3), None, False),
        ((0.3, 0.9, 2.3), '    [[run]] /     pattern = "oslo-{repeat}.log"', True),
        ((0.3, 0.4, 2.3), '    [[run]] /     log = "oslo-3.log" /     scenario = "oslo-3"', True),
    ],
)
def test_repeats_of_an_assumed_counter_far_apart_have_no_interval(
    tmp_path: Path, milliseconds: tuple[float, ...], entry: str | None, pooled: bool
) -> None:
    folder = tmp_path / "raw" / "mine"
    folder.mkdir(parents=True)
    for number, time in enumerate(milliseconds, start=1):
        (folder / f"oslo-{number}.log").write_text(ping("10.0.0.9", time, time * 1.01), "utf-8")
    said = "\n".join(assumptions(az.parse(folder)))
    assert ("more than 4 times apart" in said) is (max(milliseconds) > 4 * min(milliseconds))
    if entry is not None and "{repeat}" in entry:
        assert "\n".join(entry.split(" / ")) in said
    lines = "" if entry is None else "\n".join(entry.split(" / "))
    (folder / "study.toml").write_text(f"[study]\n{lines}\n", "utf-8")
    runs = az.latency(in_memory(folder))
    estimate = max(estimates_of(az.summarize(runs, "mean_ns")), key=lambda found: found.n)
    assert estimate.refused is not pooled
    assert ("doubtful_number" in estimate.codes) is not pooled


def test_the_lines_for_a_doubtful_number_name_logs_below_the_folder_that_becomes_the_study(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "notes.log").write_text(ping("10.0.0.8", 1.0, 1.1), "utf-8")
    for number, time in enumerate((0.3, 1.0, 4.0), start=1):
        (tmp_path / "lab" / f"oslo-{number}.log").write_text(ping("10.0.0.9", time, time * 1.01), "utf-8")
    assert '    log = "lab/oslo-1.log"' in assumptions(az.parse(tmp_path))


def test_the_line_for_names_that_differ_makes_them_repeats(tmp_path: Path) -> None:
    folder = tmp_path / "raw" / "mine"
    entry = "\n".join(assumptions(logs(folder, "a/x.log", "b/x.log"))[-3:])
    (folder / "study.toml").write_text(f"[study]\n{entry}\n", "utf-8")
    (estimate,) = estimates_of(az.summarize(az.latency(in_memory(folder)), "mean_ns"))
    assert estimate.n == 2


def test_only_names_that_differ_in_a_number_are_offered_as_repeats(tmp_path: Path) -> None:
    found = assumptions(logs(tmp_path, *(f"{'far' if number % 2 else 'near'}_{number}.log" for number in range(2, 6))))
    lines = [line.strip() for line in found if "pattern =" in line]
    assert lines == ['pattern = "far_{repeat}.log"', 'pattern = "near_{repeat}.log"']


@pytest.mark.costly
@pytest.mark.parametrize(
    ("names", "lines", "sizes"),
    [
        ("{rome,oslo}_{A,B,C}.log", ['pattern = "{scenario}_*.log"'], [3, 3]),
        pytest.param("{old,new}/{x,y}.log", ['pattern = "{scenario}/*.log"'], [2, 2], marks=pytest.mark.slow),
        pytest.param(
            "{old,new}_run{1,2}_{A,B}.log", ['pattern = "{scenario}_*_*.log"'], [4, 4], marks=pytest.mark.slow
        ),
        ("{old,new}_{A,B}.log x.log", ['pattern = "{scenario}_*.log"'], [1, 2, 2]),
        pytest.param(
            "{a,b}_{c,d}_{A,B}.log", ['pattern = "{scenario}_{scenario}_*.log"'], [2, 2, 2, 2], marks=pytest.mark.slow
        ),
        (
            "{old,new}*_{A,B}.log",
            [
                'log = ["old[*]_A.log", "old[*]_B.log"]', 'scenario = "old"',
                'log = ["new[*]_A.log", "new[*]_B.log"]', 'scenario = "new"',
            ],
            [2, 2],
        ),
        ("{default,jumbo}.log", ['log = "*"', 'scenario = "same"'], [2]),
        pytest.param(
            "default_mtu.log jumbo_frames.log irq_pin.log", ['log = "*"', 'scenario = "same"'], [3],
            marks=pytest.mark.slow,
        ),
    ],
)  # fmt: skip
def test_names_that_differ_in_two_words_are_joined_by_the_last_one(
    tmp_path: Path, names: str, lines: list[str], sizes: list[int]
) -> None:
    folder = tmp_path / "raw" / "mine"
    found = assumptions(logs(folder, *(file for name in names.split(" ") for file in expanded(name))))
    entries = [line.strip() for line in found if line.startswith("    ")]
    assert sorted(line for line in entries if line != "[[run]]") == sorted(lines)
    (folder / "study.toml").write_text("\n".join(["[study]", *entries]), "utf-8")
    estimates = estimates_of(az.summarize(az.latency(in_memory(folder)), "mean_ns"))
    assert sorted(estimate.n for estimate in estimates) == sizes


def test_texts_below_two_headings_are_joined_by_the_headings(tmp_path: Path) -> None:
    again = "And once again, to see how stable it is:"
    text = notes("Host network", again, "Bridge", again).replace(f"## {again}", again)
    (tmp_path / "notes.md").write_text(text, "utf-8")
    found = assumptions(az.parse(tmp_path))
    assert found[-9].startswith("  if those that differ in their last label only are repeats of each other, ")
    assert [line.strip() for line in found[-8:] if "heading" in line] == [
        'heading = "Host network"',
        'heading = "Bridge"',
    ]
    estimates = estimates_of(az.summarize(az.latency(imported(tmp_path, text, *found[-8:])), "mean_ns"))
    assert [(estimate.labels["path"], estimate.n) for estimate in estimates] == [("Host network", 2), ("Bridge", 2)]


def test_labels_of_several_files_have_a_line_that_joins_them(tmp_path: Path) -> None:
    for name in ("one.md", "three.md"):
        blocks = [
            f"## {label}\n\n{ping('10.0.0.9', 1.0, 2.0 + len(name + label) / 8)}\n"
            for label in ("SR-IOV", "Bridge", "NAT")
        ]
        (tmp_path / name).write_text("\n".join(blocks), "utf-8")
    found = assumptions(az.parse(tmp_path))
    assert any(line.startswith("kept apart by their labels: ") for line in found)
    assert [line for line in found if line.startswith("    ")] == [
        "    [[run]]", '    log = "*"', '    scenario = "same"',
    ]  # fmt: skip


def notes(*labels: str) -> str:
    """Return a notes file with one log below each label."""
    return "".join(f"## {label}\n\n{ping('10.0.0.9', 1.0, 2.0 + number / 8)}\n" for number, label in enumerate(labels))


def imported(tmp_path: Path, text: str, *lines: str) -> az.Study:
    """Return the study of a notes file with lines in its ``study.toml``."""
    folder = tmp_path / "raw" / "mine"
    folder.mkdir(parents=True)
    (folder / "notes.md").write_text(text, "utf-8")
    (folder / "study.toml").write_text("\n".join(["[study]", *map(str.strip, lines)]), "utf-8")
    return in_memory(folder)


def test_letters_that_count_are_said(tmp_path: Path) -> None:
    said = assumptions(logs(tmp_path, *(f"measurement_{letter}.log" for letter in "ABC")))
    expected = "assumed: the last letter in the names of these files counts repeats (3 runs); if it names a thing, add "
    assert said[1] == f'{expected}below [study]: pattern = "measurement_{{scenario}}.log"'


def test_a_scenario_of_an_entry_contains_no_tool() -> None:
    files = [f"{law}{number}_{tool}.log" for law in ("alt", "neu") for tool in ("ping", "iperf3") for number in (1, 2)]
    scenarios = [line for line in joining_entries(files, files) if line.startswith("scenario")]
    assert scenarios == ['scenario = "alt"', 'scenario = "alt"', 'scenario = "neu"']


def test_labels_in_one_file_that_differ_in_a_number_have_lines_that_join_them(tmp_path: Path) -> None:
    text = notes("Idle host 1", "Idle host 2", "Busy host 1", "Busy host 2")
    (tmp_path / "notes.md").write_text(text, "utf-8")
    found = assumptions(az.parse(tmp_path))
    assert [line.strip() for line in found if "heading" in line] == [
        'heading = "Idle host *"',
        'heading = "Busy host *"',
    ]
    estimates = estimates_of(az.summarize(az.latency(imported(tmp_path, text, *found[-8:])), "mean_ns"))
    assert [(estimate.labels["path"], estimate.n) for estimate in estimates] == [("Idle host", 2), ("Busy host", 2)]


@pytest.mark.costly
def test_labels_that_are_only_numbers_are_said_with_the_entries_that_separate_them(tmp_path: Path) -> None:
    text = notes("1", "2", "3")
    (tmp_path / "notes.md").write_text(text, "utf-8")
    logs = az.parse(tmp_path)
    (estimate,) = estimates_of(az.summarize(az.latency(logs), "mean_ns"))
    assert (estimate.n, set(az.latency(logs)["assumed"])) == (3, {"number_counts one_client"})
    _, said, *lines = assumptions(logs)
    assert said.startswith(
        "assumed: labels that differ in a number or in the time only count repeats (3 runs); if they name things, "
    )
    estimates = estimates_of(az.summarize(az.latency(imported(tmp_path, text, *lines)), "mean_ns"))
    assert sorted(estimate.labels["path"] for estimate in estimates) == ["1", "2", "3"]
    many = imported(tmp_path / "many", notes("A", "1", "B", "1").replace("## 1", "### 1").replace("## 2", "### 2"))
    assert not any("only count" in line for line in assumptions(many)), "one number counts nothing"


def test_numbers_of_labels_whose_values_are_far_apart_are_not_pooled(tmp_path: Path) -> None:
    text = "".join(f"== {number} ==\n{ping('10.0.0.9', 0.3 * 3**number, 0.31 * 3**number)}\n" for number in (1, 2, 3))
    (tmp_path / "notes.txt").write_text(text, "utf-8")
    found = assumptions(az.parse(tmp_path))
    assert any("so the number of the label may name a thing" in line for line in found)
    assert [line for line in found[-16:] if "heading" in line] == [f'    heading = "{number}"' for number in (1, 2, 3)]
    assert found[-2:] == ['    log = "notes.txt"', '    scenario = "same"']


def test_a_scenario_that_joins_labels_is_used_and_both_are_named(tmp_path: Path) -> None:
    study = imported(tmp_path, notes("SR-IOV on", "SR-IOV off"), "[[run]]", 'log = "*"', 'scenario = "everything"')
    assert list(az.latency(study)["scenario"]) == ["everything"] * 2
    expected = "study.toml is used against labels: everything, not SR-IOV on (notes.md:3) and SR-IOV off (notes.md:13)"
    assert expected in assumptions(study)


def test_addresses_that_change_with_every_run_get_the_line_that_joins_them(tmp_path: Path) -> None:
    names = [f"rep{number}.log" for number in range(4)]
    found = assumptions(logs(tmp_path, *names, host="10.244.{0}.9"))
    assert found[-1].endswith('machines = ["10.244.*=machines"]')


@pytest.mark.parametrize(
    ("files", "entry"),
    [
        (["a/p_1.log", "a/p_5.log"], ['pattern = "p_{repeat}.log"']),
        (["a/x.log"], ['log = "a/x.log"', 'scenario = "same"']),
        (['a/"x*_1.log', 'a/"x*_3.log'], ['log = "a/*"', 'scenario = "same"']),
        (['"x[1].log'], ['pattern = "\\"x[{repeat}].log"']),
        (["5m.txt", "20m.txt"], ['pattern = "{repeat}m.txt"', 'scenario = "same"']),
        (["gi0-1.log", "gi0-9.log"], ['pattern = "gi0-{repeat}.log"', 'scenario = "same"']),
    ],
)
def test_entries_that_join(files: list[str], entry: list[str]) -> None:
    assert joining_entry(files) == ["[[run]]", *entry]


def test_the_digit_of_a_tool_is_no_number_of_a_run() -> None:
    files = [f"{law}_{number}.iperf3.json" for law in ("bbr", "cubic") for number in (1, 2)]
    patterns = [line for line in joining_entries(files, files) if "pattern" in line]
    assert patterns == ['pattern = "bbr_{repeat}.iperf3.json"', 'pattern = "cubic_{repeat}.iperf3.json"']


def test_entries_name_scenarios_without_the_archive_and_count_those_that_are_not_shown() -> None:
    files = [f"dump.zip!logs/{law}/{law}_{rate}.txt" for law in ("bbr", "cubic", "reno", "vegas") for rate in (10, 20)]
    lines = joining_entries(files, files)
    assert lines[:3] == ["[[run]]", 'pattern = "dump.zip!logs/bbr/bbr_{repeat}.txt"', 'scenario = "logs/bbr/bbr"']
    assert lines.count("[[run]]") == 3 and lines[-1] == "# the same for 1 more of these names"
    two_archives = [f"{name}.zip!rps_{rate}.txt" for name in ("one", "two") for rate in (10, 20)]
    scenarios = [line for line in joining_entries(two_archives, two_archives) if line.startswith("scenario")]
    assert scenarios == ['scenario = "one.zip/rps"', 'scenario = "two.zip/rps"']
    decimals = [f"results_60_{rate}_{run}" for rate in (0.5, 1.5) for run in (1, 2)]
    scenarios = [line for line in joining_entries(decimals, decimals) if line.startswith("scenario")]
    assert scenarios == ['scenario = "results_60_0.5"', 'scenario = "results_60_1.5"']
    losses = [f"{law}/loss_{loss}/ping.txt" for law in ("bbr", "cubic") for loss in ("0.005", "0.01")]
    assert not any("0.{" in line for line in joining_entries(losses, losses)), "a decimal counts nothing"


def test_one_entry_joins_the_runs_of_many_folders_and_these_stay_apart(tmp_path: Path) -> None:
    folder = tmp_path / "raw" / "mine"
    found = assumptions(
        logs(folder, *(f"{law}/proxy_{run}.log" for law in ("bbr", "cubic", "reno", "vegas") for run in (1, 2)))
    )
    assert found[-2:] == ["    [[run]]", '    pattern = "proxy_{repeat}.log"'], "behind a thing, a number names it"
    (folder / "study.toml").write_text("\n".join(["[study]", *found[-2:]]), "utf-8")
    az.import_study("mine", [folder], out=tmp_path / "out")
    estimates = estimates_of(az.summarize(az.latency(az.load("mine", processed=tmp_path / "out")), "mean_ns"))
    assert [estimate.n for estimate in estimates] == [2, 2, 2, 2]


@pytest.mark.costly
@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        ("widget_{1,2,3}.log", '"widget_{scenario}.log"'),
        ("irqbalance-{on,off}-{1,2,3}.log", '"irqbalance-{scenario}-{scenario}.log"'),
        ("{bbr,cubic}/widget_{1,2}.log", '"{scenario}/widget_{scenario}.log"'),
        *(
            pytest.param(names, pattern, marks=pytest.mark.slow)
            for names, pattern in (
                ("results/lab/widget_{1,2}.log", '"widget_{scenario}.log"'),
                ("{blue,red}_ping_widget_{1,2}.log", '"{scenario}_ping_widget_{scenario}.log"'),
                ("widget {1,2}.log", '"widget {scenario}.log"'),
                ("widget-{01,02,03}.txt", '"widget-{scenario}.txt"'),
            )
        ),
        pytest.param("{blue,red}.{1,2,3}", '"{scenario}.{scenario}"', marks=pytest.mark.slow),
        ("{blue,red}_day1_{1,2}.log", None),  # numbers beside a counter are no repeats
        (
            "{widget,gizmo}_{1,2}.log {blue,red}/oslo-{1,2}.log",
            '["{scenario}/oslo-{scenario}.log", "{scenario}_{scenario}.log"]',
        ),
        ('widget"_{1,2}.log', '"widget\\"_{scenario}.log"'),
        ("wid*get_{1,2}.log", None),
        pytest.param("{bbr,cubic}_{1,2}.log notes/cubic_9.log", '"{scenario}_{scenario}.log"', marks=pytest.mark.slow),
        ("{ping,fping,iperf3}_{1,2}.log", '"{scenario}_{scenario}.log"'),
    ],
)
def test_the_line_that_separates_runs_describes_all_of_them_and_joins_none(
    tmp_path: Path, names: str, pattern: str | None
) -> None:
    folder = tmp_path / "raw" / "mine"
    files = [file for name in names.split(" " if "}.log " in names else "\0") for file in expanded(name)]
    said = [line for line in assumptions(logs(folder, *files)) if "names a thing" in line]
    assert [line.partition("[study]: ")[2] for line in said] == ([] if pattern is None else [f"pattern = {pattern}"])
    if pattern is not None:
        (folder / "study.toml").write_text(f"[study]\npattern = {pattern}\n", "utf-8")
        estimates = estimates_of(az.summarize(az.latency(in_memory(folder)), "mean_ns"))
        assert [estimate.n for estimate in estimates] == [1] * len(files)


def test_beside_a_drafted_pattern_the_line_that_separates_runs_leaves_their_zones(tmp_path: Path) -> None:
    folder = tmp_path / "raw" / "mine"
    logs(folder, "az1_to_az2/lat_1.log", "az1_to_az2/lat_2.log", "az1_to_az3/lat_1.log", "az1_to_az3/lat_2.log")
    drafted = '[study]\ndrafted = true\npattern = "az{zone}_to_az{peer_zone}/*"\n'
    (folder / "study.toml").write_text(drafted, "utf-8")
    found = assumptions(in_memory(folder))
    assert found[1:4] == [
        "assumed: the last number in the names of these files counts repeats (4 runs); if it names a thing, add to the "
        "end of study.toml:",
        "    [[run]]",
        '    pattern = "lat_{scenario}.log"',
    ]
    (folder / "study.toml").write_text("\n".join([drafted, *found[2:4]]), "utf-8")
    assert sorted(map(str, az.latency(in_memory(folder))["path"])) == [
        f"{number}: zone 1 → zone {zone}" for number in (1, 2) for zone in (2, 3)
    ]


@pytest.mark.costly
@pytest.mark.parametrize(
    "groups",
    thinned(
        [
            [["A1", "A2", "A3"], ["A_tuned1", "A_tuned2"], ["A_x"]],
            [["A1", "A2"], ["sub/A1", "sub/A2"], ["sub/B1"]],
            [["x/A1", "x/A2"], ["x/A1b", "x/A2b"], ["y/A1", "y/A2"]],
            [["1_A", "4_A"], ["2_B", "3_B"]],
            [["{A}1", "{A}2"], ["{B}1", "{B}3"], ["{A}_x"]],
            [["a_1.ping.log", "a_2.ping.log"], ["b_1.ping.log", "b_4.ping.log"]],
        ],
        2,
    ),
)
def test_the_lines_for_numbers_join_no_other_names(tmp_path: Path, groups: list[list[str]]) -> None:
    folder = tmp_path / "raw" / "mine"
    found = assumptions(logs(folder, *(name for group in groups for name in group)))
    entries = "\n".join(line for line in found if line.startswith("    "))
    (folder / "study.toml").write_text(f"[study]\n{entries}\n", "utf-8")
    runs = az.latency(in_memory(folder))
    pooled = [sorted(files) for _, files in runs.groupby(["path", "method"])["file"]]
    assert sorted(pooled) == sorted(groups)


def test_the_line_for_changing_addresses_joins_the_runs(tmp_path: Path) -> None:
    names = [f"rep{number}.log" for number in range(4)]
    folder = tmp_path / "raw" / "mine"
    line = assumptions(logs(folder, *names, host="10.244.{0}.9"))[-1]
    (folder / "study.toml").write_text(f"[study]\n{line}\n", "utf-8")
    (estimate,) = estimates_of(az.summarize(az.latency(in_memory(folder)), "mean_ns"))
    assert estimate.n == 4


def test_an_address_in_two_zones_is_named_with_both_files(tmp_path: Path) -> None:
    """``a_to_b`` names the server first: the client of one log is the server of the other."""
    text = (FIXTURES / "iperf3" / "3.12-udp.txt").read_text("utf-8")
    ends = {"a_to_b.txt": ("10.2.0.2", "10.2.0.1"), "b_to_c.txt": ("10.2.0.3", "10.2.0.2")}
    folder = tmp_path / "raw" / "mine"
    folder.mkdir(parents=True)
    for name, (client, server) in ends.items():
        (folder / name).write_text(text.replace("10.2.1.4", client).replace("10.2.2.4", server), "utf-8")
    (folder / "study.toml").write_text('[study]\npattern = "{zone}_to_{peer_zone}.txt"\n', "utf-8")
    assert assumptions(in_memory(folder)) == [
        "10.2.0.2 is in zone a (a_to_b.txt) and in zone c (b_to_c.txt): check which end the names give first; "
        "peer_zone is the server's"
    ]


def test_one_advice_is_given_once_and_says_whether_it_joins_all(tmp_path: Path) -> None:
    """Names and labels tell the same runs apart; two of three names differ in their last number only."""
    for name, label in (("a", "calico"), ("b", "cilium"), ("c", "flannel")):
        (tmp_path / f"{name}.txt").write_text(f"# with {label}\n\n{ping('10.0.0.9', 1.0, 2.0)}", "utf-8")
    found = assumptions(az.parse(tmp_path))
    assert sum(line.startswith("kept apart by their ") for line in found) == 2
    assert [line for line in found if "study.toml" in line] == [
        "  if all of these are repeats of each other, add to the end of study.toml:"
    ]
    pairs = assumptions(logs(tmp_path / "pairs", "azure_1_2.txt", "azure_1_3.txt", "azure_2_3.txt"))
    assert (
        "  if those that differ in their last number only are repeats of each other, add to the end of study.toml:"
        in pairs
    )
    rates = assumptions(logs(tmp_path / "rates", "a/tcp-1G.log", "a/tcp-2G.log", "b/tcp-1G.log", "b/tcp-2G.log"))
    assert not any("last number" in line for line in rates), "a number with a unit counts nothing"


def test_a_number_of_single_runs_counts_no_repeats(tmp_path: Path) -> None:
    found = assumptions(logs(tmp_path, "near_0.log", "far_0.log"))
    assert "kept apart by their names: far, near" in found and not any("counts repeats" in line for line in found)


def test_a_file_without_a_number_is_the_first_of_those_that_a_line_joins() -> None:
    files = ["lan.txt", "lan2.txt", "lan3.txt", "iperf3_wifi.txt", "iperf3_wifi2.txt", "iperf3_wifi3.txt"]
    entries = joining_entries(files, [file.removesuffix(".txt") for file in files])
    chosen = [line for line in entries if line.startswith("log")]
    assert chosen == [
        'log = ["lan.txt", "lan2.txt", "lan3.txt"]',
        'log = ["iperf3_wifi.txt", "iperf3_wifi2.txt", "iperf3_wifi3.txt"]',
    ]


def test_folders_that_are_dates_have_one_scenario() -> None:
    files = [f"{day}/{time}.log" for day in (20240301, 20240302) for time in ("0915", "1215", "1515")]
    entries = joining_entries(files, [file[9:13] for file in files])
    assert [line for line in entries if line.startswith("scenario")] == ['scenario = "same"'] * 2


def test_three_servers_of_one_client_are_no_addresses_that_change() -> None:
    servers = [f"10.61.{number}.4" for number in (2, 3, 4)]
    runs = pd.DataFrame({"method": "iperf3", "client_end": "10.61.1.4", "server_end": servers, "scenario": None})
    assert not list(_alone(runs))
