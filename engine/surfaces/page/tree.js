// The screen Tree: one tree or all, as rows.

import { classChips, clear, fields, fitting } from "./filter.js";
import { Rows } from "./rows.js";
import { badges, nothingYet, Side, WORST } from "./side.js";
import { CLASSES, STALE } from "./store.js";
import { bdi, choice, el, fill, glyph, heads, kindName, moment, num, panel, refill, safe, shortened, small, span, stateMark, stateName, t } from "./ui.js";

const GROUPED = 200;
const PAUSE = 500;
const BAD = CLASSES.indexOf("bad");

// Rows of what is open: number, level; of a group its state and members.
export class Outline {
	constructor(store) {
		this.store = store;
		this.open = new Set();
		this.rows = [];
		this.fits = null;
	}

	// Make the rows. root: a tree, or empty. fits(number): null is all. rank(number): the lowest first.
	update(root, fits, rank = () => 0) {
		const { store } = this;
		this.below = store.children();
		this.rows = [];
		this.shown = fits ? this.#wanted(fits) : null;
		const tops = root ? this.below.tops.filter((one) => store.root(one) === root) : this.below.tops;
		this.#add(tops.toSorted((a, b) => rank(a) - rank(b)), 1, "top");
	}

	#wanted(fits) {
		const { store } = this;
		const found = new Uint8Array(store.size);
		const order = store.order();
		for (let at = order.length - 1; at >= 0; at--) {
			const number = order[at];
			if (!store.isShown(number)) continue;
			if (store.isThere(number) && fits(number)) found[number] = 2;
			const above = store.above(number);
			if (found[number] && above >= 0) found[above] ||= 1;
		}
		return found;
	}

	#add(numbers, level, key) {
		const shown = this.shown ? numbers.filter((one) => this.shown[one]) : numbers;
		if (shown.length > GROUPED && level > 1) this.#addGroups(shown, level, key);
		else this.#addAll(shown, level);
	}

	#addAll(shown, level) {
		const size = shown.length;
		for (let at = 0; at < size; at++) {
			const number = shown[at];
			const children = this.#children(number);
			const open = children.length > 0 && this.isOpen(number);
			this.rows.push({ number, level, at: at + 1, size, has: children.length > 0, open });
			if (open) this.#add(children, level + 1, number);
		}
	}

	#addGroups(shown, level, key) {
		const groups = new Map();
		for (const number of shown) {
			const state = this.store.state[number];
			if (!groups.has(state)) groups.set(state, []);
			groups.get(state).push(number);
		}
		const list = [...groups].sort((a, b) => ORDER[this.store.classOf[a[0]]] - ORDER[this.store.classOf[b[0]]] || b[1].length - a[1].length);
		list.forEach(([state, members], at) => {
			const name = `${key} ${state}`;
			const open = this.open.has(name);
			this.rows.push({ number: -1, group: name, state, members, level, at: at + 1, size: list.length, has: true, open });
			if (open) this.#addAll(members, level + 1);
		});
	}

	#children(number) {
		const { list, start } = this.below;
		const found = list.subarray(start[number], start[number + 1]);
		return this.shown ? found.filter((one) => this.shown[one]) : found;
	}

	// Whether its children are shown. With a filter, all that leads to what fits is open.
	isOpen(number) {
		return this.open.has(number) || (this.shown !== null && this.shown[number] === 1 && !this.open.has(`closed ${number}`));
	}

	toggle(row, open = !row.open) {
		const key = row.group ?? row.number;
		if (open) this.open.add(key);
		else this.open.delete(key);
		if (row.number >= 0) this.open[open ? "delete" : "add"](`closed ${row.number}`);
	}

	reveal(number) {
		const { store } = this;
		for (let at = store.above(number), child = number; at >= 0; child = at, at = store.above(at)) {
			this.open.add(at);
			this.open.add(`${at} ${store.state[child]}`);
		}
	}
}

const ORDER = [4, 3, 0, 2, 5, 1];

