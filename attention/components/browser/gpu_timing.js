// The button “Measure my GPU”: its states, progress and cancel. What is measured is in webgpu/.

import { find, createRoot, scrollToStart } from "./elements.js";
import {
  ABOUT, ASKING, BROWSER, CANCELLED, failedText, HIDDEN_TAB, lostText, MARKUP, memoryEnded, noGpu, resultText, software,
} from "./gpu_timing_words.js";
import { findAdapter, openDevice } from "./webgpu/adapter.js";
import { DeviceLost, OutOfMemory, watchDevice } from "./webgpu/device.js";
import { measure } from "./webgpu/measure.js";
import { emptyResult } from "./webgpu/plan.js";

/**
 * The data of the button, and what it sends: `measured` gets the message of a measurement. `answered`: whether the page answers
 * with a measurement of this visit. `finished`: how many measurements on the server have ended in this visit.
 * @typedef {{ plan: import("./webgpu/plan.js").Plan | null, lacking: string, answered: boolean, finished: number }} Wanted
 * @typedef {{ measured: (message: object) => void }} Ways
 */

class Cancelled extends Error {}

/** How the last measurement of this tab ended; shown again when Streamlit mounts the button again, as a changed page can. */
let last = { state: "ready", text: ABOUT };

/**
 * Draws the button in an element.
 * @param {Element} parent
 * @param {Wanted} first
 * @param {Ways} ways
 */
export function draw(parent, first, ways) {
  const root = createRoot(parent, "gpu-timing", MARKUP), status = find(root, "p");
  const button = find(root, "[data-action=measure]", HTMLButtonElement);
  const cancel = find(root, "[data-action=cancel]"), progress = find(root, "progress", HTMLProgressElement);
  const field = find(root, "input", HTMLInputElement), answer = find(root, "[data-action=answer]");
  let wanted = first, running = false, controller = new AbortController();

  /** @param {string} state @param {string} text */
  const show = (state, text) => {
    root.dataset.state = state;
    status.textContent = text;
    progress.hidden = cancel.hidden = !running;
    answer.hidden = running || !wanted.answered;
    button.disabled = running || !wanted.plan || Boolean(lackingWebGpu());
  };
  /** @param {Wanted} next */
  const update = (next) => {
    const ended = next.finished > wanted.finished;
    wanted = next;
    if (running) return;
    if (ended) showAnswer();
    answer.hidden = !wanted.answered;
    const without = lackingWebGpu();
    if (!wanted.plan) show("lacking", wanted.lacking);
    else if (without) show(without, noGpu(without));
    else if (root.dataset.state === "lacking" || !root.dataset.state) show(last.state, last.text);
    else button.disabled = false;
  };
  cancel.onclick = () => controller.abort();
  answer.onclick = showAnswer;
  button.onclick = async () => {
    const { plan } = wanted;
    if (!plan || running) return;
    running = true;
    controller = new AbortController();
    show("running", ASKING);
    try {
      const say = (/** @type {number} */ part, /** @type {string} */ text) => {
        progress.value = part;
        show("running", text);
        if (!root.isConnected) controller.abort();  // the page was left
      };
      const outcome = await run(plan, say, controller.signal);
      running = false;
      last = outcome;
      show(outcome.state, outcome.text);
      if (outcome.message) ways.measured({ ...outcome.message, device: field.value.trim() || outcome.message.device });
    } finally {
      running = false;
      progress.hidden = cancel.hidden = true;
      button.disabled = !wanted.plan;
    }
  };
  update(first);
  return { update };
}

/**
 * Why this browser has no WebGPU at all, "" if it has it: whether there is a GPU is known only after a click.
 * @returns {"" | "absent" | "insecure"}
 */
function lackingWebGpu() {
  return /** @type {any} */ (navigator).gpu ? "" : isSecureContext ? "absent" : "insecure";
}

