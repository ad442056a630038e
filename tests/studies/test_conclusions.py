from __future__ import annotations

from pathlib import Path

import pytest
from helpers.studies import load

import azlatency as az
from azlatency.logs.parse import LogError
from azlatency.studies.conclusions import conclusions
from azlatency.studies.manifest.manifest import ManifestError, read_manifest

PING = """PING 10.0.0.4 (10.0.0.4) 56(84) bytes of data.

--- 10.0.0.4 ping statistics ---
20 packets transmitted, 20 received, 0% packet loss, time 19235ms
rtt min/avg/max/mdev = 0.718/0.969/2.137/0.299 ms
"""


def study(folder: Path, text: str) -> Path:
    folder = folder / "data" / "raw" / "mine"
    folder.mkdir(parents=True)
    (folder / "a.log").write_text(PING)
    (folder / "study.toml").write_text(f'[study]\nname = "mine"\n[[run]]\nlog = "a.log"\n[[conclusion]]\n{text}')
    return folder


def stated(text: str) -> str:
    return f'said = "It is slow."\nwe_say = "{text}"\nbecause = "of the log"\n'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{a.log rtt_mean}", "969 µs"),
        ("{a.log rtt_max / a.log rtt_min} times", "2.98 times"),
        ("{a.log rtt_max - a.log rtt_min}", "1.4 ms"),
    ],
)
def test_numbers_follow_the_data(text: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study(tmp_path, stated(text))
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path / "data"))
    az.import_study("mine")
    assert conclusions(az.load("mine"))[0].we_say == shown


@pytest.mark.parametrize("text", ["{b.log rtt_mean}", "{a.log p50}", "{a.log rtt_mean / a.log received}"])
def test_a_number_that_does_not_exist_is_named(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study(tmp_path, stated(text))
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path / "data"))
    az.import_study("mine")
    with pytest.raises(LogError, match=r"a\.log|b\.log"):
        conclusions(az.load("mine"))


@pytest.mark.parametrize(
    "text", ['said = "x"\n', 'said = "x"\nwe_say = 3\nbecause = "y"\n', stated("x") + "other = 1\n"]
)
def test_an_incomplete_conclusion_is_refused_with_its_number(text: str, tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"study\.toml:1: .*\[\[conclusion\]\] 1"):
        read_manifest(study(tmp_path, text))


def test_every_conclusion_of_every_study_has_its_numbers() -> None:
    texts = [
        text
        for name in az.list_studies()
        for stated in conclusions(load(name))
        for text in (stated.said, stated.we_say, stated.because)
    ]
    assert len(texts) > 50 and not any("{" in text for text in texts)
