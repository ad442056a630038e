"""The whole distribution of a run: a band around it, a smooth percentile, and how far its tail lies from its middle.

The band holds everywhere at once (Dvoretzky, Kiefer & Wolfowitz, with Massart's constant): nothing may be read off a
curve of percentiles that leaves it. Between printed percentiles the run's own curve is known as a staircase only.

Sources: Massart, Annals of Probability 18:1269 (1990); Harrell & Davis, Biometrika 69:635 (1982); Maritz & Jarrett,
JASA 73:194 (1978); Zou & Donner, Stat. Med. 27:1693 (2008); David & Nagaraja, Order Statistics (2003), section 10.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from azlatency.stats.across_runs.tablebounds import PrintedTable
from azlatency.stats.result import Estimate, Result, Row
from azlatency.stats.within_run.dependence import dependence, series
from azlatency.stats.within_run.modes import modes
from azlatency.stats.within_run.quantiles import quantiles

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

BAND = "Dvoretzky-Kiefer-Wolfowitz band (Massart 1990) at the effective n"
SMOOTH = "Harrell & Davis 1982; t interval from the law of the order statistic (Maritz & Jarrett 1978), effective n"
RATIO = "MOVER on logarithms with the correlation of order statistics (Zou & Donner 2008; David & Nagaraja 2003)"
#: Beyond this level the Harrell-Davis estimate is a blend of the largest values.
HIGHEST = 0.95


def dkw(n: float, confidence: float = 0.95) -> float:
    """Half-width of the band: with ``confidence`` no share is off by more, anywhere. ``n`` independent values, > 0."""
    return math.sqrt(math.log(2 / (1 - confidence)) / (2 * n))


@dataclass(frozen=True, slots=True, eq=False)
class Band(Result):
    """Share of round trips up to each of ``values`` (k,): between ``low`` and ``high`` (k,), for all of them at once.

    Each pair holds from its value on up to the next. ``epsilon``: half-width of the band; ``n``, ``n_effective``:
    values, and independent ones.
    """

    values: np.ndarray
    low: np.ndarray
    high: np.ndarray
    epsilon: float | None
    n: int
    n_effective: float
    unit: str
    confidence: float
    scope: str = "within_run"
    method: str = BAND
    codes: tuple[str, ...] = ()
    labels: dict[str, Any] = field(default_factory=dict)

    ROW: ClassVar[Row] = ("epsilon", "n", "n_effective", "unit", "scope", "confidence", "method")

    def to_frame(self) -> pd.DataFrame:
        """One row a step."""
        import pandas as pd

        return pd.DataFrame({**self.labels, "value": self.values, "low": self.low, "high": self.high})

    def __str__(self) -> str:
        if self.epsilon is None:
            return f"distribution: no answer{self.noted}"
        return (
            f"distribution of {self.n} values: every share within ±{self.epsilon:.4g} at {100 * self.confidence:g} %, "
            f"{self.scope}{self.noted}"
        )


def distribution_band(
    data: Any,
    *,
    confidence: float = 0.95,
    independent: bool = False,
    unit: str = "ns",
    labels: dict[str, object] | None = None,
) -> Band:
    """The band around the distribution of one run.

    ``data``: values (n,) in the order of sending in ``unit`` (``inf``: lost), or a `PrintedTable`, whose staircase is
    widened by the band of independent packets (``within_run_floor``). Refused: ``no_values``, ``long_memory``.
    """
    import numpy as np

    own = dict(labels or {})
    codes: tuple[str, ...] = ()
    if isinstance(data, PrintedTable):
        n, effective, codes = data.n, float(data.n), ("within_run_floor",)
        values, ranks = np.array(data.values), np.array(data.ranks)
        least, most = ranks / n, np.append(ranks[1:] - 1, n) / n
    else:
        x, missing = series(data)
        n, codes = len(x), ("missing",) if missing else ()
        known = None if independent or n < 4 else dependence(x)
        effective = float(n) if known is None else n / known.rank_tau
        codes += () if known is None or not known.long_memory else ("long_memory",)
        values, counts = np.unique(x, return_counts=True)
        least = most = np.cumsum(counts) / max(n, 1)
    if not n or "long_memory" in codes:
        codes += () if n else ("no_values",)
        none = np.empty(0)
        return Band(none, none, none, None, n, effective, unit, confidence, codes=codes, labels=own)
    epsilon = dkw(effective, confidence)
    low, high = np.maximum(least - epsilon, 0.0), np.minimum(most + epsilon, 1.0)
    return Band(values, low, high, epsilon, n, effective, unit, confidence, codes=codes, labels=own)


def hd_weights(n: int, q: float) -> np.ndarray:
    """Weights (n,) of the order statistics in the Harrell-Davis estimate of the q-quantile."""
    import numpy as np
    from scipy.special import betainc

    return np.diff(betainc((n + 1) * q, (n + 1) * (1 - q), np.arange(n + 1) / n))


def harrell_davis(
    data: Any,
    q: float = 0.5,
    *,
    confidence: float = 0.95,
    independent: bool = False,
    unit: str = "ns",
    labels: dict[str, object] | None = None,
) -> Estimate:
    """A smooth percentile of one run (or, ``independent``, of run values): less jumpy than an order statistic.

    ``data`` (n,) in ``unit``, in the order of sending. Where its assumptions fail it is refused and
    `azlatency.quantiles` answers: ``bimodal`` (it would name a value in the gap, which no packet takes),
    ``smoothed_tail`` (beyond p95 it is a blend of the largest values), ``quantised``, ``loss_censored``, and what
    `azlatency.quantiles` refuses.
    """
    import numpy as np
    from scipy.special import stdtrit

    (plain,) = quantiles(data, q, confidence, independent=independent, unit=unit)
    x, _ = series(data)
    shape = modes(x, independent=independent)
    codes = [*plain.codes, *(("smoothed_tail",) if q > HIGHEST or q < 1 - HIGHEST else ())]
    codes += ["bimodal"] if shape.several else []
    codes += ["quantised"] if "quantised" in shape.codes else []
    codes += [] if np.isfinite(x).all() else ["loss_censored"]
    what, own = f"p{100 * q:g}, smoothed", {**(labels or {}), "q": q}
    fatal = set(codes) & {"no_values", "bimodal", "smoothed_tail", "quantised", "loss_censored", "tail_unresolved"}
    found = tuple(dict.fromkeys(codes))
    tau = float(plain.diagnostics.get("tau", 1.0))
    if fatal:
        return Estimate(what, None, None, None, unit, len(x), plain.scope, confidence, SMOOTH, found, own)
    ordered = np.sort(x)
    weights = hd_weights(len(x), q)
    estimate = float(weights @ ordered)
    low = high = None
    if plain.low is not None and plain.high is not None and len(x) >= 3:
        degrees = max(2 * len(x) / tau * min(q, 1 - q), 4)
        # The spread of the order statistic by its law (Maritz & Jarrett): the jackknife covers 89-92 % at n = 50.
        error = math.sqrt(float(weights @ (ordered - estimate) ** 2))
        half = float(stdtrit(degrees, (1 + confidence) / 2)) * error * math.sqrt(tau)
        low, high = estimate - half, estimate + half
    return Estimate(
        what, estimate, low, high, unit, len(x), "across_runs" if independent else "within_run", confidence, SMOOTH,
        found, own, len(x) / tau, (*plain.assumptions, "one mode"),
        {"tau": tau, "order_statistic": plain.estimate or 0.0},
    )  # fmt: skip


def quantile_ratio(
    data: Any,
    upper: float = 0.99,
    lower: float = 0.5,
    *,
    confidence: float = 0.95,
    lost: int = 0,
    independent: bool = False,
    labels: dict[str, object] | None = None,
) -> Estimate:
    """How many times the middle the tail is: p99 over p50 of one run, with an interval.

    ``data`` (n,): positive values in the order of sending, any unit; ``lost`` as in `azlatency.quantiles`, whose
    refusals it inherits. Both percentiles are of one sample, so their ends are joined with the correlation of two order
    statistics, sqrt(l (1 - u) / (u (1 - l))). Raises `ValueError` unless 0 < lower < upper < 1.
    """
    if not 0 < lower < upper < 1:
        raise ValueError(f"upper = {upper}, lower = {lower}: need 0 < lower < upper < 1")
    bottom, top = quantiles(data, (lower, upper), confidence, lost=lost, independent=independent)
    what = f"p{100 * upper:g} over p{100 * lower:g}"
    codes = tuple(dict.fromkeys([*top.codes, *bottom.codes]))
    own: dict[str, Any] = {**(labels or {}), "upper": upper, "lower": lower}
    positive = bottom.estimate is not None and bottom.estimate > 0
    if top.estimate is None or bottom.estimate is None or not positive:
        codes += () if positive or bottom.estimate is None else ("not_positive",)
        return Estimate(what, None, None, None, "ratio", top.n, "within_run", confidence, RATIO, codes, own)
    correlation = math.sqrt(lower * (1 - upper) / (upper * (1 - lower)))

    def apart(above: float | None, below: float | None) -> float | None:
        """Distance of an end of the ratio on the logarithmic scale, from an end of either percentile."""
        if above is None or below is None or min(above, below) <= 0:
            return None
        first, second = math.log(above / top.estimate), math.log(bottom.estimate / below)  # type: ignore[operator]
        return math.sqrt(max(first**2 + second**2 - 2 * correlation * abs(first * second), 0.0))

    point = top.estimate / bottom.estimate
    down, up = apart(top.low, bottom.high), apart(top.high, bottom.low)
    return Estimate(
        what, point, None if down is None else point * math.exp(-down), None if up is None else point * math.exp(up),
        "ratio", top.n, "within_run", confidence, RATIO, codes, own, top.n_effective, top.assumptions,
        {"correlation": correlation, "upper": top.estimate, "lower": bottom.estimate},
    )  # fmt: skip
