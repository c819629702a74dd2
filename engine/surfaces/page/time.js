// The screen Time: two moments compared; lanes; how available things were.

import { get, name } from "./api.js";
import { Levels } from "./levels.js";
import { Rows } from "./rows.js";
import { Side } from "./side.js";
import { described, WORST_FIRST } from "./store.js";
import { bdi, chip, clock, el, fill, heads, kindName, moment, num, panel, safe, seconds, sharp, shortened, sign, small, stateMark, stateName, t } from "./ui.js";

const MOST = 5000;
const WHATS = { created: "created", gone: "deleted", changed: "changed", "came and went": "cameAndWent", "same again": "same" };

export function open(app, root) {
	const top = el("form.top.bar.line", { onsubmit: submit });
	const body = el("div.left");
	const views = { compare: new Compare(app), lanes: new Lanes(app), levels: new Levels(app) };
	let [drawn, asked, shown] = ["", "", null];
	const side = new Side(app);
	const beside = panel(side.element);
	root.append(top, el("div.columns", body, beside));

	function submit(event) {
		event.preventDefault();
		const { from, to, tree } = Object.fromEntries(new FormData(top));
		app.router.set({ from, to, tree }, true);
	}

	function draw() {
		const { query } = app;
		const view = query.view in views ? query.view : "compare";
		const key = [view, query.from, query.to, query.tree, query.lang, query.were].join("|");
		beside.hidden = !query.sel;
		side.show(app.selected(), query.sel);
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
		app.missed = true;
		return el("div.empty", { role: "alert" }, t("failed", { problem: problem.message }), el("button", { onclick: () => { asked = ""; app.touch(); } }, t("retry")));
	}

	function head() {
		const { query } = app;
		const field = (name, hint) => el("label.bar", el("span.soft", t(name)), el("input", { name, value: query[name], placeholder: hint, size: 14, autocomplete: "off" }));
		fill(top,
			chip(app, { view: "" }, t("compare")), chip(app, { view: "lanes" }, t("lanes")), chip(app, { view: "levels" }, t("levels")), ["15m", "1h", "24h"].map((from) => chip(app, { from, to: "" }, from)),
			query.view === "lanes" ? chip(app, { were: "bad" }, sign("bad"), t("wereBad")) : null,
			field("from", "1h"), field("to", "now"), field("tree", t("allTrees")), el("button.primary", t("show")), el("span.soft.small.wide", t("compareHint")));
	}

	return { draw, close: () => Object.values(views).forEach((one) => one.rows.close()) };
}

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
		const { kind, id } = this.shown[index];
		if (event.type === "click" && index === this.rows.selected) return this.app.goEntity(this.shown[index]);
		this.rows.update(this.rows.count, index);
		this.app.router.set({ sel: `${kind}/${id}` });
	}

	#row(index, row) {
		const one = this.shown[index];
		const [before, after] = [one.from, one.to].map((states) => this.#states(one.kind, states));
		fill(row, el("span.soft", word(one.what)),
			el("span.both", shortened(one.id), small(kindName(one.kind))),
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

// What lasts, lasts until now.
export function rangeOf(app, found, to) {
	return [seconds(found.from), to ? seconds(found.to) : Math.max(seconds(found.to), app.clock())];
}

export function barsOf(app, found, { kind, facet, intervals }, [from, to]) {
	return intervals.map((one) => ({ at: one.from, from: seconds(one.from ?? found.from), to: one.to && one.to !== found.to ? seconds(one.to) : to, state: described(app.machines, kind, facet, one) }))
		.filter((one) => one.to >= from);
}

// Bars that can be seen: runs of shorter ones than `least` seconds become one, as bad as the worst.
export function visible(bars, least) {
	const found = [];
	for (const bar of bars) {
		const last = found.at(-1);
		const short = bar.to - bar.from < least;
		if (short && last?.many && bar.to - last.from < 4 * least) {
			Object.assign(last, { to: bar.to, many: last.many + 1, state: worse(last.state, bar.state) });
		} else found.push({ ...bar, many: Number(short) });
	}
	return found;
}

function worse(one, other) {
	return WORST_FIRST.indexOf(other.class) < WORST_FIRST.indexOf(one.class) ? other : one;
}

export function paintBars(canvas, bars, [from, to]) {
	const [context, width, height, colour] = sharp(canvas);
	if (!width) return;
	const scale = width / (to - from || 1);
	context.font = "11px system-ui, sans-serif";
	for (const { from: begin, to: end, state, many } of visible(bars, 3 / scale)) {
		const [x, good] = [(begin - from) * scale, state.class === "good"];
		const wide = Math.max(2, (end - begin) * scale - 0.6);
		context.fillStyle = colour(`cell-${state.class}`);
		context.fillRect(x, good ? height * 0.4 : 3, wide, good ? 6 : height - 5);
		const text = many > 1 ? `${many}×` : stateName(state);
		if (good || context.measureText(text).width > wide - 8) continue;
		context.fillStyle = colour("back");
		context.fillText(text, x + 4, height - 6);
	}
}

const STEPS = [0.001, 0.01, 0.1, 1, 5, 15, 60, 300, 900, 1800, 3600, 10_800, 43_200, 86_400, 604_800, 2_592_000];

export function paintAxis(canvas, [from, to]) {
	const [context, width, , colour] = sharp(canvas, 18);
	const scale = width / (to - from || 1);
	const step = STEPS.find((one) => one * scale > 70) ?? (to - from) / 4;
	const zone = new Date(from * 1000).getTimezoneOffset() * 60;
	context.font = "11px system-ui, sans-serif";
	context.fillStyle = colour("soft");
	for (let time = Math.ceil((from - zone) / step) * step + zone; time < to; time += step) {
		const x = (time - from) * scale;
		context.fillRect(x, 12, 1, 6);
		if (x + 55 < width) context.fillText(step < 1 ? `${clock(time)}${(time % 1).toFixed(3).slice(1)}` : clock(time), x + 3, 11);
	}
}

class Lanes {
	constructor(app) {
		this.app = app;
		this.rows = new Rows({ label: t("lanes"), draw: (index, row) => this.#row(index, row), choose: (index) => {
			this.rows.update(this.rows.count, index);
			app.router.set({ sel: `${this.lanes[index].kind}/${this.lanes[index].id}` });
		}, open: (index) => app.goEntity(this.lanes[index]) });
	}

	async ask() {
		const { store, query } = this.app;
		const { from, to, tree } = query;
		this.found = null;
		if (!tree) return;
		const top = store.children().tops.find((one) => store.ids[one] === tree) ?? store.ids.indexOf(tree);
		const kind = top >= 0 ? store.kindOf(top) : "cluster";
		this.found = await get(`/v1/timeline/${name(kind, tree)}`, { from, to });
		const range = rangeOf(this.app, this.found, to);
		const lanes = this.found.lanes.map((lane) => ({ ...lane, bars: barsOf(this.app, this.found, lane, range) }));
		const above = [];
		for (const lane of lanes) {
			while (above.length && !lane.id.startsWith(`${above.at(-1)}/`)) above.pop();
			lane.name = lane.id.slice(above.length && above.at(-1).length + 1);
			above.push(lane.id);
		}
		Object.assign(this, { every: lanes, range });
	}

	content() {
		const { app } = this;
		if (!this.found) {
			const { store } = app;
			return el("div.empty", t("allTrees"), el("div.bar", store.children().tops.slice(0, 60).map((one) =>
				el("button.chip", { onclick: () => app.router.set({ tree: store.ids[one] }) }, bdi(store.ids[one])))));
		}
		const bad = app.query.were === "bad";
		this.lanes = this.every.filter(({ bars }) => !bad || bars.some((bar) => bar.state.class === "bad"));
		const axis = el("canvas", { "aria-hidden": "true" });
		const element = el("div.left.lanes", el("div.heads", el("span", t("name")), axis), this.lanes.length ? this.rows.element : el("div.empty", t("noFit")));
		this.rows.update(this.lanes.length, -1);
		requestAnimationFrame(() => paintAxis(axis, this.range));
		return element;
	}

	#row(index, row) {
		const lane = this.lanes[index];
		const canvas = row.querySelector("canvas") ?? el("canvas", { role: "img" });
		canvas.setAttribute("aria-label", lane.bars.map((bar) => `${stateName(bar.state)} ${clock(bar.from)}`).slice(-8).join(", "));
		fill(row, el("span.cut", { title: safe(lane.id) }, "\u2002".repeat(lane.depth), bdi(this.app.query.were ? lane.id : lane.name), small(` ${kindName(lane.kind)} ${lane.facet}`)), canvas);
		paintBars(canvas, lane.bars, this.range);
	}
}
