// The machine of a facet, as the server laid it out.

import { el, svg, t } from "./ui.js";

// A facet. now: its state. may: what is legal. taken: past steps, `from>to`.
export function drawing(machine, { facet, width, height, box: [wide, high], boxes, arrows }, now, may, taken) {
	const { labels } = machine.facets.find((one) => one.facet === facet);
	const label = `${facet}: ${now.state}`;
	const been = new Set([...taken].flatMap((one) => one.split(">")));
	const names = [];
	const title = (text) => svg("title", {}, text);
	const lines = arrows.map(({ from, to, triggers, path, at, anchor }) => {
		const lit = now.state === from || now.base.state === from ? triggers.filter((one) => may.has(one)) : [];
		if (lit.length) names.push(svg("text", { class: `trigger ${anchor}`, x: at[0], y: at[1] + 4 }, lit.length > 1 ? `${lit[0]} +${lit.length - 1}` : lit[0]));
		const rank = lit.length ? 2 : Number(taken.has(`${from}>${to}`));
		return [rank, svg("path", { class: ["", "taken", "may"][rank], d: path, "marker-end": "url(#tip)" }, title(`${from} → ${to}: ${triggers.join(", ")}`))];
	});
	const states = boxes.map(({ phase, x, y, anywhere }) => {
		const classes = [phase === now.state && "now", phase === now.base.state && "base", been.has(phase) && "been", labels.find((one) => one.phase === phase)?.class ?? "gone"];
		return svg("g", { class: classes.filter(Boolean).join(" ") }, title(anywhere.length ? `${phase}; ${t("anywhere")}: ${anywhere.join(", ")}` : phase),
			svg("rect", { x, y, width: wide, height: high, rx: 6 }), svg("text", { x: x + wide / 2, y: y + high / 2 + 4 }, phase));
	});
	return el("div.diagram", { tabindex: 0, role: "region", "aria-label": label }, machine.facets.length > 1 ? el("h3", facet) : null,
		svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label },
			svg("marker", { id: "tip", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { d: "M0 0 8 4 0 8z" })),
			...lines.sort((a, b) => a[0] - b[0]).map(([, line]) => line), ...states, ...names));
}
