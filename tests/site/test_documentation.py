"""The concepts as pages of the site."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from helpers.sites import broken_links

from azlatency.site import build as report
from azlatency.site.documentation import CONCEPTS, Document

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The concepts, and a hostile page, as a site."""
    root = tmp_path_factory.mktemp("documents")
    shutil.copytree(CONCEPTS, root / "docs")
    (root / "docs" / "evil.md").write_text(f"# {EVIL}\n\n[a](javascript:alert(1)) [b](zones.md) {EVIL}\n", "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "CONCEPTS", root / "docs")
        built = report._Site(root / "site", root / "notebooks")
        built.finish([], [])
    return root / "site"


def test_the_index_leads_to_every_concept_and_no_link_is_broken(site: Path) -> None:
    index = BeautifulSoup((site / "index.html").read_text("utf-8"), "html.parser")
    listed = {link["href"] for link in index.select(".documents a")}
    assert listed >= {f"docs/{path.stem}.html" for path in CONCEPTS.glob("*.md")} and len(listed) > 5
    assert broken_links(site) == []
    assert 'href="zones.html"' in (site / "docs" / "evil.html").read_text("utf-8")


def test_concepts_are_safe(site: Path) -> None:
    evil = (site / "docs" / "evil.html").read_text("utf-8")
    assert EVIL not in evil and "javascript:alert" not in re.sub(r"\(javascript:alert\(1\)\)", "", evil)
    for path in site.rglob("*.html"):
        assert not re.search(r'(?:src|href)="(?:https?:)?//[^"]*\.(?:js|css|png)"', path.read_text("utf-8")), path


def test_a_long_document_folds_its_sections() -> None:
    """Its headings stay headings, and nothing is escaped twice."""
    html, _ = Document("docs/a.html", f"# A\n\nShort.\n\n## B & C\n\n{'word ' * 800}").content()
    assert html.startswith(
        '<h1 id="a">A</h1>\n<p>Short.</p>\n<details class="method"><summary><h2 id="b-c">B &amp; C</h2>'
    )
    html, _ = Document("docs/a.html", "# A\n\n## B\n\nword").content()
    assert "<details" not in html
