// The entities at one place of each log, in columns.

export const CLASSES = ["good", "busy", "bad", "excused", "gone", "unknown"];
const UNKNOWN = CLASSES.indexOf("unknown");
// Of several classes, the one with the lowest number counts.
const RANK = [4, 2, 0, 3, 5, 1];
export const VIEWED = 1;
export const STALE = 2;
const GONE = 4;
const LEFT = 8;
export const ABSENT = 16;
const NONE = -1;
const collator = new Intl.Collator("en", { numeric: true });

export function nameIn(cell, id) {
	return `${cell}: ${id}`;
}

// Entities by number. version counts changes, structure what came or went. places: by cell; "" is the only one.
export class Store {
	constructor(machines = new Map()) {
		this.machines = machines;
		this.clear();
	}

	clear() {
		Object.assign(this, { places: { "": 0 }, time: 0, size: 0, version: 0, structure: 0, ids: [], kinds: [], states: [], more: [] });
		Object.assign(this, { numbers: [], stateNumbers: new Map(), classOf: [], ordered: upTo(0), below: null });
		this.#columns(0);
	}

	#columns(capacity) {
		const grown = (Type, old, value = 0) => {
			const made = new Type(capacity);
			if (value) made.fill(value);
			if (old) made.set(old.subarray(0, this.size));
			return made;
		};
		this.kind = grown(Uint16Array, this.kind);
		this.parent = grown(Int32Array, this.parent, NONE);
		this.state = grown(Int32Array, this.state, NONE);
		this.flags = grown(Uint8Array, this.flags);
		this.since = grown(Float64Array, this.since);
		this.more = this.more.map((column) => grown(Int32Array, column, NONE));
	}

	get place() { return this.places[""] ?? 0; }
	set place(place) { this.places[""] = place; }

	// Take an answer of /v1/columns, of one cell or several.
	load(answer) {
		const { version, structure } = this;
		this.clear();
		Object.assign(this, { version: version + 1, structure: structure + 1, places: {} });
		const parts = answer.parts?.toSorted((a, b) => collator.compare(nameIn(a.cell, ""), nameIn(b.cell, ""))) ?? [answer];
		this.#columns(parts.reduce((sum, one) => sum + one.id.length, 0));
		for (const one of parts) this.#join(one);
		this.ordered = upTo(this.size);
		return this;
	}

	#join({ cell = "", place, time, ...columns }) {
		const first = this.size;
		const kinds = columns.kinds.map((kind) => this.#kindAt(kind));
		const states = columns.states.map((one) => this.stateNumbers.get(stateKey(one)) ?? this.#addState(one));
		this.places[cell] = place;
		this.time = Math.max(this.time, Date.parse(time) / 1000);
		this.ids = this.ids.concat(cell ? columns.id.map((id) => nameIn(cell, id)) : columns.id);
		this.size = this.ids.length;
		this.kind.set(columns.kind.map((at) => kinds[at]), first);
		this.parent.set(columns.parent.map((at) => (at < 0 ? NONE : at + first)), first);
		[columns.state, ...columns.more].forEach((column, at) => this.#column(at).set(column.map((state) => states[state] ?? NONE), first));
		this.flags.set(columns.flags, first);
		this.since.set(columns.since, first);
	}

	#kindAt(kind) {
		const at = this.kinds.indexOf(kind);
		return at < 0 ? this.kinds.push(kind) - 1 : at;
	}

	#addState(one) {
		const number = this.states.length;
		this.states.push(one);
		const cls = CLASSES.indexOf(one.class);
		this.classOf.push(cls < 0 ? UNKNOWN : cls);
		this.stateNumbers.set(stateKey(one), number);
		return number;
	}

	#stateNumber(kind, facet, state, conditions, cls) {
		const known = this.stateNumbers.get(stateKey({ kind, facet, state, conditions }));
		return known ?? this.#addState({ ...described(this.machines, kind, facet, { state, conditions }), class: cls });
	}

	find(kind, id) {
		const at = this.kinds.indexOf(kind);
		if (at < 0) return NONE;
		if (!this.numbers.length) {
			for (let number = 0; number < this.size; number++) this.#index(number);
		}
		return this.numbers[at]?.get(id) ?? NONE;
	}

	#index(number) {
		(this.numbers[this.kind[number]] ??= new Map()).set(this.ids[number], number);
	}

	// Apply rows of one cell. undo: takes what `undo` needs.
	apply(rows, undo = null, cell = "") {
		for (const row of rows) if (row[0] > this.places[cell]) this.#applyRow(row, undo, cell);
		this.version++;
	}

	#applyRow([place, kind, id, facet, state, conditions, cls, flags, since], undo, cell) {
		const was = this.places[cell];
		let number = this.find(kind, id);
		const added = number === NONE;
		if (added) number = this.#add(kind, id);
		const after = this.#stateNumber(kind, facet, state, conditions, cls);
		const position = this.#positionOf(kind, facet);
		const column = this.#column(position);
		undo?.push([number, position, column[number], this.flags[number] | (added ? ABSENT : 0), this.since[number], was]);
		const wasThere = this.isThere(number) && !added;
		column[number] = after;
		this.flags[number] = flags | (this.flags[number] & STALE);
		if (column === this.state) this.since[number] = since;
		if (wasThere !== this.isThere(number)) this.structure++;
		this.places[cell] = place;
		this.time = Math.max(this.time, since);
	}

	#positionOf(kind, facet) {
		return Math.max(0, this.machines.get(kind)?.facets.findIndex((one) => one.facet === facet) ?? 0);
	}

	#column(position) {
		if (!position) return this.state;
		while (this.more.length < position) this.more.push(new Int32Array(this.kind.length).fill(NONE));
		return this.more[position - 1];
	}

	undo([number, position, state, flags, since, place]) {
		const wasThere = this.isThere(number);
		this.#column(position)[number] = state;
		this.flags[number] = flags;
		this.since[number] = since;
		if (wasThere !== this.isThere(number)) this.structure++;
		this.place = place;
		this.version++;
	}

	#add(kind, id) {
		const number = this.size;
		if (number === this.kind.length) this.#columns(Math.max(64, number * 2));
		this.size++;
		this.ids.push(id);
		this.kind[number] = this.#kindAt(kind);
		this.state[number] = NONE;
		this.flags[number] = 0;
		this.#index(number);
		this.parent[number] = this.#parentOf(kind, id);
		this.#takeNested(kind, id);
		this.structure++;
		return number;
	}

	// Put what came before it, and is nested in it, below it.
	#takeNested(kind, id) {
		const separator = this.machines.get(kind)?.nested_by;
		if (!separator) return;
		for (const [other, number] of this.numbers[this.#kindAt(kind)])
			if (other.startsWith(id + separator)) this.parent[number] = this.#parentOf(kind, other);
	}

	// Below what it is shown: the nearest one of its kind in which it is nested, or its parent.
	#parentOf(kind, id) {
		const { parent, nested_by: separator } = this.machines.get(kind) ?? {};
		for (let at = id.length; separator && (at = id.lastIndexOf(separator, at - 1)) > id.lastIndexOf("/");) {
			const found = this.find(kind, id.slice(0, at));
			if (found !== NONE) return found;
		}
		const depth = this.machines.get(parent)?.id.length ?? 0;
		return depth ? this.find(parent, id.split("/").slice(0, depth).join("/")) : NONE;
	}

	isThere(number) {
		const flags = this.flags[number];
		return (flags & (GONE | ABSENT)) === 0 || (flags & (LEFT | ABSENT)) === LEFT;
	}

	isShown(number) { return this.children().shown[number] === 1; }

	// The nearest entity above that is shown, or -1.
	above(number, { shown } = this.children()) {
		let at = this.parent[number];
		while (at >= 0 && !shown[at]) at = this.parent[at];
		return at;
	}

	#shown(order) {
		const shown = new Uint8Array(this.size);
		for (let at = order.length - 1; at >= 0; at--) {
			const number = order[at];
			if (this.isThere(number)) shown[number] = 1;
			if (shown[number] && this.flags[number] & GONE && this.parent[number] >= 0) shown[this.parent[number]] = 1;
		}
		return shown;
	}

	kindOf(number) { return this.kinds[this.kind[number]]; }

	stateOf(number) { return this.states[this.state[number]]; }

	// The worst class of its facets, contact apart, as a position in CLASSES.
	classAt(number) {
		const state = this.state[number];
		let worst = state < 0 ? UNKNOWN : this.classOf[state];
		if (state >= 0 && this.states[state].state === "Deleted") return worst;
		for (const column of this.more) {
			const { facet, class: cls } = this.states[column[number]] ?? {};
			const counts = facet && facet !== "contact" && (facet !== "signals" || cls === "bad" || cls === "unknown");
			if (counts && RANK[this.classOf[column[number]]] < RANK[worst]) worst = this.classOf[column[number]];
		}
		return worst;
	}

	// The state that decides the class of an entity.
	telling(number) {
		const [cls, first] = [CLASSES[this.classAt(number)], this.stateOf(number)];
		return first?.class === cls ? first : this.facets(number).find((one) => one.class === cls) ?? first;
	}

	facets(number) {
		return this.more.map((column) => column[number]).filter((state) => state >= 0).map((state) => this.states[state]);
	}

	root(number) {
		const id = this.ids[number];
		const at = id.indexOf("/");
		return at < 0 ? id : id.slice(0, at);
	}

	// All numbers in the natural order of ids.
	order() {
		const old = this.ordered;
		if (old.length === this.size) return old;
		const compare = (a, b) => collator.compare(this.ids[a], this.ids[b]) || this.kind[a] - this.kind[b];
		this.ordered = new Int32Array(this.size);
		let from = 0;
		upTo(this.size).subarray(old.length).sort(compare).forEach((number, at) => {
			let [low, high] = [from, old.length];
			while (low < high) {
				const middle = (low + high) >> 1;
				if (compare(old[middle], number) < 0) low = middle + 1;
				else high = middle;
			}
			this.ordered.set(old.subarray(from, low), from + at);
			this.ordered[low + at] = number;
			from = low;
		});
		this.ordered.set(old.subarray(from), from + this.size - old.length);
		return this.ordered;
	}

	// Children: `list` from `start[n]` to `start[n + 1]`. tops: the rest.
	children() {
		if (this.below?.structure === this.structure) return this.below;
		const order = this.order();
		const start = new Int32Array(this.size + 2);
		const tops = [];
		const shown = this.#shown(order);
		for (const number of order) {
			if (!shown[number]) continue;
			const parent = this.above(number, { shown });
			if (parent < 0) tops.push(number);
			else start[parent + 2]++;
		}
		for (let at = 2; at < start.length; at++) start[at] += start[at - 1];
		const list = new Int32Array(this.size);
		for (const number of order) {
			const parent = this.above(number, { shown });
			if (parent >= 0 && shown[number]) list[start[parent + 1]++] = number;
		}
		this.below = { structure: this.structure, list, shown, start, tops };
		return this.below;
	}

	// How many of each class are below each: six numbers.
	rollUp() {
		const order = this.order();
		const found = new Int32Array(this.size * 6);
		for (let at = order.length - 1; at >= 0; at--) {
			const number = order[at];
			const parent = this.parent[number];
			if (parent < 0) continue;
			if (this.isThere(number)) found[parent * 6 + this.classAt(number)]++;
			for (let cls = 0; cls < 6; cls++) found[parent * 6 + cls] += found[number * 6 + cls];
		}
		return found;
	}

	// How many there are: in all, by class, by state.
	counts() {
		const byState = new Int32Array(this.states.length);
		const classes = new Array(6).fill(0);
		let [total, stale] = [0, 0];
		for (let number = 0; number < this.size; number++) {
			if (!this.isThere(number)) continue;
			total++;
			if (this.state[number] >= 0) byState[this.state[number]]++;
			classes[this.classAt(number)]++;
			if (this.flags[number] & STALE) stale++;
		}
		return { total, classes, byState, stale };
	}

	silent() {
		const found = [];
		this.more.forEach((column) => {
			for (let number = 0; number < this.size; number++) {
				const state = column[number];
				if (state >= 0 && this.states[state].state === "Silent" && this.isThere(number)) found.push(number);
			}
		});
		return found;
	}
}

