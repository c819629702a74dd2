// What is bad now, by cause or flat.

import { get } from "./api.js";
import { fields, fitting } from "./filter.js";
import { Rows } from "./rows.js";
import { WORST } from "./side.js";
import { CLASSES, nameIn } from "./store.js";
import { chip, choice, el, fill, kindName, num, refill, shortened, sign, small, span, stateName, stateWord, t } from "./ui.js";

const [SHOWN, MOST, LARGE] = [12, 2000, 20_000];
// When the server is asked again: after a change, and else. In the past, once the place stands still.
const [SOON, LATER, STILL] = [2000, 10_000, 500];

// What is bad by cause, as the server groups it. number: of all. named: by kind/id. known: for what is shown.
// undecided: the word for events that no worker decides.
export class Troubles {
	constructor(app) {
		Object.assign(this, { app, list: null, number: 0, named: new Map(), asked: 0, next: 0, asking: false, known: false, undecided: "" });
	}

	// Ask, if it is time. all: every one, not only the first.
	look(tally, all) {
		const { at, past } = this.app;
		const [key, now] = [`${at} ${all}`, Date.now()];
		if (key !== this.key) Object.assign(this, { known: false, next: past && this.key ? now + STILL : 0, key });
		const changed = !past && tally.classes[2] !== this.bad && tally.total < LARGE;
		if (document.hidden || this.asking || now < (changed ? Math.min(this.next, this.asked + SOON) : this.next)) return;
		Object.assign(this, { asking: true, asked: now, next: now + LATER, bad: tally.classes[2] });
		this.#ask(at, all ? MOST : SHOWN);
	}

	async #ask(at, limit) {
		const { app, key } = this;
		const parts = await Promise.all(Object.keys(app.store.places).map((cell) =>
			get("/v1/overview", { at, limit, symptoms: limit }, cell || undefined).then((one) => [cell, one]).catch(() => null)));
		const found = parts.filter(Boolean);
		this.asking = false;
		if (!found.length) this.next = Math.min(this.next, Date.now() + SOON);
		if (key !== this.key || !found.length) return;
		this.known = true;
		this.undecided = found.some(([, one]) => one.deciding === "none") ? "noWorkerNow" : found.some(([, one]) => one.deciding === "some") ? "someWait" : "";
		if (at) this.next = Infinity;
		this.number = found.reduce((sum, [, one]) => sum + one.numbers.troubles, 0);
		this.list = found.flatMap(([cell, one]) => one.troubles.map((each) => this.#trouble(each, cell))).sort((a, b) => a.since - b.since);
		this.named = new Map(this.list.flatMap((one) => [one, ...one.symptoms]).map((one) => [`${one.kind}/${one.id}`, one]));
		app.touch();
	}

	#trouble(one, cell) {
		const { trigger, source } = one.cause;
		const symptoms = (one.symptoms ?? []).map((each) => this.#trouble(each, cell));
		const message = one.message ?? symptoms.find((each) => each.message)?.message;
		return { ...one, symptoms, id: cell ? nameIn(cell, one.id) : one.id, since: Date.parse(one.since) / 1000, reason: message ?? t("doneBy", { trigger, source }) };
	}
}

// The list. most: without filters, so many causes only. Flat, or of another class, each entity has a row.
export class TroubleList {
	#items = [];
	#open = new Set();
	#made = "";
	#at = 0;

