"""Check the pages of a built site: links, anchors, pictures, scripts; that nothing is fetched from elsewhere.

    python tools/site_links.py docs/_build/html

Links to other sites are not followed (`make docs-links` does that).
"""

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Elements whose address the browser fetches by itself, and the attribute that has it.
FETCHED = {"img": "src", "script": "src", "source": "src", "iframe": "src"}
STYLE = {"stylesheet", "preload", "icon", "modulepreload"}


@dataclass
class Page(HTMLParser):
    """What a page has (its anchors) and what it points to."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    without_text: list[str] = field(default_factory=list)  # pictures without a description

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        if tag == "a" and (address := given.get("href")):
            self.links.append(address)
        if tag == "link" and (given.get("rel") or "") in STYLE and (address := given.get("href")):
            self.fetched.append(address)
        if address := given.get(FETCHED.get(tag, "")):
            self.fetched.append(address)
        for one in (given.get("srcset") or "").split(","):
            self.fetched += one.split()[:1]
        if tag == "img" and given.get("alt") is None:  # an empty one says that it is an ornament
            self.without_text.append(given.get("src") or "")

    handle_startendtag = handle_starttag


def problems(site: Path) -> list[str]:
    """Return what is wrong, one line each."""
    site = site.resolve()
    paths = sorted(site.rglob("*.html"))
    pages = {path: Page(path) for path in paths if "_static" not in path.relative_to(site).parts}
    found = [] if pages else [f"{site}: there are no pages"]
    reached = {site / "index.html", site / "search.html", site / "genindex.html", site / "py-modindex.html"}
    for path, page in pages.items():
        where = path.relative_to(site)
        found += [f"{where}: the picture {address} has no text" for address in page.without_text]
        for address in page.links + page.fetched:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if address in page.fetched and parts.scheme != "data":
                    found.append(f"{where}: {address} would be fetched from elsewhere")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if target != path:
                reached.add(target)
            anchor = unquote(parts.fragment)
            if not target.is_file():
                found.append(f"{where}: {address} is not there")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                found.append(f"{where}: {address} has no such anchor")
    found += [f"{path.relative_to(site)}: no other page leads to it" for path in pages if path not in reached]
    return found


def main() -> None:
    site = Path(sys.argv[1])
    if found := problems(site):
        sys.exit("\n".join(found))
    print(f"{site}: all links, pictures and anchors of {len(list(site.rglob('*.html')))} pages are there")


if __name__ == "__main__":
    main()
