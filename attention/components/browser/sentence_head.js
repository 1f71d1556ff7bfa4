// One head over a sentence: `draw` adds the tokens, shaded by the weights of a row, and the map of all rows to an element
// of any page, given a message of `attention.wire.cells.payload`. A second head, if there is one, is the same under another
// mask: its row stands above, as the tokens were shaded before.

import { cellAt, MASKED, unpackCells } from "./cells.js";
import { percent } from "./percent.js";
import { alive, createElement, createRoot, find, target } from "./elements.js";
import { layOutMap, spotUnder } from "./sentence_head_map.js";
import * as words from "./sentence_head_words.js";
import { applyTheme, shadeChip, stopsOn } from "./theme.js";

/**
 * @typedef {Omit<import("./message.js").SentenceHeader, "places" | "sums"> & import("./cells.js").Bytes} SentenceData
 * @typedef {{ query: number, key: number | null, count: number }} Pin
 * @typedef {{ onPin?: (pin: Pin) => void }} Ways
 * @typedef {{ row: number, column: number | null }} Pointed
 */

/**
 * @typedef {object} Sentence
 * @property {HTMLElement} root
 * @property {HTMLElement} chips
 * @property {HTMLElement} earlier  the tokens as another mask shades them
 * @property {HTMLElement} map
 * @property {HTMLElement} said
 * @property {SentenceData} data
 * @property {Ways} ways
 * @property {import("./theme.js").Ground} neutrals
 * @property {number} width  the width for which it is laid out
 * @property {number} query  the selected token
 * @property {number | null} key  that of the selected pair, if there is one
 * @property {number} told  the last selection by the server
 * @property {number} count
 * @property {Pointed | null} pointed  the row, and the cell if there is one, under the pointer
 */

const POINTED = "sentence-pointed";  // event of the document: heads over sentences that are alike follow the pointer together
const NAMED = 0.05;  // weights from which a token shows its share
const LONG = 16;  // tokens above which only the largest weight shows its share on a phone
const BESIDE = 60;  // letters of a sentence, its tokens counting as two more each, up to which its text has room beside it
const MANY = 30;  // tokens from which on they are small, and only the largest weight shows its share

/**
 * Draws the sentence at the end of an element.
 * @param {Element} element
 * @param {Uint8Array} bytes
 * @param {Ways} [ways]
 */
export function draw(element, bytes, ways = {}) {
  const root = createRoot(element, "sentence-head", words.MARKUP), data = /** @type {SentenceData} */ (unpackCells(bytes));
  /** @type {Sentence} */
  const sentence = {
    root, data, ways, chips: find(root, ".now"), earlier: find(root, ".earlier"), map: find(root, ".map"),
    said: find(root, ".said"), width: 0, neutrals: applyTheme(root, data.neutrals, data.accents), query: data.query,
    key: data.key, told: -1, count: 0, pointed: null,
  };
  listen(sentence);
  update(sentence, data);
  return alive(sentence, () => laidOut(sentence), (next) => update(sentence, unpackCells(next)));
}

/**
 * @param {Sentence} sentence
 * @param {SentenceData} data
 */
function update(sentence, data) {
  const { root } = sentence;
  if (data.query !== sentence.told) sentence.query = sentence.told = data.query;
  sentence.query = Math.min(sentence.query, data.rows - 1);
  sentence.key = data.key;
  sentence.neutrals = applyTheme(root, data.neutrals, data.accents);
  sentence.data = { ...data, stops: stopsOn(sentence.neutrals, data) };
  find(root, ".scale").hidden = data.colors !== "linear" || !data.shows.map;
  find(root, ".of-masked").hidden = !data.tokens.some((_, row) => hasMasked(data, row));
  find(root, ".ramp").style.background = `linear-gradient(to right, ${sentence.data.stops.join()})`;
  root.classList.toggle("no-map", !data.shows.map);
  root.classList.toggle("no-chips", !data.shows.chips);
  root.classList.toggle("long", data.tokens.length > LONG);
  root.classList.toggle("beside", data.tokens.join("").length + 2 * data.tokens.length <= BESIDE);
  root.classList.toggle("many", data.tokens.length > MANY);
  root.classList.toggle("compares", Boolean(data.masks));
  if (data.masks) {
    find(root, ".before-name").textContent = words.beforeLabel(data.masks[0]);
    find(root, ".now-name").textContent = words.afterLabel(data.masks[1]);
    setChips(sentence.earlier, data.tokens);
  }
  setChips(sentence.chips, data.tokens);
  laidOut(sentence);
  root.dataset.painted = data.painted;
}

