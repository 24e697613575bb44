// A graph of speed: samples as they were measured, as steps. Nothing is smoothed; gaps stay gaps.
import { speed } from "./format.js";
import { t } from "./texts.js";

/** The colours of style.css that are in force for an element. */
export function colours(element) {
  const style = getComputedStyle(element);
  const colour = { font: style.fontFamily };
  for (const name of ["panel", "text", "muted", "line", "accent", "ok", "track"]) {
    colour[name] = style.getPropertyValue(`--${name}`).trim() || "CanvasText";
  }
  return colour;
}

/** Keeps a canvas as large as its box in the screen's pixels, and has it drawn; answers what ends this. */
export function fit(canvas, draw) {
  const theme = matchMedia("(prefers-color-scheme: dark)");
  const observer = new ResizeObserver(([entry]) => {
    const exact = entry.devicePixelContentBoxSize?.[0];
    const scale = devicePixelRatio || 1;
    const width = exact ? exact.inlineSize : Math.round(entry.contentRect.width * scale);
    const height = exact ? exact.blockSize : Math.round(entry.contentRect.height * scale);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    draw();
  });
  try {
    observer.observe(canvas, { box: "device-pixel-content-box" });
  } catch {
    observer.observe(canvas);
  }
  theme.addEventListener("change", draw);
  return () => {
    observer.disconnect();
    theme.removeEventListener("change", draw);
  };
}

/** The least of 1, 2, 5, 10, 20, 50, … KiB, MiB, … that is not below a value. */
function ceiling(value) {
  let unit = 1024;
  while (unit * 1000 < value) unit *= 1024;
  for (let power = 1; ; power *= 10) {
    for (const digit of [1, 2, 5]) {
      if (digit * power * unit >= value) return digit * power * unit;
    }
  }
}

export class Graph {
  /** Goes back so many seconds; samples that are `gap` seconds apart or more have a gap between them. */
  constructor(canvas, { seconds, label, gap = 3 }) {
    Object.assign(this, { canvas, seconds, label, gap, samples: [] });
    canvas.setAttribute("role", "img");
    canvas.classList.add("graph");
    this.unfit = fit(canvas, () => this.draw());
    // The time goes on though nothing is measured.
    this.timer = setInterval(() => this.samples.length > 0 && !this.stopped && this.plan(), 1000);
    this.describe();
  }

  /** `time` is in seconds since 1970; a speed of null says that nothing is known. */
  add(time, bytesPerSecond) {
    const known = typeof bytesPerSecond === "number" && isFinite(bytesPerSecond);
    this.samples.push({ time, speed: known ? Math.max(0, bytesPerSecond) : null });
    this.plan();
  }

  /** Stops at a time, in seconds since 1970; `null` has it go on. */
  stop(time) {
    this.stopped = time;
    this.plan();
  }

  /** Shows other samples in place of those there are. */
  replace(samples) {
    this.samples = samples;
    this.described = 0;
    this.plan();
  }

  destroy() {
    clearInterval(this.timer);
    cancelAnimationFrame(this.frame);
    this.unfit();
  }

  plan() {
    if (this.frame || document.hidden) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** The alternative in words, anew every five seconds at most. */
  describe() {
    if (Date.now() - (this.described ?? 0) < 5000) return;
    this.described = Date.now();
    const known = this.samples.filter((sample) => sample.speed !== null).map((sample) => sample.speed);
    this.canvas.setAttribute("aria-label", known.length === 0
      ? t("d.graphEmpty", { label: this.label })
      : t("d.graphText", {
        label: this.label, now: speed(known.at(-1)), most: speed(Math.max(...known)),
        mean: speed(known.reduce((a, b) => a + b) / known.length),
      }));
  }

  draw() {
    const { canvas, seconds } = this;
    const now = this.stopped ?? Math.max(Date.now() / 1000, this.samples.at(-1)?.time ?? 0);
    while (this.samples.length && this.samples[0].time < now - seconds - 2 * this.gap) this.samples.shift();
    this.describe();
    const context = canvas.getContext("2d");
    const scale = canvas.width / (canvas.clientWidth || 1);
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (!width || !height) return;
    const colour = colours(canvas);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = `11px ${colour.font}`;

    const known = this.samples.filter((sample) => sample.speed !== null);
    const most = known.reduce((value, sample) => Math.max(value, sample.speed), 0);
    const top = ceiling(Math.max(most, 1024));
    const left = Math.ceil(Math.max(
      context.measureText(speed(top)).width, context.measureText(speed(top / 2)).width, 40)) + 8;
    const [upper, lower] = [8.5, height - 18.5];
    const x = (time) => left + (width - 1 - left) * (1 - (now - time) / seconds);
    const y = (value) => lower - (lower - upper) * (value / top);

    // The axes: three lines, and the time.
    context.fillStyle = colour.muted;
    context.strokeStyle = colour.line;
    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const value of [0, top / 2, top]) {
      const line = Math.round(y(value)) + 0.5;
      context.beginPath();
      context.moveTo(left, line);
      context.lineTo(width, line);
      context.stroke();
      context.fillText(value === 0 ? "0" : speed(value), left - 8, line);
    }
    context.textBaseline = "alphabetic";
    context.textAlign = "left";
    context.fillText(t("d.minutesAgo", { n: seconds / 60 }), left, height - 3);
    context.textAlign = "right";
    context.fillText(t("d.now"), width - 1, height - 3);

    // Each sample says what was so from the one before it on.
    context.save();
    context.beginPath();
    context.rect(left, 0, width - left, height);
    context.clip();
    let last = null;
    context.strokeStyle = colour.accent;
    context.fillStyle = colour.accent;
    context.lineWidth = 1.5;
    for (const sample of this.samples) {
      if (sample.speed !== null) {
        const begins = last && sample.time - last.time <= this.gap ? last.time : sample.time - 1;
        const joined = last !== null && last.speed !== null && begins === last.time;
        const [from, to, level] = [x(begins), x(sample.time), y(sample.speed)];
        context.globalAlpha = 0.18;
        context.fillRect(from, level, to - from, lower - level);
        context.globalAlpha = 1;
        context.beginPath();
        context.moveTo(from, joined ? y(last.speed) : level);
        context.lineTo(from, level);
        context.lineTo(to, level);
        context.stroke();
      }
      last = sample;
    }
    context.restore();
  }
}
