"""Printed quantities in canonical units: ns, bytes, bit/s, bytes/s, 1/s, fraction.

This is the only place where a unit is spelled. Every reading keeps the printed token and the half-width of the
interval that rounds to it, so that later statistics know how sharp the number was.

>>> quantity("16.9", "us")
Quantity(value=16900.0, unit='ns', printed='16.9', resolution=50.0, printed_unit='us')
>>> quantity("2.98", "GBytes").value == 2.98 * 1024**3
True
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from functools import cache
from typing import NamedTuple


class Quantity(NamedTuple):
    """One printed number.

    ``value`` in the canonical ``unit``; ``printed`` the token exactly as in the log; ``resolution`` half the width of
    the rounding interval in the canonical unit, or ``None`` for an exact value such as a count; ``printed_unit`` the
    unit as the log spells it. ``printed`` is ``None`` for a value that follows exactly from printed ones.
    """

    value: float
    unit: str
    printed: str | None
    resolution: float | None
    printed_unit: str | None = None

    def with_resolution(self, resolution: float | None) -> Quantity:
        """The same number, known to another half-width in the canonical unit."""
        return Quantity(self.value, self.unit, self.printed, resolution, self.printed_unit)

    def doubled(self) -> Quantity:
        """The round trip of a printed half round trip: value and resolution twice, the token as printed."""
        resolution = None if self.resolution is None else 2 * self.resolution
        return Quantity(2 * self.value, self.unit, self.printed, resolution, self.printed_unit)


def _powers(prefixes: str, base: int, *endings: str) -> dict[str, int]:
    """Factors of the prefixes ("" first) in front of each ending: ``_powers("KM", 1000, "bps")`` -> bps, Kbps, Mbps."""
    names = ["", *prefixes]
    return {prefix + ending: base**power for power, prefix in enumerate(names) for ending in endings}


_TIME = {
    **dict.fromkeys(("ns", "nsec"), 1),
    **dict.fromkeys(("us", "usec", "usecs", "microseconds", "μs", "µs"), 10**3),
    **dict.fromkeys(("ms", "msec", "milliseconds"), 10**6),
    **dict.fromkeys(("s", "sec", "seconds"), 10**9),
}
# iperf3 counts bytes in powers of 1024 whatever it calls them (units.c 239), bits in powers of 1000 (units.c 249).
_IPERF_BYTES = _powers("KMGT", 1024, "Bytes")
_IPERF_BYTE_RATES = {name + "/sec": 8 * factor for name, factor in _IPERF_BYTES.items()}
_IPERF_BITS = _powers("KMGT", 1000, "bits/sec")
_IEC_BYTES = {"KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4}
# qperf's byte prefixes are decimal (view_size, view_band in qperf.c).
_QPERF_BYTES = {"bytes": 1, **{prefix + "B": 1000**power for power, prefix in enumerate("KMGT", start=1)}}
_QPERF_RATES = {name + "/sec": 8 * factor for name, factor in (_QPERF_BYTES | _IEC_BYTES).items()}
_QPERF_BITS = {"bits/sec": 1, **{prefix + "b/sec": 1000**power for power, prefix in enumerate("KMGT", start=1)}}

# fio: binary prefixes carry an i since 2.15, before that K, M and G were binary without one (its num2str.c). Rates in
# bits (unit_base=1) are rates of bytes all the same.
_FIO_PREFIXES = {"": 1, "k": 1000, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4} | {
    prefix + "i": 1024**power for power, prefix in enumerate("KMGT", start=1)
}
_FIO = {
    **{f"fio {prefix}B": ("bytes", factor) for prefix, factor in _FIO_PREFIXES.items()},
    **{f"fio {prefix}B/s": ("bytes/s", factor) for prefix, factor in _FIO_PREFIXES.items()},
    **{f"fio {prefix}bit/s": ("bytes/s", Decimal(factor) / 8) for prefix, factor in _FIO_PREFIXES.items()},
    **{f"fio old {name}": ("bytes", factor) for name, factor in _powers("KMGT", 1024, "B").items()},
    **{f"fio old {name}": ("bytes/s", factor) for name, factor in _powers("KMGT", 1024, "B/s").items()},
    **{f"fio {name}": ("1/s", factor) for name, factor in _powers("kMG", 1000, "IOPS").items()},
}
# iostat: kB and MB are binary; a block, like a sector, is 512 bytes whatever the disk says.
_IOSTAT_SIZES = {"blocks": 512, "sectors": 512, **_powers("kMGTP", 1024, "B")}
_IOSTAT = {
    **{f"iostat {name}": ("bytes", factor) for name, factor in _IOSTAT_SIZES.items()},
    **{f"iostat {name}/s": ("bytes/s", factor) for name, factor in _IOSTAT_SIZES.items()},
}

_UNITS: dict[str, tuple[str, int | Decimal]] = {
    **{name: ("ns", factor) for name, factor in _TIME.items()},
    **{name: ("bytes", factor) for name, factor in (_IPERF_BYTES | _IEC_BYTES | _QPERF_BYTES).items()},
    **{name: ("bit/s", factor) for name, factor in (_IPERF_BITS | _IPERF_BYTE_RATES | _QPERF_RATES).items()},
    **{name: ("bit/s", factor) for name, factor in _QPERF_BITS.items()},
    **{name: ("bit/s", factor) for name, factor in _powers("KMGT", 1000, "bps").items()},
    **{prefix + "/sec": ("1/s", 1000**power) for power, prefix in enumerate(["", "K", "M", "G"])},
    **{name: ("Hz", factor) for name, factor in _powers("KMG", 1000, "Hz").items()},
    "%": ("fraction", 1),  # scaled by 1/100 below
    "1": ("fraction", 1),
    # sockperf's MBps is MiB/s (client.cpp 629); the tables keep bit/s.
    "sockperf MBps": ("bit/s", 8 * 1024**2),
    "sockperf GBps": ("bit/s", 8 * 1000 * 1024**2),
    # A Windows ntttcp MEG and a Windows ntttcp MB/s are binary as well (ntttcp.c 4702).
    "MEG": ("bytes", 1024**2),
    "ntttcp MB/s": ("bit/s", 8 * 1024**2),
    "ntttcp KB/s": ("bit/s", 8 * 1024),
    # PsPing's as well: its histogram prints the same rates in bytes a second.
    **{f"psping {name}": ("bit/s", 8 * factor) for name, factor in _powers("KMGT", 1024, "B/s").items()},
    # XML of ntttcp for Linux before May 2021 calls 2**20 bit/s an mbps (formats-throughput 1.3).
    "ntttcp old mbps": ("bit/s", 1024**2),
    "cycles/byte": ("cycles/byte", 1),
    # netperf: decimal bits, binary bytes (netlib.c format_units); processor time for 1024 bytes.
    **{f"10^{power}bits/s": ("bit/s", 10**power) for power in (0, 3, 6, 9)},
    **{name + "/s": ("bit/s", 8 * factor) for name, factor in _powers("KMG", 1024, "Bytes").items()},
    "Trans/s": ("1/s", 1),
    "us/KB": ("ns/byte", Decimal(1000) / 1024),
    # qperf: processor time for a decimal gigabyte, and counts from a million on.
    **{name + "/GB": ("ns/byte", Decimal(factor).scaleb(-9)) for name, factor in _TIME.items()},
    "million": ("count", 10**6),
    **_FIO,
    **_IOSTAT,
    "/s": ("1/s", 1),
    "rps": ("1/s", 1),
    "requests": ("count", 1),
}


# 10**18 bytes or microseconds; what is larger is damage, and would not fit the integer columns.
_LARGEST_EXPONENT = 17
_LARGEST_INTEGER = 2**63


class UnitError(ValueError):
    """A token that is no number, or a unit that no supported tool prints."""


#: Of each unit: the canonical one, the factor as numerator and denominator, and the name that the log shows (some tools
#: give a common name a meaning of their own).
_SCALES: dict[str, tuple[str, int, int, str]] = {
    name: (
        canonical,
        *(Decimal(factor) / (100 if name == "%" else 1)).as_integer_ratio(),
        name.rsplit(maxsplit=1)[-1],
    )
    for name, (canonical, factor) in _UNITS.items()
}
_POWERS = [10**power for power in range(_LARGEST_EXPONENT + 3)]


def _plain(token: str) -> tuple[int, int] | None:
    """A token of digits and at most one point as (number without the point, digits behind it); None for any other.

    What nearly every token is. Ratios of whole numbers are exact and cost a fifth of `Decimal`.
    """
    whole, point, rest = token.partition(".")
    digits = whole + rest
    if len(digits) > _LARGEST_EXPONENT or not (digits.isascii() and digits.isdigit() and whole and (rest or not point)):
        return None
    return int(digits), len(rest)


def number(token: str) -> Decimal:
    """The number a token spells; thousands commas as qperf prints them are allowed. Raises `UnitError`."""
    try:
        value = Decimal(token.replace(",", ""))
    except InvalidOperation:
        raise UnitError(f"{token!r} is not a number") from None
    if not value.is_finite():
        raise UnitError(f"{token!r} is not a finite number")
    if value.adjusted() > _LARGEST_EXPONENT:
        raise UnitError(f"{token[:30]!r}… is larger than anything that a tool measures")
    return value


def quantity(token: str, unit: str, *, significant: int | None = None) -> Quantity:
    """Read a printed token and its unit.

    ``significant`` is for tools that round to so many significant digits and then strip trailing zeros (qperf): there
    "59 K/sec" means 59.0, and the last printed digit says too little.
    Raises `UnitError` for an unknown unit or a token that is no number.
    """
    try:
        canonical, times, over, shown = _SCALES[unit]
    except KeyError:
        raise UnitError(f"unknown unit {unit!r}") from None
    if (plain := _plain(token)) is not None:
        digits, decimals = plain
        power = _POWERS[decimals] * over
        value = digits * times / power
        if significant is not None and digits:
            power *= 10 ** max(significant - len(str(digits)), 0)
        return Quantity(value, canonical, token, times / (2 * power), shown)
    exact = number(token)
    exponent = int(exact.as_tuple().exponent)
    if significant is not None and exact:
        exponent = min(exponent, exact.adjusted() - significant + 1)
    scale = Decimal(times) / over
    half_last_digit = Decimal(5).scaleb(exponent - 1) * scale
    return Quantity(float(exact * scale), canonical, token, float(half_last_digit), shown)


def count(token: str) -> Quantity:
    """An exact count (thousands commas allowed); no resolution. Raises `UnitError`."""
    if token.isdigit() and token.isascii() and len(token) <= _LARGEST_EXPONENT:
        return Quantity(float(int(token)), "count", token, None)
    value = number(token)
    if value != value.to_integral_value():
        raise UnitError(f"{token!r} is not a whole number")
    return Quantity(float(value), "count", token, None)


def exact_bytes(token: str) -> Quantity:
    """An exact number of bytes. Raises `UnitError`."""
    return Quantity(count(token).value, "bytes", token, None)


def nanoseconds(token: str, unit: str) -> int:
    """A printed time as whole nanoseconds, without a detour through binary floating point. Raises `UnitError`."""
    canonical, factor = _UNITS.get(unit, ("", 0))
    if canonical != "ns":
        raise UnitError(f"{unit!r} is not a unit of time")
    if (plain := _plain(token)) is not None:
        digits, decimals = plain
        value, rest = divmod(digits * int(factor), _POWERS[decimals])
        if not rest and value < _LARGEST_INTEGER:
            return value
    value = int((number(token) * factor).to_integral_value())
    if not -_LARGEST_INTEGER < value < _LARGEST_INTEGER:
        raise UnitError(f"{token!r} {unit} is longer than anything that a tool measures")
    return value


@cache
def scale(unit: str) -> float:
    """How many canonical units one printed unit is, for numbers that a file holds as numbers. Raises `UnitError`."""
    canonical_unit(unit)
    return float(_UNITS[unit][1]) / (100 if unit == "%" else 1)


def canonical_unit(unit: str) -> str:
    """The canonical unit that a printed unit is converted to. Raises `UnitError`."""
    try:
        return _UNITS[unit][0]
    except KeyError:
        raise UnitError(f"unknown unit {unit!r}") from None
