r"""Removes what wraps a log: mail quoting, log prefixes, indentation, escaped line ends, markup, joined lines.

Logs are quoted in a mail (``> ``), written by a runner that puts ``[STDOUT] ``, a time stamp or the name of a container
before each line, or exported from a database as one line with ``\r\n`` spelled out. Web pages and mail programs add
HTML, bold type, backticks or quoted-printable, and some archives have a whole log in one line. A common prefix is found
by comparing the lines with their digits masked; lines keep their numbers. Nothing is removed on suspicion:
`propose_unwrapped` makes proposals, and a proposal counts only if more logs are recognised in it than in the original
text. For a source with recognised logs, this costs a look at its first characters. Proposals for a large source are
made for some of its lines, and then applied to all of them, piece by piece.
"""

from __future__ import annotations

import html
import os.path
import quopri
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import NamedTuple

from azlatency.logs.source import lisa
from azlatency.logs.source.decode import SPELLED_END, Source
from azlatency.logs.source.large import FileText

_QUOTE = re.compile(r"(?:[ \t]?>)+ ?")
# How a line starts that a runner, a container or a system log has labelled. Only such texts are searched for a prefix.
LABEL = re.compile(
    r"\[[A-Za-z]{3,8}\] |\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|[\w.-]{1,40} {0,20}\| "
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "
)
# Two stars, not a line of stars.
_BOLD = re.compile(r"(?<= )\*\* (?=[^\s*])|(?<!\*)\*\*(?!\*)")
_BLOCK_LABEL = re.compile(r"^[ \t]{0,8}\[(?:STDOUT|STDERR|OUTPUT|OUT|ERR)\](?: |$)", re.MULTILINE | re.IGNORECASE)
_DIRECTION_LABEL = re.compile(r"^(?:\d\d:\d\d:\d\d\.\d{3}| {12}) [ <>]\|", re.MULTILINE)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,7}|#x[\dA-Fa-f]{1,6});")
# Not sockperf's <MAX> and <MIN>, and not the names that people put in the place of addresses.
_TAG = re.compile(
    r"</?(?:html|head|body|pre|code|tt|samp|p|div|span|td|tr|table|tbody|b|strong|i|em|font|blockquote)"
    r"(?: [^<>]{0,300})?>",
    re.IGNORECASE,
)
_LINE_BREAK = re.compile(r"<br ?/?>(?!\n|$)", re.IGNORECASE)
_LAST_LINE_BREAK = re.compile(r"<br ?/?>", re.IGNORECASE)
_BACKTICKS = re.compile(r"^[ \t]*(`{1,2})(?!`)([^`\n]+)\1[ \t]*$", re.MULTILINE)
# Two signs in a row are the line below the titles of a table; quoted-printable writes =3D for each.
_QUOTED_PRINTABLE = re.compile(r"=3D|=20$|(?<!=)=\n", re.MULTILINE)
# What a line of ping, Windows ping, sockperf and iperf starts with, in the middle of a line.
_JOINED = re.compile(
    r"(?<! ) ++(?=\d{1,5} bytes from \S|--- \S{1,253} (?:ping|hping) statistics? ---|\d{1,9} packets transmitted, "
    r"|(?:rtt|round-trip) min/avg/max|Reply from [\d.:a-f]{2,45}: bytes=|Ping statistics for |Packets: Sent = "
    r"|Approximate round trip times |Minimum = \d|sockperf: |\[ {0,2}(?:\d{1,3}|ID|SUM)\] )"
)
_GLUED_FENCE = re.compile(r"^(`{3,8})(?=[^`\s]{1,60} [^`\n]{0,200}\d)", re.MULTILINE)
_FEWEST_JOINED = 3
_LONGEST_JOINED = 4096
_DIGITS = re.compile(r"\d+")
BOUNDARY = re.compile(r"(?<=[ \t\]|>])(?=[^ \t])")
#: Enough lines to judge a proposal.
_HEAD_LINES = 2000
_FEWEST_QUOTED = 3
_FEWEST = 2
_LONGEST_PREFIX = 200
MOST_BOUNDARIES = 12
_GROUP = 2
_BOLD_SEARCHED = 65_536
_QUOTES_SEARCHED = 2**20
#: At most this much of a large text is unwrapped at once, and this many lines more, if they are folded into one.
_PIECE, _MOST_FOLDED = 2**20, 1000


