// Search: entities and screens.

import { Rows } from "./rows.js";
import { SCREENS, splitName } from "./router.js";
import { CLASSES } from "./store.js";
import { bdi, dialog, el, kindName, sign, small, t } from "./ui.js";

const MOST = 200;

// Those with these words, first those that begin so.
export function found(store, text) {
	const words = text.toLowerCase().split(/\s+/).filter(Boolean);
	if (!words.length) return [];
	const parts = [[], []];
	for (const number of store.order()) {
		const whole = `${store.kindOf(number)}/${store.ids[number]}`.toLowerCase();
		if (!store.isThere(number) || !words.every((word) => whole.includes(word))) continue;
		const [, id] = splitName(whole);
		parts[Number(!id.startsWith(words[0]) && !id.slice(id.lastIndexOf("/") + 1).startsWith(words[0]))].push(number);
		if (parts[0].length >= MOST) break;
	}
	return parts.flat().slice(0, MOST);
}

export function openPalette(app) {
	let items = [];
	const { store, router } = app;
	const input = el("input", { type: "search", role: "combobox", "aria-expanded": "true", "aria-controls": "found", "aria-autocomplete": "list", placeholder: t("searchHint"), aria: t("search"), autocomplete: "off", spellcheck: "false", oninput: search, onkeydown: pressed });
	const rows = new Rows({ label: t("search"), draw, choose: take });
	rows.element.id = "found";
	rows.element.tabIndex = -1;
	const nothing = el("p.soft", { role: "status" });

	function draw(index, row) {
		const item = items[index];
		if (typeof item === "string") return row.replaceChildren(el("span"), el("span", t(item)), small(t("open")));
		const cls = CLASSES[store.classAt(item)];
		row.replaceChildren(sign(cls), bdi(store.ids[item], ".cut"), small(kindName(store.kindOf(item))));
	}

	function search() {
		const text = input.value.trim().toLowerCase();
		const screens = SCREENS.filter((one) => one !== "entity" && (one.includes(text) || t(one).toLowerCase().includes(text)));
		items = [...screens, ...found(store, text)];
		nothing.textContent = items.length ? "" : t("nothingFound");
		rows.element.scrollTop = 0;
		rows.update(items.length, items.length ? 0 : -1);
		point();
	}

	function point() {
		const active = rows.element.getAttribute("aria-activedescendant");
		if (active) input.setAttribute("aria-activedescendant", active);
		else input.removeAttribute("aria-activedescendant");
	}

	function take(index) {
		const item = items[index];
		box.close();
		if (typeof item === "string") router.go(router.to(item));
		else if (item !== undefined) router.go(router.to("tree", { id: store.root(item), sel: app.nameOf(item) }));
	}

	function pressed(event) {
		const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
		if (step && items.length) {
			const index = Math.min(items.length - 1, Math.max(0, rows.selected + step));
			rows.reveal(index);
			rows.update(items.length, index);
			point();
		} else if (event.key === "Enter") take(rows.selected);
		else return;
		event.preventDefault();
	}

	const box = dialog(t("search"), input, nothing, rows.element);
	box.addEventListener("close", () => rows.close());
	input.focus();
	search();
}
