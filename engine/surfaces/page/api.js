// Requests to the server and to the chosen cell.

export const CELLS = globalThis.document?.documentElement.dataset.cells?.split(" ") ?? [];

// The chosen cell; empty is all, or the only one.
export function chosenCell() {
	const cell = new URLSearchParams(location.search).get("cell");
	return CELLS.includes(cell) ? cell : "";
}

class Problem extends Error {
	constructor(body, status) {
		super(body.detail ?? body.title ?? `HTTP ${status}`);
		Object.assign(this, { status, body });
	}
}

// The JSON of an answer; throws `Problem`, or `TypeError` while the server is away.
export async function get(path, parameters = {}, cell = chosenCell()) {
	return call(path, parameters, cell, {});
}

// Send JSON, or a body with its own type.
export async function post(path, body, headers = {}, parameters = {}) {
	const text = typeof body === "string" ? body : JSON.stringify(body);
	return call(path, parameters, chosenCell(), { method: "POST", body: text, headers: { "content-type": "application/json", ...headers } });
}

export async function logOut() {
	await call("/v1/session", {}, "", { method: "DELETE" });
	location.reload();
}

async function call(path, parameters, cell, options) {
	const address = cell ? path.replace("/v1", `/v1/cells/${encodeURIComponent(cell)}`) : path;
	const answer = await fetch(address + query(parameters), { ...options, headers: { accept: "application/json", ...options.headers } });
	const text = await answer.text();
	let body = {};
	try {
		body = text ? JSON.parse(text) : {};
	} catch {
		throw new Problem({ detail: `${answer.status} ${answer.statusText}` }, answer.status);
	}
	if (!answer.ok) throw new Problem(body, answer.status);
	return body;
}

function query(parameters) {
	const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "");
	return given.length ? `?${new URLSearchParams(given)}` : "";
}

// `kind/id` in a path: each is one part.
export function name(kind, id) {
	return `${encodeURIComponent(kind)}/${encodeURIComponent(id)}`;
}
