"""The pages of the public API."""

from __future__ import annotations

from bs4 import BeautifulSoup

from azlatency.site.api import _markdown, modules
from azlatency.site.markdown import markdown


def test_every_public_name_is_documented() -> None:
    from azlatency import _HOMES

    documented = {f"{module.name}.{entry.name}": entry for module in modules(_HOMES) for entry in module.entries}
    namespaces = {".".join(name.split(".")[:-1]) for name in documented}
    for name, home in _HOMES.items():
        entry = documented.get(f"{home}.{name}")
        assert entry is not None or any(f"{namespace}.".startswith(f"{home}.") for namespace in namespaces), name
        assert entry is None or (entry.text and entry.signature.startswith((f"{name}(", f"class {name}"))), name
    assert "strict: bool=False" in documented["azlatency.logs.parse.parse"].signature
    assert "azlatency.report.findings.latency.find" in documented


def test_numpydoc_sections_become_lists() -> None:
    text = """Return the runs.

Parameters
----------
runs : DataFrame
    One row per run, see :func:`latency`.

    A second paragraph.
margin : float

Returns
-------
Table
    The runs.

Examples
--------
>>> runs()  # doctest: +SKIP
1

More.
"""
    html = markdown(_markdown(text))
    page = BeautifulSoup(html, "html.parser")
    assert [item.code.get_text() for item in page.select("li")] == ["runs", "margin", "Table"]
    assert [title.get_text() for title in page.select("p > strong")] == ["Parameters", "Returns", "Examples"]
    assert "A second paragraph." in page.li.get_text() and ":func:" not in page.get_text()
    assert page.pre.get_text().splitlines() == [">>> runs()", "1"]
