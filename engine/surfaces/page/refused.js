// The screen Refused.

import { get, post } from "./api.js";
import { Rows } from "./rows.js";
import { closing, payload } from "./side.js";
import { entityLink } from "./why.js";
import { bdi, chip, clock, el, fill, heads, kindName, moment, num, panel, safe, sender, small, t } from "./ui.js";

const EVERY = 10_000;
const MOST = 1000;
const BY = ["reason", "kind", "source", "actor"];

export function open(app, root) {
	const groups = el("div.top.bar.line");
	const rows = new Rows({ label: t("refused"), draw: drawRow, choose: (index) => app.router.set({ sel: items[index].logsequence }), open: () => beside.focus() });
	const nothing = el("div.empty");
	const beside = panel();
	beside.classList.add("side");
	root.append(groups, el("div.columns",
		el("div.left.refusals", heads("time", "reason", "name", "trigger.wide", "message.wide"), rows.element, nothing), beside));
	let [items, asked, shown] = [[], "", null];
	const timer = setInterval(() => app.past || document.hidden || ask(), EVERY);

	function draw() {
		const { query, at } = app;
		const key = [at, query.lang, ...BY.map((one) => query[one])].join("|");
		if (key !== asked) {
			asked = key;
			ask();
		}
		const wanted = `${query.sel} ${query.lang}`;
		if (wanted === shown) return;
		shown = wanted;
		beside.classList.toggle("open", Boolean(query.sel));
		rows.update(items.length, chosen());
		one(query.sel);
	}

	function chosen() {
		return items.findIndex((item) => String(item.logsequence) === app.query.sel);
	}

	async function ask() {
		const { query, at } = app;
		const [key, filters] = [asked, BY.map((one) => [one, query[one]])];
		const found = await get("/v1/rejections", { ...Object.fromEntries(filters), to: at, limit: MOST }).catch((problem) => ({ problem }));
		if (key !== asked) return;
		app.missed ||= Boolean(found.problem);
		items = found.items ?? [];
		fill(groups, el("b", num(found.total ?? 0)), (found.counts ?? []).slice(0, 30).map((group) => {
			const by = Object.fromEntries(BY.map((name) => [name, group[name] ?? ""]));
			return chip(app, by, el("b", num(group.count)), group.reason, el("span.soft", group.kind ? kindName(group.kind) : "", " ", sender(group)));
		}));
		fill(nothing, found.problem?.message ?? t("noneRefused"));
		nothing.hidden = items.length > 0;
		rows.element.hidden = !items.length;
		rows.update(items.length, chosen());
	}

	function drawRow(index, row) {
		const { time, data } = items[index];
		fill(row, el("span.soft", clock(time)), el("span.bad", data.reason),
			bdi(data.id ?? ""), el("span.wide", data.trigger ?? ""), el("span.wide.soft", safe(data.message ?? "")));
	}

	async function one(place) {
		if (!place) return fill(beside, el("p.soft", t("choose")));
		const { rejection, event, way_out: wayOutThen, problem } = await get(`/v1/rejections/${encodeURIComponent(place)}`).catch((failed) => ({ problem: failed }));
		if (app.query.sel !== place) return;
		if (problem) return fill(beside, el("p", { role: "alert" }, problem.message));
		const { kind, id, message, reason, trigger, cause, state, legal } = rejection.data;
		await app.known;
		const lacks = app.past ? small(t("onlyLive")) : app.lacks("operate");
		const said = el("p", { "aria-live": "polite" });
		const again = () => post(`/v1/rejections/${place}/resend`, "").then((done) => fill(said, t("sent", { n: done.sequence })), (failed) => fill(said, failed.message));
		const states = Object.entries(state ?? {}).map(([facet, now]) => `${facet} ${now.state} ${now.conditions.join(", ")}`);
		const facts = { reason, trigger, time: moment(rejection.time), source: cause?.source, actor: cause?.actor, state: states.join("; "), wayOutThen, legalThen: legal?.join(", ") };
		fill(beside, closing(app), el("h2", kind && id ? entityLink(app, { kind, id, at: place }) : safe(id ?? "")),
			el("p", safe(message ?? "")),
			el("dl.facts", Object.entries(facts).map(([word, value]) => (value ? [el("dt", t(word)), el("dd", safe(value))] : null))),
			el("h2", t("event")), payload(event?.decoded ?? event),
			el("div.bar", el("button.primary", { disabled: Boolean(lacks) || !event, onclick: again }, t("sendAgain")), lacks), said);
	}

	return { draw, close: () => { clearInterval(timer); rows.close(); } };
}
