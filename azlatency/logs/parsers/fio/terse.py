"""The terse output of fio (``--minimal``), versions 3, 4 and 5: one line per job, fields by position.

::

    3;fio-3.33;raid0;0;0;567360;113449;28362;5001;3;15106;8.675390;103.599024;346;70207;2246.728061;…;36.35%

After version, name, group and error follow the blocks of read, write and, since version 4, trim: KiB, KiB/s, IOPS, ms;
submission latency (minimum, maximum, mean, deviation in us), completion latency, 20 percentiles ``p%=us``, total
latency; minimum, maximum, share, mean and deviation of the bandwidth; in version 5 the number of these samples and five
numbers of the IOPS. Then follow CPU shares, context switches, faults, distributions of depths and latencies, and nine
fields per disk. A line with any other number of fields is unknown. Whole numbers are cut, not rounded.
"""

from __future__ import annotations

import re

from azlatency.logs.grammar.units import Quantity, count, nanoseconds, quantity
from azlatency.logs.parsers.fio.numbers import cut, percentile
from azlatency.logs.parsers.fio.run import Direction, Job, Percentile

LINE = r"[345];fio-[\w.+-]{1,60};[^;]{0,200};\d{1,9};-?\d{1,9};[\d.;].{50,3500}"
_LINE = re.compile(LINE)
_NUMBER = re.compile(r"-?\d{1,20}(?:\.\d{1,12})?%?")
_PERCENTILE = re.compile(r"(\d{1,3}(?:\.\d{1,8})?)%=(\d{1,18})")
_PERCENTILES = 20
_HEADER, _TAIL, _DISK = 5, 34, 9
_BLOCK = {3: 41, 4: 41, 5: 47}
_KINDS = {3: ("read", "write"), 4: ("read", "write", "trim"), 5: ("read", "write", "trim")}


def read_terse_line(text: str, number: int) -> Job | None:
    """Return the job of a line, or None if it is not a terse line."""
    if _LINE.fullmatch(text) is None:
        return None
    fields = text.split(";")
    form = int(fields[0])
    width = _BLOCK[form]
    tail_start = _HEADER + width * len(_KINDS[form])
    disks = len(fields) - tail_start - _TAIL
    if disks < 0 or disks % _DISK:
        return None
    job = Job(
        name=fields[2],
        line=number,
        dialect=f"fio-terse-v{form}",
        version=fields[1].removeprefix("fio-"),
        group=int(fields[3]),
        error=int(fields[4]),
        last_line=number,
    )
    for index, kind in enumerate(_KINDS[form]):
        block = fields[_HEADER + index * width : _HEADER + (index + 1) * width]
        if not _read_direction(job, block, kind, number):
            return None
    tail = fields[tail_start:]
    shares = tail[_TAIL + _DISK - 1 :: _DISK]
    if not all(_NUMBER.fullmatch(field.removesuffix("%")) for field in (*tail[:_TAIL], *shares)):
        return None
    job.process = [("cpu_user", _share(tail[0]), number), ("cpu_system", _share(tail[1]), number)]
    for start in range(_TAIL, len(tail), _DISK):
        job.disks.append((tail[start], _share(tail[start + _DISK - 1]), number))
    return job


def _share(token: str) -> Quantity:
    return quantity(token.removesuffix("%"), "%")


def _read_direction(job: Job, block: list[str], kind: str, line: int) -> bool:
    plain = block[:12] + block[12 + _PERCENTILES :]
    if not all(_NUMBER.fullmatch(field) for field in plain):
        return False
    direction = Direction(kind, line)
    direction.add("transferred", cut(block[0], "KiB"), line)
    direction.add("bandwidth", cut(block[1], "fio KiB/s"), line)
    direction.add("iops", cut(block[2], "fio IOPS"), line)
    if direction.idle:
        return True
    direction.runtime_ns = nanoseconds(block[3], "msec") or None
    for metric, start in (("submission_latency", 4), ("completion_latency", 8), ("total_latency", 32)):
        latency = block[start : start + 4]
        if any(field.strip("0.") for field in latency):
            for ending, token in zip(("min", "max", "mean", "sd"), latency, strict=True):
                direction.add(f"{metric}_{ending}", cut(token, "usec"), line)
    for field in block[12 : 12 + _PERCENTILES]:
        pair = _PERCENTILE.fullmatch(field)
        if pair is None:
            return False
        if pair[1].strip("0."):
            value = percentile(pair[2], "usec", old=job.old)
            q = quantity(pair[1], "%").value
            direction.percentiles.append(Percentile("completion_latency", q, value, line))
    _add_samples(direction, block[36:], line)
    job.directions[kind] = direction
    return True


def _add_samples(direction: Direction, block: list[str], line: int) -> None:
    """Add the statistics of the bandwidth samples and, in version 5, of the IOPS samples."""
    if block[3].strip("0."):
        for name, place in (("min", 0), ("max", 1), ("mean", 3), ("sd", 4)):
            direction.add(f"bandwidth_{name}", cut(block[place], "fio KiB/s"), line)
    if len(block) > 5 and block[5].strip("0"):
        direction.add("bandwidth_samples", count(block[5]), line)
    if len(block) > 10 and block[10].strip("0"):
        for name, place in (("min", 6), ("max", 7), ("mean", 8), ("sd", 9)):
            direction.add(f"iops_{name}", cut(block[place], "fio IOPS"), line)
        direction.add("iops_samples", count(block[10]), line)
