// Logs in with the token in the fragment of the address, or a typed one.

import { takeTheme } from "./theme.js";

takeTheme();
const form = document.querySelector("form");
const said = document.querySelector("[role=alert]");

async function logIn(token, rest) {
	said.textContent = "";
	const answer = await fetch("/v1/session", { method: "POST", headers: { authorization: `Bearer ${token}` } }).catch(() => null);
	if (answer?.ok) {
		location.replace(`${location.pathname}${location.search}${rest ? `#${rest}` : ""}`);
		if (rest || location.hash) location.reload();
		return;
	}
	if (!answer) said.textContent = "The server does not answer. · 服务器没有应答。";
	else if (answer.status === 401) said.textContent = "This token is not known here, or is no longer valid. · 此令牌未知或已失效。";
	else said.textContent = (await answer.json()).detail;
}

form.addEventListener("submit", (event) => {
	event.preventDefault();
	logIn(document.querySelector("#token").value.trim(), location.hash.slice(1));
});

const given = new URLSearchParams(location.hash.slice(1));
const token = given.get("token");
if (token) {
	given.delete("token");
	history.replaceState(null, "", `${location.pathname}${location.search}`);
	logIn(token, given.toString());
}
