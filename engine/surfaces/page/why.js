// Why an entity is in its state, back to events from outside.

import { chosenCell } from "./api.js";
import { described } from "./store.js";
import { adviceOf, bdi, clock, el, kindName, moment, num, safe, seconds, sender, small, stateMark, t } from "./ui.js";

export function whyList(app, found, cell = chosenCell()) {
	const facets = found.facets.filter((one) => one.causes.length || one.view).sort((a, b) => Number(isBad(b)) - Number(isBad(a)));
	return el("ul.why", facets.map((facet) => part(facet, facets.length > 1)));

	// A facet: the root, what it says, the view, the base last.
	function part(facet, named) {
		return el("li", named ? el("b", `${facet.facet}: `) : null, mark(facet, facet), root(facet), said(facet), el("ul", causes(facet)));
	}

	// `overdue by /billing: invoice 4711 is 30 days late`, and of whom.
	function root({ root: one, kind, id }) {
		if (!one) return null;
		const other = one.kind !== kind || one.id !== id;
		return el("div.root", other ? [el("b", `${t("rootCause")}: `), link(one), " ", mark(one, one)] : null,
			el("div", t("doneBy", { trigger: one.trigger, source: safe(one.source) }), one.message ? el("b", `: ${safe(one.message)}`) : null));
	}

	function causes(facet) {
		const own = (facet.causes ?? []).map((one) => cause(one));
		return [
			facet.view ? view(facet.view, Boolean(facet.message)) : own,
			(facet.contradicted_by ?? []).map(other), facet.last_said ? el("li", `${t("lastSaid")}: `, event(facet.last_said)) : null, below(facet),
			facet.view ? el("li", el("span.soft", `${t("itsBase")} `), mark(facet, facet.base), el("ul", own)) : null,
		];
	}

	function said(facet) {
		const advice = adviceOf(described(app.machines, facet.kind, facet.facet, facet));
		return [
			facet.message ? el("div", el("b", `${t("because")}: `), safe(facet.message)) : null,
			(facet.evidence ?? []).map((one) => el("div.soft.small", t(String(one.condition).includes(" ") ? "says" : "condition", { name: safe(one.condition), status: safe(one.status), reason: one.reason ? ` (${safe(one.reason)})` : "", since: one.since ? t("sinceThen", { time: safe(one.since) }) : "" }), one.message && !(facet.message ?? "").includes(one.message) ? `: ${safe(one.message)}` : "")),
			(facet.news ?? []).map((one) => el("div.small", el("b", `${t("event")}: `), happening(one))),
			advice ? el("div", el("b", `${t("toDo")}: `), advice) : null,
		];
	}

	// `Warning BackOff, 12 times, last at 08:00:00: ...`.
	function happening(one) {
		const parts = [[one.type, one.reason].filter(Boolean).join(" "), one.count > 1 ? t("times", { n: num(one.count) }) : "", one.last ? t("lastAt", { time: safe(one.last) }) : ""];
		return safe(`${parts.filter(Boolean).join(", ")}${one.message ? `: ${one.message}` : ""}`);
	}

	function list(items) {
		return items && el("ul", items);
	}

	function below(facet) {
		const found = facet.below ?? [];
		if (!found.length) return null;
		return el("li", t("unwellBelow", { n: num(facet.below_count), kind: kindName(found[0].kind) }), found.map((one) =>
			el("ul.why", el("li", link(one), " ", mark(one, one), el("span.soft.small", t("sinceThen", { time: moment(seconds(one.since)) })), said(one), list(below(one))))));
	}

	function other(one) {
		return el("li", `${t("otherSays")}: ${safe(one.text)}${one.message ? `: ${safe(one.message)}` : ""}`, one.cause ? el("ul", cause(one.cause)) : null);
	}

	function isBad(one) {
		return described(app.machines, one.kind, one.facet, one).class === "bad";
	}

	function mark({ kind, facet }, shown) {
		return stateMark(described(app.machines, kind, facet, shown));
	}

	// What a view depends on. quiet: attributes are not quoted, they may be about another facet.
	function view(one, quiet) {
		return [
			one.while.map((each) => el("li", el("span.soft", `${t("shownWhile")} `), each.text, each.count ? `: ${t("nOf", { n: num(each.count), all: num(each.among) })}` : null,
				el("ul", (each.entities ?? []).map(entity), each.cause ? cause(each.cause, quiet) : null))),
			one.cause ? cause(one.cause) : null,
		];
	}

	function entity(one) {
		const found = causes(one).flat(9).filter(Boolean);
		return el("li", link(one), " ", mark(one, one.base_only ? one.base : one), one.told === "here" ? said(one) : small(` (${t("asAbove")})`), found.length ? el("ul", found) : null);
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

// A link to an entity. name: kind, id, place (`at`), cell.
export function entityLink(app, name) {
	return el("a", { href: app.router.to("entity", name) }, bdi(name.id));
}
