// The sizes of the matrices: equal lengths have equal sides in every matrix, and long ones are shrunk most, unless tokens
// are written next to their rows.

import { matricesAfter } from "./matrices_highlight.js";
import { room, wordsOf } from "./matrices_tokens.js";
import { GIVES } from "./matrices_words.js";

/**
 * @typedef {import("./matrices_layout.js").Lab} Lab
 * @typedef {import("./matrices_cells.js").Matrix} Matrix
 * @typedef {{ width: number, height: number, left: number, top: number }} Sides
 */

const SHRINK = 0.35, LARGEST = 400, SMALLEST = 12, IN_ALL = 150, GAP = 12, NARROW_GAP = 8;
const LETTER = 7.6;  // width of a letter between two matrices, in pixels
const CELL = 56, NARROW_CELL = 44;  // maximum sides of a cell in pixels
const PAIR_CELL = 30;  // smallest side of a cell for which two matrices are placed beside each other in a narrow window
const UPRIGHT = 2;  // letters that a word between two matrices takes in a narrow window, where it is turned
const LINE = 12;  // height of a token next to its row, in pixels
export const NARROW = 560;

/**
 * Returns the signs behind the matrices.
 * @param {import("./matrices_cells.js").Data} data
 */
export function signsOf(data) {
  return matricesAfter(data).length ? [GIVES] : data.matrices[data.matrices.length - 1].sources.map(({ sign }) => sign);
}

/**
 * Returns a function from a matrix to its sides in CSS pixels and the room for its tokens on the left and above.
 * @param {Lab} lab
 * @returns {(matrix: Matrix) => Sides}
 */
export function sidesOf({ data, width }) {
  const { matrices } = data, between = signsOf(data), one = data.step !== null, alone = one && width < NARROW;
  const longest = Math.max(...matrices.flatMap(({ rows, columns }) => [rows, columns]));
  const part = (/** @type {number} */ length) => (length / longest) ** SHRINK;
  const words = (/** @type {Matrix} */ matrix, /** @type {"rows" | "columns"} */ which) => wordsOf(data, matrix, which);
  const left = Math.max(...matrices.map((matrix) => room(words(matrix, "rows"))));
  const least = (/** @type {Matrix} */ matrix) => LINE * words(matrix, "columns").length;
  const gaps = GAP * Math.max(0, matrices.length - 1 - between.length);
  const signs = between.reduce((all, each) => all + each.length * LETTER + 2 * GAP, gaps);
  const above = matrices.map((matrix) => room(words(matrix, "columns"))), highest = Math.max(...above);
  const beside = matrices.reduce((all, matrix) => all + room(words(matrix, "rows")), 0);
  const free = width - 8 - (alone ? left : signs + beside);
  const sum = (/** @type {(matrix: Matrix) => number} */ of) => matrices.reduce((all, matrix) => all + of(matrix), 0);
  const spread = free / sum(({ columns }) => part(columns));
  const short = matrices.filter((matrix) => least(matrix) > spread * part(matrix.columns));
  const rest = sum((matrix) => (short.includes(matrix) ? 0 : part(matrix.columns)));
  const squeezed = rest ? (free - short.reduce((all, matrix) => all + least(matrix), 0)) / rest : spread;
  const fits = alone ? free : one ? squeezed : Math.min(IN_ALL, width - 8 - left);
  const two = matrices.slice(0, 2), [sign = ""] = between;
  const letters = Math.min(UPRIGHT, sign.length);
  const both = width - 8 - two.reduce((all, matrix) => all + room(words(matrix, "rows")), 0) - letters * LETTER - 2 * NARROW_GAP;
  const pair = Math.floor(both / two.reduce((all, { columns }) => all + columns, 0));
  const narrow = two.length > 1 && pair >= PAIR_CELL ? Math.min(NARROW_CELL, pair) : NARROW_CELL;
  const most = Math.min(LARGEST, fits), side = whole(most, part, alone ? narrow : CELL);
  return (matrix) => {
    const rows = words(matrix, "rows"), columns = words(matrix, "columns"), line = one ? LINE : 0;
    const width = side(matrix.columns, columns.length * line), height = side(matrix.rows, rows.length * line);
    // Matrices side by side begin at the same height.
    return { width, height, left: room(rows), top: one && !alone ? highest : room(columns) };
  };
}

/**
 * Returns a function that computes a side, with a whole number of device pixels per cell if that is not much smaller.
 * @param {number} most
 * @param {(length: number) => number} part
 * @param {number} cell  the largest one
 */
function whole(most, part, cell) {
  const ratio = window.devicePixelRatio || 1;
  return (/** @type {number} */ length, /** @type {number} */ least) => {
    const pixels = Math.max(SMALLEST, least, Math.min(cell * length, Math.floor(most * part(length)))) * ratio;
    const even = Math.floor(pixels / length) * length;
    return (even > 0.8 * pixels ? even : Math.round(pixels)) / ratio;
  };
}
