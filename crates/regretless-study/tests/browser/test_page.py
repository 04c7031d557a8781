"""Opens reports in Chromium, operates their tabs, switches, legend and tables, and measures whether
they can be read on a telephone and on a desk, light and dark, and printed.

    python test_page.py CHROMIUM FOLDER [SCREENSHOTS]

FOLDER contains report.html and comparison.html of results with a method name that is HTML
(`hostile.py`), backtest.html and training.html of a history whose names are HTML, smoke.html of a
smoke test, and fit-battery.html and fit-houses.html of the examples of `regretless fit`. The first
failed check ends the test.
"""

import os
import sys
import xml.dom.minidom
from pathlib import Path

from playwright.sync_api import sync_playwright

MAX_PAGE_BYTES = 1_500_000
HOSTILE_NAME = "<img src=x onerror=alert(1)>"
# Type below 11 pixels is hard to read on a telephone; contrast as WCAG 2.1 asks for at level AA.
MIN_TYPE_PIXELS = 11
MIN_CONTRAST = 4.5

PAGES = ("report", "comparison", "backtest", "training", "smoke")
FITS = ("fit-battery", "fit-houses")

# The smallest type and the lowest contrast of all visible text, each with the text.
MEASURE_TEXT = """() => {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => {
    const channel = (value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    };
    const [red, green, blue] = numbers(color).map(channel);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
  };
  const background = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      const parts = numbers(color);
      if (parts.length < 4 || parts[3] > 0) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  const lowest = { type: [Infinity, ''], contrast: [Infinity, ''] };
  const measure = (element, text, size, color) => {
    if (size < lowest.type[0]) lowest.type = [size, text];
    const [one, other] = [luminance(color), luminance(background(element))];
    const contrast = Math.max(one, other) / Math.min(one, other);
    if (contrast < lowest.contrast[0]) lowest.contrast = [contrast, text];
  };
  let count = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (!text || element.getClientRects().length === 0 || element.closest('script,title')) continue;
    const style = getComputedStyle(element);
    const inFigure = element instanceof SVGElement;
    const matrix = inFigure ? element.getScreenCTM() : null;
    const scale = matrix ? Math.hypot(matrix.a, matrix.b) : 1;
    const color = inFigure ? style.fill : style.color;
    measure(element, text, parseFloat(style.fontSize) * scale, color);
    count += 1;
  }
  return { ...lowest, count };
}"""


def check(passed, statement):
    if not passed:
        raise SystemExit(f"browser-test: FAILED: {statement}")
    print(f"browser-test: ok: {statement}")


def visible(page, selector):
    return page.locator(selector).evaluate_all(
        "elements => elements.filter((e) => e.getClientRects().length > 0).length"
    )


def sort_keys(page, table, column):
    """The numbers by which the rows of a table are sorted, None where a cell has none."""
    keys = page.locator(f"{table} tbody tr").evaluate_all(
        f"rows => rows.map((row) => row.cells[{column}].dataset.key ?? null)"
    )
    return [None if key is None else float(key) for key in keys]


def tabs(page):
    page.click('[data-tab="all"]')
    everything = visible(page, "figure")
    page.click('[data-tab="0"]')
    selected = visible(page, "figure")
    check(
        0 < selected < everything,
        f"a tab shows only its problem ({selected} of {everything} figures)",
    )
    check(visible(page, 'figure[data-problem="1"]') == 0, "figures of other problems are hidden")
    check(
        page.get_attribute('[data-tab="0"]', "aria-selected") == "true",
        "the tab is marked as selected",
    )


def time_axis(page):
    check(
        visible(page, '[data-axis="log"]') > 0 and visible(page, '[data-axis="linear"]') == 0,
        "time is logarithmic at first",
    )
    page.click('[data-time="linear"]')
    check(
        visible(page, '[data-axis="linear"]') > 0 and visible(page, '[data-axis="log"]') == 0,
        "the switch shows linear time",
    )
    page.click('[data-time="log"]')


def legend(page):
    page.evaluate('document.querySelector("nav details").open = true')
    before = visible(page, '[data-method="1"]')
    page.click('[data-legend="1"]')
    check(
        before > 2 and visible(page, '[data-method="1"]') == 0,
        f"the legend hides all {before} marks and rows of a method",
    )
    page.click('[data-legend="1"]')
    check(visible(page, '[data-method="1"]') == before, "a second click shows them again")
    page.dblclick('[data-legend="2"]')
    check(
        visible(page, '[data-method="0"]') == 0 and visible(page, '[data-method="2"]') > 0,
        "a double click shows one method only",
    )
    page.click("[data-every]")
    check(visible(page, '[data-method="0"]') > 0, "the button shows all methods again")
    page.evaluate('document.querySelector("nav details").open = false')


