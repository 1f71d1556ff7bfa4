// Where the matrices stand, how large they are, and their captions.

import { made } from "./elements.js";
import { endOf } from "./matrices_cells.js";
import { NARROW, sidesOf } from "./matrices_sides.js";
import { turnTo } from "./matrices_turns.js";
import { worded } from "./matrices_words.js";

/**
 * @typedef {import("./matrices_cells.js").Data} Data
 * @typedef {import("./matrices_cells.js").Matrix} Matrix
 * @typedef {import("./matrices_cells.js").Cell} Cell
 */

/**
 * A matrix on the page: its canvas of values, which shows one head, their numbers, and above both what is lit; `rows`
 * and `columns` are the tokens on its sides.
 * @typedef {object} Figure
 * @property {HTMLElement} element
 * @property {HTMLElement} caption
 * @property {HTMLElement} axes
 * @property {HTMLElement} picture
 * @property {HTMLCanvasElement} values
 * @property {HTMLElement} numbers
 * @property {HTMLCanvasElement} lit
 * @property {HTMLElement} rows
 * @property {HTMLElement} columns
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
 * @property {number} playing  the timer of the next step while the pass is played, else 0
 */

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
 * Every matrix in its place, empty.
 * @param {Lab} lab
 */
export function laidOut(lab) {
  const { data, root, panels } = lab, one = data.step !== null;
  root.classList.toggle("narrow", lab.width < NARROW);
  root.classList.toggle("one", one);
  root.classList.toggle("all", !one);
  const sides = sidesOf(lab), signs = data.matrices[data.matrices.length - 1].sources.map(({ sign }) => sign);
  lab.figures = new Map(data.matrices.map(({ name }) => [name, lab.figures.get(name) ?? framed(name)]));
  panels.replaceChildren(...data.matrices.flatMap((matrix, i) => {
    const figure = /** @type {Figure} */ (lab.figures.get(matrix.name));
    sized(lab, matrix, figure, sides(matrix));
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
  const numbers = made("div", "numbers"), rows = made("div", "rows"), columns = made("div", "columns");
  for (const words of [numbers, rows, columns]) words.ariaHidden = "true";  // said of the cell under the cursor
  picture.append(values, numbers, lit, rows, columns);
  element.append(caption, axes, picture, bar, ends);
  element.dataset.name = name;
  const parts = { element, caption, axes, picture, values, numbers, lit, rows, columns, bar, ends, head };
  return { ...parts, tile: "", painted: null };
}

/**
 * @param {Lab} lab
 * @param {Matrix} matrix
 * @param {Figure} figure
 * @param {import("./matrices_sides.js").Sides} sides
 */
function sized(lab, matrix, figure, { width, height, left, top }) {
  const ratio = window.devicePixelRatio || 1;
  const pixels = (/** @type {number} */ length) => Math.max(1, Math.round(length * ratio));
  Object.assign(figure.picture.style, { width: `${width}px`, height: `${height}px` });
  figure.element.style.paddingLeft = `${left}px`;
  figure.axes.style.marginBottom = `${top}px`;
  worded(lab.data, matrix, figure);
  const size = { width: pixels(width), height: pixels(height) };
  for (const canvas of [figure.values, figure.lit]) Object.assign(canvas, size);
  figure.painted = null;
  figure.element.classList.toggle("current", matrix.name === lab.data.step);
  captioned(lab, matrix, figure);
  const gradient = `linear-gradient(to right, ${stopsOf(lab, matrix).join()})`;
  figure.bar.style.background = matrix.scale === "mask" ? "none" : gradient;
}

/**
 * The ends of the scale of the head that is painted.
 * @param {Matrix} matrix
 * @param {Figure} figure
 * @param {number} head
 */
export function scaled(matrix, figure, head) {
  const end = endOf(matrix, head);
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
  const onclick = () => turnTo(lab, step);
  return Object.assign(made("button", "", step), { type: "button", title: `${title}: show this step`, onclick });
}
