"""Checks of the built site: every link leads to a file and an anchor, and nothing is requested from
elsewhere.
"""

import html.parser
import re
import sys
import urllib.parse
from pathlib import Path

# Attributes that a browser follows by itself, by element.
REQUESTS = {
    "script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "link": "href",
    "use": "href", "object": "data", "embed": "src",
}  # fmt: skip
STYLE_URL = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


class Page(html.parser.HTMLParser):
    """Links, requests and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.requests, self.anchors, self.labels = [], [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Collect what an element refers to."""
        values = dict(attributes)
        if values.get("id"):
            self.anchors.add(values["id"])
        if tag == "a" and values.get("name"):
            self.anchors.add(values["name"])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if values.get(REQUESTS.get(tag, "")):
            self.requests.append(values[REQUESTS[tag]])
        if tag == "img" and "alt" not in values:
            self.labels.append(values.get("src", "?"))


def is_elsewhere(address):
    """Whether an address leaves the site."""
    return re.match(r"[a-z]+:|//", address) is not None and not address.startswith("data:")


def findings(site):
    """Yield a line for everything that is wrong with the site."""
    pages = {path: Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        place = path.relative_to(site)
        for image in page.labels:
            yield f"{place}: image {image} has no text in its place"
        for address in page.requests:
            if is_elsewhere(address):
                yield f"{place}: requests {address}"
        for address in [*page.links, *page.requests]:
            if is_elsewhere(address) or address.startswith("data:"):
                continue
            file, _, anchor = urllib.parse.unquote(address).partition("#")
            file = file.partition("?")[0]
            # The page for addresses that do not exist is served from any folder.
            if place.name == "404.html" and file.startswith("/"):
                continue
            target = (path.parent / file).resolve() if file else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                yield f"{place}: {address} does not exist"
            elif anchor and target in pages and anchor not in pages[target].anchors:
                if anchor not in ("__drawer", "__search"):
                    yield f"{place}: {address}: no such heading"
    for path in sorted(site.rglob("*.css")):
        for match in STYLE_URL.finditer(path.read_text()):
            address = match[1] or match[2]
            if is_elsewhere(address):
                yield f"{path.relative_to(site)}: requests {address}"


def check(site):
    """Print what is wrong with the site; return whether nothing is."""
    found = list(findings(Path(site)))
    for line in found:
        print(f"docs: {line}", file=sys.stderr)
    count = sum(1 for _ in Path(site).rglob("*.html"))
    print(f"docs: {count} pages in {site}, {len(found)} findings")
    return not found
