// The screen Time: two moments compared, lanes over time for a tree, and how available things were.

import { get, name } from "./api.js";
import { Levels } from "./levels.js";
import { Rows } from "./rows.js";
import { described } from "./store.js";
import { bdi, chip, clock, el, fill, heads, kindName, moment, num, safe, seconds, sharp, small, stateMark, stateName, t } from "./ui.js";

const MOST = 5000;
const WHATS = { created: "created", gone: "deleted", changed: "changed", "came and went": "cameAndWent", "same again": "same" };

export function open(app, root) {
	const top = el("form.top.bar", { onsubmit: submit });
	const body = el("div.left");
	const views = { compare: new Compare(app), lanes: new Lanes(app), levels: new Levels(app) };
	let [drawn, asked, shown] = ["", "", null];
	root.append(top, body);

	function submit(event) {
		event.preventDefault();
		const { from, to, tree } = Object.fromEntries(new FormData(top));
		app.router.set({ from, to, tree }, true);
	}

	function draw() {
		const { query } = app;
		const view = query.view in views ? query.view : "compare";
		const key = [view, query.from, query.to, query.tree, query.lang].join("|");
		if (key !== drawn) head();
		drawn = key;
		if (key !== asked && app.loaded) {
			asked = key;
			shown = views[view];
			shown.ask().then(() => asked === key && fill(body, shown.content()), (problem) => asked === key && fill(body, failed(problem)));
			if (!body.childElementCount) fill(body, el("div.empty", { role: "status" }, t("loading")));
		}
	}

	function failed(problem) {
		return el("div.empty", { role: "alert" }, t("failed", { problem: problem.message }), el("button", { onclick: () => { asked = ""; app.touch(); } }, t("retry")));
	}

	function head() {
		const { query } = app;
		const field = (name, hint) => el("label.bar", el("span.soft", t(name)), el("input", { name, value: query[name], placeholder: hint, size: 14, autocomplete: "off" }));
		fill(top,
			field("from", "1h"), field("to", "now"), field("tree", t("allTrees")),
			el("button.primary", t("compare")), el("span.soft.small.wide", t("compareHint")), el("span.grow"),
			chip(app, { view: "" }, t("compare")), chip(app, { view: "lanes" }, t("lanes")), chip(app, { view: "levels" }, t("levels")));
	}

	return { draw, close: () => Object.values(views).forEach((one) => one.rows.close()) };
}

