"""The command line: one module per command.

An error is one line on standard error: ``file:line: what is wrong; what to do``.

Exit codes: 0 success, also if the reader of a pipe closed it; 1 no log was recognised, or a log contains an error;
2 usage error; 130 interrupted. ``compare`` also uses 1 for a change and 3 for an inconclusive result.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from azlatency import __version__
from azlatency.cli import (  # noqa: F401 - each registers its command
    answer,
    check,
    compare,
    export,
    history,
    import_logs,
    init,
    parse,
    plan,
    report,
    verify,
)
from azlatency.cli.common import app, print_error

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line. Expected errors are printed as one line on standard error."""
    import warnings

    from azlatency.logs.parse import LogError
    from azlatency.studies.store.own_files import ManifestError

    warnings.showwarning = lambda message, *_args, **_options: print_error(f"warning: {message}")
    try:
        app()
    except (LogError, ManifestError) as error:
        print_error(str(error))
        sys.exit(1)
    except OSError as error:
        # A full or read-only disk; what is written is replaced as a whole, so nothing is half written.
        name = error.filename2 or error.filename
        if isinstance(error, PermissionError) and not os.access(folder := os.path.dirname(name) or ".", os.X_OK):
            name = folder
        print_error(f"{f'{name}: ' if name else ''}{error.strerror or error}; free space or check the permissions")
        sys.exit(1)


def _print_version(requested: bool) -> None:
    if requested:
        print(f"azlatency {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Read the options of all commands."""
