// Why an entity is in its state, as a nested list back to the events from outside.

import { chosenCell } from "./api.js";
import { described } from "./store.js";
import { adviceOf, bdi, clock, el, kindName, moment, num, safe, seconds, sender, stateMark, t } from "./ui.js";

/** The list for an answer of /v1/why. cell: the one that the entity is in. */
export function whyList(app, found, cell = chosenCell()) {
	const facets = found.facets.filter((one) => one.causes.length || one.view);
	return el("ul.why", facets.map((facet) => part(facet, facets.length > 1)));

	function part(facet, named) {
		return el("li", named ? el("b", `${facet.facet}: `) : null, mark(facet, facet), said(facet),
			el("ul", facet.causes.map((one) => cause(one)), facet.view ? view(facet.view, Boolean(facet.message)) : null, (facet.contradicted_by ?? []).map(other), facet.last_said ? el("li", `${t("lastSaid")}: `, event(facet.last_said)) : null, below(facet)));
	}

	/** Why it is so, as the entity itself says, the conditions behind it, and what to do. */
	function said(facet) {
		const advice = adviceOf(described(app.machines, facet.kind, facet.facet, facet));
		return [
			facet.message ? el("div", el("b", `${t("because")}: `), safe(facet.message)) : null,
			(facet.evidence ?? []).map((one) => el("div.soft.small", t(String(one.condition).includes(" ") ? "says" : "condition", { name: safe(one.condition), status: safe(one.status), reason: one.reason ? ` (${safe(one.reason)})` : "", since: one.since ? t("sinceThen", { time: safe(one.since) }) : "" }), one.message && !(facet.message ?? "").includes(one.message) ? `: ${safe(one.message)}` : "")),
			(facet.news ?? []).map((one) => el("div.small", el("b", `${t("event")}: `), happening(one))),
			advice ? el("div", el("b", `${t("toDo")}: `), advice) : null,
		];
	}

	/** `Warning BackOff, 12 times, last at 08:00:00: Back-off restarting failed container`. */
	function happening(one) {
		const parts = [[one.type, one.reason].filter(Boolean).join(" "), one.count > 1 ? t("times", { n: num(one.count) }) : "", one.last ? t("lastAt", { time: safe(one.last) }) : ""];
		return safe(`${parts.filter(Boolean).join(", ")}${one.message ? `: ${one.message}` : ""}`);
	}

	function list(items) {
		return items && el("ul", items);
	}

	/** What is not well below, and says more. */
	function below(facet) {
		const found = facet.below ?? [];
		if (!found.length) return null;
		return el("li", t("unwellBelow", { n: num(facet.below_count), kind: kindName(found[0].kind) }), found.map((one) =>
			el("ul.why", el("li", link(one), " ", mark(one, one), el("span.soft.small", t("sinceThen", { time: moment(seconds(one.since)) })), said(one), list(below(one))))));
	}

	/** What another source says of the same facet. */
	function other(one) {
		return el("li", `${t("otherSays")}: ${safe(one.text)}${one.message ? `: ${safe(one.message)}` : ""}`, one.cause ? el("ul", cause(one.cause)) : null);
	}

	function mark({ kind, facet }, shown) {
		return stateMark(described(app.machines, kind, facet, shown));
	}

	/** What a view depends on. quiet: records of attributes are not quoted, as they may speak of another facet. */
	function view(one, quiet) {
		return [
			one.while.map((each) => el("li", each.text, el("ul", (each.entities ?? []).map(responsible), each.cause ? cause(each.cause, quiet) : null))),
			one.cause ? cause(one.cause) : null,
		];
	}

	/** An entity for which a view shows, with its reason, and those for which it is so itself. */
	function responsible(one) {
		const further = (one.view?.while ?? []).flatMap((each) => each.entities ?? []);
		return el("li", link(one), " ", mark(one, one), one.message ? el("div", el("b", `${t("because")}: `), safe(one.message)) : null,
			further.length ? list(further.map(responsible)) : null, list(below(one)));
	}

	function cause(one, quiet) {
		const records = one.records.slice().reverse();
		return el("li", el("span.soft", one.explains.join(", "), one.gone ? ` (${one.gone})` : ""),
			el("ul", records.map((record) => el("li", event(quiet ? { ...record, message: null } : record)))), one.during ? el("ul", cause(one.during)) : null);
	}

	function event(record) {
		const { cause: by } = record;
		return [
			mark(record, record.to), " ← ", el("b", record.trigger), " ", link(record),
			el("div.soft.small", `${clock(record.time)} · ${sender(by)} · ${safe(by.event)}`, by.by === "event" ? null : ` · ${by.by}${by.from ? ` ${safe(by.from)}` : ""}`),
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
