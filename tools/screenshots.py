"""Pictures of the viewer for the documentation: light, dark, and on a phone.

    python tools/screenshots.py            # writes docs/images/view-*.png

Needs Chromium and Playwright's Python package; the picture of an agent is the sample's.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from adf_format import sample
from adf_format.cli.main import run

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
SHOTS = (
    ("view-overview", "overview", "light", 1200, 1000),
    ("view-transcript", "transcripts", "light", 1200, 1000),
    ("view-dark", "transcripts", "dark", 1200, 1000),
    ("view-phone", "transcripts", "light", 390, 844),
)
UNFOLD = "document.querySelectorAll('#fold-1 > details, #S11 .thinking').forEach(one => one.open = true)"


def main() -> None:
    """Write the pictures."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sys.exit("the package playwright is not installed")
    chromium = shutil.which("chromium") or sys.exit("Chromium is not installed")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as started:
        agent, page = Path(scratch) / "ada.adf", Path(scratch) / "ada.html"
        sample.build(agent, 32)
        run(["view", str(agent), "-o", str(page), "--quiet"])
        browser = started.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for name, anchor, scheme, width, height in SHOTS:
            _shot(browser, page, IMAGES / f"{name}.png", anchor, scheme, {"width": width, "height": height})
        browser.close()


def _shot(browser: Any, page: Path, target: Path, anchor: str, scheme: str, size: dict[str, int]) -> None:
    context = browser.new_context(viewport=size, color_scheme=scheme, offline=True)
    tab = context.new_page()
    tab.goto(f"{page.as_uri()}#{anchor}")
    tab.evaluate(UNFOLD)
    tab.wait_for_timeout(200)
    tab.screenshot(path=str(target))
    context.close()
    print(f"{target.name}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
