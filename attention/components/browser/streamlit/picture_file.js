// Buttons that save a picture as an SVG, or as a PNG rendered from it: one that the server has written, or every chart of the
// page.

// All dependencies are imported first: a browser that discovers them one by one takes longer.
import { newest } from "../latest_message.js";
import { createRoot, target } from "../elements.js";
import { saveSvg, toSvg } from "../picture_file.js";
import { appendStyles } from "./mount.js";

/** @typedef {{ svg: string, name: string, what: string }} Wanted */

const CHARTS = ".stMainBlockContainer :is(.stVegaLiteChart, .stPlotlyChart, .score-bars .plot)";
const LAYERS = "svg.main-svg, svg.marks, .plot canvas";
const ROW = `
<div class="picture"><span></span>
  <button type="button" data-file="svg">SVG</button><button type="button" data-file="png">PNG</button></div>`;

await appendStyles("picture_file.css");

/** @type {WeakMap<Element, { wanted: Wanted, root: HTMLElement }>} */
const drawn = new WeakMap();

/** @param {import("./mount.js").Call} call */
export default function ({ parentElement, data }) {
  if (!data) return undefined;
  return newest(parentElement, data, (/** @type {Wanted} */ wanted) => {
    const here = drawn.get(parentElement) ?? createButtons(parentElement, wanted);
    here.wanted = wanted;
    const names = wanted.svg ? [wanted.what] : charts().map((_, at) => `${wanted.what} ${at + 1}`);
    here.root.innerHTML = names.map(() => ROW).join("");
    here.root.querySelectorAll("span").forEach((label, at) => { label.textContent = `${names[at]} as`; });
  });
}

/**
 * @param {HTMLElement} parent
 * @param {Wanted} wanted
 */
function createButtons(parent, wanted) {
  const here = { wanted, root: createRoot(parent, "picture-file", "") };
  drawn.set(parent, here);
  here.root.onclick = (event) => {
    const button = target(event, "button"), kind = button?.dataset.file;
    if (!kind) return;
    const { svg, name } = here.wanted, at = [...here.root.children].findIndex((row) => row.contains(button ?? null));
    if (svg) saveSvg(svg, name, kind);
    else saveSvg(chartSvg(charts()[at]), `${name}-chart-${at + 1}`, kind);
  };
  return here;
}

/** The charts of the page that are vectors, and the bars that one drags; charts with thousands of marks are left out. */
function charts() {
  return [...document.querySelectorAll(CHARTS)].filter((chart) => chart.checkVisibility() && chart.querySelector(LAYERS));
}

/**
 * A chart as one SVG on the background of its page; Plotly draws one in layers.
 * @param {Element} chart
 */
function chartSvg(chart) {
  const layers = [...chart.querySelectorAll(LAYERS)], { width, height } = layers[0].getBoundingClientRect();
  const page = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const ground = getComputedStyle(document.querySelector(".stApp") ?? document.body).backgroundColor;
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  for (const [name, value] of Object.entries(size)) page.setAttribute(name, `${value}`);
  page.innerHTML = `<rect width="${width}" height="${height}" fill="${ground}"/>`;
  for (const layer of layers) page.append(layer instanceof HTMLCanvasElement ? toImage(layer, size) : layer.cloneNode(true));
  return toSvg(page);
}

/**
 * A canvas as an image of this size in an SVG.
 * @param {HTMLCanvasElement} canvas
 * @param {{ width: number, height: number }} size
 */
function toImage(canvas, { width, height }) {
  const image = document.createElementNS("http://www.w3.org/2000/svg", "image");
  for (const [name, value] of Object.entries({ width, height, href: canvas.toDataURL() })) image.setAttribute(name, `${value}`);
  return image;
}
