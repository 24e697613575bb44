// The view of one task: its map, connections, servers, speed, and what happened.
import { h } from "./dom.js";
import { known } from "./detail-texts.js";
import { Files } from "./files.js";
import { nameOf } from "./format.js";
import { Graph } from "./graph.js";
import { ASKED, merged, NONE, SegmentMap, Swatch, THERE, UNCHECKED } from "./map.js";
import { AGAIN, ENDED, RUNNING } from "./states.js";
import { language } from "./texts.js";

/** Sets a text only if it is another one, so that a selection stays. */
function say(element, text = "") {
  const node = element.firstChild;
  if (node?.nodeType === Node.TEXT_NODE && element.childNodes.length === 1) {
    if (node.data !== String(text)) node.data = text;
  } else if (element.textContent !== String(text)) {
    element.textContent = text;
  }
  return element;
}

const show = (element, visible) => {
  if (element.hidden === visible) element.hidden = !visible;
};

/** Children for items: those that stay are changed, not replaced. */
function list(parent, items, key, make, change) {
  parent.kept ??= new Map();
  const stay = new Set(items.map(key));
  for (const [id, row] of parent.kept) {
    if (stay.has(id)) continue;
    row.element.remove();
    row.destroy?.();
    parent.kept.delete(id);
  }
  let after = null;
  items.forEach((item, index) => {
    const id = key(item, index);
    let row = parent.kept.get(id);
    if (!row) parent.kept.set(id, row = make(item, index));
    change(row, item, index);
    const next = after ? after.nextSibling : parent.firstChild;
    if (next !== row.element) parent.insertBefore(row.element, next);
    after = row.element;
  });
}

