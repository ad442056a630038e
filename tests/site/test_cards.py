from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from helpers.studies import load, load_card
from jinja2 import Environment, PackageLoader

from azlatency.kit.sentences import Linked
from azlatency.pages.summary.card import CARD_TYPE, MEANINGS, Card, dot
from azlatency.site.cards import card_view, stored_card
from azlatency.site.provenance import StudyLogs, Trail


def record(*values: float) -> dict[str, object]:
    dots = tuple(dot(f"path {number}", [value], "ns") for number, value in enumerate(values))
    card = Card(
        study="s",
        title="t",
        question="<b>?</b>",
        badge="indicative",
        reported=False,
        answer=(Linked("1"), " <script>"),
        inference=(),
        dots=dots,
        axis="mean RTT",
        next_step="",
    )
    return card._repr_mimebundle_()[CARD_TYPE]


@pytest.mark.parametrize(("values", "scale"), [((50e3, 100e3), "mean RTT"), ((50e3, 5e6), "mean RTT, log scale")])
def test_values_far_apart_get_a_logarithmic_axis(values: tuple[float, ...], scale: str) -> None:
    card = card_view(record(*values))
    assert card is not None and card.axis == scale
    assert 0 < card.dots[0].at < card.dots[1].at <= 100


def test_a_linear_axis_starts_at_zero() -> None:
    card = card_view(record(50e3, 100e3))
    assert card is not None and card.dots[1].at == pytest.approx(2 * card.dots[0].at, abs=0.1)


def test_a_value_leads_to_the_line_that_prints_it() -> None:
    study = load("westeurope-azure-cni")
    trail = Trail(StudyLogs(study))
    card = card_view(load_card("westeurope-azure-cni")._repr_mimebundle_()[CARD_TYPE], trail.row)
    assert card is not None
    targets = {dot.text: dot.target for dot in card.dots}
    quotes = {
        f"{file.id}_{line}".replace("f_", "q_"): (file.path, text) for file in trail.files for line, text in file.quotes
    }
    # 66.8 µs is twice the half round trip that sockperf prints.
    path, text = quotes[targets["66.8 µs"]]
    assert path == "az1-az1/sockperf.log" and text is not None and "percentile 50.000 =   33.4" in text
    assert stored_card(json.loads(json.dumps(asdict(card)))) == card


@pytest.mark.parametrize("name", ["uksouth-echo-latency", "westeurope-psping", "ec2-token-buckets", "emulated-zones"])
def test_every_value_of_a_card_leads_to_a_place(name: str) -> None:
    study = load(name)
    card = card_view(load_card(name)._repr_mimebundle_()[CARD_TYPE], Trail(StudyLogs(study)).row)
    assert card is not None and card.dots and all(dot.target for dot in card.dots)
    assert all(part.target for part in card.answer if part.bold) and any(part.bold for part in card.answer)


def test_markup_in_an_answer_is_escaped() -> None:
    card = card_view(record(1.0))
    assert card is not None and card.sentence(card.answer) == "<b>1</b> &lt;script&gt;"


def test_lines_to_copy_into_study_toml_are_shown_as_code() -> None:
    lines = ["kept apart by their names: a, b", "  if they repeat each other, add:", "    [[run]]"]
    view = card_view(record(1.0) | {"assumed": lines})
    templates = Environment(loader=PackageLoader("azlatency.site", "templates/azlatency"), autoescape=True)
    templates.globals["meanings"] = MEANINGS
    page = {"job": {"study": "s"}}
    html = str(templates.get_template("macros.html.j2").module.card(view, page=page))  # type: ignore[attr-defined]
    assert "<li>kept apart" in html and '<li class="under"><code>[[run]]</code></li>' in html
    assert '<li class="under">  if they' in html


def test_a_card_says_what_the_page_on_the_tail_has() -> None:
    templates = Environment(loader=PackageLoader("azlatency.site", "templates/azlatency"), autoescape=True)
    study = {"tail": ("across zones", ""), "not_measured": []}
    said = templates.get_template("macros.html.j2").module.not_measured(None, study)  # type: ignore[attr-defined]
    assert str(said).strip() == (
        '<p class="more"><b>Percentiles above p99</b> of paths across zones: <a href="03_tail.html">The tail</a>.</p>'
    )


@pytest.mark.parametrize("bad", [None, [], {}, {"dots": 3}, {**record(1.0), "dots": [{"label": "x"}]}])
def test_an_unusable_record_is_not_a_card(bad: object) -> None:
    assert card_view(bad) is None


def test_a_card_survives_the_record_of_the_report() -> None:
    card = card_view(record(1.0, 2.0))
    assert card is not None and stored_card(json.loads(json.dumps(asdict(card)))) == card
    assert stored_card(None) is None
    assert stored_card({"dots": [], "answer": "of another version"}) is None


def test_a_round_trip_leads_to_what_it_comes_from() -> None:
    """The page of all round trips links its numbers to the summaries."""
    card = load_card("aws-euwest1-lagscope")._repr_mimebundle_()[CARD_TYPE]
    linked = card_view(card, Trail(StudyLogs(load("aws-euwest1-lagscope"))).row)
    bare = card_view(card)
    assert linked is not None and bare is not None
    assert all([*trip["refs"]] == ["value", "p99", "p999"] for trip in linked.round_trips)
    assert all(target.startswith("q_") for trip in linked.round_trips for target in trip["refs"].values())
    assert [trip["refs"] for trip in bare.round_trips] == [{}] * len(bare.round_trips)
