"""Shell completion."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command import azlatency
from helpers.places import ROOT


def asked_for(words: str) -> dict[str, str]:
    count = len(words.split()) - 1
    return {"_AZLATENCY_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(count)}


def test_the_installed_command_completes() -> None:
    program, asked = Path(sys.executable).with_name("azlatency"), asked_for("azlatency comp")
    done = subprocess.run([program], cwd=ROOT, env={**os.environ, **asked}, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["compare"]


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        (
            "azlatency report --study west",
            {"westeurope-azure-cni", "westeurope-psping", "westeurope-availability-set-vs-zones"},
        ),
        ("azlatency import --study uks", {"uksouth-echo-latency"}),
        ("azlatency compare emul", {"emulated-cloud", "emulated-nights", "emulated-zones"}),
        ("azlatency history emulated-n", {"emulated-nights"}),
        ("azlatency export emulated-n", {"emulated-nights"}),
        ("azlatency parse data/raw/READ", {"data/raw/README.md"}),
        ("azlatency check data/ra", {"data/raw/"}),
    ],
)
def test_studies_files_and_commands_are_completed(
    words: str, completions: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment variables are those that the completion of bash sets."""
    # The name of the command is that of the program, and not of pytest.
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None, raising=False)
    done = azlatency(cwd=ROOT, **asked_for(words))
    assert done.returncode == 0 and set(done.stdout.split()) == completions
