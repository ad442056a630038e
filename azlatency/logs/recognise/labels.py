"""The label of a run: what a person wrote above it, if nothing else stands between them.

A label is a bold line, a caption, a banner, a comment, a line that ends with a colon, or a sentence; lines of one block
are one label. It holds for the runs below it until the next label or heading. Counters, dates and addresses alone are
no label. A command between two runs that is neither neutral (``ls``) nor a measurement is part of the label of those
below it, and a command that printed runs says which file or value of a loop they are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from heapq import merge
from itertools import islice, pairwise
from math import inf
from operator import attrgetter
from typing import NamedTuple
from unicodedata import category
from zlib import crc32

from azlatency.logs.grammar.command_line import changes_settings, program_name, runs_program, told_by
from azlatency.logs.grammar.rules import DATA, KNOWN, PROSE, UNKNOWN, LineAccounting
from azlatency.logs.parsers import Log, program_names
from azlatency.logs.record import Row
from azlatency.logs.source.decode import Source

#: What stands around the text of a label.
_LABEL = re.compile(
    r"(?P<marks>\*{1,3}|_{1,3})(?P<bold>[^*_\s][^*_]{0,1000})(?P=marks):?"
    r"|(?:<\w{1,20}>){0,3}[<\[](?P<tag>h[1-6]|b|strong|caption|figcaption|summary|title|p|li|dt|em)[>\]](?P<html>[^<>\[\]]{1,1000})[<\[]/(?P=tag)[>\]].{0,20}"
    r"|(?:(?:#{1,6}|//|;|%|REM|::|\.|>|[-*•]|\d{1,3}\.|\(?(?:\d{1,3}|[A-Za-z])\))\s+|[(（]?[\d一二三四五六七八九十]{1,3}[、．）]\s*)"
    r"(?P<comment>\S.{0,1000})"
    r"|\S{0,80}[$%❯»]\s+#\s+(?P<typed>\S.{0,1000})"
    r"|[=*#~_+>|^-]{2,40}\s*(?P<banner>[^=*#~_+>|^\s-](?:.{0,1000}?[^=*#~_+<|\s-])?)\s*[=*#~_+<|:-]{0,40}"
    r"|(?P<task>(?:TASK|PLAY) \[.{1,200}\]) ?\*{2,200}"
    r"|\[(?P<bracketed>[^\[\]]{1,1000})\]|\((?P<parenthesized>[^()]{1,1000})\)|(?P<captioned>\S.{0,1000}?)\s*:"
    r"|(?P<pointing>[\^↑]\s{0,4}[^\s^↑].{0,1000})"
    r"|(?P<valued>(?:[^\W\d][\w -]{0,40}[=:：]\s?[\w.%/-]{1,60}[,; ]{0,3}){1,10})"
)
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_WHEN = (
    r"(?:(?:\d{4}[-/.]\d\d?[-/.]\d\d?|\d{1,2}[-/.]\d{1,2}[-/.](?:20)?\d\d)(?![.]|[^\WT])|\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)"
    r"(?:Z\b|[+-]\d\d:?\d\d)?(?:[ ,T@-]{1,3}(?=\d{1,2}:\d\d))?"
)
_ZONE = r"(?: ?(?:UTC|GMT|CES?T|[ECMP][SD]T|[AaPp][Mm]|Uhr)\b)?"
#: What a script writes in front of a text: a date and a time, and a level.
_LOGGED = re.compile(
    r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,64} [\w./-]{1,40}(?:\[\d{1,9}\])?: "
    r"|[IWEF]\d{4} [\d:.]{8,15} {1,9}\d{1,9} [\w.-]{1,40}:\d{1,9}\] )?"
    rf"(?:[\[(]?(?:{_WHEN}){{1,2}}{_ZONE}[\])]?(?:[ :,|@-]{{1,4}}|$))?(?:[\w.]{{1,40}} - (?=[A-Z]{{4,7}}\b))?"
    r"(?:[\[<(|]?(?:INFO|DEBUG|NOTICE|WARN(?:ING)?|ERROR|TRACE)[\]>)|]?[ :|-]{1,4})?"
)
#: A date and a time behind a text.
_DATED = re.compile(rf"(?<=[^\W\d])[ ,@(|-]{{1,4}}(?:{_WHEN}){{1,2}}{_ZONE}[\])]?$")
#: One bare word, or two, which may be the label of the run below.
_BARE_WORD = re.compile(
    r"[A-Z](?:[ -]?[A-Z])?|(?=[\d.+/ -]{0,12}[^\W\d_])(?!.*[.]$)(?:[\w.+/-]{2,40}|\d)(?: [\w.+/-]{1,20})?"
)
#: Letters that are drawn over several lines.
_DRAWN = re.compile(r"(?=.{0,200}[_/\\|])[\s_/\\|()<>'`,.:;-]{3,400}")
_LINES_OF_LETTERS = 3
_CAPTION = re.compile(r"(?:fig(?:ure|\.)?|tab(?:le|\.)?|listing|screenshot|abb(?:ildung|\.)) ?\d", re.IGNORECASE)
#: "Note: GRO off", which may stand below a log.
_NOTE = re.compile(r"([^\W\d]+): \S")
#: A label that is nothing but a number, which may be a setting: ``=== 64 ===``.
NUMBER_ALONE = re.compile(r"\W{0,9}\d{1,7}\W{0,9}")
#: A line that is nothing but a number, a version or an address.
_BARE_NUMBER = re.compile(rf"{NUMBER_ALONE.pattern}|[1-9]\d{{0,4}}(?:\.\d{{1,5}}){{1,3}}(?:[-/]\d{{1,5}})?")
#: What points to the log above it.
_POINTING = ("^", "↑")
#: A number and what it counts, which no tool or shell prints: ``4 VMs per host``, ``100 m cable``.
_THINGS = re.compile(
    r"\d{1,7}(?:[.,]\d{1,4})? ?(?!packet|byte|bit|message|request|respon|error|warning|file|record|row|line|user"
    r"|second|sample|observation|process|thread|upgraded|update|test)[^\W\d_]{1,20}(?: [^\W\d_][\w-]{0,30}){1,6}",
    re.IGNORECASE,
)
#: What a session of a console prints and takes when somebody logs in.
_LOGIN = re.compile(r"\blogin\b(?:: | as | incorrect)|\blast login:|\bpassword\b[^:]{0,40}:", re.IGNORECASE)
#: Who measured with whom: ``10.0.0.2 Pinging 10.0.9.3``, ``10.0.0.2 -> 10.0.9.3 over vpn``; not ``10.0.0.2 is alive``.
_BETWEEN_HOSTS = re.compile(
    r"(?=.{0,80}\d\.\d)(?!.{0,80}\bis\b)"
    r"(?:(?:\d{1,3}(?:\.\d{1,3}){3}|[^\W\d_]{1,20}|[-=]{1,2}>|→)(?:[ :,]{1,3}|$)){2,10}"
)
#: A line of JSON, or of Python, which a script prints between two runs.
_RECORD = re.compile(r"\{\s?[\"']\w[^{}]{0,1000}\}")
_UNAME = re.compile(r"(?:Linux|Darwin|FreeBSD) \S{1,80} \d{1,3}\.\d.*")
#: What shows that a line which begins with the name of a program is a command.
_ARGUMENT = re.compile(r" (?:--?[A-Za-z]|\d{1,3}(?:\.\d{1,3}){3})")
#: A prompt with a command: what follows it is its output, unless it says something about the run.
_COMMAND = re.compile(
    r"(?:\([\w.-]{1,40}\)\s?)?"
    r"(?:(?![\d.,]{1,20}%)\S{0,80}[$%❯➜»]\s+|\S{1,80}@\S{1,80}?\s?[^#$%>]{0,80}?[#$%>]\s*"
    r"|(?:PS )?[A-Za-z]:\\[^>]{0,200}>\s?|[\w.-]{1,64}:[~/][^#$%>]{0,200}[#$%]\s+|\+{1,4}\s"
    r"|In \[\d{0,5}\]: ?[!%]{0,2}|(?:(?:ba|z|da|a|k)?sh-\d[\w.]{0,20}|[~/][\w.~/-]{0,60} ?)[#$%]\s+"
    # The bare prompt of root, and not a comment, if what follows sets something.
    r"|#\s(?=ip (?:route|link|addr|rule|tunnel) |tc qdisc |sysctl -w |ethtool -[A-Z] |iptables -|modprobe ))"
    r"(?P<command>\S.*)"
)
#: What separates the programs of a command line; its statements; a loop; what runs a tool as load, or sets it up.
_PARTS, _STATEMENTS = re.compile(r"[;|&\"'`(]+|\b(?:do|then)\b|--(?= )"), re.compile(r"\s*(?:;|&&)\s*")
_LOOPS = re.compile(r"\b(?:for|while|until)\b")
_NO_RUN = re.compile(r">\s*/dev/null\b.*&$|\bcilium (?!connectivity)")
#: What a shell prints in front of the next lines of a command.
_CONTINUED = re.compile(r">\s?(?P<command>.*)")
_COMMENTED = re.compile(r"\S{0,80}[$%❯»]\s+#\s")
#: Their output is what a person says, or the kernel and the settings of the machine.
_SHOWING = re.compile(r"\b(?:uname|sysctl)\b")
_SAYING = re.compile(rf"\b(?:echo|printf)\b|{_SHOWING.pattern}")
#: Their output differs each time, and says nothing of the run.
_VOLATILE = re.compile(
    r"\b(?:date|uptime|loadavg|free|top|htop|ps|ss|netstat|who|w|last|vmstat|df|du|ls|pwd|cd|git|statistics|interrupts"
    r"|meminfo|sensors|temp|curl|wget|sleep|time|ifconfig|history|journalctl|dmesg|kubectl get|arp)\b"
    r"|\bip (?:-s|n(?:eigh(?:bour)?)?\b)|\./|\.sh\b"
)
#: What a command prints that failed, and what tail prints above a file, and ansible above the output of a host.
_FAILED = re.compile(r"not found\b|permission denied|not permitted|no such file", re.IGNORECASE)
_FILE_BANNER = re.compile(r"==> \S{1,200} <==|\S.{0,100} \| [A-Z]{4,11}!? (?:\| rc=\d{1,5} )?(?:>>|=> ?.{0,9})")
#: What clush prints around the name of a host, first below its command.
_RULE = re.compile(r"-{5,80}")
_FENCE = re.compile(r"\s*(?:```|~~~|#|<)")
_TITLED = re.compile(r"\s*(?:```|~~~).{0,100}?\b(?:title|caption|name)=(?P<quote>[\"'])(?P<title>.{1,200}?)(?P=quote)")
_SAID_BY_TOOLS = re.compile(r"(?<!^)\bport \d|listening on|^connecting to|accepted connection", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,]*")
_DIGITS = re.compile(r"\d+")
#: A word, or a letter with its number: "X710".
_WORD = re.compile(r"[^\W\d_]{2,}|(?<!\w)[^\W\d_]\d\w*")
_VALUE = re.compile(r"[^\W_]+")
_SPACED = re.compile(r"(?:[^\W\d_] ){2,40}[^\W\d_]")
#: What a shell or a tool prints as "key: value", and no person sets.
_MEASURED_TEXT = """
    time date started duration real user sys uptime pid cookie seq elapsed total average avg mean median std stdev
    stddev rtt
