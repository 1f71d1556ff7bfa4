// The words of the row whose scores can be dragged.

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
<p class="title"><b>Drag a bar.</b> Move one score and see how the weights respond.</p>
<div class="plot" role="img"><canvas></canvas></div>
<div class="controls">
  <label><span>Score of key</span><select></select></label>
  <label class="by"><span></span><input type="range" min="-8" max="8" step="0.25"></label>
  <button type="button">Undo</button>
</div>
<p class="said" aria-live="polite"></p>`;

export const LOGITS = "logit", WEIGHTS = "weight", MASKED = "All keys are masked: there is no score to move.";

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
 * How the weight of the key and those of the others changed.
 * @param {Response} response
 */
export function describe({ name, by, before, now, others, support, form }) {
  if (!by) return `${name} has a weight of ${figure(before)}.`;
  const text = describeChange({ name, by, before, now, others, support, form });
  return `${text} The sentence above and the rest of the page show the row before this change.`;
}

/** @param {Response} response */
function describeChange({ name, by, before, now, others, support, form }) {
  const gets = `${name} gets ${figure(now)} instead of ${figure(before)}`, share = `${(100 * others).toFixed(1)}%`;
  const power = Math.exp(by), factor = power < 1000 ? power.toPrecision(3) : Math.round(power).toLocaleString("en");
  if (form.kind === "sigmoid") return `${gets}: w / (1 − w) is multiplied by ${factor}. No other weight changes.`;
  if (form.kind === "threshold") return `${gets}. ${support[1]} keys have weight, ${support[0]} before.`;
  return `${gets}: ${factor} times as much relative to any other key. The others share ${share}, in the same proportions.`;
}

/**
 * @param {string} said
 * @param {number} keys
 */
export function alternative(said, keys) {
  return `Bars by key: logits and weights of ${keys} keys. ${said}`;
}
