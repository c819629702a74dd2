// Keeps a store up to date, after sleep and breaks too.

import { chosenCell, get } from "./api.js";
import { Feed } from "./feed.js";
import { sleep } from "./format.js";
import { nameIn } from "./store.js";

const HIDDEN = 60_000;
const AGAIN = 1500;
const STALE_CHECK = 10_000;

// heard: until when it was followed, ms. away: by cell, why it cannot be read.
export class Stream {
	#feed;
	#timer = 0;
	#stale = 0;
	#wanted = true;
	#loading = null;

	// back(): the server is there again.
	constructor(store, changed, back) {
		Object.assign(this, { store, changed, back, status: "connecting", heard: Date.now(), recent: [], problem: "", away: new Map() });
		this.#feed = shared((message) => this.#take(message));
		document.addEventListener("visibilitychange", () => this.#seen());
		addEventListener("pagehide", () => this.#feed.leave());
		addEventListener("pageshow", (event) => event.persisted && this.#feed.join(this.#stand()));
		addEventListener("online", () => this.status === "away" && this.load());
	}

	// Why what is shown cannot be read; empty if it can.
	get lost() { return this.away.get(chosenCell()) || ""; }
	get gone() { return this.status === "away" || Boolean(this.lost); }

	// seconds: since when nothing could be read, as the server says.
	#note(was, seconds = 0) {
		if (this.gone && !was) this.heard = Date.now() - seconds * 1000;
		if (!this.gone && was) this.back();
	}

	load() {
		clearTimeout(this.#stale);
		this.#stale = 0;
		this.#loading ??= this.#load().finally(() => (this.#loading = null));
		return this.#loading;
	}

	async #load() {
		for (;;) {
			try {
				const answer = await get("/v1/columns");
				for (const [cell, { away, connected }] of Object.entries(answer.cells ?? {})) if (away || connected) this.away.set(cell, away);
				this.store.load(answer);
				this.problem = "";
				this.changed(true);
				if (this.#wanted) this.#feed.join(this.#stand());
				return;
			} catch (problem) {
				if (problem.status === 401) location.reload(); // the server shows the form to log in
				const { gone } = this;
				Object.assign(this, { status: "away", problem: problem.status ? problem.message : "" });
				this.#note(gone);
				this.changed(false);
				await sleep(AGAIN + Math.random() * AGAIN);
			}
		}
	}

	#stand() {
		const { "": only, ...cells } = this.store.places;
		return only === undefined ? cells : { [chosenCell()]: only };
	}

	#take(message) {
		const { gone } = this;
		if (message.type === "cell") this.away.set(message.cell, message.away);
		if (message.type === "resync") this.load();
		else this.status = message.type === "away" ? "away" : "live";
		this.#note(gone, message.seconds);
		if (message.place) this.#apply(message);
		this.changed(Boolean(message.rows?.length));
	}

	#apply({ cell, place, rows }) {
		const { places } = this.store;
		const key = cell === chosenCell() ? "" : cell;
		if (place > places[key]) {
			const named = key ? rows.map((row) => row.with(2, nameIn(key, row[2]))) : rows;
			this.store.apply(named, null, key);
			places[key] = place;
			this.#remember(named);
		} else if (!(key in places) && !chosenCell()) this.#stale ||= setTimeout(() => this.load(), AGAIN); // it is read only now
	}

	#remember(rows) {
		this.recent.push(...rows);
		if (this.recent.length > 4000) this.recent.splice(0, this.recent.length - 2000);
		if (!this.#stale && rows.some((row) => row[3] === "contact")) this.#stale = setTimeout(() => this.load(), STALE_CHECK);
	}

	#seen() {
		clearTimeout(this.#timer);
		if (document.hidden) {
			this.#timer = setTimeout(() => {
				this.#wanted = false;
				this.#feed.leave();
			}, HIDDEN);
		} else if (!this.#wanted) {
			this.#wanted = true;
			this.status = "connecting";
			this.#feed.join(this.#stand());
		}
	}
}

function shared(take) {
	if (typeof SharedWorker !== "undefined") {
		try {
			const { port } = new SharedWorker("/page/feed.js", { type: "module", name: "phaseline" });
			port.onmessage = ({ data }) => take(data);
			return { join: (places) => port.postMessage({ type: "join", places }), leave: () => port.postMessage({ type: "leave" }) };
		} catch {
			// A browser may forbid it; the tab has its own stream then.
		}
	}
	const feed = new Feed();
	return { join: (places) => { feed.leave(take); feed.join(take, places); }, leave: () => feed.leave(take) };
}
