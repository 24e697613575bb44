"""The view of a task: its map, connections and servers agree with the service, without colour too."""

import contextlib
import hashlib
import itertools
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import types

import pytest
from manager import free_port
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from playwright.sync_api import expect

MIB = 1 << 20
SIZE = 256 * MIB
ETAG, MODIFIED = '"6553f100-10000000"', "Tue, 14 Nov 2023 22:13:20 GMT"

# In pixels: the distance of two rows of the map, and the height of a row without and with connections.
STEP, ROW, LANE = 36, 26, 18

# Functions that read a canvas and its colours as red, green, blue and opacity.
TOOLS = """
  const read = (canvas) => {
    const { width, height } = canvas;
    const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    return copy.getImageData(0, 0, width, height).data;
  };
  const pen = new OffscreenCanvas(1, 1);
  pen.getContext("2d").fillStyle = getComputedStyle(document.body).getPropertyValue("--accent");
  pen.getContext("2d").fillRect(0, 0, 1, 1);
  const accent = [...read(pen)];
"""

# For each column of the map, row by row and without the frame: whether it is full, and whether it has any
# bytes. Also the progress of the connections below, in columns.
DRAWN = """() => { %s
  const canvas = document.querySelector(".d-track canvas"), pixels = read(canvas);
  const { width, height } = canvas, rows = (height + 5) / %d, full = [], some = [], fetched = [];
  const is = (x, y) => accent.every((part, i) => pixels[4 * (y * width + x) + i] === part);
  for (let line = 0; line < rows; line += 1) {
    for (let x = 1; x < width - 1; x += 1) {
      full.push(is(x, line * %d + 1));
      some.push(is(x, line * %d + %d));
      fetched.push(is(x, line * %d + %d));
    }
  }
  return { width, rows, full, some, fetched: fetched.filter((is) => is).length };
}""" % (TOOLS, STEP, STEP, STEP, ROW - 2, STEP, LANE)

# For each two samples of the legend, the share of pixels with a contrast of at least 3:1 without colour.
CONTRASTS = """() => { %s
  const light = (pixels) => Array.from({ length: pixels.length / 4 }, (_, i) => {
    const [r, g, b] = [0, 1, 2].map((k) => (pixels[4 * i + k] / 255) ** 2.2);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  });
  const samples = [...document.querySelectorAll(".swatch")].map((canvas) => light(read(canvas)));
  const differ = (one, other) =>
    one.filter((value, i) => Math.max(value, other[i]) >= 3 * Math.min(value, other[i])).length / one.length;
  return samples.flatMap((one, i) => samples.slice(i + 1).map((other) => differ(one, other)));
}""" % TOOLS

# Whether a graph has a line beside its axes.
LINED = """(selector) => { %s
  const pixels = read(document.querySelector(selector));
  let near = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    if (pixels[i + 3] > 200 && [0, 1, 2].every((k) => Math.abs(pixels[i + k] - accent[k]) < 40)) near += 1;
  }
  return near > 5;
}""" % TOOLS


