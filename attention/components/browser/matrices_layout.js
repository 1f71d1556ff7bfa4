// Where the matrices stand, how large they are, and their captions.

import { made } from "./elements.js";
import { endOf } from "./matrices_cells.js";

/**
 * @typedef {import("./matrices_cells.js").Data} Data
 * @typedef {import("./matrices_cells.js").Matrix} Matrix
 * @typedef {import("./matrices_cells.js").Cell} Cell
 */

/**
 * A matrix on the page: its canvas of values, which shows one head, and the one above it with what is lit.
 * @typedef {object} Figure
 * @property {HTMLElement} element
 * @property {HTMLElement} caption
 * @property {HTMLElement} axes
 * @property {HTMLElement} picture
 * @property {HTMLCanvasElement} values
 * @property {HTMLCanvasElement} lit
 * @property {HTMLElement} bar
 * @property {HTMLElement} ends
 * @property {HTMLElement} head
 * @property {string} tile
 * @property {number | null} painted  the head that is drawn
 */

/**
 * @typedef {object} Lab
 * @property {HTMLElement} root
 * @property {HTMLElement} panels
 * @property {Map<string, Figure>} figures
 * @property {import("./matrices.js").Ways} ways
 * @property {Data} data
 * @property {import("./theme.js").Ground} neutrals
 * @property {number} width  for which it is laid out
 * @property {Cell | null} hover
 * @property {Cell} cursor
 * @property {Cell} home  where Escape leads
 * @property {{ step: string, at: number } | null} asked  the step that is on its way
 */

const SHRINK = 0.35, LARGEST = 330, SMALLEST = 12, IN_ALL = 150, SIGN = 34, GAP = 12, NARROW = 560;

/**
 * The colours of a matrix.
 * @param {Lab} lab
 * @param {Matrix} matrix
 */
export function stopsOf({ data, neutrals }, matrix) {
  if (matrix.scale === "weights") return data.weights;
  if (matrix.scale === "mask") return [neutrals.masked, neutrals.muted];
  return [data.signed[0], neutrals.background, data.signed[1]];
}

/**
 * A side in CSS pixels: the same length has the same side in every matrix, and long ones are shrunk the most.
 * @param {Lab} lab
 */
function sides({ data, width }) {
  const one = data.step !== null, narrow = width < NARROW;
  const longest = Math.max(...data.matrices.flatMap(({ rows, columns }) => [rows, columns]));
  const part = (/** @type {number} */ length) => (length / longest) ** SHRINK;
  const across = data.matrices.reduce((sum, { columns }) => sum + part(columns), 0);
  const signs = (data.matrices.length - 1) * (SIGN + 2 * GAP);
  const fits = one ? (narrow ? width - 8 : (width - signs - 8) / across) : Math.min(IN_ALL, width - 8);
  const most = Math.min(LARGEST, fits), ratio = window.devicePixelRatio || 1;
  return (/** @type {number} */ length) => {
    const pixels = Math.max(SMALLEST, Math.floor(most * part(length))) * ratio;
    const whole = Math.floor(pixels / length) * length;
    return (whole > 0.8 * pixels ? whole : Math.round(pixels)) / ratio;
  };
}

/**
 * Every matrix in its place, empty.
 * @param {Lab} lab
 */
export function laidOut(lab) {
  const { data, root, panels } = lab, one = data.step !== null;
  root.classList.toggle("narrow", lab.width < NARROW);
  root.classList.toggle("one", one);
  root.classList.toggle("all", !one);
  const side = sides(lab), signs = data.matrices[data.matrices.length - 1].sources.map(({ sign }) => sign);
  lab.figures = new Map(data.matrices.map(({ name }) => [name, lab.figures.get(name) ?? framed(name)]));
  panels.replaceChildren(...data.matrices.flatMap((matrix, i) => {
    const figure = /** @type {Figure} */ (lab.figures.get(matrix.name));
    sized(lab, matrix, figure, side);
    return [figure.element, ...(one && signs[i] ? [made("span", "sign", signs[i])] : [])];
  }));
  const names = data.matrices.map(({ name }) => name).join(", ");
  const keys = "Arrow keys move the cell, PageUp and PageDown change the step, Enter pins.";
  panels.setAttribute("aria-label", `Matrices ${names}. ${keys}`);
}

/**
 * @param {string} name
 * @returns {Figure}
 */
function framed(name) {
  const element = made("figure"), caption = made("figcaption"), axes = made("div", "axes");
  const picture = made("div", "picture"), values = made("canvas", "values"), lit = made("canvas", "lit");
  const bar = made("div", "bar"), ends = made("div", "ends"), head = made("span", "head");
  picture.append(values, lit);
  element.append(caption, axes, picture, bar, ends);
  element.dataset.name = name;
  return { element, caption, axes, picture, values, lit, bar, ends, head, tile: "", painted: null };
}

/**
 * @param {Lab} lab
 * @param {Matrix} matrix
 * @param {Figure} figure
 * @param {(length: number) => number} side
 */
function sized(lab, matrix, figure, side) {
  const width = side(matrix.columns), height = side(matrix.rows), ratio = window.devicePixelRatio || 1;
  const pixels = (/** @type {number} */ length) => Math.max(1, Math.round(length * ratio));
  Object.assign(figure.picture.style, { width: `${width}px`, height: `${height}px` });
  const size = { width: pixels(width), height: pixels(height) };
  for (const canvas of [figure.values, figure.lit]) Object.assign(canvas, size);
  figure.painted = null;
  figure.element.classList.toggle("current", matrix.name === lab.data.step);
  captioned(lab, matrix, figure);
  const gradient = `linear-gradient(to right, ${stopsOf(lab, matrix).join()})`, end = endOf(matrix.most);
  figure.bar.style.background = matrix.scale === "mask" ? "none" : gradient;
  const ends = { signed: [`−${end}`, "0", `${end}`], weights: ["0", "0.5", "1"], mask: ["hatched: hidden"] };
  figure.ends.replaceChildren(...ends[matrix.scale].map((text) => made("span", "", text)));
}

/**
 * @param {Lab} lab
 * @param {Matrix} matrix
 * @param {Figure} figure
 */
function captioned(lab, matrix, figure) {
  const [down, across] = matrix.tiles, { name, title } = matrix;
  figure.tile = down * across > 1 ? `a cell: greatest of ${down} × ${across}` : "";
  figure.caption.replaceChildren(name === lab.data.step ? made("b", "", name) : leading(lab, name, title), figure.head);
  figure.axes.textContent = `${matrix.axes} = ${matrix.sizes}`;
  figure.element.title = figure.tile ? `${title}; ${figure.tile}` : title;
  figure.element.dataset.tile = figure.tile;
}

/**
 * A button that turns to a step.
 * @param {Lab} lab
 * @param {string} step
 * @param {string} title
 */
function leading(lab, step, title) {
  const onclick = () => lab.ways.onTurn?.({ step, steps: "one" });
  return Object.assign(made("button", "", step), { type: "button", title: `${title}: show this step`, onclick });
}
