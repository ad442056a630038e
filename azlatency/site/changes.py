"""What changed since the report that was in the folder before: answers, runs, typical values and findings by study."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from azlatency.site.cards import CardView, plain_parts
from azlatency.site.markdown import plain_text
from azlatency.studies.format import count_of, format_value, natural_key, one_prefix

#: Most lines of one kind that a study lists.
_MOST = 5
#: From this share of equal letters on, by difflib, a sentence is another wording of a finding.
_ALIKE = 0.6


@dataclass(kw_only=True)
class StudyReport:
    """What a report says about a study: its card, and the sentences of its findings as text."""

    card: CardView | None = None
    findings: list[str] = field(default_factory=list)


def reports(pages: Iterable[tuple[str, CardView | None, Iterable[str]]]) -> dict[str, StudyReport]:
    """Return what a report says by study; ``pages``: the path in the site, the card and the findings of each page."""
    studies: dict[str, StudyReport] = {}
    for page, card, findings in pages:
        study = studies.setdefault(page.partition("/")[0], StudyReport())
        study.card = card or study.card
        study.findings += map(plain_text, findings)
    return studies


@dataclass(frozen=True, kw_only=True)
class Change:
    """One kind of change of a study: the count in words, and each change in a line."""

    count: str
    lines: tuple[str, ...]


def changes(before: StudyReport | None, now: StudyReport | None) -> list[Change]:
    """Return what changed in a study; a missing report means that the study is new or removed.

    A typical value changed if it differs by more than the rounding of both printed values.
    """
    if before is None or now is None:
        return [Change(count="new study" if before is None else "removed", lines=())]
    differences = []
    if before.card is not None and now.card is not None:
        differences = [_answer(before.card, now.card), *_runs(before.card, now.card), _values(before.card, now.card)]
    new = [text for text in now.findings if text not in before.findings]
    gone = [text for text in before.findings if text not in now.findings]
    reworded = _reworded(gone, new)
    new = [text for text in new if text not in reworded.values()]
    gone = [text for text in gone if text not in reworded]
    lines = [f"{old} → {text}" for old, text in reworded.items()]
    differences += [
        _change(lines, f"{count_of(len(lines), 'finding')} with other words or numbers"),
        _change(new, f"{count_of(len(new), 'new finding')}"),
        _change(gone, f"{count_of(len(gone), 'finding')} gone"),
    ]
    return [change for change in differences if change is not None]


def _reworded(gone: Sequence[str], new: Sequence[str]) -> dict[str, str]:
    """Return the new sentence of each finding that is gone and has one that is much like it."""
    found: dict[str, str] = {}
    for text in gone:
        nearest = get_close_matches(text, [other for other in new if other not in found.values()], n=1, cutoff=_ALIKE)
        if nearest:
            found[text] = nearest[0]
    return found


def _change(lines: Sequence[str], count: str) -> Change | None:
    more = [f"and {len(lines) - _MOST} more"] if len(lines) > _MOST else []
    return Change(count=count, lines=(*lines[:_MOST], *more)) if lines else None


def _answer(before: CardView, now: CardView) -> Change | None:
    old, new = plain_parts(before.answer), plain_parts(now.answer)
    return None if old == new else Change(count="the answer", lines=(f"Before: {old or '–'}", f"Now: {new or '–'}"))


def _runs(before: CardView, now: CardView) -> Iterable[Change | None]:
    """Yield the runs by what happened to the files that contain them."""
    old, new = before.files, now.files
    kinds = {
        "added": {name: new[name] for name in new.keys() - old.keys()},
        "removed": {name: old[name] for name in old.keys() - new.keys()},
        "in changed files": {name: new[name] for name in new.keys() & old.keys() if new[name] != old[name]},
    }
    for what, files in kinds.items():
        runs = sum(count for _, count in files.values())
        yield _change(sorted(files, key=natural_key), f"{count_of(runs, 'run')} {what}")


def _values(before: CardView, now: CardView) -> Change | None:
    """Compare the typical run of each path and method that both reports have."""
    old = {(row["path"], row["method"], row["unit"]): row for row in before.paths}
    lines = []
    for row in now.paths:
        known = old.get((row["path"], row["method"], row["unit"]))
        if known is None or known["value"] is None or row["value"] is None:
            continue
        if abs(row["value"] - known["value"]) <= row["resolution"] + known["resolution"]:
            continue
        like = one_prefix((known["value"], row["value"]), row["unit"])
        first, last = (format_value(one["value"], row["unit"], digits=4, like=like) for one in (known, row))
        lines.append(f"{row['path']}, {row['method']}: {first} → {last}")
    return _change(lines, count_of(len(lines), "typical value"))
