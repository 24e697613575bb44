"""Thousands of tasks: the page requests only the visible ones, and a command can name all of them."""

import json
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

MANY = 10_000
# More tasks than the page holds; adding ten thousand is slow on a busy machine.
SOME = 2_000


def name(number):
    return f"part-{number:05}.bin"


def add(service, number):
    """Adds many tasks; a rule keeps the service from downloading."""
    service.tell("settings", "--metered", "yes", "--rule", "metered=pause")
    links = "".join(f"http://127.0.0.1:9/{n}\n  out={name(n)}\n" for n in range(number))
    service.tell("add", "-i", "-", "-d", "files", stdin=links)


def asked(page, path):
    """Collects later requests for a path: each one's body, or its query."""
    found = []

    def note(request):
        url = urlsplit(request.url)
        if url.path == path:
            found.append(json.loads(request.post_data) if request.method == "POST" else parse_qs(url.query))
    page.on("request", note)
    return found


def settled(page):
    """Returns the names of the visible rows by index, once none is missing."""
    return page.wait_for_function("""() => {
      const box = document.querySelector("#list").getBoundingClientRect();
      const top = document.querySelector(".head").getBoundingClientRect().bottom;
      const rows = [...document.querySelectorAll(".rows .row")].map((row) => [row.getBoundingClientRect(), row])
        .filter(([place]) => place.bottom > top + 1 && place.top < box.bottom - 1)
        .sort(([one], [other]) => one.top - other.top);
      const names = rows.map(([, row]) => [Number(row.ariaRowIndex), row.querySelector(".name").textContent]);
      const whole = rows.length > 5 && rows[0][0].top <= top + 1 && rows.at(-1)[0].bottom >= box.bottom - 1 &&
        rows.every(([place], i) => i === 0 || Math.abs(place.top - rows[i - 1][0].bottom) < 1) &&
        names.every(([, name]) => name);
      return whole && names;
    }""").json_value()


def test_the_rows_that_are_seen_are_there_and_no_more(visit, service):
    add(service, MANY)
    page = visit(opened=False)
    # Periodic requests must not be the cause of the updates.
    page.add_init_script("window.setInterval = () => 0")
    page.goto(service.tell("open", "--no-browser"))
    grid = page.get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", str(MANY + 1))
    expect(page.locator("#filter-all .n")).to_have_text("10,000")
    expect(page.locator("#filter-waiting .n")).to_have_text("10,000")
    expect(page.locator("#ruled")).to_contain_text("metered")
    # The name of a row is that of its position; the first row has index 2, after the head.
    is_right = lambda rows: all(found == name(index - 2) for index, found in rows)
    first = settled(page)
    assert first[0][0] == 2 and is_right(first)

    requests = asked(page, "/api/v2/tasks")
    box = page.locator("#list").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    whole = page.locator("#list").evaluate("(list) => list.scrollHeight")
    for part in range(10):
        page.mouse.wheel(0, whole / 20)
    page.wait_for_function("(y) => Math.abs(document.querySelector('#list').scrollTop - y) < 5", arg=whole / 2)
    middle = settled(page)
    assert abs(middle[0][0] - MANY / 2) < 20 and is_right(middle)

    grid.press("End")
    expect(page.locator(".current .name")).to_have_text(name(MANY - 1))
    last = settled(page)
    assert last[-1][0] == MANY + 1 and is_right(last)
    grid.press("Home")
    expect(page.locator(".current .name")).to_have_text(name(0))
    back = settled(page)
    assert back[0][0] == 2 and is_right(back)

    assert page.locator(".rows .row").count() < 60
    assert len(requests) <= 40, requests
    assert all(int(each["limit"][0]) <= 200 for each in requests)


def test_what_is_done_with_all_is_one_command(visit, service):
    add(service, SOME)
    page = visit()
    grid = page.get_by_role("grid")
    commands = asked(page, "/api/v2/commands")
    expect(page.locator("#chosen")).to_have_text("2,000 tasks")
    grid.press("Control+a")
    expect(page.locator("#chosen")).to_have_text("All 2,000 selected")
    page.locator("#tools").get_by_role("button", name="Pause").click()
    expect(page.locator("#filter-paused .n")).to_have_text("2,000")
    expect(page.locator("#list").get_by_text("Paused").first).to_be_visible()
    assert commands == [{"commands": [{"command": "pause", "all": True}]}]
    assert {task["wanted"] for task in service.tasks().values()} == {"paused"}

    commands.clear()
    page.locator("#tools").get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Tags…").click()
    page.get_by_role("dialog").get_by_label("Add tags").fill("parts, big")
    page.keyboard.press("Enter")
    expect(page.locator("#tags .n")).to_have_text(["2,000", "2,000"])
    assert commands == [{"commands": [{"command": "tag", "all": True, "add": ["parts", "big"]}]}]


