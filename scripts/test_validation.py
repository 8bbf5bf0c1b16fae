"""Opens the pages of made-up validations in headless Chromium and uses them: `test_validation.py hostile plain`.

Both folders come from the example `sample_validation`, one with names that try to run as scripts, one with `--plain`.
On a phone and on a desktop, in the light and in the dark, the page must draw its charts, sort and search its table,
save it, project samples to the numbers that the core computed (`expected.json`), fetch nothing, log no error and run
nothing that a name smuggled in.
"""

import csv
import json
import math
import sys
import tempfile
import time
from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait
from test_report import SCHEMES, VIEWS, browser, opened, overflow, safe, scheme

TOLERANCE = 1e-12
CHARTS = {"map-chart", "heatmap", "roc", "confusion-0", "comparison", "index", "sizes", "permutation"}


def value(driver, script, *arguments):
    return driver.execute_script(f"return {script}", *arguments)


def by_id(driver, name):
    return driver.find_element(By.ID, name)


def charts(driver, wanted):
    """Every chart has marks and a size; every picture has more than one colour."""
    drawn = driver.execute_script(
        """return Object.fromEntries([...document.querySelectorAll(".chart")].map((chart) => {
          const marks = chart.querySelectorAll(
            ".main-svg path.js-line, .main-svg path.point, .main-svg .hm image, .main-svg path.js-fill");
          const box = chart.querySelector(".main-svg")?.getBoundingClientRect();
          return [chart.id, [marks.length, box?.width ?? 0, box?.height ?? 0]];
        }));"""
    )
    assert wanted <= set(drawn), f"missing: {wanted - set(drawn)}"
    for name, (marks, width, height) in drawn.items():
        assert marks > 0 and width > 200 and height > 100, f"chart {name}: {marks} marks, {width} by {height}"
    blank = driver.execute_script(
        """return [...document.querySelectorAll("canvas.picture")].filter((canvas) => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return data.every((value, i) => value === data[i % 4]);
        }).length;"""
    )
    assert blank == 0, f"{blank} pictures are blank"
    return drawn


def bars(driver):
    """Weights and frequencies as bars, and a box plot in every row of the panel."""
    widths = value(driver, "[...document.querySelectorAll('.loadings .track span')].map((bar) => bar.offsetWidth)")
    assert len(widths) > 10 and max(widths) > 20, "weights have bars"
    widths = value(driver, "[...document.querySelectorAll('#frequencies .track span')].map((bar) => bar.offsetWidth)")
    assert widths == sorted(widths, reverse=True) and widths[0] > 20, "frequencies fall"
    boxes = value(
        driver, "[...document.querySelectorAll('svg.boxes')].map((svg) => svg.querySelectorAll('rect').length)"
    )
    assert len(boxes) == value(driver, "document.querySelectorAll('#panel-table tbody tr').length") and min(boxes) >= 2


def sample_map(driver):
    state = """(() => { const chart = document.getElementById("map-chart"); return {
      traces: chart.data.length,
      title: chart.layout.xaxis.title.text,
      note: document.getElementById("map-note").textContent,
      regions: chart.data.filter((trace) => trace.type === "heatmap").length,
      points: chart.data.filter((trace) => trace.mode === "markers").reduce((sum, trace) => sum + trace.x.length, 0),
      told: chart.data.filter((trace) => trace.customdata).flatMap((trace) => trace.customdata).join(" "),
    } })()"""
    first = value(driver, state)
    assert first["regions"] == 1 and first["points"] == 38 and first["title"] == "axis 1", first
    assert "sample 0" in first["told"] and "<img" not in first["told"], "names are told, escaped"
    Select(by_id(driver, "map-x")).select_by_index(1)
    swapped = value(driver, state)
    assert swapped["title"] == "axis 2" and by_id(driver, "map-y").get_attribute("value") == "0", "axes change places"
    Select(by_id(driver, "map-y")).select_by_index(1)
    by_id(driver, "map-ellipses").click()
    by_id(driver, "map-regions").click()
    other = value(driver, state)
    assert other["regions"] == 0 and other["traces"] == first["traces"] - 1 + 3, "three ellipses, no regions"
    by_id(driver, "map-ellipses").click()
    by_id(driver, "map-regions").click()
    Select(by_id(driver, "map-model")).select_by_index(1)
    fold = value(driver, state)
    assert "10 held-out samples" in fold["note"] and fold["traces"] == first["traces"] + 3, fold["note"]
    Select(by_id(driver, "map-model")).select_by_index(0)
    assert value(driver, state) == first


