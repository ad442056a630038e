"""Measure how long the pages of a site take to open in Chromium, and how much they show: ``make loading``.

    python tools/loading.py SITE [--times N] [--fresh N] [PAGE ...]

SITE is a folder written by ``azlatency report``; without PAGE, all of its pages are measured. Each page is opened N
times (default 5) from its file, in a browser that has opened another page before. The table has one line per page, in
milliseconds since the start of the navigation: median and maximum of the end of the load event; medians of the first
paint and of the time when the browser is idle; medians of the CPU time of the page's thread (script, style, layout,
all tasks); the number of elements at load; the words that a reader sees without opening a fold; the width of the widest
table in pixels; and the height of the page in screens of 900 px. It needs Chromium. With ``--fresh``, each page
is also opened as the first page of a new browser, next to an empty page.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

_TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(_TESTS), str(_TESTS / "site")]

if TYPE_CHECKING:
    from test_pages import Browser

_EMPTY = "<!DOCTYPE html><html lang=en><title>Empty</title><p>Empty</p></html>"
_SETTLED = "new Promise(done => setTimeout(() => done(1), 100))"
_IDLE = "new Promise(done => requestAnimationFrame(() => requestIdleCallback(() => done(performance.now()))))"
_LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
_PAINTED = "(performance.getEntriesByName('first-contentful-paint')[0] || {startTime: NaN}).startTime"
_ELEMENTS = "document.querySelectorAll('*').length"
_WORDS = "document.body.innerText.split(/\\s+/).filter(Boolean).length"
_WIDEST = "Math.max(0, ...[...document.querySelectorAll('table')].map(table => table.scrollWidth))"
_SCREENS = "document.documentElement.scrollHeight / 900"
_PARTS = ("Script", "RecalcStyle", "Layout", "Task")


@contextmanager
def _browser() -> Iterator[Browser]:
    from test_pages import Browser

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        running = Browser(Path(profile))
        try:
            # Watching the network and the console would add up to 100 ms per page.
            for domain in ("Network", "Log", "Runtime"):
                running.call(f"{domain}.disable")
            running.call("Performance.enable", timeDomain="threadTicks")
            yield running
        finally:
            running.close()


def _measure(browser: Browser, page: Path) -> list[float]:
    """Open a page; return load, paint and idle time in ms, its contents, and the CPU times of `_PARTS` in ms.

    The contents are the elements, words, pixels of the widest table, and screens.
    """
    browser.open(page, whole=False)
    elements, idle, loaded = map(browser.evaluate, (_ELEMENTS, _IDLE, _LOADED))
    browser.until("!document.querySelector('.folded')")
    browser.evaluate(_SETTLED)
    # Chromium resets these counters for every page.
    metrics = {metric["name"]: metric["value"] for metric in browser.call("Performance.getMetrics")["metrics"]}
    cpu = [1e3 * metrics[f"{part}Duration"] for part in _PARTS]
    words, widest, screens = map(browser.evaluate, (_WORDS, _WIDEST, _SCREENS))
    return [loaded, browser.evaluate(_PAINTED), idle, elements, words, widest, screens, *cpu]


def _fresh(page: Path) -> float:
    """Return the load time of a page as the first page of a new browser, in milliseconds."""
    with _browser() as browser:
        browser.open(page, whole=False)
        return float(browser.evaluate(_LOADED))


def main() -> int:
    """Measure every page and print one line per page, the slowest first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("pages", nargs="*")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--fresh", type=int, default=0)
    options = parser.parse_intermixed_args()
    pages = [options.site / page for page in options.pages] or sorted(options.site.rglob("*.html"))
    if missing := [str(page) for page in pages if not page.is_file()] or ([] if pages else [str(options.site)]):
        print(f"{missing[0]}: not found; run make report first", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, _browser() as browser:
        empty = Path(folder) / "empty.html"
        empty.write_text(_EMPTY)
        # The first page also pays for the start of the renderer process and for the fonts.
        for page in (empty, pages[0]):
            browser.open(page, whole=False)
        # Measure in rounds, so that other load on the machine affects all pages alike.
        loads = [[_measure(browser, page) for page in pages] for _ in range(options.times)]
        _print_table(options.site, [(page, [turn[number] for turn in loads]) for number, page in enumerate(pages)])
        for page in [empty, *pages] if options.fresh else ():
            times = sorted(_fresh(page) for _ in range(options.fresh))
            print(f"first of a new browser: {statistics.median(times):5.0f}, worst {times[-1]:5.0f}  {page.name}")
    return 0


def _print_table(site: Path, measured: list[tuple[Path, list[list[float]]]]) -> None:
    print(
        "median  worst  paint   idle  script  style  layout  all tasks  elements  words  table  screens       kB  page"
    )
    medians, visible = [], 0.0
    for page, loads in sorted(measured, key=lambda item: -statistics.median(load[0] for load in item[1])):
        load, paint, idle, elements, words, widest, screens, *cpu = (
            statistics.median(values) for values in zip(*loads, strict=True)
        )
        medians.append(load)
        worst = max(load_times[0] for load_times in loads)
        print(
            f"{load:6.0f} {worst:6.0f} {paint:6.0f} {idle:6.0f} "
            f"{cpu[0]:7.0f} {cpu[1]:6.0f} {cpu[2]:7.0f} {cpu[3]:10.0f} "
            f"{elements:9,.0f} {words:6,.0f} {widest:6,.0f} {screens:8.1f} "
            f"{page.stat().st_size / 1e3:8,.0f}  {page.relative_to(site)}"
        )
        # Pages of studies are next to a summary.
        visible += words * (page.parent / "00_summary.html").is_file()
    print(f"{visible:,.0f} words on the pages of studies")
    print(f"{statistics.median(medians):6.0f} over all {len(medians)} pages, the slowest {max(medians):.0f}")


if __name__ == "__main__":
    sys.exit(main())
