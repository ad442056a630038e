"""Notebooks to build a site from, and the links of the result."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import nbformat
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_notebook


def parameters(text: str) -> Any:
    cell = new_code_cell(text)
    cell.metadata["tags"] = ["parameters"]
    return cell


def write(folder: Path, name: str, *cells: Any) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    nbformat.write(new_notebook(cells=[parameters('study = "none"  # the study'), *cells]), path)
    return path


def broken_links(site: Path) -> list[str]:
    """Relative links of all pages of a site, those of the search among them, that lead nowhere."""
    from urllib.parse import unquote

    texts = {path.resolve(): path.read_text("utf-8") for path in site.rglob("*.html")}
    ids = {path: set(re.findall(r'\sid="([^"]*)"', text)) for path, text in texts.items()}
    broken = []
    for path, text in texts.items():
        links = [html.unescape(link) for link in re.findall(r'<a [^>]*?href="([^"]*)"', text)]
        if path.name == "search.html":
            documents = json.loads(BeautifulSoup(text, "html.parser").select_one("#texts").string)
            links += [f"{url}#{anchor}" if anchor else url for url, _, _, parts in documents for _, anchor, *_ in parts]
        for link in links:
            target, _, fragment = link.partition("#")
            if "://" in target or target.startswith("mailto:"):
                continue
            file = (path.parent / unquote(target)).resolve() if target else path
            if not file.is_file() or (fragment and not {fragment, unquote(fragment)} & ids.get(file, set())):
                broken.append(f"{path.name}: {link}")
    return broken
