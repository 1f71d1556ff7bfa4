// Keeps bytes of messages by name: a later message may name them instead of containing them (attention/wire/kept_bytes.py).

import { openMessage } from "./message.js";

const MOST = 8;  // names that are kept: a page needs at most two at a time
const KEY = Symbol.for("attention-lab-kept-bytes");  // every component has a copy of this module

/** @returns {Map<string, Uint8Array>} */
function keptBytes() {
  const page = /** @type {Record<symbol, any>} */ (globalThis);
  return (page[KEY] ??= new Map());
}

/**
 * Returns a message with the bytes that it leaves out; null if they are not kept here. Those that it contains are kept, in
 * place of the ones that were used the longest time ago.
 * @param {Uint8Array} bytes
 */
export function completeMessage(bytes) {
  const [{ kept }] = openMessage(bytes), all = keptBytes();
  if (!kept) return bytes;
  const tail = kept.bytes ? bytes.slice(bytes.length - kept.bytes) : all.get(kept.name);
  if (!tail) return null;
  all.delete(kept.name);
  all.set(kept.name, tail);
  for (const oldest of [...all.keys()].slice(0, -MOST)) all.delete(oldest);
  if (kept.bytes) return bytes;
  const whole = new Uint8Array(bytes.length + tail.length);
  whole.set(bytes);
  whole.set(tail, bytes.length);
  return whole;
}

/**
 * Returns a function that draws complete messages, and calls `onLost` for one whose bytes are not kept here.
 * @template W
 * @param {(element: Element, bytes: Uint8Array, ways: W) => { update: (bytes: Uint8Array) => void }} draw
 */
export function drawComplete(draw) {
  return (/** @type {Element} */ element, /** @type {Uint8Array} */ first, /** @type {W & { onLost: () => void }} */ ways) => {
    /** @type {{ update: (bytes: Uint8Array) => void } | null} */
    let view = null;
    const update = (/** @type {Uint8Array} */ bytes) => {
      const whole = completeMessage(bytes);
      if (!whole) ways.onLost();
      else if (view) view.update(whole);
      else view = draw(element, whole, ways);
    };
    update(first);
    return { update };
  };
}
