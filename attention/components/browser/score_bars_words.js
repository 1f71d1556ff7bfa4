// The words of the row whose logits can be dragged.

/**
 * What is described: the key, its logit now and its change, how many logits are moved, its weights before and now, the
 * weight of the others, the numbers of keys with weight before and now and of visible keys, and the number of the row that
 * its normaliser subtracts.
 * @typedef {object} Response
 * @property {string} name
 * @property {number} logit
 * @property {number} by
 * @property {number} moved
 * @property {number} before
 * @property {number} now
 * @property {number} others
 * @property {[number, number]} support
 * @property {number} visible
 * @property {number} statistic
 * @property {number} shift  what is subtracted from logits before their exponential is taken
 * @property {import("./message.js").Form} form
 * @property {number | null} raised  the end of the axis of logits, if a logit is moved beyond that of the row
 * @property {{ exp: number | null, weight: number | null }} cut  the end of an axis at which a bar is cut
 */

export const MARKUP = `
<p class="title"><b class="pointer">Drag a bar of the upper row.</b><b class="finger">Tap a bar, then drag its dot.</b>
  <span class="said" aria-live="polite"></span></p>
<div class="plot" role="img"><canvas></canvas><i class="grip"></i></div>
<div class="controls">
  <label><span>Or move the logit of</span><select></select></label>
  <label class="by"><span></span>
    <i class="track"><input type="range" step="0.25"><i class="zero" aria-hidden="true">0</i></i></label>
  <button type="button">Undo</button>
</div>
<p class="more"></p>`;

export const MASKED = "All keys are masked: there is no logit to move.";
export const HATCHED = ["masked: −∞", "exp(−∞) = 0", "weight 0"];  // on masked keys: logit, exponential, weight
/** @type {Record<string, string>} */
const CHANGES = { scaled: "scaling", lengthened: "query scaling", capped: "softcap", biased: "bias", logits: "masking" };
const SINK = "The number added to the sum belongs to no key: it takes the rest of the row.";
const SAFE = 15;  // logits up to which exponentials are written as they are; of larger ones the largest is subtracted

/**
 * Returns what is subtracted from the logits of a row before their exponentials are taken.
 * @param {number[]} logits
 */
export function shiftOf(logits) {
  const top = Math.max(...logits);
  return top > SAFE ? top : 0;
}

/**
 * What a logit is, above the upper bars.
 * @param {string[]} changes  the operations that make it of a score
 * @param {number | null} raised  the end of its axis if it has changed
 * @returns {[string, string]}
 */
export function logitTitle(changes, raised) {
  const all = changes.map((name) => CHANGES[name] ?? name), last = all.pop();
  const how = last ? ` after ${all.length ? `${all.join(", ")} and ` : ""}${last}` : "";
  return [`Logit: the score q · k${raised === null ? how : `; its axis now ends at ${raised}`}`, ""];
}

/**
 * The exponential of the moved logit, and the sum of those of all keys, above their bars.
 * @param {Response} row
 * @returns {[string, string]}
 */
export function expFormula({ logit, now, visible, statistic, shift, form, cut }) {
  const [power, sum] = quotient(Math.exp(logit - shift), Math.exp(statistic - shift), now, form);
  const name = shift ? `exp(logit − ${round(shift)})` : "exp", usual = shift ? "a shift changing no share" : "always positive";
  const what = `${name}, ${cut.exp === null ? usual : `bars cut at ${expLabel(cut.exp)}`}:`;
  const keys = `all ${visible.toLocaleString("en")}`;
  const added = form.sink === null ? "" : ` and ${figure(Math.exp(form.sink - shift))} of no key`;
  return [what, visible > 1 || added ? `${power} here; ${keys}${added} add up to ${sum}` : `${power} here, which is the sum`];
}

/**
 * The weight of the moved key, with its numbers, above the lower bars: what it is the weight of, and its formula.
 * @param {Response} row
 * @returns {[string, string]}
 */
export function weightFormula({ name, logit, now, statistic, shift, form, cut }) {
  const share = formatOf(form)(now), at = round(logit);
  const less = (/** @type {number} */ less) => `${at} ${less < 0 ? "+" : "−"} ${round(Math.abs(less))}`;
  const end = cut.weight === null ? "" : `, bars cut at ${axisLabel(cut.weight, form)}`;
  const who = `Weight of ${name}${end} =`;
  if (form.kind === "sigmoid") return [who, `1 / (1 + exp(−(${less(statistic)}))) = ${share}`];
  if (form.kind === "threshold") {
    const rest = `max(${less(statistic)}, 0)`;
    return [who, `${form.power > 1 ? `(${rest} / ${form.power})²` : rest} = ${share}`];
  }
  const [power, sum] = quotient(Math.exp(logit - shift), Math.exp(statistic - shift), now, form);
  return [`Share of ${name} in that sum${end}:`, `${power} / ${sum} = ${share}`];
}

