// Decodes bytes to cells, weights and colours, and paints cells as pixels. This file does not depend on the page.
import { penOf } from "./elements.js";
import { openMessage } from "./message.js";
import { cellRanges } from "./pixels.js";
import { isLarger, paintDifferences, differenceValues } from "./difference_cells.js";
import { RAMP, ramp, rankedRamp } from "./theme.js";

/**
 * @typedef {{ codes: Uint16Array[], negative?: Uint8Array[] | null, places: Uint8Array | null, seeing: Float32Array[],
 *   sums?: Float32Array | null, before?: Uint16Array[], after?: Uint16Array[] }} Bytes  per head, except places and sums;
 *   codes without signs, 1 in `negative` for a minus; `before`, `after`: codes of A and B, if cells are differences
 * @typedef {Pick<import("./message.js").Shape, "shift" | "bits" | "sides">} Coding
 * @typedef {Omit<import("./message.js").Shape & import("./message.js").Weights, "places" | "sums"> & Bytes} Data
 * @typedef {[number, number]} Range  the first, and one past the last
 */

/**
 * A cell: its weight, and the tokens of the largest weight in its tile.
 * @typedef {object} Cell
 * @property {number} head
 * @property {number} row
 * @property {number} column
 * @property {number} code  of the weight without its sign
 * @property {number} weight
 * @property {number} [before]  the codes of A and B, if the cell is a difference
 * @property {number} [after]
 * @property {number} visibleKeys  visible keys of its query, or their mean over its queries
 * @property {number} query
 * @property {number} key
 * @property {number} queryCount  queries that it covers
 * @property {number} keyCount  keys that it covers
 */

export const MASKED = 0, ZERO = 1, LEAST = 2, ONE = 65535;
const SIGN = 0x8000;

/**
 * Unpacks a message: a header, codes (u16), places (u8), numbers of visible keys and sums of rows (f32).
 * @template {Data} T
 * @param {Uint8Array} bytes
 * @returns {T}
 */
export function unpackCells(bytes) {
  const [header, start] = openMessage(bytes), count = header.heads * header.rows * header.columns;
  const places = header.places ? bytes.slice(start + 2 * count, start + 3 * count) : null;
  const size = header.rows * header.columns, [lines, many] = header.sights, after = start + (places ? 3 : 2) * count;
  const sights = new Float32Array(bytes.slice(after, after + 4 * lines * many).buffer);
  // A copy, because 16-bit numbers must be aligned and these bytes may begin at any offset of their buffer.
  const heads = perHead(bytes.slice(start, start + 2 * count), size);
  const negative = header.signed ? heads.map(takeSigns) : null;
  const seeing = heads.map((_, h) => sights.subarray((h % lines) * many, ((h % lines) + 1) * many));
  const summed = after + 4 * lines * many, rows = header.heads * header.queries;
  const sums = header.sums ? new Float32Array(bytes.slice(summed, summed + 4 * rows).buffer) : null;
  const side = (/** @type {number} */ at) => perHead(bytes.slice(summed + at * 2 * count, summed + (at + 1) * 2 * count), size);
  const sides = header.sides ? { after: side(0), before: side(1) } : {};
  return { ...header, codes: heads, negative, places, seeing, sums, ...sides };
}

/**
 * @param {Uint8Array} bytes
 * @param {number} size
 */
function perHead(bytes, size) {
  const all = new Uint16Array(bytes.buffer);
  return Array.from({ length: all.length / size }, (_, h) => all.subarray(h * size, (h + 1) * size));
}

/** Returns 1 for every code with a sign, and takes the signs from the codes. @param {Uint16Array} codes */
function takeSigns(codes) {
  const negative = Uint8Array.from(codes, (code) => code >> 15);
  for (let i = 0; i < codes.length; i++) codes[i] &= SIGN - 1;
  return negative;
}

const decoded = { shift: NaN, weights: new Float32Array() };

/**
 * Returns the weight of every code: the bits that were cut out of a float32, at their place again.
 * @param {Coding} coding
 */
