"""Who is let in, and what the page does while the service is away."""

import re
import signal

from playwright.sync_api import expect


def test_an_address_of_open_lets_in_once(visit, service):
    address = service.tell("open", "--no-browser")
    visit.is_quiet = False
    page = visit(opened=False)
    page.goto(address)
    expect(page.locator("#empty")).to_be_visible()
    assert "token" not in page.url
    other = visit(opened=False)
    other.goto(address)
    expect(other.locator(".login")).to_be_visible()


def test_whoever_does_not_know_the_secret_sees_nothing(visit, service, fast):
    service.tell("add", f"{fast}/first.bin", "--paused", "-d", "files")
    visit.is_quiet = False
    page = visit(opened=False)
    page.goto(service.address)
    field = page.locator("input[type=password]")
    field.fill("not the secret")
    field.press("Enter")
    expect(page.get_by_role("alert").first).to_be_visible()
    expect(page.get_by_text("first.bin")).to_have_count(0)
    field.fill(service.tell("serve", "--show-secret"))
    field.press("Enter")
    expect(page.locator("#list").get_by_text("first.bin")).to_be_visible()


def test_a_link_in_the_address_is_filled_in_and_not_added(visit, service, fast):
    page = visit(f"?url={fast}/first.bin")
    box = page.locator("textarea:visible").first
    expect(box).to_have_value(re.compile("/first.bin"))
    assert service.tasks() == {}
    box.press("Control+Enter")
    expect(page.get_by_text(re.compile("^Complete,"))).to_be_visible()
    assert (service.folder / "files/first.bin").stat().st_size == 1 << 20


def test_it_comes_back_when_the_service_does(visit, service, fast):
    service.tell("add", f"{fast}/first.bin", "-d", "files")
    page = visit()
    expect(page.get_by_text(re.compile("^Complete,"))).to_be_visible()
    visit.is_quiet = False
    service.stop(signal.SIGKILL)
    expect(page.locator("#away")).to_be_visible()
    expect(page.locator("#list").get_by_text("first.bin")).to_be_visible()
    service.start()
    expect(page.locator("#away")).to_be_hidden()
    visit.is_quiet = True
    service.tell("add", f"{fast}/second.bin", "-d", "files")
    expect(page.locator("#list").get_by_text("second.bin")).to_be_visible()


def test_an_end_that_is_looked_at_is_told_nowhere_else(visit, service, fast):
    service.tell("add", f"{fast}/first.bin", "-d", "files")
    service.wait(lambda tasks: tasks["first.bin"].get("seen") is False)
    visit()
    service.wait(lambda tasks: tasks["first.bin"]["seen"])
