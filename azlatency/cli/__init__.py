"""The command line: ``parse``, ``check``, ``manifest``, ``import``, ``report``, ``compare``, ``plan``.

Errors are one line, ``file:line: what, and what to do``.

Exit codes: 0 done; 1 nothing recognised, or an error in a log; 2 usage; ``compare`` also 3, undetermined.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from azlatency import __version__
from azlatency.cli import data, logs, pages, plan
from azlatency.cli.common import app, say

__all__ = ["app", "data", "logs", "main", "pages", "plan"]


def main() -> None:
    """Entry point of the command; every expected failure is one line on standard error."""
    import warnings

    from azlatency.logs.parse import LogError
    from azlatency.studies.manifest import ManifestError

    warnings.showwarning = lambda message, *_args, **_options: say(f"warning: {message}")
    try:
        app()
    except (LogError, ManifestError) as error:
        say(str(error))
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except KeyboardInterrupt:
        print("interrupted; nothing half-written is left", file=sys.stderr)
        sys.exit(130)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"azlatency {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
