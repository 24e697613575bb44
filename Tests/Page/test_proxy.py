"""The page below another folder, behind a reverse proxy."""

import subprocess
import time

import pytest
from manager import free_port
from playwright.sync_api import expect

CONFIGURATION = """
daemon off; pid {folder}/pid; error_log {folder}/log;
events {{}}
http {{
  access_log off;
  server {{
    listen 127.0.0.1:{port};
    location /dl/ {{
      proxy_pass http://127.0.0.1:{service}/;
      proxy_http_version 1.1; proxy_buffering off; proxy_set_header Host $http_host;
    }}
  }}
}}
"""


@pytest.fixture
def proxied(service, folder):
    """The address of the page behind nginx."""
    port = free_port()
    (folder / "nginx.conf").write_text(CONFIGURATION.format(folder=folder, port=port, service=service.port))
    nginx = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")],
                             stderr=subprocess.DEVNULL)
    while not (folder / "pid").exists():
        assert nginx.poll() is None
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}/dl/"
    nginx.terminate()
    nginx.wait()


def test_the_page_works_below_a_folder(visit, service, proxied, fast):
    service.tell("add", f"{fast}/first.bin", "-d", "files", "--paused")
    visit.is_quiet = False
    page = visit(opened=False)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(proxied)
    field = page.locator("input[type=password]")
    field.fill(service.tell("serve", "--show-secret"))
    field.press("Enter")
    expect(page.locator("#list").get_by_text("first.bin")).to_be_visible()
    service.tell("add", f"{fast}/second.bin", "-d", "files", "--paused")
    expect(page.locator("#list").get_by_text("second.bin")).to_be_visible()
    assert asked and all(url.startswith((proxied, "blob:", "data:")) for url in asked), asked
