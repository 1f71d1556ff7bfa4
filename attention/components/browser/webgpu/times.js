// Times kernels that agree with the exact result, and how long their data take to the GPU and back.

import {
  CPU_WRONG, noRoomForInput, noRoomForParts, noRoomForScores, notStarted, timing,
} from "../gpu_timing_words.js";
import { attendOnCpu } from "./cpu.js";
import { OutOfMemory, createBuffers, createDispatch, createUniform, readBuffer, runPasses } from "./device.js";
import { toHalf, uniforms } from "./input.js";
import { createPipeline, partialBytes, passesOf, scoreBytes, sizesOf } from "./kernels.js";
import { operationsOf, pieces, shapeOf } from "./plan.js";
import { agrees, furthest } from "./proof.js";

const SAMPLE = 0.006;  // seconds that a sample takes at least
const SAMPLES = 7, FEWEST = 3, NEAR = 1.1;  // samples end when three of at least five are within 10 % of the quickest
const SCORES = 2 ** 28;  // bytes of scores at most
const MIB = 2 ** 20;

/**
 * The buffers of the cases of one size in one dtype.
 * @typedef {{ sizes: string, buffers: any[], moves: [number, number], error: string }} Room
 */

/**
 * Times all cases of a part, each by all kernels, while there is time.
 * @param {import("./plan.js").Session} session
 * @param {import("./plan.js").Part} part
 * @param {import("./plan.js").Kernel[]} kernels
 */
export async function timeCases(session, part, kernels) {
  const { open, watch, result, left } = session, { limits } = open.device;
  const limit = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize, SCORES);
  const timed = (/** @type {import("./plan.js").Kernel} */ { how }, /** @type {import("./plan.js").Case} */ one) =>
    how.endsWith("decode") === (one.queries === 1);
  const all = kernels.flatMap((kernel) => part.cases.filter((one) => timed(kernel, one))).length;
  let room = null, done = 0;
  const scores = await createBuffers(open, [limit]).then(([buffer]) => buffer, ignoreMemory);
  const parts = part.cases.filter((one) => one.queries === 1).map((one) => partialBytes(shapeOf(one)));
  const most = Math.max(16, ...parts.filter((bytes) => bytes <= limit));
  const partial = await createBuffers(open, [most]).then(([buffer]) => buffer, ignoreMemory);
  for (const dtype of new Set(kernels.map((kernel) => kernel.dtype))) {
    for (const one of part.cases) {
      for (const kernel of kernels.filter((each) => each.dtype === dtype && timed(each, one))) {
        await watch.rest();
        watch.say(0.3 + (0.7 * done++) / all, timing({ how: kernel.how, dtype, tokens: one.length }));
        const shape = shapeOf(one), count = operationsOf(shape, kernel.how), predicted = count / kernel.rate;
        if (predicted * (FEWEST + 1) > left()) {
          result.unbegun++;
          const error = notStarted({ needed: predicted, left: left() });
          result.rows.push({ case: one, how: kernel.how, dtype, times: [], error, moves: [0, 0] });
          continue;
        }
        room = await roomFor(session, room, shape, dtype);
        const error = room.error || scratchError(kernel, shape, { scores, partial }, limit);
        const scratch = { scores, partial }, least = pieces(predicted);
        const passes = error ? [] : passesOf(open.device, kernel, shape, room.buffers, scratch, least);
        const times = error ? [] : await timePasses(session, passes, predicted);
        if (times.length) kernel.rate = count / Math.min(...times);
        result.rows.push({ case: one, how: kernel.how, dtype, times, error, moves: room.moves });
      }
    }
  }
  for (const buffer of [...(room?.buffers ?? []), scores, partial]) buffer?.destroy();
}

/** @param {unknown} error */
function ignoreMemory(error) {
  if (error instanceof OutOfMemory) return null;
  throw error;
}

/**
 * @param {import("./plan.js").Kernel} kernel
 * @param {import("./kernels.js").Shape} shape
 * @param {import("./kernels.js").Scratch} scratch
 * @param {number} limit
 */
function scratchError({ how }, shape, { scores, partial }, limit) {
  if (how.endsWith("decode") && (partial?.size ?? 0) < partialBytes(shape)) {
    return noRoomForParts(Math.ceil(partialBytes(shape) / MIB));
  }
  const bytes = scoreBytes(shape);
  if (!how.startsWith("materialised") || (scores && bytes <= limit)) return "";
  const bound = limit !== SCORES, most = !bound || scores ? Math.floor(limit / MIB) : 0;
  return noRoomForScores({ needed: Math.ceil(bytes / MIB), most, bound });
}

/**
 * Returns buffers for a shape: those of the last case if they have the right size.
 * @param {import("./plan.js").Session} session
 * @param {Room | null} last
 * @param {import("./kernels.js").Shape} shape
 * @param {import("./plan.js").Dtype} dtype
 * @returns {Promise<Room>}
 */
