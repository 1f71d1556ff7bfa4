// Highlights the cells that the current cell was computed from, by a veil over all others, and describes the cell.

import { createElement, find, penOf, target } from "./elements.js";
import { greatestIn, paint, under } from "./matrices_cells.js";
import { scaleEnds, stopsOf } from "./matrices_layout.js";
import { litBy, matricesAfter, rowsOf, runs } from "./matrices_highlight.js";
import { arithmetic, figure as valueOf, isCompared, locateCell, origins, rowOf } from "./matrices_readout.js";
import { writeNumbers } from "./matrices_tokens.js";
import {
  cellText, changeOf, columnsText, DIFFERENCE, headText, inB, ONLY_B, POOLED, productsText, usedText,
} from "./matrices_words.js";

/**
 * @typedef {import("./matrices_layout.js").Lab} Lab
 * @typedef {import("./matrices_layout.js").Figure} Figure
 * @typedef {import("./matrices_cells.js").Data} Data
 * @typedef {import("./matrices_cells.js").Matrix} Matrix
 * @typedef {import("./matrices_cells.js").Cell} Cell
 * @typedef {import("./matrices_cells.js").Range} Range
 * @typedef {import("./matrices_highlight.js").Box} Box
 */

const OUTLINED = 64;

/**
 * Returns the head of a matrix that corresponds to a query head, clamped to the heads that were sent.
 * @param {Data} data
 * @param {Matrix} matrix
 * @param {number} head
 */
export function headOf(data, matrix, head) {
  const own = matrix.heads === 1 ? 0 : Math.floor((head * matrix.heads) / data.heads);
  return Math.max(matrix.first, Math.min(matrix.first + matrix.sent - 1, own));
}

/** @param {Lab} lab */
export function show(lab) {
  const { data, root } = lab, cell = lab.hover ?? lab.cursor, matrix = data.found.get(cell.name);
  if (!matrix) return;
  const after = matricesAfter(data, cell.name), boxes = after.length ? rowsOf([matrix, ...after], cell.row) : litBy(data, cell);
  for (const each of data.matrices) showOne(lab, each, cell, boxes.get(each.name) ?? []);
  const say = (/** @type {string} */ name, /** @type {string} */ text) => (find(root, name).textContent = text);
  const place = locateCell(data, matrix, cell);
  const name = matrix.sides ? changeOf(matrix.name) : matrix.name;
  say(".cell", cellText({ matrix: name, value: valueOf(matrix, cell), pooled: cell.of, place }));
  const products = { full: productsText(after), short: productsText(after), most: "" };
  writeArithmetic(find(root, ".arithmetic"), after.length ? products : arithmetic(data, matrix, cell, boxes));
  const names = after.map(({ name }) => name);
  const from = names.length ? usedText({ row: rowOf(data, matrix, cell), names }) : origins(data, matrix, boxes);
  say(".from", isCompared(data) ? inB(from) : from);
  const lit = [...boxes].map(([name, all]) => [name, all.map(({ heads, rows, columns }) => [heads, rows, columns])]);
  root.dataset.cell = JSON.stringify([cell.name, cell.head, cell.row, cell.column]);
  root.dataset.lit = JSON.stringify(lit);
}

/**
 * Writes the arithmetic of a cell, its largest product in bold; the indices of its numbers are its tooltip.
 * @param {HTMLElement} line
 * @param {import("./matrices_readout.js").Arithmetic} of
 */
function writeArithmetic(line, { full, short, most }) {
  const at = most ? short.indexOf(most) : -1;
  if (at < 0) line.textContent = short;
  else line.replaceChildren(short.slice(0, at), createElement("b", "", most), short.slice(at + most.length));
  line.title = full === short ? "" : full;
}

/**
 * Shows the head of a matrix in which cells are highlighted, or that of the cell, with a veil over all other cells.
 * @param {Lab} lab
 * @param {Matrix} matrix
 * @param {Cell} cell
 * @param {Box[]} boxes
 */
