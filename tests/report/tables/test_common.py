"""Parts that the tables of several pages share."""

from __future__ import annotations

import pytest
from helpers.tables import cell

import azlatency as az
from azlatency.report.objects import Note
from azlatency.studies.store.study import Study


@pytest.mark.parametrize(
    ("low", "high", "unit", "cell", "words"),
    [
        (40_000, 50_000, "ns", "40 – 50 µs", "40 to 50 µs"),
        (None, 1e9, "bit/s", "≤ 1 Gbit/s", "at most 1 Gbit/s"),
        (530e6, None, "bytes/s", "≥ 530 MB/s", "at least 530 MB/s"),
        (1_900, 2_100, "1/s", "1,900 – 2,100 per s", "1,900 to 2,100 per s"),
        (None, 5.0, "packets", "≤ 5 packets", "at most 5 packets"),
    ],
)
def test_limits_of_an_expectation_in_a_cell_and_in_words(
    low: float | None, high: float | None, unit: str, cell: str, words: str
) -> None:
    assert az.tables.common.limits(low, high, unit) == cell
    assert az.tables.common.limits(low, high, unit, ("at most ", "at least ", " to ")) == words


def test_the_files_behind_a_page_are_listed_with_their_sizes(latte: Study, echo: Study) -> None:
    table = az.tables.common.provenance(latte)
    # `wc -c`: sender.log 307 bytes, receiver.log 304 bytes
    assert (cell(table, "sender.log", "bytes"), cell(table, "receiver.log", "bytes")) == ("307", "304")
    assert isinstance(az.tables.common.provenance(echo), Note)
