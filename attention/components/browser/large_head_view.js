// The selected part of a head, in tokens. This file does not depend on the page.

/**
 * @typedef {{ top: number, left: number, high: number, wide: number }} View
 * @typedef {{ x: number, y: number }} Spot  in the square, from 0 to 1 in both directions
 * @typedef {Omit<import("./message.js").LargeHeader, "places" | "sums"> & import("./cells.js").Bytes} LargeData
 * @typedef {{ left: number, top: number, width: number, height: number, room: number, below: number }} Place
 * @typedef {{ data: LargeData, key: string, canvas: HTMLCanvasElement }} Drawn
 */

/**
 * @typedef {object} Lab
 * @property {HTMLElement} root
 * @property {HTMLElement} square
 * @property {HTMLElement} said
 * @property {HTMLCanvasElement} canvas
 * @property {import("./large_head.js").Ways} ways
 * @property {LargeData} data
 * @property {View} view
 * @property {Place} place  of the square in the canvas, in CSS pixels
 * @property {Drawn | null} cells
 * @property {number} width  the width for which it is laid out
 * @property {number} ratio  device pixels per CSS pixel
 * @property {import("./theme.js").Ground} neutrals
 * @property {{ name: string, since: number } | null} asked  the part that was requested and has not arrived
 * @property {number} timer  0 if none is running
 * @property {number} count
 * @property {() => void} renew  shows the same data again
 * @property {Spot | null} start  of a drag
 * @property {Spot | null} end
 * @property {Spot | null} tapped
 * @property {MouseEvent | null} pointer
 */

const SMALLEST = 4;  // minimum tokens per side of a part

/**
 * Returns the part that the server has sent.
 * @param {LargeData} data
 * @returns {View}
 */
export function windowOf({ first, queries, keys }) {
  return { top: first[0], left: first[1], high: queries, wide: keys };
}

/** @param {LargeData} data */
export function nameOf({ first, queries, keys }) {
  return [...first, queries, keys].join();
}

/**
 * @param {View} view
 * @param {LargeData} data
 */
export function whole(view, { sizes: [queries, keys] }) {
  return view.high >= queries && view.wide >= keys;
}

/**
 * Returns a part clamped to the head, with at least SMALLEST tokens per side.
 * @param {View} view
 * @param {LargeData} data
 * @returns {View}
 */
export function within({ top, left, high, wide }, { sizes: [queries, keys] }) {
  const most = (/** @type {number} */ value, /** @type {number} */ last) => Math.max(0, Math.min(last, value));
  const start = most, size = (/** @type {number} */ value, /** @type {number} */ all) => most(Math.max(SMALLEST, value), all);
  [high, wide] = [size(high, queries), size(wide, keys)];
  return { high, wide, top: start(top, queries - high), left: start(left, keys - wide) };
}

/**
 * Returns the first and the last token that a part covers.
 * @param {number} first
 * @param {number} size
 * @param {number} tokens
 * @returns {[number, number]}
 */
export function coveredTokens(first, size, tokens) {
  const from = Math.max(0, Math.min(tokens - 1, Math.round(first)));
  return [from, Math.min(tokens, from + Math.max(1, Math.round(size))) - 1];
}

/**
 * Returns the part with its sides multiplied by `times`; the point `around` keeps its position.
 * @param {View} view
 * @param {number} times
 * @param {Spot} [around]
 * @returns {View}
 */
export function zoomAround(view, times, { x, y } = { x: 0.5, y: 0.5 }) {
  const high = view.high * times, wide = view.wide * times;
  return { high, wide, top: view.top + (view.high - high) * y, left: view.left + (view.wide - wide) * x };
}
