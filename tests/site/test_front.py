from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from helpers.studies import load_card
from nbformat.v4 import new_notebook
from studies.runs.test_left_out import DEAD
from studies.runs.test_run_table import ping

import azlatency as az
from azlatency.logs.parsers import load_parsers
from azlatency.pages.summary.card import CARD_TYPE
from azlatency.site import build as report
from azlatency.site import pages
from azlatency.site.cards import card_view
from azlatency.site.front import (
    GUIDE,
    LANES,
    NOT_HERE,
    Source,
    answered,
    clouds_of,
    crossing,
    guide_of,
    pairs,
    picture,
    tiles,
)


def source(name: str, *, emulated: bool = False) -> Source:
    card = card_view(load_card(name)._repr_mimebundle_()[CARD_TYPE])
    assert card is not None
    return Source(title=name, group="AWS · eu-west-1", page=f"{name}/00_summary.html", emulated=emulated, card=card)


def changed(one: Source, **fields: Any) -> Source:
    trips = tuple({**trip, **fields} for trip in one.card.round_trips)
    return replace(one, card=replace(one.card, round_trips=trips))


def test_dots_stand_in_the_lane_of_their_placement_beside_the_published_limit() -> None:
    view = picture([source("westeurope-azure-cni"), source("cassandra-vm-baseline")], LANES)
    assert view is not None and [lane.name for lane in view.lanes] == ["in one zone", "across zones"]
    inside, between = view.lanes
    assert inside.range == "66.8 µs to 77.6 µs" and between.dots[-1].text == "1.44 ms"
    assert inside.dots[-1].at < between.dots[0].at < 100 and view.kinds == {"once"}
    assert between.dots[0].page == "westeurope-azure-cni/00_summary.html"
    assert [tick.text for tick in view.ticks if not tick.label] == ["100 µs", "1 ms"]


def test_a_limit_that_somebody_published_is_named() -> None:
    limit = {"value": 2e6, "printed": "less than two milliseconds", "source": "Microsoft"}
    own = source("westeurope-azure-cni")
    view = picture([replace(own, card=replace(own.card, limits=(limit,)))])
    assert view is not None and len(view.lanes) == 3, "with those on one host"
    # Zones 1–2, 1–3 and 2–3 by two tools: 0.11 to 1.44 ms.
    assert view.limits[0].held == (
        "6 of 6 medians or means across zones on AWS were below (one run or quoted number each); connect times are "
        "left out, and pings where another tool measured"
    )
    assert view.limits[0].text == "“less than two milliseconds”" and view.limits[0].at > view.lanes[-1].dots[-1].at


def test_repeated_round_trips_are_told_from_those_measured_once() -> None:
    view = picture([changed(source("westeurope-azure-cni"), runs=2)])
    assert view is not None and view.kinds == {"repeated"}


def test_the_newest_window_of_a_published_series_has_a_mark_of_its_own() -> None:
    own = source("ibm-cloud-zones")
    view = picture([own], LANES)
    assert view is not None and view.kinds == {"published"}
    [found] = pairs([own])
    row = next(row for row in found.rows if row[0] == "Dallas, dal10–dal13")
    assert row[1].text == "2.16 ms" and row[2:4] == ("2,070 µs (2,160 µs − 90 µs)", "mean")
    assert row[4].text == "–" and found.source.card.badge == "published"


def test_a_pair_of_a_published_series_shows_how_far_its_windows_range() -> None:
    """In zones.csv.gz, every fifth week back from 2026-08-16: London 1.39, 1.98, …, 2.43, 2.59; Madrid 0.61–0.64."""
    [found] = pairs([source("ibm-cloud-zones")])
    of_pair = {row[0]: (row[1].text, row[6]) for row in found.rows}
    london, madrid = "London, lon04–lon05", "Madrid, mad02–mad05"
    assert of_pair[london] == ("1.39 ms", "newest of 22 windows (1.39–2.59 ms)")
    assert of_pair[madrid] == ("610 µs", "newest of 22 windows (610–640 µs)")


def test_the_least_and_the_most_that_crossing_a_zone_adds() -> None:
    """1–2 against inside zone 1: 105.490 − 66.816 µs of sockperf; 2–3: 1,436.0 − 77.6 µs of qperf."""
    found = crossing([source("westeurope-azure-cni"), source("ec2-token-buckets")])
    assert found is not None and (found.low.text, found.high.text, found.studies) == ("39 µs", "1.4 ms", 1)
    assert "sockperf" in found.low.label and "qperf" in found.high.label
    of_rows = {row[7]: row[0] for row in pairs([source("westeurope-azure-cni")])[0].rows}
    for end in (found.low, found.high):
        page, _, row = end.page.partition("#")
        assert page == "across.html" and of_rows[row] in end.label
    assert found.depends and not crossing([changed(source("westeurope-azure-cni"), added=20e3)]).depends
    assert crossing([source("westeurope-availability-set-vs-zones")]) is None, "nothing was measured inside a zone"
    assert found.adds
    shorter = crossing([changed(source("westeurope-azure-cni"), added=-20e3)])
    assert shorter is not None and not shorter.adds and shorter.low.text == "−20.0 µs"


