// Why an entity is in its state, as a nested list back to the events from outside.

import { bdi, el, glyph } from "./dom.js";
import { clock, safe } from "./format.js";
import { described } from "./store.js";
import { stateName } from "./words.js";

/** The list for an answer of /v1/why. */
export function whyList(app, found) {
	const facets = found.facets.filter((one) => one.causes.length || one.view);
	return el("ul.why", facets.map((facet) => part(app, facet, facets.length > 1)));
}

function part(app, facet, named) {
	const state = described(app.machines, facet.kind, facet.facet, facet);
	return el("li", named ? el("b", `${facet.facet}: `) : null, el(`span.state.${state.class}`, glyph(state.class), stateName(state)),
		el("ul", facet.causes.map((one) => cause(app, one)), facet.view ? view(app, facet.view) : null));
}

function view(app, found) {
	return [
		found.while.map((one) => el("li", one.text, el("ul", (one.entities ?? []).slice(0, 20).map((entity) => el("li", entityLink(app, entity.kind, entity.id))), one.cause ? cause(app, one.cause) : null))),
		found.cause ? cause(app, found.cause) : null,
	];
}

function cause(app, one) {
	const records = one.records.slice().reverse();
	return el("li", el("span.soft", one.explains.join(", "), one.gone ? ` (${one.gone})` : ""),
		el("ul", records.map((record) => el("li", event(app, record)))), one.during ? el("ul", cause(app, one.during)) : null);
}

function event(app, record) {
	const state = described(app.machines, record.kind, record.facet, record.to);
	const { cause: by } = record;
	return [
		el(`span.state.${state.class}`, glyph(state.class), stateName(state)), " ← ", el("b", record.trigger), " ",
		entityLink(app, record.kind, record.id),
		el("div.soft.small", `${clock(record.time)} · ${safe(by.source)} · ${safe(by.event)}`, by.by === "event" ? null : ` · ${by.by}${by.from ? ` ${safe(by.from)}` : ""}`),
		record.message ? el("div", el("q", safe(record.message))) : null,
	];
}

/** A link to an entity, at a place if one is given. */
export function entityLink(app, kind, id, at = app.at) {
	return el("a", { href: app.router.to("entity", { kind, id, at }) }, bdi(id));
}
