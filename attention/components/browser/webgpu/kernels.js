// The attention kernels on a device: their pipelines, and the dispatches of a call, in pieces if it is long.

import { createDispatch, createUniform } from "./device.js";
import { expand, source } from "./template.js";

const MOST_GROUPS = 65535;  // workgroups along one axis, in every adapter
const KEYS = 64;  // of a step of `decode`
const FEWEST_KEYS = 256, MOST_PARTS = 64, WANTED = 2048;  // of a part, parts of a head, workgroups of a call

/**
 * A shape of workgroups, as attention/timing/webgpu/tiles.py describes it: values of the templates for one d_head.
 * @typedef {{ name: string, memory: number, values: import("./template.js").Values }} Tile
 * @typedef {Record<string, any>} Pipelines  by the names of their templates
 */

/**
 * An attention of `heads` heads (of all sequences together), each `group` of which share keys and values.
 * @typedef {object} Shape
 * @property {number} heads
 * @property {number} group
 * @property {number} length
 * @property {number} queries  how many of the last tokens are queries
 * @property {number} d_head
 * @property {number} ahead
 * @property {number} back
 */

/**
 * What kernels need besides: room for scores, and for the parts of one query. A fused kernel needs none.
 * @typedef {{ scores?: any, partial?: any }} Scratch
 */

/**
 * Numbers of the queries, the keys, the values and the output of a shape.
 * @param {Shape} shape
 */
export function sizesOf({ heads, group, length, queries, d_head }) {
  const asked = heads * queries * d_head, kept = (heads / group) * length * d_head;
  return [asked, kept, kept, asked];
}

/**
 * Creates a pipeline of a template without blocking the page.
 * @param {any} device
 * @param {string} name
 * @param {import("./template.js").Values} values
 */
export async function createPipeline(device, name, values) {
  const module = device.createShaderModule({ code: expand(await source(name), values) });
  return device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "main" } });
}

/**
 * Returns the tiles that fit into the limits of a device.
 * @param {any} device
 * @param {Tile[]} tiles
 */
export function fittingTiles(device, tiles) {
  const { maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX } = device.limits;
  const most = Math.min(maxComputeInvocationsPerWorkgroup, maxComputeWorkgroupSizeX);
  return tiles.filter(({ memory, values }) => memory <= maxComputeWorkgroupStorageSize && +values.THREADS <= most);
}

/**
 * Returns the passes of a fused call: one dispatch in one pass, or several passes of a part of the heads or rows each.
 * @param {any} device
 * @param {any} pipeline
 * @param {Tile} tile
 * @param {Shape} shape
 * @param {any[]} buffers  queries, keys, values, output
 * @param {number} pieces  how many parts at least
 */
export function fusedPasses(device, pipeline, tile, shape, buffers, pieces) {
  const rows = 4 * +tile.values.BQ4, scale = Math.LOG2E / Math.sqrt(shape.d_head);
  return parts(rowsOf(shape), pieces, rows).map(({ head, heads, row, count }) => {
    const call = createUniform(device, callBytes(shape, head, row, count, scale));
    return [createDispatch(device, pipeline, [call, ...buffers], [Math.ceil(count / rows), heads])];
  });
}

/**
 * Returns the passes of a materialised call: scores, softmax, weights times values, for as many heads at a time as have
 * room for their scores.
 * @param {any} device
 * @param {Pipelines} pipelines
 * @param {Tile} tile
 * @param {Shape} shape
 * @param {any[]} buffers  queries, keys, values, output
 * @param {any} scores
 * @param {number} pieces
 */
function materialisedPasses(device, pipelines, tile, shape, [q, k, v, out], scores, pieces) {
  const rows = 4 * +tile.values.BQ4, columns = 4 * +tile.values.BK4, n = shape.length;
  return parts(rowsOf(shape), Math.max(pieces, piecesOfScores(shape, scores)), rows).map(({ head, heads, row, count }) => {
    const call = createUniform(device, callBytes(shape, head, row, count, 1 / Math.sqrt(shape.d_head)));
    const tiles = Math.ceil(count / rows);
    return [
      createDispatch(device, pipelines.scores, [call, q, k, scores], [Math.ceil(n / columns), tiles, heads]),
      createDispatch(device, pipelines.softmax, [call, scores], [count, heads]),
      createDispatch(device, pipelines.values, [call, scores, v, out], [tiles, heads]),
    ];
  });
}

/**
 * Into how many pieces the heads are divided so that the scores of each piece have room.
 * @param {Shape} shape
 * @param {any} scores
 */
const piecesOfScores = (shape, scores) => Math.ceil(shape.heads / Math.floor(scores.size / scoreBytes(shape)));

/**
 * Bytes of the scores of one head.
 * @param {Shape} shape
 */
export const scoreBytes = ({ length, queries }) => 4 * length * queries;

/** @param {Shape} shape */
const rowsOf = ({ heads, queries }) => ({ heads, length: queries });

/**
 * Divides the visible keys of one query: the first of them, the keys of a part and the number of parts.
 * @param {Shape} shape
 */
export function keyParts({ heads, length, back }) {
  const first = Math.max(0, length - 1 - back), visible = length - first;
  const wanted = Math.min(Math.ceil(visible / FEWEST_KEYS), MOST_PARTS, Math.ceil(WANTED / heads));
  const chunk = Math.ceil(visible / wanted / KEYS) * KEYS;
  return { first, chunk, count: Math.ceil(visible / chunk) };
}

