"""iostat (sysstat) 10 to 12.7: text in all layouts, and JSON.

::

    Linux 6.18.44-lab (az1a)        11/21/26        _x86_64_        (2 CPU)

    11/21/26 02:27:05                                                                  -t
    avg-cpu:  %user   %nice %system %iowait  %steal   %idle
              75.00    0.00   24.51    0.00    0.49    0.00

    Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd
    vda           19309.90       720.79     76550.50         7.92        728      77316          8

    Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s  …  f/s f_await  aqu-sz  %util       -x
    Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await  …  svctm  %util  (11.4)
         r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device                                                --pretty
    {"sysstat": {"hosts": [{"nodename": …, "statistics": [{"timestamp": …, "avg-cpu": {…}, "disk": [{…}]}]}]}}

**One report is one run**, so that every number keeps its line. Reports are not averaged: the log does not say which of
them belong to a test.

*Runs.* ``runs.test`` is ``since_boot`` for the first report, which covers the time since the host started, and
``report`` for the others. The first one is a ``report`` too if the command contains ``-y`` or if two empty lines follow
the banner. ``duration_ns`` is the difference of two time stamps (``-t``, whole seconds); ``started_at`` is the earlier
of them if it has a time zone. The interval of the command is ``requested_duration_ns``.

*Metrics.* Device metrics have ``side`` device and the name of the device as ``stream``; CPU metrics have ``scope``
host. A group of devices (``-g``) is a sum, so its ``scope`` is run. Columns become metrics by their names
(`azlatency.logs.parsers.iostat.columns`).

*Units.* kB and MB are powers of 1024; blocks and sectors are 512 bytes. With ``-h`` every number has its own suffix,
although the header still says kB. A decimal comma is read as a point.

*Interpretation.* A utilisation of 1 is not saturation if the device serves requests in parallel; time spent waiting for
disks counts as idle; sysstat's authors call ``service_time_mean`` unreliable and removed it.

Modules: `columns` (names and units), `reports` (what text and JSON share), `text`, `json_output`, `json_columns` (the
numbers of a long document).
"""

from azlatency.logs.parsers.iostat.parser import PARSER

__all__ = ["PARSER"]
