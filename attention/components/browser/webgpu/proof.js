// Compares the kernels with the server's result in float64, on the same input.

import { createBuffers, readBuffer, runPasses } from "./device.js";
import { fromHalf, toHalf, uniforms } from "./input.js";
import { sizesOf } from "./kernels.js";

/**
 * A shape with numbers of its exact result: those at the positions `at`.
 * @typedef {import("./kernels.js").Shape & { at: number[], exact: number[] }} Proof
 * @typedef {(shape: import("./kernels.js").Shape, buffers: any[]) => Promise<import("./device.js").Dispatch[][]>} Call
 */

const TOLERANCE = { float32: 2e-5, float16: 4e-3 };  // inputs are up to 2; a number of float16 near 2 is rounded by 1e-3

/**
 * Returns the largest difference of a kernel from the exact results.
 * @param {import("./device.js").Open} open
 * @param {Proof[]} proofs
 * @param {"float32" | "float16"} dtype
 * @param {Call} call
 */
export async function differenceOf(open, proofs, dtype, call) {
  let most = 0;
  for (const proof of proofs) {
    const sizes = sizesOf(proof), inputs = sizes.slice(0, 3).map((count, at) => uniforms(count, at + 1));
    const width = dtype === "float16" ? 2 : 4;
    const buffers = await createBuffers(open, sizes.map((count) => count * width));
    inputs.forEach((input, at) => {
      open.device.queue.writeBuffer(buffers[at], 0, width === 2 ? toHalf(input) : input);
    });
    await runPasses(open, await call(proof, buffers), 1);
    const bytes = await readBuffer(open, buffers[3]);
    const found = width === 2 ? fromHalf(new Uint16Array(bytes)) : new Float32Array(bytes);
    for (const buffer of buffers) buffer.destroy();
    most = Math.max(most, furthest(found, proof));
  }
  return most;
}

/**
 * The largest difference at the positions of a proof; infinite if a number is none.
 * @param {Float32Array} found
 * @param {Proof} proof
 */
export function furthest(found, { at, exact }) {
  const differences = at.map((place, i) => Math.abs(found[place] - exact[i]));
  return differences.every(Number.isFinite) ? Math.max(...differences) : Infinity;
}

/**
 * @param {number} difference
 * @param {"float32" | "float16"} dtype
 */
export const agrees = (difference, dtype) => difference < TOLERANCE[dtype];
