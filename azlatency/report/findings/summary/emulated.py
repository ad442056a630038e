"""The answer of an emulated network: how many intervals contain the delays that the emulator recorded."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from azlatency.report.card import Linked, dot, listed
from azlatency.report.findings.common import shares_held
from azlatency.report.findings.summary.answer import Answer, Data
from azlatency.report.table import FileRef, RunsRef
from azlatency.stats.across_runs.emulation_check import EmulatedDifference, emulated_differences
from azlatency.studies.emulation import configured_links, recorded_round_trips
from azlatency.studies.format import format_value, one_prefix

if TYPE_CHECKING:
    pass


def _width(steps: Sequence[EmulatedDifference]) -> float:
    return statistics.median((step.difference.high or math.inf) - (step.difference.low or 0.0) for step in steps)


def emulated(data: Data) -> Answer | None:
    """Say how many intervals contain the delays that the emulator recorded."""
    records = recorded_round_trips(data.study)
    steps = emulated_differences(configured_links(data.study), records, data.runs)
    checked = [step for step in steps if step.holds is not None]
    if not checked:
        return None
    worst = max(checked, key=lambda step: abs(step.error or 0.0))
    by_method = {step.method: [other for other in checked if other.method == step.method] for step in checked}
    method, shown = max(by_method.items(), key=lambda item: (len(item[1]), -_width(item[1])))
    like = one_prefix((value for step in shown[:6] for value in (step.difference.estimate or 0.0, step.recorded)), "ns")
    shares = [
        (Linked(share, *(RunsRef(step.run_ids, step.value) for step in steps)),)
        for share, steps in shares_held(checked)
    ]
    truth = [FileRef("truth.json", file) for file in records["file"].reindex(list(worst.run_ids)).dropna()]
    return Answer(
        badge="emulated",
        answer=(
            *listed(shares),
            " contain the difference between a path and the shortest one that the emulator recorded; the measured "
            "differences are off by at most ",
            Linked(format_value(abs(worst.error or 0), "ns"), RunsRef(worst.run_ids, worst.value)),
            " of ",
            Linked(format_value(worst.recorded, "ns"), *truth, bold=False),
            f" ({worst.method}).",
        ),
        inference=(
            f"Of {len(checked)} intervals at 95 %, about {0.95 * len(checked):.0f} should contain the truth. The "
            "delays were configured on one machine: nothing here describes a cloud.",
        ),
        dots=tuple(
            dot(
                step.path,
                (step.difference.low or 0.0, step.difference.high or 0.0),
                "ns",
                RunsRef(step.difference.run_ids, step.value),
                value=step.difference.estimate,
                near=not step.holds,
                text=f"{format_value(step.difference.estimate, 'ns', like=like)} "
                f"(recorded {format_value(step.recorded, 'ns', like=like)})",
            )
            for step in shown[:6]
        ),
        axis=f"{shown[0].value.removesuffix('_ns')} RTT less that of {shown[0].reference}, {method}, 95 % CI",
        next_step="Compare the tools: what remains is the time that a host takes longer after a longer wait.",
    )
