// The screen Now: a cell for each entity, counts, what changed lately, what is silent.

import { get } from "./api.js";
import { HeatMap } from "./heatmap.js";
import { badges, nothingYet, Side, staleMark, WORST } from "./side.js";
import { CLASSES, nameIn } from "./store.js";
import { bdi, chip, clock, el, fill, glyph, kindName, num, panel, refill, small, span, stateMark, stateName, t, table } from "./ui.js";

const LATELY = 900;
const SHOWN = 12;
const EVERY = 10_000;
const LISTED = 2000;

/** The screen in an element. `draw` shows what the address and the store say. */
export function open(app, root) {
	const top = el("div.top.bar");
	const body = el("div.left");
	const [bad, counts, lately, silent] = ["badNow", "kindsStates", "lately", "silentPlaces"].map((word) => el("section.block", { "aria-label": t(word) }));
	const side = new Side(app);
	const map = new HeatMap({
		label: t("mapLabel"), describe: (number) => tip(app.store, number),
		choose: (number) => app.choose(number), open: (number) => app.openEntity(number),
	});
	const beside = panel(side.element, bad, silent, counts, lately);
	beside.classList.add("flat");
	bad.classList.add("bad-now");
	root.append(top, el("div.columns", body, beside));
	const timer = setInterval(() => app.past || document.hidden || ask(), EVERY);
	let asked = null;
	let shown = "";

	async function ask() {
		const at = asked = app.at;
		const asks = Object.keys(app.store.places).map((cell) => get("/v1/overview", { at }, cell || undefined).then((one) => named(cell, one)).catch(() => null));
		const found = (await Promise.all(asks)).filter(Boolean);
		if (at !== asked) return;
		bad.hidden = !found.length;
		if (found.length) refill(bad, troubles(app, found));
	}

	function draw() {
		const { store, query } = app;
		const tally = store.counts();
		refill(top, head(app, tally));
		const selected = app.selected();
		side.element.hidden = !query.sel;
		if (query.sel) side.show(selected, query.sel);
		const view = !tally.total ? "empty" : query.view === "table" ? "table" : "map";
		const put = shown === view ? refill : fill;
		if (view === "empty") put(body, el("div.empty", { role: app.loaded ? null : "status" }, nothingYet(app)));
		else if (view === "table") put(body, trees(app));
		else if (shown !== "map") fill(body, map.element);
		shown = view;
		if (view === "map") {
			Object.assign(map, { selected, only: CLASSES.indexOf(query.class), recent: fresh(app) });
			map.draw(store, query.kind ?? "");
		}
		if (asked !== app.at) ask();
		refill(counts, kinds(app, tally));
		refill(lately, changes(app));
		refill(silent, quiet(app, tally));
	}

	return { draw, close() { map.close(); clearInterval(timer); } };
}

function tip(store, number) {
	const state = store.stateOf(number);
	return [el("b", kindName(store.kindOf(number)), " ", bdi(store.ids[number])),
		el("div", `${stateName(state)}${state?.conditions.length ? ` [${state.conditions.join(", ")}]` : ""} · ${t("since")} ${clock(store.since[number])}`)];
}

function head(app, tally) {
	return [
		el("b", t("total", { n: num(tally.total) })),
		WORST.filter((cls) => tally.classes[cls]).map((cls) => chip(app, { class: CLASSES[cls] }, el(`span.state.${CLASSES[cls]}`, glyph(CLASSES[cls]), el("b", num(tally.classes[cls])), t(CLASSES[cls])))),
		tally.stale ? staleMark(`${num(tally.stale)} ${t("stale")}`) : null,
		el("span.grow"),
		chip(app, { view: "" }, t("map")), chip(app, { view: "table" }, t("table")),
	];
}

/** The same as the map, for who does not see it: each tree; of a class or a kind, each entity. */
function trees(app) {
	const { store, query } = app;
	const counts = store.rollUp();
	const rows = listed(store, query).map((number) => [
		el("a", { href: app.router.to("tree", { id: store.root(number) }) }, bdi(store.ids[number])),
		kindName(store.kindOf(number)), stateMark(store.stateOf(number)), badges(counts, number * 6), clock(store.since[number])]);
	return el("div.scroll", { tabindex: 0, role: "region", "aria-label": t("table") }, table(["name", "kind", "state", "below", "#since"], rows));
}

function listed(store, { class: name, kind }) {
	if (!name && !kind) return store.children().tops.slice(0, LISTED);
	const fits = (at) => store.isThere(at) && (!kind || store.kindOf(at) === kind) && (!name || CLASSES[store.classAt(at)] === name);
	return [...store.order().filter(fits).subarray(0, LISTED)];
}

/** The troubles of a cell, with its name in their ids, and for how long they have lasted. */
function named(cell, { troubles: found, numbers, time }) {
	const list = found.map((one) => ({ ...one, id: cell ? nameIn(cell, one.id) : one.id, ago: (Date.parse(time) - Date.parse(one.since)) / 1000 }));
	return { list, number: numbers.troubles };
}

