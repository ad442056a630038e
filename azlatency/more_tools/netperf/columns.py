"""The columns of netperf's omni tests: the name in ``-k`` and the title of the same column in ``-o`` and ``-O``.

To read a new column, add its name here and its metric in `azlatency.more_tools.netperf.omni`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from azlatency.logs.source.lines import Line

#: Columns whose title has the words of the name; ``*`` stands for LOCAL and for REMOTE.
_COLUMNS = """
COMMAND_LINE SOCKET_TYPE DIRECTION PROTOCOL SOURCE_PORT SOURCE_ADDR SOURCE_FAMILY DEST_PORT DEST_ADDR DEST_FAMILY
THROUGHPUT *_SEND_THROUGHPUT *_RECV_THROUGHPUT THROUGHPUT_UNITS THROUGHPUT_CONFID *_CPU_CONFID TRANSPORT_MSS
*_TRANSPORT_RETRANS LSS_SIZE_REQ LSS_SIZE_END LSR_SIZE_REQ LSR_SIZE_END *_SEND_SIZE *_RECV_SIZE *_SEND_CALLS
*_RECV_CALLS *_BYTES_PER_RECV *_BYTES_PER_SEND *_BYTES_RECVD *_BYTES_SENT *_BYTES_XFERD *_SEND_WIDTH *_RECV_WIDTH
*_SEND_OFFSET *_RECV_OFFSET *_RECV_ALIGN *_SEND_ALIGN *_SEND_DIRTY_COUNT *_RECV_DIRTY_COUNT *_RECV_CLEAN_COUNT
*_CPU_UTIL *_CPU_BIND *_SD SD_UNITS *_CPU_METHOD *_CPU_COUNT *_NODELAY *_CORK RSS_SIZE_REQ RSS_SIZE_END RSR_SIZE_REQ
RSR_SIZE_END *_DRIVER_NAME *_DRIVER_VERSION *_DRIVER_FIRMWARE *_DRIVER_BUS *_INTERFACE_SUBDEVICE *_INTERFACE_DEVICE
*_INTERFACE_SUBVENDOR *_INTERFACE_VENDOR *_INTERFACE_NAME *_INTERFACE_SLOT *_MACHINE *_VERSION *_RELEASE *_SYSNAME
*_SECURITY_ENABLED *_SECURITY_TYPE *_SECURITY_SPECIFIC LOCAL_SECURITY_ENABLED_NUM *_INTERVAL_USECS *_INTERVAL_BURST
*_SYSTEM_MODEL *_CPU_MODEL *_CPU_FREQUENCY MIN_LATENCY MAX_LATENCY P50_LATENCY P90_LATENCY P99_LATENCY MEAN_LATENCY
STDDEV_LATENCY *_SOCKET_PRIO *_SOCKET_TOS *_FILL_FILE
"""
#: The words that a title spells in another way.
_WORDS = {
    "CPU": "CPU", "TOS": "TOS", "NODELAY": "NODELAY", "ADDR": "Address", "DEST": "Destination", "RECVD": "Received",
    "XFERD": "Xferred", "ALIGN": "Alignment", "RETRANS": "Retransmissions", "PRIO": "Priority", "REQ": "Requested",
    "END": "Final", "MIN": "Minimum", "MAX": "Maximum", "P50": "50th Percentile", "P90": "90th Percentile",
    "P99": "99th Percentile", "LATENCY": "Latency Microseconds", "SECURITY": "OS Security", "SD": "Service Demand",
    "MSS": "MSS bytes", "FREQUENCY": "Frequency MHz", "CONFID": "Confidence Width (%)", "UTIL": "Util %",
    "METHOD": "Util Method", "LSS": "Local Send Socket", "LSR": "Local Recv Socket", "RSS": "Remote Send Socket",
    "RSR": "Remote Recv Socket",
}  # fmt: skip
_OTHER_TITLES = """
UUID|Test UUID
RESULT_BRAND|Result Tag
ELAPSED_TIME|Elapsed Time (sec)
CONFIDENCE_LEVEL|Confidence Level Percent
CONFIDENCE_INTERVAL|Confidence Width Target
CONFIDENCE_ITERATION|Confidence Iterations Run
RT_LATENCY|Round Trip Latency usec/tran
TRANSACTION_RATE|Transaction Rate Tran/s
REQUEST_SIZE|Request Size Bytes
RESPONSE_SIZE|Response Size Bytes
BURST_SIZE|Initial Burst Requests
LSS_SIZE|Local Send Socket Size Initial
LSR_SIZE|Local Recv Socket Size Initial
*_CPU_PERCENT_USER|* CPU User %
*_CPU_PERCENT_SYSTEM|* CPU System %
*_CPU_PERCENT_IOWAIT|* CPU I/O %
*_CPU_PERCENT_IRQ|* CPU IRQ %
*_CPU_PERCENT_SWINTR|* CPU swintr %
*_CPU_PEAK_UTIL|* Peak Per CPU Util %
*_CPU_PEAK_ID|* Peak Per CPU ID
RSS_SIZE|Remote Send Socket Size Initial
RSR_SIZE|Remote Recv Socket Size Initial
LOCAL_SECURITY_TYPE_ID|Local OS Security Type ID
REMOTE_SECURITY_ENABLED_NUM|Remote OS Security Enabled
REMOTE_SECURITY_TYPE_ID|Remote OS Security Type
*_CONG_CONTROL|* Congestion Control Algorithm
"""


def _name_by_title() -> dict[str, str]:
    """Return the name of each column by its title. Two columns share a title twice (remote OS security)."""
    names = {}
    for column in (*_COLUMNS.split(), *_OTHER_TITLES.strip().split("\n")):
        name, _, title = column.partition("|")
        title = title or " ".join(_WORDS.get(word, word.capitalize()) for word in name.split("_"))
        for side in ("Local", "Remote") if "*" in name else ("",):
            names[title.replace("*", side)] = name.replace("*", side.upper())
    return names


NAMES = _name_by_title()
#: Those that a later column of the same title replaces are not read.
KEYS = (*NAMES.values(), "REMOTE_SECURITY_ENABLED", "REMOTE_SECURITY_TYPE")

#: Every title and the words that it begins with.
_BEGINNINGS = frozenset(" ".join(words[:end]) for words in map(str.split, NAMES) for end in range(len(words) + 1))
_WORD = re.compile(r"\S+")
_MOST_TITLE_LINES = 4
_LONGEST = 4000


class ColumnTable(NamedTuple):
    """A table of ``-O``: the indexes of its first title line and of its line of values, and the values by name."""

    first: int
    row: int
    values: dict[str, str]


def find_tables(lines: Sequence[Line]) -> list[ColumnTable]:
    """Find the tables of ``-O``.

    Columns are separated by blanks that all lines of the table share. A table with an unknown title is not one.
    """
    tables: dict[int, ColumnTable] = {}
    for index, line in enumerate(lines):
        if "," in line.text or not (line.text[:1].isdigit() or line.text[:2].lstrip("-").isdigit()):
            continue
        for height in range(min(_MOST_TITLE_LINES, index), 0, -1):
            titles = [title_line.text for title_line in lines[index - height : index]]
            if not titles[0].strip() or any(len(text) > _LONGEST for text in (*titles, line.text)):
                continue
            if values := _values_by_name(titles, line.text) or _values_by_name(_indent(titles, line.text), line.text):
                tables[index - height] = ColumnTable(index - height, index, values)
                break
    return list(tables.values())


def _indent(titles: list[str], values: str) -> list[str]:
    """Return lines of titles with the blanks that a copy has lost, so that they continue the titles above them.

    The list is empty if there is not exactly one place for the words of a line.
    """
    starts = [word.start() for word in _WORD.finditer(values)]
    parts, indented = [""] * len(starts), list[str]()
    for title in titles:
        lost = starts if indented and title[:1] != " " else starts[:1]
        places = [
            (line, joined)
            for line in (" " * blanks + title for blanks in lost)
            if (joined := _join(parts, line, starts))
        ]
        if len(places) != 1:
            return []
        line, parts = places[0]
        indented.append(line)
    return indented


def _join(parts: list[str], line: str, starts: Sequence[int]) -> list[str]:
    """Return the titles of columns with the words of another line; empty if a column has no title that begins so."""
    if any(start and line[start - 1 : start].strip() for start in starts):
        return []
    cells = (line[start:stop].strip() for start, stop in pairwise([*starts, len(line)]))
    joined = [f"{part} {cell}".strip() for part, cell in zip(parts, cells, strict=True)]
    return joined if _BEGINNINGS.issuperset(joined) else []


def _values_by_name(titles: list[str], values: str) -> dict[str, str] | None:
    """Return the values under the titles, or None if this is not a table of an omni test."""
    if not titles:
        return None
    width = max(len(text) for text in (*titles, values))
    padded = [text.ljust(width) for text in (*titles, values)]
    value_by_name: dict[str, str] = {}
    for start, stop in pairwise(chain(_find_starts(padded), [width])):
        *title_parts, value = [text[start:stop].strip() for text in padded]
        name = NAMES.get(" ".join(part for part in title_parts if part))
        if name is None or not value or "," in value:
            return None
        value_by_name[name] = value
    return value_by_name or None


def _find_starts(padded: list[str]) -> Iterator[int]:
    """Yield where columns start; nearly all tables are not those of an omni test, which the first column shows."""
    between, is_between = (" ",) * len(padded), True
    for at, characters in enumerate(zip(*padded, strict=True)):
        was_between, is_between = is_between, characters == between
        if was_between and not is_between:
            yield at
