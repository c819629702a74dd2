// Keeps a store up to date: loads it, follows the feed, comes back after sleep and breaks.

import { get } from "./api.js";
import { Feed } from "./feed.js";

const HIDDEN = 60_000;
const AGAIN = 1500;
const STALE_CHECK = 10_000;

/** status: `connecting`, `live`, `away`. heard: when the server spoke last, ms. */
export class Stream {
	#feed;
	#timer = 0;
	#stale = 0;
	#wanted = true;

	constructor(store, changed) {
		Object.assign(this, { store, changed, status: "connecting", heard: Date.now(), recent: [] });
		this.#feed = shared((message) => this.#take(message));
		document.addEventListener("visibilitychange", () => this.#seen());
		addEventListener("pagehide", () => this.#feed.leave());
		addEventListener("pageshow", (event) => event.persisted && this.#feed.join(this.store.place));
		addEventListener("online", () => this.status === "away" && this.load());
	}

	/** Load everything, then follow. Tries again until it works. */
	async load() {
		clearTimeout(this.#stale);
		this.#stale = 0;
		try {
			const columns = await get("/v1/columns");
			this.store.load(columns);
			this.heard = Date.now();
			this.changed(true);
			if (this.#wanted) this.#feed.join(this.store.place);
		} catch (problem) {
			if (problem.status === 401) location.reload(); // the server shows the form to log in
			this.status = "away";
			this.changed(false);
			setTimeout(() => this.load(), AGAIN + Math.random() * AGAIN);
		}
	}

	#take(message) {
		if (message.type === "away") this.status = "away";
		else {
			this.heard = Date.now();
			if (message.type !== "resync") this.status = "live";
		}
		if (message.type === "resync") this.load();
		if (message.place > this.store.place) {
			this.store.apply(message.rows);
			this.store.place = message.place;
			this.#remember(message.rows);
		}
		this.changed(Boolean(message.rows?.length));
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
			this.#feed.join(this.store.place);
		}
	}
}

function shared(take) {
	if (typeof SharedWorker !== "undefined") {
		try {
			const { port } = new SharedWorker("/page/feed.js", { type: "module", name: "phaseline" });
			port.onmessage = ({ data }) => take(data);
			return { join: (place) => port.postMessage({ type: "join", place }), leave: () => port.postMessage({ type: "leave" }) };
		} catch {
			// A browser may forbid it; the tab has its own stream then.
		}
	}
	const feed = new Feed();
	return { join: (place) => { feed.leave(take); feed.join(take, place); }, leave: () => feed.leave(take) };
}
