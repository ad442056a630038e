"""Numbers for readers: a value in canonical units becomes text with a unit prefix and sensible digits.

Tables of the data set keep nanoseconds, bytes and bit/s. Whatever is printed or drawn goes through this module, so that
a time looks the same in a result, a table and a chart.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

#: Begins a text that a spreadsheet executes, unless it is a number.
FORMULA = r"^[=+@\t\r-]"
#: Prefixes of each canonical unit, from the smallest: (canonical units in one, name).
_PREFIXES = {
    "ns": ((1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")),
    "bit/s": ((1.0, "bit/s"), (1e3, "kbit/s"), (1e6, "Mbit/s"), (1e9, "Gbit/s"), (1e12, "Tbit/s")),
    "bytes/s": ((1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s")),
    "bytes": ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB")),
}
#: The unit of a whole column or axis, where a prefix per value would make numbers hard to compare.
_COLUMN_UNITS = {
    "ns": (1e3, "µs"),
    "bit/s": (1e9, "Gbit/s"),
    "bytes/s": (1e6, "MB/s"),
    "1/s": (1.0, "per s"),
    "count": (1.0, "segments"),
}
#: Sizes of the largest value of a column or axis for which its usual unit is readable.
_USUAL = {"ns": (0.0, 1e8), "bit/s": (1e8, math.inf)}
#: Names of units that take no prefix.
_NAMES = {"1/s": "per s", "ratio": "", "1": "", "count": "", "fraction": "%"}
#: Between these ends a number is read without counting zeros and digits.
_READABLE = (0.1, 10_000.0)
#: Ratio above which the ends of a range have a prefix each.
_FAR_APART = 1000.0
#: From here on a duration is said in minutes.
_MINUTES_NS = 120e9
#: Significant digits of a number without an interval.
DIGITS = 3
_MOST_DECIMALS = 9


def column_unit(unit: str) -> tuple[float, str]:
    """Return the unit of a table column or chart axis: how many canonical units it is, and its name.

    >>> column_unit("ns")
    (1000.0, 'µs')
    """
    return _COLUMN_UNITS.get(unit, (1.0, unit))


def fitting_unit(unit: str, values: Iterable[float]) -> tuple[float, str]:
    """Return the unit of a table column or chart axis in which all values are readable: the usual one, if they are.

    >>> fitting_unit("bit/s", [5e9, 2.5e6]), fitting_unit("bit/s", [2.28e6, 30e6]), fitting_unit("ns", [2.69e6, 967e6])
    ((1000000000.0, 'Gbit/s'), (1000000.0, 'Mbit/s'), (1000000.0, 'ms'))
    """
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    usual = column_unit(unit)
    least, most = _USUAL.get(unit, (0.0, math.inf))
    if sizes and max(sizes) < least:
        return prefixed_unit(unit, max(sizes))
    if sizes and max(sizes) >= most:
        # Columns have few decimals: the smallest value keeps its digits, and seconds would have too few.
        return max(usual, min(prefixed_unit(unit, min(sizes)), (1e6, "ms")))
    return usual


def prefixed_unit(unit: str, value: float) -> tuple[float, str]:
    """Return the prefixed unit in which a value reads as a number between 1 and 999; ``(1.0, name)`` if it takes none.

    >>> prefixed_unit("ns", 1_081_380.0)
    (1000000.0, 'ms')
    """
    if unit == "fraction":
        return 0.01, "%"
    # 999.7 µs would be rounded to 1,000 µs: it reads as 1.00 ms.
    size = abs(value) * (1 + 0.5 * 10.0**-DIGITS) if math.isfinite(value) else 0.0
    prefixes = _PREFIXES.get(unit, ((1.0, _NAMES.get(unit, unit)),))
    return next((prefix for prefix in reversed(prefixes) if size >= prefix[0]), prefixes[0])


def one_prefix(values: Iterable[float], unit: str) -> float | None:
    """Return what to pass as ``like`` for the values of one sentence: it has one unit, if they are readable in it.

    None of values that are too far apart: each takes its own prefix.

    >>> like = one_prefix([77_600, 1_436_000], "ns")
    >>> format_value(77_600, "ns", like=like), format_value(1_436_000, "ns", like=like)
    ('77.6 µs', '1,436 µs')
    """
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    prefixes = {prefixed_unit(unit, size)[0] for size in sizes}
    if len(prefixes) == 1:
        return sizes[-1]
    least, most = _READABLE
    scales = column_unit(unit)[0], *sorted(prefixes, reverse=True)
    return next((scale for scale in scales if all(least <= size / scale < most for size in sizes)), None)


def format_value(
    value: float | None, unit: str = "", *, digits: int = DIGITS, like: float | None = None, step: float = 0.0
) -> str:
    """Format one value with its prefixed unit, or with that of the value ``like``; None and NaN give an empty text.

    It has no digit finer than ``step``, the step in which it was printed; 0 and NaN if that is unknown.

    >>> format_value(1_081_380, "ns")
    '1.08 ms'
    >>> format_value(8.4916e9, "bit/s")
    '8.49 Gbit/s'
    >>> format_value(9e6, "ns", step=1e6)
    '9 ms'
    """
    if value is None or math.isnan(value):
        return ""
    scale, name = prefixed_unit(unit, value if like is None else like)
    whole = scale == 1 and unit in ("bytes", "count") and float(value).is_integer()
    decimals = 0 if whole else decimals_for(value / scale, digits)
    if step > 0:
        decimals = min(decimals, printed_decimals(step / scale))
    return _with_unit(format_number(value / scale, decimals), name)


def format_interval(
    low: float | None, high: float | None, unit: str = "", *, decimals: int | None = None, like: float | None = None
) -> str:
    """Format a range of values in one prefixed unit, that of the larger finite end or of ``like``; None is an open end.

    By default, the ends have as many decimals as the width supports.

    >>> format_interval(1_066_580, 1_096_380, "ns")
    '1.07–1.10 ms'
    >>> format_interval(2.5e5, None, "ns")
    '250 µs or more'
    >>> format_interval(862, 2.28e6, "bit/s")
    '862 bit/s–2.28 Mbit/s'
    """
    if low and high and unit in _PREFIXES and math.inf > high > _FAR_APART * low > 0:
        return f"{format_value(low, unit)}–{format_value(high, unit)}"
    ends = [end for end in (low, high) if end is not None and math.isfinite(end)]
    if not ends:
        return ""
    scale, name = prefixed_unit(unit, max(map(abs, ends)) if like is None else like)
    if decimals is None:
        smallest = min((abs(end) for end in ends if end), default=0.0)
        decimals = max(interval_decimals(low, high, scale), decimals_for(smallest / scale, 2))
        decimals = decimals if unit else _beside_one(low, high, decimals)
    if low is None or high is None:
        end = _with_unit(format_number(ends[0] / scale, decimals), name)
        return f"{end} or more" if high is None else f"{end} or less"
    # A minus sign beside a dash cannot be read.
    dash = " to " if low < 0 else "–"
    return _with_unit(f"{format_number(low / scale, decimals)}{dash}{format_number(high / scale, decimals)}", name)


def format_estimate(
    estimate: float,
    low: float | None,
    high: float | None,
    unit: str = "",
    *,
    confidence: float | None = 0.95,
    like: float | None = None,
) -> str:
    """Format an estimate with its confidence interval, with as many digits as the interval supports.

    None is an open end; two of them mean that there is no interval. Without ``confidence``, the level stands elsewhere.
    ``like`` as in `format_value`.

    >>> format_estimate(1_081_380, 1_066_580, 1_096_380, "ns")
    '1.08 ms, 95 % CI 1.07–1.10 ms'
    >>> format_estimate(1_081_380, 1_066_580, 1_096_380, "ns", confidence=None)
    '1.08 ms (1.07–1.10 ms)'
    >>> format_estimate(1_081_380, None, None, "ns")
    '1.08 ms, no interval'
    """
    if low is None and high is None:
        return f"{format_value(estimate, unit, like=like)}, no interval"
    like = estimate if like is None else like
    scale, name = prefixed_unit(unit, like)
    decimals = estimate_decimals(estimate, low, high, scale)
    decimals = decimals if unit else _beside_one(low, high, decimals)
    value = _with_unit(format_number(estimate / scale, decimals), name)
    interval = format_interval(low, high, unit, decimals=decimals, like=like)
    return f"{value} ({interval})" if confidence is None else f"{value}, {percent(confidence, 4)} CI {interval}"


def format_number(value: float, decimals: int) -> str:
    """Format a plain number with thousands separators, halves away from zero; ``∞`` where it is infinite.

    Negative decimals round to tens, hundreds and so on.

    >>> format_number(2.675, 2), format_number(1_024.0, 0), format_number(2_165.0, -2), format_number(-1.5, 1)
    ('2.68', '1,024', '2,200', '−1.5')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{round(_beyond_half(value), decimals):,.{max(decimals, 0)}f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text.replace("-", "−")


def plain(value: float | None, digits: int = DIGITS) -> str:
    """Format a plain number with at most so many significant digits, without an exponent and without zeros at its end.

    A missing value gives an empty text.

    >>> plain(1_081.38), plain(0.9953), plain(2.0), plain(math.inf)
    ('1,081', '0.995', '2', '∞')
    """
    if value is None:
        return ""
    text = format_number(value, decimals_for(value, digits))
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float, digits: int = 6) -> str:
    """Format a share, a confidence level or a margin in percent, with at most so many significant digits.

    >>> percent(0.95), percent(1 - 0.05 / 3, 4), percent(0.000031, 2)
    ('95 %', '98.33 %', '0.0031 %')
    """
    return f"{plain(100 * share, digits)} %"


