// The chosen entity beside a map or a tree.

import { get, name } from "./api.js";
import { CLASSES, STALE, VIEWED } from "./store.js";
import { whyList } from "./why.js";
import { bdi, el, fill, glyph, kindName, moment, num, safe, span, stateMark, t } from "./ui.js";

/** What to say where there is nothing, or nothing yet. */
export function nothingYet({ loaded, past, stream }) {
	if (loaded) return [el("h2", t("noEntity")), t("publishOne"), el("code", "phaseline publish cluster create c1")];
	return stream.status === "away" && !past ? stream.problem || t("serverAway") : t("loading");
}

/** An event as it was sent, as far as it is still stored. */
export function payload(event) {
	if (!event) return el("p.soft", t("eventGone"));
	return el("pre", { tabindex: 0 }, JSON.stringify(event, null, 2).split("\n").map((one) => `${safe(one)}\n`).join(""));
}

/** The mark of what nothing was heard of. */
export function staleMark(text = t("stale")) {
	return el("span.badge.silent", glyph("silent"), text);
}

/** The classes as positions in CLASSES, those that call for somebody first. */
export const WORST = [2, 1, 5, 3, 0, 4];

/** How many of each class, as signs and numbers. counts: six numbers, from `first` on. */
export function badges(counts, first = 0) {
	const found = WORST.filter((cls) => counts[first + cls]);
	return el("span.badges", found.map((cls) =>
		el("span", { class: `badge ${CLASSES[cls]}`, title: t(CLASSES[cls]) }, glyph(CLASSES[cls]), num(counts[first + cls]))));
}

/** The panel. It draws again only when something of its entity changed. */
export class Side {
	#shown = null;
	#why = el("div.why");
	#asked = "";

	constructor(app) {
		this.app = app;
		this.element = el("div.block");
	}

	/** Show an entity of the store; -1 is none. wanted: its `kind/id`, if it is not there. */
	show(number, wanted = "") {
		const { store } = this.app;
		const key = number < 0 ? wanted : [number, store.state[number], store.flags[number], store.facets(number).map((one) => one.state), this.app.at].join();
		if (key === this.#shown) return;
		this.#shown = key;
		if (number < 0) {
			fill(this.element, el("p.soft", wanted ? t("notThere", { name: safe(wanted) }) : t("choose")));
			return;
		}
		const { kind, id, cell } = this.app.named(number);
		const state = store.stateOf(number);
		const others = store.facets(number);
		fill(
			this.element,
			el("h2", el("a", { href: this.app.router.to("entity", { kind, id, cell }) }, bdi(store.ids[number])), el("span.soft", kindName(kind))),
			el("div.bar", stateMark(state), store.flags[number] & STALE ? staleMark() : null),
			el("dl.facts",
				fact(t("since"), `${moment(store.since[number])} · ${span(this.app.clock() - store.since[number])}`),
				state?.conditions.length ? fact(t("conditions"), state.conditions.join(", ")) : null,
				others.map((one) => [el("dt", one.facet), el("dd", stateMark(one))]),
				store.flags[number] & VIEWED ? fact("", t("viewed")) : null,
				store.parent[number] >= 0 ? [el("dt", t("belongsTo")), el("dd", this.#parents(number))] : null,
			),
			this.#why,
		);
		this.#explain(kind, id, cell);
	}

	#parents(number) {
		const { store } = this.app;
		const found = [];
		for (let at = store.parent[number]; at >= 0; at = store.parent[at]) found.unshift(at);
		return found.map((one) => el("div", el("button.state.plain", { onclick: () => this.app.choose(one) },
			glyph(CLASSES[store.classAt(one)]), bdi(store.ids[one]))));
	}

	async #explain(kind, id, cell) {
		const asked = (this.#asked = `${cell}/${kind}/${id}@${this.app.store.place}`);
		try {
			const found = await get(`/v1/why/${name(kind, id)}`, { at: this.app.at }, cell);
			if (asked === this.#asked) fill(this.#why, el("h3", t("why")), whyList(this.app, found, cell));
		} catch {
			if (asked === this.#asked) fill(this.#why);
		}
	}
}

function fact(label, value) {
	return [el("dt", label), el("dd", value)];
}
