// The screen Entity.

import { get, name, post } from "./api.js";
import { drawing } from "./diagram.js";
import { linksOf, payload, staleMark } from "./side.js";
import { described } from "./store.js";
import { barsOf, paintAxis, paintBars, rangeOf } from "./time.js";
import { entityLink, whyList } from "./why.js";
import { bdi, bothWords, clock, dialog, ended, el, fill, glyph, kindName, language, moment, num, safe, seconds, sender, span, stateMark, stateName, stateWord, t, table } from "./ui.js";

const [PAGE, MOST] = [50, 50];
const TYPE = { "content-type": "application/cloudevents+json" };
const EXTRA = ["reason", "message"].map((name) => ({ name, type: "str", options: [] }));

export function open(app, root) {
	const head = el("div.top");
	const cards = Object.fromEntries(["why", "lastEvent", "machine", "timeline", "history", "tryEvent"].map((word) => [word, el(`section.card.${word}`)]));
	const body = el("div.cards", Object.values(cards));
	fill(root, head, body);
	let [asked, tried, found, trial] = ["", "", null, null];

	function draw() {
		const { kind, id } = app.router.now;
		const { at, store } = app;
		if (!app.loaded) return;
		const last = app.recent().findLast((row) => row[1] === kind && row[2] === id)?.[0];
		const number = store.find(kind, id);
		const key = [kind, id, at, app.query.lang, last, store.state[number], store.flags[number]].join("|");
		if (key === asked) return;
		asked = key;
		load(kind, id, at).then((answer) => asked === key && show((found = answer)), (problem) => {
			if (asked !== key) return;
			app.missed = true;
			fill(head, el("h1", safe(id)), el("p", { role: "alert" }, problem.message), el("a", { href: app.router.to("tree") }, t("allTrees")));
			body.hidden = true;
		});
	}

	async function load(kind, id, at) {
		const place = name(kind, id);
		await app.known;
		const [{ entity, legal }, why, history, timeline, machine] = await Promise.all([
			get(`/v1/entities/${place}`, { at, lang: language() }), get(`/v1/why/${place}`, { at }), get(`/v1/history/${place}`, { to: at, limit: PAGE }),
			get(`/v1/timeline/${place}`, { to: at, depth: 0 }), get(`/v1/machines/${encodeURIComponent(kind)}`),
		]);
		const mark = (facet, one) => stateMark(described(app.machines, kind, facet, one));
		return { entity, why, timeline, machine, mark, items: history.items.reverse(), may: new Set(legal) };
	}

	function show() {
		const { kind, id } = found.entity;
		body.hidden = false;
		header();
		card("why", whyList(app, found.why));
		machine();
		card("timeline", found.timeline.lanes.map(lane));
		history();
		lastEvent();
		const key = [kind, id, app.past, app.query.lang].join("|");
		if (key === tried) return;
		tried = key;
		trial = app.past ? null : new Trial(app, found);
		card("tryEvent", trial?.element ?? el("p.soft", t("onlyLive")));
	}

	function card(word, ...content) {
		fill(cards[word], el("h2", t(word)), content);
	}

	function header() {
		const { kind, id, facets, attributes, waits_for: request, timers = {}, memory = {}, stale_by: by, stale_since: since, as_of: then, class: cls, class_since: began } = found.entity;
		const whom = by ? `${kindName(by.split("/", 1)[0])} ${safe(by.slice(by.indexOf("/") + 1))}` : "";
		const fact = (label, value) => el("div", el("dt", label), el("dd", value));
		fill(head,
			el("div.bar", el("h1", bdi(id)), el("span.soft.grow", kindName(kind)),
				by ? staleMark(t("staleBy", { whom, since: moment(since), age: span(app.clock() - seconds(then)) })) : null,
				linksOf(app, found.entity), el("a", { href: app.router.to("tree", { id: id.split("/")[0], sel: `${kind}/${id}` }) }, t("tree"))),
			el("dl.facts.bar", fact(t("class"), el(`span.state.${cls}`, glyph(cls), `${t(cls)} · ${span(app.clock() - seconds(began))}`)), Object.entries(facets).map(([facet, one]) => [
				fact(facet, [bothWords(described(app.machines, kind, facet, ended(found.entity, one))), one.unknown_parts ? el("span.soft", `, ${one.unknown_parts.text}`) : null, one.lacks ? el("span.soft", `, ${one.lacks.text}`) : null]), 
				fact(t("since"), `${moment(one.since)} · ${span(app.clock() - seconds(one.since))}`)]),
				request ? [fact(t("waitsFor"), `${t("event")} ${request}`), timers.phase ? fact(t("stallsAt"), moment(timers.phase)) : null] : null,
				memory.uids ? fact(t("identity"), Object.entries(memory.uids).map(([scheme, text]) => safe(`${scheme}:${text}`)).join(", ")) : null,
				attributes.shows ? fact(t("lastShown"), [attributes.shows.phase, ...attributes.shows.conditions].join(" ") + ` · ${moment(seconds(attributes.shows.time))}`) : null,
				attributes.heard_at ? fact(t("heard"), moment(attributes.heard_at / 1e9)) : null));
	}

	function machine() {
		const { machine: of, entity, may, items } = found;
		const triggers = [...may].map((trigger) => el("button.chip", { onclick: () => trial?.pick(trigger) }, trigger));
		card("machine", of.diagrams.filter((one) => entity.facets[one.facet]).map((one) => {
			const taken = items.filter(({ data }) => data.facet === one.facet).map(({ data }) => `${data.from?.state ?? "Absent"}>${data.to.state}`);
			return drawing(of, one, entity.facets[one.facet], may, new Set(taken));
		}), el("div.bar", el("h3", t("legalNow")), triggers.length ? triggers : t("none")));
	}

	function lane(one) {
		const { kind, id } = found.entity;
		const range = rangeOf(app, found.timeline, app.at);
		const bars = barsOf(app, found.timeline, one, range);
		if (bars[0]) range[0] = bars[0].from;
		const under = (event) => bars.findLast(({ from }) => from <= range[0] + (event.offsetX / event.target.clientWidth) * (range[1] - range[0])) ?? bars[0];
		// For a mouse only: the history has the same links.
		const canvas = el("canvas", { role: "img", aria: bars.slice(-8).map(({ from, state }) => `${stateName(state)} ${clock(from)}`).join(", "),
			onmousemove: (event) => { const { from, to, state } = under(event); canvas.title = `${stateName(state)} · ${stateWord(state)}, ${clock(from)}, ${span(to - from)}`; },
			onclick: (event) => app.router.go(app.router.to("entity", { kind, id, at: under(event).at })) });
		const axis = el("canvas", { "aria-hidden": "true" });
		requestAnimationFrame(() => { paintBars(canvas, bars, range); paintAxis(axis, range); });
		return el("div.bars", found.timeline.lanes.length > 1 ? el("h3", one.facet) : null, canvas, axis);
	}

	function history(more = found.items.length === PAGE) {
		const { kind, id } = found.entity;
		card("history", table(["time", "state", "trigger", "source", "message"], found.items.map(({ logsequence: at, time, data: { facet, to, trigger, cause, message } }) => [
			el("a", { href: app.router.to("entity", { kind, id, at }), title: `${t("place")} ${at}` }, clock(time)), found.mark(facet, to),
			[trigger, cause.by === "event" ? null : el("span.soft", ` ${cause.by} ${safe(cause.from ?? "")}`)], sender(cause), safe(message ?? "")])),
			more ? el("button", { onclick: older }, t("older")) : null);
	}

	async function older() {
		const { items, entity } = found;
		const answer = await get(`/v1/history/${name(entity.kind, entity.id)}`, { to: items.at(-1).logsequence - 1, limit: PAGE }).catch(() => ({ items: [] }));
		items.push(...answer.items.reverse());
		history(answer.items.length === PAGE);
	}

	async function lastEvent() {
		const { cause, trigger, time } = found.entity;
		const { event } = await get(`/v1/events/${cause.sequence}`).catch(() => ({}));
		card("lastEvent", el("p", el("b", trigger), ` · ${moment(time)} · ${sender(cause)}`, cause.from ? ` · ${cause.by} ${safe(cause.from)}` : ""), payload(event));
	}

	return { draw, close() {} };
}