"""
_MEASURED = frozenset(_MEASURED_TEXT.split())
_MOMENT = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?[. ]{{1,2}}(?:{_MONTHS})[a-z]*\b|\b(?:{_MONTHS})[a-z]*\.? \d{{1,2}}(?:st|nd|rd|th)?\b"
    r"|\b\d{1,2}:\d\d(?::\d\d)?\b|\b(?:19|20)\d\d(?:-\d\d-\d\d)?\b|\b\d{1,2}(?= \d\d:)"
    rf"|\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\b|\b(?:{_MONTHS})[a-z]*\b"
    r"|\b(?:UTC|GMT|CES?T|[ECMP][SD]T|[ap]m)\b",
    re.IGNORECASE,
)
_DATE = re.compile(rf"{_MOMENT.pattern}|\b\d{{1,3}}(?:\.\d{{1,3}}){{3}}\b", re.IGNORECASE)
_VERSION = re.compile(r"\b(?:iperf|ping|sockperf)\d? v?\d{1,3}\.\d", re.IGNORECASE)
#: The number of a text that a person numbers: ``Test 2: 4 VMs per host``.
_NUMBERED = re.compile(
    r"(?:test|case|scenario|experiment|step|part|phase|setup|config)[ #-]?\d{1,3} ?[:.)-]", re.IGNORECASE
)
_WORDS_IN_A_SENTENCE = 2
#: Of more labels above one run, the first are not compared.
_MOST_LABELS = 8
#: A longer text, or one that ends like a sentence, is no caption.
_LONGEST_CAPTION = 80
#: "End of run 1", "Run 1 finished"; but "End-to-end", "Complete offload" and "Tuning done" may be sections.
_CLOSES = re.compile(
    r"\W{0,9}(?:end|finish|complete|done|stop)(?:ed|s)?"
    r"(?: ?\W{0,9}$| ?\W{0,9}\d| (?:of|the|run|test|round|iteration|trial)\b)"
    r"|\W{0,9}(?:ende|fim|fin|koniec|конец)(?![\w-])"
    r"|(?=.*(?:\d|\brun\b|\btest\b|次)).*(?:\b(?:ended|finished|completed?|done)\b|结束|終了)\W{0,9}$",
    re.IGNORECASE,
)
#: What counts a text: "2/4", and the number of a test of TAP, whose other lines count only: "ok 2 - latency", "1..4".
_COUNTED = re.compile(
    r"^(?:not )?ok \d{1,9} (?:- )?(?=\S)| # time=\S{1,20}$"
    r"|^[\[(]?\d{1,9}/\d{1,9}[\])]?\s+|\s+[\[(]?\d{1,9}/\d{1,9}[\])]?$"
)
#: Lines that frame a log or a step of a pipeline, and prompts without a command: they say nothing about a run.
_FRAME = re.compile(
    r"</.{0,80}|<(?:pre|code|[bh]r|div|p|details|table|t[rdh]|t?body|html|center|span|samp|kbd|[uo]l|li|blockquote)/?>|\\(?:begin|end)\{\w{1,40}\*?\}.{0,80}|#\+(?:begin|end)_\w{1,40}.{0,80}|[\w.@~/:-]{1,80}[#$>]"
    r"|\{\w{1,20}(?::[^{}]{0,80})?\}|(?:##\[|::)end\w{0,20}(?:\]|::)|\[Pipeline\] (?!\{ \().{0,80}"
    r"|TAP version \d{1,3}|\d{1,9}\.\.\d{1,9}|\[ {0,3}\d+\] (?:\d+|[\d.]+- ?\d.*|local .*)",
    re.IGNORECASE,
)
#: A text without the quotes, boxes and pictures around it, and what may stand between its words.
_CORE = re.compile(r"[^\w+]*(?P<core>.*[\w+-])")
_BETWEEN = re.compile(r"\s[|.·:=]{1,80}\s+|[.·_]{3,80}|\s+")
_BRACKETS = frozenset("[](){}<>\"'`")
#: A person sets whole numbers, and does not write of packets.
_MEASURED_NUMBER = re.compile(
    r"\d[.,]\d|\bpackets?\b|\breceived\b|\btransmitted\b|\blost\b|<\w",
    re.IGNORECASE,
)
#: Lines of nothing but these words say nothing about a run.
_SAYS_NOTHING_TEXT = """
    end done finished finish complete completed start started starting begin beginning output result results password
    login logout exit last ok success log test killed terminated interrupted waiting sleeping connected connecting
    closed ready progress yes no true false null none
