"""Tasks are added: pasted, dropped, chosen and shared, with options, and on a phone."""

import hashlib
import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

ZEROS = hashlib.sha256(bytes(1 << 20)).hexdigest()


@pytest.fixture
def page(visit, service, fast):
    """The page with a task; adding opens a dialog."""
    service.tell("add", f"{fast}/there.bin", "-d", "files")
    page = visit()
    expect(page.locator("#list").get_by_text("there.bin")).to_be_visible()
    return page


def state(page, name):
    """The state of a task in the list."""
    return page.locator(".rows .row").filter(has_text=name).locator(".state")


def fill(page, links, **more):
    """Opens and fills in the dialog."""
    page.locator("#add").click()
    page.get_by_label("Links", exact=True).fill("\n".join(links))
    options(page)
    for label, value in more.items():
        page.locator(".add-form").get_by_label(label.capitalize(), exact=True).fill(value)


def options(page):
    """Opens the section of options for all links."""
    page.locator(".add-form details:not([open]) > summary").click()


def send(page):
    page.get_by_role("dialog").locator("button.primary").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_paste_opens_the_box_and_several_links_are_tasks_or_mirrors(page, service, fast):
    links = [f"{fast}/one.bin", f"{fast}/two.bin"]
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    dialog, box = page.get_by_role("dialog"), page.get_by_label("Links", exact=True)

    def paste():
        page.evaluate("(text) => navigator.clipboard.writeText(text)", "\n".join(links))
        page.keyboard.press("Control+v")
        expect(box).to_have_value("\n".join(links))

    paste()
    options(page)
    expect(dialog.get_by_label("Folder", exact=True)).to_be_visible()
    expect(dialog.get_by_label("Name", exact=True)).to_be_hidden()
    expect(dialog.locator("button.primary")).to_have_text("Add 2 tasks")
    send(page)
    expect(state(page, "one.bin")).to_have_text(re.compile("^Complete"))
    expect(state(page, "two.bin")).to_have_text(re.compile("^Complete"))
    expect(page.locator("#notices")).to_contain_text("2 tasks added")

    links = [f"{fast}/mirror-1/three.bin", f"{fast}/mirror-2/three.bin"]
    paste()
    page.get_by_label("mirrors of one file").check()
    expect(dialog.locator("button.primary")).to_have_text("Add")
    options(page)
    dialog.get_by_label("Checksum").fill(ZEROS)
    send(page)
    expect(state(page, "three.bin")).to_have_text("Completed, verified (sha-256)")
    assert len(service.tasks()) == 4
    urls = page.evaluate("""async (id) => (await (await import("/app/api.js")).get(`/api/v2/tasks/${id}`)).urls""",
                         service.tasks()["three.bin"]["id"])
    assert urls == links


def test_a_task_has_what_was_filled_in(page, service, fast):
    fill(page, [f"{fast}/right"], name="right.iso", folder="below/here", tags="iso, new", checksum=f"sha-256:{ZEROS}")
    send(page)
    expect(state(page, "right.iso")).to_have_text("Completed, verified (sha-256)")
    task = service.tasks()["right"]
    assert task["tags"] == ["iso", "new"]
    assert (service.folder / "files/below/here/right.iso").read_bytes() == bytes(1 << 20)

    fill(page, [f"{fast}/wrong.iso"], checksum="no digest")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="This is not a checksum")).to_be_visible()
    page.get_by_label("Checksum").fill(f"SHA-256={'0' * 64}")
    send(page)
    expect(state(page, "wrong.iso")).to_have_text(re.compile("^Failed: .*sha-256"))
    assert not (service.folder / "files/wrong.iso").exists()


def test_a_task_begins_as_was_chosen(page, service, slow):
    service.tell("settings", "--max-running", "1")
    service.tell("add", f"{slow}/runs.bin", "-d", "files")
    expect(state(page, "runs.bin")).to_have_text(re.compile("^Running"))
    for begin in ("in queue order", "next in the queue", "paused"):
        fill(page, [f"{slow}/{begin.split()[0]}.bin"])
        page.get_by_label("Start", exact=True).select_option(begin)
        send(page)
    expect(state(page, "paused.bin")).to_have_text("Paused")
    tasks = service.wait(lambda tasks: tasks["next.bin"]["position"] == 1)
    assert tasks["in.bin"]["state"] == "waiting" and tasks["in.bin"]["wanted"] == "run"
    fill(page, [f"{slow}/once.bin"])
    page.get_by_label("Start", exact=True).select_option("now")
    send(page)
    expect(state(page, "once.bin")).to_have_text(re.compile("^Running"))


