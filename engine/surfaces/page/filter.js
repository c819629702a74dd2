// Which entities are wanted: by kind, class, state and text.

import { WORST } from "./side.js";
import { CLASSES } from "./store.js";
import { chip, choice, el, glyph, kindName, num, stateName, stateWord, t } from "./ui.js";

const NAMES = ["kind", "state", "class", "q"];

export function fitting(store, query) {
	const { kind = "", state = "", class: cls = "", q = "" } = query;
	if (!NAMES.some((name) => query[name])) return null;
	const [kindAt, classAt, text, word] = [store.kinds.indexOf(kind), CLASSES.indexOf(cls), q.toLowerCase(), state.toLowerCase()];
	const inState = new Uint8Array(store.states.length);
	store.states.forEach((one, at) => {
		const words = [one.state, ...one.conditions, stateWord(one), ...Object.values(one.label ?? {})].map((each) => each.toLowerCase());
		inState[at] = Number(words.includes(word)) + 2 * Number(words.some((each) => each.includes(text)));
	});
	const among = (number, bit) => inState[store.state[number]] & bit || store.more.some((column) => inState[column[number]] & bit);
	return (number) =>
		(!kind || store.kind[number] === kindAt) && (classAt < 0 || store.classAt(number) === classAt) &&
		(!text || store.ids[number].toLowerCase().includes(text) || among(number, 2)) && (!state || among(number, 1));
}

export function clear({ router }) {
	router.set(Object.fromEntries(NAMES.map((name) => [name, null])));
}

function statesOf({ store, query }) {
	const found = new Map();
	for (const one of store.states) {
		if (query.kind && one.kind !== query.kind) continue;
		const label = stateName(one);
		for (const name of [one.state, ...one.conditions, label]) found.set(name, name === one.state || name !== label ? name : `${label} · ${stateWord(one)}`);
	}
	return [...found].sort((a, b) => (a[1] < b[1] ? -1 : 1));
}

export function fields(app) {
	const { store, query, router } = app;
	const options = (name, any, list) => {
		const known = list.some(([value]) => value === query[name]) || !query[name] ? list : [...list, [query[name], query[name]]];
		return choice(name, [["", any], ...known], query[name] ?? "", (value) => router.set({ [name]: value }));
	};
	return [
		el("input", { type: "search", name: "q", placeholder: t("filter"), aria: t("filter"), value: query.q ?? "", oninput: (event) => router.set({ q: event.target.value }) }),
		options("kind", t("anyKind"), store.kinds.map((one) => [one, kindName(one)])),
		options("state", t("anyState"), statesOf(app)),
		NAMES.some((name) => query[name]) ? el("button", { onclick: () => clear(app) }, t("clearFilters")) : null,
	];
}

// The classes as chips, the worst first. counts: by class; without, all classes without numbers.
export function classChips(app, counts = null) {
	return WORST.filter((cls) => !counts || counts[cls]).map((cls) => [CLASSES[cls], cls]).map(([name, cls]) =>
		chip(app, { class: name }, el(`span.state.${name}`, { title: t(name) }, glyph(name), counts ? el("b", num(counts[cls])) : null, el(counts ? "span.word" : "span.hidden-text", t(name)))));
}
