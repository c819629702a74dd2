// The time bar: transitions over time, stacked by class; its handle is the place that is shown.

import { get } from "./api.js";
import { el, fill, sharp } from "./dom.js";
import { clock } from "./format.js";
import { t } from "./words.js";

const EVERY = 5000;
const DRAG = 6;
const BUCKETS = 800;
const FINE = 240;
const QUIET = 12;
const NEAR = 12;
const STACKED = ["good", "gone", "excused", "busy", "unknown", "bad"];

/** The buckets of answers of /v1/strip in a row; long quiet times become one `null`. last: the place at the end. */
export function folded(answers, last) {
	const found = [];
	for (const answer of answers) {
		const { times, places, classes } = answer;
		let quiet = 0;
		if (found.length && found.at(-1)) found.push(null);
		times.forEach((time, at) => {
			const counts = STACKED.map((name) => classes[name]?.[at] ?? 0);
			const sum = counts.reduce((all, one) => all + one, 0);
			quiet = sum ? 0 : quiet + 1;
			if (quiet > QUIET) {
				if (quiet === QUIET + 1) {
					found.length -= QUIET;
					if (found.length && found.at(-1)) found.push(null);
				}
				return;
			}
			found.push({ time, place: places[at], until: places[at + 1] ?? answer.until ?? last, end: times[at + 1] ?? answer.end, counts, sum });
		});
	}
	return found;
}

/** The runs of buckets between gaps: the times and the place at their ends. */
export function runs(buckets) {
	const found = [];
	let run = null;
	for (const one of [...buckets, null]) {
		if (!one) run = null;
		else if (!run) found.push((run = { from: one.time, to: one.end, until: one.until }));
		else Object.assign(run, { to: one.end, until: one.until });
	}
	return found;
}

/** The bar. It asks for its buckets, and again while it is live. */
export class Strip {
	#asked = "";
	#at = 0;
	#from = null;
	#to = 0;
	#zooms = false;
	#buckets = [];
	#place = 0;

	constructor(app, element) {
		Object.assign(this, { app, element, built: false });
		new ResizeObserver(() => this.#paint()).observe(element);
	}

	/** Build it again, with the words of another language. */
	close() {
		this.built = false;
	}

	#build() {
		const { app } = this;
		this.canvas = el("canvas", { tabindex: 0, role: "slider", "aria-label": t("stripLabel"), "aria-valuemin": 0,
			onpointerdown: (event) => this.#down(event), onpointermove: (event) => this.#move(event), onpointerup: (event) => this.#up(event), onkeydown: (event) => this.#key(event) });
		this.back = el("button", { "aria-label": t("stepBack"), title: `${t("stepBack")}  [`, onclick: () => app.step(-1) }, "◀");
		this.on = el("button", { "aria-label": t("stepOn"), title: `${t("stepOn")}  ]`, onclick: () => app.step(1) }, "▶");
		this.play = el("button.play", { onclick: () => app.play() });
		this.whole = el("button", { onclick: () => app.router.set({ begin: null, end: null }) }, t("wholeRange"));
		this.ends = el("div.ends", { "aria-hidden": "true" });
		fill(this.element,
			el("div.controls", this.back, this.on, this.play),
			el("div.track", this.canvas, this.ends),
			el("div.controls", this.whole, el("button", { "aria-label": t("fold"), title: t("fold"), onclick: () => app.router.set({ strip: "0" }) }, "×")));
		this.element.setAttribute("aria-label", t("strip"));
		this.built = true;
	}

	draw() {
		const { app } = this;
		const { screen } = app.router.now;
		const fits = screen !== "workers" && screen !== "time" && screen !== "refused";
		this.element.hidden = !fits || app.query.strip === "0";
		if (this.element.hidden) return;
		if (!this.built) this.#build();
		this.play.textContent = app.playing ? "❚❚" : "▶▶";
		this.play.setAttribute("aria-label", app.playing ? t("pause") : t("play"));
		this.play.title = app.playing ? t("pause") : t("play");
		this.play.disabled = this.on.disabled = !app.past;
		this.whole.hidden = !app.query.begin;
		const key = `${app.query.begin ?? ""} ${app.query.end ?? ""}`;
		const due = key !== this.#asked || (app.live.place !== this.#place && Date.now() - this.#at > EVERY);
		if (due && app.live.structure) this.#ask(key);
		this.#paint();
	}

	async #ask(key) {
		[this.#asked, this.#at] = [key, Date.now()];
		const { begin, end } = this.app.query;
		try {
			const whole = await get("/v1/strip", { buckets: BUCKETS, from: begin, to: end });
			whole.end = end ?? whole.time;
			let buckets = folded([whole], whole.place);
			const busy = buckets.filter((one) => one?.sum).length;
			const parts = runs(buckets);
			if (busy < FINE / 4 && parts.length <= 6 && parts.length) {
				const finer = await Promise.all(parts.map((part) => get("/v1/strip", { buckets: Math.ceil(FINE / parts.length), from: part.from, to: part.to })));
				finer.forEach((one, at) => Object.assign(one, { until: parts[at].until, end: parts[at].to }));
				buckets = folded(finer, whole.place);
			}
			[this.#buckets, this.#place] = [buckets, whole.place];
			this.#paint();
		} catch {
			this.#at = Date.now();
		}
	}

	#paint() {
		const { canvas } = this;
		if (!canvas || this.element.hidden) return;
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
		if (this.#from === null) return;
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
