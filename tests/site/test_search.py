"""The texts that the search reads."""

from __future__ import annotations

import json

from markupsafe import Markup

from azlatency.site.outputs import Finding, Shown
from azlatency.site.search import WHOLE, Texts, texts_of

EVIL = "<script>alert(1)</script>"


def test_texts_cannot_end_their_block_and_stay_within_bounds() -> None:
    part = ("row", "id", EVIL, ("</script>&" + "word " * 100,))
    text = texts_of([(f"study {number}/x.html", EVIL, "a", (part,) * 100) for number in range(100)])
    assert not set(text) & set("<>&")
    assert len(text) < 1.4 * WHOLE
    assert json.loads(text)[0][:2] == ["study%200/x.html", EVIL]


def test_findings_and_rows_are_texts_of_their_own() -> None:
    texts = Texts()
    texts.html('<h2 id="part">Part</h2><p>Prose.</p>')
    texts.output(Shown("findings", findings=(Finding("info", "Crossing zones costs 40 µs."),)))
    row = '<tr><th scope="row">a → b&nbsp;<a class="from" href="#x">log</a></th><td>5.212</td></tr>'
    texts.output(Shown("table", html=Markup(row), title="Runs", anchor="table-1"))
    texts.output(Shown("figure", title="Caption.", headline="a is slow", anchor="figure-x", alt="a: 5"))
    assert texts.parts() == (
        ("text", "part", "Part", ("Prose.",)),
        ("finding", "findings_info", "What else these data show", ("Crossing zones costs 40 µs.",)),
        ("row", "table-1", "Runs", ("a → b · 5.212",)),
        ("figure", "figure-x", "a is slow", ("a: 5",)),
    )


def test_prose_of_a_notebook_is_listed_once() -> None:
    prose, row = ("text", "id", "Part", ("Prose.",)), ("row", "id", "Runs", ("a · 1",))
    pages = json.loads(texts_of([(f"{name}.html", "T", name, (prose, row)) for name in ("one", "two")]))
    assert [[part[0] for part in parts] for *_, parts in pages] == [["text", "row"], ["row"]]
