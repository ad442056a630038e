"""`azlatency export`: the name of the target chooses the format."""

from __future__ import annotations

from pathlib import Path

from helpers.command import azlatency
from helpers.nights import values, write_nights


def test_a_folder_of_logs_is_exported_by_the_name_of_the_target(tmp_path: Path) -> None:
    write_nights(tmp_path / "nights", {"az1-az2": values(450, 3)})
    result = azlatency("export", "nights", "--to", "out/nights.lp", cwd=tmp_path)
    assert result.returncode == 0 and result.stdout.endswith("points: 3 lines\n")
    refused = azlatency("export", "nights", "--to", "nights.duckdb", cwd=tmp_path)
    assert refused.returncode == 2 and "run azlatency import first" in refused.stderr
    unknown = azlatency("export", "nothing", "--to", "x.lp", cwd=tmp_path)
    assert unknown.returncode == 1 and len(unknown.stderr.splitlines()) == 1
