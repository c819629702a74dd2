// The entities at earlier places.

import { get } from "./api.js";
import { sleep } from "./format.js";
import { Store } from "./store.js";

const BEFORE = 400;
const AFTER = 1500;
const CAUSE = 9;
const [TRIES, PAUSE] = [8, 1000];

// Few may read the past at once: who finds no room waits.
async function patient(path, parameters) {
	for (let tries = 1; ; tries++) {
		try {
			return await get(path, parameters);
		} catch (problem) {
			if (problem.status !== 503 || tries === TRIES) throw problem;
			await sleep(PAUSE);
		}
	}
}

// A store at any place. rows: those around it; `done` are applied.
export class Past {
	constructor(machines) {
		Object.assign(this, { store: new Store(machines), rows: [], undos: [], done: 0, first: 0, last: -1 });
	}

	// Stand at a place, or where `15m` leads. end: the last known.
	async seek(when, end) {
		const named = Number(when);
		const place = named >= 0 && named <= end ? named : (await get("/v1/counts", { at: when })).place;
		if (place < this.first || place > this.last) await this.#fetch(place);
		this.#stand(place);
		return this.store.place;
	}

	async #fetch(place) {
		const columns = await patient("/v1/columns", { at: Math.max(0, place - BEFORE), deleted: 1 });
		const base = columns.place; // the server stands between two events, as the page does
		const rows = await this.#range(base + 1, place + AFTER, BEFORE + AFTER);
		this.store.load(columns);
		Object.assign(this, { rows: rows.rows, undos: [], done: 0, first: base, last: Math.max(place, rows.place) });
	}

	#range(from, to, limit) {
		return get("/v1/transitions", { form: "columns", from, to, limit });
	}

	#stand(place) {
		let end = this.rows.findIndex((row) => row[0] > place);
		if (end < 0) end = this.rows.length;
		let stood = place;
		while (end > 0 && end < this.rows.length && this.rows[end][CAUSE] === this.rows[end - 1][CAUSE]) stood = this.rows[--end][0] - 1;
		while (this.done > end) this.store.undo(this.undos[--this.done]);
		this.undos.length = this.done;
		if (end > this.done) this.store.apply(this.rows.slice(this.done, end), this.undos);
		this.done = end;
		this.store.place = stood;
	}

	async next() {
		if (this.done === this.rows.length) await this.#more();
		if (this.done === this.rows.length) return null;
		let end = this.done;
		while (end + 1 < this.rows.length && this.rows[end + 1][CAUSE] === this.rows[this.done][CAUSE]) end++;
		return this.rows[end][0];
	}

	async #more() {
		const found = await this.#range(this.last + 1, this.last + AFTER, AFTER);
		this.rows.push(...found.rows);
		this.last = Math.max(this.last, found.place);
	}

	async previous() {
		if (!this.done && this.first > 0) {
			const place = this.store.place;
			await this.#fetch(this.first);
			this.#stand(Math.min(place, this.last));
		}
		if (!this.done) return null;
		let start = this.done - 1;
		while (start > 0 && this.rows[start - 1][CAUSE] === this.rows[this.done - 1][CAUSE]) start--;
		return start ? this.rows[start - 1][0] : Math.max(this.first, this.rows[start][0] - 1);
	}
}