/**
 * Formats two numbers with as many digits, three or more, as give their quotient on a calculator as it is written.
 * @param {number} power
 * @param {number} sum
 * @param {number} share  their quotient
 * @param {import("./message.js").Form} form
 */
export function quotient(power, sum, share, form) {
  const format = formatOf(form);
  for (let digits = 3; digits < 8; digits++) {
    for (const first of [digits - 1, digits].filter((least) => least > 2)) {
      const [above, below] = [figure(power, first), figure(sum, digits)];
      if (format(numberOf(above) / numberOf(below)) === format(share)) return [above, below];
    }
  }
  return [figure(power), figure(sum)];
}

/** @param {string} text */
const numberOf = (text) => Number(text.replaceAll(",", ""));

/**
 * Formats a logit with enough digits for three of its exponential.
 * @param {number} value
 * @param {number} [digits]
 */
export function round(value, digits = 3) {
  const text = Math.abs(value).toFixed(digits);
  return `${value < 0 && Number(text) ? "−" : ""}${text}`;
}

/** @param {number} by */
export function change(by) {
  return `by ${by > 0 ? "+" : ""}${round(by, 2)}`;
}

/**
 * @param {number} weight
 * @param {number} [digits]
 */
export function figure(weight, digits = 3) {
  if (weight < 1000) return weight === 0 ? "0" : weight.toPrecision(digits);
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(weight)));
  return weight.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** @param {number} weight */
const percent = (weight) => `${(100 * weight).toFixed(1)}%`;

/**
 * The format of the weights of a normaliser: shares of a row, or numbers of their own.
 * @param {import("./message.js").Form} form
 */
export function formatOf(form) {
  return form.kind === "sigmoid" ? figure : percent;
}

/**
 * The end of the axis of weights.
 * @param {number} top
 * @param {import("./message.js").Form} form
 */
export function axisLabel(top, form) {
  return form.kind === "sigmoid" ? `${Number(top.toPrecision(3))}` : `${Number((100 * top).toPrecision(3))}%`;
}

/**
 * The end of the axis of exponentials, which is a round number.
 * @param {number} top
 */
export function expLabel(top) {
  return Number(top.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
}

/**
 * The weight of the key, above the bars: it follows the dragged bar.
 * @param {Response} response
 */
export function describe({ name, moved, before, now, form }) {
  const format = formatOf(form);
  if (moved) return `${name} gets ${format(now)} instead of ${format(before)}.`;
  if (form.kind === "sigmoid") return `${name} has a weight of ${figure(before)}.`;
  return `${name} gets ${percent(before)} of the weight.`;
}

/**
 * How the weights of the others changed; without a change, what all of them share.
 * @param {Response} response
 */
export function explain(response) {
  if (!response.moved) return explainRow(response);
  return `${explainChange(response)} Lines mark the values before; the folds below show that row.`;
}

/** @param {Response} response */
function explainRow({ visible, statistic, form }) {
  const keys = `${visible.toLocaleString("en")} visible ${visible > 1 ? "keys" : "key"}`;
  if (form.kind === "sigmoid") return `Each of the ${keys} is weighed by itself: no sum is shared.`;
  if (form.kind === "threshold") return `The ${keys} share the threshold ${round(statistic)}: logits at or below it get 0.`;
  const sink = form.sink === null ? "" : ` ${SINK}`;
  return `A logit that is higher by 1 counts e = 2.72 times as much.${sink}`;
}

/** @param {Response} response */
function explainChange({ name, by, moved, others, support, form }) {
  const share = percent(others), power = Math.exp(by);
  const factor = power < 1000 ? power.toPrecision(3) : Math.round(power).toLocaleString("en");
  if (form.kind === "threshold") return `${support[1]} keys have weight, ${support[0]} before.`;
  if (moved > Number(by !== 0)) return severalMoved(moved, form);
  if (form.kind === "sigmoid") return `Of ${name}, w / (1 − w) is multiplied by ${factor}. No other weight changes.`;
  const rest = `The others share ${share}, in the same proportions.`;
  return `Relative to every other key that is exp(${round(by, 2)}) = ${factor} times as much. ${rest}`;
}

/**
 * What holds of a row in which another logit than that of the selected key is moved, too.
 * @param {number} moved
 * @param {import("./message.js").Form} form
 */
function severalMoved(moved, form) {
  const rest = form.kind === "sigmoid" ? "keep their weights" : "share the rest in the same proportions";
  return `${moved} ${moved > 1 ? "logits are" : "logit is"} moved. The other keys ${rest}.`;
}

/**
 * @param {string} said
 * @param {number} keys
 */
export function alternative(said, keys) {
  return `Bars by key: logits and weights of ${keys} keys. ${said}`;
}
