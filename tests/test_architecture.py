"""The arrows between the modules run one way: text -> tables -> answers -> pages."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "azlatency"

#: Layers from the bottom; a module imports only from its own layer's left or from layers below.
LAYERS = [
    ["units", "lines"],
    ["grammar", "schema"],
    ["decode"],
    ["record", "wrapping"],
    ["parsers"],
    ["transcript", "zones"],
    ["manifest"],
    ["reader"],
    ["checking", "drafting"],
    ["dataset", "intake"],
    ["stats.result", "stats.roundtrips"],
    ["stats.dependence", "stats.runvalues"],
    ["stats.quantiles", "stats.means", "stats.evidence", "paths", "programmed"],
    ["stats.exceedance", "stats.tail", "stats.stability", "stats.bootstrap", "stats.modes", "stats.histograms"],
    ["stats.exact", "stats.tablebounds", "stats.matrices"],
    ["stats.comparison", "stats.multiplicity", "stats.rankeffect", "stats.distribution", "stats.history"],
    ["stats.truth", "stats.ranking", "stats.planning", "stats.repeats", "stats.agreement", "stats.beforeafter"],
    ["stats.placement", "stats.intime", "stats.runtails", "stats.shapes"],
    ["stats.asymmetry", "stats.baseline"],
    ["display"],
    ["tables"],
    ["answers", "answers_tail", "findings_tail", "findings_zones"],
    ["charts", "findings", "terminal"],
    ["kernels", "render"],
    ["site.origins"],
    ["site", "site.scripts", "site.search", "site.freshness", "site.provenance", "site.api"],
    ["site.documentation"],
    ["report"],
    ["comparing", "scripts"],
    ["cli"],
    ["__main__"],
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}


def module_name(path: Path) -> str:
    name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    name = name.removesuffix(".__init__")
    return package_of(name)


def package_of(name: str) -> str:
    """The modules of a package of one layer count as one."""
    first = name.partition(".")[0]
    return first if first in ("parsers", "charts", "cli", "comparing", "scripts") else name


def imports(path: Path) -> set[str]:
    """Modules of the package that a file imports at any depth."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("azlatency"):
            parts = (node.module or "").split(".")[1:]
            names = [parts] if parts and parts != ["stats"] else [[*parts, alias.name] for alias in node.names]
            found.update(".".join(each) for each in names)
    found = {package_of(each) for each in found}
    return {each for each in found if each in RANK}


MODULES = [path for path in PACKAGE.rglob("*.py") if module_name(path) not in ("__init__", "stats")]


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_arrows_run_one_way(path: Path) -> None:
    name = module_name(path)
    assert name in RANK, f"{name} stands in no layer; add it to LAYERS"
    upward = {other for other in imports(path) if RANK[other] > RANK[name]}
    # A name for the type checker only is no arrow.
    text = path.read_text("utf-8")
    upward = {other for other in upward if f"    from azlatency.{other} import" not in text.split("TYPE_CHECKING:")[-1]}
    assert not upward, f"{name} imports {sorted(upward)} from a layer above"


def test_statistics_draw_nothing_and_charts_know_no_statistics_package() -> None:
    for path in (PACKAGE / "stats").glob("*.py"):
        assert "matplotlib" not in path.read_text("utf-8"), path
    for path in (PACKAGE / "charts").glob("*.py"):
        text = path.read_text("utf-8")
        assert "scipy.stats" not in text and "statsmodels" not in text, path


def test_the_import_is_cheap() -> None:
    """`import azlatency` and ``--help`` load none of the heavy packages."""
    code = (
        "import sys, azlatency, azlatency.cli; "
        "print([m for m in ('pandas', 'pyarrow', 'numpy', 'matplotlib', 'scipy') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_units_are_spelled_in_one_place_only() -> None:
    """No parser converts a printed unit by a factor of its own."""
    for path in (PACKAGE / "parsers").glob("*.py"):
        text = path.read_text("utf-8")
        for factor in ("* 1e3", "* 1e6", "* 1e9", "* 1024", "*1024", "* 1000000"):
            assert factor not in text, f"{path.name}: {factor}"