def test_an_emulated_lab_answers_only_what_no_real_cloud_does() -> None:
    sources = [source("westeurope-azure-cni"), source("emulated-cloud", emulated=True)]
    found = {tile.question: [one.title for one, _ in tile.answers] for tile in tiles(sources)}
    assert found == {
        "Which pair of zones for my replicas, and what does a commit wait for?": ["westeurope-azure-cni"],
        "Are packets lost?": ["westeurope-azure-cni"],
        "How much throughput between zones?": ["westeurope-azure-cni"],
        "Did paths change over time?": ["emulated-cloud"],
        "Can I trust one run?": ["emulated-cloud"],
        "Do two tools agree?": ["westeurope-azure-cni"],
    }
    assert answered(sources) == {"westeurope-azure-cni/00_summary.html": 4, "emulated-cloud/00_summary.html": 5}


def test_studies_of_one_region_are_told_apart_by_their_titles(tmp_path: Path) -> None:
    both = [source("westeurope-azure-cni"), source("westeurope-availability-set-vs-zones")]
    site = report._Site(tmp_path / "site", tmp_path / "notebooks")
    page = site._render("across.html.j2", "across.html", picture=picture(both, LANES), pairs=(), commit="")
    links = BeautifulSoup(page, "html.parser").select(".ranges td:last-child a")
    assert {(link["title"], link["href"]) for link in links} == {(own.title, own.page) for own in both}


def test_a_tile_answers_with_logs_before_what_a_text_reports() -> None:
    """The first answer to "availability set?" was a quotation that names none."""
    names = ("canadacentral-proximity-placement", "westeurope-availability-set-vs-zones")
    [tile] = [tile for tile in tiles([source(name) for name in names]) if "availability set" in tile.question]
    assert [own.title for own, _ in tile.answers] == [*reversed(names)]


def test_a_tile_names_cloud_and_region_and_leaves_the_title_to_a_hint(tmp_path: Path) -> None:
    """The titles took up to fifteen words before the first number."""
    own = replace(source("aws-euwest1-lagscope"), title="Between and inside zones, AWS eu-west-1")
    site = report._Site(tmp_path / "site", tmp_path / "notebooks")
    page = site._render("site.html.j2", "index.html", studies=[], tiles=tiles([own]))
    [link] = BeautifulSoup(page, "html.parser").select(".tiles a[title]")
    assert (link.get_text(), link["title"]) == ("AWS · eu-west-1", own.title)


def test_a_tile_shows_one_answer_or_one_of_each_cloud_and_the_page_five_questions(tmp_path: Path) -> None:
    """All answers of eight questions were 350 words before the first study."""
    names = ("westeurope-azure-cni", "ibm-cloud-zones", "aws-euwest1-lagscope", "ec2-token-buckets")
    found = tiles([source(name) for name in names])
    site = report._Site(tmp_path / "site", tmp_path / "notebooks")
    page = BeautifulSoup(site._render("site.html.j2", "index.html", studies=[], tiles=[*found, *found]), "html.parser")
    rows = page.select(".questions tbody tr")
    assert (len(found), len(page.select("main > .tiles section")), len(rows)) == (7, 5, 9)
    first = page.select_one(".tiles section")
    # Three clouds have pairs of zones, and published means are no runs; of the others, the first answer is open.
    assert len(first.find_all("p", recursive=False)) == 4 and first.summary is None
    trust = page.select(".tiles section")[1]
    assert len(trust.find_all("p", recursive=False)) == 2 and trust.summary is None
    assert all(row.th.get_text().endswith("?") for row in rows)
    assert rows[0].th.get_text() == found[5].question and len(rows[2].select("td p")) == len(found[0].answers)


def test_connects_that_were_repeated_are_no_repeated_round_trips(tmp_path: Path) -> None:
    """Of westeurope-psping, two runs of connects between zones 1 and 3 are no round trips."""
    own = [source("ibm-cloud-zones"), source("westeurope-psping")]
    site = report._Site(tmp_path / "site", tmp_path / "notebooks")
    shown = site._render(
        "site.html.j2", "index.html", studies=[], tiles=tiles(own), clouds=["Azure"], picture=picture(own)
    )
    said = (
        "For latency across zones, not known: single runs and published means only, no repeated runs of a round trip."
    )
    assert said in BeautifulSoup(shown, "html.parser").get_text()