def rows(driver):
    """The numbers of the rows that are shown, in order."""
    shown = "[...document.querySelectorAll('#panel-table tbody tr')].filter((row) => !row.hidden)"
    return value(driver, f"{shown}.map((row) => Number(row.dataset.row))")


def table(driver, expected):
    panel = expected["panel"]
    assert rows(driver) == list(range(len(panel))), "the most important first"
    head = driver.find_element(By.CSS_SELECTOR, "#panel-table button[data-key='effect']")
    # By keyboard, as well as by pointer below.
    head.send_keys(Keys.ENTER)
    cell = head.find_element(By.XPATH, "..")
    assert cell.get_attribute("aria-sort") == "descending"
    sizes = [abs(panel[k][1]) for k in rows(driver)]
    assert sizes == sorted(sizes, reverse=True)
    head.send_keys(Keys.SPACE)
    assert cell.get_attribute("aria-sort") == "ascending"
    sizes = [abs(panel[k][1]) for k in rows(driver)]
    assert sizes == sorted(sizes)
    orders = []
    for key in ["called", "frequency", "folds", "entered", "higher", "class"]:
        button = driver.find_element(By.CSS_SELECTOR, f"#panel-table button[data-key='{key}']")
        driver.execute_script("arguments[0].scrollIntoView({ block: 'center', inline: 'center' })", button)
        button.click()
        assert cell.get_attribute("aria-sort") == "none" and sorted(rows(driver)) == list(range(len(panel)))
        values = value(driver, f"arguments[0].map((k) => report.data.panel[k]['{key}'])", rows(driver))
        if key in ("frequency", "folds"):
            assert values == sorted(values, reverse=True), key
        if key == "entered":
            assert values == sorted(values), key
        orders.append(rows(driver))
    assert len({tuple(order) for order in orders}) > 2, "headers sort differently"

    field = by_id(driver, "panel-search")
    wanted = panel[3][0][-4:].upper()
    field.send_keys(wanted)
    found = [k for k, (name, _) in enumerate(panel) if wanted.lower() in name.lower()]
    assert 0 < len(found) < len(panel) and sorted(rows(driver)) == found
    assert by_id(driver, "panel-count").text.startswith(f"{len(found)} of {len(panel)}")
    field.clear()
    field.send_keys("no such name", Keys.BACKSPACE * 12)
    assert len(rows(driver)) == len(panel)


def saved(driver, expected, folder):
    """The file has all names and all digits, and nothing that a spreadsheet would compute."""
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": folder})
    by_id(driver, "panel-save").click()
    path = Path(folder) / "panel.csv"
    for _ in range(100):
        if path.exists() and path.stat().st_size:
            break
        time.sleep(0.1)
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    path.unlink()
    assert len(lines) == len(expected["panel"])
    for line, (name, effect) in zip(lines, expected["panel"], strict=True):
        assert line["name"] == ("'" + name if name[0] in "=+-@\t\r" else name), line["name"]
        assert float(line["effect"]) == effect, "numbers have all digits"
        assert float(line["weight_1"]) is not None and line["stable"] in ("0", "1")


def links(driver, expected):
    anchors = driver.find_elements(By.CSS_SELECTOR, "#panel-table tbody a")
    assert len(anchors) == len(expected["panel"])
    for anchor in anchors:
        assert anchor.get_attribute("href").startswith("https://example.org/gene?q=")
        assert "noopener" in anchor.get_attribute("rel")
        assert not set(anchor.get_attribute("href")) & set("<>\"' ")


