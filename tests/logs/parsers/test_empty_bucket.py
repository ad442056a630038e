from __future__ import annotations

from helpers.places import FIXTURES

import azlatency as az

LOG = FIXTURES / "empty_bucket" / "c5.large-294s.log"


def test_the_rate_falls_when_the_bucket_is_empty() -> None:
    logs = az.parse(LOG)
    assert len(logs.runs) == 1 and len(logs.intervals) == 294
    result = az.stats.throttling(logs.intervals["throughput"].to_numpy(float))
    # Line 284 prints 6.688, the second in which the bucket runs empty; from line 285 on 0.750 or 0.754.
    assert result.found and result.at_s == 284 and result.sustained_rate == 0.75e9


def test_a_rate_that_is_cut_off_is_left_out(read) -> None:
    run = read("crnt bw = 9.691\ncrnt bw = 9.68").runs[0]
    assert run["status"] == "truncated" and run["duration_ns"] == 10**9
