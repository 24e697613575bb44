"""Tasks are selected and changed by mouse, menus, and keys of the list."""

import functools
import http.server
import json
import re
import threading

import pytest
from playwright.sync_api import expect

NAMES = ["a.bin", "b.bin", "c.bin", "d.bin", "e.bin"]


@pytest.fixture
def held(service, slow):
    """A service with five paused tasks."""
    service.tell("add", *(f"{slow}/{name}" for name in NAMES), "--paused", "-d", "files")
    return service


@pytest.fixture
def missing(tmp_path_factory):
    """The address of a server that answers each path with 404."""
    class Handler(http.server.SimpleHTTPRequestHandler):
        log_message = lambda *_: None

    handler = functools.partial(Handler, directory=tmp_path_factory.mktemp("nothing"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def row(page, name):
    return page.locator(".rows .row", has=page.get_by_text(name, exact=True))


def selected(page, *names):
    expect(page.locator(".rows [aria-selected=true] .name")).to_have_text(list(names))


def tool(page, name):
    return page.locator("#tools").get_by_role("button", name=name)


def choose(page, name, action):
    """Chooses an item of a task's menu."""
    row(page, name).click(button="right")
    page.get_by_role("menuitem", name=action).click()


def commands(page):
    """Collects the commands of later requests, except those that only mark results as seen."""
    sent = []

    def note(request):
        if request.url.endswith("/api/v2/commands"):
            body = json.loads(request.post_data)["commands"]
            if body[0]["command"] != "mark_seen":
                sent.append(body)
    page.on("request", note)
    return sent


def order(service):
    """Returns the names of the tasks with a position, in queue order."""
    tasks = service.tasks()
    placed = [name for name in tasks if tasks[name].get("position")]
    return sorted(placed, key=lambda name: tasks[name]["position"])


def ordered(service, *names):
    service.wait(lambda _: order(service) == list(names))


def removed(service, name):
    service.wait(lambda tasks: name not in tasks)


def test_tasks_are_selected_by_mouse(visit, held):
    page = visit()
    chosen = page.locator("#chosen")
    expect(chosen).to_have_text("5 tasks")
    row(page, "b.bin").click()
    selected(page, "b.bin")
    expect(chosen).to_have_text("1 of 5 selected")
    row(page, "d.bin").click()
    selected(page, "d.bin")
    row(page, "b.bin").click(modifiers=["Control"])
    selected(page, "b.bin", "d.bin")
    row(page, "d.bin").click(modifiers=["Control"])
    selected(page, "b.bin")
    row(page, "b.bin").click()
    row(page, "e.bin").click(modifiers=["Shift"])
    selected(page, "b.bin", "c.bin", "d.bin", "e.bin")
    row(page, "a.bin").click(modifiers=["Shift"])
    selected(page, "a.bin", "b.bin")
    row(page, "d.bin").locator(".tick").click()
    selected(page, "a.bin", "b.bin", "d.bin")
    row(page, "a.bin").locator(".tick").click()
    selected(page, "b.bin", "d.bin")

    everything = page.get_by_role("button", name="Select all or none")
    everything.click()
    selected(page)
    everything.click()
    selected(page, *NAMES)
    row(page, "c.bin").click(button="right")
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_have_count(0)
    selected(page, *NAMES)
    everything.click()
    row(page, "c.bin").click(button="right")
    selected(page, "c.bin")


def test_tasks_are_selected_by_keys(visit, held):
    page = visit()
    expect(page.locator("#chosen")).to_have_text("5 tasks")
    grid = page.get_by_role("grid")
    grid.press("ArrowDown")
    selected(page, "a.bin")
    grid.press("ArrowDown")
    selected(page, "b.bin")
    grid.press("Shift+ArrowDown")
    grid.press("Shift+ArrowDown")
    selected(page, "b.bin", "c.bin", "d.bin")
    grid.press("Shift+ArrowUp")
    selected(page, "b.bin", "c.bin")
    grid.press("Space")
    selected(page, "b.bin")
    grid.press("Control+ArrowDown")
    grid.press("Control+ArrowDown")
    selected(page, "b.bin")
    grid.press("Space")
    selected(page, "b.bin", "e.bin")
    grid.press("Shift+Home")
    selected(page, *NAMES)
    grid.press("ArrowUp")
    selected(page, "a.bin")
    grid.press("End")
    selected(page, "e.bin")
    grid.press("Escape")
    selected(page)
    grid.press("Control+a")
    selected(page, *NAMES)
    grid.press("Escape")
    selected(page)
    # Works wherever the focus is, except in text fields.
    page.locator("#filter-all").press("Control+a")
    selected(page, *NAMES)

    search = page.locator("#search")
    for key in ("/", "Control+f"):
        grid.press(key)
        expect(search).to_be_focused()
        page.keyboard.type("c.bin")
        expect(page.locator("#chosen")).to_have_text("1 task")
        search.press("Enter")
        selected(page, "c.bin")
        expect(grid).to_be_focused()
        search.press("Escape")
        expect(search).to_have_value("")
        expect(page.locator("#chosen")).to_have_text("5 tasks")


def test_what_matches_a_filter_is_acted_on_at_once(visit, service, slow, missing):
    service.tell("add", f"{missing}/lost.bin", f"{missing}/gone.bin", "-d", "files")
    service.tell("add", f"{slow}/one.iso", f"{slow}/two.iso", "--tag", "iso", "--paused", "-d", "files")
    service.tell("add", f"{slow}/other.bin", "--paused", "-d", "files")
    service.wait(lambda tasks: tasks["lost.bin"]["state"] == tasks["gone.bin"]["state"] == "failed")
    page = visit()
    sent = commands(page)
    tasks = service.tasks()

    page.locator("#tags").get_by_role("button", name="iso").click()
    expect(page.locator("#chosen")).to_have_text("2 tasks")
    page.get_by_role("grid").press("Control+a")
    tool(page, "Resume").click()
    now = service.wait(lambda tasks: tasks["one.iso"]["state"] == tasks["two.iso"]["state"] == "running")
    assert now["other.bin"]["wanted"] == "paused"
    assert sent == [[{"command": "resume", "ids": [tasks["one.iso"]["id"], tasks["two.iso"]["id"]]}]]

    show(page, "failed")
    expect(page.locator("#chosen")).to_have_text("2 tasks")
    page.get_by_role("grid").press("Control+a")
    expect(page.locator("#chosen")).to_have_text("2 of 2 selected")
    page.get_by_role("grid").press("Shift+Delete")
    dialog = page.get_by_role("dialog", name="Remove 2 tasks and their files?")
    expect(dialog.get_by_role("listitem")).to_have_count(2)
    assert sorted(dialog.get_by_role("listitem").all_text_contents()) == ["gone.bin", "lost.bin"]
    dialog.get_by_role("button", name="Delete files").click()
    service.wait(lambda tasks: tasks.keys() == {"one.iso", "two.iso", "other.bin"})
    expect(page.get_by_text("No task matches.")).to_be_visible()


def test_nothing_is_done_with_rows_that_a_new_filter_does_not_mean(visit, held, missing):
    held.tell("add", f"{missing}/lost.bin", "-d", "files")
    held.wait(lambda tasks: tasks["lost.bin"]["state"] == "failed")
    page = visit()
    sent, answers = commands(page), []
    grid = page.get_by_role("grid")
    show(page, "paused")
    expect(page.locator("#chosen")).to_have_text("5 tasks")
    failed = re.compile("/api/v2/tasks.state=failed&sort=order")
    page.route(failed, lambda answer: answers.append(answer))
    with page.expect_request(failed):
        page.locator("#filter-failed").click()
    # The response is in flight.
    row(page, "c.bin").click(force=True)
    grid.press("Delete")
    grid.press("Control+a")
    grid.press("Delete")
    selected(page)
    for answer in answers:
        answer.continue_()
    page.unroute(failed)
    expect(page.locator("#chosen")).to_have_text("1 of 1 selected")
    selected(page, "lost.bin")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    assert sent == []


def test_what_has_left_the_list_is_no_longer_selected(visit, held):
    page = visit()
    show(page, "paused")
    row(page, "b.bin").click()
    row(page, "c.bin").click(modifiers=["Control"])
    held.tell("resume", held.tasks()["b.bin"]["id"])
    expect(page.locator("#chosen")).to_have_text("1 of 4 selected")
    selected(page, "c.bin")


def test_a_task_is_started_paused_retried_and_cancelled(visit, service, slow, missing):
    service.tell("add", f"{slow}/a.bin", "--paused", "-d", "files")
    service.tell("add", f"{missing}/lost.bin", "-d", "files")
    service.wait(lambda tasks: tasks["lost.bin"]["state"] == "failed")
    page = visit()
    sent = commands(page)
    state = lambda name: row(page, name).locator(".state")

    expect(state("a.bin")).to_have_text("Paused")
    choose(page, "a.bin", "Start now")
    expect(state("a.bin")).to_have_text("Running, from 127.0.0.1:" + slow.rsplit(":")[-1])
    service.wait(lambda tasks: tasks["a.bin"]["state"] == "running" and tasks["a.bin"]["wanted"] == "run")
    tool(page, "Pause").click()
    expect(state("a.bin")).to_have_text("Paused")
    expect(page.locator("#filter-paused .n")).to_have_text("1")
    expect(tool(page, "Pause")).to_have_attribute("aria-disabled", "true")
    tool(page, "Resume").click()
    service.wait(lambda tasks: tasks["a.bin"]["state"] == "running" and tasks["a.bin"].get("bytes_done"))

    before = len(sent)
    row(page, "lost.bin").click()
    tool(page, "Retry").click()
    expect(state("lost.bin")).to_contain_text("404")
    assert [body[0]["command"] for body in sent[before:]] == ["retry"]

    choose(page, "a.bin", "Cancel task…")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Keep").click()
    expect(dialog).to_have_count(0)
    assert service.tasks()["a.bin"]["state"] == "running"
    row(page, "a.bin").click()
    choose(page, "a.bin", "Cancel task…")
    expect(dialog.get_by_role("heading")).to_have_text("Cancel 1 task?")
    dialog.get_by_role("button", name="Cancel and delete").click()
    expect(state("a.bin")).to_have_text("Cancelled")
    service.wait(lambda tasks: tasks["a.bin"]["state"] == "cancelled")


def show(page, filter):
    """Shows the tasks of a filter, and waits for them."""
    page.locator(f"#filter-{filter}").click()
    expect(page.get_by_role("grid")).not_to_have_attribute("aria-busy", "true")


def frozen(page):
    """Stops the page's timers until the test advances the clock."""
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))


