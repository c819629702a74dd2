// Rows of equal height, of which only those in view exist.

import { el } from "./dom.js";

const MORE = 4;

// draw(index, element), choose(index), open(index), key(event).
export class Rows {
	#rows = [];

	constructor({ role = "listbox", label, height = 24, draw, choose, open, key }) {
		Object.assign(this, { role, height, drawRow: draw, choose, open, key, count: 0, selected: -1 });
		this.space = el("div.space", { role: "presentation" });
		this.element = el("div.rows", { role, tabindex: 0, aria: label, onscroll: () => this.draw(false), onkeydown: (event) => this.#pressed(event),
			onclick: (event) => this.#clicked(event), ondblclick: () => this.selected >= 0 && this.open?.(this.selected) }, this.space);
		this.watcher = new ResizeObserver(() => this.draw());
		this.watcher.observe(this.element);
	}

	close() {
		this.watcher.disconnect();
	}

	update(count, selected = this.selected) {
		Object.assign(this, { count, selected });
		this.space.style.height = `${count * this.height}px`;
		this.draw();
	}

	draw(all = true) {
		const { scrollTop, clientHeight } = this.element;
		const first = Math.max(0, Math.floor(scrollTop / this.height) - MORE);
		const wanted = Math.max(0, Math.min(this.count - first, Math.ceil(clientHeight / this.height) + 2 * MORE));
		all ||= this.#rows.length < wanted;
		while (this.#rows.length < wanted) this.#rows.push(this.#made());
		const size = this.#rows.length;
		for (let at = 0; at < size; at++) {
			const index = first + at;
			const row = this.#rows[index % size];
			const known = !row.hidden && row.dataset.index === String(index);
			row.hidden = at >= wanted;
			if (row.hidden || (known && !all)) continue;
			row.dataset.index = index;
			row.style.translate = `0 ${index * this.height}px`;
			row.setAttribute("aria-selected", String(index === this.selected));
			row.id = `${this.element.id || "row"}-${index}`;
			this.drawRow(index, row);
		}
		const chosen = this.selected - first;
		if (chosen >= 0 && chosen < wanted) this.element.setAttribute("aria-activedescendant", this.#rows[this.selected % size].id);
		else this.element.removeAttribute("aria-activedescendant");
	}

	#made() {
		const made = el("div.row", { role: this.role === "tree" ? "treeitem" : "option" });
		this.space.append(made);
		return made;
	}

	reveal(index) {
		const top = index * this.height;
		const { scrollTop, clientHeight } = this.element;
		if (top < scrollTop) this.element.scrollTop = top;
		else if (top + this.height > scrollTop + clientHeight) this.element.scrollTop = top + this.height - clientHeight;
	}

	// The next key goes on from here, also if it comes before the page is drawn.
	move(index, event) {
		this.reveal(index);
		this.choose(index, event);
		this.selected = index;
	}

	#clicked(event) {
		const row = event.target.closest(".row");
		if (row) this.choose(Number(row.dataset.index), event);
	}

	#pressed(event) {
		if (event.ctrlKey || event.metaKey || event.altKey || this.key?.(event)) return;
		const page = Math.max(1, Math.floor(this.element.clientHeight / this.height) - 1);
		const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: page, PageUp: -page, Home: -this.count, End: this.count };
		if (event.key === "Enter" && this.selected >= 0) this.open?.(this.selected);
		else if (event.key in steps && this.count) {
			const index = Math.min(this.count - 1, Math.max(0, this.selected + steps[event.key]));
			this.move(index, event);
		} else return;
		event.preventDefault();
		event.stopPropagation();
	}
}
