// The head of the page, and keys.

import { CELLS, chosenCell, logOut } from "./api.js";
import { openPalette } from "./palette.js";
import { SCREENS } from "./router.js";
import { chosenTheme, takeTheme, THEMES } from "./theme.js";
import { choice, clock, dialog, el, glyph, language, LANGUAGE_NAMES, LANGUAGES, refill, safe, span, t } from "./ui.js";

const KEYS = [
	[["/", "Ctrl K"], "keySearch"], [["↑ ↓ ← →", "h j k l"], "keyMove"], [["Enter"], "keyOpen"],
	[["[", "]"], "keyEvents"], [["Space"], "keyLive"], [["p"], "keyPlay"],
	[["g n", "g t", "g m", "g r", "g w"], "keyGo"], [["L"], "keyLang"], [["?"], "keyHelpItself"],
];
const GO = { n: "now", t: "tree", m: "time", r: "refused", w: "workers" };

export class Header {
	#going = false;

	constructor(app, element) {
		Object.assign(this, { app, element });
		document.addEventListener("keydown", (event) => this.#key(event));
	}

	draw() {
		const { app } = this;
		const { router, session } = app;
		const { screen } = router.now;
		document.querySelector(".skip").textContent = t("skip");
		document.body.classList.toggle("past", app.past);
		document.title = `${t(screen)} · Phaseline`;
		const links = SCREENS.filter((one) => one === screen || (one !== "entity" && (one !== "workers" || !session.trees.length)));
		const href = (one) => (one === "entity" ? location.pathname + location.search : router.to(one));
		refill(this.element,
			el("a.brand", { href: router.to("now"), aria: "Phaseline" }, el("img", { src: "/page/icon.svg", alt: "" }), el("span", "Phaseline")),
			el("nav", { aria: t("screens") }, el("ul", links.map((one) => el("li", el("a", { href: href(one), "aria-current": one === screen ? "page" : null }, t(one)))))),
			el("span.grow"),
			el("button.find", { aria: t("search"), onclick: () => openPalette(app) }, glyph("look"), el("span", t("search")), el("kbd", { "aria-hidden": "true" }, "/")),
			el("div.connection", { role: "status" }, this.#connection()),
			CELLS.length ? choice("cell", [["", t("allCells")], ...CELLS.map((cell) => [cell, cell])], chosenCell(), (cell) => router.go(router.inCell(cell))) : null,
			choice("language", LANGUAGES.map((tag) => [tag, LANGUAGE_NAMES[tag]]), language(), (lang) => router.set({ lang })),
			el("button", { aria: t("keyHelp"), title: t("keyHelp"), onclick: () => this.#help() }, "?"),
			el("button.who", { aria: `${t("whoAmI")} ${safe(session.name ?? "…")}`, title: t("whoAmI"), onclick: () => this.#who() }, el("span.cut", safe(session.name ?? "…"))));
		this.#away();
	}

	#away() {
		const { past, stream } = this.app;
		const banner = document.getElementById("away");
		const away = stream.gone && !past;
		document.body.classList.toggle("away", away);
		if (away) refill(banner, stream.lost ? `${safe(stream.lost)}. ` : t("serverAway"), " ", el("b", t("away", { age: span((Date.now() - stream.heard) / 1000) })));
		banner.hidden = !away;
	}

	#who() {
		const { name, roles, trees, published } = this.app.session;
		const fact = (word, list, role) => [el("dt", t(word)), el("dd", !roles.includes(role) ? t("none") : list.length ? safe(list.join(", ")) : t("all"))];
		dialog(t("whoAmI"), el("div.bar", el("h2.grow", safe(name ?? "…")), el("button", { onclick: (event) => event.target.closest("dialog").close() }, t("close"))),
			el("dl.facts", el("dt", t("roles")), el("dd", roles.join(", ") || t("none")), fact("maySee", trees, "read"), fact("maySend", published, "publish"),
				el("dt", t("theme")), el("dd", choice("theme", THEMES.map((one) => [one, t(`theme${one || "system"}`)]), chosenTheme(), (one) => { takeTheme(one); this.app.touch(); }))),
			name && name !== "local" ? el("button", { onclick: () => logOut() }, t("logOut")) : null);
	}

	#connection() {
		const { app } = this;
		const { status, gone } = app.stream;
		if (app.past) {
			return [el("span.dot.past"), el("span.cut", t("past", { place: app.at, time: app.store.time ? clock(app.store.time) : "…" })),
				el("button", { onclick: () => app.goLive() }, t("backToLive"))];
		}
		const text = t(gone ? "offline" : status);
		return [el(`span.dot.${gone ? "away" : status}`), el("span.cut", text)];
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