def test_a_removal_can_be_undone_for_five_seconds(visit, held):
    page = visit()
    sent = commands(page)
    row(page, "b.bin").click()
    frozen(page)
    page.keyboard.press("Delete")
    expect(row(page, "b.bin").locator(".state")).to_have_text("Removing…")
    undo = page.locator("#notices").get_by_role("button", name="Undo")
    page.clock.run_for(4900)
    undo.click()
    expect(undo).to_have_count(0)
    expect(row(page, "b.bin").locator(".state")).to_have_text("Paused")

    row(page, "c.bin").click()
    tool(page, "Remove").click()
    expect(row(page, "c.bin").locator(".state")).to_have_text("Removing…")
    page.clock.run_for(4900)
    page.keyboard.press("Control+z")
    expect(row(page, "c.bin").locator(".state")).to_have_text("Paused")
    expect(undo).to_have_count(0)
    page.clock.run_for(6000)
    assert sent == [] and held.tasks().keys() == set(NAMES)

    row(page, "b.bin").click()
    row(page, "d.bin").click(modifiers=["Control"])
    page.keyboard.press("Delete")
    expect(page.locator("#notices")).to_contain_text("Removing 2 tasks")
    page.clock.run_for(4900)
    assert sent == []
    page.clock.run_for(200)
    removed(held, "d.bin")
    assert held.tasks().keys() == {"a.bin", "c.bin", "e.bin"}
    page.clock.resume()
    expect(page.locator(".rows .name")).to_have_text(["a.bin", "c.bin", "e.bin"])
    expect(undo).to_have_count(0)
    assert len(sent) == 1


