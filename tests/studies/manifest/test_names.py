"""Words in which names differ."""

from __future__ import annotations

import pytest

from azlatency.studies.manifest.names import differing_pair, differing_words


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        (["x/ipsec_ping", "x/openvpn_ping", "x/wireguard_ping"], ["ipsec", "openvpn", "wireguard"]),
        (["18.12.2025/a_1.txt", "26.02.2026-optimized/a_1.txt"], ["", "optimized"]),
        (["results/docker.log", "results/linux.log"], ["docker", "linux"]),
        (["before/1.log", "after/1.log"], ["before", "after"]),
        (["lab2/ft/ft_routing_ping_102.txt", "lab2/sp/sp_routing_ping_102.txt"], ["ft", "sp"]),
        (["d.zip!ipv4/x.log", "d.zip!ipv6/x.log"], ["ipv4", "ipv6"]),
        (["C:\\logs\\plain\\a.txt", "C:\\logs\\vpn\\a.txt"], ["plain", "vpn"]),
        (["bw_proxy_target_direct.res", "bw_host_proxy_forwarding.res"], ["direct", "forwarding"]),
        (["größe/a.log", "klein/a.log"], ["größe", "klein"]),
    ],
)
def test_words_that_differ(paths: list[str], words: list[str]) -> None:
    assert [" ".join(differing_words(paths)[path]) for path in paths] == words


@pytest.mark.parametrize(
    "paths",
    [
        ["run1_ping.txt", "run2_ping.txt"],
        ["ping.log", "ping_rep2.log"],
        ["2026-01-31/x.log", "2026-02-01/x.log"],
        ["time-13-10-2021_01-56/x.res", "time-14-10-2021_13-02/x.res"],
        ["x_20260131T101500Z.log", "x_20260131T111500Z.log"],
        ["x-31-jan.log", "x-01-feb.log"],
        ["az1-az2/x.log", "zone_b_to_zone_c/x.log"],
        ["us-east4-a/x.log", "europe-west2/x.log", "ap-south-1/x.log", "westeurope/x.log"],
        ["10.0.0.4_to_10.0.0.5.log", "10.0.0.5_to_10.0.0.4.log"],
        ["x.log", "x.txt.gz"],
        ["x-7f3a9c1e/1.log", "x-0b44d2aa/1.log"],
        ["client_ping.log", "server_ping.log"],
        ["one.log"],
        ["host-lon04_ibm/target-us-west-2_aws/1.res", "host-lon02_ibm/target-ap-south-1_gcp/2.res"],
        [],
        ["٣/x.log", "٤/x.log"],
    ],
)
def test_counters_times_and_known_fields_are_no_words(paths: list[str]) -> None:
    assert differing_words(paths) == {}


def test_a_pair_that_differs() -> None:
    assert differing_pair(["ipsec_1.log", "ipsec_2.log", "openvpn_1.log"]) == ("ipsec_1.log", "openvpn_1.log")
    assert differing_pair(["ipsec_1.log", "ipsec_2.log"]) is differing_pair([]) is None


def test_long_names_take_no_time() -> None:
    assert differing_words(["a-1" * 50_000, "1.1" * 50_000, "z_" * 50_000]) == {}
