"""The answers of the studies; expected numbers are read by hand in their logs and texts."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from helpers.command import azlatency
from helpers.places import TESTS
from helpers.studies import FEW_REGIONS, in_memory, load_card
from studies.runs.test_left_out import DEAD
from studies.runs.test_run_table import ping

import azlatency as az
from azlatency.kit.cells import RunsRef
from azlatency.kit.sentences import Linked, plain_sentence
from azlatency.kit.titles import span
from azlatency.pages import latency, summary
from azlatency.pages.summary import zones
from azlatency.pages.summary.answerable import unanswered
from azlatency.pages.summary.card import Card
from azlatency.studies.drafts.draft import draft


def said(card: Card) -> str:
    """Return the answer; the numbers that answer the question are between asterisks."""
    return "".join(
        part if isinstance(part, str) else f"**{part.text}**" if part.bold else part.text for part in card.answer
    )


def test_a_zone_is_far_only_if_two_of_its_pairs_were_measured() -> None:
    near, far = ("1", "2"), ("1", "3")
    assert zones._far_zone({near: [10.0], far: [500.0]}) is None
    found = zones._far_zone({near: [10.0], far: [500.0], ("2", "3"): [510.0]})
    assert found is not None and found[0] == "3"


@pytest.mark.costly
def test_aks_one_zone_is_far() -> None:
    card = load_card("westeurope-azure-cni")
    # The medians of sockperf are half round trips.
    assert said(card).startswith("Measured once: **1,401–1,422 µs** from zone 3 to the other zones")
    assert "**105 µs** between zones 1 and 2" in said(card) and "**66.8 µs** inside zone 1" in said(card)
    assert "sockperf prints half of each value" in plain_sentence(card.inference)
    assert card.badge_text == "one run per path" and "at least 7 rounds" in card.next_step
    assert [dot.text for dot in card.dots] == ["33.0 µs", "66.8 µs", "105 µs", "1,401 µs", "1,422 µs"]


@pytest.mark.costly
def test_a_placement_that_was_measured_once_is_described() -> None:
    card = load_card("westeurope-availability-set-vs-zones")
    # Medians 93.556 / 53.433 and 84.389 / 44.215 us; p99 57.249 and 67.660, minima 77.406 and 86.803 us.
    assert said(card).startswith("Crossing zones, measured once: **84.4 µs** against **44.2 µs** at 350 B and ")
    assert "57.2 µs against 77.4 µs at 350 B and 67.7 µs against 86.8 µs at 1,400 B" in said(card)
    assert "campus" in card.likely_cause and card.likely_cause_source
    # Not every study shows what it would be the cause of: connects of 2.02 to 2.08 ms of westeurope-psping do not.
    assert f"Background, not a finding: {card.likely_cause} Source: {card.likely_cause_source}" in repr(card)


def test_a_path_that_was_measured_once_among_repeated_ones_is_said_to_be(tmp_path: Path) -> None:
    """Three runs of 1.00 to 1.02 ms from zone a to zone b and one of 2 ms to zone c; first without zones."""
    (tmp_path / "study.toml").write_text('[study]\npattern = "*_{repeat}.log"\n', "utf-8")
    for name, server, time in (("a-b_1", 1, 1.0), ("a-b_2", 1, 1.01), ("a-b_3", 1, 1.02), ("a-c_1", 2, 2.0)):
        (tmp_path / f"{name}.log").write_text(ping(f"10.0.0.{server}", time, time, time), "utf-8")
    text = plain_sentence(summary.make_card(in_memory(tmp_path)).answer)
    assert "CI 0.98–1.04 ms) on b: ? → 10.0.0.1 and 2.00 ms on c: ? → 10.0.0.2 (measured once)." in text
    manifest = '[study]\npattern = "a-{peer_zone}_{repeat}.log"\n[[run]]\nlog = "*"\nzone = "a"\n'
    (tmp_path / "study.toml").write_text(manifest, "utf-8")
    text = plain_sentence(summary.make_card(in_memory(tmp_path)).answer)
    assert "a–c 2.00 ms (measured once)" in text and text.count("measured once") == 1, text


def test_a_cut_run_neither_counts_nor_decides_what_the_others_are_compared_by(raw: Path, tmp_path: Path) -> None:
    """A log that ends after the mean has no median; the others have 93.1, 93.2, 93.3 and 94.1, 94.2, 94.3 us."""
    whole = (raw / "westeurope-availability-set-vs-zones" / "zone3-zone1" / "sockperf-m1400.log").read_text("utf-8")
    for path, start in (("z1-z2", 93), ("z1-z3", 94)):
        for number in range(1, 4):
            text = whole.partition("\n")[2].replace("=   93.556", f"=   {start}.{number}00")
            (tmp_path / f"{path}_run{number}.log").write_text(text, "utf-8")
    (tmp_path / "z1-z3_run4.log").write_text(text.partition("sockperf: # dropped")[0], "utf-8")
    study = in_memory(tmp_path)
    study = study.described(draft("mine", study))
    card = summary.make_card(study)
    assert card.axis == "median RTT, sockperf" and [dot.text for dot in card.dots] == ["93.2 µs", "94.2 µs"]
    assert "1–2 **93.2 µs**" in said(card) and "1–3 **94.2 µs**" in said(card)
    assert card.assumed[-1] == "1 run left out: z1-z3_run4.log (cut)"
    runs = az.latency(study)
    levels = az.stats.placement.conditions(study, runs)
    assert set(az.stats.zone_pairs(study, runs, levels)["value"]) == {93100, 93200, 93300, 94100, 94200, 94300}
    found = az.summarize(runs)
    assert list(found["value"]) == ["median_ns"] * 2 and list(found["estimate"]) == [93200, 94200]
    assert list(found["notes"]) == ["", "1 run left out: z1-z3_run4.log (cut)"]
    first = latency.find(runs, found, az.summarize(runs, "mean_ns"), pd.DataFrame({"flags": []})).findings[0]
    assert first.text.startswith("Median round trip")


def test_reported_means_are_marked() -> None:
    card = load_card("uksouth-echo-latency")
    assert "Crossing zones, as reported: **1,425 µs** against **850 µs**." in said(card)
    assert "3 connections broke, 2 of them 3 s apart." in said(card)
    assert card.badge_text == "quoted from the source" and "without logs" in plain_sentence(card.inference)


@pytest.mark.costly
def test_accelerated_networking_and_placement_group() -> None:
    card = load_card("canadacentral-proximity-placement")
    # 308.55 -> 55 to 61.09, 1840.29 -> 1364.43 us; 54 to 57 us in the group
    assert said(card).startswith(
        "Accelerated networking (as reported; no test possible): **309 µs** → **55–61 µs** in one zone and "
    )
    assert "A placement group on top: **54–57 µs**." in said(card)


def test_single_runs_on_several_sizes_show_no_effect_of_the_size() -> None:
    # 1546 (D2s v3) and 1840.29 us (D4s v3) in the text, 2026.40 us (B1s) in the log
    assert said(load_card("canadacentral-proximity-placement")).endswith(
        "VM size, one number each, which cannot show an effect: Standard_D2s_v3 1,546 µs, Standard_D4s_v3 1,840 µs and "
        "Standard_B1s 2,026 µs (its log)."
    )


def test_expectations_alone_are_not_a_measurement() -> None:
    card = load_card("cassandra-vm-baseline")
    assert card.badge == "not_measured" and "12 expected values" in said(card) and not card.dots
    assert "fio, iperf3 and sockperf" in card.next_step


@pytest.mark.costly
def test_pairs_of_similar_distance_are_listed_with_both_directions() -> None:
    card = load_card("aws-euwest1-lagscope")
    # Medians 384, 386, 263, 263, 459, 459 and 74 us
    assert said(card).startswith("Measured once: 1a–1c **263 µs**, 1a–1b **384–386 µs** and ")
    # 384 and 386 us, cut to whole us, are not equal: the means are 386.743 and 389.622 us. Page 04 says "not testable".
    assert "Both directions differ by at most 2 µs as printed (medians of one run each: not testable)" in said(card)


@pytest.mark.costly
def test_a_value_has_the_digits_of_its_print() -> None:
    # 9 ms between Osaka and Tokyo; 0.13 ms in Montreal; the texts print 308.55, "55 to 61.09" and "54 to 57" us.
    regions, zones = (
        {dot.label: dot.text for dot in load_card(name).dots} for name in (FEW_REGIONS, "ibm-cloud-zones")
    )
    assert regions["Osaka – Tokyo"] == "9 ms" and zones["Montreal"] == "130 µs"
    assert [dot.text for dot in load_card("canadacentral-proximity-placement").dots][:3] == [
        "54–57 µs",
        "55–61 µs",
        "309 µs",
    ]


def test_a_card_with_pairs_of_many_regions_has_a_row_for_each_region() -> None:
    """The table of 2026-08-16 prints 0.61, 0.66, 0.77 ms in Madrid, 0.60 to 2.16 in Dallas, 0.07 to 0.11 inside."""
    card = load_card("ibm-cloud-zones")
    texts = {dot.label: dot.text for dot in card.dots}
    assert len(texts) == 14 and texts["inside a zone"] == "70–110 µs"
    assert (texts["Madrid"], texts["Dallas"]) == ("610–770 µs", "600–2,160 µs")
    assert "nearest to farthest pair of zones of each region" in card.axis


def test_directions_that_differ_by_rounding_are_not_called_apart() -> None:
    # The window of 2026-08-16 prints whole ms: 10 and 11 are 10 % apart; Osaka to Chennai 122, back 112.
    assert (
        "Both directions were measured at most 8.9 % apart, leaving out pairs within the printed 1 ms (newest "
        "window only; the page on both directions compares all)."
    ) in said(load_card(FEW_REGIONS))


def test_the_card_of_a_text_says_which_runs_have_logs() -> None:
    # The two logs of Canada Central are both ends of one run on another size of machine.
    card = load_card("canadacentral-proximity-placement")
    assert "and only 1 other run with logs" in plain_sentence(card.inference)


@pytest.mark.costly
def test_the_next_step_of_an_emulated_study_is_not_a_page_that_it_has() -> None:
    assert load_card("emulated-zones").next_step.startswith("Let every tool wait equally long")
    cloud, nights = load_card("emulated-cloud"), load_card("emulated-nights")
    assert cloud.next_step.startswith("Measure with a second tool that waits less between packets: the longer")
    assert "The goodput of zone 3 → 2 is 50 % of its reverse (configured 50 %)" in plain_sentence(cloud.answer)
    # Of two intervals, a share of 95 % says nothing.
    assert "Of 12 intervals at 95 %" in plain_sentence(cloud.inference)
    assert "should contain" not in plain_sentence(nights.inference)


def test_many_pairs_of_zones_are_a_range_and_not_a_list() -> None:
    across = {(f"z{a:02d}", f"z{b:02d}"): (1e5 + 1e4 * (b - a),) for a in range(50) for b in range(a + 1, 50)}

    def between(*pairs: tuple[str, str]) -> Linked:
        return Linked(span([value for pair in pairs for value in across[pair]], "ns"))

    sentence = plain_sentence(zones._from_to(across, between))
    assert sentence == "from 110–120 µs (97 pairs) to 540–590 µs (21 pairs)."
    drawn = zones._spread(sorted(across, key=across.__getitem__))
    assert len(drawn) == 12 and across[drawn[0]] == (1.1e5,) and across[drawn[-1]] == (5.9e5,)


@pytest.mark.costly
def test_token_buckets_are_replicated() -> None:
    card = load_card("ec2-token-buckets")
    assert card.badge == "replicated" and said(card).startswith("28 of 29 transfers fall once; the logs end ")
    # Two hosts of c5.large and one of c5.2xlarge start at 5.02, one of c5.xlarge at 8.72 Gbit/s.
    assert "4 start at **5.02–8.72 Gbit/s** and fall after **9.6–50.2 min**" in said(card)
    assert "c5.large to **0.752 Gbit/s** after **4.6 min**" in said(card)
    assert [dot.label for dot in card.dots] == ["c5.large", "c5.xlarge", "c5.2xlarge", "c5.4xlarge"]
    # Line 284 of c5.large-us-west-1-1567743337.bw.gz prints 6.688 and line 285 prints 0.754 Gbit/s.
    # The rate is the median of all seconds after it, so it leads to all of them.
    refs = [ref for part in card.answer if isinstance(part, Linked) for ref in part.refs]
    assert RunsRef(("3268f9dfdbf0e054-01",), "intervals", 285) in refs
    (of_seconds,) = card.dots[0].refs
    assert len(of_seconds.run_ids) == 9 and "3268f9dfdbf0e054-01" in of_seconds.run_ids and of_seconds.line is None
    # The rates of c5.large fall after 274 to 587 s, of c5.2xlarge after 1046 to 3009 s; a c5.4xlarge stays at its
    # rate for 3601 s.
    assert card.next_step.endswith(
        "Until then: c5.large 4.6–9.8 min, c5.xlarge 8.6–10.7 min, c5.2xlarge 17.4–50.2 min and c5.4xlarge "
        "37.8–38.5 min; 1 did not fall (c5.4xlarge, 60.0 min at a median of 5.02 Gbit/s, the rate to which the others "
        "fall: no burst; the last 4 intervals without traffic)."
    )


@pytest.mark.costly
def test_of_many_paths_the_slowest_and_the_fastest_are_named(tmp_path: Path) -> None:
    log = (TESTS / "fixtures" / "iperf3" / "3.12-bidir.txt").read_text("utf-8")
    (tmp_path / "raw").mkdir()
    for host in range(14):
        # The number of the host becomes a part of the server's address and of the received rate: 1.81, 2.81 … Gbit/s.
        text = log.replace("10.2.2.4", f"10.2.3.{host}").replace(" 2.81 Gbits", f" {host + 1}.81 Gbits")
        (tmp_path / "raw" / f"{host}.txt").write_text(text, "utf-8")
    study = in_memory(tmp_path / "raw")
    card = summary.make_card(study)
    assert said(card) == (
        "Goodput: from **1.81 Gbit/s** on 10.2.1.4 → 10.2.3.0 to **14.8 Gbit/s** on 10.2.1.4 → 10.2.3.13 (14 paths)."
    )
    assert [dot.low for dot in card.dots] == [1e9 * number + 0.81e9 for number in (*range(1, 7), *range(9, 15))]
    assert "the lowest and the highest of 14 paths" in card.axis


def test_one_size_on_one_path_is_not_laid_beside_another_size_on_another(tmp_path: Path) -> None:
    for host, times in ((2, (0.34, 0.36)), (3, (3.2, 3.4))):
        for size, factor in ((56, 1), (1400, 2)):
            text = ping(f"10.0.0.{host}", *(factor * time for time in times)).replace("56(84)", f"{size}({size + 28})")
            text = text.replace("64 bytes from", f"{size + 8} bytes from")
            (tmp_path / f"{host}_{size}B.log").write_text(text, "utf-8")
    card = summary.make_card(in_memory(tmp_path))
    assert (
        said(card) == "The median round trip takes **350 µs** on 2: ? → 10.0.0.2 and **3,300 µs** on 3: ? → 10.0.0.3."
    )
    assert "Not compared here: 2 runs on 2 paths with ping 1400 B" in plain_sentence(card.inference)


@pytest.mark.costly
def test_a_rate_that_was_asked_for_is_not_what_a_path_carries(tmp_path: Path) -> None:
    """Three tests carry 20 Mbit/s: two that were told to send at this rate, and one at 60."""
    log = (TESTS / "fixtures" / "iperf3" / "3.16-udp-omit.json").read_text("utf-8")
    (tmp_path / "raw").mkdir()
    for run, target in enumerate((20, 20, 60)):
        text = log.replace('"target_bitrate":\t40000000', f'"target_bitrate":\t{target}000000')
        (tmp_path / "raw" / f"{run}.json").write_text(text.replace("}\n", "}" + "\n" * (run + 1)), "utf-8")
    study = in_memory(tmp_path / "raw")
    card = summary.make_card(study)
    assert card.axis == "goodput, iperf3 UDP 60 Mbit/s"
    assert card.next_step == "Repeat each transfer in rounds, for at least a minute."


PACED = """vm1:~$ iperf3 -c 10.49.1.2 -u -b100M -t1
Connecting to host 10.49.1.2, port 5201
[  5] local 10.49.1.1 port 47190 connected to 10.49.1.2 port 5201
[ ID] Interval           Transfer     Bitrate         Total Datagrams
[  5]   0.00-1.00   sec  11.9 MBytes  99.9 Mbits/sec  8626
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-1.00   sec  11.9 MBytes  99.9 Mbits/sec  0.000 ms  0/8626 (0%)  sender
[  5]   0.00-1.00   sec  11.9 MBytes  99.9 Mbits/sec  0.007 ms  0/8626 (0%)  receiver

