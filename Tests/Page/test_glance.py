"""The states and actions of a row in the list."""

import re

import pytest
from playwright.sync_api import expect

from test_next_steps import guarded  # noqa: F401


def row(page, name):
    """Returns the row of a task."""
    return page.locator(".rows .row").filter(has_text=name)


def sign(page, name):
    """Returns the icon of a task: its name, its path and its colour."""
    icon = row(page, name).locator(".state-icon")
    return (row(page, name).get_attribute("data-sign"), icon.locator("path").get_attribute("d"),
            icon.evaluate("(e) => getComputedStyle(e).color"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_state_has_an_icon_and_a_colour(visit, service, fast, slow, guarded, theme):  # noqa: F811
    service.tell("settings", "--max-running", "2")
    service.tell("add", f"{fast}/done.bin", "-d", "files")
    service.wait(lambda tasks: tasks["done.bin"]["state"] == "completed")
    service.tell("add", f"{guarded}/404/failed.bin", "-d", "files")
    service.wait(lambda tasks: tasks["failed.bin"]["state"] == "failed")
    service.tell("add", f"{slow}/paused.bin", "-d", "files", "--paused")
    service.tell("add", f"{slow}/gone.bin", "-d", "files", "--paused")
    service.tell("cancel", service.tasks()["gone.bin"]["id"])
    service.tell("add", f"{slow}/run.bin", f"{slow}/run2.bin", f"{slow}/wait.bin", "-d", "files")
    page = visit(theme=theme)
    expect(row(page, "run.bin")).to_have_attribute("data-sign", "running")
    expect(row(page, "wait.bin")).to_have_attribute("data-sign", "waiting")
    names = ["done", "failed", "paused", "gone", "run", "wait"]
    signs = {name: sign(page, f"{name}.bin") for name in names}
    assert [signs[name][0] for name in names] == ["completed", "failed", "paused", "cancelled", "running", "waiting"]
    assert len({path for _, path, _ in signs.values()}) == len(names)
    # Waiting and cancelled tasks need no action of the user, so their colour may be the same.
    assert len({signs[name][2] for name in names[:3] + names[4:]}) == 5
    expect(row(page, "failed.bin").locator(".state")).to_have_text("Failed: 404 Not Found")
    # The first action is the one that continues or removes the task.
    first = {name: row(page, f"{name}.bin").locator(".acts button").first.get_attribute("data-act") for name in names}
    assert first == {"done": "remove", "failed": "retry", "paused": "resume", "gone": "retry", "run": "pause", "wait": "pause"}


def test_the_reason_stands_before_the_wait(visit, service, guarded):  # noqa: F811
    service.tell("add", f"{guarded}/503/a.bin", "-d", "files")
    page = visit()
    state = row(page, "a.bin").locator(".state")
    expect(state).to_have_text(re.compile(r"^503 Service Unavailable, retrying in \d+\s(s|min)"))
    assert "127.0.0.1" not in state.inner_text()


def test_a_row_has_its_actions_where_the_pointer_is(visit, service, slow):
    service.tell("add", f"{slow}/a.bin", f"{slow}/b.bin", "-d", "files")
    page = visit()
    acts = row(page, "a.bin").locator(".acts")
    expect(acts).to_be_hidden()
    row(page, "a.bin").hover()
    expect(acts).to_be_visible()
    expect(row(page, "b.bin").locator(".acts")).to_be_hidden()
    acts.get_by_role("button", name="Pause: a.bin").click()
    expect(row(page, "a.bin").locator(".state")).to_have_text("Paused")
    expect(row(page, "a.bin")).to_have_attribute("aria-selected", "false")
    expect(page.locator("#pane")).to_be_hidden()
    acts.get_by_role("button", name="Resume: a.bin").click()
    expect(row(page, "a.bin")).not_to_contain_text("Paused")
    acts.get_by_role("button", name="More: a.bin").click()
    expect(page.get_by_role("menu")).to_be_visible()
    page.keyboard.press("Escape")
    row(page, "b.bin").hover()
    row(page, "b.bin").get_by_role("button", name="Remove: b.bin").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#notices .notice")).to_have_count(0)
    expect(row(page, "b.bin")).not_to_have_class(re.compile("going"))
    assert set(service.tasks()) == {"a.bin", "b.bin"}


def test_on_a_phone_a_tap_opens_and_the_button_acts(visit, service, slow):
    service.tell("add", f"{slow}/a.bin", "-d", "files")
    page = visit(size=(390, 844), has_touch=True, is_mobile=True)
    button = row(page, "a.bin").get_by_role("button")
    expect(button).to_have_count(1)
    box = button.bounding_box()
    assert box["width"] >= 40 and box["height"] >= 40 and box["x"] + box["width"] <= 390
    button.tap()
    expect(row(page, "a.bin").locator(".state")).to_have_text("Paused")
    expect(page.locator("#pane")).to_be_hidden()
    row(page, "a.bin").locator(".name").tap()
    expect(page.locator("#pane")).to_be_visible()
    expect(page.locator("#d-name")).to_have_text("a.bin")


@pytest.mark.parametrize("size", [(1366, 625), (390, 844)])
def test_all_are_paused_and_resumed(visit, service, fast, slow, size):
    service.tell("add", f"{fast}/done.bin", "-d", "files")
    service.wait(lambda tasks: tasks["done.bin"]["state"] == "completed")
    page = visit(size=size)
    pause = page.get_by_role("button", name="Pause all")
    resume = page.get_by_role("button", name="Resume all")
    expect(row(page, "done.bin")).to_be_visible()
    bar = page.locator("#bar")
    assert bar.evaluate("(bar) => bar.scrollWidth <= bar.clientWidth")
    for button in (pause, resume):
        expect(button).to_have_attribute("aria-disabled", "true")
    service.tell("add", f"{slow}/a.bin", f"{slow}/b.bin", "-d", "files")
    expect(row(page, "b.bin")).to_be_visible()
    pause.click()
    service.wait(lambda tasks: all(tasks[name]["wanted"] == "paused" for name in ("a.bin", "b.bin")))
    expect(pause).to_have_attribute("aria-disabled", "true")
    resume.click()
    tasks = service.wait(lambda tasks: all(tasks[name]["wanted"] == "run" for name in ("a.bin", "b.bin")))
    assert tasks["done.bin"]["state"] == "completed"
    expect(resume).to_have_attribute("aria-disabled", "true")
