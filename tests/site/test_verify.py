"""Numbers of pages, and which of them differ."""

from __future__ import annotations

from pathlib import Path

from azlatency.site.verify import compare, numbers_of


def test_numbers_are_texts_with_digits_outside_of_charts(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>the path <b>az1 → az2</b>: 444 µs</p><svg><text>7</text></svg><script>8</script>", "utf-8")
    published = numbers_of(page)
    assert [(number.text, number.before) for number in published] == [
        ("az1", "the path"),
        ("az2", "the path az1 →"),
        ("444", "the path az1 → az2 :"),
    ]
    assert list(compare(published, published)) == []
    page.write_text("<p>the path <b>az1 → az2</b>: 448 µs, 9</p>", "utf-8")
    assert list(compare(published, numbers_of(page))) == [
        "published 444, recomputed 448 9, after 'the path az1 → az2 :'"
    ]
    assert numbers_of(tmp_path / "missing.html") == []