/** Brings the headline of the page into view and moves the focus there, without motion for those who want none. */
function showAnswer() {
  const headline = [...document.querySelectorAll(".st-key-finding")].pop();
  if (!(headline instanceof HTMLElement)) return;
  headline.tabIndex = -1;
  headline.focus({ preventScroll: true });
  scrollToStart(headline, "5rem");  // below the menu
}

/**
 * Measures a plan. Returns the state to show, with the message for the server if anything was measured.
 * @param {import("./webgpu/plan.js").Plan} plan
 * @param {(part: number, text: string) => void} say
 * @param {AbortSignal} signal
 * @returns {Promise<{ state: string, text: string, message?: { device: string } }>}
 */
async function run(plan, say, signal) {
  const found = await findAdapter(/** @type {any} */ (navigator).gpu, isSecureContext);
  if (found.state === "software") return { state: "software", text: software(found.name) };
  if (found.state !== "ready") return { state: found.state, text: noGpu(found.state) };
  const result = emptyResult(), { watch, stop } = createWatch(say, signal);
  let device = null, ended = "", state = "done";
  try {
    device = await openDevice(found.adapter);
    await measure(watchDevice(device), plan, watch, result);
  } catch (error) {
    [state, ended] = describeEnd(error);
  } finally {
    stop();
    device?.destroy();
  }
  const kept = result.rows.some(({ how, times }) => how !== "JavaScript" && times.length);
  const text = resultText({ ended, measured: kept, name: found.name, wrong: result.wrong });
  if (!kept) return { state: state === "done" ? "nothing" : state, text };
  const message = { ...result, device: found.name, browser: browserName(), mask: plan.mask, d_head: plan.d_head, ended };
  return { state, text, message };
}

/**
 * @param {unknown} error
 * @returns {[string, string]}
 */
function describeEnd(error) {
  if (error instanceof Cancelled) return ["cancelled", CANCELLED];
  if (error instanceof DeviceLost) return ["lost", lostText(error.message)];
  if (error instanceof OutOfMemory) return ["memory", memoryEnded(error.message)];
  return ["failed", failedText(`${error instanceof Error ? error.message : error}`)];
}

/**
 * Returns what a measurement asks for: waits while the tab is hidden, and an end when it is cancelled.
 * @param {(part: number, text: string) => void} say
 * @param {AbortSignal} signal
 */
export function createWatch(say, signal) {
  let pauses = 0, waited = 0;
  const ended = new Promise((_, fail) => { signal.addEventListener("abort", () => fail(new Cancelled())); });
  ended.catch(() => {});
  const count = () => { if (document.hidden) pauses++; };
  document.addEventListener("visibilitychange", count);
  const rest = async () => {
    await new Promise((then) => { setTimeout(then); });  // lets the page paint, and a click on Cancel arrive
    if (document.hidden) say(0, HIDDEN_TAB);
    const start = performance.now();
    while (document.hidden && !signal.aborted) await new Promise((then) => { setTimeout(then, 200); });
    waited += (performance.now() - start) / 1000;
    if (signal.aborted) throw new Cancelled();
  };
  const end = { ended: /** @type {Promise<never>} */ (ended), stopped: () => signal.aborted };
  const watch = { say, rest, ...end, pauses: () => pauses, waited: () => waited };
  return { watch, stop: () => document.removeEventListener("visibilitychange", count) };
}

function browserName() {
  const agent = navigator.userAgent, found = /(Edg|Firefox|Chrome)\/(\d+)/.exec(agent) ?? /(Version)\/(\d+)/.exec(agent);
  const names = { Edg: "Edge", Version: "Safari" };
  const system = /Windows|Mac OS|Android|iPhone|iPad|CrOS|Linux/.exec(agent)?.[0] ?? "";
  const name = found ? `${names[/** @type {"Edg"} */ (found[1])] ?? found[1]} ${found[2]}` : BROWSER;
  return [name, system].filter(Boolean).join(", ");
}
