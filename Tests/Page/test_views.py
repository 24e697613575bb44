"""Each view in both themes and three widths: axe reports nothing, and screenshots are optional."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

SIZES = {360: 740, 900: 800, 1600: 900}


def details(page):
    page.locator("#list").get_by_text("running-0.iso").dblclick()
    expect(page.locator("#pane")).to_be_visible()
    expect(page.locator("#pane").get_by_text("127.0.0.1").first).to_be_visible()


def dialog(button):
    """Returns a function that opens the dialog of a button."""
    def act(page):
        page.locator(button).click()
        expect(page.get_by_role("dialog")).to_be_visible()
    return act


def removal(page):
    row = page.locator("#list").get_by_text("running-0.iso")
    # On a phone a click opens the details.
    row.click(modifiers=["Control"])
    row.press("Shift+Delete")
    expect(page.get_by_role("dialog")).to_be_visible()


def menu(page):
    page.locator("#list").get_by_text("running-0.iso").click(button="right")
    expect(page.get_by_role("menu")).to_be_visible()


VIEWS = {
    "empty": None,
    "list": lambda page: None,
    "details": details,
    "add": dialog("#add"),
    "settings": dialog("#settings"),
    "help": dialog("#help"),
    "removal": removal,
    "menu": menu,
}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(request, visit, service, slow, theme):
    shots = request.config.getoption("--shots")
    found = {}

    def look(page, name, width):
        results = Axe().run(page)
        if results.violations_count:
            found[name, width] = results.generate_report()
        if shots:
            # Graphs start empty when the page is opened.
            page.wait_for_timeout(2000)
            page.screenshot(path=shots / f"{name}-{width}-{theme}.png")

    for width, height in SIZES.items():
        page = visit(size=(width, height), theme=theme)
        expect(page.locator("#empty")).to_be_visible()
        look(page, "empty", width)
    service.tell("add", *(f"{slow}/running-{number}.iso" for number in range(3)), "-d", "files")
    service.tell("add", f"{slow}/paused.iso", "--paused", "--tag", "iso", "-d", "files")
    service.tell("add", "http://127.0.0.1:9/refused.iso", "-d", "files")
    service.wait(lambda tasks: tasks["running-0.iso"].get("bytes_done"))
    for width, height in SIZES.items():
        for name, act in VIEWS.items():
            if act:
                page = visit(size=(width, height), theme=theme)
                expect(page.locator("#list").get_by_text("running-0.iso")).to_be_visible()
                act(page)
                look(page, name, width)
                page.close()
    assert found == {}
