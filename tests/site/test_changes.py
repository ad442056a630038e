from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from helpers.studies import load_card

from azlatency.pages.summary.card import CARD_TYPE
from azlatency.site.cards import CardView, card_view, stored_card
from azlatency.site.changes import StudyReport, changes, reports


def card_of(name: str) -> CardView:
    card = card_view(load_card(name)._repr_mimebundle_()[CARD_TYPE])
    assert card is not None
    return card


@pytest.fixture(scope="module")
def card() -> CardView:
    return card_of("westeurope-azure-cni")


def counts(before: StudyReport | None, now: StudyReport | None) -> list[str]:
    return [change.count for change in changes(before, now)]


def test_the_same_report_has_no_changes_after_it_was_stored(card: CardView) -> None:
    stored = stored_card(json.loads(json.dumps(asdict(card))))
    assert changes(StudyReport(card=stored, findings=["a"]), StudyReport(card=card, findings=["a"])) == []


def test_added_removed_and_changed_logs_are_counted_in_runs(card: CardView) -> None:
    # qperf.log holds two runs: tcp_bw and tcp_lat.
    files = {name: file for name, file in card.files.items() if name != "az1-az1/qperf.log"}
    fewer = replace(card, files=files)
    assert counts(StudyReport(card=fewer), StudyReport(card=card)) == ["2 runs added"]
    assert counts(StudyReport(card=card), StudyReport(card=fewer)) == ["2 runs removed"]
    edited = replace(card, files={**card.files, "az1-az1/qperf.log": ["another", 2]})
    [change] = changes(StudyReport(card=card), StudyReport(card=edited))
    assert change.count == "2 runs in changed files" and change.lines == ("az1-az1/qperf.log",)


def test_a_typical_value_changes_by_more_than_its_resolution(card: CardView) -> None:
    # qperf prints 38.8 us, half a round trip, rounded by up to 0.05 us.
    [old] = [row for row in card.paths if row["method"] == "qperf tcp_lat" and row["path"] == "AZ1 - AZ1"]
    assert (old["value"], old["resolution"]) == (77_600, 100)
    for step, lines in ((200, []), (201, ["AZ1 - AZ1, qperf tcp_lat: 77.60 µs → 77.80 µs"])):
        paths = tuple({**row, "value": row["value"] + step} if row is old else row for row in card.paths)
        found = changes(StudyReport(card=card), StudyReport(card=replace(card, paths=paths)))
        assert [line for change in found for line in change.lines] == lines


def test_findings_and_studies_come_and_go() -> None:
    before, now = (
        reports([("a/1.html", None, [f"**{n}**" for n in numbers])])["a"] for numbers in (range(2), range(1, 9))
    )
    assert counts(before, now) == ["7 new findings", "1 finding gone"]
    assert changes(before, now)[0].lines == ("2", "3", "4", "5", "6", "and 2 more")
    assert counts(None, now) == ["new study"] and counts(now, None) == ["removed"]


def test_a_finding_with_other_words_or_numbers_is_neither_new_nor_gone() -> None:
    before = StudyReport(
        findings=["lagscope prints round-trip times.", "16 runs of lagscope over 8 paths.", "p99: 102 µs."]
    )
    now = StudyReport(
        findings=["lagscope prints round-trip times.", "8 runs of lagscope over 8 paths.", "No log has samples."]
    )
    found = changes(before, now)
    assert [change.count for change in found] == [
        "1 finding with other words or numbers",
        "1 new finding",
        "1 finding gone",
    ]
    assert found[0].lines == ("16 runs of lagscope over 8 paths. → 8 runs of lagscope over 8 paths.",)


def test_an_answer_is_shown_before_and_after(card: CardView) -> None:
    [change] = changes(StudyReport(card=replace(card, answer=())), StudyReport(card=card))
    assert change.count == "the answer" and change.lines[0] == "Before: –" and "1,401–1,422 µs" in change.lines[1]
