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
    """Return the documented modules by name; ``homes``: the module of each public name (``azlatency._HOMES``).

    A name that its module does not define refers to a whole module; its submodules get their own pages.
    """
    names: dict[str, list[str]] = {}

    def add(module: str, name: str) -> None:
        home = _home(module, name)
        if _file(f"{home}.{name}").is_file():
            for member in _public(f"{home}.{name}"):
                add(f"{home}.{name}", member)
        else:
            names.setdefault(home, []).append(name)

    for name, home in homes.items():
        for member in [name] if _defined(home, name) else _public(home):
            add(home, member)
    return [
        Module(
            module, _markdown(ast.get_docstring(_tree(module))), tuple(_entries(module, list(dict.fromkeys(members))))
        )
        for module, members in sorted(names.items())
    ]


def _file(module: str) -> Path:
    path = _PACKAGE.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@lru_cache(maxsize=256)
def _tree(module: str) -> ast.Module:
    return ast.parse(_file(module).read_text("utf-8"))


def _public(module: str) -> list[str]:
    """Return ``__all__`` of a module, else its functions and classes without a leading underscore."""
    for node in _tree(module).body:
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "__all__" for target in node.targets):
            return [str(name) for name in ast.literal_eval(node.value)]
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [node.name for node in _tree(module).body if isinstance(node, kinds) and not node.name.startswith("_")]


def _home(module: str, name: str) -> str:
    """Return the module that defines a name, or the package that contains a module of that name."""
    for node in _tree(module).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("azlatency."):
            for alias in node.names:
                if (alias.asname or alias.name) == name and node.module != module:
                    return _home(str(node.module), alias.name)
    return module


def _defined(module: str, name: str) -> _Function | ast.ClassDef | None:
    """Return the definition of a name, in the module or where the module imports it from."""
    for node in _tree(_home(module, name)).body:
        if isinstance(node, _Function | ast.ClassDef) and node.name == name:
            return node
    return None


def _entries(module: str, names: list[str]) -> Iterator[Entry]:
    for name in names:
        node = _defined(module, name)
        if isinstance(node, ast.ClassDef):
            yield Entry(name, f"class {name}", _markdown(ast.get_docstring(node)), tuple(_members(node)))
        elif node is not None:
            yield _function(node)


def _members(node: ast.ClassDef) -> Iterator[Entry]:
    for member in node.body:
        if isinstance(member, _Function) and not member.name.startswith("_") and ast.get_docstring(member):
            yield _function(member)


def _function(node: _Function) -> Entry:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    decorated = {ast.unparse(decorator) for decorator in node.decorator_list}
    text = _markdown(ast.get_docstring(node))
    if decorated & {"property", "cached_property"}:
        return Entry(node.name, f"{node.name}{returns}", text)
    arguments = ast.unparse(node.args).removeprefix("self, ").removeprefix("cls, ")
    return Entry(node.name, f"{node.name}({'' if arguments in ('self', 'cls') else arguments}){returns}", text)


# --- docstrings


_SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}$", re.M)
#: Sections of a numpydoc docstring that list values: a line with a name or a type, then an indented description.
_LISTS = {"Parameters", "Other Parameters", "Returns", "Yields", "Raises", "Warns", "Attributes"}
#: A reference of Sphinx, such as :func:`latency`.
_REFERENCE = re.compile(r":[a-z]+:(`[^`]+`)")


def _markdown(docstring: str | None) -> str:
    """Convert a numpydoc docstring to Markdown: lists of values become bullets, examples become blocks of code."""
    text = _REFERENCE.sub(r"\1", docstring or "")
    summary, *sections = _SECTION.split(text)
    parts = [_with_examples(summary)]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        parts.append(f"**{title}**\n\n{_bullets(body) if title in _LISTS else _with_examples(body)}")
    return "\n\n".join(part.strip() for part in parts if part.strip())


def _bullets(body: str) -> str:
    """Convert "name : type" lines with indented descriptions to a list; a line without a name is a type."""
    lines: list[str] = []
    for line in body.strip().splitlines():
        if line.startswith(" ") or not line.strip():
            lines.append(f"  {line.strip()}".rstrip())
            continue
        name, separator, kind = line.partition(" : ")
        lines.append(f"- `{name}`" + (f" (`{kind.strip()}`)" if separator else "") + ":")
    return "\n".join(lines)


def _with_examples(text: str) -> str:
    """Put examples of the interactive interpreter into blocks of code."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        example = line.startswith((">>> ", "... ")) or (inside and bool(line.strip()))
        if example != inside:
            lines.append("```python" if example else "```")
            inside = example
        lines.append(re.sub(r"  # doctest: .*", "", line).rstrip())
    return "\n".join([*lines, "```"] if inside else lines)
