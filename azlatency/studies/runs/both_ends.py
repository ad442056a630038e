"""Pair the logs of both ends of one test, so that the test counts once.

Both ends of iperf3 print the ports of the data connection. The ends of the other tools print nothing in common; they
are paired by the names of their logs, and must agree in addresses, times and bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import pandas as pd

from azlatency.logs.record import Row

_COMPARED = (
    "scenario", "round", "repeat", "zone", "peer_zone", "test", "protocol", "client", "server", "started_at",
    "duration_ns",
)  # fmt: skip
#: Words of a file name that say at which end the log was written.
_END_WORDS = re.compile(
    r"(?<![a-z])(?:(?P<far>server|receiver|recv|rcv|srv)|client|sender|send|snd|cli)(?![a-z])[._-]?"
)
_ADDRESS = re.compile(r"[0-9.]+|[0-9a-f:]*:[0-9a-f:.]*")
#: What a server listens on that names no address.
ANY_ADDRESS = {"0.0.0.0", "::"}
#: Two ends may start this long after each other; a server waits for its client.
_STARTS_APART_S = 30.0
#: Two ends of a test measure durations and bytes that differ by less than this share; slow start and draining differ.
_SHARE_APART = 0.25


def is_far_end(runs: pd.DataFrame) -> pd.Series:
    """Return which rows of the table ``runs`` were written by a server or a receiver, as bool."""
    dialects = runs["dialect"].fillna("").astype(str)
    far = dialects.str.endswith(("-receiver", "-server")) | (runs["test"].fillna("") == "server")
    # Both ends of latte print the same; without the command, the names of two logs say which is which.
    is_open = (runs["tool"] == "latte") & (dialects == "")
    words = {
        file: {bool(match["far"]) for match in _END_WORDS.finditer(file.casefold())} for file in runs["file"][is_open]
    }
    near = {_name_without_end(file) for file, ends in words.items() if ends == {False}}
    named_far = {file for file, ends in words.items() if ends == {True} and _name_without_end(file) in near}
    return (far | (is_open & runs["file"].isin(named_far))).astype(bool)


def pair_ends(runs: pd.DataFrame, transferred: Mapping[str, float]) -> tuple[dict[str, str], set[str]]:
    """Find the runs that describe the same test from both ends.

    ``runs`` is the table with the column ``file``; ``transferred`` are the bytes of a run by ``run_id``, as the
    receiver counted them, else the sender. Returns the ``run_id`` of the far end by that of the near end (client,
    sender), and the runs of far ends that must not count: they are paired, or may describe a run of a near end. Others
    are the only log of their test.
    """
    far = is_far_end(runs)
    if not far.any():
        return {}, set()
    rows = runs[[*_COMPARED, "run_id", "file", "tool", "test_id"]].astype(object)
    rows = rows.where(rows.notna(), None)
    near = _NearEnds(rows[~far].to_dict("records"))
    pairs: dict[str, str] = {}
    left_out: set[str] = set()
    for row in rows[far].to_dict("records"):
        certain = [other for other in near.partners(row) if other["run_id"] not in pairs]
        if len(certain) == 1:
            pairs[certain[0]["run_id"]] = row["run_id"]
        if certain or row["test"] == "server" or near.any_possible(row, transferred):
            left_out.add(row["run_id"])
    return pairs, left_out


class _NearEnds:
    """Runs of clients and senders, found by what a far end has in common with them."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.by_test_id: dict[str, list[Row]] = {}
        self.by_name: dict[tuple[str, str], list[Row]] = {}
        self.by_scenario: dict[tuple[str, str | None], list[Row]] = {}
        for row in rows:
            if row["test_id"] is not None:
                self.by_test_id.setdefault(row["test_id"], []).append(row)
            self.by_name.setdefault((row["tool"], _name_without_end(row["file"])), []).append(row)
            self.by_scenario.setdefault((row["tool"], row["scenario"]), []).append(row)

    def partners(self, far: Row) -> list[Row]:
        """Return the runs with the same ports, or whose file has the same name but for the end."""
        if far["test_id"] in self.by_test_id:
            return self.by_test_id[far["test_id"]]
        named = self.by_name.get((far["tool"], _name_without_end(far["file"])), [])
        return [row for row in named if row["file"] != far["file"] and _agree(row, far)]

    def any_possible(self, far: Row, transferred: Mapping[str, float]) -> bool:
        """Return whether a run may be of the same test: nothing contradicts it, but nothing shows it."""
        if far["scenario"] is None:
            groups = [group for (tool, _), group in self.by_scenario.items() if tool == far["tool"]]
        else:
            groups = [self.by_scenario.get((far["tool"], name), []) for name in (far["scenario"], None)]
        return any(_agree(row, far) and _similar(row, far, transferred) for group in groups for row in group)


def _agree(near: Row, far: Row) -> bool:
    """Return whether ports, test, place, repeat, addresses and start do not contradict each other."""
    if near["test_id"] is not None and far["test_id"] is not None:
        return _same_ports(near["test_id"], far["test_id"])
    names = ("round", "repeat", "zone", "peer_zone", *(() if far["test"] == "server" else ("test", "protocol")))
    if any(None not in (near[name], far[name]) and near[name] != far[name] for name in names):
        return False
    if any(_other_machine(near[name], far[name]) for name in ("client", "server")):
        return False
    starts = near["started_at"], far["started_at"]
    return None in starts or abs((starts[0] - starts[1]).total_seconds()) <= _STARTS_APART_S


def _same_ports(near: str, far: str) -> bool:
    """Return whether both ends name the same ports; a client sees the address of a service, a server its own."""
    # A log is untrusted and a plug-in may use other identifiers: not every one consists of two addresses.
    (client, _, server), (far_client, _, far_server) = near.rpartition(" "), far.rpartition(" ")
    same_ends = client == far_client and server.rpartition(":")[2] == far_server.rpartition(":")[2]
    return near == far or (client != "" and same_ends)


def _similar(near: Row, far: Row, transferred: Mapping[str, float]) -> bool:
    """Return whether durations and bytes are so similar that both may be of one test."""
    sizes = [transferred.get(str(row["run_id"])) for row in (near, far)]
    return not any(
        one is not None and other is not None and abs(one - other) > _SHARE_APART * max(one, other)
        for one, other in ((near["duration_ns"], far["duration_ns"]), sizes)
    )


def _other_machine(one: str | None, other: str | None) -> bool:
    """Return whether two names stand for different machines; a host's name and an address may be the same one."""
    if one is None or other is None or {one, other} & ANY_ADDRESS:
        return False
    return bool(_ADDRESS.fullmatch(one)) == bool(_ADDRESS.fullmatch(other)) and one != other


def _name_without_end(file: str) -> str:
    """Return a path without the words for its end and without its suffix."""
    stem = re.sub(r"\.(?:txt|log|json|xml|out|res)$", "", file.casefold())
    return _END_WORDS.sub("", stem).rstrip("._-")
