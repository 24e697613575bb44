// The page: login, what is live, filters, and who is told of what.
import { actionsOf, Acts, ALL, tools } from "./acts.js";
import { AddForm, linksOf } from "./add.js";
import * as api from "./api.js";
import { $, announce, field, fill, h, icon, notice, put, reasonOf, say, wrongLine } from "./dom.js";
import { Detail } from "./detail.js";
import * as format from "./format.js";
import { Graph } from "./graph.js";
import { List, SORTS } from "./list.js";
import { help, settings } from "./settings.js";
import { ENDED, RUNNING, WAITING } from "./states.js";
import { count, language, meaning, number, t } from "./texts.js";

// Events of tasks that only wait for a slot are not needed.
const FETCHED = [...RUNNING, "retrying", "waiting_for_network"];
const FILTERS = {
  all: [], running: RUNNING, waiting: WAITING, paused: ["paused"],
  ...Object.fromEntries(ENDED.map((state) => [state, [state]])),
};
const wide = matchMedia("(min-width: 1180px)");
const narrow = matchMedia("(max-width: 799px)");

const view = { filter: "all", tag: null, text: "" };
let counts = {}, tags = {}, health, speedNow = null, awaySince = null, awayTimer, live, isOpen = false, lastEnd, askingEnds = false, askAgain;

document.documentElement.lang = language;
fill(document.body);

// The parts