def test_who_leaves_the_page_leaves_no_removal_behind(visit, held):
    page = visit()
    row(page, "a.bin").click()
    frozen(page)
    page.keyboard.press("Delete")
    row(page, "c.bin").click()
    page.keyboard.press("Delete")
    expect(page.get_by_role("button", name="Undo")).to_have_count(2)
    page.keyboard.press("Control+z")
    assert held.tasks().keys() == set(NAMES)
    page.goto("about:blank")
    removed(held, "a.bin")
    assert "c.bin" in held.tasks()


def test_a_file_is_removed_only_after_a_question(visit, service, fast):
    service.tell("add", f"{fast}/a.bin", "-d", "files")
    service.wait(lambda tasks: tasks["a.bin"]["state"] == "completed")
    file = service.folder / "files/a.bin"
    page = visit()
    row(page, "a.bin").click()
    page.keyboard.press("Shift+Delete")
    dialog = page.get_by_role("dialog", name="Remove 1 task and its file?")
    expect(dialog).to_contain_text("a.bin")
    # Pressing Enter deletes nothing.
    expect(dialog.get_by_role("button", name="Keep")).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    assert file.exists() and "a.bin" in service.tasks()
    choose(page, "a.bin", "Remove with files…")
    dialog.get_by_role("button", name="Delete files").click()
    removed(service, "a.bin")
    assert not file.exists()