def copied(driver, expected):
    rights = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    driver.execute_cdp_cmd("Browser.grantPermissions", rights)
    by_id(driver, "words-copy").click()
    WebDriverWait(driver, 10).until(lambda d: by_id(d, "words-copied").text == "Copied.")
    script = "const done = arguments[0]; navigator.clipboard.readText().then(done, (e) => done(String(e)))"
    assert driver.execute_async_script(script) == expected["words"]


def projected(driver):
    """The samples below the field: class, probabilities and scores with all digits."""
    classes = value(driver, "report.data.classes.length")
    found = value(
        driver,
        """[...document.querySelectorAll("#project-result tbody tr")].map((row) =>
          [...row.cells].slice(1).map((cell) => Number(cell.dataset.value)))""",
    )
    return [{"class": row[0], "probabilities": row[1 : classes + 1], "scores": row[classes + 1 :]} for row in found]


def paste(driver, text):
    driver.execute_script("document.getElementById('project-text').value = arguments[0]", text)
    driver.execute_script("document.getElementById('project-go').click()")


def compare(found, wanted):
    """The largest difference; scores relative to their size."""
    worst = 0.0
    assert len(found) == len(wanted), f"{len(found)} samples, not {len(wanted)}"
    for one, other in zip(found, wanted, strict=True):
        assert one["class"] == other["class"], (one, other)
        for a, b in zip(one["probabilities"], other["probabilities"], strict=True):
            worst = max(worst, abs(a - b))
        for a, b in zip(one["scores"], other["scores"], strict=True):
            worst = max(worst, abs(a - b) / max(1.0, abs(b)))
    assert worst <= TOLERANCE and math.isfinite(worst), f"differs by {worst:.2e}"
    return worst


def project(driver, expected):
    """Every text gives what the core gives; the new samples are on the map."""
    samples, texts = expected["samples"], expected["texts"]
    worst = 0.0
    for text, wanted in zip(texts, [samples[:1], samples[1:2], samples], strict=True):
        paste(driver, text)
        assert "wrong" not in by_id(driver, "project-message").get_attribute("class"), by_id(
            driver, "project-message"
        ).text
        worst = max(worst, compare(projected(driver), wanted))
        stars = "document.getElementById('map-chart').data.filter((t) => t.name === 'new').flatMap((t) => t.x)"
        assert len(value(driver, stars)) == len(wanted), "the new samples are on the map"
    return worst


def files(driver, expected, folder):
    """The same from a file that is chosen, and from one that is dropped."""
    path = Path(folder) / "new.csv"
    path.write_text("\ufeff" + expected["texts"][2], encoding="utf-8", newline="")
    by_id(driver, "project-clear").click()
    assert projected(driver) == []
    by_id(driver, "project-file").send_keys(str(path))
    WebDriverWait(driver, 10).until(lambda d: len(projected(d)) == len(expected["samples"]))
    compare(projected(driver), expected["samples"])
    driver.execute_script(
        """const transfer = new DataTransfer();
        transfer.items.add(new File([arguments[0]], "new.csv"));
        document.getElementById("project-drop").dispatchEvent(
          new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));""",
        expected["texts"][0],
    )
    WebDriverWait(driver, 10).until(lambda d: len(projected(d)) == 1)
    compare(projected(driver), expected["samples"][:1])


def refused(driver, expected):
    """Input that cannot be used gets a message that says what is wrong, and nothing is projected."""
    names = value(driver, "report.data.projection.names")
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    numbers = ["1.5"] * len(names)
    line = ",".join
    cases = [
        ("", "nothing to project"),
        ("1, 2, 3", f"Line 1 has 3 values, but the model has {expected['variables']} variables"),
        (f"{line(quoted[1:])}\n{line(numbers[1:])}", "1 variable of the panel is missing"),
        (f"{line(quoted)}\n{line(numbers[1:])}", f"has {len(names) - 1} values, but line 1 has {len(names)} names"),
        (line(quoted), "numbers must follow"),
        (f"{line(quoted)}\n{line(['one', *numbers[1:]])}", "“one”, is not a number"),
        (f"{line(quoted)}\n{line(['', *numbers[1:]])}", "is missing; the model needs a number"),
        (f"{line(quoted)}\n{line(['NaN', *numbers[1:]])}", "is missing"),
        (f"{line(quoted)}\n{line(['1e999', *numbers[1:]])}", "is too large"),
        (f"{';'.join(quoted)}\n{';'.join(['1,5', *numbers[1:]])}", "Write decimals with a point"),
        (f"{line(quoted)},{quoted[0]}\n{line(numbers)},2", "occur more than once"),
        (line(["0x10"] * expected["variables"]), "not a number"),
        ('"unfinished, 1', "never closed"),
        ("\n".join([line(quoted), *[line(numbers)] * 1001]), "1000 at a time"),
    ]
    for text, message in cases:
        paste(driver, text)
        shown = by_id(driver, "project-message")
        assert message in shown.text and "wrong" in shown.get_attribute("class"), f"{text[:60]!r}: {shown.text}"
        assert projected(driver) == [], text[:60]
    # Columns that the model does not know are said to be ignored.
    paste(driver, f"{line(quoted)},something else\n{line(numbers)},x")
    assert "1 column" in by_id(driver, "project-message").text and len(projected(driver)) == 1


