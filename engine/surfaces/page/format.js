// Numbers, times and names as people read them.

import { language, t } from "./words.js";

const made = new Map();

export function sleep(milliseconds) {
	return new Promise((done) => setTimeout(done, milliseconds));
}

function intl(kind, options = {}) {
	const key = [kind, language(), ...Object.values(options)].join();
	if (!made.has(key)) made.set(key, new Intl[kind](language(), options));
	return made.get(key);
}

export function num(value) {
	return intl("NumberFormat").format(value);
}

// How long, in seconds, as a short text: `4 m`, `3 h`.
export function span(seconds) {
	const units = language() === "zh" ? ["秒", "分", "小时", "天"] : ["\u00a0s", "\u00a0m", "\u00a0h", "\u00a0d"];
	const whole = Math.max(0, Math.round(seconds));
	if (whole > 1e9) return "…";
	if (whole < 100) return `${whole}${units[0]}`;
	if (whole < 6000) return `${Math.round(whole / 60)}${units[1]}`;
	if (whole < 172800) return `${Math.round(whole / 3600)}${units[2]}`;
	return `${num(Math.round(whole / 86400))}${units[3]}`;
}

// A share as percent, never rounded up to all of it.
export function percent(share, digits = 3) {
	if (share === null || share === undefined) return "–";
	const least = share < 1 ? Math.min(share, 1 - 10 ** -(digits + 2)) : 1;
	return intl("NumberFormat", { style: "percent", maximumFractionDigits: digits }).format(least);
}

// A day in UTC.
export function day(at) {
	return shown(at, { month: "short", day: "numeric", timeZone: "UTC" });
}

// A time of day, and the day if not today. at: seconds, or a text; 0 is not known.
export function clock(at) {
	const day = new Date(known(at) * 1000).toDateString() === new Date().toDateString() ? {} : { month: "short", day: "numeric" };
	return shown(at, { ...day, hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

export function moment(at) {
	return shown(at, { dateStyle: "medium", timeStyle: "medium" });
}

function known(at) {
	return typeof at === "string" ? seconds(at) : at;
}

function shown(at, parts) {
	return known(at) ? intl("DateTimeFormat", { ...parts, hour12: false }).format(known(at) * 1000) : "…";
}

// Seconds of an RFC 3339 text; NaN if it is none.
export function seconds(text) {
	const [, head, fraction = "", zone] = /^(.*?)(\.\d+)?(Z|[+-]\d\d:\d\d)$/.exec(String(text)) ?? [];
	return Date.parse(`${head}${zone}`) / 1000 + Number(`0${fraction}`);
}

// Who sent an event, in whose name, and what it says of that without proof.
export function sender({ source, actor, extensions }) {
	const says = extensions?.actor;
	if (!actor) return says ? t("unproven", { source: safe(source), says: safe(says) }) : safe(source);
	return t(says ? "actorAgain" : "actorAs", { actor: safe(actor), source: safe(source), says: safe(says) });
}

export function safe(text) {
	return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, "\ufffd");
}
