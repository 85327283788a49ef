"""Open every page of a built site in a browser, in light, dark and as wide as a phone; say what is wrong.

    python tools/site_look.py docs/_build/html [FOLDER]

That is: errors of scripts, what could not be loaded, pictures that are not there, pages wider than the
window, and a search that finds nothing. Pictures of the pages go into FOLDER, if it is given. It needs
playwright and a Chromium or Chrome (FRANCHISE_BROWSER=/path/to/it, or chromium on the PATH).
"""

import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

LOOKS = {"light": (1280, "light"), "dark": (1280, "dark"), "phone": (390, "light")}
BROKEN = "() => [...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
TOO_WIDE = "() => document.documentElement.scrollWidth - innerWidth"


def looked_at(browser, site: Path, pages: list[Path], look: str, folder: Path | None) -> list[str]:
    width, theme = LOOKS[look]
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
    page = context.new_page()
    found: list[str] = []
    where = ""
    page.on("pageerror", lambda error: found.append(f"{where}: {error}"))
    page.on("console", lambda said: said.type == "error" and found.append(f"{where}: {said.text}"))
    page.on("requestfailed", lambda request: found.append(f"{where}: {request.url} could not be loaded"))
    for path in pages:
        name = path.relative_to(site).with_suffix("")
        where = f"{name} ({look})"
        page.goto(path.as_uri())
        page.wait_for_load_state("load")
        found += [f"{where}: the picture {address} is broken" for address in page.evaluate(BROKEN)]
        if (over := page.evaluate(TOO_WIDE)) > 0:
            found.append(f"{where}: {over} pixels wider than the window")
        if folder:
            page.screenshot(path=folder / f"{str(name).replace('/', '_')}-{look}.png")
    context.close()
    return found


def search(browser, site: Path) -> list[str]:
    page = browser.new_page()
    page.goto((site / "search.html").as_uri() + "?q=split")
    page.wait_for_timeout(3000)
    found = page.locator("#search-results li").count()
    return [] if found else ["the search finds nothing"]


def main() -> None:
    site = Path(sys.argv[1]).resolve()
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    paths = sorted(site.rglob("*.html"))
    pages = [path for path in paths if not {"_static", "_modules"} & set(path.relative_to(site).parts)]
    path = os.environ.get("FRANCHISE_BROWSER") or shutil.which("chromium")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        found = search(browser, site)
        for look in LOOKS:
            found += looked_at(browser, site, pages, look, folder)
        browser.close()
    if found:
        sys.exit("\n".join(found))
    print(f"{len(pages)} pages looked at in {', '.join(LOOKS)}: nothing is broken")


if __name__ == "__main__":
    main()
