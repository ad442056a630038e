"""Which runs repeat each other by their names and labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers.places import FIXTURES
from helpers.studies import in_memory
from studies.runs.test_run_table import ping

import azlatency as az
from azlatency.studies.manifest.names import is_result
from azlatency.studies.runs.treatments import (
    FROM_LABEL,
    FROM_NAME,
    NUMBER_COUNTS,
    labels_apart,
    treatments,
    with_inherited,
)


def scenarios(files: Sequence[str], headings: Sequence[str | None] | None = None) -> list[str | None]:
    """Return the scenario of each run, all of one path and method."""
    nothing: list[frozenset[Any]] = [frozenset()] * len(files)
    labels = with_inherited(files, headings or [None] * len(files), nothing)
    return [each.scenario for each in treatments([0] * len(files), files, labels, nothing)]


@pytest.mark.parametrize(
    "files",
    [
        ["ping_run1.log", "ping_run2.log", "ping_run4.log"],  # a word says so: a gap does not matter
        ["cubic_1.log", "cubic_2.log", "cubic_3.log"],
        ["0.log", "1.log", "2.log"],
        ["ping.log", "ping_2.log", "ping_3.log"],
        ["ping.log", "ping (1).log", "ping (2).log"],
        ["2026-01-31/x.log", "2026-02-01/x.log"],
        ["1/ping.log", "2/ping.log"],
        ["server7_r1.log", "server7_r2.log"],  # the r of "server7" is another one
        ["az1-az2_r1.log", "az1-az2_r2.log", "az1-az2_r4.log", "az1-az2_r5.log"],  # the third run was lost
        ["x.log", "x.txt.gz"],
        ["iperf31.log", "iperf32.log", "iperf33.log", "iperf34.log"],
        ["iperf3.txt", "iperf32.txt", "iperf33.txt", "iperf34.txt"],
        # A folder of all.
        *(
            [f"{folder}/ping{number}.txt" for number in ("", 2, 3, 4)]
            for folder in ("2", "dump3", "2024/1", "/tmp/2", "/a/dump-3")
        ),
        [f"ping{number}.log" for number in range(1, 8)],
        [f"measurement_{letter}.log" for letter in "ABCD"],
        ["eu-us #1.log", "eu-us #2.log"],
        ["samples/s01.txt", "samples/s04.txt"],
        ["it1.log", "it2.log", "it3.log"],
        ["x/jan.log", "x/feb.log", "x/mar.log"],
        ["ping_sa.log", "ping_so.log", "ping_mo.log"],
        ["messung.txt", "messung - Kopie.txt", "messung - Kopie (2).txt"],
        [f"20240312_1015{number}_5e90b4f3-7c1a-4d88-b2e6-0f9a3c7d1e{number}.log" for number in (10, 20)],
        ["lunes.txt", "miercoles.txt", "sábado.txt"],
        ["ping.log", "ping_retest.log"],
        *(
            [f"{word}_1.log", f"{word}_2.log"]
            for word in ("trace", "snapshot", "record", "evaluation", "stdout", "stderr")
        ),
    ],
)
def test_repeats(files: list[str]) -> None:
    assert scenarios(files) == [None] * len(files)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["cubic_1", "cubic_2", "vegas_1", "vegas_2"], ["cubic", "cubic", "vegas", "vegas"]),
        (["ping_1", "ping_2", "ping_4"], ["1", "2", "4"]),
        (["loss/1/run1", "loss/1/run2", "loss/2/run1"], ["1", "1", "2"]),
        (["ping_64", "ping_512"], ["64", "512"]),
        (["r5", "r6", "r7"], ["r5", "r6", "r7"]),  # types of machines
        (["a/rps_1000", "a/rps_3000"], ["rps_1000", "rps_3000"]),
        (["overload_5_attackers", "overload_10_attackers"], ["5_attackers", "10_attackers"]),
        (["bbr/delay_20ms/x", "bbr/delay_20ms_loss_0.01/x"], ["delay_20ms", "delay_20ms_loss_0.01"]),
        (["d.zip!ipv4/x.log", "d.zip!ipv6/x.log"], ["ipv4", "ipv6"]),
        (["vmA.zip!ping_1.log", "vmA.zip!ping_2.log", "vmB.zip!ping_1.log"], ["vmA", "vmA", "vmB"]),
        (["az1_az2", "az2_az1"], ["az1_az2", "az2_az1"]),  # the same words in another order
        (["ping.log", "ping_ipsec.log"], ["other", "ipsec"]),  # as those of another tool
        (["near_0", "far_0"], ["near", "far"]),
        (["1_direct", "2_wifi", "3_wifi", "4_direct"], ["direct", "wifi", "wifi", "direct"]),
        (["cubic_2", "cubic_4", "reno_8", "reno_16"], ["cubic_2", "cubic_4", "reno_8", "reno_16"]),
        (["offset_-1", "offset_0", "offset_1"], ["-1", "0", "1"]),
        (["größe/a", "klein/a"], ["größe", "klein"]),
        (["iperf2", "iperf3"], ["iperf2", "iperf3"]),
        (["iperf32", "iperf34"], ["32", "34"]),
        (["result_A", "result_B"], ["A", "B"]),  # two letters may be two treatments
        (["ping_A", "ping_B", "ping_C"], ["A", "B", "C"]),
        (["client #1", "client #2"], ["client 1", "client 2"]),
        (["it1", "fr1"], ["it1", "fr1"]),
        (["ping_de", "ping_fr", "ping_sa"], ["de", "fr", "sa"]),  # countries
        (["jan", "feb", "eva"], ["jan", "feb", "eva"]),
        (["node_one", "node_two", "node_three"], ["one", "two", "three"]),
        (["20240312_101500_1400", "20240312_101800_9000"], ["1400", "9000"]),
        (["ping_1_walls", "ping_2_walls"], ["1", "2"]),
        (["10.05.23_lan", "11.05.23_lan", "12.05.23_wlan"], ["lan", "lan", "wlan"]),
        (["aa-bb-cc-00-00-01", "aa-bb-cc-00-00-02"], ["aa-bb-cc-00-00-01", "aa-bb-cc-00-00-02"]),
    ],
)
def test_parts_that_tell_runs_apart_are_scenarios(files: list[str], expected: list[str]) -> None:
    assert scenarios(files) == expected


PAIRS_OF_TREATMENTS = """
    firewall/nofirewall delay/nodelay ratelimit/noratelimit proxy/noproxy loaded/unloaded samenode/crossnode
    haproxy/nginx
    sameregion/crossregion hostnetwork/podnetwork upstream/downstream multistream/singlestream
    client2server/server2client
    highrate/lowrate oldkernel/newkernel ipvlan/macvlan steadystate/burst localhost/remotehost transport/monitoring
