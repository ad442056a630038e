"""Take the screenshot for the README: ``make picture`` (needs Chromium and the test environment).

    python tools/picture.py SITE OUT.png

SITE is a folder written by ``azlatency report``. The page is opened from its file, in a window of laptop size.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

_TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(_TESTS), str(_TESTS / "site")]

_PAGE = "westeurope-azure-cni/00_summary.html"
#: The card with the answer.
_CARD = "document.querySelector('.answer')"
#: Maximum size of the image.
_MOST_BYTES = 300_000
_WIDTH, _HEIGHT = 1180, 880
_MARGIN = 8


def main() -> int:
    """Open the page and take a picture of its card."""
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    from test_pages import Browser

    page, out = Path(sys.argv[1]).resolve() / _PAGE, Path(sys.argv[2])
    if not page.is_file():
        print(f"{page}: not found; run make report first", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(Path(profile))
        try:
            size = {"width": _WIDTH, "height": _HEIGHT, "deviceScaleFactor": 1, "mobile": False}
            browser.call("Emulation.setDeviceMetricsOverride", **size)
            browser.call("Page.navigate", url=page.as_uri())
            browser.until(f"document.readyState == 'complete' && {_CARD}")
            x, y, width, height = browser.evaluate(
                f"(box => [box.x, box.y, box.width, box.height])({_CARD}.getBoundingClientRect())"
            )
            clip = {"x": x - _MARGIN, "y": y - _MARGIN, "width": width + 2 * _MARGIN, "height": height + 2 * _MARGIN}
            shot = browser.call("Page.captureScreenshot", format="png", clip={**clip, "scale": 1})
            picture = base64.b64decode(shot["data"])
        finally:
            browser.close()
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(picture)
    print(f"{out}: {len(picture):,} bytes")
    return 0 if len(picture) <= _MOST_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