"""
#: Those that name a tool may stand between a label and its log.
_TOOLS = frozenset({"ping", "iperf", "sockperf"})
_SAYS_NOTHING = _TOOLS.union(_SAYS_NOTHING_TEXT.split())
#: What stands in front of the text of a label.
_MARKS = re.compile(r"[\W_]{0,40}")
#: Words for the time between two runs, or for the end of one, and the words beside them: "Test took 4.1 seconds".
_PASSES = frozenset({"waiting", "sleeping", "sleep", "elapsed", "took", "exit", "remaining", "pause", "cooldown"})
_BESIDE_TEXT = """
    for before after until between the next run runs time seconds second secs sec minutes minute min ms in of code
    status returned now total all
"""
_BESIDE = _PASSES.union(_SAYS_NOTHING, _BESIDE_TEXT.split())
_LONGEST = 1010
_RULER = re.compile(r"[-=]{3,200}")
#: What stands between the labels of a run, and in front of a command among them.
JOINED, COMMAND = " / ", "$ "
#: More lines outside of runs than this are not searched.
_MOST_LINES = 20_000


def set_labels(
    source: Source,
    accounting: LineAccounting,
    boundaries: Sequence[int],
    runs: Sequence[Row],
    logs: Sequence[Log],
) -> None:
    """Append the label of each run to its ``heading``; ``boundaries`` are lines with prompts, headings, fences.

    A sentence is the label of a run only if another run stands above it below the same heading: it separates them.
    """
    in_order = sorted(runs, key=lambda row: row["first_line"])
    spans = [_printed(run, source, accounting) for run in in_order]
    found = merge(*(source.find_texts(partial(accounting.find, kind)) for kind in (PROSE, UNKNOWN)))
    lines = list(islice(found, _MOST_LINES))
    has_headings = any(run["heading"] for run in in_order)
    found_outside = list(_lines_outside(lines, set(boundaries), sorted(spans)))
    tools = [each for each in found_outside if not each.text]
    labelled = [each for each in found_outside if each.text]
    outside = deque(_captions_above(labelled, spans, has_headings=has_headings))
    texts = [(each.line, _DIGITS.sub("", each.text)) for each in outside]
    # What stands below the last run, and not above the first one, ends each run: "Run 1 ... OK".
    below = {text for line, text in texts if spans and line > spans[-1][1]}
    below -= {text for line, text in texts if spans and line < spans[0][0]}
    headings = [run["heading"] for run in in_order]
    firsts = [not place or headings[place] != headings[place - 1] for place in range(len(headings))]
    above_each: list[list[_Label]] = []
    for run, (start, _) in zip(in_order, spans, strict=True):
        above: list[_Label] = []
        first = run["first_line"]
        printed = [  # iperf3 reads these lines, which it prints, too
            _Label(line.number, text, is_sentence=False, is_caption=False, is_marked=True)
            for line in source.lines[max(first - 4, 0) : first]
            for text in [line.text.strip()]
            if (line.number > first - 2 and _UNAME.fullmatch(text))
            or (line.number < start and accounting.kind_of(line.number) == KNOWN and _RECORD.fullmatch(text))
        ]
        above += printed[-1:]
        while outside and outside[0].line < start:
            above.append(outside.popleft())
        above_each.append(above)
    described = _described(headings, firsts, above_each)
    opened = _opened(firsts, above_each)
    # A text that stands above several runs is no introduction.
    said = Counter(text for above in above_each for text in {_DIGITS.sub("", each.text) for each in above})
    chain: list[_Label] = []
    sections: list[list[tuple[Row, list[str]]]] = []
    for place, (run, found_above, heading, is_first) in enumerate(
        zip(in_order, above_each, headings, firsts, strict=True)
    ):
        if is_first:
            chain = []
            sections.append([])
        commands = [each.text for each in found_above if each.is_command and not _starts(each.text, run)]
        sections[-1].append((run, commands))
        prose = {each.line for each in found_above if each.is_caption or each.is_sentence}
        above = [
            # A line beside another one is part of a paragraph.
            each._replace(is_sentence=True) if each.is_caption and {each.line - 1, each.line + 1} & prose else each
            for each in found_above
            if not each.is_command
        ]
        is_introduced = is_first and place not in described and (heading or place not in opened)
        if is_introduced and heading:  # the heading is the label; a text below it is about the section
            above = [each for each in above if each.is_marked]
        written = [
            each for each in above if not (is_introduced and each.is_sentence) or said[_DIGITS.sub("", each.text)] > 1
        ]
        # Of several labels, those above the last are of a section, unless they end the run above: "end of run 1".
        is_end = [_CLOSES.match(each.text) or _DIGITS.sub("", each.text) in below for each in written[:-1]]
        written = [each for each, ends in zip(written, [*is_end, False], strict=False) if not ends]
        start, end = spans[place - 1][0] if place else 0, spans[place][0]
        written += [each for each in tools if start < each.line < end]
        written.sort(key=attrgetter("line"))
        own = [each._replace(text="") if _names_only(each, run) else each for each in written[-_MOST_LABELS:]]
        labels = _chained(chain, own)
        run["heading"] = JOINED.join(filter(None, (heading, *(each.text for each in labels)))) or None
        if not own or not own[-1].text.startswith(_POINTING):  # what points to one log says nothing about the next
            chain = labels
    for runs_of_section in sections:
        _add_commands(runs_of_section)
    _add_printed_by(_typed(lines), in_order, [start for start, _ in spans], boundaries)
    _add_hosts(in_order, logs)


def _names_only(label: _Label, run: Row) -> bool:
    """Return whether a label says no more than the tool of its run: "--- qperf ---"."""
    words = {word.casefold() for word in _WORD.findall(label.text)}
    return bool(words) and words <= _SAYS_NOTHING | {word.casefold() for word in _WORD.findall(run["tool"])}


def _chained(chain: Sequence[_Label], own: Sequence[_Label]) -> list[_Label]:
    """Return the labels of a run: its own, below those of the run above that hold for both.

    Own labels replace as many of the last ones, or all from the only one on that is marked like the first of them.
    Those that name nothing but a tool, and have no text, replace only the last one with their marks: of another tool.
    """
    if not own:
        return list(chain)
    alike = [place for place, each in enumerate(chain) if each.marks and each.marks == own[0].marks]
    if any(each.text for each in own):
        kept = alike[0] if len(alike) == 1 else max(len(chain) - len(own), 0)
    else:
        kept = alike[-1] if alike and alike[-1] > 0 else len(chain)
    return [*chain[:kept], *own]


def _described(
    headings: Sequence[str | None], firsts: Sequence[bool], above_each: Sequence[Sequence[_Label]]
) -> set[int]:
    """Return the first runs below headings that only count, if each of these has a text: "Test 2", "GRO is off"."""
    alike: dict[str, list[int]] = {}
    for place, (heading, is_first) in enumerate(zip(headings, firsts, strict=True)):
        if is_first and heading:
            alike.setdefault(_DIGITS.sub("", heading), []).append(place)
    return {
        place
        for places in alike.values()
        if len(places) > 1 and all(any(not each.is_command for each in above_each[place]) for place in places)
        for place in places
    }


def _opened(firsts: Sequence[bool], above_each: Sequence[Sequence[_Label]]) -> set[int]:
    """Return the first runs of sections with nothing but sentences above, if later runs have only such labels, too."""
    opened: set[int] = set()
    first = 0
    for place, (is_first, above) in enumerate(zip(firsts, above_each, strict=True)):
        first = place if is_first else first
        if above and place > first and all(each.is_sentence and not each.is_command for each in above):
            opened.add(first)
    return {place for place in opened if all(each.is_sentence for each in above_each[place])}


def _captions_above(labels: list[_Label], spans: Sequence[tuple[int, int]], *, has_headings: bool) -> list[_Label]:
    """Return labels with the captions above their logs: those that point there, and all if each log has one below.

    So are other texts, if none stands above the first log: "# GRO off" at the end of a file, "Trial 1/4: OK".
    """
    starts = sorted(start for start, _ in spans)
    place_of = {label: bisect_right(starts, label.line) for label in labels if not label.is_command}
    remarks = [] if has_headings or not all(map(_may_stand_below, place_of)) else list(place_of)
    if len(remarks) != len(starts) or (len(starts) == 1 and not _is_remark(remarks[0])):
        remarks = []
    captions: set[_Label] = set()
    for those in (remarks, list(filter(_is_numbered, place_of))):
        if {place_of[label] for label in those} == {*range(1, len(starts) + 1)}:
            captions = {*those}
    captions |= {label for label, place in place_of.items() if place and label.text.startswith(_POINTING)}
    moved = [
        label._replace(line=starts[place_of[label] - 1] - 1, is_marked=True) if label in captions else label
        for label in labels
    ]
    return sorted(moved, key=attrgetter("line"))


def _is_numbered(label: _Label) -> bool:
    return _CAPTION.match(label.text) is not None


def _is_remark(label: _Label) -> bool:
    """Return whether a text below the only log is a comment or a note, and not an error of a tool or its values."""
    note = _NOTE.match(label.text)
    return label.text.count("=") < 2 and (label.is_marked or (note is not None and note[1] not in program_names()))


def _may_stand_below(label: _Label) -> bool:
    """Return whether a text may be about the log above it: not a sentence, nor one that ends with a colon."""
    return label.is_caption or label.is_marked


def _add_hosts(runs: Sequence[Row], logs: Sequence[Log]) -> None:
    """Append the hosts of the prompts, if there are several: two machines may print one address as theirs."""
    if len({log.host for log in logs} - {None}) < 2:
        return
    first_lines = [log.first_line for log in logs]
    for run in runs:
        host = logs[max(bisect_right(first_lines, run["first_line"]) - 1, 0)].host
        if host is not None and host != run.get("client"):
            run["heading"] = JOINED.join(filter(None, (run["heading"], f"on {host}")))


def _add_commands(runs: Sequence[tuple[Row, list[str]]]) -> None:
    """Append the commands between the runs of a section to the labels of the runs below them.

    Those above its first run count only if others follow: the last ones, as many as above a later run. Else the setup
    of each session would tell it from the others.
    """
    later = next((commands for _, commands in runs[1:] if commands), None)
    if later is None:
        return
    label: str | None = None
    for place, (run, commands) in enumerate(runs):
        if commands := commands if place else commands[-len(later) :]:
            label = COMMAND + "; ".join(commands).replace(JOINED, " /")[:_LONGEST]
        run["heading"] = JOINED.join(filter(None, (run["heading"], label))) or None


def _add_printed_by(
    commands: Sequence[tuple[int, str]], runs: Sequence[Row], starts: Sequence[int], boundaries: Sequence[int]
) -> None:
    """Append what the command line of a loop, or one that prints a file, says about each run below it.

    So does one that starts the tool by a program that is not known: ``onload ping HOST``.
    """
    stops = [*sorted({*boundaries, *(line for line, _ in commands)}), inf]
    for line, command in commands:
        printed = runs[bisect_right(starts, line) : bisect_right(starts, stops[bisect_right(stops, line)])]
        for run, told in zip(printed, told_by(command, len(printed)), strict=False):
            run["heading"] = JOINED.join(filter(None, (run["heading"], told.replace(JOINED, " /"))))
        unknown = (printed and _changing_command(f"{COMMAND}{command}")) or ""
        for run in printed:
            if _starts(unknown, run):
                run["heading"] = JOINED.join(filter(None, (run["heading"], f"{COMMAND}{unknown[:_LONGEST]}")))


def _starts(command: str, run: Row) -> bool:
    """Return whether a command names the tool of a run."""
    return not {run["tool"], run["tool"].removesuffix("2")}.isdisjoint(map(program_name, command.split()))


class _Label(NamedTuple):
    line: int
    text: str
    is_sentence: bool
    is_caption: bool
    """Whether it is a short text without marks, which may be a line of a paragraph."""
    is_marked: bool
    is_command: bool = False
    """Whether it is a command between two runs, which may change a setting."""
    marks: str = ""
    """What stands in front of the text: labels of one level have the same."""


def _typed(lines: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the commands of prompts, each with its last line: a loop may be typed on several."""
    typed: list[tuple[int, str]] = []
    for number, text in lines:
        if typed and number == typed[-1][0] + 1 and (continued := _CONTINUED.match(text[:_LONGEST])):
            typed[-1] = (number, f"{typed[-1][1]}; {continued['command']}")
        elif prompt := _COMMAND.match(text[:_LONGEST]):
            typed.append((number, prompt["command"]))
    return typed


