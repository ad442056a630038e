"""The numbers of fio: histogram buckets, numbers that were cut, percentiles, sizes and durations of options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from math import ceil
from typing import NamedTuple

from azlatency.logs.grammar.units import Quantity, UnitError, nanoseconds, quantity, scale

_BUCKET_BITS = 6
_RATE_TOLERANCE = 0.02
_EXACT, _OWN_TIME = 1e-6, 1e-3
_US = round(scale("us"))
_BLOCK_SUFFIXES = {"": "B", "b": "B", "k": "KiB", "kb": "KiB", "kib": "KiB", "m": "MiB", "mb": "MiB", "mib": "MiB"}
_SECONDS = {"": "s", "s": "s", "ms": "ms", "us": "us"}
_LONG_TIMES = {"m": 60, "h": 3600, "d": 86400}


class Bucket(NamedTuple):
    """One bucket of fio's latency histogram: from ``low`` to below ``high``; fio prints its middle."""

    low: int
    high: int

    @property
    def half(self) -> float:
        """Half the width; 0 if the bucket contains one value."""
        return 0.0 if self.high - self.low == 1 else (self.high - self.low) / 2


@lru_cache(maxsize=4096)  # fio has fewer buckets, and prints their middles
def bucket_of(value: int | str) -> Bucket:
    """Return the bucket that contains a latency, perhaps as printed; each value below 128 has its own bucket."""
    value = int(value)
    shift = max(value.bit_length() - 1 - _BUCKET_BITS, 0)
    low = value >> shift << shift
    return Bucket(low, low + (1 << shift))


@cache
def version_of(text: str | None) -> tuple[int, int] | None:
    """Return major and minor number of a version such as ``3.33`` or ``2.2.10``."""
    parts = (text or "").split("-")[0].split(".")
    if len(parts) < 2 or not all(part.isdigit() for part in parts[:2]):
        return None
    return int(parts[0]), int(parts[1])


def scaled(token: str, unit: str) -> Quantity:
    """Read a latency whose number may end in k or M (``20032k`` nsec)."""
    factor = {"k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}.get(token[-1:], 1)
    value = quantity(token.rstrip("kKMG"), unit)
    half = None if value.resolution is None else value.resolution * factor
    return Quantity(value.value * factor, value.unit, token, half, unit)


def whole(token: str, unit: str) -> Quantity:
    """Read a number that fio cut to an integer: the true value is up to one greater."""
    value = quantity(token, unit)
    return value.with_resolution(None if value.resolution is None else 2 * value.resolution)


def cut(token: str, unit: str) -> Quantity:
    """Read a number that fio cut to an integer, unless it has decimals."""
    return quantity(token, unit) if "." in token else whole(token, unit)


@lru_cache(maxsize=256)
def share(percent: str) -> float:
    """Return the quantile of a label in the table of percentiles; nearly all logs have the same labels."""
    return quantity(percent, "%").value


@lru_cache(maxsize=4096)  # the middles of the buckets again
def percentile(token: str, unit: str, old: bool | None = None) -> Quantity:  # for `map`
    """Read a percentile with the width of its bucket; fio stores whole ns, before 3.0 whole us.

    Where ``old`` is not given, the version shows from the unit.
    """
    value = quantity(token, unit)
    step = _US if old or (old is None and unit == "usec") else 1
    half = bucket_of(round(value.value / step)).half * step
    rounding = 2 * value.half if scale(unit) > step else 0.0
    return value.with_resolution(half + rounding)


@lru_cache(maxsize=256)
def block_bytes(token: str, *, decimal: bool = False) -> int | None:
    """Return the size of an option such as ``4k`` or ``1024KiB``, or None if it is not a single size."""
    text = token.strip().lower()
    digits = text.rstrip("bikm")
    unit = _BLOCK_SUFFIXES.get(text[len(digits) :])
    if unit is None or not digits.isdecimal() or len(digits) > 12:
        return None
    if decimal and not text.endswith("ib"):
        unit = unit.replace("K", "k").replace("i", "")
    return round(quantity(digits, f"fio {unit}").value)


@lru_cache(maxsize=256)
def option_duration(token: str | None) -> int | None:
    """Return a duration of a job file (``5``, ``10s``, ``2m``) in ns, or None if it is not one."""
    text = (token or "").strip().lower()
    digits = text.rstrip("smhdu")
    suffix = text[len(digits) :]
    try:
        if suffix in _LONG_TIMES:
            return nanoseconds(digits, "s") * _LONG_TIMES[suffix] or None
        return nanoseconds(digits, _SECONDS[suffix]) or None
    except (UnitError, KeyError):
        return None


def quantile_ranks(shares: Sequence[float], n: int) -> list[int]:
    """Return the ranks of percentiles of n observations: at least ``q * n`` are in the bucket or below it."""
    n = max(n, 0)  # of a damaged document
    return [ceil(q * n - 1e-9) or 1 for q in shares]


def rate_conflicts(
    rate: Quantity | None,
    size: Quantity | None,
    iops: Quantity | None,
    runtime_ns: int | None,
    block_bytes: int | None,
    issued: int | None,
    *,
    exact: bool,
) -> Iterator[str]:
    """Say that a bandwidth is not bytes / time or IOPS times the block size, or that IOPS are not I/Os / time.

    ``exact``: the rates are of the printed time, which JSON shows; text may print the time of another job.
    """
    own = _EXACT if exact else _OWN_TIME
    if iops is not None and issued is not None and (runtime_ns or not issued):
        computed = issued / ((runtime_ns or 1) / scale("s"))
        if abs(computed - iops.value) > own * computed + iops.half:
            yield f"{iops.printed} IOPS are not {issued} I/Os divided by {(runtime_ns or 0) / 1e9:g} s"
    if rate is None:
        return
    if size is not None and runtime_ns:
        computed = size.value / (runtime_ns / scale("s"))
        slack = size.half / max(size.value, 1.0) + own
        if abs(computed - rate.value) > slack * rate.value + rate.half:
            yield f"{rate.printed} {rate.printed_unit} is not {size.value:.0f} bytes divided by {runtime_ns / 1e9:g} s"
    if iops is not None and iops.value and block_bytes:
        slack = _RATE_TOLERANCE + iops.half / iops.value
        if abs(iops.value * block_bytes - rate.value) > slack * rate.value + rate.half:
            yield f"{iops.printed} IOPS of {block_bytes} bytes are not {rate.printed} {rate.printed_unit}"
