"""Quantiles of one run from its samples, with intervals that account for the dependence of packets.

The interval of a quantile is a pair of order statistics. Their ranks come from a Wilson interval at the effective
sample size of the indicator 1{x <= q} (Woodruff, JASA 47:635, 1952; Heidelberger & Lewis, Operations Research 32:185,
1984). On dependent series it covers 94-95.5 %, the ranks of independent data cover 27-55 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

import pandas as pd

from azlatency.logs.schema import refuse_foreign
from azlatency.stats.arrays import FloatArray, Values, to_array
from azlatency.stats.rows import QUANTILES, Row, joined
from azlatency.stats.within_run import large_runs
from azlatency.stats.within_run.one_run import Options, sort_run
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.round_trips import latency
from azlatency.studies.runs.run_table import client_runs
from azlatency.studies.runs.samples import bounds, counted, sample_count
from azlatency.studies.store.study import Study

#: Levels that are estimated by default.
LEVELS = (0.5, 0.9, 0.99, 0.999, 0.9999)


def quantiles(
    data: Values | Study,
    q: float | Iterable[float] = LEVELS,
    confidence: float = 0.95,
    *,
    lost: int = 0,
    independent: bool = False,
    unit: str = "ns",
    resolution: float = 0.0,
    labels: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Estimate quantiles within each run, with intervals that account for the dependence of packets.

    Parameters
    ----------
    data : array_like, Series, DataFrame or Study
        Either one run's values, shape (n,), in ``unit`` and in the order of sending, where NaN is missing and ``inf``
        is a lost probe; or samples (columns ``run_id`` and ``rtt_ns``) of any number of runs, in ns, where warm-up and
        duplicates are left out and interval-censored values use ``low_ns`` and ``high_ns``. A study stands for its
        samples.
    q : float or iterable of float
        Levels, between 0 and 1.
    confidence : float
        Level of the intervals, between 0 and 1.
    lost : int
        Lost probes whose position is unknown. Lost probes are right-censored: they count as infinite.
    independent : bool
        Use exact binomial ranks, for values that are independent by design.
    unit : str
        Unit of an array's values.
    resolution : float
        Step of the printed values. Half a step is added at each end if the interval is not much wider than the step.
    labels : DataFrame, optional
        Runs to use, indexed by run_id; its columns become labels of the estimates.

    Returns
    -------
    DataFrame
        One row per run and level: the labels, ``q``, ``estimate`` with ``low`` and ``high`` in ``unit``, ``n``
        observations, ``n_effective`` independent ones, ``flags``, ``run_ids``.

        There is no estimate with ``no_values``, ``loss_censored`` (more probes were
        lost than lie above the quantile) or less than one observation above the quantile (``tail_unresolved``). The
        interval is missing with ``few_clusters`` (a dependent run with fewer than 30 effective values) and
        ``long_memory``; its outer end is missing with fewer than ten effective observations beyond
        (``tail_unresolved``). It may be too short (``few_effective``) with fewer than 125 beyond a percentile of
        dependent packets, in a dependent run with fewer than 45 effective values, and if the dependence lasts longer
        than neighbouring packets let expect.

    Raises
    ------
    ValueError
        If a level lies outside (0, 1), the data have two dimensions, or a frame has no ``run_id`` and ``rtt_ns``.
    LogError
        If a study has more than 5 million samples and DuckDB is not installed.

    Notes
    -----
    The ranks come from Wilson's interval at the effective sample size of 1{x <= q} (Woodruff, JASA 47:635, 1952;
    Heidelberger & Lewis, Operations Research 32:185, 1984), with the autocorrelation time of Geyer (1992).

    A run of a study with more than 5 million samples is not loaded: DuckDB (the extra ``scale``) counts its values.
    The estimates are the same order statistics; the autocorrelation time is measured with the means of batches of
    consecutive packets.

    Examples
    --------
    >>> import numpy as np
    >>> import azlatency as az
    >>> rtt = np.random.default_rng(1).lognormal(0, 0.2, 40_000)
    >>> print(az.say(az.quantiles(200 * rtt, 0.99, unit="µs")))
    p99: 318 µs, 95 % CI 316–321 µs, n = 40,000 in one run
    """
    levels = [float(q)] if isinstance(q, int | float) else [float(level) for level in q]
    if any(not 0 < level < 1 for level in levels) or not 0 < confidence < 1:
        raise ValueError(f"q = {levels}, confidence = {confidence}: all must lie between 0 and 1")
    options = Options(confidence=confidence, independent=independent, resolution=resolution, unit=unit)
    if hasattr(type(data), "samples"):  # asking the study itself would load them
        study = cast("Study", data)
        if isinstance(study, Study) and study.is_stored and sample_count(study) > large_runs.LARGE:
            return _frame(_of_large_study(study, levels, options, labels))
        labels = latency(study)[["path", "method"]] if labels is None else labels
        data = study.samples
    refuse_foreign(data)
    if hasattr(data, "columns"):
        return _frame(_of_frame(data, levels, options, labels))
    x, missing = to_array(data)
    return _frame(_of_run(x, levels, options, lost=lost, missing=missing))


