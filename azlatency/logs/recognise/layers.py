"""Logs whose lines stand between those of another log: commands that wrote into one file at once."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace

from azlatency.logs.recognise.claims import find_claims
from azlatency.logs.recognise.segment import Segments, segment
from azlatency.logs.source.decode import Source


def add_layers(segments: Segments, source: Source, layers: Sequence[Mapping[int, str]]) -> None:
    """Add the logs of layers to those of a source, and take their lines from the logs that contain them.

    Lines of a layer that belong to no log stay where they are.
    """
    found, prompts = Segments(), set[int]()
    taken: set[int] = set()
    for layer in layers:
        text = "\n".join(layer.get(number, "") for number in range(1, source.line_count + 1)) + "\n"
        plain = replace(source, text=text)
        inside = segment(plain, find_claims(plain))
        for log in inside.logs:
            lines = [line for line in log.lines if line.number in layer]
            taken.update(line.number for line in lines)
            found.logs.append(replace(log, lines=lines))
        found.loose += inside.loose
        prompts.update(inside.prose_lines if inside.logs else ())
    taken |= prompts
    if not found.logs:
        return
    texts = source.whole_text.split("\n")
    plain = replace(
        source, text="\n".join("" if number in taken else text for number, text in enumerate(texts, start=1))
    )
    kept = [
        replace(log, source=plain, lines=[line for line in log.lines if line.number not in taken])
        for log in segments.logs
    ]
    pairs = [*zip(kept, segments.loose, strict=True), *zip(found.logs, found.loose, strict=True)]
    pairs = sorted((pair for pair in pairs if pair[0].lines), key=lambda pair: pair[0].first_line)
    segments.logs, segments.loose = [log for log, _ in pairs], [loose for _, loose in pairs]
    segments.prose_lines = array("q", sorted({*segments.prose_lines, *prompts}))
