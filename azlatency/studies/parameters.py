"""Parameters of a notebook, which papermill and people fill in."""

from __future__ import annotations

from azlatency.logs.parse import LogError


def check_numbers(**parameters: object) -> None:
    """Check parameters of a notebook that must be numbers, before a statistic fails on them.

    Parameters
    ----------
    **parameters : number
        The values by the name of their parameter.

    Raises
    ------
    LogError
        If a value is not a number: papermill passes ``-p confidence high`` as a text.

    Examples
    --------
    >>> import azlatency as az
    >>> az.studies.check_numbers(confidence=0.95)
    """
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise LogError(f"parameter {name} = {value!r} is not a number; write it in digits, such as 0.95")