iperf Done.
"""
UNPACED = """vm1:~$ iperf3 -c 10.49.1.2 -t1
Connecting to host 10.49.1.2, port 5201
[  5] local 10.49.1.1 port 38840 connected to 10.49.1.2 port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   517 MBytes  4.32 Gbits/sec    3    650 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-1.00   sec   517 MBytes  4.32 Gbits/sec    3             sender
[  5]   0.00-1.00   sec   517 MBytes  4.32 Gbits/sec                  receiver

iperf Done.
"""


def test_a_rate_that_only_the_command_states_is_said_and_never_leads(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    log = tmp_path / "raw" / "notes.txt"
    log.write_text(PACED + PACED.replace("47190", "47191"), "utf-8")
    alone = summary.make_card(in_memory(tmp_path / "raw"))
    # Both runs print 99.9: the interval is that of the rounding, as the terminal prints it.
    assert said(alone) == (
        "Goodput: **99.90 Mbit/s** (95 % CI 99.85–99.95 Mbit/s) on 10.49.1.1 → 10.49.1.2, of the 100 Mbit/s that were "
        "asked for."
    )
    assert "99.90 Mbit/s" in azlatency(log).stdout and " 100 Mbit/s asked for" in azlatency(log).stdout
    log.write_text(PACED + PACED.replace("47190", "47191") + UNPACED, "utf-8")
    both = summary.make_card(in_memory(tmp_path / "raw"))
    assert said(both).startswith("Goodput: **4.32 Gbit/s** on ") and both.axis == "goodput, iperf3 TCP"
    rows = azlatency(log).stdout.splitlines()
    assert " iperf3 TCP " in rows[1] and " iperf3 UDP " in rows[2]


#: The server sends.
REVERSE = (
    UNPACED.replace(" -t1", " -t1 -R")
    .replace("10.49.1.2, port 5201\n", "10.49.1.2, port 5201\nReverse mode, remote host 10.49.1.2 is sending\n", 1)
    .replace("38840", "38850")
    .replace("517 MBytes  4.32", "617 MBytes  5.18")
)


def test_the_goodput_of_a_reverse_test_is_that_of_its_sender(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(REVERSE, "utf-8")
    study = in_memory(tmp_path)
    card = summary.make_card(study)
    assert said(card) == "Goodput: **5.18 Gbit/s** on 10.49.1.2 → 10.49.1.1."
    assert card.axis == "goodput from sender to receiver, iperf3 stream-reverse TCP"
    assert "04_zone_pair_asymmetry" in {question.page for question in unanswered(study)}


def test_a_reverse_test_is_the_other_direction_and_does_not_lead(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(REVERSE + UNPACED, "utf-8")
    study = in_memory(tmp_path)
    card = summary.make_card(study)
    assert said(card) == "Goodput: **4.32 Gbit/s** on 10.49.1.1 → 10.49.1.2." and card.axis == "goodput, iperf3 TCP"
    assert "04_zone_pair_asymmetry" not in {question.page for question in unanswered(study)}


@pytest.mark.costly
def test_the_rate_of_a_sender_is_no_goodput_and_paths_of_other_methods_are_named(tmp_path: Path) -> None:
    """One server prints no result of its own; three runs to another server last three seconds instead of two."""
    (tmp_path / "raw").mkdir()
    sender, both = (
        (TESTS / "fixtures" / "iperf3" / name).read_text("utf-8") for name in ("3.1-udp.txt", "3.12-udp.txt")
    )
    (tmp_path / "raw" / "short.txt").write_text(sender.replace("10.2.2.4", "10.2.2.9"), "utf-8")
    for run in range(3):
        (tmp_path / "raw" / f"run{run}.txt").write_text(sender + "\n" * run, "utf-8")
    (tmp_path / "raw" / "long.txt").write_text(both.replace("10.2.2.4", "10.2.2.7"), "utf-8")
    study = in_memory(tmp_path / "raw")
    card = summary.make_card(study)
    assert said(card).startswith("Rate at the sender: **47.90 Mbit/s** (95 % CI 47.85–47.95 Mbit/s) on ")
    assert card.axis == "rate at the sender, iperf3 UDP 2 s"
    assert plain_sentence(card.inference).endswith(
        "Not compared here: 1 run on 10.2.1.4 → 10.2.2.7 with iperf3 UDP 3 s."
    )


@pytest.mark.costly
def test_a_path_that_another_method_measured_too_is_not_said_to_be_measured_once(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    for name in ("3.1-udp.txt", "3.12-udp.txt"):
        (tmp_path / "raw" / name).write_bytes((TESTS / "fixtures" / "iperf3" / name).read_bytes())
    study = in_memory(tmp_path / "raw")
    card = summary.make_card(study)
    assert plain_sentence(card.inference).startswith("Each value comes from one run, so this describes ")


def _card_of_two_regions(tmp_path: Path, pattern: str, factors: dict[str, float]) -> Card:
    """Return the card of zones 1–2 and 1–3 of two regions, five pings each; ``factors``: of zone 3 by region."""
    for region, level in (("francecentral", 0.5), ("japaneast", 1.0)):
        for peer, factor in ((2, 1.0), (3, factors[region])):
            for run in range(5):
                folder = tmp_path / region / f"az1-az{peer}"
                folder.mkdir(parents=True, exist_ok=True)
                times = (factor * (level + 0.001 * (run + step)) for step in range(3))
                (folder / f"ping_{run}.txt").write_text(ping("10.0.0.9", *times), "utf-8")
    (tmp_path / "study.toml").write_text(
        f'[study]\npattern = "{pattern}/az{{zone}}-az{{peer_zone}}/ping_{{repeat}}.txt"\n'
    )
    return summary.make_card(in_memory(tmp_path))


@pytest.mark.parametrize("name", ["region", "scenario"])
def test_pairs_of_zones_are_compared_within_a_region_only(tmp_path: Path, name: str) -> None:
    equal = _card_of_two_regions(tmp_path / "equal", f"{{{name}}}", {"francecentral": 1.0, "japaneast": 1.0})
    assert said(equal).startswith(f"No difference between the pairs within any of 2 {name}s (at most **")
    # The medians of the middle runs are 503 and 1003 µs.
    assert [(dot.label, dot.text) for dot in equal.dots] == [
        ("francecentral 1 – 2", "503 µs"),
        ("francecentral 1 – 3", "503 µs"),
        ("japaneast 1 – 2", "1,003 µs"),
        ("japaneast 1 – 3", "1,003 µs"),
    ]
    one = _card_of_two_regions(tmp_path / "one", f"{{{name}}}", {"francecentral": 1.5, "japaneast": 1.0})
    assert said(one).startswith("The pairs within francecentral differ: francecentral")
    assert "takes **1.5 times** as long as" in said(one) and "; japaneast" in said(one)
    both = _card_of_two_regions(tmp_path / "both", f"{{{name}}}", {"francecentral": 1.5, "japaneast": 1.4})
    assert said(both).startswith("The pairs within francecentral and japaneast differ: francecentral")


#: netperf between pods, with the lines that a script prints above each run.
PODS = """\
=== node-{} -> node-{} ===
$ kubectl exec netperf-{} -- netperf -H {} -t TCP_RR -l 10
MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to {} () port 0 AF_INET : first burst 0
Local /Remote
Socket Size   Request  Resp.   Elapsed  Trans.
Send   Recv   Size     Size    Time     Rate
bytes  Bytes  bytes    bytes   secs.    per sec

