// Paints signed numbers as strips, with one cell per channel. This file does not depend on the page.

import { LEAST } from "./cells.js";
import { penOf } from "./elements.js";
import { under } from "./matrices_cells.js";
import { openMessage } from "./message.js";
import { channels } from "./theme.js";
import { share } from "./uniform.js";

const ROUNDED = 1e-5;  // a sum of float32 that is this close to one is one

/**
 * `products`: each weight times its values, one line per key. `gate` and `after`, the output times the gate, are empty
 * without a gate.
 * @typedef {object} Numbers
 * @property {Float32Array} weights
 * @property {Float32Array[]} values
 * @property {Float32Array} output
 * @property {Float32Array} gate
 * @property {Float32Array} after
 * @property {Float32Array[]} products
 * @typedef {import("./message.js").OutputHeader & Numbers} OutputData
 */

/**
 * Unpacks a message: a header, weights (r), values (r e), output (e) and gate (e) if there is one, all f32.
 * @param {Uint8Array} bytes
 * @returns {OutputData}
 */
export function unpackStrips(bytes) {
  let [header, at] = openMessage(bytes);
  const taken = (/** @type {number} */ count) => new Float32Array(bytes.slice(at, (at += 4 * count)).buffer);
  const { names, channels } = header, weights = taken(names.length);
  const values = Array.from({ length: names.length }, () => taken(channels));
  const products = values.map((line, i) => line.map((value) => weights[i] * value));
  const output = taken(channels), gate = taken(header.gated ? channels : 0);
  return { ...header, weights, values, output, gate, after: gate.map((part, i) => part * output[i]), products };
}

/** @param {Float32Array[]} strips */
export function most(strips) {
  return Math.max(0, ...strips.map((strip) => strip.reduce((best, value) => Math.max(best, Math.abs(value)), 0)));
}

/**
 * Returns the channel of the largest magnitude among those under a pixel.
 * @param {Float32Array} strip
 * @param {number} pixels
 * @param {number} pixel
 */
export function channelUnder(strip, pixels, pixel) {
  const [from, to] = under(strip.length, pixels, pixel);
  let best = from;
  for (let i = from; i < to; i++) if (Math.abs(strip[i]) > Math.abs(strip[best])) best = i;
  return best;
}

/**
 * Paints a strip into a canvas, at the width at which that is shown: the colour is that of the sign, and its opacity the
 * magnitude relative to `end`.
 * @param {HTMLCanvasElement} canvas
 * @param {Float32Array} strip
 * @param {number} end
 * @param {{ less: string, more: string }} colors
 */
export function paint(canvas, strip, end, colors) {
  const width = Math.max(1, Math.round(canvas.clientWidth * (window.devicePixelRatio || 1)));
  Object.assign(canvas, { width, height: 1 });
  const image = new ImageData(width, 1), less = channels(colors.less), more = channels(colors.more);
  for (let x = 0; x < width; x++) {
    const value = strip[channelUnder(strip, width, x)];
    image.data.set([...(value < 0 ? less : more), Math.min(255, Math.round((255 * Math.abs(value)) / end))], 4 * x);
  }
  penOf(canvas).putImageData(image, 0, 0);
}

/**
 * Formats a number with three significant digits; two below a millionth and from 10,000 on.
 * @param {number} value
 */
export function figure(value) {
  if (value === 0) return "0";
  const size = Math.abs(value), plain = size >= 1e-6 && size < 1e3;
  if (size >= 1e3 && size < 1e4) return `${Math.round(value)}`.replace("-", "−");
  return (plain ? value.toPrecision(3) : value.toExponential(1)).replace("-", "−").replace("e+", "e");
}

/**
 * Returns a weight, or the sum of some, as a percentage if all of a row sum to one.
 * @param {number} weight
 * @param {boolean} isShare
 */
export function weightText(weight, isShare) {
  if (!isShare || weight === 0) return figure(weight);
  return share(LEAST + 1, Math.abs(weight - 1) < ROUNDED ? 1 : weight);
}
