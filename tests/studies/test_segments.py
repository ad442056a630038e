"""The samples of a study in pieces are its samples."""

from __future__ import annotations

import numpy as np
import pytest

from azlatency.studies.samples import bounds, counted
from azlatency.studies.segments import sample_count, segments_by_run
from azlatency.studies.store import load


@pytest.mark.parametrize("name", ["emulated-zones", "westeurope-psping"])
def test_the_segments_of_each_run_are_its_samples(name: str) -> None:
    study = load(name)
    segments = segments_by_run(study)
    groups = dict(list(counted(study.samples).groupby("run_id", sort=False)))
    assert groups.keys() <= segments.keys()
    assert sample_count(study) == len(study.samples)
    for run_id, samples in groups.items():
        pieces = [segment.bounds() for segment in segments[run_id]]
        for side, wanted in enumerate(bounds(samples)):
            assert np.array_equal(np.concatenate([piece[side] for piece in pieces]), wanted)
