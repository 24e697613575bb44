"""Progress, states, results and failures are shown, over a slow network and in both languages."""

import re

import pytest
from playwright.sync_api import expect

WRONG = ("--checksum", f"sha-256:{'0' * 64}")

# A browser that records its notifications; the test can hide its tab.
RECORDER = """
  window.told = [];
  window.Notification = class {
    static permission = "granted";
    static requestPermission = async () => "granted";
    constructor(title, { body } = {}) { told.push({ title, body }); }
    close() {}
  };
  window.hide = (is) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => is });
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => is ? "hidden" : "visible" });
    document.dispatchEvent(new Event("visibilitychange"));
  };
"""


def state(page, name):
    """The state of a task in the list."""
    return page.locator(".rows .row").filter(has_text=name).locator(".state")


def said(page):
    """Records all announcements to screen readers in `window.said`."""
    page.evaluate("""() => {
      window.said = [];
      new MutationObserver((changes) => changes.forEach(({ addedNodes }) =>
        addedNodes.forEach((node) => said.push(node.textContent)))).observe(document.querySelector("#live"), { childList: true });
    }""")


def test_what_runs_moves_and_shifts_nothing(visit, service, slow):
    service.tell("add", f"{slow}/runs.bin", "-x", "4", "-d", "files")
    service.tell("add", f"{slow}/other.bin", "--paused", "-d", "files")
    page = visit()
    page.locator("#list").get_by_text("runs.bin").dblclick()
    expect(page.locator("#pane").get_by_text("127.0.0.1").first).to_be_visible()
    expect(page.locator(".row", has_text="runs.bin").locator(".c-speed")).to_have_text(re.compile("[KM]iB/s"))
    page.evaluate("""() => {
      window.shifts = [];
      new PerformanceObserver((list) => shifts.push(...list.getEntries().map((each) => each.value)))
        .observe({ type: "layout-shift" });
      window.seen = { bar: new Set(), bytes: new Set() };
    }""")
    page.wait_for_function("""() => {
      const row = [...document.querySelectorAll(".rows .row")].find((row) => row.textContent.includes("runs.bin"));
      seen.bar.add(row.querySelector(".fill").style.transform);
      seen.bytes.add(document.querySelector("#pane").innerText.match(/[\\d.]+\\s[KM]iB\\sof/)?.[0]);
      return seen.bar.size > 6 && seen.bytes.size > 3;
    }""")
    assert page.evaluate("shifts.reduce((sum, each) => sum + each, 0)") < 0.001


def test_ends_and_failures_are_said_and_nothing_else(visit, service, fast, slow):
    service.tell("add", f"{slow}/runs.bin", "-d", "files")
    page = visit()
    expect(state(page, "runs.bin")).to_have_text(re.compile("^Running"))
    said(page)
    held = service.tell("add", f"{slow}/other.bin", "--paused", "-d", "files")
    expect(state(page, "other.bin")).to_have_text("Paused")
    service.tell("resume", held)
    expect(state(page, "other.bin")).to_have_text(re.compile("^Running"))
    service.tell("add", f"{fast}/right.bin", "-d", "files")
    page.wait_for_function("() => said.length > 0")
    service.tell("add", f"{fast}/wrong.bin", *WRONG, "-d", "files")
    page.wait_for_function("() => said.length > 1")
    service.tell("pause", held)
    expect(state(page, "other.bin")).to_have_text("Paused")
    assert page.evaluate("said") == ["Completed: right.bin", "Failed: wrong.bin"]
    expect(page.locator("#live")).to_have_attribute("aria-live", "polite")


def test_what_ends_while_ends_are_asked_for_is_told_too(visit, service, fast):
    page = visit()
    expect(page.locator("#empty")).to_be_visible()
    said(page)
    waiting = []
    page.route("**/api/v2/tasks?state=completed&state=failed*", lambda asked: waiting.append(asked))
    with page.expect_request("**/api/v2/tasks?state=completed&state=failed*"):
        service.tell("add", f"{fast}/held.bin", "--paused", "-d", "files")
    # The response is known and in flight when the next task ends.
    page.wait_for_function("() => document.querySelector('#filter-paused .n').textContent === '1'")
    answer = waiting[0].fetch()
    service.tell("add", f"{fast}/late.bin", "-d", "files")
    expect(page.locator("#filter-completed .n")).to_have_text("1")
    waiting[0].fulfill(response=answer)
    page.unroute("**/api/v2/tasks?state=completed&state=failed*")
    page.wait_for_function("() => said.includes('Completed: late.bin')")


