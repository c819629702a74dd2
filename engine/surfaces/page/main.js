// The page as a whole.

import { CELLS, chosenCell, get } from "./api.js";
import { Header } from "./header.js";
import { Past } from "./past.js";
import { Router, SCREENS, splitName } from "./router.js";
import { described, nameIn, Store } from "./store.js";
import { Stream } from "./stream.js";
import { Strip } from "./strip.js";
import { takeTheme } from "./theme.js";
import { choose, dialog, el, fill, language, safe, sleep, small, stateName, t } from "./ui.js";

// The screens of all cells; the others are of one.
const ACROSS = ["now", "tree"];
const PLAYED = 600;
const BEFORE = 400;
const SECOND = 1000;

const nowhere = {
	open(app, root) {
		const links = SCREENS.filter((one) => one !== "entity").map((one) => el("a.chip", { href: app.router.to(one) }, t(one)));
		root.append(el("div.empty", el("p", t("noAddress")), el("code", safe(decodeURI(location.pathname))), el("div.bar", links)));
		return { draw() {} };
	},
};

// What screens see. machines: the tables, by kind.
class App {
	// missed: whether the screen has no answer, because the server is away.
	constructor() {
		this.machines = new Map();
		this.session = { roles: [], trees: [], published: [] };
		this.live = new Store(this.machines);
		this.behind = new Past(this.machines);
		this.at = "";
		this.earlier = [];
		this.stream = new Stream(this.live, (structure) => this.touch(structure), () => this.#back());
		this.router = new Router(() => this.moved());
		choose(this.query.lang);
		this.header = new Header(this, document.getElementById("header"));
		this.strip = new Strip(this, document.getElementById("strip"));
		this.main = document.getElementById("main");
	}

	get query() { return this.router.now.query; }
	// Whether several cells are shown; they have no past.
	get several() { return CELLS.length > 0 && !chosenCell(); }
	get past() { return Boolean(this.query.at) && !this.several; }
	get store() { return this.past ? this.behind.store : this.live; }
	get loaded() { return this.past ? this.behind.last >= 0 : this.live.structure > 0; }

	clock() { return this.past ? this.store.time : Date.now() / SECOND; }

	recent() {
		return this.past ? this.behind.rows.slice(0, this.behind.done) : [...this.earlier, ...this.stream.recent];
	}

	named(number) {
		const [kind, id] = [this.store.kindOf(number), this.store.ids[number]];
		const at = id.indexOf(": ");
		return this.several ? { kind, id: id.slice(at + 2), cell: id.slice(0, at) } : { kind, id, cell: chosenCell() };
	}

	nameOf(number) { return `${this.store.kindOf(number)}/${this.store.ids[number]}`; }

	selected() { return this.query.sel ? this.store.find(...splitName(this.query.sel)) : -1; }

	choose(number) {
		this.router.set({ sel: number < 0 ? null : this.nameOf(number) });
		if (number >= 0) this.announce(`${this.nameOf(number)}: ${stateName(this.store.stateOf(number))}`);
	}

	openEntity(number) {
		this.goEntity(this.named(number));
	}
	goEntity({ kind, id, cell = chosenCell() }) { this.router.go(this.router.to("entity", { kind, id, cell })); }

	announce(text) { document.getElementById("announce").textContent = text; }

	label([, kind, , facet, state, conditions]) {
		return stateName(described(this.machines, kind, facet, { state, conditions }));
	}

	// What to say beside a button whose role is not there.
	lacks(role, id = "") {
		const { roles, published } = this.session;
		const tree = id.split("/")[0];
		if (roles.includes(role) && (!tree || !published.length || published.includes(tree))) return null;
		return small(t("needs", { role: tree ? `${role}:${safe(tree)}` : role }));
	}

	async start() {
		this.header.draw();
		this.known = this.#tables();
		this.#show();
		await Promise.all([this.stream.load(), this.known]);
		this.#earlier();
		this.moved();
		setInterval(() => this.touch(false), SECOND);
		for (const one of SCREENS) import(`./${one}.js`).catch(() => {}); // a screen opens without the server too
	}

	#back() {
		if (!this.missed) return;
		this.screen = "";
		this.#show();
	}