export function open(app, root) {
	let outline = new Outline(app.store);
	let [made, revealed, counts, known, due] = ["", "", null, "", 0];
	const side = new Side(app);
	const rows = new Rows({ role: "tree", label: t("tree"), draw: drawRow, choose: chooseRow, open: openRow, key });
	rows.element.id = "tree";
	const body = el("div.grow.left");
	const top = heads("name", "state", "facets.wide", "below.wide", "since.end");
	const filters = el("div.top.bar.line", { role: "search", aria: t("filter") });
	const nothing = el("div.empty");
	root.append(filters, el("div.columns", body, panel(side.element)));
	fill(body, top, rows.element, nothing);

	function draw() {
		const { store, query, router } = app;
		if (outline.store !== store) {
			outline = new Outline(store);
			made = revealed = "";
		}
		const { id } = router.now;
		const fits = fitting(store, query);
		refill(filters, head());
		const selected = app.selected();
		if (query.sel && selected >= 0 && revealed !== query.sel) {
			outline.reveal(selected);
			made = "";
		}
		counts = store.rollUp();
		const ranks = id || query.sort === "name" ? [] : store.children().tops.map(rank);
		const wanted = [id, query.kind, query.state, query.class, query.q, query.sort].join("|");
		const now = `${store.structure} ${fits && store.version} ${ranks}`;
		if (!made && id) for (const top of store.children().tops) if (store.root(top) === id) outline.open.add(top);
		if (wanted !== made || (now !== known && Date.now() > due)) {
			outline.update(id, fits, ranks.length ? rank : undefined);
			[made, known, due] = [wanted, now, Date.now() + PAUSE];
		}
		const at = selected < 0 ? -1 : outline.rows.findIndex((row) => row.number === selected);
		rows.update(outline.rows.length, at);
		if (query.sel && revealed !== query.sel && at >= 0) {
			revealed = query.sel;
			rows.reveal(at);
		}
		rows.element.hidden = top.hidden = !outline.rows.length;
		nothing.hidden = !rows.element.hidden;
		if (rows.element.hidden) empty(fits);
		side.show(selected, query.sel);
	}

	// By the worst in a tree: bad, unknown, the rest.
	function rank(number) {
		const at = WORST.slice(0, 3).findIndex((cls) => cls !== 1 && (counts[number * 6 + cls] || app.store.classAt(number) === cls));
		return at < 0 ? 3 : at;
	}

	function head() {
		const { id } = app.router.now;
		const { query, router } = app;
		return [
			id ? el("span.bar.crumbs", el("a", { href: router.to("tree") }, t("allTrees")), "›", el("b.cut", bdi(id))) : el("b", t("allTrees")),
			el("span.grow"), classChips(app), fields(app),
			id ? null : choice("sort", ["worst", "name"].map((one) => [one, t(`sort${one}`)]), query.sort ?? "worst", (sort) => router.set({ sort })),
		];
	}

	function empty(fits) {
		const { id } = app.router.now;
		if (!app.loaded || (!fits && !id)) fill(nothing, nothingYet(app));
		else if (fits) fill(nothing, t("noFit"), el("button", { onclick: () => clear(app) }, t("clearFilters")));
		else fill(nothing, t("notThere", { name: safe(id) }), el("a", { href: app.router.to("tree") }, t("allTrees")));
	}

	function drawRow(index, element) {
		const row = outline.rows[index];
		const { store } = app;
		element.setAttribute("aria-level", row.level);
		element.setAttribute("aria-setsize", row.size);
		element.setAttribute("aria-posinset", row.at);
		if (row.has) element.setAttribute("aria-expanded", String(row.open));
		else element.removeAttribute("aria-expanded");
		const twist = el("span.twist", { "aria-hidden": "true" }, row.has ? (row.open ? "▼" : "▶") : "");
		const name = el("span.name", twist);
		name.style.setProperty("--level", row.level - 1);
		if (row.number < 0) {
			const state = store.states[row.state];
			name.append(el(`span.cut.state.${state.class}`, glyph(state.class), `${num(row.members.length)} × ${stateName(state)}`));
			refill(element, name);
			return;
		}
		const { number } = row;
		const id = store.ids[number];
		const above = store.ids[store.above(number)];
		name.append(shortened(above !== undefined && id.startsWith(above) ? id.slice(above.length + 1) : id),
			counts[number * 6 + BAD] ? el("b.bad.narrow", { title: t("below") }, glyph("bad"), num(counts[number * 6 + BAD])) : "",
			small(kindName(store.kindOf(number))));
		const state = el("span.cut", stateMark(store.stateOf(number)));
		if (store.flags[number] & STALE) state.append(" ", el("span.silent", { title: t("stale") }, glyph("silent")));
		const others = el("span.badges.wide", store.facets(number).map((one) => el("span", { class: `badge ${one.class}`, title: one.facet }, glyph(one.class), stateName(one))));
		refill(element, name, state, others, el("span.wide", badges(counts, number * 6)),
			el("span.soft.small.end", { title: moment(store.since[number]) }, span(app.clock() - store.since[number])));
	}

	function chooseRow(index, event) {
		const row = outline.rows[index];
		const twisted = event.target.closest?.(".twist") && row.has;
		if (row.number < 0 || twisted) {
			if (event.type === "click") fold(row);
			rows.update(rows.count, index);
			return;
		}
		revealed = app.nameOf(row.number);
		app.choose(row.number);
	}

	function openRow(index) {
		const row = outline.rows[index];
		if (row.number < 0) fold(row);
		else app.openEntity(row.number);
	}

	function fold(row, open) {
		outline.toggle(row, open);
		made = "";
		app.touch();
	}

	function key(event) {
		const index = rows.selected;
		const row = outline.rows[index];
		if (!row) return false;
		const [right, left] = [["ArrowRight", "l"], ["ArrowLeft", "h"]].map((one) => one.includes(event.key));
		if (right && row.has && !row.open) fold(row, true);
		else if (right && row.open) rows.move(index + 1, event);
		else if (left && row.open) fold(row, false);
		else if (left && row.level > 1) rows.move(outline.rows.findLastIndex((one, at) => at < index && one.level < row.level), event);
		else return false;
		event.preventDefault();
		event.stopPropagation();
		return true;
	}

	return { draw, close: () => rows.close() };
}
