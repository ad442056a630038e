"""Frames of other libraries are refused by name: their methods have the names of pandas' and other meanings."""

from __future__ import annotations

_CONVERT = {"duckdb": "df()", "dask": "compute()", "pyspark": "toPandas()"}


def refuse_foreign(data: object) -> None:
    """Raise `TypeError` if the data are a frame or table of another library than pandas."""
    kinds = type(data).__mro__
    if not hasattr(data, "columns") or any(kind.__module__.partition(".")[0] == "pandas" for kind in kinds):
        return
    library = kinds[0].__module__.partition(".")[0].lstrip("_")
    convert = _CONVERT.get(library, "to_pandas()")
    raise TypeError(
        f"{library}.{kinds[0].__name__} is not a frame of pandas; pass its {convert}, and for a frame of runs its "
        f"{convert}.set_index('run_id')"
    )
