from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from helpers.places import FIXTURES
from helpers.studies import FEW_REGIONS, in_memory, load_card
from studies.runs.test_left_out import DEAD
from studies.runs.test_run_table import ping

import azlatency as az
from azlatency.kit.cells import ReportedRef, RunsRef
from azlatency.kit.sentences import Linked, plain_sentence
from azlatency.pages import summary

SAID = {
    "aws-euwest1-lagscope": {
        "replicas": "1a–1c 263 µs (p99 309–311 µs), 1a–1b 384–386 µs (p99 439–448 µs) and 1b–1c 459 µs (p99 504–505 µs)"
    },
    # Twice the printed half round trips: 91.646, 798.420 and 819.736 µs are the 99th percentiles.
    "westeurope-azure-cni": {
        "replicas": "1–2 105 µs (p99 183 µs), 1–3 1,401 µs (p99 1,597 µs) and 2–3 1,422 µs (p99 1,639 µs)",
        "throughput": "one connection: in one zone 11.8 Gbit/s and across zones 7.91–11.8 Gbit/s (iperf3 TCP, "
        "one run each); 64 "
        "connections: 11.8–11.9 Gbit/s (ntttcp (sender))",
        # Between nodes: Retr 24093, 12919, 616 and 495. ntttcp counts those of the whole host.
        "loss": "iperf3 TCP retransmitted in one zone 24,093 and across zones 495–12,919 segments in a run "
        "(a retransmission is not always a loss)",
        # 38.8 ÷ 37.645, 60.5 ÷ 60.563, 699 ÷ 698.945, 718 ÷ 708.390 and 16.9 ÷ 16.791 µs.
        "tools": "mean of qperf tcp_lat: 1.010 times that of sockperf TCP 14 B (over 5 paths, 1 of them on one host, "
        "95 % CI 0.994 to 1.026; practically equivalent, margin 5 %)",
    },
    "canadacentral-proximity-placement": {
        "placement": "in the placement group 54–57 µs, in one zone 55–61 µs and across zones 1,364 µs (latte)",
        "accelerated": "round trip shorter with it in one zone: 55–61 µs against 309 µs; "
        "round trip shorter with it across zones, one number each: 1.36 ms against 1.84 ms, which may be chance",
    },
    "westeurope-availability-set-vs-zones": {
        "placement": "in the availability set 44.2 µs and across zones 84.4 µs (sockperf TCP 350 B)",
        "throughput": "in the availability set 3.81 Gbit/s and across zones 3.81 Gbit/s (iperf3 TCP, one run each); "
        "equal within 1 %, as expected if both are rate-limited",
        "loss": "ping lost 0 of 40 packets and iperf3 TCP retransmitted in the availability set 0 and "
        "across zones 0 segments in a run",
    },
    "uksouth-echo-latency": {
        "placement": "in one zone 850 µs, across zones 1,425 µs and across regions 5,300 µs (echo)",
        "connections": "3 of 3 connections broke, on 2025-03-20 at 10:04:12, 13:23:55 and 13:23:58 (time zone "
        "not said); start times unknown, so no lifetimes",
    },
    "ibm-cloud-zones": {
        "replicas": "Dallas, whose pairs differ most: dal12–dal14 600 µs to dal10–dal13 2,160 µs in the 30 "
        "days to 2026-08-16",
        # As the history says: 2.67 ms, then 0.53 ms. Chennai and Mumbai have fewer than ten windows.
        # 36 pairs of zones, 34 zones, and 30 of both under names that ended in 2024.
        "changed": "series that changed: 10 of 36 across zones (1 significant only together with others), 0 "
        "of 34 in one zone, 0 of 30 whose data end earlier, 30 more of these are too short to test; by 2025-12-14: "
        "Sao Paulo sao01–sao05 −80 %; by 2025-11-09: 5 paths, "
        "largest Dallas dal12–dal14 −71 %, among them Dallas dal10–dal12 −25 % (this one significant only together "
        "with others) (now 2.01 ms in the newest window, above its level before); "
        # The interval of its date reaches from point 2 to point 21 of 21.
        "between 2024-10-20 and 2026-08-16: Dallas dal10–dal14 −11 %; by 2025-10-05: 3 paths, largest Washington DC "
        "wdc06–wdc07 −57 %; in the last windows, not confirmed: 6 other paths, largest London lon04–lon05 −33 %; 16 "
        "series differ in their first disjoint windows, too few to test, 14 of them together until 2024-11-24 "
        "(cause not known): largest Tokyo tok02–tok05 −33 %; too short to test: Chennai and Mumbai; "
        "no change confirmed on paths of Madrid, Montreal, Osaka, Sydney, Tokyo and "
        "Toronto; each percentage is against the median of the windows of the level before, or of the last five of "
        "them, and each date the end of a mean over 30 days, so weekly means may show the change earlier",
        "one_run": "published means of separate windows of one path, without a confirmed change, differ by up to a "
        "factor of 2.32 (us-east-wdc04-a → us-east-wdc06-a: 1,460 µs in one of 22 windows, else "
        "630–870 µs); the median of 60 paths is 1.22",
    },
    # The medians before the fall in eleven logs: 5.018 and 5.018, then 9.374 to 9.694 Gbit/s.
    # Its bursts are those of the 24 transfers that start at 9.4–9.7 Gbit/s.
    "ec2-token-buckets": {
        "bursts": "24 of 29 transfers start at 9.4–9.7 Gbit/s: c5.large 4.6 min (then 0.752 Gbit/s), c5.xlarge 8.8 min "
        "(then 1.25 Gbit/s), c5.2xlarge 17.7 min (then 2.51 Gbit/s) and c5.4xlarge 38.3 min (then 5.02 Gbit/s)",
        "one_run": "no, for throughput: 11 transfers on c5.large ran at 5.02–9.69 Gbit/s before their rate fell",
    },
    FEW_REGIONS: {
        "changed": "series that changed: 8 of 20 across regions; by 2025-11-09: 8 paths, largest Tokyo → Toronto −17 "
        "%; too short to test: Chennai; no change confirmed on paths of Sao Paulo; each percentage is "
        "against the median of the windows of the level before, or of the last five of them, and each date the end of "
        "a mean over 30 days, so weekly means may show the change earlier",
        "one_run": "published means of separate windows of one path, without a confirmed change, differ by up to a "
        "factor of 4.33 (Osaka → Tokyo: 39 ms in one of 36 windows, else 9 ms); the median of 12 paths is 1.1",
    },
    "westeurope-psping": {},
}


