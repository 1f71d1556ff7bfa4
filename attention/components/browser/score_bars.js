// One row as bars whose scores can be dragged: `draw` adds it to an element of any page, given a message of
// `attention.components.score_bars.message`. The weights are computed here.

import { alive, createRoot, find } from "./elements.js";
import { openMessage } from "./message.js";
import { normalise, statistic } from "./normalise.js";
import { keyAt, logitsPerPixel, overLogits } from "./score_bars_layout.js";
import { paint } from "./score_bars_picture.js";
import { alternative, change, describe, explain, MARKUP, MASKED, shiftOf } from "./score_bars_words.js";
import { applyTheme } from "./theme.js";

/**
 * @typedef {import("./message.js").ScoresHeader & { logits: number[] }} ScoresData
 */

/**
 * @typedef {object} Scores
 * @property {HTMLElement} root
 * @property {HTMLCanvasElement} canvas
 * @property {HTMLElement} grip  where a finger drags the moved bar, without scrolling the page
 * @property {HTMLSelectElement} select
 * @property {HTMLInputElement} slider
 * @property {ScoresData} data
 * @property {import("./theme.js").Ground} neutrals
 * @property {number[]} before  the weights of the row
 * @property {number[]} now  its weights after the change
 * @property {number} key  the key that is selected, -1 if all are masked
 * @property {number[]} moves  the change of every logit
 * @property {[number, number]} ends  of the axis of logits: those of the row, farther if a logit is moved beyond them
 * @property {number} top  the end of the axis of weights, which stays while logits are moved
 * @property {number} shift  what is subtracted from logits before their exponential is taken, 0 unless they are large
 * @property {{ before: number[], now: number[], top: number }} exps  the exponentials of the logits, and the end of their axis,
 * which stays, too
 * @property {number} width  the width for which it is painted
 */

const STEP = 0.25;  // of a change of a logit
const ABOVE = 4;  // logits above the largest of the row that any can be moved to: then its key has almost all of the weight
const ROUND = [1, 1.5, 2, 3, 4, 6, 10];  // the axes of exponentials and weights end at one of these times a power of ten
const HEADROOM = 2;  // times the largest of the row, at least, is where these axes end
const THUMB = 16;  // pixels: the width of the thumb of the slider

/**
 * Draws the row at the end of an element.
 * @param {Element} element
 * @param {Uint8Array} bytes
 */