export function weightsOf({ shift, bits, sides }) {
  if (sides) return differenceValues();
  if (decoded.shift !== shift) {
    const whole = Int32Array.from({ length: ONE + 1 }, (_, code) => (code + shift) << bits);
    decoded.weights = new Float32Array(whole.buffer);
    decoded.weights[MASKED] = decoded.weights[ZERO] = 0;
    decoded.shift = shift;
  }
  return decoded.weights;
}

/**
 * Returns the position of a weight on a scale that is the same for all heads, from 0 to 1. On the scale “times even”,
 * `weight` is a multiple of the uniform weight, and the result may lie outside of 0 to 1.
 * @param {number} weight
 * @param {import("./message.js").Scale} scale
 * @param {Pick<Data, "floor" | "times">} ends
 */
export function position(weight, scale, { floor, times }) {
  if (scale === "times even") return 0.5 + Math.log10(weight) / (2 * Math.log10(times));
  if (scale === "log") return weight > 0 ? Math.max(0, 1 - Math.log10(weight) / Math.log10(floor)) : 0;
  return weight;
}

/** @type {Map<string, Float32Array>} */
const tables = new Map();

/**
 * Returns the colour of every code on the scales that are the same for all heads, for a query with one visible key. The
 * scale “own maximum” stretches the linear one.
 * @param {Data} data
 */
