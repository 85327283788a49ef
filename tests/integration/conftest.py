from pathlib import Path

import pytest

from tests.integration.browsing import FLAGS, NO_BROWSER, Seen, find_browser


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        path = find_browser(started.chromium.executable_path)
        if path is None:
            pytest.skip(NO_BROWSER)
        chromium = started.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def seen(browser):
    opened: list[Seen] = []

    def open_page(path: Path, **context) -> Seen:
        opened.append(Seen(browser, path, **context))
        return opened[-1]

    yield open_page
    for one in opened:
        one.context.close()
        one.check()
