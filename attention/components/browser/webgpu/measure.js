// Measures attention on an open device: builds the kernels, proves them, and has those that agree timed.

import {
  building, comparing, CPU, fusedKernel, kernelName, NO_FIT, NONE_AGREED, NONE_BUILT, notBuilt, RATE, SLOW_BUILD, subgroupTile,
} from "../gpu_timing_words.js";
import { DeviceLost, createBuffers, runPasses } from "./device.js";
import { createPipeline, fittingTiles, fusedPasses, partialBytes, passesOf, scoreBytes, sizesOf } from "./kernels.js";
import { operationsOf, pieces, shapeOf } from "./plan.js";
import { agrees, differenceOf } from "./proof.js";
import { fmaRate, timeCases, timeCpu, timePasses } from "./times.js";

const BUILD = 25;  // seconds in which a pipeline must be built
const COMPARED = 1024, DECODED = 8192;  // tokens at which tiles are compared, and kernels of one query
const SLOW = 1e10;  // operations a second that are expected before anything was measured
export const PIPELINES = {
  "fused": ["fused"],
  "materialised": ["scores", "softmax", "values"],
  "decode": ["decode", "combine"],
  "materialised decode": ["query_scores", "softmax", "query_values", "combine"],
};

/**
 * Measures all of a plan. `result` is filled as it goes, so that what was measured stays if an error ends it.
 * @param {import("./device.js").Open} open
 * @param {import("./plan.js").Plan} plan
 * @param {import("./plan.js").Watch} watch
 * @param {import("./plan.js").Result} result
 */
export async function measure(open, plan, watch, result) {
  const started = performance.now();
  const left = () => plan.seconds + watch.waited() - (performance.now() - started) / 1000;
  for (const [at, part] of plan.parts.entries()) {
    const say = (/** @type {number} */ done, /** @type {string} */ text) => watch.say((at + done) / plan.parts.length, text);
    const session = { open, watch: { ...watch, say }, result, left };
    say(0.02, building(part.d_head));
    const whole = part.cases.filter(isWhole), kernels = [];
    if (whole.length) kernels.push(...await proveKernels(session, part, await chooseTile(session, part)));
    if (whole.length < part.cases.length) kernels.push(...await proveDecoding(session, part));
    if (!at) {
      say(0.25, RATE);
      result.rate = await fmaRate(session);
      say(0.28, CPU);
      timeCpu(session, part);
    }
    await timeCases(session, part, kernels);
  }
}

/** @param {{ queries: number }} one  whether it has more than one query */
const isWhole = ({ queries }) => queries !== 1;

/**
 * Returns the tile whose fused kernel is the fastest of those that agree, at one length.
 * @param {import("./plan.js").Session} session
 * @param {import("./plan.js").Part} part
 */
async function chooseTile(session, part) {
  const { open, watch, result, left } = session, { device } = open, tiles = fittingTiles(device, part.tiles);
  if (!tiles.length) throw new Error(NO_FIT);
  const building = tiles.map((tile) => inTime(createPipeline(device, "fused", { ...tile.values, HALF: 0 }), left()));
  const built = await Promise.race([Promise.allSettled(building), open.lost, watch.ended]);
  let best = null;
  for (const [at, tile] of tiles.entries()) {
    await watch.rest();
    const each = built[at];
    if (each.status === "rejected") continue;
    const difference = await differenceOf(open, part.proofs.filter(isWhole), "float32", async (shape, buffers) =>
      fusedPasses(device, each.value, tile, shape, buffers, 1));
    if (!agrees(difference, "float32")) {
      result.wrong.push(fusedKernel(tile.name));
      continue;
    }
    result.difference = Math.max(result.difference, difference);
    const rate = tiles.length > 1 ? await fusedRate(session, part, each.value, tile) : SLOW;
    if (!best || rate > best.rate) best = { tile, rate, fused: each.value };
  }
  if (!best) throw new Error(result.wrong.length ? NONE_AGREED : NONE_BUILT);
  addTile(result, best.tile);
  return best;
}

/**
 * @param {import("./plan.js").Result} result
 * @param {import("./kernels.js").Tile} tile
 */
function addTile(result, tile) {
  const names = result.tile ? result.tile.split("; ") : [];
  result.tile = [...new Set([...names, tile.name])].join("; ");
}

/**
 * @param {import("./plan.js").Session} session
 * @param {import("./plan.js").Part} part
 * @param {any} pipeline
 * @param {import("./kernels.js").Tile} tile
 */
async function fusedRate({ open }, { cases }, pipeline, tile) {
  const whole = cases.filter(isWhole), one = whole[whole.length - 1], length = Math.min(COMPARED, whole[0].length * 2);
  const shape = shapeOf({ ...one, batch: 1, length, queries: 0 }), size = 4 * shape.heads * length * shape.d_head;
  const buffers = await createBuffers(open, [size, size, size, size]);
  const passes = fusedPasses(open.device, pipeline, tile, shape, buffers, pieces(operationsOf(shape) / SLOW));
  const times = [];
  for (let i = 0; i < 3; i++) times.push((await runPasses(open, passes, 1)).seconds);
  for (const buffer of buffers) buffer.destroy();
  return operationsOf(shape) / Math.min(...times.slice(1));
}

/**
 * Returns the kernels that agree with the exact result, with their pipelines.
 * @param {import("./plan.js").Session} session
 * @param {import("./plan.js").Part} part
 * @param {{ tile: import("./kernels.js").Tile, rate: number, fused: any }} best
 */
