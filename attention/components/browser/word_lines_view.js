// Which lines a word has, and how strong they are. Nothing in this file knows the page.

import { greatest, MASKED, position, weightsOf, ZERO } from "./cells.js";

/**
 * @typedef {Omit<import("./message.js").LinesHeader, "places"> & import("./cells.js").Bytes} LinesData
 * @typedef {0 | 1} Side  of queries, of keys
 * @typedef {{ side: Side, at: number }} Word  counted from the first that is drawn
 * @typedef {{ query: number, key: number, code: number, weight: number, share: number }} Line  `share` of the scale
 */

/**
 * @typedef {object} Web
 * @property {HTMLElement} root
 * @property {HTMLElement} box  what scrolls, and has the keyboard
 * @property {[HTMLElement, HTMLElement]} sides
 * @property {[HTMLElement[], HTMLElement[]]} words
 * @property {HTMLElement} middle
 * @property {HTMLCanvasElement} base  the lines of all rows
 * @property {HTMLCanvasElement} lit  those of one word
 * @property {import("./word_lines.js").Ways} ways
 * @property {LinesData} data
 * @property {import("./theme.js").Ground} neutrals
 * @property {Word} cursor
 * @property {Word | null} hover
 * @property {string} told  the focus that the server has named last
 * @property {number} width  for which it is laid out
 * @property {number} count
 */

export const SEEN = 1 / 256;  // of the scale: of all rows at once, weights below have no line

/**
 * The query in focus, or the nearest to it that is drawn.
 * @param {LinesData} data
 * @returns {Word}
 */
export function home({ query, first, queries }) {
  return { side: 0, at: Math.max(0, Math.min(queries - 1, query - first[0])) };
}

/**
 * Is it the query in focus itself?
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
 * A word by its place in the sequence, and its text where it has any.
 * @param {LinesData} data
 * @param {Side} side
 * @param {number} at
 */
export function nameWord({ first, names }, side, at) {
  const text = names[side][at];
  return text === undefined ? `${first[side] + at}` : `${first[side] + at} ${text}`;
}

/**
 * The pairs of a word with each of the other side, masked ones among them.
 * @param {LinesData} data
 * @param {Word} word
 */
export function pairsOf(data, { side, at }) {
  const other = /** @type {Side} */ (1 - side);
  return lines(data, Array.from({ length: countOf(data, other) }, (_, i) => (side ? [i, at] : [at, i])));
}

/**
 * The pairs of a word that have a weight, the heaviest first.
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
    const code = codes[query * data.columns + key], weight = weights[code];
    const own = most > 0 ? weight / most : 0;
    const share = data.colors === "own maximum" ? own : position(weight, data.colors, data);
    return { query, key, code, weight, share };
  });
}

/** @param {Line} line */
export function drawLine({ code }) {
  return code !== MASKED && code !== ZERO;
}
