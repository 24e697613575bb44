// Numbers and times as people read them.
import { language, t } from "./texts.js";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const percents = new Intl.NumberFormat(language, { style: "percent" });
const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(language, {
  day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23",
});

/** A size: `1.4 GiB`. */
export function bytes(n) {
  let unit = 0;
  let value = n;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${(unit === 0 || value >= 99.95 ? whole : tenths).format(value)}\u00a0${UNITS[unit]}`;
}

export const speed = (n) => `${bytes(n)}/s`;

/** Seconds as `42 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`. */
export function duration(seconds) {
  const s = Math.max(0, Math.round(seconds));
  const parts = (...pairs) => pairs.filter(([n], index) => index === 0 || n > 0)
    .map(([n, unit]) => `${n}\u00a0${t(`unit.${unit}`)}`).join(" ");
  if (s < 60) return parts([s, "s"]);
  if (s < 600) return parts([Math.floor(s / 60), "min"], [s % 60, "s"]);
  const m = Math.round(s / 60);
  if (m < 60) return parts([m, "min"]);
  if (m < 1440) return parts([Math.floor(m / 60), "h"], [m % 60, "min"]);
  return parts([Math.floor(m / 1440), "d"], [Math.floor(m / 60) % 24, "h"]);
}

/** A time of day, with the date unless it is today. */
export function time(epoch) {
  const date = new Date(epoch * 1000);
  return (date.toDateString() === new Date().toDateString() ? clock : day).format(date);
}

export const count = (n) => whole.format(n);

/** How many files of a data set are complete: `12/120 files`. */
export const filesOf = (task) => t("files", { done: count(task.files_done ?? 0), n: count(task.files) });

/** A share, never rounded up: all is there only at 100 %. */
export const percent = (x) => percents.format(Math.floor(Math.min(1, Math.max(0, x)) * 100) / 100);

/** The last part of a path or URL, as text. */
export function lastPart(text) {
  const part = text.replace(/[?#].*$/, "").replace(/\/+$/, "").split("/").at(-1);
  return part || text;
}

/** The name of a task: its file's, that of its folder for a data set, or what its URL suggests. */
export function nameOf(task) {
  if (task.files) return `${lastPart(task.folder)}/`;
  if (task.path) return task.path.slice(task.path.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(lastPart(task.url));
  } catch {
    return lastPart(task.url);
  }
}
