// The words of “Measure my GPU”: its button, its progress, and the result of a measurement.

export const MARKUP = `
<div class="actions">
  <button type="button" data-action="measure">Measure my GPU</button>
  <button type="button" data-action="cancel" hidden>Cancel</button>
  <input type="text" maxlength="80" aria-label="Name of this GPU (optional)" placeholder="Name of this GPU (optional)">
</div>
<progress max="1" value="0" hidden aria-label="Progress of the measurement"></progress>
<p role="status"></p>
<button type="button" class="link" data-action="answer" hidden>Show the answer at the top of the page</button>`;

const INSTEAD = " The chart has recorded and published GPUs.";
const SHORTER = "Measure again, or choose shorter lengths first.";
const WHY = {
  insecure: "No WebGPU here: browsers offer it only on https pages and on localhost, and this page came by plain http.",
  absent: "No WebGPU in this browser. Chrome and Edge have it from version 113, Safari from 26, Firefox from 141 on Windows.",
  refused: "This browser has WebGPU, but offers no GPU: it has none that it can use, or its use is switched off.",
};
export const ABOUT = "Runs attention on the GPU of this device by WebGPU, for a minute at most. Its timings are kept for this "
  + "visit alone.";
export const ASKING = "Asking the browser for a GPU", UNNAMED = "a GPU without a name", BROWSER = "a browser";
export const HIDDEN_TAB = "Waiting: this tab is hidden, and a hidden tab can't be timed", CANCELLED = "Cancelled.";
export const RATE = "A loop of fused multiply-adds, to know what this device can do";
export const CPU = "One head in JavaScript, on one thread", CPU_WRONG = "JavaScript, float32";
export const NO_FIT = "No kernel fits into the limits of this adapter.", SLOW_BUILD = "too slow to build";
export const NONE_AGREED = "No kernel agreed with the exact result.", NONE_BUILT = "No kernel could be built here.";
export const NO_REASON = "no reason was given", NO_ROOM = "no room for the buffers";

/** @param {"insecure" | "absent" | "refused"} state */
export function noGpu(state) {
  return WHY[state] + INSTEAD;
}

/** @param {string} name  of the adapter */
export function software(name) {
  const why = "That is not a GPU, so it is not measured.";
  return `This browser computes WebGPU in software (${name}), on the processor. ${why}${INSTEAD}`;
}

/** @param {string} why */
export function lostText(why) {
  return `The browser lost the GPU (${why}). ${SHORTER}`;
}

/** @param {string} why */
export function memoryEnded(why) {
  return `The GPU ran out of memory (${why}). ${SHORTER}`;
}

/** @param {string} why */
export function failedText(why) {
  return `Measuring failed: ${why.replace(/\.$/, "")}.`;
}

/**
 * The result of a measurement: how it ended, if something ended it, on which GPU it was, and what was not timed.
 * @param {{ ended: string, measured: boolean, name: string, wrong: string[] }} result
 */
export function resultText({ ended, measured, name, wrong }) {
  const where = measured ? `Measured on ${name}${ended ? ", before that" : ""}.` : "Nothing was measured.";
  const why = "Not timed, as it did not agree with the exact result or could not be built";
  return [ended, where, wrong.length ? `${why}: ${wrong.join("; ")}.` : ""].filter(Boolean).join(" ");
}

/** @param {number} d_head */
export function building(d_head) {
  return `Building the kernels for d_head ${d_head}`;
}

/** @param {{ how: string, dtype: string }} kernel */
export function comparing({ how, dtype }) {
  return `Comparing with the exact result: ${how}, ${dtype}`;
}

/** @param {{ how: string, dtype: string, tokens: number }} one */
export function timing({ how, dtype, tokens }) {
  return `${how}, ${dtype}, ${tokens.toLocaleString("en")} tokens`;
}

/** @param {string} tile */
export function fusedKernel(tile) {
  return `fused, float32, ${tile}`;
}

/** @param {{ how: string, dtype: string, subgroups: boolean }} kernel */
export function kernelName({ how, dtype, subgroups }) {
  return `${how}, ${dtype}${subgroups ? ", with subgroup operations" : ""}`;
}

/** @param {string} tile */
export function subgroupTile(tile) {
  return `${tile} with subgroup operations`;
}

/** @param {string} kernel */
export function notBuilt(kernel) {
  return `${kernel} (it can't be built here)`;
}

/** @param {{ needed: number, left: number }} seconds  that a call is expected to take, and that are left */
export function notStarted({ needed, left }) {
  return `not started: about ${short(needed)} s a call, and ${short(Math.max(left, 0))} s were left`;
}

/** @param {number} seconds */
function short(seconds) {
  return Number(seconds.toPrecision(2)).toLocaleString("en");
}

/** @param {number} needed  MiB */
export function noRoomForParts(needed) {
  return `out of memory: the parts of one query take ${needed} MiB`;
}

/** @param {{ needed: number, most: number, bound: boolean }} scores  MiB; `bound`: whether the device sets the limit */
export function noRoomForScores({ needed, most, bound }) {
  const limit = `${most} MiB ${bound ? "can be bound" : "are used at most"}`;
  return `out of memory: the scores of one head take ${needed} MiB, and ${limit}`;
}

/** @param {number} needed  MiB */
export function noRoomForInput(needed) {
  return `out of memory: 4 buffers of ${needed} MiB in all`;
}
