// Handles pointer and keyboard events of the matrices, and reports the selected step and pins.

import { find } from "./elements.js";
import { cellAt } from "./matrices_cells.js";
import { axesOf } from "./matrices_readout.js";
import { cellUnderPointer, show } from "./matrices_picture.js";
import { turnBy } from "./matrices_transport.js";

/**
 * @typedef {import("./matrices_layout.js").Lab} Lab
 * @typedef {import("./matrices_cells.js").Cell} Cell
 */

/** @type {Record<string, [number, number, number]>} */
const MOVES = {
  ArrowUp: [0, -1, 0], ArrowDown: [0, 1, 0], ArrowLeft: [0, 0, -1], ArrowRight: [0, 0, 1],
  "[": [-1, 0, 0], "]": [1, 0, 0], Home: [0, 0, -Infinity], End: [0, 0, Infinity],
};
/** @type {Record<string, number>} */
const TURNS = { PageUp: -1, PageDown: 1 };

/** @param {Lab} lab */
export function listen(lab) {
  const { panels } = lab;
  let frame = 0;
  const later = (/** @type {() => void} */ act) => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(act);
  };
  panels.addEventListener("pointermove", (event) => later(() => {
    lab.hover = cellUnderPointer(lab, event);
    show(lab);
  }));
  panels.addEventListener("pointerleave", () => later(() => {
    lab.hover = null;
    show(lab);
  }));
  panels.addEventListener("click", (event) => {
    const cell = cellUnderPointer(lab, event);
    if (cell) pin(lab, cell);
  });
  panels.addEventListener("keydown", (event) => onKey(lab, event));
  for (const kind of ["focus", "blur"]) panels.addEventListener(kind, () => show(lab));
}

/**
 * @param {Lab} lab
 * @param {KeyboardEvent} event
 */
function onKey(lab, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target !== lab.panels) return;
  const { key } = event;
  if (MOVES[key]) lab.cursor = moveCursor(lab, MOVES[key]);
  else if (TURNS[key] && lab.data.step !== null) turnBy(lab, TURNS[key]);
  else if (key === "Enter" || key === " ") pin(lab, lab.cursor);
  else if (key === "Escape") lab.cursor = lab.home;
  else return;
  event.preventDefault();
  event.stopPropagation();  // the page has keys of its own
  lab.hover = null;
  show(lab);
  speak(lab);
}

/**
 * Returns the drawn cell that a step leads to.
 * @param {Lab} lab
 * @param {[number, number, number]} step
 */
function moveCursor({ data, cursor }, [heads, rows, columns]) {
  const matrix = data.found.get(cursor.name);
  if (!matrix) return cursor;
  const within = (/** @type {number} */ at, /** @type {number} */ low, /** @type {number} */ count) =>
    Math.max(low, Math.min(low + count - 1, at));
  const [p, r] = [within(cursor.p + rows, 0, matrix.high), within(cursor.r + columns, 0, matrix.broad)];
  return cellAt(matrix, within(cursor.head + heads, matrix.first, matrix.sent), p, r);
}

/**
 * Moves the cursor, and reports the head and the query of the pin if they changed.
 * @param {Lab} lab
 * @param {Cell} cell
 */
function pin(lab, cell) {
  lab.cursor = lab.home = cell;
  lab.hover = null;
  show(lab);
  speak(lab);
  const { data } = lab, matrix = data.found.get(cell.name);
  if (!matrix) return;
  /** @type {{ query?: number, head?: number }} */
  const to = {};
  const [rows] = axesOf(matrix).slice(-2), own = matrix.heads === data.heads && matrix.heads > 1;
  if (rows === "q" && cell.row !== data.focus.query) to.query = data.focus.query = cell.row;
  if (own && cell.head !== data.focus.head) to.head = data.focus.head = cell.head;
  if (Object.keys(to).length) lab.ways.onPin?.(to);
}

/** @param {Lab} lab */
function speak({ root }) {
  const text = (/** @type {string} */ name) => find(root, name).textContent;
  find(root, ".live").textContent = `${text(".cell")}. ${text(".arithmetic")} ${text(".from")}`;
}
