// Writes the words, the weights next to the words that the current one has lines to, and a sentence with the largest ones.

import { MASKED, number } from "./cells.js";
import { find, createElement } from "./elements.js";
import { points, share } from "./uniform.js";
import { countOf, home, nameWord, pairsOf, isPinned, rankPairs } from "./word_lines_view.js";
import { rowText } from "./word_lines_words.js";

/**
 * @typedef {import("./word_lines_view.js").Web} Web
 * @typedef {import("./word_lines_view.js").Line} Line
 * @typedef {import("./word_lines_view.js").Side} Side
 */

const HEAVIEST = 3;
/** @type {[Side, Side]} */
export const SIDES = [0, 1];

/**
 * Writes the words of both sides; existing elements are reused.
 * @param {Web} web
 */
export function setWords(web) {
  const { data, sides, words } = web;
  for (const side of SIDES) {
    const count = countOf(data, side);
    while (words[side].length > count) words[side].pop()?.remove();
    while (words[side].length < count) words[side].push(sides[side].appendChild(word(side, words[side].length)));
    words[side].forEach((element, at) => {
      const text = data.names[side][at], place = `${data.first[side] + at}`;
      find(element, ".name").textContent = text ?? place;
      find(element, ".at").textContent = text === undefined ? "" : place;
      element.title = nameWord(data, side, at);
    });
  }
  web.root.classList.toggle("many", Math.max(data.queries, data.keys) > 24);
}

/**
 * @param {Side} side
 * @param {number} at
 */
function word(side, at) {
  const element = createElement("div", "word");
  const parts = [createElement("b"), createElement("span", "name"), createElement("i", "at")];
  element.dataset.at = `${at}`;
  element.append(...(side ? parts.reverse() : parts));
  return element;
}

/**
 * Marks the current word and the selected query, and writes each weight next to its word on the other side.
 * @param {Web} web
 */
export function say(web) {
  const { data, words } = web, shown = web.hover ?? web.cursor, pairs = pairsOf(data, shown);
  for (const side of SIDES) {
    words[side].forEach((element, at) => {
      const pair = side === shown.side ? null : pairs[at];
      element.classList.toggle("current", side === shown.side && at === shown.at);
      element.classList.toggle("pinned", isPinned(data, { side, at }));
      element.classList.toggle("hidden", pair?.code === MASKED);
      find(element, "b").textContent = pair ? numberOf(data, pair) : "";
    });
  }
  const said = find(web.root, ".said");
  said.textContent = said.title = sentence(web);
}

/**
 * Returns the weight of a pair as a share of its row, a difference in percentage points, or a number if rows sum to anything.
 * @param {import("./word_lines_view.js").LinesData} data
 * @param {Line} pair
 */
function numberOf(data, { code, weight }) {
  if (data.rest === null) return number(code, weight);
  return data.difference ? points(code, weight) : share(code, weight);
}

/**
 * Returns a sentence: what the current query attends to most, or which queries attend most to the current key.
 * @param {Web} web
 */
export function sentence({ data, hover, cursor }) {
  const shown = hover ?? cursor, { side, at } = shown, other = /** @type {Side} */ (1 - side);
  const seen = rankPairs(data, shown);
  const outside = !side && at === home(data).at && !isPinned(data, shown) && !hover;
  const nameOf = (/** @type {Line} */ { query, key }) => nameWord(data, other, other ? key : query);
  const largest = seen.slice(0, HEAVIEST).map((pair) => /** @type {[string, string]} */ (
    [numberOf(data, pair), nameOf(pair)]));
  return rowText({
    token: nameWord(data, side, at), side, selected: !outside, difference: Boolean(data.difference), largest,
    rest: Math.max(0, seen.length - HEAVIEST),
  });
}
