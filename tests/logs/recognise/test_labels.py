"""Labels above logs."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.places import FIXTURES

import azlatency as az

PING = (FIXTURES / "ping" / "busybox-1.35-c4.log").read_text("utf-8")


def headings(tmp_path: Path, text: str, name: str = "notes.txt") -> list[str | None]:
    file = tmp_path / name
    file.write_text(text, "utf-8")
    found = az.parse(file).runs["heading"]
    return found.astype(object).where(found.notna(), None).tolist()


@pytest.mark.costly
@pytest.mark.parametrize(
    ("off", "on"),
    [
        ("**AN off**", "**AN on**"),
        ("**AN off:**", "**AN on:**"),
        ("### AN off", "### AN on"),
        ("# AN off", "# AN on"),
        ("// AN off", "// AN on"),
        ("=== AN off ===", "=== AN on ==="),
        ("---- AN off ----", "---- AN on ----"),
        ("***** AN off *****", "***** AN on *****"),
        ("[AN off]", "[AN on]"),
        ("1. AN off", "2. AN on"),
        ("(a) AN off", "(b) AN on"),
        ("A) AN off", "B) AN on"),
        ('{"AN off": 1}', '{"AN on": 1}'),
        ("一、AN off", "二、AN on"),
        ("[b]AN off[/b]", "[b]AN on[/b]"),
        ("2026-01-31 10:15 AN off", "2026-01-31 10:20 AN on"),
        ("[10:15] AN off", "[10:20] AN on"),
        ("31.01.2026, 10:15 Uhr: AN off", "31.01.2026, 10:20 Uhr: AN on"),
        ("AN off @ 10:15", "AN on @ 10:20"),
        ("[1] 10:15:01 [SUCCESS] AN off", "[2] 10:20:01 [SUCCESS] AN on"),
        ("- AN off", "- AN on"),
        ("> AN off", "> AN on"),
        ("**" + "long " * 100 + "AN off**", "**" + "long " * 100 + "AN on**"),
        (">>> AN off", ">>> AN on"),
        ("AN off:", "AN on:"),
        ("<h3>AN off</h3>", "<h3>AN on</h3>"),
        ("ping with AN off:", "ping with AN on:"),
        ("$ echo AN off\nAN off:", "$ echo AN on\nAN on:"),
        ("[2026-01-03 10:00:00] test with AN off", "[2026-01-03 10:01:00] test with AN on"),
        ("2026-01-03 10:00:00,123 - root - INFO - AN off", "2026-01-03 10:01:00,456 - root - INFO - AN on"),
        ("INFO: AN off", "INFO: AN on"),
        ("TASK [AN off] *******\nok: [vm-a]", "TASK [AN on] *******\nok: [vm-a]"),
        ("AN off\n------", "AN on\n-----"),
        ('"AN off"', '"AN on"'),
        ("| AN off |", "| AN on |"),
        ("✓ AN off (1/2)", "✓ AN on (2/2)"),
        ("AN off, 64 bytes, 8 threads", "AN on, 64 bytes, 8 threads"),
        ("I0131 10:15:00.123456   12345 main.go:42] AN off", "I0131 10:16:00.123456   12345 main.go:42] AN on"),
        ("無効：\nAN off:", "有効：\nAN on:"),
        # ansible and clush run a command on several hosts.
        ("$ ansible vms -a 'ping b'\nAN off | CHANGED | rc=0 >>", "AN on | CHANGED | rc=0 >>"),
        ("a@jump:~$ clush -b ping b\n------\nAN off\n------", "------\nAN on\n------"),
    ],
)
@pytest.mark.parametrize("name", ["notes.txt", "notes.md"])
def test_labels_hold_until_the_next_one(tmp_path: Path, off: str, on: str, name: str) -> None:
    found = headings(tmp_path, f"{off}\n\n{PING}\n{PING}\n\n{on}\n\n{PING}\n{PING}", name)
    assert len(found) == 4 and found[0] == found[1] != found[2] == found[3]
    assert "AN off" in str(found[0]) and "AN on" in str(found[2])


@pytest.mark.parametrize(
    "between",
    [
        "",
        "\n",
        "$ ip address\nvalid_lft forever preferred_lft forever\n",  # the output of a command
        "user@vm-a:~$ cat /etc/issue\nDebian release of the year\n",
        "Mon Oct 31 00:22:53 UTC 2016\n",
        "______END______\n",
        "12 packets captured by filter\n",
        "avg = 3.67\nstd dev = 0.15/4.2%\n",  # what a person computed from the runs above
        "------------------\n",
        "exit code: 0\n",
        "Test took 4.05 seconds\n",
        "::endgroup::\n",
        "</details>\n",
        "\\end{verbatim}\n",
        "$ ping -c 4 10.0.0.1\n",
        "10.0.0.7 is alive\n",
        "vm-beta login: cirros\nPassword:\nLast login: Mon Oct 31 00:22:53 on tty1\n",
        "login as 'cirros' user. default password: 'gocubsgo'. use 'sudo' for root.\nLogin incorrect\n",
    ],
)
def test_what_is_no_label(tmp_path: Path, between: str) -> None:
    assert headings(tmp_path, f"{PING}{between}{PING}{between}{PING}") == [None] * 3


def test_a_sentence_separates_the_runs_above_and_below_it(tmp_path: Path) -> None:
    text = f"# Lab\n\nA text about this laboratory.\n\n{PING}\n{PING}\nThen we changed the governor.\n\n{PING}"
    assert headings(tmp_path, text, "notes.md") == ["Lab", "Lab", "Lab / Then we changed the governor."]


@pytest.mark.parametrize(
    "labels",
    [
        ("direct", "nat", "lb"),
        ("4k", "64k", "1M"),
        ("case a", "case b", "case c"),
        ("vm size D4s_v5", "vm size D8s_v5", "vm size D16s_v5"),
        ("Test with kernel 5.15, 3 January 2026", "Test with kernel 6.8, 3 January 2026", "Test with kernel 6.9"),
        ("Test 1: 1 VM per host", "Test 2: 4 VMs per host", "Test 3: 16 VMs per host"),
        ("1 VM per host", "4 VMs per host", "16 VMs per host"),
        ("2 m cable", "100 m cable", "10 km fibre"),
        ("10.0.0.2 Pinging 10.0.9.3", "10.1.0.2 Pinging 10.0.9.3"),
        ("key authentication", "password authentication"),
        ("10.0.0.2 -> 10.0.9.3", "10.1.0.2 -> 10.0.9.3"),
        ("From 10.0.0.2 → 10.0.9.3 over vpn", "From 10.1.0.2 → 10.0.9.3 over vpn"),
    ],
)
def test_a_word_and_a_text_with_a_number_are_labels(tmp_path: Path, labels: tuple[str, ...]) -> None:
    assert headings(tmp_path, "".join(f"{label}\n{PING}" for label in labels)) == [*labels]


IPERF3 = (FIXTURES / "iperf3" / "3.12-tcp-omit.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("off", "on"),
    [
        (
            "Linux node1 5.15.0-91-generic #1 SMP x86_64 GNU/Linux",
            "Linux node1 6.8.0-31-generic #1 SMP x86_64 GNU/Linux",
        ),
        ("[user@host-a ~]$ iperf3 -c 10.1.0.5", "[user@host-b ~]$ iperf3 -c 10.1.0.5"),
    ],
)
def test_kernels_and_hosts_of_prompts_tell_runs_apart(tmp_path: Path, off: str, on: str) -> None:
    found = headings(tmp_path, f"{off}\n{IPERF3}\n{on}\n{IPERF3}")
    assert None not in found and len(set(found)) == 2


def test_a_setting_at_a_bare_prompt_of_root_is_no_comment(tmp_path: Path) -> None:
    """The addresses in a comment do not count, and those of a route do."""
    found = headings(tmp_path, "".join(f"# ip route replace 10.2.0.0/16 via 10.1.1.{i}\n{PING}\n" for i in (1, 2, 1)))
    assert None not in found and found[0] == found[2] != found[1]


def test_a_text_below_headings_that_only_count_is_a_label_if_all_have_one(tmp_path: Path) -> None:
    sections = [f"## Test {number}\nGRO is {state}.\n```\n{PING}```\n" for number, state in ((1, "off"), (2, "on"))]
    assert headings(tmp_path, "".join(sections), "a.md") == ["Test 1 / GRO is off.", "Test 2 / GRO is on."]
    assert headings(tmp_path, f"{sections[0]}## Test 2\n```\n{PING}```\n", "b.md") == ["Test 1", "Test 2"]


def test_captions_below_all_logs_belong_to_the_logs_above_them(tmp_path: Path) -> None:
    below = "".join(f"```\n{PING}```\n*Figure {n}: {label}*\n\n" for n, label in ((1, "direct"), (2, "VPN")))
    assert headings(tmp_path, below, "notes.md") == ["Figure 1: direct", "Figure 2: VPN"]
    above = "".join(f"*Figure {n}: {label}*\n```\n{PING}```\n\n" for n, label in ((1, "direct"), (2, "VPN")))
    assert headings(tmp_path, above, "notes.md") == ["Figure 1: direct", "Figure 2: VPN"]


@pytest.mark.parametrize(
    ("before", "after"),
    [("^ before the patch", "^ after the patch"), ("↑ before the patch", "↑ after the patch")],
)
def test_a_text_that_points_up_belongs_to_the_log_above_it(tmp_path: Path, before: str, after: str) -> None:
    assert headings(tmp_path, f"{PING}{before}\n{PING}{after}\n") == [before, after]
    assert headings(tmp_path, f"{PING}{before}\n{PING}") == [before, None]


def test_remarks_below_all_logs_belong_to_the_logs_above_them(tmp_path: Path) -> None:
    assert headings(tmp_path, f"{PING}# off\n\n{PING}# on\n") == ["off", "on"]
    assert headings(tmp_path, f"{PING}$ # off\n") == ["off"]
    assert headings(tmp_path, f"{PING}Note: off\n") == ["Note: off"]
    assert headings(tmp_path, f"{PING}That is what we expected.\n") == [None]
    assert headings(tmp_path, f"{PING}and with GRO:\n{PING}The end:\n") == [None, "and with GRO"]


@pytest.mark.parametrize(
    ("between", "label"),
    [
        ("$ sysctl -w a=1\nsysctl: permission denied on key 'a'\n", None),
        ("$ pign x\nbash: pign: command not found\n", None),
        ("$ uname -r\n6.1.0-18-amd64\n", None),
        ("$ docker ps -q\n3f2a9c1bd0e4\n", None),
        ("$ tail -n +1 a_*.txt\n==> a_1.txt <==\n", "a_1.txt"),
        ("$ helm upgrade cilium cilium/cilium\n", "$ helm upgrade cilium cilium/cilium"),
        ("$ sysctl -w a=1 && ping -c 4 x\n", "$ sysctl -w a=1"),
        ("$ ping -f x > /dev/null &\n", "$ ping -f x > /dev/null &"),
    ],
)
def test_a_command_between_two_runs(tmp_path: Path, between: str, label: str | None) -> None:
    assert headings(tmp_path, f"{PING}{between}{PING}") == [None, label]


def test_what_a_command_shows_counts_if_it_showed_something_else_elsewhere(tmp_path: Path) -> None:
    kernels = [f"$ uname -r\n{version}\n{PING}" for version in ("5.15.0-91", "6.8.0-31")]
    assert headings(tmp_path, "".join(kernels)) == ["5.15.0-91", "6.8.0-31"]


@pytest.mark.parametrize(
    ("command", "outputs", "labels"),
    [
        ("cat /proc/cmdline", ["root=/dev/sda ro", "root=/dev/sda ro idle=poll"], None),
        ("cat /sys/class/net/eth0/mtu", ["1500", "9000"], None),
        ("ethtool -k eth0 | grep receive", ["generic-receive-offload: on", "generic-receive-offload: off"], None),
        ("cat /proc/loadavg", ["0.00 0.01 0.05 1/123 4567", "0.10 0.02 0.05 1/125 4599"], [None, None]),
        ("cat /sys/class/net/eth0/mtu", ["1500", "1500"], [None, None]),
    ],
)
def test_a_state_that_differs_tells_runs_apart(
    tmp_path: Path, command: str, outputs: list[str], labels: list[str | None] | None
) -> None:
    runs = [f"[root@n1 ~]# {command}\n{output}\n[root@n1 ~]# ping -c 3 10.0.0.2\n{PING}" for output in outputs]
    assert headings(tmp_path, "".join(runs)) == (labels or outputs)


@pytest.mark.parametrize("prefixes", [("onload ", ""), ("", "onload "), ("./with-vma.sh ", "onload ")])
def test_an_unknown_program_that_starts_the_tool_is_a_label_of_its_own_run(
    tmp_path: Path, prefixes: tuple[str, str]
) -> None:
    commands = [f"{prefix}ping -c 4 10.0.1.6" for prefix in prefixes for _ in range(2)]
    labels = [None if command.startswith("ping") else f"$ {command}" for command in commands]
    assert headings(tmp_path, "\n".join(f"$ {command}\n{PING}" for command in commands)) == labels


def test_a_text_in_parentheses_is_a_label(tmp_path: Path) -> None:
    text = f"(before the patch)\n{PING}(after the patch)\n{PING}"
    assert headings(tmp_path, text) == ["before the patch", "after the patch"]


def test_a_heading_ends_the_label_above_it(tmp_path: Path) -> None:
    text = f"# A\n\n**off**\n\n{PING}\n\n# B\n\n{PING}"
    assert headings(tmp_path, text, "notes.md") == ["A / off", "B"]


@pytest.mark.parametrize(
    "above",
    ["user@vm1:~$ uname -r\n{}\nuser@vm1:~$ ping 10.0.0.2\n", "$ uname -a\nLinux vm1 {} x86_64\n", "kernel: {}\n"],
)
def test_the_kernel_above_the_only_run_of_a_file_is_its_label(tmp_path: Path, above: str) -> None:
    found = [headings(tmp_path, above.format(kernel) + PING) for kernel in ("5.4.0-42-generic", "6.1.0-9-amd64")]
    assert [kernel in str(heading) for kernel, (heading,) in zip(("5.4.0-42", "6.1.0-9"), found, strict=True)] == [
        True
    ] * 2


def test_a_long_label_takes_no_time(tmp_path: Path) -> None:
    label = "=" * 30 + " x" * 50_000
    assert len(headings(tmp_path, f"{label}\n{PING}")) == 1


def test_paragraphs_of_the_output_of_a_command_are_no_labels(tmp_path: Path) -> None:
    """What ifconfig prints about a second interface stands below a blank line; a note below a blank line is a label."""
    ifconfig = (
        "^C[root@vm1 /]# ifconfig\neth0: flags=4163<UP,BROADCAST>  mtu 1500\n        inet 10.0.0.4  netmask 255.0.0.0\n"
        "        ether 76:6a:22:18:66:7e  txqueuelen 1000  (Ethernet)\n\n"
        "lo: flags=73<UP,LOOPBACK,RUNNING>  mtu 65536\n        inet 127.0.0.1  netmask 255.0.0.0\n"
        "        loop  txqueuelen 1000  (Local Loopback)\n\n"
    )
    again = PING.replace("time=", "time=1")
    assert headings(tmp_path, f"{PING}{ifconfig}[root@vm1 /]# ping\n{again}") == [None, None]
    assert headings(tmp_path, f"{PING}{ifconfig}With a load:\n    of 4 clients\n{again}") == [
        None,
        "With a load / of 4 clients",
    ]


@pytest.mark.parametrize("log", ["iperf3/3.12-udp.txt", "ntttcp/1.4.0-sender.txt", "lagscope/1.0.1-n500.log"])
@pytest.mark.parametrize("ruler", ["-" * 20, "-" * 59, "=" * 40])
@pytest.mark.parametrize("banner", ["{ruler}\n{label}\n{ruler}\n", "\n{label}\n{ruler}\n\n"])
def test_rulers_as_some_tools_print_them_hide_no_banner(tmp_path: Path, log: str, ruler: str, banner: str) -> None:
    text = (FIXTURES / log).read_text("utf-8").rstrip() + "\n"
    labelled = "".join(banner.format(label=label, ruler=ruler) + text for label in ("BBR", "CUBIC"))
    assert headings(tmp_path, labelled) == ["BBR", "CUBIC"]


def test_what_ends_each_run_is_no_section_but_a_section_without_a_run_is_one(tmp_path: Path) -> None:
    ended = "".join(f"Run {number}...\n{PING}Run {number}... OK\n" for number in (1, 2, 3))
    assert headings(tmp_path, ended) == ["Run 1", "Run 2", "Run 3"]
    names = (("MTU 1500", "MTU 9000", "MTU 4000"), ("before", "tuning done", "end"), ("hops", "End-to-end", "end"))
    for one, other, last in names:
        runs = f"-- run 1 --\n{PING}-- run 2 --\n{PING}"
        found = headings(tmp_path, f"== {one} ==\n{runs}== {other} ==\n{runs}== {last} ==\n")
        assert [str(each).split(" / ")[0] for each in found] == [one] * 2 + [other] * 2


def test_letters_drawn_over_several_lines_are_a_label(tmp_path: Path) -> None:
    one = "    _\n   / \\\n  / _ \\\n / ___ \\\n/_/   \\_\\\n"
    other = " ____\n| __ )\n|  _ \\\n| |_) |\n|____/\n"
    found = headings(tmp_path, f"{one}{PING}{PING}{other}{PING}")
    assert found[0] == found[1] != found[2] and str(found[0]).startswith("ASCII art ")


def test_all_lines_of_a_block_are_labels(tmp_path: Path) -> None:
    def block(kernel: str) -> str:
        return f"kernel: {kernel}\nMTU: 1500\nGRO: on\nrun: 1\n{PING}\n"

    found = headings(tmp_path, block("5.15") + block("6.8"))
    assert found == [f"kernel: {kernel} / MTU: 1500 / GRO: on / run: 1" for kernel in ("5.15", "6.8")]
    # A shorter block replaces the last lines of the one above it.
    assert (
        headings(tmp_path, f"{block('5.15')}GRO: off\nrun: 1\n{PING}")[1]
        == "kernel: 5.15 / MTU: 1500 / GRO: off / run: 1"
    )


def test_a_text_above_several_runs_is_no_introduction(tmp_path: Path) -> None:
    text = "".join(f"Repeating all tests (iteration {number})\nStart of the test\n{PING}" for number in (1, 2))
    assert [heading.count("iteration") for heading in headings(tmp_path, text) if heading] == [1, 1]


def test_times_alone_are_no_labels(tmp_path: Path) -> None:
    assert (
        headings(tmp_path, "".join(f"{hour}:15 {half}\n{PING}" for hour, half in ((9, "AM"), (2, "PM")))) == [None] * 2
    )


@pytest.mark.parametrize("prompt", ["$", "user@vm:~$"])
def test_a_command_says_what_tells_apart_the_runs_that_it_printed(tmp_path: Path, prompt: str) -> None:
    loop = f"{prompt} for d in 0 10; do tc qdisc change dev eth0 root netem delay ${{d}}ms; ping -c 4 a; done"
    alone = f"{prompt} ping -c 4 192.0.2.1\n{PING}"
    assert headings(tmp_path, f"{loop}\n{PING}{PING}{alone}") == ["d=0", "d=10", None]
    typed = loop.replace("; do", "\n> do\n>").replace("; done", "\n> done")
    assert headings(tmp_path, f"{typed}\n{PING}{PING}{alone}") == ["d=0", "d=10", None]
    counting = f"{prompt} for i in 1 2; do ping -c 4 a; done"
    assert headings(tmp_path, f"{counting}\n{PING}{PING}{alone}") == [None] * 3
    files = (f"{prompt} cat {name}.log\n{PING}" for name in ("off", "on"))
    assert headings(tmp_path, "".join(files) + alone) == ["off.log", "on.log", None]
    assert headings(tmp_path, f"{prompt} cat off.log\n") == []


@pytest.mark.parametrize("banner", ["[{}]", "--- {} ---", "======== {} ========", "{}:"])
@pytest.mark.parametrize("name", ["qperf", "qperf latency"])
def test_a_banner_that_names_a_tool_leaves_the_one_above_it(tmp_path: Path, banner: str, name: str) -> None:
    """Each pair of zones has a ping and a qperf: that of qperf must not lose the pair."""
    qperf = "tcp_lat:\n    latency  =  42.4 us\n"
    sections = (
        f"======== az1 -> {zone} ========\n{banner.format('ping')}\n{PING}{banner.format(name)}\n{qperf}"
        for zone in ("az2", "az3", "az2")
    )
    found = headings(tmp_path, "".join(sections))
    assert [heading.split(" / ")[0] for heading in found if heading] == [
        f"az1 -> {zone}" for zone in ("az2", "az2", "az3", "az3", "az2", "az2")
    ]
    assert found[1] == found[5] != found[3]


@pytest.mark.parametrize("banner", ["--- ping ---", "--- ping az1 to az2 ---"])
def test_a_banner_about_ping_is_no_ping(tmp_path: Path, banner: str) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(f"{banner}\n{PING}", "utf-8")
    assert az.parse(file).runs["status"].tolist() == ["complete"]
