"""Imports between the packages follow the drawing in CONTRIBUTING.md; every module has its test file."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from helpers.places import ROOT

PACKAGE = ROOT / "azlatency"


def arrows(drawing: str) -> dict[str, set[str]]:
    """Return what each name of a drawing may import directly."""
    targets: dict[str, set[str]] = {}
    for importer, target in re.findall(r"^    (\w+) --> (\w+)$", drawing, re.MULTILINE):
        targets.setdefault(importer, set()).add(target)
        targets.setdefault(target, set())
    return targets


#: The drawing of the packages, and those of the modules of two of them.
DRAWING, *INSIDE = map(
    arrows,
    re.findall(r"^```mermaid$(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE | re.DOTALL),
)
#: Files outside the packages.
AT_THE_ROOT = {"__init__.py", "__main__.py", "py.typed"}


def is_type_checking(node: ast.AST) -> bool:
    """Return whether this is a block ``if TYPE_CHECKING:``."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imported(node: ast.AST) -> Iterator[str]:
    """Yield the modules of azlatency that the code below a node imports, at any depth, except under TYPE_CHECKING."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and is_type_checking(child):
            yield from imported(ast.Module(child.orelse, []))
        elif isinstance(child, ast.ImportFrom):
            module = child.module or ""
            assert child.level == 0, "use absolute imports"
            if module.partition(".")[0] == "azlatency":
                yield from (resolve(module, alias.name) for alias in child.names)
        elif isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names if alias.name.partition(".")[0] == "azlatency")
        else:
            yield from imported(child)


def resolve(module: str, name: str) -> str:
    """Return the module that ``from module import name`` loads: the submodule if it exists, otherwise the module."""
    path = ROOT.joinpath(*module.split("."), name)
    return f"{module}.{name}" if path.is_dir() or path.with_suffix(".py").is_file() else module


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def package_of(module: str) -> str:
    return [*module.split("."), ""][1]


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def imports_of(name: str) -> set[str]:
    return set(imported(ast.parse(MODULES[name].read_text("utf-8"))))


def test_the_drawing_contains_every_package_and_there_are_no_other_modules() -> None:
    inside = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    assert inside - AT_THE_ROOT == set(DRAWING)


def reachable(package: str, drawing: dict[str, set[str]]) -> set[str]:
    """The package and everything that it may import."""
    return {package}.union(*(reachable(target, drawing) for target in drawing[package]))


@pytest.mark.costly
def test_imports_follow_the_drawing() -> None:
    allowed = {package: {"", *reachable(package, DRAWING)} for package in DRAWING}
    inside = [name for name in MODULES if package_of(name) not in ("", "__main__")]
    imports = [(name, module) for name in inside for module in sorted(imports_of(name))]
    wrong = [
        f"{name} imports {module}" for name, module in imports if package_of(module) not in allowed[package_of(name)]
    ]
    assert imports and not wrong, "CONTRIBUTING.md does not allow it"


@pytest.mark.parametrize(("package", "drawing"), [*zip(("logs", "studies"), INSIDE, strict=True)])
def test_imports_inside_a_package_follow_its_drawing(package: str, drawing: dict[str, set[str]]) -> None:
    prefix = f"azlatency.{package}."
    assert {path.stem for path in (PACKAGE / package).iterdir() if not path.name.startswith("__")} == set(drawing)
    for name in (name for name in MODULES if name.startswith(prefix)):
        allowed = reachable(name.split(".")[2], drawing)
        for module in imports_of(name):
            assert not module.startswith(prefix) or module.split(".")[2] in allowed, f"{name} imports {module}"


def test_there_are_no_import_cycles() -> None:
    """Imports inside functions and of a package's ``__init__`` count as well."""
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join([*trail[trail.index(name) :], name])
        if name not in done and name in MODULES:
            for other in sorted(imports_of(name) - {"azlatency"}):
                visit(other, (*trail, name))
            done.add(name)

    for name in MODULES:
        visit(name, ())


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("def f():\n    from azlatency.cli import app", {"azlatency.cli"}),
        ("if TYPE_CHECKING:\n    import azlatency.cli", set()),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    import azlatency.cli", {"azlatency.cli"}),
        ("if x:\n    import azlatency.cli", {"azlatency.cli"}),
        ("from azlatency.logs.grammar import units", {"azlatency.logs.grammar.units"}),
    ],
)
def test_imports_are_found_at_any_depth(text: str, modules: set[str]) -> None:
    assert set(imported(ast.parse(text))) == modules


def test_statistics_do_not_plot_and_charts_do_not_compute() -> None:
    for path in (PACKAGE / "stats").rglob("*.py"):
        assert "matplotlib" not in path.read_text("utf-8"), path
    for path in (PACKAGE / "shapes").rglob("*.py"):
        text = path.read_text("utf-8")
        assert "scipy.stats" not in text and "statsmodels" not in text, path


#: The packages that print results. Those below them write names of methods and messages about files.
PRINTING = ("cli", "export", "gate", "kit", "pages", "planning", "shapes", "site", "stats")
#: A format specification of numbers: ``,`` ``.1f`` ``+,.3g`` ``.0%``; widths, dates and hexadecimal digits are others.
NUMBER = r"[-+ ]?z?#?,?(\.(\d+|\{\}))?[eEfFgGn%]|,|\{\}"
#: A number in a template: ``"{:,.0f}".format``, or a formatter of matplotlib.
TEMPLATE = re.compile(rf"\{{\w*:({NUMBER})\}}")
#: Coordinates of a drawing, which nobody reads.
COORDINATES = "azlatency.site.figures"


