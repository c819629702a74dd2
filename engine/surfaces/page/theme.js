// Light or dark.

export const THEMES = ["", "light", "dark"];
const MEDIA = { light: "not all", dark: "all" };
let rule = null;

export function chosenTheme() {
	try {
		return localStorage.getItem("theme") ?? "";
	} catch {
		return ""; // a browser may forbid it
	}
}

export function takeTheme(wanted = chosenTheme()) {
	rule ??= [...document.styleSheets[0].cssRules].find((one) => one.conditionText?.includes("prefers-color-scheme"));
	rule.media.mediaText = MEDIA[wanted] ?? "(prefers-color-scheme: dark)";
	document.documentElement.style.colorScheme = wanted || "light dark";
	try {
		localStorage.setItem("theme", wanted);
	} catch {
		// It holds for this tab then.
	}
}
