// Runs compute passes on an open device and measures their seconds.

import { NO_REASON, NO_ROOM } from "../gpu_timing_words.js";

export class DeviceLost extends Error {}
export class OutOfMemory extends Error {}

/**
 * One dispatch: a pipeline, its buffers and the number of workgroups.
 * @typedef {{ pipeline: any, group: any, size: number[] }} Dispatch
 * @typedef {{ device: any, stamped: boolean, lost: Promise<never> }} Open
 */

const READ = 1, COPY_SRC = 4, COPY_DST = 8, UNIFORM = 64, STORAGE = 128, RESOLVE = 512;

/**
 * Returns a device with a promise that is rejected when the device is lost.
 * @param {any} device
 * @returns {Open}
 */
export function watchDevice(device) {
  const lost = device.lost.then((/** @type {any} */ { message, reason }) => {
    throw new DeviceLost(message || reason || NO_REASON);
  });
  lost.catch(() => {});
  return { device, stamped: device.features.has("timestamp-query"), lost };
}

/**
 * Creates storage buffers of these sizes in bytes; throws OutOfMemory if there is no room, and keeps none then.
 * @param {Open} open
 * @param {number[]} sizes
 */
export async function createBuffers({ device, lost }, sizes) {
  device.pushErrorScope("out-of-memory");
  device.pushErrorScope("validation");
  const buffers = sizes.map((size) => device.createBuffer({ size, usage: STORAGE | COPY_SRC | COPY_DST }));
  const errors = await Promise.race([Promise.all([device.popErrorScope(), device.popErrorScope()]), lost]);
  const error = errors[0] ?? errors[1];
  if (!error) return buffers;
  for (const buffer of buffers) buffer.destroy();
  throw new OutOfMemory(error.message || NO_ROOM);
}

/**
 * Returns a uniform buffer with these bytes.
 * @param {any} device
 * @param {ArrayBuffer} bytes
 */
export function createUniform(device, bytes) {
  const buffer = device.createBuffer({ size: bytes.byteLength, usage: UNIFORM | COPY_DST });
  device.queue.writeBuffer(buffer, 0, bytes);
  return buffer;
}

/**
 * @param {any} device
 * @param {any} pipeline
 * @param {any[]} buffers
 * @param {number[]} size
 * @returns {Dispatch}
 */
export function createDispatch(device, pipeline, buffers, size) {
  const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
  return { pipeline, group: device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }), size };
}

/**
 * Runs passes of dispatches, each pass submitted by itself, and returns the seconds of all: the sum by timestamps, or by the
 * clock where there are none or they are impossible.
 * @param {Open} open
 * @param {Dispatch[][]} passes
 * @param {number} repeats  how often each pass repeats its dispatches
 * @returns {Promise<{ seconds: number, stamped: boolean }>}
 */
export async function runPasses({ device, stamped, lost }, passes, repeats) {
  device.pushErrorScope("validation");
  const stamps = stamped ? createStamps(device, passes.length) : null;
  const start = performance.now();
  passes.forEach((dispatches, at) => {
    const encoder = device.createCommandEncoder();
    const writes = stamps && {
      timestampWrites: { querySet: stamps.set, beginningOfPassWriteIndex: 2 * at, endOfPassWriteIndex: 2 * at + 1 },
    };
    const pass = encoder.beginComputePass(writes ?? undefined);
    for (let i = 0; i < repeats; i++) {
      for (const { pipeline, group, size } of dispatches) {
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, group);
        pass.dispatchWorkgroups(...size);
      }
    }
    pass.end();
    device.queue.submit([encoder.finish()]);
  });
  await Promise.race([device.queue.onSubmittedWorkDone(), lost]);
  const clock = (performance.now() - start) / 1000, error = await Promise.race([device.popErrorScope(), lost]);
  if (error) throw new Error(error.message);  // nothing was computed, so there is nothing to time
  if (!stamps) return { seconds: clock, stamped: false };
  const seconds = await readStamps({ device, lost }, stamps, passes.length);
  const possible = seconds > 0 && seconds < 1.2 * clock + 1e-3;
  return possible ? { seconds, stamped: true } : { seconds: clock, stamped: false };
}

/**
 * @param {any} device
 * @param {number} count
 */
function createStamps(device, count) {
  return {
    set: device.createQuerySet({ type: "timestamp", count: 2 * count }),
    resolved: device.createBuffer({ size: 16 * count, usage: RESOLVE | COPY_SRC }),
    read: device.createBuffer({ size: 16 * count, usage: COPY_DST | READ }),
  };
}

/**
 * @param {{ device: any, lost: Promise<never> }} open
 * @param {ReturnType<typeof createStamps>} stamps
 * @param {number} count
 */
async function readStamps({ device, lost }, { set, resolved, read }, count) {
  const encoder = device.createCommandEncoder();
  encoder.resolveQuerySet(set, 0, 2 * count, resolved, 0);
  encoder.copyBufferToBuffer(resolved, 0, read, 0, 16 * count);
  device.queue.submit([encoder.finish()]);
  await Promise.race([read.mapAsync(1), lost]);
  const times = new BigInt64Array(read.getMappedRange().slice(0));
  for (const each of [set, resolved, read]) each.destroy();
  let sum = 0;
  for (let at = 0; at < count; at++) sum += Number(times[2 * at + 1] - times[2 * at]);
  return sum * 1e-9;
}

/**
 * Returns the bytes of a buffer.
 * @param {Open} open
 * @param {any} buffer
 * @returns {Promise<ArrayBuffer>}
 */
export async function readBuffer({ device, lost }, buffer) {
  const read = device.createBuffer({ size: buffer.size, usage: COPY_DST | READ });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, read, 0, buffer.size);
  device.queue.submit([encoder.finish()]);
  await Promise.race([read.mapAsync(1), lost]);
  const bytes = read.getMappedRange().slice(0);
  read.destroy();
  return bytes;
}
