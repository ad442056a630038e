"""The scripts of a page, and the addresses of other pages seen from it."""

from __future__ import annotations

import base64
from hashlib import sha256

import pytest

from azlatency.site.scripts import Position, scripts


def test_the_policy_allows_the_bytes_of_both_scripts_and_no_others() -> None:
    page_scripts = scripts()
    digests = [
        base64.b64encode(sha256(str(text).encode()).digest()).decode()
        for text in (page_scripts.page, page_scripts.search)
    ]
    assert page_scripts.hashes == " ".join(f"'sha256-{digest}'" for digest in digests)


def test_a_script_cannot_end_its_element() -> None:
    page_scripts = scripts()
    assert "</script" not in page_scripts.page and "</script" not in page_scripts.search


@pytest.mark.parametrize(
    ("at", "target", "address"),
    [
        ("index.html", "a/01.html", "a/01.html"),
        ("a/01.html", "index.html", "../index.html"),
        ("docs/tools/ping.html", "my study/01.html#p99", "../../my%20study/01.html#p99"),
    ],
)
def test_addresses_lead_through_the_root_of_the_site(at: str, target: str, address: str) -> None:
    assert Position(at=at).to(target) == address


def test_saved_files_are_named_after_the_page() -> None:
    assert Position(at="a/01.html").name == "a-01"
