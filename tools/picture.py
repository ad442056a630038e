"""The picture of the README, of a real page: ``make picture`` (needs Chromium, and the test environment).

    python tools/picture.py SITE OUT.png

SITE is a folder that ``azlatency report`` wrote. The page is opened from the file, in the window of a laptop.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

_PAGE = "emulated-zones/04_zone_pair_asymmetry.html"
_SECTION = "is-a-transfer-slower-in-one-direction"
#: What the README may cost.
_MOST_BYTES = 300_000
_WIDTH, _HEIGHT = 1180, 880


def main() -> int:
    """Open, scroll to the section, take the picture."""
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    from test_pages import Browser

    page, out = Path(sys.argv[1]).resolve() / _PAGE, Path(sys.argv[2])
    if not page.is_file():
        print(f"{page}: not there; run make report first", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(Path(profile))
        try:
            size = {"width": _WIDTH, "height": _HEIGHT, "deviceScaleFactor": 1, "mobile": False}
            browser.call("Emulation.setDeviceMetricsOverride", **size)
            browser.call("Page.navigate", url=page.as_uri())
            browser.until(f"document.readyState == 'complete' && document.getElementById('{_SECTION}')")
            scroll = f"document.getElementById('{_SECTION}').scrollIntoView({{behavior: 'instant'}})"
            # Twice: what comes into view only then gets its size.
            for _ in range(2):
                browser.evaluate(f"{scroll}; new Promise(done => setTimeout(() => done(1), 500))")
            picture = base64.b64decode(browser.call("Page.captureScreenshot", format="png")["data"])
        finally:
            browser.close()
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(picture)
    print(f"{out}: {len(picture):,} bytes")
    return 0 if len(picture) <= _MOST_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
