"""The same mutants as in ``make fuzz``, but few, and the cuts and joins that it found."""

from __future__ import annotations

import random

import pytest
from helpers.fuzz import BAD, classify, classify_many, join, originals, read
from helpers.places import FIXTURES


@pytest.mark.costly
@pytest.mark.parametrize(
    ("seed", "mutants"), [(0, 250), *(pytest.param(seed, 1000, marks=pytest.mark.slow) for seed in range(5))]
)
def test_no_mutant_is_silently_wrong_or_wrongly_complete(seed: int, mutants: int) -> None:
    counts, bad = classify_many((seed, mutants))
    assert counts.total() == mutants
    assert bad == []


#: Example logs, and the text behind which they are cut.
CUTS = [
    ("fio/3.33-randrw-4k.txt", "dropped=0,0,0,0\n"),
    ("fio/3.33-randrw-4k.txt", "Run status group 0 (all jobs):\n"),
    ("fio/3.33-randrw-4k.txt", "io=413MiB (433MB), run=5001-5001msec\n"),
    ("fio/3.33-randrw-4k.txt", "Disk st"),
    ("fio/3.33-randrw-4k.txt", "Disk stats (read/write):\n"),
    ("fping/5.1-s-both.log", "       2 ta"),
    ("fping/5.1-s-both.log", "       2 alive\n"),
    ("fping/5.1-s-both.log", "0.236 sec (ela"),
    ("fping/5.1-c5q.log", "5/5/0%"),
    ("fping/5.1-o-unreachable.log", "outage(ms) = 30"),
    ("hping3/3.0.0-alpha-2-loss.log", "seq=6 win=0 rtt=1.4 ms\n"),
    ("hping3/3.0.0-alpha-2-verbose.log", "tos=0 iplen=40\n"),
    ("iostat/12.6.1-x-pretty.log", "1282.21 vda\n"),
    ("iostat/12.6.1-h.log", "kB_dscd Dev"),
    ("iperf2/2.1.8-full-duplex-server.log", "593K/2423(3817) us  4844\n"),
    ("iperf2/2.1.8-udp-histogram-server.log", "1694 pps 3394/0(1) pkts 39"),
    ("iperf2/2.1.8-udp-histogram-server.log", "T8(f)-PDF: bin(w=10us):cnt(3394)=1:3"),
    ("iperf3/3.12-verbose.txt", "3.40 Gbits/sec                  receiver\n"),
    ("iperf3/3.17.1-server-output.log", "Server output:\n"),
    ("iperf3/3.17.1-server-output.log", "299 Mbits/sec                  \n"),
    ("k8s_netperf/0.1.20-hosts-and-pods.log", "0.791566-71.795718 (Mb/s)     |\n"),
    ("k8s_netperf/0.1.25-same-node.log", "| 23222.000000 (usec) |\n"),
    ("k8s_netperf/0.1.25-same-node.log", "99%TILE VALUE  |\n"),
    ("k8s_netperf/0.1.43-three-drivers.log", "33916.666667 (usec) |\n"),
    ("lagscope/1.0.1-P.log", "Percenti"),
    ("lagscope/1.0.1-P.log", "Percentile\t Latency(us)\n"),
    ("lagscope/1.0.1-P-json.log", "into json file: l"),
    ("latte/b1s-receiver.log", "CPU(%) 2.2\n"),
    ("netperf/2.7.1-rr-v2.log", "Alignment      Offset         RoundTrip  Trans    Throughput\n"),
    ("netperf/2.7.1-rr-v2.log", "74.671   13392.017 0.107     0.107 \n"),
    ("netperf/2.7.1-rr-v2.log", "TEN_USEC "),
    ("netperf/2.7.1-rr-v2.log", ">100_SECS: 0\n"),
    ("ntttcp/1.4.3-sender-verbose.txt", ":11.99%\n01:39:32 INFO: "),
    ("qperf/0.4.11-udp-nothing-received.log", "8.05 Gb/sec\n"),
    ("qperf/0.4.11-vv.log", "timeout          =       5"),
    ("sockperf/3.10-under-load-full.csv", "16.069\n------"),
    ("sockperf/3.10-under-load-full.csv", "rtt(usec)\n"),
    ("uperf/1.0.8-default.log", "\n\nNetstat sta"),
    ("uperf/1.0.8-two-directions.log", "\n\nFlow"),
]


@pytest.mark.parametrize(("name", "end"), CUTS, ids=lambda value: repr(value[-40:]))
def test_a_cut_that_the_text_shows_truncates_the_last_run(name: str, end: str) -> None:
    text = (FIXTURES / name).read_text("utf-8")
    whole, cut = read(text.encode()), read(text[: text.index(end) + len(end)].encode())
    assert whole is not None and cut is not None
    assert whole.rows["runs"][-1]["status"] == "complete"
    assert cut.rows["runs"][-1]["status"] == "truncated"


def test_no_two_logs_of_fping_mix() -> None:
    """Two sessions of one host in one file: nothing of the second one is counted in the first."""
    logs = [log for log in originals() if log[0].startswith("fping/")]
    draw = random.Random(0)
    classes = {
        (before, name): classify(join, [*facts, *facts_before], join(raw, draw, raw_before), raw, facts)
        for name, raw, facts in logs
        for before, raw_before, facts_before in logs
    }
    assert [names for names, outcome in classes.items() if outcome in BAD] == []


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("cilium/0.19.7-multi-crr.log", "383.56µs", "13.56µs"),
        ("iperf2/2.1.8-udp-histogram-server.log", "0.063/0.002/11.601", "0.063/1.002/11.601"),
        ("iperf2/2.1.8-udp-histogram-server.log", "95.00/99.7%=", "95.00/89.7%="),
    ],
)
def test_a_mean_outside_its_range_or_a_wrong_order_fails_the_run(name: str, old: str, new: str) -> None:
    text = (FIXTURES / name).read_text("utf-8")
    assert old in text
    edited = read(text.replace(old, new).encode())
    assert edited is not None
    assert "failed" in [run["status"] for run in edited.rows["runs"]]
