"""The texts that the search reads."""

from __future__ import annotations

import json

from azlatency.site.search import WHOLE, texts_of

EVIL = "<script>alert(1)</script>"


def test_texts_cannot_end_their_block_and_stay_within_bounds() -> None:
    part = ("id", EVIL, "</script>&" + "word " * 300)
    text = texts_of([(f"study {number}/x.html", EVIL, "a", (part,) * 20) for number in range(100)])
    assert not set(text) & set("<>&")
    assert len(text) < 1.4 * WHOLE
    assert json.loads(text)[0][:2] == ["study%200/x.html", EVIL]
