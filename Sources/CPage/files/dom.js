// Small tools for elements: making them, icons, dialogs, menus, notices.
import { has, t } from "./texts.js";

/** An element, `tag.class.class`, with attributes, listeners (`onclick`), and children. */
export function h(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (typeof value === "boolean") element.toggleAttribute(key, value);
    else if (value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

export const $ = (id) => document.getElementById(id);

/** Sets a text only if it is another one. */
export function say(element, text = "") {
  if (element.textContent !== String(text)) element.textContent = text;
}

/** Sets an attribute only if it is another one; `null` takes it away. */
export function put(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

const ICONS = {
  add: "M8 3v10M3 8h10",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.5 10.5 14 14",
  settings: "M2 5h5M11 5h3M2 11h3M9 11h5M9 3v4M7 9v4",
  bell: "M3.5 11.5h9l-1-1.5V7a3.5 3.5 0 0 0-7 0v3l-1 1.5ZM7 14h2",
  bellOff: "M3.5 11.5h9l-1-1.5V7a3.5 3.5 0 0 0-7 0v3l-1 1.5ZM7 14h2M2 2l12 12",
  // Of states.
  running: "M8 2.5v8M4.5 7 8 10.5 11.5 7M3 13.5h10",
  verifying: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.5 10.5 14 14M5 7l1.5 1.5L9 6",
  waiting: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.8V8l2.2 1.6",
  paused: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6.5 6v4M9.5 6v4",
  network: "M2 6.5a9 9 0 0 1 12 0M4.5 9.2a5.3 5.3 0 0 1 7 0M8 12h.01M2 2l12 12",
  verified: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM5.3 8.2l2 2 3.6-4",
  completed: "M3.5 8.5l3 3 6-7",
  skipped: "M3.5 4l4 4-4 4M8.5 4l4 4-4 4",
  warning: "M8 2.5 14 13H2L8 2.5ZM8 6.5v3M8 11.3h.01",
  failed: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6 6l4 4M10 6l-4 4",
  cancelled: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM3.8 12.2l8.4-8.4",
  start: "M5 3.5v9l7-4.5-7-4.5Z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  retry: "M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3",
  remove: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.5 9h6l.5-9",
  more: "M3 8h1M7.5 8h1M12 8h1",
  close: "M4 4l8 8M12 4l-8 8",
  up: "M8 13V3M4 7l4-4 4 4",
  down: "M8 3v10M4 9l4 4 4-4",
  first: "M3 2.5h10M8 14V6M4.5 9.5 8 6l3.5 3.5",
  last: "M3 13.5h10M8 2v8M4.5 6.5 8 10l3.5-3.5",
  help: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6.2 6.3A1.9 1.9 0 1 1 8 8.4v.8M8 11.4h.01",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 7.5V11M8 5h.01",
};

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [key, value] of Object.entries({ viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" })) {
    svg.setAttribute(key, value);
  }
  const path = document.createElementNS(svg.namespaceURI, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** Fills elements with their texts: `data-t` the content, `data-l` the name, `data-i` an icon before. */
export function fill(root) {
  for (const element of root.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  for (const element of root.querySelectorAll("[data-l]")) {
    element.setAttribute("aria-label", t(element.dataset.l));
    if (element.matches("button")) element.title = t(element.dataset.l);
  }
  for (const element of root.querySelectorAll("[data-p]")) element.placeholder = t(element.dataset.p);
  for (const element of root.querySelectorAll("[data-i]")) element.prepend(icon(element.dataset.i));
}

/** The last name of a member, such as `checksum` of `commands[0].options.checksum`. */
const nameOfMember = (member) => member?.replace(/\[\d+\]/g, "").split(".").at(-1);

/** What a refusal says, in the page's own words where it has some. The service's hints are for other clients. */
export function reasonOf(error) {
  if (error.status === 0) return t("noAnswer");
  const own = error.status === 400 && `wrong.${nameOfMember(error.member)}`;
  if (own && has(own)) return t(own);
  return error.message.replace(/`([^`]*)`/g, "“$1”").replace(/^[a-z]/, (first) => first.toUpperCase());
}

let serial = 0;

/** A value that a form refuses: the control that has it, and why. */
export class Wrong extends Error {
  constructor(control, message) {
    super(message);
    this.control = control;
  }
}

const unmark = (control) => {
  const note = control.wrongNote;
  if (!note) return;
  const others = (control.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id && id !== note.id);
  put(control, "aria-describedby", others.join(" ") || null);
  put(control, "aria-invalid", null);
  control.wrongNote = null;
  note.remove();
};

/** Removes what `complain` has shown in a form. */
export function clearWrongs(form) {
  for (const control of form.elements) unmark(control);
  say(form.querySelector(".form-wrong"));
}

/**
 * Shows why a form was not sent, and scrolls there: at the control that the error names, or at that of the member that
 * the service refused (`members`: controls by name), else above the buttons.
 */
export function complain(form, error, members = {}) {
  clearWrongs(form);
  const control = error.control ?? members[nameOfMember(error.member)];
  if (!control?.isConnected) {
    const line = form.querySelector(".form-wrong");
    say(line, reasonOf(error));
    line.scrollIntoView({ block: "nearest" });
    return;
  }
  const note = h("p.wrong.field-wrong", { id: `wrong-${serial += 1}`, role: "alert" }, reasonOf(error));
  control.wrongNote = note;
  put(control, "aria-invalid", "true");
  put(control, "aria-describedby", [control.getAttribute("aria-describedby"), note.id].filter(Boolean).join(" "));
  for (let part = control.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  const place = control.closest(".field, .rule, fieldset") ?? control.parentElement;
  place.append(note);
  control.addEventListener("input", () => control.wrongNote === note && unmark(control), { once: true });
  control.focus({ preventScroll: true });
  place.scrollIntoView({ block: "nearest" });
  note.scrollIntoView({ block: "nearest" });
}

/** The line of a form for a reason that no field has; it stays in view. */
export const wrongLine = (text = "") => h("p.wrong.form-wrong", { role: "alert" }, text);

/** A control with its label, and a hint that belongs to it. */
export function field(label, control, hint) {
  control.id ||= `field-${serial += 1}`;
  const note = hint && h("p.hint", { id: `${control.id}-hint` }, hint);
  if (note) control.setAttribute("aria-describedby", note.id);
  return h("div.field", {}, h("label", { for: control.id }, label), control, note);
}

/** A choice of `[value, text]`; the one that is given is also what a reset of the form goes back to. */
export function choice(options, value, attributes = {}) {
  return h("select", attributes, ...options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)));
}

/** A check box with its label. */
export function check(label, checked = false) {
  const box = h("input", { type: "checkbox", checked });
  return { box, element: h("label.check", {}, box, label) };
}

/** A limit of rate: a number and its unit; `value` is in bytes per second, 0 for none. */
export function rateField(name, rate = 0) {
  const unit = rate > 0 && rate < 1048576 ? 1024 : 1048576;
  const number = h("input", {
    type: "number", min: 0, step: "any", inputmode: "decimal", placeholder: t("noLimit"), "aria-label": name,
  });
  if (rate > 0) number.value = Number((rate / unit).toFixed(3));
  const units = choice([[1024, "KiB/s"], [1048576, "MiB/s"]], unit, { "aria-label": t("unitOf", { name }) });
  return {
    element: h("div.pair", {}, number, units), number,
    get value() {
      if (number.validity.badInput || number.value < 0) throw new Wrong(number, t("wrong.rate"));
      return Math.round(Number(number.value || 0) * Number(units.value));
    },
  };
}

/**
 * Shows a dialog. `submit` is called with no arguments when it is sent; what it throws is shown, and the dialog stays.
 * `members` are the controls of the members that the service may refuse.
 * Resolves with whether it was sent.
 */
export function dialog({ title, body = [], button, danger = false, submit = () => {}, members, close = t("cancel"), wide = false }) {
  const send = button && h(danger ? "button.danger" : "button.primary", {}, button);
  const id = `dialog-${serial += 1}`;
  const form = h("form", { novalidate: true },
    h("div.dialog-body", {}, h("h2", { id }, title), ...body), wrongLine(),
    h("div.dialog-foot", {}, h("button", { type: "button", onclick: () => element.close() }, close), send));
  const element = h(wide ? "dialog.wide" : "dialog", { "aria-labelledby": id }, form);
  const focused = document.activeElement;
  document.body.append(element);
  return new Promise((resolve) => {
    let sent = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      clearWrongs(form);
      if (send) send.disabled = true;
      try {
        await submit();
        sent = true;
        element.close();
      } catch (error) {
        if (send) send.disabled = false;
        complain(form, error, members);
      }
    });
    element.addEventListener("close", () => {
      element.remove();
      focused?.focus?.();
      resolve(sent);
    });
    element.showModal();
    (element.querySelector("input, textarea, select") ?? (danger ? null : send) ?? element.querySelector("button")).focus();
  });
}

/** Shows a menu of `{text, icon, act, disabled, danger}` and `null` for a line, at a point or below an element. */
export function menu(items, at, name) {
  const back = document.activeElement;
  const element = h("div.menu", { role: "menu", popover: "auto", "aria-label": name },
    ...items.map((item) => item === null ? h("hr", { role: "separator" }) : h(`button.item${item.danger ? ".bad" : ""}`, {
      role: "menuitem", type: "button", tabindex: -1, "aria-disabled": item.disabled ? "true" : undefined,
      onclick: () => {
        if (item.disabled) return;
        element.hidePopover();
        item.act();
      },
    }, item.icon ? icon(item.icon) : h("span.icon"), h("span", {}, item.text), item.key ? h("kbd", {}, item.key) : null)));
  document.querySelector("main").append(element);
  const entries = [...element.querySelectorAll(".item")];
  const able = () => entries.filter((entry) => !entry.hasAttribute("aria-disabled"));
  element.addEventListener("keydown", (event) => {
    const all = able();
    const place = all.indexOf(document.activeElement);
    const next = { ArrowDown: place + 1, ArrowUp: place < 0 ? -1 : place - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Tab") {
      event.preventDefault();
      element.hidePopover();
    } else if (next !== undefined) {
      event.preventDefault();
      all.at(next % all.length)?.focus();
    } else if (event.key.length === 1 && !event.ctrlKey && event.key !== " ") {
      const turned = [...all.slice(place + 1), ...all.slice(0, place + 1)];
      turned.find((entry) => entry.textContent.toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
    }
  });
  element.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    const inside = element.contains(document.activeElement) || document.activeElement === document.body;
    element.remove();
    if (inside) back?.focus?.();
  });
  element.showPopover();
  const box = at instanceof Element ? at.getBoundingClientRect() : { left: at.x, right: at.x, bottom: at.y, top: at.y };
  const { offsetWidth: width, offsetHeight: height } = element;
  const x = Math.max(8, Math.min(box.left, innerWidth - width - 8));
  const below = box.bottom + 4 + height <= innerHeight;
  element.style.left = `${x}px`;
  element.style.top = `${Math.max(8, below ? box.bottom + 4 : box.top - height - 4)}px`;
  (able()[0] ?? element).focus();
}

/** Tells screen readers; only of ends, failures, and what one has just done. */
export function announce(text) {
  const line = h("p", {}, text);
  $("live").append(line);
  setTimeout(() => line.remove(), 10000);
}

/** Shows a notice for a while; `action` is `{text, act}`. Answers a function that takes it away. */
export function notice(text, { action, seconds = 6, bad = false, lines = [] } = {}) {
  let timer, back;
  const gone = () => {
    clearTimeout(timer);
    const inside = element.contains(document.activeElement);
    element.remove();
    if (inside) back?.focus?.();
  };
  const element = h(bad ? "div.notice.bad" : "div.notice", {},
    h("div.notice-text", {}, h("p", {}, text), ...lines.map((line) => h("p.hint", {}, line))),
    action && h("button", { type: "button", onclick: () => (gone(), action.act()) }, action.text),
    h("button.plain", { type: "button", "aria-label": t("close"), title: t("close"), onclick: gone }, icon("close")));
  element.addEventListener("focusin", ({ relatedTarget }) => {
    if (!element.contains(relatedTarget)) back = relatedTarget;
  });
  $("notices").append(element);
  if (bad || action) announce([text, ...lines].join(". "));
  const wait = () => {
    timer = setTimeout(gone, seconds * 1000);
  };
  if (seconds) wait();
  return gone;
}
