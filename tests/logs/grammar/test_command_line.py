"""The options of a command line, and the settings that they state."""

from __future__ import annotations

import pytest

from azlatency.logs.grammar.command_line import (
    changes_settings,
    describe_settings,
    option,
    settings_of,
    settings_text,
    size_of,
    told_by,
    words_of,
)
from azlatency.logs.parsers import find_parser


@pytest.mark.parametrize(
    ("command", "value"),
    [("iperf3 -c a -t 10", "10"), ("iperf3 -t10 -c a", "10"), ("iperf3 --time=10", "10"), ("iperf3 --time 10", "10"),
     ("iperf3 -c a", None), ("iperf3 -c a -t", None)],
)  # fmt: skip
def test_an_option_in_its_spellings(command: str, value: str | None) -> None:
    assert option(words_of(command), "-t", "--time") == value


@pytest.mark.parametrize(
    ("command", "value"),
    [("iperf3 -c a -b100M", "100M"), ("iperf3 -c a -b2.5G/10", "2.5G/10"), ("iperf3 -c a -b.5m", ".5m"),
     ("iperf3 -bogus", None), ("iperf3 -ub100M", None)],
)  # fmt: skip
def test_a_number_glued_to_an_option_is_its_value(command: str, value: str | None) -> None:
    assert option(words_of(command), "-b", "--bitrate") == value


@pytest.mark.parametrize(
    ("command", "name", "value"),
    [("iperf3 -ub100M", "-b", "100M"), ("iperf3 -uVb 100M -t 10", "-b", "100M"), ("iperf3 -c a -Cbbr", "-C", "bbr"),
     ("iperf3 -Bb100M", "-b", None), ("iperf3 -u", "-b", None), ("iperf3 -ub", "-b", None)],
)  # fmt: skip
def test_switches_before_an_option_in_one_word_are_read_as_getopt_does(
    command: str, name: str, value: str | None
) -> None:
    assert option(words_of(command), name, flags="uV") == value


def test_a_switch_among_others_in_one_word_is_a_setting() -> None:
    row = {"command": "ping -qA -c10 a"}
    describe_settings(row, ("ping",), {"requested_count": ("-c",)}, {"-A": ("-A",), "-f": ("-f",)}, "Aqf")
    assert (row["settings"], row["requested_count"]) == ("-A", 10)


@pytest.mark.parametrize(
    ("tool", "command", "settings"),
    [("iperf3", "iperf3 -c 10.0.0.5 -b100M -w256K -l64K -M1400 -Cbbr",
      "MSS 1400; bitrate 100M; congestion bbr; length 64K; window 256K"),
     ("iperf2", "iperf -c 10.0.0.5 -eub100m -l1.5K -Zreno", "congestion reno; length 1.5K; rate 100m"),
     ("ping", "ping -i0.2 -Q0x10 10.0.0.5", "-Q 0x10; -i 0.2"), ("ping", "sudo ping -nqi.2 10.0.0.5", "-i .2"),
     ("fping", "fping -qp20 -b56 10.0.0.5", "period 20; size 56"), ("mtr", "mtr -rwi0.5 10.0.0.5", "interval 0.5"),
     ("ntttcp", "ntttcp -s10.0.0.5 -b64K", "buffer 64K"), ("sockperf", "sockperf ul -b10", "burst 10"),
     ("qperf", "qperf -mt 1500 10.0.0.5 tcp_bw", "mtu_size 1500")],
)  # fmt: skip
def test_the_settings_of_a_tool_do_not_depend_on_how_its_options_are_written(
    tool: str, command: str, settings: str
) -> None:
    parser, row = find_parser(tool), {"command": command}
    describe_settings(row, parser.commands, parser.options, parser.switches, parser.flags, parser.neutral)
    assert row["settings"] == settings


@pytest.mark.parametrize(
    ("tool", "command", "settings"),
    [("netperf", "netperf -H 10.0.0.5 -t TCP_RR -l 10 -T 0,0 -- -r 1,1 -D", "-D; -T 0,0"),
     ("iperf3", "iperf3 -c 10.0.0.5 -t10 -Jfm -A 0,2 -B 10.0.0.4", "-A 0,2"),
     ("sockperf", "sockperf pp -i 10.0.0.5 --tcp -t 10 --tcp-avoid-nodelay --pps=9", "--pps 9; --tcp-avoid-nodelay"),
     ("qperf", "qperf -vvs -t 10 -lca 4 10.0.0.5 tcp_lat", "-lca 4"), ("ping", "ping -Dn -c 5 -M do 10.0.0.5", "-M do"),
     ("ping", "ping -c 3 $(kubectl get pod -o jsonpath={.status.podIP})", ""),
     ("ping", "ping -c 5 -i -0.2 10.0.0.5", "-i -0.2"), ("wrk", "wrk --unknown 5 http://a", "")],
)  # fmt: skip
def test_an_option_that_no_parser_knows_is_a_setting(tool: str, command: str, settings: str) -> None:
    parser, row = find_parser(tool), {"command": command}
    describe_settings(row, parser.commands, parser.options, parser.switches, parser.flags, parser.neutral)
    assert row["settings"] == settings


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


