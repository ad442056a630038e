"""mtr 0.69 to 0.96: the report (``-r``, ``-w``), a copy of the screen, CSV (``-C``), JSON (``-j``) and XML (``-x``).

::

    Start: 2026-11-22T07:09:33+0000
    HOST: client-az1                  Loss%   Snt   Last   Avg  Best  Wrst StDev
      1.|-- 10.66.2.4                  0.0%    10  3074. 613.0   0.6 3074. 1098.7
      2.|-- ???                       100.0    10    0.0   0.0   0.0   0.0   0.0
      3.|-- 10.66.9.9                  0.0%    10    1.9   2.7   1.3   5.3   1.6

*Runs.* Each report is a run to the host of its last row. The other hops are streams, ``hop 1 10.66.2.4``: a router
limits the rate of its own replies, so the loss and the times of a hop are not those of the traffic that it forwards.
The run has no numbers of its own if the last row is ``???``, repeats the host above (a router reports the target as
unreachable, which mtr times like a reply), or is not the address that the log names as the target. Where the log names
none, the last row may be that of a router, because the report has no end mark: ``target_assumed``.

*Times* are round trips in ms. mtr computes in whole microseconds: it cuts the running mean after every reply
(net.c, ``nh->avg += …`` into an int), so a printed mean may be too small by half a microsecond per reply; the
resolution of ``Avg``, ``Gmean``, ``StDev`` and ``Javg`` includes that. ``Jint`` is printed 16 times too large (the
scaled estimator of RFC 1889 without the final shift); the tables contain a sixteenth.

*Digits.* The report has one decimal and the CSV two. JSON of 0.94 and later has five significant digits without
trailing zeros. A column of the report that is too narrow loses its last characters: ``3074.`` stands for 3074.0 to
3074.9; an integer that fills its column may be the beginning of a longer one and is left out (``cut_number``).

*Counts.* ``Snt`` includes probes that are still under way at the end, so received and lost probes do not follow from
``Snt`` and ``Loss%``; they are stored only if the columns ``Rcv`` and ``Drop`` are printed.

*Dates.* ``Start:`` has a time zone from 0.90 on; older ones are local times and not stored. ``Start_Time`` of the CSV
is the time at which mtr ended, and is not stored either.
"""

from azlatency.more_tools.mtr.parser import PARSER

__all__ = ["PARSER"]
