"""Group the rows of a frame so that none is lost."""

from __future__ import annotations

import pandas as pd
from pandas.api.typing import DataFrameGroupBy

from azlatency.studies.format import count_of


def grouped(frame: pd.DataFrame, by: str | list[str]) -> DataFrameGroupBy:
    """Group rows by columns, in the order of their first rows; for the error see `check_complete`."""
    check_complete(frame, *([by] if isinstance(by, str) else by))
    return frame.groupby(by, sort=False, dropna=False)


def check_complete(frame: pd.DataFrame, *columns: str) -> None:
    """Raise `ValueError` if a row has no value in one of the columns: pandas would leave it out without a word."""
    for name in columns:
        if missing := int(frame[name].isna().sum()):
            raise ValueError(
                f"{count_of(missing, 'row')} without {name}; fill in the column, or leave them out: "
                f"frame[frame[{name!r}].notna()]"
            )
