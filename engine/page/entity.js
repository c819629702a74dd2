// The screen Entity.

import { el, fill } from "./dom.js";
import { t } from "./words.js";

/** The screen in an element. */
export function open(app, root) {
  fill(root, el("div", { class: "empty" }, el("h1", {}, t("entity"))));
  return { draw() {}, close() {} };
}
