"""Did something change between two measurements? Tables, chart and findings of page 09."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from azlatency.kit.cells import FileRef, Ref, RunsRef, Table
from azlatency.kit.cells import text as words_of
from azlatency.kit.changes import sizes
from azlatency.kit.findings import act, answer, join
from azlatency.kit.objects import Chart, Findings, Note
from azlatency.kit.table import cited, ends, flags, number, p_value, table, text
from azlatency.kit.titles import span, times
from azlatency.kit.units import DECIDES
from azlatency.kit.words import also_within, in_drift, ratio_result, say, steady, verdict_words
from azlatency.shapes.forest import forest, two_beside
from azlatency.studies.emulation import configured_links
from azlatency.studies.format import count_of, format_number, percent, plain

if TYPE_CHECKING:
    from azlatency.studies.store.study import Study

_SETTINGS = {
    "region": "region",
    "vm_size": "VM size",
    "accelerated_networking": "accelerated networking",
    "date": "date",
    "emulated": "emulated",
}


# --- what differs besides


def settings(after: Study, before: Study) -> Table | Note:
    """Return the settings of two imports, with the line of each manifest that states them."""
    if not before.info:
        return Note(
            "There is no other study to compare with. Name one in the parameter `other`, or as `before` in study.toml."
        )
    rows = []
    for key, title in _SETTINGS.items():
        values = [words_of(study.info.get(key)) for study in (after, before)]
        same = "not known"
        if all(values):
            same = "yes" if values[0] == values[1] else "no"
        refs: list[Ref] = [FileRef("study.toml", key, before=is_before) for is_before in (False, True)]
        rows.append((title, *(value or "not said" for value in values), same, *refs))
    links = [configured_links(study) for study in (after, before)]
    if all(map(len, links)):
        delays = [span(each["delay_ns"], "ns") for each in links]
        same = "yes" if links[0]["delay_ns"].equals(links[1]["delay_ns"]) else "no"
        refs = [FileRef("truth.json", "links", before=is_before) for is_before in (False, True)]
        rows.append(("configured one-way delays", *delays, same, *refs))
    counts = [plain(len(study.runs)) for study in (after, before)]
    rows.append(("runs", *counts, "", *(RunsRef(tuple(study.runs["run_id"]), "run") for study in (after, before))))
    columns = {
        "what": text("what"),
        after.name: cited(text("after"), lambda row: [row["after_ref"]]),
        before.name: cited(text("before"), lambda row: [row["before_ref"]]),
        "same?": text("same"),
    }
    names = ["what", "after", "before", "same", "after_ref", "before_ref"]
    shown = pd.DataFrame(rows, columns=names)
    return table(shown, "Two imports", columns, source=lambda row: [row["after_ref"], row["before_ref"]])


def delays_differ(after: Study, before: Study) -> bool:
    """Return whether two emulated networks were configured with different delays of a link that both have."""
    delays = pd.concat([configured_links(study).get("delay_ns") for study in (after, before)], axis="columns").dropna()
    return bool((delays.nunique(axis="columns") > 1).any())


# --- after over before


def changes(found: pd.DataFrame) -> Table | Note:
    """Return comparisons of the same paths and tools with their verdicts."""
    if found.empty:
        return Note(
            "Nothing to compare: no path was measured with the same tool on both sides, both are the same import, "
            "or their regions differ."
        )
    columns = {
        "path": text("path", names_row=True),
        "method": text("method", names_row=True),
        "ratio": number("ratio", ".3f"),
        "interval": ends("decides_low", "decides_high", ".3f", missing="not known"),
        "verdict": text(lambda row: "not estimable" if pd.isna(row["ratio"]) else verdict_words(row)),
        "after against before": text(lambda row: f"{row['n_candidate']} against {row['n_base']} runs"),
        "p": p_value("p"),
        "flags": flags(),
    }
    notes = [f"Margin ±{percent(found['margin'].iloc[0])}.", DECIDES]
    return table(found, "After over before (scope: across runs)", columns, notes, value="typical")


def changes_forest(found: pd.DataFrame) -> Chart | Note:
    """Draw the ratio after / before of each comparison that has one, the largest change of a method on top."""
    drawn = found[found["ratio"].notna()]
    if drawn.empty:
        why = f"none of {len(found)} comparisons is estimable" if len(found) else "there is nothing to compare"
        return Note(f"No chart: {why}; the table says why.")
    if len(drawn) == 1:
        return Note(f"No chart: one comparison only. {say(drawn)}.")
    confidence = drawn["confidence"].iloc[0]
    panel, row = ("path", "method") if drawn["path"].nunique() == 1 else ("method", "path")
    return forest(
        drawn.sort_values("ratio", key=sizes, ascending=False, kind="stable"),
        "ratio",
        low="decides_low",
        high="decides_high",
        panel=panel,
        row=row,
        verdict="verdict",
        margin="margin",
        beside=two_beside(drawn, panel, row),
        xlabel="after ÷ before (log)",
        caption=(
            f"Bar: {percent(confidence)} interval; {percent(2 * confidence - 1)} if practically equivalent (TOST). "
            "Band: practically equivalent."
        ),
        ordering="The largest change on top.",
        counted="runs or rounds per comparison",
        of="comparisons",
        result=ratio_result(drawn, "After against before"),
        name="changes_forest",
    )


# --- findings


def find(found: pd.DataFrame, before: str = "", *, reconfigured: bool = False) -> Findings:
    """Say what changed since the study ``before``, what is practically equivalent, and what cannot be compared.

    ``reconfigured``: as returned by `delays_differ`.
    """
    sentence, refs = _answer(found, f"`{before}`" if before else "the other study")
    known = "The two emulated networks were configured with different delays, so a difference is expected. "
    findings = [answer(known * reconfigured + sentence, refs)]
    changed = found[(found["verdict"] == "different") & found["ratio_low"].notna()]
    for place, row in enumerate(changed.to_dict("records")):
        ratio, low, high = (format_number(row[name], 3) for name in ("ratio", "ratio_low", "ratio_high"))
        drift = in_drift(changed[place : place + 1])
        over = " over all runs; of each level, see the page History" if drift else ""
        findings.append(act(f"{row['what']}: different{drift}, ratio {ratio} ({low} to {high}){over}."))
    if refused := list(found.loc[found["ratio"].isna(), "what"]):
        text = f"Not estimable: {join(refused)}. A change of the network cannot be told from one of the measurement."
        findings.append(act(text))
    return Findings.of(findings)


def _answer(found: pd.DataFrame, before: str) -> tuple[str, list[list[Ref]]]:
    """Say how many comparisons show a change and the largest of them with its runs, or that none does."""
    judged = found[found["ratio_low"].notna()]
    if judged.empty:
        return "Not answerable: nothing was measured twice in the same way, several times each.", []
    counts = judged["verdict"].value_counts()
    number = count_of(len(judged), "comparison")
    if "different" not in counts:
        names = {
            "equivalent": "practically equivalent",
            "different_within_margin": "different within the margin",
            "inconclusive": "inconclusive",
        }
        listed = ", ".join(f"{counts[verdict]} {name}" for verdict, name in names.items() if verdict in counts)
        return f"No change beyond the margin is shown since {before}: of {number}, {listed}.", []
    changed = judged[judged["verdict"] == "different"].sort_values("ratio", key=sizes, ascending=False, kind="stable")
    since = f"{len(changed)} of {number} with {before} show a difference{in_drift(changed)}{also_within(counts)}"
    if (named := steady(changed)).empty:
        return f"{since}: no one ratio holds, see the page *History*.", []
    most = named.iloc[0]
    largest = "the largest" if len(named) == len(changed) else "the largest without drift"
    largest = f"{largest}: {most['what']}: **{times(most['ratio'], 'the value before')}**."
    return f"{since}; {largest}", [[RunsRef(tuple(most["run_ids"].split()), "typical")]]