def _lines_outside(
    lines: Sequence[tuple[int, str]], boundaries: set[int], spans: Sequence[tuple[int, int]]
) -> Iterator[_Label]:
    """Yield each label that stands outside of the runs, and is not the output of a command."""
    drawings = _drawings(lines)
    shown = _shown_by(lines, {number for number, _ in lines if _is_inside(number, spans)}.union(boundaries))
    # What a person typed to show a state that was another one elsewhere.
    states = {line for outputs in shown.values() if len({*outputs.values()}) > 1 for line in outputs}
    at, above, typed, is_output, is_after_output = 0, 0, 0, False, False
    for place, (number, text) in enumerate(lines):
        while at < len(spans) and spans[at][1] < number:
            at += 1
        inside = at < len(spans) and spans[at][0] <= number
        if (number in boundaries or _COMMAND.match(text)) and not _COMMENTED.match(text):
            following = next((text for below, text in lines[place + 1 : place + 2] if below == number + 1), "")
            has_failed = _COMMAND.match(text) is not None and _FAILED.search(following) is not None
            # "uname -r" between two runs tells them apart only if it printed something else elsewhere.
            printed = {*shown.get(_typed_text(text), {}).values()}
            is_shown = len(printed) == 1 and bool(_SHOWING.search(text)) and bool(spans) and number > spans[0][0]
            is_output, above = has_failed or is_shown or not (_SAYING.search(text) or _FENCE.match(text)), number
            typed = number
            is_after_output = is_output
            if titled := _TITLED.match(text[:_LONGEST]):
                yield _Label(number, titled["title"], is_sentence=False, is_caption=False, is_marked=True)
            if not inside and not has_failed and (command := _changing_command(text[:_LONGEST])):
                yield _Label(number, command, is_sentence=True, is_caption=False, is_marked=False, is_command=True)
            continue
        # The paragraphs of ifconfig are separated by blank lines; all but the first line of each is indented.
        is_output &= number - 1 == above
        is_continued = is_after_output and number - 1 == above and text[:2].isspace()
        above = number
        is_banner = _FILE_BANNER.fullmatch(text.strip()) is not None
        is_output &= not is_banner
        is_output &= number - 1 != typed or _RULE.fullmatch(text) is None
        label = None if is_output or is_continued or inside else _label(number, text[:_LONGEST].strip())
        if number in drawings and not inside:
            label = _Label(number, drawings[number], is_sentence=False, is_caption=False, is_marked=True)
        if number in states:
            label = _Label(number, text.strip(), is_sentence=True, is_caption=False, is_marked=False)
        if label is not None:
            is_after_output = False
            yield label._replace(is_caption=False, is_marked=True) if is_banner else label


