"""The direction that a run belongs to."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from helpers.cases import stream

from azlatency.stats.across_runs.asymmetry import asymmetry
from azlatency.stats.across_runs.directions import data_path
from azlatency.studies.runs.path import NetworkPath


def test_reverse_streams_belong_to_the_direction_of_the_data() -> None:
    path = NetworkPath.between("a", "b")
    assert data_path(path, "stream") == "a → b"
    assert data_path(path, "stream-reverse") == "b → a"
    assert data_path(path, "stream-bidir") is None and data_path(path, "stream-bidir-reverse") is None
    assert data_path(NetworkPath.parse("AZ1 - AZ3"), "stream") is None
    random = stream(10)
    rows = []
    for number in range(1, 9):
        # The same client runs both: forward and with -R.
        for test, rate in (("stream", 4e9), ("stream-reverse", 2e9)):
            rows.append(
                {
                    "path": "az1a → az2a",
                    "zone": "1",
                    "peer_zone": "2",
                    "round": number,
                    "test": test,
                    "throughput_bit_s": rate * math.exp(random.normal(0, 0.02)),
                }
            )
    frame = pd.DataFrame(rows)
    paths = ["az1a → az2a" if row["test"] == "stream" else "az2a → az1a" for row in rows]
    (pair,) = asymmetry(frame.drop(columns="test").assign(path=paths), metric="throughput").pairs.to_dict("records")
    assert pair["ratio"] == pytest.approx(2, rel=0.05) and pair["verdict_alone"] == "different"
    by_test = asymmetry(frame, metric="throughput").pairs
    assert list(by_test["ratio"]) == pytest.approx([pair["ratio"]])
