"""Do the tools agree? Tables, chart and findings of page 08."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from azlatency.kit.findings import act, answer, info, join
from azlatency.kit.objects import Chart, Finding, Findings, Note
from azlatency.kit.table import count, ends, flags, number, p_value, table, text
from azlatency.kit.titles import capitalised, times
from azlatency.pages.common import ordered
from azlatency.shapes.forest import forest
from azlatency.stats.result import VERDICTS
from azlatency.studies.format import format_number, percent, plain

if TYPE_CHECKING:
    from azlatency.kit.cells import Table
    from azlatency.stats.across_runs.agreement import Agreement

_NO_PAIRS = "no two methods of this study measured round-trip times on the same path"
_AGREE = {"equivalent": True, "different_within_margin": True, "different": False}
_MOST_PANELS = 5


def agreements(found: Agreement) -> Table | Note:
    """Return each two methods with common paths and rounds."""
    methods = found.methods
    if methods.empty:
        return Note(f"{capitalised(_NO_PAIRS)}.")
    words = methods["verdict"].map(VERDICTS)
    different = "different packets: " + methods["differs_in"]
    shown = methods.assign(words=words.mask(methods["differs_in"] != "", different))
    shown = shown.sort_values("differs_in", key=lambda names: names != "", kind="stable")
    level = percent(methods["confidence"].iloc[0])
    columns = {
        "first": text("first", names_row=True),
        "second": text("second", names_row=True),
        "ratio": number("ratio", ".3f"),
        f"{level} interval": ends("ratio_low", "ratio_high", ".3f", missing="not known"),
        "verdict": text("words"),
        "pairs": count("n"),
        "prediction interval, new pair": ends("prediction_low", "prediction_high", ",.3g"),
        "p, equivalent": p_value("p"),
        "flags": flags(hide=["type_p_mismatch"]),
    }
    notes = [
        f"Ratio: first ÷ second. Margin ±{percent(methods['margin'].iloc[0])}.",
        "p, equivalent: the larger p of two one-sided tests; a small one means equivalent.",
    ]
    return table(shown, "Tools compared in pairs (scope: across runs)", columns, notes, value="mean_ns")


def agreement_plot(found: Agreement, reference: str = "") -> Chart | Note:
    """Draw the ratio of two tools on each path, shortest round trip first; of many tools those with ``reference``.

    Methods that send different packets are left out: their ratio says nothing of either of them.
    """
    methods = found.methods
    if methods.empty:
        return Note(f"No chart: {_NO_PAIRS}.")
    alike = methods[(methods["differs_in"] == "") & methods["ratio"].notna()]
    if alike.empty:
        return Note("No chart: no two methods of this study sent the same packets, so a ratio has no meaning.")
    if len(alike) == 1 and alike["n"].iloc[0] == 1:
        only = alike.iloc[0]
        return Note(
            f"No chart: one pair of runs only. {only['first']} over {only['second']}: {plain(only['ratio'], 4)}."
        )
    with_reference = alike[(alike["first"] == reference) | (alike["second"] == reference)]
    chosen = with_reference if len(with_reference) else alike
    chosen = chosen.sort_values("n", ascending=False, kind="stable").head(_MOST_PANELS)
    repeated = chosen[chosen["n"] > 1] if (chosen["n"] > 1).any() else chosen
    far = repeated.loc[repeated["ratio"].map(lambda ratio: abs(math.log(ratio))).idxmax()]
    # The comparison of the title stands first.
    chosen = chosen.loc[[far.name, *chosen.index.drop(far.name)]]
    chosen = chosen.assign(panel=_panel(chosen) + ": " + chosen["verdict"].map(VERDICTS))
    pairs = found.pairs.assign(panel=_panel(found.pairs).map(dict(zip(_panel(chosen), chosen["panel"], strict=True))))
    pairs = pairs.dropna(subset=["panel"]).assign(size=(pairs["first_value"] * pairs["second_value"]))
    margin, confidence = chosen["margin"].iloc[0], chosen["confidence"].iloc[0]
    ratio = times(far["ratio"], f"as long as {far['second']}")
    return forest(
        _rows(chosen, pairs),
        "ratio",
        panel="panel",
        row="row",
        points=pairs.rename(columns={"path": "row"}),
        verdict="verdict",
        margin=margin,
        xlabel="first tool ÷ second (log)",
        caption=(
            "Ratio of the first tool to the second; each dot is a pair of runs. Below: the mean ratio "
            f"with its {percent(confidence)} interval, and the prediction interval for a new pair (both may be "
            f"clipped). Band: practically equivalent, ±{percent(margin)}."
            f"{f' Shown: {len(chosen)} of {len(alike)} comparisons.' if len(chosen) < len(alike) else ''}"
        ),
        result=f"Round trips of {far['first']} are {ratio}: {VERDICTS[far['verdict']]}",
        ordering="Shortest path on top.",
        counted="pairs per comparison",
        name="agreement_plot",
    )


def _panel(frame: pd.DataFrame) -> pd.Series:
    return frame["first"] + " ÷ " + frame["second"]


def _rows(chosen: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the chart: the paths by size, whose dots are the rounds, the mean, and a new pair."""
    paths = pairs.groupby(["panel", "path"], as_index=False, sort=False).agg(
        size=("size", lambda sizes: np.log(sizes).mean())
    )
    paths = paths.rename(columns={"path": "row"}).sort_values("size", kind="stable")
    means = chosen.assign(row="mean ratio")
    more = chosen.assign(
        row="new pair, prediction",
        ratio=np.nan,
        ratio_low=chosen["prediction_low"],
        ratio_high=chosen["prediction_high"],
    )
    rows = pd.concat([paths, means, more])
    too_wide = rows["ratio_high"] > 100 * rows["ratio_low"]
    rows.loc[too_wide, ["ratio_low", "ratio_high"]] = np.nan
    return ordered(rows, "panel", chosen["panel"])


