"""What `azlatency compare` prints of a judgement; the formats are tested in `test_formats`."""

from __future__ import annotations

from azlatency.gate.comparison_sheet import sheet
from azlatency.gate.verdict import Judgement, judged


def test_without_a_common_path_a_case_is_skipped_so_that_the_suite_is_not_empty() -> None:
    judgement = Judgement(
        base="a",
        candidate="b",
        margin="5%",
        confidence=0.95,
        rows=judged([], 0.95),
        only_in_base=(),
        only_in_candidate=("x → y",),
        remarks=("Different regions",),
    )
    printed = sheet(judgement)
    assert (
        printed.missing == ("nothing",) and printed.mark == "open" and printed.properties["outcome"] == "inconclusive"
    )
    assert "Different regions." in printed.notes and "Measured only in the candidate: x → y." in printed.notes
    assert printed.legend == {}, "there is no row to read"
    assert printed.headline.endswith("nothing to compare; 1 measured only in the candidate.")
