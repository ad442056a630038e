"""The numbers of jobs whose form is known (`job_forms`), which become rows of the tables as columns.

Only jobs that need no event are written in this way. The others are read again number by number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import add, itemgetter, le, mul
from typing import TYPE_CHECKING, Any, NamedTuple

from azlatency.logs.parsers.fio.numbers import bounds_of, percentile, quantile_ranks, rate_conflicts
from azlatency.logs.record import Recorder
from azlatency.logs.rows import Repeating
from azlatency.logs.units import Quantity, quantity, scale

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from azlatency.logs.parsers.fio.job_forms import JobText
    from azlatency.logs.parsers.fio.run import Job

    Integers = NDArray[np.int64]

MILLISECOND = round(scale("ms"))
#: A standard deviation that is at most this part of the range is possible for any number of values.
_SPREAD = 0.5
#: Picks some of several items.
Pick = Callable[[Sequence[Any]], Sequence[Any]]
#: Name, utilisation and line of a disk.
Disk = tuple[str, Quantity, int]


class Place(NamedTuple):
    """Where a number is: its index, the part of the job between two `Gap`, and how far below its start."""

    token: int
    part: int
    below: int


def picker(indexes: Sequence[int]) -> Pick:
    """Return what picks the items with these indexes."""
    return itemgetter(*indexes) if len(indexes) > 1 else lambda items: tuple(items[index] for index in indexes)


class Cells:
    """Numbers that become rows of one table: their places, and the columns that are equal in all jobs."""

    def __init__(self, places: Sequence[Place], **columns: list[Any]) -> None:
        self.columns = columns
        self.tokens = picker([place.token for place in places])
        self._parts, self._below = picker([place.part for place in places]), [place.below for place in places]

    def lines(self, starts: Sequence[int]) -> list[int]:
        """Return the lines, from those at which the parts start."""
        return list(map(add, self._parts(starts), self._below))


class Chain(NamedTuple):
    """The percentiles of one latency in ascending order, the metrics that are their limits, and the token of n."""

    quantiles: slice
    low: int | None
    high: int | None
    n: int | None


class Flow(NamedTuple):
    """A direction with I/O: its runtime (a token), and its bandwidth, size and IOPS (metrics)."""

    name: str
    runtime: int | None
    rate: int | None
    size: int | None
    iops: int | None


class Bins(NamedTuple):
    """The middles of the buckets of a histogram, and their counts; each is in a line of its own."""

    keys: Integers
    counts: Integers
    total: int


class Gap(NamedTuple):
    """Options or bins, which are not part of the form of a job: where they are, and how many lines.

    Of bins, these are the numbers, with commas between them.
    """

    start: int
    stop: int
    lines: int
    numbers: bytes = b""


@dataclass(kw_only=True)
class Template:
    """What the numbers of a job become if its form is known; for the indexes see `Place`.

    Attributes
    ----------
    metrics, quantiles : Cells
        The rows.
    factors : list of float
        Factors of the metrics, which are powers of two.
    converted : list of tuple
        The metrics whose factor is none, with their units.
    halves : list of float or None
        Half-widths of metrics that are printed without decimals.
    pointed : list of tuple
        The metrics with decimals, with their half-widths by the number of decimals.
    ordered : tuple of callable
        They pick metrics, and others that must not be smaller.
    spreads : list of tuple of int
        Standard deviations with minimum and maximum.
    histograms : list of tuple
        Metric, stream, the index of the gap with the bins, and the token of their sum.
    head : dict
        Whole numbers at the beginning of the job, as tokens.
    parts : list of int
        The number of lines from one start of a part to its end.
    marks : list of bytes
        The kinds of the lines of each part, including those in which gaps begin and end.
    """

    dialect: str
    metrics: Cells
    factors: list[float]
    converted: list[tuple[int, str]]
    halves: list[float | None]
    pointed: list[tuple[int, list[float]]]
    quantiles: Cells
    chains: list[Chain]
    ordered: tuple[Pick, Pick]
    spreads: list[tuple[int, int, int]]
    flows: list[Flow]
    histograms: list[tuple[str, str, int, int | None]]
    head: dict[str, int]
    parts: list[int]
    marks: list[bytes]


class JobColumns:
    """The numbers of one job.

    Parameters
    ----------
    template : Template
        What they become.
    text : JobText
        Its text.
    line : int
        The first line of the job.
    read : callable
        Reads the job number by number.
    """

    def __init__(self, template: Template, text: JobText, line: int, read: Callable[[], Job]) -> None:
        self.template, self.bins, self.read, self.all_tokens = template, text.bins, read, text.tokens
        #: The runtimes of the directions, in ns.
        self.runtimes = {
            flow.name: int(text.tokens[flow.runtime]) * MILLISECOND
            for flow in template.flows
            if flow.runtime is not None
        }
        steps = (lines + gap.lines for lines, gap in zip(template.parts, text.gaps, strict=False))
        self.starts = list(accumulate(steps, initial=line))
        self.tokens = template.metrics.tokens(text.tokens)
        self.values = list(map(mul, map(float, self.tokens), template.factors))
        for index, unit in template.converted:
            self.values[index] = quantity(self.tokens[index], unit).value
        self.halves = list(template.halves)
        for index, halves in template.pointed:
            self.halves[index] = halves[len(self.tokens[index].partition(".")[2])]
        self.printed = template.quantiles.tokens(text.tokens)
        quantiles = list(map(percentile, self.printed, template.quantiles.columns["printed_unit"]))
        self.quantiles = [quantile.value for quantile in quantiles]
        self.widths = [quantile.resolution for quantile in quantiles]

    def _metric(self, index: int | None) -> Quantity | None:
        if index is None:
            return None
        columns = self.template.metrics.columns
        unit, shown = columns["unit"][index], columns["printed_unit"][index]
        return Quantity(self.values[index], unit, self.tokens[index], self.halves[index], shown)

    def agree(self, block_bytes: int | None) -> bool:
        """Return whether no number contradicts another one; False if only their rounding explains a difference."""
        template, values = self.template, self.values
        small, large = template.ordered
        if not all(map(le, small(values), large(values))):
            return False
        for sd, low, high in template.spreads:
            if values[sd] > _SPREAD * (values[high] - values[low]):
                return False
        for flow in template.flows:
            rate, size, iops = map(self._metric, flow[2:])
            if next(rate_conflicts(rate, size, iops, self.runtimes.get(flow.name), block_bytes), None) is not None:
                return False
        return all(map(self._rises, template.chains))

    def _rises(self, limits: Chain) -> bool:
        """Return whether percentiles rise between their limits, within the half-widths of the first and the last."""
        found, widths = self.quantiles[limits.quantiles], self.widths[limits.quantiles]
        low = found[0] if limits.low is None else self.values[limits.low]
        high = found[-1] if limits.high is None else self.values[limits.high]
        within = low <= found[0] + (widths[0] or 0) and found[-1] - (widths[-1] or 0) <= high
        return within and all(map(le, found, found[1:]))


class JobRows:
    """Rows of jobs that follow each other, which are written together.

    Parameters
    ----------
    recorder : Recorder
        Receives the rows.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._run_ids: list[str] = []
        self._jobs: list[JobColumns] = []
        self._disks: Sequence[Disk] = ()

    def add(self, run_id: str, job: JobColumns, disks: Sequence[Disk]) -> None:
        """Add the rows of a run, those of the disks at its end."""
        if self._jobs and (job.template is not self._jobs[0].template or disks is not self._disks):
            self.write()
        self._run_ids.append(run_id)
        self._jobs.append(job)
        self._disks = disks

    def write(self) -> None:
        """Write the rows of the runs that were added, which have the same template and disks."""
        if not self._jobs:
            return
        template = self._jobs[0].template
        self._write_metrics(template.metrics)
        if template.chains:
            self._write_quantiles(template)
        if template.histograms:
            self._write_buckets(template)
        self._run_ids, self._jobs = [], []

    def _write(self, table: str, shared: dict[str, list[Any]], **columns: list[Any]) -> None:
        """Write rows, with the columns that are equal in all runs."""
        repeated = {name: Repeating(values) for name, values in shared.items()}
        run_ids = Repeating(self._run_ids, each=True)
        self._recorder.add_columns(table, len(columns["line"]), run_id=run_ids, **repeated, **columns)

    def _write_metrics(self, cells: Cells) -> None:
        jobs, disks = self._jobs, self._disks
        shown = {"metric": "utilisation", "side": "device", "scope": "host"}
        rows = [
            {**shown, "stream": device, "unit": value.unit, "printed_unit": value.printed_unit}
            for device, value, _ in disks
        ]
        self._write(
            "metrics",
            {name: values + [row[name] for row in rows] for name, values in cells.columns.items()},
            value=_chained([job.values for job in jobs], [value.value for _, value, _ in disks]),
            printed=_chained([job.tokens for job in jobs], [value.printed for _, value, _ in disks]),
            resolution=_chained([job.halves for job in jobs], [value.resolution for _, value, _ in disks]),
            line=_chained([cells.lines(job.starts) for job in jobs], [line for _, _, line in disks]),
        )

    def _write_quantiles(self, template: Template) -> None:
        jobs, cells, shares = self._jobs, template.quantiles, template.quantiles.columns["q"]
        numbers: list[int | None] = []
        ranks: list[int | None] = []
        beyond: list[float | None] = []
        resolved: list[bool | None] = []
        for job in jobs:
            for part, _, _, token in template.chains:
                unknown = [None] * (part.stop - part.start)
                n = None if token is None else int(job.all_tokens[token])
                found = None if n is None else quantile_ranks(shares[part], n)
                numbers += [n] * len(unknown)
                ranks += unknown if found is None else found
                beyond += unknown if n is None else [n * (1 - q) for q in shares[part]]
                resolved += unknown if n is None or found is None else map(n.__gt__, found)
        self._write(
            "quantiles",
            {**cells.columns, "origin": ["printed"] * len(shares)},
            value_ns=_chained([job.quantiles for job in jobs]),
            printed=_chained([job.printed for job in jobs]),
            resolution_ns=_chained([job.widths for job in jobs]),
            n=numbers,
            rank=ranks,
            beyond=beyond,
            resolved=resolved,
            line=_chained([cells.lines(job.starts) for job in jobs]),
        )

    def _write_buckets(self, template: Template) -> None:
        import numpy as np

        found = [
            (run_id, metric, stream, job.bins[index], job.starts[index + 1])
            for run_id, job in zip(self._run_ids, self._jobs, strict=True)
            for metric, stream, index, _ in template.histograms
        ]
        lows, highs = bounds_of(np.concatenate([bins.keys for _, _, _, bins, _ in found]))
        end = 0
        for run_id, metric, stream, bins, stop in found:
            start, end = end, end + len(bins.keys)
            self._recorder.add_columns(
                "histograms",
                end - start,
                run_id=run_id,
                metric=metric,
                stream=stream,
                low_ns=lows[start:end],
                high_ns=highs[start:end],
                count=bins.counts,
                line=np.arange(stop - end + start, stop),
            )


def _chained(parts: Sequence[Sequence[Any]], end: Sequence[Any] = ()) -> list[Any]:
    """Return the items of all parts, with others behind each of them."""
    chained: list[Any] = []
    for part in parts:
        chained += part
        chained += end
    return chained
