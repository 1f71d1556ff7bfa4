// The row of the cell under the pointer or the cursor as bars.

import { MASKED } from "./cells.js";
import { createElement, find, penOf, signs } from "./elements.js";
import { sizeOf } from "./difference_cells.js";
import { isEven, nameToken, numberOf, visibleCells, withNumberOf } from "./heads_grid_readout.js";
import { keyTokens, rowCells } from "./heads_grid_square.js";
import { largest, ROW_LATER, rowName } from "./heads_grid_words.js";

const NAMED = 0.1, MOST_NAMES = 3;  // the weight from which on a bar has its word, and how many have one
const LETTER = 6.6, SPACE = 4;  // pixels of a letter, and between two words
const ENDS = [0.1, 0.25, 0.5, 1];  // of the scale of the bars

/**
 * @typedef {import("./cells.js").Cell} Cell
 * @typedef {import("./heads_grid_layout.js").Grid} Grid
 */

/**
 * Draws the row as bars up to the end of the scale, which two sides have in common. Negative weights go down from a
 * line in the middle; differences have the colours of the map. An arrow above the bars marks the cell, unless all are alike, so
 * that the bars do not depend on it.
 * @param {Grid} grid
 * @param {Cell} cell
 */
export function setSpread(grid, cell) {
  const { data, spread } = grid, ratio = window.devicePixelRatio || 1;
  const canvas = find(spread, "canvas", HTMLCanvasElement);
  const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
  if (!width) return;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const isPreview = cell.head >= data.certain;
  find(spread, ".bars").classList.toggle("awaited", isPreview);
  find(spread, ".names").replaceChildren();
  if (isPreview) return void (find(spread, "p").textContent = ROW_LATER);
  const size = (/** @type {Cell} */ { code }) => (data.sides ? sizeOf(code) : code);
  const row = rowCells(data, cell), top = row.reduce((best, other) => (size(other) > size(best) ? other : best));
  const end = endOf(data, Math.max(Math.abs(top.weight), data.end ?? 0));
  const pen = penOf(canvas);
  pen.clearRect(0, 0, width, height);
  pen.fillStyle = data.head_colors[cell.head % data.head_colors.length];
  const edge = (/** @type {number} */ column) => (column * width) / data.columns;
  for (const other of row) {
    const left = Math.round(edge(other.column)), right = Math.max(left + 1, Math.round(edge(other.column + 1)));
    const share = end ? Math.abs(other.weight / end) : 0, both = Boolean(data.sides || data.signed);
    const room = both ? height / 2 - 1 : height - 2, zero = both ? height / 2 : height;
    const high = other.weight ? Math.max(1, Math.round(share * room)) : 0, begin = other.weight < 0 ? zero : zero - high;
    if (data.signs) pen.fillStyle = data.signs[other.weight < 0 ? 0 : 1];
    const gap = width / data.columns > 4 * ratio ? ratio : 0;
    pen.fillRect(left, begin, right - left - gap, high);
    if (other.column === cell.column) setArrow(canvas, (left + right - gap) / 2 / ratio, begin / ratio);
  }
  if (data.sides || data.signed) {
    pen.fillStyle = grid.neutrals.muted;
    pen.fillRect(0, Math.round(height / 2), width, Math.max(1, Math.round(ratio)));
  }
  const first = data.tile > 1 ? cell.row * data.tile : cell.query;
  setEnds(grid, { ...top, weight: end });
  setNames(grid, row, canvas.clientWidth);
  const weight = numberOf(data, top), seen = visibleCells(data, cell), even = isEven(seen);
  const ties = withNumberOf(data, top), keys = ties.map(({ key, keyCount }) => nameToken(data, key, keyCount, keyTokens(data)));
  const unsaid = numberOf(data, cell) === weight ? "" : weight;
  const isTold = !unsaid && grid.root.classList.contains("spoken");  // by the sentence above
  const all = ties.length === seen.length;
  find(spread, ".bars").classList.toggle("alike", even && seen.length > 1);
  const said = largest({ weight: unsaid, keys, tile: data.tile, all, even, sides: Boolean(data.sides) });
  const most = top.weight && (all || even || !isTold) ? said : "";
  const last = data.tile > 1 ? Math.min(first + data.tile, data.queries) - 1 : first;
  const query = nameToken(data, first, 1);
  const name = rowName({ first, last, query, tile: data.tile, pool: data.pool, sides: Boolean(data.sides) });
  find(spread, "p").textContent = `${name}${most}`;
}

/**
 * Returns the end of the scale of the bars: of shares of a row, the first of 10%, 25%, 50% and 100% that none exceeds, so that
 * rows can be compared; of tiles of a long sequence, whose weights may be tiny, also a tenth of these, and so on.
 * @param {Grid["data"]} data
 * @param {number} largest
 */
function endOf(data, largest) {
  if (data.signed || data.trained || data.rest === null || !largest) return largest;
  const power = data.tile > 1 ? Math.min(0, Math.ceil(Math.log10(largest))) : 0;
  return ENDS.map((end) => end * 10 ** power).find((end) => end >= largest) ?? 10 ** power;
}

/**
 * Writes the ends of the scale of the bars beside them; a training has no room.
 * @param {Grid} grid
 * @param {Cell} top
 */
function setEnds({ data, spread }, top) {
  const { dataset } = find(spread, ".bars"), shares = data.rest !== null;
  const size = Number((100 * top.weight).toPrecision(3));
  if (!top.weight || data.signed || data.trained || (data.sides && !shares)) delete dataset.most;
  else Object.assign(dataset, data.sides ? { most: `+${size}`, least: `−${size}` }
    : { most: shares ? `${size}%` : numberOf(data, top), least: "0" });
}

/**
 * Writes the words of the largest weights below their bars, as far as they have room beside each other.
 * @param {Grid} grid
 * @param {Cell[]} row
 * @param {number} width  of all bars, in pixels
 */
function setNames({ data, spread }, row, width) {
  const tokens = keyTokens(data);
  if (!tokens.length || data.tile > 1 || data.sides || data.signed || isEven(row.filter(({ code }) => code !== MASKED))) return;
  const high = row.filter(({ weight }) => weight >= NAMED).sort((a, b) => b.weight - a.weight).slice(0, MOST_NAMES);
  /** @type {[number, number][]} */
  const taken = [];
  for (const { column } of high) {
    const half = (LETTER * signs(tokens[column]).length) / 2, middle = ((column + 0.5) * width) / data.columns;
    const at = Math.max(half, Math.min(width - half, middle));
    if (taken.some(([from, to]) => at - half < to + SPACE && at + half > from - SPACE)) continue;
    taken.push([at - half, at + half]);
    const name = createElement("span", "", tokens[column]);
    name.style.left = `${at}px`;
    find(spread, ".names").append(name);
  }
}

/**
 * Places the arrow at `middle`, ending at the top of its bar, which is `top` pixels below the top of the canvas.
 * @param {HTMLCanvasElement} canvas
 * @param {number} middle
 * @param {number} top
 */
function setArrow(canvas, middle, top) {
  const { style } = /** @type {HTMLElement} */ (canvas.parentElement);
  style.setProperty("--bar-middle", `${canvas.offsetLeft + middle}px`);
  style.setProperty("--bar-top", `${canvas.offsetTop + top}px`);
}
