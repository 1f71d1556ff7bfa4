// Texts of the matrices, if there is room: tokens next to rows and above columns, and numbers in cells.

import { createElement } from "./elements.js";
import { cellAt, coloring } from "./matrices_cells.js";
import { axesOf } from "./matrices_readout.js";
import { isBright } from "./theme.js";

/**
 * @typedef {import("./matrices_layout.js").Lab} Lab
 * @typedef {import("./matrices_layout.js").Figure} Figure
 * @typedef {import("./matrices_cells.js").Data} Data
 * @typedef {import("./matrices_cells.js").Matrix} Matrix
 */

const MOST = { one: 27, all: 8 };  // maximum number of tokens of a side that are written next to it
const LETTER = 6.1, LEAST = 14, WIDEST = 62;  // width of a letter, and of a column of words, in pixels
const BROAD = 29, HIGH = 14;  // minimum width and height of a cell with a readable number, in pixels
const LARGE = 38;  // width of a cell from which its number is larger, in pixels

/**
 * Returns the tokens of the rows or columns of a matrix; empty if they have none or there are too many.
 * @param {Data} data
 * @param {Matrix} matrix
 * @param {"rows" | "columns"} which
 * @returns {string[]}
 */
export function wordsOf(data, matrix, which) {
  const letter = axesOf(matrix).slice(-2)[which === "rows" ? 0 : 1], count = matrix[which];
  const words = data.tokens[letter] ?? [], most = data.step === null ? MOST.all : MOST.one;
  return count <= most && words.length >= count ? words.slice(0, count) : [];
}

/**
 * Returns the width of a column of words in pixels: that of the longest word, between LEAST and WIDEST.
 * @param {string[]} words
 */
export function room(words) {
  if (!words.length) return 0;
  return Math.max(LEAST, Math.min(WIDEST, Math.ceil(Math.max(...words.map(({ length }) => length)) * LETTER) + 7));
}

/**
 * Writes tokens next to the rows of a matrix, and above its columns.
 * @param {Data} data
 * @param {Matrix} matrix
 * @param {Figure} figure
 */
export function writeTokens(data, matrix, figure) {
  for (const [which, element] of /** @type {const} */ ([["rows", figure.rows], ["columns", figure.columns]])) {
    const words = wordsOf(data, matrix, which);
    element.style[which === "rows" ? "width" : "height"] = `${room(words)}px`;
    if (element.dataset.words === JSON.stringify(words)) continue;
    element.dataset.words = JSON.stringify(words);
    element.replaceChildren(...words.map((word) => createElement("span", "", word)));
  }
}

/**
 * Writes the numbers of one head into its cells, if cells are large enough to read them.
 * @param {Matrix} matrix
 * @param {Figure} figure
 * @param {number} head
 * @param {string[]} stops
 */
export function writeNumbers(matrix, figure, head, stops) {
  const { high, broad, tiles } = matrix, ratio = window.devicePixelRatio || 1;
  const wide = figure.values.width / ratio / broad, tall = figure.values.height / ratio / high;
  const fits = wide >= BROAD && tall >= HIGH && tiles[0] * tiles[1] === 1;
  const colorOf = coloring(matrix, head, stops);
  figure.numbers.style.gridTemplate = `repeat(${high}, 1fr) / repeat(${broad}, 1fr)`;
  figure.numbers.classList.toggle("large", wide >= LARGE);
  figure.numbers.replaceChildren(...(fits ? Array.from({ length: high * broad }, (_, i) => {
    const cell = cellAt(matrix, head, Math.floor(i / broad), i % broad), color = colorOf(cell.code);
    const kind = color === null ? "" : isBright(color) ? "on-bright" : "on-dark";
    return createElement("span", kind, brief(matrix, cell.value));
  }) : []));
}

/**
 * Formats a number for a cell: two decimals, fewer for large numbers.
 * @param {Matrix} matrix
 * @param {number} value
 */
export function brief(matrix, value) {
  if (matrix.scale === "difference") return briefChange(value);
  if (value === -Infinity) return matrix.name === "weights" || matrix.scale === "weights" ? "0" : "−∞";
  if (value === 0 || matrix.scale === "mask") return `${value}`;
  return decimals(value);
}

/** @param {number} value */
function decimals(value) {
  const size = Math.abs(value), text = value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
  return (/[1-9]/.test(text) ? text : text.replace("-", "")).replace("-", "−");
}

/** @param {number} value  a difference: not a number if both sides mask it */
function briefChange(value) {
  if (Number.isNaN(value)) return "";
  if (!Number.isFinite(value)) return value > 0 ? "+∞" : "−∞";
  const text = value === 0 ? "0" : decimals(value);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}
