"""iperf2: the corpus has the last row as printed, and counts of rows."""

from __future__ import annotations

import re

from conformance.core import Case
from conformance.iperf3 import _BITS, _KIBI, moler

_TIMES = r"\]\s*([\d.]+)-([\d.]+) sec\s+"


def compare(case: Case) -> None:
    """Compare the last row of one log."""
    wanted = case.expected
    if "moler_report" in wanted:
        moler(case)
        return
    for row in wanted.get("last_row") or []:
        _row(case, row)
    # The corpus counts what stands behind the last line feed as a line.
    case.check("lines", wanted.get("lines"), [case.tables.rows["sources"][0]["lines"] + case.text().endswith("\n")])
    case.facts("data_rows", "csv_rows", "last_row")


def _row(case: Case, row: str) -> None:
    cells = row.split(",")
    if len(cells) >= 9 and cells[0].isdigit():
        case.check("last_row.bytes", int(cells[7]), case.metric("transferred"))
        case.check("last_row.rate", int(cells[8]), case.metric("throughput"))
        if len(cells) >= 13:
            case.check("last_row.lost", int(cells[10]), case.metric("lost"))
            case.check("last_row.datagrams", int(cells[11]), case.metric("datagrams"))
            case.check("last_row.jitter", float(cells[9]) * 1e6, case.metric("jitter"))
        return
    if match := re.search(_TIMES + r"([\d.]+) (\w+)\s+([\d.]+) (\w+)/sec(.*)", row):
        case.check("last_row.bytes", float(match[3]) * _KIBI[match[4]], case.metric("transferred"), tolerance=1e-6)
        case.check("last_row.rate", float(match[5]) * _BITS[match[6]], case.metric("throughput"), tolerance=1e-6)
        if loss := re.search(r"([\d.]+) ms\s+(\d+)/(\d+) \(", match[7]):
            case.check("last_row.lost", int(loss[2]), case.metric("lost"))
            case.check("last_row.datagrams", int(loss[3]), case.metric("datagrams"))
            case.check("last_row.jitter", float(loss[1]) * 1e6, case.metric("jitter"))
    elif match := re.search(r"cnt\((\d+)\)=(\S+)", row):
        pairs = [pair.split(":") for pair in match[2].split(",")]
        buckets = case.buckets()
        case.check("last_row.histogram", int(match[1]), [sum(bucket["count"] for bucket in buckets)] if buckets else [])
        rows = [bucket["count"] for bucket in buckets]
        case.check("last_row.histogram", True, [rows == [int(count) for _, count in pairs]])
