// Bytes to cells, weights and colours, and cells to pixels. Nothing in this file knows the page.

import { penOf } from "./elements.js";
import { opened } from "./message.js";
import { RAMP, ramp } from "./theme.js";

/**
 * @typedef {{ codes: Uint16Array[], places: Uint8Array | null }} Bytes  codes head by head
 * @typedef {Pick<import("./message.js").Shape, "shift" | "bits">} Coding
 * @typedef {Omit<import("./message.js").Shape & import("./message.js").Weights, "places"> & Bytes} Data
 * @typedef {[number, number]} Range  the first, and one past the last
 */

/**
 * A cell: its weight, and the tokens at which the greatest of its tile stands.
 * @typedef {object} Cell
 * @property {number} head
 * @property {number} row
 * @property {number} column
 * @property {number} code
 * @property {number} weight
 * @property {number} query
 * @property {number} key
 * @property {number} tall  tokens that it stands for, down and across
 * @property {number} broad
 */

export const MASKED = 0, ZERO = 1, LEAST = 2, ONE = 65535;

/**
 * A header, codes (u16), places (u8).
 * @template {Data} T
 * @param {Uint8Array} bytes
 * @returns {T}
 */
export function unpacked(bytes) {
  const [header, start] = opened(bytes), count = header.heads * header.rows * header.columns;
  // A copy, because these bytes begin anywhere in their frame, and 16-bit numbers may not.
  const codes = new Uint16Array(bytes.slice(start, start + 2 * count).buffer);
  const places = header.places ? bytes.slice(start + 2 * count, start + 3 * count) : null;
  const size = header.rows * header.columns;
  const heads = Array.from({ length: header.heads }, (_, h) => codes.subarray(h * size, (h + 1) * size));
  return { ...header, codes: heads, places };
}

const decoded = { shift: NaN, weights: new Float32Array() };

/**
 * The weight of every code: the bits that were cut out of a float32, put back.
 * @param {Coding} coding
 */
export function weightsOf({ shift, bits }) {
  if (decoded.shift !== shift) {
    const whole = Int32Array.from({ length: ONE + 1 }, (_, code) => (code + shift) << bits);
    decoded.weights = new Float32Array(whole.buffer);
    decoded.weights[MASKED] = decoded.weights[ZERO] = 0;
    decoded.shift = shift;
  }
  return decoded.weights;
}

/**
 * Where on the scale a weight stands, 0 to 1; `most` is the greatest weight of the head.
 * @param {number} weight
 * @param {import("./message.js").Scale} scale
 * @param {number} most
 * @param {number} floor
 */
export function position(weight, scale, most, floor) {
  if (scale === "log") return weight > 0 ? Math.max(0, 1 - Math.log10(weight) / Math.log10(floor)) : 0;
  return scale === "own maximum" ? (most > 0 ? weight / most : 0) : weight;
}

/** @type {Map<string, Float32Array>} */
const tables = new Map();

/**
 * The colour of every code on the linear and the logarithmic scale. A head's own maximum only stretches the linear one.
 * @param {Data} data
 */
function colorTable(data) {
  const name = data.colors === "log" ? "log" : "linear", known = tables.get(name);
  if (known) return known;
  const table = weightsOf(data).map((w) => position(w, name, 1, data.floor) * (RAMP - 1));
  tables.set(name, table);
  return table;
}

/** @param {Uint16Array} codes */
export function greatest(codes) {
  let most = 0;
  for (let i = 0; i < codes.length; i++) if (codes[i] > most) most = codes[i];
  return most;
}

/**
 * The first cell under each pixel, and one past the last. Where pixels are fewer than cells, every cell is under
 * exactly one; otherwise a pixel shows the cell under its middle.
 * @param {number} cells
 * @param {number} pixels
 */
export function spans(cells, pixels) {
  const from = new Uint32Array(pixels), to = new Uint32Array(pixels), middle = pixels < cells ? 0 : 0.5;
  for (let i = 0; i < pixels; i++) {
    from[i] = Math.floor(((i + middle) * cells) / pixels);
    to[i] = middle ? from[i] + 1 : Math.floor(((i + 1) * cells) / pixels);
  }
  return { from, to };
}

