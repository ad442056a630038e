"""What a VM should deliver, and what it does: tables, chart and findings of page 06."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from azlatency.kit.cells import FileRef, Row, RunsRef, Table, Unit
from azlatency.kit.cells import text as words_of
from azlatency.kit.findings import act, answer, info, join
from azlatency.kit.objects import Chart, Finding, Findings, Note
from azlatency.kit.table import cited, count, ends, flags, number, table, text
from azlatency.kit.titles import capitalised, span
from azlatency.kit.units import in_unit, limits, read_in
from azlatency.kit.words import runs_to_decide
from azlatency.pages.common import ordered
from azlatency.shapes.forest import forest
from azlatency.studies.format import column_unit, count_of, percent, plain

if TYPE_CHECKING:
    from azlatency.studies.store.study import Expectation, Study

_RATES = ("bit/s", "bytes/s", "1/s")
_SCALED = ["limit_low", "limit_high", "estimate", "low", "high"]
_DONE = {"meets": "met", "fails": "failed"}


def conformance(found: pd.DataFrame) -> Table | Note:
    """Return each expectation and the runs that measured it."""
    if found.empty:
        return Note("This study has no baseline to compare its runs with.")
    measured = found[found["estimate"].notna()]
    if measured.empty:
        return Note(
            "No run of this study measured a quantity of the baseline, so no expectation is tested. The table below "
            "lists what to run."
        )
    units = measured["unit"].map(read_in)
    scales = units.map(lambda unit: unit.scale)
    rows = measured.assign(
        **{name: measured[name] / scales for name in _SCALED},
        expectation=measured["what"] + ", " + measured["path"],
        unit_name=units.map(lambda unit: unit.name),
        needed=measured["decides"].map(runs_to_decide),
    )
    unit = Unit(1.0, rows["unit_name"].iloc[0] if rows["unit_name"].nunique() == 1 else "")
    expected = ends("limit_low", "limit_high", ",.6g", unit, open_end="no limit")
    level = percent(rows["confidence"].iloc[0])
    columns = {
        "expectation": text("expectation", names_row=True),
        "method": text("method", names_row=True),
        **({} if unit.name else {"unit": text("unit_name")}),
        "typical run": number("estimate", ",.5g", unit),
        "verdict": text(lambda row: row["status"] if row["n"] > 1 else "not tested"),
        "expected": cited(expected, lambda row: [FileRef("baseline", "printed", row["what"])]),
        "ratio to the limit": number("ratio", ".2f"),
        **({f"one-sided {level} bounds": ends("low", "high", ",.4g", unit)} if rows["low"].notna().any() else {}),
        "runs": count("n"),
        "runs to decide": text("needed"),
        "flags": flags(),
    }
    notes = ["Ratio to the limit: typical run ÷ nearer limit; 1.00 is within the limits."]
    caption = "Expected and measured (scope: across runs)"
    return table(rows, caption, columns, notes, value=lambda row: row["metric"])


def baseline_bullets(found: pd.DataFrame) -> Chart | Note:
    """Draw one panel per expectation: the range that it allows, and the typical run of each path with its bounds."""
    if found.empty:
        return Note("No chart: this study has no baseline.")
    measured = found[found["estimate"].notna()].sort_values("estimate", kind="stable")
    measured = ordered(measured, "what", found["what"])
    if measured.empty:
        return Note("No chart: no run of this study measured a quantity of the baseline.")
    to_say = ("at most ", "at least ", " to ")
    expected = [limits(*_limits(row), row["unit"], to_say) for row in measured.to_dict("records")]
    drawn = measured.assign(
        panel=[f"{what}: {said}" for what, said in zip(measured["what"], expected, strict=True)],
        row=[", ".join(filter(None, ends)) for ends in zip(measured["path"], measured["method"], strict=True)],
        unit=measured["unit"].map(read_in),
        status=measured["status"].where(measured["n"] > 1, "not_tested"),
    )
    if len(drawn) == 1:
        only = drawn.iloc[0]
        value = in_unit(only["estimate"], only["estimate"], measured["unit"].iloc[0])
        said = f"{only['what']}, {only['row']}: {value}, {expected[0]}: {only['status'].replace('_', ' ')}"
        return Note(f"No chart: one measurement only. {said}.")
    words = {
        "meets": "as expected",
        "fails": "outside the expected range",
        "inconclusive": "inconclusive",
        "not_tested": "not tested",
    }
    counts = drawn["status"].value_counts()
    result = ", ".join(f"{counts[status]} {word}" for status, word in words.items() if status in counts)
    if measured["what"].nunique() == 1:
        result = f"{_range(measured)} where {expected[0]} is expected: {_verdict_of_all(measured) or result}"
    bars = f" Bar: one-sided {percent(measured['confidence'].iloc[0])} bounds, below and above."
    return forest(
        drawn,
        "estimate",
        low="low",
        high="high",
        panel="panel",
        row="row",
        verdict="status",
        limits=("limit_low", "limit_high"),
        unit="unit",
        result=result,
        caption=f"Typical run and the expected range (blue).{bars if measured['low'].notna().any() else ''}",
        ordering="Smallest on top.",
        name="baseline_bullets",
    )


def still_to_run(found: pd.DataFrame, expectations: Sequence[Expectation]) -> Table | Note:
    """Return for each expectation that is not decided on every path what was run, what is missing, and the command."""
    if not expectations:
        return Note("This study has no baseline. Add what its VMs should deliver to its folder (baseline.toml).")
    rows = []
    for expectation in expectations:
        of_name = found[found["what"] == expectation.get("name")]
        undecided = of_name[of_name["status"] == "inconclusive"]
        if undecided.empty:
            continue
        runs, most = int(of_name["n"].sum()), runs_to_decide(undecided["decides"].max())
        missing = f"{most} of the path that needs the most" if most else "repeats on each path"
        rows.append(
            {
                "expectation": str(expectation.get("name")),
                "tool": expectation.get("tool") or "any",
                "runs": runs,
                "missing": missing if runs else "runs of any kind",
                "each": "60 s or longer" if expectation.get("unit") in _RATES else "any length",
                "command": str(expectation.get("command") or expectation.get("conditions") or "not said"),
                "run_ids": " ".join(of_name["run_ids"]),
                "metric": expectation.get("metric") or "",
            }
        )
    if not rows:
        return Note("Every expectation is decided on every path that was measured.")
    columns = {
        "expectation": cited(text("expectation"), lambda row: [FileRef("baseline", "name", row["expectation"])]),
        "tool": text("tool"),
        "runs so far": count("runs"),
        "missing": text("missing"),
        "each run": text("each"),
        "command or conditions, as the source gives them": text("command"),
    }
    notes = [
        "A throughput or disk test shorter than 60 s can show a burst instead of the sustained rate. If a command asks "
        "for less, make it longer."
    ]
    return table(pd.DataFrame(rows), "What to run", columns, notes, value=lambda row: row["metric"])


def unquantified(study: Study) -> Table | Note:
    """Return the commands that the study's source runs without saying what they should show."""
    commands = study.info.get("unquantified") or []
    if not commands:
        return Note("Every command in the source of this study has an expected value.")

    def named(row: Row) -> list[FileRef]:
        return [FileRef("baseline", "name", words_of(row["name"]))]

    columns = {
        "what": cited(text("name"), named),
        "tool": text("tool"),
        "command, as the source gives it": text("command"),
    }
    frame = pd.DataFrame(commands, columns=["name", "tool", "command"])
    notes = ["Such a run can be described and compared, but it cannot pass or fail."]
    return table(frame, "Commands without an expectation", columns, notes)


