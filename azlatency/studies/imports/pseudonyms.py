"""Rewrite a dump of logs with pseudonyms, so that a study of it can be published.

Names are replaced in the texts before anything is parsed. What is derived from the rewritten logs (tables, pages,
quotations, links, search) cannot contain the original names, and every number still leads to its line.

*What is replaced.* IPv4, IPv6 and MAC addresses and GUIDs (Azure subscriptions) wherever they occur; the clients and
servers that the parsers find and that a manifest names; subscriptions of a manifest; users and hosts of prompts and of
``user@host``; users in paths; resource names of Azure; host names of ``uname`` and full domain names. Loopback and
unspecified addresses stay. File names are rewritten like texts.

*Which names.* An address becomes one of a range that is reserved for benchmarks or documentation, another name a word
with a number. The key file maps names to pseudonyms; further names can be added to it. The same key file gives the
same pseudonyms in every study.

*Numbers.* Each file is parsed before and after. If its numbers would change, it is refused.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from azlatency.logs.parse import LogError, parse_source
from azlatency.logs.parsers import program_names
from azlatency.logs.source.decode import Source, SourceError, source_from_bytes
from azlatency.logs.source.expand import expand
from azlatency.logs.tables import Logs
from azlatency.studies.imports.assembly import shortened
from azlatency.studies.imports.changes import iter_entries
from azlatency.studies.imports.ingest import copy_sources
from azlatency.studies.manifest.machine_names import Maps, first_match, parse_maps
from azlatency.studies.manifest.manifest import FILE_NAME, read_manifest
from azlatency.studies.store.study import data_folder

_WORD = r"(?<![A-Za-z0-9]){}(?![A-Za-z0-9])"
_ADDRESSES = {
    "GUID": _WORD.format(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    "MAC": _WORD.format(
        r"(?:[0-9a-fA-F]{2}([:-])[0-9a-fA-F]{2}(?:\1[0-9a-fA-F]{2}){4}|[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4}){2})"
    ),
    "IPv6": r"(?<![\w:.])(?=[0-9a-fA-F]{0,4}:[0-9a-fA-F:]{0,40}:)[0-9a-fA-F:]{3,39}(?![\w:])",
    "IPv4": r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)",
}
#: Addresses as names of files and hosts contain them; of these, only private ones are certain not to be dates.
_HYPHENATED = re.compile(r"(?<![\d-])\d{1,3}([-_])\d{1,3}\1\d{1,3}\1\d{1,3}(?![\d-])")
_HOST = r"[A-Za-z](?:[\w.-]{0,250}[A-Za-z0-9])?"
#: Endings of domain names: those of organisations, of networks without names in public, and of countries.
_DOMAINS = (
    "(?i:com|net|org|edu|gov|mil|int|info|biz|name|pro|app|dev|cloud|tech|online|site|systems|network|digital|company|global"
    "|internal|local|lan|corp|home|intra|private|localdomain|svc|test|invalid|example)|[a-z]{2}"
)
#: Endings of two letters that are those of files.
_FILES = "gz|xz|tb|py|sh|md|so|js|rb|go|rs|pl|ps|cc|ts|db|rc|ko|in|ms|ns|us"
_DOTTED = r"(?<![\w.-])((?:[A-Za-z][\w-]{{1,62}}\.){{1,8}}(?:{}))(?![\w-]|\.\w)"
#: Where names stand in texts; the groups are the names.
_NAMES = {
    "user": [
        r"(?:/home/|/Users/)([^/\\\s\"':;,#$%<>]{1,64})",
        r"\\Users\\{1,2}([^/\\\n\"':;,<>]{1,64}?)(?=[\\<>\"'\n]|$)",
        r"(?<![\w.-])([\w.-]{1,64})@[\w-][\w.-]{0,200}",
        r"(?<![\w\\/.:-])[A-Z][A-Z0-9-]{1,14}\\{1,2}([a-z][\w.-]{1,63})(?![\\\w])",
        r"\b(?:sudo -u|su -l?|USERNAME=|USER=|LOGNAME=)\s?([A-Za-z][\w.-]{1,63})",
    ],
    "domain": [
        r"(?<![\w\\/.:-])([A-Z][A-Z0-9-]{1,14})\\{1,2}[a-z][\w.-]{1,63}(?![\\\w])",
        r"\bUSERDOMAIN=([\w-]{2,63})",
    ],
    "host": [
        r"(?<![\w.-])[\w.-]{1,64}@([\w-][\w.-]{0,200}\w)",
        r"(?m)^([\w.-]{1,64}):[~/][^#$%>\n]{0,200}[#$%]\s",
        r"(?m)^([A-Za-z][\w.-]{1,63})[#>] ?(?=[a-z])",
        r"\bLinux (\S{1,64}) \d{1,3}\.\d{1,3}\.\d",
        r"(?<![A-Za-z0-9])(ip(?:-\d{1,3}){4})(?![A-Za-z0-9])",
        rf"(?<![\w.-])({_HOST}) [(\[](?:\d{{1,3}}\.){{3}}\d{{1,3}}[)\]]",
        rf"(?<![\w.-])({_HOST}): (?:Temporary failure|Name or service|No address|[Uu]nknown host)",
        rf"\"(?:host|hostname|local_host|remote_host)\"\s{{0,9}}:\s{{0,9}}\"({_HOST})\"",
        rf"\b(?:HOSTNAME|COMPUTERNAME|HOST)=({_HOST})",
        rf"\b(?:scp|rsync|sftp)\b[^\n]{{0,200}}?\s(?:[\w.-]{{1,64}}@)?({_HOST}):",
        _DOTTED.format(rf"(?!(?:{_FILES})\b)(?:{_DOMAINS})"),
    ],
    "resource": [r"(?i)/(?:resourceGroups|providers/[\w.]{1,80}/\w{1,80})/([^/\s\"',]{1,90})"],
}
#: Commands of Azure, and their options whose value names a resource.
_AZ = re.compile(r"\baz [a-z][^\n]{0,400}")
_RESOURCE = re.compile(r"(?<!\S)(?:-g|-n|--[a-z-]{0,30}(?:group|names?))[ =]([\w.-]{2,90})")
#: Names that identify nobody, and the makers of tools that name themselves in their output.
_COMMON = re.compile(
    r"(?i)localhost|root|master|\d*|www|(?:.*\.)?(?:sysinternals|microsoft|iperf|github)\.(?:com|fr)|.|PS"
    r"|(?:ba|da|z)?sh(?:-[\d.]{1,9})?|administrator|admin|server|client|peer|host|public|default|sysstat|system|service"
    r"|network|local|nt|authority|ubuntu|azureuser|ec2-user|az|iperf"
)
#: What may be left in a text with pseudonyms.
_DOTTED_NAME = re.compile(_DOTTED.format("[a-z]{2,24}"))
_TOKEN = re.compile(_WORD.format(r"(?=[0-9a-f]{0,63}[a-f])(?=[0-9a-f]{0,63}\d)[0-9a-f]{16,64}"))
_PATH_WORD = re.compile(r"[^\W\d_]{4,}")
_TEXT_FILES = tuple(f".{name}" for name in f"log|txt|csv|json|xml|html|toml|conf|exe|{_FILES}".split("|"))
#: Options of tools whose value is the other host, programs that take it without an option, and their other words.
_HOST_OPTIONS = {"-c", "-i", "-H", "-h", "-s", "-a", "--client", "--host", "--server"}
_HOST_PROGRAMS = {"ping", "ping6", "mtr", "fping", "hping3", "qperf", "psping", "traceroute"}
_NO_HOST = re.compile(r".*_(?:lat|bw)|conf|quit")
#: A name that is at least so long is replaced inside of words, too.
_LONG = 6


class Pseudonyms:
    """Pseudonyms of names, kept in a key file.

    Parameters
    ----------
    key : pathlib.Path
        JSON file with an object that maps names to pseudonyms; it is created if it does not exist.

    Raises
    ------
    LogError
        If the file is not such an object, or lies in the folder of the data.
    """

    def __init__(self, key: Path) -> None:
        data = {data_folder(kind).resolve() for kind in ("raw", "processed")}
        if data & set(key.resolve().parents):
            raise LogError(f"{key}: the key must not lie with the data that you publish; choose another folder")
        self.key = key
        self.names: dict[str, str] = {}
        self._numbers: Counter[str] = Counter()
        try:
            content = json.loads(key.read_text("utf-8")) if key.exists() else {}
        except (OSError, ValueError) as error:
            raise LogError(f"{key}:1: not a key file ({error}); name another one") from None
        if not isinstance(content, dict) or not all(isinstance(value, str) for value in content.values()):
            raise LogError(f"{key}:1: not a JSON object of names and pseudonyms; name another file")
        for name, value in content.items():
            self.names[name.casefold()] = value
        self._spelled, self._used = content, set(content.values())

    def add(self, kind: str, name: str) -> None:
        """Give a name a pseudonym, unless it has one or identifies nobody."""
        if name.casefold() in self.names or _is_common(name):
            return
        value = ""
        while not value or value in self._used:
            self._numbers[kind] += 1
            value = _pseudonym(kind, self._numbers[kind])
        self.names[name.casefold()] = self._spelled[name] = value
        self._used.add(value)

    def collect(self, text: str) -> None:
        """Give a pseudonym to every address and name that a text shows."""
        for kind, pattern in _ADDRESSES.items():
            for match in re.finditer(pattern, text):
                if _is_replaced(kind, match[0]):
                    self.add(kind, match[0])
        for kind, patterns in _NAMES.items():
            for pattern in patterns:
                for name in re.findall(pattern, text):
                    self.add_host(name) if kind == "host" else self.add(kind, name)
        for command in _AZ.findall(text):
            for name in _RESOURCE.findall(command):
                self.add("resource", name)
        for match in _HYPHENATED.finditer(text):
            self.add_hyphenated(match[0], match[1])

    def add_hyphenated(self, name: str, mark: str) -> None:
        """Give an address such as ``10-0-0-4`` the pseudonym of ``10.0.0.4``, if that is known or private."""
        dotted = name.replace(mark, ".")
        if not _is_replaced("IPv4", dotted):
            return
        if dotted not in self.names and ipaddress.ip_address(dotted).is_private:
            self.add("IPv4", dotted)
        if dotted in self.names and name not in self.names:
            self.names[name] = self._spelled[name] = self.names[dotted].replace(".", mark)

    def add_host(self, name: str | None) -> None:
        """Give a pseudonym to a host, unless it is an address, and to the first label of a full domain name."""
        name = (name or "").partition("%")[0].strip("<>[]. ")
        is_address = any(re.fullmatch(pattern, name) for pattern in _ADDRESSES.values())
        if name and not is_address and not re.search(r"\s|^[\d.:]*$", name) and not _is_common(name):
            self.add("host", name)
            self.add("host", name.partition(".")[0])

    def add_hosts_of(self, command: str | None) -> None:
        """Give a pseudonym to the hosts of a command line."""
        words = (command or "").split()
        takes_host = any(word.rpartition("/")[2] in _HOST_PROGRAMS for word in words)
        for before, word in pairwise(words):
            is_value = before in _HOST_OPTIONS or (takes_host and not before.startswith("-"))
            if is_value and re.fullmatch(_HOST, word) and word not in _HOST_PROGRAMS and not _NO_HOST.fullmatch(word):
                self.add_host(word)

    def replace(self, text: str) -> str:
        """Return a text with pseudonyms."""
        names = sorted(self.names, key=len, reverse=True)
        if not names:
            return text
        pattern = "|".join(re.escape(name) if len(name) >= _LONG else _WORD.format(re.escape(name)) for name in names)
        return re.sub(f"(?i){pattern}", lambda match: self.names[match[0].casefold()], text)

    def find_left(self, text: str, path: str) -> Iterator[tuple[str, list[str]]]:
        """Yield what may still be a name in a text with pseudonyms and in its path, by kind."""
        ours = self._used | {*_NAMES, "subscription", "study"}
        for kind, names in (
            ("dotted names", [name for name in _DOTTED_NAME.findall(text) if not name.endswith(_TEXT_FILES)]),
            ("long hexadecimal tokens", _TOKEN.findall(text)),
            ("words in names of files", [word for word in _PATH_WORD.findall(path) if not _is_common(word)]),
        ):
            if others := [name for name in names if not ours & {name, name.partition(".")[0]}]:
                yield kind, others

    def save(self) -> None:
        """Write the key file, readable by its owner only."""
        part = self.key.with_name(f".{self.key.name}.{os.getpid()}")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(self._spelled, stream, ensure_ascii=False, indent=1)
        os.replace(part, self.key)


def _is_common(name: str) -> bool:
    """Return whether a name identifies nobody: a common one, or that of a tool."""
    return _COMMON.fullmatch(name) is not None or name.casefold() in program_names()


def _pseudonym(kind: str, number: int) -> str:
    """Return the pseudonym of the first, second, … name of a kind."""
    if kind == "IPv4":  # RFC 2544: benchmarks of network devices
        return str(ipaddress.ip_address("198.18.0.0") + number)
    if kind == "IPv6":  # RFC 3849: documentation
        return str(ipaddress.ip_address("2001:db8::") + number)
    if kind == "MAC":
        return ":".join(f"{byte:02x}" for byte in (2 << 40 | number).to_bytes(6, "big"))
    if kind == "GUID":
        return f"00000000-0000-0000-0000-{number:012d}"
    return f"{kind}{number}"


def _is_replaced(kind: str, name: str) -> bool:
    """Return whether a text that looks like an address is one that identifies a machine."""
    if kind not in ("IPv4", "IPv6"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    # Counts such as 2:0:0:0:0:0:0:84 of iperf 2 look like addresses; global ones begin with 2 or 3 and four digits.
    is_count = kind == "IPv6" and not re.search("::|[a-fA-F]|^[23][0-9]{3}:", name)
    return not (is_count or address.is_loopback or address.is_unspecified or name.startswith("255."))


class Written(NamedTuple):
    """What a copy with pseudonyms lacks, a message per file, and what in it may still be a name, a text per kind."""

    refused: list[str]
    left: list[str]


def write_pseudonymised(sources: Sequence[Path], folder: Path, key: Path) -> Written:
    """Write a copy of logs with pseudonyms to an empty folder, and the key file; see `Pseudonyms`.

    Sources are files, folders and archives; ``-`` is standard input. Archives and compressed files are unpacked. A file
    is not copied if it is not text, or if its numbers would change.
    """
    pseudonyms = Pseudonyms(key)
    original = folder / "original"
    refused = copy_sources(sources, original).refused
    manifest = read_manifest(original)
    maps = parse_maps(manifest.study.get("machines", []))
    machines: dict[str, None] = {}
    for values in [manifest.study, *(entry.values for entry in manifest.entries)]:
        for column, kind in (("client", "host"), ("server", "host"), ("subscription", "subscription")):
            if value := values.get(column):
                pseudonyms.add_host(value) if kind == "host" else pseudonyms.add(kind, str(value))
    for source, logs in _parsed(original, refused):
        pseudonyms.collect(f"{source.path}\n{source.text[:]}")
        for run in logs.rows["runs"]:
            for machine in filter(None, (run.get("client"), run.get("server"))):
                pseudonyms.add_host(machine)
                machines[machine] = None
            pseudonyms.add_hosts_of(run.get("command"))
    copy = folder / "copy"
    copy.mkdir()
    left: dict[str, dict[str, None]] = {}
    for source, logs in _parsed(original, []):
        text = source.text[:]
        if source.path == FILE_NAME:
            text = _without_patterns(text, maps, machines)
        text = pseudonyms.replace(text)
        name = pseudonyms.replace(_file_name(source.path))
        if _numbers(parse_source(source_from_bytes(text.encode(errors="replace"), name))) != _numbers(logs):
            refused.append(
                f"{source.path}: its numbers would change with pseudonyms, because a name is also a word of its text; "
                f"remove that name from {key}, or leave the file out"
            )
            continue
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8", errors="replace", newline="\n")
        for kind, names in pseudonyms.find_left(text, name):
            left.setdefault(kind, {}).update(dict.fromkeys(names))
    pseudonyms.save()
    return Written(refused, [f"{len(names):,} {kind} ({shortened(list(names))})" for kind, names in left.items()])


def _without_patterns(text: str, maps: Maps, machines: Iterable[str]) -> str:
    """Write the machines of a manifest out, because a pattern does not match their pseudonyms."""
    exact: dict[tuple[str, str], list[str]] = {one: [] for one in maps}
    for machine in machines:
        if found := first_match(machine, maps):
            exact[found].append(f'"{machine}={found[1]}"')
    written = {"=".join(one): ", ".join(items) or f'"{one[1]}={one[1]}"' for one, items in exact.items()}
    quoted = "|".join(map(re.escape, written))
    return re.sub(rf"([\"'])({quoted})\1", lambda match: written[match[2]], text) if maps else text


def _parsed(folder: Path, refused: list[str]) -> Iterator[tuple[Source, Logs]]:
    """Yield every text of a folder with what the parsers read in it; add the files that are not text to `refused`."""
    for file, name, problem in iter_entries(str(folder)):
        if problem:
            refused.append(f"{name}: {problem}")
            continue
        for source in expand(file, name=name):
            if isinstance(source, SourceError):
                refused.append(str(source))
            else:
                yield source, parse_source(source)


def _file_name(path: str) -> str:
    """Return the name of the copy: members of an archive in a folder of its name, compressed files unpacked."""
    parts: Iterable[str] = PurePosixPath(path.replace("!", "/")).parts
    name = "/".join(part for part in parts if part not in ("/", "..", "\\"))
    return re.sub(r"\.(?:gz|bz2|xz|zst)$", "", name)


def _numbers(logs: Logs) -> Any:
    """Return the runs and numbers of a text, without names."""
    order = {row["run_id"]: number for number, row in enumerate(logs.rows["runs"])}
    return (
        [(row["tool"], row["status"], row.get("message_bytes"), row.get("duration_ns")) for row in logs.rows["runs"]],
        Counter((order[row["run_id"]], row["metric"], row["side"], row["value"]) for row in logs.rows["metrics"]),
        Counter((order[row["run_id"]], row["metric"], row["q"], row["value_ns"]) for row in logs.rows["quantiles"]),
        [len(logs.rows[table]) for table in ("intervals", "histograms")],
        [list(block.rtt_ns) for block in logs.sample_blocks],
    )