	constructor(app, troubles, most = 0) {
		Object.assign(this, { app, troubles, most, bar: el("div.top.bar.line", { role: "search", aria: t("filter") }), nothing: el("div.empty") });
		this.rows = new Rows({ role: "tree", label: t("badNow"), height: 40, draw: (index, row) => this.#row(index, row), choose: (index, event) => this.#choose(index, event),
			open: (index) => this.#items[index].number >= 0 && app.openEntity(this.#items[index].number), key: (event) => this.#key(event) });
		this.element = el(most ? "div.troubles" : "div.left.troubles", most ? null : this.bar, this.rows.element, this.nothing);
	}

	get byCause() {
		const { by, class: cls } = this.app.query;
		return this.most > 0 || (by !== "flat" && (!cls || cls === "bad"));
	}

	draw() {
		const { app, troubles, most } = this;
		const { store, query } = app;
		const fits = most ? null : fitting(store, query);
		if (!most) refill(this.bar, ["", "bad"].includes(query.class ?? "") ? [chip(app, { by: "" }, t("byCause")), chip(app, { by: "flat" }, t("flat"))] : null, fields(app),
			choice("sort", ["worst", "most", "name"].map((one) => [one, t(`sort${one}`)]), query.sort ?? "worst", (sort) => app.router.set({ sort })));
		const key = [this.byCause, query.sort, query.q, query.kind, query.state, query.class, app.at, query.lang, store.structure, troubles.list?.length, query.sel, [...this.#open]].join("|");
		if (key === this.#made && Date.now() - this.#at < SOON / 2) return;
		[this.#made, this.#at] = [key, Date.now()];
		this.#items = this.byCause ? this.#causes(fits) : this.#flat(fits);
		const number = this.#items.length;
		this.nothing.hidden = number > 0;
		fill(this.nothing, t(this.byCause && !troubles.list ? "loading" : fits ? "noFit" : this.#nothingBad()));
		this.rows.element.hidden = !number;
		if (most) this.rows.element.style.height = `${number * 40}px`;
		const sel = app.selected();
		this.rows.update(number, sel < 0 ? -1 : this.#items.findIndex((one) => one.number === sel));
	}

	#nothingBad() {
		const { total, classes, stale } = this.app.store.counts();
		if (!total) return "noEntity";
		return stale || classes[CLASSES.indexOf("unknown")] ? "nothingKnownBad" : "nothingBad";
	}

	#causes(fits) {
		const { app: { store, query }, most, troubles } = this;
		const entry = (one, level) => ({ one, level, number: store.find(one.kind, one.id) });
		const wanted = ({ number }) => !fits || (number >= 0 && fits(number));
		const list = (troubles.list ?? []).slice(0, innerWidth < 760 && most ? 5 : most || undefined);
		if (!most && query.sort === "most") list.sort((a, b) => b.others - a.others);
		if (!most && query.sort === "name") list.sort((a, b) => a.id.localeCompare(b.id, "en", { numeric: true }));
		const found = [];
		for (const one of list) {
			const head = entry(one, 1);
			const below = one.symptoms.map((each) => entry(each, 2)).filter(wanted);
			if (!wanted(head) && !below.length) continue;
			head.has = below.length > 0;
			head.open = this.#open.has(`${one.kind}/${one.id}`);
			found.push(head);
			if (!head.open) continue;
			found.push(...below);
			if (!fits && one.others > below.length) found.push({ level: 2, number: -1, more: one.others - below.length });
		}
		const more = troubles.number - list.length;
		if (!fits && more > 0) found.push({ level: 1, number: -1, more });
		return found;
	}

	#flat(fits) {
		const { store, query } = this.app;
		const numbers = store.order().filter((number) => store.isThere(number) && (!fits || fits(number)));
		if (query.sort !== "name") {
			const keys = new Map(Array.from(numbers, (number) => [number, WORST.indexOf(store.classAt(number)) * 1e11 + (this.#about(number)?.since ?? store.since[number])]));
			numbers.sort((a, b) => keys.get(a) - keys.get(b));
		}
		return Array.from(numbers, (number) => ({ number, level: 1 }));
	}

	#about(number) { return this.troubles.named.get(this.app.nameOf(number)); }

	#row(index, row) {
		const { app } = this;
		const { store } = app;
		const { one, number, level, has, open, more } = this.#items[index];
		row.setAttribute("aria-level", level);
		if (has) row.setAttribute("aria-expanded", String(open));
		else row.removeAttribute("aria-expanded");
		row.style.setProperty("--level", level - 1);
		if (more) return fill(row, el("span"), el("span.soft", t("andMore", { n: num(more) })));
		const { kind, id, class: cls, since, reason, others, by_kind: kinds, states } = one ?? this.#about(number) ??
			{ kind: store.kindOf(number), id: store.ids[number], class: CLASSES[store.classAt(number)], since: store.since[number] };
		const state = number < 0 ? null : store.telling(number);
		fill(row, sign(cls),
			el("span.two", el("span.both", { title: `${id}: ${stateWord(state)}` }, shortened(id), el(`span.${cls}`, state ? stateName(state) : Object.values(states).join(", ")), small(kindName(kind))), el("span.cut.soft.small", { title: reason }, reason)),
			others ? el("b.twist.bad", { title: Object.entries(kinds).map(([name, count]) => `${num(count)} × ${kindName(name)}`).join(", ") }, open ? "▼" : "▶", ` +${num(others)}`) : el("span"),
			small(span(app.clock() - since)));
	}

	#toggle(index, open) {
		const { one, has } = this.#items[index] ?? {};
		if (!has) return false;
		this.#open[open ? "add" : "delete"](`${one.kind}/${one.id}`);
		this.app.touch();
		return true;
	}

	#choose(index, event) {
		const { number, open, more } = this.#items[index];
		if (event.target.closest?.(".twist")) this.#toggle(index, !open);
		else if (number >= 0) this.app.choose(number);
		else if (more && this.most && event.type === "click") this.app.router.set({ view: "table" }, true);
		else this.rows.update(this.rows.count, index);
	}

	#key(event) {
		const open = { ArrowRight: true, l: true, ArrowLeft: false, h: false }[event.key];
		if (open === undefined || !this.#toggle(this.rows.selected, open)) return false;
		event.preventDefault();
		event.stopPropagation();
		return true;
	}

	close() { this.rows.close(); }
}
