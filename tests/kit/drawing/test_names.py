"""Names of hosts as clouds give them: a figure shortens them, keeps them apart and says so."""

from __future__ import annotations

import csv
import shutil
from itertools import combinations_with_replacement, pairwise
from pathlib import Path
from typing import Literal

import pandas as pd
import pytest
from helpers.chart_cases import every_chart
from helpers.chart_checks import again, assert_fit_to_print
from helpers.notebooks import run
from helpers.places import ROOT
from helpers.studies import load
from hypothesis import given
from hypothesis import strategies as st

import azlatency as az
from azlatency.kit.drawing.names import Names
from azlatency.kit.objects import Chart
from azlatency.pages import common, latency, transfers
from azlatency.shapes.zone_map import zone_map

NAMES = {
    "Chinese": "東京都港区の仮想計算機第一号機" * 4,
    "emoji": "🚀🔥" * 30,
    "wide": "W" * 60,
    "words": ("availability zone 東京 " * 3)[:60],
}
NODE = "aks-nodepool{}-12345678-vmss00000{}.internal.cloudapp.net"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("az1a → az2a", "az1a → az2a"),
        ("10.42.100.200:12345 → 10.2.0.58", "10.42.100.200:12345 → 10.2.0.58"),
        ("vm-a.westeurope.cloudapp.azure.com, sockperf TCP 14 B", "vm-a…, sockperf TCP 14 B"),
        (NODE.format(1, 2), "aks-nodepool1-1…vmss000002"),
        ("x" * 200, "x" * 15 + "…" + "x" * 10),
    ],
)
def test_hosts_lose_their_domain_then_their_middle(name: str, shown: str) -> None:
    assert Names().short(name) == shown


def test_a_path_in_little_room() -> None:
    assert Names().short("aks-nodepool1-vmss000001 → aks-nodepool1-vmss000002", 30) == "aks-node…0001 → aks-node…0002"


def test_words_are_wrapped_and_never_cut() -> None:
    text = "availability zone one → availability zone two (accelerated networking on)"
    assert Names().short(text, 30) == text
    assert Names().wrap(text, 30, 2).replace("\n", " ") == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Zone 3 → Zone 1 (303 µs)", "Zone 3 → Zone 1\n(303 µs)"),
        ("az2a → az1a (cross zone)", "az2a → az1a\n(cross zone)"),
        ("goodput of 25.7 Gbit/s here", "goodput of\n25.7 Gbit/s here"),
        ("東京 " * 4 + "b", "東京 東京 東京 東京\nb"),
    ],
)
def test_a_line_ends_before_a_number_and_not_before_its_unit(text: str, shown: str) -> None:
    assert Names().wrap(text, 20) == shown


@given(st.lists(st.text("ab.- →1", min_size=1, max_size=60), unique=True, max_size=8), st.sampled_from([None, 12, 30]))
def test_two_names_never_become_one(names: list[str], letters: int | None) -> None:
    words = sorted({" ".join(name.split()) for name in names} - {""})
    names_of_figure = Names()
    shown = [names_of_figure.short(word, letters) for word in words]
    assert [names_of_figure.short(word, letters) for word in words] == shown, "the same name is always shown alike"
    assert len(set(shown)) == len(words)


def test_a_chart_says_that_it_shortens_names() -> None:
    path = f"{NODE.format(1, 1)} → {NODE.format(2, 2)}"
    runs = pd.DataFrame(
        {"path": path, "method": "ping 56 B", "median_ns": [5e4, 6e4], "placement": None}, index=["a", "b"]
    )
    chart = common.typical_forest(runs, az.summarize(runs, "median_ns"))
    assert isinstance(chart, Chart)
    shown = assert_fit_to_print("forest", chart)
    assert "Long names are shortened" in chart.caption and path in chart.alt
    assert not any("cloudapp" in text for text in shown)