@pytest.mark.parametrize(
    ("command", "changes"),
    [
        ("ls -l | head -3", False),
        ("date; sleep 60", False),
        ("cat /proc/cpuinfo > cpu.txt", False),
        ("mv result.txt run_1.txt", False),
        ("ip addr show eth0", False),
        ("ethtool -k eth0", False),
        ("sysctl net.core.busy_read", False),
        ("sudo su -", False),
        ("sysctl -w net.core.busy_read=50", True),
        ("ethtool -K eth0 tso off", True),
        ("echo 50 > /proc/sys/net/core/busy_read", True),
        ("echo performance | sudo tee /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", True),
        ("vi /etc/sysctl.conf", True),
        ("bash set_governor.sh performance", True),
        ("cd scripts && ./set_governor.sh", True),
        ("export LD_PRELOAD=libvma.so", True),
        ("curl -s http://host/state", False),
        ("scp ping.log laptop:", False),
        ("tmux attach -t lab", False),
        ("curl -X PUT http://host/limit/10", True),
        ("curl -fsSL https://host/install.sh | sudo sh", True),
        ("mv fast.conf app.conf", True),
        ("tmux send-keys -t srv './server --fast' Enter", True),
        ("kill 1234", True),
        ("CC=bbr", True),
    ],
)
def test_commands_that_may_change_a_setting(command: str, changes: bool) -> None:
    assert changes_settings(command) is changes


@pytest.mark.parametrize(
    ("command", "runs", "told"),
    [
        ("for m in 64 1400; do sockperf pp -i a -m $m; done", 2, ["m=64", "m=1400"]),
        (
            "for c in cubic bbr; do for i in 1 2; do iperf3 -c a -C ${c}; done; done",
            4,
            [*["c=cubic"] * 2, *["c=bbr"] * 2],
        ),
        ("for d in 0 10; do sudo tc qdisc change dev eth0 root netem delay ${d}ms; ping a; done", 2, ["d=0", "d=10"]),
        ("for q in {1..3}; do taskset -c $q ping a; done", 3, ["q=1", "q=2", "q=3"]),
        ("for q in $CORES; do taskset -c $q ping a; done", 2, ["q 1", "q 2"]),
        ("for m in 64 256 1400; do sockperf pp -i a -m $m; done", 2, ["m 1", "m 2"]),  # one of three is lost
        ("for i in 1 2; do echo run $i; ping a | tee out_$i.log; sleep 5; done", 2, []),
        ("for i in 1 2; do iperf3 -c a --logfile $i.log; done", 2, []),
        ("ping a | tee cubic_1.log", 1, ["cubic_1.log"]),
        ("cat before.log after.log", 2, ["before.log", "after.log"]),
        ("tail -n 5 before.log", 1, ["before.log"]),
        ("for a in {1..9999}; do for b in {1..9999}; do ping -I $a$b c; done; done", 2, ["a, b 1", "a, b 2"]),
        ("for m in 64 1400; do sockperf pp -i a -m $m; done", 0, []),
        ("ping a  # GRO off", 2, ["GRO off", "GRO off"]),
        ("ping a", 1, []),
        ("for ((c=0; c<2; c++)); do taskset -c $c ping a; done", 2, ["c 1", "c 2"]),
        ("while IFS= read -r cc; do iperf3 -c a -C $cc; done < list", 2, ["cc 1", "cc 2"]),
        ("echo 0 10 | xargs -n1 ./delayed_ping.sh", 2, ["value=0", "value=10"]),
        ("echo 1 2 | xargs -I{} ping -c 5 a", 2, []),
        ("foreach ($s in 'on','off') { Set-NetAdapterRsc -Enabled $s; ping a }", 2, ["s 1", "s 2"]),
        ("1..2 | ForEach-Object { ping a }", 2, []),
        ("for %i in (a,b) do ping %i", 2, ["i 1", "i 2"]),
    ],
)
def test_what_a_command_tells_of_each_run_that_it_printed(command: str, runs: int, told: list[str]) -> None:
    assert told_by(command, runs) == told


@pytest.mark.parametrize(
    ("command", "client", "settings"),
    [
        ("sudo taskset -c 0 numactl -m 0 ping a", None, "numactl -m 0; taskset -c 0"),
        ("LD_PRELOAD=/usr/lib/libvma.so LANG=C ping a", "vm", "LD_PRELOAD /usr/lib/libvma.so"),
        ("ping -I wg0 a", "vm", "-I wg0"),
        ("ip netns exec h1 chrt -f 50 ping a", "vm", "chrt -f 50; ip netns exec h1"),
        ("ip netns exec h1 ping a", "h1", ""),  # the name space is the client
        ("ip netns exec h1 ping a", "10.0.0.4", ""),  # its address is the client
        ("ssh -p 22 vm2 nice -n -5 ping a", "vm2", "nice -n -5"),
        ("for i in 1 2 3; do ping a", "vm", ""),
        ("for((i=0; i<5; i++)); do taskset -c 2 ping a", "vm", "taskset -c 2"),
        ("sysctl -w a.b=5 && ping a", "vm", "after sysctl -w a.b=5"),
        ("docker run --rm --net=host ping a", "vm", "docker run --rm --net=host"),
    ],
)
def test_what_stands_before_a_tool_is_a_setting(command: str, client: str | None, settings: str) -> None:
    row = {"command": command, "client": client}
    parser = find_parser("ping")
    describe_settings(row, parser.commands, parser.options, parser.switches, parser.flags, parser.neutral)
    assert row["settings"] == settings
