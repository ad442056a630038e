"""Copying logs into a study, and undoing it."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from azlatency.logs.parse import LogError
from azlatency.studies.imports.ingest import copy_sources

#: The number of a process that does not exist.
NO_PROCESS = 999_999_999


def test_the_content_of_a_folder_is_copied_and_known_files_are_counted(tmp_path: Path) -> None:
    source, target = tmp_path / "dump", tmp_path / "study"
    source.mkdir()
    (source / "a.log").write_text("one\n")
    assert [file.name for file in copy_sources([source], target).new] == ["a.log"]
    again = copy_sources([source], target)
    assert (again.new, again.present) == ([], 1)


def test_what_a_killed_copy_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("one\n")
    left, running = (tmp_path / "study" / "night" / f".azlatency.{number}.part" for number in (NO_PROCESS, 1))
    left.parent.mkdir(parents=True)
    for file in (left, running):
        file.write_text("half")
    copy_sources([tmp_path / "a.log"], tmp_path / "study")
    assert not left.exists() and running.exists(), "an import that is running keeps its file"


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
    assert not target.exists()


def test_a_refused_copy_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither files nor new folders, if the disk is full."""
    (tmp_path / "dump").mkdir()
    for name in ("a.log", "b.log"):
        (tmp_path / "dump" / name).write_text(name)
    copy, calls = shutil.copyfileobj, []

    def full(source: object, target: object) -> None:
        calls.append(target)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        copy(source, target)  # type: ignore[arg-type]

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(LogError, match="mine: No space left on device; nothing was copied"):
        copy_sources([tmp_path / "dump"], tmp_path / "data" / "raw" / "mine")
    assert os.listdir(tmp_path) == ["dump"]


def test_links_and_long_names(tmp_path: Path) -> None:
    """A link is refused by name; the name of a log may be as long as a name can be."""
    source, name = tmp_path / "dump", "n" * 251 + ".log"
    source.mkdir()
    (source / name).write_text("one")
    (source / "link.log").symlink_to("/etc/passwd")
    copied = copy_sources([source], tmp_path / "study")
    assert [file.name for file in copied.new] == [name]
    (line,) = copied.refused
    assert line.endswith("link.log: a symbolic link is not followed; copy the file that it points to")
