// Derives from the bytes of one layer what is drawn: its grid with a selection, and one of its rows as words. This file
// does not depend on the page.

import { frameMessage, openMessage } from "./message.js";

const MOST = 300;  // words per side
const TALL = 400;  // maximum height of the words in pixels; above it they scroll

/**
 * Returns the bytes with another selection, clamped to existing heads and queries, and another colour scale.
 * @param {Uint8Array} bytes
 * @param {import("./message.js").Focus | null} focus
 * @param {string} colors  empty for the scale of the bytes
 */
export function withFocus(bytes, focus, colors) {
  const [header, start] = openMessage(bytes), wanted = focus ?? header.focus;
  const within = (/** @type {number} */ at, /** @type {number} */ count) => Math.max(0, Math.min(count - 1, at));
  const changed = { head: within(wanted.head, header.heads), query: within(wanted.query, header.queries) };
  return frameMessage({ ...header, focus: changed, ...(colors ? { colors, why: "" } : {}) }, [bytes.subarray(start)]);
}

/**
 * Returns one head as a message for words with lines; null if a cell covers several tokens or is a difference, or there
 * are over MOST words.
 * @param {Uint8Array} bytes
 * @param {import("./message.js").Focus} focus
 * @param {string} colors
 */
export function wordsOf(bytes, { head, query }, colors) {
  const [header, start] = openMessage(bytes), { rows, columns, tile, heads, tokens, key_tokens } = header;
  if (header.sides || tile > 1 || Math.max(rows, columns) > MOST || head >= heads) return null;
  const size = 2 * rows * columns, [lines, many] = header.sights, after = start + size * heads;
  const at = start + head * size, line = after + 4 * many * (head % lines), scale = colors || header.colors;
  const { layer, title, provenance } = header.whose ?? { layer: "", title: "", provenance: "" };
  const one = {
    ...header, heading: `${layer ? `${layer}, head` : "Head"} ${head}: ${title}`, provenance, link: "",
    heads: 1, head, query, first: [0, 0], names: [tokens, key_tokens ?? tokens], all: false, height: TALL,
    colors: scale === "times even" ? "log" : scale, most: [header.most[head]], sights: [1, many],
  };
  return frameMessage(one, [bytes.subarray(at, at + size), bytes.subarray(line, line + 4 * many)]);
}
