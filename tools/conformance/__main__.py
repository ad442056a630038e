"""Compare every log of the corpora with its expected values; print a table; exit 1 if a difference is not explained.

    python tools/conformance [FOLDER] [--only TOOL]

FOLDER contains `generated`, `public`, `emulated` and `loopback`. The default is ../shared/corpus next to the
project; if it does not exist, nothing is compared.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from azlatency.logs.parse import parse_source
from azlatency.logs.source.decode import SourceError
from azlatency.logs.source.expand import expand
from azlatency.logs.tables import Logs
from conformance import naive
from conformance.core import Case
from conformance.tools import MAPPINGS

ROOT = Path(__file__).parents[2]
CORPORA = ("generated", "public", "emulated", "loopback")
EXCEPTIONS = Path(__file__).with_name("exceptions.toml")
NO_LOGS = (".md", ".tb", ".stderr")
GOAL = 0.99


@dataclass
class Tally:
    """Counts of one tool and dialect."""

    files: int = 0
    values: int = 0
    equal: int = 0
    missing: int = 0
    wrong: int = 0
    excepted: int = 0
    untold: int = 0
    unknown: int = 0


@dataclass
class Findings:
    """Results of all files."""

    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    unexplained: int = 0
    seen: set[str] = field(default_factory=set)


def main() -> int:
    """Run the comparison and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT.parent / "shared" / "corpus")
    parser.add_argument("--only", help="compare this tool only (name of its folder in the corpora)")
    options = parser.parse_args()
    if not options.folder.is_dir():
        print(f"{options.folder}: no corpus found; nothing was compared")
        return 0
    exceptions = tomllib.loads(EXCEPTIONS.read_text("utf-8"))
    findings = Findings()
    begin = time.perf_counter()
    for name, path, companion in logs(options.folder):
        tool = name.split("/")[1]
        if options.only in (None, tool):
            compare_log(name, path, companion, tool, exceptions, findings)
    return report(findings, exceptions, time.perf_counter() - begin, everything=options.only is None)


def logs(folder: Path) -> Iterator[tuple[str, Path, Path | None]]:
    """Yield every log with its name in the corpora and the file of its expected values, if there is one."""
    for corpus in CORPORA:
        for path in sorted(entry for entry in (folder / corpus).rglob("*") if entry.is_file()):
            name = path.relative_to(folder).as_posix()
            beside = (path.with_name(path.stem + ".expected.json"), path.with_suffix(".json"))
            companion = next((file for file in beside if file.exists() and file != path), None)
            if path.name in ("manifest.csv", "truth.json") or path.suffix in NO_LOGS:
                continue
            if path.name.endswith((".expected.json", ".peer.json")):
                continue
            if corpus in ("emulated", "loopback"):
                companion = None
            elif companion is None and path.suffix == ".json":
                continue  # the expected values of a log
            yield name, path, companion


def compare_log(
    name: str, path: Path, companion: Path | None, tool: str, exceptions: dict[str, dict[str, str]], findings: Findings
) -> None:
    """Read one log, compare it, and count the results."""
    tables = read(path)
    document = json.loads(companion.read_text("utf-8")) if companion else {}
    case = Case(path, name, document, tables)
    try:
        if companion is not None and "expected" in document:
            MAPPINGS[tool](case)
        if not case.checks:
            naive.compare(case)
    except Exception as error:  # a mapping that fails on a log is a finding
        findings.lines.append(f"{name}: mapping failed: {error!r}")
        findings.unexplained += 1
    first = case.runs[0] if case.runs else {}
    version = re.match(r"[\d.]+\d", str(first.get("tool_version") or ""))
    dialect = first.get("dialect") or (version[0] if version else "unknown" if first else "not recognised")
    tool = first.get("tool", tool)
    tally = findings.tallies.setdefault((tool, dialect), Tally())
    tally.files += 1
    excused: dict[str, str] = {}
    for pattern, reasons in exceptions.items():
        excused |= reasons if fnmatch(name, pattern) else {}
    _lines(case, tally, findings, excused)
    _values(case, tally, findings, excused)


