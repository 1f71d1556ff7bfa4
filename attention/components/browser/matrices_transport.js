// Selects a step of the pass: by a key, by a button, or automatically while the pass is played.

import { find } from "./elements.js";
import { nextName, PAUSE_HELP, PLAY_HELP, playName, stepText } from "./matrices_words.js";

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
 * Selects the step that the next part leads to (`by` 1) or the one before (-1), from what was requested or is shown.
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
  if (lab.playing && lab.data.step !== null && !leadAfter(lab.data, lab.data.step, 1)) stop(lab);
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
 * Plays from the current part to the end; from the last one, or if all are shown, from the first one.
 * @param {Lab} lab
 */
function play(lab) {
  const { parts, step } = lab.data;
  if (step === null || !leadAfter(lab.data, step, 1)) ask(lab, parts[0].leads);
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
  return last === null ? undefined : leadAfter(data, last, by);
}

/**
 * Returns the nearest step after another one (`by` 1) or before it (-1) among those that the parts lead to.
 * @param {import("./matrices_cells.js").Data} data
 * @param {string} step
 * @param {number} by
 */
function leadAfter({ order, parts }, step, by) {
  const now = order.indexOf(step), leads = parts.map(({ leads }) => leads);
  const far = (/** @type {string} */ lead) => (order.indexOf(lead) - now) * by;
  return leads.filter((lead) => far(lead) > 0).sort((a, b) => far(a) - far(b))[0];
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
  const { step } = data, [before, next] = [-1, 1].map((by) => (step === null ? undefined : leadAfter(data, step, by)));
  const button = find(root, ".transport .play");
  root.classList.toggle("playing", Boolean(playing));
  find(button, "span", HTMLSpanElement).textContent = playName({ playing: Boolean(playing), ended: step !== null && !next });
  find(root, ".transport .next span", HTMLSpanElement).textContent = nextName(next);
  button.title = playing ? PAUSE_HELP : PLAY_HELP;
  const ends = { ".back": !before, ".next": !next };
  for (const [which, end] of Object.entries(ends)) find(root, `.transport ${which}`).ariaDisabled = `${end}`;
  const told = find(root, ".where"), part = data.parts.findIndex(({ steps }) => step !== null && steps.includes(step));
  const text = stepText({ step, at: part, parts: data.parts });
  if (told.textContent !== text) told.textContent = text;  // screen readers announce each change
}
