// The head of the page, and the keys that work everywhere.

import { dialog, el, fill } from "./dom.js";
import { clock, span } from "./format.js";
import { openPalette } from "./palette.js";
import { SCREENS } from "./router.js";
import { LANGUAGE_NAMES, LANGUAGES, language, t } from "./words.js";

const KEYS = [
	[["/", "Ctrl K"], "keySearch"], [["↑", "↓", "j", "k"], "keyMove"], [["←", "→", "h", "l"], "keyMove"], [["Enter"], "keyOpen"],
	[["[", "]"], "keyEvents"], [["Space"], "keyLive"], [["p"], "keyPlay"],
	[["g n", "g t", "g m", "g r", "g w"], "keyGo"], [["L"], "keyLang"], [["?"], "keyHelpItself"],
];
const GO = { n: "now", t: "tree", m: "time", r: "refused", w: "workers" };

/** The head. */
export class Header {
	#going = false;

	constructor(app, element) {
		Object.assign(this, { app, element });
		document.addEventListener("keydown", (event) => this.#key(event));
	}

	/** Draw everything: at the start, and when the language changes. */
	draw() {
		const { router } = this.app;
		document.querySelector(".skip").textContent = t("skip");
		this.nav = el("ul");
		this.connection = el("div.connection", { role: "status" });
		const languages = el("select", { "aria-label": t("language"), onchange: (event) => router.set({ lang: event.target.value }) },
			LANGUAGES.map((tag) => el("option", { value: tag, selected: tag === language() }, LANGUAGE_NAMES[tag])));
		fill(this.element,
			el("a.brand", { href: router.to("now") }, el("img", { src: "/page/icon.svg", alt: "" }), el("span", t("title"))),
			el("nav", { "aria-label": t("screens") }, this.nav),
			el("span.grow"),
			el("button.find", { "aria-label": t("search"), onclick: () => openPalette(this.app) }, el("span", t("search")), el("kbd", { "aria-hidden": "true" }, "/")),
			this.connection, languages,
			el("button", { "aria-label": t("help"), title: t("help"), onclick: () => this.#help() }, "?"));
		this.update();
	}

	/** Show the screen and the connection. */
	update() {
		const { app } = this;
		const { screen } = app.router.now;
		const links = SCREENS.filter((one) => one === screen || (one !== "entity" && (one !== "workers" || !app.session.trees.length)));
		fill(this.nav, links.map((one) => el("li", one === "entity" ? el("a", { href: location.pathname + location.search, "aria-current": "page" }, t(one))
			: el("a", { href: app.router.to(one), "aria-current": one === screen ? "page" : null }, t(one)))));
		document.body.classList.toggle("past", app.past);
		document.title = `${t(screen)} · ${t("title")}`;
		const { status, heard } = app.stream;
		if (app.past) {
			fill(this.connection, el("span.dot.past"), el("span.cut", t("past", { place: app.at, time: app.store.time ? clock(app.store.time) : "…" })),
				el("button", { onclick: () => app.goLive() }, t("backToLive")));
		} else {
			const text = status === "away" ? t("away", { age: span((Date.now() - heard) / 1000) }) : t(status);
			fill(this.connection, el(`span.dot.${status}`), el("span.cut", text));
		}
	}

	#help() {
		dialog(t("keyHelp"), el("div.bar", el("h2.grow", t("keyHelp")), el("button", { onclick: (event) => event.target.closest("dialog").close() }, t("close"))),
			el("dl.keys", KEYS.map(([keys, word]) => [el("dt", keys.map((one) => el("kbd", one))), el("dd", t(word))])));
	}

	#key(event) {
		const { app } = this;
		if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
			event.preventDefault();
			openPalette(app);
			return;
		}
		if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, select, textarea, dialog")) return;
		const going = this.#going;
		this.#going = false;
		const does = {
			"/": () => openPalette(app), "?": () => this.#help(), "[": () => app.step(-1), "]": () => app.step(1), p: () => app.play(),
			L: () => app.router.set({ lang: LANGUAGES[(LANGUAGES.indexOf(language()) + 1) % LANGUAGES.length] }), g: () => (this.#going = true),
		};
		if (going && GO[event.key]) app.router.go(app.router.to(GO[event.key]));
		else if (event.key === " " && !event.target.closest?.("button, a")) app.toggleLive();
		else if (does[event.key] && !going) does[event.key]();
		else return;
		event.preventDefault();
	}
}
