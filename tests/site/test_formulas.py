"""LaTeX as MathML."""

from __future__ import annotations

from azlatency.site.formulas import mathml


def test_maths_that_cannot_be_read_is_shown_as_it_is() -> None:
    assert mathml(r"\nosuch{x}") == r'<code class="latex">$\nosuch{x}$</code>'
    assert mathml(r"\frac{1}") == r'<code class="latex">$\frac{1}$</code>'
    assert str(mathml("a < b & c")).count("<mo>&lt;</mo>") == 1
    assert mathml(r"x_1", block=True).startswith('<math display="block"')
