// Finds the visitor's GPU, or the reason why there is none.

import { UNNAMED } from "../gpu_timing_words.js";

// Adapters that compute on the CPU; they are never shown as a GPU.
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|\bwarp\b|basic render|software/i;
const LIMITS = [
  "maxComputeWorkgroupStorageSize", "maxComputeInvocationsPerWorkgroup", "maxComputeWorkgroupSizeX",
  "maxStorageBufferBindingSize", "maxBufferSize",
];
const FEATURES = ["timestamp-query", "shader-f16", "subgroups"];

/**
 * @typedef {object} Found
 * @property {"ready" | "insecure" | "absent" | "refused" | "software"} state
 * @property {string} name  the name of the adapter, as the browser gives it
 * @property {any} [adapter]
 */

/**
 * Asks the browser for a GPU. `gpu` is `navigator.gpu`, or a fake one in tests.
 * @param {any} gpu
 * @param {boolean} secure
 * @returns {Promise<Found>}
 */
export async function findAdapter(gpu, secure) {
  if (!gpu) return { state: secure ? "absent" : "insecure", name: "" };
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" }).catch(() => null);
  if (!adapter) return { state: "refused", name: "" };
  const name = adapterName(adapter.info ?? {});
  return { state: isSoftware(adapter) ? "software" : "ready", name, adapter };
}

/** @param {any} adapter */
function isSoftware(adapter) {
  const info = adapter.info ?? {};
  const words = [info.vendor, info.architecture, info.device, info.description].join(" ");
  return Boolean(info.isFallbackAdapter ?? adapter.isFallbackAdapter) || SOFTWARE.test(words);
}

/**
 * Returns the name of an adapter: its description, else vendor and architecture.
 * @param {{ vendor?: string, architecture?: string, device?: string, description?: string }} info
 */
export function adapterName({ vendor = "", architecture = "", device = "", description = "" }) {
  const short = [vendor, architecture].filter(Boolean).join(" ");
  return description || device || short || UNNAMED;
}

/**
 * Opens the device of an adapter with all that the kernels can use.
 * @param {any} adapter
 */
export async function openDevice(adapter) {
  const requiredFeatures = FEATURES.filter((name) => adapter.features.has(name));
  const requiredLimits = Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]]));
  return adapter.requestDevice({ requiredFeatures, requiredLimits });
}
