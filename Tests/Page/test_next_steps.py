"""The page suggests how to fix a failed task, and offers it."""

import base64
import http.server
import re
import threading

import pytest
from playwright.sync_api import expect

# Words that apply only to a terminal.
TERMINAL = re.compile(r"same command|--[a-z]|segget [a-z]+|docs/")
RIGHT = "Basic " + base64.b64encode(b"me:s3cret:x").decode()


@pytest.fixture
def guarded():
    """A server that requires a user at `/guarded`, and answers other paths with the status that they name."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            status = int(self.path.split("/")[1]) if self.path[1:4].isdigit() else 200
            if self.path.startswith("/guarded") and self.headers.get("Authorization") != RIGHT:
                status = 401
            self.send_response(status)
            if status == 401:
                self.send_header("WWW-Authenticate", 'Basic realm="r"')
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"12345")

        do_HEAD = do_GET

        def log_message(self, *_):
            """Discards the log."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def opened(page, name):
    """Opens the view of a task, once it has failed."""
    row = page.locator(".rows .row").filter(has_text=name)
    expect(row).to_contain_text("Failed")
    row.dblclick()
    return page.locator("#detail")


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_the_page_gives_a_task_user_and_password(visit, service, guarded, size):
    service.tell("add", f"{guarded}/guarded/a.bin", "-d", "files")
    page = visit(size=size)
    detail = opened(page, "a.bin")
    expect(detail).to_contain_text("Enter a user name and password for this task.")
    assert not TERMINAL.search(detail.inner_text())
    detail.get_by_role("button", name="User and password…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Save and retry").click()
    expect(dialog.get_by_role("alert").filter(has_text="Enter a user name.")).to_be_in_viewport(ratio=1)
    dialog.get_by_label("User", exact=True).fill("me:too")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert").filter(has_text="cannot contain a colon")).to_be_in_viewport(ratio=1)
    dialog.get_by_label("User", exact=True).fill("me")
    dialog.get_by_label("Password", exact=True).fill("s3cret:x")
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(detail.locator(".d-state")).to_contain_text("Complete")
    assert (service.folder / "files/a.bin").read_bytes() == b"12345"
    assert "s3cret" not in page.content()


def test_the_menu_gives_user_and_password_too(visit, service, guarded):
    service.tell("add", f"{guarded}/guarded/b.bin", "-d", "files", "--paused")
    page = visit()
    page.locator(".rows .row").click(button="right")
    page.get_by_role("menuitem", name="User and password…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("User", exact=True).fill("me")
    dialog.get_by_label("Password", exact=True).fill("s3cret:x")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    service.tell("start", "--all")
    expect(page.locator(".rows .row .state")).to_contain_text("Complete")


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_failure_names_what_is_for_a_terminal(visit, service, guarded, language):
    (service.folder / "files").mkdir(exist_ok=True)
    (service.folder / "files/taken.bin").write_text("mine")
    wrong = "sha-256:" + "0" * 64
    service.tell("add", f"{guarded}/404/a.bin", f"{guarded}/401/b.bin", f"{guarded}/403/c.bin", "-d", "files")
    service.tell("add", f"{guarded}/d.bin", "-d", "files", "--checksum", wrong)
    service.tell("add", f"{guarded}/e.bin", "-d", "files", "--name", "taken.bin")
    service.wait(lambda tasks: all(task["state"] == "failed" for task in tasks.values()))
    page = visit(locale=language)
    rows = page.locator(".rows .row")
    expect(rows).to_have_count(5)
    for row in rows.all():
        row.dblclick()
        expect(page.locator("#detail .d-error .hint")).not_to_be_empty()
        assert not TERMINAL.search(page.locator("#app").inner_text()), page.locator("#app").inner_text()


def test_a_name_that_is_taken_is_changed_there(visit, service, guarded):
    (service.folder / "files").mkdir(exist_ok=True)
    (service.folder / "files/taken.bin").write_text("mine")
    service.tell("add", f"{guarded}/e.bin", "-d", "files", "--name", "taken.bin")
    page = visit()
    detail = opened(page, "taken.bin")
    detail.get_by_role("button", name="Rename or move…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("free.bin")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(detail.locator(".d-state")).to_contain_text("Complete")
    assert (service.folder / "files/free.bin").read_bytes() == b"12345"
    assert (service.folder / "files/taken.bin").read_text() == "mine"
