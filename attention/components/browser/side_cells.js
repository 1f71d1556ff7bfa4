// Keeps the codes of side A of a comparison, by the names that messages of differences give: they are sent once, while B changes.

import { openMessage } from "./message.js";

const MOST = 4;  // sides that are kept: two of a page, and those before them
const KEY = Symbol.for("attention-lab-side-cells");  // every component has a copy of this module

/** @returns {Map<string, Uint16Array>} */
function sides() {
  const page = /** @type {Record<symbol, any>} */ (globalThis);
  return (page[KEY] ??= new Map());
}

/**
 * Keeps the codes of a message; they replace the oldest ones.
 * @param {Uint8Array} bytes
 */
export function keepSide(bytes) {
  const [{ name }, start] = openMessage(bytes), all = sides();
  all.delete(name);
  all.set(name, new Uint16Array(bytes.slice(start).buffer));
  for (const oldest of [...all.keys()].slice(0, -MOST)) all.delete(oldest);
}

/**
 * Returns the codes of all cells with a name; undefined if they have not arrived.
 * @param {string} name
 */
export function sideCodes(name) {
  return sides().get(name);
}
