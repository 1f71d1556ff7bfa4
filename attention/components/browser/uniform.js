// How many times its even share a weight is: one over the keys in sight of its query is even.

import { MASKED } from "./cells.js";

/**
 * How many times the even share a cell has, in words; nothing of what is masked, and under another scale.
 * @param {import("./cells.js").Data} data
 * @param {import("./cells.js").Cell} cell
 */
export function timesEven(data, { code, weight, sight }) {
  if (data.colors !== "times even" || code === MASKED) return "";
  const about = data.tile > 1 && !data.places ? "about " : "";
  return `${about}${roundToThreeDigits(weight * sight)} × even`;
}

/**
 * Three digits, or a whole number.
 * @param {number} times
 */
function roundToThreeDigits(times) {
  if (!times || times >= 100) return `${Math.round(times)}`;
  return times >= 0.001 ? times.toPrecision(3) : times.toExponential(1);
}

/**
 * Marks of the scale, whose middle is the even share, and what they say.
 * @param {number} times  at its end
 * @returns {[number, string][]}
 */
export function evenMarks(times) {
  const some = Math.sqrt(times);
  return [[0, `1/${times}`], [0.25, `1/${some}`], [0.5, "even"], [0.75, `${some}`], [1, `${times}`]];
}
