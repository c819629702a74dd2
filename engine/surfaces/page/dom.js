// Elements. Data becomes text and attributes, never markup.

import { safe } from "./format.js";
import { stateName, stateWord, t } from "./words.js";

const [LONG, PATH, TAIL] = [28, 16, 12];
const SVG = "http://www.w3.org/2000/svg";

// An element. name: tag and classes (`div.a.b`). Then, if given, attributes and listeners; children.
export function el(name, ...children) {
	const [tag, ...classes] = name.split(".");
	const made = document.createElement(tag);
	if (classes.length) made.className = classes.join(" ");
	const props = children[0]?.constructor === Object ? children.shift() : {};
	for (const [name, value] of Object.entries(props)) {
		if (typeof value === "function") made[name] = value;
		else if (name === "aria") made.setAttribute("aria-label", value);
		else if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value === true ? "" : String(value));
	}
	fill(made, children);
	return made;
}

// A name; of a long one the end stays in view.
export function shortened(name) {
	return name.length > (name.includes("/") ? PATH : LONG) ? el("span.ends", { title: safe(name) }, bdi(name.slice(0, -TAIL), ".cut"), bdi(name.slice(-TAIL))) : bdi(name, ".cut");
}

export function svg(tag, attributes, ...children) {
	const made = document.createElementNS(SVG, tag);
	for (const [name, value] of Object.entries(attributes ?? {})) made.setAttribute(name, String(value));
	made.append(...children);
	return made;
}

export function glyph(name) {
	return svg("svg", { class: `glyph ${name}`, "aria-hidden": "true", width: 12, height: 12 }, svg("use", { href: `#g-${name}` }));
}

export function sign(cls) {
	return el("span", { class: cls }, glyph(cls));
}

export function small(...children) {
	return el("span.soft.small", ...children);
}

export function stateMark(state) {
	const cls = state?.class ?? "unknown";
	return el(`span.state.${cls}`, { title: stateWord(state) }, glyph(cls), el("span.cut", stateName(state)));
}

export function bdi(text, classes = "") {
	return el(`bdi${classes}`, safe(text));
}

export function fill(parent, ...children) {
	parent.replaceChildren(...shown(children));
	return parent;
}

// Both words of a state: its label, and its name where that says more.
export function bothWords(state) {
	const word = stateWord(state);
	return [stateMark(state), [word, word.replace(" [Ok]", "")].includes(stateName(state)) ? null : small(` ${word}`)];
}

// The same, by changing what is there: the focus stays.
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
		if (name === "style") old.style.cssText = value; // not allowed as a text
		else if (old.getAttribute(name) !== value) old.setAttribute(name, value);
	}
	refill(old, ...made.childNodes);
	if (old.value !== made.value) old.value = made.value;
}

function shown(children) {
	return children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false);
}

// A button that sets values of the address, or takes them away.
export function chip(app, values, ...children) {
	const { query } = app.router.now;
	const names = Object.keys(values);
	const pressed = names.every((name) => (query[name] ?? "") === values[name]);
	const onclick = () => app.router.set(Object.fromEntries(names.map((name) => [name, pressed ? null : values[name]])));
	return el("button.chip", { type: "button", "aria-pressed": String(pressed), onclick }, children);
}

export function choice(word, options, chosen, take) {
	return el("select", { name: word, aria: t(word), onchange: (event) => take(event.target.value) },
		options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
}

export function panel(...children) {
	return el("div.panel", { tabindex: 0, role: "region", aria: t("details") }, children);
}

export function pixelRatio() {
	return Math.min(2, devicePixelRatio || 1);
}

// A canvas as sharp as the screen: context, width, height, colours.
export function sharp(canvas, height = canvas.clientHeight) {
	const ratio = pixelRatio();
	const width = canvas.clientWidth;
	[canvas.width, canvas.height] = [width * ratio, height * ratio];
	const context = canvas.getContext("2d");
	context.scale(ratio, ratio);
	const style = getComputedStyle(canvas);
	return [context, width, height, (name) => style.getPropertyValue(`--${name}`)];
}

// The heads of rows: words, with classes (`since.end`).
export function heads(...names) {
	return el("div.heads", { "aria-hidden": "true" }, names.map((name) => el(name.replace(/^\w+/, "span"), t(name.split(".")[0]))));
}

// A table. heads: words, `#` for numbers; the fourth and later need a wide screen.
export function table(heads, rows) {
	const props = (at) => ({ class: `${heads[at][0] === "#" ? "end" : ""} ${at > 2 ? "wide" : ""}` });
	return el("table", el("tr", heads.map((word, at) => el("th", { ...props(at), scope: "col" }, t(word.replace("#", ""))))),
		rows.map((row) => el("tr", row.map((value, at) => el("td", props(at), value)))));
}

// A dialog; the one before closes.
export function dialog(label, ...children) {
	document.querySelector("dialog[open]")?.close();
	const made = el("dialog", { aria: label, onclose: () => made.remove() }, ...children);
	made.addEventListener("click", (event) => event.target === made && made.close());
	document.body.append(made);
	made.showModal();
	return made;
}
