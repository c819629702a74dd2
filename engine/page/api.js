// Requests to the server that the page came from.

/** An answer that is an error. */
export class Problem extends Error {
	constructor(body, status) {
		super(body.detail ?? body.title ?? `HTTP ${status}`);
		Object.assign(this, { status, body });
	}
}

/** The JSON of an answer; throws `Problem`. `TypeError` where the server is away. */
export async function get(path, parameters = {}, options = {}) {
	return call(`${path}${query(parameters)}`, options);
}

/** Send JSON, or a body with its own type. */
export async function post(path, body, headers = {}, parameters = {}) {
	const text = typeof body === "string" ? body : JSON.stringify(body);
	return call(`${path}${query(parameters)}`, { method: "POST", body: text, headers: { "content-type": "application/json", ...headers } });
}

async function call(address, options) {
	const answer = await fetch(address, { ...options, headers: { accept: "application/json", ...options.headers } });
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

/** `kind/id` in a path: each is one part. */
export function name(kind, id) {
	return `${encodeURIComponent(kind)}/${encodeURIComponent(id)}`;
}
