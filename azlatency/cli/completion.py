"""Shell completion of studies and files."""

from __future__ import annotations

import os
from pathlib import Path


def complete_study(incomplete: str) -> list[str]:
    """Complete the name of a study in data/raw or data/processed."""
    from azlatency.studies.store.folders import imported_studies, list_studies

    return sorted(name for name in {*list_studies(), *imported_studies()} if name.startswith(incomplete))


def complete_path(incomplete: str) -> list[str]:
    """Complete a file or a folder; folders end with a slash."""
    folder, name = os.path.split(incomplete)
    try:
        entries = sorted(Path(folder or ".").expanduser().iterdir())
    except OSError:
        return []
    return [
        os.path.join(folder, entry.name) + ("/" if entry.is_dir() else "")
        for entry in entries
        if entry.name.startswith(name) and (name.startswith(".") or not entry.name.startswith("."))
    ]


def complete_study_or_path(incomplete: str) -> list[str]:
    """Complete what `compare` accepts: the name of a study, a file or a folder."""
    return [*complete_study(incomplete), *complete_path(incomplete)]
