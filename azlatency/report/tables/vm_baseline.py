"""Tables of the page on the baseline of a VM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from azlatency.report.objects import Note, Origin, Runs, Stated, Table
from azlatency.report.tables.common import between, formula, limits, notes_of, read_in, remarks, text, whole

if TYPE_CHECKING:
    from azlatency.stats.across_runs.baseline import Conformance
    from azlatency.studies.store import Study


def conformance(results: Sequence[Conformance]) -> Table | Note:
    """Each expectation beside the runs that measured it; ``results``: `azlatency.check_baseline`."""
    if not results:
        return Note("This study has no baseline, so there is nothing to hold its runs against.")
    measured = [each for each in results if each.mean is not None]
    if not measured:
        return Note(
            "No run of this study measured what the baseline expects: every expectation stays inconclusive. What would "
            "have to be run stands below."
        )
    rows = []
    for each in measured:
        scale, unit = read_in(each.unit)
        rows.append(
            (
                f"{each.what}, {each.labels.get('path', '')}",
                str(each.labels.get("method", "")),
                limits(each.limit_low, each.limit_high, each.unit),
                whole(each.runs),
                f"{(each.mean or 0.0) / scale:,.5g} {unit}",
                between(each.low, each.high, scale),
                "" if each.ratio is None else f"{each.ratio:.2f}",
                each.status,
                whole(each.decides),
                remarks(each.codes),
            )
        )
    level = f"{100 * measured[0].confidence:g} %"
    headers = (
        "expectation", "method", "expected", "runs", "mean run", f"one-sided {level} bounds", "× limit", "verdict",
        "runs to decide", "remark",
    )  # fmt: skip
    notes = ["× limit: the mean over the nearer limit; 1.00 lies within."]
    origins: list[dict[int, Sequence[Origin]]]
    origins = [{0: (_measured(each),), 2: (Stated("baseline", "printed", each.what),)} for each in measured]
    return Table("Expected and measured (scope: across runs)", headers, rows, frozenset({3, 4, 5, 6, 8}),
                 [*notes, *notes_of(code for each in measured for code in each.codes)], origins)  # fmt: skip


def _measured(each: Conformance) -> Runs:
    """The runs that an expectation was held against."""
    metric, path, method = (str(each.labels.get(name) or "") for name in ("metric", "path", "method"))
    streams = metric in ("throughput", "retransmits")
    return Runs(metric, path, method, every=not path and not method, ways="data" if streams else "")


def still_to_run(results: Sequence[Conformance], expectations: Sequence[Mapping[str, Any]]) -> Table | Note:
    """For each expectation that is not decided everywhere: what was run, what is missing, the command where known."""
    if not expectations:
        return Note("This study has no baseline: write what its VMs should deliver into its folder (baseline.toml).")
    rows: list[tuple[str, ...]] = []
    origins: list[dict[int, Sequence[Origin]]] = []
    for each in expectations:
        own = [result for result in results if result.what == each.get("name")]
        open_ones = [result for result in own if result.status == "inconclusive"]
        if not open_ones:
            continue
        runs = sum(result.runs for result in own)
        decides = [result.decides for result in open_ones if result.decides is not None]
        missing = "runs of any kind" if not runs else (
            f"up to {max(decides)} runs of a path" if decides else "repeats on each path"
        )  # fmt: skip
        lasting = "60 s or longer" if str(each.get("unit")) in ("bit/s", "bytes/s", "1/s") else "any length"
        how = each.get("command") or each.get("conditions") or "not said"
        rows.append(
            (str(each.get("name")), str(each.get("tool") or "any"), whole(runs), missing, lasting, str(how))
        )  # fmt: skip
        counted = (_measured(result) for result in own if result.runs)
        origins.append({0: (Stated("baseline", "name", str(each.get("name"))), *counted)})
    if not rows:
        return Note("Every expectation is decided on every path that was measured.")
    headers = ("expectation", "tool", "runs so far", "missing", "each run", "command or conditions, as the source says")
    notes = [
        "A test of throughput or disk shorter than 60 s shows a burst that may be granted for a while, not what lasts: "
        "where a command asks for less, lengthen it."
    ]
    return Table("What would have to be run", headers, rows, frozenset({2}), notes, origins)


def unquantified(study: Study) -> Table | Note:
    """Commands that the study's source runs without saying what they should show."""
    commands = study.info.get("unquantified") or []
    if not commands:
        return Note("The source of this study gives no command without a number to expect.")
    rows = [(text(each.get("name")), text(each.get("tool")), text(each.get("command"))) for each in commands]
    notes = ["What such a run shows can be described and kept for later comparison; it cannot pass or fail."]
    headers = ("what", "tool", "command, as the source gives it")
    origins = [{0: (Stated("baseline", "name", row[0]),)} for row in rows]
    return Table("Commands without an expectation", headers, rows, notes=notes, origins=origins)


def vms_needed(vms: Sequence[tuple[float, int]], confidence: float) -> Table:
    """How many VMs must be measured before their worst is a limit that a share of all VMs keeps."""
    rows = [(f"{100 * share:g} % of all VMs", whole(count)) for share, count in vms]
    headers = ("the worst measured value is kept by", f"VMs to measure, at {100 * confidence:g} % confidence")
    notes = [formula("the share and the confidence level")]
    return Table("From these VMs to every VM", headers, rows, frozenset({1}), notes)