def test_an_end_that_the_list_shows_before_an_event_comes_is_told_too(visit, service, fast):
    page = visit(opened=False)
    # No event is received.
    page.route("**/api/v2/events?*", lambda asked: None)
    with page.expect_response("**/api/v2/tasks?state=completed&state=failed*"):
        page.goto(service.tell("open", "--no-browser"))
    expect(page.locator("#empty")).to_be_visible()
    said(page)
    service.tell("add", f"{fast}/right.bin", "-d", "files")
    expect(state(page, "right.bin")).to_have_text(re.compile("^Complete"))
    page.wait_for_function("() => said.includes('Completed: right.bin')")


def test_a_hidden_tab_draws_nothing_and_notifies_of_ends(visit, service, fast, slow):
    service.tell("add", f"{slow}/runs.bin", "-d", "files")
    page = visit(opened=False)
    page.add_init_script(RECORDER)
    page.goto(service.tell("open", "--no-browser"))
    expect(state(page, "runs.bin")).to_have_text(re.compile("^Running"))
    said(page)
    service.tell("add", f"{fast}/unasked.bin", "-d", "files")
    page.wait_for_function("() => said.length > 0")
    assert page.evaluate("told") == []

    page.locator("#notify").click()
    expect(page.locator("#notify")).to_have_attribute("aria-pressed", "true")
    page.evaluate("""() => {
      hide(true);
      window.drawn = [];
      new MutationObserver((changes) => drawn.push(...changes.map(({ target }) => target.className)))
        .observe(document.querySelector("#list"), { subtree: true, childList: true, attributes: true, characterData: true });
    }""")
    service.tell("add", f"{fast}/right.bin", "-d", "files")
    page.wait_for_function("() => told.length > 0")
    service.tell("add", f"{fast}/wrong.bin", *WRONG, "-d", "files")
    page.wait_for_function("() => told.length > 1")
    assert page.evaluate("drawn") == []
    right, wrong = page.evaluate("told")
    assert right["title"] == "Completed: right.bin"
    assert wrong["title"] == "Failed: wrong.bin" and "sha-256" in wrong["body"]

    page.evaluate("hide(false)")
    expect(state(page, "right.bin")).to_have_text(re.compile("^Complete"))
    page.locator("#notify").click()
    service.tell("add", f"{fast}/last.bin", "-d", "files")
    page.wait_for_function("() => said.at(-1) === 'Completed: last.bin'")
    assert len(page.evaluate("told")) == 2


def test_over_a_slow_network_it_loads_acts_and_is_live(visit, service, fast, slow):
    service.tell("add", f"{slow}/runs.bin", "-d", "files")
    page = visit(opened=False)
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", {
        "offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000})
    # Periodic requests must not be the cause of the updates.
    page.add_init_script("window.setInterval = () => 0")
    page.goto(service.tell("open", "--no-browser"))
    expect(state(page, "runs.bin")).to_have_text(re.compile("^Running"))
    page.wait_for_function("""() => {
      window.seen ??= new Set();
      return seen.add(document.querySelector(".rows .fill").style.transform).size > 6;
    }""")
    page.get_by_text("runs.bin").click()
    page.locator("#tools").get_by_role("button", name="Pause").click()
    expect(state(page, "runs.bin")).to_have_text("Paused")
    service.tell("add", f"{fast}/right.bin", "-d", "files")
    expect(state(page, "right.bin")).to_have_text(re.compile("^Complete"))
    expect(page.locator("#away")).to_be_hidden()


def test_a_state_says_why_it_is_so(visit, service, slow):
    page = visit()
    expect(page.get_by_role("heading", name="Nothing to download yet")).to_be_visible()
    expect(page.get_by_label("Links", exact=True)).to_be_visible()
    service.tell("settings", "--max-running", "1")
    service.tell("add", "http://127.0.0.1:9/refused.bin", "--retries", "0", "-d", "files")
    expect(state(page, "refused.bin")).to_have_text(re.compile(r"refused.*, retrying in \d+\s(s|min)", re.I))
    expect(page.get_by_text("Nothing to download yet")).to_be_hidden()
    service.tell("add", f"{slow}/runs.bin", f"{slow}/waits.bin", "-d", "files")
    service.tell("add", f"{slow}/held.bin", "--paused", "-d", "files")
    expect(state(page, "runs.bin")).to_have_text(re.compile(r"^Running, from 127\.0\.0\.1:\d+$"))
    expect(state(page, "waits.bin")).to_have_text("Waiting in the queue, position 3")
    expect(state(page, "held.bin")).to_have_text("Paused")
    service.tell("settings", "--metered", "yes", "--rule", "metered=pause")
    expect(state(page, "waits.bin")).to_have_text("Waiting: on a metered network")
    expect(page.locator("#ruled")).to_have_text("Paused by a rule: on a metered network")