class Unwrapped(NamedTuple):
    """A source without its wrapping.

    ``what`` describes the wrapping, ``line`` is the first line that had it, and ``remove`` removes it from whole lines,
    of a large source from so many bytes at once. ``layers`` have lines, by number, that belong to other logs than the
    lines between which they stand.
    """

    source: Source
    what: str
    line: int
    remove: Callable[[str], str]
    piece: int = _PIECE
    layers: Sequence[Mapping[int, str]] = ()

    def head(self, source: Source) -> Source:
        """Return the first lines of the source without its wrapping."""
        if isinstance(source.text, str):
            return take_head(self.source)
        head = take_head(source)
        return replace(head, text=self.remove(head.whole_text))

    def unwrap_all(self, source: Source) -> Unwrapped:
        """Return this proposal, which was made for some lines of a large source, for all of them."""
        text = source.text
        if isinstance(text, str):
            return self
        file = tempfile.TemporaryFile(prefix="azlatency-")  # noqa: SIM115  # closed with the text
        start = read = kept = line_feeds = line = 0
        while start < len(text):
            stop = _piece_end(text, start, self.piece)
            piece = text[start:stop]
            plain = self.remove(piece)
            if not line and plain != piece:
                line = read + _first_difference(piece, plain)
            start, read = stop, read + piece.count("\n")
            kept, line_feeds = kept + file.write(plain.encode()), line_feeds + plain.count("\n")
        whole = replace(source, text=FileText(file, kept, line_feeds))
        return self._replace(source=whole, line=1 if self.line == 1 else line)


def _propose(source: Source, what: str, line: int, remove: Callable[[str], str]) -> Unwrapped:
    """Return a proposal that removes a wrapping from a source."""
    return Unwrapped(replace(source, text=remove(source.whole_text)), what, line, remove)


def _piece_end(text: FileText, start: int, size: int = _PIECE) -> int:
    """Return where a piece of whole lines ends, of which the last is not continued in the next one."""
    end = start + size
    if end < len(text):
        end = text.rfind("\n", start, end) + 1 or text.find("\n", end) + 1 or len(text)
    for _ in range(_MOST_FOLDED):
        if end >= len(text) or text.read(end - 2, end) != b"=\n":
            break
        end = text.find("\n", end) + 1 or len(text)
    return min(end, len(text))


def _first_difference(text: str, plain: str) -> int:
    """Return the number of the first line in which two texts differ."""
    return 1 + os.path.commonprefix([text, plain]).count("\n")  # noqa: RUF071  # characters are meant


def propose_unwrapped(source: Source, *, claimed: bool, begins: bool) -> Iterator[Unwrapped]:
    """Yield the source without a possible wrapping, the most likely first; nothing for most sources.

    ``claimed``: a parser claims a line of the source. ``begins``: such a line starts a log, so nothing precedes it.
    """
    for proposal in [Unwrapped(source, "", 0, str), *_propose_line_by_line(source, claimed=claimed, begins=begins)]:
        if proposal.what:
            yield proposal
        if (plainer := _remove_markup(proposal)) is not None:
            yield plainer


def _propose_line_by_line(source: Source, *, claimed: bool, begins: bool) -> Iterator[Unwrapped]:
    """Yield the source without indentation, quotation marks, spelled out line ends, bold type or a common prefix."""
    text = source.whole_text
    plain, layers = lisa.separate(text) if lisa.HINT in text and source.size_bytes <= lisa.LARGEST else (text, [])
    if plain != text:
        first = _first_difference(text, plain)
        whole = replace(source, text=plain)
        yield Unwrapped(whole, "the labels of LISA", first, lisa.without_labels, lisa.LARGEST, layers)
    if text[:1] in (" ", "\t") and (proposal := _remove_indent(source)) is not None:
        yield proposal
    if (text.startswith(">") or text.find("\n>", 0, _QUOTES_SEARCHED) >= 0) and (
        proposal := _remove_quoting(source, claimed)
    ) is not None:
        yield proposal
    if not claimed:
        yield from _restore_line_ends(source)
    if text.find("**", 0, _BOLD_SEARCHED) >= 0 and _BOLD.search(text, 0, _BOLD_SEARCHED):
        yield _propose(source, "the asterisks of bold type", 1, partial(_BOLD.sub, ""))
    if not claimed or (not begins and LABEL.match(text)):
        yield from _remove_prefix(source)


