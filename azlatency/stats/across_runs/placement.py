"""What each placement measured, and pairs of measurements that differ in one thing: placement, VM, network, message.

Logs and numbers that stand only in a text are never mixed: a number without its log has no runs to compare.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from azlatency.stats.across_runs.comparison import compare, with_run_ids
from azlatency.stats.across_runs.means import typical_run
from azlatency.stats.result import Comparison, Estimate

if TYPE_CHECKING:
    import pandas as pd

    from azlatency.studies.store import Study

Origin = Literal["log", "reported"]
Factor = Literal["placement", "vm_size", "accelerated_networking", "message_bytes"]
FACTORS: tuple[Factor, ...] = ("placement", "vm_size", "accelerated_networking", "message_bytes")
#: From near to far, and what a step is counted from: the first of these that was measured.
NEAR_TO_FAR = (
    "same_host", "proximity_placement_group", "availability_set", "same_zone", "cross_zone", "cross_region",
)  # fmt: skip
REFERENCES = (
    "same_zone", "availability_set", "proximity_placement_group", "same_host", "cross_zone", "cross_region",
)  # fmt: skip
METHODS_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One path measured by one method under known circumstances; ``None`` where nobody wrote a circumstance down.

    ``values``: one round trip in ns a run, the run's ``statistic``; of a ``reported`` number its lower and upper value.
    ``runs``: how many; ``None`` where the text does not say. ``typical``: the path across runs (log only).
    """

    origin: Origin
    path: str
    method: str
    kind: str
    placement: str | None
    vm_size: str | None
    accelerated_networking: bool | None
    message_bytes: int | None
    statistic: str
    values: tuple[float, ...]
    runs: int | None
    typical: Estimate | None = None
    run_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Two conditions that differ in one ``factor``, ``base`` and ``other``.

    ``ratio_low`` and ``ratio_high``: the extremes of other over base as measured, no interval. ``comparison`` is that
    of the runs, ``None`` for reported numbers. ``unsaid``: circumstances that are known of one side only.
    """

    factor: Factor
    base: Condition
    other: Condition
    ratio_low: float
    ratio_high: float
    comparison: Comparison | None
    unsaid: tuple[Factor, ...]

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The runs of both conditions."""
        return (*self.base.run_ids, *self.other.run_ids)


def conditions(study: Study, runs: pd.DataFrame, *, confidence: float = 0.95) -> list[Condition]:
    """Every condition of a study, near to far, logs before reported numbers.

    ``runs``: `runs.latency`. A run gives its median where all runs of its method have one, else its
    mean. Reported means enter where they are of a whole measurement, not of a segment.
    """
    found = [*_logged(runs, confidence), *_reported(study.reported)]
    place = {name: index for index, name in enumerate(NEAR_TO_FAR)}
    return sorted(found, key=lambda each: (each.origin == "reported", place.get(each.placement or "", len(place))))


def _logged(runs: pd.DataFrame, confidence: float) -> Iterable[Condition]:
    whole = runs.groupby("method")["median_ns"].apply(lambda each: each.notna().all()) if len(runs) else {}
    for (path, method), group in runs.groupby(["path", "method"], sort=False):
        first = group.iloc[0]
        statistic = "median" if whole[method] else "mean"
        # A run that lost most of its probes has an infinite median: no place on an axis, and no interval with it.
        values = tuple(float(each) for each in group[f"{statistic}_ns"].dropna() if math.isfinite(each))
        if not values:
            continue
        kind = " ".join(str(first[name]) for name in ("tool", "test", "protocol") if _known(first[name]) is not None)
        size, fast = _known(first["message_bytes"]), _known(first["accelerated_networking"])
        typical = typical_run(group, value=f"{statistic}_ns", confidence=confidence, what=f"{path}, {method}")
        yield Condition(
            origin="log",
            path=str(path),
            method=str(method),
            kind=kind,
            placement=_known(first["placement"]),
            vm_size=_known(first["vm_size"]),
            accelerated_networking=None if fast is None else bool(fast),
            message_bytes=None if size is None else int(size),
            statistic=statistic,
            values=values,
            runs=len(values),
            typical=typical,
            run_ids=typical.run_ids,
        )


