// What is drawn of the bytes of one layer: its grid with a focus, and one of its rows as words. Nothing in this file
// knows the page.

import { frameMessage, openMessage } from "./message.js";

const MOST = 300;  // words a side
const TALL = 400;  // pixels of the words, at the most: more of them scroll

/**
 * The bytes with another focus, as far as there are such a head and query, and another scale of colours.
 * @param {Uint8Array} bytes
 * @param {import("./message.js").Focus | null} focus
 * @param {string} colors  empty: that of the bytes
 */
export function withFocus(bytes, focus, colors) {
  const [header, start] = openMessage(bytes), wanted = focus ?? header.focus;
  const within = (/** @type {number} */ at, /** @type {number} */ count) => Math.max(0, Math.min(count - 1, at));
  const changed = { head: within(wanted.head, header.heads), query: within(wanted.query, header.queries) };
  return frameMessage({ ...header, focus: changed, ...(colors ? { colors, why: "" } : {}) }, [bytes.subarray(start)]);
}

/**
 * One head as the words with lines take it; null where a cell is more than one token, and of more words than are read.
 * @param {Uint8Array} bytes
 * @param {import("./message.js").Focus} focus
 * @param {string} colors
 */
export function wordsOf(bytes, { head, query }, colors) {
  const [header, start] = openMessage(bytes), { rows, columns, tile, heads, tokens, key_tokens } = header;
  if (tile > 1 || Math.max(rows, columns) > MOST || head >= heads) return null;
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
