"""Parameters of a notebook."""

from __future__ import annotations

import pytest

import azlatency as az


@pytest.mark.parametrize("value", ["high", None, True, [0.95]])
def test_what_is_not_a_number_is_named_in_one_line(value: object) -> None:
    az.studies.check_numbers(confidence=0.95, calls=100)
    with pytest.raises(az.LogError, match=r"^parameter confidence = .* is not a number; write it in digits") as caught:
        az.studies.check_numbers(calls=100, confidence=value)
    assert caught.value._render_traceback_() == [f"LogError: {caught.value}"]
