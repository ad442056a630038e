"""What all parsers share: ranks of printed percentiles, how a run ends, and numbers that exclude each other."""

from __future__ import annotations

import pytest

from azlatency.logs.grammar.units import quantity
from azlatency.logs.parsers.common import closed_loop_share, end_run, printed_rank, utc
from azlatency.logs.record import Recorder, Run
from azlatency.logs.source.decode import source_from_bytes


def run_with(**tokens: str) -> Run:
    run = Recorder(source_from_bytes(b"one\ntwo\nthree\n", "a.log")).start_run("ping", 1)
    for line, (name, token) in enumerate(tokens.items(), start=1):
        run.add_metric(name, quantity(token, "ms"), line)
    return run


@pytest.mark.parametrize(("q", "n", "rank"), [(0.5, 6829, 3415), (0.99, 6829, 6761), (0.99999, 6829, 6829)])
def test_the_rank_of_a_percentile_is_the_nearest_one(q: float, n: int, rank: int) -> None:
    assert printed_rank(q, n) == rank


def test_round_trips_of_a_closed_loop_fill_its_duration() -> None:
    # westeurope-azure-cni/az1-az3/sockperf.log: 6829 observations of 698.945 us in 9.550 s, printed as RTT/2
    assert closed_loop_share(6829, 698_945, 9_550_000_000) == pytest.approx(0.4998, abs=1e-4)
    assert closed_loop_share(6829, 698_945, 0) is None


def test_an_epoch_is_truncated_to_microseconds() -> None:
    assert utc(1_700_000_000_123_456_789).isoformat() == "2023-11-14T22:13:20.123456+00:00"


def test_a_run_without_its_end_is_truncated() -> None:
    run = run_with(rtt_mean="0.969")
    end_run(run, has_numbers=True, ended=False, last_line=3)
    assert (run.row["status"], run.row["last_line"], run.codes) == ("truncated", 3, {"truncated"})
    complete = run_with(rtt_mean="0.969")
    end_run(complete, has_numbers=True, ended=True, last_line=3)
    assert complete.row["status"] == "complete" and complete.codes == set()
