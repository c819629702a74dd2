// The screen Workers: who decides which partition, what waits, how streams grow, versions of tables. It shows what is now.

import { get } from "./api.js";
import { el, fill, table } from "./dom.js";
import { clock, number as num, safe, seconds } from "./format.js";
import { kindName, t } from "./words.js";

const EVERY = 2000;

/** The screen in an element. */
export function open(app, root) {
	const body = el("div", { class: "cards" });
	const problem = el("p", { role: "status", class: "bad" });
	fill(root, el("h1", { class: "hidden-text" }, t("workers")), problem, body);
	let [first, last, language, moves] = [null, null, "", 0];
	ask();
	const timer = setInterval(() => document.hidden || ask(), EVERY);

	async function ask() {
		try {
			const found = { ...(await get("/v1/summary")), asked: Date.now() };
			const before = last?.partitions ?? [];
			moves += found.partitions.filter(({ worker }, at) => worker && before[at]?.worker && worker !== before[at].worker).length;
			last = found;
			first ??= found;
			problem.textContent = found.connected ? "" : t("serverAway");
			show();
		} catch (failed) {
			problem.textContent = failed.message;
		}
	}

	function show() {
		const { workers, partitions, streams, tables } = last;
		language = app.query.lang;
		const card = (word, ...content) => el("section", { class: `card ${word}` }, el("h2", {}, t(word)), content);
		const version = (digest) => el("code", { class: digest && digest !== tables.digest ? "bad" : "" }, digest ?? "");
		fill(body,
			card("workers", workers?.length ? table(["name", "#partitions"], workers.map((worker) => [safe(worker), num(partitions.filter((one) => one.worker === worker).length)])) : t(workers ? "noWorker" : "notKnown"),
				el("p", { class: "soft small" }, t("moves", { n: num(moves) }))),
			card("partitions", table(["partition", "worker", "#waiting", "tables"], partitions.map((one) => [
				one.partition, one.worker ? safe(one.worker) : el("span", { class: "bad" }, one.problem ?? t("none")), one.waiting === null ? "?" : num(one.waiting), version(one.tables)]))),
			card("streams", table(["name", "#messages", "#size", "#growth", "#time"], streams.map((one, at) => (one.problem ? [one.stream, safe(one.problem), "", "", ""] : [
				one.stream, num(one.messages), size(one.bytes), t("perSecond", { n: num(grown(one, at)) }), one.messages ? clock(seconds(one.last_time)) : ""])))),
			card("tables", table(["kind", "version"], [[t("all"), version(tables.digest)], ...Object.entries(tables.kinds).map(([kind, digest]) => [kindName(kind), el("code", {}, digest)])])));
	}

	function grown(one, at) {
		const past = (last.asked - first.asked) / 1000;
		return past && first.streams[at].last >= 0 ? Math.round((10 * (one.last - first.streams[at].last)) / past) / 10 : 0;
	}

	return { draw: () => last && language !== app.query.lang && show(), close: () => clearInterval(timer) };
}

function size(bytes) {
	const step = bytes ? Math.min(4, Math.floor(Math.log10(bytes) / 3)) : 0;
	return `${num(Math.round((bytes / 1000 ** step) * 10) / 10)} ${["B", "kB", "MB", "GB", "TB"][step]}`;
}
