"""The method that a statement about several paths is made from: one choice for a card, an answer, a matrix and a title.

Methods send different packets, so a sentence that compares paths speaks of one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import NamedTuple

import pandas as pd

from azlatency.logs.parsers import find_parser


class Measured(NamedTuple):
    """What a method measured on a path: ``packets`` in all runs, the ``placement``, and whether they have medians.

    ``paced``: whether the sender was told a rate, which is then not what the path can carry: 0 not, 1 told, 2 told and
    reached.
    """

    method: str
    path: str
    runs: int = 1
    packets: float = 0.0
    placement: str = ""
    has_median: bool = True
    paced: int = 0


#: A transfer that reached this share of the rate that it was told says nothing about more.
_REACHED = 0.95


def rank_methods(measured: Iterable[Measured]) -> list[str]:
    """Order methods by how much they say about all paths; of equal ones the first stays first.

    First those whose senders were not told a rate. Then those that measured the most placements, then the most paths,
    with the most runs on a path (the median of the paths). Then a tool that sends packets all the time comes before
    ping, whose mean a single late packet moves; medians before means; data from client to server, as the arrow of a
    path points, before the reverse; more packets before fewer. Entries of one method and path count together.
    """
    groups: dict[str, list[Measured]] = {}
    for entry in measured:
        groups.setdefault(entry.method, []).append(entry)

    def weight(method: str) -> tuple[float, ...]:
        entries, runs = groups[method], dict.fromkeys((entry.path for entry in groups[method]), 0)
        for entry in entries:
            runs[entry.path] += entry.runs
        placements = {entry.placement for entry in entries}
        return (-min(entry.paced for entry in entries), len(placements), len(runs), median(runs.values()),
                not sends_rarely(method), all(entry.has_median for entry in entries),
                not is_reverse(method),
                sum(entry.packets for entry in entries))  # fmt: skip

    return sorted(groups, key=weight, reverse=True)


def as_measured(levels: pd.DataFrame) -> list[Measured]:
    """Return what each condition adds to its method, by which methods are ranked; reported numbers are a method apart.

    ``levels``: rows of `azlatency.stats.placement.conditions`.
    """
    return [
        Measured(
            row["method"] if row["origin"] == "log" else f"{row['method']} as reported",
            row["path"],
            1 if pd.isna(row["n"]) else row["n"],
            row["packets"],
            row["placement"],
            row["value"] == "median_ns",
        )
        for row in levels.to_dict("records")
    ]


def measured_runs(runs: pd.DataFrame) -> list[Measured]:
    """Return an entry per run of a frame with ``method`` and, where it has them, ``path``, ``n`` and ``placement``.

    UDP sends at the rate that it is told, also where no log states the rate.
    """

    def column(name: str, missing: object) -> pd.Series:
        return runs[name].fillna(missing) if name in runs else pd.Series(missing, index=runs.index)

    medians = runs["median_ns"].notna() if "median_ns" in runs else pd.Series(True, index=runs.index)
    paced = pd.Series(0, index=runs.index)
    if "throughput_bit_s" in runs:
        asked = asked_rates(runs)
        paced = (asked.notna() | (column("protocol", "") == "udp")).astype(int)
        paced += (runs["throughput_bit_s"].astype(float) > _REACHED * asked).astype(int)
    columns = (column("path", ""), column("n", 0.0), column("placement", ""), medians, paced)
    return [
        Measured(str(method), str(path), 1, float(packets), str(placement), bool(has_median), int(told))
        for method, path, packets, placement, has_median, told in zip(runs["method"], *columns, strict=True)
    ]


def asked_rates(runs: pd.DataFrame) -> pd.Series:
    """Return the rate in bit/s that all connections of each transfer were told to send at; NaN without one."""
    if "target_rate_bit_s" not in runs:
        return pd.Series(float("nan"), index=runs.index)
    rates = runs["target_rate_bit_s"].astype(float)
    connections = runs["connections"].astype(float).fillna(1.0) if "connections" in runs else 1.0
    return rates.where(rates > 0) * connections


def is_reverse(method: str) -> bool:
    """Return whether the data of a method goes from server to client."""
    return "-reverse" in method


def sends_rarely(method: str) -> bool:
    """Return whether a method sends a packet per second or fewer, as the parser of its tool says."""
    return find_parser(method.partition(" ")[0]).sends_rarely
