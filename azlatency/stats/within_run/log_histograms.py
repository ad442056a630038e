"""Log-linear histograms of round-trip times: what remains of any number of packets, to within 0.05 %.

Each power of two is divided into 1,024 classes of equal width. The histogram of two sets of packets is the sum of their
histograms, so that processes and machines can count their own part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import reduce
from itertools import chain, islice
from operator import add
from typing import TYPE_CHECKING

from azlatency.stats.within_run.histograms import LEVELS, histogram_quantiles
from azlatency.studies.segments import grouped, segments_by_run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from azlatency.stats.arrays import FloatArray
    from azlatency.stats.result import Estimate, Results
    from azlatency.studies.segments import Segment
    from azlatency.studies.store import Study

BITS = 10
_STEPS = 1 << BITS
_MANTISSA_BITS, _EXPONENT_OF_ONE = 52, 1023
#: Classes up to 2^63 ns.
CLASSES = (64 - BITS) * _STEPS


@dataclass(frozen=True, slots=True, eq=False)
class LogHistogram:
    """Numbers of packets by class of round-trip time.

    Attributes
    ----------
    counts : ndarray of int64, shape (55296,)
        Packets per class.
    lost : int
        Lost probes.
    """

    counts: NDArray[np.int64]
    lost: int = 0

    @property
    def n(self) -> int:
        """Number of packets, lost ones included."""
        return int(self.counts.sum()) + self.lost

    @staticmethod
    def empty() -> LogHistogram:
        """Return the histogram of no packets, the first summand of ``sum``."""
        import numpy as np

        return LogHistogram(np.zeros(CLASSES, dtype=np.int64))

    def __add__(self, other: LogHistogram) -> LogHistogram:
        return LogHistogram(self.counts + other.counts, self.lost + other.lost)

    def quantiles(self, q: Iterable[float] = LEVELS, confidence: float = 0.95) -> Results[Estimate]:
        """Estimate quantiles in ns; see `azlatency.stats.histogram_quantiles`. Lost probes count as infinite."""
        import numpy as np

        used = np.flatnonzero(self.counts)
        low, high = class_bounds(used)
        counts = self.counts[used].astype("float64")
        if self.lost:
            low, high = np.append(low, high[-1:] if len(high) else 0.0), np.append(high, np.inf)
            counts = np.append(counts, float(self.lost))
        return histogram_quantiles(low, high, counts, q, confidence)


def class_of(values: FloatArray) -> NDArray[np.int64]:
    """Return the class of each finite value in ns; values below 0 belong to the first class."""
    import numpy as np

    # The exponent and the first bits of the mantissa are the class, counted from another beginning.
    classes = values.view(np.int64) >> (_MANTISSA_BITS - BITS)
    classes -= (_EXPONENT_OF_ONE + BITS - 1) * _STEPS
    below = values < _STEPS
    if below.any():
        classes[below] = np.maximum(values[below], 0)
    return classes


def class_bounds(classes: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Return the lower and the upper bound of classes in ns; the upper one belongs to the next class."""
    import numpy as np

    octave = np.maximum(classes // _STEPS - 1, 0)
    low = (classes - octave * _STEPS).astype("float64")
    scale = np.exp2(octave)
    return low * scale, (low + 1) * scale


def log_histogram(values: FloatArray) -> LogHistogram:
    """Count values in ns, shape (n,); ``inf`` is a lost probe."""
    import numpy as np

    finite = values[np.isfinite(values)]
    return LogHistogram(np.bincount(class_of(finite), minlength=CLASSES), len(values) - len(finite))


def log_histograms(study: Study, *, executor: Executor | None = None) -> dict[str, LogHistogram]:
    """Count the round-trip times of each run of a study in log-linear histograms, which may be added.

    Parameters
    ----------
    study : Study
        An imported study. Its samples are read in pieces of about a million.
    executor : concurrent.futures.Executor, optional
        Executor that counts the pieces; its workers must see the folder of the study. Default: this process.

    Returns
    -------
    dict of str to LogHistogram
        The histogram of each run with samples, by run_id, without warm-up and duplicates. A value that is known within
        bounds counts at its upper bound.

    Notes
    -----
    1,024 classes per power of two: the middle of a class differs by at most 0.05 % from any value in it, and an end of
    an interval, which is a bound of a class, by at most 0.1 %. The sum of histograms is exact and does not depend on
    the order, so that any number of workers gives the same result.

    Examples
    --------
    >>> import azlatency as az
    >>> histograms = az.stats.log_histograms(az.load("emulated-zones"))
    >>> run_id, histogram = next(iter(histograms.items()))
    >>> (p99,) = histogram.quantiles([0.99])
    >>> (exact,) = az.quantiles(az.load("emulated-zones"), 0.99)[:1]
    >>> abs(p99.estimate / exact.estimate - 1) < 0.0005
    True
    """
    groups = {run_id: grouped(segments) for run_id, segments in segments_by_run(study).items()}
    counted = iter((executor.map if executor is not None else map)(_count, list(chain.from_iterable(groups.values()))))
    return {run_id: reduce(add, islice(counted, len(of_run))) for run_id, of_run in groups.items()}


def _count(segments: Sequence[Segment]) -> LogHistogram:
    return reduce(add, (log_histogram(segment.bounds()[1]) for segment in segments))
