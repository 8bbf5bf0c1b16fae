"""Opens a report in headless Chromium and uses it: `test_report.py path/to/report.html`.

The report should come from data with hostile names (the example `sample_report` with `--hostile`): on a phone and on a
desktop, in the light and in the dark, it must draw its charts, answer slider and menus, fetch nothing, log no error
and run nothing that a name smuggled in.
"""

import json
import sys
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
VIEWS = [("phone", 375, 800), ("desktop", 1280, 900)]
SCHEMES = ["light", "dark"]


def browser(profile):
    """Chromium with a profile of its own, whose console and network are logged."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


def scheme(driver, value):
    features = [{"name": "prefers-color-scheme", "value": value}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def shown(driver):
    """What the explorer shows: facts, bars, picture, mark on the chart."""
    return driver.execute_script(
        """const canvas = document.getElementById("explorer-canvas");
        const chart = document.getElementById("explorer-paths");
        return {
          facts: document.getElementById("explorer-facts").innerText,
          bars: document.getElementById("explorer-active").innerText,
          picture: canvas.checkVisibility() ? canvas.toDataURL() : null,
          mark: chart.layout.shapes[0].x0,
          lines: chart.data.length,
        };"""
    )


def overflow(driver):
    return driver.execute_script("return document.documentElement.scrollWidth - innerWidth")


def explore(driver):
    slider = driver.find_element(By.ID, "explorer-knot")
    sets = Select(driver.find_element(By.ID, "explorer-set"))
    columns = Select(driver.find_element(By.ID, "explorer-column"))
    assert len(sets.options) > 1, "several sets to choose from"

    last = shown(driver)
    slider.send_keys(Keys.ARROW_LEFT)
    before = shown(driver)
    for part in ["facts", "bars", "picture", "mark"]:
        assert last[part] != before[part], f"the slider changes {part}"
    slider.send_keys(Keys.HOME)
    assert "variables in use\n0" in shown(driver)["facts"], "no variable is in use at the first knot"
    driver.find_element(By.ID, "explorer-next").click()
    assert "variables in use\n1" in shown(driver)["facts"], "the button moves by one knot"

    slider.send_keys(Keys.END)
    assert shown(driver) == last, "the same knot shows the same"
    columns.select_by_index(1)
    other = shown(driver)
    assert other["facts"] != last["facts"] and other["picture"] != last["picture"], "the column changes what is shown"

    sets.select_by_index(len(sets.options) - 1)
    named = shown(driver)
    assert named["picture"] is None, "variables that are not pixels have no picture"
    assert "onerror" in named["bars"] or "script" in named["bars"], "names are shown as text"
    sets.select_by_index(0)


def charts(driver):
    places = driver.find_elements(By.CSS_SELECTOR, ".chart")
    drawn = driver.execute_script(
        """return [...document.querySelectorAll(".chart")].map((chart) =>
          [chart.id, chart.querySelectorAll(
            ".main-svg path.js-line, .main-svg path.box, .main-svg .hm image").length]);"""
    )
    assert len(places) >= 8, f"{len(places)} charts"
    for name, lines in drawn:
        assert lines > 0, f"chart {name} is empty"
    legends = driver.execute_script(
        "return [...document.querySelectorAll('.legendtext')].map((text) => text.textContent).join(' ')"
    )
    # Which of the names are there depends on the variables that entered first.
    hostile = ["<img src=x", "</script>", "<a href=", '"><svg']
    assert any(name in legends for name in hostile), f"legends show names letter by letter: {legends}"
    blank = driver.execute_script(
        """return [...document.querySelectorAll("canvas.picture, .entries canvas")].filter((canvas) => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return data.every((value, i) => value === data[i % 4]);
        }).length;"""
    )
    assert blank == 0, f"{blank} pictures are blank"


def confusions(driver):
    """Every setting has a heat map of the method chosen, with its classes by name, and a table of recalls."""
    found = driver.execute_script(
        """return [...document.querySelectorAll(".chart.confusion")].map((chart) => ({
          id: chart.id,
          z: chart.data[0].z,
          texts: [...chart.querySelectorAll(".ytick text")].map((text) => text.textContent),
          told: chart.data[0].customdata.flat(),
        }));"""
    )
    assert len(found) == 4, f"{len(found)} heat maps"
    for chart in found:
        classes = len(chart["z"])
        assert all(len(row) == classes for row in chart["z"]), "a heat map is square"
        # What is recognised is on the diagonal and below 0, what is not is elsewhere and above.
        assert all((z <= 0) if a == b else (z >= 0) for a, row in enumerate(chart["z"]) for b, z in enumerate(row))
        # The shares of a class add up to 1.
        assert all(abs(sum(z * z for z in row) - 1) < 1e-9 for row in chart["z"]), chart["id"]
        assert len(chart["texts"]) == classes, "every class has a label"
        assert all("<" not in text for text in chart["told"]), "names are escaped for plotly"
    assert max(len(chart["z"]) for chart in found) == 40, "forty persons"
    assert any("<img src" in text for text in found[0]["texts"]), found[0]["texts"]
    small = driver.find_elements(By.CSS_SELECTOR, "#confusion-2 .heatmap-label")
    assert small, "where classes are few, counts are written into the cells"

    select = Select(driver.find_element(By.ID, "confusion-method-0"))
    state = """const note = document.getElementById("confusion-note-0").textContent;
      return [note, JSON.stringify(document.getElementById("confusion-0").data[0].z)]"""
    first = driver.execute_script(state)
    assert "test samples" in first[0] and "Most often" in first[0], first[0]
    select.select_by_index(2)
    other = driver.execute_script(state)
    assert first[0] != other[0] and first[1] != other[1], "the menu changes the heat map"
    select.select_by_index(0)
    assert driver.execute_script(state) == first

    tables = driver.find_elements(By.CSS_SELECTOR, "details.recalls")
    assert len(tables) == 4
    rows = tables[0].find_elements(By.CSS_SELECTOR, "tbody tr")
    assert len(rows) == 41, "forty classes and their mean"
    assert "<img src" in tables[0].get_attribute("textContent"), "names are shown as text"


def inks(driver):
    """The colours of text and of the first chart's text and line."""
    return driver.execute_script(
        """const chart = document.querySelector(".chart");
        const fill = (selector, what) => getComputedStyle(chart.querySelector(selector))[what];
        return [getComputedStyle(document.body).color, fill(".xtick text", "fill"),
        fill(".legendlines path", "stroke")];"""
    )


