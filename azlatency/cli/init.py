"""``azlatency init``: make a project folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Annotated

import typer

from azlatency import __version__
from azlatency.cli.common import command
from azlatency.cli.completion import complete_path

_README = """\
# {title}

| path | contents |
|---|---|
| `data/raw/` | one folder per study: the logs as printed, and `study.toml` |
| `data/processed/` | the tables of the studies, which `azlatency import` writes |
| `notebooks/` | the pages of the report; edit, add or remove some |
| `.github/workflows/latency.yml` | compares the studies `main` and `candidate` in GitHub Actions |

```sh
python -m pip install -r requirements.txt
azlatency import ~/dump.zip --study mine    # then fill in data/raw/mine/study.toml, and:
azlatency import --study mine
azlatency report                            # open build/site/index.html
```
"""


@command("init", "azlatency init northeurope", "azlatency init .")
def init(folder: Annotated[Path, typer.Argument(help="Folder of the project.", autocompletion=complete_path)]) -> None:
    """Make a project folder: data/raw and data/processed, the notebooks of the report to edit, a CI workflow.

    Existing files are never overwritten.
    """
    from azlatency.site.notebooks import INSTALLED, notebook_files

    texts = {
        "README.md": _README.format(title=folder.resolve().name),
        "requirements.txt": f"azlatency[report]=={__version__}\n",
        ".gitignore": "/build/\n/data/processed/*\n!/data/processed/README.md\n",
        "data/raw/README.md": "One folder per study. Create one with: azlatency import LOGS --study NAME\n",
        "data/processed/README.md": "One folder per study with its tables, which azlatency import writes.\n",
    }
    texts |= {
        f"notebooks/{path.name}": _without_outputs(path.read_text("utf-8"))
        for path in notebook_files(INSTALLED / "notebooks")
    }
    workflow = ".github/workflows/latency.yml"
    existing = [name for name in (*texts, workflow) if (folder / name).exists()]
    if existing:
        raise typer.BadParameter(f"{folder / existing[0]} already exists; choose a new folder")
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8", newline="\n")
    (folder / workflow).parent.mkdir(parents=True)
    shutil.copyfile(INSTALLED / "docs" / "ci" / "github-actions.yml", folder / workflow)
    print(f"{folder}: {len(texts) + 1} files. Next, in that folder: azlatency import LOGS --study NAME")


def _without_outputs(notebook: str) -> str:
    """Return a notebook without its stored outputs, which show other studies."""
    content = json.loads(notebook)
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
