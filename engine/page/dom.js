// Elements from plain values. Data becomes text nodes and attributes, never markup.

import { t } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

/** An element. props: attributes; `on` holds listeners by event. children: elements, texts, or nothing. */
export function el(tag, props, ...children) {
	const made = document.createElement(tag);
	for (const [name, value] of Object.entries(props ?? {})) {
		if (name === "on") {
			for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
		} else if (value !== undefined && value !== null && value !== false) {
			made.setAttribute(name, value === true ? "" : String(value));
		}
	}
	made.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
	return made;
}

/** An SVG element. */
export function svg(tag, attributes, ...children) {
	const made = document.createElementNS(SVG, tag);
	for (const [name, value] of Object.entries(attributes ?? {})) made.setAttribute(name, String(value));
	made.append(...children);
	return made;
}

/** The sign of a class of states. A text or a label beside it says the same. */
export function glyph(name) {
	return svg("svg", { class: `glyph ${name}`, "aria-hidden": "true", width: 12, height: 12 }, svg("use", { href: `#g-${name}` }));
}

/** Put these children in place of all others. */
export function fill(parent, ...children) {
	parent.replaceChildren(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
	return parent;
}

/** A table. heads: words, those of numbers with `#` before them; from the fourth on they need a wide screen. */
export function table(heads, rows) {
	const props = (at) => ({ class: `${heads[at][0] === "#" ? "end" : ""} ${at > 2 ? "wide" : ""}` });
	return el("table", {}, el("tr", {}, heads.map((word, at) => el("th", { ...props(at), scope: "col" }, t(word.replace("#", ""))))),
		rows.map((row) => el("tr", {}, row.map((value, at) => el("td", props(at), value)))));
}

/** A dialog on top of the page; the one that was open before closes. */
export function dialog(label, ...children) {
	document.querySelector("dialog[open]")?.close();
	const made = el("dialog", { "aria-label": label, on: { close: () => made.remove() } }, ...children);
	made.addEventListener("click", (event) => event.target === made && made.close());
	document.body.append(made);
	made.showModal();
	return made;
}
