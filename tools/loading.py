"""How long the pages of a site take to open in Chromium, and how large they are: ``make loading`` (needs Chromium).

    python tools/loading.py SITE [--times N] [--fresh N] [PAGE ...]

SITE is a folder that ``azlatency report`` wrote; without PAGE, all of its pages. Each is opened N times (5) from its
file in one browser that has opened another page before. Per page, in milliseconds from the start of the navigation:
median and worst of the end of the load event, medians of when the first words were painted and of when the browser was
idle with everything in view drawn; medians of the processor time of the page's thread until it has taken up everything
(script, style, layout, everything); and the elements at load. With ``--fresh``, also the load of each page as the first
that a new browser opens, beside that of an empty page.
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

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

if TYPE_CHECKING:
    from test_pages import Browser

_EMPTY = "<!DOCTYPE html><html lang=en><title>Empty</title><p>Empty</p></html>"
_SETTLED = "new Promise(done => setTimeout(() => done(1), 100))"
_IDLE = "new Promise(done => requestAnimationFrame(() => requestIdleCallback(() => done(performance.now()))))"
_LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
_PAINTED = "(performance.getEntriesByName('first-contentful-paint')[0] || {startTime: NaN}).startTime"
_ELEMENTS = "document.querySelectorAll('*').length"
_PARTS = ("Script", "RecalcStyle", "Layout", "Task")


@contextmanager
def _browser() -> Iterator[Browser]:
    from test_pages import Browser

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        running = Browser(Path(profile))
        try:
            # Watching the network and the console costs a page up to a hundred milliseconds that no reader pays.
            for domain in ("Network", "Log", "Runtime"):
                running.call(f"{domain}.disable")
            running.call("Performance.enable", timeDomain="threadTicks")
            yield running
        finally:
            running.close()


def _opened(browser: Browser, page: Path) -> list[float]:
    """Load, first paint, elements, and processor times by `_PARTS`, of one load; milliseconds."""
    browser.open(page, whole=False)
    elements, idle, loaded = map(browser.evaluate, (_ELEMENTS, _IDLE, _LOADED))
    browser.until("!document.querySelector('.folded')")
    browser.evaluate(_SETTLED)
    # Chromium counts anew for every page.
    metrics = {each["name"]: each["value"] for each in browser.call("Performance.getMetrics")["metrics"]}
    spent = [1e3 * metrics[f"{part}Duration"] for part in _PARTS]
    return [loaded, browser.evaluate(_PAINTED), idle, elements, *spent]


def _fresh(page: Path) -> float:
    """The load of a page as the first of a new browser, in milliseconds."""
    with _browser() as browser:
        browser.open(page, whole=False)
        return float(browser.evaluate(_LOADED))


def main() -> int:
    """Open every page, print a line for each, the slowest first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("pages", nargs="*")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--fresh", type=int, default=0)
    said = parser.parse_intermixed_args()
    pages = [said.site / each for each in said.pages] or sorted(said.site.rglob("*.html"))
    if missing := [str(each) for each in pages if not each.is_file()] or ([] if pages else [str(said.site)]):
        print(f"{missing[0]}: not there; run make report first", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, _browser() as browser:
        empty = Path(folder) / "empty.html"
        empty.write_text(_EMPTY)
        # The first page of a kind pays for the renderer's process and the fonts.
        for page in (empty, pages[0]):
            browser.open(page, whole=False)
        # In rounds: what else the machine does then disturbs all pages alike.
        loads = [[_opened(browser, page) for page in pages] for _ in range(said.times)]
        _tell(said.site, [(page, [each[number] for each in loads]) for number, page in enumerate(pages)])
        for page in [empty, *pages] if said.fresh else ():
            times = sorted(_fresh(page) for _ in range(said.fresh))
            print(f"first of a new browser: {statistics.median(times):5.0f}, worst {times[-1]:5.0f}  {page.name}")
    return 0


def _tell(site: Path, found: list[tuple[Path, list[list[float]]]]) -> None:
    print("median  worst  paint   idle  script  style  layout  all tasks  elements       kB  page")
    medians = []
    for page, loads in sorted(found, key=lambda each: -statistics.median(load[0] for load in each[1])):
        load, paint, idle, elements, *spent = (statistics.median(values) for values in zip(*loads, strict=True))
        medians.append(load)
        worst = max(each[0] for each in loads)
        print(
            f"{load:6.0f} {worst:6.0f} {paint:6.0f} {idle:6.0f} "
            f"{spent[0]:7.0f} {spent[1]:6.0f} {spent[2]:7.0f} {spent[3]:10.0f} "
            f"{elements:9,.0f} {page.stat().st_size / 1e3:8,.0f}  {page.relative_to(site)}"
        )
    print(f"{statistics.median(medians):6.0f} over all {len(medians)} pages, the slowest {max(medians):.0f}")


if __name__ == "__main__":
    sys.exit(main())
