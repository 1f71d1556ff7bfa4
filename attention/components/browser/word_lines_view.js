// The lines of a word and their weights. This file does not depend on the page.

import { greatest, MASKED, position, weightAt, weightsOf, ZERO } from "./cells.js";
import { tokenText } from "./word_lines_words.js";

/**
 * @typedef {Omit<import("./message.js").LinesHeader, "places" | "sums"> & import("./cells.js").Bytes} LinesData
 * @typedef {0 | 1} Side  0 for queries, 1 for keys
 * @typedef {{ side: Side, at: number }} Word  `at` is counted from the first word that is drawn
 * @typedef {{ query: number, key: number, code: number, weight: number, share: number }} Line  `share`: on the scale
 */

/**
 * @typedef {object} Web
 * @property {HTMLElement} root
 * @property {HTMLElement} box  the element that scrolls and has the keyboard focus
 * @property {[HTMLElement, HTMLElement]} sides
 * @property {[HTMLElement[], HTMLElement[]]} words
 * @property {HTMLElement} middle
 * @property {HTMLCanvasElement} base  the lines of all rows
 * @property {HTMLCanvasElement} lit  the lines of one word
 * @property {import("./word_lines.js").Ways} ways
 * @property {LinesData} data
 * @property {import("./theme.js").Ground} neutrals
 * @property {Word} cursor
 * @property {Word | null} hover
 * @property {string} told  the last selection by the server
 * @property {number} width  the width for which it is laid out
 * @property {number} count
 */

export const SEEN = 1 / 256;  // share of the scale below which weights have no line if all rows are shown

/**
 * Returns the selected query, or the nearest one that is drawn.
 * @param {LinesData} data
 * @returns {Word}
 */
export function home({ query, first, queries }) {
  return { side: 0, at: Math.max(0, Math.min(queries - 1, query - first[0])) };
}

/**
 * Whether a word is the selected query.
 * @param {LinesData} data
 * @param {Word} word
 */
export function isPinned({ query, first }, { side, at }) {
  return side === 0 && first[0] + at === query;
}

/**
 * @param {LinesData} data
 * @param {Side} side
 */
export function countOf({ queries, keys }, side) {
  return side ? keys : queries;
}

/**
 * Returns a word and its position in the sequence, as in “boat” (17), or `query 17` if it has no text.
 * @param {LinesData} data
 * @param {Side} side
 * @param {number} at
 */
export function nameWord({ first, names }, side, at) {
  return tokenText({ side, at: first[side] + at, name: names[side][at] });
}

/**
 * Returns the pairs of a word with each word of the other side, including masked pairs.
 * @param {LinesData} data
 * @param {Word} word
 */
export function pairsOf(data, { side, at }) {
  const other = /** @type {Side} */ (1 - side);
  return lines(data, Array.from({ length: countOf(data, other) }, (_, i) => (side ? [i, at] : [at, i])));
}

/**
 * Returns the pairs of a word that have a weight, largest weights first.
 * @param {LinesData} data
 * @param {Word} word
 */
export function rankPairs(data, word) {
  return pairsOf(data, word).filter(drawLine).sort((a, b) => b.code - a.code);
}

/** @param {LinesData} data */
export function every(data) {
  const { queries, keys } = data;
  return lines(data, Array.from({ length: queries * keys }, (_, i) => [Math.floor(i / keys), i % keys]));
}

/**
 * @param {LinesData} data
 * @param {number[][]} pairs
 * @returns {Line[]}
 */
function lines(data, pairs) {
  const codes = data.codes[0], weights = weightsOf(data);
  const most = data.colors === "own maximum" ? weights[greatest(codes)] : 1;
  return pairs.map(([query, key]) => {
    const index = query * data.columns + key, code = codes[index], weight = weightAt(data, 0, index);
    const size = weights[code], own = most > 0 ? size / most : 0;
    const share = data.colors === "own maximum" ? own : position(size, data.colors, data);
    return { query, key, code, weight, share };
  });
}

/** @param {Line} line */
export function drawLine({ code }) {
  return code !== MASKED && code !== ZERO;
}
