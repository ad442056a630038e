"""Parsers of further tools, which no published study uses.

They are plug-ins like those of other distributions: ``pyproject.toml`` names each of them in the entry-point group
``azlatency.parsers``, and they import only what ``docs/add-a-parser.md`` lists. Nothing imports them, so each of them,
or the whole folder, can be deleted; ``azlatency/logs/recognise/foreign.py`` still names the tool whose lines would
otherwise be read as those of another one.
"""