def drag(page, name, to, below=False):
    """Drags a row to the upper or lower edge of another one."""
    at, end = row(page, name).locator(".name").bounding_box(), row(page, to).bounding_box()
    page.mouse.move(at["x"] + 5, at["y"] + at["height"] / 2)
    page.mouse.down()
    page.mouse.move(at["x"] + 9, at["y"] + 20, steps=3)
    page.mouse.move(at["x"] + 9, end["y"] + (end["height"] - 2 if below else 2), steps=5)
    expect(page.locator(".drop-line")).to_be_visible()


def test_tasks_are_moved_by_dragging(visit, held):
    page = visit()
    names = page.locator(".rows .name")
    expect(names).to_have_text(NAMES)
    drag(page, "a.bin", "c.bin", below=True)
    page.mouse.up()
    ordered(held, "b.bin", "c.bin", "a.bin", "d.bin", "e.bin")
    expect(names).to_have_text(["b.bin", "c.bin", "a.bin", "d.bin", "e.bin"])
    selected(page, "a.bin")
    drag(page, "e.bin", "c.bin")
    page.mouse.up()
    ordered(held, "b.bin", "e.bin", "c.bin", "a.bin", "d.bin")
    expect(names).to_have_text(["b.bin", "e.bin", "c.bin", "a.bin", "d.bin"])
    drag(page, "e.bin", "d.bin", below=True)
    page.mouse.up()
    ordered(held, "b.bin", "c.bin", "a.bin", "d.bin", "e.bin")
    expect(names).to_have_text(["b.bin", "c.bin", "a.bin", "d.bin", "e.bin"])

    # Several rows move together.
    row(page, "b.bin").click()
    row(page, "a.bin").click(modifiers=["Control"])
    drag(page, "b.bin", "e.bin")
    page.mouse.up()
    ordered(held, "c.bin", "d.bin", "b.bin", "a.bin", "e.bin")
    expect(names).to_have_text(["c.bin", "d.bin", "b.bin", "a.bin", "e.bin"])

    # Escape cancels the move.
    sent = commands(page)
    drag(page, "c.bin", "e.bin")
    page.keyboard.press("Escape")
    expect(page.locator(".drop-line")).to_be_hidden()
    page.mouse.up()
    row(page, "d.bin").click()
    selected(page, "d.bin")
    assert sent == [] and order(held) == ["c.bin", "d.bin", "b.bin", "a.bin", "e.bin"]


