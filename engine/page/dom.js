// Elements from plain values. Data becomes text nodes and attributes, never markup.

import { safe } from "./format.js";
import { stateName, t } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

/** An element. name: tag and classes (`div.a.b`). props, if given: attributes, listeners (`onclick`). children: elements, texts, nothing. */
export function el(name, ...children) {
	const [tag, ...classes] = name.split(".");
	const made = document.createElement(tag);
	if (classes.length) made.className = classes.join(" ");
	const props = children[0]?.constructor === Object ? children.shift() : {};
	for (const [name, value] of Object.entries(props)) {
		if (typeof value === "function") made[name] = value;
		else if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value === true ? "" : String(value));
	}
	fill(made, children);
	return made;
}

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

export function small(...children) {
	return el("span.soft.small", ...children);
}

/** A state as sign and text. */
export function stateMark(state) {
	const cls = state?.class ?? "unknown";
	return el(`span.state.${cls}`, glyph(cls), stateName(state));
}

/** A name from outside. */
export function bdi(text, classes = "") {
	return el(`bdi${classes}`, safe(text));
}

/** Put these children in place of all others. */
export function fill(parent, ...children) {
	parent.replaceChildren(...shown(children));
	return parent;
}

/** The same by changing the children that are there: what has the focus or is being clicked stays. */
export function refill(parent, ...children) {
	const wanted = shown(children);
	wanted.forEach((one, at) => {
		const [old, made] = [parent.childNodes[at], one instanceof Node ? one : document.createTextNode(one)];
		if (!old) parent.append(made);
		else if (old.nodeName !== made.nodeName) old.replaceWith(made);
		else if (old.data !== made.data) old.data = made.data;
		else if (made.attributes) renew(old, made);
	});
	while (parent.childNodes.length > wanted.length) parent.lastChild.remove();
}

function renew(old, made) {
	for (const name of ["onclick", "onchange", "oninput"]) old[name] = made[name];
	for (const { name } of [...old.attributes]) if (!made.hasAttribute(name)) old.removeAttribute(name);
	for (const { name, value } of made.attributes) {
		if (name === "style") old.style.cssText = value; // as a text it is not allowed
		else if (old.getAttribute(name) !== value) old.setAttribute(name, value);
	}
	refill(old, ...made.childNodes);
	if (old.value !== made.value) old.value = made.value;
}

function shown(children) {
	return children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false);
}

/** A button that sets values of the address, and takes them away again. */
export function chip(app, values, ...children) {
	const { query } = app.router.now;
	const names = Object.keys(values);
	const pressed = names.every((name) => (query[name] ?? "") === values[name]);
	const onclick = () => app.router.set(Object.fromEntries(names.map((name) => [name, pressed ? null : values[name]])));
	return el("button.chip", { type: "button", "aria-pressed": String(pressed), onclick }, children);
}

/** A choice of one value; options: each value with its text. */
export function choice(word, options, chosen, take) {
	return el("select", { name: word, "aria-label": t(word), onchange: (event) => take(event.target.value) },
		options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
}

/** The side of a screen, which scrolls by itself. */
export function panel(...children) {
	return el("div.panel", { tabindex: 0, role: "region", "aria-label": t("details") }, children);
}

export function pixelRatio() {
	return Math.min(2, devicePixelRatio || 1);
}

/** A canvas as sharp as the screen: its context, width and height, and the colours of the page. */
export function sharp(canvas, height = canvas.clientHeight) {
	const ratio = pixelRatio();
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
