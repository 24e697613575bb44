// The files of a data set in the view of its task: fetched when the task is opened, a part at a time.
import { h, put, say } from "./dom.js";
import { RUNNING } from "./states.js";

/** Files that are asked for at first, and with each press of the button. */
const PART = 100;
/** The states of files, those first that say most. */
const STATES = ["active", "failed", "missing", "complete"];

export class Files {
  constructor({ api, t, format }) {
    Object.assign(this, { api, t, format, turn: 0 });
    this.choice = h("select", { "aria-label": t("d.filesOf"), onchange: () => this.choose() });
    this.choice.append(h("option", { value: "" }, ""), ...STATES.map((state) => h("option", { value: state }, "")));
    this.rows = h("ul.f-list");
    this.note = h("p.hint");
    this.more = h("button", { type: "button", onclick: () => this.extend() });
    this.element = h("section.d-files", { "aria-labelledby": "d-files" },
      h("div.f-head", {}, h("h3", { id: "d-files" }, t("d.files")), this.choice), this.rows, this.note, this.more);
    this.element.hidden = true;
  }

  /** The task that is shown; `null` for none. */
  show(id) {
    Object.assign(this, { id, task: null, limit: PART, stamp: null });
    this.turn += 1;
    this.choice.value = "";
    this.element.hidden = true;
    this.rows.replaceChildren();
  }

  /** What is known of the task; its files are fetched if they may have changed. */
  update(task) {
    this.task = task;
    this.element.hidden = !task.files;
    if (!task.files) return;
    // While it runs, they change all the time.
    const stamp = `${task.state} ${task.files_done} ${task.files_failed}`;
    if (stamp === this.stamp && !RUNNING.includes(task.state)) return;
    this.stamp = stamp;
    this.load();
  }

  choose() {
    this.limit = PART;
    this.load();
  }

  extend() {
    this.limit += PART;
    this.load();
  }

  async load() {
    const turn = this.turn += 1;
    const { id, limit } = this;
    const state = this.choice.value && `&file_state=${this.choice.value}`;
    const answers = [];
    try {
      // The service answers at most 1000 files at a time.
      for (let from = 0; from < limit; from += 1000) {
        const path = `api/v2/tasks/${encodeURIComponent(id)}/files?offset=${from}&limit=${Math.min(1000, limit - from)}${state}`;
        answers.push(await this.api.get(path));
        if (turn !== this.turn) return;
        if (answers.at(-1).matching <= from + 1000) break;
      }
      this.draw(answers.flatMap((answer) => answer.files), answers.at(-1));
    } catch (error) {
      if (error.status === undefined) throw error;
      if (turn === this.turn) say(this.note, this.t("d.filesStale"));
    }
  }

  draw(files, { counts, matching }) {
    const { t, format } = this;
    const all = Object.values(counts).reduce((sum, n) => sum + n, 0);
    for (const option of this.choice.options) {
      const n = format.count(option.value ? counts[option.value] ?? 0 : all);
      say(option, option.value ? `${t(`d.f.${option.value}`)} (${n})` : t("d.allFiles", { n }));
    }
    while (this.rows.children.length > files.length) this.rows.lastChild.remove();
    while (this.rows.children.length < files.length) this.rows.append(this.row());
    files.forEach((file, index) => this.fill(this.rows.children[index], file));
    say(this.note, files.length ? "" : t("d.noFiles"));
    const rest = matching - files.length;
    this.more.hidden = rest <= 0;
    say(this.more, t("d.moreFiles", { n: format.count(Math.min(rest, PART)) }));
  }

  row() {
    return h("li", {}, h("span.f-name"), h("span.f-size"), h("span.f-state"),
      h("span.d-bar", { "aria-hidden": "true" }, h("span")), h("p.f-why", { lang: "en" }));
  }

  fill(row, { path, state, size, bytes_done: done, error }) {
    const { t, format } = this;
    const [name, length, word, bar, why] = row.children;
    put(row, "data-state", state);
    say(name, path);
    say(length, size === undefined ? "" : format.bytes(size));
    const share = size ? done / size : 0;
    say(word, state === "active" && size ? format.percent(share) : t(`d.f.${state}`));
    bar.hidden = state !== "active" || !size;
    bar.firstChild.style.width = `${share * 100}%`;
    why.hidden = !error;
    say(why, (error?.message ?? "").replace(/`([^`]*)`/g, "“$1”"));
  }
}
