// What is done with tasks: commands, the seconds in which a removal can be undone, and the dialogs that ask first.
import { connectionsOf, listOf } from "./add.js";
import { check, dialog, field, h, menu, notice, rateField, reasonOf, Wrong } from "./dom.js";
import { bytes, nameOf } from "./format.js";
import { AGAIN, ENDED, RUNNING, WAITING } from "./states.js";
import { t } from "./texts.js";

const UNDO = 5000;

/** A command for each of so many tasks as one may name. */
const forEach = (ids, command) => Array.from(
  { length: Math.ceil(ids.length / 1000) }, (_, part) => ({ ...command, ids: ids.slice(1000 * part, 1000 * (part + 1)) }));

/** Whether a task is complete and its file is gone. */
export const isMissing = (task) => task.state === "completed" && task.file === "missing";

/** Which actions mean something for a task. */
const FITS = {
  start: (task) => !RUNNING.includes(task.state) && task.state !== "completed",
  resume: (task) => ["paused", "failed", "cancelled"].includes(task.state),
  pause: (task) => task.state !== "paused" && !ENDED.includes(task.state),
  retry: (task) => AGAIN.includes(task.state) || isMissing(task),
  cancel: (task) => !ENDED.includes(task.state),
  move: (task) => Boolean(task.position) && !ENDED.includes(task.state),
  change: (task) => task.state !== "completed",
  // The links of a data set are those of its plan, and its files stay where they are.
  link: (task) => !task.files,
  rename: (task) => !task.files,
};

/** What a row offers: the first action that fits, and what fits always. */
export function actionsOf(task) {
  const first = (ENDED.includes(task.state) ? ["retry"] : ["pause", "resume"]).find((name) => FITS[name](task));
  const words = (name) => t(name === "retry" && isMissing(task) ? "a.again" : `a.${name}`);
  return [...first ? [first] : [], "remove", "more"].map((name) => [name, words(name)]);
}

/** The states in which `pauseAll` and `resumeAll` find tasks. */
export const ALL = { pauseAll: [...WAITING, ...RUNNING], resumeAll: ["paused"] };

export class Acts {
  /** `changed` is called after commands were carried out. */
  constructor({ api, list, changed, open }) {
    Object.assign(this, { api, list, changed, open, removals: new Set() });
    addEventListener("pagehide", () => {
      for (const removal of this.removals) removal.send(true);
    });
  }

  /** Sends commands as one request, and shows what was refused. Answers their results, or nothing if that failed. */
  async run(commands, { loud = false } = {}) {
    let results;
    try {
      results = await this.api.send(commands);
    } catch (error) {
      if (loud) throw error;
      if (error.status !== 401) notice(t("notSent", { reason: reasonOf(error) }), { bad: true });
      return undefined;
    }
    const refused = results.flat().filter((result) => result.outcome === "refused");
    if (refused.length) {
      const words = [...new Set(refused.map(reasonOf))];
      const lines = words.slice(0, 4);
      if (words.length > 4) lines.push(t("andMore", { n: words.length - 4 }));
      notice(t("refused", { n: refused.length }), { bad: true, seconds: 12, lines });
    }
    this.changed();
    return results;
  }

  can(name) {
    const { list } = this;
    if (!list.selected()) return false;
    const known = list.known();
    // What is not loaded may be anything.
    return known.length < list.selected() || known.some(FITS[name] ?? (() => true));
  }

  /** The text of an action: what is downloaded again was no failure. */
  text(name) {
    const fit = name === "retry" ? this.list.known().filter(FITS.retry) : [];
    return t(fit.length && fit.every(isMissing) ? "a.again" : `a.${name}`);
  }

  /** Carries out an action for what is selected. */
  async act(name) {
    const { list } = this;
    if (!list.selected()) return;
    if (["start", "resume", "pause", "retry"].includes(name)) await this.run([{ command: name, ...await list.target() }]);
    else if (["first", "last"].includes(name)) await this.run([{ command: "move", to: name, ...await list.target() }]);
    else await this[name]();
  }

  /** Carries out an action of a row, for its task alone. */
  async one(name, task, button) {
    if (name === "more") {
      const index = this.list.tasks.indexOf(task) + this.list.offset;
      if (!this.list.has(task)) this.list.pick(index);
      this.menu(button);
    } else if (name === "remove") await this.remove([task.id]);
    else await this.run([{ command: name, ids: [task.id] }]);
  }

  /** Pauses all tasks, or resumes all that are paused; what has ended stays. */
  async all(name) {
    await this.run([{ command: name.replace("All", ""), all: true, states: ALL[name] }]);
  }

