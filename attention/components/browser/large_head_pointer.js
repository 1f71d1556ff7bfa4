// The cell under the pointer in the enlarged head, its description, and the dragged rectangle.

import { greatestCell, MASKED, number, weightsOf } from "./cells.js";
import { percent } from "./percent.js";
import { cellDifference, sideNumbers } from "./difference_cells.js";
import { find, createElement } from "./elements.js";
import { laidOut } from "./large_head_picture.js";
import { cellText, quotedToken, tokenText, wordsText } from "./large_head_words.js";
import { share, timesEven } from "./uniform.js";

/**
 * @typedef {import("./large_head_view.js").Lab} Lab
 * @typedef {import("./large_head_view.js").Spot} Spot
 */

/**
 * Returns the position of an event in the square.
 * @param {Lab} lab
 * @param {MouseEvent} event
 * @returns {Spot}
 */
export function at({ canvas, place }, event) {
  const box = canvas.getBoundingClientRect();
  const [left, top] = [event.clientX - box.left - place.left, event.clientY - box.top - place.top];
  return { x: left / place.width, y: top / place.height };
}

/** @param {Spot} spot */
export function inside({ x, y }) {
  return x >= 0 && y >= 0 && x < 1 && y < 1;
}

/**
 * Returns the largest cell under the device pixel of the pointer, or the one at its middle if cells are means; null
 * outside of the received cells.
 * @param {Lab} lab
 * @param {Spot} spot
 */
export function cellUnder({ data, view, place, ratio }, { x, y }) {
  /**
   * @param {number} share
   * @param {number} side
   * @param {[number, number]} seen  its start and size, in tokens
   * @param {[number, number]} sent  the same of all cells, in tokens and in cells
   * @returns {import("./cells.js").Range}
   */
  const range = (share, side, [first, size], [start, cells]) => {
    const pixels = Math.round(side * ratio), pixel = Math.floor(share * pixels);
    const cell = (/** @type {number} */ pixel) => (first + (pixel / pixels) * size - start) / data.tile;
    const from = Math.floor(cell(pixel)), to = Math.ceil(cell(pixel + 1) - 1e-9);
    const middle = Math.floor(cell(pixel + 0.5));
    const one = data.pool === "mean" || cell(pixel + 1) - cell(pixel) < 1;
    return one ? [middle, middle + 1] : [Math.max(0, from), Math.min(cells, to)];
  };
  const rows = range(y, place.height, [view.top, view.high], [data.first[0], data.rows]);
  const columns = range(x, place.width, [view.left, view.wide], [data.first[1], data.columns]);
  if (rows[0] < 0 || rows[1] > data.rows || rows[0] >= rows[1]) return null;
  if (columns[0] < 0 || columns[1] > data.columns || columns[0] >= columns[1]) return null;
  return greatestCell(data, 0, rows, columns);
}

/**
 * @param {Lab} lab
 * @param {MouseEvent | null} event
 */
export function point(lab, event) {
  lab.pointer = event;
  const spot = event && !lab.data.marks?.hides && at(lab, event);
  const cell = spot && inside(spot) ? cellUnder(lab, spot) : null;
  const row = find(lab.root, "i.row"), column = find(lab.root, "i.column");
  lab.square.classList.toggle("inside", Boolean(cell));
  namePointed(lab, cell);
  row.style.display = column.style.display = cell ? "block" : "none";
  if (!cell || !spot) return void (lab.said.textContent = lab.data.marks?.says ?? "");
  const { left, top, width, height } = lab.place;
  Object.assign(row.style, { left: `${left}px`, width: `${width}px`, top: `${top + spot.y * height}px` });
  Object.assign(column.style, { top: `${top}px`, height: `${height}px`, left: `${left + spot.x * width}px` });
  const words = inWords(lab.data, cell);
  if (words) return void (lab.said.textContent = words);
  const shares = lab.data.rest !== null, format = shares ? share : number;
  const shown = lab.data.sides ? cellDifference(cell, shares) : format(cell.code, cell.weight);
  const said = createElement("b", "", shown), more = lab.data.sides ? sideNumbers(cell, shares) : timesEven(lab.data, cell);
  lab.said.replaceChildren(describeCell(lab.data, cell), said, more && `, ${more}`);
}

/**
 * Labels the tokens of the cell under the pointer in place of those of the framed one.
 * @param {Lab} lab
 * @param {import("./cells.js").Cell | null} cell
 */
function namePointed(lab, cell) {
  const { marks } = lab.data;
  if (!marks?.pair || `${marks.pointed}` === `${cell ? [cell.query, cell.key] : undefined}`) return;
  marks.pointed = cell ? [cell.query, cell.key] : undefined;
  laidOut(lab);
}

/**
 * Describes a pair of named tokens in words, its weight in percent; "" if the map can be zoomed or has no such pairs.
 * @param {import("./large_head_view.js").LargeData} data
 * @param {import("./cells.js").Cell} cell
 */
function inWords(data, { code, weight, query, key, queryCount, keyCount }) {
  const [one, two] = [data.names[0][query], data.names[1][key]];
  if (data.zooms || data.sides || data.signed || queryCount * keyCount > 1 || one === undefined) return "";
  if (two === undefined) return "";
  const share = code === MASKED ? "" : percent(weight, restOf(data, query, key));
  return wordsText({
    query: quotedToken(data.first[0] + query, one), key: quotedToken(data.first[1] + key, two), share,
  });
}

/**
 * Returns the sum of the other weights of a row.
 * @param {import("./large_head_view.js").LargeData} data
 * @param {number} query
 * @param {number} key
 */
function restOf(data, query, key) {
  const weights = weightsOf(data), row = data.codes[0].subarray(query * data.columns, (query + 1) * data.columns);
  return row.reduce((sum, code, at) => sum + (at === key ? 0 : weights[code]), 0);
}

/**
 * Describes the position of a cell, and of how many weights it is the maximum or the mean.
 * @param {import("./large_head_view.js").LargeData} data
 * @param {import("./cells.js").Cell} cell
 */
function describeCell(data, { query, key, queryCount, keyCount }) {
  const exact = Boolean(data.sides && data.places);  // where the number is, not only in which tile
  const placed = (/** @type {0 | 1} */ side, /** @type {number} */ at, /** @type {number} */ count) => {
    return tokenText({ from: data.first[side] + at, count: exact ? 1 : count, name: data.names[side][at] });
  };
  return cellText({
    sampled: !data.zooms && data.tile > 1, pool: data.pool, sides: Boolean(data.sides), queryCount, keyCount,
    query: placed(0, query, queryCount), key: placed(1, key, keyCount),
  });
}

/** @param {Lab} lab */
export function showBox({ root, start, end, place }) {
  const box = find(root, "i.box");
  box.style.display = start && end ? "block" : "none";
  if (!start || !end) return;
  Object.assign(box.style, {
    left: `${place.left + Math.min(start.x, end.x) * place.width}px`,
    width: `${Math.abs(end.x - start.x) * place.width}px`,
    top: `${place.top + Math.min(start.y, end.y) * place.height}px`,
    height: `${Math.abs(end.y - start.y) * place.height}px`,
  });
}
