// The screen Now: a cell for each entity, counts, what changed lately, what is silent.

import { bdi, el, fill, glyph, panel } from "./dom.js";
import { clock, number as num, span } from "./format.js";
import { HeatMap } from "./heatmap.js";
import { badges, Side, stateMark } from "./side.js";
import { CLASSES } from "./store.js";
import { kindName, stateName, t } from "./words.js";

const LATELY = 900;
const SHOWN = 12;
const LISTED = 2000;

/** The screen in an element. `draw` shows what the address and the store say. */
export function open(app, root) {
	const top = el("div.top.bar");
	const body = el("div.left");
	const [counts, lately, silent] = ["kindsStates", "lately", "silentPlaces"].map((word) => el("section.block", { "aria-label": t(word) }));
	const side = new Side(app);
	const map = new HeatMap({
		label: t("mapLabel"), describe: (number) => tip(app.store, number),
		choose: (number) => app.choose(number), open: (number) => app.openEntity(number),
	});
	fill(root, el("h1.hidden-text", t("now")), top, el("div.columns", body, panel(side.element, counts, lately, silent)));
	let shown = "";

	function draw() {
		const { store, query } = app;
		const tally = store.counts();
		fill(top, ...head(app, tally));
		const selected = app.selected();
		side.element.hidden = !query.sel;
		if (query.sel) side.show(selected, query.sel);
		const view = !tally.total ? "empty" : query.view === "table" ? "table" : "map";
		if (view === "empty") fill(body, empty(app));
		else if (view === "table") fill(body, table(app));
		else if (shown !== "map") fill(body, map.element);
		shown = view;
		if (view === "map") {
			Object.assign(map, { selected, only: CLASSES.indexOf(query.class), recent: fresh(app) });
			map.draw(store, query.kind ?? "");
		}
		fill(counts, ...kinds(app, tally));
		fill(lately, ...changes(app));
		fill(silent, ...quiet(app));
	}

	return { draw, close: () => map.close() };
}

function tip(store, number) {
	const state = store.stateOf(number);
	return [el("b", kindName(store.kindOf(number)), " ", bdi(store.ids[number])),
		el("div", `${stateName(state)}${state?.conditions.length ? ` [${state.conditions.join(", ")}]` : ""} · ${t("since")} ${clock(store.since[number])}`)];
}

function head(app, tally) {
	const { query, router } = app;
	const chips = CLASSES.map((name, cls) => (tally.classes[cls] ? el("button", {
		class: "chip", "aria-pressed": String(query.class === name),
		onclick: () => router.set({ class: query.class === name ? null : name }),
	}, el(`span.state.${name}`, glyph(name), el("b", num(tally.classes[cls])), t(name))) : null));
	return [
		el("b", t("total", { n: num(tally.total) })), ...chips,
		tally.stale ? el("span.badge.silent", glyph("silent"), `${num(tally.stale)} ${t("stale")}`) : null,
		el("span.grow"),
		["map", "table"].map((view) => el("button.chip", { "aria-pressed": String((query.view ?? "map") === view), onclick: () => router.set({ view: view === "map" ? null : view }) }, t(view))),
	];
}

function empty(app) {
	if (!app.loaded) return el("div.empty", { role: "status" }, app.past ? t("loading") : t(app.stream.status === "away" ? "serverAway" : "loading"));
	return el("div.empty", el("h2", t("noEntity")), t("publishOne"), el("code", "phaseline publish cluster create c1"));
}

/** The same as the map, for who does not see it: each tree with its counts. */
function table(app) {
	const { store } = app;
	const counts = store.rollUp();
	const { tops } = store.children();
	const rows = tops.slice(0, LISTED).map((number) => el("tr",
		el("td", el("a", { href: app.router.to("tree", { id: store.root(number) }) }, bdi(store.ids[number]))),
		el("td", kindName(store.kindOf(number))), el("td", stateMark(store.stateOf(number))),
		el("td", badges(counts, number * 6)), el("td.end", clock(store.since[number]))));
	return el("div.scroll", { tabindex: 0, role: "region", "aria-label": t("table") }, el("table",
		el("thead", el("tr", ["name", "kind", "state", "below"].map((word) => el("th", { scope: "col" }, t(word))), el("th", { scope: "col", class: "end" }, t("since")))),
		el("tbody", rows)));
}

function kinds(app, tally) {
	const { store, query, router } = app;
	const found = new Map();
	store.states.forEach((state, at) => {
		if (tally.byState[at]) found.set(state.kind, [...(found.get(state.kind) ?? []), [state, tally.byState[at], state.class]]);
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
		el("ul.list", list.slice(0, SHOWN).map((row) => el("li", el("button", { onclick: () => app.router.set({ sel: `${row[1]}/${row[2]}` }) },
			el("span", { class: row[6] }, glyph(row[6])),
			el("span.cut", bdi(row[2]), el("span.soft", ` ${app.label(row)}`)),
			el("span.soft.small", span(until - row[8])))))),
	]);
	return [el("h2", t("lately")), ...(parts.length ? parts.flat() : [el("p.soft", t("quiet"))])];
}

function quiet(app) {
	const { store, router } = app;
	const found = store.silent();
	const stale = store.counts().stale;
	if (!found.length) return [el("h2", t("silentPlaces")), el("p.soft", t("nothingSilent"))];
	return [
		el("h2", t("silentPlaces"), el("span.soft", stale ? `${num(stale)} ${t("stale")}` : "")),
		el("ul.list", found.slice(0, SHOWN).map((number) => el("li", el("a", { href: router.to("tree", { id: store.root(number), sel: app.nameOf(number) }) },
			el("span.silent", glyph("silent")), bdi(store.ids[number], ".cut"), el("span.soft.small", kindName(store.kindOf(number))))))),
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