function upTo(size) {
	const made = new Int32Array(size);
	for (let at = 0; at < size; at++) made[at] = at;
	return made;
}

export const WORST_FIRST = ["bad", "unknown", "busy", "excused", "good", "gone"];

function signalled(names, standing) {
	const known = standing.map((name) => names.find((one) => one.name === name) ?? { name, en: name, others: {}, state_class: "excused" });
	const languages = ["en", ...known.flatMap((one) => Object.keys(one.others))];
	const label = Object.fromEntries(languages.map((one) => [one, known.map((signal) => signal.others[one] ?? signal.en).join(", ")]));
	return { class: WORST_FIRST.find((one) => known.some((signal) => signal.state_class === one)) ?? "excused", label };
}

function stateKey({ kind, facet, state, conditions }) {
	return `${kind}\n${facet}\n${state}\n${conditions.join("\n")}`;
}

// A state with class and labels, by its most important condition.
export function described(machines, kind, facet, { state, conditions }) {
	const table = machines.get(kind)?.facets.find((one) => one.facet === facet);
	const shown = table?.order?.find((one) => conditions.includes(one)) ?? conditions[0] ?? null;
	const fitting = (table?.labels ?? []).filter((one) => one.phase === state);
	const found = fitting.find((one) => one.condition === shown) ?? fitting.find((one) => one.condition === null) ?? fitting[0];
	if (facet === "signals" && conditions.length) return { kind, facet, state, conditions, ...signalled(table?.signal_names ?? [], conditions), advice: {} };
	const cls = state !== "Deleted" ? "unknown" : conditions.includes("LeftBehind") ? "bad" : "gone";
	return { kind, facet, state, conditions, class: found?.class ?? cls, label: found ? { en: found.en, ...found.others } : {}, advice: found?.advice ?? {} };
}
