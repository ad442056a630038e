"""Conversion of what a caller passes (sequences, Series, samples of one run) to a float64 array."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from azlatency.studies.runs.samples import round_trips, select_one_run

FloatArray: TypeAlias = NDArray[np.float64]
#: Values of one run in the order of sending, or the samples of one run.
Values: TypeAlias = ArrayLike | pd.Series | pd.DataFrame


def to_array(data: Values) -> tuple[FloatArray, int]:
    """Convert one run's values to float64, without the missing ones.

    Raises `ValueError` if the data are not one-dimensional, come from several runs, or contain interval-censored
    round-trip times.
    """
    if hasattr(data, "columns"):
        return round_trips(select_one_run(data)), 0
    numbers = data.to_numpy(dtype="float64", na_value=np.nan) if hasattr(data, "to_numpy") else data
    array = np.asarray(numbers, dtype="float64")
    if array.ndim != 1:
        raise ValueError(f"the data have {array.ndim} dimensions; pass a one-dimensional series")
    absent = np.isnan(array)
    missing = int(absent.sum())
    return (array[~absent] if missing else array), missing
