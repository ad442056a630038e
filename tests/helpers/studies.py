"""The imported studies of the project, loaded once per worker.

A study keeps the tables that the library computes of it, such as those of its runs, so that tests need not compute them
again. No test may change one.
"""

from __future__ import annotations

from functools import cache

from azlatency.pages import summary
from azlatency.pages.summary.card import Card
from azlatency.studies.store import study


@cache
def load(name: str) -> study.Study:
    return study.load(name)


@cache
def load_card(name: str) -> Card:
    """Return the card of a study."""
    return summary.make_card(load(name))
