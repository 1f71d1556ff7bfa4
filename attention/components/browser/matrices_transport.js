// To which step of the pass one turns: by a key, by a button, or by itself, at a pace that one can follow.

import { find } from "./elements.js";

/** @typedef {import("./matrices_layout.js").Lab} Lab */

const PACE = 2800;  // milliseconds that a step stays on the screen while the pass is played
const PATIENCE = 2000;  // milliseconds in which the next turn counts from the step that was asked for, drawn or not

const icon = (/** @type {string} */ kind, /** @type {string} */ shape) =>
  `<svg class="${kind}" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="${shape}"/></svg>`;
const BACK = icon("", "M10.5 3 5 8l5.5 5z"), NEXT = icon("", "M5.5 3 11 8l-5.5 5z");
const PLAY = icon("on", "M4.5 2.5v11l8.5-5.5z") + icon("off", "M4 3h3v10H4zM9 3h3v10H9z");

export const TRANSPORT = `
<div class="transport">
  <button type="button" class="back" title="Previous step" aria-label="Previous step">${BACK}</button>
  <button type="button" class="play">${PLAY}<span></span></button>
  <button type="button" class="next" title="Next step" aria-label="Next step">${NEXT}</button>
  <p class="where" role="status"><b></b> <span></span></p>
</div>`;

/**
 * Follows the buttons of the transport.
 * @param {Lab} lab
 */
export function followButtons(lab) {
  const on = (/** @type {string} */ name, /** @type {() => void} */ act) =>
    find(lab.root, `.transport ${name}`).addEventListener("click", act);
  on(".back", () => turnBy(lab, -1));
  on(".next", () => turnBy(lab, 1));
  on(".play", () => (lab.playing ? stop(lab) : play(lab)));
}

/**
 * To the next step but `by` of the one that was asked for, or of the one that is shown.
 * @param {Lab} lab
 * @param {number} by
 */
export function turnBy(lab, by) {
  const step = following(lab, by);
  if (step) turnTo(lab, step);
}

/**
 * Somebody turns to a step: what plays by itself ends.
 * @param {Lab} lab
 * @param {string} step
 */
export function turnTo(lab, step) {
  stop(lab);
  ask(lab, step);
}

/**
 * A step was drawn: it has its time from now on, and the last one ends the play.
 * @param {Lab} lab
 * @param {boolean} other  is it another than before?
 */
export function onStepDrawn(lab, other) {
  const { order, step } = lab.data;
  if (lab.playing && step === order[order.length - 1]) stop(lab);
  else if (lab.playing && other) wait(lab);
  updateTransport(lab);
}

/** @param {Lab} lab */
export function stop(lab) {
  clearTimeout(lab.playing);
  lab.playing = 0;
  updateTransport(lab);
}

/**
 * From the step that is shown to the end; from the end, or where all are shown, from the first one.
 * @param {Lab} lab
 */
function play(lab) {
  const { order, step } = lab.data;
  if (step === null || step === order[order.length - 1]) ask(lab, order[0]);
  wait(lab);
}

/** @param {Lab} lab */
function wait(lab) {
  clearTimeout(lab.playing);
  lab.playing = window.setTimeout(() => goOn(lab), PACE);
  updateTransport(lab);
}

/**
 * The next step, unless the page was left; while nobody looks, later.
 * @param {Lab} lab
 */
function goOn(lab) {
  const step = lab.root.isConnected ? following(lab, 1) : undefined;
  if (!step) return stop(lab);
  if (!document.hidden) ask(lab, step);
  wait(lab);
}

/**
 * @param {Lab} lab
 * @param {number} by
 * @returns {string | undefined}
 */
function following({ data, asked }, by) {
  const last = asked && performance.now() - asked.at < PATIENCE ? asked.step : data.step;
  return last === null ? undefined : data.order[data.order.indexOf(last) + by];
}

/**
 * @param {Lab} lab
 * @param {string} step
 */
function ask(lab, step) {
  lab.asked = { step, at: performance.now() };
  lab.ways.onTurn?.({ step, steps: "one" });
}

/**
 * What the transport says: which step it is, and what its buttons do now.
 * @param {Lab} lab
 */
function updateTransport({ root, data, playing }) {
  const { order, step } = data, at = step === null ? -1 : order.indexOf(step), last = order.length - 1;
  const button = find(root, ".transport .play"), name = playing ? "Pause" : at === last ? "Play again" : "Play";
  root.classList.toggle("playing", Boolean(playing));
  find(button, "span", HTMLSpanElement).textContent = name;
  button.title = playing ? "Stay at this step" : "Go through the steps, one every three seconds";
  const ends = { ".back": at <= 0, ".next": at < 0 || at === last };
  for (const [which, end] of Object.entries(ends)) find(root, `.transport ${which}`).ariaDisabled = `${end}`;
  const where = step === null ? `All ${order.length} steps at once` : `Step ${at + 1} of ${order.length}: ${step}`;
  for (const [part, text] of [["b", where], ["span", data.lesson]]) {
    const told = find(root, `.where ${part}`);
    if (told.textContent !== text) told.textContent = text;  // said aloud whenever it changes
  }
}
