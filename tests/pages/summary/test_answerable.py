from __future__ import annotations

import math
from copy import copy
from pathlib import Path

import pandas as pd
import pytest
from helpers.places import FIXTURES
from helpers.studies import in_memory, load
from studies.runs.test_run_table import ping

from azlatency.pages.summary.answerable import spans_hours, tail_places, unanswered
from azlatency.studies.drafts.draft import draft
from azlatency.studies.store.study import Study


def pages(study: Study) -> set[str]:
    return {question.page[:2] for question in unanswered(study)}


def test_only_pages_with_something_to_say_are_built(cni: Study, zones: Study, latte: Study, echo: Study) -> None:
    assert pages(cni) == {"04", "07", "09", "10", "11"}
    assert pages(zones) == {"04", "06", "07", "09", "10", "11"}
    assert pages(latte) == {"02", "03", "04", "07", "08", "09", "10", "11"}
    assert pages(echo) == {"01", "02", "03", "04", "06", "08", "09", "10", "11"}
    assert pages(load("emulated-zones")) == {"06", "09"}


def test_a_study_of_expectations_keeps_the_page_that_lists_them() -> None:
    assert pages(load("cassandra-vm-baseline")) == {"01", "02", "03", "04", "05", "07", "08", "09", "10", "11"}


def test_ten_runs_of_a_path_have_a_history() -> None:
    assert "11" not in pages(load("emulated-nights"))


def test_a_published_series_has_a_history_and_no_runs_to_plan() -> None:
    study = load("ibm-cloud-zones")
    assert "10" in pages(study) and "11" not in pages(study)
    # Its history answers whether something changed.
    assert [question.page for question in unanswered(study) if question.elsewhere] == ["09_before_after"]


def test_the_frequency_table_of_a_run_is_not_a_repeat() -> None:
    assert "10" in pages(load("aws-euwest1-lagscope"))


def test_rates_alone_are_enough_for_the_page_on_stability() -> None:
    """The rate of each interval answers what a path carries, though no log has one rate of the whole transfer."""
    study = load("ec2-token-buckets")
    assert "07" not in pages(study)
    assert {question.page for question in unanswered(study) if question.elsewhere} == {"02_throughput"}


def test_reported_percentiles_are_no_tail_that_was_not_measured(echo: Study) -> None:
    """The text prints a p99 of 1,050, 2,250 and 8,100 us; the page on stability shows them."""
    assert {question.page for question in unanswered(echo) if question.elsewhere} == {"01_latency", "03_tail"}


def test_the_classes_of_a_histogram_show_a_tail_if_they_hold_a_hundred_round_trips(tmp_path: Path) -> None:
    few = FIXTURES / "psping" / "typed-latency.log"
    text = few.read_text("utf-8").replace("15 iterations", "305 iterations").replace("Sent = 10,", "Sent = 300,")
    (tmp_path / "many.log").write_text(text.replace("0.19\t7\n", "0.19\t297\n").replace("81920,", "2457600,"), "utf-8")
    assert "03" in pages(in_memory(few)) and "03" not in pages(in_memory(tmp_path / "many.log"))


def of_labels(folder: Path, *labels: str) -> Study:
    """Return runs that only labels tell apart."""
    text = "\n".join(f"=== {label} ===\n{ping('10.0.0.9', 1.0, 1.1, 1.2)}" for label in labels)
    (folder / "all.log").write_text(text, "utf-8")
    return in_memory(folder / "all.log")


@pytest.mark.parametrize(
    ("labels", "is_measured"),
    [
        (("zone-a -> zone-b", "zone-b -> zone-a"), True),
        (("pod 1: zone-a ==> zone-b", "pod 2: zone-b ==> zone-a"), True),
        (("az1 to az2", "az2 to az1"), True),
        (("db01-to-db02", "db02-to-db01"), True),
        (("zone-a -> zone-b", "zone-a -> zone-c"), False),
        (("tomato az1", "az1 tomato"), False),
    ],
)
def test_directions_that_labels_name_were_measured(tmp_path: Path, labels: tuple[str, str], is_measured: bool) -> None:
    missing = {question.page[:2] for question in unanswered(of_labels(tmp_path, *labels)) if not question.elsewhere}
    assert ("04" not in missing) == is_measured


@pytest.mark.parametrize(
    ("labels", "is_measured"),
    [(("ppg", "noppg"), True), (("same host", "other rack"), True), (("ppg", "ppg"), False), (("5.15", "6.1"), False)],
)
def test_placements_that_scenarios_name_were_measured(
    tmp_path: Path, labels: tuple[str, str], is_measured: bool
) -> None:
    missing = {question.page[:2] for question in unanswered(of_labels(tmp_path, *labels)) if not question.elsewhere}
    assert ("05" not in missing) == is_measured


def test_placements_are_named_whose_runs_show_the_tail(cni: Study) -> None:
    """The sockperf logs of CNI print p99.9 and more in each placement; published means have no tail."""
    assert tail_places(cni) == ("in one zone and across zones", "")
    assert tail_places(load("ibm-cloud-zones")) == ("", "")
    own = cni.runs.loc[cni.runs["placement"] == "same_zone", "run_id"]
    quantiles = cni.quantiles
    cut = copy(cni)
    cut.__dict__["quantiles"] = quantiles[~(quantiles["run_id"].isin(own) & (quantiles["q"] > 0.99))]
    assert tail_places(cut) == ("across zones", "the tail beyond p99 in one zone")


@pytest.mark.parametrize(
    ("packets", "missing"), [(5, "the tail across zones"), (100, "the tail beyond p99 across zones")]
)
def test_few_packets_show_no_tail_at_all(tmp_path: Path, packets: int, missing: str) -> None:
    """A p99 needs a hundred packets."""
    (tmp_path / "z1-z2.log").write_text(ping("10.0.0.9", *[1.0] * packets), "utf-8")
    study = in_memory(tmp_path / "z1-z2.log")
    assert tail_places(study.described(draft("mine", study))) == ("", missing)


@pytest.mark.parametrize(
    ("starts", "seconds", "expected"),
    [(("2026-09-01 10:00", "2026-09-01 10:59"), 60, False), (("2026-09-01 10:00", "2026-09-01 11:00"), 60, True),
     ((None, None), 3600, True), ((None, None), None, False)],
)  # fmt: skip
def test_runs_of_minutes_show_no_stability_over_hours(
    tmp_path: Path, starts: tuple[str | None, str | None], seconds: int | None, expected: bool
) -> None:
    for number in (1, 2):
        (tmp_path / f"ping_{number}.log").write_text(ping("10.0.0.9", 1.0, 1.1), "utf-8")
    study = copy(in_memory(tmp_path))
    runs = study.runs
    lengths = pd.Series(math.nan if seconds is None else seconds * 1e9, runs.index)
    times = pd.Series(pd.to_datetime([*starts], utc=True), runs.index).astype(runs["started_at"].dtype)
    study.__dict__["runs"] = runs.assign(started_at=times, duration_ns=lengths)
    assert spans_hours(study) == expected
    assert "07" not in pages(study), "the page shows the packets of seconds, too"


def test_a_text_that_says_when_connections_broke_spans_hours(echo: Study) -> None:
    assert spans_hours(echo)


def test_a_card_names_what_its_readers_look_for(cni: Study) -> None:
    assert [question.topic for question in unanswered(cni) if question.topic] == [
        "both directions of a pair",
        "stability over hours",
    ]


def test_every_question_says_what_to_measure(echo: Study) -> None:
    for question in unanswered(echo):
        assert question.question.endswith("?") and question.measure.endswith(".")