/**
 * @param {SentenceData} data
 * @param {number} row
 */
function hasMasked(data, row) {
  return data.tokens.some((_, key) => cellAt(data, 0, row, key).code === MASKED);
}

/** @param {Sentence} sentence */
function laidOut(sentence) {
  sentence.width = sentence.root.clientWidth;
  if (!sentence.width) return;
  if (sentence.data.shows.map) layOutMap(sentence);
  show(sentence);
}

/**
 * Adds or removes chips until there is one per token; existing ones stay, because one may have the focus.
 * @param {HTMLElement} chips
 * @param {string[]} tokens
 */
function setChips(chips, tokens) {
  while (chips.children.length > tokens.length) chips.lastElementChild?.remove();
  while (chips.children.length < tokens.length) {
    const chip = createElement("button", "chip");
    chip.type = "button";
    chip.append(createElement("b"), createElement("small"));
    chips.append(chip);
  }
  tokens.forEach((token, i) => {
    const chip = /** @type {HTMLElement} */ (chips.children[i]);
    chip.dataset.token = `${i}`;
    find(chip, "b").textContent = token;
  });
}

/**
 * Shades the tokens by the row under the pointer, or by that of the selected token, and describes it.
 * @param {Sentence} sentence
 */
function show(sentence) {
  const { chips, earlier, data, pointed, query, key, map, said } = sentence, row = pointed?.row ?? query;
  const column = pointed ? pointed.column : key;
  const cells = data.tokens.map((_, at) => cellAt(data, 0, row, at));
  shade(sentence, chips, row, 0);
  if (data.masks) {
    shade(sentence, earlier, row, 1);
    alignChips(chips, earlier);
  }
  for (const row of [chips, earlier]) {
    [...row.children].forEach((chip, i) => chip.setAttribute("aria-pressed", `${i === query}`));
  }
  const most = cells.reduce((best, cell) => (cell.weight > best.weight ? cell : best));
  const described = describe(sentence, row, column ?? most.column);
  const alone = !data.shows.chips;  // the map: what is said has one line beside the scale
  const short = key !== null ? words.MAP_HINT : words.SHORT_HINT;
  const hint = alone ? short : words.HINT;  // of the selected row the title of the page says it
  const told = alone ? describe(sentence, row, column ?? most.column, 0, words.pairLine) : described;
  const selected = words.tokenName(data.tokens, query);
  said.textContent = !pointed ? hint : row === query || !alone ? told : words.pointingLine(told, selected);
  sentence.root.classList.toggle("pointing", row !== query);
  said.classList.toggle("hint", !pointed);
  map.style.setProperty("--row", `${row}`);
  map.style.setProperty("--column", `${column ?? 0}`);
  map.classList.toggle("pointed", column != null);
  map.setAttribute("aria-label", words.mapLabel({ rows: data.rows, columns: data.columns, said: described }));
}

/**
 * Shades chips by a row.
 * @param {Sentence} sentence
 * @param {HTMLElement} chips
 * @param {number} row
 * @param {number} head  0, or 1 for the other mask
 */
