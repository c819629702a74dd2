// The screen Workers.

import { get } from "./api.js";
import { clock, el, kindName, num, refill, safe, t, table } from "./ui.js";

const EVERY = 2000;

export function open(app, root) {
	const body = el("div.cards", { tabindex: 0 });
	const problem = el("p", { "aria-live": "polite", class: "bad" });
	root.append(problem, body);
	let [first, last, moves] = [null, null, 0];
	ask();
	const timer = setInterval(() => document.hidden || ask(), EVERY);

	async function ask() {
		try {
			const found = { ...(await get("/v1/summary")), asked: Date.now() };
			const before = last?.partitions ?? [];
			moves += (found.partitions ?? []).filter(({ worker }, at) => worker && before[at]?.worker && worker !== before[at].worker).length;
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
		const card = (word, ...content) => el(`section.card.${word}`, el("h2", t(word)), content);
		const version = (digest) => el("code", { class: digest && digest !== tables.digest ? "bad" : "" }, digest ?? "");
		refill(body, partitions ? [
			card("workers", workers?.length ? table(["name", "#partitions"], workers.map((worker) => [safe(worker), num(partitions.filter((one) => one.worker === worker).length)])) : t(workers ? "noWorker" : "notKnown"),
				el("p.soft.small", t("moves", { n: num(moves) }))),
			card("partitions", table(["partition", "worker", "#waiting", "tables"], partitions.map((one) => [
				one.partition, one.worker ? safe(one.worker) : el("span.bad", { title: one.problem }, t("none")), one.waiting === null ? "?" : num(one.waiting), version(one.tables)]))),
			card("streams", table(["name", "#messages", "#size", "#growth", "#time"], streams.map((one, at) => (one.problem ? [one.stream, safe(one.problem), "", "", ""] : [
				one.stream, num(one.messages), `${num(Math.ceil(one.bytes / 1000))} kB`, num(grown(one, at)), one.messages ? clock(one.last_time) : ""]))))] : card("workers", t("notKnown")),
			card("tables", table(["kind", "version"], [[t("all"), version(tables.digest)], ...Object.entries(tables.kinds).map(([kind, digest]) => [kindName(kind), el("code", digest)])])));
	}

	function grown(one, at) {
		const past = (last.asked - first.asked) / 1000;
		return past ? Math.round((one.last - first.streams[at].last) / past) || 0 : 0;
	}

	return { draw: () => last && show(), close: () => clearInterval(timer) };
}