def test_tasks_are_moved_by_keys_and_menu(visit, held):
    page = visit()
    row(page, "b.bin").click()
    page.keyboard.press("Alt+ArrowUp")
    ordered(held, "b.bin", "a.bin", "c.bin", "d.bin", "e.bin")
    expect(page.locator(".rows .name").first).to_have_text("b.bin")
    page.keyboard.press("Alt+ArrowDown")
    ordered(held, *NAMES)
    expect(page.locator(".rows .name").first).to_have_text("a.bin")
    row(page, "c.bin").click(modifiers=["Shift"])
    page.keyboard.press("Alt+ArrowDown")
    ordered(held, "a.bin", "d.bin", "b.bin", "c.bin", "e.bin")
    expect(page.locator(".rows .name").nth(1)).to_have_text("d.bin")
    selected(page, "b.bin", "c.bin")
    choose(page, "d.bin", "Move to the top")
    ordered(held, "d.bin", "a.bin", "b.bin", "c.bin", "e.bin")
    choose(page, "a.bin", "Move to the bottom")
    ordered(held, "d.bin", "b.bin", "c.bin", "e.bin", "a.bin")
    expect(page.locator(".rows .name")).to_have_text(["d.bin", "b.bin", "c.bin", "e.bin", "a.bin"])


def saved(page):
    """Saves and closes the dialog."""
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_file_is_renamed(visit, service, fast):
    service.tell("add", f"{fast}/a.bin", "-d", "files")
    service.wait(lambda tasks: tasks["a.bin"]["state"] == "completed")
    page = visit()
    row(page, "a.bin").click()
    page.keyboard.press("F2")
    name = page.get_by_role("dialog").get_by_label("Name")
    expect(name).to_be_focused()
    # Typed text replaces the name without its suffix.
    page.keyboard.type("better")
    expect(name).to_have_value("better.bin")
    page.keyboard.press("Enter")
    expect(row(page, "better.bin")).to_be_visible()
    files = service.folder / "files"
    assert (files / "better.bin").stat().st_size == 1 << 20 and not (files / "a.bin").exists()

    choose(page, "better.bin", "Rename or move file…")
    page.get_by_role("dialog").get_by_label("Folder").fill("/elsewhere")
    visit.is_quiet = False
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("folder")
    visit.is_quiet = True
    page.get_by_role("dialog").get_by_label("Folder").fill(str(files / "deeper"))
    saved(page)
    service.wait(lambda tasks: tasks["a.bin"]["path"] == str(files / "deeper/better.bin"))
    assert (files / "deeper/better.bin").exists()


def test_a_task_whose_link_has_expired_goes_on_with_a_new_one(visit, service, fast, missing):
    service.tell("add", f"{missing}/a.bin", "-d", "files")
    service.wait(lambda tasks: tasks["a.bin"]["state"] == "failed")
    page = visit()
    choose(page, "a.bin", "New link…")
    dialog = page.get_by_role("dialog", name="New link for a.bin")
    dialog.get_by_role("textbox").fill("a.bin")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("begins with http://")
    dialog.get_by_role("textbox").fill(f"{fast}/a.bin?signature=new")
    saved(page)
    expect(row(page, "a.bin").locator(".state")).to_contain_text("Complete")
    assert (service.folder / "files/a.bin").stat().st_size == 1 << 20


def test_what_is_refused_is_said(visit, held):
    page = visit()
    sent = commands(page)
    ids = {name: task["id"] for name, task in held.tasks().items()}
    row(page, "a.bin").click()
    row(page, "c.bin").click(modifiers=["Shift"])
    # The page does not know yet that one of them was removed.
    page.route("**/api/v2/tasks?*", lambda answer: None)
    held.tell("remove", ids["b.bin"])
    tool(page, "Resume").click()
    expect(page.locator("#notices")).to_contain_text("1 task was not changed")
    expect(page.locator("#notices")).to_contain_text(f"There is no task {ids['b.bin']}")
    assert sent == [[{"command": "resume", "ids": [ids[name] for name in ("a.bin", "b.bin", "c.bin")]}]]
    tasks = held.tasks()
    assert [tasks[name]["wanted"] for name in ("a.bin", "c.bin", "d.bin")] == ["run", "run", "paused"]
    page.unroute("**/api/v2/tasks?*")

    row(page, "d.bin").click()
    page.keyboard.press("F2")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("d.bin.segget")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("ends like segget's own files")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert "d.bin" in held.tasks()


