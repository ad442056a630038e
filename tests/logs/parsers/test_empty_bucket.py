from __future__ import annotations

import gzip

import pytest
from helpers.places import FIXTURES, ROOT

import azlatency as az

BUCKETS = ROOT / "data" / "raw" / "ec2-token-buckets"
LOG = FIXTURES / "empty_bucket" / "c5.large-294s.log"


def test_the_rate_falls_when_the_bucket_is_empty() -> None:
    logs = az.parse(LOG)
    assert len(logs.runs) == 1 and len(logs.intervals) == 294
    (result,) = az.stats.throttling(logs.intervals["throughput_bit_s"].to_numpy(float)).to_dict("records")
    # Line 284 prints 6.688, the second in which the bucket runs empty; from line 285 on 0.750 or 0.754.
    assert result["found"] and result["at_s"] == 284 and result["sustained_rate"] == 0.75e9


def test_two_tests_in_one_file_are_two_runs(read) -> None:
    logs = read(2 * LOG.read_text())
    assert [(run["first_line"], run["last_line"], run["status"]) for run in logs.runs] == [
        (1, 294, "complete"),
        (295, 588, "complete"),
    ]
    starts = [row["start_ns"] for row in logs.tables.rows["intervals"]]
    assert starts == 2 * [second * 10**9 for second in range(294)]


def test_the_first_version_of_the_script_stops_when_the_median_has_fallen(read) -> None:
    # The rate is about 1.25 from line 533 to the last one, 538; line 532 prints 5.295.
    log = gzip.decompress((BUCKETS / "c5.xlarge-us-west-1-1567710396.bw.gz").read_bytes()).decode()
    runs = read(2 * log).runs
    assert [(run["first_line"], run["status"]) for run in runs] == [(1, "complete"), (539, "complete")]


@pytest.mark.parametrize("lines", [200, 284, 293])
def test_a_test_that_went_on_is_truncated(read, lines) -> None:
    runs = read("".join(LOG.read_text().splitlines(keepends=True)[:lines])).runs
    assert [run["status"] for run in runs] == ["truncated"]


@pytest.mark.parametrize(("count", "status"), [(3600, "truncated"), (3601, "complete"), (7201, "complete")])
def test_the_script_gives_up_after_one_or_two_hours(read, count, status) -> None:
    assert [run["status"] for run in read("crnt bw = 5.016\n" * count).runs] == [status]


def test_a_rate_that_is_cut_off_is_left_out(read) -> None:
    run = read("crnt bw = 9.691\ncrnt bw = 9.68").runs[0]
    assert run["status"] == "truncated" and run["duration_ns"] == 10**9
