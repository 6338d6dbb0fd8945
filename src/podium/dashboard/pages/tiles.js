// The drawing of the map: groups of tiles on a canvas as large as what is visible.
// The box scrolls; only rows of tiles that can be seen are drawn, colour by colour.

import { h, put } from "./dom.js";
import { percent } from "./format.js";

const SIZES = [0, 10, 16, 24, 40, 64]; // pixels; 0 fits all nodes into the box
const STEPS = 10;
const HEAD = 22;
const GAP = 12;
const LEAST = 6;
const PAD = 8;

export class Tiles {
  constructor(box, { open, spoken }) {
    this.box = box;
    this.onOpen = open;
    this.spoken = spoken;
    this.canvas = h("canvas", { role: "img", tabindex: "0", "aria-label": "Map of nodes" });
    this.sizer = h("div", { class: "sizer" });
    this.tip = h("div", { class: "tip", hidden: true, role: "presentation" });
    box.append(this.sizer, this.canvas, this.tip);
    this.map = null;
    this.column = [];
    this.groups = null;
    this.selected = "";
    this.focus = -1;
    this.wanted = 0;
    this.layout = [];
    this.key = "";
    this.pending = 0;
    this.colours = null;
    this.frames = []; // how long drawing took, for measurements
    box.addEventListener("scroll", () => this.schedule());
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    this.canvas.addEventListener("click", (event) => this.click(event));
    this.canvas.addEventListener("keydown", (event) => this.keydown(event));
    this.canvas.addEventListener("focus", () => { if (this.focus < 0 && this.map?.names.length) this.setFocus(this.order[0] ?? 0); });
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(box);
  }

  close() {
    this.observer.disconnect();
    cancelAnimationFrame(this.pending);
  }

  setSize(number) {
    this.wanted = SIZES[number];
    this.key = "";
    this.schedule();
  }

  setData(map, column, groups, { selected, without }) {
    Object.assign(this, { map, column, groups, selected, without });
    this.schedule();
  }

  resize() {
    this.key = "";
    this.schedule();
  }

  repaint() {
    this.colours = null;
    this.schedule();
  }

  schedule() {
    if (!this.pending) this.pending = requestAnimationFrame(() => this.frame());
  }

  frame() {
    this.pending = 0;
    if (!this.map || !this.box.clientWidth) return;
    const started = performance.now();
    this.arrange();
    this.draw();
    this.frames.push(performance.now() - started);
    if (this.frames.length > 600) this.frames.shift();
    this.box.dataset.frame = (performance.now() - started).toFixed(1);
  }

  // --- where tiles are -------------------------------------------------------------------------------

  arrange() {
    const width = this.box.clientWidth - 2 * PAD;
    const height = this.box.clientHeight - PAD;
    const key = `${this.map.version} ${this.map.names.length} ${width} ${height} ${this.wanted}`;
    if (key === this.key && this.groups === this.arrangedBy) return;
    this.key = key;
    this.arrangedBy = this.groups;
    const groups = this.grouped();
    const size = this.wanted || this.fitting(groups, width, height);
    this.size = size;
    this.columns = Math.max(1, Math.floor(width / size));
    let top = PAD;
    this.layout = groups.map(([label, nodes]) => {
      const rows = Math.ceil(nodes.length / this.columns);
      const one = { label, nodes, top: top + (label === null ? 0 : HEAD), rows };
      top = one.top + rows * size + GAP;
      return one;
    });
    this.order = this.layout.flatMap((one) => one.nodes);
    this.height = top;
    this.sizer.style.height = `${Math.max(top, height + PAD)}px`;
  }

