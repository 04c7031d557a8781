"""Opens a report in Chromium and uses it as a reader would.

    python test_page.py CHROMIUM FOLDER [SCREENSHOTS]

FOLDER holds report.html of results with a hostile name. Fails on the first thing that is not as it should be.
"""

import os
import sys
import xml.dom.minidom
from pathlib import Path

from playwright.sync_api import sync_playwright

LARGEST = 1_500_000
HOSTILE = "<img src=x onerror=alert(1)>"


def check(fine, words):
    if not fine:
        raise SystemExit(f"browser-test: FAILED: {words}")
    print(f"browser-test: ok: {words}")


def visible(page, selector):
    return page.locator(selector).evaluate_all(
        "all => all.filter((one) => one.getClientRects().length > 0).length"
    )


def column(page, table, place):
    return page.locator(f"{table} tbody tr").evaluate_all(
        f"rows => rows.map((row) => row.cells[{place}].dataset.key).map((key) => key === undefined ? null : Number(key))"
    )


def tabs(page):
    page.click('[data-tab="all"]')
    everything = visible(page, "figure")
    page.click('[data-tab="0"]')
    one = visible(page, "figure")
    check(0 < one < everything, f"a tab shows its own problem only ({one} of {everything} figures)")
    check(visible(page, 'figure[data-problem="1"]') == 0, "figures of other problems are hidden")
    check(
        page.get_attribute('[data-tab="0"]', "aria-selected") == "true",
        "the tab says that it is chosen",
    )


def time_axis(page):
    check(
        visible(page, '[data-axis="log"]') > 0 and visible(page, '[data-axis="even"]') == 0,
        "time is logarithmic at first",
    )
    page.click('[data-time="even"]')
    check(
        visible(page, '[data-axis="even"]') > 0 and visible(page, '[data-axis="log"]') == 0,
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
    check(visible(page, '[data-method="1"]') == before, "and shows them again")
    page.dblclick('[data-legend="2"]')
    check(
        visible(page, '[data-method="0"]') == 0 and visible(page, '[data-method="2"]') > 0,
        "a double click shows one alone",
    )
    page.click("[data-every]")
    check(visible(page, '[data-method="0"]') > 0, "all come back")
    page.evaluate('document.querySelector("nav details").open = false')


def sorting(page):
    page.click("#overview thead th:nth-child(2) button")
    keys = [key for key in column(page, "#overview", 1) if key is not None]
    check(len(keys) > 5 and keys == sorted(keys), "a click on a title sorts upwards")
    page.click("#overview thead th:nth-child(2) button")
    check(
        [key for key in column(page, "#overview", 1) if key is not None] == keys[::-1],
        "a second click sorts downwards",
    )
    page.click("#overview thead th:nth-child(1) button")
    order = column(page, "#overview", 0)
    check(order == sorted(order), "the first column brings back the order of the experiment")


def tooltips(page):
    mark = page.locator("#bars .mark:visible").first
    mark.scroll_into_view_if_needed()
    mark.locator("rect").first.hover(force=True)
    words = page.inner_text("#tip")
    check("ratio" in words and "seed" in words, f"a tooltip has exact numbers: {words!r}")


def downloads(page):
    button = page.locator("[data-save]:visible").first
    with page.expect_download() as waiting:
        button.click()
    text = Path(waiting.value.path()).read_text()
    document = xml.dom.minidom.parseString(text)
    check(
        waiting.value.suggested_filename.endswith(".svg")
        and document.getElementsByTagName("style").length == 1
        and document.getElementsByTagName("title").length > 0,
        "a downloaded figure is whole and has its own style",
    )


def hostile(page):
    check(page.locator("img").count() == 0, "a hostile name makes no element")
    check(
        HOSTILE in page.inner_text("header") and HOSTILE in page.inner_text("#overview"),
        "it is shown as it is",
    )


def main():
    browser_file, folder = sys.argv[1], Path(sys.argv[2]).resolve()
    shots = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    report = folder / "report.html"
    check(report.stat().st_size < LARGEST, f"the page has {report.stat().st_size} bytes")
    troubles, requests = [], []
    with sync_playwright() as tools:
        # Chromium refuses its sandbox to root.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = tools.chromium.launch(executable_path=browser_file, args=arguments)
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme=scheme)
            page.on("console", lambda message: troubles.append(f"{message.type}: {message.text}"))
            page.on("pageerror", lambda error: troubles.append(str(error)))
            page.on(
                "dialog",
                lambda dialog: (troubles.append(f"dialog: {dialog.message}"), dialog.dismiss()),
            )
            page.on("request", lambda request: requests.append(request.url))
            page.goto(report.as_uri())
            check(visible(page, "svg .mark") > 50, f"{scheme}: figures are drawn")
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            check(wide <= 0, f"{scheme}: nothing runs out of the page")
            for step in (tabs, time_axis, legend, sorting, tooltips, downloads, hostile):
                step(page)
            if shots:
                page.screenshot(path=shots / f"{scheme}.png", full_page=True)
            page.close()
        browser.close()
    check(not troubles, f"nothing on the console {troubles}")
    outside = [url for url in requests if not url.startswith(("file:", "data:", "blob:"))]
    check(requests and not outside, f"no request to anywhere {outside}")
    print("browser-test: all fine")


main()