def _remove_markup(proposal: Unwrapped) -> Unwrapped | None:
    """Remove all markup that the text contains; None if it contains none."""
    text, removed = proposal.source.whole_text, [proposal.what] if proposal.what else []
    first = proposal.line or proposal.source.line_count
    steps = [proposal.remove]
    for what, remove in _MARKUP.items():
        plainer = remove(text)
        if plainer != text:
            first = min(first, _first_difference(text, plainer))
            removed.append(what)
            steps.append(remove)
            text = plainer
    if len(steps) == 1:
        return None
    whole = replace(proposal.source, text=text)
    return proposal._replace(
        source=whole,
        what=" and ".join(removed),
        line=first,
        remove=lambda text: reduce(lambda done, step: step(done), steps, text),
    )


def _remove_html(text: str) -> str:
    if "<" not in text and "&" not in text and "\xa0" not in text:
        return text
    text = _TAG.sub("", _LAST_LINE_BREAK.sub("", _LINE_BREAK.sub(SPELLED_END, text)))
    return _ENTITY.sub(lambda match: html.unescape(match[0]), text).replace("\xa0", " ")


def _decode_quoted_printable(text: str) -> str:
    """Decode quoted-printable; the lines of which a long one was folded into keep their numbers, as blank lines."""
    if "=" not in text or len(_QUOTED_PRINTABLE.findall(text)) < _FEWEST:
        return text
    decoded: list[str] = []
    folded = 0
    for line in text.split("\n"):
        joined, folded_before = folded > 0, folded
        folded = folded_before + 1 if line.endswith("=") else 0
        plain = quopri.decodestring(line.removesuffix("=").encode()).decode(errors="replace").replace("\n", " ")
        if joined:
            decoded[-folded_before] += plain
            decoded.append("")
        else:
            decoded.append(plain)
    return "\n".join(decoded)


def _split_joined(text: str) -> str:
    """Split lines that are several lines of a log joined by blanks; the pieces keep the number of the line."""
    if " " not in text:
        return text
    lines = text.split("\n")
    if max(map(len, lines)) <= _LONGEST_PREFIX:
        return text
    for index, line in enumerate(lines):
        if len(line) > _LONGEST_PREFIX and len(_JOINED.findall(line)) >= _FEWEST_JOINED:
            lines[index] = _JOINED.sub(SPELLED_END, line).replace(" statistics --- ", f" statistics ---{SPELLED_END}")
    return "\n".join(lines)


def _without_end_bars(text: str) -> str:
    """Remove one or two bars at the ends of lines: a table of one column, as pages that show a file are saved."""
    lines = text.split("\n")
    barred = [index for index, line in enumerate(lines) if line.endswith(" |") and line[:1] not in ("|", "+", " ")]
    if len(barred) < _FEWEST:
        return text
    for index in barred:
        lines[index] = lines[index].removesuffix(" |").removesuffix(" |")
    return "\n".join(lines)


def _join_continued(text: str) -> str:
    """Join lines that end with a backslash and the lines that continue them, which become blank."""
    lines = text.split("\n")
    whole = 0
    for index in range(1, len(lines)):
        if lines[whole].endswith("\\") and len(lines[whole]) < _LONGEST_JOINED:
            lines[whole] = f"{lines[whole][:-1].rstrip()} {lines[index].lstrip()}"
            lines[index] = ""
        else:
            whole = index
    return "\n".join(lines)


_MARKUP: dict[str, Callable[[str], str]] = {
    "the tags and entities of HTML": _remove_html,
    "the escapes of quoted-printable": _decode_quoted_printable,
    "the backticks around lines": lambda text: _BACKTICKS.sub(r"\2", text) if "`" in text else text,
    "the fences at the beginnings of lines": lambda text: (
        _GLUED_FENCE.sub(rf"\1{SPELLED_END}", text) if "```" in text else text
    ),
    "labels such as [STDOUT]": lambda text: _BLOCK_LABEL.sub("", text) if "]" in text else text,
    "labels such as 22:30:19.748 <|": lambda text: _DIRECTION_LABEL.sub("", text) if " <|" in text else text,
    "the backslashes at the ends of lines": lambda text: _join_continued(text) if "\\\n" in text else text,
    "the bars at the ends of lines": lambda text: _without_end_bars(text) if " |\n" in text else text,
    "the blanks that join lines": _split_joined,
}