#: The client of a test of iperf3 3.16 on a link with a limit.
LOSSY_UDP = """\
Connecting to host 10.68.2.4, port 5201
[  5] local 10.68.1.4 port 45342 connected to 10.68.2.4 port 5201
[ ID] Interval           Transfer     Bitrate         Total Datagrams
[  5]   0.00-1.00   sec  5.96 MBytes  50.0 Mbits/sec  4313
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-1.00   sec  5.96 MBytes  50.0 Mbits/sec  0.000 ms  0/4313 (0%)  sender
[  5]   0.00-1.01   sec  5.32 MBytes  44.3 Mbits/sec  0.023 ms  463/4313 (11%)  receiver

iperf Done.
"""


@pytest.mark.parametrize("name", SAID)
def test_what_a_study_says_to_the_questions_of_readers(name: str) -> None:
    readers = load_card(name).readers
    assert {question: plain_sentence(sentence) for question, sentence in readers.items()} == SAID[name]


def test_a_run_without_a_reply_counts_among_the_lost_packets(tmp_path: Path) -> None:
    """10.0.0.8 answers all 3 probes, 10.0.0.9 none of 12, so it has no round trip."""
    (tmp_path / "up.log").write_text(ping("10.0.0.8", 1.0, 1.1, 1.2), "utf-8")
    alone = summary.make_card(in_memory(tmp_path))
    assert plain_sentence(alone.readers["loss"]) == "ping 56 B lost 0 of 3 packets"
    (tmp_path / "down.log").write_text(DEAD, "utf-8")
    both = summary.make_card(in_memory(tmp_path))
    assert plain_sentence(both.readers["loss"]) == "ping 56 B lost 12 of 15 packets (no reply on down: ? → 10.0.0.9)"


def test_numbers_lead_to_the_runs_or_lines_that_they_come_from() -> None:
    for name in SAID:
        for sentence in load_card(name).readers.values():
            numbers = [part for part in sentence if isinstance(part, Linked)]
            assert numbers and all(part.refs for part in numbers)
            assert all(isinstance(ref, RunsRef | ReportedRef) for part in numbers for ref in part.refs)


def test_repeats_of_one_path_are_compared() -> None:
    said = plain_sentence(load_card("emulated-cloud").readers["one_run"])
    assert said == "median RTTs of one path differ by up to 5.83 times (ping 56 B; 1.5 times on the typical path)"


