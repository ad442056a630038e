"""One row per run that measured throughput, and two per run that measured both directions at once."""

from __future__ import annotations

import pandas as pd

from azlatency.logs.schema import document
from azlatency.logs.tables import Logs
from azlatency.studies.runs.key import SENDER
from azlatency.studies.runs.run_table import (
    REVERSE,
    ROLES_OF_TEST,
    SIDES,
    STEP,
    by_run_id,
    client_runs,
    names_of,
    once_per_study,
    refuse_doubtful,
    stream_rows,
)
from azlatency.studies.store.study import Study

#: Columns of a counted throughput that its row has.
_COUNTED = ["value", "printed", "printed_unit", "resolution"]


def throughput(study: Study | Logs, *, sender_only: bool = False) -> pd.DataFrame:
    """Return one row per run that measured throughput, and two per run that measured both directions at once.

    Parameters
    ----------
    study : Study or Logs
        An imported study or parsed logs.
    sender_only : bool, default False
        Also return the runs whose receiver's count is unknown, with the rate at which the sender handed its data over.
        Their ``method`` ends in ``(sender)``, so that they are never pooled with the others.

    Returns
    -------
    DataFrame
        The columns of `azlatency.studies.run_table`, and for each run:

        - ``throughput_bit_s``: goodput in bit/s, ``float64``;
        - ``side``: ``"receiver"`` or ``"sender"``, the end that counted it;
        - ``printed``, ``printed_unit``: the value as printed;
        - ``throughput_bit_s_resolution``: step of the printed value, in bit/s;
        - ``retransmits``, ``retransmits_scope``: number of retransmitted segments, and what it covers.

    Notes
    -----
    The count of the receiver is the goodput, and is taken from the receiver's log if there is one. The count of the
    sender is not: it contains what still waits in buffers, which for a short test may be all of it.

    A bidirectional test (``--bidir``) has a goodput per direction under the load of the other, and two rows: ``test``
    and ``method`` are ``stream-bidir`` for data from client to server, and ``stream-bidir-reverse`` for data from
    server to client, where ``-reverse`` is appended to the ``run_id`` as well.

    Examples
    --------
    >>> import azlatency as az
    >>> runs = az.throughput(az.load("westeurope-azure-cni"))
    >>> print(runs[["path", "method", "throughput_bit_s", "side"]].head(2).to_string(index=False))
           path       method  throughput_bit_s     side
    Single node   iperf3 TCP      2.570000e+10 receiver
    Single node qperf tcp_bw      2.256000e+10 receiver
    """
    runs = document(_throughput(study), "runs", "run_table", "throughput")
    return runs if sender_only else runs[runs["side"] == "receiver"]


@once_per_study
def _throughput(study: Study | Logs) -> pd.DataFrame:
    runs = client_runs(study)
    goodput = _with_goodput(runs, stream_rows(study.metrics, ""))
    both = runs["test"] == "stream-bidir"
    if both.any():
        parts = [goodput[~both]]
        for test in ROLES_OF_TEST:
            methods = runs.loc[both, "method"].str.replace("stream-bidir", test, regex=False)
            direction = runs[both].assign(test=test, method=methods)
            parts.append(_with_goodput(direction.assign(name=names_of(direction)), stream_rows(study.metrics, test)))
        in_order = runs.index.get_indexer_for(pd.concat(parts).index).argsort(kind="stable")
        parts[-1].index += REVERSE
        goodput = pd.concat(parts).iloc[in_order]
    goodput = goodput[goodput["throughput_bit_s"].notna()]
    by_sender = goodput["side"] == "sender"
    if by_sender.any():
        goodput = goodput.assign(method=goodput["method"].where(~by_sender, goodput["method"] + SENDER))
        goodput = goodput.assign(name=names_of(goodput))
    return refuse_doubtful(goodput, goodput["throughput_bit_s"])


def _with_goodput(runs: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """Append the columns of `throughput`; ``metrics`` has one row per run, metric and side."""
    # The other columns, most of them text, would take as long again to align with the runs.
    counted = metrics.loc[metrics["metric"] == "throughput", ["run_id", "metric", "side", *_COUNTED]]
    by_side = {side: by_run_id(counted[counted["side"] == side], "throughput")[_COUNTED] for side in SIDES}
    receiver, sender = (by_side[side].reindex(runs.index) for side in SIDES)
    # The receiver's own log is the source of its count; the log of the other end may not contain it, or only a copy.
    received = by_side["receiver"].reindex(runs["other_end"]).set_index(runs.index)
    receiver = received.where(received["value"].notna(), receiver)
    sides = pd.Series("receiver", runs.index, dtype="str")
    retransmits = by_run_id(metrics, "retransmits").reindex(runs.index)
    return runs.assign(
        throughput_bit_s=receiver["value"].fillna(sender["value"]),
        side=sides.where(receiver["value"].notna(), "sender"),
        printed=receiver["printed"].fillna(sender["printed"]),
        printed_unit=receiver["printed_unit"].fillna(sender["printed_unit"]),
        throughput_bit_s_resolution=STEP * receiver["resolution"].fillna(sender["resolution"]),
        retransmits=retransmits["value"],
        retransmits_scope=retransmits["scope"],
    )
