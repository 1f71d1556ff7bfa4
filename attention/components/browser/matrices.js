// Matrices of a pass side by side, below a diagram of the pass: `draw` adds them to an element of any page, given a
// message of `attention.components.matrices.message`. It reports the selected step and pins.

import { alive, find, createRoot } from "./elements.js";
import { listen } from "./matrices_events.js";
import { cellAt, unpackMatrices } from "./matrices_cells.js";
import { visibleKeys } from "./matrices_highlight.js";
import { laidOut } from "./matrices_layout.js";
import { followDiagram, drawDiagram } from "./matrices_pass.js";
import { axesOf } from "./matrices_readout.js";
import { headOf, show } from "./matrices_picture.js";
import { onStepDrawn, followButtons, stop } from "./matrices_transport.js";
import { MARKUP } from "./matrices_words.js";
import { applyTheme } from "./theme.js";

/**
 * @typedef {import("./matrices_layout.js").Lab} Lab
 * @typedef {import("./matrices_cells.js").Data} Data
 */

/**
 * @typedef {object} Ways
 * @property {(to: { step: string, steps?: string }) => void} [onTurn]
 * @property {(to: { query?: number, head?: number }) => void} [onPin]
 */

/**
 * Draws the matrices at the end of an element.
 * @param {Element} element
 * @param {Uint8Array} bytes
 * @param {Ways} [ways]
 */
export function draw(element, bytes, ways = {}) {
  const lab = createMatrices(createRoot(element, "matrices", MARKUP), unpackMatrices(bytes), ways);
  for (const follow of [listen, followDiagram, followButtons]) follow(lab);
  onMessage(lab, true);
  return alive(lab, () => drawAll(lab), (next) => update(lab, unpackMatrices(next)), () => stop(lab));
}

/**
 * @param {HTMLElement} root
 * @param {Data} data
 * @param {Ways} ways
 * @returns {Lab}
 */
function createMatrices(root, data, ways) {
  const start = startCell(data), neutrals = applyTheme(root, data.neutrals, { accent: data.accent });
  const panels = find(root, ".panels"), figures = new Map();
  const pointed = { hover: null, cursor: start, home: start };
  return { root, data, ways, panels, figures, neutrals, width: 0, ...pointed, asked: null, playing: 0 };
}

/**
 * @param {Lab} lab
 * @param {Data} data
 */
function update(lab, data) {
  const before = lab.data, { head, query } = before.focus;
  const names = (/** @type {Data} */ of) => [...of.found.keys()].join();
  lab.data = data;
  if (lab.asked?.step === data.step) lab.asked = null;
  lab.hover = null;
  const moved = head !== data.focus.head || query !== data.focus.query || names(before) !== names(data);
  if (moved || !keeps(lab)) lab.cursor = lab.home = startCell(data);
  else lab.cursor = again(lab);
  lab.neutrals = applyTheme(lab.root, data.neutrals, { accent: data.accent });
  onMessage(lab, before.step !== data.step);
}

/**
 * @param {Lab} lab
 * @param {boolean} other  whether it is another step than before
 */
function onMessage(lab, other) {
  drawDiagram(lab);
  onStepDrawn(lab, other);
  drawAll(lab);
}

/** @param {Lab} lab */
function drawAll(lab) {
  lab.width = lab.root.clientWidth;
  if (!lab.width) return;
  laidOut(lab);
  show(lab);
  lab.root.dataset.painted = lab.data.painted;
}

/** @param {Lab} lab */
function keeps({ data, cursor }) {
  const matrix = data.found.get(cursor.name);
  if (!matrix || cursor.row >= matrix.rows || cursor.column >= matrix.columns) return false;
  return cursor.head >= matrix.first && cursor.head < matrix.first + matrix.sent;
}

/**
 * Returns the cell at the position of the cursor in the current data.
 * @param {Lab} lab
 */
function again({ data, cursor }) {
  const { name, row, column, head } = cursor, matrix = data.found.get(name);
  if (!matrix) return startCell(data);
  return cellAt(matrix, head, Math.floor(row / matrix.tiles[0]), Math.floor(column / matrix.tiles[1]));
}

/**
 * Returns the cell that is shown unless the user chooses one, in the current step, or in the weights if all steps are shown:
 * of the selected head and query, the first visible key and channel 0, so that each step goes on from those before.
 * @param {Data} data
 */
function startCell(data) {
  const matrix = data.found.get(data.step ?? "weights") ?? data.matrices[data.matrices.length - 1];
  const { head, query } = data.focus, key = visibleKeys(data, query)[0] ?? 0, sides = [matrix.rows, matrix.columns];
  const [row, column] = axesOf(matrix).slice(-2).map((axis, side) => {
    if (!axis.startsWith("(")) return axis === "q" ? query : axis === "k" ? key : 0;
    const each = axis.startsWith("(g") ? data.repeats : 1;  // heads side by side, of keys and values one per group
    return (Math.floor(head / each) * sides[side] * each) / data.heads;
  });
  const [p, r] = [row / matrix.tiles[0], column / matrix.tiles[1]].map(Math.floor);
  return cellAt(matrix, headOf(data, matrix, head), p, r);
}
