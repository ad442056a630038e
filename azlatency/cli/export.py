"""``azlatency export``: write the results of a study for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from azlatency.cli.common import command, relative
from azlatency.cli.completion import complete_path, complete_study_or_path


@command(
    "export",
    "azlatency export nightly --to nightly.duckdb           # tables, and views of all tables of the study",
    "azlatency export nightly --to results/                 # a folder of CSV files",
    "azlatency export nightly --to results/ --format parquet",
    "azlatency export nightly --to nightly.lp               # InfluxDB line protocol",
    "azlatency export nightly --to night.json               # Bencher Metric Format, the last night",
    "azlatency export nightly --to otava/ --format otava",
)
def export(
    study: Annotated[str, typer.Argument(help="Study, folder or archive.", autocompletion=complete_study_or_path)],
    to: Annotated[Path, typer.Option("--to", help="New file or folder to write.", autocompletion=complete_path)],
    format: Annotated[
        Literal["duckdb", "csv", "parquet", "influx", "bencher", "otava"] | None,
        typer.Option(help="Format. Default: by the name of the target; a folder gets CSV."),
    ] = None,
) -> None:
    """Write the runs of a study and the changes of their levels for other programs.

    Nothing is overwritten. Times are round-trip times in ns, rates bit/s; names contain units.
    """
    from azlatency.export.files import SUFFIXES
    from azlatency.export.files import export as write
    from azlatency.gate.inputs import open_study

    chosen = format or SUFFIXES.get(to.suffix)
    if chosen is None:
        raise typer.BadParameter(f"{to}: no format is known by this name; give --format", param_hint="--to")
    opened = open_study(study)
    if chosen == "duckdb" and not opened.is_stored:
        raise typer.BadParameter("a DuckDB file has views of an imported study; run azlatency import first")
    for line in write(opened, to, chosen):
        print(f"{relative(to)}: {line}")