def test_a_chart_of_long_names_of_plain_words_does_not_say_that_it_shortens_them() -> None:
    name = "Same zone, Standard_D4s_v3, accelerated networking, proximity placement group"
    rows = pd.DataFrame({"panel": "latte", "row": [name, f"{name}, twice"], "value": [54e3, 57e3]})
    chart = az.charts.forest(
        rows.assign(value_low=50e3, value_high=60e3), "value", panel="panel", row="row", width="single"
    )
    assert isinstance(chart, Chart) and "shortened" not in chart.caption
    assert [" ".join(item.get_text().split()) for item in chart.figure.axes[0].get_yticklabels()] == list(rows["row"])


@pytest.mark.slow
def test_charts_of_hosts_with_domains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path))
    folder = tmp_path / "raw" / "emulated-zones"
    shutil.copytree(ROOT / "data" / "raw" / "emulated-zones", folder)
    rows = list(csv.DictReader((folder / "runs.csv").read_text("utf-8").splitlines()))
    hosts = {host: NODE.format(pool, pool) for pool, host in enumerate(["az1a", "az1b", "az2a", "az3a"])}
    for row in rows:
        row["scenario"] = " → ".join(hosts.get(end, end) for end in row["scenario"].split(" → "))
    with (folder / "runs.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    az.import_study("emulated-zones")
    drawn = every_chart(az.load("emulated-zones"))
    for name in ("printed curves", "medians", "shapes", "tails", "placement", "latency both ways", "runs needed"):
        chart = drawn[name]()
        assert isinstance(chart, Chart)
        shown = assert_fit_to_print(name, chart)
        assert "Long names are shortened" in chart.caption
        assert NODE.format(0, 0) in chart.alt
        assert not any("cloudapp" in text for text in shown), name
    # The description of the network knows these hosts by other names: nothing breaks.
    assert run(ROOT / "notebooks" / "04_zone_pair_asymmetry.ipynb", "emulated-zones")


@pytest.mark.slow
@pytest.mark.parametrize("width", ["single", pytest.param("double", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, id=kind, marks=[] if kind == "emoji" else [pytest.mark.slow]) for kind, name in NAMES.items()],
)
def test_titles_of_panels_and_maps_have_room_for_wide_letters(name: str, width: Literal["double", "single"]) -> None:
    ends = [f"{name[:-1]}{number}" for number in range(4)]
    paths = [f"{one} → {other}" for one, other in pairwise([*ends, ends[0]])]
    times = pd.to_datetime("2026-01-01") + pd.to_timedelta(range(12), unit="h")
    values = [5e5 + 1e4 * (step % 5) for step in range(12)]
    runs = pd.concat(
        [
            pd.DataFrame({"path": path, "method": "ping 56 B", "started_at": times, "median_ns": values})
            for path in paths
        ],
        ignore_index=True,
    ).assign(mean_ns=5e5)
    study = load("westeurope-azure-cni")
    streams = az.throughput(study).drop_duplicates("path").head(4)
    pairs = pd.DataFrame(combinations_with_replacement(ends, 2), columns=["first", "second"])
    pairs = pairs.assign(path="", method="", value=1e5, quantity="mean RTT")
    drawn = {
        "order": latency.order_of_runs(runs, az.summarize(runs)),
        "series": transfers.throughput_series(study.intervals, streams.assign(path=paths[: len(streams)])),
        "map": zone_map(pairs),
    }
    for what, wide in drawn.items():
        chart = again(wide, width=width)
        assert isinstance(chart, Chart)
        assert_fit_to_print(what, chart)
        assert ends[0] in chart.alt


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("az1b → az3b over az3b → az1b", "az1b → az3b over\naz3b → az1b"),
        ("goodput 3.81 Gbit/s (Zone 3 → Zone 1, Set)", "goodput 3.81 Gbit/s\n(Zone 3 → Zone 1, Set)"),
        ("Washington DC → Montreal", "Washington DC →\nMontreal"),
        ("az1a → az1b to az1a → az2a: sockperf TCP 14 B", "az1a → az1b to az1a →\naz2a: sockperf TCP 14 B"),
    ],
)
def test_a_pair_stands_on_one_line_where_that_needs_no_further_line(name: str, lines: str) -> None:
    assert Names().wrap(name, 23, 3) == lines
