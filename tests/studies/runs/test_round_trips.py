"""The round-trip times of each run."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from helpers.places import FIXTURES, ROOT
from helpers.results import estimates_of
from helpers.studies import load

import azlatency as az
from azlatency.studies.runs import round_trips
from azlatency.studies.runs.run_table import run_table
from azlatency.studies.runs.samples import arrays_by_run, counted


def test_an_open_class_has_no_middle() -> None:
    table = pd.DataFrame({"run_id": "r", "low_ns": [0.0, 10.0], "high_ns": [10.0, pd.NA], "count": [30, 90]})
    runs = pd.DataFrame({"median_ns": float("nan"), "p99_ns": float("nan"), "median_from": None}, index=["r"])
    round_trips._fill_from_classes(table.convert_dtypes(), runs, {"median_ns": 0.5, "p99_ns": 0.99})
    assert runs.loc["r"].isna().all()


LATTE = """Protocol      UDP
SendMethod    Blocking
ReceiveMethod Blocking
SO_SNDBUF     Default
SO_RCVBUF     Default
MsgSize(byte) 4
Iterations    10000
Latency(usec) {mean}
CPU(%)        2.8
CtxSwitch/sec 32783     (2.29/iteration)
SysCall/sec   99948     (6.99/iteration)
Interrupt/sec 55164     (3.86/iteration)

Interval(usec)   Frequency
  {first:5}          9990
   3000          10
"""


def test_a_class_that_is_wider_than_its_middle_has_no_median(tmp_path: Path) -> None:
    """latte with bins of 1 ms: the mean that it prints is known to 10 ns, the median only to be below 1 ms."""
    (tmp_path / "fine.log").write_text(LATTE.format(first=2000, mean="2469.98"))
    (tmp_path / "wide.log").write_text(LATTE.format(first=0, mean="69.98").replace("3000", "1000"))
    logs = az.parse(tmp_path)
    fine, wide = az.latency(logs).sort_values("file").itertuples()
    assert (wide.mean_ns, fine.median_ns, fine.median_from) == (69_980, 2_500_000, "classes")
    assert pd.isna(wide.median_ns) and pd.isna(wide.median_from)
    classes = az.studies.frequency_tables(logs)
    classes = classes[classes["run_id"] == wide.Index]
    found = az.stats.printed_quantiles(logs.quantiles, logs.metrics, classes)
    (median,) = found[found["q"] == 0.5].itertuples()
    assert math.isnan(median.estimate) and (median.low, median.high) == (0, 1_000_000)
    assert "quantised" in median.flags and "tail_unresolved" not in median.flags


def test_a_rate_of_single_transactions_is_a_latency() -> None:
    """netperf's classic table prints only the rate: 1 s / 15,709.30 = 63.657 µs."""
    (row,) = az.latency(az.parse(FIXTURES / "netperf" / "2.7.1-rr-demo.log")).itertuples()
    assert (round(row.mean_ns), row.mean_from) == (63657, "rate")
    assert pd.isna(row.median_ns)


def test_a_rate_with_a_burst_is_not_a_latency() -> None:
    """Five transactions in flight share the path: their rate does not say how long one of them takes."""
    logs = az.parse(FIXTURES / "netperf" / "2.7.1-rr-burst4-v2.log")
    assert "rtt_from_rate" in set(logs.metrics["metric"])
    assert az.latency(logs)["mean_ns"].isna().all()


