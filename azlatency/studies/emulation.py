"""Read the configured delays of an emulated network, the ground truth of an emulated study.

They are in the file ``truth.json`` of the study. No parser and no statistic uses them; only pages that check whether
the tools and this library find the configured delays.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from azlatency.logs.parse import LogError
from azlatency.studies.path import Path
from azlatency.studies.store import data_folder

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store import Study

_FILE = "truth.json"
_COLUMNS = ("sender", "receiver", "delay_ns", "mean_ns", "achieved_ns", "rate")
_MICROSECOND, _MEGABIT = 1e3, 1e6


def both_directions(links: pd.DataFrame, start: str, end: str) -> tuple[pd.Series, pd.Series] | None:
    """Return the rows of `configured_links` for both directions of a pair; None if one of them is not configured."""
    forward, backward = Path.between(start, end), Path.between(end, start)
    return (links.loc[forward], links.loc[backward]) if {forward, backward} <= set(links.index) else None


def _links(directions: dict[str, dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield a row of `_COLUMNS` for each ``sender->receiver``."""
    for name, link in directions.items():
        achieved = link.get("achieved_idle_one_way", {}).get("mean_us")
        if (ends := Path.parse(name).ends) is None:
            raise KeyError(f"{name!r} is not sender->receiver")
        yield (
            *ends,
            link["base_us"] * _MICROSECOND,
            link["expected_mean_one_way_us_without_overhead"] * _MICROSECOND,
            None if achieved is None else achieved * _MICROSECOND,
            link["rate_mbit_s"] * _MEGABIT,
        )


def configured_links(study: Study) -> pd.DataFrame:
    """Return the configured links of an emulated network.

    Parameters
    ----------
    study : Study
        An imported study.

    Returns
    -------
    DataFrame
        One row per direction of a link, indexed by `Path`; empty if the network is real. Columns: ``sender``,
        ``receiver``; ``delay_ns``, the configured one-way delay; ``mean_ns``, the delay plus the mean of the configured
        jitter; ``achieved_ns``, the mean one-way delay of the idle emulator (missing if it was not measured); ``rate``
        in bit/s.

    Raises
    ------
    LogError
        If ``truth.json`` does not describe an emulated network.
    """
    import pandas as pd

    file = data_folder("raw") / study.name / _FILE
    if file.is_symlink():
        raise LogError(f"{file}: a symbolic link is not followed; copy the file that it points to")
    try:
        truth: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
        rows = [row for profile in truth.get("profiles", {}).values() for row in _links(profile["directions"])]
    except json.JSONDecodeError as error:
        raise LogError(f"{file}:{error.lineno}: not JSON ({error.msg}); correct or remove the file") from None
    except (AttributeError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise LogError(f"{file}:1: not an emulated network ({error}); correct or remove the file") from None
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    frame.index = pd.Index([Path.between(row.sender, row.receiver) for row in frame.itertuples()], dtype=object)
    return frame
