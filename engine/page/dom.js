// Elements from plain values. Data becomes text nodes and attributes, never markup.

import { safe } from "./format.js";
import { t } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

/** An element. name: tag and classes (`div.a.b`). props, if given: attributes, listeners (`onclick`). children: elements, texts, nothing. */
export function el(name, ...children) {
	const [tag, ...classes] = name.split(".");
	const made = document.createElement(tag);
	if (classes.length) made.className = classes.join(" ");
	const props = children[0]?.constructor === Object ? children.shift() : {};
	for (const [name, value] of Object.entries(props)) {
		if (typeof value === "function") made.addEventListener(name.slice(2), value);
		else if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value === true ? "" : String(value));
	}
	fill(made, children);
	return made;
}

/** An SVG element. */
export function svg(tag, attributes, ...children) {
	const made = document.createElementNS(SVG, tag);
	for (const [name, value] of Object.entries(attributes ?? {})) made.setAttribute(name, String(value));
	made.append(...children);
	return made;
}

/** The sign of a class of states, beside a text that says the same. */
export function glyph(name) {
	return svg("svg", { class: `glyph ${name}`, "aria-hidden": "true", width: 12, height: 12 }, svg("use", { href: `#g-${name}` }));
}

/** A name from outside. */
export function bdi(text, classes = "") {
	return el(`bdi${classes}`, safe(text));
}

/** Put these children in place of all others. */
export function fill(parent, ...children) {
	parent.replaceChildren(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
	return parent;
}

/** The side of a screen, which scrolls by itself. */
export function panel(...children) {
	return el("div.panel", { tabindex: 0, role: "region", "aria-label": t("details") }, children);
}

/** A canvas as sharp as the screen: its context, width and height, and the colours of the page. */
export function sharp(canvas, height = canvas.clientHeight) {
	const ratio = Math.min(2, devicePixelRatio || 1);
	const width = canvas.clientWidth;
	[canvas.width, canvas.height] = [width * ratio, height * ratio];
	const context = canvas.getContext("2d");
	context.scale(ratio, ratio);
	const style = getComputedStyle(canvas);
	return [context, width, height, (name) => style.getPropertyValue(`--${name}`)];
}

/** The heads of rows: words, with classes (`since.end`). */
export function heads(...names) {
	return el("div.heads", { "aria-hidden": "true" }, names.map((name) => el(name.replace(/^\w+/, "span"), t(name.split(".")[0]))));
}

/** A table. heads: words, `#` before those of numbers; the fourth and later need a wide screen. */
export function table(heads, rows) {
	const props = (at) => ({ class: `${heads[at][0] === "#" ? "end" : ""} ${at > 2 ? "wide" : ""}` });
	return el("table", el("tr", heads.map((word, at) => el("th", { ...props(at), scope: "col" }, t(word.replace("#", ""))))),
		rows.map((row) => el("tr", row.map((value, at) => el("td", props(at), value)))));
}

/** A dialog on top of the page; the one that was open before closes. */
export function dialog(label, ...children) {
	document.querySelector("dialog[open]")?.close();
	const made = el("dialog", { "aria-label": label, onclose: () => made.remove() }, ...children);
	made.addEventListener("click", (event) => event.target === made && made.close());
	document.body.append(made);
	made.showModal();
	return made;
}
