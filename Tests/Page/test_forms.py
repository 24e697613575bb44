"""A form reports a refused value at its field, and in view."""

import re

import pytest
from playwright.sync_api import expect

SIZES = [(1366, 625), (1366, 768), (390, 844)]
# A label, a typed value, and the message that refuses it.
REFUSED = [
    ("Checksum", "no digest", "This is not a checksum"),
    ("Folder", "/etc", "is not in a folder"),
    ("Name", "a/b", "is not a file name"),
    ("Connections", "65", "Enter a number from 1 to 64"),
    ("Headers, one per line", "no header", "Enter each header as"),
]


@pytest.fixture
def dialog(visit, service, fast):
    """Opens the dialog for adding with a link, in a window of a size."""
    service.tell("add", f"{fast}/there.bin", "-d", "files", "--paused")
    # The browser reports each refused request on its console.
    visit.is_quiet = False

    def dialog(size, link=f"{fast}/new.bin"):
        page = visit(size=size)
        expect(page.locator("#list").get_by_text("there.bin")).to_be_visible()
        page.locator("#add").click()
        page.get_by_label("Links", exact=True).fill(link)
        for details in page.get_by_role("dialog").locator("details:not([open]) > summary").all():
            details.click()
        return page, page.get_by_role("dialog")

    return dialog


def send(box):
    """Submits the form."""
    box.locator("button.primary").click()


def is_refused(page, box, label, words):
    """Expects a message at a field, and both of them in view."""
    field = box.get_by_label(label, exact=True)
    reason = box.get_by_role("alert").filter(has_text=words)
    expect(reason).to_be_in_viewport(ratio=1)
    expect(field).to_be_in_viewport(ratio=0.5)
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_be_focused()
    assert reason.get_attribute("id") in field.get_attribute("aria-describedby").split()
    # Nothing of the dialog covers it.
    top = "(e) => { const b = e.getBoundingClientRect(); return e.contains(document.elementFromPoint(b.x + 4, b.y + b.height / 2)) }"
    assert reason.evaluate(top)
    return field, reason


@pytest.mark.parametrize("size", SIZES)
def test_a_refused_value_is_said_at_its_field_and_in_view(dialog, service, size):
    page, box = dialog(size)
    for label, value, words in REFUSED:
        box.get_by_label(label, exact=True).fill(value)
        # Scrolls to the other end of the form.
        box.locator(".dialog-body").evaluate(
            "(body, down) => { body.scrollTop = down ? body.scrollHeight : 0 }", label in ("Folder", "Name", "Checksum"))
        send(box)
        field, reason = is_refused(page, box, label, words)
        field.fill("")
        expect(reason).to_have_count(0)
        expect(field).not_to_have_attribute("aria-invalid", "true")
    assert len(service.tasks()) == 1


@pytest.mark.parametrize("size", SIZES)
def test_a_refused_link_is_said_at_the_links(dialog, size):
    page, box = dialog(size, "ftp://127.0.0.1/none")
    box.locator(".dialog-body").evaluate("(body) => { body.scrollTop = body.scrollHeight }")
    send(box)
    is_refused(page, box, "Links", "No link begins")


@pytest.mark.parametrize("size", SIZES)
def test_a_reason_without_a_field_is_in_view(dialog, size):
    page, box = dialog(size)
    page.route("**/api/v2/commands", lambda route: route.abort())
    box.locator(".dialog-body").evaluate("(body) => { body.scrollTop = 0 }")
    send(box)
    reason = box.get_by_role("alert").filter(has_text="The service does not respond")
    expect(reason).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("size", SIZES)
def test_refused_settings_are_said_at_their_fields(dialog, visit, size):
    page = visit(size=size)
    page.locator("#settings").click()
    box = page.get_by_role("dialog")
    for label, value, words in [
        ("Tasks at a time", "65", "Enter a number of tasks from 1 to 64"), ("Seconds until a failed task is retried", "x", "Enter numbers from 0 to 86400"),
    ]:
        box.get_by_label(label, exact=True).fill(value)
        box.locator(".dialog-body").evaluate("(body) => { body.scrollTop = body.scrollHeight }")
        send(box)
        is_refused(page, box, label, words)
        box.get_by_label(label, exact=True).fill("1")
    box.get_by_role("button", name="Add a rule").click()
    box.get_by_label("Action", exact=True).select_option("limit to")
    send(box)
    expect(box.get_by_role("alert").filter(has_text="needs a value above 0")).to_be_in_viewport(ratio=1)
    expect(box.locator(".rule input[aria-invalid]")).to_be_in_viewport(ratio=1)


def test_a_refused_name_is_said_in_the_dialog_that_renames(visit, service, fast):
    visit.is_quiet = False
    service.tell("add", f"{fast}/there.bin", "-d", "files", "--paused")
    page = visit()
    page.locator("#list").get_by_text("there.bin").click()
    page.keyboard.press("F2")
    box = page.get_by_role("dialog")
    box.get_by_label("Name", exact=True).fill(".hidden")
    send(box)
    is_refused(page, box, "Name", re.compile("dot"))