def read(path: Path) -> Logs:
    """Read one log."""
    tables = Logs()
    for source in expand(path):
        if not isinstance(source, SourceError):
            tables.extend(parse_source(source))
    return tables


def _lines(case: Case, tally: Tally, findings: Findings, excused: dict[str, str]) -> None:
    for row in case.tables.rows["sources"]:
        kinds = ("data", "known", "blank", "prose", "unknown")
        if row["lines"] != sum(row[f"lines_{kind}"] for kind in kinds):
            findings.lines.append(f"{case.name}: lines do not add up")
            findings.unexplained += 1
        unknown = row["lines_unknown"]
        tally.unknown += unknown
        if not unknown:
            continue
        first = next((e for e in case.tables.rows["events"] if e["code"] == "unknown_line"), None)
        shown = f"{case.name}:{first['line'] if first else 1}: {unknown} unknown lines"
        findings.seen.add(f"{case.name} unknown")
        findings.lines.append(f"{shown}: {excused.get('unknown') or 'NOT EXPLAINED'}")
        findings.unexplained += "unknown" not in excused


def _values(case: Case, tally: Tally, findings: Findings, excused: dict[str, str]) -> None:
    for check in case.checks:
        tally.values += 1
        verdict = check.verdict
        if verdict == "equal":
            tally.equal += 1
            continue
        reason = _reason(check.key, excused)
        if reason is not None:
            findings.seen.add(f"{case.name} {reason}")
            tally.excepted += 1
        elif verdict == "missing":
            tally.missing += 1
        else:
            tally.wrong += 1
        found = f", found {check.found[:4]}" if check.found else ""
        because = excused[reason] if reason is not None else "NOT EXPLAINED"
        findings.lines.append(f"{case.name}: {check.key} {verdict}: expected {check.expected}{found}: {because}")
        findings.unexplained += reason is None and verdict == "wrong"
    untold = case.unused()
    tally.untold += len(untold)
    findings.lines += [f"{case.name}: {key}: no mapping" for key in untold]


def _reason(key: str, excused: dict[str, str]) -> str | None:
    """Return the exception that covers a key: the key or one of its parents."""
    return next((name for name in excused if key == name or key.startswith(name + ".")), None)


def report(findings: Findings, exceptions: dict[str, dict[str, str]], seconds: float, *, everything: bool) -> int:
    """Print the list and the table, and return the exit code."""
    for line in findings.lines:
        print(line)
    if everything:
        for name, reasons in exceptions.items():
            for key in reasons:
                if not any(fnmatch(seen, f"{name} {key}") for seen in findings.seen):
                    print(f"{name}: {key}: this exception no longer occurs; remove it")
                    findings.unexplained += 1
    columns = ("files", "values", "equal", "excepted", "missing", "wrong", "untold", "unknown")
    print(f"\n{'tool':10} {'dialect':34} " + " ".join(f"{column:>8}" for column in columns))
    total = Tally()
    for (tool, dialect), tally in sorted(findings.tallies.items()):
        numbers = [getattr(tally, column) for column in columns]
        print(f"{tool:10} {dialect:34} " + " ".join(f"{number:8}" for number in numbers))
        for column in columns:
            setattr(total, column, getattr(total, column) + getattr(tally, column))
    print(f"{'all':10} {'':34} " + " ".join(f"{getattr(total, column):8}" for column in columns))
    present = total.equal / max(total.values + total.untold, 1)
    explained = f"{total.excepted} explained exceptions"
    print(
        f"\n{present:.2%} of the expected values present and equal, {total.wrong} wrong, {explained}, {seconds:.0f} s"
    )
    return int(findings.unexplained > 0 or present < GOAL)


if __name__ == "__main__":
    raise SystemExit(main())