def test_repeats_are_compared_of_the_method_that_measured_most_paths(tmp_path: Path) -> None:
    """Of 56 B, runs of 1.0 to 1.1 and of 2.0 to 2.4 ms; of 1,400 B on one of the paths, runs of 1 to 9 ms."""
    logs = {"a": (1.0, 1.05, 1.1), "b": (2.0, 2.2, 2.4), "large-b": (1.0, 3.0, 9.0)}
    for name, times in logs.items():
        for run, time in enumerate(times):
            text = ping(f"10.0.0.{1 + (name != 'a')}", time, time, time)
            text = text.replace("56(84)", "1400(1428)").replace("64 bytes", "1408 bytes") if "large" in name else text
            (tmp_path / f"{name}_{run}.log").write_text(text, "utf-8")
    (tmp_path / "study.toml").write_text('[study]\npattern = "*_{repeat}.log"\n', "utf-8")
    said = plain_sentence(summary.make_card(in_memory(tmp_path)).readers["one_run"])
    # The geometric mean of 1.1 and 1.2 is 1.149.
    assert said == "median RTTs of one path differ by up to 1.2 times (ping 56 B; 1.15 times on the typical path)"


def test_a_published_series_that_does_not_vary_says_nothing_of_one_run(tmp_path: Path) -> None:
    """Two windows of one pair, and one window of another: all means are equal."""
    folder = tmp_path / "mine"
    folder.mkdir()
    rows = ("2026-01-31,1,2,0.50", "2026-03-31,1,2,0.50", "2026-03-31,1,3,0.50")
    (folder / "t.csv").write_text("\n".join(("end,from,to,mean", *rows, "")), "utf-8")
    (folder / "study.toml").write_text(
        """[study]
region = "eu"
[[table]]
file = "t.csv"
columns = {ended_at = "end", zone = "from", peer_zone = "to", rtt_mean = "mean"}
unit = "ms"
round_trip = true
window = "30 d"
""",
        "utf-8",
    )
    az.import_study("mine", [folder], out=tmp_path / "out")
    card = summary.make_card(az.load("mine", processed=tmp_path / "out"))
    assert card.badge == "published" and "one_run" not in card.readers
    assert plain_sentence(card.readers["replicas"]) == "1–2 500 µs and 1–3 500 µs"


def test_datagrams_that_the_receiver_missed_are_lost_packets(tmp_path: Path) -> None:
    """A client of iperf3 without a round trip: 463 of 4,313 datagrams did not arrive."""
    (tmp_path / "udp.log").write_text(LOSSY_UDP, "utf-8")
    said = plain_sentence(summary.make_card(in_memory(tmp_path)).readers["loss"])
    assert said == "iperf3 UDP lost 463 of 4,313 packets"


def test_messages_without_a_requested_reply_are_in_no_sum_of_losses(tmp_path: Path) -> None:
    """3.1 asked for 490 replies to 4,901 messages; 3.10 for all to 3,555 after its warm-up, and lost 128."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("3.1-under-load.log", "3.10-reordering.log"):
        shutil.copy(FIXTURES / "sockperf" / name, folder)
    az.import_study("mine", [folder], out=tmp_path / "out")
    card = summary.make_card(az.load("mine", processed=tmp_path / "out"))
    assert plain_sentence(card.readers["loss"]) == "sockperf UDP lost 128 of 3,555 packets"


@pytest.mark.parametrize(
    ("far", "start"),
    [
        (2.0, "north, whose pairs differ most: 1–2 1,001 µs ("),
        (1.0, "cannot tell whether the pairs differ: north, whose pairs are farthest apart: 1–2 1,000 µs ("),
    ],
)
def test_pairs_of_two_scenarios_are_apart(tmp_path: Path, far: float, start: str) -> None:
    """Middle runs of 1–2 and 1–3: 1.001 and 2.001 or 1.201 ms in the north, 1.101 and 1.111 ms in the south."""
    middles = {"north": (1.0, far if far > 1 else 1.2), "south": (1.1, 1.11)}
    # The runs of a study that cannot tell are farther apart.
    spread = 0.01 if far > 1 else 0.2
    for scenario, pair in middles.items():
        for peer, middle in zip("23", pair, strict=True):
            for run in range(4):
                steps = (middle + spread * (run - 1.5) + 0.001 * step for step in range(3))
                path = tmp_path / scenario / f"1-{peer}" / f"{run}.log"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(ping("10.0.0.9", *steps), "utf-8")
    manifest = '[study]\npattern = "{scenario}/{zone}-{peer_zone}/{repeat}.log"\n'
    (tmp_path / "study.toml").write_text(manifest, "utf-8")
    said = plain_sentence(summary.make_card(in_memory(tmp_path)).readers["replicas"])
    assert said.startswith(start) and "2 paths" not in said and " to 1–3 " in said
