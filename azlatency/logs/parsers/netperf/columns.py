"""The columns of netperf's omni tests: the name in ``-k`` and the title of the same column in ``-o`` and ``-O``.

To read a new column, add its line here and its metric in `azlatency.logs.parsers.netperf.omni`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from azlatency.logs.lines import Line

_COLUMNS = """
COMMAND_LINE|Command Line
UUID|Test UUID
RESULT_BRAND|Result Tag
SOCKET_TYPE|Socket Type
DIRECTION|Direction
PROTOCOL|Protocol
ELAPSED_TIME|Elapsed Time (sec)
SOURCE_PORT|Source Port
SOURCE_ADDR|Source Address
SOURCE_FAMILY|Source Family
DEST_PORT|Destination Port
DEST_ADDR|Destination Address
DEST_FAMILY|Destination Family
THROUGHPUT|Throughput
LOCAL_SEND_THROUGHPUT|Local Send Throughput
LOCAL_RECV_THROUGHPUT|Local Recv Throughput
REMOTE_SEND_THROUGHPUT|Remote Send Throughput
REMOTE_RECV_THROUGHPUT|Remote Recv Throughput
THROUGHPUT_UNITS|Throughput Units
CONFIDENCE_LEVEL|Confidence Level Percent
CONFIDENCE_INTERVAL|Confidence Width Target
CONFIDENCE_ITERATION|Confidence Iterations Run
THROUGHPUT_CONFID|Throughput Confidence Width (%)
LOCAL_CPU_CONFID|Local CPU Confidence Width (%)
REMOTE_CPU_CONFID|Remote CPU Confidence Width (%)
RT_LATENCY|Round Trip Latency usec/tran
TRANSACTION_RATE|Transaction Rate Tran/s
TRANSPORT_MSS|Transport MSS bytes
LOCAL_TRANSPORT_RETRANS|Local Transport Retransmissions
REMOTE_TRANSPORT_RETRANS|Remote Transport Retransmissions
REQUEST_SIZE|Request Size Bytes
RESPONSE_SIZE|Response Size Bytes
BURST_SIZE|Initial Burst Requests
LSS_SIZE_REQ|Local Send Socket Size Requested
LSS_SIZE|Local Send Socket Size Initial
LSS_SIZE_END|Local Send Socket Size Final
LSR_SIZE_REQ|Local Recv Socket Size Requested
LSR_SIZE|Local Recv Socket Size Initial
LSR_SIZE_END|Local Recv Socket Size Final
LOCAL_SEND_SIZE|Local Send Size
LOCAL_RECV_SIZE|Local Recv Size
LOCAL_SEND_CALLS|Local Send Calls
LOCAL_RECV_CALLS|Local Recv Calls
LOCAL_BYTES_PER_RECV|Local Bytes Per Recv
LOCAL_BYTES_PER_SEND|Local Bytes Per Send
LOCAL_BYTES_RECVD|Local Bytes Received
LOCAL_BYTES_SENT|Local Bytes Sent
LOCAL_BYTES_XFERD|Local Bytes Xferred
LOCAL_SEND_WIDTH|Local Send Width
LOCAL_RECV_WIDTH|Local Recv Width
LOCAL_SEND_OFFSET|Local Send Offset
LOCAL_RECV_OFFSET|Local Recv Offset
LOCAL_RECV_ALIGN|Local Recv Alignment
LOCAL_SEND_ALIGN|Local Send Alignment
LOCAL_SEND_DIRTY_COUNT|Local Send Dirty Count
LOCAL_RECV_DIRTY_COUNT|Local Recv Dirty Count
LOCAL_RECV_CLEAN_COUNT|Local Recv Clean Count
LOCAL_CPU_UTIL|Local CPU Util %
LOCAL_CPU_PERCENT_USER|Local CPU User %
LOCAL_CPU_PERCENT_SYSTEM|Local CPU System %
LOCAL_CPU_PERCENT_IOWAIT|Local CPU I/O %
LOCAL_CPU_PERCENT_IRQ|Local CPU IRQ %
LOCAL_CPU_PERCENT_SWINTR|Local CPU swintr %
LOCAL_CPU_PEAK_UTIL|Local Peak Per CPU Util %
LOCAL_CPU_PEAK_ID|Local Peak Per CPU ID
LOCAL_CPU_BIND|Local CPU Bind
LOCAL_SD|Local Service Demand
SD_UNITS|Service Demand Units
LOCAL_CPU_METHOD|Local CPU Util Method
LOCAL_CPU_COUNT|Local CPU Count
LOCAL_NODELAY|Local NODELAY
LOCAL_CORK|Local Cork
RSS_SIZE_REQ|Remote Send Socket Size Requested
RSS_SIZE|Remote Send Socket Size Initial
RSS_SIZE_END|Remote Send Socket Size Final
RSR_SIZE_REQ|Remote Recv Socket Size Requested
RSR_SIZE|Remote Recv Socket Size Initial
RSR_SIZE_END|Remote Recv Socket Size Final
REMOTE_SEND_SIZE|Remote Send Size
REMOTE_RECV_SIZE|Remote Recv Size
REMOTE_SEND_CALLS|Remote Send Calls
REMOTE_RECV_CALLS|Remote Recv Calls
REMOTE_BYTES_PER_RECV|Remote Bytes Per Recv
REMOTE_BYTES_PER_SEND|Remote Bytes Per Send
REMOTE_BYTES_RECVD|Remote Bytes Received
REMOTE_BYTES_SENT|Remote Bytes Sent
REMOTE_BYTES_XFERD|Remote Bytes Xferred
REMOTE_SEND_WIDTH|Remote Send Width
REMOTE_RECV_WIDTH|Remote Recv Width
REMOTE_SEND_OFFSET|Remote Send Offset
REMOTE_RECV_OFFSET|Remote Recv Offset
REMOTE_RECV_ALIGN|Remote Recv Alignment
REMOTE_SEND_ALIGN|Remote Send Alignment
REMOTE_SEND_DIRTY_COUNT|Remote Send Dirty Count
REMOTE_RECV_DIRTY_COUNT|Remote Recv Dirty Count
REMOTE_RECV_CLEAN_COUNT|Remote Recv Clean Count
REMOTE_CPU_UTIL|Remote CPU Util %
REMOTE_CPU_PERCENT_USER|Remote CPU User %
REMOTE_CPU_PERCENT_SYSTEM|Remote CPU System %
REMOTE_CPU_PERCENT_IOWAIT|Remote CPU I/O %
REMOTE_CPU_PERCENT_IRQ|Remote CPU IRQ %
REMOTE_CPU_PERCENT_SWINTR|Remote CPU swintr %
REMOTE_CPU_PEAK_UTIL|Remote Peak Per CPU Util %
REMOTE_CPU_PEAK_ID|Remote Peak Per CPU ID
REMOTE_CPU_BIND|Remote CPU Bind
REMOTE_SD|Remote Service Demand
REMOTE_CPU_METHOD|Remote CPU Util Method
REMOTE_CPU_COUNT|Remote CPU Count
REMOTE_NODELAY|Remote NODELAY
REMOTE_CORK|Remote Cork
LOCAL_DRIVER_NAME|Local Driver Name
LOCAL_DRIVER_VERSION|Local Driver Version
LOCAL_DRIVER_FIRMWARE|Local Driver Firmware
LOCAL_DRIVER_BUS|Local Driver Bus
REMOTE_DRIVER_NAME|Remote Driver Name
REMOTE_DRIVER_VERSION|Remote Driver Version
REMOTE_DRIVER_FIRMWARE|Remote Driver Firmware
REMOTE_DRIVER_BUS|Remote Driver Bus
LOCAL_INTERFACE_SUBDEVICE|Local Interface Subdevice
LOCAL_INTERFACE_DEVICE|Local Interface Device
LOCAL_INTERFACE_SUBVENDOR|Local Interface Subvendor
LOCAL_INTERFACE_VENDOR|Local Interface Vendor
REMOTE_INTERFACE_SUBDEVICE|Remote Interface Subdevice
REMOTE_INTERFACE_DEVICE|Remote Interface Device
REMOTE_INTERFACE_SUBVENDOR|Remote Interface Subvendor
REMOTE_INTERFACE_VENDOR|Remote Interface Vendor
LOCAL_INTERFACE_NAME|Local Interface Name
REMOTE_INTERFACE_NAME|Remote Interface Name
LOCAL_INTERFACE_SLOT|Local Interface Slot
REMOTE_INTERFACE_SLOT|Remote Interface Slot
REMOTE_MACHINE|Remote Machine
REMOTE_VERSION|Remote Version
REMOTE_RELEASE|Remote Release
REMOTE_SYSNAME|Remote Sysname
LOCAL_MACHINE|Local Machine
LOCAL_VERSION|Local Version
LOCAL_RELEASE|Local Release
LOCAL_SYSNAME|Local Sysname
REMOTE_INTERVAL_USECS|Remote Interval Usecs
REMOTE_INTERVAL_BURST|Remote Interval Burst
LOCAL_SECURITY_ENABLED|Local OS Security Enabled
LOCAL_SECURITY_TYPE|Local OS Security Type
LOCAL_SECURITY_SPECIFIC|Local OS Security Specific
LOCAL_SECURITY_ENABLED_NUM|Local OS Security Enabled Num
LOCAL_SECURITY_TYPE_ID|Local OS Security Type ID
REMOTE_SECURITY_ENABLED|Remote OS Security Enabled
REMOTE_SECURITY_TYPE|Remote OS Security Type
REMOTE_SECURITY_SPECIFIC|Remote OS Security Specific
REMOTE_SECURITY_ENABLED_NUM|Remote OS Security Enabled
REMOTE_SECURITY_TYPE_ID|Remote OS Security Type
LOCAL_INTERVAL_USECS|Local Interval Usecs
LOCAL_INTERVAL_BURST|Local Interval Burst
REMOTE_SYSTEM_MODEL|Remote System Model
REMOTE_CPU_MODEL|Remote CPU Model
REMOTE_CPU_FREQUENCY|Remote CPU Frequency MHz
LOCAL_SYSTEM_MODEL|Local System Model
LOCAL_CPU_MODEL|Local CPU Model
LOCAL_CPU_FREQUENCY|Local CPU Frequency MHz
MIN_LATENCY|Minimum Latency Microseconds
MAX_LATENCY|Maximum Latency Microseconds
P50_LATENCY|50th Percentile Latency Microseconds
P90_LATENCY|90th Percentile Latency Microseconds
P99_LATENCY|99th Percentile Latency Microseconds
MEAN_LATENCY|Mean Latency Microseconds
STDDEV_LATENCY|Stddev Latency Microseconds
LOCAL_SOCKET_PRIO|Local Socket Priority
REMOTE_SOCKET_PRIO|Remote Socket Priority
LOCAL_SOCKET_TOS|Local Socket TOS
REMOTE_SOCKET_TOS|Remote Socket TOS
LOCAL_CONG_CONTROL|Local Congestion Control Algorithm
REMOTE_CONG_CONTROL|Remote Congestion Control Algorithm
LOCAL_FILL_FILE|Local Fill File
REMOTE_FILL_FILE|Remote Fill File
"""

#: Name by title. Two columns share a title twice (remote OS security); neither is read.
NAMES = {title: name for name, title in (row.split("|") for row in _COLUMNS.split("\n") if row)}

KEYS = tuple(row.split("|")[0] for row in _COLUMNS.split("\n") if row)

_MOST_TITLE_LINES = 4
_LONGEST = 4000


class Table(NamedTuple):
    """A table of ``-O``: the indexes of its first title line and of its line of values, and the values by name."""

    first: int
    row: int
    values: dict[str, str]


def find_tables(lines: Sequence[Line]) -> list[Table]:
    """Find the tables of ``-O``.

    Columns are separated by blanks that all lines of the table share. A table with an unknown title is not one.
    """
    tables: dict[int, Table] = {}
    for index, line in enumerate(lines):
        if "," in line.text or not (line.text[:1].isdigit() or line.text[:2].lstrip("-").isdigit()):
            continue
        for height in range(min(_MOST_TITLE_LINES, index), 0, -1):
            titles = [title_line.text for title_line in lines[index - height : index]]
            if not titles[0].strip() or any(len(text) > _LONGEST for text in (*titles, line.text)):
                continue
            if values := _values_by_name(titles, line.text):
                tables[index - height] = Table(index - height, index, values)
                break
    return list(tables.values())


def _values_by_name(titles: list[str], values: str) -> dict[str, str] | None:
    """Return the values under the titles, or None if this is not a table of an omni test."""
    width = max(len(text) for text in (*titles, values))
    padded = [text.ljust(width) for text in (*titles, values)]
    between = (" ",) * len(padded)
    blank = [characters == between for characters in zip(*padded, strict=True)]
    starts = [column for column in range(width) if not blank[column] and (column == 0 or blank[column - 1])]
    value_by_name: dict[str, str] = {}
    for start, stop in zip(starts, [*starts[1:], width], strict=True):
        *title_parts, value = [text[start:stop].strip() for text in padded]
        name = NAMES.get(" ".join(part for part in title_parts if part))
        if name is None or not value or "," in value:
            return None
        value_by_name[name] = value
    return value_by_name or None
