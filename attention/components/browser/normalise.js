// Weights of a row from its logits, by the kinds of normalisers of attention/operations/normalisers.py.

/** @typedef {import("./message.js").Form} Form */

const HALVINGS = 60;  // of the interval of a threshold: more than a float64 resolves

/**
 * Returns the weights of a row; masked keys have a logit of minus infinity.
 * @param {number[]} logits
 * @param {Form} form
 * @returns {number[]}
 */
export function normalise(logits, form) {
  if (!logits.some(Number.isFinite)) return logits.map(() => 0);
  const at = statistic(logits, form);
  return logits.map((logit) => weigh(logit - at, form));
}

/**
 * Returns a weight as a function of its logit minus the statistic of the row.
 * @param {number} operand
 * @param {Form} form
 */
function weigh(operand, { kind, power }) {
  if (operand === -Infinity) return 0;
  if (kind === "threshold") return (Math.max(operand, 0) / power) ** power;
  return kind === "sigmoid" ? 1 / (1 + Math.exp(-operand)) : Math.exp(operand);
}

/**
 * Returns the logarithm of a denominator, the shift of a sigmoid, or the threshold above which keys have weight.
 * @param {number[]} logits
 * @param {Form} form
 */
export function statistic(logits, form) {
  if (form.kind === "sigmoid") return form.sink ?? 0;
  const top = Math.max(...logits), total = (/** @type {number[]} */ all) => all.reduce((sum, each) => sum + each, 0);
  if (form.kind === "softmax") {
    const added = form.sink === null ? 0 : Math.exp(form.sink - top);
    return top + Math.log(total(logits.map((logit) => Math.exp(logit - top))) + added);
  }
  let low = top - form.power, high = top;
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2;
    if (total(logits.map((logit) => weigh(logit - middle, form))) >= 1) low = middle;
    else high = middle;
  }
  return low;
}
