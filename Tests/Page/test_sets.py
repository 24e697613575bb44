"""A data set is one row, and opens to the list of its files."""

import binascii
import json

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

MIB = 1 << 20
NASTY = "<img src=x onerror=document.title='broken'>&amp;.bin"


def plan(folder, files):
    """Writes a plan of files, each a path, a URL and a size, and returns its path."""
    name = "49de0fa02e77dc78"
    seed = binascii.crc32(name.encode())

    def line(members):
        text = json.dumps(members, separators=(",", ":"))[:-1] + ',"crc":"'
        return f'{text}{binascii.crc32(text.encode(), seed):08x}"}}\n'

    head = {"files": len(files), "segget_plan": 1, "set": name, "size": sum(size for _, _, size in files),
            "source": {"kind": "urls"}}
    lines = [line({"path": path, "size": size, "url": url}) for path, url, size in files]
    path = folder / "set.plan"
    path.write_text(line(head) + "".join(lines))
    return path


@pytest.fixture
def mixed(service, fast, slow):
    """The id of a running set: 150 small files, one with a nasty name, two slow ones, and one that fails."""
    files = [(f"weights/part-{number:03}.bin", f"{fast}/{number}.bin", MIB) for number in range(150)]
    files += [(NASTY, f"{fast}/nasty.bin", MIB)]
    files += [(f"large/{name}.bin", f"{slow}/{name}.bin", 1 << 30) for name in ("a", "b")]
    files += [("large/gone.bin", "http://127.0.0.1:9/gone.bin", MIB)]
    path = plan(service.folder, files)
    return service.tell("add", "--plan", str(path), "-d", "files/model", "--retries", "0")


def test_row_opens_to_files(visit, service, mixed):
    row = lambda page: page.locator("#list").get_by_text("model/")
    page = visit()
    expect(row(page)).to_be_visible()
    expect(page.locator("#list").get_by_text("151/154 files")).to_be_visible()
    row(page).dblclick()
    files = page.locator(".d-files")
    expect(files).to_be_visible()
    expect(page.locator(".d-map")).to_be_hidden()
    expect(files.locator("li")).to_have_count(100)
    files.get_by_role("button", name="Show 54 more").click()
    expect(files.locator("li")).to_have_count(154)
    # The name of a file is text.
    expect(files.get_by_text(NASTY, exact=True)).to_be_visible()
    assert page.title() != "broken"
    files.get_by_role("combobox").select_option("active")
    expect(files.locator("li")).to_have_count(2)
    files.get_by_role("combobox").select_option("failed")
    expect(files.locator("li")).to_have_count(1)
    expect(files.get_by_text("large/gone.bin")).to_be_visible()
    expect(files.locator(".f-why")).to_contain_text("127.0.0.1:9")
    files.get_by_role("combobox").select_option("complete")
    expect(files.locator("li")).to_have_count(100)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_files(request, visit, service, mixed, theme):
    shots = request.config.getoption("--shots")
    for width, height in {360: 740, 900: 800, 1600: 900}.items():
        page = visit(size=(width, height), theme=theme)
        expect(page.locator("#list").get_by_text("model/")).to_be_visible()
        if shots:
            page.wait_for_timeout(1000)
            page.screenshot(path=shots / f"set-list-{width}-{theme}.png")
        page.locator("#list").get_by_text("model/").dblclick()
        expect(page.locator(".d-files li").first).to_be_visible()
        if shots:
            page.wait_for_timeout(2000)
            page.screenshot(path=shots / f"set-{width}-{theme}.png")
        results = Axe().run(page)
        assert not results.violations_count, results.generate_report()
        page.close()
