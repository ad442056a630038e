"""Words in which the names of files and folders differ, other than counters, times and fields that are known.

``ipsec_ping_1.txt`` and ``openvpn_ping_1.txt`` differ in a word, so they may be of different treatments;
``run1_ping.txt`` and ``run2_ping.txt`` differ in a counter, so they repeat each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from azlatency.studies.manifest.path_pattern import AZURE_REGION, CLOUD_ZONE

_CLOUD_REGION = r"[a-z]{2,15}-[a-z]{3,15}\d{1,2}|[a-z]{2}(?:-[a-z]{3,10}){1,2}-\d"
#: What other columns say: addresses, zones and regions; and times, with the letters in them.
_KNOWN = re.compile(
    r"\d{1,3}(?:\.\d{1,3}){3}"
    r"|(?<![^/!])(?:client|host|from|src|source|sender|server|target|to|dst|dest|receiver|peer)[-_=][^/!]+(?=[/!])"
    rf"|(?<![a-z0-9])(?:{CLOUD_ZONE}|{_CLOUD_REGION}|{AZURE_REGION})(?![a-z0-9])"
    r"|(?<![a-z0-9])(?:az|(?:availability[ _-]?)?zone|z)[ _-]?(?:\d{1,2}[a-z]?|[a-f])(?![a-z0-9])"
    r"|\d{4}-?\d\d-?\d\d[T_ -]?\d\d(?:[:_.-]?\d\d){1,2}(?:\.\d+)?Z?"
    r"|\d{1,2}(?:am|pm|h\d\d|st|nd|rd|th)(?![a-z0-9])",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"ipv?[46](?!\d)|[^\W\d_]+", re.IGNORECASE)
#: A counter may be written with its word, a time with the name of its month or day.
_USUAL_TEXT = """
    run runs rep repeat round test try trial iter iteration attempt part sample samples no nr number num copy of
    time date  to from host client server source src target dst dest sender receiver peer node vm pod machine  log
    logs txt json csv out output result results res data raw file files stdout stderr  tcp udp icmp ping pingpong
    latency lat rtt bandwidth bw throughput tput  jan feb mar apr may jun jul aug sep oct nov dec january february
    march april june july august september october  november december mon tue wed thu fri sat sun monday tuesday
    wednesday thursday friday saturday sunday utc gmt  iperf iperf3 netperf sockperf qperf ntttcp lagscope latte
    psping fping hping hping3 mtr uperf wrk ncps fio
"""
_USUAL = frozenset(_USUAL_TEXT.split())
#: An identifier changes between letters and digits more often than a word with a number does.
_MOST_CHANGES = 2


def differing_words(paths: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return for each path its words that not all of the paths have, in their order; ``{}`` if no words differ.

    Parameters
    ----------
    paths : sequence of str
        Paths of the logs of one group, such as those with the same ends and the same method.

    Returns
    -------
    dict of str to tuple of str
        Words in lower case. A path of a group that differs has an empty tuple if the others only add words to its own.
    """
    words = {path: words_of(path) for path in paths}
    common = set.intersection(*map(set, words.values())) if words else set()
    differing = {path: tuple(word for word in found if word not in common) for path, found in words.items()}
    return differing if any(differing.values()) else {}


def differing_pair(paths: Sequence[str]) -> tuple[str, str] | None:
    """Return two paths that differ in a word; None if all of them repeat each other by their names."""
    words = differing_words(paths)
    return next(((paths[0], path) for path in paths if words and words[path] != words[paths[0]]), None)


def words_of(path: str) -> tuple[str, ...]:
    """Return the words of a path, each once, without the ending of the file, counters, times and known fields."""
    stem = re.sub(r"(?:\.[A-Za-z]\w{0,4}){1,2}$", "", path.replace("\\", "/"))
    *folders, file = stem.split("/")
    parts = [*(f"{folder}/" for folder in folders), file]
    return tuple(dict.fromkeys(word for part in parts for word in _words_of_part(part)))


@lru_cache(maxsize=4096)  # the logs of many nights lie in folders of few names
def _words_of_part(part: str) -> tuple[str, ...]:
    """Return the words of a folder (with its slash) or of a file."""
    words: dict[str, None] = {}
    for token in _TOKEN.findall(_KNOWN.sub(" ", part)):
        changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(token))
        if changes > _MOST_CHANGES or (len(token) >= 8 and re.fullmatch(r"(?=.*\d)[0-9a-f]+", token, re.IGNORECASE)):
            continue  # an identifier
        for word in map(str.lower, _LETTERS.findall(token)):
            if len(word) > 1 and word not in _USUAL:
                words[word] = None
    return tuple(words)