function showOne(lab, matrix, cell, boxes) {
  const { data } = lab, figure = lab.figures.get(matrix.name), here = matrix.name === cell.name;
  if (!figure) return;
  const heads = [...new Set(boxes.flatMap((box) => box.heads))], head = shownHead(data, matrix, cell, heads);
  if (figure.painted !== head) {
    paint(figure.values, matrix, head, stopsOf(lab, matrix), data.stripe);
    writeNumbers(matrix, figure, head, stopsOf(lab, matrix));
    scaleEnds(matrix, figure, head);
    figure.painted = head;
  }
  const own = { heads: [head], rows: [cell.row], columns: [cell.column] };
  const lit = here && !boxes.length ? [own] : boxes.filter((box) => box.heads.includes(head));
  veil(lab, figure, matrix, lit);
  const shared = matrix.axes.includes(" g ") && data.repeats > 1, count = matrix.heads;
  const several = count > 1 ? headText({ head, count, shared, lit: heads, here: lit.length > 0 }) : "";
  const split = count > 1 && matrix.sources[0]?.rule === "split" && lab.data.step !== null;
  const { rows, columns } = matrix;
  if (split) figure.axes.textContent = columnsText({ of: matrix.sources[0].name, first: head * columns, sides: [rows, columns] });
  const side = isCompared(data) ? (matrix.sides ? DIFFERENCE : ONLY_B) : "";
  figure.head.textContent = [side, several, figure.tile ? POOLED : ""].filter(Boolean).join(", ");
}

/**
 * @param {Data} data
 * @param {Matrix} matrix
 * @param {Cell} cell
 * @param {number[]} lit  heads with highlighted cells
 */
function shownHead(data, matrix, cell, lit) {
  const there = (/** @type {number} */ head) => head >= matrix.first && head < matrix.first + matrix.sent;
  const asked = data.found.get(cell.name)?.heads === data.heads ? cell.head : data.focus.head;
  const head = matrix.name === cell.name ? cell.head : headOf(data, matrix, asked);
  return lit.length && !lit.includes(head) ? (lit.find(there) ?? head) : head;
}

/**
 * Frames the highlighted cells; while the pointer or the keyboard is used, the other cells are also covered by a veil.
 * @param {Lab} lab
 * @param {Figure} figure
 * @param {Matrix} matrix
 * @param {Box[]} boxes
 */
function veil({ neutrals, data, hover, panels }, figure, matrix, boxes) {
  const pen = penOf(figure.lit), { width, height } = figure.lit, ratio = window.devicePixelRatio || 1;
  pen.clearRect(0, 0, width, height);
  if (hover || panels.matches(":focus-visible")) {
    pen.globalAlpha = 0.55;
    pen.fillStyle = neutrals.background;
    pen.fillRect(0, 0, width, height);
    pen.globalAlpha = 1;
  }
  const drawn = boxes.flatMap((box) => runs(box.rows).flatMap((down) => runs(box.columns).map((across) => [
    cellExtent(across, matrix.columns, width, ratio), cellExtent(down, matrix.rows, height, ratio),
  ])));
  for (const [[x, w], [y, h]] of drawn) pen.clearRect(x, y, w, h);
  pen.strokeStyle = data.accent;
  pen.lineWidth = 1.5 * ratio;
  if (drawn.length > OUTLINED) return;
  for (const [[x, w], [y, h]] of drawn) {
    const [left, right] = around(x, w, width, pen.lineWidth / 2);
    const [top, bottom] = around(y, h, height, pen.lineWidth / 2);
    pen.strokeRect(left, top, right - left, bottom - top);
  }
}

/**
 * Returns the first pixel of a run of cells and its number of pixels, at least `least`.
 * @param {Range} run
 * @param {number} count
 * @param {number} pixels
 * @param {number} least
 * @returns {[number, number]}
 */
function cellExtent([from, to], count, pixels, least) {
  const start = Math.floor((from / count) * pixels), size = Math.max(least, Math.ceil((to / count) * pixels) - start);
  return [Math.min(start, pixels - size), size];
}

/**
 * Returns the ends of a frame around some pixels, clamped to the picture.
 * @param {number} start
 * @param {number} size
 * @param {number} pixels
 * @param {number} half
 */
function around(start, size, pixels, half) {
  return [Math.max(half, start - half), Math.min(pixels - half, start + size + half)];
}

/**
 * Returns the cell of the largest magnitude under the device pixel of the pointer, null outside of the pictures.
 * @param {Lab} lab
 * @param {MouseEvent} event
 */
export function cellUnderPointer({ data, figures }, event) {
  const picture = target(event, ".picture"), name = picture?.closest("figure")?.dataset.name ?? "";
  const figure = figures.get(name), matrix = data.found.get(name);
  if (!picture || !figure || !matrix) return null;
  const { width, height } = figure.values, box = picture.getBoundingClientRect();
  const x = Math.floor(((event.clientX - box.left) / box.width) * width);
  const y = Math.floor(((event.clientY - box.top) / box.height) * height);
  if (x < 0 || y < 0 || x >= width || y >= height) return null;
  const rows = under(matrix.high, height, y), columns = under(matrix.broad, width, x);
  return greatestIn(matrix, figure.painted ?? matrix.first, rows, columns);
}
