"""Shorten long names of hosts and paths for a figure, and keep distinct names distinct.

The text alternative and the tables have the full names; the caption says that names were shortened.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from unicodedata import east_asian_width

#: Longest word that is not shortened, in characters; an IPv4 address with a port fits. Shortest rest of a word.
_LONGEST, _SHORTEST = 26, 4
#: Blanks at which no line is broken: between a number and its unit, and before the last word in parentheses.
_TIED = re.compile(r"(?<=\d) (?=(?:[nµm]?s|[kMGT]?bit/s|B|%)(?!\w))|(?<=\w) (?=[\w–]+\))")
#: Two short names with an arrow or a dash between them: "az1a → az2a", "Zone 3 → Zone 1", "Washington DC → Tokyo".
_PAIR = re.compile(r"(?:\b[A-Z]\w* )?(?<!\S)\S{1,12} [→-] \S{1,12}(?: \d+[,;:)]*)?(?!\S)")
_WORD = re.compile(r"\S+")
#: A word of a language, such as "accelerated", or a VM size, which nobody recognises without its middle.
_PLAIN_WORD = re.compile(r"[^\W\d_]{1,16}[,.:;)]?|\([^\W\d_]{1,16}\)?|Standard_\w{1,16}[,)]?")
#: A host with its domain, and what may follow it in a title.
_HOST = re.compile(r"([A-Za-z][\w-]*)\.[\w.-]+?([,;:)]*)")


@dataclass(frozen=True)
class Names:
    """The names of one figure: ``shortened`` has the name that each short one stands for.

    Widths are numbers of Latin letters.
    """

    shortened: dict[str, str] = field(default_factory=dict)

    def short(self, text: str, letters: int | None = None, word: int = _LONGEST) -> str:
        """Shorten long words: a host loses its domain, then its middle. The result has the width of ``letters``."""
        text = _WORD.sub(lambda match: self._word(match[0], word), str(text))
        if letters is None or len(text) <= (letters := _of_width(text, letters)):
            return text
        return self._unique(text, *(_squeezed(text, most) for most in range(letters, len(text), 4)))

    def cut(self, text: str, letters: int) -> str:
        """Cut a text to so many characters, in its middle and through words."""
        return self._unique(text, _middle(text, letters))

    def wrap(self, text: str, letters: int, lines: int | None = None) -> str:
        """Break a text into lines of at most ``letters``; long names are shortened until it has ``lines`` lines."""
        text = self.short(text, None if lines is None else lines * letters, min(letters, _LONGEST))
        loose, width = _TIED.sub("\N{NO-BREAK SPACE}", text), max(_of_width(text, letters), 8)
        tied = _PAIR.sub(lambda at: at[0].replace(" ", "\N{NO-BREAK SPACE}") if len(at[0]) <= width else at[0], loose)
        broken, apart = (textwrap.fill(each, width, break_on_hyphens=False) for each in (tied, loose))
        # A pair stands on one line where a tick label has no more lines for it.
        chosen = broken if lines is None or broken.count("\n") == apart.count("\n") else apart
        return chosen.replace("\N{NO-BREAK SPACE}", " ")

    def _word(self, word: str, letters: int) -> str:
        """Shorten a long word; a … marks the cut, so that it cannot be mistaken for a whole name."""
        longest = _of_width(word, letters)
        if len(word) <= longest:
            return word
        host = _HOST.fullmatch(word)
        name, after = (host[1], host[2]) if host else (word, "")
        cuts = [_middle(name, room) + after for room in range(longest, len(name), 4)]
        bare = [f"{name}…{after}"] if host else []
        return self._unique(word, *(bare + cuts if len(name) < longest else cuts + bare))

    def _unique(self, whole: str, *shorter: str) -> str:
        """Return the first of ``shorter`` that is unique in this figure, else the whole name."""
        return next((name for name in shorter if self.shortened.setdefault(name, whole) == whole), whole)


def _of_width(text: str, letters: int) -> int:
    """Return how many characters of a text are as wide as so many Latin ones: a Chinese one is as wide as two."""
    wide = sum(east_asian_width(letter) in "WF" for letter in text)
    return letters * len(text) // (len(text) + wide) if wide else letters


def _squeezed(text: str, letters: int) -> str:
    """Shorten the longest names until the text has at most ``letters`` characters; words stay, and are wrapped."""
    for room in range(_LONGEST, _SHORTEST - 1, -1):
        text = " ".join(word if _PLAIN_WORD.fullmatch(word) else _middle(word, room) for word in text.split(" "))
        if len(text) <= letters:
            break
    return text


def _middle(name: str, room: int) -> str:
    """Keep at most ``room`` characters from the start and the end, where names of a cluster differ."""
    if len(name) <= room:
        return name
    end = (room - 1) * 2 // 5
    return f"{name[: room - 1 - end].rstrip()}…{name[len(name) - end :].lstrip()}"
