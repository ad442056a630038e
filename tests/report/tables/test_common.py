"""Parts that the tables of several pages share."""

from __future__ import annotations

from helpers.tables import cell

import azlatency as az
from azlatency.kit.objects import Note
from azlatency.studies.store.study import Study


def test_the_files_behind_a_page_are_listed_with_their_sizes(latte: Study, echo: Study) -> None:
    table = az.tables.common.provenance(latte)
    # `wc -c`: sender.log 307 bytes, receiver.log 304 bytes
    assert (cell(table, "sender.log", "bytes"), cell(table, "receiver.log", "bytes")) == ("307", "304")
    assert isinstance(az.tables.common.provenance(echo), Note)
