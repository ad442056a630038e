"""The mappings by tool, named like the folders of the corpora."""

from __future__ import annotations

from conformance import (
    echo,
    fio,
    fping,
    iostat,
    iperf2,
    iperf3,
    lagscope,
    latte,
    netperf,
    ntttcp,
    ping,
    psping,
    qperf,
    sockperf,
)
from conformance.core import Mapping

MAPPINGS: dict[str, Mapping] = {
    "sockperf": sockperf.compare,
    "qperf": qperf.compare,
    "latte": latte.compare,
    "ping": ping.compare,
    "fping": fping.compare,
    "psping": psping.compare,
    "lagscope": lagscope.compare,
    "netperf": netperf.compare,
    "echo_test": echo.compare,
    "iperf3": iperf3.compare,
    "iperf2": iperf2.compare,
    "ntttcp": ntttcp.compare,
    "fio": fio.compare,
    "iostat": iostat.compare,
}
