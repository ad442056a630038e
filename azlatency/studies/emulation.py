"""What the network of an emulated study was programmed to do: the truth beside which its measurements are held.

It stands in ``truth.json`` beside the study's logs. No statistic and no parser looks at it; only pages that ask whether
the tools and this library find what is there.
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
    """The rows of `configured_links` of a pair, there and back; None where it knows the pair by no such names."""
    ways = (Path.between(start, end), Path.between(end, start))
    return (links.loc[ways[0]], links.loc[ways[1]]) if set(ways) <= set(links.index) else None


def _links(directions: dict[str, dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    """A row of `_COLUMNS` for each "sender->receiver"."""
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
    """One row a direction of a link of an emulated network, indexed by "sender → receiver"; empty for a real one.

    ``delay_ns``: programmed delay one way; ``mean_ns``: with the mean of its programmed jitter; ``achieved_ns``: mean
    that the emulator itself achieved when idle (missing where it was not looked at); ``rate`` in bit/s. Raises
    `LogError` for a file that is no such description.
    """
    import pandas as pd

    file = data_folder("raw") / study.name / _FILE
    try:
        truth: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
        rows = [row for profile in truth.get("profiles", {}).values() for row in _links(profile["directions"])]
    except json.JSONDecodeError as error:
        raise LogError(f"{file}:{error.lineno}: no JSON ({error.msg}); correct it or take it away") from None
    except (AttributeError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise LogError(f"{file}:1: describes no emulated network ({error}); correct it or take it away") from None
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    frame.index = pd.Index([Path.between(row.sender, row.receiver) for row in frame.itertuples()], dtype=object)
    return frame
