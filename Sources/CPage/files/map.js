// The map of a file: which of its bytes are there, which are asked for, over which connection.
import { colours, fit } from "./graph.js";

export const NONE = 0, ASKED = 1, UNCHECKED = 2, THERE = 3;

/** Ranges in order, without overlaps. */
export function merged(ranges) {
  const result = [];
  for (const { start, end } of [...ranges].sort((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (end <= start) continue;
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else result.push({ start, end });
  }
  return result;
}

/** What of `ranges` is not in `holes`; both are merged. */
export function without(ranges, holes) {
  const result = [];
  for (const { start, end } of ranges) {
    let from = start;
    for (const hole of holes) {
      if (hole.end <= from) continue;
      if (hole.start >= end) break;
      if (hole.start > from) result.push({ start: from, end: hole.start });
      from = Math.max(from, hole.end);
    }
    if (from < end) result.push({ start: from, end });
  }
  return result;
}

/** A file in columns: each stands for every byte that it touches, and is `THERE` if all of them are. */
export class Columns {
  constructor(size, count) {
    Object.assign(this, { size, count });
    this.state = new Uint8Array(count);
    this.server = new Uint8Array(count);
    this.share = new Float64Array(count);
  }

  start(column) {
    return Math.floor((column * this.size) / this.count);
  }

  end(column) {
    return Math.min(this.size, Math.ceil(((column + 1) * this.size) / this.count));
  }

  guess(byte) {
    return Math.min(this.count - 1, Math.max(0, Math.floor((byte / this.size) * this.count)));
  }

  /** The first and the last column that touch a byte. */
  first(byte) {
    let column = this.guess(byte);
    while (column > 0 && this.end(column - 1) > byte) column -= 1;
    while (column < this.count - 1 && this.end(column) <= byte) column += 1;
    return column;
  }

  last(byte) {
    let column = this.guess(byte);
    while (column < this.count - 1 && this.start(column + 1) <= byte) column += 1;
    while (column > 0 && this.start(column) > byte) column -= 1;
    return column;
  }

  mark(ranges, act) {
    for (const range of ranges) {
      const last = this.last(range.end - 1);
      for (let column = this.first(range.start); column <= last; column += 1) act(column, range);
    }
  }

  fill({ there, unchecked, asked }) {
    const { state, server, share, size, count } = this;
    state.fill(THERE);
    share.fill(0);
    server.fill(0);
    this.mark(unchecked, (column) => { state[column] = UNCHECKED; });
    const missing = without([{ start: 0, end: size }], merged([...there, ...unchecked]));
    this.mark(missing, (column) => { state[column] = NONE; });
    this.mark(asked, (column, range) => {
      if (state[column] !== NONE) return;
      state[column] = ASKED;
      server[column] = range.server;
    });
    const width = size / count;
    this.mark(there, (column, range) => {
      if (state[column] === THERE) return;
      const covered = Math.min(range.end, (column + 1) * width) - Math.max(range.start, column * width);
      share[column] += Math.max(0, covered) / width;
    });
  }
}

/** Told apart without colour: slanting lines; for what is asked for, one pattern for each server. */
function pattern(context, state, server, scale, colour) {
  const unit = Math.max(1, Math.round(scale));
  const tile = document.createElement("canvas");
  const side = tile.width = tile.height = (state === UNCHECKED ? 6 : server === 0 ? 5 : 8) * unit;
  const pen = tile.getContext("2d");
  pen.fillStyle = colour.track;
  pen.fillRect(0, 0, side, side);
  pen.fillStyle = state === UNCHECKED ? colour.accent : colour.muted;
  if (state === UNCHECKED || server === 3) {
    const width = state === UNCHECKED ? side / 2 : unit;
    for (let y = 0; y < side; y += 1) {
      for (let x = 0; x < side; x += 1) if ((x + y) % side < width) pen.fillRect(x, y, 1, 1);
    }
  } else {
    pen.fillRect(0, 0, server === 2 ? side : unit, server === 1 ? side : unit);
  }
  return context.createPattern(tile, "repeat");
}

/** What to fill with, by state and server. */
function brushes(context, scale, colour, verified) {
  const patterns = {};
  return (state, server) => {
    if (state === NONE) return colour.track;
    if (state === THERE) return verified ? colour.ok : colour.accent;
    return patterns[state * 4 + server % 4] ??= pattern(context, state, server % 4, scale, colour);
  };
}

function tick(context, x, y, side, width) {
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(x, y + side * 0.5);
  context.lineTo(x + side * 0.38, y + side * 0.85);
  context.lineTo(x + side, y + side * 0.1);
  context.stroke();
}

/** A sample for the legend. */
export class Swatch {
  constructor(state, { server = 0, verified = false, part = false } = {}) {
    this.element = document.createElement("canvas");
    this.element.className = "swatch";
    this.element.setAttribute("aria-hidden", "true");
    this.destroy = fit(this.element, () => {
      const { width, height } = this.element;
      if (!width || !height) return;
      const context = this.element.getContext("2d");
      const scale = width / (this.element.clientWidth || 1);
      const colour = colours(this.element);
      context.fillStyle = brushes(context, scale, colour, verified)(state, server);
      context.fillRect(0, 0, width, height);
      if (part) {
        context.fillStyle = colour.accent;
        context.fillRect(0, Math.round(height * 0.55), width, height);
      }
      if (verified) {
        context.strokeStyle = colour.panel;
        tick(context, width / 2 - height * 0.3, height * 0.2, height * 0.6, 1.5 * scale);
      }
      if (state !== THERE) outline(context, 0, 0, width, height, scale, colour.muted);
    });
  }
}

function outline(context, x, y, width, height, scale, colour) {
  const line = Math.max(1, Math.floor(scale));
  context.strokeStyle = colour;
  context.lineWidth = line;
  context.strokeRect(x + line / 2, y + line / 2, width - line, height - line);
}

// In pixels of CSS: the height of a row, of the band below it for connections, and the space between.
const ROW = 16, LANE = 15, SPACE = 5;

export class SegmentMap {
  /** `point` is told which place is pointed at, or null. */
  constructor(element, { point }) {
    Object.assign(this, { element, point, model: null, moves: [], byte: null, lit: null });
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    element.append(this.canvas);
    element.tabIndex = 0;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.unfit = fit(this.canvas, () => {
      this.colour = null;
      this.draw();
    });
    this.observer = new ResizeObserver(() => this.layOut());
    this.observer.observe(element);
    for (const name of ["pointermove", "pointerdown"]) {
      element.addEventListener(name, (event) => this.at(this.byteAt(event.offsetX, event.offsetY)));
    }
    element.addEventListener("pointerleave", () => {
      if (document.activeElement !== element) this.at(null);
    });
    element.addEventListener("blur", () => this.at(null));
    element.addEventListener("focus", () => this.byte === null && element.matches(":focus-visible") && this.at(0));
    element.addEventListener("keydown", (event) => this.key(event));
  }

  destroy() {
    this.unfit();
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
  }

  /** Shows what is known of a task; with `lanes` also its connections. */
  set(model) {
    const now = performance.now();
    const before = this.model?.id === model.id ? this.model : null;
    const between = before ? now - this.came : Infinity;
    this.came = now;
    this.model = model;
    this.there = without(merged(model.segments), merged(model.verifying));
    this.unchecked = merged(model.verifying);
    // A connection is shown on its way from where it was to where it is known to be now: what is
    // drawn has arrived.
    this.moves = [];
    if (before && between < 3000 && !this.still.matches && !document.hidden) {
      const shown = new Map(before.connections.map((each, index) =>
        [`${each.server} ${each.start}`, this.shown?.[index] ?? each.position]));
      model.connections.forEach((each, index) => {
        const from = shown.get(`${each.server} ${each.start}`);
        if (from !== undefined && from < each.position) {
          this.moves.push({ index, from, to: each.position });
        }
      });
    }
    this.began = now;
    this.lasts = Math.min(1000, between);
    this.layOut();
    this.draw();
    this.animate();
  }

  highlight(index) {
    if (this.lit === index) return;
    this.lit = index;
    this.draw();
  }

  animate() {
    if (this.frame || this.moves.length === 0) return;
    this.frame = requestAnimationFrame((now) => {
      this.frame = 0;
      const ended = performance.now() - this.began >= this.lasts || document.hidden;
      if (ended || (now - this.drawn > 60 && this.place() !== this.placed)) this.draw();
      if (ended) this.moves = [];
      else this.animate();
    });
  }

  /** The positions that are to be drawn now; answers a text that is another when a pixel changes. */
  place() {
    const part = Math.min(1, (performance.now() - this.began) / this.lasts);
    this.shown = this.model.connections.map((each) => each.position);
    for (const { index, from, to } of this.moves) {
      this.shown[index] = Math.floor(from + (to - from) * part);
    }
    const width = this.model.size / (this.columns?.count ?? 1);
    return this.shown.map((position) => Math.floor(position / width)).join();
  }

  layOut() {
    const width = this.element.clientWidth;
    const size = this.model?.size;
    const rows = size ? Math.min(8, Math.max(1, Math.ceil(size / 131072 / Math.max(width, 1)))) : 1;
    this.rows = rows;
    const height = `${rows * (ROW + LANE + SPACE) - SPACE}px`;
    if (this.canvas.style.height !== height) this.canvas.style.height = height;
  }

  geometry() {
    const scale = this.canvas.width / (this.canvas.clientWidth || 1);
    const px = (length) => Math.max(1, Math.round(length * scale));
    // Without connections the rows take their room.
    const row = px(this.model?.lanes ? ROW : ROW + LANE - 5);
    return { scale, px, step: px(ROW + LANE + SPACE), row, width: this.canvas.width };
  }

  byteAt(x, y) {
    const { scale, step, width } = this.geometry();
    const within = (value, most) => Math.min(most, Math.max(0, Math.floor(value)));
    return this.columns?.start(within((y * scale) / step, this.rows - 1) * width + within(x * scale, width - 1)) ?? null;
  }

  /** What is at a byte: its state, the range for which that is so, and the connection. */
  describe(byte) {
    const { size, connections, verified } = this.model;
    const inside = (range) => range.start <= byte && byte < range.end;
    const index = connections.findIndex(inside);
    const state = this.there.some(inside) ? THERE : this.unchecked.some(inside) ? UNCHECKED : index >= 0 ? ASKED : NONE;
    let [start, end] = [0, size];
    for (const edge of [...this.there, ...this.unchecked, ...connections].flatMap((range) => [range.start, range.end])) {
      if (edge <= byte) start = Math.max(start, edge);
      else end = Math.min(end, edge);
    }
    return { byte, state, start, end, index, verified };
  }

  at(byte) {
    if (byte !== null && !this.model?.size) return;
    if (byte === this.byte) return;
    this.byte = byte;
    this.draw();
    this.point(byte === null ? null : this.describe(byte));
  }

  key(event) {
    if (!this.model?.size || event.altKey || event.ctrlKey || event.metaKey) return;
    const { size } = this.model;
    const here = this.describe(this.byte ?? 0);
    const row = Math.ceil(size / this.rows);
    const to = {
      ArrowRight: () => here.end, ArrowLeft: () => here.start > 0 ? this.describe(here.start - 1).start : 0,
      ArrowDown: () => here.byte + row, ArrowUp: () => here.byte - row, Home: () => 0, End: () => size - 1,
    }[event.key]?.();
    if (to === undefined) return;
    event.preventDefault();
    this.at(Math.floor(Math.min(size - 1, Math.max(0, to))));
  }

  draw() {
    const { canvas, model } = this;
    const context = canvas.getContext("2d");
    const geometry = this.geometry();
    const { scale, px, step, row, width } = geometry;
    if (!width || !model?.size) return;
    const colour = this.colour ??= colours(canvas);
    const brush = brushes(context, scale, colour, model.verified);
    context.clearRect(0, 0, width, canvas.height);
    const count = width * this.rows;
    if (this.columns?.count !== count || this.columns.size !== model.size) this.columns = new Columns(model.size, count);
    const { columns } = this;
    this.placed = this.place();
    this.drawn = performance.now();
    const hidden = merged(this.moves.map(({ index, to }) => ({ start: this.shown[index], end: to })));
    const asked = model.connections
      .map(({ server, end }, index) => ({ server, start: this.shown[index], end }))
      .filter((range) => range.start < range.end);
    columns.fill({ there: without(this.there, hidden), unchecked: this.unchecked, asked });

    for (let line = 0; line < this.rows; line += 1) {
      const top = line * step;
      let from = 0;
      const same = (a, b) => columns.state[a] === columns.state[b] && columns.server[a] === columns.server[b];
      for (let x = 1; x <= width; x += 1) {
        const column = line * width + x;
        if (x < width && same(column, column - 1)) continue;
        context.fillStyle = brush(columns.state[column - 1], columns.server[column - 1]);
        context.fillRect(from, top, x - from, row);
        from = x;
      }
      // Of a column that lacks a byte, what is there stands at its foot, above the frame, and never fills it.
      context.fillStyle = colour.accent;
      const [least, most] = [px(2), row - px(3)];
      for (let x = 0; x < width; x += 1) {
        const share = columns.share[line * width + x];
        if (share === 0) continue;
        const height = Math.max(least, Math.floor(share * most));
        context.fillRect(x, top + row - height, 1, height);
      }
      if (model.verified) {
        context.strokeStyle = colour.panel;
        tick(context, Math.round(width - row * 0.9), top + row * 0.25, row / 2, px(2));
      } else {
        outline(context, 0, top, width, row, scale, colour.muted);
      }
    }
    if (model.lanes) this.drawLanes(context, colour, geometry);
    if (this.byte !== null) {
      const column = columns.first(this.byte);
      const [x, top] = [column % width, Math.floor(column / width) * step];
      context.fillStyle = colour.panel;
      context.fillRect(x - px(2), top, px(5), row);
      context.fillStyle = colour.text;
      context.fillRect(x - px(1), top, px(3), row);
    }
  }

  /** Below the rows: the range of each connection, thick as far as it has come, and its number. */
  drawLanes(context, colour, { px, step, row, width }) {
    const { columns, model } = this;
    const [thin, thick] = [px(1), px(3)];
    context.font = `600 ${px(10)}px ${colour.font}`;
    context.textAlign = "center";
    context.textBaseline = "alphabetic";
    const taken = [];
    model.connections.forEach((each, index) => {
      if (!(each.start < each.end)) return;
      const lit = this.lit === index;
      const first = columns.first(each.start);
      const last = columns.last(each.end - 1);
      const head = columns.first(Math.min(this.shown[index], each.end - 1));
      for (let line = Math.floor(first / width); line * width <= last; line += 1) {
        const from = Math.max(first - line * width, 0);
        const to = Math.min(last - line * width + 1, width);
        const done = Math.min(Math.max(head - line * width, from), to);
        const y = line * step + row + px(2);
        context.fillStyle = lit ? colour.text : colour.muted;
        context.fillRect(from, y + thin, Math.max(to - from - thin, thin), thin);
        if (line === Math.floor(last / width)) context.fillRect(Math.max(to - 2 * thin, from), y, thin, thick);
        context.fillStyle = lit ? colour.text : colour.accent;
        context.fillRect(from, y, done - from, thick);
      }
      const line = Math.floor(head / width);
      const x = head % width;
      context.fillStyle = colour.text;
      context.fillRect(Math.min(x, width - 2 * thin), line * step, 2 * thin, row + px(4));
      const label = String(index + 1);
      const half = context.measureText(label).width / 2;
      const middle = Math.min(Math.max(x + thin, half), width - half);
      // A number that has no room beside the others is left out.
      if (taken.some((other) => other.line === line && Math.abs(other.middle - middle) < other.half + half + px(2))) return;
      taken.push({ line, middle, half });
      context.fillText(label, middle, line * step + row + px(LANE - 1));
    });
  }
}
