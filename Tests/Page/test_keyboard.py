"""The whole page works without a mouse, and the focus is visible and kept."""

import pytest
from playwright.sync_api import expect


def current(page, name):
    """Expects the focus in the list, at a task."""
    expect(page.get_by_role("grid")).to_be_focused()
    expect(page.locator(".rows .current .name")).to_have_text(name)
    row = page.locator(".rows .row", has=page.get_by_text(name, exact=True))
    expect(page.get_by_role("grid")).to_have_attribute("aria-activedescendant", row.get_attribute("id"))


def test_a_whole_story_without_a_mouse(visit, service, slow, fast):
    service.tell("add", f"{slow}/first.iso", f"{slow}/second.iso", "--paused", "-d", "files")
    page = visit()
    press = page.keyboard.press
    grid, dialog = page.get_by_role("grid"), page.get_by_role("dialog")
    expect(page.locator(".rows .name")).to_have_text(["first.iso", "second.iso"])
    grid.focus()

    # Adds two links, and moves to them.
    press("n")
    expect(dialog.get_by_label("Links", exact=True)).to_be_focused()
    page.keyboard.insert_text(f"{slow}/third.iso\n{slow}/fourth.iso")
    press("Control+Enter")
    expect(dialog).to_have_count(0)
    expect(page.locator(".rows .name")).to_have_text(["first.iso", "second.iso", "third.iso", "fourth.iso"])
    for name in ("first.iso", "second.iso", "third.iso"):
        press("ArrowDown")
        current(page, name)
    service.wait(lambda tasks: tasks["third.iso"].get("bytes_done"))

    # The menu pauses a task.
    press("Shift+F10")
    expect(page.get_by_role("menuitem", name="Details")).to_be_focused()
    press("p")
    expect(page.get_by_role("menuitem", name="Pause")).to_be_focused()
    press("Enter")
    expect(page.locator(".rows .current .state")).to_have_text("Paused")
    service.wait(lambda tasks: tasks["third.iso"]["wanted"] == "paused")
    current(page, "third.iso")
    for close in ("Escape", "Tab"):
        press("Shift+F10")
        expect(page.get_by_role("menu")).to_be_visible()
        press(close)
        expect(page.get_by_role("menu")).to_have_count(0)
        current(page, "third.iso")

    # Its details open and close.
    press("Enter")
    expect(page.locator("#pane")).to_be_visible()
    expect(page.locator("#pane").get_by_role("heading", name="third.iso")).to_be_visible()
    press("Escape")
    expect(page.locator("#pane")).to_be_hidden()
    current(page, "third.iso")
    expect(page.locator("#chosen")).to_have_text("1 of 4 selected")

    # The task is removed, which is undone first by its key, then by the button.
    press("Delete")
    expect(page.locator(".rows .current .state")).to_have_text("Removing…")
    press("Control+z")
    expect(page.locator(".rows .current .state")).to_have_text("Paused")
    press("ArrowUp")
    press("ArrowDown")
    press("Delete")
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    for _ in range(50):
        press("Tab")
        if undo.evaluate("(undo) => undo === document.activeElement"):
            break
    expect(undo).to_be_focused()
    press("Enter")
    expect(undo).to_have_count(0)
    assert page.evaluate("document.activeElement !== document.body")
    assert "third.iso" in service.tasks()

    # The task that moves to the position of a removed one can be opened.
    grid.focus()
    current(page, "third.iso")
    press("ArrowUp")
    press("ArrowDown")
    page.clock.install()
    press("Delete")
    expect(page.locator(".rows .current .state")).to_have_text("Removing…")
    page.clock.fast_forward(5000)
    service.wait(lambda tasks: "third.iso" not in tasks)
    current(page, "fourth.iso")
    press("Enter")
    expect(page.locator("#pane").get_by_role("heading", name="fourth.iso")).to_be_visible()
    press("Escape")
    expect(page.locator("#pane")).to_be_hidden()
    current(page, "fourth.iso")


