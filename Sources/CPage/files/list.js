// The table of tasks. The service sorts and pages; only the rows that are seen are there.
import { h, icon, put, say } from "./dom.js";
import { bytes, count, duration, filesOf, nameOf, percent, speed, time } from "./format.js";
import { ENDED, RUNNING } from "./states.js";
import { meaning, t } from "./texts.js";

/** Rows that are asked for at a time, how many of them before the first that is seen, and how near their end is too near. */
const [WINDOW, BEFORE, NEAR] = [200, 80, 30];

/** Where a row has no room for more, its details are a view of their own. */
const phone = matchMedia("(max-width: 559px)");

/** Columns: key, and by what the service sorts it. */
const COLUMNS = [
  ["name", "name"], ["size", "size"], ["progress", "progress"], ["speed", "speed"], ["left", "left"],
  ["connections"], ["state"],
];
export const SORTS = ["order", "name", "size", "progress", "speed", "left", "added", "finished"];
/** Sorts whose first click begins with the greatest. */
const DESCENDING = new Set(["size", "progress", "speed", "added", "finished"]);

/** A message of the service in short: without the URL that the row has anyway, and what is for terminals. */
const brief = (message = "") => message.replace(/^`[^`]*` could not be (?:downloaded|fetched): /, "")
  .replace(/( (to|from|at|of))? `https?:[^`]*`/g, "").replace(/`\/([^`]*\/)?([^`]*)`/g, "“$2”").replace(/`([^`]*)`/g, "“$1”");
/** Why a task failed, in short: a status as it is, `503 Service Unavailable`, in every language. */
function reasonFor({ error }) {
  const [, status, name] = /\b([45]\d\d) \(([^)]*)\)/.exec(error?.message) ?? [];
  return status ? `${status} ${name}` : meaning(error?.code) ?? brief(error?.message);
}

/** A task's state in plain words, its kind for the colour, and its icon. */
export function stateOf(task, going = false) {
  const { state } = task;
  if (going) return [t("s.going"), "off", "remove"];
  if (state === "completed") {
    if (task.file === "missing") return [t("s.missing"), "warn", "warning"];
    if (task.file === "changed") return [t("s.changed"), "warn", "warning"];
    if (task.skipped) return [t("s.skipped"), "done", "skipped"];
    if (task.files) return [t("s.set", { n: count(task.files) }), "ok", "verified"];
    if (task.html) return [t("s.html"), "warn", "warning"];
    const names = task.digests.map((digest) => digest.split(":")[0]).join(", ");
    return names ? [t("s.verified", { names }), "ok", "verified"] : [t("s.completed"), "done", "completed"];
  }
  if (state === "failed") return [t("s.failed", { reason: reasonFor(task) }), "bad", "failed"];
  if (state === "cancelled") return [t("s.cancelled"), "off", "cancelled"];
  if (state === "paused") return [t("s.paused"), "off", "paused"];
  if (task.pause_reason) return [t("s.ruled", { reason: brief(task.pause_reason) }), "off", "waiting"];
  if (state === "retrying") {
    const reason = reasonFor(task);
    if (!task.retry_at) return [t("s.retrying", { reason }), "warn", "retry"];
    const wait = duration(Math.max(0, Math.ceil(task.retry_at - Date.now() / 1000)));
    return [t("s.retryIn", { time: wait, reason }), "warn", "retry"];
  }
  if (state === "waiting_for_network") return [t("s.network", { time: time(task.waiting_since) }), "warn", "network"];
  if (state === "waiting") return [task.position ? t("s.place", { n: task.position }) : t("s.waiting"), "off", "waiting"];
  const host = /^https?:\/\/([^/]+)/i.exec(task.current_url ?? task.url)?.[1];
  if (state !== "running" || !host) return [t(`s.${state}`), "run", state === "verifying" ? state : "running"];
  return [t(task.connections === 0 && !task.bytes_per_second ? "s.nothing" : "s.from", { host }), "run", "running"];
}

export class List {
  /** `on`: `actions(task)` that a row offers, `act(name, task, button)`, `open(id)`, `menu(point)`, `changed()` after a selection, `data(answer)`, `seen(tasks)`, `move(ids, to)`, `key(name)`. */
  constructor(scroller, { api, on }) {
    Object.assign(this, { scroller, api, on, filter: {}, tasks: [], offset: 0, matching: 0, turn: 0 });
    this.sort = "order";
    this.descending = false;
    try {
      const { sort, descending } = JSON.parse(localStorage.getItem("segget.sort")) ?? {};
      if (SORTS.includes(sort)) Object.assign(this, { sort, descending: Boolean(descending) });
    } catch { /* What is stored is no sort: the order stays. */ }
    this.going = new Set();
    this.ids = new Set();
    this.everything = false;
    this.current = -1;
    this.build();
    this.sorted();
    addEventListener("resize", () => this.render());
    new ResizeObserver(() => this.render()).observe(scroller);
    setInterval(() => this.render(), 1000);
  }

  build() {
    const { scroller } = this;
    this.all = h("span.tick", { "aria-hidden": "true" });
    this.heads = new Map();
    const head = h("div.row.head", { role: "row", "aria-rowindex": 1 },
      h("div.c-tick", { role: "columnheader" }, h("button.plain.tick-button", {
        type: "button", "aria-label": t("selectAll"), title: t("selectAll"),
        onclick: () => this.selected() ? this.clear() : this.selectAll(),
      }, this.all)),
      ...COLUMNS.map(([key, sort]) => {
        const cell = h(`div.c-${key}`, { role: "columnheader" });
        if (sort) {
          cell.append(h("button.plain", { type: "button", onclick: () => this.sortBy(sort) }, t(`c.${key}`), h("span.arrow")));
          this.heads.set(sort, cell);
        } else {
          cell.textContent = t(`c.${key}`);
        }
        return cell;
      }));
    this.body = h("div.rows", { role: "rowgroup" });
    this.grid = h("div.grid", {
      role: "grid", tabindex: 0, "aria-label": t("tasks"), "aria-multiselectable": "true", "aria-rowcount": -1,
    }, h("div.head-group", { role: "rowgroup" }, head), this.body);
    this.none = h("p.none", { hidden: true }, t("noMatch"));
    this.line = h("div.drop-line", { hidden: true });
    scroller.append(this.grid, this.none);
    this.body.append(this.line);
    this.pool = new Map();
    this.free = [];
    scroller.addEventListener("scroll", () => this.plan(), { passive: true });
    this.grid.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("dblclick", (event) => {
      if (event.target.closest("[data-act]")) return;
      const index = this.indexOf(event.target);
      if (this.task(index)) this.on.open(this.task(index).id);
    });
    this.body.addEventListener("contextmenu", (event) => {
      const index = this.indexOf(event.target);
      if (!this.task(index)) return;
      event.preventDefault();
      this.grid.focus({ preventScroll: true });
      if (!this.has(this.task(index))) this.pick(index);
      this.on.menu({ x: event.clientX, y: event.clientY });
    });
    this.body.addEventListener("pointerdown", (event) => this.grab(event));
  }

  // What is shown

  path(filter = this.filter, offset = 0, limit = WINDOW) {
    const query = new URLSearchParams();
    for (const state of filter.states ?? []) query.append("state", state);
    if (filter.tag) query.append("tag", filter.tag);
    if (filter.text) query.append("text", filter.text);
    query.append("sort", this.sort);
    if (this.descending) query.append("descending", "1");
    query.append("offset", offset);
    query.append("limit", limit);
    return `api/v2/tasks?${query}`;
  }

  show(filter) {
    this.filter = filter;
    this.clear();
    // Nothing is done with rows that are still seen, and that the filter may not mean.
    Object.assign(this, { tasks: [], places: new Map(), offset: 0, matching: 0, loaded: false });
    put(this.grid, "aria-busy", "true");
    this.current = -1;
    this.currentId = null;
    this.scroller.scrollTop = 0;
    return this.load(0);
  }

  sortBy(sort, descending) {
    if (descending === undefined) descending = sort === this.sort ? !this.descending : DESCENDING.has(sort);
    Object.assign(this, { sort, descending });
    localStorage.setItem("segget.sort", JSON.stringify({ sort, descending }));
    this.sorted();
    this.on.sorted();
    this.scroller.scrollTop = 0;
    this.load(0);
  }

  sorted() {
    for (const [sort, cell] of this.heads) {
      const is = sort === this.sort;
      put(cell, "aria-sort", is ? (this.descending ? "descending" : "ascending") : "none");
      cell.querySelector(".arrow").replaceChildren(...is ? [icon(this.descending ? "down" : "up")] : []);
    }
  }

  /** Asks for the rows around an index. Of several calls at once, the last one is carried out. */
  async load(first) {
    if (this.loading) {
      this.next = first;
      return this.loading;
    }
    const { filter, sort, descending } = this;
    const offset = Math.max(0, Math.min(first, this.matching || first) - BEFORE);
    this.loading = this.api.get(this.path(filter, offset));
    try {
      const answer = await this.loading;
      this.loading = null;
      if (filter === this.filter && sort === this.sort && descending === this.descending) this.take(answer, offset);
    } catch (error) {
      if (error.status === undefined) throw error;
    } finally {
      this.loading = null;
      if (this.next !== undefined) {
        const next = this.next;
        this.next = undefined;
        this.load(next);
      }
    }
  }

  take(answer, offset) {
    this.offset = offset;
    this.tasks = answer.tasks;
    this.matching = answer.matching ?? answer.tasks.length;
    this.loaded = true;
    put(this.grid, "aria-busy", null);
    this.places = new Map(this.tasks.map((task, index) => [task.id, offset + index]));
    if (this.currentId && this.places.has(this.currentId)) this.current = this.places.get(this.currentId);
    this.current = Math.min(this.current, this.matching - 1);
    // Where the current task has gone, another one is in its place.
    if (this.task(this.current)) this.currentId = this.task(this.current).id;
    // Nobody acts on what has left a list that is all here.
    if (this.tasks.length === this.matching) for (const id of this.ids) if (!this.places.has(id)) this.ids.delete(id);
    this.on.data(answer);
    this.render();
  }

  refresh() {
    return this.load(this.range().first);
  }

  /** What the events tell of tasks. */
  update(tasks) {
    for (const task of tasks) {
      const place = this.places?.get(task.id);
      if (place === undefined) continue;
      const before = this.tasks[place - this.offset];
      this.tasks[place - this.offset] = { position: before.position, ...task };
    }
    this.plan();
  }

  task(index) {
    return this.tasks[index - this.offset];
  }

  range() {
    const { scroller } = this;
    this.height = parseFloat(getComputedStyle(this.grid).getPropertyValue("--row")) || 40;
    const first = Math.max(0, Math.floor(scroller.scrollTop / this.height));
    return { first, last: Math.min(this.matching, first + Math.ceil(scroller.clientHeight / this.height) + 1) };
  }

  plan() {
    if (this.frame || document.hidden) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.render();
    });
  }

  render() {
    if (document.hidden || !this.loaded) return;
    const { first, last } = this.range();
    const [from, to] = [Math.max(0, first - 6), Math.min(this.matching, last + 6)];
    this.body.style.height = `${this.matching * this.height}px`;
    put(this.grid, "aria-rowcount", this.matching + 1);
    this.none.hidden = this.matching > 0;
    for (const [index, row] of this.pool) {
      if (index >= from && index < to) continue;
      this.pool.delete(index);
      row.element.remove();
      this.free.push(row);
    }
    for (let index = from; index < to; index += 1) {
      let row = this.pool.get(index);
      if (!row) {
        row = this.free.pop() ?? this.makeRow();
        this.pool.set(index, row);
        this.body.append(row.element);
      }
      this.draw(row, index);
    }
    const current = this.pool.get(this.current);
    put(this.grid, "aria-activedescendant", current && this.task(this.current) ? current.element.id : null);
    const ends = this.tasks.slice(Math.max(0, first - this.offset), Math.max(0, last - this.offset)).filter((task) => task.seen === false);
    if (ends.length) this.on.seen(ends);
    const some = this.selected();
    put(this.all, "data-on", some === 0 ? "no" : this.everything || some >= this.matching ? "yes" : "some");
    const end = this.offset + this.tasks.length;
    if (first - NEAR < this.offset && this.offset > 0 || last + NEAR > end && end < this.matching) {
      // More rows come before they are seen; those that are on their way are looked at when they are there.
      if (!this.loading) this.load(first);
    }
  }

  makeRow() {
    const text = (kind) => h("span", { class: kind });
    const row = {
      name: text("name"), files: text("files"), tags: text("tags"), size: h("div.c-size", { role: "gridcell" }), fill: h("span.fill"), part: text("part"),
      speed: h("div.c-speed", { role: "gridcell" }), left: h("div.c-left", { role: "gridcell" }),
      connections: h("div.c-connections", { role: "gridcell" }), brief: text("brief"), state: text("state"),
      icon: h("span.state-icon", { "aria-hidden": "true" }), acts: h("div.acts", { role: "gridcell" }),
    };
    row.element = h("div.row", { role: "row" },
      h("div.c-tick", { role: "gridcell" }, h("span.tick", { "aria-hidden": "true" })),
      h("div.c-name", { role: "gridcell" }, row.icon, row.name, row.files, row.tags), row.size,
      h("div.c-progress", { role: "gridcell" }, h("span.bar", { "aria-hidden": "true" }, row.fill), row.part),
      row.speed, row.left, row.connections, h("div.c-state", { role: "gridcell" }, row.brief, row.state), row.acts);
    return row;
  }

  draw(row, index) {
    const { element } = row;
    const task = this.task(index);
    element.style.transform = `translateY(${index * this.height}px)`;
    put(element, "aria-rowindex", index + 2);
    element.index = index;
    element.classList.toggle("current", index === Math.max(0, this.current));
    element.classList.toggle("open", Boolean(task) && task.id === this.openId);
    if (!task) {
      put(element, "id", `row-${index}`);
      put(element, "aria-selected", this.everything);
      put(element, "data-kind", "none");
      for (const key of ["name", "files", "tags", "size", "part", "speed", "left", "connections", "brief", "state"]) say(row[key]);
      row.fill.style.transform = "scaleX(0)";
      this.drawActs(row, null);
      this.drawIcon(row, "none");
      return;
    }
    const [words, kind, sign] = stateOf(task, this.going.has(task.id));
    const fetched = RUNNING.includes(task.state);
    const share = task.size ? task.bytes_done / task.size : task.state === "completed" ? 1 : 0;
    // A bar moves with its task, and not from one task to another.
    if (row.id !== task.id) row.fill.style.transition = "none";
    else row.fill.style.transition = "";
    row.id = task.id;
    put(element, "id", `task-${task.id}`);
    put(element, "aria-selected", this.has(task));
    put(element, "data-kind", kind);
    this.drawIcon(row, sign);
    this.drawActs(row, this.going.has(task.id) ? null : task);
    // Tasks that differ only in the query look alike otherwise.
    const alike = task.query_tag && this.tasks.some((other) => other?.url === task.url && other.query_tag !== task.query_tag);
    const name = nameOf(task) + (alike ? `?#${task.query_tag}` : "");
    say(row.name, name);
    put(row.name, "title", name);
    say(row.files, task.files ? filesOf(task) : "");
    say(row.tags, task.tags.join(" · "));
    say(row.size, task.size === undefined ? task.started ? t(task.bytes_done ? "soFar" : "unknown", { n: bytes(task.bytes_done) }) : "" : bytes(task.size));
    say(row.part, task.size || task.state === "completed" ? percent(share) : "");
    row.fill.style.transform = `scaleX(${share})`;
    element.classList.toggle("going", this.going.has(task.id));
    element.classList.toggle("begun", task.bytes_done > 0 && task.state !== "completed");
    say(row.speed, fetched && task.bytes_per_second !== undefined ? speed(task.bytes_per_second) : "");
    say(row.left, fetched && task.seconds_left !== undefined ? duration(task.seconds_left) : "");
    say(row.connections, fetched && task.connections !== undefined ? task.connections : "");
    // On a phone the figures stand before the state.
    say(row.brief, !task.size || task.bytes_done === 0 || task.state === "completed" ? "" : kind === "run" && task.seconds_left !== undefined
      ? `${percent(share)}, ${t("toGo", { time: duration(task.seconds_left) })}` : percent(share));
    say(row.state, words);
    put(row.state, "title", words);
  }

  drawIcon(row, sign) {
    if (row.sign === sign) return;
    row.sign = sign;
    put(row.element, "data-sign", sign);
    row.icon.replaceChildren(...sign === "none" ? [] : [icon(sign)]);
  }

  /** What can be done with one task, on its row: for a pointer; the keyboard has the menu. */
  drawActs(row, task) {
    const names = task ? this.on.actions(task) : [];
    const key = names.length ? `${task.id} ${names.map(([name]) => name)}` : "";
    if (row.actsKey === key) return;
    row.actsKey = key;
    row.acts.replaceChildren(...names.map(([name, words]) => h("button.plain", {
      type: "button", tabindex: -1, "data-act": name, title: words, "aria-label": `${words}: ${nameOf(task)}`,
    }, icon(name === "resume" ? "start" : name))));
  }

  // Selection

  has(task) {
    return this.everything || this.ids.has(task.id);
  }

  selected() {
    return this.everything ? this.matching : this.ids.size;
  }

  /** The tasks that are selected and known here. */
  known() {
    return this.everything ? this.tasks : this.tasks.filter((task) => this.ids.has(task.id));
  }

  clear() {
    if (!this.everything && this.ids.size === 0) return;
    this.ids.clear();
    this.everything = false;
    this.picked();
  }

  picked() {
    this.render();
    this.on.changed();
  }

  async selectAll() {
    while (!this.loaded && this.loading) await this.loading.catch(() => {});
    this.ids.clear();
    this.everything = this.matching > this.tasks.length;
    if (!this.everything) for (const task of this.tasks) this.ids.add(task.id);
    this.picked();
  }

  /** All ids of the filter, or those of a range of rows, in pages. */
  async idsOf(from = 0, to = this.matching) {
    const ids = [];
    while (from < to) {
      const here = this.tasks.slice(Math.max(0, from - this.offset), to - this.offset);
      const { tasks } = from >= this.offset && here.length
        ? { tasks: here } : await this.api.get(this.path(this.filter, from, Math.min(1000, to - from)));
      if (tasks.length === 0) break;
      ids.push(...tasks.map((task) => task.id));
      from += tasks.length;
    }
    return ids;
  }

  /** What a command is to name: ids, or what the filter means. */
  /** The ids of what is selected now; what comes to match later is not among them. */
  async chosen() {
    return this.everything ? this.idsOf() : [...this.ids];
  }

  async target() {
    if (!this.everything) return { ids: [...this.ids] };
    const { states, tag, text } = this.filter;
    if (text) return { ids: await this.idsOf() };
    return { ...tag ? { tags: [tag] } : { all: true }, ...states?.length ? { states } : {} };
  }

  setCurrent(index) {
    this.current = Math.max(0, Math.min(index, this.matching - 1));
    this.currentId = this.task(this.current)?.id ?? null;
  }

  /** Selects one row. */
  pick(index) {
    this.setCurrent(index);
    this.anchor = this.current;
    this.everything = false;
    this.ids.clear();
    if (this.currentId) this.ids.add(this.currentId);
    this.picked();
  }

  async toggle(index) {
    this.setCurrent(index);
    this.anchor = this.current;
    const { currentId: id } = this;
    if (!id) return;
    if (this.everything) {
      this.ids = new Set(await this.idsOf());
      this.everything = false;
    }
    if (!this.ids.delete(id)) this.ids.add(id);
    this.picked();
  }

  async extend(index) {
    this.setCurrent(index);
    const anchor = Math.max(0, this.anchor ?? this.current);
    this.everything = false;
    const [from, to] = [Math.min(anchor, this.current), Math.max(anchor, this.current) + 1];
    this.render();
    this.ids = new Set(await this.idsOf(from, to));
    this.picked();
  }

  reveal(index) {
    const { scroller, height } = this;
    const head = this.body.offsetTop;
    const [top, bottom] = [index * height, (index + 1) * height + head];
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (bottom > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = bottom - scroller.clientHeight;
    this.render();
  }

  indexOf(target) {
    return target.closest?.(".row")?.index ?? -1;
  }

  click(event) {
    const index = this.indexOf(event.target);
    if (index < 0 || this.dragged) return;
    const button = event.target.closest("[data-act]");
    if (button) {
      this.on.act(button.dataset.act, this.task(index), button);
      return;
    }
    this.grid.focus({ preventScroll: true });
    if (event.shiftKey) this.extend(index);
    else if (event.ctrlKey || event.metaKey || event.target.closest(".c-tick")) this.toggle(index);
    else {
      this.pick(index);
      if ((event.pointerType === "touch" || phone.matches) && this.task(index)) this.on.open(this.task(index).id);
    }
  }

  key(event) {
    if (event.target !== this.grid) return;
    const { key, shiftKey, altKey } = event;
    const control = event.ctrlKey || event.metaKey;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.height) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (key in steps && !altKey) {
      const from = this.current < 0 ? (steps[key] > 0 ? -1 : 0) : this.current;
      const index = Math.max(0, Math.min(this.matching - 1, from + steps[key]));
      this.reveal(index);
      if (shiftKey) this.extend(index);
      else if (control) this.setCurrent(index), this.render();
      else this.pick(index);
    } else if (key in steps) {
      if (this.selected()) this.on.key(key === "ArrowUp" ? "up" : key === "ArrowDown" ? "down" : key === "Home" ? "first" : "last");
    } else if (key === " ") {
      if (this.current < 0) this.pick(0);
      else this.toggle(this.current);
    } else if (control && key.toLowerCase() === "a") {
      this.selectAll();
    } else if (key === "Enter") {
      if (this.currentId) this.on.open(this.currentId);
    } else if (key === "Delete") {
      if (this.selected()) this.on.key(shiftKey ? "removeFiles" : "remove");
    } else if (key === "F2") {
      if (this.selected()) this.on.key("rename");
    } else if (key === "ContextMenu" || key === "F10" && shiftKey) {
      const row = this.pool.get(this.current)?.element;
      if (row) this.on.menu(row.querySelector(".c-name"));
    } else if (key === "Escape" && this.selected() && !this.openId) {
      this.clear();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  // Dragging: rows of the order find another place in it.

  grab(event) {
    const index = this.indexOf(event.target);
    const task = this.task(index);
    this.dragged = false;
    if (event.button !== 0 || event.pointerType === "touch" || event.target.closest(".c-tick, .acts") || !task ||
      this.sort !== "order" || this.descending || ENDED.includes(task.state)) return;
    const start = event.clientY;
    const { scroller, body } = this;
    let point = event, beat, before = null;
    const place = () => {
      const box = body.getBoundingClientRect();
      before = Math.round((point.clientY - box.top) / this.height);
      before = Math.max(0, Math.min(before, this.matching));
      while (before > 0 && !this.task(before - 1)?.position && this.task(before - 1)) before -= 1;
      this.line.style.transform = `translateY(${before * this.height}px)`;
    };
    const move = (next) => {
      point = next;
      if (!this.dragged && Math.abs(point.clientY - start) < 6) return;
      if (!this.dragged) {
        this.dragged = true;
        this.line.hidden = false;
        scroller.classList.add("dragging");
        if (!this.has(task)) this.pick(index);
        beat = setInterval(() => {
          const box = scroller.getBoundingClientRect();
          const over = point.clientY < box.top + 60 ? -1 : point.clientY > box.bottom - 40 ? 1 : 0;
          scroller.scrollTop += over * 14;
          place();
        }, 16);
      }
      place();
    };
    const end = (last) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      removeEventListener("keydown", escape, true);
      clearInterval(beat);
      this.line.hidden = true;
      scroller.classList.remove("dragging");
      if (this.dragged && last.type === "pointerup") this.drop(before);
    };
    const escape = (pressed) => {
      if (pressed.key !== "Escape") return;
      pressed.stopPropagation();
      end(pressed);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
    addEventListener("keydown", escape, true);
  }

  drop(before) {
    const moved = this.everything ? [] : this.tasks.filter((task) => this.ids.has(task.id) && task.position);
    if (moved.length === 0) return;
    const next = this.task(before);
    const ids = moved.map((task) => task.id);
    if (!next?.position) {
      this.on.move(ids, "last");
      return;
    }
    this.on.move(ids, next.position - moved.filter((task) => task.position < next.position).length);
  }
}
