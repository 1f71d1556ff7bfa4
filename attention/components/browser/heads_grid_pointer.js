// The crosshair in every head, the frame of the pinned cell, and the cell under the pointer.

import { greatestCell, spans } from "./cells.js";
import { target } from "./elements.js";
import { setReadout, setSpread, setTable } from "./heads_grid_readout.js";

/** @typedef {import("./heads_grid_layout.js").Grid} Grid */

/** @param {Grid} grid */
export function show(grid) {
  const cell = grid.hover ?? grid.cursor, { plan, heads } = grid;
  const at = cell.shown ?? cell;
  const put = (/** @type {string} */ name, /** @type {number} */ value) => heads.style.setProperty(name, `${value}px`);
  put("--row-top", at.row * plan.cell.height);
  put("--row-size", plan.cell.height);
  put("--column-left", at.column * plan.cell.width);
  put("--column-size", plan.cell.width);
  heads.classList.toggle("crossed", Boolean(grid.hover || grid.keyed));
  setReadout(grid, at);
  setSpread(grid, at);
  setTable(grid, at);
}

/** @param {Grid} grid */
export function showPinned({ cursor, plan, heads, figures }) {
  const high = Math.max(plan.cell.height, 3);
  heads.style.setProperty("--pinned-top", `${Math.max(0, (cursor.row + 0.5) * plan.cell.height - high / 2)}px`);
  heads.style.setProperty("--pinned-size", `${high}px`);
  figures.forEach(({ element }, h) => element.classList.toggle("focus", h === cursor.head));
}

/**
 * Returns the largest cell under the device pixel of the pointer, null outside of the squares.
 * @param {Grid} grid
 * @param {MouseEvent} event
 */
export function cellUnderPointer({ data, plan }, event) {
  const square = target(event, ".square");
  if (!square) return null;
  const box = square.getBoundingClientRect();
  const x = Math.floor(((event.clientX - box.left) / box.width) * plan.broad);
  const y = Math.floor(((event.clientY - box.top) / box.height) * plan.high);
  if (x < 0 || y < 0 || x >= plan.broad || y >= plan.high) return null;
  const rows = under(data.rows, plan.high, y), columns = under(data.columns, plan.broad, x);
  return greatestCell(data, Number(square.dataset.head), rows, columns);
}

/**
 * Returns the range of cells under pixel `i` of `pixels`.
 * @param {number} cells
 * @param {number} pixels
 * @param {number} i
 * @returns {import("./cells.js").Range}
 */
function under(cells, pixels, i) {
  const { from, to } = spans(cells, pixels);
  return [from[i], to[i]];
}
