// The stream of transitions, in a SharedWorker for all tabs, or else in the tab.

const KEPT = 400;
const AWAY = [1000, 5000];
// After so long without a message the server is away: it sends its place every 15 s. What was away is there if it is not said again.
const SILENT = 40_000;
const SAID = 2000;

// One EventSource for many readers, functions that take messages.
export class Feed {
	#readers = new Set();
	#frames = [];
	#source = null;
	#timer = 0;
	#watch = 0;
	#places = {};
	#begins = {};
	#failures = 0;
	#cells = new Map();

	join(reader, places) {
		this.#readers.add(reader);
		const early = Object.keys(places).some((cell) => !(places[cell] >= this.#begins[cell]));
		if (!this.#source && !this.#timer || early && this.#readers.size === 1) {
			this.#begin(places);
		} else if (early) {
			reader({ type: "resync" });
		} else {
			for (const frame of [...this.#cells.values(), ...this.#frames]) if (!frame.place || frame.place > places[frame.cell]) reader(frame);
			if (this.#source?.readyState === 1) reader({ type: "open" });
		}
	}

	// Tell a reader nothing more. The last one closes the stream.
	leave(reader) {
		this.#readers.delete(reader);
		if (!this.#readers.size) this.#stop();
	}

	#begin(places) {
		this.#stop();
		this.#frames = [];
		this.#places = { ...places };
		this.#begins = { ...places };
		this.#open();
	}

	#stop() {
		clearTimeout(this.#timer);
		clearTimeout(this.#watch);
		this.#timer = 0;
		this.#source?.close();
		this.#source = null;
	}

	#open() {
		this.#timer = 0;
		const from = Object.entries(this.#places).map(([cell, place]) => (cell ? `${cell}=${place + 1}` : place + 1));
		const source = (this.#source = new EventSource(`/v1/transitions?form=columns&from=${from}`));
		source.onopen = () => {
			this.#failures = 0;
			this.#tell({ type: "open" });
			this.#heard();
			const before = new Set(this.#cells.values());
			setTimeout(() => {
				for (const one of this.#cells.values()) if (one.away && before.has(one) && source === this.#source) this.#take({ ...one, away: null });
			}, SAID);
		};
		source.onerror = () => this.#lost();
		source.addEventListener("bye", () => this.#lost());
		source.addEventListener("resync", () => {
			this.#stop();
			this.#tell({ type: "resync" });
		});
		for (const [name, type = name] of [["place"], ["batch"], ["cell"], ["away", "cell"]])
			source.addEventListener(name, (event) => this.#take({ type, cell: "", rows: [], ...JSON.parse(event.data) }));
	}

	#heard() {
		clearTimeout(this.#watch);
		this.#watch = setTimeout(() => this.#lost(), SILENT);
	}

	#lost() {
		this.#stop();
		this.#tell({ type: "away" });
		this.#failures++;
		if (this.#failures > 2) {
			// The place may be gone for good: whoever reads looks for itself.
			this.#failures = 0;
			this.#tell({ type: "resync" });
			return;
		}
		this.#timer = setTimeout(() => this.#open(), AWAY[0] + Math.random() * (AWAY[1] - AWAY[0]));
	}

	#take(frame) {
		const { cell, place } = frame;
		this.#heard();
		if (place) {
			this.#places[cell] = place;
			this.#begins[cell] ??= place;
		} else this.#cells.set(cell, frame);
		if (frame.rows.length) this.#frames.push(frame);
		if (this.#frames.length > KEPT) {
			const gone = this.#frames.shift();
			this.#begins[gone.cell] = gone.place;
		}
		this.#tell(frame);
	}

	#tell(message) {
		for (const reader of this.#readers) reader(message);
	}
}

if (typeof SharedWorkerGlobalScope !== "undefined" && self instanceof SharedWorkerGlobalScope) {
	const feed = new Feed();
	self.onconnect = ({ ports: [port] }) => {
		const reader = (message) => port.postMessage(message);
		port.onmessage = ({ data }) => {
			feed.leave(reader);
			if (data.type === "join") feed.join(reader, data.places);
		};
	};
}