	// The module of a screen, once the server is there.
	async #module(screen) {
		for (let tries = 0; this.screen === screen; tries++) {
			try {
				return SCREENS.includes(screen) ? await import(`./${screen}.js${tries ? `?${tries}` : ""}`) : nowhere;
			} catch {
				this.shown?.close?.();
				this.shown = null;
				fill(this.main, el("div.empty", { role: "status" }, t("serverAway")));
				await sleep(SECOND);
			}
		}
		return null;
	}

	async #tables() {
		for (;;) {
			try {
				const [session, { machines }] = await Promise.all([get("/v1/session"), get("/v1/machines")]);
				this.session = session;
				for (const one of machines) this.machines.set(one.kind, one);
				return;
			} catch {
				await sleep(SECOND);
			}
		}
	}

	async #earlier() {
		const asked = Object.entries(this.live.places).map(async ([cell, place]) => {
			const { rows } = await get("/v1/transitions", { form: "columns", from: Math.max(1, place - BEFORE), to: place, limit: BEFORE }, cell || chosenCell());
			return cell ? rows.map((row) => row.with(2, nameIn(cell, row[2]))) : rows;
		});
		const found = await Promise.allSettled(asked);
		this.earlier = found.flatMap((one) => one.value ?? []);
		if (this.several) this.earlier.sort((one, other) => one[8] - other[8]);
		this.touch();
	}

	async moved() {
		const before = language();
		choose(this.query.lang);
		if (language() !== before) {
			this.screen = "";
		}
		const wanted = this.past ? this.query.at : "";
		if (wanted !== this.at) await this.#stand(wanted);
		this.#show();
		this.touch();
	}

	async #stand(wanted) {
		this.at = wanted;
		if (!wanted) return;
		this.seeking = (this.seeking ?? Promise.resolve()).then(async () => {
			if (this.query.at !== wanted) return;
			try {
				const place = await this.behind.seek(wanted, this.live.place);
				if (String(place) !== wanted) {
					this.at = String(place);
					this.router.set({ at: place });
				}
			} catch (problem) {
				const text = t("failed", { problem: problem.message });
				dialog(text, el("p", text));
				this.goLive();
			}
		});
		await this.seeking;
	}

	// Show a place; null is live.
	goLive() { this.goTo(null); }
	goTo(place) {
		if (this.several) return this.announce(t("ofOneCell"));
		this.playing = place === null ? false : this.playing;
		this.router.set({ at: place }, !this.past && place !== null);
	}
	toggleLive() { this.goTo(this.past ? null : this.live.place); }

	async step(direction) {
		if (this.several) return this.announce(t("ofOneCell"));
		if (!this.past) {
			if (direction > 0) return false;
			await this.behind.seek(this.live.place, this.live.place);
		}
		const place = direction > 0 ? await this.behind.next() : await this.behind.previous();
		if (place === null) {
			if (direction < 0) this.announce(t("atStart"));
			return false;
		}
		this.goTo(place);
		return true;
	}

	async play() {
		this.playing = !this.playing && this.past;
		this.touch();
		while (this.playing && this.past) {
			if (!(await this.step(1).catch(() => false))) break;
			await sleep(PLAYED);
		}
		this.playing = false;
		this.touch();
	}

	async #show() {
		const { screen } = this.router.now;
		if (this.screen === screen) return;
		this.screen = screen;
		this.missed = false;
		const module = await this.#module(screen);
		if (this.screen !== screen || !module) return;
		this.shown?.close?.();
		this.main.className = screen;
		fill(this.main, el("h1.hidden-text", t(screen)));
		this.shown = this.several && !ACROSS.includes(screen) ? { draw() {} } : module.open(this, this.main);
		this.touch();
	}

	touch() {
		if (this.waiting) return;
		this.waiting = true;
		const draw = () => {
			this.waiting = false;
			this.header.draw();
			this.strip.draw();
			this.shown?.draw();
		};
		if (document.hidden) setTimeout(draw, SECOND);
		else requestAnimationFrame(draw);
	}
}

takeTheme();
const app = new App();
app.start();
window.phaseline = app;
addEventListener("unhandledrejection", (event) => {
	app.announce(event.reason?.message ?? event.reason);
});
