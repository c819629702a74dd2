// The screen Now.

import { HeatMap } from "./heatmap.js";
import { classChips } from "./filter.js";
import { nothingYet, Side, staleMark } from "./side.js";
import { CLASSES } from "./store.js";
import { TroubleList, Troubles } from "./trouble.js";
import { bdi, chip, clock, el, fill, kindName, num, panel, refill, shortened, sign, small, span, stateName, stateWord, t } from "./ui.js";

const [LATELY, SHOWN] = [900, 12];

export function open(app, root) {
	const top = el("div.top.bar.line");
	const undecided = el("p.top.unknown", { role: "status" });
	const body = el("div.left");
	const [bad, counts, lately, silent] = ["badNow", "kindsStates", "lately", "silentPlaces"].map((word) => el("section.block", { aria: t(word) }));
	const side = new Side(app);
	const map = new HeatMap({
		label: t("mapLabel"), describe: (number) => tip(app.store, number),
		choose: (number) => app.choose(number), open: (number) => app.openEntity(number),
	});
	const beside = panel(side.element, bad, lately, silent, counts);
	beside.classList.add("flat");
	bad.classList.add("bad-now");
	root.append(top, undecided, el("div.columns", body, beside));
	const found = new Troubles(app);
	const [list, few] = [new TroubleList(app, found), new TroubleList(app, found, SHOWN)];
	const badHead = el("h2");
	bad.append(badHead, few.element);
	let shown = "";

	function draw() {
		const { store, query } = app;
		const tally = store.counts();
		refill(top, head(app, tally));
		const selected = app.selected();
		side.element.hidden = !query.sel;
		side.show(selected, query.sel);
		const view = !tally.total ? "empty" : query.view === "table" ? "table" : "map";
		if (view === "empty") (shown === view ? refill : fill)(body, el("div.empty", { role: app.loaded ? null : "status" }, nothingYet(app)));
		else if (shown !== view) fill(body, { map, table: list }[view].element);
		shown = view;
		if (app.loaded) found.look(tally, view === "table");
		if (view === "table") list.draw();
		if (view === "map") {
			Object.assign(map, { selected, only: CLASSES.indexOf(query.class) });
			map.draw(store, query.kind ?? "");
		}
		bad.hidden = view !== "map";
		fill(badHead, t("badNow"), found.known ? el("span.soft", num(found.number)) : found.list && small(t("loading")));
		undecided.hidden = !found.undecided;
		refill(undecided, found.undecided && t(found.undecided));
		if (!bad.hidden) few.draw();
		refill(counts, kinds(app, tally));
		refill(lately, changes(app));
		refill(silent, quiet(app, tally));
		silent.hidden = !silent.childNodes.length;
	}

	return { draw, close() { [map, list, few].forEach((one) => one.close()); } };
}

function tip(store, number) {
	const state = store.stateOf(number);
	return [el("b", kindName(store.kindOf(number)), " ", bdi(store.ids[number])),
		el("div", `${stateName(state)} · ${stateWord(state)} · ${t("since")} ${clock(store.since[number])}`)];
}

function head(app, tally) {
	return [
		chip(app, { view: "" }, t("map")), chip(app, { view: "table" }, t("table")),
		el("b.wide", t("total", { n: num(tally.total) })),
		classChips(app, tally.classes),
		tally.stale ? staleMark(`${num(tally.stale)} ${t("stale")}`) : null,
	];
}

function line(app, kind, id, cls, said, ago) {
	return el("li", el("button", { onclick: () => app.router.set({ sel: `${kind}/${id}` }) },
		sign(cls), el("span.both", shortened(id), el("span.soft.cut", said)), small(span(ago))));
}

function kinds(app, tally) {
	const { store, query, router } = app;
	const found = new Map();
	store.states.forEach((state, at) => {
		if (tally.byState[at]) found.set(state.kind, [...(found.get(state.kind) ?? []), [state, tally.byState[at]]]);
	});
	const wholly = [];
	const lists = store.kinds.filter((kind) => found.has(kind)).map((kind) => {
		const states = found.get(kind);
		const total = states.reduce((sum, one) => sum + one[1], 0);
		const press = { "aria-pressed": String(query.kind === kind), onclick: () => router.set({ kind: query.kind === kind ? null : kind }) };
		if (states.every(([state]) => state.class === "good")) {
			wholly.push(el("button.plain", press, `${num(total)} × ${kindName(kind)}`));
			return null;
		}
		return [
			el("li", el("button", press, el("span"), el("b", kindName(kind)), el("b", num(total)))),
			merged(states).map(([state, count]) => el("li", el("a", { href: router.to("tree", { kind, state: stateName(state), class: state.class }) },
				sign(state.class), el("span.cut", { title: stateWord(state) }, stateName(state)), num(count)))),
		];
	});
	return [el("h2", t("kindsStates")), wholly.length ? el("div.bar.wholly", sign("good"), t("whollyGood"), wholly) : null, el("ul.list", lists)];
}

// The same label and class are one line.
function merged(states) {
	const found = new Map();
	for (const [state, count] of states) {
		const key = `${state.class} ${stateName(state)}`;
		found.set(key, [state, (found.get(key)?.[1] ?? 0) + count]);
	}
	return [...found.values()].sort((a, b) => CLASSES.indexOf(a[0].class) - CLASSES.indexOf(b[0].class) || b[1] - a[1]);
}

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
	if (!found.length) return [];
	return [
		el("h2", t("silentPlaces"), el("span.soft", stale ? `${num(stale)} ${t("stale")}` : "")),
		el("ul.list", found.slice(0, SHOWN).map((number) => el("li", el("a", { href: router.to("tree", { id: store.root(number), sel: app.nameOf(number) }) },
			sign("silent"), bdi(store.ids[number], ".cut"), small(kindName(store.kindOf(number))))))),
	];
}
