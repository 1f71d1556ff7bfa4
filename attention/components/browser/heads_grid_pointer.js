// The crosshair in every head, the frame of the pinned cell, and the cell under the pointer.

import { cellAt, greatestCell } from "./cells.js";
import { target } from "./elements.js";
import { cellRanges } from "./pixels.js";
import { paintHead, setCaption } from "./heads_grid_square.js";
import { setSpread } from "./heads_grid_bars.js";
import { setReadout, setTable } from "./heads_grid_readout.js";
import { labelSelected } from "./heads_grid_large.js";
import { setTokens, showTrained } from "./heads_grid_trained.js";

/** @typedef {import("./heads_grid_layout.js").Grid} Grid */

/** @param {Grid} grid */
export function show(grid) {
  const spot = grid.hover ?? grid.cursor, { heads } = grid, at = spot.shown ?? spot;
  for (const [part, cell] of sizes(grid)) {
    part.style.setProperty("--row-top", `${at.row * cell.height}px`);
    part.style.setProperty("--row-size", `${cell.height}px`);
    part.style.setProperty("--column-left", `${at.column * cell.width}px`);
    part.style.setProperty("--column-size", `${cell.width}px`);
  }
  heads.classList.toggle("crossed", Boolean(grid.hover || grid.keyed));
  setReadout(grid, at);
  setSpread(grid, at);
  setTable(grid, at);
  if (grid.data.trained) setTokens(grid, at);
  else labelSelected(grid.large.square, grid.data, grid.plan.large, { ...at, query: spot.query });
}

/**
 * Marks the selected head and its pinned row, and paints that head large.
 * @param {Grid} grid
 */
export function showPinned(grid) {
  const { cursor, data, plan, figures, large } = grid;
  for (const [part, cell] of sizes(grid)) {
    const high = Math.max(cell.height, 3);
    part.style.setProperty("--pinned-top", `${Math.max(0, (cursor.row + 0.5) * cell.height - high / 2)}px`);
    part.style.setProperty("--pinned-size", `${high}px`);
  }
  figures.forEach(({ element }, h) => element.classList.toggle("focus", h === cursor.head));
  paintHead(large, data, cursor.head);
  if (data.trained) showTrained(grid);
  else setCaption(large, data, cursor.head, plan.large);
}

/**
 * Returns the elements whose crosshair is shown, each with the size of its cells.
 * @param {Grid} grid
 * @returns {[HTMLElement, { height: number, width: number }][]}
 */
function sizes({ heads, squares, plan }) {
  return [[heads, plan.large.cell], [squares, plan.cell]];
}

/**
 * Returns the largest cell under the device pixel of the pointer, null outside of the squares.
 * @param {Grid} grid
 * @param {MouseEvent} event
 */
export function cellUnderPointer({ data, cursor, ...grid }, event) {
  const square = target(event, ".square, .large");
  if (!square) return null;
  const whole = square.classList.contains("large"), plan = whole ? grid.plan.large : grid.plan;
  const first = "before" in square.dataset ? data.heads : 0;  // where the heads before training begin
  const box = square.getBoundingClientRect();
  const x = Math.floor(((event.clientX - box.left) / box.width) * plan.pixelWidth);
  const y = Math.floor(((event.clientY - box.top) / box.height) * plan.pixelHeight);
  if (x < 0 || y < 0 || x >= plan.pixelWidth || y >= plan.pixelHeight) return null;
  const rows = under(data.rows, plan.pixelHeight, y), columns = under(data.columns, plan.pixelWidth, x);
  return greatestCell(data, whole ? first + cursor.head : Number(square.dataset.head), rows, columns);
}

/**
 * Returns the range of cells under pixel `i` of `pixels`.
 * @param {number} cells
 * @param {number} pixels
 * @param {number} i
 * @returns {import("./cells.js").Range}
 */
function under(cells, pixels, i) {
  const { from, to } = cellRanges(cells, pixels);
  return [from[i], to[i]];
}

/**
 * Returns the cell that contains a query and a key, or the largest of the row if no key is given. In a cell of several
 * tokens, `query` stays the one that was given, and `shown` has the position of the largest weight.
 * @param {import("./heads_grid_layout.js").GridData} data
 * @param {number} head
 * @param {number} query
 * @param {number | null} key
 * @returns {import("./heads_grid_layout.js").Spot}
 */
export function atToken(data, head, query, key) {
  const row = Math.floor(query / data.tile);
  if (key === null) key = greatestCell(data, head, [row, row + 1], [0, data.columns]).key;
  const cell = cellAt(data, head, row, Math.floor(key / data.tile));
  return data.tile > 1 ? { ...cell, query, shown: cell } : cell;
}
