// The time bar: transitions over time, stacked by class; its handle is the place that is shown.

import { get } from "./api.js";
import { el, fill } from "./dom.js";
import { clock, seconds } from "./format.js";
import { CLASSES } from "./store.js";
import { t } from "./words.js";

const EVERY = 5000;
const DRAG = 6;

/** The bar. It asks the server for its buckets, and again while it is live. */
export class Strip {
  #asked = "";
  #at = 0;
  #from = null;
  #data = null;

  constructor(app, element) {
    Object.assign(this, { app, element, built: false });
    new ResizeObserver(() => this.#paint()).observe(element);
  }

  close() {
    this.built = false;
  }

  #build() {
    const { app } = this;
    this.canvas = el("canvas", { tabindex: 0, role: "slider", "aria-label": t("stripLabel"), "aria-valuemin": 0 });
    this.back = el("button", { "aria-label": t("stepBack"), title: `${t("stepBack")}  [`, on: { click: () => app.step(-1) } }, "◀");
    this.on = el("button", { "aria-label": t("stepOn"), title: `${t("stepOn")}  ]`, on: { click: () => app.step(1) } }, "▶");
    this.play = el("button", { on: { click: () => app.play() } });
    this.whole = el("button", { on: { click: () => app.router.set({ begin: null, end: null }) } }, t("wholeRange"));
    this.ends = el("div", { class: "ends", "aria-hidden": "true" });
    fill(this.element,
      el("div", { class: "controls" }, this.back, this.on, this.play),
      el("div", { class: "track" }, this.canvas, this.ends),
      el("div", { class: "controls" }, this.whole, el("button", { "aria-label": t("fold"), title: t("fold"), on: { click: () => app.router.set({ strip: "0" }) } }, "×")));
    this.element.setAttribute("aria-label", t("strip"));
    this.canvas.addEventListener("pointerdown", (event) => this.#down(event));
    this.canvas.addEventListener("pointermove", (event) => this.#move(event));
    this.canvas.addEventListener("pointerup", (event) => this.#up(event));
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
    this.built = true;
  }

  /** Say something about the bar. */
  say(text) {
    this.element.title = text;
  }

  draw() {
    const { app } = this;
    const shown = app.query.strip !== "0" && app.router.now.screen !== "workers" && app.router.now.screen !== "time";
    this.element.hidden = !shown;
    if (!shown) return;
    if (!this.built) this.#build();
    this.play.textContent = app.playing ? "❚❚" : "►";
    this.play.setAttribute("aria-label", app.playing ? t("pause") : t("play"));
    this.play.disabled = this.on.disabled = !app.past;
    this.whole.hidden = !app.query.begin;
    const key = `${app.query.begin ?? ""} ${app.query.end ?? ""}`;
    const due = key !== this.#asked || (app.live_.place !== this.#data?.place && Date.now() - this.#at > EVERY);
    if (due && app.live_.structure) this.#ask(key);
    this.#paint();
  }

  async #ask(key) {
    Object.assign(this, { pending: key });
    [this.#asked, this.#at] = [key, Date.now()];
    try {
      const { begin, end } = this.app.query;
      const found = await get("/v1/strip", { buckets: 240, from: begin, to: end });
      this.#data = { ...found, begin: seconds(found.times[0]), end: seconds(end ?? found.time) };
      if (!(this.#data.end > this.#data.begin)) this.#data.end = seconds(found.times.at(-1)) + 1;
      this.#paint();
    } catch {
      this.#at = Date.now();
    }
  }

  #paint() {
    const canvas = this.canvas;
    if (!canvas || this.element.hidden) return;
    const ratio = Math.min(2, devicePixelRatio || 1);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width) return;
    [canvas.width, canvas.height] = [width * ratio, height * ratio];
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    const style = getComputedStyle(canvas);
    context.fillStyle = style.getPropertyValue("--panel");
    context.fillRect(0, 0, width, height);
    if (this.#data) this.#bars(context, style, width, height - 12);
    this.#handle(context, style, width, height);
  }

  #bars(context, style, width, height) {
    const { classes, times } = this.#data;
    const sums = times.map((_, at) => CLASSES.reduce((sum, name) => sum + (classes[name]?.[at] ?? 0), 0));
    const most = Math.max(1, ...sums);
    const wide = width / times.length;
    sums.forEach((sum, at) => {
      if (!sum) return;
      let y = height;
      const scale = (Math.sqrt(sum / most) * (height - 3)) / sum;
      for (const name of ["good", "gone", "excused", "busy", "unknown", "bad"]) {
        const high = (classes[name]?.[at] ?? 0) * scale;
        context.fillStyle = style.getPropertyValue(`--cell-${name}`);
        context.fillRect(at * wide, y - high, Math.max(1, wide - 0.6), high);
        y -= high;
      }
    });
    fill(this.ends, el("span", {}, clock(this.#data.begin)), el("span", {}, clock(this.#data.end)));
  }

  #handle(context, style, width, height) {
    const { app } = this;
    const x = this.#data && app.past ? this.#x(app.store.place, width) : width - 1.5;
    context.fillStyle = style.getPropertyValue(app.past ? "--text" : "--accent");
    context.fillRect(x - 1, 0, 2, height);
    context.beginPath();
    context.arc(x, 5, 4.5, 0, 7);
    context.fill();
    if (this.#from !== null && this.dragged) {
      context.globalAlpha = 0.25;
      context.fillRect(Math.min(this.#from, this.dragged), 0, Math.abs(this.dragged - this.#from), height);
      context.globalAlpha = 1;
    }
    this.canvas.setAttribute("aria-valuenow", app.store.place);
    this.canvas.setAttribute("aria-valuemax", Math.max(app.live_.place, app.store.place));
    this.canvas.setAttribute("aria-valuetext", `${t("place")} ${app.store.place}, ${clock(app.store.time)}`);
  }

  #x(place, width) {
    const { places, place: last } = this.#data;
    let at = places.findLastIndex((one) => one <= place);
    if (at < 0) return 0;
    const next = places[at + 1] ?? last;
    const part = next > places[at] ? Math.min(1, (place - places[at]) / (next - places[at])) : 0;
    return ((at + part) / places.length) * width;
  }

  #placeAt(x) {
    const { places, place: last } = this.#data;
    const position = Math.min(places.length - 0.001, Math.max(0, (x / this.canvas.clientWidth) * places.length));
    const at = Math.floor(position);
    const next = places[at + 1] ?? last;
    return Math.round(places[at] + (next - places[at]) * (position - at));
  }

  #timeAt(x) {
    const { begin, end } = this.#data;
    return new Date((begin + ((end - begin) * Math.max(0, x)) / this.canvas.clientWidth) * 1000).toISOString();
  }

  #down(event) {
    if (!this.#data) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.#from = event.offsetX;
    this.zooms = event.shiftKey;
    if (!this.zooms) this.#seek(event.offsetX);
  }

  #move(event) {
    if (this.#from === null) return;
    this.dragged = event.offsetX;
    if (this.zooms) this.#paint();
    else this.#seek(event.offsetX);
  }

  #up(event) {
    if (this.zooms && Math.abs(event.offsetX - this.#from) > DRAG) {
      const [first, last] = [Math.min(this.#from, event.offsetX), Math.max(this.#from, event.offsetX)];
      this.app.router.set({ begin: this.#timeAt(first), end: this.#timeAt(last) });
    }
    Object.assign(this, { dragged: 0, zooms: false });
    this.#from = null;
    this.#paint();
  }

  #seek(x) {
    if (x >= this.canvas.clientWidth - 3 && !this.app.query.end) this.app.live();
    else this.app.goTo(this.#placeAt(x));
  }

  #key(event) {
    if (event.key === "ArrowLeft") this.app.step(-1);
    else if (event.key === "ArrowRight") this.app.step(1);
    else if (event.key === "End") this.app.live();
    else if (event.key === "Home" && this.#data) this.app.goTo(Math.max(1, this.#data.places[0]));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