def test_what_is_searched_for_and_filtered_is_counted(visit, service, fast):
    add(service, SOME)
    service.tell("add", f"{fast}/other.iso", "--paused", "--tag", "iso", "-d", "files")
    service.tell("add", f"{fast}/another.iso", "--tag", "iso", "-d", "files")
    page = visit()
    grid, chosen = page.get_by_role("grid"), page.locator("#chosen")
    expect(chosen).to_have_text("2,002 tasks")

    page.keyboard.press("/")
    page.keyboard.type("PART-0123")
    expect(chosen).to_have_text("10 tasks")
    expect(page.locator(".rows .name")).to_have_text([name(n) for n in range(1230, 1240)])
    grid.press("Control+a")
    expect(chosen).to_have_text("10 of 10 selected")
    page.locator("#tools").get_by_role("button", name="Pause").click()
    expect(page.locator("#filter-paused .n")).to_have_text("11")
    page.locator("#search").fill("nothing has this")
    expect(page.get_by_text("No task matches.")).to_be_visible()
    page.locator("#search").press("Escape")
    expect(chosen).to_have_text("2,002 tasks")

    page.locator("#filter-paused").click()
    expect(chosen).to_have_text("11 tasks")
    expect(page.locator(".rows .name")).to_have_text([*(name(n) for n in range(1230, 1240)), "other.iso"])
    page.locator("#tags").get_by_role("button", name="iso 2").click()
    expect(chosen).to_have_text("2 tasks")
    expect(page.locator(".rows .name")).to_have_text(["other.iso", "another.iso"])
    page.locator("#tags").get_by_role("button", name="iso 2").click()
    expect(chosen).to_have_text("2,002 tasks")


def test_the_service_sorts_and_the_browser_remembers_how(visit, service, fast, slow):
    service.tell("add", f"{fast}/small.bin", "-d", "files")
    service.tell("add", f"{slow}/large.bin", "-d", "files")
    service.wait(lambda tasks: tasks["small.bin"]["state"] == "completed" and tasks["large.bin"].get("size"))
    add(service, SOME)
    page = visit()
    head = lambda title: page.locator(".head").get_by_role("columnheader", name=title)
    row = lambda index: page.locator(f".rows [aria-rowindex='{index}'] .name")

    head("Name").get_by_role("button").click()
    expect(head("Name")).to_have_attribute("aria-sort", "ascending")
    expect(row(2)).to_have_text("large.bin")
    head("Name").get_by_role("button").click()
    expect(head("Name")).to_have_attribute("aria-sort", "descending")
    expect(row(2)).to_have_text("small.bin")
    expect(row(3)).to_have_text(name(SOME - 1))

    head("Size").get_by_role("button").click()
    for again in range(2):
        expect(head("Size")).to_have_attribute("aria-sort", "descending")
        expect(head("Name")).to_have_attribute("aria-sort", "none")
        expect(page.locator("#sort")).to_have_value("size")
        for index, is_there in enumerate(["large.bin", "small.bin", name(0), name(1)]):
            expect(row(2 + index)).to_have_text(is_there)
        if not again:
            page.reload()
    page.get_by_role("grid").press("End")
    last = settled(page)
    assert last[-1] == [SOME + 3, name(SOME - 1)]


def test_what_comes_to_match_later_is_not_removed(visit, service, fast):
    links = "".join(f"{fast}/{number}.bin\n" for number in range(300))
    service.tell("add", "-i", "-", "--paused", "-d", "files", stdin=links)
    page = visit()
    commands = asked(page, "/api/v2/commands")
    expect(page.locator("#chosen")).to_have_text("300 tasks")
    page.get_by_role("grid").press("Control+a")
    page.get_by_role("grid").press("Shift+Delete")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Remove 300 tasks and their files?")
    service.tell("add", f"{fast}/later.bin", "--paused", "-d", "files")
    dialog.get_by_role("button", name="Delete files").click()
    expect(page.locator("#filter-all .n")).to_have_text("1")
    assert set(service.tasks()) == {"later.bin"}
    assert len(commands) == 1
