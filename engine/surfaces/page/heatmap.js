// Every entity as a cell, grouped by tree.

import { CLASSES } from "./store.js";
import { el, pixelRatio, safe } from "./ui.js";

const LARGEST = 36;
const SMALLEST_SIGN = 8;
const LABEL = 14;
const NONE = 255;

// Where cells are. blocks: runs of cells of a tree, in equal shelves; from: the first.
export function layout(sizes, width, height) {
	const total = sizes.reduce((sum, one) => sum + one, 0);
	if (!total || width < 20 || height < 20) return { cell: 0, blocks: [], high: 1, label: 0 };
	const many = sizes.length > 400;
	for (let cell = LARGEST; cell > 1; cell--) {
		const label = many || cell < 4 ? 0 : LABEL;
		const found = shelves(sizes, width, height, cell, label, many);
		if (found) return found;
	}
	return shelves(sizes, width, Infinity, 1, 0, true);
}

function shelves(sizes, width, height, cell, label, many) {
	const across = Math.floor(width / cell);
	const gap = many ? (cell > 3 ? 2 : 0) : Math.max(4, Math.min(12, cell));
	const mean = sizes.reduce((sum, one) => sum + one, 0) / sizes.length;
	const high = Math.max(1, Math.min(Math.ceil(Math.sqrt(mean * 0.7)), Math.floor((height - label) / cell) || 1));
	const shelf = high * cell + label + gap;
	const blocks = [];
	let [x, y, from] = [0, 0, 0];
	for (let tree = 0; tree < sizes.length; tree++) {
		let first = 0;
		while (first < sizes[tree]) {
			const wide = Math.ceil((sizes[tree] - first) / high);
			const room = Math.floor((width - x) / cell);
			if (x > 0 && (room < (wide > across ? 1 : wide) || (label && width - x < 44))) {
				[x, y] = [0, y + shelf];
				continue;
			}
			if (y + shelf - gap > height) return null;
			const taken = Math.min(wide, room);
			const count = Math.min(sizes[tree] - first, taken * high);
			blocks.push({ tree, first, from, count, x, y: y + label, wide: taken });
			first += count;
			from += count;
			x += Math.max(taken * cell, label ? 44 : 0) + gap;
			if (x >= width) [x, y] = [0, y + shelf];
		}
	}
	return { cell, blocks, high, label };
}

// The pixels of a cell of each class, shapes differ too; then those of classes that are not chosen.
function stamps(size, colours) {
	const full = CLASSES.map((name) => {
		const pixels = new Uint32Array(size * size);
		const inner = size > 3 ? size - 1 : size;
		for (let y = 0; y < inner; y++) {
			for (let x = 0; x < inner; x++) pixels[y * size + x] = colours[inCell(name, x, y, inner) ? name : `${name}-soft`];
		}
		return pixels;
	});
	return [...full, ...full.map((one) => one.map((pixel) => (pixel ? (pixel & 0x00ffffff) | 0x30000000 : 0)))];
}

function inCell(name, x, y, size) {
	if (name === "good") return false;
	if (size < SMALLEST_SIGN - 1) return name !== "excused" || size < 4 || x === 0 || y === 0 || x === size - 1 || y === size - 1;
	const [u, v] = [(x + 0.5) / size, (y + 0.5) / size];
	const edge = Math.min(x, y, size - 1 - x, size - 1 - y) < Math.max(1, Math.round(size / 8));
	if (name === "busy") return u + v > 1 || edge;
	if (name === "bad") return !(Math.abs(u - 0.5) < 0.09 && v > 0.2 && v < 0.82 && !(v > 0.6 && v < 0.7));
	if (name === "excused") return edge || Math.abs(u - 0.5) + Math.abs(v - 0.5) < 0.3;
	if (name === "gone") return Math.abs(u - v) < 0.12 || Math.abs(u + v - 1) < 0.12;
	if (name === "unknown") return edge || (Math.abs(u - 0.5) < 0.15 && Math.abs(v - 0.5) < 0.15);
	return true;
}

// The map. describe(number): the text of a tip.
export class HeatMap {
	#cells = [];
	#trees = [];
	#treeOf = [];
	#plan = null;
	#size = [0, 0];
	#structure = "";
	#positions = null;
	#pixels = null;
	#shown = null;