/** What differs between two moments. */
class Compare {
	constructor(app) {
		this.app = app;
		this.rows = new Rows({ label: t("compare"), draw: (index, row) => this.#row(index, row), choose: (index, event) => this.#take(index, event), open: (index) => app.goEntity(this.shown[index]) });
		this.only = "";
	}

	async ask() {
		const { from, to, tree } = this.app.query;
		this.found = await get("/v1/changes", { from, to, tree, limit: MOST });
		this.only = "";
	}

	content() {
		const { counts, total, items } = this.found;
		const shown = items.filter((one) => !this.only || one.what === this.only);
		if (!total) return el("div.empty", t("noChange"));
		const list = [
			el("div.top.bar",
				Object.entries(counts).map(([what, count]) => el("button.chip", { "aria-pressed": String(this.only === what), onclick: () => this.#choose(what) }, el("b", num(count)), word(what))),
				small(`${t("place")} ${num(this.found.from.place)} → ${num(this.found.place)}, ${moment(this.found.time)}`),
				total > items.length ? small(t("tooMany", { n: num(items.length) })) : null),
			heads("changed", "name", "before.wide", "after", "count.wide.end", "time.wide.end"),
			this.rows.element,
		];
		this.shown = shown;
		this.element = el("div.left.compare", list);
		this.rows.update(shown.length, -1);
		return this.element;
	}

	#choose(what) {
		this.only = this.only === what ? "" : what;
		this.element.replaceWith(this.content());
	}

	#take(index, event) {
		if (event.type === "click" && index === this.rows.selected) this.app.goEntity(this.shown[index]);
		else this.rows.update(this.rows.count, index);
	}

	#row(index, row) {
		const one = this.shown[index];
		const [before, after] = [one.from, one.to].map((states) => this.#states(one.kind, states));
		fill(row, el("span.soft", word(one.what)),
			el("span", bdi(one.id), small(` ${kindName(one.kind)}`)),
			el("span.wide", before), el("span", after),
			el("span.wide.end.soft", num(one.transitions)), el("span.wide.end.soft.small", one.last ? clock(one.last) : ""));
	}

	#states(kind, states) {
		return Object.entries(states ?? {}).map(([facet, one]) => [stateMark(described(this.app.machines, kind, facet, one)), " "]);
	}
}

function word(what) {
	return t(WHATS[what]);
}

/** Positions of times on a line from 0 to 1. Long quiet times are folded. */
export function scale(times) {
	const sorted = [...new Set(times)].sort((a, b) => a - b);
	const gaps = sorted.slice(1).map((one, at) => one - sorted[at]);
	let most = Infinity;
	for (let round = 0; round < 12 && gaps.length > 16; round++) {
		most = gaps.reduce((sum, gap) => sum + Math.min(gap, most), 0) / 12;
	}
	const positions = new Map([[sorted[0], 0]]);
	const total = gaps.reduce((sum, gap) => sum + Math.min(gap, most), 0) || 1;
	let at = 0;
	gaps.forEach((gap, index) => positions.set(sorted[index + 1], (at += Math.min(gap, most) / total)));
	return { of: (time) => positions.get(time) ?? 0, folds: gaps.flatMap((gap, index) => (gap > most * 1.01 ? [positions.get(sorted[index + 1])] : [])), sorted };
}

/** A lane for each facet of each entity of a tree. */
class Lanes {
	constructor(app) {
		this.app = app;
		this.rows = new Rows({ label: t("lanes"), draw: (index, row) => this.#row(index, row), choose: (index) => this.rows.update(this.rows.count, index), open: (index) => app.goEntity(this.lanes[index]) });
	}

	async ask() {
		const { store, query } = this.app;
		const { from, to, tree } = query;
		this.found = null;
		if (!tree) return;
		const top = store.children().tops.find((one) => store.ids[one] === tree) ?? store.ids.indexOf(tree);
		const kind = top >= 0 ? store.kindOf(top) : "cluster";
		this.found = await get(`/v1/timeline/${name(kind, tree)}`, { from, to });
		const lanes = this.found.lanes.map((lane) => ({ ...lane, bars: lane.intervals.map((one) => this.#bar(lane, one)) }));
		const above = [];
		for (const lane of lanes) {
			while (above.length && !lane.id.startsWith(`${above.at(-1)}/`)) above.pop();
			lane.name = lane.id.slice(above.length && above.at(-1).length + 1);
			above.push(lane.id);
		}
		const times = lanes.flatMap((lane) => lane.bars.flatMap((bar) => [bar.from, bar.to]));
		Object.assign(this, { lanes, scale: scale(times) });
	}

	#bar(lane, one) {
		const state = described(this.app.machines, lane.kind, lane.facet, one);
		return { from: seconds(one.from ?? this.found.from), to: seconds(one.to ?? this.found.to), state };
	}

	content() {
		const { app } = this;
		if (!this.found) {
			const { store } = app;
			return el("div.empty", t("allTrees"), el("div.bar", store.children().tops.slice(0, 60).map((one) =>
				el("button.chip", { onclick: () => app.router.set({ tree: store.ids[one] }) }, bdi(store.ids[one])))));
		}
		if (!this.lanes.length) return el("div.empty", t("noChange"));
		const axis = el("canvas", { "aria-hidden": "true" });
		const element = el("div.left.lanes", el("div.heads", el("span", t("name")), axis), this.rows.element);
		this.rows.update(this.lanes.length, -1);
		requestAnimationFrame(() => this.#axis(axis));
		return element;
	}

	#axis(canvas) {
		const [context, width, , colour] = sharp(canvas, 18);
		context.font = "11px system-ui, sans-serif";
		context.fillStyle = colour("soft");
		let free = 0;
		for (const time of this.scale.sorted) {
			const x = this.scale.of(time) * width;
			const text = clock(time);
			const wide = context.measureText(text).width;
			if (x < free || x + wide > width) continue;
			context.fillRect(x, 12, 1, 6);
			context.fillText(text, x + 3, 11);
			free = x + wide + 40;
		}
	}

	#row(index, row) {
		const lane = this.lanes[index];
		const canvas = row.querySelector("canvas") ?? el("canvas", { role: "img" });
		canvas.setAttribute("aria-label", lane.bars.map((bar) => `${stateName(bar.state)} ${clock(bar.from)}`).slice(-8).join(", "));
		fill(row, el("span.cut", { title: safe(lane.id) }, "\u2002".repeat(lane.depth), bdi(lane.name), small(` ${kindName(lane.kind)} ${lane.facet}`)), canvas);
		const [context, width, , colour] = sharp(canvas, 20);
		if (!width) return;
		for (const bar of lane.bars) {
			const x = this.scale.of(bar.from) * width;
			const wide = Math.max(1, this.scale.of(bar.to) * width - x - 0.6);
			context.fillStyle = colour(`cell-${bar.state.class}`);
			context.fillRect(x, bar.state.class === "good" ? 8 : 3, wide, bar.state.class === "good" ? 6 : 15);
			const text = stateName(bar.state);
			context.font = "11px system-ui, sans-serif";
			if (bar.state.class !== "good" && context.measureText(text).width < wide - 8) {
				context.fillStyle = colour("back");
				context.fillText(text, x + 4, 14);
			}
		}
		context.fillStyle = colour("back");
		for (const fold of this.scale.folds) context.fillRect(fold * width - 3, 0, 2, 20);
	}
}
