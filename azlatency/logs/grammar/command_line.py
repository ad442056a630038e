"""The command line of a test: its words, its options, and the settings that tell two tests apart."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, product
from math import prod
from typing import Any

#: At most this many characters of the value of an option are kept.
_LONGEST = 40
#: The value of a setting that differs between the runs of a log, of which it is not known which run has which.
UNKNOWN_SETTING = "unknown"


def words_of(command: str) -> list[str]:
    """Return the words of a command line, split as a shell does."""
    try:
        return shlex.split(command)
    except ValueError:  # unbalanced quotes
        return command.split()


#: Wrappers that run a program on another machine, in a container or in a name space: the word before the name of the
#: place, and the options that take a value.
_PLACES: dict[str, tuple[str | None, frozenset[str]]] = {
    "ssh": (None, frozenset({"-p", "-i", "-l", "-o", "-J", "-F", "-L", "-R", "-D", "-b", "-c", "-E"})),
    "ip": ("exec", frozenset()),
    **dict.fromkeys(
        ("kubectl", "k", "oc"), ("exec", frozenset({"-n", "-c", "--namespace", "--container", "--context"}))
    ),
    **dict.fromkeys(
        ("docker", "podman", "nerdctl"), ("exec", frozenset({"-u", "-w", "-e", "--user", "--workdir", "--env"}))
    ),
}
#: Those of them that stay on the machine.
_LOCAL = frozenset({"ip", "docker", "podman", "nerdctl"})
#: Programs that run another one.
_WRAPPERS_TEXT = """
    sudo time nohup exec env stdbuf nice chrt timeout taskset numactl cgexec nsenter strace perf script