def formatted_numbers(code: str) -> Iterator[int]:
    """Yield the lines that turn a number into text by a format specification."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
            spec = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.format_spec.values)
            wrong = re.fullmatch(NUMBER, spec) is not None
        elif isinstance(node, ast.Call):
            wrong = isinstance(node.func, ast.Name) and node.func.id == "format"
        else:
            wrong = isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(TEMPLATE.search(node.value))
        if wrong:
            yield node.lineno


@pytest.mark.costly
def test_only_kit_formats_numbers_for_readers() -> None:
    """`azlatency.kit` and the formatters below it, `azlatency.studies.format`; then two pages cannot disagree."""
    others = [name for name in MODULES if package_of(name) in PRINTING and package_of(name) != "kit"]
    wrong = [
        f"{name}:{line}"
        for name in others
        if name != COORDINATES
        for line in formatted_numbers(MODULES[name].read_text("utf-8"))
    ]
    assert others and not wrong, "use a formatter of azlatency/studies/format.py or azlatency/kit"


@pytest.mark.parametrize(
    ("code", "is_number"),
    [
        ('f"{count:,} runs"', True),
        ('f"{100 * share:+.1f} %"', True),
        ('f"{value:.{digits}g}"', True),
        ('f"{value:{spec}}"', True),
        ('format(value, ".1f")', True),
        ('"{:,.0f} µs".format', True),
        ('axis.set_major_formatter("{x:.0%}")', True),
        ('f"{day:%Y-%m-%d}"', False),
        ('f"{name!r:.40} {name:>12} {number:03} {code:02x}"', False),
        ("f\"{name}: {count_of(3, 'run')}\"", False),
        ('"started at {} in {file}".format', False),
    ],
)
def test_formats_of_numbers_are_recognised(code: str, is_number: bool) -> None:
    assert bool([*formatted_numbers(code)]) is is_number


def test_the_import_is_cheap() -> None:
    """`import azlatency` and ``--help`` do not load the large packages."""
    code = (
        "import sys, azlatency, azlatency.cli; "
        "print([m for m in ('pandas', 'pyarrow', 'numpy', 'matplotlib', 'scipy') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_answers_in_the_terminal_need_no_large_package_of_scipy() -> None:
    """To import scipy.stats takes half a second, longer than most comparisons."""
    needed, todo = (
        set[str](),
        ["azlatency.stats.across_runs.typical_run", "azlatency.gate.verdict", "azlatency.gate.history"],
    )
    while todo:
        if (name := todo.pop()) not in needed:
            needed.add(name)
            todo += imports_of(name)
    large = re.compile(r"^from scipy\.(stats|optimize|spatial)", re.MULTILINE)
    assert len(needed) > 20 and not [name for name in needed if large.search(MODULES[name].read_text("utf-8"))]


def test_no_parser_converts_units_itself() -> None:
    for path in [*(PACKAGE / "logs" / "parsers").rglob("*.py"), *(PACKAGE / "more_tools").rglob("*.py")]:
        text = path.read_text("utf-8")
        for factor in ("* 1e3", "* 1e6", "* 1e9", "* 1024", "*1024", "* 1000000"):
            assert factor not in text, f"{path.name}: {factor}"


def test_deleting_a_tool_deletes_only_that_tool() -> None:
    """No parser imports from the folder or module of another tool, and nothing outside the shelves names a tool's."""
    shelves = ("azlatency.logs.parsers", "azlatency.more_tools")
    tools = {name for name, path in MODULES.items() if "PARSER" in path.read_text("utf-8")}
    tools = {name for name in tools if name.rpartition(".")[0] in shelves}
    assert len(tools) >= 12

    def tool_of(module: str) -> str:
        return next((tool for tool in tools if f"{module}.".startswith(f"{tool}.")), "")

    for name in MODULES:
        for other in imports_of(name):
            assert tool_of(other) in ("", tool_of(name)), f"{name} imports {other}"


def test_more_tools_import_only_what_is_documented_and_nothing_imports_them() -> None:
    text = (ROOT / "docs" / "add-a-parser.md").read_text("utf-8")
    documented = set(re.findall(r"^\| `(azlatency\.[\w.]+)` \|", text, re.MULTILINE))
    assert documented <= MODULES.keys()
    shelf = "azlatency.more_tools"
    for name in MODULES:
        inside = name.startswith(shelf)
        for other in imports_of(name):
            assert other in documented or other.startswith(shelf) if inside else not other.startswith(shelf), name


# --- a test file is found by the name of what it tests

TESTS = ROOT / "tests"
#: Modules that only start what is tested elsewhere.
WITHOUT_TESTS = {"__init__", "__main__"}


def files_with_tests_of(module: Path) -> list[Path]:
    """Return where the tests of a module may be: in a file of its name, or in that of a folder that contains it."""
    relative = module.relative_to(PACKAGE).with_suffix("")
    # A parser's folder and a sub-package of the site may have one test file as a whole.
    folders = [folder for folder in relative.parents if len(folder.parts) >= 2]
    return [TESTS / name.parent / f"test_{name.name}.py" for name in (relative, *folders)]


def test_every_module_has_a_test_file_of_its_name() -> None:
    expected = [files_with_tests_of(path) for path in MODULES.values() if path.stem not in WITHOUT_TESTS]
    missing = [files[0].relative_to(ROOT).as_posix() for files in expected if not any(file.is_file() for file in files)]
    assert expected and not missing, "write these files"
