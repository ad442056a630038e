"""What several of these tools share: netperf's percentiles, which others print too."""

from azlatency.logs.grammar.units import Quantity

_MICROSECOND_NS = 1000.0


def netperf_percentile(value: Quantity) -> Quantity:
    """Return a percentile of netperf with its resolution: it is interpolated in a bucket of two digits of whole us."""
    digits = len(str(int(value.value / _MICROSECOND_NS)))
    return value.with_resolution(_MICROSECOND_NS * 10 ** max(digits - 2, 0))
