// The address is the state of the page.

export const SCREENS = ["now", "tree", "entity", "time", "refused", "workers"];

export function read(path, search) {
	const parts = path.split("/").slice(1).map(decoded);
	const query = Object.fromEntries(new URLSearchParams(search));
	const screen = SCREENS.includes(parts[0]) ? parts[0] : parts[0] ? "nowhere" : "now";
	const found = { screen, kind: "", id: "", query };
	if (screen === "tree") found.id = parts.slice(1).join("/");
	if (screen === "entity") [found.kind, found.id] = [parts[1] ?? "", parts.slice(2).join("/")];
	return found;
}

function decoded(part) {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

export function write({ screen, kind, id, query }) {
	let path = `/${screen}`;
	if (screen === "tree" && id) path += `/${encodeURIComponent(id)}`;
	if (screen === "entity") path += `/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`;
	const kept = Object.entries(query ?? {}).filter(([, value]) => value !== "" && value !== null && value !== undefined);
	const text = new URLSearchParams(kept).toString();
	return text ? `${path}?${text}` : path;
}

export function splitName(name) {
	const at = name.indexOf("/");
	return at < 0 ? [name, ""] : [name.slice(0, at), name.slice(at + 1)];
}

const COMMON = ["cell", "at", "lang", "begin", "end"];

export class Router {
	constructor(changed) {
		this.changed = changed;
		this.now = read(location.pathname, location.search);
		addEventListener("popstate", () => this.#moved());
		document.addEventListener("click", (event) => this.#clicked(event));
	}

	#moved() {
		this.now = read(location.pathname, location.search);
		this.changed();
	}

	#clicked(event) {
		const link = event.target.closest?.("a[href^='/']");
		if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
		const url = new URL(link.href);
		if (link.target || !SCREENS.includes(url.pathname.split("/")[1])) return;
		event.preventDefault();
		this.go(url.pathname + url.search);
	}

	to(screen, { kind = "", id = "", ...query } = {}) {
		const common = Object.fromEntries(COMMON.map((name) => [name, this.now.query[name]]));
		return write({ screen, kind, id, query: { ...common, ...query } });
	}

	// The address of this screen in a cell; empty is all.
	inCell(cell) {
		return write({ ...this.now, query: { ...this.now.query, cell, at: "", begin: "", end: "", sel: "" } });
	}

	// Go to an address. For another cell the page begins anew.
	go(address) {
		const { cell = "" } = this.now.query;
		if ((new URL(address, location).searchParams.get("cell") ?? "") !== cell) return location.assign(address);
		history.pushState(null, "", address);
		this.#moved();
	}

	// Change values of the query. back: whether Back undoes it.
	set(changes, back = false) {
		const address = write({ ...this.now, query: { ...this.now.query, ...changes } });
		if (address === location.pathname + location.search) return;
		history[back ? "pushState" : "replaceState"](null, "", address);
		this.#moved();
	}
}
