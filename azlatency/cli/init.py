"""``azlatency init``: make a project folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from azlatency import __version__
from azlatency.cli.common import command, print_note
from azlatency.cli.completion import complete_path
from azlatency.studies.format import count_of

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

    The folder may contain files; those are never overwritten.
    """
    from azlatency.site.notebooks import INSTALLED, notebook_files
    from azlatency.studies.store.replacing import write_whole

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
    texts[workflow] = (INSTALLED / "docs" / "ci" / "github-actions.yml").read_text("utf-8")
    kept = [name for name in texts if (folder / name).exists()]
    new = [name for name in texts if name not in kept]
    for name in new:
        write_whole(folder / name, texts[name])
    if kept:
        print_note(f"already there, and not changed: {', '.join(kept)}")
    print(f"{folder}: {count_of(len(new), 'new file')}. Next, in that folder: azlatency import LOGS --study NAME")


def _without_outputs(notebook: str) -> str:
    """Return a notebook without its stored outputs, which show other studies."""
    content = json.loads(notebook)
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
