"""Opens a report in Chromium and operates its tabs, switches, legend and tables.

    python test_page.py CHROMIUM FOLDER [SCREENSHOTS]

FOLDER contains report.html of results with a method name that is HTML (`hostile.py`). The first
failed check ends the test.
"""

import os
import sys
import xml.dom.minidom
from pathlib import Path

from playwright.sync_api import sync_playwright

MAX_PAGE_BYTES = 1_500_000
HOSTILE_NAME = "<img src=x onerror=alert(1)>"


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
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme=scheme)
            page.on("console", lambda message: messages.append(f"{message.type}: {message.text}"))
            page.on("pageerror", lambda error: messages.append(str(error)))
            page.on(
                "dialog",
                lambda dialog: (messages.append(f"dialog: {dialog.message}"), dialog.dismiss()),
            )
            page.on("request", lambda request: requests.append(request.url))
            page.goto(report.as_uri())
            check(visible(page, "svg .mark") > 50, f"{scheme}: figures are drawn")
            overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            check(overflow <= 0, f"{scheme}: the page is no wider than the window")
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
