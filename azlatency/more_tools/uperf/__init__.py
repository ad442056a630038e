"""uperf 1.0: a profile of transactions, run by threads or processes of a master against a slave.

::

    Starting 2 threads running profile:stream ...   0.00 seconds
    Txn1            0 /   1.00(s) =            0           2op/s
    Txn2      37.69GB /   4.20(s) =    77.05Gb/s      587867op/s
    Txn3            0 /   0.00(s) =            0       23204op/s
    -------------------------------------------------------------------------------
    Total     37.69GB /   6.20(s) =    52.18Gb/s      398114op/s

*Rates.* A transaction is a step of the profile: Txn1 connects, Txn2 moves the data, Txn3 disconnects. ``Total`` divides
the bytes by the time of all steps, and connecting alone lasts a whole second because uperf looks once per second
(master.c, ``master_poll``). So the throughput of the run is that of the transaction that moved all the data; each
transaction and ``Total`` are streams. uperf notices the end of a transaction up to 0.2 s late, which makes its rate too
small by 0.2 s / duration: ``end_noticed_late`` below 20 s.

*Directions.* The bytes are those of all operations: written, read, or both. The table ``Flowop`` tells which. A profile
that writes and reads has no throughput of one direction, and without the table the direction is unknown.

*Round trips.* If each iteration of the transaction is one write and one read, its time in the table ``Txn`` is a round
trip with the time of both calls. That table counts transactions from 0, the lines above from 1. Its minimum is that of
the iteration that the end of the test interrupts, unless all writes were answered; it is left out then.

*Digits.* Bytes have prefixes of 1024, bits of 1000 (numbers.c, ``decimal_to_string``). The column of the bytes is too
narrow: ``196.66M`` has lost its B, and ``1000.00`` has lost MB too and is left out (``cut_number``).

*Two ends.* ``Run Statistics`` repeats the totals and has those of the slave; a sender counts what it has written, which
may be more than the slave has read: ``ends_disagree`` above 1 %.

*Repetitions.* If an operation is repeated (``count=16``), the mean in the table ``Flowop`` is that of one repetition,
and the extremes are those of all; the extremes are left out (``repeated_operation``).

*Not stored.* ``Group Details`` counts the bytes of an operation once however often it is repeated, and once more for
each table that is printed. A minimum of ``0.00ns`` is that of a thread without iterations. A maximum such as
``184467440ms`` is a clock that was set back, as a number of 64 bits (``clock_step``).
"""

from azlatency.more_tools.uperf.parser import PARSER

__all__ = ["PARSER"]
