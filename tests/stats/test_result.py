"""Results: they accept frames and arrays, print, show themselves in a notebook, and become rows."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers.places import ROOT
from helpers.results import estimates_of
from helpers.small_frames import runs, samples
from helpers.studies import load

import azlatency as az
from azlatency.stats.result import FLAGS, SHORT
from azlatency.stats.within_run.dependence import dependence


def test_arrays_series_and_frames_have_the_same_result() -> None:
    frame = runs()
    by_frame, by_array = az.summarize(frame), az.summarize(frame["median_ns"].to_numpy())
    columns = ["estimate", "low", "high", "unit", "n", "flags"]
    assert by_frame[columns].equals(by_array[columns]) and list(by_array["unit"]) == ["ns"]
    one = samples()
    values = one["rtt_ns"].to_numpy(dtype="float64")
    assert str(dependence(one)) == str(dependence(values))
    pd.testing.assert_frame_equal(az.stats.exceedance(one, 1e5), az.stats.exceedance(values, 1e5))
    assert (az.stats.stability(one).run["block"] >= 60e9 * 0.9).all() or (
        az.stats.stability(one).run["blocks"] >= 20
    ).all()
    assert list(az.quantiles(one)["low"]) == pytest.approx(list(az.quantiles(values)["low"]), nan_ok=True)


def test_quantiles_of_a_study_are_those_of_its_samples() -> None:
    study = load("emulated-zones")
    estimates = estimates_of(az.quantiles(study, 0.5))
    assert len(estimates) == study.samples["run_id"].nunique() and {"path", "method", "run_id"} <= set(
        estimates[0].labels
    )


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"printed_as": ["round_trip", "one_way", "round_trip", "round_trip"]}, "unit_conflict"),
        ({"printed_as": "unknown"}, "unit_unknown"),
        ({"protocol": ["tcp", "udp", "tcp", "tcp"]}, "type_p_mismatch"),
        ({"message_bytes": [14, 1400, 14, 14]}, "type_p_mismatch"),
        ({"subscription": ["s1", "s2", "s1", "s1"], "zone": "1"}, "logical_zone"),
        ({"median_ns": [100e3, math.inf, 99e3, 101e3]}, "loss_censored"),
        ({"median_ns": [100e3, math.nan, math.nan, math.nan]}, "no_replication"),
        ({"median_ns": [math.nan] * 4}, "no_values"),
    ],
)
def test_bad_input_is_refused_with_the_same_code_everywhere(columns: dict[str, Any], code: str) -> None:
    """Mixed quantities, packet types, zones without maps, missing repeats: a value that says what to supply."""
    frame, whole = runs(**columns), runs()
    compared = az.compare(frame, whole, value="median_ns")
    for found in (compared, az.stats.runs_needed(frame, value="median_ns")):
        assert code in found["flags"].iloc[0].split() and FLAGS[code] in az.say(found)
    assert compared["p"].isna().all() and compared["ratio"].isna().all()


def test_values_in_two_units_are_refused() -> None:
    us = pd.Series([100.0, 101.0, 99.0], name="median_us")
    compared = az.compare(runs(), us, value="median_ns")
    assert list(compared["flags"]) == ["unit_conflict"] and compared["ratio"].isna().all()


def test_unusable_frames_are_errors_that_name_the_fix() -> None:
    with pytest.raises(ValueError, match="select one by its run_id"):
        az.stats.stability(samples(2))
    with pytest.raises(ValueError, match="rtt_ns"):
        az.stats.exceedance(pd.DataFrame({"x": [1.0]}), 1.0)
    with pytest.raises(KeyError, match="the columns are"):
        az.compare(runs(), runs(), value="p50")


def test_the_rows_of_results_join_the_runs_that_they_came_from() -> None:
    study = load("westeurope-azure-cni")
    runs = az.latency(study)
    frame = az.summarize(runs, "mean_ns")
    assert len(frame) > 3 and set(frame["method"]) == set(runs["method"])
    joined = runs.merge(frame, on=["path", "method"])
    assert len(joined) == len(runs)
    assert frame["statistic"].str.contains("median").all()


def test_the_namespace_exports_each_function_once_for_users_and_type_checkers() -> None:
    """Every name of ``az.stats`` is a function or module with a docstring, and the type checker sees the same names."""
    import ast
    import inspect

    from azlatency import stats

    tree = ast.parse(inspect.getsource(stats))
    typed = {
        (node.module or "", alias.name)
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes = {name: f"azlatency.stats.{home}" for name, home in stats._HOMES.items()}
    modules = {name for name in homes if inspect.ismodule(getattr(stats, name))}
    lazy = {(home.rpartition(".")[0] if name in modules else home, name) for name, home in homes.items()}
    assert typed == lazy and sorted(name for _, name in lazy) == stats.__all__ == dir(stats)
    assert all(inspect.getdoc(getattr(stats, name)) for name in stats.__all__)
    with pytest.raises(AttributeError, match="throttling"):
        stats.by_path  # noqa: B018


def test_every_code_has_a_sentence_and_a_word() -> None:
    assert set(FLAGS) == set(SHORT)


@pytest.mark.parametrize("runs", [2, 5, 10, 14, 20])
def test_equal_values_one_printed_step_apart_are_not_different(runs: int) -> None:
    """Half a step at each end makes the intervals touch; which end was longer by 2e-16 decided."""
    (row,) = az.compare([45e6] * runs, [47.25e6] * runs, unit="ns", resolution=2.25e6).to_dict("records")
    assert row["verdict"] == "inconclusive"


# --- flags


@pytest.mark.costly
@pytest.mark.parametrize("flag", FLAGS)
def test_every_flag_is_said_in_words(flag: str) -> None:
    estimate = az.summarize(runs()).assign(flags=flag)
    assert f"{SHORT[flag]}: {FLAGS[flag]}" in az.say(estimate), "alone, the sentence"
    both = az.say(pd.concat([estimate, estimate]))
    assert both.count(f"({SHORT[flag]})") == 2 and both.count(FLAGS[flag]) == 1, "in rows the word, explained once"


#: Names of what holds flags, and what they hold besides.
HOLDERS = re.compile("flag|code|refus|warning")
NO_FLAGS = {"flags", "run_ids", "n", "file", "unknown"}


def flags_in(code: str) -> Iterator[tuple[int, str]]:
    """Yield the texts that go into a variable, an argument, a column or a result that holds flags by its name."""
    for node in ast.walk(ast.parse(code)):
        holders: list[ast.expr] = []
        values: list[ast.expr | None] = []
        names: list[str] = []
        match node:
            case ast.Assign():
                holders, values = node.targets, [node.value]
            case ast.AugAssign() | ast.AnnAssign():
                holders, values = [node.target], [node.value]
            case ast.keyword(arg=str(name)):
                names, values = [name], [node.value]
            case ast.Call(func=ast.Attribute(attr="append" | "extend" | "add", value=holder)):
                holders, values = [holder], [*node.args]
            case ast.Dict():
                pairs = zip(node.keys, node.values, strict=True)
                names, values = ["flags"], [value for key, value in pairs if ast.unparse(key or value) == "'flags'"]
            case ast.FunctionDef(name=name):
                names, values = [name], [part.value for part in ast.walk(node) if isinstance(part, ast.Return)]
        if any(HOLDERS.search(name) for name in (*names, *map(ast.unparse, holders))):
            for text in (part for value in values if value is not None for part in ast.walk(value)):
                if isinstance(text, ast.Constant) and re.fullmatch(r"[a-z]+(_[a-z]+)*", str(text.value)):
                    yield text.lineno, str(text.value)


def test_every_flag_that_a_statistic_sets_has_its_words() -> None:
    files = [path for path in sorted((ROOT / "azlatency" / "stats").rglob("*.py")) if path.name != "result.py"]
    found = [(path, line, flag) for path in files for line, flag in flags_in(path.read_text("utf-8"))]
    assert len({flag for *_, flag in found} & FLAGS.keys()) > 40, "most of all flags are seen"
    wrong = [f"{Path(path).name}:{line}: {flag}" for path, line, flag in found if flag not in FLAGS.keys() | NO_FLAGS]
    assert not wrong, "add its word and its sentence to azlatency/stats/result.py"