def _typed_text(text: str) -> str:
    """Return the command of a prompt that may show the kernel or a setting, if it is one."""
    match = _COMMAND.match(text[:_LONGEST])
    return match["command"] if match and not _VOLATILE.search(match["command"]) else ""


def _is_inside(number: int, spans: Sequence[tuple[int, int]]) -> bool:
    place = bisect_right(spans, (number, inf)) - 1
    return place >= 0 and number <= spans[place][1]


def _shown_by(lines: Sequence[tuple[int, str]], of_runs: Collection[int]) -> dict[str, dict[int, str]]:
    """Return by line what each command printed in one line that is no measurement; ``of_runs``: the lines of these."""
    shown: dict[str, dict[int, str]] = {}
    after = [*lines[2:], (0, "")]
    for ((number, text), (below, output)), (third, following) in zip(pairwise(lines), after, strict=False):
        is_all = third != below + 1 or third in of_runs or not following.strip() or _COMMAND.match(following)
        is_state = below == number + 1 and below not in of_runs and (is_all or _SHOWING.search(text))
        if is_state and (command := _typed_text(text)):
            shown.setdefault(command, {})[below] = output.strip()
    return shown


def _drawings(lines: Sequence[tuple[int, str]]) -> dict[int, str]:
    """Return a name for what is drawn over several lines, as figlet prints a caption, by its last line.

    The letters are not read, so that captions of "Run 1" and "Run 2" are different, too.
    """
    named: dict[int, str] = {}
    drawn: list[tuple[int, str]] = []
    for number, text in [*lines, (0, "")]:
        is_drawn = _DRAWN.fullmatch(text) is not None
        # A line that ends with a backslash is joined to the next one.
        if drawn and (not is_drawn or number > drawn[-1][0] + 2):
            if len(drawn) >= _LINES_OF_LETTERS:
                named[drawn[-1][0]] = f"ASCII art {crc32(''.join(part for _, part in drawn).encode()):x}"
            drawn = []
        drawn += [(number, text)] * is_drawn
    return named