def find(found: pd.DataFrame) -> Findings:
    """Say which expectations are met, failed or open, and why they are open."""
    if found.empty:
        return Findings.of([info("This study has no baseline to compare with.")])
    measured = found[found["estimate"].notna()]
    # The first bold part is what was measured, unless it counts expectations.
    values = [RunsRef(tuple(" ".join(measured["run_ids"]).split()), str(found["metric"].iloc[0]))]
    findings = [answer(_answer(found), [values] if found["what"].nunique() == 1 and len(measured) else [])]
    for status, finding in (("fails", act), ("meets", info)):
        findings += [finding(_decided(row)) for row in measured[measured["status"] == status].to_dict("records")]
    findings += _inconclusive(measured[measured["status"] == "inconclusive"])
    flagged = " ".join(measured["flags"]).split()
    if "unit_slip" in flagged:
        findings.append(act("A measured value is off by a factor of 100 or more. Check the units first."))
    if "burst_test" in flagged:
        findings.append(act("Some tests ran for less than 60 s, which may not use up a burst credit."))
    missing = list(dict.fromkeys(found.loc[found["estimate"].isna(), "what"]))
    if missing:
        # Where nothing was measured, the answer says so, and the table has the names.
        names = f"Not measured by any run: {'; '.join(missing)}. " if len(measured) else ""
        findings.append(act(f"{names}The page lists the commands that measure them."))
    return Findings.of(findings)


