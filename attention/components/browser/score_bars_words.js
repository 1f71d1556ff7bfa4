// The words of the row whose logits can be dragged.

/**
 * What is described: the key, its change, its weights before and now, the weight of the others, the number of keys with
 * weight before and now, and whether the row has a single visible key.
 * @typedef {object} Response
 * @property {string} name
 * @property {number} by
 * @property {number} before
 * @property {number} now
 * @property {number} others
 * @property {[number, number]} support
 * @property {import("./message.js").Form} form
 */

export const MARKUP = `
<p class="title"><b>Drag a bar.</b> <span class="said" aria-live="polite"></span></p>
<div class="plot" role="img"><canvas></canvas></div>
<div class="controls">
  <label><span>Logit of key</span><select></select></label>
  <label class="by"><span></span><input type="range" min="-8" max="8" step="0.25"></label>
  <button type="button">Undo</button>
</div>
<p class="more"></p>`;

export const LOGITS = "logit", WEIGHTS = "weight", MASKED = "All keys are masked: there is no logit to move.";

/** @param {number} by */
export function change(by) {
  return `Change: ${by > 0 ? "+" : by < 0 ? "−" : ""}${Math.abs(by).toFixed(2)}`;
}

/** @param {number} weight */
export function figure(weight) {
  return weight === 0 ? "0" : weight.toPrecision(3);
}

/** @param {number} weight */
const percent = (weight) => `${(100 * weight).toFixed(1)}%`;

/**
 * The weight of the moved key, as it is written into the picture.
 * @param {number} before
 * @param {number} now
 */
export function beforeAndNow(before, now) {
  return `${percent(before)} before, ${percent(now)} now`;
}

/**
 * The weight of the key, above the bars: it follows the dragged bar.
 * @param {Response} response
 */
export function describe({ name, by, before, now, form }) {
  const format = form.kind === "sigmoid" ? figure : percent;
  if (by) return `${name} gets ${format(now)} instead of ${format(before)}.`;
  if (form.kind === "sigmoid") return `${name} has a weight of ${figure(before)}.`;
  return `${name} gets ${percent(before)} of the weight.`;
}

/**
 * How the weights of the others changed, empty without a change.
 * @param {Response} response
 */
export function explain(response) {
  return response.by ? `${explainChange(response)} The rest of the page shows the row before this change.` : "";
}

/** @param {Response} response */
function explainChange({ name, by, others, support, form }) {
  const share = percent(others), power = Math.exp(by);
  const factor = power < 1000 ? power.toPrecision(3) : Math.round(power).toLocaleString("en");
  if (form.kind === "sigmoid") return `Of ${name}, w / (1 − w) is multiplied by ${factor}. No other weight changes.`;
  if (form.kind === "threshold") return `${support[1]} keys have weight, ${support[0]} before.`;
  const change = `${by < 0 ? "−" : ""}${Math.abs(by).toFixed(2)}`;
  const rest = `The others share ${share}, in the same proportions.`;
  return `Relative to every other key that is e^${change} = ${factor} times as much. ${rest}`;
}

/**
 * @param {string} said
 * @param {number} keys
 */
export function alternative(said, keys) {
  return `Bars by key: logits and weights of ${keys} keys. ${said}`;
}
