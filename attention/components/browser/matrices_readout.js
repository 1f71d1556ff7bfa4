// Describes a cell: its position, its value, its arithmetic, and the number of cells that it was computed from.

import { exact } from "./matrices_cells.js";
import {
  about, ABOUT, columnText, HIDDEN, locationText, logitText, MASKED, maskedWeight, originsText, othersText, placeText, ROW_SUM,
  rowSum, sidesText, UNROUNDED, VISIBLE,
} from "./matrices_words.js";

/**
 * @typedef {import("./matrices_cells.js").Data} Data
 * @typedef {import("./matrices_cells.js").Matrix} Matrix
 * @typedef {import("./matrices_cells.js").Cell} Cell
 * @typedef {import("./matrices_highlight.js").Lit} Lit
 * @typedef {{ head: number, row: number, column: number }} Place
 */

const TERMS = 4, PRODUCTS = 8, INDEX = /\[[^\]]*\]/g;

/**
 * The arithmetic of a cell with the index of every number, the same without, and the largest product of its sum, "" for none.
 * @typedef {{ full: string, short: string, most: string }} Arithmetic
 */

const PLAIN = { name: "", scale: /** @type {const} */ ("signed") };

/**
 * Formats a value with three significant digits; “about” precedes values of fewer digits (subnormal 16-bit floats).
 * @param {Pick<Matrix, "name" | "scale">} matrix
 * @param {{ value: number, code: number }} cell
 */
export function figure(matrix, cell) {
  const { value, code } = cell;
  if (matrix.scale === "difference") return change(value, code);
  if (matrix.scale === "mask") return value ? VISIBLE : HIDDEN;
  if (value === -Infinity) return matrix.name === "weights" || matrix.scale === "weights" ? HIDDEN : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value), whole = size >= 1000 && size < 1e5;  // toPrecision would write a power of ten
  const text = whole ? Number(value.toPrecision(3)).toString() : value.toPrecision(3);
  const figures = text.replace("-", "−").replace("e+", "e");
  return (code & 0x7fff) < 0x400 ? about(figures) : figures;
}

/**
 * Formats a difference, with its sign.
 * @param {number} value
 * @param {number} code
 * @returns {string}
 */
function change(value, code) {
  if (Number.isNaN(value)) return MASKED;
  if (!Number.isFinite(value)) return value > 0 ? "+∞" : "−∞";
  return `${value > 0 ? "+" : ""}${figure(PLAIN, { value, code })}`;
}

/**
 * Whether matrices are compared: at least one of them is B minus A.
 * @param {Data} data
 */
export function isCompared({ matrices }) {
  return matrices.some(({ sides }) => sides);
}

/**
 * Returns the numbers of both sides of a cell in words.
 * @param {Matrix} matrix
 * @param {Cell} cell
 */
function bothSides(matrix, { sides }) {
  const own = { ...matrix, scale: matrix.of ?? "signed" };
  const [a, b] = sides.map((side) => (side.value === -Infinity && own.scale !== "signed" ? HIDDEN : figure(own, side)));
  return sidesText({ a, b });
}

/**
 * Describes a row or column: `query “boat” (4)`, `channel 7`; columns of heads side by side include the head.
 * @param {Data} data
 * @param {string} axis
 * @param {number} at
 * @param {string} [of]  what its places are, if not those of the axis
 */
function placeInWords(data, axis, at, of) {
  const letter = axis.replace(/[()]/g, "");
  if (letter.includes(" ")) return columnText({ column: at, width: data.lengths[letter[2]] });
  return placeText({ axis: of || letter, at, token: data.tokens[letter]?.[at] });
}

/**
 * @param {Matrix} matrix
 * @returns {string[]}
 */
export function axesOf(matrix) {
  return matrix.axes.match(/\(.*?\)|\w/g) ?? [];
}

/**
 * Returns the axes of the rows and the columns; rows of whole token vectors are tokens (“t”), not yet or no longer queries,
 * and so are those of values, which are not keys.
 * @param {Matrix} matrix
 */
export function sideLetters(matrix) {
  const [rows, columns] = axesOf(matrix).slice(-2);
  const token = columns === "c" && "qk".includes(rows) || rows === "k" && matrix.name.toLowerCase() === "v";
  return [token ? "t" : rows, columns];
}

/**
 * @param {Data} data
 * @param {Matrix} matrix
 * @param {Cell} cell
 */
export function rowOf(data, matrix, cell) {
  return placeInWords(data, axesOf(matrix).slice(-2)[0], cell.row, sideLetters(matrix)[0]);
}

