"""Open pages of the built site in Chromium: telephone and desk, light and dark.

    python3 scripts/documentation/browser.py CHROMIUM [FOLDER FOR SCREENSHOTS]

Checks that pages print nothing to the console, request nothing from elsewhere, are not wider than
the screen, have text of enough contrast (WCAG 2.1, level AA), and that search works by keyboard,
also where a page is opened from disk. Needs playwright.
"""

import functools
import http.server
import shutil
import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

SITE = Path(__file__).resolve().parents[2] / "target" / "site"
# Text with too little contrast: its color, the one behind it, and the ratio.
LOW_CONTRAST = """() => {
  const parse = (color) => {
    const numbers = color.match(/[\\d.]+/g).map(Number);
    return { rgb: numbers.slice(0, 3), alpha: numbers.length > 3 ? numbers[3] : 1 };
  };
  const over = (top, below) => top.rgb.map((c, i) => c * top.alpha + below[i] * (1 - top.alpha));
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const layer = parse(getComputedStyle(at).backgroundColor);
      if (layer.alpha > 0) layers.push(layer);
      if (layer.alpha === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (!text || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
      continue;
    if (element.closest('script, style, title, .md-search__output, .on')) continue;
    const style = getComputedStyle(element);
    const color = parse(element instanceof SVGElement ? style.fill : style.color);
    const background = behind(element);
    const pair = [luminance(over(color, background)), luminance(background)];
    const ratio = Math.max(...pair) / Math.min(...pair);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) found.add(`${ratio.toFixed(2)} ${text.slice(0, 40)}`);
  }
  return [...found];
}"""


def built_pages():
    """Return the pages of the site, without those that only redirect to others."""
    pages = []
    for file in sorted(SITE.rglob("*.html")):
        if 'http-equiv="refresh"' not in file.read_text(encoding="utf-8"):
            pages.append(file.relative_to(SITE).as_posix())
    return pages


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves the site without a line per request."""

    def log_message(self, *arguments):
        """Print nothing."""


def search(page, word):
    """Search by keyboard; return the number of results."""
    page.keyboard.press("/")
    page.keyboard.type(word)
    page.wait_for_selector(".md-search-result__item", timeout=10_000)
    count = page.locator(".md-search-result__item").count()
    page.keyboard.press("Escape")
    return count


def main():
    """Check the pages; the exit code is 1 if something is wrong."""
    screenshots = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    handler = functools.partial(QuietHandler, directory=SITE)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_port}/"
    program = shutil.which(sys.argv[1])
    if program is None:
        sys.exit(f"docs: no browser {sys.argv[1]}")
    findings = []
    pages = built_pages()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for width in (390, 1280):
            for scheme in ("light", "dark"):
                context = browser.new_context(
                    viewport={"width": width, "height": 900}, color_scheme=scheme
                )
                page = context.new_page()

                def note(text, page=page, width=width, scheme=scheme):
                    place = page.url.removeprefix(home)
                    findings.append(f"{place} ({width} pixels, {scheme}): {text}")

                page.on("console", lambda m: m.type in ("error", "warning") and note(m.text))
                page.on("pageerror", lambda error: note(str(error)))
                page.on(
                    "request",
                    lambda request: (
                        request.url.startswith((home, "data:", "blob:"))
                        or note(f"requests {request.url}")
                    ),
                )
                for place in pages:
                    page.goto(home + place)
                    page.wait_for_timeout(150)
                    excess = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                    if excess > 0:
                        note(f"{excess} pixels too wide")
                    for text in page.evaluate(LOW_CONTRAST):
                        note(f"contrast {text}")
                    if screenshots:
                        name = f"{place.replace('/', '-')}-{width}-{scheme}.png"
                        page.screenshot(path=screenshots / name)
                if width == 1280:
                    if search(page, "regret") == 0:
                        note("search finds nothing")
                    page.keyboard.press("Tab")
                    focused = page.evaluate("document.activeElement.tagName")
                    if focused == "BODY":
                        note("Tab reaches nothing")
                context.close()
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto((SITE / "index.html").as_uri())
        if search(page, "regret") == 0:
            findings.append("opened from disk: search finds nothing")
        browser.close()
    server.shutdown()
    for finding in findings:
        print(f"docs: {finding}", file=sys.stderr)
    print(f"docs: {len(pages)} pages at two widths in two schemes, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
