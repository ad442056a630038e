"""What the author of a study concluded, and what its data say about that, as stated in ``study.toml``.

    [[conclusion]]
    said = "Zones 2 and 3 are 718 µs apart."
    we_say = "The round trip takes {az2-az3/qperf.log rtt_mean}."
    because = "qperf prints half of it"
    source_line = 16

A number of the study stands in braces, so that the text follows the data: ``{log metric}`` for a log and
``{scenario: metric}`` for a reported number, whose segment may follow in parentheses. The metric is one of the table
``metrics``, or a printed percentile such as ``p50``. ``{a / b}`` is a ratio and ``{a - b}`` a difference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from azlatency.logs.parse import LogError
from azlatency.studies.format import format_interval, format_value, plain
from azlatency.studies.runs.run_table import whole_run_rows
from azlatency.studies.store.study import Study

_PLACEHOLDER = re.compile(r"\{([^{}\n]{1,300})\}")
_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,6})?)")
_REPORTED = re.compile(r"(.{1,150}?)(?: \(([^()]{1,100})\))?: (\w{1,40})")
#: A value or a range in a canonical unit, or a text such as a time of day.
_Value = tuple[float, float, str] | str


class Origin(NamedTuple):
    """Where a number of a text comes from: a metric or a quantile of a run, or a reported scenario."""

    metric: str
    run_id: str = ""
    q: float | None = None
    scenario: str = ""
    segment: str = ""


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """What the author of the source concluded, in a line of it, and what the data support, and why.

    ``origins``: where the numbers of the texts come from.
    """

    said: str
    we_say: str
    because: str
    source_line: int | None = None
    origins: tuple[Origin, ...] = ()


def conclusions(study: Study) -> list[Conclusion]:
    """Return the conclusions of a study with the numbers filled in, in the order of the manifest.

    Raises `LogError` if a text refers to a number that the study does not have.
    """
    return [_filled(study, stated) for stated in study.info.get("conclusions", [])]


def _filled(study: Study, stated: Mapping[str, Any]) -> Conclusion:
    origins: list[Origin] = []

    def fill(text: str) -> str:
        return _PLACEHOLDER.sub(lambda match: re.sub("^-", "−", _number(study, match[1], origins)), text)

    return Conclusion(
        said=fill(stated["said"]),
        we_say=fill(stated["we_say"]),
        because=fill(stated["because"]),
        source_line=stated.get("source_line"),
        origins=tuple(dict.fromkeys(origins)),
    )


def _number(study: Study, reference: str, origins: list[Origin]) -> str:
    for operator in ("/", "-"):
        left, separator, right = reference.partition(f" {operator} ")
        if separator:
            return _combined(_value(study, left, origins), _value(study, right, origins), operator, reference)
    value = _value(study, reference, origins)
    if isinstance(value, str):
        return value
    low, high, unit = value
    return format_value(low, unit) if low == high else format_interval(low, high, unit)


def _combined(first: _Value, second: _Value, operator: str, reference: str) -> str:
    """Return the ratio (``/``) or the difference (``-``) of two numbers of one unit."""
    is_ratio = operator == "/"
    if isinstance(first, str) or isinstance(second, str) or first[2] != second[2] or (is_ratio and not second[0]):
        noun = "ratio" if is_ratio else "difference"
        raise LogError(f"{{{reference}}}: no {noun} of these two; refer to two numbers of one unit")
    return plain(first[0] / second[0]) if is_ratio else format_value(first[0] - second[0], first[2], digits=2)


def _value(study: Study, reference: str, origins: list[Origin]) -> _Value:
    """Look a number up, that of a log or a reported one, and note where it comes from."""
    log, _, metric = reference.rpartition(" ")
    logged = _value_in_log(study, log, metric) if set(study.sources["path"]) & {log} else _reported(study, reference)
    if logged is None:
        raise LogError(
            f"{study.name}/study.toml: a conclusion refers to {{{reference}}}, which the study does not have; "
            "write {log metric} or {scenario: metric}"
        )
    value, origin = logged
    origins.append(origin)
    return value


def _value_in_log(study: Study, log: str, metric: str) -> tuple[_Value, Origin] | None:
    source_ids = set(study.sources.loc[study.sources["path"] == log, "source_id"])
    run_ids = set(study.runs.loc[study.runs["source_id"].isin(source_ids), "run_id"])
    if percentile := _PERCENTILE.fullmatch(metric):
        quantiles = study.quantiles
        q = float(percentile[1]) / 100
        rows = quantiles[quantiles["run_id"].isin(run_ids) & ((quantiles["q"] - q).abs() < 1e-9)]
        if not len(rows):
            return None
        value = float(rows["value_ns"].iloc[0])
        return (value, value, "ns"), Origin(metric, str(rows["run_id"].iloc[0]), q=float(rows["q"].iloc[0]))
    metrics = study.metrics[study.metrics["run_id"].isin(run_ids)]
    # The receiver's count of a transfer is the goodput.
    for side in (metrics["side"] != "sender", metrics["side"] == "sender"):
        rows = whole_run_rows(metrics[side], metric)
        if len(rows):
            value = float(rows["value"].iloc[0])
            return (value, value, str(rows["unit"].iloc[0])), Origin(metric, str(rows.index[0]))
    return None


def _reported(study: Study, reference: str) -> tuple[_Value, Origin] | None:
    match = _REPORTED.fullmatch(reference)
    reported = study.reported
    if match is None or not len(reported):
        return None
    scenario, segment, metric = match.groups()
    rows = reported[(reported["scenario"] == scenario) & (reported["metric"] == metric)]
    rows = rows[rows["segment"].isna()] if segment is None else rows[rows["segment"] == segment]
    if not len(rows):
        return None
    row, origin = rows.iloc[0], Origin(metric, scenario=scenario, segment=segment or "")
    low, high = row["value_low"], row["value_high"]
    try:
        return (float(low), float(high), str(row["unit"])), origin
    except (TypeError, ValueError):
        return str(row["printed"]), origin
