"""Measurements by placement, and pairs that differ in one factor: placement, VM size, network or message size.

Measured runs and numbers that are only reported in a text are never mixed: a reported number has no runs to compare.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

import pandas as pd

from azlatency.stats.across_runs.comparison import Setting, Sides, blank, compare_family
from azlatency.stats.across_runs.main_method import as_measured, rank_methods
from azlatency.stats.across_runs.run_values import RunValues, refusals, run_values
from azlatency.stats.across_runs.typical_run import PathRuns, kind_of_test, typical_runs
from azlatency.stats.across_runs.zone_pairs import is_own_zone, pair_of_ends
from azlatency.stats.rows import COMPARISON, joined
from azlatency.studies.runs.groups import grouped
from azlatency.studies.runs.left_out import has_complete_repeat
from azlatency.studies.store.study import Study

Row = Mapping[str, Any]

Factor = Literal["placement", "vm_size", "accelerated_networking", "message_bytes"]
FACTORS: tuple[Factor, ...] = ("placement", "vm_size", "accelerated_networking", "message_bytes")
#: Placements from near to far, and reference placements: the first of them that was measured is the reference.
NEAR_TO_FAR = (
    "same_host", "proximity_placement_group", "availability_set", "same_zone", "cross_zone", "cross_region",
)  # fmt: skip
REFERENCES = (
    "same_zone", "availability_set", "proximity_placement_group", "same_host", "cross_zone", "cross_region",
)  # fmt: skip
METHODS_SHOWN = 3
#: A reported number has no runs.
_NONE = run_values((), unit="ns")

_CONDITION = [
    "origin", "path", "pair", "method", "kind", "region", "peer_region", *FACTORS, "value", "lowest", "highest",
    "resolution", "superseded", "packets", "what", "estimate", "low", "high", "unit", "n", "scope", "confidence",
    "statistic", "flags", "assumed", "notes", "run_ids",
]  # fmt: skip
_CHANGE = [
    "factor", "origin", "path", "base_path", "method", "kind", "value", *FACTORS, *(f"base_{name}" for name in FACTORS),
    "unsaid", "measured_low", "measured_high", "n_candidate", "n_base", "other", "base", *COMPARISON,
]  # fmt: skip
#: Columns of numbers that are not float64; any other column that is not one of `_TEXTS` is.
_TYPES = {"n": "Int64", "n_candidate": "Int64", "n_base": "Int64", "other": "int64", "base": "int64",
          "accelerated_networking": "boolean", "base_accelerated_networking": "boolean",
          "message_bytes": "Int64", "base_message_bytes": "Int64"}  # fmt: skip
_TEXTS = (
    "factor", "origin", "path", "pair", "base_path", "method", "kind", "region", "peer_region", "placement",
    "base_placement", "vm_size", "base_vm_size", "value", "unsaid", "what", "verdict", "unit", "scope", "statistic",
    "flags", "assumed", "notes", "run_ids",
)  # fmt: skip


def conditions(study: Study, runs: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Return what was measured or reported under which conditions, from near to far, logs before reported numbers.

    ``study``: for its reported numbers; ``runs``: as returned by `azlatency.latency`.

    One row per path and method: ``origin`` (``log`` or ``reported``), the ``region`` of the client and the
    ``peer_region`` of the server, their ``pair`` of zones (text, empty if unknown; ``"1"`` inside a zone), the
    circumstances ``placement``, ``vm_size`` (text, empty if unknown), ``accelerated_networking`` (boolean) and
    ``message_bytes`` (Int64), the number that each run counts with (``value``: ``median_ns`` if all runs of the method
    have one, else ``mean_ns``), its ``lowest`` and ``highest`` in ns, the largest step in which they are printed
    (``resolution``, ns; NaN if unknown), and the typical run: ``estimate``, ``low`` and ``high`` in ns, ``n`` runs
    (Int64), ``flags`` and ``run_ids``. ``superseded``: what a text reports for the run of this log; the log counts, and
    the reported number has no row. ``packets``: those of all runs.
    Reported means of a segment are left out, and cut or failed runs of which a repeat is complete.
    """
    logged, reported = _logged(runs, confidence), _reported(study.reported)
    texts = {(row["path"], row["kind"]): row["lowest"] for row in reported}
    for row in logged:
        if row["value"] == "mean_ns" and row["n"] == 1:
            row["superseded"] = texts.get((row["path"], row["kind"].split()[0]))
    replaced = {row["path"] for row in logged if row.get("superseded") is not None}
    rows = [*logged, *(row for row in reported if row["path"] not in replaced)]
    order = {name: place for place, name in enumerate(NEAR_TO_FAR)}
    rows.sort(key=lambda row: (row["origin"] == "reported", order.get(row["placement"], len(order))))
    return _frame(rows, _CONDITION)