const told = new Map();
const list = new List($("list"), {
  api,
  on: {
    actions: actionsOf, act: (name, task, button) => acts.one(name, task, button),
    open: openDetail, menu: (at) => acts.menu(at), changed: selectionChanged, move: (ids, to) => acts.move(ids, to),
    key: (name) => acts.act(name),
    data(answer) {
      setCounts(answer.counts);
      setSpeed(answer.bytes_per_second);
      say($("ruled"), answer.pause_reason ? t("ruled", { reason: answer.pause_reason.replace(/`/g, "") }) : "");
      $("ruled").hidden = !answer.pause_reason;
      for (const task of answer.tasks) if (task.id === list.openId) detail.update(task);
      selectionChanged();
      setEmpty();
    },
    sorted: () => showSort(),
    seen(ends) {
      // Nobody else is told of them as new.
      const fresh = ends.filter((task) => told.get(task.id) !== task.finished);
      if (!fresh.length) return;
      for (const task of fresh) told.set(task.id, task.finished);
      api.send([{ command: "mark_seen", ids: fresh.map((task) => task.id) }]).catch(() => told.clear());
    },
  },
});
const acts = new Acts({ api, list, open: openDetail, changed: () => soon(0) });
const detail = new Detail($("detail"), { api, t, format, act: async (command) => {
  if (command.command === "remove") return undefined;
  return acts.run([command]);
}, on: { credentials: (ids) => acts.credentials(ids), rename: (task) => acts.rename(task) } });
const graph = new Graph($("graph"), { seconds: 600, label: t("graphLabel"), gap: 3 });

let addDialog = null;
const form = new AddForm({
  api, act: (command) => acts.run([command]), folder: () => health?.folder ?? "",
  done(added) {
    addDialog?.close();
    if (added) soon(0);
  },
});

// Adding

function openAdd(text = "") {
  if (!$("empty").hidden) {
    form.place($("empty-box"));
    form.links.focus();
  } else if (!addDialog) {
    const before = document.activeElement;
    addDialog = h("dialog.wide", { "aria-labelledby": "add-title" }, h("h2.dialog-title", { id: "add-title" }, t("addLinks")));
    document.body.append(addDialog);
    form.place(addDialog, true);
    addDialog.addEventListener("close", () => {
      addDialog.remove();
      addDialog = null;
      // A login only interrupts.
      if (!asking) form.clear();
      setEmpty();
      before?.focus?.();
    });
    addDialog.showModal();
    form.links.focus();
  }
  if (text) form.prefill(text);
}

/** The box for adding takes the place of a list that has nothing. */
function setEmpty() {
  const nothing = list.loaded && Object.values(counts).every((n) => !n) && !view.text && !view.tag && !addDialog;
  if (!$("empty").hidden === nothing) return;
  $("empty").hidden = !nothing;
  $("list").hidden = nothing;
  $("bar").hidden = nothing;
  if (nothing) form.place($("empty-box"));
  else list.render();
}

$("add").addEventListener("click", () => openAdd());
addEventListener("paste", (event) => {
  if (event.target.closest?.("input, textarea, dialog")) return;
  const text = event.clipboardData.getData("text/plain");
  if (!/https?:\/\//i.test(text)) return;
  // The box has the focus then, and would be pasted into as well.
  event.preventDefault();
  openAdd(text);
});

// What is dragged from this page itself is no link to add.
let dragDepth = 0, own = false;
addEventListener("dragstart", () => {
  own = true;
});
addEventListener("dragend", () => {
  own = false;
});
const carries = (event) => !own && !document.querySelector(".login") && [...event.dataTransfer.types].some((type) => ["Files", "text/uri-list", "text/plain"].includes(type));
addEventListener("dragenter", (event) => {
  if (!carries(event)) return;
  event.preventDefault();
  dragDepth += 1;
  $("drop").hidden = false;
});
addEventListener("dragover", (event) => carries(event) && event.preventDefault());
addEventListener("dragleave", () => {
  dragDepth -= 1;
  if (dragDepth <= 0) $("drop").hidden = true;
});
addEventListener("drop", (event) => {
  dragDepth = 0;
  $("drop").hidden = true;
  const { files } = event.dataTransfer;
  const text = event.dataTransfer.getData("text/uri-list") || event.dataTransfer.getData("text/plain");
  if (!files.length && event.target.closest?.("textarea, input")) return;
  event.preventDefault();
  openAdd(text);
  if (files.length) form.read(files);
});

// Filters

function setCounts(next) {
  if (!next) return;
  // The list's answer may have them before an event has.
  if (!sameCounts(counts, next)) askEnds();
  counts = next;
  const all = Object.values(counts).reduce((sum, n) => sum + n, 0);
  for (const [key, states] of Object.entries(FILTERS)) {
    const n = key === "all" ? all : states.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
    const button = $(`filter-${key}`);
    say(button.querySelector(".n"), number(n));
    if (key === "cancelled") button.parentElement.hidden = n === 0 && view.filter !== "cancelled";
    button.classList.toggle("some-bad", key === "failed" && n > 0);
  }
  for (const [name, button] of allButtons) put(button, "aria-disabled", ALL[name].some((state) => counts[state]) ? null : "true");
}

function filterButton(id, text, press) {
  return h("li", {}, h("button.filter", { type: "button", id, onclick: press }, h("span.text", {}, text), h("span.n", {}, "0")));
}

$("states").append(...Object.keys(FILTERS).map((key) => filterButton(`filter-${key}`, t(`f.${key}`), () => setView({ filter: key, tag: null }))));

function setTags(next) {
  const same = Object.keys(next).join("\n") === Object.keys(tags).join("\n");
  tags = next;
  $("tag-part").hidden = Object.keys(tags).length === 0;
  if (!same) {
    const focused = document.activeElement?.dataset?.tag;
    $("tags").replaceChildren(...Object.keys(tags).sort().map((tag) => {
      const item = filterButton(`tag-${tag}`, tag, () => setView(view.tag === tag ? { tag: null } : { tag, filter: "all" }));
      item.firstChild.dataset.tag = tag;
      if (tag === focused) queueMicrotask(() => item.firstChild.focus());
      return item;
    }));
    showView();
  }
  for (const button of $("tags").querySelectorAll("button")) say(button.querySelector(".n"), number(tags[button.dataset.tag]));
}

function showView() {
  for (const button of document.querySelectorAll(".filter")) {
    const is = button.dataset.tag ? button.dataset.tag === view.tag : button.id === `filter-${view.filter}` && !view.tag;
    put(button, "aria-current", is ? "true" : null);
  }
}

function setView(change) {
  Object.assign(view, change);
  showView();
  const { filter, tag, text } = view;
  return list.show({ states: FILTERS[filter], tag, text });
}

let typing;
$("search").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => setView({ text: $("search").value.trim() }), 200);
});
$("search").addEventListener("keydown", (event) => {
  if (event.key === "Escape" && $("search").value) {
    event.preventDefault();
    event.stopPropagation();
    $("search").value = "";
    setView({ text: "" });
  } else if (event.key === "Enter" || event.key === "ArrowDown") {
    event.preventDefault();
    list.grid.focus();
    if (list.current < 0 && list.matching) list.pick(0);
  }
});

// The order of the list

$("sort").append(...SORTS.map((key) => h("option", { value: key }, t(`o.${key}`))));
$("sort").addEventListener("change", () => list.sortBy($("sort").value, ["size", "progress", "speed", "added", "finished"].includes($("sort").value)));
$("turn").addEventListener("click", () => list.sortBy(list.sort, !list.descending));
function showSort() {
  $("sort").value = list.sort;
  const name = t(list.descending ? "descending" : "ascending");
  put($("turn"), "aria-label", name);
  put($("turn"), "title", name);
  $("turn").replaceChildren(icon(list.descending ? "down" : "up"));
}
showSort();

// What is selected

const toolButtons = new Map(tools.map((name) => [name, h("button", {
  type: "button", title: t(`a.${name}`), "aria-label": t(`a.${name}`), onclick: () => acts.act(name),
}, icon(name === "resume" ? "start" : name), h("span", {}, t(`a.${name}`)))]));
const more = h("button", { type: "button", "aria-haspopup": "menu", "aria-label": t("a.more"), title: t("a.more"), onclick: () => acts.menu(more) }, icon("more"), h("span", {}, t("a.more")));
$("tools").append(...toolButtons.values(), more);

const allButtons = new Map(Object.keys(ALL).map((name) => [name, h("button", {
  type: "button", title: t(`a.${name}`), "aria-label": t(`a.${name}`), "aria-disabled": "true", onclick: () => acts.all(name),
}, icon(name === "pauseAll" ? "pause" : "start"), h("span", {}, t(`a.${name}`)))]));
$("all-tools").append(...allButtons.values());

function selectionChanged() {
  const k = list.selected();
  const n = list.matching;
  say($("chosen"), k === 0 ? count(n) : narrow.matches ? `${number(k)} / ${number(n)}` : list.everything ? t("chosenAll", { n }) : t("chosen", { k, n }));
  for (const [name, button] of toolButtons) {
    const text = acts.text(name);
    put(button, "aria-disabled", acts.can(name) ? null : "true");
    put(button, "aria-label", text);
    put(button, "title", text);
    say(button.lastChild, text);
  }
  put(more, "aria-disabled", k ? null : "true");
  document.body.classList.toggle("selecting", k > 0);
  const one = k === 1 && list.known()[0];
  if (one && list.openId && list.openId !== one.id && wide.matches) openDetail(one.id, true);
}
$("bar").addEventListener("click", (event) => {
  if (!event.target.closest("[aria-disabled]")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

// Details

let opener;
function openDetail(id, stay = false) {
  if ($("pane").hidden) opener = document.activeElement;
  $("pane").hidden = false;
  cover();
  list.openId = id;
  detail.show(id);
  const known = list.tasks.find((task) => task.id === id);
  if (known) detail.update(known);
  list.render();
  if (!stay && !wide.matches) $("pane-close").focus();
}

/** What the details cover cannot be reached. */
function cover() {
  const covered = !$("pane").hidden && !wide.matches;
  for (const part of document.querySelectorAll(".top, .side, main")) part.inert = covered;
}
wide.addEventListener("change", cover);

function closeDetail() {
  if ($("pane").hidden) return false;
  const inside = $("pane").contains(document.activeElement) || document.activeElement === document.body;
  $("pane").hidden = true;
  cover();
  list.openId = null;
  detail.hide();
  list.render();
  if (inside) (opener?.isConnected ? opener : list.grid).focus();
  return true;
}
$("pane-close").append(icon("close"), h("span", {}, t("close")));
$("pane-close").addEventListener("click", closeDetail);

// Live

/** Asks for the list anew, at most once a second; after one's own commands at once. */
let refreshTimer, refreshed = 0;
function soon(wait = Math.max(0, refreshed + 1000 - Date.now())) {
  if (document.hidden) return;
  if (wait === 0) clearTimeout(refreshTimer);
  else if (refreshTimer) return;
  refreshTimer = setTimeout(async () => {
    refreshTimer = 0;
    refreshed = Date.now();
    await list.refresh();
    askTags();
  }, wait);
}

async function askTags() {
  const answer = await api.get("api/v2/tags").catch(() => null);
  if (answer) setTags(answer.tags);
}

/** Has the graph begin with what the service remembers. */
async function askSpeeds() {
  const answer = await api.get("api/v2/speeds").catch(() => null);
  if (!answer) return;
  const { bytes_per_second: speeds } = answer;
  // The clocks of both machines may differ: the last value is of now.
  const end = Date.now() / 1000;
  const known = speeds.map((speed, index) => ({ time: end - (speeds.length - 1 - index), speed }));
  const first = end - speeds.length;
  graph.replace([...graph.samples.filter((sample) => sample.time < first), ...known]);
}

async function askHealth() {
  const answer = await api.get("api/v2/health").catch(() => null);
  if (!answer) return;
  health = answer;
  say($("free"), health.free_bytes === undefined ? "–" : format.bytes(health.free_bytes));
  form.place(form.element.parentElement ?? $("empty-box"), form.element.parentElement === addDialog && addDialog);
}

function setSpeed(value) {
  if (value === undefined) return;
  speedNow = value;
  say($("speed"), format.speed(value));
  document.title = value > 0 ? `${format.speed(value)} · segget` : "segget";
}

const sameCounts = (one, other) => JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());
const liveStates = new Map();

function changes(data) {
  let moved = !sameCounts(counts, data.counts ?? counts) || Boolean(data.removed?.length);
  for (const task of data.tasks) {
    const { state } = task;
    if (liveStates.get(task.id) !== state) moved = true;
    liveStates.set(task.id, state);
    if (task.id === list.openId) detail.update(task);
  }
  for (const id of data.removed ?? []) liveStates.delete(id);
  setCounts(data.counts);
  setSpeed(data.bytes_per_second);
  list.update(data.tasks);
  if (moved) {
    soon();
    askEnds();
    setEmpty();
  }
}

function away(problem) {
  isOpen = false;
  if (problem.status === 401 || awaySince) return;
  awaySince = api.heard / 1000;
  // A connection that only ended is there again at once.
  awayTimer = setTimeout(showAway, problem.status === 0 && navigator.onLine ? 1500 : 0);
}

/** Shows that nothing that is seen is of now. */
function showAway() {
  say($("away-text"), t("away", { time: format.time(awaySince) }));
  $("away").hidden = false;
  document.body.classList.add("is-away");
  say($("speed"), "–");
  document.title = `segget`;
  graph.add(awaySince, null);
  graph.stop(awaySince);
  announce($("away-text").textContent);
}

/** A service that hangs keeps its connections open: it is asked for a sign of life. */
const [QUIET, SILENT] = [3000, 5000];
let pinging = false;
setInterval(async () => {
  if (document.hidden || !live || !api.token() || pinging) return;
  if (awaySince && isOpen && api.heard > awaySince * 1000) back();
  const quiet = Date.now() - api.heard;
  if (quiet < QUIET) return;
  pinging = true;
  // One that was hidden has not listened.
  const isAlive = await api.ping(Math.max(SILENT - QUIET, SILENT - quiet));
  pinging = false;
  if (!isAlive && !awaySince && live) {
    awaySince = api.heard / 1000;
    showAway();
  }
}, 500);

function back() {
  clearTimeout(awayTimer);
  isOpen = true;
  if (awaySince) askSpeeds();
  graph.stop(null);
  if (awaySince && !$("away").hidden) {
    $("away").hidden = true;
    announce(t("isBack"));
    askHealth();
  }
  document.body.classList.remove("is-away");
  awaySince = null;
  soon(0);
}
$("try").addEventListener("click", () => live?.retry());
addEventListener("online", () => awaySince && live?.retry());

function connect() {
  live?.close();
  liveStates.clear();
  live = api.stream(`api/v2/events?${FETCHED.map((state) => `state=${state}`).join("&")}`, {
    open: back, closed: away,
    event(name, data) {
      if (name === "snapshot") liveStates.clear();
      if (name === "snapshot" || name === "changes") changes(data);
    },
  });
  askHealth();
  askSpeeds();
  askTags();
  list.refresh();
}

setInterval(() => {
  if (!awaySince && speedNow !== null && live) graph.add(Date.now() / 1000, speedNow);
}, 1000);
setInterval(() => !document.hidden && api.token() && !awaySince && soon(), 10000);
setInterval(() => !document.hidden && api.token() && !awaySince && askHealth(), 30000);
document.addEventListener("visibilitychange", () => {
  if (document.hidden || !api.token()) return;
  list.render();
  soon(0);
});

// Ends and failures are told of, whether the page is seen or not.

/** What ends while an answer is on its way may not be in it: then it is asked once more. */
async function askEnds() {
  askAgain = true;
  if (askingEnds) return;
  askingEnds = true;
  while (askAgain) {
    askAgain = false;
    await tellEnds();
  }
  askingEnds = false;
}

async function tellEnds() {
  const answer = await api.get(`api/v2/tasks?state=completed&state=failed&sort=finished&descending=1&limit=${lastEnd === undefined ? 1 : 50}`).catch(() => null);
  if (!answer) return;
  const before = lastEnd;
  lastEnd = Math.max(before ?? 0, ...answer.tasks.map((task) => task.finished ?? 0));
  if (before === undefined) return;
  const ended = answer.tasks.filter((task) => task.finished > before).reverse();
  if (ended.length === 0) return;
  const failed = ended.filter((task) => task.state === "failed").length;
  const say = (task) => t(task.state === "failed" ? "failed" : "ended", { name: format.nameOf(task) });
  const lines = ended.length > 3 ? [t("endedMany", { n: ended.length, k: failed })] : ended.map(say);
  announce(lines.join(". "));
  if (!notifies()) return;
  for (const [index, line] of lines.entries()) {
    const body = ended.length > 3 ? undefined : meaning(ended[index].error?.code) ?? ended[index].error?.message?.replace(/`/g, "");
    let shown;
    try {
      shown = new Notification(line, { body, icon: "app/icon.svg", tag: ended.length > 3 ? "many" : ended[index].id });
    } catch {
      return; // Some browsers of phones let only service workers show them.
    }
    shown.onclick = () => {
      focus();
      if (ended.length <= 3) openDetail(ended[index].id);
      shown.close();
    };
  }
}

const notifies = () => "Notification" in window && Notification.permission === "granted" && localStorage.getItem("segget.notify") === "1";

function showNotify() {
  const on = notifies();
  const name = t(on ? "notifyOff" : "notifyOn");
  put($("notify"), "aria-label", name);
  put($("notify"), "title", name);
  put($("notify"), "aria-pressed", on);
  $("notify").replaceChildren(icon(on ? "bell" : "bellOff"));
}
$("notify").addEventListener("click", async () => {
  if (notifies()) {
    localStorage.removeItem("segget.notify");
  } else if (!("Notification" in window) || !isSecureContext) {
    notice(t("notifyNever"));
  } else if (await Notification.requestPermission() === "granted") {
    localStorage.setItem("segget.notify", "1");
    notice(t("notifyIsOn"));
  } else {
    notice(t("notifyDenied"));
  }
  showNotify();
});
showNotify();

// The graph of all: beside the filters, and on a phone when it is asked for.

function showGraph() {
  const on = (localStorage.getItem(narrow.matches ? "segget.graph.narrow" : "segget.graph") ?? (narrow.matches ? "0" : "1")) === "1";
  $("graph-part").hidden = !on;
  put($("speed"), "aria-expanded", on);
}
$("speed").title = t("graph");
$("speed").addEventListener("click", () => {
  localStorage.setItem(narrow.matches ? "segget.graph.narrow" : "segget.graph", $("graph-part").hidden ? "1" : "0");
  showGraph();
});
narrow.addEventListener("change", showGraph);
showGraph();

// Login

let asking = false;
async function login(stale = false) {
  if (asking) return;
  asking = true;
  live?.close();
  live = null;
  addDialog?.close();
  for (const open of document.querySelectorAll("dialog[open]")) open.close();
  const secret = h("input", { type: "password", autocomplete: "current-password", required: true, spellcheck: "false" });
  const wrong = wrongLine(stale ? t("loginStale") : "");
  const send = h("button.primary", {}, t("login"));
  const box = h("dialog.login", { "aria-labelledby": "login-title" }, h("form", { novalidate: true, onsubmit: async (event) => {
    event.preventDefault();
    send.disabled = true;
    say(wrong, "");
    const slow = setTimeout(() => say(wrong, t("loginWait")), 1500);
    try {
      await api.login({ secret: secret.value.trim() });
      asking = false;
      box.close();
      start();
    } catch (error) {
      clearTimeout(slow);
      say(wrong, error.status === 401 ? t("loginWrong") : reasonOf(error));
      secret.select();
    } finally {
      clearTimeout(slow);
      send.disabled = false;
    }
  } }, h("div.dialog-body", {}, h("h2", { id: "login-title" }, t("loginTitle")), field(t("secret"), secret, t("secretHint"))), wrong,
  h("div.dialog-foot", {}, send)));
  box.addEventListener("cancel", (event) => event.preventDefault());
  box.addEventListener("close", () => {
    if (asking) box.showModal();
    else box.remove();
  });
  document.body.append(box);
  box.showModal();
  secret.focus();
}
api.onLogin(() => login());

async function logout() {
  await api.logout();
  location.reload();
}

$("settings").addEventListener("click", () => settings({ api, logout }));
$("help").addEventListener("click", () => help({ health }));

// Keys of the whole page

addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open], .menu") || event.defaultPrevented) return;
  const typed = event.target.matches?.("input, textarea, select");
  const control = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  if (control && key === "f" || key === "/" && !typed) {
    event.preventDefault();
    $("search").focus();
    $("search").select();
  } else if (typed) {
    return;
  } else if (control && key === "a" && !$("pane").contains(event.target)) {
    event.preventDefault();
    list.selectAll();
    list.grid.focus({ preventScroll: true });
  } else if (control && key === "z") {
    acts.undo();
  } else if (key === "n" && !control && !event.altKey) {
    event.preventDefault();
    openAdd();
  } else if (event.key === "Escape") {
    if (!closeDetail()) list.clear();
  }
});

// The beginning: an address may bring a token, or something to add, which is only shown.

let started = false;
async function start() {
  $("app").hidden = false;
  connect();
  lastEnd = undefined;
  askEnds();
  if (started) return;
  started = true;
  await setView({});
  const query = new URLSearchParams(location.search);
  const offered = query.getAll("url").join("\n") || linksOf(`${query.get("text") ?? ""}\n${query.get("title") ?? ""}`).links.join("\n");
  if (location.search) history.replaceState(null, "", location.pathname);
  if (offered) openAdd(offered);
}

async function begin() {
  const once = /^#token=(.+)$/.exec(location.hash)?.[1];
  let stale = false;
  if (once) {
    history.replaceState(null, "", location.pathname + location.search);
    try {
      await api.login({ token: decodeURIComponent(once) });
    } catch {
      stale = true;
    }
  }
  $("app").hidden = false;
  if (api.token() && !stale) start();
  else login(stale);
}
begin();
