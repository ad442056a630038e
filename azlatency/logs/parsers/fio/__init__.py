"""fio 2.1.4 to 3.42: normal output, JSON, terse lines, and latency, bandwidth and IOPS logs.

::

    raid0: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=64
    fio-3.33
    Starting 1 process

    raid0: (groupid=0, jobs=1): err= 0: pid=32084: Sat Nov 21 02:26:11 2026
      read: IOPS=21.2k, BW=82.6MiB/s (86.7MB/s)(413MiB/5001msec)
        slat (usec): min=3, max=9297, avg= 8.13, stdev=92.00
        clat (usec): min=51, max=44846, avg=1950.24, stdev=2138.88
         lat (usec): min=64, max=44853, avg=1958.37, stdev=2140.32
        clat percentiles (usec):
         |  1.00th=[  619],  5.00th=[  832], 10.00th=[  922], 20.00th=[ 1029],
       bw (  KiB/s): min=58024, max=98232, per=97.67%, avg=82649.78, stdev=13274.31, samples=9
       iops        : min=14506, max=24558, avg=20662.33, stdev=3318.59, samples=9
      cpu          : usr=4.30%, sys=22.08%, ctx=3358, majf=0, minf=13
         issued rwts: total=105799,45229,0,0 short=0,0,0,0 dropped=0,0,0,0
    Disk stats (read/write):
      vda: ios=102761/43720, merge=0/11, ticks=91593/38944, in_queue=130543, util=48.31%

      read : io=4096.0MB, bw=611058KB/s, iops=152764, runt=  6864msec                        up to 2.14

*Runs.* One job (with ``group_reporting`` one group of jobs) is one run. ``runs.test`` is its ``rw``, ``message_bytes``
its block size if all I/Os have the same, ``duration_ns`` the longest direction. ``started_at`` is set only for JSON of
3.36 and later: the date that other outputs print is the end of the job, without a time zone. A job with an error is
``failed``, whatever numbers follow.

*Units.* Numbers are cut to four digits and carry their own units: the first of a pair is binary and the second decimal;
``kb_base=1000`` swaps them, ``unit_base=1`` prints rates in bits, and the unit of latencies changes from line to line.
Before 2.15 a KB is 1024 bytes. The bandwidth is the printed one or, if that is more precise, bytes / time; ``printed``
is what the log shows. IOPS without a k and other whole numbers are cut, so their half-width is 1.

*Percentiles* are the middle of a histogram bucket (``plat_idx_to_val`` in stat.c; 64 buckets per power of two, about
1.6 % wide), not order statistics: ``resolution_ns`` is half the bucket plus rounding. The rank is known: the bucket is
the first one with at least q * n observations at or below it.

*Not stored.* ``per=`` (off by 1000 in 2.21), the distribution of latencies over decades (which mixes the directions),
depths, context switches, faults, ``Run status group`` (sums of the jobs above), counts of the disks except their
utilisation, the progress line, steady state.

Modules: `text` (normal output), `json_output`, `job_forms` and `job_columns` (jobs in JSON that differ from an earlier
one in their numbers only), `terse`, `latency_log`, `numbers` (sizes, percentiles and options), `run` (a job and the
tables that follow).
"""

from azlatency.logs.parsers.fio.parser import PARSER

__all__ = ["PARSER"]
