// What screens are made of: elements, numbers and times as texts, words.

export * from "./dom.js";
export * from "./format.js";
export * from "./words.js";
