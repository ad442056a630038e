"""The documentation as pages of the site."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from helpers.places import ROOT
from helpers.sites import broken_links

from azlatency.site import build as report
from azlatency.site.documentation import Documents

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's own documentation, and a hostile page, as a site."""
    root = tmp_path_factory.mktemp("documents")
    shutil.copytree(ROOT / "docs", root / "docs")
    (root / "docs" / "evil.md").write_text(f"# {EVIL}\n\n[a](javascript:alert(1)) [b](../../x.md) {EVIL}\n", "utf-8")
    site = report._Site(root / "site", root / "notebooks")
    site.finish([], [])
    site.publish()
    return root / "site"


def test_the_documentation_has_no_broken_link(documents: Path) -> None:
    assert broken_links(documents) == []


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.name)
def test_what_a_document_links_to_is_in_the_project(path: Path) -> None:
    text = re.sub(r"```.*?```|`[^`]*`", "", path.read_text("utf-8"), flags=re.S)
    targets = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    missing = [target for target in targets if target and not (path.parent / target).exists()]
    assert missing == []


def test_every_document_is_reached_from_the_index(documents: Path) -> None:
    index = BeautifulSoup((documents / "index.html").read_text("utf-8"), "html.parser")
    listed = {link["href"] for link in index.select(".documents a")}
    written = {path.relative_to(ROOT).with_suffix(".html").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert written <= listed and "docs/api/azlatency.stats.within_run.quantiles.html" in listed


def test_documents_are_safe_and_small(documents: Path) -> None:
    evil = (documents / "docs" / "evil.html").read_text("utf-8")
    assert EVIL not in evil and "javascript:alert" not in re.sub(r"\(javascript:alert\(1\)\)", "", evil)
    for path in documents.rglob("*.html"):
        assert path.stat().st_size < 1_500_000, path
        text = path.read_text("utf-8")
        assert not re.search(r'(?:src|href)="(?:https?:)?//[^"]*\.(?:js|css|png)"', text), path


def test_a_missing_documentation_folder_is_not_an_error(tmp_path: Path) -> None:
    assert Documents(tmp_path / "docs").groups == []