"""


@pytest.mark.parametrize("pair", PAIRS_OF_TREATMENTS.split())
def test_the_numbers_of_two_treatments_count_repeats(pair: str) -> None:
    words = [word for word in pair.split("/") for _ in range(3)]
    assert scenarios([f"{word}_{number}.log" for word, number in zip(words, [1, 2, 3] * 2, strict=True)]) == words


@pytest.mark.parametrize(
    "word", ["webserver", "datanode", "blocksize", "nthreads", "numcpus", "Testrechner", "测试服务器"]
)
def test_a_number_behind_a_compound_or_a_count_of_things_names_it(word: str) -> None:
    assert scenarios([f"{word}_1.log", f"{word}_2.log"]) == [f"{word}_1", f"{word}_2"]


@pytest.mark.parametrize(
    ("words", "counts"),
    [
        (["hostnet-", "bridge-", "macvlan-"], True),
        (["hostnet_", "macvlan_", "bridge_", "iperf3_"], True),  # the name of a tool is no sibling
        (["gateway_", "direct_"], True),
        (["test_A_", "test_B_"], True),
        (["node-", "pod-", "vm-"], False),  # numbers of all of them name things
        (["cold", "warm"], False),  # glued to words that nobody knows
        (["client_", "ping_"], False),
    ],
)
def test_numbers_of_siblings_of_one_shape_count_together(words: list[str], counts: bool) -> None:
    names = [f"{word}{number}.log" for word in words for number in (1, 2, 3)]
    found = treatments([0] * len(names), names, [None] * len(names), [frozenset()] * len(names))
    tool = sum(is_result(word.strip("_")) for word in words) * 3
    assert sum(NUMBER_COUNTS in each.assumed for each in found) == (len(names) if counts else tool)
    assert len({each.scenario for each in found}) == (len(words) if counts else len(names) - tool // 3 * 2)
    many = [f"{word}_{number}" for word in ("threads", "default") for number in (1, 2, 3)]
    assert scenarios(many) == [*many[:3], *["default"] * 3], "so many threads"
    switches = ["gro_0", "gro_1", "bridge_0", "bridge_1"]
    assert scenarios(switches)[2:] == switches[2:], "0 and 1 may switch a setting"


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ("idle loaded", 2),
        ("cubic bbr", 2),
        ("idle", 3),  # one word alone: three things
        ("eu us", 6),  # zones of regions
        ("idle router", 6),
        ("eu_idle eu_busy", 6),
        ("frankfurt dublin", 6),  # words that nobody knows
    ],
)
def test_letters_below_conditions_count_and_those_of_places_do_not(words: str, count: int) -> None:
    names = [f"{word}_{letter}.log" for word in words.split() for letter in "abc"]
    found = treatments([0] * len(names), names, [None] * len(names), [frozenset()] * len(names))
    assert len({each.scenario for each in found}) == count
    assert all((NUMBER_COUNTS in each.assumed) == (count == 2) for each in found)


@pytest.mark.parametrize(
    "shape",
    ["zone1_to_zone-2_{}.log", "westeurope-1_to_westeurope-2_{}.log", "{}/loss_1_to_2.log"],
)
def test_a_known_repeat_stands_in_one_place_of_all_names(shape: str) -> None:
    files = [shape.format(repeat) for repeat in (1, 2, 3)]
    found = treatments([0] * 3, files, [None] * 3, [frozenset({repeat}) for repeat in (1, 2, 3)])
    assert [each.scenario for each in found] == [None] * 3


def test_a_setting_with_the_number_of_a_repeat_is_apart() -> None:
    files = [f"gro_{gro}/{repeat}.log" for gro in (1, 2) for repeat in (1, 2)]
    found = treatments([0] * 4, files, [None] * 4, [frozenset({1}), frozenset({2})] * 2)
    assert [each.scenario for each in found] == ["1", "1", "2", "2"]


def test_only_runs_of_one_group_are_compared() -> None:
    found = treatments(["ping", "iperf3"], ["a/x", "b/y"], [None, None], [frozenset(), frozenset()])
    assert [each.scenario for each in found] == [None, None]


def test_labels_that_differ_are_scenarios_and_counters_in_them_are_not() -> None:
    files = ["notes.md"] * 4
    labels = ["Test / AN off / Run 1", "Test / AN off / Run 2", "Test / AN on / Run 1", "Test / AN on / Run 2"]
    assert scenarios(files, labels) == ["AN off", "AN off", "AN on", "AN on"]
    assert scenarios(files, ["Run 1", "Run 2", "Run 3", None]) == [None] * 4


def test_a_text_that_only_says_that_a_run_repeats_is_a_counter() -> None:
    texts = ["And once more", "One more time", "Same result. Again", "Noch einmal", "Encore une fois", "Otra vez"]
    texts += ["Repeating it gives about the same:", "Once more, to be safe:", "A second try gives about the same:"]
    texts += [
        "And again, with nothing changed:",
        "Third attempt, after lunch:",
        "Fourth run, same settings",
        "Again on Friday",
        "Trying it once more gives:",
        "Di nuovo",
        "Let me repeat that to make sure it was not a fluke:",
    ]
    assert scenarios(["notes.md"] * 17, ["First run", *texts]) == [None] * 17
    assert scenarios(["notes.md"] * 2, ["First run", "And once more with TSO"]) == [None, "And once more with TSO"]
    assert scenarios(["notes.md"] * 2, ["First run", "Again, nothing changed but the MTU"])[1] is not None
    for pair in (("Run 1, in", "Run 2, out"), ("Run 1, single", "Run 2, double"), ("Run 1, idle", "Run 2, running"),
                 ("Sala", "Quarto"), ("Before lunch", "After lunch"), ("Run 1, fast", "Run 2, safe")):  # fmt: skip
        assert len({*scenarios(["notes.md"] * 2, pair)}) == 2, pair
    commands = ["$ make bench RUN=1", "$ make bench RUN=2", "$ make bench RUNS=3"]
    assert [name is None for name in scenarios(["notes.md"] * 2, commands[:2])] == [True, True]
    assert len({*scenarios(["notes.md"] * 3, commands)}) == 2
    assert scenarios(["notes.md"] * 3, ["tuned", "unchanged", "same host"]) == ["tuned", "unchanged", "same host"]


@pytest.mark.parametrize("end", ["-{}", "_{}of3", "-#{}", " ({})"])
def test_a_relation_before_a_thing_is_a_placement_whose_number_counts(end: str) -> None:
    files = [f"{place}{end.format(number)}.log" for place in ("same-host", "intra_zone") for number in (1, 2, 3)]
    assert scenarios(files) == ["same-host"] * 3 + ["intra_zone"] * 3
    assert len({*scenarios([f"{place}{end.format(1)}.log" for place in ("host", "zone")])}) == 2


@pytest.mark.parametrize(
    "files",
    [
        [f"intra-zone-{zone}_2026-01-{day}.log" for zone in (1, 2, 3) for day in (30, 31)],
        [
            f"2026-01-{day}/{place}-zone-{zone}.log"
            for place in ("intra", "inter")
            for zone in (1, 2)
            for day in (30, 31)
        ],
        [*(f"same-zone-{zone}.log" for zone in (1, 2, 3)), *(f"cross-zone-{pair}.log" for pair in (12, 13, 23))],
    ],
)
def test_the_zones_of_placements_are_apart(files: Sequence[str]) -> None:
    zones = {scenario: file for file, scenario in zip(files, scenarios(files), strict=True)}
    assert len(zones) == len({file.rpartition("/")[2].partition("_")[0] for file in files})


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["Before", "Second run", "After", "Second run"], ["Before", "Before", "After", "After"]),
        (["Run 1", "tuned", "Run 2", "tuned"], [None, "tuned", None, "tuned"]),
        (["Run 1", "Run 2", "tuned", "Run 3"], [None, None, "tuned", "below tuned"]),
        (["Run 1", "tuned", "once more"], [None, "tuned", "tuned"]),
        (["off", "on", "on", "off"], ["off", "on", "on", "off"]),
        (["off", "on", "Run 2 / off", "Run 2 / on"], ["off", "on", "off", "on"]),
        (["A", "later", "B", "later"], ["A", "A / later", "B", "B / later"]),
        (["A", "Ten minutes later", "B", "Ten minutes later"], ["A", "A", "B", "B"]),
        (["A", "After ten minutes of load"], ["A", "After ten minutes of load"]),
        (["A", "The second one"], ["A", "The second one"]),  # perhaps another server
        (["A", "And a second run", "B"], ["A", "A", "B"]),
        (["via 10.0.0.1", "via 10.0.0.2", "via 10.0.0.1"], ["via 10.0.0.1", "via 10.0.0.2", "via 10.0.0.1"]),
    ],
)
def test_a_label_that_only_repeats_inherits_that_of_the_run_above(labels: list[str], expected: list[str]) -> None:
    assert scenarios(["notes.md"] * len(labels), labels) == expected


def test_a_label_is_inherited_from_a_run_whose_scenario_the_manifest_says(tmp_path: Path) -> None:
    folder = tmp_path / "raw" / "mine"
    folder.mkdir(parents=True)
    labels = ("Before", "Second run", "After", "Second run")
    runs = (f"{label}:\n\n{ping('10.0.0.9', 1.0, 1.1 + at)}\n" for at, label in enumerate(labels))
    (folder / "notes.md").write_text("".join(runs), "utf-8")
    entry = '[[run]]\ntranscript = "notes.md"\nheading = "Before"\nscenario = "old"\n'
    (folder / "study.toml").write_text(f"[study]\n\n{entry}", "utf-8")
    found = az.latency(in_memory(folder)).sort_values("first_line")["scenario"]
    assert list(found) == ["old", "Before", "After", "After"]


def test_a_label_that_is_the_name_of_a_file_is_read_as_one() -> None:
    files = ["cubic_1.log", "cubic_2.log", "old / bbr_1.log", "old / bbr_2.log"]
    assert scenarios(["notes.txt"] * 4, files) == ["cubic", "cubic", "bbr / old", "bbr / old"]
    assert scenarios(["notes.txt"] * 3, ["ping_1.log", "ping_2.log", "ping_3.log"]) == [None] * 3
    assert scenarios(["notes.txt"] * 2, ["v1.2 of x.y", "v1.3 of x.y"]) == ["v1.2 of x.y", "v1.3 of x.y"]


def test_what_is_assumed_is_said() -> None:
    nothing = [frozenset[int]()] * 4
    named = treatments([0] * 4, ["cubic_1", "cubic_2", "bbr_1", "bbr_2"], [None] * 4, nothing)
    assert {each.assumed for each in named} == {(FROM_NAME, NUMBER_COUNTS)}
    assert treatments([0] * 2, ["x", "x"], ["A", "B"], nothing[:2])[0].assumed == (FROM_LABEL,)
    assert treatments([0] * 2, ["run1", "run2"], [None] * 2, nothing[:2])[0].assumed == ()
    assert treatments([0] * 2, ["x", "x"], ["=== 0 ===", "=== 1 ==="], nothing[:2])[0].assumed == (NUMBER_COUNTS,)
    for labels in (["Test 1", "Test 3"], ["A", "A / an hour later"]):
        assert treatments([0] * 2, ["x", "x"], labels, nothing[:2])[0].assumed == (NUMBER_COUNTS,)
    letters = [f"measurement_{letter}.log" for letter in "ABCD"]
    assert treatments([0] * 4, letters, [None] * 4, nothing)[0].assumed == (NUMBER_COUNTS,)
    assert treatments([0] * 2, ["x", "x"], ["=== 1 ===", "=== 1 ==="], nothing[:2])[0].assumed == ()


@pytest.mark.slow
def test_ten_thousand_names_take_no_time() -> None:
    files = [f"zone{n % 7}/setting_{n % 11}/run_{n}.log" for n in range(10_000)]
    numbers = [frozenset[int]()] * len(files)
    assert len({each.scenario for each in treatments([0] * len(files), files, [None] * len(files), numbers)}) == 77


def test_a_run_of_another_path_fills_the_gap_that_it_leaves() -> None:
    files = [f"az1-az2_sockperf_{number}.log" for number in range(1, 8)]
    nothing: list[frozenset[int]] = [frozenset()] * len(files)
    found = treatments([number == 4 for number in range(1, 8)], files, [None] * len(files), nothing)
    assert {each.scenario for each in found} == {None}


def test_a_copy_or_an_empty_log_fills_the_gap_that_it_leaves() -> None:
    files, numbers = ["ping_1.log", "ping_2.log", "ping_4.log"], [frozenset[int]()] * 3
    apart = treatments([0] * 3, files, [None] * 3, numbers, ["ping_9.log", "other_3.log"])
    assert {each.scenario for each in apart} == {"1", "2", "4"}
    joined = treatments([0] * 3, files, [None] * 3, numbers, ["ping_3.log"])
    assert {each.scenario for each in joined} == {None}


def test_labels_that_differ_behind_five_hundred_characters_are_different() -> None:
    long = "very long label " * 40
    assert len(set(scenarios(["a.md"] * 2, [f"{long}A variant", f"{long}B variant"]))) == 2


def test_names_say_the_scenario_of_runs_of_other_ends_and_settings(tmp_path: Path) -> None:
    """Ends and settings tell these runs apart already, and what the names say of them is kept."""
    text = (FIXTURES / "iperf3" / "3.12-tcp.json").read_text("utf-8")
    names = (("t2", "10.2.2.4", "cubic"), ("m5", "10.2.2.9", "cubic"), ("m5", "10.2.2.9", "bbr"))
    for number, (name, address, algorithm) in enumerate(names):
        log = tmp_path / name / f"{algorithm}_1.json"
        log.parent.mkdir(exist_ok=True)
        changed = text.replace("10.2.2.4", address).replace('"bbr"', f'"{algorithm}"')
        log.write_text(changed.replace("1795225326", str(1795225326 + 100 * number)), "utf-8")
    runs = az.throughput(az.parse(tmp_path))
    assert set(runs["scenario"]) == {"t2/cubic", "m5/cubic", "m5/bbr"}
    assert all(":" not in path for path in runs["path"])


def test_a_number_in_front_of_a_treatment_and_a_word_said_twice_are_kept() -> None:
    assert scenarios(["01_default.txt", "02_bbr.txt"]) == ["01_default", "02_bbr"]
    assert scenarios(["vm_ping_by_ping.txt", "vm_ping_by_udp.txt"]) == ["ping ping", "ping udp"]
    assert scenarios(["az1-az1/x", "az1-az2/x"]) == ["az1-az1", "az1-az2"]


def test_labels_that_count_are_shown_with_a_star_for_the_number() -> None:
    labels = [f"round {number} zone 1 -> zone {zone}" for number in (1, 2, 3) for zone in (2, 3)]
    assert [label for label, _ in labels_apart(labels)][:2] == ["round * zone 1 -> zone 2", "round * zone 1 -> zone 3"]
    assert len({label for label, _ in labels_apart(labels)}) == 2


def test_a_name_that_only_repeats_the_server_names_no_path(tmp_path: Path) -> None:
    for host in (2, 3):
        log = tmp_path / "vm" / f"ping_10.0.0.{host}.txt"
        log.parent.mkdir(exist_ok=True)
        log.write_text(ping(f"10.0.0.{host}", 0.3, 0.4, 0.5), "utf-8")
    assert sorted(map(str, az.latency(az.parse(tmp_path))["path"])) == ["? → 10.0.0.2", "? → 10.0.0.3"]
