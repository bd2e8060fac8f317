"""The explorer in a real browser: every page is drawn, asks nobody else and breaks no rule."""

import json
from urllib.parse import urlsplit

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import elegans as el
from tests.explorer.conftest import FAILED, name
from tests.explorer.conftest import bundle_path as bundle_path
from tests.explorer.conftest import grid_path as grid_path

from .chromium import chromium

A, B = name(10, 100), name(30, 100)
NETWORK = f"/store/grid/run/{A}/0/network?layer=weights.layers.0.weight&step=120&neuron=1"
PAGES = {
    "/": 0,
    "/study/small": 1,
    "/store/grid": 3,  # the cells, and the marginals of two settings
    "/store/grid?where=model.width=10&x=training.samples&y=&z=steps&log=x": 3,
    "/store/grid/marginals": 2,
    f"/store/grid/cell/{A}?log=y": 1,
    f"/store/grid/run/{A}/0": 3,
    f"/store/grid/run/{FAILED}/0": 0,
    f"/compare?run=grid/{A}/0&run=grid/{B}/1": 1,
    NETWORK: 1,
    "/nowhere": 0,
}
SECONDS = 20


@pytest.fixture(scope="module")
def explorer(grid_path, bundle_path):
    with el.explore(grid_path, bundle_path) as explorer:
        yield explorer


@pytest.fixture(scope="module")
def driver(explorer):
    driver = chromium()
    driver.get(explorer.url)
    yield driver
    driver.quit()


def base(explorer):
    return explorer.url.partition("/?")[0]


def until(driver, condition):
    return WebDriverWait(driver, SECONDS).until(lambda d: d.execute_script(f"return {condition}"))


def drawn(driver, count):
    until(driver, f"document.querySelectorAll('[data-chart] canvas').length === {count}")


def violations(driver, explorer):
    """What the console complains of, and requests to anybody but the explorer."""
    messages = [
        entry["message"]
        for entry in driver.get_log("browser")
        if "favicon" not in entry["message"] and "404 (Not Found)" not in entry["message"]
    ]
    host = urlsplit(explorer.url).netloc
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            parts = urlsplit(message["params"]["request"]["url"])
            if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != host:
                messages.append(parts.geturl())
    return messages


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_drawn_and_breaks_no_rule(driver, explorer, path, theme):
    media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    driver.get(base(explorer) + path)
    drawn(driver, PAGES[path])
    assert violations(driver, explorer) == []
    assert driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    for chart in driver.find_elements(By.CSS_SELECTOR, "[data-chart]"):
        assert chart.get_attribute("aria-label")
        assert "cannot be drawn" not in chart.text


def test_a_policy_violation_would_be_noticed(driver, explorer):
    driver.get(base(explorer) + "/")
    driver.execute_script(
        "const s = document.createElement('script'); s.textContent = '1'; document.body.append(s)"
    )
    assert any("Content Security Policy" in text for text in violations(driver, explorer))


def test_a_form_makes_a_url_that_restores_the_view(driver, explorer):
    driver.get(base(explorer) + "/store/grid")
    drawn(driver, 3)
    driver.find_element(By.CSS_SELECTOR, "input[value='model.width=30']").click()
    driver.find_element(By.CSS_SELECTOR, "select[name=z] option[value=steps]").click()
    driver.find_element(By.CSS_SELECTOR, ".controls button").click()
    until(driver, "location.search.includes('steps')")
    drawn(driver, 3)
    before = driver.find_element(By.CSS_SELECTOR, "table.grid").text
    address = driver.current_url
    driver.get("about:blank")
    driver.get(address)
    drawn(driver, 3)
    assert driver.find_element(By.CSS_SELECTOR, "table.grid").text == before
    assert driver.find_element(By.CSS_SELECTOR, "input[value='model.width=30']").is_selected()
    assert (
        "median steps" in driver.find_element(By.CSS_SELECTOR, "select[name=z] option:checked").text
    )
    assert violations(driver, explorer) == []


def test_the_slider_moves_by_keyboard_and_reload_restores_it(driver, explorer):
    driver.get(base(explorer) + NETWORK)
    until(driver, "document.body.dataset.step === '120'")
    drawn(driver, 1)
    weights = driver.find_element(By.ID, "weight-table").get_attribute("textContent")
    slider = driver.find_element(By.ID, "slider")
    slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    until(driver, "document.body.dataset.step === '140'")
    assert slider.get_attribute("aria-valuetext") == "step 140"
    assert driver.find_element(By.ID, "weight-table").get_attribute("textContent") != weights
    assert "step=140" in driver.current_url
    driver.refresh()
    until(driver, "document.body.dataset.step === '140'")
    assert driver.find_element(By.ID, "slider").get_attribute("value") == "14"
    assert driver.find_element(By.CSS_SELECTOR, "input[name=neuron]").get_attribute("value") == "1"
    assert violations(driver, explorer) == []


def test_cells_are_reached_and_left_by_arrow_keys(driver, explorer):
    driver.get(base(explorer) + "/store/grid")
    drawn(driver, 3)
    links = driver.find_elements(By.CSS_SELECTOR, "table.grid tbody a")
    driver.execute_script("arguments[0].focus()", links[0])
    links[0].send_keys(Keys.ARROW_DOWN)
    assert driver.switch_to.active_element == links[1]
    links[1].send_keys(Keys.ENTER)
    until(driver, "location.pathname.includes('/cell/')")


def test_tables_need_no_script(driver, explorer):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.get(base(explorer) + "/store/grid?x=model.width&y=")
        rows = driver.find_elements(By.CSS_SELECTOR, "table.grid tbody tr")
        assert len(rows) == 3
        assert driver.find_element(By.LINK_TEXT, "Marginals of all settings").is_displayed()
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_the_contrast_of_wcag_aa(driver, explorer, theme):
    media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    driver.get(base(explorer) + "/store/grid")
    names = ["text", "soft", "good", "bad", "known", "accent", "live"]
    script = """const style = getComputedStyle(document.documentElement);
        return arguments[0].map((name) => style.getPropertyValue(name).trim());"""
    page, card, *colours = driver.execute_script(
        script, ["--page", "--card", *(f"--{n}" for n in names)]
    )
    for label, colour in zip(names, colours, strict=True):
        for ground in (page, card):
            assert contrast(colour, ground) >= 4.5, (label, colour, ground)


def contrast(one, two):
    """The ratio of luminances, as WCAG defines it."""
    lights = sorted(map(luminance, (one, two)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def luminance(colour):
    digits = colour.lstrip("#")
    digits = "".join(d * 2 for d in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