def test_both_languages_have_all_texts(visit):
    page = visit()
    found = page.evaluate("""async () => {
      const { texts } = await import("/app/texts.js");
      const files = ["acts", "add", "detail", "dom", "format", "graph", "list", "main", "map", "settings"];
      const sources = await Promise.all(files.map(async (name) => (await fetch(`/app/${name}.js`)).text()));
      const html = await (await fetch("/")).text();
      const used = [...sources.join("").matchAll(/\\bt\\("([\\w.]+)"/g), ...html.matchAll(/data-[tlp]="([\\w.]+)"/g)];
      return { en: Object.keys(texts.en), de: Object.keys(texts.de), used: [...new Set(used.map(([, key]) => key))],
        empty: [...Object.entries(texts.en), ...Object.entries(texts.de)].filter(([, text]) => !text).map(([key]) => key) };
    }""")
    assert sorted(found["en"]) == sorted(found["de"]) and found["empty"] == []
    assert len(found["used"]) > 100
    assert {key for key in found["used"] if key not in found["en"] and f"{key}.other" not in found["en"]} == set()


def english(page):
    """Returns visible or announced texts that are only in the English table."""
    return page.evaluate("""async () => {
      const { texts } = await import("/app/texts.js");
      const german = new Set(Object.values(texts.de));
      const plain = (text) => text.replace(/[.*+?^$()|[\\]\\\\]/g, "\\\\$&")
        .replace(/\\{[nk]\\}/g, "[^ ]+").replace(/\\{\\w+\\}/g, ".+");
      const tables = Object.values(texts.en).filter((text) => !german.has(text) && /[a-z]{3}/i.test(text.replace(/\\{\\w+\\}/g, "")))
        .map((text) => new RegExp(`^${plain(text)}$`));
      const found = [];
      for (const element of document.querySelectorAll("body *")) {
        if (!element.checkVisibility({ visibilityProperty: true })) continue;
        found.push(...["aria-label", "title", "placeholder"].map((name) => element.getAttribute(name)),
          ...[...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data.trim()));
      }
      const given = found.filter((text) => text);
      return { number: given.length, wrong: [...new Set(given.filter((text) => tables.some((each) => each.test(text))))],
        keys: given.filter((text) => text in texts.de && text.includes(".")) };
    }""")


def test_a_german_browser_sees_german(visit, service, fast, slow):
    page = visit(locale="de-DE")
    expect(page.get_by_role("heading", name="Noch nichts herunterzuladen")).to_be_visible()
    views = {"empty": english(page)}
    service.tell("add", f"{slow}/runs.bin", "--tag", "iso", "-d", "files")
    service.tell("add", f"{slow}/held.bin", "--paused", "-d", "files")
    service.tell("add", f"{fast}/right.bin", "-d", "files")
    service.tell("add", "http://127.0.0.1:9/refused.bin", "--retries", "0", "-d", "files")
    expect(state(page, "right.bin")).to_have_text("Fertig; keine Prüfsumme zum Vergleichen")
    expect(state(page, "held.bin")).to_have_text("Angehalten")
    expect(state(page, "refused.bin")).to_have_text(re.compile(r", neuer Versuch in \d+\s(s|min)"))
    page.locator("#list").get_by_text("runs.bin").dblclick()
    expect(page.locator("#pane").get_by_text("127.0.0.1").first).to_be_visible()
    views["list and details"] = english(page)
    for name, leave in (("add", "Escape"), ("settings", "Escape"), ("help", "Escape")):
        page.locator(f"#{name}").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        views[name] = english(page)
        page.keyboard.press(leave)
        expect(page.get_by_role("dialog")).to_have_count(0)
    page.locator("#list").get_by_text("held.bin").click(button="right")
    expect(page.get_by_role("menuitem", name="Fortsetzen")).to_be_visible()
    views["menu"] = english(page)
    assert all(view["number"] > 20 for view in views.values()), views
    assert {name: view for name, view in views.items() if view["wrong"] or view["keys"]} == {}


def test_a_chosen_language_is_kept(visit, service):
    page = visit()
    for label, save, choose, title in (
            ("Language", "Save", "Deutsch", "Noch nichts herunterzuladen"),
            ("Sprache", "Speichern", "wie der Browser", "Nothing to download yet")):
        page.locator("#settings").click()
        page.get_by_label(label).select_option(choose)
        page.get_by_role("button", name=save).click()
        expect(page.get_by_role("heading", name=title)).to_be_visible()
        page.reload()
        expect(page.get_by_role("heading", name=title)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "en")