def test_of_many_studies_a_table_has_the_answers_and_of_few_the_cards_are_shown(tmp_path: Path) -> None:
    site = report._Site(tmp_path / "site", tmp_path / "notebooks")
    card = source("aws-euwest1-lagscope").card
    views = [pages.study_view(name) for name in ("aws-euwest1-lagscope", *["uksouth-echo-latency"] * 3)]
    cards = {views[0].name: card}
    many, few = (
        BeautifulSoup(
            site._render(
                "site.html.j2",
                "index.html",
                studies=some,
                cards=cards,
                pages={},
                clouds=clouds_of(some),
                not_here=NOT_HERE,
            ),
            "html.parser",
        )
        for some in (views, views[:1])
    )
    title, answer, evidence = many.select_one(".studies tbody tr").find_all(["th", "td"])
    assert title.a.get_text() == views[0].title
    assert title.small.get_text() == "AWS · eu-west-1 · 8 runs (lagscope) · c5.xlarge · 2023-09 · by gbarnett-hz"
    assert answer.get_text().startswith("Measured once: 1a–1c 263 µs, 1a–1b 384–386 µs and 1b–1c 459 µs.")
    assert evidence.get_text(strip=True) == "one run per path" and len(many.select(".studies tbody tr")) == 4
    assert many.tfoot.get_text().startswith("Evidence: one run per path: each path was measured once;")
    assert evidence.span["title"] in many.tfoot.get_text()
    assert (
        "Clouds: AWS, Azure. Not in this collection: other clouds" in many.get_text()
        and "Clouds:" not in few.get_text()
    )
    assert not few.select(".studies") and few.select_one(".answer .says") and few.select_one(".answer .dots")


def test_an_emulated_lab_is_folded_below_the_clouds_and_alone_is_not(tmp_path: Path) -> None:
    site = report._Site(tmp_path / "site", tmp_path / "notebooks")
    views = [pages.study_view(name) for name in ("emulated-cloud", "uksouth-echo-latency")]
    for studies, folded in ((views, ["emulated-cloud"]), (views[:1], [])):
        page = site._render("site.html.j2", "index.html", studies=studies, cards={}, pages={})
        parsed = BeautifulSoup(page, "html.parser")
        assert len(parsed.select(".cards > section")) == len(studies) and parsed.h2.get_text() == "The study"
        assert [section["id"] for section in parsed.select("details.guide .cards > section")] == folded


def test_the_legend_explains_the_marks_of_the_picture_only(tmp_path: Path) -> None:
    site = report._Site(tmp_path / "site", tmp_path / "notebooks")
    view = picture([source("westeurope-azure-cni")])
    page = site._render("site.html.j2", "index.html", studies=[], picture=view)
    legend = BeautifulSoup(page, "html.parser").select_one(".legend").get_text(" ", strip=True)
    assert legend.startswith("measured once or reported. One mark")


def test_the_pairs_of_a_study_with_what_is_not_known() -> None:
    [aws, canada] = pairs([source(name) for name in ("aws-euwest1-lagscope", "canadacentral-proximity-placement")])
    nearest = "1a (.122) → 1a (.70)"
    name, trip, *added_and_statistic, p99, p999, runs, row = aws.rows[0]
    assert (name, runs, row) == (nearest, "1", "aws-euwest1-lagscope/00_summary.html-1")
    assert added_and_statistic == ["–", "median"] and [trip.text, p99.text, p999.text] == ["74 µs", "102 µs", "142 µs"]
    assert aws.shared == "eu-west-1, lagscope TCP, median"
    assert aws.unknown == "how much a second run differs"
    assert canada.unknown == "p99 and how much a second run differs"
    assert canada.rows[0][6] == "reported"
    # Of the medians 263, 263, 384, 386, 459 and 459 µs, the nearer one of each zone.
    assert aws.majority == ("263 µs in 1a and 1c; 384–386 µs in 1b",) and canada.majority == ()
    assert pairs([source("ec2-token-buckets")]) == ()


def test_of_four_zones_the_three_whose_leader_waits_least_are_named() -> None:
    [ibm] = pairs([source("ibm-cloud-zones")])
    # zones.csv.gz, 2026-08-16: dal12–dal14 0.60, dal12–dal13 1.43, dal13–dal14 1.54, with dal10 1.82 to 2.16 ms.
    (dallas,) = (said for said in ibm.majority if said.startswith("Dallas"))
    assert dallas.startswith(
        "Dallas: least of 4 choices of three zones: 600 µs in us-south-dal12-a and us-south-dal14-a"
    )
    assert "1,430 µs in us-south-dal13-a" in dallas
    assert "left out" not in str(ibm.majority)


