"""What runs inside a kernel between two notebooks: forget the last one, and report the files that it read."""

from __future__ import annotations

import json
import os
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from azlatency.kit.objects import BOTH_WIDTHS

#: Characters of a line of a frame on a page, and of a text in it.
_WIDE = 200


def reset_session() -> None:
    """Reset the kernel between notebooks: delete all names, close figures, show warnings again.

    Imported modules stay, which is the point.
    """
    import gc
    import warnings

    from IPython import get_ipython

    _listen()
    _read.clear()
    get_ipython().reset(new_session=True)
    if BOTH_WIDTHS in os.environ:
        # A page scrolls where a terminal would cut the text of a frame.
        import pandas as pd

        pd.set_option("display.width", _WIDE, "display.max_colwidth", _WIDE)
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
    # Leaving the block marks the filters as changed; Python then forgets which warnings it has shown. Otherwise a
    # notebook's output would depend on which notebooks ran before it.
    with warnings.catch_warnings():
        pass
    # reset() has collected; what is left are modules. Not to look at them again saves 0.1 s a notebook.
    gc.freeze()


#: Paths that were opened for reading or listed in this process since the last `reset_session`.
_read: set[tuple[str, str]] = set()


@lru_cache(maxsize=1)
def _listen() -> None:
    """Record every file that Python opens from now on; audit hooks cannot be removed."""

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            if isinstance(arguments[0], str) and "w" not in (arguments[1] or "r"):
                _read.add(("", arguments[0]))
        elif event in ("os.listdir", "os.scandir") and isinstance(arguments[0], str):
            _read.add(("names in ", arguments[0]))

    sys.addaudithook(note)


def files_read() -> str:
    """Return the paths that a notebook read, as a JSON list; a listed folder is "names in …".

    Only what may change a result: files of the data and of the project, not those of Python and its libraries. Of
    folders only those of the data, for Python itself lists the others; and not the folder of all imports, because
    looking for one of them says nothing about the others.
    """
    data = Path(os.environ.get("AZLATENCY_DATA", "data")).absolute()
    libraries = (Path(sys.prefix), Path(__file__).parents[2])
    files = set()
    for kind, name in _read:
        path = Path(name).absolute()
        ours = path.is_relative_to(data) and path != data / "processed"
        ours |= not kind and path.is_relative_to(Path.cwd()) and path.suffix not in (".py", ".pyc")
        if ours and path.exists() and not any(path.is_relative_to(folder) for folder in libraries):
            files.add(f"{kind}{path}")
    return json.dumps(sorted(files))