function touched(records) {
	return new Set(records.map(({ data: { kind, id } }) => `${kind}/${id}`));
}

// A form for one event: what it would change, then sending it.
class Trial {
	constructor(app, { entity, machine, may }) {
		Object.assign(this, { app, entity, machine });
		const options = (wanted, role) => machine.triggers.filter((one) => one.role === role && may.has(one.trigger) === wanted).map((one) => el("option", { value: one.trigger }, `${wanted ? "✓ " : ""}${one.trigger}`));
		const groups = [["legalIntents", true, "intent"], ["legalNow", true, "observation"], ["notLegal", false, "intent"], ["notLegalSeen", false, "observation"]];
		this.choice = el("select", { onchange: () => this.#choose() }, groups.map(([word, ...of]) => [t(word), options(...of)]).filter(([, list]) => list.length).map(([label, list]) => el("optgroup", { label }, list)));
		this.fields = el("div.fields");
		this.result = el("div", { "aria-live": "polite" });
		const lacks = app.lacks("publish", entity.id);
		this.element = el("form.fields", { onsubmit: (event) => { event.preventDefault(); this.#send(event.submitter?.value !== "send"); } },
			el("label", t("trigger"), this.choice), this.fields,
			el("div.bar", el("button.primary", t("dryRun")), el("button", { value: "send", disabled: Boolean(lacks) }, t("send")), lacks), this.result);
		this.#choose();
	}

	pick(trigger) {
		this.choice.value = trigger;
		this.#choose();
		this.choice.focus();
	}

	#choose() {
		const fields = this.machine.triggers.find((one) => one.trigger === this.choice.value)?.fields ?? [];
		fill(this.fields, [...fields, ...EXTRA].map((one) => el("label", { title: one.doc }, `${one.name}${one.required ? " *" : ""}`, input(one))));
		fill(this.result);
	}

	async #send(dry) {
		const { kind, id } = this.entity;
		const data = {};
		try {
			for (const one of this.fields.querySelectorAll("[name]")) {
				const value = one.multiple ? [...one.selectedOptions].map((option) => option.value) : one.value;
				if (value.length) data[one.name] = one.dataset.json ? JSON.parse(value) : value;
			}
			const event = { specversion: "1.0", id: `${Date.now()}-${Math.random()}`, source: "/phaseline/page", type: `${kind}.${this.choice.value}`, subject: `${kind}/${id}`, data };
			const tried = (await post("/v1/events", event, TYPE, { "dry-run": "true" })).records ?? [];
			if (dry) return fill(this.result, this.#changes(tried, "would", "nothingWould"));
			if (touched(tried).size > 1 && !(await this.#confirmed(tried))) return;
			const answer = await post("/v1/events", event, { ...TYPE, prefer: "wait=10" });
			fill(this.result, this.#changes(answer.records ?? [], "did", "sent", answer.sequence), this.#wayOut(answer));
		} catch (problem) {
			fill(this.result, el("p.bad", problem.message), this.#wayOut(problem.body));
		}
	}

	// How many entities there are, then each change.
	#changes(records, word, none, n = 0) {
		if (!records.length) return t(none, { n });
		const rest = records.length - MOST;
		return [el("p", el("b", t("nEntities", { n: num(touched(records).size) })), " ", t(word)), records.slice(0, MOST).map((one) => this.#change(one.data)), rest > 0 ? el("p.soft", t("andMore", { n: num(rest) })) : null];
	}

	#confirmed(records) {
		const { id } = this.entity;
		return new Promise((done) => {
			const go = el("button.primary", { disabled: true }, t("send"));
			const input = el("input", { aria: t("typeName"), autocomplete: "off", spellcheck: "false", oninput: () => (go.disabled = input.value !== id) });
			const box = dialog(t("send"), el("form", { method: "dialog", onsubmit: (event) => { event.preventDefault(); done(input.value === id); box.close(); } },
				el("h2", `${this.choice.value}: `, bdi(id)), el("div.changes", { tabindex: 0 }, this.#changes(records, "would", "nothingWould")),
				el("label", t("typeName"), " ", el("b", bdi(id)), input), el("div.bar", go, el("button", { type: "button", onclick: () => box.close() }, t("close")))));
			box.addEventListener("close", () => done(false));
			input.focus();
		});
	}

	#wayOut(answer) {
		return answer?.way_out ? el("p", `${t("wayOut")}: `, safe(answer.way_out)) : null;
	}

	#change({ kind, id, facet, to, from, message, reason }) {
		const mark = (one) => stateMark(described(this.app.machines, kind, facet, one));
		return el("p", entityLink(this.app, { kind, id }), " ",
			to ? [from ? [mark(from), " → "] : null, mark(to)] : el("span.bad", `${reason}: ${safe(message)}`));
	}
}

function input({ name: field, type, many, options, required }) {
	const json = many || type !== "str";
	const values = type === "bool" ? ["true", "false"] : options;
	if (values.length) return el("select", { name: field, required, multiple: many, "data-json": type === "bool" }, many ? null : el("option", { value: "" }), values.map((one) => el("option", one)));
	return el("input", { name: field, required, "data-json": json, placeholder: json ? "JSON" : null });
}
