"""Renew the pictures of the report in docs/images: in light and dark, and on a phone.

    franchise demo
    python tools/report_images.py franchise-demo/report.html

It needs playwright and a Chromium or Chrome (FRANCHISE_BROWSER=/path/to/it, or chromium on the PATH).
"""

import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
MARGIN = 16
CHOSEN = 3  # the topic that is looked at in the dark


def open_page(browser, address: str, width: int, theme: str) -> Page:
    """Return the report in a window of its own, when all of it is drawn."""
    page = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme).new_page()
    page.goto(address)
    page.wait_for_selector("html[data-drawn]")
    page.add_style_tag(
        content=".bar { position: static !important }"
    )  # or it would lie over what is further down
    return page


def keep(page: Page, name: str, first: str, last: str) -> None:
    """Write the page from one element to the end of another, as wide as the window."""
    edges = "([first, last]) => [first, last].map(x => document.querySelector(x).getBoundingClientRect())"
    begin, end = page.evaluate(edges, [first, last])
    top = max(0, begin["top"] - MARGIN + page.evaluate("scrollY"))
    height = end["bottom"] + MARGIN + page.evaluate("scrollY") - top
    clip = {"x": 0, "y": top, "width": page.viewport_size["width"], "height": height}
    page.screenshot(path=IMAGES / name, full_page=True, clip=clip)
    print(IMAGES / name)


def main() -> None:
    """Take the pictures."""
    address = Path(sys.argv[1]).resolve().as_uri()
    path = os.environ.get("FRANCHISE_BROWSER") or shutil.which("chromium")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        light = open_page(browser, address, 1184, "light")
        keep(light, "report-light.png", ".bar", "#map")
        keep(light, "report-top.png", ".bar", "#topic-table tbody tr:nth-child(6)")  # for README.md
        dark = open_page(browser, f"{address}#topic-{CHOSEN}", 1280, "dark")
        keep(dark, "report-dark.png", "#topic", "#topic")
        phone = open_page(browser, address, 390, "light")
        keep(phone, "report-phone.png", ".bar", "#topic-table tbody tr:nth-child(3)")
        browser.close()


if __name__ == "__main__":
    main()