  grouped() {
    if (!this.groups) return [[null, this.map.names.map((_, index) => index)]];
    const found = new Map();
    this.groups.forEach((value, index) => {
      if (!found.has(value)) found.set(value, []);
      found.get(value).push(index);
    });
    return [...found].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([value, nodes]) => [value || this.without, nodes]);
  }

  fitting(groups, width, height) {
    for (let size = 64; size > LEAST; size -= 1) {
      const columns = Math.max(1, Math.floor(width / size));
      const needed = groups.reduce((sum, [label, nodes]) => sum + (label === null ? 0 : HEAD) + Math.ceil(nodes.length / columns) * size + GAP, 0);
      if (needed <= height) return size;
    }
    return LEAST;
  }

  // --- drawing ---------------------------------------------------------------------------------------

  palette() {
    if (this.colours) return this.colours;
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    const ramp = Array.from({ length: STEPS }, (_, step) => read(`--ramp-${step}`));
    this.colours = { ramp, over: read("--over"), none: read("--line"), text: read("--text"), soft: read("--soft"), mark: read("--mark"), page: read("--page"), focus: read("--accent"), inside: read("--inside") };
    return this.colours;
  }

  bucket(value) {
    if (value < 0) return STEPS + 1;
    if (value > 1000) return STEPS;
    return Math.min(STEPS - 1, Math.floor(value / (1000 / STEPS)));
  }

  draw() {
    const { canvas, box } = this;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = box.clientWidth;
    const height = box.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const pen = canvas.getContext("2d");
    const colours = this.palette();
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = colours.page;
    pen.fillRect(0, 0, width, height);
    const scrolled = box.scrollTop;
    const visible = this.visible(scrolled, height);
    this.drawHeads(pen, colours, scrolled, height);
    this.drawTiles(pen, colours, visible);
    this.drawMarks(pen, colours, visible);
    if (this.size >= 16) this.drawPods(pen, colours, visible);
    if (this.size >= 56) this.drawNames(pen, colours, visible);
    this.drawFocus(pen, colours, visible);
  }

  /** [node, x, y] of each tile that can be seen. */
  visible(scrolled, height) {
    const { size, columns } = this;
    const found = [];
    for (const { nodes, top, rows } of this.layout) {
      const first = Math.max(0, Math.floor((scrolled - top) / size));
      const last = Math.min(rows, Math.ceil((scrolled + height - top) / size));
      for (let row = first; row < last; row += 1) {
        const end = Math.min(nodes.length, (row + 1) * columns);
        for (let at = row * columns; at < end; at += 1) found.push([nodes[at], PAD + (at - row * columns) * size, top + row * size - scrolled]);
      }
    }
    return found;
  }

  drawHeads(pen, colours, scrolled, height) {
    pen.fillStyle = colours.soft;
    pen.font = "600 13px system-ui, sans-serif";
    pen.textBaseline = "alphabetic";
    for (const { label, nodes, top } of this.layout) {
      const y = top - scrolled - 7;
      if (label !== null && y > -20 && y < height + 20) pen.fillText(`${label} (${nodes.length})`, PAD, y);
    }
  }

  drawTiles(pen, colours, visible) {
    const side = this.size - (this.size > 9 ? 2 : 1);
    const buckets = Array.from({ length: STEPS + 2 }, () => []);
    for (const tile of visible) buckets[this.bucket(this.column[tile[0]])].push(tile);
    buckets.forEach((tiles, number) => {
      if (!tiles.length) return;
      pen.fillStyle = number < STEPS ? colours.ramp[number] : number === STEPS ? colours.over : colours.none;
      pen.beginPath();
      for (const [, x, y] of tiles) pen.rect(x, y, side, side);
      if (number <= STEPS) pen.fill();
      else { pen.strokeStyle = colours.none; pen.stroke(); }
    });
  }

  /** A line across cordoned nodes, a corner on others with taints: not by colour alone. */
  drawMarks(pen, colours, visible) {
    const side = this.size - 2;
    const corner = Math.max(3, side / 4);
    pen.beginPath();
    for (const [node, x, y] of visible) {
      if (!(this.map.flags[node] & 1)) continue;
      pen.moveTo(x + 1, y + side - 1);
      pen.lineTo(x + side - 1, y + 1);
    }
    pen.strokeStyle = colours.mark;
    pen.lineWidth = Math.max(1.5, side / 14);
    pen.stroke();
    pen.beginPath();
    for (const [node, x, y] of visible) {
      if ((this.map.flags[node] & 3) !== 2) continue; // a cordoned node has a taint for that, too
      pen.moveTo(x + side - corner, y);
      pen.lineTo(x + side, y);
      pen.lineTo(x + side, y + corner);
    }
    pen.fillStyle = colours.mark;
    pen.fill();
    pen.lineWidth = 1;
  }

  /** A dot for each pod, as many as there is room for. */
  drawPods(pen, colours, visible) {
    const dot = this.size >= 40 ? 4 : 2;
    const step = dot + 2;
    const perRow = Math.max(1, Math.floor((this.size - 6) / step));
    const head = this.size >= 56 ? 18 : 3;
    const most = perRow * Math.max(1, Math.floor((this.size - head - 3) / step));
    for (const isDark of [false, true]) {
      pen.fillStyle = isDark ? colours.page : colours.inside;
      pen.beginPath();
      for (const [node, x, y] of visible) {
        if (this.isDark(node) !== isDark) continue;
        const pods = Math.min(this.map.pods[node], most);
        for (let pod = 0; pod < pods; pod += 1) pen.rect(x + 3 + (pod % perRow) * step, y + head + Math.floor(pod / perRow) * step, dot, dot);
      }
      pen.fill();
    }
  }

  /** Whether the tile is far from the page's colour, so that what is inside takes the page's. */
  isDark(node) {
    const bucket = this.bucket(this.column[node]);
    return bucket > STEPS / 2 && bucket <= STEPS;
  }

  drawNames(pen, colours, visible) {
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "top";
    for (const [node, x, y] of visible) {
      pen.fillStyle = this.isDark(node) ? colours.page : colours.inside;
      const name = this.map.names[node];
      const most = Math.floor((this.size - 8) / 6);
      pen.fillText(name.length > most ? `…${name.slice(1 - most)}` : name, x + 3, y + 3);
    }
  }

  drawFocus(pen, colours, visible) {
    for (const [node, x, y] of visible) {
      const isSelected = this.map.names[node] === this.selected;
      if (node !== this.focus && !isSelected) continue;
      pen.strokeStyle = colours.page;
      pen.lineWidth = 5;
      pen.strokeRect(x - 1, y - 1, this.size, this.size);
      pen.strokeStyle = colours.focus;
      pen.lineWidth = 2.5;
      pen.strokeRect(x - 1, y - 1, this.size, this.size);
      pen.lineWidth = 1;
    }
  }

  drawLegend(legend) {
    const colours = this.palette();
    if (legend.dataset.colours === colours.ramp.join()) return;
    legend.dataset.colours = colours.ramp.join();
    const swatch = (colour) => {
      const one = h("span", { class: "swatch" });
      one.style.background = colour;
      return one;
    };
    put(legend, h("span", {}, "0 %"), h("span", { class: "ramp", "aria-hidden": "true" }, colours.ramp.map(swatch)), h("span", {}, "100 %"),
      h("span", { class: "item" }, swatch(colours.over), "overcommitted"),
      h("span", { class: "item" }, h("span", { class: "swatch none" }), "not offered"),
      h("span", { class: "item" }, h("span", { class: "swatch cordoned" }), "cordoned"),
      h("span", { class: "item" }, h("span", { class: "swatch tainted" }), "tainted"));
  }

  // --- pointer and keys ------------------------------------------------------------------------------

  at(event) {
    const rect = this.canvas.getBoundingClientRect();
    const x = event.clientX - rect.left - PAD;
    const y = event.clientY - rect.top + this.box.scrollTop;
    const { size, columns } = this;
    for (const { nodes, top, rows } of this.layout) {
      if (y < top || y >= top + rows * size || x < 0 || x >= columns * size) continue;
      return nodes[Math.floor((y - top) / size) * columns + Math.floor(x / size)] ?? -1;
    }
    return -1;
  }

  hover(event) {
    const node = this.at(event);
    this.canvas.style.cursor = node < 0 ? "default" : "pointer";
    this.tip.hidden = node < 0;
    if (node < 0) return;
    this.tip.textContent = this.describe(node);
    const rect = this.box.getBoundingClientRect();
    const x = Math.min(event.clientX - rect.left + 14, this.box.clientWidth - this.tip.offsetWidth - 4);
    this.tip.style.left = `${Math.max(0, x)}px`;
    this.tip.style.top = `${event.clientY - rect.top + this.box.scrollTop + 16}px`;
  }

  describe(node) {
    const { map } = this;
    const shares = Object.entries(map.columns).slice(0, 4).map(([name, column]) => `${name} ${percent(column[node])}`);
    const flags = [map.flags[node] & 1 ? "cordoned" : "", map.flags[node] & 2 ? "tainted" : ""].filter(Boolean);
    return [map.names[node], ...shares, `${map.pods[node]} pods`, ...flags].join(" · ");
  }

  click(event) {
    const node = this.at(event);
    if (node < 0) return;
    this.focus = node;
    this.onOpen(this.map.names[node]);
  }

  setFocus(node) {
    this.focus = node;
    this.spoken.textContent = this.describe(node);
    const place = this.place(node);
    if (place) {
      if (place.y < this.box.scrollTop) this.box.scrollTop = place.y - HEAD;
      else if (place.y + this.size > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = place.y + this.size - this.box.clientHeight + 4;
    }
    this.schedule();
  }

  place(node) {
    for (const { nodes, top } of this.layout) {
      const at = nodes.indexOf(node);
      if (at >= 0) return { y: top + Math.floor(at / this.columns) * this.size };
    }
    return null;
  }

  keydown(event) {
    if (!this.order?.length) return;
    const at = Math.max(0, this.order.indexOf(this.focus));
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.columns, ArrowUp: -this.columns };
    if (event.key in steps) this.setFocus(this.order[Math.max(0, Math.min(this.order.length - 1, at + steps[event.key]))]);
    else if (event.key === "Home") this.setFocus(this.order[0]);
    else if (event.key === "End") this.setFocus(this.order.at(-1));
    else if (event.key === "Enter" || event.key === " ") this.onOpen(this.map.names[this.order[at]]);
    else return;
    event.preventDefault();
  }
}