def _changing_command(line: str) -> str | None:
    """Return the command of a prompt that may change how the next run goes; None for neutral ones and measurements."""
    match = _COMMAND.match(line)
    if match is None:
        return None
    command = re.sub(r"^sudo(?:\s+-\w+)*(?:\s+|$)", "", match["command"].strip())
    # What stands behind an arrow of zsh may be the folder.
    is_run = "➜" in line and not program_names().isdisjoint(map(program_name, command.split()))
    # "helm upgrade cilium" is no measurement, though cilium is a tool; "sysctl -w … && ping" is more than one.
    is_run |= any(runs_program(part, program_names()) for part in _PARTS.split(command))
    if is_run and not _NO_RUN.search(command):
        parts = [] if _LOOPS.search(command) else _STATEMENTS.split(command)
        command = "; ".join(part for part in parts if program_names().isdisjoint(map(program_name, part.split())))
    return command if command and changes_settings(command) else None


def _printed(run: Row, source: Source, accounting: LineAccounting) -> tuple[int, int]:
    """Return the first and last line of a run that its tool printed: what is around them may be a label.

    A ruler below a text of a person is part of a heading, although some tools print such lines, too.
    """

    def is_printed(line: int) -> bool:
        if accounting.kind_of(line) not in (DATA, KNOWN):
            return False
        is_below = line > 1 and accounting.kind_of(line - 1) in (DATA, KNOWN)
        return is_below or _RULER.fullmatch(source.lines[line - 1].text.strip()) is None

    start, end = run["first_line"], run["last_line"]
    while start < end and not is_printed(start):
        start += 1
    while end > start and not is_printed(end):
        end -= 1
    return int(start), int(end)


