"""The flags that say why a number is missing or doubtful, and the verdict on a ratio."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

Verdict = Literal["different", "different_within_margin", "equivalent", "inconclusive"]

#: Verdicts as a reader sees them.
VERDICTS: dict[Verdict, str] = {
    "different": "different",
    "different_within_margin": "different, within the margin",
    "equivalent": "practically equivalent",
    "inconclusive": "inconclusive",
}
#: What a verdict of a difference is called where the runs resemble the runs before them.
DRIFTS = "differs in these runs, which drift"

#: Equal ends of intervals differ by less than this share.
_TOUCHING = 1e-12
#: More runs or rounds than this are no advice: something else has to change.
FEASIBLE = 200
#: Flags by their stable name: a word or two for a table cell, and the sentence that a reader sees.
_FLAGS = {
    "no_values": ("no values", "the input has no values"),
    "no_replication": ("one run", "measured once, so how much another run would differ is not known; repeat it"),
    "one_direction": ("one direction", "no pair of zones was measured in both directions"),
    "two_runs": ("two runs", "two runs give a very wide interval, which assumes log-normal values"),
    "few_runs": ("few runs", "below six runs, the interval assumes log-normal values; measure at least six runs"),
    "outlying_run": ("outlying run", "one run lies far from the others, so the assumption of the interval is doubtful; "
        "measure at least six runs"),
    "dependent_runs": ("drift", "consecutive runs are autocorrelated, so the interval may be too short, and a "
        "difference may be one of time; alternate both sides in rounds, or spread the runs over more time"),
    "close_runs": ("close by chance?", "these few runs agree more closely than those of the other paths do, so the "
        "interval is that of the variance of all paths; measure at least six runs"),
    "order_assumed": ("order assumed", "not all runs have a start time or a round of their own, so the order of their "
        "files is taken as that of measuring"),
    "clock_set_back": ("clock set back?", "rounds and start times disagree about the order, so the clock of a machine "
        "may have been set back; the start times are followed"),
    "nights_missing": ("nights missing", "some gaps between neighbours are at least twice the usual one; the change "
        "may be in such a gap"),
    "new_tool_version": ("new tool version", "the version of the tool changed at the same time, so the tool may be the "
        "cause"),
    "one_printed_step": ("one step of rounding", "the levels differ by one step of the printed numbers, so the change "
        "may be of any size up to two steps"),
    "date_of_others": ("date of others", "this series alone does not show a change; it is found at the date at which "
        "other series changed"),
    "order_unknown": ("order unknown", "the runs have neither a start time nor a round nor a file, so it is not known "
        "whether they depend on their neighbours"),
    "one_machine_pair": ("these two machines", "the same two machines measured every round, so the result is about "
        "them; zone or machine: not separable; for zones, add more pairs of machines, or several control pairs within "
        "one zone"),
    "machines_unknown": ("machines unknown", "a published series does not say which machines it measured, so the "
        "result is about its table; zone or machine: not separable"),
    "one_control_pair": ("one control pair", "one control pair does not show how much machines differ, so the result "
        "is about these two machines; zone or machine: not separable; add more control pairs within one zone"),
    "out_of_reach": (f"over {FEASIBLE} runs", "more runs of this kind do not help; measure in rounds, choose another "
        "quantity of the run, or accept a wider target"),
    "small_pilot": ("range only: few runs", "the spread of fewer than five runs is too uncertain; measure five, then "
        "plan"),
    "few_clusters": ("too few groups", "too few independent groups (runs or blocks) for this method"),
    "few_effective": ("autocorrelated", "packets depend on each other, and the run has so few independent groups of "
        "them that the interval may be too short, or missing; measure longer"),
    "within_run_floor": ("lower bound", "the interval assumes independent packets; the true interval is wider"),
    "tail_unresolved": ("tail unresolved", "too few observations lie above this percentile to bound it"),
    "coarse_bound": ("coarse bound", "too few effective observations lie beyond the limit, so the outer bound is that "
        "of a wider tail"),
    "unbounded_upper": ("no upper bound", "the percentile may lie beyond the largest observation"),
    "maximum_in_disguise": ("sample maximum", "sample maximum reported as a percentile"),
    "interpolated": ("between percentiles", "the geometric middle of the two shares that printed percentiles allow"),
    "long_memory": ("long-range dependent", "packets stay correlated over a large part of the run, so no within-run "
        "interval is valid; measure longer or repeat the run"),
    "nonstationary": ("level shift", "the level shifted during the run (change point); summarize each segment"),
    "quantised": ("quantized", "the values have steps as wide as the interval, or too few distinct levels"),
    "limit_unit_unknown": ("limit: RTT or RTT/2?", "the source of the limit does not say whether it is a round trip or "
        "half of one; a verdict is that of both"),
    "unit_unknown": ("unit unknown", "the log does not name its measure; state whether the values are round trips"),
    "unit_conflict": ("unit conflict", "the values disagree about their unit: round trip, half round trip, one-way "
        "delay, or another unit"),
    "counts_conflict": ("counts disagree", "the counts disagree with each other, so nothing follows from them"),
    "unit_slip": ("wrong unit?", "off by a factor of a hundred or more; the expectation may be in another unit"),
    "type_p_mismatch": ("different packets", "the runs differ in tool, test, protocol, message size, amount or "
        "settings, so the difference is one of definition, not of paths"),
    "missing": ("missing values", "some values are missing or could not be read; they are excluded and counted"),
    "constant": ("constant", "the values are equal in all printed digits"),
    "not_positive": ("not positive", "a value is zero or negative, so it has no logarithm"),
    "loss_censored": ("loss", "losses are treated as right-censored (infinite), and the lost share reaches this "
        "statistic"),
    "clock_step": ("clock step", "the clock was set during the run"),
    "short_series": ("short series", "fewer than 30 intervals; the autocorrelation cannot be estimated"),
    "burst_test": ("burst", "the test ran < 60 s: burst credit may not be used up"),
    "host_wide_counter": ("host-wide counter", "the counter covers all traffic of the host, not only this path"),
    "logical_zone": ("logical zones", "zone numbers are per subscription; provide the mapping to physical zones"),
    "duplicate_runs": ("runs twice", "a run is in the frame more than once, and would count as often; drop the copies: "
        "frame[~frame.index.duplicated()]"),
    "mixed_paths": ("several paths", "the runs are of several paths, which are no repeats of each other; select one "
        "path, or use by='path'"),
    "incomplete_runs": ("cut or failed", "every run was cut or failed, so its numbers may cover a part of the test "
        "only; measure again"),
    "overlapping_runs": ("overlap in time", "runs of this group overlap in time, so they may be of different machines; "
        "give each a client, a server or a scenario in study.toml"),
    "doubtful_number": ("repeats doubtful", "only the last number of their names joins these runs, and their values "
        "are more than 4 times apart; say in study.toml whether the number counts repeats"),
    "sender_only": ("sender's count", "the receiver of some runs did not report, and the sender's count contains what "
        "still waits in buffers"),
    "mixed_sizes": ("size unknown", "the logs do not state the message size, in which other runs differ; add "
        "message_bytes to study.toml"),
    "mixed_amounts": ("amount unknown", "the logs do not state the amount or duration, in which other runs differ; add "
        "requested_bytes, requested_count or requested_duration_ns to study.toml"),
    "mixed_settings": ("setting unknown", "the logs do not state a setting in which other runs differ (see the "
        "method); add it to study.toml"),
    "mixed_treatments": ("treatment unknown", "study.toml states a treatment of other runs of the path and not of "
        "these (see the method); add it"),
    "other_vm": ("different VM size", "the VM sizes differ, so the machines may cause the difference"),
    "initiator_only": ("initiators", "a round trip crosses both directions, so this compares initiators and cannot "
        "show a one-way difference"),
}  # fmt: skip
FLAGS = {flag: sentence for flag, (_, sentence) in _FLAGS.items()}
SHORT = {flag: word for flag, (word, _) in _FLAGS.items()}


def explain(flags: Iterable[str]) -> tuple[str, ...]:
    """Return each flag as its word and its sentence."""
    return tuple(f"{SHORT[flag]}: {FLAGS[flag]}" for flag in flags)


def verdict_of(low: float, high: float, inner_low: float, inner_high: float, margin: float) -> Verdict:
    """Return the verdict on a ratio from two intervals (Schuirmann 1987); ends that are not known are NaN.

    An interval that only touches 1, but for rounding of the computation, contains it.
    """
    differs = low > 1 + _TOUCHING or high < 1 - _TOUCHING
    within = inner_low > 1 / (1 + margin) and inner_high < 1 + margin
    if differs:
        return "different_within_margin" if within else "different"
    return "equivalent" if within else "inconclusive"