/**
 * One head into its canvas. A pixel shows the greatest code under it; masked ones stay clear, and the hatch behind
 * shows.
 * @param {HTMLCanvasElement} canvas
 * @param {Data} data
 * @param {Uint16Array} codes
 * @param {number} gain
 */
export function paint(canvas, data, codes, gain) {
  const { width, height } = canvas, { rows, columns } = data;
  const image = new ImageData(width, height), out = new Uint32Array(image.data.buffer);
  const across = spans(columns, width), down = spans(rows, height);
  const table = colorTable(data), colors = ramp(data.stops);
  let line = new Uint16Array(columns);
  for (let y = 0; y < height; y++) {
    if (y && down.from[y] === down.from[y - 1]) {
      out.copyWithin(y * width, (y - 1) * width, y * width);
      continue;
    }
    line = rowOf(codes, columns, down.from[y], down.to[y], line);
    for (let x = 0, at = y * width; x < width; x++, at++) {
      let code = line[across.from[x]];
      for (let c = across.from[x] + 1; c < across.to[x]; c++) if (line[c] > code) code = line[c];
      if (code !== MASKED) out[at] = colors[(table[code] * gain + 0.5) | 0];
    }
  }
  penOf(canvas).putImageData(image, 0, 0);
}

/**
 * By how much the linear scale is stretched where a head has its own maximum.
 * @param {Data} data
 * @param {number} most  the greatest code
 */
export function gainOf(data, most) {
  return data.colors === "own maximum" && most > ZERO ? 1 / weightsOf(data)[most] : 1;
}

/**
 * The greatest of some rows, column by column.
 * @param {Uint16Array} codes
 * @param {number} columns
 * @param {number} from
 * @param {number} to
 * @param {Uint16Array<ArrayBuffer>} line
 */
function rowOf(codes, columns, from, to, line) {
  line.set(codes.subarray(from * columns, (from + 1) * columns));
  for (let r = from + 1; r < to; r++) {
    for (let c = 0, at = r * columns; c < columns; c++, at++) if (codes[at] > line[c]) line[c] = codes[at];
  }
  return line;
}

/**
 * What stands in a cell.
 * @param {Data} data
 * @param {number} head
 * @param {number} row
 * @param {number} column
 * @returns {Cell}
 */
export function cellAt(data, head, row, column) {
  const { tile, rows, columns, queries, keys } = data;
  const index = row * columns + column, code = data.codes[head][index];
  const place = data.places ? data.places[head * rows * columns + index] : 0;
  return {
    head, row, column, code, weight: weightsOf(data)[code],
    query: Math.min(queries - 1, row * tile + Math.floor(place / tile)),
    key: Math.min(keys - 1, column * tile + (place % tile)),
    tall: Math.min(tile, queries - row * tile), broad: Math.min(tile, keys - column * tile),
  };
}

/**
 * The greatest cell within a range of rows and columns, which says how many tokens it stands for.
 * @param {Data} data
 * @param {number} head
 * @param {Range} rows
 * @param {Range} columns
 */
export function greatestCell(data, head, rows, columns) {
  let row = rows[0], column = columns[0];
  const codes = data.codes[head];
  const at = (/** @type {number} */ r, /** @type {number} */ c) => codes[r * data.columns + c];
  for (let r = rows[0]; r < rows[1]; r++) {
    for (let c = columns[0]; c < columns[1]; c++) if (at(r, c) > at(row, column)) [row, column] = [r, c];
  }
  const tokens = (/** @type {Range} */ [from, to], /** @type {number} */ all) =>
    Math.min(all, to * data.tile) - from * data.tile;
  return { ...cellAt(data, head, row, column), tall: tokens(rows, data.queries), broad: tokens(columns, data.keys) };
}

/**
 * Three significant digits.
 * @param {number} code
 * @param {number} weight
 */
export function number(code, weight) {
  if (code === MASKED) return "masked";
  if (code === ZERO) return "0";
  if (code === LEAST) return `below ${weight.toExponential(1)}`;
  return weight >= 0.001 ? weight.toPrecision(3) : weight.toExponential(2);
}
