"""The answer of a text that states expectations and publishes no log."""

from __future__ import annotations

from azlatency.kit.cells import FileRef
from azlatency.kit.sentences import Linked
from azlatency.pages.summary.answer import Answer, Data
from azlatency.studies.format import count_of, join_words


def expectations(data: Data) -> Answer | None:
    """Say what is expected of a machine that nobody measured."""
    expected = data.study.expectations
    if not expected:
        return None
    tools = sorted({str(expectation["tool"]) for expectation in expected if expectation.get("tool")})
    return Answer(
        badge="not_measured",
        answer=(
            "Not known yet: the text states ",
            Linked(
                count_of(len(expected), "expected value"),
                *(FileRef("baseline", "name", str(expectation.get("name"))) for expectation in expected),
                bold=False,
            ),
            f" for {join_words(tools)}, and publishes no log.",
        ),
        next_step=(
            f"Run {join_words(tools)} with the commands of the page *VM baseline* and import the logs into this study."
        ),
    )
