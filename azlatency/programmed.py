"""What the network of an emulated study was programmed to do: the truth beside which its measurements are held.

It stands in ``truth.json`` beside the study's logs. No statistic and no parser looks at it; only pages that ask whether
the tools and this library find what is there.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from azlatency.dataset import data_folder

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.dataset import Study

_FILE = "truth.json"
_COLUMNS = ("sender", "receiver", "delay_ns", "mean_ns", "achieved_ns", "rate")
_MICROSECOND, _MEGABIT = 1e3, 1e6


def programmed_links(study: Study) -> pd.DataFrame:
    """One row a direction of a link of an emulated network, indexed by "sender → receiver"; empty for a real one.

    ``delay_ns``: programmed delay one way; ``mean_ns``: with the mean of its programmed jitter; ``achieved_ns``: mean
    that the emulator itself achieved when idle (missing where it was not looked at); ``rate`` in bit/s.
    """
    import pandas as pd

    file = data_folder("raw") / study.name / _FILE
    truth: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    rows = []
    for profile in truth.get("profiles", {}).values():
        for name, link in profile["directions"].items():
            achieved = link.get("achieved_idle_one_way", {}).get("mean_us")
            sender, _, receiver = name.partition("->")
            rows.append(
                (
                    sender,
                    receiver,
                    link["base_us"] * _MICROSECOND,
                    link["expected_mean_one_way_us_without_overhead"] * _MICROSECOND,
                    None if achieved is None else achieved * _MICROSECOND,
                    link["rate_mbit_s"] * _MEGABIT,
                )
            )
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    frame.index = pd.Index([f"{row.sender} → {row.receiver}" for row in frame.itertuples()])
    return frame