def check(page):
    for view, width, height in VIEWS:
        for start in SCHEMES:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
                driver = browser(profile)
                try:
                    use(driver, page, width, height, start)
                finally:
                    driver.quit()
            print(f"report: {view}, {start}: fine")


def opened(driver, page, width, height, start):
    """Opens the page on a screen of that size and waits until it is drawn."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme(driver, start)
    # What Chromium asked itself for its first, empty page.
    driver.get_log("performance")
    driver.get(page.as_uri())
    ready = "return document.documentElement.dataset.ready === 'yes'"
    WebDriverWait(driver, 60).until(lambda d: d.execute_script(ready))
    assert overflow(driver) <= 0, f"{page.name}: nothing is wider than the screen"


def safe(driver, page):
    """Nothing ran or was fetched that should not, and nothing went wrong."""
    assert driver.execute_script("return typeof window.hacked") == "undefined", "a name ran as a script"
    assert not driver.find_elements(By.CSS_SELECTOR, "img, iframe, object, embed"), "a name became an element"
    errors = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert not errors, errors
    asked = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"]
    # What is inside the page already is no request to a network.
    asked = [url for url in asked if not url.startswith(("data:", "blob:"))]
    assert asked and all(url.split("#")[0] == page.as_uri() for url in asked), asked


def use(driver, page, width, height, start):
    opened(driver, page, width, height, start)
    charts(driver)
    confusions(driver)
    explore(driver)
    assert overflow(driver) <= 0, "nothing is wider than the screen after exploring"

    here = inks(driver)
    scheme(driver, "dark" if start == "light" else "light")
    WebDriverWait(driver, 10).until(lambda d: all(a != b for a, b in zip(here, inks(d), strict=True)))
    charts(driver)
    safe(driver, page)


if __name__ == "__main__":
    check(Path(sys.argv[1]).resolve())