def percentile(q: float) -> str:
    """Return the name of a quantile between 0 and 1: ``"p99.9"``."""
    return f"p{plain(100 * q, 6)}"


def signed(value: float, decimals: int) -> str:
    """Format a plain number with its sign, as a sentence does: ``"+1.5"``, ``"−0.3"``."""
    return f"{_beyond_half(value):+z,.{decimals}f}".replace("-", "−")


def signed_value(value: float, unit: str, *, like: float | None = None, step: float = 0.0) -> str:
    """Format a difference with its sign, if it is not rounded to 0: ``"−120 µs"``; as `format_value` does."""
    text = format_value(abs(value), unit, like=like, step=step)
    return f"{'−' if value < 0 else '+'}{text}" if re.search("[1-9]", text) else text


def duration(*times: float) -> str:
    """Format a duration in ns, or the range of several, in seconds below two minutes and in minutes from there on.

    >>> duration(3.2e9), duration(276e9), duration(4e9, 6e9)
    ('3.2 s', '4.6 min', '4.0–6.0 s')
    """
    scale, unit = (60e9, "min") if max(times) >= _MINUTES_NS else (1e9, "s")
    ends = dict.fromkeys(format_number(end / scale, 1) for end in (min(times), max(times)))
    return f"{'–'.join(ends)} {unit}"


