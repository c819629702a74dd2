// Why an entity is in its state, as a nested list back to the events from outside.

import { chosenCell } from "./api.js";
import { described } from "./store.js";
import { bdi, clock, el, safe, stateMark } from "./ui.js";

/** The list for an answer of /v1/why. cell: the one that the entity is in. */
export function whyList(app, found, cell = chosenCell()) {
	const facets = found.facets.filter((one) => one.causes.length || one.view);
	return el("ul.why", facets.map((facet) => part(facet, facets.length > 1)));

	function part(facet, named) {
		return el("li", named ? el("b", `${facet.facet}: `) : null, mark(facet, facet),
			el("ul", facet.causes.map(cause), facet.view ? view(facet.view) : null));
	}

	function mark({ kind, facet }, shown) {
		return stateMark(described(app.machines, kind, facet, shown));
	}

	function view(one) {
		return [
			one.while.map((each) => el("li", each.text, el("ul", (each.entities ?? []).slice(0, 20).map((entity) => el("li", link(entity))), each.cause ? cause(each.cause) : null))),
			one.cause ? cause(one.cause) : null,
		];
	}

	function cause(one) {
		const records = one.records.slice().reverse();
		return el("li", el("span.soft", one.explains.join(", "), one.gone ? ` (${one.gone})` : ""),
			el("ul", records.map((record) => el("li", event(record)))), one.during ? el("ul", cause(one.during)) : null);
	}

	function event(record) {
		const { cause: by } = record;
		return [
			mark(record, record.to), " ← ", el("b", record.trigger), " ", link(record),
			el("div.soft.small", `${clock(record.time)} · ${safe(by.source)} · ${safe(by.event)}`, by.by === "event" ? null : ` · ${by.by}${by.from ? ` ${safe(by.from)}` : ""}`),
			record.message ? el("div", el("q", safe(record.message))) : null,
		];
	}

	function link({ kind, id }) {
		return entityLink(app, { kind, id, cell });
	}
}

/** A link to an entity. name: kind and id, if need be place (`at`) and cell. */
export function entityLink(app, name) {
	return el("a", { href: app.router.to("entity", name) }, bdi(name.id));
}