function troubles(app, parts) {
	const found = parts.flatMap((one) => one.list).sort((a, b) => b.ago - a.ago);
	return [
		el("h2", t("badNow"), el("span.soft", num(parts.reduce((sum, one) => sum + one.number, 0)))),
		el("ul.list", found.slice(0, SHOWN).map((one) => line(app, one.kind, one.id, one.class, Object.values(one.states).join(", "),
			one.ago, one.others ? el("b", `+${num(one.others)}`) : null))),
	];
}

function line(app, kind, id, cls, said, ago, more = null) {
	return el("li", el("button", { onclick: () => app.router.set({ sel: `${kind}/${id}` }) },
		el("span", { class: cls }, glyph(cls)), el("span.cut", bdi(id), el("span.soft", ` ${said}`)), el("span.bar", more, small(span(ago)))));
}

function kinds(app, tally) {
	const { store, query, router } = app;
	const found = new Map();
	store.states.forEach((state, at) => {
		if (tally.byState[at]) found.set(state.kind, [...(found.get(state.kind) ?? []), [state, tally.byState[at]]]);
	});
	const lists = store.kinds.filter((kind) => found.has(kind)).map((kind) => {
		const states = found.get(kind);
		const total = states.reduce((sum, one) => sum + one[1], 0);
		return [
			el("li", el("button", { "aria-pressed": String(query.kind === kind), onclick: () => router.set({ kind: query.kind === kind ? null : kind }) },
				el("span"), el("b", kindName(kind)), el("b", num(total)))),
			merged(states).map(([state, count]) => el("li", el("a", { href: router.to("tree", { kind, state: state.state, class: state.class }) },
				el(`span.${state.class}`, glyph(state.class)), el("span.cut", stateName(state)), num(count)))),
		];
	});
	return [el("h2", t("kindsStates")), el("ul.list", lists)];
}

/** States with the same label and class are one line. */
function merged(states) {
	const found = new Map();
	for (const [state, count] of states) {
		const key = `${state.class} ${stateName(state)}`;
		found.set(key, [state, (found.get(key)?.[1] ?? 0) + count]);
	}
	return [...found.values()].sort((a, b) => CLASSES.indexOf(a[0].class) - CLASSES.indexOf(b[0].class) || b[1] - a[1]);
}

/** What changed lately: what went bad, what is well again, the rest; newest first. */
export function latest(rows, until) {
	const seen = new Map();
	for (const row of rows) {
		if (row[8] < until - LATELY) continue;
		const key = `${row[1]}/${row[2]}`;
		const { facets = new Map(), wasBad } = seen.get(key) ?? {};
		seen.delete(key);
		seen.set(key, { row, facets: facets.set(row[3], row), wasBad: wasBad || row[6] === "bad" });
	}
	const found = { cameBad: [], wentBad: [], changed: [] };
	for (const { row, facets, wasBad } of [...seen.values()].reverse()) {
		const last = [...facets.values()];
		const bad = last.find((one) => one[6] === "bad");
		found[bad ? "cameBad" : wasBad && last.every((one) => one[6] === "good") ? "wentBad" : "changed"].push(bad ?? row);
	}
	return found;
}

function changes(app) {
	const until = app.clock();
	const found = latest(app.recent(), until);
	const parts = Object.entries(found).filter(([, list]) => list.length).map(([word, list]) => [
		el("h3", `${t(word)} · ${num(list.length)}`),
		el("ul.list", list.slice(0, SHOWN).map((row) => line(app, row[1], row[2], row[6], app.label(row), until - row[8]))),
	]);
	return [el("h2", t("lately")), ...(parts.length ? parts.flat() : [el("p.soft", t("quiet"))])];
}

function quiet(app, { stale }) {
	const { store, router } = app;
	const found = store.silent();
	if (!found.length) return [el("h2", t("silentPlaces")), el("p.soft", t("nothingSilent"))];
	return [
		el("h2", t("silentPlaces"), el("span.soft", stale ? `${num(stale)} ${t("stale")}` : "")),
		el("ul.list", found.slice(0, SHOWN).map((number) => el("li", el("a", { href: router.to("tree", { id: store.root(number), sel: app.nameOf(number) }) },
			el("span.silent", glyph("silent")), bdi(store.ids[number], ".cut"), small(kindName(store.kindOf(number))))))),
	];
}

/** The entities that changed just now, with when. */
function fresh(app) {
	const found = new Map();
	const since = app.clock() - 10;
	const rows = app.recent();
	for (let at = rows.length - 1; at >= 0 && found.size < 500 && rows[at][8] > since - 60; at--) {
		if (rows[at][8] < since) continue;
		const number = app.store.find(rows[at][1], rows[at][2]);
		if (number >= 0) found.set(number, rows[at][8]);
	}
	return found;
}

