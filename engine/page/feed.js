// The stream of transitions. Runs in a SharedWorker, one for all tabs, or else in the tab.

const KEPT = 400;
const AWAY = [1000, 5000];

/** One EventSource for many readers. A reader is a function that takes messages. */
export class Feed {
	#readers = new Set();
	#frames = [];
	#source = null;
	#timer = 0;
	#place = 0;
	#begins = 0;
	#failures = 0;

	/** Tell a reader everything after a place. */
	join(reader, place) {
		this.#readers.add(reader);
		if (!this.#source && !this.#timer) {
			this.#begin(place);
		} else if (place < this.#begins || place > this.#place) {
			if (this.#readers.size === 1 || place > this.#place) this.#begin(place);
			else reader({ type: "resync" });
		} else {
			for (const frame of this.#frames) if (frame.place > place) reader(frame);
			if (this.#source?.readyState === 1) reader({ type: "open" });
		}
	}

	/** Tell a reader nothing more. The last one closes the stream. */
	leave(reader) {
		this.#readers.delete(reader);
		if (!this.#readers.size) this.#stop();
	}

	#begin(place) {
		this.#stop();
		this.#frames = [];
		this.#place = this.#begins = place;
		this.#open();
	}

	#stop() {
		clearTimeout(this.#timer);
		this.#timer = 0;
		this.#source?.close();
		this.#source = null;
	}

	#open() {
		this.#timer = 0;
		const source = (this.#source = new EventSource(`/v1/transitions?form=columns&from=${this.#place + 1}`));
		source.onopen = () => {
			this.#failures = 0;
			this.#tell({ type: "open" });
		};
		source.onerror = () => this.#lost();
		source.addEventListener("bye", () => this.#lost());
		source.addEventListener("resync", () => {
			this.#stop();
			this.#tell({ type: "resync" });
		});
		source.addEventListener("place", (event) => this.#take({ type: "place", rows: [], ...JSON.parse(event.data) }));
		source.addEventListener("batch", (event) => this.#take({ type: "batch", ...JSON.parse(event.data) }));
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
		this.#place = frame.place;
		if (frame.rows.length) this.#frames.push(frame);
		if (this.#frames.length > KEPT) this.#begins = this.#frames.shift().place;
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
			if (data.type === "join") feed.join(reader, data.place);
		};
	};
}