function colorTable(data) {
  const scale = data.colors === "own maximum" ? "linear" : data.colors, name = `${scale} ${data.shift} ${data.bits}`;
  const known = tables.get(name);
  if (known) return known;
  const table = weightsOf(data).map((w) => position(w, scale, data) * (RAMP - 1));
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
 * Returns the index in `seeing` of a cell: the query of its largest weight, or its row of tiles if places are unknown.
 * @param {Data} data
 * @param {number} head
 * @param {number} index
 */
function visibleKeysIndex({ places, codes, columns, tile, queries }, head, index) {
  const row = Math.floor(index / columns);
  if (!places) return row;
  const place = places[head * codes[head].length + index];
  return Math.min(queries - 1, row * tile + Math.floor(place / tile));
}

/**
 * Returns the colour of every cell of a head, -1 for masked cells. Of weights with signs it is a rank of `rankedRamp`.
 * @param {Data} data
 * @param {number} head
 */
function shades(data, head) {
  const codes = data.codes[head], table = colorTable(data), top = RAMP - 1, found = new Float32Array(codes.length);
  const even = data.colors === "times even", gain = gainOf(data, head), decade = top / (2 * Math.log10(data.times));
  const lifts = even ? data.seeing[head].map((keys) => decade * Math.log10(keys)) : [];
  for (let i = 0; i < codes.length; i++) {
    const at = even ? table[codes[i]] + lifts[visibleKeysIndex(data, head, i)] : table[codes[i]] * gain;
    found[i] = codes[i] === MASKED ? -1 : Math.min(top, Math.max(0, at));
  }
  const signs = data.negative?.[head];
  if (signs) for (let i = 0; i < found.length; i++) if (found[i] >= 0) found[i] = 2 * Math.round(found[i]) + signs[i];
  return found;
}

/**
 * Paints one head into its canvas. A pixel shows the largest cell under it, with its sign if it has one; masked cells stay
 * transparent, so that the hatching behind the canvas is visible.
 * @param {HTMLCanvasElement} canvas
 * @param {Data} data
 * @param {number} head
 */
export function paint(canvas, data, head) {
  if (data.sides) return paintDifferences(canvas, data, head);
  const { width, height } = canvas, { rows, columns } = data;
  const image = new ImageData(width, height), out = new Uint32Array(image.data.buffer);
  const across = cellRanges(columns, width), down = cellRanges(rows, height);
  const cells = shades(data, head), colors = data.signed ? rankedRamp(data.stops) : ramp(data.stops);
  const line = new Float32Array(columns);
  for (let y = 0; y < height; y++) {
    if (y && down.from[y] === down.from[y - 1]) {
      out.copyWithin(y * width, (y - 1) * width, y * width);
      continue;
    }
    rowOf(cells, columns, down.from[y], down.to[y], line);
    for (let x = 0, at = y * width; x < width; x++, at++) {
      let shade = line[across.from[x]];
      for (let c = across.from[x] + 1; c < across.to[x]; c++) if (line[c] > shade) shade = line[c];
      if (shade >= 0) out[at] = colors[(shade + 0.5) | 0];
    }
  }
  penOf(canvas).putImageData(image, 0, 0);
}

/**
 * Returns the factor that stretches the linear scale if each head has its own maximum, otherwise 1.
 * @param {Data} data
 * @param {number} head
 */
function gainOf(data, head) {
  const most = data.most[head];
  return data.colors === "own maximum" && most > ZERO ? 1 / weightsOf(data)[most] : 1;
}

/**
 * Writes the maximum of the rows from `from` to `to` per column into `line`.
 * @param {Float32Array} cells
 * @param {number} columns
 * @param {number} from
 * @param {number} to
 * @param {Float32Array} line
 */
function rowOf(cells, columns, from, to, line) {
  line.set(cells.subarray(from * columns, (from + 1) * columns));
  for (let r = from + 1; r < to; r++) {
    for (let c = 0, at = r * columns; c < columns; c++, at++) if (cells[at] > line[c]) line[c] = cells[at];
  }
}

/**
 * Returns the weight of a cell, with its sign.
 * @param {Data} data
 * @param {number} head
 * @param {number} index
 */
export function weightAt(data, head, index) {
  const weight = weightsOf(data)[data.codes[head][index]];
  return data.negative?.[head][index] ? -weight : weight;
}

/**
 * Returns the cell at a row and column.
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
    head, row, column, code, weight: weightAt(data, head, index),
    before: data.before?.[head][index], after: data.after?.[head][index],
    visibleKeys: data.seeing[head][visibleKeysIndex(data, head, index)],
    query: Math.min(queries - 1, row * tile + Math.floor(place / tile)),
    key: Math.min(keys - 1, column * tile + (place % tile)),
    queryCount: Math.min(tile, queries - row * tile), keyCount: Math.min(tile, keys - column * tile),
  };
}

/**
 * Returns the largest cell, on the current scale, within a range of rows and columns, with the numbers of its tokens.
 * @param {Data} data
 * @param {number} head
 * @param {Range} rows
 * @param {Range} columns
 */
export function greatestCell(data, head, rows, columns) {
  let row = rows[0], column = columns[0];
  const codes = data.codes[head], weights = weightsOf(data), even = data.colors === "times even";
  const at = (/** @type {number} */ r, /** @type {number} */ c) => {
    const index = r * data.columns + c, code = codes[index];
    if (data.sides) return code;
    if (even && code !== MASKED) return weights[code] * data.seeing[head][visibleKeysIndex(data, head, index)];
    return code - 1;  // masked cells are below 0
  };
  let most = at(row, column);
  for (let r = rows[0]; r < rows[1]; r++) {
    for (let c = columns[0]; c < columns[1]; c++) {
      const other = at(r, c);
      if (data.sides ? isLarger(other, most) : other > most) [row, column, most] = [r, c, other];
    }
  }
  const tokens = (/** @type {Range} */ [from, to], /** @type {number} */ all) =>
    Math.min(all, to * data.tile) - from * data.tile;
  return { ...cellAt(data, head, row, column), queryCount: tokens(rows, data.queries), keyCount: tokens(columns, data.keys) };
}

/**
 * Formats a weight with three significant digits, and a minus if it is negative.
 * @param {number} code
 * @param {number} weight
 */
export function number(code, weight) {
  if (code === MASKED) return "masked";
  if (code === ZERO) return "0";
  if (code === LEAST) return `below ${Math.abs(weight).toExponential(1)}`;
  return weight < 0 ? `−${(-weight).toPrecision(3)}` : weight.toPrecision(3);
}
