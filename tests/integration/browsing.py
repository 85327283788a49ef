"""Pages that are open in a real browser."""

import json
import os
import shutil
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
NO_BROWSER = (
    "there is no Chromium or Chrome: run 'playwright install chromium', install your system's chromium, or "
    "name one by FRANCHISE_BROWSER=/path/to/it"
)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def find_browser(of_playwright: str) -> str | None:
    """The browser that the user names, or playwright's own, or one on the PATH."""
    if named := os.environ.get("FRANCHISE_BROWSER"):
        return named
    if Path(of_playwright).exists():
        return of_playwright
    return next(filter(None, map(shutil.which, NAMES)), None)


class Seen:
    """A page that is open, and what it complained of or asked for."""

    def __init__(self, browser, path: Path, **context) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context})
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.address = path.as_uri()
        self.page.goto(self.address)
        self.page.wait_for_selector("html[data-drawn]", timeout=20_000)

    def reset(self) -> None:
        """Bring the page back to where it was."""
        self.page.fill("#topic-search", "")
        self.page.fill("#document-search", "")
        self.page.select_option("#document-topic", "")
        self.page.select_option("#topic-choice", "0")

    def check(self) -> None:
        """Wherever a test has been: nothing complained, and nothing but the file was asked for."""
        assert self.complaints == []
        assert {address.partition("#")[0] for address in self.requests} == {self.address}

    def texts(self, selector: str) -> list[str]:
        return [text.strip() for text in self.page.locator(selector).all_text_contents()]

    def data(self) -> dict:
        return json.loads(self.page.locator("#report-data").text_content())


def rows(one: Seen) -> list[int]:
    return [
        int(x)
        for x in one.page.locator("#topic-table tbody tr").evaluate_all(
            "all => all.map(r => r.dataset.topic)"
        )
    ]