  async remove(only) {
    const { list } = this;
    const ids = only ?? await list.chosen();
    const n = ids.length;
    ids.forEach((id) => list.going.add(id));
    let timer, done = false;
    const end = () => {
      clearTimeout(timer);
      done = true;
      this.removals.delete(removal);
      forget();
    };
    const removal = {
      send: async (leaving) => {
        if (done) return;
        end();
        const commands = forEach(ids, { command: "remove" });
        // A browser lets 64 KiB go out after a page: about three thousand ids. What does not go out stays.
        if (leaving) for (const each of commands) this.api.send([each], { keepalive: true }).catch(() => {});
        else this.sayLeft(await this.run(commands));
        ids.forEach((id) => list.going.delete(id));
      },
      undo: () => {
        if (done) return;
        end();
        ids.forEach((id) => list.going.delete(id));
        list.render();
      },
    };
    this.removals.add(removal);
    timer = setTimeout(() => removal.send(false), UNDO);
    const forget = notice(t("removed", { n }), { seconds: 0, action: { text: t("undo"), act: removal.undo } });
    if (only) ids.forEach((id) => list.ids.delete(id));
    else list.clear();
    list.picked();
  }

  /** Says which parts of removed tasks stay on the disk. */
  sayLeft(results = []) {
    const parts = results.flat().flatMap((result) => result.left ?? []);
    if (parts.length === 0) return;
    const size = bytes(parts.reduce((sum, part) => sum + part.bytes, 0));
    notice(t("partsStay", { n: parts.length, size }), {
      lines: [...parts.slice(0, 3).map((part) => part.path), t("partsHint")],
    });
  }

  /** Takes back the last removal that was not sent yet. */
  undo() {
    [...this.removals].at(-1)?.undo();
  }

  async removeFiles() {
    await this.confirm("files", await this.list.chosen(), { command: "remove", files: true });
  }

  async cancel() {
    await this.confirm("cancel", await this.list.chosen(), { command: "cancel" });
  }

  async confirm(kind, ids, command) {
    const known = this.list.known();
    const names = known.slice(0, 5).map((task) => h("li", {}, nameOf(task)));
    const n = ids.length;
    if (n > names.length) names.push(h("li", {}, t("andMore", { n: n - names.length })));
    await dialog({
      title: t(`${kind}Title`, { n }), danger: true, button: t(`${kind}Do`), close: t("keep"),
      body: [h("p", {}, t(`${kind}Note`)), h("ul.names", {}, ...names)],
      submit: () => this.run(forEach(ids, command), { loud: true }),
    });
  }

  /** Moves what is selected by one place. */
  async step(by) {
    const moved = this.list.known().filter(FITS.move);
    if (moved.length === 0) return;
    const places = moved.map((task) => task.position);
    await this.run([{ command: "move", to: Math.max(1, Math.min(...places) + by), ids: moved.map((task) => task.id) }]);
  }

  up() {
    return this.step(-1);
  }

  down() {
    return this.step(1);
  }

  move(ids, to) {
    return this.run([{ command: "move", ids, to }]);
  }

  async rename(task) {
    const target = task ? { ids: [task.id] } : await this.list.target();
    const one = task ?? (this.list.selected() === 1 ? this.list.known()[0] : undefined);
    const name = h("input", { type: "text", value: one ? nameOf(one) : "", spellcheck: "false" });
    const folder = h("input", { type: "text", placeholder: one?.folder ?? "", spellcheck: "false" });
    const before = name.value;
    // The name without its suffix is what is mostly changed.
    name.addEventListener("focus", () => name.setSelectionRange(0, before.lastIndexOf(".") > 0 ? before.lastIndexOf(".") : before.length), { once: true });
    await dialog({
      title: t("a.rename").replace("…", ""), button: t("save"),
      body: [one ? field(t("name"), name) : null, field(t("folder"), folder, t("folderKeep"))].filter(Boolean),
      members: { name, folder, root: folder },
      submit: async () => {
        const change = {};
        if (one && name.value.trim() && name.value !== before) change.name = name.value.trim();
        if (folder.value.trim()) change.folder = folder.value.trim();
        if (Object.keys(change).length === 0) return;
        await this.loud([{ command: "rename", ...target, ...change },
          ...task && FITS.retry(task) ? [{ command: "retry", ...target }] : []]);
      },
    });
  }

  /** Commands of a dialog: the first refusal is shown there. */
  async loud(commands) {
    const results = await this.api.send(commands);
    this.changed();
    const refused = results.flat().find((result) => result.outcome === "refused");
    if (refused) throw Object.assign(new Error(reasonOf(refused)), { member: refused.member });
  }

  async link() {
    const [task] = this.list.known();
    const target = await this.list.target();
    const links = h("textarea.links", { rows: 3, spellcheck: "false", wrap: "off", placeholder: "https://…" });
    await dialog({
      title: t("linkTitle", { name: nameOf(task) }), button: t("save"), body: [field(t("linkLabel"), links, t("linkHint"))],
      members: { url: links, urls: links },
      submit: async () => {
        const urls = links.value.split(/\s+/).filter(Boolean);
        if (urls.length === 0 || !urls.every((url) => /^https?:\/\/[^/]/i.test(url))) throw new Wrong(links, t("linkWrong"));
        await this.loud([{ command: "set", urls, ...target },
          ...FITS.retry(task) ? [{ command: "retry", ...target }] : []]);
      },
    });
  }