def take_head(source: Source) -> Source:
    """Return the first lines of a source."""
    if source.line_count <= _HEAD_LINES:
        return source
    text = source.text
    beginning = text if isinstance(text, str) else text[: _piece_end(text, 0)]
    return replace(source, text="\n".join(beginning.split("\n", _HEAD_LINES)[:_HEAD_LINES]) + "\n")


def _remove_indent(source: Source) -> Unwrapped | None:
    """Remove the white space that all lines start with."""
    lines = source.whole_text.split("\n")
    blanks = os.path.commonprefix([line for line in lines if line.strip()])  # noqa: RUF071  # characters are meant
    blanks = blanks[: len(blanks) - len(blanks.lstrip(" \t"))]
    if not blanks:
        return None

    def remove(text: str) -> str:
        return "\n".join(line.removeprefix(blanks) for line in text.split("\n"))

    return _propose(source, f"{len(blanks)} blanks before each line", 1, remove)


def _remove_quoting(source: Source, claimed: bool) -> Unwrapped | None:
    """Remove quotation marks; in a source with other logs, only those of several lines in a row."""
    remove = partial(_without_quotes, fewest=_FEWEST_QUOTED if claimed else 1)
    text, plain = source.whole_text, remove(source.whole_text)
    if plain == text:
        return None
    return Unwrapped(replace(source, text=plain), "the quotation marks '>'", _first_difference(text, plain), remove)


def _without_quotes(text: str, fewest: int) -> str:
    lines = text.split("\n")
    quoted = [line.lstrip(" \t").startswith(">") for line in lines]
    start = 0
    for index, is_quoted in enumerate([*quoted, False]):
        if is_quoted:
            continue
        if index - start >= fewest:
            for inside in range(start, index):
                mark = _QUOTE.match(lines[inside])
                lines[inside] = lines[inside][mark.end() if mark else 0 :]
        start = index + 1
    return "\n".join(lines)


def _restore_line_ends(source: Source) -> Iterator[Unwrapped]:
    """Replace line ends that are spelled out; the pieces of a line keep its number."""
    text = source.whole_text
    if text.count(r"\r\n") >= _FEWEST or text.count(r"\n") >= _FEWEST:
        yield _propose(source, r"line ends spelled out as \r\n or \n", 1, _with_line_ends)


def _with_line_ends(text: str) -> str:
    plain = text.replace(r"\r\n", SPELLED_END).replace(r"\n", SPELLED_END)
    return plain.replace(r"\t", "\t").replace("''", "'")  # SQL doubles quotes


#: A name with its number, such as that of a host: no time, as in "27T12:00", and no level of klog, as in "I0127".
_NUMBERED_NAME = re.compile(r"(?<![A-Za-z\d])(?![IWEF]\d{4})[A-Za-z][A-Za-z_-]{0,60}\d+")


def _remove_prefix(source: Source) -> Iterator[Unwrapped]:
    """Remove the prefix that most lines share except for its digits; one proposal per possible end, shortest first."""
    lines = source.whole_text.split("\n")
    masked = [_DIGITS.sub("0", line[:_LONGEST_PREFIX]).rstrip() + " " for line in lines if line.strip()]
    if len(masked) < _FEWEST:
        return
    head, count = Counter(line[:_GROUP] for line in masked).most_common(1)[0]
    if count < _FEWEST or 2 * count < len(masked):
        return
    shared = os.path.commonprefix([line for line in masked if line.startswith(head)])  # noqa: RUF071
    ends = [boundary.start() for boundary in BOUNDARY.finditer(shared + ".")][:MOST_BOUNDARIES]
    for end in ends:
        prefix = shared[:end]
        # A line that contains only the prefix has lost the white space at its end.
        start, blanks = re.escape(prefix.rstrip()).replace("0", r"\d+"), prefix[len(prefix.rstrip()) :]
        pattern = re.compile(f"{start}(?:{re.escape(blanks)}|\\s*$)")
        first = next((number for number, line in enumerate(lines, start=1) if pattern.match(line)), 1)
        found = (match[0] for line in lines if (match := pattern.match(line)))
        if len({tuple(_NUMBERED_NAME.findall(text)) for text in found}) > 1:
            return  # lines of several hosts, "vm-z1: " and "vm-z2: ", are no log
        yield _propose(source, f"the prefix {prefix!r} of the lines", first, partial(_without_prefix, pattern))


def _without_prefix(pattern: re.Pattern[str], text: str) -> str:
    return "\n".join(line[match.end() :] if (match := pattern.match(line)) else line for line in text.split("\n"))