def colours(driver):
    return driver.execute_script(
        """const of = (selector, what) => getComputedStyle(document.querySelector(selector))[what];
        return [
          of("body", "color"),
          of("#map-chart .xtick text", "fill"),
          of("#roc .traces:nth-of-type(2) .legendlines path", "stroke"),
          of(".loadings .track span", "backgroundColor"),
          document.querySelector("#heatmap .hm image").getAttribute("href"),
        ];"""
    )


def use(driver, page, expected, size, start, folder):
    opened(driver, page, *size, start)
    drawn = charts(driver, CHARTS)
    assert len(drawn) == len(CHARTS), set(drawn) - CHARTS
    bars(driver)
    sample_map(driver)
    table(driver, expected)
    saved(driver, expected, folder)
    links(driver, expected)
    copied(driver, expected)
    project(driver, expected)
    files(driver, expected, folder)
    refused(driver, expected)
    assert overflow(driver) <= 0, "nothing is wider than the screen after all that"
    here = colours(driver)
    scheme(driver, "dark" if start == "light" else "light")
    WebDriverWait(driver, 10).until(lambda d: all(a != b for a, b in zip(here, colours(d), strict=True)))
    charts(driver, CHARTS)
    safe(driver, page)


def check(folder):
    expected = {page["page"]: page for page in json.loads((folder / "expected.json").read_text(encoding="utf-8"))}
    for view, *size in VIEWS:
        for start in SCHEMES:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
                driver = browser(profile)
                try:
                    use(driver, folder / "report.html", expected["report"], size, start, profile)
                finally:
                    driver.quit()
            print(f"validation, {folder.name}: {view}, {start}: fine")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        driver = browser(profile)
        try:
            others(driver, folder, expected)
        finally:
            driver.quit()


def others(driver, folder, expected):
    """Other rules, one axis, images, spectra; and a page without all that was not asked for."""
    special = {"images": set(), "spectra": {"spectrum-0", "spectrum-1"}, "strip": set()}
    rules = set()
    for name, page in expected.items():
        path = folder / f"{name}.html"
        opened(driver, path, 1280, 900, "light")
        charts(driver, CHARTS | special.get(name, set()))
        bars(driver)
        worst = project(driver, page)
        rules.add(page["rule"])
        safe(driver, path)
        print(f"validation, {folder.name}: {name}, rule {page['rule']}: new samples differ by at most {worst:.1e}")
    assert rules == {"nearest", "centroid", "gaussian"}, rules
    opened(driver, folder / "images.html", 375, 800, "dark")
    assert len(driver.find_elements(By.CSS_SELECTOR, "canvas.picture")) == 10
    bare = folder / "bare.html"
    opened(driver, bare, 375, 800, "dark")
    assert set(charts(driver, {"confusion-0"})) == {"confusion-0"}
    text = driver.find_element(By.TAG_NAME, "main").text
    for words in ["No permutation test was asked for", "No half-samples were asked for", "no panel"]:
        assert words in text, words
    assert not driver.find_elements(By.ID, "project")
    safe(driver, bare)
    print(f"validation, {folder.name}: bare: fine")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        check(Path(argument).resolve())
