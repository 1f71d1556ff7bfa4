// Decodes bytes to matrices and codes to values and colours, and paints cells. This file does not depend on the page.

import { penOf } from "./elements.js";
import { openMessage } from "./message.js";
import { isStripe, RAMP, ramp } from "./theme.js";

/**
 * @typedef {{ codes: Uint16Array, exponent: number }} Numbers
 * @typedef {{ codes: Uint16Array, places: Uint16Array | null, sides?: [Numbers, Numbers] }} Codes
 * @typedef {Omit<import("./message.js").Step, "places" | "sides"> & Codes} Matrix
 * @typedef {{ mask: Uint8Array | null, matrices: Matrix[], found: Map<string, Matrix> }} Sent
 * @typedef {Omit<import("./message.js").StepsHeader, "matrices"> & Sent} Data
 * @typedef {[number, number]} Range  the first, and one past the last
 */

/**
 * A drawn cell, `p` down and `r` across, with its value and the row and column of that in the whole matrix.
 * @typedef {object} Cell
 * @property {string} name
 * @property {number} head
 * @property {number} p
 * @property {number} r
 * @property {number} row
 * @property {number} column
 * @property {number} value
 * @property {number} code
 * @property {number} of  number of values of which it is the largest in magnitude
 * @property {{ value: number, code: number }[]} sides  of a difference, the values of A and B; otherwise empty
 */

const ROUND = [1, 1.5, 2, 3, 4, 5, 6, 8];  // a scale ends at one of these times a power of ten

/**
 * Unpacks a message: a header, codes and places of each matrix (u16), of a difference also codes of A and B, the mask (bits).
 * @param {Uint8Array} bytes
 * @returns {Data}
 */
export function unpackMatrices(bytes) {
  let [header, at] = openMessage(bytes);
  // Copies, because 16-bit numbers must be aligned and these bytes may begin at any offset of their buffer.
  const taken = (/** @type {number} */ count) => new Uint16Array(bytes.slice(at, (at += 2 * count)).buffer);
  for (const matrix of header.matrices) {
    const count = matrix.sent * matrix.high * matrix.broad;
    matrix.codes = taken(count);
    matrix.places = matrix.places ? taken(count) : null;
    matrix.sides = matrix.sides?.map((/** @type {number} */ exponent) => ({ codes: taken(count), exponent }));
  }
  header.mask = header.masked ? bytes.slice(at) : null;
  header.found = new Map(header.matrices.map((/** @type {Matrix} */ matrix) => [matrix.name, matrix]));
  return header;
}

// The values of all 16-bit floats, by their bits.
const halves = new Float32Array(65536).map((_, code) => {
  const sign = code & 0x8000 ? -1 : 1, exponent = (code >> 10) & 31, rest = code & 1023;
  if (exponent === 31) return rest ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + rest / 1024) * 2 ** (exponent - 15) : rest * 2 ** -24);
});

/**
 * @param {Numbers} matrix
 * @param {number} index
 */
function valueOf(matrix, index) {
  return halves[matrix.codes[index]] * 2 ** matrix.exponent;
}

/** The code of a masked number. */
const MASKED = 0xfc00;

/**
 * Returns on which side alone a pair is visible: -1 in A, 1 in B, otherwise 0.
 * @param {Matrix} matrix
 * @param {number} index
 */
function aloneIn({ sides }, index) {
  if (!sides) return 0;
  const [a, b] = sides;
  return Number(a.codes[index] === MASKED) - Number(b.codes[index] === MASKED);
}

/**
 * Returns the cell that is drawn at row `p` and column `r`.
 * @param {Matrix} matrix
 * @param {number} head
 * @param {number} p
 * @param {number} r
 * @returns {Cell}
 */
export function cellAt(matrix, head, p, r) {
  const index = ((head - matrix.first) * matrix.high + p) * matrix.broad + r, [down, across] = matrix.tiles;
  const place = matrix.places ? matrix.places[index] : 0;
  return {
    name: matrix.name, head, p, r, row: p * down + Math.floor(place / across), column: r * across + (place % across),
    value: valueOf(matrix, index), code: matrix.codes[index],
    of: Math.min(down, matrix.rows - p * down) * Math.min(across, matrix.columns - r * across),
    sides: (matrix.sides ?? []).map((side) => ({ value: valueOf(side, index), code: side.codes[index] })),
  };
}

/**
 * Returns the cell of one row and column; null if its tile shows a larger value instead, or its head was not sent.
 * @param {Matrix | undefined} matrix
 * @param {number} head
 * @param {number} row
 * @param {number} column
 */
export function exact(matrix, head, row, column) {
  if (!matrix || head < matrix.first || head >= matrix.first + matrix.sent) return null;
  const cell = cellAt(matrix, head, Math.floor(row / matrix.tiles[0]), Math.floor(column / matrix.tiles[1]));
  return cell.row === row && cell.column === column ? cell : null;
}

