// The time bar: transitions over time; its handle is the place.

import { CELLS, get } from "./api.js";
import { clock, el, fill, glyph, refill, safe, sharp, small, t } from "./ui.js";

const EVERY = 5000;
const DRAG = 6;
const BUCKETS = 800;
const NEAR = 12;
const STACKED = ["good", "gone", "excused", "busy", "unknown", "bad"];

// Buckets; `null` is a long quiet time that is left out.
function bucketsOf({ times, places, classes, gaps, place }) {
	return times.flatMap((time, at) => {
		const counts = STACKED.map((name) => classes[name][at]);
		const sum = counts.reduce((all, one) => all + one, 0);
		const bucket = { time, place: places[at], until: places[at + 1] ?? place, counts, sum };
		return gaps.includes(at) ? [null, bucket] : [bucket];
	});
}

export class Strip {
	#asked = "";
	#at = 0;
	#from = null;
	#to = 0;
	#zooms = false;
	#buckets = [];
	#place = 0;

	constructor(app, element) {
		const canvas = el("canvas", { tabindex: 0, role: "slider", "aria-valuemin": 0, onkeydown: (event) => this.#key(event),
			onpointerdown: (event) => this.#down(event), onpointermove: (event) => this.#move(event), onpointerup: (event) => this.#up(event) });
		Object.assign(this, { app, element, canvas, before: el("div.controls"), after: el("div.controls"), ends: el("div.ends", { "aria-hidden": "true" }) });
		new ResizeObserver(() => this.#paint()).observe(element);
	}

	draw() {
		const { app } = this;
		const { screen } = app.router.now;
		this.element.hidden = !app.several && ["workers", "time", "refused"].includes(screen);
		if (this.element.hidden) return;
		this.element.setAttribute("aria-label", t("time"));
		this.element.classList.toggle("bar", app.several);
		if (app.several) return refill(this.element, this.#cells());
		this.#controls();
		const key = `${app.query.begin ?? ""} ${app.query.end ?? ""}`;
		const due = key !== this.#asked || (app.live.place !== this.#place && Date.now() - this.#at > EVERY);
		if (due && app.live.structure) this.#ask(key);
		this.#paint();
	}

	#cells() {
		const { query, router, stream } = this.app;
		return [query.cell ? el("span.bad", t("notThere", { name: safe(query.cell) })) : small(t("ofOneCell")), CELLS.map((cell) => {
			const away = stream.away.get(cell);
			return el("a.chip", { href: router.inCell(cell) }, glyph(away ? "bad" : "good"), cell, away ? el("span.bad.small", safe(away)) : null);
		})];
	}

	#controls() {
		const { app } = this;
		const button = (word, sign, key, onclick, disabled = false) => el(`button.${word}`, { aria: t(word), title: `${t(word)}  ${key}`, onclick, disabled }, sign);
		const play = app.playing ? button("pause", "❚❚", "p", () => app.play()) : button("play", "▶▶", "p", () => app.play(), !app.past);
		if (!this.canvas.isConnected) fill(this.element, this.before, el("div.track", this.canvas, this.ends), this.after);
		this.canvas.setAttribute("aria-label", t("stripLabel"));
		refill(this.before, button("stepBack", "◀", "[", () => app.step(-1)), button("stepOn", "▶", "]", () => app.step(1), !app.past), play);
		refill(this.after, app.query.begin ? el("button", { onclick: () => app.router.set({ begin: null, end: null }) }, t("wholeRange")) : null);
	}

	async #ask(key) {
		[this.#asked, this.#at] = [key, Date.now()];
		const { begin, end } = this.app.query;
		const found = await get("/v1/strip", { buckets: BUCKETS, fold: 1, from: begin, to: end }).catch(() => ({ problem: "" }));
		if (found.problem === null) {
			[this.#buckets, this.#place] = [bucketsOf(found), found.place];
			this.#paint();
		} else {
			fill(this.ends, small(safe(found.problem)));
			this.#at = Date.now() - EVERY + 1000;
		}
	}

	#paint() {
		const { canvas } = this;
		if (!canvas.isConnected || this.element.hidden) return;
		const [context, width, height, colour] = sharp(canvas);
		if (!width) return;
		context.fillStyle = colour("panel");
		context.fillRect(0, 0, width, height);
		if (this.#buckets.length) this.#bars(context, colour, width, height - 13);
		this.#handle(context, colour, width, height);
	}

	#bars(context, colour, width, height) {
		const most = Math.max(1, ...this.#buckets.map((one) => one?.sum ?? 0));
		const wide = width / this.#buckets.length;
		this.#buckets.forEach((bucket, at) => {
			if (!bucket) {
				context.fillStyle = colour("soft");
				for (let y = 3; y < height; y += 6) context.fillRect((at + 0.5) * wide - 0.5, y, 1, 3);
			}
			if (!bucket?.sum) return;
			let y = height;
			const scale = (Math.sqrt(bucket.sum / most) * (height - 3)) / bucket.sum;
			STACKED.forEach((name, cls) => {
				const high = bucket.counts[cls] * scale;
				context.fillStyle = colour(`cell-${name}`);
				context.fillRect(at * wide, y - high, Math.max(1, wide - 0.6), high);
				y -= high;
			});
		});
		const known = this.#buckets.filter(Boolean);
		fill(this.ends, el("span", clock(known[0].time)), el("span", clock(known.at(-1).time)));
	}

	#handle(context, colour, width, height) {
		const { app } = this;
		const x = Math.min(width - 5, Math.max(5, app.past ? this.#x(app.store.place, width) : width));
		context.fillStyle = colour(app.past ? "text" : "accent");
		context.fillRect(x - 1, 0, 2, height);
		context.beginPath();
		context.arc(x, 5, 5, 0, 7);
		context.fill();
		if (this.#zooms) {
			context.globalAlpha = 0.25;
			context.fillRect(Math.min(this.#from, this.#to), 0, Math.abs(this.#to - this.#from), height);
			context.globalAlpha = 1;
		}
		this.canvas.setAttribute("aria-valuenow", app.store.place);
		this.canvas.setAttribute("aria-valuemax", Math.max(app.live.place, app.store.place));
		this.canvas.setAttribute("aria-valuetext", `${t("place")} ${app.store.place}, ${clock(app.store.time)}`);
	}

	#x(place, width) {
		const at = this.#buckets.findLastIndex((one) => one && one.place < place);
		if (at < 0) return 0;
		const { place: from, until } = this.#buckets[at];
		const part = until > from ? Math.min(1, (place - from) / (until - from)) : 0;
		return ((at + part) / this.#buckets.length) * width;
	}

	#bucketAt(x) {
		const position = Math.min(this.#buckets.length - 0.001, Math.max(0, (x / this.canvas.clientWidth) * this.#buckets.length));
		let at = Math.floor(position);
		while (at > 0 && !this.#buckets[at]) at--;
		return [this.#buckets[at], position - at];
	}

	// The time under the pointer; of a quiet time that is left out its two ends.
	#tell(x) {
		if (!this.#buckets.length) return;
		const at = Math.min(this.#buckets.length - 1, Math.floor((x / this.canvas.clientWidth) * this.#buckets.length));
		const around = this.#buckets[at] ? [this.#buckets[at]] : [this.#buckets[at - 1], this.#buckets[at + 1]];
		this.canvas.title = around.filter(Boolean).map((one) => clock(one.time)).join(" – ");
	}

	#placeAt(x) {
		const [bucket, part] = this.#bucketAt(x);
		return Math.max(1, Math.round(bucket.place + (bucket.until - bucket.place) * Math.min(1, part)));
	}

	#down(event) {
		if (!this.#buckets.length) return;
		this.canvas.setPointerCapture(event.pointerId);
		this.#from = this.#to = event.offsetX;
		const handle = this.app.past ? this.#x(this.app.store.place, this.canvas.clientWidth) : this.canvas.clientWidth;
		this.holds = event.pointerType === "touch" || Math.abs(handle - event.offsetX) < NEAR;
	}

	#move(event) {
		if (this.#from === null) return this.#tell(event.offsetX);
		this.#to = event.offsetX;
		if (this.holds) this.#seek(event.offsetX);
		else this.#zooms ||= Math.abs(this.#to - this.#from) > DRAG;
		this.#paint();
	}

	#up(event) {
		if (this.#from === null) return;
		const [first, last] = [Math.min(this.#from, event.offsetX), Math.max(this.#from, event.offsetX)];
		const zooms = this.#zooms;
		[this.#from, this.#zooms] = [null, false];
		if (zooms) this.app.router.set({ begin: this.#bucketAt(first)[0].time, end: this.#bucketAt(last)[0].time }, true);
		else if (!this.holds || first === last) this.#seek(event.offsetX);
		this.#paint();
	}

	#seek(x) {
		if (x >= this.canvas.clientWidth - 3 && !this.app.query.end) this.app.goLive();
		else this.app.goTo(this.#placeAt(x));
	}

	#key(event) {
		if (event.key === "ArrowLeft") this.app.step(-1);
		else if (event.key === "ArrowRight") this.app.step(1);
		else if (event.key === "End") this.app.goLive();
		else if (event.key === "Home" && this.#buckets.length) this.app.goTo(Math.max(1, this.#buckets.find(Boolean).place));
		else return;
		event.preventDefault();
		event.stopPropagation();
	}
}