def _logged(runs: pd.DataFrame, confidence: float) -> list[dict[str, Any]]:
    runs = runs[~has_complete_repeat(runs)]
    whole = grouped(runs, "method")["median_ns"].apply(lambda medians: medians.notna().all()) if len(runs) else {}
    rows, measured_runs = [], []
    for (path, method), group in grouped(runs, ["path", "method"]):
        column = "median_ns" if whole[method] else "mean_ns"
        # A run that lost most of its probes has an infinite median, which has no position on an axis and no interval.
        measured = run_values(group, column)
        if not len(measured.values):
            continue
        refused = refusals([group], column)
        measured_runs.append(PathRuns(f"{path}, {method}", {}, measured, kind_of_test(group, method), refused))
        first = group.iloc[0]
        named = (first[name] for name in ("tool", "test", "protocol"))
        rows.append(
            {
                "origin": "log",
                "path": str(path),
                "pair": pair_of_ends(first),
                "method": str(method),
                "kind": " ".join(str(name) for name in named if not pd.isna(name) and name != ""),
                **_circumstances(first),
                "accelerated_networking": first["accelerated_networking"],
                "message_bytes": first["message_bytes"],
                "value": column,
                "lowest": float(measured.values.min()),
                "highest": float(measured.values.max()),
                "resolution": measured.resolution or None,
                "packets": float(group["n"].sum()) if "n" in group else 0.0,
                "n": len(measured.values),
            }
        )
    estimates = typical_runs(measured_runs, confidence)
    return [typical | row for typical, row in zip(estimates, rows, strict=True)]


def _reported(reported: pd.DataFrame) -> list[dict[str, Any]]:
    if not len(reported):
        return []
    means = reported[(reported["metric"] == "rtt_mean") & reported["segment"].map(_text).eq("")]
    return [
        {
            "origin": "reported",
            "path": str(row["scenario"]),
            "pair": pair_of_ends(row),
            "method": str(row["tool"]),
            "kind": str(row["tool"]),
            **_circumstances(row),
            "accelerated_networking": {"true": True, "false": False}.get(str(row["accelerated_networking"]).lower()),
            "value": "mean_ns",
            "lowest": float(row["value_low"]),
            "highest": float(row["value_high"]),
            "resolution": _printed_step(row),
            "packets": 0.0,
            "what": f"{row['scenario']}, {row['tool']}",
            "unit": "ns",
            "n": int(row["repeats"]) if _text(row["repeats"]) else None,
            "flags": "",
            "run_ids": "",
        }
        for row in means.dropna(subset=["value_low", "value_high"]).to_dict("records")
    ]


def _printed_step(row: Row) -> float | None:
    """Return the coarsest step of the numbers that a text prints for a value, in the unit of the value."""
    numbers = re.findall(r"\d[\d,]*\.?\d*", str(row.get("printed", "")))
    if not numbers or not float(numbers[0].replace(",", "")):
        return None
    scale = float(row["value_low"]) / float(numbers[0].replace(",", ""))
    return scale * 10.0 ** -min(len(number.partition(".")[2]) for number in numbers)


