"""Login, and the page while the service is not running."""

import re
import signal
import time

from conftest import PATIENCE
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
    expect(page.get_by_text(re.compile("^Completed[,;]"))).to_be_visible()
    assert (service.folder / "files/first.bin").stat().st_size == 1 << 20


def test_it_comes_back_when_the_service_does(visit, service, fast):
    service.tell("add", f"{fast}/first.bin", "-d", "files")
    page = visit()
    expect(page.get_by_text(re.compile("^Completed[,;]"))).to_be_visible()
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


# The content of a canvas.
PIXELS = "(canvas) => canvas.toDataURL()"
# Whether the graph has a line beside its axes.
LINED = """() => {
  const canvas = document.querySelector("#graph");
  const accent = getComputedStyle(canvas).getPropertyValue("--accent").trim();
  const probe = document.createElement("canvas").getContext("2d");
  probe.fillStyle = accent;
  probe.fillRect(0, 0, 1, 1);
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
  if (!canvas.width || !canvas.height) return false;
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let near = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] > 200 && [r, g, b].every((value, k) => Math.abs(data[i + k] - value) < 40)) near += 1;
  }
  return near > 5;
}"""


def test_a_service_that_hangs_is_shown_as_such(visit, service, slow):
    service.tell("add", f"{slow}/first.bin", "-d", "files")
    page = visit()
    expect(page.locator(".rows .c-speed")).to_contain_text("/s")
    visit.is_quiet = False
    service.process.send_signal(signal.SIGSTOP)
    # Its connections remain open.
    expect(page.locator("#away")).to_be_visible(timeout=30_000)
    expect(page.locator("#away")).to_contain_text("has not responded since")
    expect(page.locator("#speed")).to_have_text("–")
    for part in (".rows", ".totals", ".side"):
        expect(page.locator(part).first).to_have_css("filter", "grayscale(1)")
    # The graph has stopped with the service.
    before = page.locator("#graph").evaluate(PIXELS)
    page.evaluate("() => new Promise((done) => { let n = 0; const timer = setInterval(() => ++n > 3 && (clearInterval(timer), done()), 1000) })")
    assert page.locator("#graph").evaluate(PIXELS) == before
    service.process.send_signal(signal.SIGCONT)
    expect(page.locator("#away")).to_be_hidden()
    expect(page.locator("#speed")).to_contain_text("/s")
    expect(page.locator(".rows")).to_have_css("filter", "none")


def test_the_graph_begins_with_what_the_service_remembers(visit, service, slow):
    service.tell("add", f"{slow}/first.bin", "-d", "files")
    page = visit(opened=False)
    visit.is_quiet = False
    # The page receives no speeds by events.
    page.route("**/api/v2/events?*", lambda route: route.abort())
    service.wait(lambda tasks: tasks["first.bin"].get("bytes_done", 0) > 200_000)
    page.goto(service.tell("open", "--no-browser"))
    expect(page.locator("#list").get_by_text("first.bin")).to_be_visible()
    # The speeds of some seconds are a line.
    end = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(LINED):
        assert time.monotonic() < end
        page.reload()
        expect(page.locator("#list").get_by_text("first.bin")).to_be_visible()
