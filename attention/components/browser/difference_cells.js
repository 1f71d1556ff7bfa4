// Differences of the weights of two sides, A and B: their codes, and how they are painted on a diverging map centred on zero.
// attention/wire/difference_cells.py describes the codes.

import { penOf } from "./elements.js";
import { cellRanges } from "./pixels.js";
import { isStripe, RAMP, ramp } from "./theme.js";

const SIGN = 0x8000, IN_B = 0x4000, IN_A = 0x2000, SIZE = 0x1fff;  // parts of a code
const FINE = 100, DECADE = 900, FLOOR = 4;  // sizes below 0.0001; sizes per power of ten; powers of ten of the log scale

/** @type {Float32Array | null} */
let table = null;

/** Returns the number of every code. */
export function differenceValues() {
  table ??= Float32Array.from({ length: 2 * SIGN }, (_, code) => {
    const size = code & SIZE, digits = FINE + ((size - FINE) % DECADE), power = Math.floor((size - FINE) / DECADE) - 6;
    const value = size < FINE ? Number(`${size}e-6`) : Number(`${digits}e${power}`);
    return code & SIGN ? -value : value;
  });
  return table;
}

/**
 * Returns the size of the number of a code, as an integer that orders numbers by their magnitude.
 * @param {number} code
 */
export function sizeOf(code) {
  return code & SIZE;
}

/**
 * Returns on which side alone a key is visible, "" if it is on both or on neither.
 * @param {number} code
 */
export function onlyIn(code) {
  const sides = code & (IN_A | IN_B);
  return sides === IN_A ? "A" : sides === IN_B ? "B" : "";
}

/**
 * Returns the place of a number on the diverging scale from -1 to 1: linear, by the square root, or logarithmic
 * from 0.0001 on.
 * @param {number} value
 * @param {import("./message.js").Scale} scale
 */
export function differencePosition(value, scale) {
  const size = Math.min(1, Math.abs(value));
  if (scale === "linear") return Math.sign(value) * size;
  if (scale === "root") return Math.sign(value) * Math.sqrt(size);
  return Math.sign(value) * Math.max(0, 1 + Math.log10(size) / FLOOR);
}

/**
 * Returns the ticks of the colour bar, in percentage points if weights are shares of a row.
 * @param {import("./message.js").Scale} scale
 * @param {boolean} shares
 * @returns {[number, string][]}
 */
export function differenceTicks(scale, shares) {
  const times = shares ? 100 : 1, some = times * (scale === "linear" ? 0.5 : scale === "root" ? 0.25 : 0.01);
  return [[0, `−${times}`], [0.25, `−${some}`], [0.5, "0"], [0.75, `${some}`], [1, `${times}`]];
}

/**
 * Formats the size of a number with three digits, those below 0.0001 to a millionth; in hundredths if it is a share.
 * @param {number} code
 * @param {boolean} shares
 */
function digitsOf(code, shares) {
  const value = (shares ? 100 : 1) * Math.abs(differenceValues()[code]);
  return (code & SIZE) < FINE ? value.toFixed(shares ? 4 : 6) : value.toPrecision(3);
}

/**
 * Formats a difference with its sign: `+0.123`, or `+12.3 points` of shares.
 * @param {number} code
 * @param {boolean} shares  whether weights are shares of a row
 */
function differenceNumber(code, shares) {
  if (!(code & (IN_A | IN_B))) return "masked";
  const value = differenceValues()[code];
  return value ? signedNumber(value, digitsOf(code, shares), shares) : "0";
}

/**
 * @param {number} value
 * @param {string} digits
 * @param {boolean} shares
 */
function signedNumber(value, digits, shares) {
  return `${value < 0 ? "−" : "+"}${digits}${shares ? " points" : ""}`;
}

/**
 * Formats the weight of one side: 0.430, or 43.0% of its row.
 * @param {number} code
 * @param {boolean} shares
 */