def _circumstances(row: Row | pd.Series) -> dict[str, str]:
    return {name: _text(row[name]) for name in ("region", "peer_region", "placement", "vm_size")}


def _text(value: Any) -> str:
    return "" if value is None or pd.isna(value) else str(value)


def _frame(rows: list[dict[str, Any]], columns: list[str]) -> pd.DataFrame:
    """Return rows with the types of their columns, which a frame without rows does not know; "" for no text."""
    frame = pd.DataFrame(rows, columns=columns)
    texts = {name: frame[name].astype(object).fillna("").astype("str") for name in _TEXTS if name in frame}
    numbers = {name: frame[name].astype(_TYPES.get(name, "float64")) for name in columns if name not in _TEXTS}
    return frame.assign(**texts, **numbers)


def run_values_of(levels: pd.DataFrame, runs: pd.DataFrame) -> dict[int, RunValues]:
    """Return the run values of rows of `conditions` in ns by label, in the order of measuring; none of a text."""
    logged = levels[levels["origin"] == "log"].to_dict("index")
    of_paths = runs[runs["path"].isin([level["path"] for level in logged.values()])]
    groups = {(str(path), str(method)): group for (path, method), group in grouped(of_paths, ["path", "method"])}
    values = {}
    for label, level in logged.items():
        found = run_values(groups[level["path"], level["method"]], level["value"])
        values[label] = replace(run_values(found.values, unit="ns"), order=found.order)
    return values


def widest_methods(levels: pd.DataFrame) -> pd.DataFrame:
    """Select the rows of `conditions` of the three methods that say most about all paths, and reported ones."""
    logged = levels["origin"] == "log"
    kept = rank_methods(as_measured(levels[logged]))[:METHODS_SHOWN]
    return levels[~logged | levels["method"].isin(kept)]


def widest(levels: pd.DataFrame) -> pd.DataFrame:
    """Select the rows of `conditions` of the kind of measurement of the method that says most about all paths.

    They may have other message sizes.
    """
    entries = as_measured(levels)
    main = next(iter(rank_methods(entries)), "")
    kinds = levels["origin"] + " " + levels["kind"]
    return levels[kinds.isin(kinds[[entry.method == main for entry in entries]])]


def changes(
    levels: pd.DataFrame, runs: pd.DataFrame, factor: Factor, *, margin: float = 0.05, confidence: float = 0.95
) -> pd.DataFrame:
    """Return pairs of rows of `conditions` that differ in one factor only, as far as is known; ``runs``: their runs.

    Placements are compared with the reference of the same method (`REFERENCES`), in a zone of the pair if one was
    measured; levels of the other factors with the level before, on the same path. ``margin``: the
    relative change that is practically equivalent. Logs and reported numbers are paired separately, and reported ones
    have no ratio. Conditions that differ in a second factor, or have no region in common, are not paired.

    One row per pair: the ratio of the run values to those of the base with its interval and the verdict, as
    `azlatency.compare` returns them, and the circumstances of both sides (those of the base begin with ``base_``).
    ``measured_low`` and ``measured_high`` are the extremes of the ratio as measured, not an interval. ``unsaid``:
    factors that are known on one side only, separated by blanks. ``other`` and ``base``: labels of the rows of
    ``levels``.
    """
    rows = []
    for origin in ("log", "reported"):
        matched = list(_pairs(_known(levels[levels["origin"] == origin], factor), factor))
        values = run_values_of(levels.loc[list({side["label"] for pair in matched for side in pair})], runs)
        pairs = [
            (
                Sides(values.get(other["label"], _NONE), values.get(base["label"], _NONE)),
                Setting(margin, confidence, what=f"{other['path']} against {base['path']}, {other['method']}"),
            )
            for base, other in matched
        ]
        if origin == "log":
            compared = compare_family(pairs, [other["method"] for _, other in matched])
        else:
            compared = [blank(sides, setting, 0, ()) for sides, setting in pairs]
        for (base, other), found in zip(matched, compared, strict=True):
            rows.append(
                {
                    **found,
                    **{name: other[name] for name in ("origin", "path", "method", "kind", "value", *FACTORS)},
                    **{f"base_{name}": base[name] for name in ("path", *FACTORS)},
                    "run_ids": joined(base["run_ids"].split(), other["run_ids"].split()),
                    "factor": factor,
                    "unsaid": " ".join(name for name in FACTORS if (base[name] is None) != (other[name] is None)),
                    "measured_low": other["lowest"] / base["highest"],
                    "measured_high": other["highest"] / base["lowest"],
                    "n_candidate": other["n"],
                    "n_base": base["n"],
                    "other": other["label"],
                    "base": base["label"],
                }
            )
    return _frame(rows, _CHANGE)


