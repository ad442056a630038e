"""Files that are one valid JSON document of a known tool: no log has to be searched in them.

Most JSON logs are such files. The first key names the tool, so neither claims nor wrappings are looked for, and no line
is built that nobody asks for.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec

from azlatency.logs.parsers import Log, load_parsers
from azlatency.logs.recognise.foreign import FOREIGN_TOOLS
from azlatency.logs.source.decode import Source, SourceLines
from azlatency.logs.source.large import FileText

_FIRST_KEY = re.compile(r'\s{0,100}\{\s{0,200}"([^"\\]{1,40})"\s{0,20}:\s{0,20}')
#: Checks the syntax of a document without building its values.
_SYNTAX = msgspec.json.Decoder(msgspec.Raw)


def find_document(source: Source) -> Log | None:
    """Return the source as one log if it is one valid JSON document of a known tool, else None."""
    text = source.text
    if isinstance(text, FileText) or not (tool := _tool_of(text)):
        return None
    if "\r" in text or any(hint in text for hint in _foreign_hints(tool)):
        return None
    try:  # no other character that `decode` removes is valid
        _SYNTAX.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return Log(source, tool, SourceLines(source), is_document=True)


def _tool_of(text: str) -> str:
    """Return the tool whose documents begin like a text; an empty string if there is none."""
    if (first := _FIRST_KEY.match(text)) is None:
        return ""
    tool, value = _tools().get(first[1], ("", ""))
    return tool if text.startswith(value, first.end()) else ""


@cache
def _tools() -> dict[str, tuple[str, str]]:
    """Return the tool, and the beginning of the value, by the first key of its documents."""
    parsers = load_parsers().items()
    return {key: (tool, value) for tool, parser in parsers for key, value in parser.document_keys.items()}


@cache
def _foreign_hints(tool: str) -> list[str]:
    """Return the literals in the JSON of foreign tools that print some of the same lines."""
    foreign = [name for name in FOREIGN_TOOLS if tool in FOREIGN_TOOLS[name].shares]
    hints = [signature.hint for name in foreign for signature in FOREIGN_TOOLS[name].signatures]
    return [hint for hint in hints if hint.startswith('"')]
