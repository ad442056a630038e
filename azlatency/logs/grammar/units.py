"""Printed quantities in canonical units: ns, bytes, bit/s, bytes/s, 1/s, Hz, count and fraction.

Units are converted here and nowhere else. This module defines the units that several tools share; a unit that only one
tool prints is defined by that tool's parser (`azlatency.logs.parsers.Parser.units`). Every quantity keeps the printed
token and the half-width of the interval that rounds to it, so the statistics know how precise the number is.

>>> quantity("16.9", "us")
Quantity(value=16900.0, unit='ns', printed='16.9', resolution=50.0, printed_unit='us')
>>> quantity("2.98", "GBytes").value == 2.98 * 1024**3
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.float64]

#: Definition of a unit: its canonical unit, and how many canonical units it is.
UnitDefinition = tuple[str, int | Decimal]


class Quantity(NamedTuple):
    """One printed number: its ``value`` in the canonical ``unit``.

    ``printed``: the token exactly as in the log; None of a value that follows exactly from printed ones.
    ``resolution``: half the width of the interval that rounds to it, in ``unit``; None of an exact value such as a
    count. ``printed_unit``: the unit as the log spells it.
    """

    value: float
    unit: str
    printed: str | None
    resolution: float | None
    printed_unit: str | None = None

    @property
    def half(self) -> float:
        """The resolution, 0 of an exact value."""
        return self.resolution or 0.0

    def agrees(self, other: Quantity) -> bool:
        """Return whether two printed numbers are the same within the rounding of both."""
        return abs(self.value - other.value) <= 1.01 * (self.half + other.half)

    def with_resolution(self, resolution: float | None) -> Quantity:
        """Return the same number with another half-width, in the canonical unit."""
        return _NEW(Quantity, (self.value, self.unit, self.printed, resolution, self.printed_unit))

    def doubled(self) -> Quantity:
        """Return the round trip of a printed half round trip: twice the value and resolution, the token as printed."""
        resolution = None if self.resolution is None else 2 * self.resolution
        return _NEW(Quantity, (2 * self.value, self.unit, self.printed, resolution, self.printed_unit))


# Half the cost of the constructor.
_NEW = tuple.__new__


class UnitError(ValueError):
    """A token that is not a number, a unit that no parser defines, or a unit that is defined twice."""


class _Unit(NamedTuple):
    """A unit as used in a conversion: ``times / over`` canonical units; ``shown`` is the name that the log shows."""

    canonical: str
    times: int
    over: int
    shown: str
    steps: list[tuple[int, float]]
    """By the number of decimals: the divisor of the number without its point, and half the last digit."""


def prefixed(
    canonical: str, prefixes: Sequence[str], base: int, ending: str, *, factor: int | Decimal = 1, tool: str = ""
) -> dict[str, UnitDefinition]:
    """Define a unit (``ending``) and its multiples with ``prefixes``, in ascending order: one definition each.

    Each prefix stands for the next power of ``base``. ``factor``: how many canonical units the unit without a prefix
    is, for example 8 for bytes per second in bit/s. ``tool`` precedes the name of a unit to which other tools give
    another meaning.

    >>> prefixed("bit/s", "KM", 1000, "bps")
    {'bps': ('bit/s', 1), 'Kbps': ('bit/s', 1000), 'Mbps': ('bit/s', 1000000)}
    >>> prefixed("bytes", "K", 1024, "B", tool="fio")
    {'fio B': ('bytes', 1), 'fio KB': ('bytes', 1024)}
    """
    start = f"{tool} " if tool else ""
    return {
        f"{start}{prefix}{ending}": (canonical, base**power * factor) for power, prefix in enumerate(["", *prefixes])
    }


_UNITS: dict[str, _Unit] = {}
_NO_UNIT = _Unit("", 0, 1, "", [])


def register_units(units: Mapping[str, UnitDefinition]) -> None:
    """Add the units of a parser: canonical unit and factor by name; `UnitError` if a name has another meaning.

    Where tools disagree about a name, write the tool in front of it, ``"psping MB/s"``; the tables show the last word.
    """
    new = {name: _define(name, canonical, factor) for name, (canonical, factor) in units.items()}
    for name, unit in new.items():
        if _UNITS.get(name, unit) != unit:
            raise UnitError(f"unit {name!r} already has another meaning; call it 'TOOL {name}'")
    _UNITS.update(new)


def _define(name: str, canonical: str, factor: int | Decimal) -> _Unit:
    times, over = Decimal(factor).as_integer_ratio()
    divisors = [10**decimals * over for decimals in range(_LARGEST_EXPONENT + 1)]
    steps = [(divisor, times / (2 * divisor)) for divisor in divisors]
    return _Unit(canonical, times, over, name.rsplit(maxsplit=1)[-1], steps)


# 10**18 bytes or microseconds; a larger number is damage and would not fit the integer columns.
_LARGEST_EXPONENT = _MOST_DIGITS = 17
_LARGEST_INTEGER = 2**63
_MOST_TOKENS = 4096
_NANOSECONDS = {
    **dict.fromkeys(("ns", "nsec"), 1),
    **dict.fromkeys(("us", "usec", "usecs", "microseconds", "μs", "µs"), 10**3),
    **dict.fromkeys(("ms", "msec", "milliseconds"), 10**6),
    **dict.fromkeys(("s", "sec", "seconds"), 10**9),
}
register_units(
    {
        **{name: ("ns", factor) for name, factor in _NANOSECONDS.items()},
        # iperf counts bytes in powers of 1024 whatever it calls them (units.c 239), bits in powers of 1000
        # (units.c 249).
        **prefixed("bytes", "KMGT", 1024, "Bytes"),
        **prefixed("bit/s", "KMGT", 1024, "Bytes/sec", factor=8),
        **prefixed("bit/s", "KMGT", 1000, "bits/sec"),
        **prefixed("bit/s", "KMGT", 1000, "bps"),
        "bytes": ("bytes", 1),
        **prefixed("bytes", "KMGT", 1000, "B"),
        **prefixed("bytes", ["Ki", "Mi", "Gi", "Ti"], 1024, "B"),
        **prefixed("1/s", "KMG", 1000, "/sec"),
        "/s": ("1/s", 1),
        "%": ("fraction", Decimal("0.01")),
        "1": ("fraction", 1),
    }
)


def quantity(token: str, unit: str, *, significant: int | None = None) -> Quantity:
    """Convert a printed token, which may have thousands separators, with its unit; `UnitError` if either is unknown.

    ``significant``: number of significant digits, for a tool that rounds to them and then strips trailing zeros. qperf
    does: its "59 K/sec" means 59.0, so the last printed digit understates the precision.

    >>> quantity("0.573", "ms").value
    573000.0
    >>> quantity("59", "K/sec", significant=3).resolution
    50.0
    """
    canonical, times, over, shown, steps = _find(unit)
    # Nearly every token has digits and at most one point. A ratio of integers is exact, and much faster than `Decimal`.
    whole, _, rest = token.partition(".")
    plain = whole + rest
    if plain.isdigit() and plain.isascii() and len(plain) <= _MOST_DIGITS:
        digits = int(plain)
        divisor, half = steps[len(rest)]
        if significant is not None and digits:
            half = times / (2 * divisor * 10 ** max(significant - len(str(digits)), 0))
        return _NEW(Quantity, (digits * times / divisor, canonical, token, half, shown))
    exact = _to_decimal(token)
    exponent = int(exact.as_tuple().exponent)
    if significant is not None and exact:
        exponent = min(exponent, exact.adjusted() - significant + 1)
    scale = Decimal(times) / over
    half_last_digit = Decimal(5).scaleb(exponent - 1) * scale
    return Quantity(float(exact * scale), canonical, token, float(half_last_digit), shown)


def count(token: str) -> Quantity:
    """Convert a printed count, which may have thousands separators; `UnitError` if it is not a whole number.

    >>> count("430,972").value
    430972.0
    """
    return _exact(token, "count")


def exact_bytes(token: str) -> Quantity:
    """Convert an exact number of bytes; see `count`."""
    return _exact(token, "bytes")


def nanoseconds(token: str, unit: str) -> int:
    """Convert a printed time to whole nanoseconds, without binary floating point; `UnitError` if it is not a time.

    >>> nanoseconds("1795228093.993389001", "sec")
    1795228093993389001
    """
    canonical, times, over, _, steps = _UNITS.get(unit, _NO_UNIT)
    if canonical != "ns":
        raise UnitError(f"{unit!r} is not a unit of time")
    whole, _, rest = token.partition(".")
    plain = whole + rest
    if plain.isdigit() and plain.isascii() and len(plain) <= _MOST_DIGITS:
        value, remainder = divmod(int(plain) * times, steps[len(rest)][0])
        if not remainder and value < _LARGEST_INTEGER:
            return value
    value = int((_to_decimal(token) * times / over).to_integral_value())
    if not -_LARGEST_INTEGER < value < _LARGEST_INTEGER:
        raise UnitError(f"{token!r} {unit} is longer than any time that a tool measures")
    return value


if not TYPE_CHECKING:  # which would not see the types of the arguments
    # Most tokens of the logs of one campaign were printed before.
    quantity, nanoseconds = lru_cache(_MOST_TOKENS)(quantity), lru_cache(_MOST_TOKENS)(nanoseconds)


def scale(unit: str) -> float:
    """Return how many canonical units a unit is, for numbers that are not printed text. Raises `UnitError`."""
    times, over = _find(unit)[1:3]
    return times / over


def canonical_unit(unit: str) -> str:
    """Return the canonical unit that a printed unit is converted to. Raises `UnitError`."""
    return _find(unit).canonical


def _find(unit: str) -> _Unit:
    try:
        return _UNITS[unit]
    except KeyError:
        raise UnitError(f"unknown unit {unit!r}") from None


def _to_decimal(token: str) -> Decimal:
    try:
        value = Decimal(token.replace(",", ""))
    except InvalidOperation:
        raise UnitError(f"{token!r} is not a number") from None
    if not value.is_finite():
        raise UnitError(f"{token!r} is not a finite number")
    if value.adjusted() > _LARGEST_EXPONENT:
        raise UnitError(f"{token[:30]!r}… is larger than any number that a tool measures")
    return value


@lru_cache(_MOST_TOKENS)
def _exact(token: str, unit: str) -> Quantity:
    if token.isdigit() and token.isascii() and len(token) <= _LARGEST_EXPONENT:
        return _NEW(Quantity, (float(int(token)), unit, token, None, None))
    value = _to_decimal(token)
    if value != value.to_integral_value():
        raise UnitError(f"{token!r} is not a whole number")
    return Quantity(float(value), unit, token, None)
