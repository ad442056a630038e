"""One round trip per path and method, with its pair of zones, to lay studies of several clouds side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from azlatency.stats.across_runs.main_method import sends_rarely
from azlatency.stats.across_runs.zone_pairs import is_own_zone
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.round_trips import latency
from azlatency.studies.runs.selection import newest_windows
from azlatency.studies.store.study import Study

#: Circumstances in which two round trips must agree before one is laid beside the other.
ALIKE = ("origin", "region", "kind", "value", "vm_size", "accelerated_networking", "message_bytes")
_COLUMNS = ["placement", "pair", "path", "method", *ALIKE, "lowest_ns", "highest_ns", "round_trip_ns", "resolution",
            "p99_ns", "p999_ns", "n", "published", "least_ns", "most_ns", "run_ids", "estimate", "low", "high", "unit",
            "confidence", "added_ns"]  # fmt: skip
_P99 = 0.99


def crossings(study: Study, measured: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the round trip of each path and method whose placement is known.

    ``measured``: as returned by `azlatency.stats.placement.conditions`, of a published series of its newest window;
    ``runs``: those that it was made from, of a published series all windows; ``study``: for the percentiles of its
    samples and of its reported numbers.

    One row per path and method: ``placement``, ``pair`` of zones (text, empty if unknown; ``"1–2"``, or ``"1"`` inside
    a zone), ``path``, ``method``, the circumstances of `conditions`, ``lowest_ns`` and ``highest_ns`` of the runs,
    ``round_trip_ns`` (their median, or the middle of a printed range), ``resolution`` (step of the print in ns),
    ``p99_ns`` and ``p999_ns`` (median of the runs' p99 and p99.9; NaN unless all have one), ``n`` runs (int64; 0 if
    only reported), ``published`` (whether they are windows of a published series), ``least_ns`` and ``most_ns`` of all
    these windows (NaN without), ``run_ids``, the typical run as in `conditions` (``estimate``, ``low``, ``high``,
    ``unit``, ``confidence``) and ``added_ns``: what the path takes longer than the paths inside its zones, or inside a
    zone of its region if those were not measured, under the same circumstances; NaN where nothing was measured inside a
    zone, or where the runs of a path are not pooled.

    A tool that sends rarely counts only where no other measured the placement: a mean of twenty pings, one of which
    took 10 ms, is not what the placement costs. Of a published series only the newest window counts, and of a path that
    it no longer names none.
    """
    rarely = measured["method"].map(sends_rarely).astype(bool)
    steady = set(measured.loc[~rarely, "placement"])
    kept = measured[(measured["placement"] != "") & ~(rarely & measured["placement"].isin(steady))]
    newest = newest_windows(runs)
    tails = latency(study, percentiles=(99.9,))["p99.9_ns"].astype(float)
    groups = dict(iter(grouped(newest, ["path", "method"])))
    earlier = grouped(runs[~runs.index.isin(newest.index)], ["path", "method"]).groups
    p99_reported = _reported_p99(study.reported)
    rows: list[dict[str, Any]] = []
    for level in kept.to_dict("records"):
        if level["origin"] == "reported":
            found = {
                "lowest_ns": level["lowest"],
                "highest_ns": level["highest"],
                "round_trip_ns": (level["lowest"] + level["highest"]) / 2,
                "p99_ns": p99_reported.get(level["path"], np.nan),
                "p999_ns": np.nan,
                "n": 0,
                "published": False,
            }
        else:
            path_method = (level["path"], level["method"])
            group = groups.get(path_method)
            if group is None:
                continue
            values, p99 = group[level["value"]].astype(float), group["p99_ns"].astype(float)
            p999 = tails.reindex(group.index)
            ids = earlier.get(path_method, ())
            series = runs.loc[[*ids, *group.index], level["value"]].astype(float) if len(ids) else values[:0]
            found = {
                "lowest_ns": values.min(),
                "highest_ns": values.max(),
                "round_trip_ns": values.median(),
                "p99_ns": p99.median() if p99.notna().all() else np.nan,
                "p999_ns": p999.median() if p999.notna().all() else np.nan,
                "n": level["n"] + len(ids),
                "published": len(ids) > 0,
                "least_ns": series.min(),
                "most_ns": series.max(),
                "run_ids": " ".join(map(str, group.index)),
            }
        # What runs say that are not pooled is nothing to subtract.
        is_apart = level["origin"] != "reported" and level["n"] > 1 and np.isnan(level["estimate"])
        rows.append(level | found | {"is_apart": is_apart})
    frame = pd.DataFrame(rows, columns=[*_COLUMNS[:-1], "is_apart"])
    added = _added(frame[~frame["is_apart"].astype(bool)])
    return frame.assign(added_ns=added)[_COLUMNS].astype({"n": "int64", "published": "bool"})


def _reported_p99(reported: pd.DataFrame) -> dict[str, float]:
    if not len(reported):
        return {}
    shares = pd.to_numeric(reported["q"], errors="coerce")
    tails = reported[(reported["metric"] == "rtt") & (shares == _P99) & reported["segment"].isna()]
    return dict(zip(tails["scenario"].astype(str), tails["value_high"].astype(float), strict=True))


def _added(frame: pd.DataFrame) -> pd.Series:
    """Return what each path between zones takes longer than those inside; ns."""
    inside = frame[frame["placement"] == "same_zone"]
    added = pd.Series(np.nan, index=frame.index)
    keys = pd.Series(list(map(str, zip(*(frame[name] for name in ALIKE), strict=True))), index=frame.index)
    for label, row in frame[frame["placement"] == "cross_zone"].iterrows():
        alike = inside[keys[inside.index] == keys[label]]
        own = alike[[is_own_zone(zone, row["pair"]) for zone in alike["pair"]]]
        near = (own if len(own) else alike)["round_trip_ns"]
        if len(near):
            added[label] = row["round_trip_ns"] - near.mean()
    return added
