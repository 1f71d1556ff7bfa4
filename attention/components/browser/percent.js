// Weights as percentages.

/**
 * Returns a weight as a percentage, as `format_percent` in Python does. A code rounds a weight just below one to one, so
 * `rest` tells whether it is one: the sum of the other weights of its row.
 * @param {number} weight
 * @param {number} rest
 */
export function percent(weight, rest) {
  if (weight === 0) return "0%";
  if (weight < 0.001) return "under 0.1%";
  if (weight > 0.999) return weight < 1 || rest > 0 ? "over 99.9%" : "100%";
  return `${(100 * weight).toFixed(1)}%`;
}