def _reported(reported: pd.DataFrame) -> Iterable[Condition]:
    if not len(reported):
        return
    for _, row in reported[reported["metric"] == "rtt_mean"].iterrows():
        low, high = _known(row["value_low"]), _known(row["value_high"])
        if _known(row["segment"]) is not None or low is None or high is None:
            continue
        runs = _known(row["repeats"])
        fast = {"true": True, "false": False}.get(str(row["accelerated_networking"]).lower())
        yield Condition(
            origin="reported",
            path=str(row["scenario"]),
            method=str(row["tool"]),
            kind=str(row["tool"]),
            placement=_known(row["placement"]),
            vm_size=_known(row["vm_size"]),
            accelerated_networking=fast,
            message_bytes=None,
            statistic="mean",
            values=(float(low), float(high)),
            runs=None if runs is None else int(runs),
        )


def _known(value: Any) -> Any:
    """The value, ``None`` where it is missing or an empty text."""
    import pandas as pd

    return None if value is None or pd.isna(value) or value == "" else value


def of_widest_methods(found: Sequence[Condition], most: int = METHODS_SHOWN) -> list[Condition]:
    """Conditions of the ``most`` methods that saw most placements (then most paths), and all reported ones."""
    logged = [each for each in found if each.origin == "log"]
    methods = list(dict.fromkeys(each.method for each in logged))

    def breadth(method: str) -> tuple[int, int]:
        own = [each for each in logged if each.method == method]
        return -len({each.placement for each in own}), -len(own)

    kept = set(sorted(methods, key=breadth)[:most])
    return [each for each in found if each.origin == "reported" or each.method in kept]


def changes(
    found: Sequence[Condition], factor: Factor, *, margin: float = 0.05, confidence: float = 0.95
) -> list[Change]:
    """Pairs of conditions that differ in ``factor`` alone, as far as is known; logs and reported numbers apart.

    Placement: every other placement against the nearest reference of the same method (`REFERENCES`), its first path.
    The other factors: each level against the one before on the same path. A circumstance known of one side only is
    named in ``unsaid``; where both sides tell different things there is no pair.
    """
    result = []
    for origin in ("log", "reported"):
        own = [each for each in found if each.origin == origin and getattr(each, factor) is not None]
        for base, other in _pairs(own, factor):
            ratio_low, ratio_high = min(other.values) / max(base.values), max(other.values) / min(base.values)
            comparison = None
            if origin == "log":
                what = f"{other.path} against {base.path}, {other.method}"
                comparison = compare(
                    other.values, base.values, margin=margin, confidence=confidence, unit="ns", what=what
                )
                comparison = with_run_ids(comparison, (*other.run_ids, *base.run_ids))
            unsaid = tuple(name for name in FACTORS if (getattr(base, name) is None) != (getattr(other, name) is None))
            result.append(
                Change(
                    factor=factor,
                    base=base,
                    other=other,
                    ratio_low=ratio_low,
                    ratio_high=ratio_high,
                    comparison=comparison,
                    unsaid=unsaid,
                )
            )
    return result


def _pairs(own: Sequence[Condition], factor: Factor) -> Iterable[tuple[Condition, Condition]]:
    levels = list(dict.fromkeys(getattr(each, factor) for each in own))
    keys: dict[str, Any] = {"placement": REFERENCES.index, "vm_size": _by_number}
    levels.sort(key=keys.get(factor))
    place = {level: index for index, level in enumerate(levels)}
    for other in own:
        lower = [each for each in own if place[getattr(each, factor)] < place[getattr(other, factor)]]
        lower = [each for each in lower if _alike(each, other, factor)]
        if lower:
            # Placement: against the reference itself; other factors: against the nearest level below.
            sign = 1 if factor == "placement" else -1
            yield min(lower, key=lambda each: sign * place[getattr(each, factor)]), other


def _by_number(vm_size: str) -> tuple[int, str]:
    """Sizes by the first number in their name, that of the virtual processors."""
    found = re.search(r"\d+", vm_size)
    return (int(found.group()) if found else 0), vm_size


def _alike(one: Condition, two: Condition, factor: Factor) -> bool:
    if (one.kind, one.statistic) != (two.kind, two.statistic):
        return False
    if one.origin == "log" and factor != "placement" and one.path != two.path:
        return False
    rest = [(getattr(one, name), getattr(two, name)) for name in FACTORS if name != factor]
    return all(None in (first, second) or first == second for first, second in rest)


def contradicting(found: Sequence[Change]) -> list[tuple[Change, Change]]:
    """Pairs of changes of the same two paths that point in opposite directions, whatever the runs may be."""
    result = []
    for index, one in enumerate(found):
        for two in found[index + 1 :]:
            same = (one.base.path, one.other.path) == (two.base.path, two.other.path)
            if same and (one.ratio_high < 1 < two.ratio_low or two.ratio_high < 1 < one.ratio_low):
                result.append((one, two))
    return result
