"""The samples of a study in pieces are its samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.places import FIXTURES

from azlatency.studies.importer import import_study
from azlatency.studies.samples import bounds, counted
from azlatency.studies.segments import sample_count, segments_by_run
from azlatency.studies.store import Study, load

WINDOWS = "Pinging 10.1.0.4 with 32 bytes of data:\n" + "".join(
    f"Reply from 10.1.0.4: bytes=32 time{time} TTL=64\n" for time in ("=1ms", "<1ms", "=2ms", "<1ms")
)


def check_segments(study: Study) -> None:
    segments = segments_by_run(study)
    groups = dict(list(counted(study.samples).groupby("run_id", sort=False)))
    assert groups and groups.keys() <= segments.keys()
    assert sample_count(study) == len(study.samples)
    for run_id, samples in groups.items():
        pieces = [segment.bounds() for segment in segments[run_id]]
        for side, wanted in enumerate(bounds(samples)):
            assert np.array_equal(np.concatenate([piece[side] for piece in pieces]), wanted)


@pytest.mark.parametrize("name", ["emulated-cloud", "emulated-zones"])
def test_the_segments_of_each_run_are_its_samples(name: str) -> None:
    check_segments(load(name))


def test_bounds_lost_probes_and_packets_that_do_not_count(tmp_path: Path, out: Path) -> None:
    (tmp_path / "windows.log").write_text(WINDOWS)
    logs = [*FIXTURES.glob("ping/*.log"), *FIXTURES.glob("psping/*.log"), *FIXTURES.glob("sockperf/*.log")]
    import_study("mixed", [tmp_path / "windows.log", *logs], out=out)
    study = load("mixed", processed=out)
    assert {"ok", "lost", "warmup"} <= set(study.samples["status"]) and study.samples["low_ns"].notna().any()
    check_segments(study)
