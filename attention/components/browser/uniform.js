// Weights relative to the uniform weight, which is 1/n for a query with n visible keys.

import { LEAST, MASKED, number } from "./cells.js";

/**
 * Returns the weight of a cell as a multiple of the uniform weight; "" for masked cells and on other scales.
 * @param {import("./cells.js").Data} data
 * @param {import("./cells.js").Cell} cell
 */
export function timesEven(data, { code, weight, visibleKeys }) {
  if (data.sides || data.colors !== "times even" || code === MASKED) return "";
  const about = data.tile > 1 && !data.places ? "about " : "";
  return `${about}${roundToThreeDigits(weight * visibleKeys)} × uniform`;
}

/**
 * Formats a multiple with three significant digits, or as a whole number from 100 on.
 * @param {number} times
 */
function roundToThreeDigits(times) {
  const size = Math.abs(times), text = !size || size >= 100 ? `${Math.round(size)}` : size.toPrecision(3);
  return times < 0 ? `−${text}` : text;
}

/**
 * Returns positions and texts of the ticks of the scale, in whose middle the uniform weight is.
 * @param {number} times  the multiple at its upper end
 * @returns {[number, string][]}
 */
export function evenMarks(times) {
  const some = Math.sqrt(times);
  return [[0, `1/${times}`], [0.25, `1/${some}`], [0.5, "1"], [0.75, `${some}`], [1, `${times}`]];
}

/**
 * Returns the ticks of a scale of both signs from those of its positive half: the ends, the middle of each half if there is
 * room, and zero.
 * @param {[number, string][]} marks
 * @returns {[number, string][]}
 */
export function mirrorMarks(marks) {
  const last = marks.length - 1;
  const more = marks.filter((_, i) => i === last || (i && 2 * i === last));
  const less = more.map(([at, text]) => /** @type {[number, string]} */ ([0.5 - at / 2, `−${text}`]));
  const least = marks[0][1].replace("≤ ", "");
  const up = more.map(([at, text]) => /** @type {[number, string]} */ ([0.5 + at / 2, text]));
  return [...less.reverse(), [0.5, least === "0" ? "0" : `±${least}`], ...up];
}

/**
 * Returns a difference of shares in percentage points, with three significant digits and its sign.
 * @type {typeof number}
 */
export function points(code, weight) {
  if (code < LEAST) return number(code, weight);
  return `${weight < 0 ? "−" : "+"}${Number((100 * Math.abs(weight)).toPrecision(3))} points`;
}

const FAINT = 1e-6;  // 0.0001%: a smaller share would have an exponent, or many zeros
export const NEARLY_ALL = ">99.9%";
const WHOLE = 0.999;  // a larger share than this is no 100%, as in `format_percent` in attention/number_format.py

/**
 * Returns a percentage with three significant digits, for rows that are distributions; only all of a row is 100%.
 * @type {typeof number}
 */
export function share(code, weight) {
  if (code < LEAST) return number(code, weight);
  if (weight > WHOLE && weight < 1) return NEARLY_ALL;
  return code > LEAST && weight >= FAINT ? `${(100 * weight).toPrecision(3)}%` : "<0.0001%";
}