@pytest.mark.parametrize("width", [900, 360])
def test_details_that_cover_the_list_give_the_focus_back(visit, service, slow, width):
    service.tell("add", f"{slow}/first.iso", f"{slow}/second.iso", "--paused", "-d", "files")
    page = visit(size=(width, 800))
    expect(page.locator(".rows .name")).to_have_text(["first.iso", "second.iso"])
    page.get_by_role("grid").press("End")
    page.keyboard.press("Enter")
    expect(page.locator("#pane-close")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#pane")).to_be_hidden()
    current(page, "second.iso")
    page.keyboard.press("Enter")
    expect(page.locator("#pane-close")).to_be_focused()
    page.keyboard.press("Enter")
    current(page, "second.iso")


def test_dialogs_close_by_escape_and_give_the_focus_back(visit, service, slow):
    service.tell("add", f"{slow}/first.iso", "--paused", "-d", "files")
    page = visit()
    dialog = page.get_by_role("dialog")
    for name in ("Settings", "Help", "Add links"):
        button = page.get_by_role("button", name=name, exact=True)
        button.press("Enter")
        expect(dialog).to_be_visible()
        # The focus stays in the dialog.
        for _ in range(30):
            page.keyboard.press("Tab")
            assert page.evaluate("""document.activeElement === document.body ||
                document.querySelector('dialog').contains(document.activeElement)""")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(button).to_be_focused()
    page.get_by_role("grid").press("ArrowDown")
    for key in ("F2", "Shift+Delete"):
        page.keyboard.press(key)
        expect(dialog).to_be_visible()
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        current(page, "first.iso")
    assert service.tasks()["first.iso"]["wanted"] == "paused"


# The visible elements that accept a click or input, and the focused one with its visibility.
STOPS = """[...document.querySelectorAll("#app :is(a[href], button, input, select, [tabindex='0'])")]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.closest("[inert]"))"""
FOCUS = f"""() => {{
  const at = document.activeElement;
  const seen = at.role === "grid" ? at.querySelector(".rows .current") : at;
  const style = seen && getComputedStyle(seen);
  const is_seen = style && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  return [{STOPS}.indexOf(at), is_seen, at.outerHTML.slice(0, 80)];
}}"""


@pytest.mark.parametrize("width", [1280, 900])
def test_tab_reaches_all_and_the_focus_is_seen(visit, service, slow, width):
    service.tell("add", f"{slow}/first.iso", "--paused", "--tag", "iso", "-d", "files")
    service.tell("add", f"{slow}/second.iso", "-d", "files")
    page = visit(size=(width, 800))
    expect(page.locator("#tags").get_by_role("button")).to_have_count(1)
    expect(page.locator(".rows .name")).to_have_text(["first.iso", "second.iso"])
    if width == 1280:
        page.get_by_role("grid").press("End")
        page.keyboard.press("Enter")
        expect(page.locator("#pane").get_by_text("127.0.0.1").first).to_be_visible()
    whole = page.evaluate(STOPS + ".length")
    reached, unseen = set(), []
    for _ in range(2 * whole):
        page.keyboard.press("Tab")
        place, is_seen, what = page.evaluate(FOCUS)
        reached.add(place)
        if place >= 0 and not is_seen:
            unseen.append(what)
    stops = page.evaluate(STOPS + ".map((each) => each.outerHTML)")
    missed = [stop for place, stop in enumerate(stops) if place not in reached]
    assert (missed, unseen) == ([], []) and whole > 20


def test_the_focus_is_kept_while_the_list_changes(visit, service, slow, fast):
    service.tell("add", f"{slow}/first.iso", f"{slow}/second.iso", "-d", "files")
    page = visit()
    grid = page.get_by_role("grid")
    expect(page.locator(".rows .name")).to_have_text(["first.iso", "second.iso"])
    grid.press("End")
    current(page, "second.iso")
    # Values change, a task is added before it, one ends, and another is removed.
    expect(page.locator(".rows .current .c-speed")).not_to_be_empty()
    service.tell("add", f"{slow}/top.iso", "--paused", "--first", "-d", "files")
    expect(page.locator(".rows .name")).to_have_text(["top.iso", "first.iso", "second.iso"])
    current(page, "second.iso")
    service.tell("add", f"{fast}/small.bin", "-d", "files")
    expect(page.locator("#list").get_by_text("Completed; no checksum")).to_be_visible()
    current(page, "second.iso")
    service.tell("remove", service.tasks()["first.iso"]["id"])
    expect(page.locator(".rows .name")).to_have_text(["top.iso", "second.iso", "small.bin"])
    current(page, "second.iso")
    expect(page.locator("#chosen")).to_have_text("1 of 3 selected")

    # An open menu keeps its item.
    page.keyboard.press("Shift+F10")
    page.keyboard.press("End")
    entry = page.get_by_role("menuitem", name="Remove with files…")
    expect(entry).to_be_focused()
    service.tell("remove", service.tasks()["small.bin"]["id"])
    expect(page.locator(".rows .name")).to_have_text(["top.iso", "second.iso"])
    expect(entry).to_be_focused()
    page.keyboard.press("Escape")
    current(page, "second.iso")

    # The same applies to a filter when tags are added.
    service.tell("tag", service.tasks()["top.iso"]["id"], "+middle")
    tag = page.locator("#tags").get_by_role("button", name="middle")
    tag.focus()
    service.tell("tag", service.tasks()["top.iso"]["id"], "+early")
    expect(page.locator("#tags").get_by_role("button")).to_have_count(2)
    expect(tag).to_be_focused()