def _answer(found: pd.DataFrame) -> str:
    """Count the expectations by what the runs decide; the worst result of an expectation counts."""
    ranks = {"fails": 0, "inconclusive": 1, "meets": 2, "not measured": 3}
    status = found["status"].where(found["estimate"].notna(), "not measured")
    worst = status.map(ranks).groupby(found["what"], sort=False).min().map(list(ranks).__getitem__)
    measured = found[found["estimate"].notna()]
    if len(worst) == 1 and len(measured):
        first, verdict = measured.iloc[0], worst.iloc[0]
        said = limits(*_limits(first), first["unit"])
        alone = "not tested (one run)" if (measured["n"] == 1).all() else ""
        result = _verdict_of_all(measured) or alone or _DONE.get(verdict, verdict)
        return f"{capitalised(first['what'])}: **{_range(measured)}** measured, {said} expected; **{result}**."
    counts = worst.value_counts()
    names = [name for name in ("meets", "fails", "inconclusive", "not measured") if name in counts]
    parts = [f"**{counts[name]} {_DONE.get(name, name)}**" for name in names]
    return f"Of {count_of(len(worst), 'expectation')}: {', '.join(parts)}."


def _decided(row: Mapping[Any, Any]) -> str:
    value = in_unit(row["estimate"], row["estimate"], row["unit"])
    return f"{row['what']}, {row['path']}, {row['method']}: {row['status']}, {value} in {count_of(row['n'], 'run')}."


def _inconclusive(rows: pd.DataFrame) -> list[Finding]:
    """Describe the inconclusive comparisons, and say why they decide nothing."""
    findings = []
    for (what, method), group in rows.groupby(["what", "method"], sort=False):
        first, fewest, most = group.iloc[0], group["n"].min(), group["n"].max()
        runs = "one run each, so not tested" if most == 1 else f"{fewest} to {most} runs, so inconclusive"
        said = limits(*_limits(first), first["unit"])
        values = f"**{_range(group)}** on {join(group['path'])}"
        findings.append(info(f"{what} ({method}): {values}, expected {said}; {runs}."))
    far = rows.loc[~rows["ratio"].between(0.5, 2) & rows["ratio"].notna(), "ratio"]
    if len(far):
        times = f"{plain(far.min(), 2)} to {plain(far.max(), 2)} times the nearer limit"
        findings.append(
            act(f"{len(far)} of {len(rows)} values are {times}. Check the expectation before you suspect the VM.")
        )
    if (rows["n"] == 1).any():
        findings.append(act("A single run has no bounds, so these comparisons decide nothing. Repeat the runs."))
    return findings


def _verdict_of_all(measured: pd.DataFrame) -> str:
    """Say on which side of what is expected all values are, if the runs are too few to decide; else nothing."""
    if len(measured) < 2 or (measured["status"] != "inconclusive").any():
        return ""
    low, high = measured["limit_low"].iloc[0], measured["limit_high"].iloc[0]
    side = ""
    if measured["estimate"].min() > high:
        side = "above"
    elif measured["estimate"].max() < low:
        side = "below"
    runs = "one run each" if (measured["n"] == 1).all() else "too few runs"
    return f"all {side} it, not tested ({runs})" if side else ""


def _range(rows: pd.DataFrame) -> str:
    """Return the range of the values in the unit of the limit."""
    unit = rows["unit"].iloc[0]
    return span(list(rows["estimate"]), unit, like=column_unit(unit)[0])


def _limits(row: Mapping[Any, Any] | pd.Series) -> tuple[float | None, float | None]:
    low, high = row["limit_low"], row["limit_high"]
    return None if pd.isna(low) else low, None if pd.isna(high) else high
