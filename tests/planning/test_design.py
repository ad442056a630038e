"""Hosts, order of measurements and number of rounds of `azlatency plan`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers.command import Completed, azlatency

from azlatency.planning.design import (
    PlanError,
    Rounds,
    make_host,
    parse_host,
    practical,
    read_hosts,
    rounds_from_pilot,
    rounds_from_spread,
    schedule,
)

TWO = ["--host", "1=a@10.0.0.1", "--host", "2=b@10.0.0.2"]


def hosts(*texts: str) -> list:
    parsed: list = []
    for text in texts or ("1=vm-a@10.0.0.4", "2=vm-b@10.0.1.4", "3=vm-c@10.0.2.4"):
        parsed.append(parse_host(text, parsed))
    return parsed


def plan(*arguments: object, cwd: Path) -> Completed:
    return azlatency("plan", *arguments, cwd=cwd)


def test_every_round_measures_every_pair_once_in_both_directions() -> None:
    order = schedule(4, ["ping", "sockperf"], 5, seed=3)
    assert len(order) == 5 * 6 * 2 * 2
    for first, second in zip(order[::2], order[1::2], strict=True):
        assert (first.round, first.client, first.server, first.tool) == (
            second.round,
            second.server,
            second.client,
            second.tool,
        )
    for number in range(1, 6):
        measured = [measurement[1:] for measurement in order if measurement.round == number]
        assert len(set(measured)) == len(measured) == 24
    assert order == schedule(4, ["ping", "sockperf"], 5, seed=3) != schedule(4, ["ping", "sockperf"], 5, seed=4)
    rounds = [[measurement[1:] for measurement in order if measurement.round == number] for number in (1, 2)]
    assert rounds[0] != rounds[1], "each round has an order of its own"
    assert {order[at].client < order[at].server for at in range(0, len(order), 2)} == {True, False}


def test_a_plan_says_what_it_cannot_answer(tmp_path: Path) -> None:
    one_each = plan(*TWO, "--tool", "ping", "--rounds", 5, cwd=tmp_path).stderr
    assert one_each.count("not answered by this plan: ") == 3
    assert "zone or machine" in one_each and "needs 6 rounds" in one_each and "within a day" in one_each
    two_each = [word for at in range(4) for word in ("--host", f"{at // 2}=vm-{at}@10.0.0.{at}")]
    spread = plan(*two_each, "--tool", "ping", "--rounds", 7, "--every", 300, cwd=tmp_path)
    assert "not answered" not in spread.stderr and ", about 1,80" in spread.stderr


def test_rounds_from_an_assumed_spread_respect_the_minimum_of_an_exact_test() -> None:
    """Three pairs of zones need seven rounds."""
    rounds = rounds_from_spread(0.1, 0.05, hosts())
    assert 55 < rounds.number < 70 and "assumed run-to-run spread of 10 % (no pilot)" in rounds.reason
    few = rounds_from_spread(0.01, 0.05, hosts())
    assert few.number == 7 and "3 pairs of zones" in few.reason


def test_too_many_rounds_are_advised_against_and_then_refused() -> None:
    def rounds(spread: float) -> Rounds:
        return practical(lambda width: rounds_from_spread(spread, width, hosts()), 0.05)

    assert rounds(0.1) == rounds_from_spread(0.1, 0.05, hosts())
    assert rounds(0.2).number > 100 and "rarely practical: ask for --precision 10% (" in rounds(0.2).reason
    with pytest.raises(PlanError, match=r"^±5 % needs \d,\d{3} rounds; more than 100 .* ask for .* choose --rounds$"):
        rounds(0.9)


def test_rounds_from_a_pilot_need_five_runs(tmp_path: Path, raw: Path) -> None:
    import pandas as pd

    values = [100.0, 104, 98, 101, 97, 103]
    runs = pd.DataFrame({"path": "a → b", "method": "ping", "tool": "ping", "median_ns": values})
    rounds = rounds_from_pilot([runs], 0.02, hosts())
    assert "with a pilot of 6 runs: a → b, ping" in rounds.reason and rounds.number > 7
    with pytest.raises(PlanError, match="measure 5 rounds first"):
        rounds_from_pilot([runs.head(3)], 0.02, hosts())
    arguments = (
        "--host",
        "1=a@10.0.0.1",
        "--host",
        "2=b@10.0.0.2",
        "--tool",
        "ping",
        "--pilot",
        raw / "westeurope-azure-cni",
    )
    result = plan(*arguments, cwd=tmp_path)
    assert result.returncode == 2 and "no path of the pilot has 5 runs" in " ".join(result.stderr.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("vm-a", "write zone=name@address"),
        ("1=vm-a@", "neither an IP address"),
        ("1=vm-a@-oProxyCommand=x", "neither an IP address"),
        ("1=vm-a@10.0.0.1;id", "neither an IP address"),
        ("1=vm-a@fe80::1%eth0;id", "neither an IP address"),
        ("1=-oProxyCommand=x@10.0.0.1", "not starting with a hyphen"),
        ("1=a\nb@10.0.0.1", "printable"),
        ("=a@10.0.0.1", "zone ''"),
    ],
)
def test_unsafe_hosts_are_rejected(text: str, says: str) -> None:
    with pytest.raises(PlanError, match=re.escape(says)):
        parse_host(text)


def test_hosts_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text('[[host]]\nzone = 1\nname = "a"\naddress = "10.0.0.1"\n', "utf-8")
    assert [(host.zone, host.name, host.address) for host in read_hosts(file)] == [("1", "a", "10.0.0.1")]
    for content, says in (
        ("[[host]]\nzone = 1\n", "host 1 is not valid; give zone, name and address"),
        ("[[host]\n", "correct the file"),
    ):
        file.write_text(content, "utf-8")
        with pytest.raises(PlanError, match=re.escape(says)):
            read_hosts(file)
    same = [make_host("1", "a b", "10.0.0.1")]
    assert make_host("1", "a_b", "10.0.0.2", same).slug != same[0].slug, "names of files stay apart"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--host", "1=a@10.0.0.1"], "at least two hosts"),
        (["--host", "1=a@10.0.0.1", "--host", "1=a@10.0.0.2"], "is given twice"),
        ([*TWO, "--tool", "nmap"], "unknown tool 'nmap'"),
        ([*TWO], "at least one of"),
        ([*TWO, "--tool", "ping", "--precision", "x"], "write 5% or 0.05"),
        ([*TWO, "--tool", "ping", "--precision", "0.01%"], "rounds; more than 100 rounds are rarely practical"),
        ([*TWO, "--tool", "ping", "--rounds", "40000"], "more than 50,000 measurements"),
        ([*TWO, "--tool", "ping", "--runner", "ssh {x}"], "{name}, {address}"),
        ([*TWO, "--tool", "ping", "--pilot", "none"], "not a study"),
        ([*TWO, "--tool", "ping", "--base", "true"], "give both --base and --candidate"),
        ([*TWO, "--tool", "latte", "--rounds", "6", "--every", "5"], "are not available with latte"),
    ],
)  # fmt: skip
def test_an_invalid_plan_is_reported_and_writes_no_file(tmp_path: Path, arguments: list[str], says: str) -> None:
    result = plan(*arguments, cwd=tmp_path)
    assert result.returncode in (1, 2)
    assert says in " ".join(result.stderr.replace("│", " ").split())
    assert not list(tmp_path.iterdir())
