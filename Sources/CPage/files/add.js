// Adding tasks: the form of the dialog, and of the page that has no tasks.
import { check, choice, clearWrongs, complain, field, h, notice, rateField, say, Wrong, wrongLine } from "./dom.js";
import { nameOf } from "./format.js";
import { stateOf } from "./list.js";
import { t } from "./texts.js";

/** The links in a text, each once, and the lines that have none. */
export function linksOf(text) {
  const links = new Set();
  const rest = [];
  for (const line of text.split(/\r?\n/)) {
    const found = line.match(/https?:\/\/[^\s<>"']+/gi);
    if (found) found.forEach((link) => links.add(link));
    else if (line.trim() && !line.trim().startsWith("#")) rest.push(line.trim());
  }
  return { links: [...links], rest };
}

/** A checksum as the service wants it; undefined for none, null for what is none. */
function checksumOf(text) {
  const plain = text.trim().toLowerCase();
  if (!plain) return undefined;
  if (/^[a-z0-9-]+[:=][0-9a-f]+$/.test(plain)) return plain.replace("=", ":");
  const name = { 32: "md5", 40: "sha-1", 64: "sha-256", 128: "sha-512" }[plain.length];
  return name && /^[0-9a-f]+$/.test(plain) ? `${name}:${plain}` : null;
}

export const listOf = (text) => text.split(",").map((each) => each.trim()).filter(Boolean);

/** A number of connections as the service wants it; undefined for none. */
export function connectionsOf(input) {
  const plain = input.value.trim();
  if (!plain) return undefined;
  const [, count] = /^(?:auto:)?(\d+)$/.exec(plain) ?? [];
  if (plain !== "auto" && !(count >= 1 && count <= 64)) throw new Wrong(input, t("wrong.connections"));
  return /^\d+$/.test(plain) ? Number(plain) : plain;
}

export class AddForm {
  constructor({ api, act, done, folder }) {
    Object.assign(this, { api, act, done, folder, turn: 0 });
    this.build();
    this.changed();
  }

  build() {
    const text = (attributes = {}) => h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...attributes });
    this.links = h("textarea.links", {
      rows: 1, spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off", autofocus: true,
      placeholder: "https://…", oninput: () => this.changed(),
      // One link needs no second line; Shift+Enter begins one.
      onkeydown: (event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing || this.links.value.trim().includes("\n")) return;
        event.preventDefault();
        this.element.requestSubmit();
      },
    });
    this.file = h("input", { type: "file", accept: "text/*,.txt,.urls,.list,.csv,.md", hidden: true, tabindex: -1, onchange: () => this.read(this.file.files) });
    this.skipped = h("p.hint");
    this.several = h("fieldset.radios", { hidden: true }, h("legend", {}, t("several")),
      ...["tasks", "mirrors"].map((value) => h("label.check", {}, h("input", {
        type: "radio", name: "several", value, checked: value === "tasks", onchange: () => this.changed(),
      }), t(value === "tasks" ? "asTasks" : "asMirrors"))));
    this.knownList = h("ul");
    this.again = check(t("again"));
    this.known = h("div.known", { hidden: true }, this.knownList, this.again.element);
    this.begin = choice(["queue", "start", "first", "paused"].map((key) => [key, t(`b.${key}`)]), "queue");
    this.tags = text({ placeholder: "iso, linux" });
    this.dir = text();
    this.name = text();
    this.checksum = text({ placeholder: "sha-256:…" });
    this.rate = rateField(t("rate"));
    this.connections = text({ placeholder: "auto" });
    this.agent = text();
    this.referer = text();
    this.user = text();
    this.password = h("input", { type: "password", autocomplete: "new-password" });
    this.headers = h("textarea", { rows: 2, spellcheck: "false", placeholder: "X-Name: value" });
    this.dirField = field(t("folder"), this.dir, " ");
    this.nameField = field(t("name"), this.name, t("nameHint"));
    this.sumField = field(t("checksum"), this.checksum, t("checksumHint"));
    this.more = h("details", {}, h("summary", {}, t("moreOptions")), h("div.fields", {},
      this.dirField, field(t("begin"), this.begin), this.nameField, this.sumField,
      h("div.whole", {}, field(t("tags"), this.tags, t("tagHint"))),
      field(t("connections"), this.connections, t("connectionsHint").split(/ (?:Empty|Leer)/)[0]),
      h("div.field", {}, h("span.label", {}, t("rate")), this.rate.element),
      field(t("userAgent"), this.agent), field(t("referer"), this.referer),
      field(t("userName"), this.user), field(t("password"), this.password), h("div.whole", {}, field(t("headers"), this.headers)),
      h("div.whole", {}, h("button", { type: "button", onclick: () => this.file.click() }, t("openFile")))));
    this.send = h("button.primary", {}, t("add"));
    this.cancel = h("button", { type: "button", onclick: () => this.done(false) }, t("cancel"));
    const labelled = field(t("links"), this.links);
    this.element = h("form.add-form", { novalidate: true, onsubmit: (event) => this.submit(event), onkeydown: (event) => {
      if (event.key === "Enter" && !event.defaultPrevented && (event.ctrlKey || event.metaKey)) this.element.requestSubmit();
    } },
      h("div.dialog-body", {}, labelled, this.file, this.skipped, this.several, this.known,
        this.more), wrongLine(),
      h("div.dialog-foot", {}, this.cancel, this.send));
  }

  /** Puts the form into a place; without a dialog there is nothing to cancel. */
  place(parent, title) {
    if (this.element.parentElement !== parent) parent.append(this.element);
    this.cancel.hidden = !title;
    const path = this.folder();
    say(this.dirField.querySelector(".hint"), path ? t("folderHint", { folder: path }) : "");
  }

  prefill(text) {
    const before = this.links.value.trim();
    this.links.value = [...before ? [before] : [], text.trim()].join("\n");
    this.changed();
  }

  async read(files) {
    try {
      for (const file of files) {
        if (file.size > 4 << 20) throw new Error("too large");
        const text = await file.text();
        if (text.includes("\0")) throw new Error("no text");
        this.prefill(text);
      }
    } catch {
      complain(this.element, new Wrong(this.links, t("noFile")));
    }
    this.file.value = "";
  }

  get mirrors() {
    return this.parsed.links.length > 1 && this.several.querySelector(":checked").value === "mirrors";
  }

  changed() {
    this.parsed = linksOf(this.links.value);
    const { links, rest } = this.parsed;
    const tasks = this.mirrors ? 1 : links.length;
    clearWrongs(this.element);
    say(this.skipped, rest.length ? t("skipped", { n: rest.length, line: rest[0].slice(0, 60) }) : "");
    this.skipped.hidden = rest.length === 0;
    this.several.hidden = links.length < 2;
    say(this.send, tasks > 1 ? t("adds", { n: tasks }) : t("add"));
    // A name and a checksum are those of one file.
    for (const each of [this.nameField, this.sumField]) each.hidden = tasks > 1;
    const lines = this.links.value.split("\n").length;
    this.links.rows = lines === 1 ? 1 : Math.min(10, lines + 1);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), 300);
  }

  /** Says which of the links are there already. */
  async look() {
    const turn = this.turn += 1;
    const found = [];
    for (const link of this.parsed.links.slice(0, 40)) {
      const bare = (url) => url.replace(/^(https?:\/\/)[^/@]*@/i, "$1");
      // URLs in answers have no query and no user.
      const plain = bare(link).replace(/[?#].*$/, "");
      try {
        const { tasks } = await this.api.get(`api/v2/tasks?limit=100&text=${encodeURIComponent(plain)}`);
        const alike = tasks.filter((task) => task.url === plain);
        const links = await this.api.linksOf(alike.map((task) => task.id));
        found.push(...alike.filter((task) => bare(links.get(task.id)?.url ?? "") === bare(link)));
      } catch {
        break;
      }
      if (turn !== this.turn) return;
    }
    this.known.hidden = found.length === 0;
    this.knownList.replaceChildren(...found.slice(0, 5).map((task) =>
      h("li", {}, t("known", { name: nameOf(task), state: stateOf(task)[0] }))));
    if (found.length > 5) this.knownList.append(h("li", {}, t("andMore", { n: found.length - 5 })));
  }

  commands() {
    const { links } = this.parsed;
    const root = this.folder();
    const checksum = this.nameField.hidden ? undefined : checksumOf(this.checksum.value);
    if (links.length === 0) throw new Wrong(this.links, t("noLinks"));
    if (checksum === null) throw new Wrong(this.checksum, t("wrong.checksum"));
    const access = {};
    if (this.agent.value.trim()) access.user_agent = this.agent.value.trim();
    if (this.referer.value.trim()) access.referer = this.referer.value.trim();
    if (this.user.value) access.credentials = { user: this.user.value, password: this.password.value };
    const options = {};
    const headers = this.headers.value.split("\n").map((line) => line.trim()).filter(Boolean);
    const connections = connectionsOf(this.connections);
    if (headers.length) options.headers = headers;
    if (connections !== undefined) options.connections = connections;
    if (this.rate.value > 0) options.limits = { rate: this.rate.value };
    if (Object.keys(access).length) options.access = access;
    if (checksum) options.checksum = checksum;
    if (this.mirrors) options.mirrors = links.slice(1);
    const shared = { root };
    const folder = this.dir.value.trim().replace(/\/+$/, "");
    // Another place than the download folder is allowed by the service, or refused.
    if (folder.startsWith(`${root}/`)) shared.folder = folder.slice(root.length + 1);
    else if (folder.startsWith("/")) shared.root = folder;
    else if (folder) shared.folder = folder;
    else shared.known_anywhere = true;
    if (!this.nameField.hidden && this.name.value.trim()) shared.name = this.name.value.trim();
    if (this.tags.value.trim()) shared.tags = listOf(this.tags.value);
    if (this.begin.value === "paused") shared.paused = true;
    if (!this.known.hidden && this.again.box.checked) shared.again = true;
    if (Object.keys(options).length) shared.options = options;
    const commands = (this.mirrors ? links.slice(0, 1) : links).map((url) => ({ command: "add", url, ...shared }));
    if (this.begin.value !== "first") return commands;
    // Each goes before the one that was added before it.
    return commands.reverse().map((command) => ({ ...command, position: "first" }));
  }

  async submit(event) {
    event.preventDefault();
    clearWrongs(this.element);
    this.send.disabled = true;
    try {
      const commands = this.commands();
      const results = [];
      // A body has at most 2 MiB.
      for (let from = 0; from < commands.length; from += 1000) results.push(...await this.api.send(commands.slice(from, from + 1000)));
      const flat = results.map(([result]) => result);
      const ids = flat.filter((result) => result.outcome === "done").map((result) => result.id);
      const known = flat.filter((result) => result.outcome !== "refused" && (result.outcome === "unchanged" || result.known?.id === result.id));
      const fresh = flat.length - known.length - flat.filter((result) => result.outcome === "refused").length;
      const refused = flat.map((result, index) => ({ ...result, url: commands[index].url })).filter((result) => result.outcome === "refused");
      if (ids.length && this.begin.value === "start") await this.act({ command: "start", ids });
      if (refused.length) {
        // What was refused stays in the box, to be mended.
        this.links.value = refused.map((result) => result.url).join("\n");
        this.changed();
        const message = [...new Set(refused.map((result) => result.message))].slice(0, 3).join(" ");
        throw Object.assign(new Error(message), { member: refused[0].member });
      }
      this.clear();
      this.done(true);
      const words = [fresh ? t("added", { n: fresh }) : "", known.length ? t("knew", { n: known.length }) : ""].filter(Boolean);
      notice(words.join(", "), { lines: [...new Set(known.map((result) => result.message).filter(Boolean))].slice(0, 2) });
    } catch (error) {
      complain(this.element, error, {
        url: this.links, mirrors: this.links, root: this.dir, folder: this.dir, name: this.name, tags: this.tags,
        checksum: this.checksum, connections: this.connections, rate: this.rate.number, user_agent: this.agent,
        referer: this.referer, credentials: this.user, user: this.user, password: this.password, headers: this.headers,
      });
    } finally {
      this.send.disabled = false;
    }
  }

  /** Forgets all that was filled in. */
  clear() {
    this.turn += 1;
    this.element.reset();
    this.more.open = false;
    this.known.hidden = true;
    this.changed();
  }
}