def sorting(page):
    page.click("#overview thead th:nth-child(2) button")
    keys = [key for key in sort_keys(page, "#overview", 1) if key is not None]
    check(len(keys) > 5 and keys == sorted(keys), "a click on a title sorts upwards")
    page.click("#overview thead th:nth-child(2) button")
    check(
        [key for key in sort_keys(page, "#overview", 1) if key is not None] == keys[::-1],
        "a second click sorts downwards",
    )
    page.click("#overview thead th:nth-child(1) button")
    order = sort_keys(page, "#overview", 0)
    check(order == sorted(order), "the first column brings back the order of the experiment")


def tooltips(page):
    mark = page.locator("#bars .mark:visible").first
    mark.scroll_into_view_if_needed()
    mark.locator("rect").first.hover(force=True)
    text = page.inner_text("#tip")
    check("ratio" in text and "seed" in text, f"a tooltip has exact numbers: {text!r}")


def downloads(page):
    button = page.locator("[data-save]:visible").first
    with page.expect_download() as download:
        button.click()
    text = Path(download.value.path()).read_text()
    document = xml.dom.minidom.parseString(text)
    check(
        download.value.suggested_filename.endswith(".svg")
        and document.getElementsByTagName("style").length == 1
        and document.getElementsByTagName("title").length > 0,
        "a downloaded figure is a complete SVG with a style sheet",
    )


def hostile(page):
    check(page.locator("img").count() == 0, "a method name that is HTML creates no element")
    check(
        HOSTILE_NAME in page.inner_text("header") and HOSTILE_NAME in page.inner_text("#overview"),
        "it is shown as text",
    )


def readable(page, name):
    """The page fits its window, and its text can be read."""
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    check(overflow <= 0, f"{name}: the page is no wider than the window")
    found = page.evaluate(MEASURE_TEXT)
    check(found["count"] > 100, f"{name}: {found['count']} texts are visible")
    size, text = found["type"]
    check(size >= MIN_TYPE_PIXELS, f"{name}: the smallest type has {size:.1f} pixels ({text!r})")
    contrast, text = found["contrast"]
    check(contrast >= MIN_CONTRAST, f"{name}: the lowest contrast is {contrast:.1f} ({text!r})")


def own_data(page, name, width):
    """The first screen of a page about own data has the verdict and its numbers; terms and lists
    open by the keyboard; without scripts everything is there."""
    tiles = page.locator(".tiles li").evaluate_all(
        "tiles => tiles.map((tile) => tile.getBoundingClientRect().bottom)"
    )
    shown = [bottom for bottom in tiles if bottom < 900]
    wanted = len(tiles) if width > 1000 else 1
    check(len(tiles) >= 3 and len(shown) >= wanted, f"{name}: numbers are on the first screen")
    check(page.locator("img").count() == 0, f"{name}: names that are HTML are text")
    page.locator("details.terms summary").focus()
    page.keyboard.press("Enter")
    check(visible(page, "details.terms dd") > 3, f"{name}: the keyboard opens the terms")
    found = page.evaluate(MEASURE_TEXT)
    check(found["contrast"][0] >= MIN_CONTRAST, f"{name}: the terms can be read")
    page.keyboard.press("Enter")
    check(visible(page, "#explained svg .mark") > 3, f"{name}: the decision is drawn")


def fitted(page, name, width):
    """The page of a fit: question, verdict, numbers and drawings, each within the window."""
    title = page.inner_text("h1")
    check(title.endswith("?"), f"{name}: the title is a question ({title!r})")
    tiles = page.locator(".tiles li")
    check(tiles.count() >= 3, f"{name}: {tiles.count()} numbers")
    # Weeks of offers have no order in which money could add up.
    over_time = ["money"] if "battery" in name else []
    for part in (*over_time, "methods", "regrets", "examples"):
        check(page.locator(f"#{part}").is_visible(), f"{name}: {part} is shown")
        check(visible(page, f"#{part} svg, #{part} table") > 0, f"{name}: {part} is not empty")
    drawn = page.locator("figure svg").evaluate_all(
        "drawings => drawings.filter((e) => e.getClientRects().length > 0)"
        ".map((e) => e.getBoundingClientRect().right)"
    )
    check(len(drawn) > 3 and max(drawn) <= width, f"{name}: {len(drawn)} drawings fit")