"""
_WRAPPERS = _PLACES.keys() | {*_WRAPPERS_TEXT.split()}
#: Programs that change nothing that a measurement depends on.
_NEUTRAL_TEXT = """
    ls ll la dir cd pwd pushd popd date sleep echo printf cat bat type head tail less more clear cls reset history
    hostname uptime uname ver id who whoami w exit logout quit man help which whereis command df du free
    top htop ps pgrep jobs fg bg wait watch read true false : grep egrep rg awk sed sort uniq wc cut tr diff find
    !! jq column tee mkdir touch rmdir tar zip unzip gzip gunzip chmod nslookup dig host getent arp netstat ss
    traceroute traceroute6 tracert tracepath nmap tcpdump tshark lscpu lspci lsmod lsblk lshw lstopo nproc
    dmidecode dmesg journalctl vmstat mpstat sar pidstat ipconfig systeminfo hostnamectl timedatectl test [ for
    while do done if then else fi seq md5sum sha256sum
"""
_NEUTRAL = frozenset(_NEUTRAL_TEXT.split())
#: Those that change nothing if they only touch what a run leaves, fetch, or attach: ``mv ping.log ping_1.log``.
_TOUCHES = frozenset({"cp", "mv", "rm", "ln", "scp", "rsync", "vi", "vim", "nano", "emacs", "code"})
_LEFT_BY_RUNS = re.compile(r"\S*(?:\.(?:log|txt|out|csv|json|dat|html?|md|pcap|png|pdf|svg|gz|zip)|\*)")
_ONLY_FETCHES = re.compile(r"curl(?!.*\s(?:-\w*[XdFT]|--(?:request|data|form|upload|json|post)))\b.*", re.DOTALL)
_ONLY_ATTACHES = re.compile(r"(?:tmux|screen)(?: (?:a|attach|ls|new|new-session|detach|-[rxd]|-ls|-[tsS] \S+))*")
#: Words that show a state; programs that show it if nothing but a device or a name follows.
_SHOWS_TEXT = "show list status get describe logs ps inspect version history --help --version"
_SHOWS = frozenset(_SHOWS_TEXT.split())
_SHOWS_ALONE = frozenset({"ip", "ifconfig", "ethtool", "route", "iwconfig", "sysctl", "mount", "ulimit", "env", "set"})
#: Another command, whose output becomes a word of this one: ``ping $(kubectl get pod -o name)``.
_SUBSTITUTED = re.compile(r"\$\([^()]{0,400}\)|`[^`]{0,400}`")
#: The head of a loop that counts: ``for ((i = 0; i < 5; i++))``.
_COUNTING = re.compile(r"\bfor ?\(\(.{0,100}?\)\)")
#: The head of a loop over words, and a range of numbers among these.
_LOOP = re.compile(
    r"\b(?:for (?P<name>[A-Za-z_]\w{0,40}) in (?P<values>[^;]{1,400})|for ?\(\(\s?(?P<counter>\w{1,40})[^()]{0,100}\)\)"
    r"|while (?:IFS=\S{0,5} )?read(?: -\w)* (?P<read>\w{1,40})[^;]{0,100});\s{0,3}do\b"
)
#: The head of a loop in PowerShell or in a batch file; `_` is its variable if it has no name.
_OTHER_LOOP = re.compile(
    r"\b(?:foreach ?\(\$|for (?:/\w )?%{1,2})(?P<name>\w{1,40})|(?:%|ForEach-Object) ?\{", re.IGNORECASE
)
#: Words that xargs hands to a program one by one.
_XARGS = re.compile(r"\becho (?P<values>[^|;&]{1,400})\|\s?xargs (?:-n ?1\b|-I ?(?P<place>\S{1,10}))(?P<body>.*)")
_RANGE = re.compile(r"\{(\d{1,4})\.\.(\d{1,4})\}")
#: Where a command line writes to: that tells no runs apart.
_WRITES = re.compile(r"\d?>>?\s?\S+|--(?:logfile|full-log|title|output)(?:=|\s)\s{0,3}\S+")
#: A comment behind a command.
_BEHIND = re.compile(r"\S\s{1,20}#\s{0,9}(\w.{0,200})")
#: Programs that print a file, and the end of a pipe that writes one.
_PRINTS = frozenset({"cat", "tail", "head", "less", "more", "type", "bat", "zcat"})
#: A shell that runs no script.
_SHELL = re.compile(r"(?:su|sh|bash|zsh|dash)(?: -\w?| root)*")
_FED_TO_SHELL = re.compile(r"\|\s*(?:sudo )?(?:ba|z|da)?sh\b")
#: A write to a file of settings: ``echo 1 > /proc/sys/…``.
_WRITES_SETTING = re.compile(r"(?:>|\b(?:tee|cp|mv|ln|vim?|nano|sed -i))[^;&|]{0,200}?\s?/(?:proc|sys|etc)/")
#: Those of them that tell no runs apart, and variables that change how a tool writes and not how it measures.
_SAME_RUN = frozenset({"sudo", "time", "nohup", "exec", "env", "stdbuf", "timeout", "script", "ssh"})
_SPEAKS = frozenset({"LANG", "LC_ALL", "LC_NUMERIC", "TZ", "TERM"})
_ADDRESS = re.compile(r"[\d.]{7,15}|[\da-fA-F:.]*:[\da-fA-F:.]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w{0,60}=.*")


def program_name(word: str) -> str:
    """Return the name of a program without its folder and ``.exe``."""
    return word.rsplit("/", 1)[-1].rsplit("\\", 1)[-1].removesuffix(".exe")


def runs_program(command: str, programs: frozenset[str]) -> bool:
    """Return whether a command line runs one of the programs, after assignments and wrappers such as ``ssh HOST``."""
    names = [program_name(word) for word in command.split() if not _ASSIGNMENT.fullmatch(word)]
    return bool(names) and (names[0] in programs or (names[0] in _WRAPPERS and not programs.isdisjoint(names)))


def changes_settings(command: str) -> bool:
    """Return whether a command line that is no measurement may change how the next one goes."""
    if _WRITES_SETTING.search(command) or _FED_TO_SHELL.search(command):
        return True
    parts = re.split(r"[;|&]+", _COUNTING.sub("", command).partition(" #")[0])
    return any(not _is_neutral(part) or _only_assigns(part.split()) for part in parts)


def _only_assigns(words: Sequence[str]) -> bool:
    return bool(words) and all(map(_ASSIGNMENT.fullmatch, words))


def told_by(command: str, runs: int) -> list[str]:
    """Return what a command line says about each of ``runs`` runs that it printed; empty if it says nothing.

    That is the file that it prints or writes (``cat cubic.log``, ``ping a | tee cubic.log``), the comment behind it, or
    the value of a loop (``for m in 64 1400; do sockperf … -m $m; done``), unless the loop only counts. If it is not
    known which value a run has, that is its place.
    """
    if (piped := _XARGS.search(command)) and (piped["place"] or "") in piped["body"]:
        return told_by(f"for value in {piped['values']}; do run $value; done", runs)
    if other := _OTHER_LOOP.search(command):
        name = other["name"] or "_"
        is_used = re.search(rf"[$%]{name}\b", _WRITES.sub("", command[other.end() :]))
        return [f"{name} {run}" for run in range(1, runs + 1)] if is_used else []
    if not (loops := list(_LOOP.finditer(command))):
        files = _files_of(command) or [comment[1] for comment in [_BEHIND.search(command)] if comment]
        return files * runs if len(files) == 1 else files if len(files) == runs else []
    parts = [_WRITES.sub("", part) for part in re.split(r"[;|&]+|\bdo\b", command[loops[0].end() :])]
    parts = [part for part in parts if not _is_neutral(part)]
    statements = re.split(r";|&&|\bdo\b", command[loops[0].end() :])
    body = " ".join([*parts, *filter(_WRITES_SETTING.search, statements)])
    names = [loop["name"] or loop["counter"] or loop["read"] for loop in loops]
    used = [place for place, name in enumerate(names) if re.search(rf"\${{?{name}\b", body)]
    if not used:
        return []
    values_of = [_values_of(loop["values"] or "$") for loop in loops]
    count = prod(map(len, values_of))
    if not 0 < count <= runs or runs % count:
        return [f"{', '.join(names[place] for place in used)} {run}" for run in range(1, runs + 1)]
    passes = list(product(*values_of))
    at = (passes[run * count // runs] for run in range(runs))
    return [", ".join(f"{names[place]}={values[place]}" for place in used) for values in at]


def _values_of(words: str) -> list[str]:
    """Return the values of a loop; none if only the shell knows them."""
    if numbers := _RANGE.fullmatch(words.strip()):
        return list(map(str, range(int(numbers[1]), int(numbers[2]) + 1)))
    return [] if re.search(r"[$`*?{]", words) else words_of(words)


def _files_of(command: str) -> list[str]:
    for part in re.split(r"[;|&]+", command):
        name, *words = words_of(part) or [""]
        if program_name(name) in _PRINTS or name == "tee":
            return [word for word in words if "." in word and not word.startswith(("-", "$")) and "*" not in word]
    return []


def _is_neutral(command: str) -> bool:
    words = [word for word in command.split() if word not in ("sudo", "do", "then", "else", "time")]
    if _SHELL.fullmatch(" ".join(words)) or all(map(_ASSIGNMENT.fullmatch, words)):
        return True
    name, arguments = program_name(words[0]).casefold(), words[1:]
    if name in _NEUTRAL or name.startswith(("get-", "test-")) or not _SHOWS.isdisjoint(arguments):
        return True
    if name in _TOUCHES:
        paths = [word for word in arguments if not word.startswith("-")]
        return all(map(_LEFT_BY_RUNS.fullmatch, paths[:-1] or paths))
    if _ONLY_FETCHES.fullmatch(" ".join(words)) or _ONLY_ATTACHES.fullmatch(" ".join(words)):
        return True
    if name == "ethtool" and arguments and re.fullmatch(r"-[acdgiklmnSTPxu]", arguments[0]):
        return True
    return name in _SHOWS_ALONE and len(arguments) < 2 and "=" not in "".join(arguments)


def arguments_of(words: Sequence[str], programs: Collection[str]) -> Sequence[str]:
    """Return the words from the program on, without its wrappers; all words if it is not among them."""
    found = [index for index, word in enumerate(words) if program_name(word) in programs]
    # A pod or a container may have the name of the program that runs in it.
    end_of_wrapper = words.index("--") if "--" in words else -1
    return words[next((index for index in found if index > end_of_wrapper), min(found, default=0)) :]


def host_of(command: str, programs: Collection[str], here: str | None) -> str | None:
    """Return where a command runs its program: the host of ssh, the pod, the container or the name space, else `here`.

    ``here`` is the host of the prompt. A container or a name space of a known host is that host.
    """
    words = words_of(command)
    wrappers = words[: len(words) - len(arguments_of(words, programs))]
    for index, word in enumerate(wrappers):
        if (name := program_name(word)) in _PLACES and (here is None or name not in _LOCAL):
            before, valued = _PLACES[name]
            rest = iter(wrappers[index + 1 :])
            if before is None or before in rest:  # looking for the word leaves what follows it
                place = _operand(rest, valued)
                return here if place is None else place.rpartition("@")[2].removeprefix("pod/")
    return here


def _operand(words: Iterator[str], valued: Collection[str]) -> str | None:
    """Return the first word that is neither an option nor the value of one."""
    for word in words:
        if word in valued:
            next(words, None)
        elif not word.startswith("-"):
            return word
    return None


def option(words: Sequence[str], *names: str, flags: str = "") -> str | None:
    """Return the value in ``-t 10``, ``-t10``, ``-t0.5s``, ``--time=10`` or ``--time 10``; None without the option.

    ``names``: spellings of the option, ``"-t", "--time"``. ``flags``: one-letter switches that may stand before an
    option in one word, for a tool that reads its options with getopt: with ``"u"``, the words ``-ub100M`` and
    ``-ub 100M`` are ``-u -b 100M``, and the value may begin with a letter.
    """
    pattern = _pattern_of(names, flags)
    for index, word in enumerate(words):
        match = pattern.fullmatch(word)
        if match is not None and match.lastindex is not None:
            return str(match[match.lastindex])
        if match is not None and index + 1 < len(words):
            return words[index + 1]
    return None


@lru_cache(maxsize=256)
def _pattern_of(names: Sequence[str], flags: str) -> re.Pattern[str]:
    """Return what matches the word of an option; its last group is the value, if that is in the same word."""
    spellings = []
    for name in names:
        if name.startswith("--"):
            spellings.append(rf"{re.escape(name)}(?:=(.*))?")
        elif flags and len(name) == 2:
            spellings.append(rf"-[{flags}]*{name[1]}(.+)?")
        else:
            # Other tools have options of several letters behind one dash, so only a number is a value.
            spellings.append(rf"{re.escape(name)}(\.?\d.*)?")
    return re.compile("|".join(spellings))


def has_switch(words: Sequence[str], *names: str, flags: str = "") -> bool:
    """Return whether a switch is among the words, alone or together with others; for ``flags`` see `option`."""
    letters = "".join(name[1] for name in names if len(name) == 2)
    together = re.compile(rf"-[{flags}]*[{letters}][{flags}]*") if flags and letters else None
    return any(word in names or (together is not None and together.fullmatch(word)) for word in words)


def size_of(token: str | None, *, lower: int = 1024) -> int | None:
    """Return a size such as ``10K`` in bytes, with binary prefixes; ``lower`` is the base of those in lower case."""
    match = re.fullmatch(r"(\d{1,15})([kmgtKMGT]?)", token or "")
    if match is None:
        return None
    base = lower if match[2].islower() else 1024
    return int(int(match[1]) * base ** " KMGT".index(match[2].upper() or " "))


def describe_settings(
    row: dict[str, Any],
    programs: Collection[str],
    options: Mapping[str, Sequence[str]],
    switches: Mapping[str, Sequence[str]],
    flags: str = "",
    neutral: str = "",
) -> None:
    """Set ``requested_count`` and ``settings`` of a run from its command line, unless its log states them.

    ``programs``, ``options``, ``switches``, ``flags`` and ``neutral`` are those that the parser declares
    (`azlatency.logs.parsers.Parser`).
    """
    words = arguments_of(words_of(_SUBSTITUTED.sub("…", row["command"])), programs)
    for spelling in options.get("requested_count", ()) if row.get("requested_count") is None else ():
        if re.fullmatch(r"[1-9]\d{0,11}", count := option(words, spelling, flags=flags) or ""):
            row["requested_count"] = int(count)
    stated = _prefix_settings(row, words_of(row["command"]), words)
    stated |= {name: "" for name, spellings in switches.items() if has_switch(words, *spellings, flags=flags)}
    for name, spellings in options.items():
        if name != "requested_count" and (value := option(words, *spellings, flags=flags)) is not None:
            stated[name] = value[:_LONGEST]
    if neutral:
        stated |= _further_options(words, {*neutral.split()}.union(*options.values(), *switches.values()))
    row["settings"] = settings_text(stated | settings_of(row.get("settings")))


def _further_options(words: Sequence[str], known: Collection[str]) -> dict[str, str]:
    """Return the options of a tool that its parser does not know: each may be a setting."""
    stated = {}
    for word, following in pairwise([*words[1:], "-"]):
        name, _, value = word.partition("=")
        if not re.fullmatch(r"--?[A-Za-z][\w-]{0,40}", name) or name in known:
            continue
        if name[1] != "-" and name[:2] in known:  # a value in the same word, or switches in one
            continue
        is_value = not following.startswith("-") and not _ADDRESS.fullmatch(following)
        stated[name] = (value or (following if is_value else ""))[:_LONGEST]
    return stated


def _prefix_settings(row: Mapping[str, Any], words: Sequence[str], arguments: Sequence[str]) -> dict[str, str]:
    """Return the settings that stand before a program: ``taskset -c 0``, ``LD_PRELOAD=libvma.so``, ``ip netns exec a``.

    The place of a wrapper that is the client of the run is an end.
    """
    text = _COUNTING.sub("", " ".join(words[: len(words) - len(arguments)]))
    *earlier, prefix = re.split(r"[;&|]+\s*(?:(?:do|then)\s)?", text)
    changing = [command.strip() for command in earlier if changes_settings(command)]
    stated = {"after": "; ".join(changing)[:_LONGEST]} if changing else {}
    wrapper = ""
    for word in prefix.split():
        name, is_assigned, value = word.partition("=")
        if _ASSIGNMENT.fullmatch(word) and is_assigned:
            stated |= {name: value[-_LONGEST:]} if name not in _SPEAKS else {}
        elif program_name(word) in _WRAPPERS and not (wrapper and word == "exec"):
            wrapper = program_name(word)
            stated |= {} if wrapper in _SAME_RUN else {wrapper: ""}
        elif wrapper in stated:
            stated[wrapper] = f"{stated[wrapper]} {word}".strip()
    ends = str(row.get("client"))
    for place in _PLACES.keys() & stated.keys():
        is_end = place not in _LOCAL or _ADDRESS.fullmatch(ends) or ends in stated[place].split() or ends == "None"
        if is_end and not {"run", "vrf"}.intersection(stated[place].split()[:1]):
            del stated[place]
    return stated


def settings_text(settings: Mapping[str, str]) -> str:
    """Return settings, whose names have no blanks, as the column ``runs.settings`` contains them."""
    parts = (f"{name} {value.replace(';', ',')}".strip() for name, value in sorted(settings.items()))
    return "; ".join(parts)


def settings_of(text: str | None) -> dict[str, str]:
    """Return the settings in a text of the column ``runs.settings``."""
    parts = (part.partition(" ") for part in (text or "").split("; ") if part)
    return {name: value for name, _, value in parts}
