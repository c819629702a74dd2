// Levels on the screen Time: how available things were, a cell for each day, a lane for each entity.

import { get } from "./api.js";
import { Rows } from "./rows.js";
import { clock, day, el, fill, glyph, kindName, num, percent, seconds, sharp, shortened, small, span, t } from "./ui.js";

const MOST = 500;
const WEEK = 7;
const THURSDAY = 3;
const [HIGH, LEAST] = [16, 2];
const STACKED = ["bad", "unknown", "busy", "excused", "good"];
const LENGTHS = { "1m": 60, "1h": 3600, "1d": 86_400 };

/** The length of the slices of a range: a day, unless it is one of hours or minutes. */
export function sliceOf(from) {
	if (/^[\d.]+[sm]$/.test(from ?? "")) return "1m";
	return /^[\d.]+h$/.test(from ?? "") ? "1h" : "1d";
}

/** All slices from the first to the last: when each begins, its worst class and the share of that. Empty: nothing lived. */
export function cells(slices, length) {
	const found = new Map(slices.map((one) => [Math.floor(seconds(one.from) / length), one]));
	const [first, last] = [Math.min(...found.keys()), Math.max(...found.keys())];
	return Array.from({ length: slices.length ? last - first + 1 : 0 }, (_, at) => {
		const one = found.get(first + at);
		const whole = Object.values(one?.seconds ?? {}).reduce((sum, more) => sum + more, 0);
		const shares = STACKED.map((cls) => (whole ? (one.seconds[cls] ?? 0) / whole : 0));
		return { at: (first + at) * length, cls: one?.class, shares, share: shares[STACKED.indexOf(one?.class)] ?? 0 };
	});
}

export class Levels {
	constructor(app) {
		this.app = app;
		this.rows = new Rows({ label: t("levels"), draw: (index, row) => this.#row(index, row), choose: (index) => this.rows.update(this.rows.count, index), open: (index) => app.goEntity(this.found.rows[index]) });
	}

	async ask() {
		const { from, to, tree } = this.app.query;
		const slice = sliceOf(from);
		this.found = await get("/v1/levels", { from, to, tree, slice, limit: MOST });
		this.length = LENGTHS[slice];
	}

	content() {
		const { total, rows, server_away: away } = this.found;
		if (!total.whole) return el("div.empty", t("noChange"));
		const { budget, seconds: spent } = total;
		const others = Object.entries(spent).filter(([cls, time]) => time && cls !== "good");
		this.rows.update(rows.length, -1);
		return el("div.left.lanes",
			el("div.top.bar", el("b", percent(total.availability)), t("available"),
				others.map(([cls, time]) => el(`span.${cls}`, glyph(cls), " ", t(cls), " ", span(time))),
				small(t("budgetUsed", { goal: num(budget.objective), lost: span(budget.used), all: span(budget.seconds) })),
				small(t("outages", { n: num(total.outages) })),
				total.as_recorded === total.availability ? null : small(t("unexcused", { share: percent(total.as_recorded) })),
				away.length ? small(t("serverGone", { n: num(away.length) })) : null),
			this.#calendar(cells(total.slices, this.length)),
			el("div.heads", el("span", t("name")), el("span", `${clock(this.found.from)} – ${clock(this.found.to)}`)), this.rows.element);
	}

	/** Days stand in columns of weekdays, in UTC. */
	#calendar(found) {
		const isDays = this.length === LENGTHS["1d"];
		const list = el(`ol.calendar${isDays ? "" : ".hours"}`, { "aria-label": t("calendar") }, found.map(({ at, cls, share }) =>
			el(`li.${cls ?? "gone"}`, { title: cls ? `${t(cls)} ${percent(share)}` : null }, isDays ? day(at) : clock(at), cls ? [" ", glyph(cls), share < 1 ? small(percent(share, 1)) : null] : null)));
		if (isDays && found.length) list.firstChild.style.gridColumnStart = ((found[0].at / LENGTHS["1d"] + THURSDAY) % WEEK) + 1;
		return list;
	}

	#row(index, row) {
		const one = this.found.rows[index];
		const [begin, end] = [seconds(this.found.from), seconds(this.found.to)];
		const lane = cells(one.slices, this.length).filter(({ cls }) => cls);
		const canvas = row.querySelector("canvas") ?? el("canvas", { role: "img" });
		canvas.setAttribute("aria-label", lane.filter(({ cls }) => cls !== "good").map(({ at, cls }) => `${t(cls)} ${clock(at)}`).slice(-8).join(", ") || t("good"));
		fill(row, el("span.both", { title: `${one.id} · ${kindName(one.kind)}` }, shortened(one.id), el("span.grow"), percent(one.availability)), canvas);
		const [context, width, , colour] = sharp(canvas, 20);
		for (const { at, shares } of lane) {
			const [x, until] = [at, at + this.length].map((time) => ((Math.min(end, Math.max(begin, time)) - begin) / (end - begin || 1)) * width);
			let bottom = HIGH;
			shares.forEach((share, rank) => {
				if (!share || bottom <= 0) return;
				const high = Math.min(bottom, Math.max(LEAST, HIGH * share));
				context.fillStyle = colour(`cell-${STACKED[rank]}`);
				context.fillRect(x, bottom - high + 2, Math.max(1, until - x - 0.6), high);
				bottom -= high;
			});
		}
	}
}
