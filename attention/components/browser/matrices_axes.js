// How large the matrices are drawn: the same length has the same side in every matrix, and long ones are shrunk the
// most, but for tokens that stand beside their rows.

import { room, wordsOf } from "./matrices_words.js";

/**
 * @typedef {import("./matrices_layout.js").Lab} Lab
 * @typedef {import("./matrices_cells.js").Matrix} Matrix
 * @typedef {{ width: number, height: number, left: number, top: number }} Sides
 */

const SHRINK = 0.35, LARGEST = 330, SMALLEST = 12, IN_ALL = 150, GAP = 12;
const LETTER = 7.6;  // pixels of a letter between two matrices
const CELL = 44;  // pixels of a cell at the most
const LINE = 12;  // pixels of a token that stands beside its row
export const NARROW = 560;

/**
 * For each matrix its sides in CSS pixels, and the room that its tokens take on the left and above.
 * @param {Lab} lab
 * @returns {(matrix: Matrix) => Sides}
 */
export function sidesOf({ data, width }) {
  const { matrices } = data, one = data.step !== null, alone = one && width < NARROW;
  const longest = Math.max(...matrices.flatMap(({ rows, columns }) => [rows, columns]));
  const part = (/** @type {number} */ length) => (length / longest) ** SHRINK;
  const words = (/** @type {Matrix} */ matrix, /** @type {"rows" | "columns"} */ which) => wordsOf(data, matrix, which);
  const left = Math.max(...matrices.map((matrix) => room(words(matrix, "rows"))));
  const least = (/** @type {Matrix} */ matrix) => LINE * words(matrix, "columns").length;
  const between = matrices[matrices.length - 1].sources.map(({ sign }) => sign.length * LETTER + 2 * GAP);
  const signs = between.reduce((all, each) => all + each, 0);
  const above = matrices.map((matrix) => room(words(matrix, "columns"))), highest = Math.max(...above);
  const beside = matrices.reduce((all, matrix) => all + room(words(matrix, "rows")), 0);
  const free = width - 8 - (alone ? left : signs + beside);
  const sum = (/** @type {(matrix: Matrix) => number} */ of) => matrices.reduce((all, matrix) => all + of(matrix), 0);
  const spread = free / sum(({ columns }) => part(columns));
  const short = matrices.filter((matrix) => least(matrix) > spread * part(matrix.columns));
  const rest = sum((matrix) => (short.includes(matrix) ? 0 : part(matrix.columns)));
  const squeezed = rest ? (free - short.reduce((all, matrix) => all + least(matrix), 0)) / rest : spread;
  const fits = alone ? free : one ? squeezed : Math.min(IN_ALL, width - 8 - left);
  const most = Math.min(LARGEST, fits), side = whole(most, part);
  return (matrix) => {
    const rows = words(matrix, "rows"), columns = words(matrix, "columns"), line = one ? LINE : 0;
    const width = side(matrix.columns, columns.length * line), height = side(matrix.rows, rows.length * line);
    return { width, height, left: room(rows), top: one ? highest : room(columns) };  // rows side by side are level
  };
}

/**
 * A side, in whole pixels of the screen a cell where that is not much smaller.
 * @param {number} most
 * @param {(length: number) => number} part
 */
function whole(most, part) {
  const ratio = window.devicePixelRatio || 1;
  return (/** @type {number} */ length, /** @type {number} */ least) => {
    const pixels = Math.max(SMALLEST, least, Math.min(CELL * length, Math.floor(most * part(length)))) * ratio;
    const even = Math.floor(pixels / length) * length;
    return (even > 0.8 * pixels ? even : Math.round(pixels)) / ratio;
  };
}