def test_limits_tags_and_links_are_of_what_is_selected(visit, held, slow):
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    sent = commands(page)
    ids = {name: task["id"] for name, task in held.tasks().items()}
    row(page, "a.bin").click()
    row(page, "b.bin").click(modifiers=["Control"])
    choose(page, "a.bin", "Limits…")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Speed limit", exact=True).fill("100")
    dialog.get_by_label("Unit: Speed limit").select_option("KiB/s")
    dialog.get_by_label("Connections").fill("many")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert").filter(has_text="Enter a number from 1 to 64")).to_be_visible()
    dialog.get_by_label("Connections").fill("2")
    saved(page)
    both = [ids["a.bin"], ids["b.bin"]]
    assert sent[-1] == [{"command": "set", "ids": both, "rate_limit": 102400, "connections": 2}]

    choose(page, "a.bin", "Tags…")
    dialog.get_by_label("Add tags").fill("iso, linux")
    saved(page)
    tags = page.locator("#tags").get_by_role("button")
    expect(tags).to_have_text(["iso2", "linux2"])
    row(page, "b.bin").click()
    choose(page, "b.bin", "Tags…")
    dialog.get_by_role("checkbox", name="iso").check()
    saved(page)
    expect(tags).to_have_text(["iso1", "linux2"])
    tasks = held.tasks()
    assert [tasks[name]["tags"] for name in ("a.bin", "b.bin", "c.bin")] == [["iso", "linux"], ["linux"], []]

    row(page, "c.bin").click()
    row(page, "d.bin").click(modifiers=["Control"])
    choose(page, "c.bin", "Copy link")
    expect(page.locator("#notices")).to_contain_text("Link copied")
    assert page.evaluate("navigator.clipboard.readText()") == f"{slow}/c.bin\n{slow}/d.bin"
    assert len(sent) == 3


def test_settings_are_the_service_s(visit, held):
    # The page shows only that there is a schedule.
    held.tell("settings", "--limit-schedule", "08:00-18:00=2M,else=0")
    schedule = json.loads(held.tell("settings", "--json"))["rate_schedule"]
    page = visit()
    page.get_by_role("button", name="Settings").click()
    dialog = page.get_by_role("dialog", name="Settings")
    dialog.get_by_label("Tasks at a time").fill("65")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("1 to 64")
    dialog.get_by_label("Tasks at a time").fill("7")
    dialog.get_by_label("Total speed limit", exact=True).fill("2")
    dialog.get_by_label("Seconds until a failed task").fill("5, 60")
    dialog.get_by_label("Is the network metered").select_option("yes")
    dialog.get_by_role("button", name="Add a rule").click()
    dialog.get_by_label("Action", exact=True).select_option("limit to")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("above 0")
    dialog.get_by_label("Speed limit", exact=True).fill("0.5")
    saved(page)
    settings = json.loads(held.tell("settings", "--json"))
    assert settings == {
        "max_running": 7, "rate_limit": 2 << 20, "retry_delays": [5, 60], "metered": "yes",
        "rules": [{"while": "metered", "rate": 512 << 10}], "rate_schedule": schedule}

    held.tell("settings", "--max-running", "3")
    page.get_by_role("button", name="Settings").click()
    expect(dialog.get_by_label("Tasks at a time")).to_have_value("3")
    dialog.get_by_role("button", name="Remove this rule").click()
    dialog.get_by_label("Language").select_option("Deutsch")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Einstellungen")).to_be_visible()
    assert json.loads(held.tell("settings", "--json")) == settings | {"max_running": 3, "rules": []}


def test_a_missing_file_is_downloaded_again(visit, service, fast):
    service.tell("add", f"{fast}/a.bin", "-d", "files")
    service.wait(lambda tasks: tasks["a.bin"]["state"] == "completed")
    file = service.folder / "files" / "a.bin"
    file.unlink()
    page = visit()
    row(page, "a.bin").click()
    expect(tool(page, "Download again")).not_to_have_attribute("aria-disabled", "true")
    choose(page, "a.bin", "Download again")
    service.wait(lambda tasks: tasks["a.bin"].get("file") == "there")
    assert file.stat().st_size == 1 << 20
    # A completed task with its file has nothing to retry.
    expect(tool(page, "Retry")).to_have_attribute("aria-disabled", "true")
    file.unlink()
    page = visit()
    row(page, "a.bin").dblclick()
    page.get_by_role("button", name="Download again").last.click()
    service.wait(lambda tasks: tasks["a.bin"].get("file") == "there")