function shade(sentence, chips, row, head) {
  const weights = sentence.data.tokens.map((_, at) => cellAt(sentence.data, head, row, at).weight);
  const largest = weights.indexOf(Math.max(...weights));
  [...chips.children].forEach((chip, i) => {
    if (!(chip instanceof HTMLElement)) return;
    const { weight, code } = cellAt(sentence.data, head, row, i);
    shadeChip(chip, weight, sentence.data);
    chip.classList.toggle("masked", code === MASKED);
    chip.classList.toggle("selected", i === row);
    chip.classList.toggle("largest", i === largest);
    find(chip, "small").textContent = weight >= NAMED ? percent(weight, restOf(sentence, row, i, head)) : "";
    chip.title = describe(sentence, row, i, head);
  });
}

/**
 * Gives the chips of a token in both rows the same width: each has room for the share of the other.
 * @param {HTMLElement} chips
 * @param {HTMLElement} earlier
 */
function alignChips(chips, earlier) {
  [...chips.children].forEach((chip, i) => {
    const pair = [chip, earlier.children[i]].map((each) => find(each, "small"));
    pair.forEach((small, side) => (small.dataset.other = pair[1 - side].textContent ?? ""));
  });
}

/**
 * @param {Pick<Sentence, "data">} sentence
 * @param {number} query
 * @param {number} key
 * @param {number} [head]
 * @param {typeof words.pairText} [text]
 */
function describe({ data }, query, key, head = 0, text = words.pairText) {
  const { weight, code } = cellAt(data, head, query, key);
  const rest = restOf({ data }, query, key, head);
  const name = (/** @type {number} */ at) => words.tokenName(data.tokens, at);
  return text({ query: name(query), key: name(key), weight, rest, masked: code === MASKED });
}

/**
 * Returns the sum of the other weights of a row.
 * @param {Pick<Sentence, "data">} sentence
 * @param {number} query
 * @param {number} key
 * @param {number} [head]
 */
function restOf({ data }, query, key, head = 0) {
  return data.tokens.reduce((sum, _, other) => sum + (other === key ? 0 : cellAt(data, head, query, other).weight), 0);
}

/**
 * Returns whether two sentences differ in one token at most: the same positions of both can be compared.
 * @param {string[]} one
 * @param {string[]} two
 */
function areAlike(one, two) {
  return one.length === two.length && one.filter((token, i) => token !== two[i]).length <= 1;
}

/** @param {Sentence} sentence */
function listen(sentence) {
  const { chips, earlier, map, root } = sentence;
  const point = (/** @type {Pointed | null} */ pointed) => {
    sentence.pointed = pointed;
    show(sentence);
    document.dispatchEvent(new CustomEvent(POINTED, { detail: { root, tokens: sentence.data.tokens, pointed } }));
  };
  document.addEventListener(POINTED, function follow(event) {
    const { detail } = /** @type {CustomEvent} */ (event);
    if (!root.isConnected) return document.removeEventListener(POINTED, follow);
    if (detail.root === root || !areAlike(detail.tokens, sentence.data.tokens)) return;
    sentence.pointed = detail.pointed;
    show(sentence);
  });
  const choose = (/** @type {number} */ query, /** @type {number | null} */ key = null) => {
    Object.assign(sentence, { query, key: sentence.key === null ? null : key });
    sentence.ways.onPin?.({ query, key, count: ++sentence.count });
    show(sentence);
  };
  const tokenOf = (/** @type {Event} */ event) => Number(target(event, "[data-token]")?.dataset.token ?? -1);
  for (const row of [chips, earlier]) {
    row.addEventListener("pointerover", (event) => {
      if (event.pointerType !== "touch" && tokenOf(event) >= 0) point({ row: tokenOf(event), column: null });
    });
    row.addEventListener("pointerleave", () => point(null));
    row.addEventListener("click", (event) => tokenOf(event) >= 0 && choose(tokenOf(event)));
    row.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], next = row.children[tokenOf(event) + (step ?? 0)];
      if (!step || !(next instanceof HTMLElement)) return;
      next.focus();
      event.preventDefault();
      event.stopPropagation();
    });
  }
  map.addEventListener("pointermove", (event) => point(spotUnder(sentence, event)));
  map.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && point(null));
  map.addEventListener("click", (event) => {
    const spot = spotUnder(sentence, event);
    if (spot) choose(spot.row, spot.column);
  });
}
