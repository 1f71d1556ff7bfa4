// Selects a step of the pass: by a key, by a button, or automatically while the pass is played.

import { find } from "./elements.js";
import { earlierText, nextName, PAUSE_HELP, PLAY_HELP, playName, stepText } from "./matrices_words.js";

/** @typedef {import("./matrices_layout.js").Lab} Lab */

const PACE = 3000;  // milliseconds for which a step is shown while the pass is played
const PATIENCE = 2000;  // milliseconds in which the next turn counts from the requested step, even if it is not drawn yet

/**
 * Handles the buttons of the transport.
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
 * Selects the step `by` steps after the one that was requested, or after the one that is shown.
 * @param {Lab} lab
 * @param {number} by
 */
export function turnBy(lab, by) {
  const step = following(lab, by);
  if (step) turnTo(lab, step);
}

/**
 * Selects a step, and stops playing.
 * @param {Lab} lab
 * @param {string} step
 */
export function turnTo(lab, step) {
  stop(lab);
  ask(lab, step);
}

/**
 * Called after a step was drawn: starts the time for which it is shown; at the last step, stops playing.
 * @param {Lab} lab
 * @param {boolean} other  whether it is another step than before
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
 * Plays from the current step to the end; from the last step, or if all steps are shown, from the first one.
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
 * Requests the next step, unless the page was left; while the tab is hidden, it waits.
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
 * Updates the texts of the transport: the current step, and the actions of its buttons.
 * @param {Lab} lab
 */
function updateTransport({ root, data, playing }) {
  const { order, step } = data, at = step === null ? -1 : order.indexOf(step), last = order.length - 1;
  const button = find(root, ".transport .play");
  root.classList.toggle("playing", Boolean(playing));
  find(button, "span", HTMLSpanElement).textContent = playName({ playing: Boolean(playing), ended: at === last });
  find(root, ".transport .next span", HTMLSpanElement).textContent = nextName(at < 0 ? undefined : order[at + 1]);
  button.title = playing ? PAUSE_HELP : PLAY_HELP;
  const ends = { ".back": at <= 0, ".next": at < 0 || at === last };
  for (const [which, end] of Object.entries(ends)) find(root, `.transport ${which}`).ariaDisabled = `${end}`;
  const told = find(root, ".where"), part = data.parts.findIndex(({ steps }) => step !== null && steps.includes(step));
  const text = stepText({ step, at: part, parts: data.parts });
  find(root, ".earlier").textContent = earlierText({ at: part, parts: data.parts });
  if (told.textContent !== text) told.textContent = text;  // screen readers announce each change
}
