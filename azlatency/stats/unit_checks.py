"""Checks of units: round-trip time or RTT/2, headline numbers, and goodput compared with the VM's bandwidth.

All functions take and return data frames; none infers anything beyond single runs.
"""

from __future__ import annotations

import pandas as pd

from azlatency.logs.parsers import find_parser
from azlatency.studies.runs.groups import grouped
from azlatency.studies.store.study import Study

#: Relative distance from 1 or 1/2 within which n * mean / duration proves what the tool printed.
TOLERANCE = 0.03
_COLUMNS = ["method", "printed_as", "runs", "share_low", "share_high", "verdict", "run_ids"]


def closed_loop_shares(runs: pd.DataFrame) -> pd.Series:
    """Return ``n * printed mean / duration`` of each closed-loop run, missing for the others.

    In a closed loop the round trips fill the duration of the run: a share near 1 proves that the tool printed
    round-trip times, near 1/2 that it printed RTT/2. The share of a tool whose parser does not declare
    ``fills_duration`` is missing, too.
    """
    printed_mean = runs["mean_ns"].astype("float64").where(runs["printed_as"] != "half_round_trip", runs["mean_ns"] / 2)
    shares = runs["n"].astype("float64") * printed_mean.astype("float64") / runs["duration_ns"].astype("float64")
    proving = [tool for tool in runs["tool"].unique() if find_parser(tool).fills_duration]
    return shares.where(runs["closed_loop"].fillna(False).astype(bool) & runs["tool"].isin(proving))


def printed_quantities(runs: pd.DataFrame) -> pd.DataFrame:
    """Check for each method whether the closed-loop shares prove what the tool printed; ``runs``: latency runs.

    One row per method and printed quantity: ``method``, ``printed_as``, number of ``runs``, ``share_low``,
    ``share_high``, ``verdict`` and ``run_ids`` (separated by blanks).
    """
    shares = closed_loop_shares(runs)
    rows = []
    stated = runs[runs["printed_as"].notna()]  # without it, there is nothing to check
    for (method, printed_as), group in grouped(stated, ["method", "printed_as"]):
        of_group = shares.loc[group.index].dropna()
        low, high = (of_group.min(), of_group.max()) if len(of_group) else (None, None)
        rows.append(
            (
                method,
                printed_as,
                len(group),
                low,
                high,
                _verdict(printed_as, of_group),
                " ".join(group.index.astype(str)),
            )
        )
    return pd.DataFrame(rows, columns=_COLUMNS)


def _verdict(printed_as: str, shares: pd.Series) -> str:
    if not len(shares):
        return "nothing: the label of the tool is followed"
    expected = 0.5 if printed_as == "half_round_trip" else 1.0
    agreeing = ((shares / expected - 1).abs() <= TOLERANCE).sum()
    name = "half round trips" if expected == 0.5 else "round trips"
    if agreeing == len(shares):
        return f"{name}, in {agreeing} of {len(shares)} runs"
    return f"{name} in {agreeing} of {len(shares)} runs; the rest is inconclusive"


def headline_numbers(study: Study, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the number that each tool prints first, for the first run of each path and method of ``runs``.

    One row per path, method and ``quantity`` (``"mean"`` of a latency, ``"goodput"`` of the receiver, else of the
    sender): the token as ``printed`` with its unit, the ``run_id``, and the ``line`` of the log.
    """
    metrics = study.metrics[study.metrics["metric"].isin(["rtt_mean", "throughput"]) & study.metrics["stream"].isna()]
    rank = metrics["side"].map({"receiver": 0, "sender": 1}).fillna(0).astype(int)
    metrics = metrics.assign(rank=rank).sort_values("rank", kind="stable").drop_duplicates("run_id").set_index("run_id")
    metrics = metrics.reindex(runs.index)
    frame = runs[["path", "method"]].assign(
        run_id=runs.index,
        quantity=metrics["metric"].map({"rtt_mean": "mean", "throughput": "goodput"}).to_numpy(),
        printed=(metrics["printed"] + " " + metrics["printed_unit"].fillna("")).to_numpy(),
        line=metrics["line"].to_numpy(),
    )
    return frame[frame["printed"].notna()].drop_duplicates(["path", "method", "quantity"])


def expected_bandwidth(study: Study) -> float | None:
    """Return the bandwidth in bit/s that the study's baseline expects of the VM; None if it names none or several."""
    limits = {
        expectation["low"]
        for expectation in study.expectations
        if expectation.get("metric") == "throughput" and expectation.get("unit") == "bit/s"
    }
    return float(limits.pop()) if len(limits) == 1 else None
