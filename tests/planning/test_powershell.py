"""The PowerShell script of `azlatency plan`: quoting and structure."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from azlatency.logs.schema import FRAMES
from azlatency.planning.design import (
    Plan,
    Rounds,
    make_host,
)
from azlatency.planning.powershell import literal, powershell_script

ROUNDS = Rounds(2, "as requested with --rounds")


HOSTILE = "a'b\"; touch pwned; $(touch pwned) `touch pwned` | & > pwned \u2019; #"


METADATA = "169.254.169.254"


def windows(*names: str) -> str:
    hosts: list = []
    for at, name in enumerate(names or ("win-a", "win-b"), start=1):
        hosts.append(make_host(str(at), name, f"10.0.{at}.4", hosts))
    return powershell_script(Plan(study="mine", hosts=tuple(hosts), tools=("latte", "ntttcp"), rounds=ROUNDS))


def test_powershell_contains_only_addresses_of_hosts_and_the_metadata_service() -> None:
    text = windows()
    assert set(re.findall(r"\b\d{1,3}(?:\.\d{1,3}){3}\b", text)) == {"10.0.1.4", "10.0.2.4", METADATA}
    calls = [line for line in text.splitlines() if line.startswith("Measure-Pair ")]
    assert len(calls) == 2 * 2 * 2 and {line.split()[-1] for line in calls} == {"'latte'", "'ntttcp'"}
    for first, second in zip(calls[::2], calls[1::2], strict=True):
        assert first.split()[2:4] == second.split()[2:4][::-1]


def test_powershell_strings_are_not_expanded() -> None:
    assert literal("a'b\u2019$(x)`\n") == "'a''b\u2019\u2019$(x)`?'"
    text = windows(HOSTILE, "win-b")
    assert f"Name = {literal(HOSTILE)}" in text
    assert text.count(HOSTILE) == 0, "the name stands nowhere unquoted"


#: What opens and closes in PowerShell, outside of strings and comments.
BRACKETS = {")": "(", "]": "[", "}": "{"}


def test_powershell_brackets_and_strings_are_balanced() -> None:
    """No PowerShell here: a reader of its strings, comments and brackets, which finds what was left open."""
    text = windows(HOSTILE, "win-b")
    plain = re.sub(r"<#.*?#>", "", text, flags=re.DOTALL)
    single = "'(?:[^'\u2018\u2019]|''|\u2018\u2018|\u2019\u2019)*'"
    plain = re.sub(rf"{single}|\"(?:[^\"`]|`.|\"\")*\"|#[^\n]*", "''", plain)
    open_: list[str] = []
    for char in plain:
        if char in BRACKETS.values():
            open_.append(char)
        elif char in BRACKETS:
            assert open_ and open_.pop() == BRACKETS[char]
    assert not open_
    defined = set(re.findall(r"^\s*function ([A-Za-z-]+)", text, re.MULTILINE))
    assert {"Measure-Pair", "Get-Fact", "Add-Row", "Get-Arguments", "ConvertTo-FileNamePart"} <= defined
    facts = set(re.findall(r"Add-Fact '([a-z_]+)'", text))
    assert facts and facts <= {column.name for column in FRAMES["hosts"]}


@pytest.mark.skipif(shutil.which("pwsh") is None, reason="no PowerShell")
def test_powershell_can_parse_the_script(tmp_path: Path) -> None:
    file = tmp_path / "measure.ps1"
    file.write_text(windows(HOSTILE, "win-b"), "utf-8-sig")
    code = (
        "$e = $null; [void][System.Management.Automation.Language.Parser]::ParseFile("
        f"{literal(str(file))}, [ref]$null, [ref]$e); $e | ForEach-Object {{ $_.Message }}"
    )
    done = subprocess.run(["pwsh", "-NoProfile", "-Command", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""