/**
 * @param {Data} data
 * @param {Matrix} matrix
 * @param {Cell} cell
 */
export function locateCell(data, matrix, cell) {
  const axes = axesOf(matrix), columns = axes[axes.length - 1], shared = axes.includes("g") && data.repeats > 1;
  const several = matrix.heads > 1 || axes.includes("h") || axes.includes("g");
  const row = rowOf(data, matrix, cell);
  const column = placeInWords(data, columns, cell.column);
  return locationText({ head: several ? cell.head : null, shared, row, column });
}

/**
 * @param {Matrix} matrix
 * @param {Place} place
 */
function index(matrix, { head, row, column }) {
  const byHead = axesOf(matrix).some((axis) => axis === "h" || axis === "g");
  return byHead ? `${head}, ${row}, ${column}` : `${row}, ${column}`;
}

/**
 * Returns the arithmetic of a cell: the template of its step, filled with numbers, or “…” for those that are not drawn; of
 * a difference, the numbers of both sides; "" if the step has no sources. A sum of a few products is written out, of many the
 * largest and the sum of the others, with ≈ before the result if what is printed sums to another number.
 * @param {Data} data
 * @param {Matrix} matrix
 * @param {Cell} cell
 * @param {Lit} boxes
 * @returns {Arithmetic}
 */
export function arithmetic(data, matrix, cell, boxes) {
  const text = filled(data, matrix, cell, boxes), result = ` = ${figure(matrix, cell)}`;
  const drawn = matrix.sources.map(({ name }) => data.found.get(name)), plain = matrix.sides || isCompared(data);
  const products = plain || !text.endsWith(result) ? [] : largest(terms(matrix, boxes, drawn));
  const sum = products.map(({ text }) => text).join(" + ").replace(/\+ −/g, "− ");
  const told = products.reduce((all, { told }) => all + told, 0);
  const same = figure(matrix, { value: told, code: cell.code }) === figure(matrix, cell);
  const end = same ? result : result.replace("=", ABOUT) + UNROUNDED;
  const full = sum ? `${text.slice(0, -result.length)} = ${sum}${end}` : text;
  const none = { text: "", value: 0 };
  const most = products.reduce((best, each) => (Math.abs(each.value) > Math.abs(best.value) ? each : best), none);
  const short = full.replace(INDEX, "");
  return { full, short, most: most.text.replace(/^−/, "") };
}

/**
 * @param {Data} data
 * @param {Matrix} matrix
 * @param {Cell} cell
 * @param {Lit} boxes
 */
function filled(data, matrix, cell, boxes) {
  if (matrix.sides) return bothSides(matrix, cell);
  if (!matrix.sources.length || isCompared(data)) return "";  // the sources that are drawn may be differences
  const drawn = matrix.sources.map(({ name }) => data.found.get(name));
  if (matrix.name === "logits") return logit(matrix, cell, drawn[0]);
  const here = index(matrix, cell), hidden = matrix.name === "weights" && cell.value === -Infinity;
  if (hidden) return maskedWeight({ at: here, signed: matrix.scale === "signed" });
  const group = Math.floor(cell.head / data.repeats);
  /** @type {Record<string, string | number>} */
  const given = { name: matrix.name, at: here, value: figure(matrix, cell), sum: ROW_SUM, is: "=" };
  Object.assign(given, { h: cell.head, g: group, i: cell.row, j: cell.column });
  drawn.forEach((source, i) => {
    const [box] = boxes.get(matrix.sources[i].name) ?? [];
    const single = box && [box.heads, box.rows, box.columns].every((list) => list.length === 1);
    const place = single ? { head: box.heads[0], row: box.rows[0], column: box.columns[0] } : cell;
    if (!source) return;
    if (single) given[`at${i}`] = index(source, place);
    const reaches = place.row < source.rows && place.column < source.columns;
    const there = reaches && exact(source, place.head, place.row, place.column);
    if (there) given[`v${i}`] = figure(source, there);
    if (i === 0 && matrix.says.includes("{sum}")) Object.assign(given, shareOf(matrix, source, cell));
  });
  return matrix.says.replace(/{(\w+)}/g, (_, key) => `${given[key] ?? "…"}`);
}

/**
 * @param {Matrix} matrix
 * @param {Cell} cell
 * @param {Matrix | undefined} source
 */
function logit(matrix, cell, source) {
  const masked = cell.value === -Infinity, before = exact(source, cell.head, cell.row, cell.column);
  const score = source && before ? `${source.name}: ${figure(source, before)}` : "";
  return logitText({ at: index(matrix, cell), score, value: figure(matrix, cell), masked });
}