@pytest.fixture(scope="module")
def servers():
    """Addresses of servers: `one` and `two` have the same file, `other` has a smaller one.

    `odd` claims the file of the first two, and then sends different content. The first 2 MiB of a response
    arrive at once, the rest slowly.
    """
    folder = pathlib.Path(tempfile.mkdtemp(prefix="segget-details-"))
    # nginx that root starts has workers of another user.
    folder.chmod(0o755)
    for name, size in (("file", SIZE), ("smaller", SIZE // 2)):
        with open(folder / name, "wb") as file:
            file.truncate(size)
        os.utime(folder / name, (1_700_000_000, 1_700_000_000))
    ports = {name: free_port() for name in ("one", "two", "other", "odd")}
    (folder / "nginx.conf").write_text(f"""
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    root {folder}; limit_rate 64k; limit_rate_after 2m;
    server {{
        listen 127.0.0.1:{ports["one"]}; listen 127.0.0.1:{ports["two"]};
        location / {{ rewrite ^ /file break; }}
    }}
    server {{ listen 127.0.0.1:{ports["other"]}; location / {{ rewrite ^ /smaller break; }} }}
    server {{
        listen 127.0.0.1:{ports["odd"]};
        location / {{ if ($request_method = GET) {{ return 206 odd; }} rewrite ^ /file break; }}
    }}
}}
""")
    nginx = subprocess.Popen([shutil.which("nginx") or "/usr/sbin/nginx", "-c", str(folder / "nginx.conf")])
    yield types.SimpleNamespace(**{name: f"127.0.0.1:{port}" for name, port in ports.items()})
    nginx.terminate()
    nginx.wait()
    shutil.rmtree(folder)


def opened(page, name):
    """Opens the view of a task by a double click in the list."""
    view = page.locator(".detail")
    heading = view.get_by_role("heading", name=name, exact=True)
    for _ in range(20):
        page.locator("#list").get_by_text(name).dblclick()
        # If the list is sorted at this moment, another row is under the pointer.
        with contextlib.suppress(PlaywrightTimeout):
            heading.wait_for(timeout=5_000)
            break
    expect(heading).to_be_visible()
    return view


def told(page, task):
    """Returns the details of a task from the API."""
    return page.evaluate("async (id) => (await import('/app/api.js')).get(`/api/v2/tasks/${id}`)", task)


def pieces(segments, size):
    """Returns the ranges of a file in order: start, end, and whether it is present."""
    found, at = [], 0
    for segment in sorted(segments, key=lambda segment: segment["start"]):
        if segment["start"] > at:
            found.append((at, segment["start"], False))
        found.append((segment["start"], segment["end"], True))
        at = segment["end"]
    return found + ([(at, size, False)] if at < size else [])


def named(text):
    """Parses the text of the map: the range, and whether it is present."""
    words = re.search(r"bytes ([\d,]+) to ([\d,]+)", text)
    start, last = (int(number.replace(",", "")) for number in words.groups())
    return start, last + 1, "missing" not in text


def test_the_map_agrees_with_the_service(visit, service, servers):
    task = service.tell("add", f"http://{servers.one}/file.iso", "-x", "4", "-d", "files")
    service.wait(lambda tasks: tasks["file.iso"].get("bytes_done", 0) >= 7 * MIB)
    page = visit()
    view = opened(page, "file.iso")
    view.get_by_role("button", name="Pause").click()
    expect(view.get_by_role("button", name="Resume")).to_be_focused()
    expect(view.locator(".d-state")).to_have_text("Paused")
    expect(view.locator(".d-connections")).to_be_hidden()
    answer = told(page, task)
    there = sum(segment["end"] - segment["start"] for segment in answer["segments"])
    all_pieces = pieces(answer["segments"], SIZE)
    count = sum(is_there for *_, is_there in all_pieces)
    assert there == answer["task"]["bytes_done"] and count >= 4
    text = f"{math.floor(there / SIZE * 1000) / 10:g}% of 256 MiB received, in {count} pieces."
    expect(view.locator(".d-map-text")).to_have_text(f"{text} {(SIZE - there) / MIB:.0f} MiB missing.")
    expect(view.locator(".d-legend")).to_have_text("missingpartly receivedreceived")

    # A column is full if all of its bytes are present, and not empty if one is.
    drawn = page.evaluate(DRAWN)
    columns = drawn["width"] * drawn["rows"]
    full, some = [], []
    for column in range(columns):
        if 0 < column % drawn["width"] < drawn["width"] - 1:
            start, end = column * SIZE // columns, min(SIZE, -((column + 1) * SIZE // -columns))
            touched = [min(e, end) - max(s, start) for s, e, is_there in all_pieces if is_there]
            full.append(end - start in touched)
            some.append(max(touched) > 0)
    assert drawn["rows"] > 1 and sum(full) > 40 and sum(some) > sum(full)
    assert [i for i in range(len(full)) if full[i] != drawn["full"][i]] == []
    assert [i for i in range(len(some)) if some[i] != drawn["some"][i]] == []

    # The arrow keys move from piece to piece, and each is described.
    track = view.get_by_role("slider", name="Position in the file")
    expect(track).to_have_attribute("aria-describedby", "d-map-text")
    view.locator(".d-buttons button:visible").last.focus()
    page.keyboard.press("Tab")
    expect(track).to_be_focused()
    walked = []
    for key in itertools.chain(["Home"], itertools.repeat("ArrowRight", 100)):
        page.keyboard.press(key)
        place = named(track.get_attribute("aria-valuetext"))
        if [place] == walked[-1:]:
            break
        walked.append(place)
    assert walked == all_pieces
    expect(track).to_have_attribute("aria-valuenow", "100")
    page.keyboard.press("ArrowLeft")
    assert named(track.get_attribute("aria-valuetext")) == walked[-2]
    expect(view.locator(".d-place")).to_have_text(track.get_attribute("aria-valuetext"))
    track.hover(position={"x": 2, "y": 5})
    assert named(view.locator(".d-place").text_content()) == walked[0]


def test_one_byte_is_seen_and_one_that_lacks_too(visit, service):
    """Columns of a map of 1 TiB with one byte, all bytes, and all bytes but one."""
    page = visit()
    drawn = page.evaluate("""async (size) => {
      const { SegmentMap } = await import("/app/map.js");
      const box = document.createElement("div");
      box.className = "d-track";
      box.style.width = "500px";
      document.body.prepend(box);
      const map = new SegmentMap(box, { point() {} });
      const column = size / 4000;
      const segments = [
        [100 * column + 7, 100 * column + 8], [200 * column, 202 * column - 1], [202 * column, 203 * column],
      ].map(([start, end]) => ({ start, end }));
      map.set({ id: 1, size, segments, verifying: [], connections: [], verified: false, lanes: false });
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      return (%s)();
    }""" % DRAWN, 4000 << 28)
    assert (drawn["width"], drawn["rows"]) == (500, 8)
    # The frame is not counted.
    assert [i for i, is_some in enumerate(drawn["some"]) if is_some] == [99, 199, 200, 201]
    assert [i for i, is_full in enumerate(drawn["full"]) if is_full] == [199, 201]


def test_the_view_moves_while_the_task_runs(visit, service, servers):
    service.tell("add", f"http://{servers.one}/file.iso", "-x", "4", "-d", "files")
    page = visit()
    view = opened(page, "file.iso")
    rows = view.locator(".d-connections tbody tr")
    expect(rows).to_have_count(4)
    for row in rows.all():
        expect(row.locator(".c-state")).to_have_text("receiving")
        expect(row.locator(".c-rate")).to_have_text(re.compile(r"^[\d.]+\s[KM]iB/s$"))
        expect(row.locator(".c-address")).to_have_text("127.0.0.1")
        expect(row.locator(".c-server")).to_have_text("1")
        expect(row.locator(".c-range")).to_contain_text(re.compile(r" – .* remaining"))
        expect(row.locator(".c-roundTrip")).to_have_text(re.compile(r"^[\d.]+ ms$"))
    expect(view.locator(".d-legend")).to_have_text("missingrequestedpartly receivedreceived")
    expect(view.locator(".d-map-text")).to_contain_text("4 connections download them.")
    page.wait_for_function("""(before) => {
      const now = (%s)(), full = (drawn) => drawn.full.filter((is) => is).length;
      return full(now) > full(before) && now.fetched > before.fetched;
    }""" % DRAWN, arg=page.evaluate(DRAWN), polling=200)

    # The map describes the connection of each position in words; the table has the same.
    keys = ["Home"] + 12 * ["ArrowRight"]
    said = view.get_by_role("slider").evaluate("""(track, keys) => keys.map((key) => {
      track.dispatchEvent(new KeyboardEvent("keydown", { key }));
      const lit = [...document.querySelectorAll(".d-connections tbody tr")].map((row) => row.matches(".lit"));
      return [track.getAttribute("aria-valuetext"), lit.indexOf(true)];
    })""", keys)
    for what in ("received over", "requested over"):
        lit = [(text, row) for text, row in said if f": {what} connection " in text]
        assert lit, said
        for text, row in lit:
            assert f" connection {row + 1} from server 1, {servers.one} (" in text
    rows.nth(2).hover()
    expect(view.locator(".lit .c-number")).to_have_text("3")

    for graph in (".d-graph canvas", "#graph"):
        page.wait_for_function(LINED, arg=graph)
    graph = view.get_by_role("img")
    expect(graph).to_have_attribute("aria-label", re.compile(
        r"^Speed of this task, .*: [\d.]+\s.iB/s now, [\d.]+\s.iB/s on average, [\d.]+\s.iB/s at most$"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_mirrors_are_told_apart_without_colour(visit, service, servers, theme):
    one, two, other = (f"http://{name}/file.iso" for name in (servers.one, servers.two, servers.other))
    task = service.tell("add", one, "--mirror", two, "--mirror", other, "-x", "4", "-d", "files")
    page = visit(theme=theme)
    view = opened(page, "file.iso")
    rows = view.locator(".d-servers tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text(servers.one)
    expect(rows.nth(1)).to_contain_text(servers.two)
    expect(rows.locator(".c-state")).to_contain_text(["in use", "in use"])

    def shares_agree(_):
        brought = [server["bytes"] for server in told(page, task)["servers"]]
        texts = view.locator(".d-servers td.c-share").all_inner_texts()
        shares = [float(text.rstrip("% ")) for text in texts]
        return min(brought) > MIB and all(
            abs(share - 100 * each / sum(brought)) < 2 for share, each in zip(shares, brought, strict=True))
    service.wait(shares_agree)
    expect(view.locator(".d-legend")).to_have_text(
        "missingrequested from server 1requested from server 2partly receivedreceived")
    states = view.locator(".d-connections td.c-state")
    for server in ("Server 1", "Server 2"):
        expect(states.get_by_text(server).first).to_be_visible()
    # Each of the five samples differs from all others. Dots have the smallest difference.
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) == 10 and min(contrasts) > 0.02, contrasts

    source = view.locator(".d-source")
    expect(source.locator(".f-ETag dd")).to_have_text(ETAG)
    expect(source.locator(".f-Last-Modified dd")).to_have_text(MODIFIED)
    expect(source.locator(".f-identity dd")).to_have_text("its ETag")
    expect(source.locator(".f-links dd")).to_have_count(3)
    expect(view.locator(".d-events .bad")).to_contain_text(
        f"The mirror “{other}” is no longer used: its file has 134,217,728 bytes, not 268,435,456 bytes")


def test_what_happened_is_told_in_words(visit, service, servers):
    urls = [f"http://{name}/file.iso" for name in (servers.one, servers.odd)]
    service.tell("add", urls[0], "--mirror", urls[1], "-x", "4", "-d", "files")
    page = visit()
    view = opened(page, "file.iso")
    happened = view.locator(".d-events > ol > li")
    refused = "A response was rejected, and none of it written: “Content-Range” is missing"
    dropped = f"The mirror “{urls[1]}” is no longer used: “Content-Range” is missing"
    # The newest event is first.
    expect(happened.first).to_contain_text(dropped)
    expect(happened.last).to_contain_text(refused)
    expect(view.locator(".d-events .bad").last).to_contain_text(refused)
    expect(happened.get_by_text(re.compile(r"^Trying again in [\d.]+ s, attempt 2: ")).first).to_be_visible()
    expect(happened.first.locator("time")).to_have_attribute("datetime", re.compile(r"^\d{4}-\d\d-\d\dT.*Z$"))
    mirror = view.locator(".d-servers tr").filter(has_text=servers.odd)
    expect(mirror.locator(".c-state")).to_have_text("dropped “Content-Range” is missing")
    expect(mirror.locator(".c-share")).to_contain_text("0%")
    view.get_by_role("button", name="Pause").click()
    expect(happened.first).to_contain_text("Stopped")
    view.get_by_role("button", name="Resume").click()
    expect(view.locator(".d-state")).to_have_text("Running")
    expect(happened.first).to_contain_text(dropped)
    expect(happened.filter(has_text=dropped)).to_have_count(2)
    expect(happened.filter(has_text="Stopped")).to_have_count(1)


def test_a_skipped_file_is_reported_as_segget_get_does(visit, service, fast):
    (service.folder / "files").mkdir(exist_ok=True)
    (service.folder / "files/there.bin").write_text("mine")
    service.tell("add", f"{fast}/there.bin", "--skip-existing", "-d", "files")
    words = "Skipped: the file exists; it was not checked"
    page = visit()
    expect(page.locator("#list").get_by_text(words)).to_be_visible()
    expect(opened(page, "there.bin").locator(".d-state")).to_have_text(words)


def test_what_was_verified_says_so(visit, service, fast):
    digest = hashlib.sha256(bytes(MIB)).hexdigest()
    service.tell("add", f"{fast}/sure.bin", "--checksum", f"sha-256:{digest}", "--paused", "-d", "files")
    service.tell("add", f"{fast}/plain.bin", "-d", "files")
    page = visit()
    view = opened(page, "sure.bin")
    expect(view.locator(".d-map-text")).to_have_text("The map appears when the size is known.")
    view.get_by_role("button", name="Resume").click()
    expect(view.locator(".d-state")).to_have_text("Completed and verified with sha-256")
    expect(view.locator(".d-map-text")).to_have_text("100% of 1.0 MiB received, in one piece.")
    expect(view.locator(".d-legend")).to_have_text("verified with a digest")
    expect(view.locator(".f-digests dd")).to_have_text(f"sha-256:{digest}")
    track = view.get_by_role("slider")
    track.press("End")
    expect(track).to_have_attribute("aria-valuetext", re.compile("received and verified .bytes 0 to 1,048,575"))

    opened(page, "plain.bin")
    expect(view.locator(".d-state")).to_have_text("Completed; no checksum to verify")
    expect(view.locator(".f-digests dd")).to_have_text("no digest")
    expect(view.locator(".d-legend")).to_contain_text("partly received")

    german = opened(visit(locale="de-DE"), "sure.bin")
    expect(german.locator(".d-state")).to_have_text("Fertig und geprüft mit sha-256")
    expect(german).not_to_contain_text(re.compile(r"\bd\.\w|\{\w+\}"))