def _known(levels: pd.DataFrame, factor: Factor) -> list[dict[str, Any]]:
    """Return the conditions whose level of a factor is known, with their label, and None for unknown circumstances."""
    rows = [{**row, "label": label} for label, row in levels.to_dict("index").items()]
    for row in rows:
        row.update({name: None for name in FACTORS if row[name] is pd.NA or row[name] == ""})
    return [row for row in rows if row[factor] is not None]


def all_changes(levels: pd.DataFrame, runs: pd.DataFrame, factor: Factor) -> pd.DataFrame:
    """Return `changes` whose intervals hold at 95 % for all of them together (Bonferroni)."""
    found = changes(levels, runs, factor)
    return changes(levels, runs, factor, confidence=1 - 0.05 / len(found)) if len(found) > 1 else found


def _pairs(levels: list[dict[str, Any]], factor: Factor) -> Iterable[tuple[Row, Row]]:
    distinct = list(dict.fromkeys(level[factor] for level in levels))
    keys: dict[str, Any] = {"placement": REFERENCES.index, "vm_size": _by_number}
    distinct.sort(key=keys.get(factor))
    rank = {name: place for place, name in enumerate(distinct)}
    for other in levels:
        lower = [base for base in levels if rank[base[factor]] < rank[other[factor]]]
        lower = [base for base in lower if _comparable(base, other, factor)]
        if lower:
            # Placements are compared with the reference, levels of other factors with the nearest level below.
            sign = 1 if factor == "placement" else -1
            foreign = [not is_own_zone(base["pair"], other["pair"]) for base in lower]
            yield (
                min(zip(lower, foreign, strict=True), key=lambda pair: (sign * rank[pair[0][factor]], pair[1]))[0],
                other,
            )


def _by_number(vm_size: str) -> tuple[int, str]:
    """Return the first number in the name of a VM size (its virtual processors), and the name."""
    match = re.search(r"\d+", vm_size)
    return (int(match.group()) if match else 0), vm_size


def _comparable(first: Row, second: Row, factor: Factor) -> bool:
    if (first["kind"], first["value"]) != (second["kind"], second["value"]):
        return False
    if first["origin"] == "log" and factor != "placement" and first["path"] != second["path"]:
        return False
    regions, others = ({side["region"], side["peer_region"]} - {""} for side in (first, second))
    if regions and others and not regions & others:
        return False
    pairs = [(first[name], second[name]) for name in FACTORS if name != factor]
    return all(None in pair or pair[0] == pair[1] for pair in pairs)


def contradicting(steps: pd.DataFrame) -> pd.DataFrame:
    """Return pairs of rows of `changes`, of the same two paths, that point in opposite directions in all runs.

    The columns of the method that measured a longer round trip end in ``_slower``, those of the other in ``_faster``.
    """
    pairs = steps.merge(steps, on=["path", "base_path"], suffixes=("_slower", "_faster"))
    pairs = pairs[(pairs["measured_low_slower"] > 1) & (pairs["measured_high_faster"] < 1)]
    return pairs[["path", "base_path", "method_slower", "measured_low_slower", "method_faster", "measured_high_faster"]]