def test_what_is_known_and_what_is_no_link_is_said(page, service, fast):
    expect(state(page, "there.bin")).to_have_text(re.compile("^Complete"))
    dialog = page.get_by_role("dialog")
    fill(page, ["# files", "ftp://127.0.0.1/none", f"{fast}/there.bin"])
    expect(dialog).to_contain_text("1 line is not an http:// or https:// link and is ignored: ftp://127.0.0.1/none")
    expect(dialog).to_contain_text("Already in the list: there.bin (Completed")
    # Another query is another link.
    page.get_by_label("Links", exact=True).fill(f"{fast}/there.bin?query")
    expect(dialog).not_to_contain_text("Already in the list")
    fill_again = page.get_by_label("Links", exact=True).fill
    fill_again(f"{fast}/there.bin")
    expect(dialog).not_to_contain_text("is ignored")
    expect(dialog).to_contain_text("Already in the list")
    send(page)
    expect(page.locator("#notices")).to_contain_text("1 link was already in the list")
    assert len(service.tasks()) == 1

    fill(page, [f"{fast}/there.bin"])
    page.get_by_label("Add these links again").check()
    send(page)
    expect(page.locator(".rows .row")).to_have_count(2)
    fill(page, ["nothing", "of use"])
    expect(dialog).to_contain_text("2 lines are not http:// or https:// links")
    page.keyboard.press("Control+Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("No link begins")


def test_links_come_from_a_text_file(page, service, fast):
    text = f"# two files\n{fast}/one.bin\n{fast}/two.bin\n"
    (service.folder / "links.txt").write_text(text)
    (service.folder / "links.bin").write_bytes(bytes(100))
    box = page.get_by_label("Links", exact=True)
    page.locator("#add").click()
    options(page)
    with page.expect_file_chooser() as choice:
        page.get_by_role("button", name="From a text file…").click()
    choice.value.set_files(service.folder / "links.txt")
    expect(box).to_have_value(text.strip())
    expect(page.get_by_role("dialog").locator("button.primary")).to_have_text("Add 2 tasks")
    page.locator("input[type=file]").set_input_files(service.folder / "links.bin")
    expect(page.get_by_role("alert").filter(has_text="could not be read as text")).to_be_visible()
    box.clear()
    page.keyboard.press("Escape")

    carried = page.evaluate_handle("""(text) => {
      const carried = new DataTransfer();
      carried.items.add(new File([text], "links.txt", { type: "text/plain" }));
      return carried;
    }""", text)
    page.dispatch_event("#list", "dragenter", {"dataTransfer": carried})
    expect(page.get_by_text("Drop links or a text file")).to_be_visible()
    page.dispatch_event("#list", "drop", {"dataTransfer": carried})
    expect(page.get_by_text("Drop links or a text file")).to_be_hidden()
    expect(box).to_have_value(text.strip())
    send(page)
    expect(state(page, "two.bin")).to_have_text(re.compile("^Complete"))


def test_an_address_may_have_several_links(page, service, fast):
    links = [f"{fast}/one.bin?query=1&more", f"{fast}/two.bin"]
    page.goto(f"{service.address}?{urlencode({'url': links}, doseq=True)}")
    expect(page.get_by_label("Links", exact=True)).to_have_value("\n".join(links))
    assert page.url == service.address
    assert len(service.tasks()) == 1


def test_what_other_pages_and_programs_share_is_filled_in(visit, page, service, fast):
    visit.is_quiet = False
    box = page.get_by_label("Links", exact=True)
    # The operating system shares a link as a URL or in a text.
    target = page.evaluate("""async () => {
      const answer = await fetch(document.querySelector("link[rel=manifest]").href);
      const target = (await answer.json()).share_target;
      return {...target, action: new URL(target.action, answer.url).href};
    }""")
    assert target["method"] == "GET"
    for shared in ({"title": "One", "text": "", "url": f"{fast}/one.bin"},
                   {"title": "One", "text": f"Look at {fast}/one.bin now"}):
        query = {target["params"][key]: value for key, value in shared.items()}
        page.goto(f"{target['action']}?{urlencode(query)}")
        expect(box).to_have_value(f"{fast}/one.bin")
        page.keyboard.press("Escape")

    page.locator("#help").click()
    script = page.get_by_role("link", name="Download with segget").get_attribute("href")
    other = page.context.new_page()
    other.route("**/*", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
    other.goto(f"{fast}/page?of=1&more=2#part")
    with page.context.expect_page() as opened:
        other.evaluate(script.removeprefix("javascript:"))
    expect(opened.value.get_by_label("Links", exact=True)).to_have_value(f"{fast}/page?of=1&more=2#part")


def test_all_of_it_fits_a_phone(visit, service, fast, slow):
    page = visit(size=(360, 740), has_touch=True, is_mobile=True)

    def fits():
        # The viewport of a phone grows with content that is too wide.
        assert page.evaluate("[document.scrollingElement.scrollWidth, innerWidth]") == [360, 360]

    expect(page.locator("#empty")).to_be_visible()
    fits()
    page.get_by_label("Links", exact=True).fill(f"{slow}/{'long-name-' * 9}.iso")
    page.locator("#empty button.primary").tap()
    expect(state(page, "long-name")).to_have_text(re.compile("Running"))
    fits()
    page.locator("#add").tap()
    page.get_by_label("Links", exact=True).fill(f"{fast}/small.bin")
    fits()
    page.get_by_role("dialog").locator("button.primary").tap()
    expect(state(page, "small.bin")).to_have_text(re.compile("^Complete"))

    page.locator(".rows .name").filter(has_text="long-name").tap()
    expect(page.locator("#pane")).to_be_visible()
    expect(page.locator("#pane").get_by_text("127.0.0.1").first).to_be_visible()
    fits()
    page.locator("#pane-close").tap()
    expect(page.locator("#pane")).to_be_hidden()

    page.get_by_role("button", name="More", exact=True).tap()
    fits()
    page.get_by_role("menuitem", name="Pause").tap()
    expect(state(page, "long-name")).to_have_text("Paused")
    expect(page.get_by_role("menu")).to_have_count(0)
    fits()


@pytest.mark.parametrize("key", ["Enter", "Control+Enter"])
def test_one_link_is_one_field_and_a_button(page, service, fast, key):
    page.locator("#add").click()
    dialog = page.get_by_role("dialog")
    shown = "(all) => all.filter((each) => each.checkVisibility()).map((each) => each.textContent || each.tagName)"
    assert dialog.locator("input, textarea, select").evaluate_all(shown) == ["TEXTAREA"]
    assert dialog.locator("button").evaluate_all(shown) == ["Cancel", "Add"]
    assert dialog.locator("textarea.links").bounding_box()["height"] < 45
    expect(dialog.get_by_label("Links", exact=True)).to_be_focused()
    page.keyboard.type(f"{fast}/one.bin")
    page.keyboard.press(key)
    expect(dialog).to_have_count(0)
    expect(state(page, "one.bin")).to_have_text(re.compile("^Complete"))

    # Several links have several lines.
    page.locator("#add").click()
    page.keyboard.type(f"{fast}/two.bin")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type(f"{fast}/three.bin")
    page.keyboard.press("Enter")
    page.keyboard.type(f"{fast}/four.bin")
    send(page)
    expect(page.locator(".rows .row")).to_have_count(5)


def test_nothing_that_was_cancelled_is_remembered(page, service, fast):
    first = page.get_by_role("dialog").locator("input, textarea, select")
    values = "(all) => all.map((each) => each.type === 'file' ? '' : each.value + each.checked)"
    page.locator("#add").click()
    empty = first.evaluate_all(values)
    page.keyboard.press("Escape")
    for leave in ("Escape", "Cancel"):
        fill(page, [f"{fast}/there.bin"], name="other.bin", folder="below", tags="iso", user="me", password="p",
             checksum="no digest", connections="3", referer="http://r/")
        page.get_by_label("Start", exact=True).select_option("paused")
        page.get_by_label("Headers, one per line").fill("X-A: b")
        page.get_by_label("Add these links again").check()
        page.get_by_role("dialog").locator("button.primary").click()
        expect(page.get_by_role("alert").filter(has_text="This is not a checksum")).to_be_visible()
        if leave == "Escape":
            page.keyboard.press("Escape")
        else:
            page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.locator("#add").click()
        assert first.evaluate_all(values) == empty
        dialog = page.get_by_role("dialog")
        expect(dialog.locator("details[open]")).to_have_count(0)
        expect(dialog.get_by_text("This is not a checksum")).to_have_count(0)
        expect(dialog.get_by_text("Already in the list")).to_be_hidden()
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
    assert len(service.tasks()) == 1
