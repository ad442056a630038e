"""`azlatency history`: exit codes, what is judged, and where the result is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from helpers.nights import CHANGED, FIRST, changed_nights, history

from azlatency.gate import inputs


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Nights that no test changes, so that their logs are read once."""
    read = inputs._read
    once = cache(lambda name, *paths, **options: read(name, [*paths], **options))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(inputs, "_read", lambda name, paths, **options: once(name, *paths, **options))
        yield changed_nights(tmp_path_factory.mktemp("nights") / "nights")


def test_only_new_changes_are_judged(nights: Path) -> None:
    later = FIRST + timedelta(days=CHANGED + 5)
    run = f"{FIRST + timedelta(days=CHANGED - 3)}/az1-az2/qperf.log"
    # `test_since` judges ages, and other dates.
    for since, code in ((later, 0), (run, 1)):
        assert history(nights, "--since", since, cwd=nights.parent).returncode == code, since
    refused = history(nights, "--since", "yesterday", cwd=nights.parent)
    assert refused.returncode == 2 and "2026-11-12" in refused.stderr


def test_the_formats_agree(nights: Path) -> None:
    table = history(nights, cwd=nights.parent).stdout
    markdown = history(nights, "--format", "markdown", cwd=nights.parent).stdout
    file = nights.parent / "history.xml"
    assert history(nights, "--format", "junit", "--out", file, cwd=nights.parent).stdout == table
    suite = ElementTree.fromstring(file.read_text("utf-8"))[0]
    assert "CHANGED" in table and "▁" in table and "Changed by more than the margin of 5%: 1 of 2 series." in table
    assert (
        markdown.startswith("### ❌ Changed by more than the margin of 5%&#58; 1 of 2 series.")
        and "<details>" in markdown
    )
    assert suite.attrib["tests"] == "2" and suite.attrib["failures"] == "1"


def test_a_change_within_the_margin_is_shown_and_no_failure(nights: Path) -> None:
    table = history(nights, "--margin", "300%", cwd=nights.parent)
    assert table.returncode == 0 and "within the margin" in table.stdout and "No change beyond" in table.stdout
    json_text = history(nights, "--margin", "2us", "--format", "json", cwd=nights.parent)
    assert json_text.returncode == 1 and json.loads(json_text.stdout)["margin"] == "2us"
    refused = history(nights, "--margin", "2us", "--metric", "goodput", cwd=nights.parent)
    assert refused.returncode == 2 and "goodput is none" in refused.stderr


def test_a_metric_and_a_tool_are_chosen_or_refused_by_name(nights: Path) -> None:
    chosen = history(nights, "--metric", "mean", "--tool", "qperf", "--format", "json", cwd=nights.parent)
    assert {series["metric"] for series in json.loads(chosen.stdout)["series"]} == {"mean"}
    for words, known in ((("--metric", "p98"), "p99"), (("--tool", "ping"), "qperf")):
        refused = history(nights, *words, cwd=nights.parent)
        assert refused.returncode == 2 and known in refused.stderr
    missing = history("nothing", cwd=nights.parent)
    assert missing.returncode == 2 and len(missing.stderr.splitlines()) == 1