/** A sentence of the service, without what is for terminals. */
const sentence = (text = "") => text.replace(/`([^`]*)`/g, "“$1”").replace(/(\d+)\.\.<(\d+)/g, "$1 to $2")
  .replace(/\b\d{5,}(?= (to|bytes)\b)|(?<= to )\d{5,}/g, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ","))
  .replace(/^./, (first) => first.toUpperCase());

const host = (url = "") => url.replace(/^[a-z]+:\/\//i, "").split("/")[0];

export class Detail {
  /** `on`: `credentials(ids)`, `rename(task)`. */
  constructor(container, { api, t, format, act, on }) {
    Object.assign(this, { container, api, t, format, act, on, turn: 0, histories: new Map() });
    this.number = new Intl.NumberFormat(language);
    this.percents = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 });
    this.build();
    this.seen = () => !document.hidden && this.id && this.poll();
    document.addEventListener("visibilitychange", this.seen);
    this.clock = setInterval(() => !document.hidden && this.task && this.head(), 1000);
  }

  show(id) {
    if (this.id === id) return;
    this.id = id;
    this.data = this.task = this.before = null;
    this.form.hidden = true;
    this.allEvents = false;
    this.links.value = "";
    this.files.show(id);
    this.root.hidden = false;
    this.container.scrollTop = 0;
    this.root.classList.add("loading");
    say(this.name, this.t("d.loading"));
    // The measurements of the last tasks stay for those who come back.
    if (!this.histories.has(id)) this.histories.set(id, []);
    if (this.histories.size > 20) this.histories.delete(this.histories.keys().next().value);
    this.graph.replace(this.histories.get(id));
    this.poll();
  }

  hide() {
    this.id = null;
    this.files.show(null);
    this.turn += 1;
    clearTimeout(this.timer);
    this.root.hidden = true;
  }

  /** What the events tell of the task that is shown; other tasks are passed over. */
  update(task) {
    if (task.id !== this.id) return;
    const before = this.task;
    this.task = task;
    if (this.data) this.data.task = task;
    if (before?.state !== task.state || !RUNNING.includes(task.state)) this.poll();
    else this.head();
  }

  destroy() {
    this.hide();
    clearInterval(this.clock);
    document.removeEventListener("visibilitychange", this.seen);
    this.map.destroy();
    this.graph.destroy();
    for (const row of this.legend.kept?.values() ?? []) row.destroy();
    this.root.remove();
  }

  async poll() {
    clearTimeout(this.timer);
    const turn = this.turn += 1;
    const asked = Date.now();
    const answer = await this.api.get(`api/v2/tasks/${encodeURIComponent(this.id)}`).catch((error) => ({ error }));
    if (turn !== this.turn) return;
    show(this.stale, Boolean(answer.error));
    if (answer.error) {
      const gone = answer.error.status === 404;
      say(this.stale, this.t(gone ? "d.removed" : "d.stale"));
      if (!this.data) say(this.name, this.id);
      if (gone) return;
    } else {
      this.data = answer;
      this.task = answer.task;
      this.measure((asked + Date.now()) / 2000);
      this.render();
    }
    const pause = RUNNING.includes(this.task?.state) ? 1000 : ENDED.includes(this.task?.state) ? 30000 : 5000;
    if (!document.hidden) this.timer = setTimeout(() => this.poll(), pause);
  }

  /** The speed between two looks, by what all servers had brought. */
  measure(time) {
    const { servers = [], task } = this.data;
    const bytes = servers.reduce((sum, server) => sum + server.bytes, 0);
    const before = this.before;
    this.before = servers.length && RUNNING.includes(task.state) ? { time, bytes } : null;
    if (!before || time - before.time < 0.2) return;
    const good = this.before && bytes >= before.bytes && time - before.time <= 3;
    this.graph.add(time, good ? (bytes - before.bytes) / (time - before.time) : null);
  }

  build() {
    const { t } = this;
    const button = (key, act, name = "") => h(`button.${name}`, { type: "button", onclick: act }, t(`d.${key}`));
    const command = (name) => () => this.command({ command: name });
    const section = (name, ...children) =>
      h(`section.d-${name}`, { "aria-labelledby": `d-${name}` },
        h("h3", { id: `d-${name}` }, t(`d.${name}`)), ...children);

    this.name = h("h2", { id: "d-name" });
    this.state = h("p.d-state");
    this.stale = h("p.d-stale");
    this.stale.hidden = true;
    this.error = h("div.d-error", {}, h("p", { lang: "en" }), h("p.hint"));
    this.buttons = {
      pause: button("pause", command("pause")), resume: button("resume", command("resume"), "primary"),
      credentials: button("credentials", () => this.on.credentials([this.id])),
      retry: button("retry", command("retry"), "primary"), link: button("newLink", () => this.openForm()),
      place: button("rename", () => this.on.rename(this.task)),
    };
    this.links = h("textarea", {
      id: "d-links", spellcheck: "false", "aria-describedby": "d-links-hint", required: "",
      oninput: () => this.links.setCustomValidity(
        this.urls().every((url) => /^https?:\/\/./i.test(url)) ? "" : t("d.newLinkWrong")),
    });
    this.form = h("form.d-form", {
      onsubmit: (event) => this.sendLinks(event), onkeydown: (event) => event.key === "Escape" && this.closeForm(event),
    }, h("label", { for: "d-links" }, t("d.newLinks")), this.links,
      h("p", { id: "d-links-hint", class: "hint" }, t("d.newLinkHint")),
      h("div.d-buttons", {}, h("button.primary", {}, t("d.newLinkSend")),
        button("cancel", () => this.closeForm())));
    this.form.hidden = true;
    this.figures = ["arrived", "speed", "left", "connections"].map((key) => {
      const [label, value] = [h("dt", {}, t(`d.${key}`)), h("dd")];
      return { element: h("div", {}, label, value), label, value };
    });

    this.track = h("div", {
      class: "d-track", role: "slider", "aria-label": t("d.mapName"), "aria-readonly": "true",
      "aria-valuenow": 0, "aria-describedby": "d-map-text",
    });
    this.mapText = h("p", { id: "d-map-text", class: "d-map-text" });
    this.place = h("p.d-place.hint");
    this.legend = h("ul.d-legend");

    this.files = new Files({ api: this.api, t, format: this.format });

    const canvas = h("canvas");
    this.connections = this.table("connections",
      ["number", "state", "rate", "range", "address", "roundTrip", "server", "http"]);
    this.servers = this.table("servers", ["number", "server", "brought", "state", "share"]);
    this.facts = h("dl");
    this.source = h("dl");
    this.events = h("ol");
    this.more = button("showAll", () => {
      this.allEvents = true;
      this.timeline();
    });

    this.root = h("article.detail", { "aria-labelledby": "d-name" },
      h("header", {}, this.name, this.state, this.stale, this.error,
        h("div.d-buttons", {}, ...Object.values(this.buttons)), this.form,
        h("dl.d-figures", {}, ...this.figures.map((each) => each.element))),
      this.files.element, this.mapped = section("map", this.mapText, this.track, this.place, this.legend),
      this.graphed = section("graph", canvas),
      section("connections", this.connections.element), section("servers", this.servers.element),
      section("facts", this.facts), section("source", this.source),
      section("events", this.events, this.more));
    this.root.hidden = true;
    this.container.append(this.root);
    this.map = new SegmentMap(this.track, { point: (place) => this.pointed(place) });
    this.graph = new Graph(canvas, { seconds: 300, label: t("d.graphLabel") });
  }

  /** A table; `fill` gives it rows, each with texts, or [text, hint, share of a bar], by column. */
  table(name, columns) {
    const head = columns.map((key) => h(`th.c-${key}`, { role: "columnheader", scope: "col" }, this.t(`d.${key}`)));
    const body = h("tbody", { role: "rowgroup" });
    const element = h("table.d-table", { role: "table", "aria-labelledby": `d-${name}` },
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ...head)), body);
    const fill = (rows, made = () => {}) => {
      show(element.parentElement, rows.length > 0);
      list(body, rows, (_, index) => index, (_, index) => {
        const cells = columns.map((key) => h(`td.c-${key}`, { role: "cell" }));
        const element = h("tr", { role: "row" }, ...cells);
        made(element, index);
        return { element, cells };
      }, ({ element, cells }, row, index) => {
        element.classList.toggle("dropped", Boolean(row.dropped));
        row.number = index + 1;
        cells.forEach((cell, place) => {
          const key = columns[place];
          const [text, hint, share] = [row[key] ?? "–"].flat();
          if (hint === undefined) {
            say(cell, text);
            return;
          }
          if (!cell.bar) {
            cell.bar = h("span");
            cell.replaceChildren(h("span"), " ", h("span.hint"), h("span.d-bar", { "aria-hidden": "true" }, cell.bar));
          }
          say(cell.children[0], text);
          say(cell.children[1], hint);
          // The bar of a range keeps its room while there is none.
          show(cell.children[2], share !== undefined || key === "range");
          cell.children[2].style.visibility = share === undefined ? "hidden" : "";
          cell.bar.style.width = `${(share ?? 0) * 100}%`;
        });
      });
    };
    return { element, body, fill };
  }

  word(kind, word) {
    return known(`d.${kind}${word}`) ? this.t(`d.${kind}${word}`) : word;
  }

  async command(command) {
    await this.act({ ...command, ids: [this.id] });
    if (this.id) this.poll();
  }

  openForm() {
    this.form.hidden = false;
    this.links.focus();
  }

  closeForm(event) {
    event?.stopPropagation();
    this.form.hidden = true;
    this.links.value = "";
    this.buttons.link.focus();
  }

  urls() {
    return this.links.value.trim().split(/\s+/);
  }

  async sendLinks(event) {
    event.preventDefault();
    const urls = this.urls();
    const { state } = this.task;
    this.links.value = "";
    this.closeForm();
    await this.command({ command: "set", urls });
    if (AGAIN.includes(state)) await this.command({ command: "retry" });
  }

  stateText({ state, files, file, digests, skipped, html, pause_reason: reason, position, retry_at: retry, waiting_since: since }) {
    const { t, format } = this;
    if (state === "completed") {
      const names = digests.map((digest) => digest.split(":")[0]).join(", ");
      return t(`d.${file === "missing" || file === "changed" ? file : files ? "set" : html ? "html" : skipped ? "skipped" : names ? "verified" : state}`, { names, n: files && this.number.format(files) });
    }
    if (reason) return t("d.ruled", { reason });
    if (state === "retrying" && retry) {
      return t("d.retryingIn", { time: format.duration(Math.max(0, Math.ceil(retry - Date.now() / 1000))) });
    }
    if (state === "waiting_for_network") return t("d.network", { time: format.time(since) });
    return state === "waiting" && position ? t("d.waitingAt", { n: position }) : t(`d.${state}`);
  }

  head() {
    const { task, t, format } = this;
    const { bytes } = format;
    say(this.name, nameOf(task));
    say(this.state, this.stateText(task));
    this.root.dataset.state = task.state === "completed" && task.digests.length ? "verified" : task.state;
    const { error } = task;
    show(this.error, Boolean(error) && task.state !== "completed");
    if (error) {
      say(this.error.children[0], sentence(error.message));
      const next = `d.next.${error.step}`;
      say(this.error.children[1], [known(next) ? t(next) : "", error.starts_over ? t("d.startsOver") : ""].filter(Boolean).join(" "));
    }
    const { pause, resume, retry, link, credentials, place } = this.buttons;
    const focused = document.activeElement;
    show(pause, !ENDED.includes(task.state) && task.state !== "paused");
    show(resume, task.state === "paused");
    const isMissing = task.state === "completed" && task.file === "missing";
    show(retry, AGAIN.includes(task.state) || isMissing);
    say(retry, t(`d.${isMissing ? "again" : task.state === "retrying" ? "retryNow" : "retry"}`));
    show(link, task.state !== "completed" && !task.files);
    const { step, needed = [] } = error ?? {};
    show(credentials, task.state !== "completed" && (["credentials", "access"].includes(step) || needed.includes("user")));
    show(place, task.state !== "completed" && step === "place");
    // What the step asks for comes before another try without it.
    credentials.classList.toggle("primary", !credentials.hidden && step !== "access");
    place.classList.toggle("primary", !place.hidden);
    retry.classList.toggle("primary", !credentials.classList.contains("primary") && place.hidden);
    show(this.graphed, RUNNING.includes(task.state) || this.graph.samples.length > 0);
    // The button that was pressed gives its focus to the one that takes its place.
    if (focused?.hidden) [resume, pause, retry, link].find((button) => !button.hidden)?.focus();

    const ended = task.state === "completed";
    const took = (task.finished ?? 0) - (task.started ?? 0);
    const [arrived, speed, left, connections] = this.figures;
    const done = bytes(task.bytes_done);
    say(arrived.value, task.size === undefined ? done
      : `${this.percent(task.bytes_done, task.size)} · ${t("d.of", { done, size: bytes(task.size) })}`);
    for (const figure of [speed, left, connections]) {
      show(figure.element, RUNNING.includes(task.state) || (ended && figure !== connections));
    }
    say(speed.label, t(ended ? "d.mean" : "d.speed"));
    const rate = ended && took > 0 ? task.size / took : task.bytes_per_second;
    say(speed.value, rate === undefined ? "–" : format.speed(rate));
    say(left.label, t(ended ? "d.took" : "d.left"));
    const seconds = ended ? took : task.seconds_left;
    say(left.value, seconds === undefined ? "–"
      : ended && took < 1 ? t("d.ms", { n: Math.round(took * 1000) }) : format.duration(seconds));
    say(connections.value, task.connections ?? "–");
  }

  /** Never 100 % before all is there. */
  percent(part, whole) {
    return this.percents.format(part >= whole ? 1 : Math.floor((part / whole) * 1000) / 1000);
  }

  render() {
    this.root.classList.remove("loading");
    this.head();
    // A data set has files in place of a map, and each of them has its own connections.
    show(this.mapped, !this.task.files);
    this.files.update(this.task);
    if (!this.task.files) this.renderMap();
    this.renderConnections();
    this.renderServers();
    this.renderFacts();
    this.timeline();
  }

  renderMap() {
    const { data, task, t } = this;
    const { bytes } = this.format;
    const { size } = task;
    const fetched = RUNNING.includes(task.state);
    const complete = task.state === "completed";
    const gone = task.file === "missing";
    const verified = complete && task.digests.length > 0 && !gone && task.file !== "changed";
    const segments = gone ? [] : complete && size ? [{ start: 0, end: size }] : data.segments ?? [];
    const connections = (fetched && data.connections || []).map(
      ({ server = 0, start = 0, end = start, position = start }) => ({ server, start, end, position }));
    const verifying = data.verifying ?? [];
    this.map.set({ id: task.id, size, segments, verifying, connections, verified, lanes: fetched });
    for (const part of [this.track, this.place, this.legend]) show(part, Boolean(size));

    const pieces = merged(segments);
    const sum = (ranges) => ranges.reduce((total, range) => total + range.end - range.start, 0);
    const there = sum(pieces);
    const texts = [];
    if (size) {
      const plural = (key, n) => n > 1 ? key : `${key}${n}`;
      const n = pieces.length;
      texts.push(t(plural("d.mapText", n), { percent: this.percent(there, size), size: bytes(size), n }));
      if (verifying.length) texts.push(t("d.mapUnchecked", { bytes: bytes(sum(merged(verifying))) }));
      const busy = connections.filter((each) => each.position < each.end).length;
      if (there < size) texts.push(t(plural("d.mapMissing", busy), { bytes: bytes(size - there), n: busy }));
    } else {
      texts.push(t(task.bytes_done > 0 ? "d.mapUnknown" : "d.mapNoSize", { done: bytes(task.bytes_done) }));
    }
    say(this.mapText, texts.join(" "));
    if (this.map.byte === null) this.pointed(null);
    else if (size) this.pointed(this.map.describe(Math.min(this.map.byte, size - 1)));

    const several = (data.servers?.length ?? 0) > 1;
    const used = [...new Set(connections.filter((each) => each.position < each.end).map((each) => each.server))].sort();
    const items = [
      ...(verified ? [{ id: 1, state: THERE, verified, text: "verifiedKey" }] : [{ id: 0, state: NONE, text: "none" }]),
      ...used.map((server) => ({ id: server + 10, state: ASKED, server, text: several ? "askedOf" : "asked" })),
      ...(verified ? []
        : [{ id: 2, state: NONE, part: true, text: "part" }, { id: 3, state: THERE, text: "there" }]),
      ...(verifying.length ? [{ id: 4, state: UNCHECKED, text: "unchecked" }] : []),
    ];
    list(this.legend, items, (item) => item.id, (item) => {
      const { element, destroy } = new Swatch(item.state, item);
      const label = h("span");
      return { element: h("li", {}, element, label), label, destroy };
    }, (row, item) => say(row.label, t(`d.${item.text}`, { n: item.server + 1 })));
  }

  pointed(place) {
    const { t, track } = this;
    const { bytes } = this.format;
    if (!place) {
      say(this.place, t("d.mapHint"));
      this.light(null);
      return;
    }
    const { state, start, end, index, verified } = place;
    const connection = this.data.connections?.[index];
    const server = this.data.servers?.[connection?.server];
    const what = state === UNCHECKED ? "Unchecked" : state === NONE ? "None" : state === ASKED ? "Asked"
      : verified ? "Verified" : connection && place.byte < connection.position ? "From" : "There";
    const words = t(`d.is${what}`, { c: index + 1, s: connection?.server + 1, host: host(server?.url) });
    const exact = t("d.bytes", { from: this.number.format(start), to: this.number.format(end - 1) });
    say(this.place, `${t("d.at", { from: bytes(start), to: bytes(end), what: words })} (${exact})`);
    track.setAttribute("aria-valuenow", Math.round((place.byte / this.task.size) * 100));
    track.setAttribute("aria-valuetext", this.place.textContent);
    this.light(index >= 0 ? index : null);
  }

  /** Shows a connection both on the map and in the table. */
  light(index) {
    this.map.highlight(index);
    for (const [key, row] of this.connections.body.kept ?? []) row.element.classList.toggle("lit", key === index);
  }

  renderConnections() {
    const { t, format } = this;
    const { bytes } = format;
    const trips = new Intl.NumberFormat(language, { maximumSignificantDigits: 2 });
    const several = (this.data.servers?.length ?? 0) > 1;
    this.connections.fill((RUNNING.includes(this.task.state) && this.data.connections || []).map((each) => {
      const { start, end, position = start } = each;
      return {
        // Where it is narrow, the server stands below the state.
        state: [this.word("c.", each.state), several && each.server !== undefined ? `${t("d.server")} ${each.server + 1}` : ""],
        server: each.server === undefined ? "–" : each.server + 1,
        range: end > start ? [`${bytes(start)} – ${bytes(end)}`, t("d.toGo", { n: bytes(end - position) }),
          (position - start) / (end - start)] : ["–", ""],
        rate: each.state === "receiving" ? format.speed(each.bytes_per_second ?? 0) : "–",
        roundTrip: each.round_trip === undefined ? "–" : t("d.ms", { n: trips.format(each.round_trip * 1000) }),
        address: each.address, http: each.http_version,
      };
    }), (row, index) => {
      row.addEventListener("pointerenter", () => this.light(index));
      row.addEventListener("pointerleave", () => this.light(null));
    });
  }

  renderServers() {
    const servers = this.data.servers ?? [];
    const total = servers.reduce((sum, server) => sum + server.bytes, 0);
    this.servers.fill(servers.map((server) => ({
      dropped: server.state === "dropped",
      server: [host(server.url), server.url.replace(/^[a-z]+:\/\/[^/]*/i, "")],
      state: [this.word("s.", server.state), sentence(server.message)],
      brought: this.format.bytes(server.bytes),
      share: [total ? this.percents.format(server.bytes / total) : "–", "", total ? server.bytes / total : 0],
    })));
  }

  renderFacts() {
    const { data, task, t } = this;
    const { bytes } = this.format;
    const size = task.size === undefined ? t("d.unknown")
      : t("d.sizeBytes", { size: bytes(task.size), n: this.number.format(task.size) });
    const when = (time) => time && this.stamp(time, true);
    this.pairs(this.facts, {
      [task.path ? "path" : "folder"]: task.path ?? task.folder, size, type: task.type,
      digests: task.digests.length || task.state !== "completed" || task.files ? task.digests : t("d.noDigests"),
      tags: task.tags.join(", "), added: when(task.added), started: when(task.started),
      lastByte: task.state !== "completed" && when(task.last_byte), finished: when(task.finished),
      attempts: task.attempts, id: task.id,
    });
    this.pairs(this.source, {
      links: data.urls, currentUrl: task.current_url, finalUrl: data.final_url !== data.urls[0] && data.final_url,
      identity: data.identity && this.word("i.", data.identity), ETag: data.etag, "Last-Modified": data.last_modified,
    });
  }

  pairs(parent, pairs) {
    const there = Object.entries(pairs).map(([key, value]) => ({ key, values: [value].flat().filter(Boolean) }))
      .filter(({ values }) => values.length);
    list(parent, there, (pair) => pair.key, ({ key }) => {
      return { element: h(`div.f-${key}`, {}, h("dt", {}, this.word("", key))) };
    }, ({ element }, { values }) => {
      while (element.children.length > values.length + 1) element.lastChild.remove();
      while (element.children.length < values.length + 1) element.append(h("dd"));
      values.forEach((value, index) => say(element.children[index + 1], value));
    });
  }

  stamp(time, day = false) {
    const date = new Date(time * 1000);
    const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
    if (day || date.toDateString() !== new Date().toDateString()) {
      Object.assign(clock, { year: "numeric", month: "short", day: "numeric" });
    }
    return date.toLocaleString(language, clock);
  }

  timeline() {
    const { t } = this;
    const groups = [];
    for (const event of this.data.events ?? []) {
      const last = groups.at(-1);
      if (last && last.event === event.event) last.all.push(event);
      else groups.push({ event: event.event, key: `${event.time} ${event.event}`, all: [event] });
    }
    groups.reverse();
    const visible = this.allEvents ? groups : groups.slice(0, 30);
    say(this.more, t("d.showAll", { n: groups.length }));
    show(this.more, visible.length < groups.length);
    this.root.classList.toggle("no-events", groups.length === 0);
    const bad = ["checksum_mismatch", "damaged", "response_refused", "mirror_dropped", this.task.error?.kind];
    list(this.events, visible, (group) => group.key, (group) => {
      const [message, repeats] = [h("p", { lang: "en" }), h("ul", { lang: "en" })];
      const row = { time: h("time"), message, times: h("summary"), repeats };
      row.details = h("details", {}, row.times, row.repeats);
      row.element = h("li", {}, row.time, h("div", {}, row.message, row.details));
      return row;
    }, (row, { all, event }) => {
      const last = all.at(-1);
      row.element.classList.toggle("bad", bad.includes(event));
      row.time.dateTime = new Date(last.time * 1000).toISOString();
      say(row.time, this.stamp(last.time));
      say(row.message, sentence(last.message));
      show(row.details, all.length > 1);
      if (all.length === 1) return;
      say(row.times, t("d.times", { n: this.number.format(all.length), time: this.stamp(all[0].time) }));
      list(row.repeats, all.slice(0, -1), (event, index) => index, () => ({ element: h("li") }),
        ({ element }, event) => say(element, `${this.stamp(event.time)} ${sentence(event.message)}`));
    });
  }
}
