"""Where studies are, and how they may be called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import azlatency as az
from azlatency.studies.store.folders import data_folder

NO_NAMES = ["*", "", ".", "..", ".side.", "a/b", "a\\b", "a\nb", "a\x1b[m", "a\u202eb", "\udcfc", "x" * 101]


@pytest.mark.parametrize("name", NO_NAMES)
def test_names_that_are_not_valid_folder_names(name: str, tmp_path: Path) -> None:
    for call in (az.load, az.import_study):
        with pytest.raises(az.LogError, match="not a name for a study"):
            call(name)


def test_the_data_are_in_the_nearest_folder_that_has_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "project" / "notebooks"
    (tmp_path / "project" / "data" / "raw").mkdir(parents=True)
    inner.mkdir()
    monkeypatch.delenv("AZLATENCY_DATA", raising=False)
    monkeypatch.chdir(inner)
    assert data_folder("processed") == tmp_path / "project" / "data" / "processed"
    monkeypatch.setenv("AZLATENCY_DATA", str(tmp_path / "other"))
    assert data_folder("raw") == tmp_path / "other" / "raw"


def test_shell_completion_loads_no_library_for_data() -> None:
    code = (
        "import sys; from azlatency.cli.completion import complete_study; complete_study('x'); "
        "print(sorted({'numpy', 'pandas', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