def _is_sentence(line: str) -> bool:
    """Return whether a line is text of a person: what a tool prints in an unknown form has more numbers."""
    if not line.isascii():  # the vowels of Thai, and accents that are characters of their own
        line = "".join(each for each in line if not category(each).startswith("M"))
    text = _DATE.sub("", _NUMBERED.sub("", line, count=1))
    if (
        _UNAME.fullmatch(line)
        or _BARE_WORD.fullmatch(line)
        or _THINGS.fullmatch(line)
        or _BETWEEN_HOSTS.fullmatch(line)
    ):
        return True
    return line[:1].isalpha() and len(_WORD.findall(line)) >= _WORDS_IN_A_SENTENCE and len(_NUMBER.findall(text)) < 2


def _is_list(line: str) -> bool:
    """Return whether a line is a short text with several numbers that a person sets: ``MTU 1500, 8 streams``."""
    line = _DATE.sub("", line)
    if len(line) > _LONGEST_CAPTION or _MEASURED_NUMBER.search(line):
        return False
    return 0 < len(_NUMBER.findall(line)) <= len(_WORD.findall(line))


def _undecorated(line: str) -> str:
    """Return the text of a person in a line, without quotes, boxes or pictures around it; empty if there is none."""
    if _is_sentence(line):
        return line
    core = _CORE.match(line)
    text = _BETWEEN.sub(" ", core["core"]) if core else ""
    if not _is_sentence(text) and not _is_list(text):
        return ""
    return text if _BRACKETS.isdisjoint(text) else line