def without_scripts(browser, folder):
    """A page about own data is complete where scripts are off."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "backtest.html").as_uri())
    for part in ("money", "methods", "regrets", "sources", "examples", "explained"):
        check(page.locator(f"#{part}").is_visible(), f"without scripts: {part} is shown")
    context.close()


def tops(page, selector):
    return page.locator(selector).evaluate_all(
        "elements => elements.filter((e) => e.getClientRects().length > 0)"
        ".map((e) => Math.round(e.getBoundingClientRect().top))"
    )


def layout(page, name, is_wide):
    """Problems stand side by side where there is space, and tables say that they scroll."""
    heights = tops(page, "#bars figure")
    if is_wide:
        check(len(heights) > 1 and len(set(heights)) == 1, f"{name}: problems stand side by side")
    else:
        check(len(set(heights)) == len(heights) > 1, f"{name}: problems stand below each other")
        hints = visible(page, ".scroll-hint")
        check(hints > 0, f"{name}: {hints} tables say that they scroll")
    shown, hidden = ("on-wide", "on-narrow") if is_wide else ("on-narrow", "on-wide")
    check(
        visible(page, f"#examples .{shown}") > 0 and visible(page, f"#examples .{hidden}") == 0,
        f"{name}: drawings are those of the width",
    )


def printed(page, name):
    page.emulate_media(media="print")
    check(visible(page, ".controls, .save") == 0, f"{name}: print has no controls")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    check(paper == "rgb(255, 255, 255)", f"{name}: print is light")
    page.emulate_media(media="screen")


def measure_pages(browser, folder, screenshots, listen):
    """Every page in every width and scheme."""
    for width, scheme in [(w, s) for w in (390, 1280) for s in ("light", "dark")]:
        for report in (*PAGES, *FITS):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            listen(page)
            page.goto((folder / f"{report}.html").as_uri())
            name = f"{report}, {width} pixels, {scheme}"
            readable(page, name)
            if report == "report":
                layout(page, name, width > 1000)
            if report == "smoke":
                check(visible(page, ".smoke-banner") == 1, f"{name}: it says that it is one")
                texts = page.locator("svg .small.faint").all_text_contents()
                marked = [text for text in texts if "SMOKE TEST" in text]
                check(marked, f"{name}: so do {len(marked)} drawings")
            if report in ("backtest", "training"):
                own_data(page, name, width)
            if report in FITS:
                fitted(page, name, width)
            if report in ("comparison", "backtest", "training", *FITS):
                top = page.locator(".verdict").bounding_box()["y"]
                check(top < 400, f"{name}: the verdict is on the first screen")
                check(page.locator("img").count() == 0, f"{name}: names that are HTML are text")
            printed(page, name)
            if screenshots:
                file = screenshots / f"{report}-{width}-{scheme}.png"
                page.screenshot(path=file, full_page=True)
            page.close()


def main():
    browser_file, folder = sys.argv[1], Path(sys.argv[2]).resolve()
    screenshots = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    report = folder / "report.html"
    check(report.stat().st_size < MAX_PAGE_BYTES, f"the page has {report.stat().st_size} bytes")
    messages, requests = [], []
    with sync_playwright() as tools:
        # Chromium refuses its sandbox to root.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = tools.chromium.launch(executable_path=browser_file, args=arguments)

        def listen(page):
            page.on("console", lambda message: messages.append(f"{message.type}: {message.text}"))
            page.on("pageerror", lambda error: messages.append(str(error)))
            page.on(
                "dialog",
                lambda dialog: (messages.append(f"dialog: {dialog.message}"), dialog.dismiss()),
            )
            page.on("request", lambda request: requests.append(request.url))

        measure_pages(browser, folder, screenshots, listen)
        without_scripts(browser, folder)
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
            listen(page)
            page.goto(report.as_uri())
            check(visible(page, "svg .mark") > 50, f"{scheme}: figures are drawn")
            for step in (tabs, time_axis, legend, sorting, tooltips, downloads, hostile):
                step(page)
            if screenshots:
                page.screenshot(path=screenshots / f"{scheme}.png", full_page=True)
            page.close()
        browser.close()
    check(not messages, f"the console is empty {messages}")
    outside = [url for url in requests if not url.startswith(("file:", "data:", "blob:"))]
    check(requests and not outside, f"no request to another host {outside}")
    print("browser-test: all checks passed")


main()
