"""What `azlatency verify` says of a file that differs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from azlatency.site.freshness import Record
from azlatency.site.verify import NOT_REBUILT, compare, compare_sites

PAGE = (
    '<p title="round trip">path <b>444 µs</b> slower</p><table><td data-csv="444">444</td></table>'
    '<svg aria-label="two rows"><title>medians</title><text x="1">az1</text><path d="M 0 1"/></svg>'
)


def differences(tmp_path: Path, published: str, *, by_text: bool) -> list[str]:
    old, new = tmp_path / "old.html", tmp_path / "new.html"
    old.write_text(published, "utf-8")
    new.write_text(PAGE, "utf-8")
    return list(compare(old, new, by_text=by_text))


@pytest.mark.parametrize("by_text", [True, False])
@pytest.mark.parametrize(
    ("due", "false"),
    [
        ("444 µs", "444 ms"), ("slower", "faster"), ('data-csv="444"', 'data-csv="9444"'), ("round trip", "half"),
        ("two rows", "one row"), (">medians<", ">means<"), (">az1<", ">az2<"), ("<b>", "<i>"), ("<p ", "<p><b><p "),
    ],
)  # fmt: skip
def test_every_change_that_a_reader_meets_is_noticed(tmp_path: Path, due: str, false: str, by_text: bool) -> None:
    found = differences(tmp_path, PAGE.replace(due, false), by_text=by_text)
    assert found and all(line.startswith("published ") for line in found)


def test_a_mark_that_moved_is_noticed_unless_other_versions_drew_it(tmp_path: Path) -> None:
    moved = PAGE.replace("M 0 1", "M 0 9")
    assert differences(tmp_path, moved, by_text=True) == []
    assert differences(tmp_path, moved, by_text=False) == [
        "published with another drawing or markup than the rebuilt one"
    ]
    assert differences(tmp_path, PAGE, by_text=False) == []


def two_sites(tmp_path: Path) -> tuple[Path, Path]:
    record = {
        "files": ["a.html"],
        "pages": {"a.html": {"run": "1", "files": {"a.html": "0", NOT_REBUILT: "1"}, "says": "444 µs"}},
    }
    sites = (tmp_path / "site", tmp_path / "again")
    for site in sites:
        site.mkdir()
        (site / "a.html").write_text(PAGE, "utf-8")
        (site / Record.FILE).write_text(json.dumps(record), "utf-8")
    return sites


@pytest.mark.parametrize("name", ["b.htm", "b.HTML", "b.pdf", "b.csv", "b", ".b.html"])
def test_a_file_of_any_kind_that_is_not_made_from_the_logs_is_named(tmp_path: Path, name: str) -> None:
    site, again = two_sites(tmp_path)
    (site / "CNAME").write_text("example.com")
    (site / ".git").mkdir()
    (site / ".git" / "HEAD").write_text("ref")
    assert list(compare_sites(site, again, by_text=False)) == []
    (site / name).write_text("<h1>9 ms slower</h1>")
    assert list(compare_sites(site, again, by_text=True)) == [f"{name}: published, but not made from these logs"]


def test_a_folder_in_the_place_of_a_page_is_a_missing_page(tmp_path: Path) -> None:
    site, again = two_sites(tmp_path)
    (site / "a.html").unlink()
    (site / "a.html").mkdir()
    assert list(compare_sites(site, again, by_text=False)) == ["a.html: missing"]


def test_a_falsified_record_is_named_and_one_of_another_folder_is_not(tmp_path: Path) -> None:
    site, again = two_sites(tmp_path)
    record = site / Record.FILE
    due = record.read_text("utf-8")
    record.write_text(
        due.replace('"run": "1"', '"run": "2"').replace(f'"{NOT_REBUILT}": "1"', f'"{NOT_REBUILT}": "2"'), "utf-8"
    )
    assert list(compare_sites(site, again, by_text=False)) == []
    record.write_text(due.replace("444", "999"), "utf-8")
    assert [line.partition(":")[0] for line in compare_sites(site, again, by_text=False)] == [Record.FILE]
    for damaged in ("{", "[]", "{}"):
        record.write_text(damaged, "utf-8")
        assert len(list(compare_sites(site, again, by_text=False))) == 1
    record.unlink()
    assert list(compare_sites(site, again, by_text=False)) == []


@pytest.mark.parametrize(("more", "noticed"), [("<li>444 → 555 µs</li>", False), ("<script>x()</script>", True)])
def test_the_list_of_changes_is_a_list(tmp_path: Path, more: str, noticed: bool) -> None:
    pages = [tmp_path / "old" / NOT_REBUILT, tmp_path / "new" / NOT_REBUILT]
    for page, text in zip(pages, (more, ""), strict=True):
        page.parent.mkdir()
        page.write_text(f'<main id="main" tabindex="-1">\n<ul>{text}</ul>\n</main>', "utf-8")
    assert bool(list(compare(*pages, by_text=False))) is noticed