def find(found: Agreement) -> Findings:
    """Say which tools agree on common paths, which differ, and which send different packets."""
    methods = found.methods
    if methods.empty:
        return Findings.of([info(f"{capitalised(_NO_PAIRS)}, so their agreement cannot be assessed.")])
    names = methods["first"] + " and " + methods["second"]
    same = methods["differs_in"] == ""
    methods = methods.assign(names=names, agree=methods["verdict"].map(_AGREE))
    findings: list[Finding] = [answer(_answer(methods[same]))]
    for row in methods[same & methods["ratio_low"].notna()].to_dict("records"):
        agree = row["agree"]
        verdict = {True: "agree", False: "disagree"}.get(agree, "may agree or not")
        ratio, low, high = (format_number(row[name], 3) for name in ("ratio", "ratio_low", "ratio_high"))
        text = (
            f"{row['names']} {verdict} within {percent(row['margin'])} (ratio {ratio}, interval "
            f"{low} to {high}, {row['n']} pairs)."
        )
        findings.append(act(text) if agree is False else info(text))
    undecided = methods.loc[same & methods["agree"].isna(), "names"]
    if len(undecided):
        findings.append(act(f"Inconclusive: {join(undecided)}. Measure more paths or rounds."))
    if not same.all():
        different = f"Different packets: {join(names[~same])}."
        findings.append(act(f"{different} Do not compare their numbers; compare paths within one method."))
    return Findings.of(findings)


def _answer(alike: pd.DataFrame) -> str:
    """Count the pairs of tools that agree, disagree or are open; without any, say that packets differ."""
    if alike.empty:
        return "No two tools sent the same packets, so their numbers cannot be compared."
    margin = percent(alike["margin"].iloc[0])
    counts = {
        ("agrees", "agree"): (alike["agree"] == True).sum(),  # noqa: E712 - missing values are a third kind
        ("disagrees", "disagree"): (alike["agree"] == False).sum(),  # noqa: E712
        ("is inconclusive", "are inconclusive"): alike["agree"].isna().sum(),
    }
    if len(alike) == 1:
        (word, _), _ = max(counts.items(), key=lambda item: item[1])
        return f"The only pair of tools that send nearly the same packets **{word}** within {margin}."
    parts = [f"**{count}** {words[int(count > 1)]}" for words, count in counts.items() if count]
    return f"Of {len(alike)} pairs of tools that send nearly the same packets, {', '.join(parts)} within {margin}."
