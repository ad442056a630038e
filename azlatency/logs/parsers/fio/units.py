"""The units of fio: binary prefixes have an i since 2.15; before, K, M and G were binary (num2str.c)."""

from __future__ import annotations

from decimal import Decimal

from azlatency.logs.grammar.units import UnitDefinition, prefixed

_BINARY = ["Ki", "Mi", "Gi", "Ti"]


def _both(canonical: str, ending: str, factor: int | Decimal = 1) -> dict[str, UnitDefinition]:
    """Return a unit with decimal prefixes (k and K both stand for 1000) and with binary ones."""
    return {
        **prefixed(canonical, "KMGT", 1000, ending, factor=factor, tool="fio"),
        **prefixed(canonical, "k", 1000, ending, factor=factor, tool="fio"),
        **prefixed(canonical, _BINARY, 1024, ending, factor=factor, tool="fio"),
    }


FIO_UNITS = {
    **_both("bytes", "B"),
    **_both("bytes/s", "B/s"),
    # With unit_base=1 the rate is printed in bits; it is a rate of bytes all the same.
    **_both("bytes/s", "bit/s", Decimal(1) / 8),
    **prefixed("bytes", "KMGT", 1024, "B", tool="fio old"),
    **prefixed("bytes/s", "KMGT", 1024, "B/s", tool="fio old"),
    **prefixed("1/s", "kMG", 1000, "IOPS", tool="fio"),
}
