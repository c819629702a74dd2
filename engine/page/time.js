export { open } from "./refused.js";