	constructor({ label, choose, open, describe }) {
		Object.assign(this, { choose, open, describe, selected: -1, only: -1 });
		this.canvas = el("canvas", { tabindex: 0, role: "application", aria: label, onpointermove: (event) => this.#hover(event),
			onpointerleave: () => (this.tip.hidden = true), onclick: (event) => this.#click(event), onkeydown: (event) => this.#key(event) });
		this.tip = el("div.tip", { hidden: true });
		this.element = el("div.map", this.canvas, this.tip);
		this.watcher = new ResizeObserver(() => this.store && this.draw(this.store));
		this.watcher.observe(this.element);
	}

	close() {
		this.watcher.disconnect();
	}

	draw(store, kind = "") {
		const { clientWidth: width, clientHeight: height } = this.element;
		if (!width || !height) return;
		const changed = this.store !== store || this.kind !== kind;
		Object.assign(this, { store, kind });
		const structure = `${store.structure} ${width} ${height} ${pixelRatio()}`;
		if (changed || structure !== this.#structure) this.#arrange(width, height);
		this.#structure = structure;
		this.#paint();
	}

	#arrange(width, height) {
		const { store } = this;
		const wanted = this.kind ? store.kinds.indexOf(this.kind) : -1;
		const trees = new Map();
		for (const number of store.order()) {
			if (!store.isThere(number) || (wanted >= 0 && store.kind[number] !== wanted)) continue;
			const root = store.root(number);
			if (!trees.has(root)) trees.set(root, []);
			trees.get(root).push(number);
		}
		this.#trees = [...trees.keys()];
		const lists = [...trees.values()];
		this.#treeOf = lists.flatMap((one, at) => one.map(() => at));
		this.#cells = Int32Array.from(lists.flat());
		const ratio = pixelRatio();
		this.#size = [Math.floor(width * ratio), Math.floor(height * ratio)];
		this.#plan = layout(lists.map((one) => one.length), width, height);
		[this.canvas.width, this.canvas.height] = this.#size;
		this.#positions = this.scheme = null;
		this.cuts = {};
		this.#pixels = new Int32Array(this.#cells.length);
		for (const { from, count, x, y } of this.#plan.blocks) {
			for (let at = 0; at < count; at++) {
				const [left, top] = [x + Math.floor(at / this.#plan.high) * this.#plan.cell, y + (at % this.#plan.high) * this.#plan.cell];
				this.#pixels[from + at] = Math.round(top * ratio) * this.#size[0] + Math.round(left * ratio);
			}
		}
	}

	#colours() {
		const style = getComputedStyle(this.canvas);
		const pixel = (name) => {
			const [red, green, blue] = style.getPropertyValue(`--${name}`).match(/\w\w/g).map((one) => parseInt(one, 16));
			return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
		};
		const found = {};
		for (const name of CLASSES) {
			found[name] = pixel(`cell-${name}`);
			found[`${name}-soft`] = name === "bad" ? 0xffffffff : pixel(["busy", "good", "excused"].includes(name) ? `cell-${name}-soft` : "back");
		}
		return found;
	}

	#paint() {
		const { store } = this;
		const plan = this.#plan;
		const context = this.canvas.getContext("2d");
		const [width, height] = this.#size;
		context.clearRect(0, 0, width, height);
		if (!plan.cell) return;
		const ratio = pixelRatio();
		const size = Math.max(1, Math.floor(plan.cell * ratio));
		const scheme = getComputedStyle(this.canvas).getPropertyValue("--back");
		if (this.scheme !== scheme) {
			this.scheme = scheme;
			this.stamps = stamps(size, this.#colours());
			this.image = context.createImageData(width, height);
			this.#shown = new Uint8Array(this.#cells.length).fill(NONE);
		}
		const pixels = new Uint32Array(this.image.data.buffer);
		const bad = (this.bad = new Map());
		this.#cells.forEach((number, at) => {
			const cls = store.classAt(number);
			if (cls === 2) bad.set(this.#treeOf[at], (bad.get(this.#treeOf[at]) ?? 0) + 1);
			const look = this.only >= 0 && cls !== this.only ? cls + CLASSES.length : cls;
			if (this.#shown[at] !== look) blit(pixels, width, this.stamps[look], size, this.#pixels[at]);
			this.#shown[at] = look;
		});
		context.putImageData(this.image, 0, 0);
		this.#overlay(context, ratio);
	}

	#overlay(context, ratio) {
		const plan = this.#plan;
		const style = getComputedStyle(this.canvas);
		context.save();
		context.scale(ratio, ratio);
		if (plan.label) {
			context.font = "11px system-ui, sans-serif";
			let [x, y] = [-1, -1];
			for (const block of plan.blocks) {
				if (block.first && block.y === y && block.x > x) continue;
				[x, y] = [block.x, block.y];
				const room = Math.max(block.wide * plan.cell, 44);
				const sign = this.bad.has(block.tree) ? `▲${this.bad.get(block.tree)}` : "";
				const taken = sign ? context.measureText(sign).width + 3 : 0;
				context.fillStyle = style.getPropertyValue("--bad");
				context.fillText(sign, x, y - 4);
				context.fillStyle = style.getPropertyValue("--soft");
				const name = (this.cuts[`${block.tree} ${taken}`] ??= cut(context, safe(this.#trees[block.tree]), room - taken));
				context.fillText(name, x + taken, y - 4);
			}
		}
		context.strokeStyle = style.getPropertyValue("--accent");
		context.lineWidth = 2.5;
		if (this.selected >= 0) this.#frame(context, this.selected);
		context.restore();
	}

	#frame(context, number) {
		const at = this.#place(number);
		if (!at) return;
		const size = Math.max(this.#plan.cell - 1, 3) + 3;
		context.strokeRect(at[0] - 1.5, at[1] - 1.5, size, size);
	}

	#position(number) {
		if (!this.#positions) {
			this.#positions = new Int32Array(this.store.size).fill(-1);
			this.#cells.forEach((one, at) => (this.#positions[one] = at));
		}
		return this.#positions[number] ?? -1;
	}

	#place(number) {
		const at = this.#position(number);
		if (at < 0) return null;
		const [width, ratio] = [this.#size[0], pixelRatio()];
		return [(this.#pixels[at] % width) / ratio, Math.floor(this.#pixels[at] / width) / ratio];
	}

	hit(x, y) {
		const plan = this.#plan;
		if (!plan?.cell) return -1;
		for (const block of plan.blocks) {
			const column = Math.floor((x - block.x) / plan.cell);
			const row = Math.floor((y - block.y) / plan.cell);
			if (column < 0 || row < 0 || column >= block.wide || row >= plan.high) continue;
			const at = column * plan.high + row;
			return at < block.count ? this.#cells[block.from + at] : -1;
		}
		return -1;
	}

	#hover(event) {
		const number = this.hit(event.offsetX, event.offsetY);
		this.tip.hidden = number < 0;
		this.canvas.classList.toggle("over", number >= 0);
		if (number < 0) return;
		this.tip.replaceChildren(...this.describe(number));
		const { clientWidth, clientHeight } = this.element;
		const left = Math.min(event.offsetX + 14, clientWidth - this.tip.offsetWidth - 4);
		const low = event.offsetY + 18 + this.tip.offsetHeight > clientHeight;
		this.tip.style.translate = `${Math.max(4, left)}px ${low ? event.offsetY - this.tip.offsetHeight - 8 : event.offsetY + 16}px`;
	}

	#click(event) {
		const number = this.hit(event.offsetX, event.offsetY);
		if (number < 0) return this.choose(-1);
		if (number === this.selected) this.open(number);
		else this.choose(number);
	}

	#key(event) {
		const steps = { ArrowRight: this.#plan?.high, ArrowLeft: -this.#plan?.high, ArrowDown: 1, ArrowUp: -1 };
		if (event.key === "Enter" && this.selected >= 0) this.open(this.selected);
		else if (event.key in steps && this.#cells.length) {
			const from = this.selected < 0 ? -1 : this.#position(this.selected);
			const to = from < 0 ? 0 : from + steps[event.key];
			this.choose(this.#cells[Math.min(this.#cells.length - 1, Math.max(0, to))]);
		} else return;
		event.preventDefault();
	}
}

function cut(context, text, room) {
	for (let end = text.length, shown = text; ; shown = `${text.slice(0, --end)}…`) if (end < 1 || context.measureText(shown).width <= room) return shown;
}

// What is below the canvas is outside of the array.
function blit(pixels, width, stamp, size, at) {
	for (let row = 0; row < size; row++) {
		for (let column = 0; column < size; column++) pixels[at + row * width + column] = stamp[row * size + column];
	}
}
