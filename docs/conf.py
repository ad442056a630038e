"""How Sphinx builds the documentation (`make docs`): its pages, and the reference of the public names."""

from __future__ import annotations

import inspect
import shutil
import sys
from pathlib import Path
from types import ModuleType
from urllib.request import urlopen

import azlatency
from azlatency.kit import objects

_HERE = Path(__file__).parent
_REFERENCE = _HERE / "api"
#: Modules that the reference contains although they are not public names: what the functions return.
_MORE = {"azlatency.kit.objects": objects}
#: Of these libraries, names in the reference are links to their documentation.
_LIBRARIES = {
    "matplotlib": "https://matplotlib.org/stable/",
    "numpy": "https://numpy.org/doc/stable/",
    "pandas": "https://pandas.pydata.org/docs/",
    "pyarrow": "https://arrow.apache.org/docs/",
    "python": "https://docs.python.org/3/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
}

project = "azlatency"
author = copyright = "azlatency contributors"
release = version = azlatency.__version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
]
exclude_patterns = ["examples"]
default_role = "autolink"
nitpicky = True
nitpick_ignore_regex = [
    (".*", rf"({'|'.join(_LIBRARIES)})[.:].*"),  # without a network, these are not links
    ("py:obj", r"[A-Z_]+"),  # constants are not in the reference
]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"  # the docstrings say them in words
autosummary_generate = False
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = {"DataFrame": "pandas.DataFrame", "Axes": "matplotlib.axes.Axes"}

html_theme = "furo"
html_title = f"azlatency {release}"
html_copy_source = False
html_show_sphinx = False


def _inventories(folder: Path) -> dict[str, tuple[str, str]]:
    """Fetch the names of other libraries once; those that cannot be reached are left out with one line."""
    folder.mkdir(parents=True, exist_ok=True)
    missing: list[str] = []
    for name, address in _LIBRARIES.items():
        if not (folder / name).exists() and not missing:
            try:
                with urlopen(f"{address}objects.inv", timeout=10) as answer:
                    (folder / name).write_bytes(answer.read())
            except OSError as error:
                missing.append(f"{address}: {error}")
    if missing:
        print(f"No links to the documentation of other libraries: {missing[0]}")
    return {name: (address, str(folder / name)) for name, address in _LIBRARIES.items() if (folder / name).exists()}


intersphinx_mapping = _inventories(_HERE.parent / "build" / "inventories")
numpydoc_xref_param_type = bool(intersphinx_mapping)


def _write_reference(home: str, module: ModuleType, seen: set[int]) -> None:
    """Write api/<home>.rst, and those of the modules in it: the docstring, and each name that no page before it has."""
    names, inner = [], dict(_MORE) if module is azlatency else {}
    for name in _names(module):
        value = getattr(module, name)
        if inspect.ismodule(value):
            # By the name that a user types: az.charts, not azlatency.shapes.
            inner[f"{home}.{name}"] = sys.modules[f"{home}.{name}"] = value
        elif callable(value) and id(value) not in seen:
            seen.add(id(value))
            names.append((name, "class" if inspect.isclass(value) else "function"))
    lines = [home, "=" * len(home), "", f".. automodule:: {home}", "   :no-members:", ""]
    lines += [f".. currentmodule:: {home}", "", ".. autosummary::", "", *(f"   {name}" for name, _ in names), ""]
    lines += [".. toctree::", "   :maxdepth: 1", "", *(f"   {name}" for name in inner), ""]
    lines += [f".. auto{kind}:: {name}\n" for name, kind in names]
    (_REFERENCE / f"{home}.rst").write_text("\n".join(lines), "utf-8")
    for name, value in inner.items():
        _write_reference(name, value, seen)


def _names(module: ModuleType) -> list[str]:
    """Return ``__all__`` of a module, else what it defines without a leading underscore."""
    own = (name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__)
    return list(getattr(module, "__all__", None) or [name for name in own if not name.startswith("_")])


shutil.rmtree(_REFERENCE, ignore_errors=True)
_REFERENCE.mkdir()
_write_reference("azlatency", azlatency, set())
