// The layout of the matrices, and their captions.

import { createElement } from "./elements.js";
import { endOf } from "./matrices_cells.js";
import { NARROW, sidesOf, signsOf } from "./matrices_axes.js";
import { isCompared, sideLetters } from "./matrices_readout.js";
import { turnTo } from "./matrices_transport.js";
import { writeTokens } from "./matrices_tokens.js";
import { stopsOn } from "./theme.js";
import { contentText, HATCHED, panelsLabel, showStep, sizeText, tileText } from "./matrices_words.js";

/**
 * @typedef {import("./matrices_cells.js").Data} Data
 * @typedef {import("./matrices_cells.js").Matrix} Matrix
 * @typedef {import("./matrices_cells.js").Cell} Cell
 */

/**
 * The elements of a matrix: the canvas `values`, which shows one head, the `numbers` on it, and above both the canvas
 * `lit`, which highlights cells; `rows` and `columns` contain the tokens of its sides.
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
 * @property {number} width  the width for which it is laid out
 * @property {Cell | null} hover
 * @property {Cell} cursor
 * @property {Cell} home  where Escape moves the cursor
 * @property {{ step: string, at: number } | null} asked  the step that was requested and has not arrived
 * @property {number} playing  the timer of the next step while the pass is played, otherwise 0
 */

/**
 * Returns the stops of the colour scale of a matrix.
 * @param {Lab} lab
 * @param {Matrix} matrix
 */
export function stopsOf({ data, neutrals }, matrix) {
  if (matrix.scale === "weights") return stopsOn(neutrals, { ramps: data.ramps });
  if (matrix.scale === "mask") return [neutrals.masked, neutrals.muted];
  return [data.signed[0], neutrals.background, data.signed[1]];
}

/**
 * Lays out the matrices, without painting them.
 * @param {Lab} lab
 */
export function laidOut(lab) {
  const { data, root, panels } = lab, one = data.step !== null;
  root.classList.toggle("narrow", lab.width < NARROW);
  root.classList.toggle("one", one);
  root.classList.toggle("all", !one);
  const sides = sidesOf(lab), signs = signsOf(data);
  lab.figures = new Map(data.matrices.map(({ name }) => [name, lab.figures.get(name) ?? createFrame(name)]));
  panels.replaceChildren(...data.matrices.flatMap((matrix, i) => {
    const figure = /** @type {Figure} */ (lab.figures.get(matrix.name));
    resizeAll(lab, matrix, figure, sides(matrix));
    return [figure.element, ...(one && signs[i] && !isCompared(data) ? [createSign(signs[i])] : [])];
  }));
  panels.setAttribute("aria-label", panelsLabel(data.matrices.map(({ name }) => name)));
}

/** @param {string} sign  between two matrices: a word or a symbol */
function createSign(sign) {
  const element = createElement("span", "sign", sign);
  element.classList.toggle("word", /\w/.test(sign));
  return element;
}

/**
 * @param {string} name
 * @returns {Figure}
 */
function createFrame(name) {
  const element = createElement("figure"), caption = createElement("figcaption"), axes = createElement("div", "axes");
  const picture = createElement("div", "picture");
  const values = createElement("canvas", "values"), lit = createElement("canvas", "lit");
  const bar = createElement("div", "bar"), ends = createElement("div", "ends"), head = createElement("span", "head");
  const numbers = createElement("div", "numbers");
  const rows = createElement("div", "rows"), columns = createElement("div", "columns");
  for (const words of [numbers, rows, columns]) words.ariaHidden = "true";  // the live region describes the current cell
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
 * @param {import("./matrices_axes.js").Sides} sides
 */
function resizeAll(lab, matrix, figure, { width, height, left, top }) {
  const ratio = window.devicePixelRatio || 1;
  const pixels = (/** @type {number} */ length) => Math.max(1, Math.round(length * ratio));
  Object.assign(figure.picture.style, { width: `${width}px`, height: `${height}px` });
  figure.element.style.paddingLeft = `${left}px`;
  figure.axes.style.marginBottom = `${top}px`;
  writeTokens(lab.data, matrix, figure);
  const size = { width: pixels(width), height: pixels(height) };
  for (const canvas of [figure.values, figure.lit]) Object.assign(canvas, size);
  figure.painted = null;
  figure.element.classList.toggle("current", matrix.name === lab.data.step);
  writeCaptions(lab, matrix, figure);
  const gradient = `linear-gradient(to right, ${stopsOf(lab, matrix).join()})`;
  figure.bar.style.background = matrix.scale === "mask" ? "none" : gradient;
}

/**
 * Writes the ends of the scale of a head.
 * @param {Matrix} matrix
 * @param {Figure} figure
 * @param {number} head
 */
export function scaleEnds(matrix, figure, head) {
  const end = endOf(matrix, head);
  const signed = [`−${end}`, "0", `${end}`];
  const ends = { signed, difference: signed, weights: ["0", "0.5", "1"], mask: [HATCHED] };
  figure.ends.replaceChildren(...ends[matrix.scale].map((text) => createElement("span", "", text)));
}

/**
 * @param {Lab} lab
 * @param {Matrix} matrix
 * @param {Figure} figure
 */
function writeCaptions(lab, matrix, figure) {
  const { name, title } = matrix;
  figure.tile = tileText(matrix.tiles);
  const label = name === lab.data.step ? createElement("b", "", name) : leading(lab, name, title);
  figure.caption.replaceChildren(label, figure.head);
  const [rows, columns] = sideLetters(matrix);
  const sizes = [{ letter: rows, count: matrix.rows }, { letter: columns, count: matrix.columns }];
  figure.axes.textContent = lab.data.step === null ? sizeText(sizes) : contentText({ name, sides: sizes });
  figure.element.title = [title, `${matrix.axes} = ${matrix.sizes}`, figure.tile].filter(Boolean).join("; ");
  figure.element.dataset.tile = figure.tile;
}

/**
 * Returns a button that selects a step.
 * @param {Lab} lab
 * @param {string} step
 * @param {string} title
 */
function leading(lab, step, title) {
  const onclick = () => turnTo(lab, step);
  const button = createElement("button", "", step);
  return Object.assign(button, { type: "button", title: showStep(title), onclick });
}
