"""Opens every page of the built site in headless Chromium: `test_site.py target/site [FOLDER FOR PICTURES]`.

On a phone and on a desktop, in the light and in the dark, no page may be wider than the window, fetch anything from
outside, or log an error. The search must find pages, opened from the disk. With a folder, a picture of every view of
every page goes there, to be looked at.
"""

import base64
import json
import sys
import tempfile
import time
from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from test_report import SCHEMES, VIEWS, browser, scheme

# Words, and a page that a search for them must find.
SEARCHES = {"certificate": "guide/concepts.html", "panel_size": "guide/parameters.html", "validate": "validation.html"}
TALLEST = 8000


def requested(driver):
    """Return the addresses outside the site that were asked for since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [it["params"]["request"]["url"] for it in messages if it["method"] == "Network.requestWillBeSent"]
    return {url for url in asked if url.startswith(("http:", "https:", "//"))}


def picture(driver, width, file):
    """Save the whole page, down to a limit."""
    height = min(driver.execute_script("return document.documentElement.scrollHeight"), TALLEST)
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    file.write_bytes(base64.b64decode(shot["data"]))


def look(driver, site, pages, pictures):
    """Open every page in every view, and return what is wrong."""
    problems = []
    for view, width, height in VIEWS:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": view == "phone"}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for colours in SCHEMES:
            scheme(driver, colours)
            for page in pages:
                driver.get(page.as_uri())
                here = f"{page.relative_to(site)} ({view}, {colours})"
                wide = driver.execute_script("return document.documentElement.scrollWidth") - width
                if wide > 0:
                    problems.append(f"{here}: {wide} pixels too wide")
                problems += [f"{here}: asks for {url}" for url in sorted(requested(driver))]
                problems += [
                    f"{here}: {entry['message']}" for entry in driver.get_log("browser") if entry["level"] == "SEVERE"
                ]
                if pictures:
                    time.sleep(0.3)  # Formulas are drawn after the page.
                    name = "-".join(page.relative_to(site).with_suffix("").parts)
                    picture(driver, width, pictures / f"{name}-{view}-{colours}.png")
    return problems


def search(driver, site):
    """Search as a reader would, and return what is not found."""
    problems = []
    for words, page in SEARCHES.items():
        driver.get(f"{(site / 'search.html').as_uri()}?q={words}")
        found = "#search-results li a"
        WebDriverWait(driver, 20).until(lambda it: "finished" in it.find_element(By.ID, "search-results").text)
        links = [
            link.get_attribute("href").split("?")[0].split("#")[0]
            for link in driver.find_elements(By.CSS_SELECTOR, found)
        ]
        if (site / page).as_uri() not in links:
            problems.append(f"a search for {words!r} does not find {page}, but {len(links)} pages")
    return problems


def main():
    site = Path(sys.argv[1]).resolve()
    pictures = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    pages = [
        page for page in sorted(site.rglob("*.html")) if page.relative_to(site).parts[0] not in ("rust", "_static")
    ]
    assert pages, f"{site} has no pages"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        driver = browser(profile)
        try:
            driver.get((site / "index.html").as_uri())
            requested(driver)
            problems = look(driver, site, pages, pictures) + search(driver, site)
        finally:
            driver.quit()
    print(*problems, sep="\n")
    print(f"{len(pages)} pages, on a phone and a desktop, in the light and the dark: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
