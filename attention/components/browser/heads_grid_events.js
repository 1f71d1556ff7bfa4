// Handles pointer and keyboard events of the grid, and reports pins.

import { cellAt, greatestCell } from "./cells.js";
import { find, scrollToNearest, target } from "./elements.js";
import { savePicture } from "./heads_grid_picture.js";
import { cellSentence } from "./heads_grid_readout.js";
import { atToken, cellUnderPointer, show, showPinned } from "./heads_grid_pointer.js";

/**
 * @typedef {import("./heads_grid_layout.js").Grid} Grid
 * @typedef {import("./heads_grid_layout.js").Spot} Spot
 */

const QUIET = 120;  // milliseconds without another key before a pin is reported

/** @type {Record<string, [number, number, number]>} */
const STEPS = {
  ArrowUp: [0, -1, 0], ArrowDown: [0, 1, 0], ArrowLeft: [0, 0, -1], ArrowRight: [0, 0, 1],
  "[": [-1, 0, 0], "]": [1, 0, 0], PageUp: [-1, 0, 0], PageDown: [1, 0, 0],
  Home: [0, 0, -Infinity], End: [0, 0, Infinity], Enter: [0, 0, 0], " ": [0, 0, 0],
};

/** @param {Grid} grid */
export function listen(grid) {
  const { heads, root } = grid;
  let frame = 0;
  heads.addEventListener("pointermove", (event) => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      grid.pointer = event;
      grid.hover = cellUnderPointer(grid, event);
      show(grid);
    });
  });
  heads.addEventListener("pointerleave", () => {
    cancelAnimationFrame(frame);
    grid.pointer = grid.hover = null;
    show(grid);
  });
  heads.addEventListener("click", (event) => {
    const cell = cellUnderPointer(grid, event), { cursor, data } = grid, named = cell ? -1 : headOfCaption(event);
    if (!cell && named < 0) return;
    const head = (cell?.head ?? named) % data.heads;
    if (cell && head === cursor.head) {
      return pin(grid, cell.head === head ? cell : cellAt(data, head, cell.row, cell.column), false);
    }
    cancelAnimationFrame(frame);  // a small square chooses its head alone: the query stays, and no cell is under the pointer
    grid.pointer = grid.hover = null;
    pin(grid, atToken(data, head, cursor.query, null), false);
    if (!grid.plan.wide) scrollToNearest(grid.spread);  // the bars and the large head are above the squares
  });
  find(root, ".tokens").addEventListener("click", (event) => {
    const row = Number(target(event, "[data-row]")?.dataset.row ?? -1), { cursor, data } = grid;
    if (row >= 0) pin(grid, greatestCell(data, cursor.head, [row, row + 1], [0, data.columns]), false);
  });
  heads.addEventListener("keydown", (event) => onKey(grid, event));
  for (const kind of ["focus", "blur"]) {
    heads.addEventListener(kind, () => {
      grid.keyed = kind === "focus" && heads.matches(":focus-visible");
      show(grid);
    });
  }
  grid.details.addEventListener("toggle", () => show(grid));
  find(root, ".percent").addEventListener("click", () => grid.ways.onPercent?.());
  find(root, ".png").addEventListener("click", () => savePicture(grid));
}

/**
 * Returns the head of the small square whose caption was clicked, -1 if it was none.
 * @param {MouseEvent} event
 */
function headOfCaption(event) {
  const square = target(event, ".squares figcaption")?.parentElement?.querySelector(".square");
  return square instanceof HTMLElement ? Number(square.dataset.head) : -1;
}

/**
 * @param {Grid} grid
 * @param {KeyboardEvent} event
 */
function onKey(grid, event) {
  const step = STEPS[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey || !(step || event.key === "Escape")) return;
  event.preventDefault();
  event.stopPropagation();  // the page has keys of its own
  Object.assign(grid, { keyed: true, pointer: null, hover: null });
  if (!step) return pin(grid, grid.home, true);
  pin(grid, moveCursor(grid.data, grid.cursor, step), event.key !== "Enter" && event.key !== " ");
}

/**
 * Returns the cell that a step leads to; in another row of several tokens, the position is that of its largest weight.
 * @param {import("./heads_grid_layout.js").GridData} data
 * @param {Spot} cell
 * @param {[number, number, number]} step
 * @returns {Spot}
 */
function moveCursor(data, cell, [heads, rows, columns]) {
  if (!heads && !rows && !columns) return cell;
  const within = (/** @type {number} */ at, /** @type {number} */ n) => Math.max(0, Math.min(n - 1, at));
  const [row, column] = [within(cell.row + rows, data.rows), within(cell.column + columns, data.columns)];
  const head = within(cell.head + heads, data.heads);
  return row === cell.row ? atToken(data, head, cell.query, column * data.tile) : cellAt(data, head, row, column);
}

/**
 * Moves the cursor and reports the pin: immediately, or (`wait`) after a pause in key presses if head or query changed.
 * @param {Grid} grid
 * @param {Spot} cell
 * @param {boolean} wait
 */
function pin(grid, cell, wait) {
  const { cursor } = grid;
  grid.cursor = cell;
  grid.followed = false;
  if (!wait) grid.home = cell;
  clearTimeout(grid.timer);
  grid.timer = 0;
  if (!wait || grid.pending || cell.head !== cursor.head || cell.query !== cursor.query) {
    grid.pending = true;
    grid.timer = setTimeout(() => tell(grid), wait ? QUIET : 0);
  }
  showPinned(grid);
  show(grid);
  find(grid.root, ".live").textContent = cellSentence(grid.data, cell.shown ?? cell);
}

/** @param {Grid} grid */
function tell(grid) {
  const { head, query, key } = grid.cursor;
  grid.timer = 0;
  grid.pending = false;
  if (!grid.root.isConnected) return;  // the page was left
  if (grid.ways.echoes === false) grid.told = { head, query };
  else grid.sent = [...grid.sent, `${head} ${query}`].slice(-16);
  grid.ways.onPin?.({ head, query, key, count: ++grid.count });
}
