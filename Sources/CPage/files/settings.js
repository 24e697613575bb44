// The dialogs of settings and help, and what this browser remembers.
import { choice, dialog, field, h, icon, notice, rateField, reasonOf, Wrong } from "./dom.js";
import { listOf } from "./add.js";
import { t } from "./texts.js";

/** One rule of the settings, as a row that can be changed. */
function ruleRow(rule, gone) {
  const span = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(rule.while);
  // A condition that this page does not know stays as it is.
  const other = !span && !["metered", "battery"].includes(rule.while);
  const kinds = ["metered", "battery", "span"].map((key) => [key, t(`w.${key}`)]);
  if (other) kinds.push(["other", rule.while]);
  const kind = choice(kinds, other ? "other" : span ? "span" : rule.while, { "aria-label": t("ruleWhile") });
  const from = h("input", { type: "time", value: span?.[1] ?? "22:00", "aria-label": t("ruleFrom") });
  const to = h("input", { type: "time", value: span?.[2] ?? "06:00", "aria-label": t("ruleTo") });
  const times = h("span.times", {}, from, "–", to);
  const action = choice([["pause", t("w.pause")], ["rate", t("w.rate")]], rule.rate ? "rate" : "pause", { "aria-label": t("ruleDo") });
  const rate = rateField(t("rate"), rule.rate);
  const changed = () => {
    times.hidden = kind.value !== "span";
    rate.element.hidden = action.value !== "rate";
  };
  kind.addEventListener("change", changed);
  action.addEventListener("change", changed);
  changed();
  const element = h("li.rule", {}, h("span.rule-word", {}, t("ruleWhile")), kind, times, action, rate.element,
    h("button.plain", { type: "button", "aria-label": t("removeRule"), title: t("removeRule"), onclick: () => {
      element.remove();
      gone();
    } }, icon("close")));
  element.rule = () => {
    const when = kind.value === "span" ? `${from.value}-${to.value}` : kind.value === "other" ? rule.while : kind.value;
    if (action.value === "pause") return { while: when, pause: true };
    if (!(rate.value > 0)) throw new Wrong(rate.number, t("ruleWrong"));
    return { while: when, rate: rate.value };
  };
  return element;
}

export async function settings({ api, logout }) {
  let now;
  try {
    now = await api.get("api/v2/settings");
  } catch (error) {
    if (error.status !== 401) notice(t("notSent", { reason: reasonOf(error) }), { bad: true });
    return;
  }
  const running = h("input", { type: "number", min: 1, max: 64, value: now.max_running });
  const rate = rateField(t("totalRate"), now.rate_limit);
  const delays = h("input", { type: "text", value: (now.retry_delays ?? []).join(", "), inputmode: "decimal", autocomplete: "off" });
  const metered = choice(["auto", "yes", "no"].map((key) => [key, t(`m.${key}`)]), now.metered ?? "auto");
  const add = h("button", { type: "button", onclick: () => {
    const row = ruleRow({ while: "metered", pause: true }, () => add.focus());
    rules.append(row);
    row.querySelector("select").focus();
  } }, t("addRule"));
  const rules = h("ul.rules", {}, ...(now.rules ?? []).map((rule) => ruleRow(rule, () => add.focus())));
  const language = choice([["", t("languageAuto")], ["en", "English"], ["de", "Deutsch"]], localStorage.getItem("segget.language") ?? "");
  const before = language.value;
  const out = h("button", { type: "button", onclick: () => {
    out.closest("dialog").close();
    logout();
  } }, t("logout"));
  await dialog({
    title: t("settings"), button: t("save"), wide: true,
    members: { max_running: running, rate_limit: rate.number, retry_delays: delays, metered },
    body: [
      h("h3", {}, t("ofQueue")),
      h("div.fields", {}, field(t("maxRunning"), running),
        h("div.field", {}, h("span.label", {}, t("totalRate")), rate.element, now.rate_schedule ? h("p.hint", {}, t("scheduled")) : null),
        field(t("retryDelays"), delays, t("retryHint")), field(t("metered"), metered)),
      h("fieldset.plain-set", {}, h("legend", {}, t("rules")), h("p.hint", {}, t("rulesHint")), rules, add),
      h("h3", {}, t("thisPage")),
      h("div.fields", {}, field(t("language"), language), h("div.field.end", {}, out)),
    ],
    submit: async () => {
      const max = Number(running.value);
      if (!Number.isInteger(max) || max < 1 || max > 64) throw new Wrong(running, t("maxWrong"));
      const seconds = listOf(delays.value).map(Number);
      if (!seconds.every((each) => each >= 0 && each <= 86400)) throw new Wrong(delays, t("retryWrong"));
      const next = { ...now, max_running: max, retry_delays: seconds, metered: metered.value, rules: [...rules.children].map((row) => row.rule()) };
      delete next.rate_limit;
      if (rate.value > 0) next.rate_limit = rate.value;
      await api.put("api/v2/settings", next);
      if (language.value === before) return;
      if (language.value) localStorage.setItem("segget.language", language.value);
      else localStorage.removeItem("segget.language");
      location.reload();
    },
  });
}

const KEYS = [
  ["N", "add"], ["/", "search"], ["↑ ↓", "move"], [["space"], "space"], [["ctrl", "A"], "all"], [["enter"], "enter"],
  [["alt", "↑ ↓"], "order"], [["delete"], "remove"], [["ctrl", "Z"], "undo"], ["F2", "rename"], [["shift", "F10"], "menu"], [["escape"], "escape"],
];

export function help({ health }) {
  const link = h("a.bookmarklet", {
    href: `javascript:void open(${JSON.stringify(`${location.origin}/?url=`)}+encodeURIComponent(location.href))`,
    onclick: (event) => {
      event.preventDefault();
      notice(t("bookmarkletClick"));
    },
  }, t("bookmarkletName"));
  const word = (key) => key.length > 1 && /^[a-z]+$/.test(key) ? t(`key.${key}`) : key;
  return dialog({
    title: t("help"), close: t("close"), wide: true,
    body: [
      h("h3", {}, t("keysTitle")),
      h("dl.keys", {}, ...KEYS.map(([keys, what]) => h("div", {}, h("dt", {}, ...[keys].flat().map((key) => h("kbd", {}, word(key)))), h("dd", {}, t(`k.${what}`))))),
      h("h3", {}, t("bookmarklet")), h("p.hint", {}, t("bookmarkletHint")), h("p", {}, link),
      health ? h("p.hint", {}, t("version", { version: health.version, folder: health.folder ?? "?" })) : null,
    ].filter(Boolean),
  });
}