def test_a_median_from_samples_has_the_step_in_which_the_tool_prints_them(tmp_path: Path) -> None:
    """Windows prints whole milliseconds: medians of 10 and 11 ms may be of paths that differ by 1.6 %."""
    replies = "Reply from 10.0.0.5: bytes=32 time={}ms TTL=64"
    end = "\nPing statistics for 10.0.0.5:\n    Packets: Sent = 4, Received = 4, Lost = 0 (0% loss),\n"
    for side, times in (("base", (10, 10, 10, 11)), ("candidate", (10, 11, 11, 11))):
        for run in range(6):
            lines = "\n".join(map(replies.format, times[run % 4 :] + times[: run % 4]))
            text = f"\nPinging 10.0.0.5 with 32 bytes of data:\n{lines}\n{end}" + "\n" * (run + 1)
            (tmp_path / side).mkdir(exist_ok=True)
            (tmp_path / side / f"{run}.log").write_text(text, "utf-8")
    base, candidate = (az.latency(az.parse(tmp_path / side)) for side in ("base", "candidate"))
    assert set(base["median_ns"]) == {10e6} and set(candidate["median_ns"]) == {11e6}
    assert set(base["median_ns_resolution"]) == set(candidate["median_ns_resolution"]) == {1e6}
    result = az.compare(base["median_ns"], candidate["median_ns"], unit="ns", resolution=1e6)
    assert result["ratio_low"].iloc[0] < 1.016 and list(result["verdict"]) == ["inconclusive"]


def test_further_percentiles_are_columns_like_p99() -> None:
    """The log prints "percentile 99.900 =  267.976", half a round trip; its p99.999 is the sample maximum."""
    logs = az.parse(ROOT / "data" / "raw" / "emulated-zones" / "sockperf" / "az1a-az2a" / "pp_tcp_r1.txt")
    (run,) = az.latency(logs, percentiles=(99.9, 99.999)).to_dict("records")
    assert (run["p99.9_ns"], run["p99.9_ns_resolution"]) == (535_952, 2)
    assert math.isnan(run["p99.999_ns"]) and "p99.9_ns" not in az.latency(logs)
    with pytest.raises(ValueError, match=r"percentile 0 is not between 0 and 100; write 99\.9"):
        az.latency(logs, percentiles=(0,))
    study = load("emulated-cloud")  # ping prints no percentiles: they are those of its samples
    runs = az.latency(study, percentiles=(90,))
    samples = study.samples[study.samples["run_id"] == runs.index[0]]["rtt_ns"].sort_values().astype("float64")
    assert runs["p90_ns"].iloc[0] == samples.iloc[math.ceil(0.9 * len(samples)) - 1]


def test_a_step_is_twice_the_rounding_error_of_the_tables() -> None:
    """qperf prints 699 us, half a round trip: the round trip is known to ± 1 µs."""
    logs = az.parse(ROOT / "data" / "raw" / "westeurope-azure-cni" / "az1-az3")
    qperf = az.latency(logs).query("tool == 'qperf'").iloc[0]
    assert (qperf["mean_ns"], qperf["mean_ns_resolution"]) == (1_398_000, 2_000)
    rates = az.throughput(logs).query("tool == 'iperf3'").iloc[0]
    assert (rates["throughput_bit_s"], rates["throughput_bit_s_resolution"]) == (7.91e9, 1e7)


def test_times_to_open_a_connection_are_a_quantity_of_their_own() -> None:
    study = load("westeurope-psping")
    assert set(study.samples["quantity"]) == {"connect"} and study.samples["rtt_ns"].isna().all()
    assert (
        az.latency(study).empty and not estimates_of(az.quantiles(study)) and not arrays_by_run(study, run_table(study))
    )
    runs = az.latency(study, quantity="connect")
    assert list(runs["median_ns"]) == [2_610_000, 2_365_000, 2_285_000] and set(runs["median_from"]) == {"samples"}
    assert list(runs["n"]) == [100, 100, 50] and set(runs["method"]) == {"psping connect TCP"}
    assert runs["p99_ns"].notna().tolist() == [True, True, False]
    with pytest.raises(ValueError, match="quantity 'rtt' is not one of round_trip, connect"):
        az.latency(study, quantity="rtt")
    mixed = pd.concat([study.samples, load("emulated-cloud").samples])
    assert "psping" not in set(counted(mixed)["tool"]) and set(counted(mixed)["quantity"]) == {"round_trip"}