/**
 * Returns a number that orders codes by the magnitude of their values; it is below zero for masked cells. A difference is
 * masked if it is not a number; it is infinite if one side masks a logit.
 * @param {Matrix} matrix
 * @param {number} code
 */
function magnitude({ scale }, code) {
  const size = code & 0x7fff;
  return (scale === "difference" ? size > 0x7c00 : size === 0x7c00) ? -1 : size;
}

/**
 * Returns the cell of the largest magnitude within a range of drawn rows and columns.
 * @param {Matrix} matrix
 * @param {number} head
 * @param {Range} rows
 * @param {Range} columns
 */
export function greatestIn(matrix, head, rows, columns) {
  let best = [0, 0], most = -2;
  for (let p = rows[0]; p < rows[1]; p++) {
    for (let r = columns[0]; r < columns[1]; r++) {
      const size = magnitude(matrix, matrix.codes[((head - matrix.first) * matrix.high + p) * matrix.broad + r]);
      if (size > most) [best, most] = [[p, r], size];
    }
  }
  return cellAt(matrix, head, best[0], best[1]);
}

/**
 * Returns a round end for the scale of a head, at least its largest magnitude: heads may differ by a factor of 1,000.
 * @param {Matrix} matrix
 * @param {number} head
 */
export function endOf({ most, first }, head) {
  const greatest = most[head - first];
  if (!(greatest > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(greatest));
  const end = ROUND.map((step) => step * power).find((each) => each >= greatest * (1 - 1e-6)) ?? 10 * power;
  return Number(end.toPrecision(2));
}

/**
 * Returns the range of drawn cells under pixel `i`; if cells are larger than pixels, the one under its middle.
 * @param {number} cells
 * @param {number} pixels
 * @param {number} i
 * @returns {Range}
 */
export function under(cells, pixels, i) {
  const middle = Math.floor(((i + 0.5) * cells) / pixels);
  if (pixels >= cells) return [middle, middle + 1];
  return [Math.floor((i * cells) / pixels), Math.floor(((i + 1) * cells) / pixels)];
}

/**
 * Returns a function from a code of a head to its colour as the four bytes of a pixel, null for masked cells.
 * @param {Matrix} matrix
 * @param {number} head
 * @param {string[]} stops
 * @returns {(code: number) => number | null}
 */
export function coloring(matrix, head, stops) {
  const colors = ramp(stops), scale = 2 ** matrix.exponent;
  const signed = matrix.scale === "signed" || matrix.scale === "difference", end = signed ? endOf(matrix, head) : 1;
  return (code) => {
    const size = magnitude(matrix, code);
    if (size < 0 || (matrix.scale === "mask" && !size)) return null;
    const infinite = size === 0x7c00;  // a logit that one side masks: stripes on the colour of zero
    const value = infinite ? 0 : (halves[code] * scale) / end, at = signed ? (value + 1) / 2 : value;
    return colors[Math.max(0, Math.min(RAMP - 1, Math.round(at * (RAMP - 1))))];
  };
}

/**
 * Paints one head of a matrix into a canvas. A pixel shows the largest magnitude under it; masked cells stay transparent,
 * so that the hatching behind the canvas is visible. What one side of a difference masks has stripes.
 * @param {HTMLCanvasElement} canvas
 * @param {Matrix} matrix
 * @param {number} head
 * @param {string[]} stops
 * @param {string} striped  the colour of the stripes
 */
export function paint(canvas, matrix, head, stops, striped) {
  const { width, height } = canvas, image = new ImageData(width, height), out = new Uint32Array(image.data.buffer);
  const { codes, high, broad } = matrix, start = (head - matrix.first) * high * broad;
  const color = coloring(matrix, head, stops), [stripe] = ramp([striped, striped]);
  const across = Array.from({ length: width }, (_, x) => under(broad, width, x));
  let last = -1;
  for (let y = 0; y < height; y++) {
    const [top, bottom] = under(high, height, y);
    if (last === top && bottom === top + 1 && !matrix.sides) {
      out.copyWithin(y * width, (y - 1) * width, y * width);
      continue;
    }
    last = bottom === top + 1 ? top : -1;
    for (let x = 0; x < width; x++) {
      let best = start, most = -2;
      for (let p = top; p < bottom; p++) {
        for (let r = across[x][0]; r < across[x][1]; r++) {
          const at = start + p * broad + r, size = magnitude(matrix, codes[at]);
          if (size > most) [best, most] = [at, size];
        }
      }
      out[y * width + x] = isStripe(aloneIn(matrix, best), x, y, height) ? stripe : color(codes[best]) ?? 0;
    }
  }
  penOf(canvas).putImageData(image, 0, 0);
}
