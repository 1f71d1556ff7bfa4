// One row as bars whose scores can be dragged: `draw` adds it to an element of any page, given a message of
// `attention.components.score_bars.message`. The weights are computed here.

import { alive, createRoot, find } from "./elements.js";
import { openMessage } from "./message.js";
import { normalise } from "./normalise.js";
import { keyAt, logitsPerPixel, overLogits, paint } from "./score_bars_picture.js";
import { alternative, change, describe, explain, MARKUP, MASKED } from "./score_bars_words.js";
import { applyTheme } from "./theme.js";

/**
 * @typedef {import("./message.js").ScoresHeader & { logits: number[] }} ScoresData
 */

/**
 * @typedef {object} Scores
 * @property {HTMLElement} root
 * @property {HTMLCanvasElement} canvas
 * @property {HTMLSelectElement} select
 * @property {HTMLInputElement} slider
 * @property {ScoresData} data
 * @property {import("./theme.js").Ground} neutrals
 * @property {number[]} before  the weights of the row
 * @property {number[]} now  its weights after the change
 * @property {number} key  the key whose score is moved, -1 if all are masked
 * @property {number} by
 * @property {number} top  the end of the axis of weights
 * @property {number} width  the width for which it is painted
 */

const MOST = 8, STEP = 0.25;  // largest change of a logit, and its steps
const LOW = 0.1;  // of a lower row without a change, the axis of weights ends below 1

/**
 * Draws the row at the end of an element.
 * @param {Element} element
 * @param {Uint8Array} bytes
 */
export function draw(element, bytes) {
  const root = createRoot(element, "score-bars", MARKUP), data = unpack(bytes);
  /** @type {Scores} */
  const scores = {
    root, data, canvas: find(root, "canvas", HTMLCanvasElement), select: find(root, "select", HTMLSelectElement),
    slider: find(root, "input", HTMLInputElement), neutrals: applyTheme(root, data.neutrals, data.accents),
    before: [], now: [], key: -1, by: 0, top: 1, width: 0,
  };
  listen(scores);
  update(scores, data);
  return alive(scores, () => show(scores), (next) => update(scores, unpack(next)));
}

/**
 * @param {Uint8Array} bytes
 * @returns {ScoresData}
 */
function unpack(bytes) {
  const [header, start] = openMessage(bytes);
  return { ...header, logits: [...new Float32Array(bytes.slice(start).buffer)] };
}

/**
 * Shows a row; the change of another row is undone.
 * @param {Scores} scores
 * @param {ScoresData} data
 */
function update(scores, data) {
  const { root, select } = scores, other = root.dataset.painted !== data.painted;
  scores.data = data;
  scores.neutrals = applyTheme(root, data.neutrals, data.accents);
  scores.before = normalise(data.logits, data.form);
  if (other) {
    Object.assign(scores, { key: data.key ?? -1, by: 0 });
    const options = data.names.flatMap((name, key) => (isVisible(scores, key) ? [new Option(name, `${key}`)] : []));
    select.replaceChildren(...options);
  }
  show(scores);
  root.dataset.painted = data.painted;
}

/**
 * @param {Scores} scores
 * @param {number} key
 */
function isVisible({ data }, key) {
  return Number.isFinite(data.logits[key]);
}

/** @param {Scores} scores */
function show(scores) {
  const { data, root, select, slider, key, by } = scores, none = key < 0;
  scores.width = root.clientWidth;
  scores.now = normalise(data.logits.map((logit, at) => (at === key ? logit + by : logit)), data.form);
  const most = Math.max(...scores.before);
  scores.top = by || most >= LOW ? 1 : roundUp(most);
  select.disabled = slider.disabled = none;
  select.value = `${key}`;
  slider.value = `${by}`;
  slider.setAttribute("aria-valuetext", change(by));
  find(root, ".by span").textContent = change(by);
  find(root, "button").toggleAttribute("disabled", !by);
  const row = none ? null : rowOf(scores), said = row ? describe(row) : MASKED, more = row ? explain(row) : "";
  find(root, ".said").textContent = said;
  find(root, ".more").textContent = more;
  find(root, ".plot").setAttribute("aria-label", alternative(`${said} ${more}`.trim(), data.logits.length));
  if (scores.width) paint(scores);
}

/**
 * What the sentences are about.
 * @param {Scores} scores
 */
function rowOf({ data, before, now, key, by }) {
  const count = (/** @type {number[]} */ weights) => weights.filter((weight) => weight > 0).length;
  const others = now.reduce((sum, weight) => sum + weight, 0) - now[key];
  /** @type {[number, number]} */
  const support = [count(before), count(now)];
  return { name: data.names[key], by, before: before[key], now: now[key], others: Math.max(0, others), support, form: data.form };
}

/**
 * Returns the next of 1, 2, 5, 10 … percent, as the end of an axis.
 * @param {number} weight
 */
function roundUp(weight) {
  const power = 10 ** Math.floor(Math.log10(Math.max(weight, 1e-6)));
  return Math.min(1, [1, 2, 5, 10].map((step) => step * power).find((end) => end >= weight * 0.999) ?? 1);
}

/**
 * Moves the score of a key by so much, within the axis.
 * @param {Scores} scores
 * @param {number} by
 */
function moveTo(scores, by) {
  const { data, key } = scores, [least, most] = data.ends.map((end) => Math.max(-MOST, Math.min(MOST, end - data.logits[key])));
  scores.by = Math.min(Math.max(Math.round(by / STEP) * STEP, Math.ceil(least / STEP) * STEP), Math.floor(most / STEP) * STEP);
  show(scores);
}

/**
 * Selects a key; the change of the one before is undone.
 * @param {Scores} scores
 * @param {number} key
 */
function choose(scores, key) {
  if (key === scores.key || !isVisible(scores, key)) return;
  Object.assign(scores, { key, by: 0 });
  show(scores);
}

/** @param {Scores} scores */
function listen(scores) {
  const { canvas, select, slider, root } = scores;
  /** @type {{ y: number, by: number } | null} */
  let grip = null;
  canvas.addEventListener("pointerdown", (event) => {
    const key = keyAt(scores, event);
    choose(scores, key);
    if (key !== scores.key || event.pointerType === "touch" || !overLogits(scores, event)) return;
    grip = { y: event.clientY, by: scores.by };
    canvas.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (grip) moveTo(scores, grip.by + (grip.y - event.clientY) * logitsPerPixel(scores));
    const drags = overLogits(scores, event) && isVisible(scores, keyAt(scores, event));
    canvas.style.cursor = grip || drags ? "ns-resize" : "default";
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (grip = null));
  select.addEventListener("change", () => choose(scores, Number(select.value)));
  slider.addEventListener("input", () => moveTo(scores, slider.valueAsNumber));
  find(root, "button").addEventListener("click", () => moveTo(scores, 0));
}