export function draw(element, bytes) {
  const root = createRoot(element, "score-bars", MARKUP), data = unpack(bytes);
  /** @type {Scores} */
  const scores = {
    root, data, canvas: find(root, "canvas", HTMLCanvasElement), grip: find(root, ".grip"),
    select: find(root, "select", HTMLSelectElement), slider: find(root, "input", HTMLInputElement),
    neutrals: applyTheme(root, data.neutrals, data.accents),
    before: [], now: [], key: -1, moves: [], ends: data.ends, top: 1, width: 0,
    shift: 0, exps: { before: [], now: [], top: 1 },
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
 * Shows a row; the changes of another row are undone.
 * @param {Scores} scores
 * @param {ScoresData} data
 */
function update(scores, data) {
  const { root, select } = scores, other = root.dataset.painted !== data.painted;
  scores.data = data;
  scores.neutrals = applyTheme(root, data.neutrals, data.accents);
  scores.before = normalise(data.logits, data.form);
  if (other) {
    Object.assign(scores, { key: data.key ?? -1, moves: data.logits.map(() => 0), shift: shiftOf(data.logits) });
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
  const { data, root, select, slider, key, moves } = scores, none = key < 0, by = moves[key] ?? 0;
  scores.width = root.clientWidth;
  const logits = movedLogits(scores), exp = (/** @type {number} */ logit) => Math.exp(logit - scores.shift);
  scores.now = normalise(logits, data.form);
  scores.ends = [data.ends[0], Math.max(data.ends[1], Math.ceil(2 * Math.max(...logits)) / 2)];
  const exps = { before: data.logits.map(exp), now: logits.map(exp) }, moved = moves.some(Boolean);
  scores.top = data.key === null ? 1 : Math.min(1, axisEnd(scores.before));
  scores.exps = { ...exps, top: axisEnd(exps.before) };
  [slider.min, slider.max] = none ? ["0", "0"] : reach(scores).map(String);
  select.disabled = slider.disabled = none;
  select.value = `${key}`;
  slider.value = `${by}`;
  slider.setAttribute("aria-valuetext", change(by));
  find(root, ".by span").textContent = change(by);
  const [low, high] = [slider.min, slider.max].map(Number), place = low < high ? -low / (high - low) : 0;
  find(root, ".zero").style.left = `calc(${place} * (100% - ${THUMB}px))`;
  find(root, "button").toggleAttribute("disabled", !moved);
  const row = none ? null : rowOf(scores), said = row ? describe(row) : MASKED, more = row ? explain(row) : "";
  find(root, ".said").textContent = said;
  find(root, ".more").textContent = more;
  find(root, ".plot").setAttribute("aria-label", alternative(`${said} ${more}`.trim(), data.logits.length));
  if (scores.width) paint(scores, row);
}

/**
 * What the sentences are about.
 * @param {Scores} scores
 */
function rowOf(scores) {
  const { data, before, now, key, moves, shift, exps, top, ends } = scores, { form, names } = data;
  const logits = movedLogits(scores), by = moves[key];
  const count = (/** @type {number[]} */ weights) => weights.filter((weight) => weight > 0).length;
  const others = now.reduce((sum, weight) => sum + weight, 0) - now[key];
  /** @type {[number, number]} */
  const support = [count(before), count(now)];
  return {
    name: names[key], logit: logits[key], by, moved: moves.filter(Boolean).length,
    before: before[key], now: now[key], others: Math.max(0, others), support,
    visible: logits.filter(Number.isFinite).length, statistic: statistic(logits, form), shift, form,
    raised: ends[1] > data.ends[1] ? ends[1] : null,
    cut: { exp: Math.max(...exps.now) > exps.top ? exps.top : null, weight: Math.max(...now) > top ? top : null },
  };
}

/**
 * Returns the logits with their changes.
 * @param {Scores} scores
 */
function movedLogits({ data, moves }) {
  return data.logits.map((logit, key) => logit + moves[key]);
}

/**
 * Returns the end of an axis: a round number with room above the largest of the row. Higher bars are cut there, so that no bar
 * changes its height while its number does not change.
 * @param {number[]} before
 */
function axisEnd(before) {
  const most = HEADROOM * Math.max(...before) || 1, power = 10 ** Math.floor(Math.log10(most));
  return (ROUND.find((step) => step * power >= most * 0.999) ?? 10) * power;
}

/**
 * Returns the lowest and the highest change of the selected logit.
 * @param {Scores} scores
 */
function reach({ data, key }) {
  const most = Math.max(...data.logits) + ABOVE;
  const [low, high] = [data.ends[0], most].map((end) => (end - data.logits[key]) / STEP);
  return [Math.ceil(low) * STEP, Math.floor(high) * STEP];
}

/**
 * Moves the logit of the selected key by so much, within its reach.
 * @param {Scores} scores
 * @param {number} by
 */
function moveTo(scores, by) {
  const [least, most] = reach(scores);
  scores.moves[scores.key] = Math.min(Math.max(Math.round(by / STEP) * STEP, least), most);
  show(scores);
}

/**
 * Selects a key; changes of others stay.
 * @param {Scores} scores
 * @param {number} key
 */
function choose(scores, key) {
  if (key === scores.key || !isVisible(scores, key)) return;
  scores.key = key;
  show(scores);
}

/** @param {Scores} scores */
function listen(scores) {
  const { canvas, grip, select, slider, root } = scores;
  /** @type {{ y: number, by: number, step: number } | null} */
  let start = null;
  const hold = (/** @type {HTMLElement} */ element, /** @type {PointerEvent} */ event) => {
    start = { y: event.clientY, by: scores.moves[scores.key], step: logitsPerPixel(scores) };  // even if the axis grows
    element.setPointerCapture(event.pointerId);
    event.preventDefault();
  };
  canvas.addEventListener("pointerdown", (event) => {
    const key = keyAt(scores, event);
    choose(scores, key);
    if (key !== scores.key || event.pointerType === "touch" || !overLogits(scores, event)) return;
    hold(canvas, event);
  });
  grip.addEventListener("pointerdown", (event) => hold(grip, event));
  canvas.addEventListener("pointermove", (event) => {
    const drags = overLogits(scores, event) && isVisible(scores, keyAt(scores, event));
    canvas.style.cursor = start || drags ? "ns-resize" : "default";
  });
  for (const element of [canvas, grip]) {
    element.addEventListener("pointermove", ({ clientY }) => {
      if (start) moveTo(scores, start.by + (start.y - clientY) * start.step);
    });
    for (const end of ["pointerup", "pointercancel"]) element.addEventListener(end, () => (start = null));
  }
  select.addEventListener("change", () => choose(scores, Number(select.value)));
  slider.addEventListener("input", () => moveTo(scores, slider.valueAsNumber));
  find(root, "button").addEventListener("click", () => {
    scores.moves.fill(0);
    show(scores);
  });
}