16384  131072 1        1       10.00    {:.2f}
16384  131072
"""


def test_a_card_says_the_labels_of_pods_as_the_terminal_does(tmp_path: Path) -> None:
    runs = (("a", "b", "x2k4q", "10.244.2.8", 2500.0), ("a", "c", "x2k4q", "10.244.3.9", 1250.0))
    log = "".join(
        PODS.format(zone, peer, pod, host, host, rate + step)
        for step in (0.0, 0.1, 0.2)
        for zone, peer, pod, host, rate in runs
    )
    (tmp_path / "out.log").write_text(log, "utf-8")
    text = said(card := summary.make_card(in_memory(tmp_path)))
    # 1 s / 2500.1 and 1 s / 1250.1
    assert text.startswith(
        "The paths differ: node-a -> node-c: netperf-x2k4q → 10.244.3.9 typically takes **2 times** as long "
    )
    assert [dot.label.split(":")[0] for dot in card.dots] == ["node-a -> node-b", "node-a -> node-c"]
    assert "node-a -> node-b: netperf-x2k4q → 10.244.2.8" in plain_sentence(card.inference)
    assert "node-a -> node-c: netperf-x2k4q" in " ".join(azlatency(tmp_path / "out.log").stdout.split())


def test_connect_times_are_not_called_round_trips() -> None:
    card = load_card("westeurope-psping")
    assert "TCP connection took at least **2.08 ms**" in said(card) and "RTT" not in card.axis
    # Minimum and mean: 2.08 and 3.53 ms; 2.07 and 3.17, 2.02 and 2.93 ms.
    assert "Zone 1 → Zone 3 was shorter in every run (2 runs against 1: too few to test)." in said(card)
    assert "Zone 1 is **westeurope-az1, westeurope-az2 or westeurope-az3**, depending" in said(card)


def test_an_emulated_study_counts_the_intervals_that_hold_the_truth() -> None:
    card = load_card("emulated-zones")
    assert card.badge == "emulated" and "contain the recorded delay; largest error" in said(card)
    assert all("recorded" in dot.text for dot in card.dots)


@pytest.mark.costly
def test_an_emulated_study_counts_the_planted_changes_that_its_history_shows() -> None:
    # truth.json: zones 1 and 2 from round 26 on, bandwidth of 3 -> 2 from 46 on; late packets of 1 -> 3 from 36 on are
    # not among the changes.
    text = said(load_card("emulated-nights"))
    assert "The history shows **2 of 3** planted changes, and no other. " in text
    assert "**Both confidence intervals** contain the recorded delay" in text
    # Its changed route: zones 1 and 3 from round 8 on.
    assert "The history shows **1 of 1** planted changes (on 1 of the 4 paths that it moved), and no other. " in said(
        load_card("emulated-cloud")
    )
    assert "planted" not in said(load_card("emulated-zones"))


@pytest.mark.parametrize(
    "name",
    [
        "aws-euwest1-lagscope", "canadacentral-proximity-placement", "ec2-token-buckets", "uksouth-echo-latency",
        "westeurope-availability-set-vs-zones", "westeurope-azure-cni", "westeurope-psping",
    ],
)  # fmt: skip
def test_a_card_has_one_prefix_per_unit(name: str) -> None:
    card = load_card(name)
    text = " ".join([plain_sentence(card.answer), *(dot.text for dot in card.dots)])
    for prefixes in (r"\d (ns|µs|ms)\b", r"\d ([kMGT]?bit/s)"):
        assert len(set(re.findall(prefixes, text))) < 2, text


def test_a_study_without_an_answer_has_its_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data" / "raw" / "empty"
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text('[study]\nname = "empty"\nquestion = "What <b>costs</b> what?"\n')
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path / "data"))
    az.import_study("empty")
    card = load_card("empty")
    assert card.question == "What <b>costs</b> what?" and card.badge == "not_measured"
    assert not card.answer and "azlatency plan" in card.next_step


def test_equal_values_do_not_differ() -> None:
    assert zones._measured_once([(460e3, 460e3, 0.0)], [], "one run each: not testable", " of a–b") == (
        " Both directions of a–b have the same value (one run each: not testable).",
    )


def test_a_single_transfer_that_falls_is_described(raw: Path, tmp_path: Path) -> None:
    log = raw / "ec2-token-buckets" / "c5.large-us-west-1-1567746298.bw.gz"
    study = in_memory(log)
    card = summary.make_card(study)
    assert said(card) == (
        "The transfer falls once, after 4.6 min: from 9.69 Gbit/s to 751 Mbit/s. "
        "The logs end 9.0 s after the start of the fall."
    )
    assert [dot.label for dot in card.dots] == ["? → ?"] and card.badge == "indicative"


@pytest.mark.costly
def test_of_many_round_trips_the_ends_are_named(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    for host in range(1, 9):
        (tmp_path / "raw" / f"{host}.log").write_text(ping(f"10.0.0.{host}", host, host + 0.1, host + 0.2), "utf-8")
    study = in_memory(tmp_path / "raw")
    text = said(summary.make_card(study))
    assert text == (
        "The median round trip takes from **1.1 ms** on ? → 10.0.0.1 to **8.1 ms** on ? → 10.0.0.8 (8 paths)."
    )


@pytest.mark.parametrize(
    ("text", "values", "typical"),
    [
        ("$ qperf 10.0.0.8 tcp_lat\ntcp_lat:\n    latency  =  {} us\n", (237, 251, 259), "502 µs"),
        ("$ qperf 10.0.0.8 tcp_bw\ntcp_bw:\n    bw  =  {} MB/sec\n", (158, 163, 161), "1.29 Gbit/s"),
    ],
)
def test_a_repeated_value_has_the_interval_that_the_terminal_prints(
    tmp_path: Path, text: str, values: tuple[int, ...], typical: str
) -> None:
    """474–518 µs are the ends of three runs, whose typical run has a wider interval."""
    for run, value in enumerate(values, 1):
        (tmp_path / f"run{run}.log").write_text(text.format(value), "utf-8")
    card = summary.make_card(in_memory(tmp_path))
    (value, ends) = re.findall(r"\*\*(.+?)\*\* \(95 % CI (.+?) ", said(card))[0]
    printed = azlatency(tmp_path).stdout
    assert value in printed and ends in printed and card.badge_text == "repeated runs"
    assert value == typical


def test_runs_without_an_interval_are_a_range_and_counted(tmp_path: Path) -> None:
    for run, value in enumerate((10, 90_000), 1):
        log = f"$ qperf 10.0.0.8 tcp_lat\ntcp_lat:\n    latency  =  {value} us\n"
        (tmp_path / f"run{run}.log").write_text(log, "utf-8")
    assert " takes **20.0 µs–180 ms in 2 runs** on " in said(summary.make_card(in_memory(tmp_path)))


@pytest.mark.costly
def test_the_ranges_of_both_directions_are_named_and_equal_on_the_first_page(tmp_path: Path) -> None:
    """Medians of each direction: 0.461 and 0.463 ms between 1 and 2, 0.481 and 0.485 ms between 1 and 3."""
    manifest = '[study]\nregion = "eu"\n'
    for zone, peer, middle in (("1", "2", 0.461), ("2", "1", 0.463), ("1", "3", 0.481), ("3", "1", 0.485)):
        manifest += f'[[run]]\nlog = "{zone}-{peer}/*"\nscenario = "same"\nzone = "{zone}"\npeer_zone = "{peer}"\n'
        (tmp_path / f"{zone}-{peer}").mkdir()
        for run, step in enumerate((-0.02, 0.0, 0.02)):
            log = tmp_path / f"{zone}-{peer}" / f"{run}.log"
            log.write_text(ping(f"10.0.0.{peer}", middle + step), "utf-8")
    (tmp_path / "study.toml").write_text(manifest, "utf-8")
    card = summary.make_card(in_memory(tmp_path))
    assert "1–2 **461–463 µs** and 1–3 **481–485 µs** (typical runs of both directions). " in said(card)
    assert said(card).startswith("Cannot tell whether the pairs differ")
    assert plain_sentence(card.readers["replicas"]) == (
        "cannot tell whether the pairs differ: "
        "1–2 461–463 µs (typical runs of both directions) and 1–3 481–485 µs (typical runs of both directions)"
    )


def test_round_trips_that_differ_by_direction_differ_by_their_initiators(tmp_path: Path) -> None:
    """Middle runs: 1.004 ms from 1 to 2, 1.104 ms back, 1.004 ms from 1 to 3."""
    for ends, middle in (("az1-az2", 1.0), ("az2-az1", 1.1), ("az1-az3", 1.0)):
        (tmp_path / ends).mkdir()
        for run in range(7):
            text = ping(f"10.0.0.{ends[-1]}", *(middle + 0.001 * (3 * run % 7 + step) for step in range(3)))
            (tmp_path / ends / f"ping_{run}.txt").write_text(text, "utf-8")
    manifest = '[study]\npattern = "az{zone}-az{peer_zone}/ping_{repeat}.txt"\n'
    (tmp_path / "study.toml").write_text(manifest, "utf-8")
    text = said(summary.make_card(in_memory(tmp_path)))
    found = re.search(r"takes 1\.1 times as long as its reverse \(95 % CI [^;]*; (.*?)\)\.", text)
    assert found is not None and found[1] == "a difference between the initiating hosts"


def test_runs_that_the_answer_leaves_out_are_counted(tmp_path: Path) -> None:
    folder = tmp_path / "raw" / "mine"
    folder.mkdir(parents=True)
    (folder / "ping.log").write_text(ping("10.0.0.9", 1.0, 1.1, 1.2), "utf-8")
    (folder / "qperf.log").write_text("$ qperf 10.0.0.8 tcp_lat\ntcp_lat:\n    latency  =  225 us\n", "utf-8")
    (folder / "study.toml").write_text("[study]\n", "utf-8")
    card = summary.make_card(in_memory(folder))
    assert "Not compared here: 1 run on ? → " in plain_sentence(card.inference)


def _pairs_of_zones(folder: Path, zones: str = "{}", sizes: tuple[int, ...] = (1,)) -> Card:
    """Return the card of a qperf run per pair of zones and message size, the first of 200, 300 and 400 µs one way."""
    test = "tcp_lat:\n    latency   =  {} us\n    msg_size  =  {} bytes\n"
    for value, (zone, peer) in zip((200, 300, 400), ("12", "13", "23"), strict=True):
        path = folder / f"{zones.format(zone)}-to-{zones.format(peer)}.log"
        path.write_text("".join(test.format(value + step, size) for step, size in enumerate(sizes)), "utf-8")
    (folder / "study.toml").write_text('[study]\npattern = "{zone}-to-{peer_zone}.log"\n', "utf-8")
    return summary.make_card(in_memory(folder))


@pytest.mark.parametrize(("zones", "is_name"), [("use1-az{}", False), ("{}", True)])
def test_names_of_zones_hold_within_an_account_and_their_ids_everywhere(
    tmp_path: Path, zones: str, *, is_name: bool
) -> None:
    card = _pairs_of_zones(tmp_path, zones)
    assert said(card).startswith("Measured once: ")
    assert ("Zone names hold within one account or subscription." in plain_sentence(card.inference)) == is_name


def test_two_message_sizes_are_not_two_tools(tmp_path: Path) -> None:
    assert "tools" not in _pairs_of_zones(tmp_path, sizes=(1, 4)).readers


def test_of_several_message_sizes_the_one_that_is_compared_is_named(tmp_path: Path) -> None:
    """Means of 1 B: twice 200, 300 and 400 µs."""
    card = _pairs_of_zones(tmp_path, sizes=(1, 4, 16))
    values = "1–2 400 µs, 1–3 600 µs and 2–3 800 µs"
    assert plain_sentence(card.answer) == f"Measured once: {values}. Method: qperf tcp_lat 1 B."
    assert card.axis == "mean RTT, qperf tcp_lat 1 B"
    others = "Not compared here: 6 runs on 3 paths with qperf tcp_lat 4 B and qperf tcp_lat 16 B."
    assert plain_sentence(card.inference).endswith(others)
    assert plain_sentence(card.readers["replicas"]) == f"{values} (qperf tcp_lat 1 B)"


@pytest.mark.parametrize(
    ("rounds", "advice"),
    [(7, "Repeat the run without a result."), (6, "Repeat every pair in at least 7 rounds, both directions next to ")],
)
def test_rounds_that_were_run_are_not_advised(tmp_path: Path, rounds: int, advice: str) -> None:
    """The first run of the pair 1–3 has no reply."""
    for pair, server in (("1-2", 2), ("1-3", 9), ("2-3", 9)):
        for run in range(rounds):
            log = ping(f"10.0.0.{server}", *(1 + 0.1 * (3 * run % 7 + step) for step in range(3)))
            (tmp_path / f"{pair}_{run}.txt").write_text(DEAD if (pair, run) == ("1-3", 0) else log, "utf-8")
    (tmp_path / "study.toml").write_text('[study]\npattern = "{zone}-{peer_zone}_{repeat}.txt"\n', "utf-8")
    assert summary.make_card(in_memory(tmp_path)).next_step.startswith(advice)
