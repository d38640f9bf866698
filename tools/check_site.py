"""Checks the links of a built site: every link to a file, an anchor or a picture leads somewhere, and nothing is loaded from elsewhere.

    python tools/check_site.py target/site
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself, and where the address stands.
LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}
# Addresses for machines that read the page: nothing is fetched from them.
TOLD = {"canonical", "prev", "next"}


class Document(HTMLParser):
    """The anchors and addresses of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        has = dict(attributes)
        self.anchors |= {value for key in ("id", "name") if (value := has.get(key))}
        if tag == "a" and has.get("href"):
            self.links.append(str(has["href"]))
        elif tag in LOADED and has.get(LOADED[tag]) and has.get("rel") not in TOLD:
            self.loads.append(str(has[LOADED[tag]]))


def problems(site: Path) -> list[str]:
    pages = {path: Document(path) for path in sorted(site.rglob("*.html"))}
    found = []
    for page, document in pages.items():
        # The page for what is not found is served at every depth: its links are absolute.
        if page.name == "404.html":
            continue
        for address in document.links + document.loads:
            parts = urlsplit(address)
            if parts.scheme in ("http", "https"):
                if address in document.loads:
                    found.append(f"{page}: loads {address}")
                continue
            if parts.scheme:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                found.append(f"{page}: {address} is not there")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{page}: {address} has no such place")
    return found


def main() -> int:
    site = Path(sys.argv[1]).resolve()
    found = problems(site)
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    count = len(list(site.rglob("*.html")))
    print(f"{count} pages, {len(found)} links that lead nowhere")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