  /** Asks for user and password of tasks: of those that are selected, where none are given. */
  async credentials(ids) {
    const target = ids ? { ids } : await this.list.target();
    const failed = (ids ? this.list.tasks.filter((task) => ids.includes(task.id)) : this.list.known()).filter(FITS.retry);
    const user = h("input", { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    const password = h("input", { type: "password", autocomplete: "new-password" });
    await dialog({
      title: t("credentialsTitle"), button: t(failed.length ? "credentialsRetry" : "save"),
      body: [field(t("userName"), user), field(t("password"), password, t("credentialsHint"))],
      members: { user, password },
      submit: async () => {
        if (!user.value) throw new Wrong(user, t("userMissing"));
        if (user.value.includes(":")) throw new Wrong(user, t("userColon"));
        await this.loud([{ command: "set", user: `${user.value}:${password.value}`, ...target },
          ...failed.length ? [{ command: "retry", ids: failed.map((task) => task.id) }] : []]);
      },
    });
  }

  async limits() {
    const target = await this.list.target();
    const rate = rateField(t("rate"));
    const change = check(t("setRate"));
    rate.element.addEventListener("input", () => {
      change.box.checked = true;
    });
    const connections = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
    await dialog({
      title: t("limitsOf"), button: t("save"),
      body: [h("div.field", {}, change.element, rate.element, h("p.hint", {}, t("rateHint"))), field(t("connections"), connections, t("connectionsHint"))],
      members: { connections, rate_limit: rate.number },
      submit: async () => {
        const set = {};
        if (change.box.checked) set.rate_limit = rate.value;
        if (connections.value.trim()) set.connections = connectionsOf(connections);
        if (Object.keys(set).length) await this.loud([{ command: "set", ...target, ...set }]);
      },
    });
  }

  async tag() {
    const target = await this.list.target();
    const there = [...new Set(this.list.known().flatMap((task) => task.tags))];
    const add = h("input", { type: "text", autocomplete: "off" });
    const away = there.map((tag) => [tag, check(tag)]);
    await dialog({
      title: t("tags"), button: t("save"), members: { add },
      body: [field(t("tagAdd"), add, t("tagHint")),
        away.length ? h("fieldset.radios", {}, h("legend", {}, t("tagRemove")), ...away.map(([, each]) => each.element)) : null].filter(Boolean),
      submit: async () => {
        const command = { command: "tag", ...target };
        const remove = away.filter(([, each]) => each.box.checked).map(([tag]) => tag);
        if (listOf(add.value).length) command.add = listOf(add.value);
        if (remove.length) command.remove = remove;
        if (command.add || command.remove) await this.loud([command]);
      },
    });
  }

  async copy() {
    const ids = this.list.known().map((task) => task.id);
    let links;
    try {
      links = await this.api.linksOf(ids);
    } catch (error) {
      if (error.status !== 401) notice(t("notSent", { reason: reasonOf(error) }), { bad: true });
      return;
    }
    await navigator.clipboard?.writeText(ids.map((id) => links.get(id)?.urls[0]).filter(Boolean).join("\n"));
    notice(t("copied"), { seconds: 3 });
  }

  /** The menu of what is selected, at a point or below an element. */
  menu(at) {
    const { list } = this;
    const single = list.selected() === 1;
    const item = (name, more = {}) => ({ text: this.text(name), act: () => this.act(name), disabled: !this.can(name), ...more });
    const moves = list.sort === "order";
    menu([
      { text: t("a.open"), icon: "info", key: "↵", disabled: !single, act: () => this.open(list.known()[0].id) },
      null,
      item("start", { icon: "start" }), item("resume"), item("pause", { icon: "pause" }), item("retry", { icon: "retry" }), item("cancel", { danger: true }),
      null,
      ...["first", "up", "down", "last"].map((name) => item(name, {
        icon: name, key: { up: "Alt ↑", down: "Alt ↓" }[name],
        disabled: !this.can("move") || list.everything && ["up", "down"].includes(name) || !moves && ["up", "down"].includes(name),
      })),
      null,
      item("rename", { key: "F2" }), item("link", { disabled: !single || !this.can("change") }),
      item("credentials", { disabled: !this.can("change") }), item("limits", { disabled: !this.can("change") }),
      item("tag"), item("copy", { disabled: list.everything || !navigator.clipboard }),
      null,
      item("remove", { icon: "remove", key: t("key.delete") }), item("removeFiles", { danger: true }),
    ], at, t("actions"));
  }
}

export const tools = ["resume", "pause", "retry", "remove"];
