"""What a user puts on one side of a comparison: the name of a study, a folder, an archive or a log -> a `Study`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from azlatency.logs.parse import LogError
from azlatency.studies.ingest import take_in
from azlatency.studies.store import Study, data_folder, import_study, list_studies, load

#: No study can have this name: a manifest of data/raw never slips in.
_NAMELESS = ".side"


@contextmanager
def open_study(side: str) -> Iterator[Study]:
    """The study of that name (imported anew where its logs changed), else the logs under that path.

    Logs are imported into a folder that lives as long as the context. Raises `LogError` that lists the known studies.
    """
    if side in list_studies():
        import_study(side)
        yield load(side)
        return
    if _imported(side):
        yield load(side)
        return
    path = Path(side)
    if not path.exists():
        known = ", ".join(sorted({*list_studies(), *_all_imported()})) or "none"
        raise LogError(f"{side}: neither a study nor a file or folder; studies: {known}")
    with TemporaryDirectory(prefix="azlatency-") as temporary:
        raw = Path(temporary) / "raw" / _NAMELESS
        source = path if path.is_dir() else take_in([path], raw).folder
        summary = import_study(_NAMELESS, [source], out=Path(temporary))
        if not summary.runs_by_tool:
            told = (summary.unreadable + summary.not_recognised + summary.problems)[:1]
            raise LogError(f"{side}: no run in it{': ' + told[0] if told else ''}; see azlatency check {side}")
        yield load(_NAMELESS, processed=Path(temporary))


def _all_imported() -> list[str]:
    return [path.parent.name for path in data_folder("processed").glob("*/import.json")]


def _imported(name: str) -> bool:
    return name in _all_imported()