def _label(number: int, line: str) -> _Label | None:
    """Return the label that a line is; None if it is none."""
    if logged := _LOGGED.match(line):
        line = line[logged.end() :]
    line = _COUNTED.sub("", _DATED.sub("", line))
    line = line.replace(" ", "") if _SPACED.fullmatch(line) else line
    if _FRAME.fullmatch(line) or _LOGIN.search(line):
        return None
    match = _LABEL.fullmatch(line)
    is_record = _RECORD.fullmatch(line) is not None
    if match is None and not is_record:
        line = line if _BARE_NUMBER.fullmatch(line) else _undecorated(line)
        if not line or _SAID_BY_TOOLS.search(line):
            return None
    found = {} if match is None else match.groupdict()
    text = next((text for name, text in found.items() if text and name not in ("tag", "marks")), line)
    words = {word.casefold() for word in (_VALUE if is_record else _WORD).findall(_DATE.sub("", text))}
    is_command = _ARGUMENT.search(text) is not None and runs_program(text, program_names())
    # "test 2" counts, but "iperf 3.16" and "5.15" are versions.
    is_setting = bool(_VERSION.search(text) if words else _DIGITS.search(_MOMENT.sub("", text)))
    is_name = text.isalpha() or _BARE_WORD.fullmatch(text) is not None  # "a:"
    is_noise = words <= _SAYS_NOTHING and not is_setting and (bool(words) or not is_name)
    is_noise |= words <= _BESIDE and not words.isdisjoint(_PASSES) and any(map(str.isdecimal, text))
    is_bare = match is None and _BARE_WORD.fullmatch(line) is not None
    is_noise |= bool((is_bare or is_record or found.get("valued")) and words & _MEASURED)
    marks = _MARKS.match(line)[0]  # type: ignore[index]  # matches any line
    if is_noise and not words.isdisjoint(_TOOLS) and words <= _SAYS_NOTHING and match is not None:
        return _Label(number, "", is_sentence=False, is_caption=False, is_marked=True, marks=marks)
    if is_command or is_noise:
        return None
    is_caption = match is None and not is_record and len(line) <= _LONGEST_CAPTION and line[-1:] not in ".!?"
    is_marked = is_record or (match is not None and not found["captioned"] and found["marks"] not in ("*", "_"))
    is_sentence = not is_marked and match is None and not is_caption
    return _Label(number, text.strip(), is_sentence, is_caption, is_marked, marks=marks)
