"""Recognises jobs in JSON of fio that have the form of an earlier job: they differ in their numbers only.

fio prints thousands of numbers for a job, always under the same keys. The first job of a form is read number by number.
What its numbers became is kept as a `Template`, with which the numbers of other jobs of that form are read, in this
document and in others. The name of a job, its options and its histograms do not belong to the form. Numbers that are 0
are part of it, because what is 0 was not measured.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby, pairwise
from operator import attrgetter
from string import ascii_letters
from typing import NamedTuple

import msgspec

from azlatency.logs.grammar import DATA, KNOWN
from azlatency.logs.json_tokens import JsonObject, Scalar
from azlatency.logs.parsers.fio.job_columns import Bins, Cells, Chain, Flow, Gap, JobColumns, Place, Template, picker
from azlatency.logs.parsers.fio.run import KINDS, LATENCIES, Buckets, Direction, Job
from azlatency.logs.units import Quantity, count

_DIGITS = b"0123456789"
_metric = attrgetter("metric")
#: Of the numbers of a job these are left: numbers, and strings with digits in their quotes.
_NUMBERS = bytes(byte if byte in b'0123456789."' else ord(" ") for byte in range(256))
_HEAD = ("groupid", "elapsed", "job_start")
#: What no row and no check needs begins with this key.
_UNUSED = b'"ctx"'
_LEFT_OUT = b"{}[]\n\t _#>=" + ascii_letters.encode()
_NAME = re.compile(rb'\{\s{0,100}"jobname"\s{0,20}:\s{0,20}"([^"]*)"')
_DEPTH = re.compile(rb'"iodepth"\s{0,20}:\s{0,20}"(\d{1,15})"')
_QUOTED = re.compile(r'"[0-9.]+"')
#: What follows a key whose value is an object.
_BEGINS = re.compile(rb"\s{0,20}:\s{0,20}\{")
#: A bin without its digits.
_BIN = re.compile(rb'\n[ \t]{0,200}""[ \t]{0,20}:[ \t]{0,20},')
#: Numbers of the form, and what else stands around strings.
_ITEM = re.compile(rb'"[^"]*"|\n|[0-9.]+')
_OUTSIDE = b' \t\n\r{}[]:,."#'
#: Leaves the numbers of bins, between commas.
_COMMAS, _SPACES = bytes.maketrans(b":", b","), b'" \t\r\n'
#: Numbers that `json_output` compares with 0.
_DECISIVE = frozenset(
    ["runtime", "total_ios", "io_bytes", "iops", "N", "min", "max", "mean"]
    + [f"{name}_{ending}" for name in ("bw", "iops") for ending in ("mean", "samples")]
)
#: Longer numbers are read one by one, and longer runtimes (ns).
_LONGEST_NUMBER, _LONGEST_RUNTIME = 17, 10**18
_ALIKE, _TOO_LONG = (
    bytes(ord("0") if byte in b"0123456789." else byte for byte in range(256)),
    b"0" * (_LONGEST_NUMBER + 1),
)
_IS_ZERO = frozenset(["0", *("0." + "0" * decimals for decimals in range(1, _LONGEST_NUMBER - 1))]).__contains__
#: Larger bins, or sums of them, are read one by one.
_LARGEST = 10**15
#: So many forms, and so many templates for jobs of one form, are kept.
_MOST_FORMS, _LONGEST_FORM, _MOST_TEMPLATES = 64, 2**15, 64
#: Units by canonical and printed unit: a factor that is exact, or the unit to be converted number by number.
_FACTORS: dict[tuple[str, str | None], float | str] = {
    ("bytes", None): 1.0,
    ("bytes/s", "B/s"): 1.0,
    ("bytes/s", "KiB/s"): 1024.0,
    ("1/s", "IOPS"): 1.0,
    ("count", None): 1.0,
    ("ns", "nsec"): 1.0,
    ("ns", "usec"): "usec",
    ("fraction", "%"): "%",
}
#: Half-widths of numbers by their factor and the number of their decimals.
_HALVES: dict[float | str, list[float]] = {
    factor: [times / (2 * 10**decimals * over) for decimals in range(_LONGEST_NUMBER)]
    for factor, times, over in ((1.0, 1, 1), (1024.0, 1024, 1), ("usec", 1000, 1), ("%", 1, 100))
}
_OPTIONS = msgspec.json.Decoder(dict[str, str])


class FioDocument(msgspec.Struct, gc=False):
    """The jobs of a document as their texts."""

    jobs: list[msgspec.Raw] = []
    client_stats: msgspec.Raw | None = None


class Form:
    """Jobs of one form.

    Attributes
    ----------
    count : int
        The number of tokens; 0 if they cannot be told apart, so that each job is read number by number.
    quoted : tuple of str
        Those that are strings.
    decisive : callable
        Picks the numbers that decide by being 0 what a job is read as.
    templates : dict
        Templates, by which of the decisive numbers are 0; None if such a job is read number by number.
    """

    def __init__(self, tokens: Sequence[str], decisive: Sequence[int]) -> None:
        self.count, self.decisive = len(tokens), picker(decisive)
        self.pick_quoted = picker([index for index, token in enumerate(tokens) if '"' in token])
        self.quoted = self.pick_quoted(tokens)
        self.templates: dict[bytes, Template | None] = {}


_forms: dict[bytes, Form | None] = {}


class JobText(NamedTuple):
    """A job whose text was split into its form and the rest.

    Attributes
    ----------
    raw : bytes
        The text.
    stop : int
        Where the numbers end that may be used.
    form : bytes
        What does not change.
    tokens : list of str
        The numbers in the form up to there, and strings with digits in their quotes.
    quotes : int
        The number of quotes in them.
    gaps : list of Gap
        The options and the bins.
    bins : dict of int to Bins
        The bins by gap, which `read_bins` adds.
    """

    raw: bytes
    stop: int
    form: bytes
    tokens: list[str]
    quotes: int
    name: str
    options: dict[str, str]
    gaps: list[Gap]
    bins: dict[int, Bins]

    def template(self) -> Template | None:
        """Return the template of a job like this one."""
        form = _forms.get(self.form)
        return form.templates.get(self._key(form)) if form is not None and self._fits(form) else None

    def _fits(self, form: Form) -> bool:
        """Return whether the numbers, and the digits in strings, are where they are in the first job of the form."""
        has_equal_length = len(self.tokens) == form.count and self.quotes == 2 * len(form.quoted)
        return has_equal_length and form.pick_quoted(self.tokens) == form.quoted

    def _key(self, form: Form) -> bytes:
        return bytes(map(_IS_ZERO, form.decisive(self.tokens)))

    def columns(self, template: Template, line: int, read: Callable[[], Job]) -> JobColumns | None:
        """Return the numbers of the job, which begins in a line; None if they have to be read one by one."""
        for _, _, index, total in template.histograms:
            found = self.bins[index].total
            if not found or (total is not None and found != int(self.tokens[total])):
                return None
        columns = JobColumns(template, self, line, read)
        return columns if max(columns.runtimes.values(), default=0) < _LONGEST_RUNTIME else None

    def kinds(self, marks: Sequence[bytes]) -> bytes:
        """Return the kinds of the lines of the job, from those of its parts."""
        kinds = [marks[0]]
        for gap, part in zip(self.gaps, marks[1:], strict=True):
            kinds += bytes([DATA if gap.numbers else KNOWN]) * (gap.lines - 1), part
        return b"".join(kinds)

    def learn(self, job: Job, node: JsonObject, line_of: Callable[[int], int], kinds: bytes, *, at_once: bool) -> None:
        """Keep what the numbers of a job became, if it is not the first one of its form.

        Parameters
        ----------
        job : Job
            The job.
        node : JsonObject
            Its members.
        line_of : callable
            Returns the number of the line at a position.
        kinds : bytes
            The kinds of its lines.
        at_once : bool
            Also if it is the first one.
        """
        if len(self.form) > _LONGEST_FORM:
            return
        if self.form not in _forms:
            if len(_forms) >= _MOST_FORMS:
                _forms.clear()
            _forms[self.form] = None
            if not at_once:
                return
        form = _forms.get(self.form)
        if form is not None and not (self._fits(form) and self._key(form) not in form.templates):
            return
        teacher = _Teacher(self, job, node, line_of)
        # Another thread may learn the same form, or forget it.
        form = _forms[self.form] = form or teacher.form()
        if self._fits(form) and len(form.templates) < _MOST_TEMPLATES:
            form.templates[self._key(form)] = teacher.template(kinds)


def split_job(raw: bytes) -> JobText | None:
    """Split the text of a job in a valid document; None if it has to be read number by number."""
    name = _NAME.match(raw)
    if name is None or b"\\" in raw or not raw.isascii():
        return None
    gaps: list[Gap] = []
    options: dict[str, str] = {}
    end = name.end()
    if (place := raw.find(b'"job options"', end)) >= 0:
        begin = _BEGINS.match(raw, place + len(b'"job options"'))
        if begin is None or b"{" in raw[end:place]:  # a text, or a member of another object
            return None
        start, end = begin.end(), raw.index(b"}", begin.end())
        try:  # what ends inside a string is not valid
            options = _OPTIONS.decode(raw[start - 1 : end + 1])
        except msgspec.MsgspecError:
            return None
        match = _DEPTH.search(raw, start, end)
        if raw.count(b'"iodepth"', start, end) != (match is not None):
            return None
        spans = [(start, end)] if match is None else [(start, match.start(1)), (match.end(1), end)]
        gaps = [Gap(*span, raw.count(b"\n", *span)) for span in spans]
        if not all(gap.lines for gap in gaps):
            return None
    if (stop := raw.rfind(_UNUSED, end)) < 0 or raw.find(b'"total_err"', stop) > 0:
        stop = len(raw)
    while (place := raw.find(b'"bins"', end, stop)) >= 0:
        if (begin := _BEGINS.match(raw, place + len(b'"bins"'))) is None:
            return None
        start, end = begin.end(), raw.index(b"}", begin.end())
        if not (content := raw[start:end]).isspace() and content:
            if (gap := _find_bins(content, start, end)) is None:
                return None
            gaps.append(gap)
    edges = [0, *name.span(1), *(edge for gap in gaps for edge in gap[:2]), stop]
    rest = b"#".join([raw[edges[at] : edges[at + 1]] for at in range(0, len(edges), 2)])
    numbers = rest.translate(_NUMBERS, _LEFT_OUT).replace(b'""', b"")
    if _TOO_LONG in numbers.translate(_ALIKE):
        return None
    return JobText(
        raw,
        stop,
        (rest + raw[stop:]).translate(None, _DIGITS),
        numbers.decode().split(),
        numbers.count(b'"'),
        name[1].decode(),
        options,
        gaps,
        {},
    )


def _find_bins(content: bytes, start: int, stop: int) -> Gap | None:
    """Return the bins between two braces; None if there is not one in each line."""
    text = content.rstrip()
    kept = text.translate(None, _DIGITS) + b","
    unit = kept[: kept.index(b",") + 1]
    count = len(kept) // len(unit)
    if kept != unit * count or _BIN.fullmatch(unit) is None or content.count(b"\n", len(text)) != 1:
        return None
    return Gap(start, stop, count + 1, text.translate(_COMMAS, _SPACES))


def read_bins(texts: Sequence[JobText]) -> bool:
    """Read the bins of jobs; return whether all of them can be read, and are in order."""
    gaps = [(text, index, gap) for text in texts for index, gap in enumerate(text.gaps) if gap.numbers]
    if not gaps or "numpy" not in sys.modules:
        return not gaps
    import numpy as np

    try:
        found = np.fromstring(b",".join([gap.numbers for _, _, gap in gaps]), np.int64, sep=",")
    except (ValueError, DeprecationWarning):  # a key has no digits
        return False
    ends = list(accumulate(gap.lines - 1 for _, _, gap in gaps))
    starts = [0, *ends[:-1]]
    keys, counts = found[::2], found[1::2]
    if len(found) != 2 * ends[-1] or keys.max() >= _LARGEST or counts.max() >= _LARGEST // len(counts):
        return False
    falls = keys[1:] <= keys[:-1]
    falls[[end - 1 for end in ends[:-1]]] = False
    if falls.any():
        return False
    totals = np.add.reduceat(counts, starts).tolist()
    for (text, index, _), start, end, total in zip(gaps, starts, ends, totals, strict=True):
        text.bins[index] = Bins(keys[start:end], counts[start:end], total)
    return True


class _Teacher:
    """Finds the places of the numbers of a job that was read number by number."""

    def __init__(self, text: JobText, job: Job, node: JsonObject, line_of: Callable[[int], int]) -> None:
        self._text, self._job, self._node, self._line_of = text, job, node, line_of
        self._places: dict[int, Place | None] = {}
        self._parts: list[int] = []
        self._gap_lines: list[int] = []
        self._find_places()

    def _find_places(self) -> None:
        """Find the place of the number in each line, counted from the first one; None if there are several."""
        text, token, line, start = self._text, 0, 0, 0
        head = _NAME.match(text.raw)
        name = head.end() if head else 0
        ends = [gap.start for gap in text.gaps] + [len(text.raw)]
        starts = [0] + [gap.stop for gap in text.gaps]
        for part, (begin, end) in enumerate(zip(starts, ends, strict=True)):
            for match in _ITEM.finditer(text.raw, begin, end):
                mark = match[0][:1]
                if mark == b"\n":
                    line += 1
                elif match.start() >= text.stop:
                    continue
                elif mark == b'"':
                    token += match.end() != name and len(match[0].translate(None, _DIGITS)) < len(match[0])
                else:
                    self._places[line] = None if line in self._places else Place(token, part, line - start)
                    token += 1
            self._parts.append(line - start)
            self._gap_lines.append(line)
            line += text.gaps[part].lines if part < len(text.gaps) else 0
            start = line

    def _place(self, line: int, token: str | None) -> Place:
        """Return the place of a number in a line. Raises ValueError if it is not the only one."""
        place = self._places.get(line - self._job.line)
        if place is None or self._text.tokens[place.token] != token:
            raise ValueError
        return place

    def _token(self, leaf: Scalar | None) -> int | None:
        """Return the index of a whole number; None for anything else."""
        if leaf is None or not isinstance(leaf.value, int) or isinstance(leaf.value, bool):
            return None
        return self._place(self._line_of(leaf.position), leaf.token).token

    def form(self) -> Form:
        """Return the form of the job."""
        text, tokens, unclear = self._text, self._text.tokens, Form([], [])
        if b'"'.join(text.form.split(b'"')[::2]).translate(None, _OUTSIDE) or _has_twins(self._node):
            return unclear
        if any('"' in token and _QUOTED.fullmatch(token) is None for token in tokens):
            return unclear
        if self._node.get("hostname") is not None:
            return unclear
        try:
            decisive = [leaf for name in ("error", "total_err") if (leaf := self._node.leaf(name)) is not None]
            for kind in (*KINDS, "sync"):
                decisive += _leaves(self._node.object(kind))
            indexes = [self._place(self._line_of(leaf.position), leaf.token).token for leaf in decisive]
        except ValueError:
            return unclear
        return Form(tokens, indexes)

    def template(self, kinds: bytes) -> Template | None:
        """Return what the numbers of the job became; None if other jobs cannot be read in the same way."""
        job = self._job
        active = list(job.directions.values())
        if job.error or job.notes or not active or any(direction.idle for direction in active):
            return None
        try:
            return self._template(active, kinds)
        except (ValueError, KeyError):
            return None

    def _template(self, active: list[Direction], kinds: bytes) -> Template:
        rows = self._rows(active)
        values = [row.value for row in rows]
        factors = [_FACTORS[value.unit, value.printed_unit] for value in values]
        found = _Found({(row.stream, row.metric): index for index, row in enumerate(rows)})
        pointed = [index for index, value in enumerate(values) if "." in (value.printed or "")]
        if len(found.index) < len(rows) or any(values[index].resolution is None for index in pointed):
            raise ValueError
        for of in active:
            self._add_checks(found, of)
            for buckets in of.buckets:
                total = self._count(of, buckets.metric, of.counts.get(buckets.metric))
                found.histograms.append((buckets.metric, of.name, self._gap(buckets), total))
        if len(found.histograms) != len(self._text.bins):
            raise ValueError
        head = {name: self._token(self._node.leaf(name)) for name in _HEAD}
        percentiles = [(of.name, percentile) for of in active for percentile in of.percentiles]
        return Template(
            dialect=self._job.dialect,
            metrics=Cells(
                [self._place(row.line, row.value.printed) for row in rows],
                metric=[row.metric for row in rows],
                side=[None] * len(rows),
                stream=[row.stream for row in rows],
                unit=[value.unit for value in values],
                printed_unit=[value.printed_unit for value in values],
                scope=[row.scope for row in rows],
            ),
            factors=[factor if isinstance(factor, float) else 1.0 for factor in factors],
            converted=[(index, unit) for index, unit in enumerate(factors) if isinstance(unit, str)],
            halves=[value.resolution for value in values],
            pointed=[(index, _HALVES[factors[index]]) for index in pointed],
            quantiles=Cells(
                [self._place(percentile.line, percentile.value.printed) for _, percentile in percentiles],
                metric=[percentile.metric for _, percentile in percentiles],
                stream=[stream for stream, _ in percentiles],
                q=[percentile.q for _, percentile in percentiles],
                printed_unit=[percentile.value.printed_unit for _, percentile in percentiles],
            ),
            chains=found.chains,
            ordered=(picker(found.ordered[0]), picker(found.ordered[1])),
            spreads=found.spreads,
            flows=[self._flow(of, found) for of in active],
            histograms=found.histograms,
            head={name: index for name, index in head.items() if index is not None},
            parts=self._parts,
            marks=self._marks(kinds),
        )

    def _rows(self, active: list[Direction]) -> list[_Row]:
        scope = "run" if len(active) == 1 else "stream"
        rows = [_Row(name, of.name, value, scope, line) for of in active for name, value, line in of.metrics]
        if self._job.depth is not None:
            token, line = self._job.depth
            rows.insert(0, _Row("io_depth", None, count(token), "run", line))
        return [*rows, *(_Row(name, None, value, "process", line) for name, value, line in self._job.process)]

    def _flow(self, of: Direction, found: _Found) -> Flow:
        runtime = self._token(self._node.object(of.name).leaf("runtime")) if of.runtime_ns else None
        places = (found.index.get((of.name, name)) for name in ("bandwidth", "transferred", "iops"))
        return Flow(of.name, runtime, *places)

    def _add_checks(self, found: _Found, of: Direction) -> None:
        """Add which numbers of a direction must agree, and the ranks of its percentiles."""
        if "old_sizes" in of.counts:
            raise ValueError
        for prefix in ("bandwidth", "iops", *LATENCIES.values()):
            low, mean, high, sd = (
                found.index.get((of.name, f"{prefix}_{name}")) for name in ("min", "mean", "max", "sd")
            )
            for small, large in ((low, mean), (mean, high), (low, high)):
                if small is not None and large is not None:
                    found.ordered[0].append(small)
                    found.ordered[1].append(large)
            if low is not None and high is not None and sd is not None and prefix in LATENCIES.values():
                found.spreads.append((sd, low, high))
        if len({key for key, _ in groupby(of.percentiles, _metric)}) != len([*groupby(of.percentiles, _metric)]):
            raise ValueError
        for metric, group in groupby(of.percentiles, _metric):
            shares = [percentile.q for percentile in group]
            if any(before >= after for before, after in pairwise([0.0, *shares, 1.0])):
                raise ValueError
            start = found.chains[-1].quantiles.stop if found.chains else 0
            low, high = (found.index.get((of.name, f"{metric}_{name}")) for name in ("min", "max"))
            n = of.counts.get(metric) or (of.issued if metric != "sync_latency" else None)
            found.chains.append(Chain(slice(start, start + len(shares)), low, high, self._count(of, metric, n)))

    def _count(self, of: Direction, metric: str, n: int | None) -> int | None:
        """Return the token of the number of observations of a latency; None if it is unknown."""
        if not n:
            return None
        node = self._node.object(of.name)
        prefixes = ["lat"] if of.name == "sync" else [prefix for prefix, name in LATENCIES.items() if name == metric]
        nodes = [inner for key in prefixes for inner in map(node.object, (key, f"{key}_ns")) if not inner.is_empty]
        leaves = [*(inner.leaf("N") for inner in nodes), node.leaf("total_ios")]
        if len(nodes) != 1:
            raise ValueError
        leaf = next((leaf for leaf in leaves if leaf is not None and leaf.value), None)
        if leaf is None or leaf.value != n:
            raise ValueError
        return self._token(leaf)

    def _gap(self, buckets: Buckets) -> int:
        """Return which gap contains the bins of a histogram."""
        index = self._gap_lines.index(buckets.lines[0] - self._job.line - 1)
        gap = self._text.gaps[index]
        if not gap.numbers or gap.lines != len(buckets.lines) + 1:
            raise ValueError
        return index

    def _marks(self, kinds: bytes) -> list[bytes]:
        """Return the kinds of the lines of each part."""
        text, first, marks = self._text, 0, []
        if b"\n" in text.raw[: text.raw.index(b'"')]:
            kinds = bytes([KNOWN]) + kinds[1:]  # the line may end another job
        for part, lines in enumerate(self._parts):
            marks.append(kinds[first : first + lines + 1])
            first += lines + (text.gaps[part].lines if part < len(text.gaps) else 0)
        if text.kinds(marks) != kinds:
            raise ValueError
        return marks


class _Row(NamedTuple):
    """A number of a job in the table ``metrics``."""

    metric: str
    stream: str | None
    value: Quantity
    scope: str
    line: int


@dataclass
class _Found:
    """Parts of a template."""

    index: dict[tuple[str | None, str], int]
    chains: list[Chain] = field(default_factory=list)
    ordered: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    spreads: list[tuple[int, int, int]] = field(default_factory=list)
    histograms: list[tuple[str, str, int, int | None]] = field(default_factory=list)


def _leaves(node: JsonObject) -> Iterator[Scalar]:
    """Yield the numbers of a direction that are decisive."""
    for key, value in node.pairs:
        if isinstance(value, JsonObject):
            yield from _leaves(value) if key not in ("percentile", "bins") else ()
        elif key in _DECISIVE and isinstance(value, Scalar):
            yield value


def _has_twins(node: object) -> bool:
    """Return whether a key occurs twice in an object or inside of it."""
    if isinstance(node, JsonObject):
        keys = [key for key, _ in node.pairs]
        return len(set(keys)) < len(keys) or any(_has_twins(value) for _, value in node.pairs)
    return isinstance(node, list) and any(map(_has_twins, node))
