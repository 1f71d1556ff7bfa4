// What is measured, and its results: the types that the server, the measurement and its display share.

/**
 * A case: `batch` sequences of `heads` heads. `tokens`: the constant product of batch and length, 0 if there is none.
 * `queries`: how many of the last tokens are queries, 0 for all. `kv_heads`: heads of keys and values, 0 for as many.
 * `window`: the nearest keys that a query attends to, 0 for all.
 * @typedef {object} Case
 * @property {number} length
 * @property {number} batch
 * @property {number} heads
 * @property {number} d_head
 * @property {number} tokens
 * @property {"full" | "causal"} mask
 * @property {number} queries
 * @property {number} kv_heads
 * @property {number} window
 */

/**
 * The cases of one d_head, the tiles to choose from and what the kernels must agree with.
 * @typedef {object} Part
 * @property {number} d_head
 * @property {Case[]} cases
 * @property {import("./kernels.js").Tile[]} tiles
 * @property {import("./kernels.js").Tile} decode  for one query
 * @property {import("./proof.js").Proof[]} proofs
 */

/**
 * What is measured, in this order, in `seconds` at most.
 * @typedef {object} Plan
 * @property {"full" | "causal"} mask  that of the picture, as is `d_head`
 * @property {number} d_head
 * @property {number} seconds
 * @property {Part[]} parts
 */

/**
 * @typedef {"float32" | "float16"} Dtype
 * @typedef {"fused" | "materialised" | "decode" | "materialised decode" | "JavaScript"} How  how "decode": fused, for one query
 */

/**
 * One case by one kernel, with the seconds of each sample, or the reason why there are none. `moves`: seconds of the
 * input to the GPU, and of the output back.
 * @typedef {{ case: Case, how: How, dtype: Dtype, times: number[], error: string, moves: [number, number] }} Row
 */

/**
 * @typedef {object} Result
 * @property {Row[]} rows
 * @property {number} unbegun  cases that were not begun as the time was short
 * @property {number} rate  operations a second of the loop of fused multiply-adds
 * @property {string} tile
 * @property {string[]} wrong  kernels that did not agree with the exact result
 * @property {number} difference  the largest one of the others, in float32
 * @property {boolean} stamped  timed by the GPU's timestamps
 */

/**
 * @typedef {object} Kernel
 * @property {Exclude<How, "JavaScript">} how
 * @property {Dtype} dtype
 * @property {import("./kernels.js").Tile} tile
 * @property {any} pipelines
 * @property {number} rate  operations a second, of the last call
 */

/**
 * What a measurement reports to and asks: `say` shows progress from 0 to 1, `rest` waits while the tab is hidden and throws
 * if it was cancelled, `ended` is rejected and `stopped` true then, `pauses` is the number of such waits, `waited` their seconds.
 * @typedef {object} Watch
 * @property {(part: number, text: string) => void} say
 * @property {() => Promise<void>} rest
 * @property {Promise<never>} ended
 * @property {() => boolean} stopped
 * @property {() => number} pauses
 * @property {() => number} waited
 */

/** @typedef {{ open: import("./device.js").Open, watch: Watch, result: Result, left: () => number }} Session */

// Seconds that a dispatch is to take at most: a prediction that is three times off leaves it below 0.3.
const PIECE = 0.1;

/** @returns {Result} */
export function emptyResult() {
  return { rows: [], unbegun: 0, rate: 0, tile: "", wrong: [], difference: 0, stamped: true };
}

/**
 * @param {Case} one
 * @returns {import("./kernels.js").Shape}
 */
export function shapeOf({ length, batch, heads, d_head, mask, queries, kv_heads, window }) {
  const back = window ? window - 1 : length, group = heads / (kv_heads || heads);
  const ahead = mask === "causal" ? 0 : back;
  return { heads: heads * batch, group, length, queries: queries || length, d_head, ahead, back };
}

/**
 * Floating-point operations that a kernel computes: 4 d for each pair, of which a materialised one computes all.
 * @param {import("./kernels.js").Shape} shape
 * @param {How} how
 */
export function operationsOf({ heads, length, queries, d_head, ahead, back }, how = "fused") {
  const later = sumTo(queries - 1 - ahead), earlier = sumTo(length - 1 - back) - sumTo(length - queries - 1 - back);
  const hidden = how.startsWith("materialised") ? 0 : later + earlier;
  return 4 * heads * d_head * (length * queries - hidden);
}

/** @param {number} count */
const sumTo = (count) => (count > 0 ? (count * (count + 1)) / 2 : 0);

/**
 * Into how many pieces a call is divided that takes so many seconds.
 * @param {number} seconds
 */
export const pieces = (seconds) => Math.max(1, Math.ceil(seconds / PIECE));