def _frame(rows: list[Row]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=None if rows else QUANTILES)


def _of_run(x: FloatArray, levels: Sequence[float], options: Options, *, lost: int = 0, missing: int = 0) -> list[Row]:
    """Estimate the quantiles of one run; the values are sorted and checked for dependence once."""
    run = sort_run(x, options, lost=lost, missing=missing)
    estimates = {level: run.estimate(level) for level in set(levels)}
    return [estimates[level] for level in levels]


def _of_frame(
    samples: pd.DataFrame, levels: Sequence[float], options: Options, labels: pd.DataFrame | None
) -> list[Row]:
    """Estimate the quantiles of each run of a frame."""
    if not {"run_id", "rtt_ns"} <= set(samples.columns):
        columns = ", ".join(map(str, samples.columns))
        raise ValueError(f"samples need the columns run_id and rtt_ns; the frame has {columns}")
    groups = {str(run_id): group for run_id, group in grouped(counted(samples), "run_id")}
    rows: list[Row] = []
    for run_id in groups if labels is None else map(str, labels.index):
        if run_id in groups:
            low, high = bounds(groups[run_id])
            of_run = _labelled(options, run_id, labels)
            of_low = _of_run(low, levels, of_run)
            # The same array twice if no value is interval-censored.
            rows += of_low if low is high else _joined(of_low, _of_run(high, levels, of_run))
    return rows


def _of_large_study(study: Study, levels: Sequence[float], options: Options, labels: pd.DataFrame | None) -> list[Row]:
    """Estimate the quantiles of each run of a study from its files: long runs alone, others together."""
    labels = client_runs(study)[["path", "method"]] if labels is None else labels
    study.verify("samples")
    results: list[Row] = []
    with large_runs.connect(study.folder / "samples") as connection:
        sizes = dict(connection.execute("SELECT run_id, count(*) FROM samples GROUP BY run_id").fetchall())
        for group in _groups(map(str, labels.index), sizes):
            if sizes.get(group[0], 0) > large_runs.LARGE:
                run_options = _labelled(options, group[0], labels)
                lower, upper = large_runs.estimate_large_run(connection, group[0], levels, run_options)
                results += upper if lower is upper else _joined(lower, upper)
            else:
                samples = connection.execute("SELECT * FROM samples WHERE run_id IN (SELECT unnest(?))", [group])
                results += _of_frame(samples.df(), levels, options, labels.loc[group])
    return results


def _groups(run_ids: Iterable[str], sizes: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield groups of consecutive runs whose samples fit into memory together; a long run is a group of its own."""
    group: list[str] = []
    for run_id in run_ids:
        if group and sum(sizes.get(name, 0) for name in [*group, run_id]) > large_runs.LARGE:
            yield group
            group = []
        group.append(run_id)
    if group:
        yield group


def _labelled(options: Options, run_id: str, labels: pd.DataFrame | None) -> Options:
    run_labels = {"run_id": run_id} | ({} if labels is None else dict(labels.loc[run_id]))
    return replace(options, unit="ns", labels=run_labels)


def _joined(of_low: Sequence[Row], of_high: Sequence[Row]) -> list[Row]:
    """Join the quantiles of the lower and of the upper bounds of interval-censored values.

    An order statistic of the unknown values lies between the same order statistics of ``low`` and of ``high``. The
    interval joins the lower end of the one with the upper end of the other; the estimate is the middle.
    """
    rows = []
    for lower, upper in zip(of_low, of_high, strict=True):
        middle = (lower["estimate"] + upper["estimate"]) / 2
        flags = joined(lower["flags"].split(), upper["flags"].split(), ["quantised"])
        rows.append(upper | {"estimate": middle, "low": lower["low"], "flags": flags})
    return rows
