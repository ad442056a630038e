"""Copying logs into a study, and undoing it."""

from __future__ import annotations

from pathlib import Path

import pytest

from azlatency.logs.parse import LogError
from azlatency.studies.ingest import copy_sources


def test_the_content_of_a_folder_is_copied_and_known_files_are_counted(tmp_path: Path) -> None:
    source, target = tmp_path / "dump", tmp_path / "study"
    source.mkdir()
    (source / "a.log").write_text("one\n")
    assert [file.name for file in copy_sources([source], target).new] == ["a.log"]
    again = copy_sources([source], target)
    assert (again.new, again.present) == ([], 1)


def test_a_different_file_of_the_same_name_is_an_error_that_leaves_the_study_as_it_was(tmp_path: Path) -> None:
    source, target = tmp_path / "dump", tmp_path / "study"
    for folder, text in ((source, "one"), (target, "two")):
        folder.mkdir()
        (folder / "b.log").write_text(text)
    (source / "a.log").write_text("new")
    with pytest.raises(LogError, match=r"b\.log"):
        copy_sources([source], target)
    assert [(file.name, file.read_text()) for file in target.iterdir()] == [("b.log", "two")]


def test_undoing_removes_the_new_files_and_empty_folders(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("one")
    target = tmp_path / "study"
    copy_sources([tmp_path / "a.log"], target).undo()
    assert not target.exists() or not any(target.iterdir())
