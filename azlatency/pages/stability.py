"""Does a path keep its round-trip time and its rate? Tables, charts and findings of page 07; rates: `transfers`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from azlatency.kit.cells import MICROSECONDS, PERCENT, Ref, ReportedRef, Row, RunsRef, Table, Unit, number_format
from azlatency.kit.cells import text as words_of
from azlatency.kit.drawing import draw
from azlatency.kit.findings import act, answer, info, join_by_method
from azlatency.kit.objects import Chart, Finding, Findings, Note
from azlatency.kit.table import between, cited, count, estimated, number, table, text
from azlatency.kit.titles import capitalised, span
from azlatency.kit.words import broke_together
from azlatency.shapes.course import course
from azlatency.stats.within_run.time_series import CUT_OFF, probes
from azlatency.studies.emulation import sums_of_both_directions
from azlatency.studies.format import count_of, duration, format_number, one_prefix, percent, plain, signed_value

if TYPE_CHECKING:
    from azlatency.stats.within_run.lifetimes import Lifetimes
    from azlatency.stats.within_run.time_series import RunsInTime
    from azlatency.studies.store.study import Study

_SECONDS = Unit(1.0, "s")
_NS = 1e9
#: Fewest probes of a run to draw, most runs that are drawn or listed one by one, and most blocks that are marked.
_FEWEST_PROBES, _MOST_RUNS, _MOST_TICKS = 400, 6, 240


# --- round trips over time


def run_series(found: RunsInTime, study: Study, links: pd.DataFrame) -> Chart | Note:
    """Draw round trips over time: those of runs with confirmed level shifts first, then of the longest.

    Runs without confirmed shifts are drawn if they have send times and at least 400 probes.
    """
    runs = found.runs
    is_long = runs["has_times"] & (runs["n"] >= _FEWEST_PROBES)
    timed = runs[(runs["lost"] < runs["n"]) & ((runs["confirmed"] > 0) | is_long)]
    chosen = timed.sort_values(["confirmed", "seconds"], ascending=False, kind="stable").head(_MOST_RUNS)
    if chosen.empty:
        reason = "no run with send times and replies is long enough" if len(runs) else "no log has samples"
        return Note(f"No chart: {reason}.")
    scales = chosen["has_times"].map({True: _NS, False: 1.0})
    is_tcp = chosen["method"].str.contains("TCP")
    ends_of_runs = chosen["status"].isin(CUT_OFF).map({True: "✕", False: "→"})
    titles = chosen["path"] + ", " + chosen["method"]
    named = chosen.assign(
        panel=titles.where(~titles.duplicated(keep=False), chosen["name"]),
        time=chosen["has_times"].map({True: "seconds since the first probe", False: "number of the probe"}),
        truth=chosen["path"].map(sums_of_both_directions(links)),
        edge=ends_of_runs.where(is_tcp, ""),
        ticks=(chosen["block"] / scales).where(chosen["blocks"].between(2, _MOST_TICKS)),
    )
    shifts = found.shifts[found.shifts["confirmed"]]
    return course(
        probes(study, chosen),
        "rtt_ns",
        panel="run_ids",
        start="sent",
        panels=named.set_index("run_ids"),
        heading="panel",
        truth="truth",
        edge="edge",
        ticks="ticks",
        changes=_in_seconds(shifts).assign(text=[_shift_words(shift) for shift in shifts.to_dict("records")]),
        scale="log",
        xlabel="time",
        result=_title_of_shifts(found),
        caption=draw.caption(
            "Round-trip times over time.",
            ("Orange: confirmed level shift, with the 95 % interval of its time.", (chosen["confirmed"] > 0).any()),
            ("Short ticks at the top: blocks whose medians were tested.", named["ticks"].notna().any()),
            ("→ right of a panel: the TCP connection was still open when the test ended.", named["edge"].eq("→").any()),
            ("✕ right of a panel: the TCP connection was cut off.", named["edge"].eq("✕").any()),
            ("Dotted: configured round-trip delay, without the hosts.", named["truth"].notna().any()),
            (
                f"Shown: {len(chosen)} of {len(runs)} runs with samples, those with confirmed shifts first, then the "
                "longest.",
                len(chosen) < len(runs),
            ),
        ),
        counted="probes per run",
        name="run_series",
    )


def _shift_words(shift: Row) -> str:
    """Say by how much a level shifted, and when: after seconds, or after probes of a log without send times."""
    scale, unit = (_NS, "s") if shift["has_times"] else (1.0, "probes")
    when = plain(shift["at"] / scale) if shift["has_times"] else format_number(shift["at"], 0)
    return f"{signed_value(shift['change'], 'ns')} after {when} {unit}"


def _title_of_shifts(found: RunsInTime) -> str:
    # The answer of the page counts the same runs: others are too short to judge.
    judged = found.runs[found.runs["stable"].notna()]
    shifted = judged[judged["confirmed"] > 0]
    if judged.empty:
        return "No level could be tested"
    if shifted.empty:
        return f"No confirmed level shift in {count_of(len(judged), 'run')}"
    confirmed = found.shifts[found.shifts["confirmed"] & found.shifts["run_ids"].isin(shifted["run_ids"])]
    most = confirmed.loc[confirmed["change"].abs().idxmax()].to_dict()
    share = f"{len(shifted)} of {len(judged)} runs shifted their level"
    return f"{share}; most {most['path']}, {most['method']}: {_shift_words(most)}"


def shifts(found: RunsInTime) -> Table | Note:
    """Return each level shift with size, time and confirmation."""
    if found.runs.empty:
        return Note("Level shifts cannot be detected without samples.")
    if found.shifts.empty:
        tried = int(found.runs["stable"].notna().sum())
        return Note(f"No level shift in any of the {tried} runs that are long enough to test.")
    columns = {
        "run": text("name"),
        # A reader must not take the size of an unconfirmed shift for a finding.
        "state": text(lambda shift: "confirmed" if shift["confirmed"] else "not confirmed"),
        "change": number("change", "+z,.1f", MICROSECONDS),
        "interval": between("change_low", "change_high", "+z,.1f", MICROSECONDS),
        "relative": number("relative", "+z.1f", PERCENT),
        **({"beyond the margin": text(_beyond)} if found.shifts["confirmed"].any() else {}),
        "position": estimated("at", "at_low", "at_high"),
        "unit of the position": text(lambda shift: "s" if shift["has_times"] else "probes"),
    }
    # What no test confirms must not be read first.
    shown = _in_seconds(found.shifts).drop(columns="flags").sort_values("confirmed", ascending=False, kind="stable")
    confirmed = int(shown["confirmed"].sum())
    counts = f"{plain(confirmed) if confirmed else 'none'} of {plain(len(shown))} confirmed"
    notes = (
        ["Not confirmed: the variation within the run may explain it; the interval assumes that it is real."]
        if confirmed < len(shown)
        else []
    )
    return table(shown, f"Possible level shifts: {counts}", columns, notes, value="samples")


def _beyond(shift: Row) -> str:
    return words_of(shift["practical"]) if shift["confirmed"] else "–"


def _in_seconds(shifts: pd.DataFrame) -> pd.DataFrame:
    """Return the places of shifts in s; those of a log without send times stay numbers of probes."""
    scales = shifts["has_times"].map({True: _NS, False: 1.0})
    return shifts.assign(**{name: shifts[name] / scales for name in ("at", "at_low", "at_high")})


def runs_in_time(found: RunsInTime) -> Table | Note:
    """Return the duration, loss, jitter and level shifts of each run with samples."""
    if found.runs.empty:
        return Note("No log of this study has samples in time, so the stability of its runs cannot be tested.")
    columns = {
        "run": text("name"),
        "probes": count("n"),
        "duration": number("seconds", ",.1f", _SECONDS),
        "lost": count("lost"),
        "jitter": number("jitter", ",.1f", MICROSECONDS),
        "level": text(_level),
        "drift": between("drift_low", "drift_high", "+z,.1f", MICROSECONDS),
        "clock steps": number("clock_steps", ",.0f", missing="no times"),
    }
    notes = [
        "Jitter: median difference of successive round-trip times. Drift: interval of the change from start to end.",
        "Level: shifts of block medians, confirmed by a test that accounts for autocorrelation.",
    ]
    shown = found.runs.drop(columns="flags")
    return table(shown, "Every run with samples, over time", columns, notes, value="samples")


def _level(run: Row) -> str:
    if pd.isna(run["stable"]):
        return "too short to test"
    if run["stable"]:
        return f"{run['shift_count']} unconfirmed" if run["shift_count"] else "no shift"
    return f"{run['confirmed']} confirmed"


# --- how long connections live


def lifetimes(life: Lifetimes) -> Table | Note:
    """Return how long connections lasted, including censored ones."""
    summary = life.summary.iloc[0].to_dict()
    if not summary["n"]:
        return Note("No log of this study follows a connection in time, so lifetimes cannot be estimated.")
    bound = (
        f"{format_number(1 / summary['rate_high'], 0)} ({percent(summary['confidence'])})"
        if summary["rate_high"]
        else "no bound"
    )
    rows = [
        ("connections followed", plain(summary["n"])),
        ("of them cut off", plain(summary["losses"])),
        ("followed for, total seconds", format_number(summary["seconds"], 1)),
        ("median lifetime, seconds", number_format(",.1f", "not reached").text(summary["estimate"], 1)),
        ("losses, at most one in … seconds", bound),
    ]
    note = "A connection that was still open at the end of its test is censored: it lasted at least that long."
    columns = {"what": text("what"), "value": text("value", right=True)}
    shown = pd.DataFrame(rows, columns=["what", "value"]).assign(run_ids=summary["run_ids"])
    return table(shown, "Lifetime of the connections", columns, [note], value="samples")


def broken_connections(broken: pd.DataFrame) -> Table | Note:
    """Return when connections broke, as an author reports it."""
    if broken.empty:
        return Note("No text of this study reports when a connection broke.")
    columns = {
        "connection": text("path"),
        "broke at, as printed": text("printed"),
        "seconds after the first": cited(count("after_s"), lambda row: [ReportedRef(row["path"], "failed_at")]),
        "reported duration": text("lasted"),
    }
    notes = ["As reported, without a time zone. Ends within a minute of each other are unlikely to be independent."]
    caption, names = "How the connections ended, as reported", ("failed_at", "duration")
    return table(broken, caption, columns, notes, source=lambda row: [ReportedRef(row["path"], name) for name in names])


def segments_before_the_end(segments: pd.DataFrame) -> Table | Note:
    """Return the last change between reported segments beside the changes before it."""
    if segments.empty:
        return Note("No text of this study reports segments of a run, and no connection of its logs broke.")
    of_paths = segments.dropna(subset=["change_ns"]).groupby("path", sort=False)
    shown = of_paths.agg(
        last=("change_ns", "last"),
        before=("change_ns", lambda changes: ", ".join(format_number(change / 1e3, 2) for change in changes[:-1])),
        p=("p", "first"),
    ).reset_index()
    columns = {
        "connection": text("path"),
        "last change": number("last", ",.2f", MICROSECONDS),
        "changes before, µs": text("before"),
        "p of a trend": number("p", ".2f"),
    }
    notes = [
        "No test of so few segments can show that the last change is unusual; compare it with those before.",
        "p of a trend: the probability of a trend at least as strong over all segments, if there is none.",
    ]
    caption = "Was the last change unusual?"
    return table(
        shown, caption, columns, notes, source=lambda row: [ReportedRef(row["path"], "rtt_mean", segment=True)]
    )


# --- findings


def find(found: RunsInTime, segments: pd.DataFrame, broken: pd.DataFrame, rates: pd.DataFrame) -> Findings:
    """Say which levels shifted, which connections broke, and which rates fell.

    ``segments``, ``broken``: what an author reports of the last segments of connections, and of when they broke;
    ``rates``: transfers in time.
    """
    findings = [*_answer(found.runs, rates, broken), *_level_shifts(found.runs), *_broken(segments, broken)]
    fallen = rates[rates["burst_rate"].notna() & ~rates["flags"].str.contains("short_series")]
    for (path, method), falls in fallen.groupby(["path", "method"], sort=False):
        seconds = dict.fromkeys(format_number(moment, 0) for moment in (falls["at_s"].min(), falls["at_s"].max()))
        runs = "" if len(falls) == 1 else f" ({len(falls)} runs)"
        burst, sustained = (f"**{reach}**" for reach in _from_to(falls))
        after = f"after {'–'.join(seconds)} s{runs}"
        findings.append(info(f"{path} ({method}): the rate fell from {burst} to {sustained} {after}."))
    short = rates[rates["flags"].str.contains("burst_test")]
    if len(short):
        names = join_by_method(short)
        findings.append(act(f"Transfers shorter than 60 s may not use up a burst credit: {names}."))
    if not findings:
        findings.append(info("This study has no time series: no samples, no intervals, no segments."))
    return Findings.of(findings)


def _from_to(falls: pd.DataFrame) -> list[str]:
    """Return the rates before falls, and those after them, in one unit."""
    like = one_prefix([*falls["burst_rate"], *falls["sustained_rate"]], "bit/s")
    return [span(falls[name], "bit/s", like=like) for name in ("burst_rate", "sustained_rate")]


def _answer(runs: pd.DataFrame, rates: pd.DataFrame, broken: pd.DataFrame) -> list[Finding]:
    """Say in how many runs a level shift is confirmed, how many rates fell, and how many connections broke."""
    parts, refs = [], list[list[Ref]]()
    judged = runs[runs["stable"].notna()]
    if len(judged):
        # A level that no test shows to shift may have shifted, and runs differ by more than one of them can show.
        shifted, tested = int((~judged["stable"].astype(bool)).sum()), count_of(len(judged), "run")
        untested = f"; {plain(len(runs) - len(judged))} more not testable" if len(judged) < len(runs) else ""
        share = f"in **{shifted} of {tested}**" if shifted else f"in any of **{tested}**"
        refs.append([RunsRef(tuple(judged["run_ids"]), "samples")])
        parts.append(f"{'a' if shifted else 'no'} level shift of the round-trip time is confirmed {share}{untested}")
    fallen, tested = rates[rates["burst_rate"].notna()], rates[rates["found"].notna()]
    if len(fallen):
        burst, sustained = _from_to(fallen)
        verb = "falls" if len(fallen) == 1 else "fall"
        refs.append([RunsRef(tuple(tested["run_ids"]), "intervals")])
        share = f"**{len(fallen)} of {len(tested)}** transfers {verb} from {burst} to {sustained}"
        parts.append(f"{share}, after {duration(*(fallen['at_s'] * _NS))}")
    elif len(tested):
        parts.append(f"no fall of the rate in {count_of(len(tested), 'transfer')}")
    if len(broken):
        together = broke_together(broken)
        within = f", {together}" if together else ""
        refs.append([ReportedRef(str(path), "failed_at") for path in broken["path"]])
        parts.append(f"**{count_of(len(broken), 'connection')}** broke{within}")
    sentence = "; ".join(parts)
    return [answer(f"{capitalised(sentence)}.", refs)] if parts else []


def _level_shifts(runs: pd.DataFrame) -> list[Finding]:
    """Name the runs with a level shift, the losses, and the longest run."""
    if runs.empty:
        return []
    findings: list[Finding] = []
    losing = [
        f"{run['path']} ({run['method']}): {plain(run['lost'])} of {plain(run['n'])} probes"
        for run in runs[runs["lost"] > 0].head(_MOST_RUNS).to_dict("records")
    ]
    if losing:
        findings.append(info(f"Lost: {'; '.join(losing)}."))
    shifted = runs[runs["confirmed"] > 0]
    if len(shifted):
        names = join_by_method(shifted)
        findings.append(act(f"Confirmed level shift: {names}. Summarise these runs by segment, not as a whole."))
    longest = runs.loc[runs["seconds"].fillna(0).idxmax()]
    seconds = f"{plain(longest['seconds'] if pd.notna(longest['seconds']) else 0, 4)} s"
    text = f"{longest['path']} ({longest['method']}) lasted longest, {seconds}; slower changes cannot be seen."
    return [*findings, info(text)]


def _broken(segments: pd.DataFrame, broken: pd.DataFrame) -> list[Finding]:
    """Say what the last segments of broken connections show, and whether the connections broke together."""
    findings = []
    for path, changes in segments.dropna(subset=["change_ns"]).groupby("path", sort=False)["change_ns"]:
        if len(changes) > 1:
            change = float(changes.iloc[-1])
            last = f"the last change before the connection broke, {signed_value(change, 'ns')}"
            of_all = f"is one of {count_of(len(changes), 'change')}"
            findings.append(act(f"{path}: {last}, {of_all}; that is too few to show whether it was unusual."))
    if together := broke_together(broken):
        events = count_of((~broken["together"]).sum(), "event")
        text = f"broke, {together}. So close together, they suggest a common cause, or the same start: count {events}."
        findings.append(info(f"{count_of(len(broken), 'connection')} {text}"))
    if broken["lasted"].nunique() == 1 and broken["lasted"].iloc[0]:
        text = (
            f"Every connection is reported to have lasted {broken['lasted'].iloc[0]}, yet they ended "
            f"{format_number(broken['after_s'].max() / 60, 0)} min apart and the starts are unknown, so no lifetime "
            "can be derived."
        )
        findings.append(act(text))
    return findings