async function proveKernels(session, part, { tile, rate, fused }) {
  /** @type {import("./plan.js").Kernel[]} */
  const kernels = [{ how: "fused", dtype: "float32", tile, rate, pipelines: { fused } }];
  for (const dtype of dtypesOf(session.open)) {
    for (const how of /** @type {const} */ (["fused", "materialised"])) {
      if (how === "fused" && dtype === "float32") continue;
      await session.watch.rest();
      session.watch.say(0.05 + 0.05 * kernels.length, comparing({ how, dtype }));
      const guess = how === "fused" ? rate : rate / 4;
      const kernel = await proveKernel(session, part, { how, dtype, tile, rate: guess, pipelines: {} });
      if (kernel) kernels.push(kernel);
    }
  }
  return kernels;
}

/**
 * Returns the kernels of one query that agree with the exact result: of those with and without subgroup operations, the faster.
 * @param {import("./plan.js").Session} session
 * @param {import("./plan.js").Part} part
 */
async function proveDecoding(session, part) {
  const { open, watch, result } = session, found = [];
  for (const dtype of dtypesOf(open)) {
    for (const how of /** @type {const} */ (["decode", "materialised decode"])) {
      const kernels = [];
      for (const tile of decodingTiles(open, part)) {
        await watch.rest();
        watch.say(0.2, comparing({ how, dtype }));
        const kernel = await proveKernel(session, part, { how, dtype, tile, rate: SLOW, pipelines: {} });
        if (kernel) kernels.push(kernel);
      }
      found.push(...await fastestKernel(session, part, kernels));
    }
  }
  for (const { tile } of found) addTile(result, tile);
  return found;
}

/**
 * Returns the kernels of one query to choose from: with subgroup operations too, where the device has them.
 * @param {import("./device.js").Open} open
 * @param {import("./plan.js").Part} part
 */
export function decodingTiles({ device }, { decode }) {
  if (!device.features.has("subgroups")) return [decode];
  const values = { ...decode.values, SUBGROUPS: 1 };
  return [{ ...decode, name: subgroupTile(decode.name), values }, decode];
}

/**
 * Returns the kernel of one query that is the fastest at one length, with its rate; none if there is none to choose from.
 * @param {import("./plan.js").Session} session
 * @param {import("./plan.js").Part} part
 * @param {import("./plan.js").Kernel[]} kernels
 */
async function fastestKernel(session, { cases }, kernels) {
  if (kernels.length < 2) return kernels;
  const { open } = session, last = cases.filter((one) => !isWhole(one)).slice(-1)[0];
  const shape = shapeOf({ ...last, batch: 1, length: Math.min(last.length, DECODED) }), sizes = sizesOf(shape);
  const buffers = await createBuffers(open, sizes.map((count) => 4 * count)), scratch = await createScratch(open, shape);
  for (const kernel of kernels) {
    const count = operationsOf(shape, kernel.how), seconds = count / SLOW;
    const times = await timePasses(session, passesOf(open.device, kernel, shape, buffers, scratch, pieces(seconds)), seconds);
    kernel.rate = count / Math.min(...times);
  }
  for (const buffer of [...buffers, scratch.scores, scratch.partial]) buffer.destroy();
  return [kernels.reduce((best, each) => (each.rate > best.rate ? each : best))];
}

/**
 * Returns room for the scores of all heads of a shape, and for the parts of one query.
 * @param {import("./device.js").Open} open
 * @param {import("./kernels.js").Shape} shape
 */
async function createScratch(open, shape) {
  const parts = isWhole(shape) ? 16 : partialBytes(shape);
  const [scores, partial] = await createBuffers(open, [scoreBytes(shape) * shape.heads, parts]);
  return { scores, partial };
}

/**
 * @param {import("./device.js").Open} open
 * @returns {import("./plan.js").Dtype[]}
 */
const dtypesOf = ({ device }) => (device.features.has("shader-f16") ? ["float32", "float16"] : ["float32"]);

/**
 * Builds the pipelines of a kernel. Returns null if it can't be built, or does not agree with the exact result.
 * @param {import("./plan.js").Session} session
 * @param {import("./plan.js").Part} part
 * @param {import("./plan.js").Kernel} kernel
 */
async function proveKernel({ open, watch, result, left }, part, kernel) {
  const { how, dtype, tile, pipelines } = kernel;
  const name = kernelName({ how, dtype, subgroups: Boolean(tile.values.SUBGROUPS) });
  const names = PIPELINES[how];
  const values = { ...tile.values, HALF: +(dtype === "float16") };
  try {
    const building = names.map((name) => inTime(createPipeline(open.device, name, values), left()));
    const built = await Promise.race([Promise.allSettled(building), open.lost, watch.ended]);
    built.forEach((each, at) => {
      if (each.status === "rejected") throw each.reason;
      pipelines[names[at]] = each.value;
    });
  } catch (error) {
    if (error instanceof DeviceLost || watch.stopped()) throw error;
    result.wrong.push(notBuilt(name));
    return null;
  }
  const proofs = part.proofs.filter((proof) => isWhole(proof) !== how.endsWith("decode"));
  const difference = await differenceOf(open, proofs, dtype, async (shape, buffers) =>
    passesOf(open.device, kernel, shape, buffers, how === "fused" ? {} : await createScratch(open, shape), 1));
  if (!agrees(difference, dtype)) {
    result.wrong.push(name);
    return null;
  }
  if (dtype === "float32") result.difference = Math.max(result.difference, difference);
  return kernel;
}

/**
 * @template T
 * @param {Promise<T>} building
 * @param {number} left  seconds that are left for all
 * @returns {Promise<T>}
 */
function inTime(building, left) {
  const most = Math.max(0, Math.min(BUILD, left)) * 1000;
  const late = new Promise((_, fail) => { setTimeout(() => fail(new Error(SLOW_BUILD)), most); });
  return Promise.race([building, /** @type {Promise<never>} */ (late)]);
}
