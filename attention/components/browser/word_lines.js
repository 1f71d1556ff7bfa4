// The words of one head, joined by lines: `draw` adds them to an element of any page, given a message of
// `attention.components.word_lines.message`. Queries are on the left, keys on the right.

import { unpackCells } from "./cells.js";
import { alive, find, createRoot } from "./elements.js";
import { applyTheme } from "./theme.js";
import { intoView, listen } from "./word_lines_events.js";
import { laidOut } from "./word_lines_picture.js";
import { say, setWords } from "./word_lines_readout.js";
import { home, rankPairs } from "./word_lines_view.js";
import { boxLabel, MARKUP } from "./word_lines_words.js";

/**
 * @typedef {import("./word_lines_view.js").Web} Web
 * @typedef {import("./word_lines_view.js").LinesData} LinesData
 * @typedef {{ onPin?: (pin: { query: number, count: number }) => void }} Ways
 */

/**
 * Draws the words at the end of an element.
 * @param {Element} element
 * @param {Uint8Array} bytes
 * @param {Ways} [ways]
 */
export function draw(element, bytes, ways = {}) {
  const web = createLines(createRoot(element, "word-lines", MARKUP), unpackCells(bytes), ways);
  listen(web);
  update(web, web.data);
  return alive(web, () => laidOut(web), (next) => update(web, unpackCells(next)));
}

/**
 * @param {HTMLElement} root
 * @param {LinesData} data
 * @param {Ways} ways
 * @returns {Web}
 */
function createLines(root, data, ways) {
  return {
    root, data, ways, box: find(root, ".box"), sides: [find(root, ".queries"), find(root, ".keys")], words: [[], []],
    middle: find(root, ".middle"), base: find(root, ".base", HTMLCanvasElement),
    lit: find(root, ".lit", HTMLCanvasElement), neutrals: applyTheme(root, data.neutrals, data.accents),
    cursor: home(data), hover: null, told: "", width: 0, count: 0,
  };
}

/**
 * Shows new data. The cursor moves to the selected query if the server's selection or window changed.
 * @param {Web} web
 * @param {LinesData} data
 */
function update(web, data) {
  const { head, query, first, queries, keys } = data, told = [head, query, first, queries, keys].join();
  web.data = data;
  web.neutrals = applyTheme(web.root, data.neutrals, data.accents);
  web.root.style.setProperty("--head", data.head_colors[head % data.head_colors.length]);
  web.box.style.maxHeight = `${data.height}px`;
  if (told !== web.told) Object.assign(web, { cursor: home(data), hover: null });
  web.box.setAttribute("aria-label", boxLabel({ head, queries, keys }));
  setWords(web);
  laidOut(web);
  say(web);
  if (told !== web.told) {
    const [most] = rankPairs(data, web.cursor);
    if (most) intoView({ ...web, cursor: { side: 1, at: most.key } });  // also visible if there is room for both
    intoView(web);
  }
  web.told = told;
  web.root.dataset.painted = data.painted;
}