export function sideNumber(code, shares) {
  if (!(code & (IN_A | IN_B))) return "masked";
  const sign = differenceValues()[code] < 0 ? "−" : "";
  return differenceValues()[code] ? `${sign}${digitsOf(code, shares)}${shares ? "%" : ""}` : "0";
}

/**
 * Formats the difference of a cell; where the weights of both sides are shown with as many decimals, it is that of these numbers.
 * @param {import("./cells.js").Cell} cell
 * @param {boolean} shares  whether weights are shares of a row
 */
export function cellDifference({ code, before, after }, shares) {
  const own = differenceNumber(code, shares), values = differenceValues();
  if (before === undefined || after === undefined || onlyIn(code) || !values[code]) return own;
  const decimals = (/** @type {number} */ code) => digitsOf(code, shares).split(".")[1]?.length ?? Infinity;
  const least = Math.min(...[before, after].filter((side) => values[side]).map(decimals));
  if (!Number.isFinite(least) || decimals(code) > least) return own;
  const difference = (shares ? 100 : 1) * (values[after] - values[before]);
  return signedNumber(difference, Math.abs(difference).toFixed(least), shares);
}

/**
 * Returns the weights of both sides of a cell in words; "" if it is masked on both.
 * @param {import("./cells.js").Cell} cell
 * @param {boolean} shares
 */
export function sideNumbers({ code, before, after = 0 }, shares) {
  const of = before === undefined ? "" : `A ${sideNumber(before, shares)}, `;
  return code ? `${of}B ${sideNumber(after, shares)}` : "";
}

/** @type {Map<string, Uint32Array>} */
const colorTables = new Map();

/**
 * Returns the colour of every code, on the colours of the scale from below to above zero.
 * @param {import("./cells.js").Data} data
 */
function colorsOf({ stops, colors }) {
  const name = [colors, ...stops].join(), known = colorTables.get(name);
  if (known) return known;
  const map = ramp(stops), middle = (RAMP - 1) / 2;
  const place = (/** @type {number} */ value) => Math.round(middle * (1 + differencePosition(value, colors)));
  const found = Uint32Array.from(differenceValues(), (value) => map[place(value)]);
  if (colorTables.size > 8) colorTables.clear();
  colorTables.set(name, found);
  return found;
}

/**
 * Paints one head into its canvas. A pixel shows the number of largest size under it; what is masked on both sides stays
 * transparent, and what is visible on one side alone has stripes: rising in A alone, falling in B alone.
 * @param {HTMLCanvasElement} canvas
 * @param {import("./cells.js").Data} data
 * @param {number} head
 */
export function paintDifferences(canvas, data, head) {
  const { width, height } = canvas, { rows, columns } = data, codes = data.codes[head];
  const image = new ImageData(width, height), out = new Uint32Array(image.data.buffer);
  const across = cellRanges(columns, width), down = cellRanges(rows, height), map = colorsOf(data);
  const [stripe] = ramp([data.stripe ?? "#808080", data.stripe ?? "#808080"]);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      let code = codes[down.from[y] * columns + across.from[x]];
      for (let r = down.from[y]; r < down.to[y]; r++) {
        for (let c = across.from[x]; c < across.to[x]; c++) {
          const other = codes[r * columns + c];
          if (isLarger(other, code)) code = other;
        }
      }
      if (!code) continue;
      const one = code & (IN_A | IN_B);
      out[at] = isStripe(one === IN_A ? -1 : one === IN_B ? 1 : 0, x, y, height) ? stripe : map[code];
    }
  }
  penOf(canvas).putImageData(image, 0, 0);
}

/**
 * Whether one code comes before another: the larger size, then a key that is visible on one side alone, then a visible one.
 * @param {number} one
 * @param {number} other
 */
export function isLarger(one, other) {
  const more = (one & SIZE) - (other & SIZE);
  return more > 0 || (more === 0 && rank(one) > rank(other));
}

/** @param {number} code */
function rank(code) {
  return onlyIn(code) ? 2 : code ? 1 : 0;
}