def test_without_round_trips_there_is_no_picture() -> None:
    assert picture([source("ec2-token-buckets")]) is None and picture([]) is None


def test_an_axis_of_less_than_two_decades_shows_its_ticks_on_a_phone() -> None:
    view = picture([changed(source("westeurope-azure-cni"), value=1.56e6)])
    assert view is not None and [(tick.text, tick.label) for tick in view.ticks] == [("2 ms", "")]


@pytest.mark.costly
def test_a_study_names_its_machines_and_what_nobody_measured() -> None:
    """The sizes of Canada stand in its log and in the numbers of its text; those of psping nowhere."""
    canada, psping, pods, zones = map(
        pages.study_view,
        ("canadacentral-proximity-placement", "westeurope-psping", "westeurope-azure-cni", "ibm-cloud-zones"),
    )
    assert canada.facts[-2:] == ["Standard_B1s, Standard_D2s_v3, Standard_D4s_v3", "2021-07-07"]
    assert (canada.author, psping.author, zones.author) == ("author not named", "by mddazure", "by IBM Cloud")
    assert psping.facts[-2:] == ["VM size not said", "2024"] and zones.facts[0].startswith("2,175 published means (")
    assert pods.not_measured[0].startswith("what Azure CNI costs") and not psping.stated_as_not_measured
    assert pods.not_measured.count("stability over hours") == 1
    short = pages.StudyView(name="pings", info={}, contents=(), tail=("", "the tail across zones"), spans_hours=False)
    assert short.not_measured == ["the tail across zones", "stability over hours"]


def test_the_first_page_counts_runs_without_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data" / "raw" / "mine"
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text("[study]\n", "utf-8")
    (folder / "up.log").write_text(ping("10.0.0.8", 1.0, 1.1, 1.2), "utf-8")
    (folder / "down.log").write_text(DEAD, "utf-8")
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path / "data"))
    az.import_study("mine")
    assert pages.study_view("mine").contents == ("2 runs (ping; 1 without a result)",)


def test_the_top_of_a_summary_says_who_measured_on_which_machines(tmp_path: Path) -> None:
    site = report._Site(tmp_path / "site", tmp_path / "notebooks")
    view = replace(pages.study_view("aws-euwest1-lagscope"), info={"source": "<b>A</b>, https://a.example/logs, 2023."})
    chapter = pages.Chapter(path=Path("00_summary.ipynb"), title="Summary")
    html, _ = site.page(pages.Job(study=view, chapters=(chapter,), number=0), new_notebook(), None)
    [line] = BeautifulSoup(html, "html.parser").select("h1 + #sheet")
    source = "Source: <b>A</b>, https://a.example/logs, 2023."
    assert line.get_text() == f"8 runs (lagscope) · eu-west-1 · c5.xlarge · {source} · data version {view.version}"
    assert line.a["href"] == "https://a.example/logs" and not line.b


def test_what_is_said_of_a_collection_is_not_said_on_a_report_of_ones_own_logs(tmp_path: Path) -> None:
    site = report._Site(tmp_path / "site", tmp_path / "notebooks")
    views = [pages.study_view(name) for name in ("aws-euwest1-lagscope", *["uksouth-echo-latency"] * 3)]
    own, collection = clouds_of(views[:3]), clouds_of(views)
    assert (own, guide_of(views[:3]), collection, guide_of(views)) == ([], {}, ["AWS", "Azure"], GUIDE)
    assert not clouds_of([replace(view, info={}, regions=()) for view in views]), "nobody knows the cloud"
    found = tiles([source("aws-euwest1-lagscope")])
    for clouds in (own, collection):
        page = site._render("site.html.j2", "index.html", studies=[], tiles=found, clouds=clouds)
        assert "A commit waits" in page and ("IBM Cloud" in page) is bool(clouds)


def test_the_first_page_counts_the_tools_that_are_read() -> None:
    assert f"It reads [{len(load_parsers())} tools]" in str(GUIDE)


def test_many_clauses_are_a_list_and_few_a_sentence() -> None:
    card = card_view(load_card("ibm-cloud-zones")._repr_mimebundle_()[CARD_TYPE])
    assert card is not None
    first, *others = card.clauses(card.readers["changed"])
    assert first == (
        "series that changed: 10 of 36 across zones (1 significant only together with others), 0 of 34 in "
        "one zone, 0 of 30 whose data end earlier, 30 more of these are too short to test"
    )
    assert len(others) == 9
    assert others[0].striptags().startswith("by 2025-12-14: Sao Paulo sao01–sao05 −80 %")
    assert card.clauses(card.readers["replicas"]) == [card.sentence(card.readers["replicas"])]