def count_of(count: int, noun: str) -> str:
    """Format a count with its noun in the singular or plural: ``"1 run"``, ``"1,200 runs"``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def did_you_mean(name: str, known: Iterable[str], *, cutoff: float = 0.7) -> str:
    """Return the end of an error about an unknown name: the known one that is most like it; empty if none is.

    ``cutoff`` is how alike they must be, between 0 and 1.
    """
    nearest = get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""


def natural_key(name: str) -> str:
    """Return a key that sorts names by their numbers: "round 2" before "round 10"."""
    return re.sub(r"\d+", lambda digits: digits[0].zfill(20), name)


def printable(text: str) -> str:
    """Escape control characters: names of files and text from logs are untrusted."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


#: Control characters and marks of the writing direction, which a name in a log may contain.
_HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(content: Any) -> Any:
    """Replace control characters and marks of the writing direction, in a text or in all texts of a JSON value."""
    if isinstance(content, str):
        return _HIDDEN.sub("\N{REPLACEMENT CHARACTER}", content)
    if isinstance(content, dict):
        return {visible(key): visible(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [visible(value) for value in content]
    return content


#: A right-to-left name with the number that ends it, before what separates it from another name or from a value.
_NAME_THEN = re.compile("([\u0590-\u08ff][ \\d.,()_/-]*?)( ?[→↔–]|  )")


def in_order(text: str) -> str:
    """Keep the order of right-to-left names around an arrow, which does not turn with them, and before a column.

    Without a mark, a browser shows the second name on the left of the arrow: the other direction.
    """
    return _NAME_THEN.sub("\\1\u200e\\2\u200e", text)


def escape_formula(value: Any) -> Any:
    """Return a cell of a CSV file: with an apostrophe before text that a spreadsheet would execute, as OWASP advises.

    Numbers stay as printed.
    """
    is_formula = isinstance(value, str) and re.match(FORMULA, value) and not re.fullmatch(r"[+-]?[\d.,]+", value)
    return f"'{value}" if is_formula else value


def escape_json(text: str) -> str:
    """Escape the characters of a JSON text that are not printable; it stays the same JSON value."""
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def separators(count: int) -> list[str]:
    """Return what stands before each of so many parts of a list in a sentence: "a", ", b", " and c"."""
    return ["", *[", "] * (count - 2), " and "][:count]


def join_words(words: Iterable[str]) -> str:
    """Join words as a sentence does: ``"a, b and c"``."""
    parts = list(words)
    return "".join(f"{before}{part}" for before, part in zip(separators(len(parts)), parts, strict=True))


def decimals_for(value: float, digits: int = DIGITS, *, least: int = 0) -> int:
    """Return the decimals at which a value has so many significant digits, at least ``least``; negative: of tens."""
    if not value or not math.isfinite(value):
        return least
    # The exponent of the rounded number: 9.996 has one digit less after the decimal point than 9.99.
    exponent = int(f"{_beyond_half(abs(value)):.{digits - 1}e}".partition("e")[2])
    return min(max(digits - 1 - exponent, least), _MOST_DECIMALS)


def estimate_decimals(estimate: float, low: float | None, high: float | None, scale: float = 1.0) -> int:
    """Return the decimals of an estimate and its interval; negative if the interval supports no whole units.

    Above 100 units, its half-width keeps two digits. A skewed interval must not round the estimate away: two digits of
    it stay, or three without a second end.
    """
    ends = [end / scale for end in (low, high) if end is not None and math.isfinite(end)]
    half = (max(ends) - min(ends)) / 2 if len(ends) == 2 else 0.0
    if half <= 1e-12 * max(map(abs, ends), default=0.0):
        return max(interval_decimals(low, high, scale), decimals_for(estimate / scale))
    of_interval = min(decimals_for(half, 2, least=-_MOST_DECIMALS), 0) or decimals_for(half, 1)
    return max(of_interval, decimals_for(estimate / scale, 2, least=-_MOST_DECIMALS))


def _beyond_half(value: float) -> float:
    """Return a value that rounds as its decimal digits do: the double nearest to 2.675 lies below it."""
    return value if float(value).is_integer() else value + math.copysign(4 * math.ulp(value), value)


def in_tens(number: float, step: float) -> float:
    """Return a number in tens or hundreds, if its last digit ``step`` is one of these.

    >>> in_tens(2_165.0, 100.0), in_tens(2_165.0, 1.0)
    (2200.0, 2165.0)
    """
    if not step >= 10:  # NaN: not known
        return number
    place = 10.0 ** math.floor(math.log10(step) + 1e-9)
    return round(number / place) * place


def printed_decimals(step: float) -> int:
    """Return the decimals of numbers that are printed in a step: 0 of 10, 2 of 0.05."""
    return max(0, math.ceil(-math.log10(step) - 1e-9))


def interval_decimals(low: float | None, high: float | None, scale: float = 1.0) -> int:
    """Return the decimals that an interval supports: its half-width keeps one significant digit.

    An open or empty interval supports three significant digits of its ends.
    """
    ends = [end / scale for end in (low, high) if end is not None and math.isfinite(end)]
    if not ends:
        return 0
    half = (max(ends) - min(ends)) / 2
    if half > 1e-12 * max(map(abs, ends)):
        return decimals_for(half, 1)
    return decimals_for(max(ends, key=abs))


def _beside_one(low: float | None, high: float | None, decimals: int) -> int:
    """Return the decimals, at most three, at which an end beside a ratio of 1 does not read as 1."""
    while decimals < 3 and any(end is not None and end != 1 == round(end, decimals) for end in (low, high)):
        decimals += 1
    return decimals


def _with_unit(number: str, name: str) -> str:
    return f"{number} {name}" if name else number


def literal(path: str) -> str:
    """Return a glob pattern that matches one path."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def toml_text(value: str) -> str:
    """Escape a text for a basic string of TOML."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(char if char.isprintable() else _toml_escape(ord(char)) for char in escaped)


def toml_lines(**values: str) -> list[str]:
    """Return a line of TOML for each key with its text."""
    return [f'{key} = "{toml_text(value)}"' for key, value in values.items()]


def _toml_escape(code: int) -> str:
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
