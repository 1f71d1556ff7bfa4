// Handles pointer and keyboard events of the words, and reports the pinned query.

import { find, target } from "./elements.js";
import { save } from "./word_lines_file.js";
import { light } from "./word_lines_picture.js";
import { say, sentence, SIDES } from "./word_lines_readout.js";
import { countOf, home } from "./word_lines_view.js";

/**
 * @typedef {import("./word_lines_view.js").Web} Web
 * @typedef {import("./word_lines_view.js").Word} Word
 * @typedef {import("./word_lines_view.js").Side} Side
 */

/** @type {Record<string, number>} */
const STEPS = { ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
/** @type {Record<string, Side>} */
const ACROSS = { ArrowLeft: 0, ArrowRight: 1 };

/** @param {Web} web */
export function listen(web) {
  for (const side of SIDES) {
    const under = (/** @type {Event} */ event) => {
      const at = Number(target(event, ".word")?.dataset.at ?? -1);
      return at < 0 ? null : { side, at };
    };
    const words = web.sides[side];
    words.addEventListener("pointerover", (event) => event.pointerType !== "touch" && point(web, under(event)));
    words.addEventListener("pointerleave", () => point(web, null));
    words.addEventListener("click", (event) => {
      const word = under(event);
      if (word) go(web, word, !word.side);
    });
  }
  find(web.root, ".files").addEventListener("click", (event) => {
    const kind = target(event, "button")?.dataset.file;
    if (kind) save(web, kind);
  });
  web.box.addEventListener("keydown", (event) => onKey(web, event));
}

/**
 * @param {Web} web
 * @param {Word | null} word
 */
function point(web, word) {
  web.hover = word;
  light(web);
  say(web);
}

/**
 * @param {Web} web
 * @param {KeyboardEvent} event
 */
function onKey(web, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const word = keyTarget(web, event.key), pins = event.key === "Enter" || event.key === " ";
  if (!word && !pins) return;
  event.preventDefault();
  event.stopPropagation();  // the page has keys of its own
  go(web, word ?? web.cursor, pins && !web.cursor.side);
  intoView(web);
  find(web.root, ".live").textContent = sentence(web);
}

/**
 * Returns the word that a key moves the cursor to, null for other keys.
 * @param {Web} web
 * @param {string} key
 * @returns {Word | null}
 */
function keyTarget({ data, cursor }, key) {
  if (key === "Escape") return home(data);
  const step = STEPS[key], side = ACROSS[key] ?? cursor.side;
  if (step === undefined && !(key in ACROSS)) return null;
  return { side, at: Math.max(0, Math.min(countOf(data, side) - 1, cursor.at + (step ?? 0))) };
}

/**
 * Moves the cursor; with `pin`, also reports the query as the selected one.
 * @param {Web} web
 * @param {Word} word
 * @param {boolean} pin
 */
function go(web, word, pin) {
  web.cursor = word;
  web.hover = null;
  light(web);
  say(web);
  if (pin) web.ways.onPin?.({ query: web.data.first[0] + word.at, count: ++web.count });
}

/**
 * Scrolls the box, but not the page, until the word at the cursor is visible.
 * @param {Web} web
 */
export function intoView({ box, words, cursor }) {
  const seen = box.getBoundingClientRect(), word = words[cursor.side][cursor.at].getBoundingClientRect();
  const above = word.top - seen.top, below = word.bottom - seen.bottom;
  if (above < 0) box.scrollTop += above - word.height;
  else if (below > 0) box.scrollTop += below + word.height;
}