/**
 * Bytes of what the parts of one query leave to be joined: those of the visible keys, or of all as the textbook computes them.
 * @param {Shape} shape
 */
export function partialBytes(shape) {
  const parts = Math.max(keyParts(shape).count, keyParts(allKeys(shape)).count);
  return 16 * shape.heads * parts * (shape.d_head / 4 + 1);
}

/** @param {Shape} shape */
const allKeys = (shape) => ({ ...shape, back: shape.length });

/**
 * Returns the passes of one query of each head: the parts of its keys, then their sum.
 * @param {any} device
 * @param {Pipelines} pipelines
 * @param {Shape} shape
 * @param {any[]} buffers  queries, keys, values, output
 * @param {Scratch} scratch
 * @param {number} pieces
 */
function decodePasses(device, pipelines, shape, [q, k, v, out], { partial }, pieces) {
  const { first, chunk, count } = keyParts(shape);
  return parts({ heads: shape.heads, length: 1 }, pieces, 1).map(({ head, heads }) => {
    const call = createUniform(device, partBytes(shape, head, first, chunk, count));
    return [
      createDispatch(device, pipelines.decode, [call, q, k, v, partial], [heads, count]),
      createDispatch(device, pipelines.combine, [call, partial, out], [heads]),
    ];
  });
}

/**
 * Returns the passes of one query of each head as the textbook computes it: the scores of all keys, their softmax, weights
 * times values.
 * @param {any} device
 * @param {Pipelines} pipelines
 * @param {Shape} shape
 * @param {any[]} buffers  queries, keys, values, output
 * @param {Scratch} scratch
 * @param {number} pieces
 */
function materialisedDecodePasses(device, pipelines, shape, [q, k, v, out], { scores, partial }, pieces) {
  const { chunk, count } = keyParts(allKeys(shape)), scale = 1 / Math.sqrt(shape.d_head);
  return parts({ heads: shape.heads, length: 1 }, Math.max(pieces, piecesOfScores(shape, scores)), 1).map(({ head, heads }) => {
    const call = createUniform(device, callBytes(shape, head, 0, 1, scale));
    const part = createUniform(device, partBytes(shape, head, 0, chunk, count));
    return [
      createDispatch(device, pipelines.query_scores, [call, q, k, scores], [heads, Math.ceil(shape.length / KEYS)]),
      createDispatch(device, pipelines.softmax, [call, scores], [1, heads]),
      createDispatch(device, pipelines.query_values, [part, scores, v, partial], [heads, count]),
      createDispatch(device, pipelines.combine, [part, partial, out], [heads]),
    ];
  });
}

/**
 * Returns the passes of a call of a kernel, in at least `least` pieces.
 * @param {any} device
 * @param {import("./plan.js").Kernel} kernel
 * @param {Shape} shape
 * @param {any[]} buffers
 * @param {Scratch} scratch
 * @param {number} least
 */
export function passesOf(device, { how, tile, pipelines }, shape, buffers, scratch, least) {
  if (how === "decode") return decodePasses(device, pipelines, shape, buffers, scratch, least);
  if (how === "fused") return fusedPasses(device, pipelines.fused, tile, shape, buffers, least);
  if (how === "materialised decode") return materialisedDecodePasses(device, pipelines, shape, buffers, scratch, least);
  return materialisedPasses(device, pipelines, tile, shape, buffers, scratch.scores, least);
}

/**
 * Divides a call into at least `pieces` parts, by heads, and by rows (multiples of `step`) if there are too few heads.
 * @param {{ heads: number, length: number }} shape
 * @param {number} pieces
 * @param {number} step
 */
export function parts({ heads, length }, pieces, step) {
  const across = Math.max(1, Math.min(Math.floor(heads / pieces), MOST_GROUPS));
  const down = Math.max(1, Math.ceil(pieces / heads));
  const rows = Math.ceil(length / down / step) * step, found = [];
  for (let head = 0; head < heads; head += across) {
    for (let row = 0; row < length; row += rows) {
      found.push({ head, heads: Math.min(across, heads - head), row, count: Math.min(rows, length - row) });
    }
  }
  return found;
}

/**
 * The uniform of a call: see call.wgsl.
 * @param {Shape} shape
 * @param {number} head
 * @param {number} row
 * @param {number} rows
 * @param {number} scale
 */
function callBytes({ length, queries, group, ahead, back }, head, row, rows, scale) {
  const bytes = new ArrayBuffer(48);
  new Uint32Array(bytes).set([length, row, head, group, ahead, back, 0, rows, queries]);
  new Float32Array(bytes)[6] = scale;
  return bytes;
}

/**
 * The uniform of a call of one query: see decode_call.wgsl.
 * @param {Shape} shape
 * @param {number} head
 * @param {number} first
 * @param {number} chunk
 * @param {number} count
 */
function partBytes({ length, group, d_head }, head, first, chunk, count) {
  const bytes = new ArrayBuffer(32);
  new Uint32Array(bytes).set([length, first, head, group, chunk, count]);
  new Float32Array(bytes)[6] = Math.LOG2E / Math.sqrt(d_head);
  return bytes;
}
