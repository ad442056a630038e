"""Whole studies in time: every run with samples, the segments that a text reports, the intervals of every stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from azlatency.stats.result import Estimate
from azlatency.stats.within_run.stability import (
    EventTest,
    Lifetime,
    Stability,
    Throttling,
    Trend,
    clock_steps,
    event_test,
    interval_mean,
    lifetimes,
    stability,
    throttling,
    trend,
)
from azlatency.studies.samples import numbered_by_run, round_trips

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from azlatency.studies.store import Study

#: A run that ended so was cut off; any other outlived its test.
CUT_OFF = ("failed", "truncated")
_NS = 1e9


@dataclass(frozen=True, slots=True)
class RunInTime:
    """One run with samples: send times (s, ``None`` where the log has none) and round trips (ns, ``inf`` if lost).

    ``jitter``: median difference of neighbouring round trips in ns, ``None`` for fewer than two; ``steps``: packets at
    which the clock was set; ``seconds``: how long the run lasted.
    """

    run_id: str
    path: str
    method: str
    status: str
    sent: np.ndarray | None
    rtt: np.ndarray
    lost: int
    jitter: float | None
    steps: int
    seconds: float | None
    stability: Stability
    drift: Trend


def runs_in_time(
    study: Study, runs: pd.DataFrame, *, block_ns: float = 60e9, margin: float = 0.05, confidence: float = 0.95
) -> list[RunInTime]:
    """Every run of ``runs`` (`studies.runs`) that left samples, in their order; warm-up and duplicates left out."""
    import numpy as np
    import pandas as pd

    found = []
    for run_id, group in numbered_by_run(study, runs).items():
        run = runs.loc[run_id]
        rtt = round_trips(group)
        timed = bool(group["sent_ns"].notna().all())
        sent = group["sent_ns"].to_numpy(dtype="float64") if timed else None
        answered = rtt[np.isfinite(rtt)]
        lasted = run["duration_ns"]
        found.append(
            RunInTime(
                run_id, str(run["path"]), str(run["method"]), str(run["status"]),
                None if sent is None else sent / _NS, rtt, len(rtt) - len(answered),
                float(np.median(np.abs(np.diff(answered)))) if len(answered) > 1 else None,
                len(clock_steps(sent, rtt)) if sent is not None else 0,
                None if pd.isna(lasted) else float(lasted) / _NS,
                stability(rtt, sent, block_ns=block_ns, margin=margin, confidence=confidence),
                trend(rtt, confidence=confidence),
            )
        )  # fmt: skip
    return found


def connections(found: Sequence[RunInTime], *, confidence: float = 0.95) -> Lifetime:
    """How long connections lived: runs cut off are losses, runs that ended as planned are censored."""
    known = [each for each in found if each.seconds is not None and "TCP" in each.method]
    seconds = [each.seconds or 0.0 for each in known]
    life = lifetimes(seconds, [each.status in CUT_OFF for each in known], confidence=confidence)
    return replace(life, run_ids=tuple(each.run_id for each in known))


@dataclass(frozen=True, slots=True)
class Segments:
    """Means of consecutive segments of one run as a text reports them, oldest first, and what a test makes of them."""

    path: str
    names: tuple[str, ...]
    values: tuple[float, ...]
    event: EventTest
    drift: Trend


def reported_segments(reported: pd.DataFrame, *, confidence: float = 0.95) -> list[Segments]:
    """The reported segment means of each path, in the order of the text, with the event test on the last of them."""
    if not len(reported):
        return []
    own = reported[(reported["metric"] == "rtt_mean") & reported["segment"].notna() & (reported["segment"] != "")]
    found = []
    for path, group in own.groupby("scenario", sort=False):
        values = tuple(float(each) for each in group["value_low"])
        found.append(
            Segments(
                str(path), tuple(map(str, group["segment"])), values, event_test(values, statistic="mean"),
                trend(values, confidence=confidence),
            )
        )  # fmt: skip
    return found


@dataclass(frozen=True, slots=True)
class Ends:
    """What a text says of the end of each connection: ``gaps`` in s to the end of the first one."""

    paths: tuple[str, ...]
    printed: tuple[str, ...]
    gaps: tuple[float, ...]
    lasted: tuple[str, ...]

    @property
    def together(self) -> int:
        """Neighbouring ends within a minute of each other: hardly independent events."""
        return sum(later - earlier < 60 for earlier, later in zip(self.gaps, self.gaps[1:], strict=False))


def reported_ends(reported: pd.DataFrame) -> Ends | None:
    """When connections broke, as a text says it, in the order of time; ``None`` where no text does."""
    import pandas as pd

    if not len(reported):
        return None
    ends = reported[reported["metric"] == "failed_at"]
    if not len(ends):
        return None
    times = pd.to_datetime(ends["printed"])
    order = times.sort_values().index
    gaps = (times.loc[order] - times.min()).dt.total_seconds()
    lasted = reported[reported["metric"] == "duration"].drop_duplicates("scenario").set_index("scenario")["printed"]
    paths = [str(each) for each in ends.loc[order, "scenario"]]
    printed = tuple(str(each) for each in ends.loc[order, "printed"])
    return Ends(tuple(paths), printed, tuple(map(float, gaps)), tuple(str(lasted.get(each, "")) for each in paths))


@dataclass(frozen=True, slots=True)
class Rate:
    """One stream in time: its mean rate with an interval, the spread of its intervals, and whether it was throttled."""

    run_id: str
    path: str
    method: str
    intervals: int
    seconds: float
    mean: Estimate
    spread: float | None
    throttled: Throttling


def rates_in_time(intervals: pd.DataFrame, runs: pd.DataFrame, *, confidence: float = 0.95) -> list[Rate]:
    """Every stream with reporting intervals, omitted ones left out. ``runs``: `azlatency.studies.runs.throughput`.

    ``spread``: standard deviation of the intervals' rates over their mean. Where both sides report, the receiver's.
    """
    kept = intervals[
        intervals["stream"].isna() & intervals["throughput"].notna() & intervals["run_id"].isin(runs.index)
    ]
    kept = kept[~kept["omitted"].fillna(False).astype(bool)]
    found = []
    for run_id, group in kept.groupby("run_id", sort=False):
        sides = set(group["side"].dropna())
        own = group[group["side"] == "receiver"] if "receiver" in sides else group
        rates = own["throughput"].to_numpy(dtype="float64")
        seconds = ((own["end_ns"] - own["start_ns"]) / _NS).to_numpy(dtype="float64")
        run = runs.loc[str(run_id)]
        spread = float(rates.std(ddof=1) / rates.mean()) if len(rates) > 1 and rates.mean() > 0 else None
        found.append(
            Rate(
                str(run_id), str(run["path"]), str(run["method"]), len(rates), float(seconds.sum()),
                interval_mean(rates, list(seconds), confidence=confidence), spread,
                throttling(rates, float(seconds.mean())),
            )
        )  # fmt: skip
    return found


def spread_of_reported(reported: pd.DataFrame) -> list[dict[str, Any]]:
    """Per path the reported minimum, mean, percentiles and maximum (ns) of a whole run, keyed by their names."""
    if not len(reported) or "rtt_mean" not in set(reported["metric"]):
        return []
    names = {"rtt_min": "min", "rtt_mean": "mean", "rtt_max": "max"}
    found: dict[str, dict[str, Any]] = {}
    for _, row in reported[reported["segment"].isna() | (reported["segment"] == "")].iterrows():
        name = f"p{100 * float(row['q']):g}" if row["metric"] == "rtt" else names.get(row["metric"])
        if name:
            found.setdefault(str(row["scenario"]), {"path": str(row["scenario"])})[name] = float(row["value_low"])
    return [each for each in found.values() if "p99" in each]
