"""Shell completion."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.places import ROOT


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        (
            "azlatency report --study west",
            {"westeurope-azure-cni", "westeurope-psping", "westeurope-availability-set-vs-zones"},
        ),
        ("azlatency import --study uks", {"uksouth-echo-latency"}),
        ("azlatency compare emul", {"emulated-cloud", "emulated-zones"}),
        ("azlatency parse data/raw/READ", {"data/raw/README.md"}),
        ("azlatency check data/ra", {"data/raw/"}),
        ("azlatency comp", {"compare"}),
    ],
)
def test_studies_files_and_commands_are_completed(words: str, completions: set[str]) -> None:
    """The environment variables are those that the completion of bash sets."""
    count = len(words.split()) - 1
    asked = {"_AZLATENCY_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    program = Path(sys.executable).with_name("azlatency")
    done = subprocess.run([program], cwd=ROOT, env={**os.environ, **asked}, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == completions
