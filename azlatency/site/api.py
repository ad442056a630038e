"""The public names of the library with their signatures and docstrings, read from the source without importing it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Entry:
    """A public function, class, method or property: ``signature`` as code, ``text`` as Markdown."""

    name: str
    signature: str
    text: str
    members: tuple[Entry, ...] = ()

    @property
    def summary(self) -> str:
        """The first sentence of its docstring."""
        first = self.text.partition("\n\n")[0].replace("\n", " ")
        return re.split(r"(?<=[.:;]) (?=[A-Z`(])", first)[0]


@dataclass(frozen=True)
class Module:
    """A module: its name in full, its docstring as Markdown, what is public in it."""

    name: str
    text: str
    entries: tuple[Entry, ...]

    @property
    def summary(self) -> str:
        """The first sentence of its docstring."""
        return Entry("", "", self.text).summary


def modules(homes: Mapping[str, str]) -> list[Module]:
    """The documented modules by name; ``homes``: module by public name (``azlatency._HOMES``).

    A name that is a module itself stands for all that is public in it.
    """
    wanted: dict[str, list[str]] = {}
    for name, home in homes.items():
        whole = home.rpartition(".")[2] == name and not _defined(home, name)
        wanted.setdefault(home, []).extend(_public(home) if whole else [name])
    return [
        Module(home, _markdown(ast.get_docstring(_tree(home))), tuple(_entries(home, list(dict.fromkeys(names)))))
        for home, names in sorted(wanted.items())
    ]


@lru_cache(maxsize=256)
def _tree(module: str) -> ast.Module:
    path = _PACKAGE.joinpath(*module.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text("utf-8"))


def _public(module: str) -> list[str]:
    """``__all__`` of a module, else its functions and classes without an underscore."""
    for node in _tree(module).body:
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "__all__" for target in node.targets):
            return [str(name) for name in ast.literal_eval(node.value)]
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [node.name for node in _tree(module).body if isinstance(node, kinds) and not node.name.startswith("_")]


def _defined(module: str, name: str) -> _Function | ast.ClassDef | None:
    """The definition of a name, in the module or where the module has it from."""
    for node in _tree(module).body:
        if isinstance(node, _Function | ast.ClassDef) and node.name == name:
            return node
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("azlatency"):
            for alias in node.names:
                if (alias.asname or alias.name) == name and node.module not in (None, "azlatency"):
                    return _defined(str(node.module), alias.name)
    return None


def _entries(module: str, names: list[str]) -> Iterator[Entry]:
    for name in names:
        node = _defined(module, name)
        if isinstance(node, ast.ClassDef):
            yield Entry(name, f"class {name}", _markdown(ast.get_docstring(node)), tuple(_members(node)))
        elif node is not None:
            yield _function(node)


def _members(node: ast.ClassDef) -> Iterator[Entry]:
    for each in node.body:
        if isinstance(each, _Function) and not each.name.startswith("_") and ast.get_docstring(each):
            yield _function(each)


def _function(node: _Function) -> Entry:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    decorated = {ast.unparse(each) for each in node.decorator_list}
    text = _markdown(ast.get_docstring(node))
    if decorated & {"property", "cached_property"}:
        return Entry(node.name, f"{node.name}{returns}", text)
    arguments = ast.unparse(node.args).removeprefix("self, ").removeprefix("cls, ")
    return Entry(node.name, f"{node.name}({'' if arguments in ('self', 'cls') else arguments}){returns}", text)


def _markdown(docstring: str | None) -> str:
    """A docstring as Markdown: examples become blocks of code."""
    lines: list[str] = []
    inside = False
    for line in (docstring or "").splitlines():
        example = line.startswith((">>> ", "... ")) or (inside and bool(line.strip()))
        if example != inside:
            lines += ["```python"] if example else ["```"]
            inside = example
        lines.append(line.replace("  # doctest: +SKIP", "").rstrip())
    return "\n".join([*lines, "```"] if inside else lines)