async function roomFor(session, last, shape, dtype) {
  const counts = sizesOf(shape), count = Math.max(...counts), width = dtype === "float16" ? 2 : 4;
  const bytes = counts.map((numbers) => numbers * width), sizes = bytes.join();
  if (last && last.sizes === sizes) return last;
  for (const buffer of last?.buffers ?? []) buffer.destroy();
  try {
    const buffers = await createBuffers(session.open, bytes);
    const data = dtype === "float16" ? toHalf(uniforms(count, 1)) : uniforms(count, 1);
    return { sizes, buffers, moves: await timeMoves(session, buffers, data), error: "" };
  } catch (error) {
    if (!(error instanceof OutOfMemory)) throw error;
    const all = bytes.reduce((sum, each) => sum + each);
    return { sizes, buffers: [], moves: [0, 0], error: noRoomForInput(Math.ceil(all / MIB)) };
  }
}

/**
 * Returns the seconds of samples of a call: after one that is not counted, at least three, and until three are near the
 * quickest.
 * @param {import("./plan.js").Session} session
 * @param {import("./device.js").Dispatch[][]} passes
 * @param {number} predicted
 */
export async function timePasses({ open, watch, result, left }, passes, predicted) {
  const first = await runPasses(open, passes, 1), once = Math.max(Math.min(first.seconds, predicted), 2e-6);
  const repeats = passes.length > 1 ? 1 : Math.max(1, Math.min(1000, Math.ceil(SAMPLE / once)));
  /** @type {number[]} */
  const times = [];
  while (times.length < SAMPLES) {
    await watch.rest();
    const pauses = watch.pauses(), { seconds, stamped } = await runPasses(open, passes, repeats);
    if (watch.pauses() !== pauses) continue;  // the tab was hidden meanwhile
    result.stamped &&= stamped;
    times.push(seconds / repeats);
    const sorted = [...times].sort((a, b) => a - b);
    if (times.length >= FEWEST + 2 && sorted[FEWEST - 1] <= NEAR * sorted[0]) break;
    if (times.length >= FEWEST && (seconds > 2 || left() < 2 * seconds)) break;
  }
  return times;
}

/**
 * Returns the seconds in which the input is written to the GPU, and the output read: the least of three.
 * @param {import("./plan.js").Session} session
 * @param {any[]} buffers
 * @param {Float32Array | Uint16Array} data
 * @returns {Promise<[number, number]>}
 */
async function timeMoves({ open, watch }, buffers, data) {
  const to = [], back = [];
  for (let i = 0; i < 3; i++) {
    await watch.rest();
    const start = performance.now();
    for (const buffer of buffers.slice(0, 3)) {
      open.device.queue.writeBuffer(buffer, 0, data, 0, buffer.size / data.BYTES_PER_ELEMENT);
    }
    await Promise.race([open.device.queue.onSubmittedWorkDone(), open.lost]);
    const middle = performance.now();
    await readBuffer(open, buffers[3]);
    to.push(middle - start);
    back.push(performance.now() - middle);
  }
  return [Math.min(...to) / 1000, Math.min(...back) / 1000];
}

/**
 * Returns the operations a second of a loop of fused multiply-adds.
 * @param {import("./plan.js").Session} session
 */
export async function fmaRate({ open, watch }) {
  const { device } = open, pipeline = await createPipeline(device, "fma", {}), [out] = await createBuffers(open, [16]);
  const groups = 1024;
  let rate = 0;
  for (let steps = 1; steps <= 65536; steps *= 4) {
    await watch.rest();
    const bytes = new ArrayBuffer(16);
    new Uint32Array(bytes)[0] = steps;
    new Float32Array(bytes).set([0.999, 0.001], 1);
    const dispatch = createDispatch(device, pipeline, [createUniform(device, bytes), out], [groups]);
    const times = [];
    for (let i = 0; i < 3; i++) times.push((await runPasses(open, [[dispatch]], 1)).seconds);
    rate = Math.max(rate, (1024 * 256 * groups * steps) / Math.min(...times));
    if (Math.min(...times) > 0.015) break;
  }
  return rate;
}

/**
 * Times one head in JavaScript, on one thread, at 512 tokens.
 * @param {import("./plan.js").Session} session
 * @param {import("./plan.js").Part} part
 */
export function timeCpu({ result }, part) {
  const proof = part.proofs[0], kept = proof.heads / proof.group;
  const [q, k, v] = [proof.heads, kept, kept].map((count, at) => uniforms(count * proof.length * proof.d_head, at + 1));
  const out = attendOnCpu(q, k, v, proof), own = proof.at.map((_, i) => i).filter((i) => proof.at[i] < out.length);
  const far = furthest(out, { ...proof, at: own.map((i) => proof.at[i]), exact: own.map((i) => proof.exact[i]) });
  if (!agrees(far, "float32")) {
    result.wrong.push(CPU_WRONG);
    return;
  }
  const one = { ...part.cases[part.cases.length - 1], length: 512, heads: 1, kv_heads: 0, batch: 1, tokens: 0, queries: 0 };
  const times = [];
  const data = [1, 2, 3].map((stream) => uniforms(one.length * one.d_head, stream));
  for (let i = 0; i <= FEWEST; i++) {
    const start = performance.now();
    attendOnCpu(data[0], data[1], data[2], shapeOf(one));
    if (i) times.push((performance.now() - start) / 1000);
  }
  result.rows.push({ case: one, how: "JavaScript", dtype: "float32", times, error: "", moves: [0, 0] });
}
