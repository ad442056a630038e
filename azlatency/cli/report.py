"""``azlatency report``: build the static site."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from azlatency.cli.common import command, print_error, progress
from azlatency.cli.completion import complete_path, complete_study

#: The packages of the extra ``report``, as they are imported.
_PACKAGES = ("papermill", "nbformat", "nbclient", "nbconvert", "ipykernel", "latex2mathml")


@command(
    "report",
    "azlatency report",
    "azlatency report --study westeurope-azure-cni --out build/site",
    "azlatency report --study before --study after",
)
def report(
    study: Annotated[
        list[str] | None,
        typer.Option(help="Study to include; repeat for several. Default: all.", autocompletion=complete_study),
    ] = None,
    out: Annotated[Path, typer.Option(help="Output folder.", autocompletion=complete_path)] = Path("build/site"),
    force: Annotated[bool, typer.Option("--force", help="Rebuild every page, even if nothing changed.")] = False,
) -> None:
    """Execute the notebooks and build the static site.

    Pages whose data and code have not changed since the last report are reused.
    """
    if missing := [name for name in _PACKAGES if find_spec(name) is None]:
        print_error(
            f"azlatency report needs packages that are not installed ({', '.join(missing)}); "
            "run python -m pip install 'azlatency[report]'"
        )
        raise typer.Exit(2)

    from azlatency.site.build import build

    with progress("report") as bar:
        failures = build(out, study, progress=bar, force=force)
    print(out / "index.html")
    for message in failures:
        print_error(message)
    if failures:
        raise typer.Exit(1)
