// The chosen entity beside a map or a tree.

import { get, name } from "./api.js";
import { CLASSES, STALE, VIEWED } from "./store.js";
import { whyList } from "./why.js";
import { bdi, bothWords, el, fill, glyph, kindName, moment, num, safe, span, t } from "./ui.js";

export function nothingYet({ loaded, past, stream }) {
	if (loaded) return [el("h2", t("noEntity")), t("publishOne"), el("code", "phaseline publish cluster create c1")];
	return stream.status === "away" && !past ? stream.problem || t("serverAway") : t("loading");
}

export function payload(event) {
	if (!event) return el("p.soft", t("eventGone"));
	return el("pre", { tabindex: 0 }, JSON.stringify(event, null, 2).split("\n").map((one) => `${safe(one)}\n`).join(""));
}

// Closes what comes from below on a narrow screen.
export function closing(app) {
	return el("button.closing", { aria: t("close"), onclick: () => app.router.set({ sel: null }) }, "×");
}

// Where the operator leads from an entity to other tools.
export function linksOf({ session }, { kind, id }) {
	const parts = id.split("/");
	const values = { kind, id, tree: parts[0], name: parts.at(-1) };
	return (session.links ?? []).filter((one) => one.kind === kind || one.kind === "*").map(({ name, template }) =>
		el("a", { href: template.replace(/\{(\w+)\}/g, (_, field) => encodeURIComponent(values[field])), target: "_blank", rel: "noopener" }, `${safe(name)} ↗`));
}

// The mark of what nothing was heard of.
export function staleMark(text = t("stale")) {
	return el("span.badge.silent", glyph("silent"), text);
}

// Positions in CLASSES, the worst first.
export const WORST = [2, 1, 5, 3, 0, 4];

// How many of each class. counts: six numbers, from `first` on.
export function badges(counts, first = 0) {
	const found = WORST.filter((cls) => counts[first + cls]);
	return el("span.badges", found.map((cls) =>
		el("span", { class: `badge ${CLASSES[cls]}`, title: t(CLASSES[cls]) }, glyph(CLASSES[cls]), num(counts[first + cls]))));
}

export class Side {
	#shown = null;
	#why = el("div.why");
	#asked = "";
	#missed = false;

	constructor(app) {
		this.app = app;
		this.element = el("div.block.side", { role: "region", aria: t("chosen"), tabindex: 0 });
	}

	// Show an entity; -1 is none. wanted: its `kind/id`.
	show(number, wanted = "") {
		const { store } = this.app;
		this.element.classList.toggle("open", Boolean(wanted));
		const key = number < 0 ? wanted : [number, store.state[number], store.flags[number], store.facets(number).map((one) => one.state), this.app.at].join();
		if (key === this.#shown && (!this.#missed || this.app.stream.gone)) return;
		this.#missed = false;
		this.#shown = key;
		if (number < 0) {
			fill(this.element, wanted ? closing(this.app) : null, el("p.soft", wanted ? t("notThere", { name: safe(wanted) }) : t("choose")));
			return;
		}
		const { kind, id, cell } = this.app.named(number);
		const state = store.stateOf(number);
		const others = store.facets(number);
		fill(
			this.element, closing(this.app),
			el("h2", el("a", { href: this.app.router.to("entity", { kind, id, cell }) }, bdi(store.ids[number])), el("span.soft", kindName(kind))),
			el("div.bar", bothWords(state), store.flags[number] & STALE ? staleMark() : null, linksOf(this.app, { kind, id })),
			el("dl.facts",
				fact(t("since"), `${moment(store.since[number])} · ${span(this.app.clock() - store.since[number])}`),
				others.map((one) => [el("dt", one.facet), el("dd", bothWords(one))]),
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
		} catch (problem) {
			this.#missed = !problem.status;
			if (asked === this.#asked) fill(this.#why);
		}
	}
}

function fact(label, value) {
	return [el("dt", label), el("dd", value)];
}
