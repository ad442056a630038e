"""``azlatency report``: build the static site."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from azlatency.cli.answer import opened, print_answer
from azlatency.cli.common import command, print_error, progress, relative
from azlatency.cli.completion import complete_path, complete_study

#: The packages of the extra ``report``, as they are imported.
_PACKAGES = ("papermill", "nbformat", "nbclient", "nbconvert", "ipykernel", "latex2mathml")


@command(
    "report",
    "azlatency report ~/dump.zip                    # writes dump-report/",
    "azlatency report",
    "azlatency report --study westeurope-azure-cni --out build/site",
    "azlatency report --study before --study after",
)
def report(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            help="Logs, archives or folders that are not imported: what their names say is applied, and the page says "
            "what is assumed.",
            autocompletion=complete_path,
        ),
    ] = None,
    study: Annotated[
        list[str] | None,
        typer.Option(help="Study to include; repeat for several. Default: all.", autocompletion=complete_study),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Output folder. Default: build/site, or NAME-report for the dump NAME.", autocompletion=complete_path
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Rebuild every page, even if nothing changed.")] = False,
) -> None:
    """Build the pages of a dump, or of the imported studies, as a static site.

    Of a dump, nothing but the output folder is written. Pages whose data and code have not changed since the last
    report are reused. Exit code 0: the pages were built; 1: no log was recognised, a log contains an error, or a file
    could not be read (the others are shown), or a page failed; 2: usage error.
    """
    if missing := [name for name in _PACKAGES if find_spec(name) is None]:
        print_error(
            f"azlatency report needs packages that are not installed ({', '.join(missing)}); "
            "run python -m pip install 'azlatency[report]'"
        )
        raise typer.Exit(2)

    from azlatency.studies.store.folders import list_studies

    if sources and study:
        raise typer.BadParameter("give a dump, or --study NAME for imported studies")
    # The name of a study is as good as --study NAME.
    if sources and not any(Path(source).exists() for source in sources) and {*sources} <= {*list_studies()}:
        study, sources = sources, None
    if not sources:
        _build(out or Path("build/site"), study, force=force)
        return
    from azlatency.studies.imports.in_memory import stored

    with opened(sources) as found:
        print_answer(found)
        target = (out or Path(f"{found.name}-report")).resolve()
        with stored(found):
            _build(target, [found.name], force=force, page=f"{found.name}/00_summary.html")


def _build(out: Path, study: list[str] | None, *, force: bool, page: str = "index.html") -> None:
    """Build a site and print where its page is."""
    from azlatency.site.build import build

    with progress("report") as bar:
        failures = build(out, study, progress=bar, force=force)
    print(relative(out / page))
    for message in failures:
        print_error(message)
    if failures:
        raise typer.Exit(1)