/**
 * Returns the sum of the exponentials of a row of logits: its terms if they are few, otherwise its value, or words where
 * some are not drawn or too large; and how the weight follows, with ≈ if it is another number than that of what is printed.
 * @param {Matrix} matrix
 * @param {Matrix} source
 * @param {Cell} cell
 */
function shareOf(matrix, source, { head, row, column, value, code }) {
  const cells = Array.from({ length: source.columns }, (_, at) => exact(source, head, row, at));
  const seen = cells.flatMap((each) => (each && each.value > -Infinity ? [each] : []));
  const sum = seen.reduce((all, each) => all + Math.exp(each.value), 0);
  const own = seen.find((each) => each.column === column);
  if (cells.includes(null) || !own || !Number.isFinite(sum)) return {};
  const few = seen.length <= TERMS, whole = figure(PLAIN, { value: sum, code: 0x400 });
  const printed = (/** @type {Cell} */ each) => Math.exp(toNumber(figure(source, each)));
  const told = few ? seen.reduce((all, each) => all + printed(each), 0) : toNumber(whole);
  const same = figure(matrix, { value: printed(own) / told, code }) === figure(matrix, { value, code });
  const text = few ? seen.map((each) => `exp(${figure(source, each)})`).join(" + ") : rowSum({ sum: whole });
  return { sum: text, is: same && matrix.says.includes("({sum}") ? "=" : ABOUT };
}

/**
 * Returns the number that was printed.
 * @param {string} text
 */
function toNumber(text) {
  return Number(text.replace("−", "-").replace(about(""), ""));
}

/**
 * Returns the products of a sum if they are few, otherwise the largest in size and the sum of the others.
 * @param {ReturnType<typeof terms>} products
 */
function largest(products) {
  if (products.length <= PRODUCTS) return products;
  const sorted = [...products].sort((a, b) => Math.abs(b.value) - Math.abs(a.value)), others = sorted.slice(TERMS);
  const rest = others.reduce((sum, { value }) => sum + value, 0), written = figure(PLAIN, { value: rest, code: 0x400 });
  const text = othersText({ count: others.length, sum: written });
  return [...sorted.slice(0, TERMS), { text, value: 0, told: toNumber(written) }];
}

/**
 * Writes a negative number in brackets, as behind a sign.
 * @param {string} number
 */
function inBrackets(number) {
  return number.startsWith("−") ? `(${number})` : number;
}

/**
 * Returns the products of a sum; none for other arithmetic, or if a factor is not drawn.
 * @param {Matrix} matrix
 * @param {Lit} boxes
 * @param {(Matrix | undefined)[]} drawn
 */
function terms(matrix, boxes, drawn) {
  const [one, other] = drawn;
  if (matrix.sources.length !== 2 || !/left|seen row/.test(matrix.sources[0].rule) || !one || !other) return [];
  const [first, second] = matrix.sources.map(({ name }) => boxes.get(name)?.[0]);
  if (!first || !second) return [];
  const products = first.columns.map((c, n) => {
    const [row, column] = matrix.sources[1].rule === "keys" ? [second.rows[0], c] : [second.rows[n], second.columns[0]];
    const a = exact(one, first.heads[0], first.rows[0], c), b = exact(other, second.heads[0], row, column);
    if (!a || !b) return [];
    const pair = [figure(one, a), figure(other, b)];
    const told = toNumber(pair[0]) * toNumber(pair[1]);
    return [{ text: `${pair[0]} · ${inBrackets(pair[1])}`, value: a.value * b.value, told }];
  });
  return products.every(({ length }) => length) ? products.flat() : [];
}

/**
 * Describes how many cells of which matrices a cell was computed from, in the order of computation.
 * @param {Data} data
 * @param {Matrix} matrix
 * @param {Lit} boxes
 */
export function origins(data, matrix, boxes) {
  const parts = data.matrices.filter(({ name }) => boxes.has(name)).map(({ name }) => {
    const size = (/** @type {import("./matrices_highlight.js").Box} */ box) =>
      box.heads.length * box.rows.length * box.columns.length;
    const count = (boxes.get(name) ?? []).reduce((sum, box) => sum + size(box), 0);
    return { name, count };
  });
  const drawn = matrix.sources.some(({ name }) => data.found.has(name));
  return originsText({ name: matrix.name, parts, drawn, input: !matrix.sources.length });
}
