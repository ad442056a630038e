"""The options of a command line, and the settings that they state."""

from __future__ import annotations

import pytest

from azlatency.logs.grammar.command_line import describe_settings, option, settings_of, settings_text, size_of, words_of


@pytest.mark.parametrize(
    ("command", "value"),
    [("iperf3 -c a -t 10", "10"), ("iperf3 -t10 -c a", "10"), ("iperf3 --time=10", "10"), ("iperf3 --time 10", "10"),
     ("iperf3 -c a", None), ("iperf3 -c a -t", None)],
)  # fmt: skip
def test_an_option_in_its_spellings(command: str, value: str | None) -> None:
    assert option(words_of(command), "-t", "--time") == value


def test_unbalanced_quotes_are_words() -> None:
    assert words_of("ping 'a b") == ["ping", "'a", "b"]


@pytest.mark.parametrize(
    ("token", "size"),
    [("10", 10), ("10K", 10240), ("10k", 10240), ("2M", 2 << 20), ("1G", 1 << 30), ("x", None), (None, None)],
)
def test_sizes_are_binary(token: str | None, size: int | None) -> None:
    assert size_of(token) == size


def test_iperf2_has_decimal_prefixes_in_lower_case() -> None:
    assert (size_of("10k", lower=1000), size_of("10K", lower=1000)) == (10_000, 10_240)


def test_a_setting_that_the_log_states_wins_over_the_command() -> None:
    row = {"command": "tool -w 64K -n 5 -N", "settings": "window 65536"}
    describe_settings(row, ("iperf3",), {"requested_count": ("-n",), "window": ("-w",)}, {"no-delay": ("-N",)})
    assert (row["settings"], row["requested_count"]) == ("no-delay; window 65536", 5)
    assert settings_of(row["settings"]) == {"no-delay": "", "window": "65536"}


def test_settings_survive_their_text() -> None:
    settings = {"window": "256K", "no-delay": "", "congestion": "bbr"}
    assert settings_of(settings_text(settings)) == settings
