// What is written on the matrices where there is room: tokens beside rows and above columns, numbers in cells.

import { createElement } from "./elements.js";
import { cellAt, coloring } from "./matrices_cells.js";
import { axesOf } from "./matrices_readout.js";

/**
 * @typedef {import("./matrices_layout.js").Lab} Lab
 * @typedef {import("./matrices_layout.js").Figure} Figure
 * @typedef {import("./matrices_cells.js").Data} Data
 * @typedef {import("./matrices_cells.js").Matrix} Matrix
 */

const MOST = { one: 27, all: 8 };  // tokens of a side up to which they are written beside it
const LETTER = 5.6, LEAST = 14, WIDEST = 62;  // pixels of a letter, and of a column of words
const BROAD = 29, HIGH = 14;  // pixels of a cell from which on a number can be read in it
const LARGE = 38;  // pixels of one in which it may be larger
const BRIGHT = 0.179;  // luminance from which on black stands out more than white (WCAG 2.2)

/**
 * The tokens of the rows or of the columns of a matrix; none where they have none or are too many.
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
 * Pixels that words take, that of the longest or as many as they get.
 * @param {string[]} words
 */
export function room(words) {
  if (!words.length) return 0;
  return Math.max(LEAST, Math.min(WIDEST, Math.ceil(Math.max(...words.map(({ length }) => length)) * LETTER) + 7));
}

/**
 * Tokens beside the rows of a matrix, and above its columns.
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
 * The number of every cell of one head in it, where it can be read there.
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
    const kind = color === null ? "" : luminance(color) > BRIGHT ? "on-bright" : "on-dark";
    return createElement("span", kind, brief(matrix, cell.value));
  }) : []));
}

/**
 * A number as short as it stands in a cell: two decimals, fewer where it is large.
 * @param {Matrix} matrix
 * @param {number} value
 */
export function brief(matrix, value) {
  if (value === -Infinity) return matrix.scale === "weights" ? "0" : "−∞";
  if (value === 0 || matrix.scale === "mask") return `${value}`;
  const size = Math.abs(value), text = value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
  return (/[1-9]/.test(text) ? text : text.replace("-", "")).replace("-", "−");
}

/** @param {number} color  the four bytes of a pixel */
function luminance(color) {
  const parts = [color & 255, (color >> 8) & 255, (color >> 16) & 255].map((part) => part / 255);
  const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
