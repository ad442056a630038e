"""The answer about a setting: what accelerated networking and the size of the machines change."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from azlatency.kit.sentences import Linked, Sentence, listed
from azlatency.kit.table import condition_ref
from azlatency.kit.titles import span
from azlatency.kit.words import PLACES, change_words, in_drift, ratios_of, verdict_on
from azlatency.pages.summary.answer import (
    Data,
    axis_of,
    badge_of,
    inference_of,
    middle_of,
    next_rounds,
    prefix_of,
    refs_of,
    typical_dot,
    values_of,
)
from azlatency.pages.summary.card import Answer, Dot
from azlatency.stats.across_runs.placement import all_changes, conditions


def settings(data: Data) -> Answer | None:
    """Say what accelerated networking changes, and whether a placement group adds to it."""
    steps = all_changes(data.levels, data.runs, "accelerated_networking")
    if steps.empty:
        return None
    placed = all_changes(data.levels, data.runs, "placement")
    grouped = placed[placed["placement"] == "proximity_placement_group"]
    levels = data.both_sides(pd.concat([steps, grouped])).sort_values("highest", ascending=False, kind="stable")
    like = prefix_of(levels)
    parts: list[Sentence] = [
        _effect(
            data,
            steps.loc[[label]],
            PLACES.get(step["placement"], step["path"]),
            (
                *values_of(data.level(step["base"]), like=like, short=True),
                " → ",
                *values_of(data.level(step["other"]), like=like, short=True),
            ),
        )
        for label, step in steps.sort_values("measured_high", kind="stable").iterrows()
    ]
    source = {"once": ", measured once", "reported": " (as reported; no test possible)"}.get(verdict_on(steps), "")
    text: Sentence = (f"Accelerated networking{source}: ", *listed(parts), ".")
    for label, step in grouped.iterrows():
        values = values_of(data.level(step["other"]), like=like, short=True)
        text += (" A placement group on top: ", *_effect(data, grouped.loc[[label]], "", values), ".")
    text += _sizes(data, like)
    return Answer(
        badge=badge_of(levels),
        reported=levels["origin"].iloc[0] == "reported",
        answer=text,
        inference=inference_of(levels, data.runs),
        dots=_dots_of_settings(levels, like),
        axis=axis_of(levels),
        next_step=next_rounds(
            data,
            levels,
            len(steps) + len(grouped),
            "Measure each setting",
            ", on and off alternating, on the same machines",
        ),
    )


def _sizes(data: Data, like: float | None) -> Sentence:
    """Say what the size of the machines changes; of single runs, the value of each size, those with a log included."""
    changes = all_changes(data.levels, data.runs, "vm_size")
    changes = changes[~changes["accelerated_networking"].fillna(False)]
    if changes.empty:
        return ()
    compared = data.both_sides(changes)
    if verdict_on(changes) not in ("once", "reported"):
        typical = [middle_of(level) for level in compared.to_dict("records")]
        reach = span(typical, "ns", like=like, step=compared["resolution"].max())
        shown = Linked(reach, *refs_of(compared), bold=False)
        return " VM size, larger against smaller: ", *_effect(data, changes, "", (shown,)), "."
    first = compared.iloc[0]
    every = conditions(data.study, data.runs)
    alike = every["placement"].eq(first["placement"]) & every["vm_size"].ne("")
    alike &= every["kind"].str.split().str[0].eq(first["kind"].split()[0])
    alike &= ~every["accelerated_networking"].fillna(False)
    values: list[Sentence] = [
        (f"{level['vm_size']} ", *values_of(level, like=like), " (its log)" if level["origin"] == "log" else "")
        for level in every[alike].sort_values("highest", kind="stable").to_dict("records")
    ]
    return " VM size, one number each, which cannot show an effect: ", *listed(values), "."


def _effect(data: Data, steps: pd.DataFrame, place: str, values: Sentence) -> Sentence:
    """Say by how much changes make round trips longer or shorter, or that their runs do not show it, and the values."""
    verdict, refs, where = verdict_on(steps), refs_of(data.both_sides(steps)), f" {place}" if place else ""
    if verdict in ("once", "reported"):
        return *(part if isinstance(part, str) else Linked(part.text, *part.refs) for part in values), where
    if verdict != "different":
        return Linked(change_words(steps), *refs), f"{where} (", *values, ")"
    ratios, interval = ratios_of(steps)
    return Linked(f"{ratios} times as long", *refs), f"{where}{in_drift(steps)} ({interval}; ", *values, ")"


def _dots_of_settings(levels: pd.DataFrame, like: float | None) -> tuple[Dot, ...]:
    is_on = levels["accelerated_networking"].fillna(False)
    places = levels["placement"].map(PLACES).fillna(levels["path"]) + ", " + is_on.map({True: "on", False: "off"})
    return tuple(
        replace(typical_dot(label, level, condition_ref(level), like=like, step=level["resolution"]), near=not on)
        for level, label, on in zip(levels.to_dict("records"), places, is_on, strict=True)
    )
