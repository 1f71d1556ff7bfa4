// The heads of several layers, one layer at a time: `draw` adds a choice of layers, the grid of the heads of one layer,
// and the selected row as words with lines to an element of any page. It shows a `Picture`, which
// attention/notebook/picture.py creates.

import { find, createElement, createRoot } from "./elements.js";
import { draw as drawGrid } from "./heads_grid.js";
import { withFocus, wordsOf } from "./heads_layers_parts.js";
import { MARKUP, rowTitle } from "./heads_layers_words.js";
import { openMessage } from "./message.js";
import { applyTheme } from "./theme.js";
import { draw as drawWords } from "./word_lines.js";

/**
 * @typedef {{ name: string, what: string, layers: number[], note: string }} Part
 * @typedef {{ title: string, parts: Part[] }} About
 * @typedef {{ about: About, layer: (part: number, at: number) => Promise<Uint8Array> }} Picture
 * @typedef {{ part: string, layer: number, head: number, query: number, key: number, count: number }} Pin
 * @typedef {{ onPin?: (pin: Pin) => void }} Ways
 * @typedef {{ update: (bytes: Uint8Array) => void, destroy: () => void }} View
 */

/**
 * @typedef {object} Layers
 * @property {HTMLElement} root
 * @property {Picture} picture
 * @property {Ways} ways
 * @property {HTMLSelectElement} parts
 * @property {HTMLSelectElement} layers
 * @property {HTMLSelectElement} colors
 * @property {Uint8Array | null} bytes  those of the layer that is shown
 * @property {import("./message.js").Focus | null} focus
 * @property {View | null} grid
 * @property {View | null} words
 * @property {number} turn  number of layers requested so far
 */

/**
 * Draws a picture at the end of an element.
 * @param {Element} element
 * @param {Picture} picture
 * @param {Ways} [ways]
 */
export function draw(element, picture, ways = {}) {
  const root = createRoot(element, "heads-layers", MARKUP), select = HTMLSelectElement;
  /** @type {Layers} */
  const all = {
    root, picture, ways, parts: find(root, ".parts", select), layers: find(root, ".layers", select),
    colors: find(root, ".colors", select), bytes: null, focus: null, grid: null, words: null, turn: 0,
  };
  find(root, ".title").textContent = picture.about.title;
  fill(all.parts, picture.about.parts.map(({ name }) => name));
  find(root, ".of-part").hidden = picture.about.parts.length < 2;
  listen(all);
  const begun = setPart(all);
  return { begun, recolour: () => drawLayer(all), destroy: () => onRemove(all) };
}

/** @param {Layers} all */
function listen(all) {
  const { parts, layers, colors, root } = all;
  parts.addEventListener("change", () => setPart(all));
  layers.addEventListener("change", () => setLayer(all));
  colors.addEventListener("change", () => drawLayer(all));
  for (const [name, step] of /** @type {[string, number][]} */ ([[".before", -1], [".after", 1]])) {
    find(root, name).addEventListener("click", () => {
      layers.selectedIndex = Math.max(0, Math.min(layers.length - 1, layers.selectedIndex + step));
      setLayer(all);
    });
  }
}

/**
 * @param {HTMLSelectElement} select
 * @param {string[]} texts
 */
function fill(select, texts) {
  select.replaceChildren(...texts.map((text) => createElement("option", "", text)));
}

/**
 * Shows another part: its first layer, with the selection that the layer's message names.
 * @param {Layers} all
 */
function setPart(all) {
  const part = all.picture.about.parts[all.parts.selectedIndex];
  fill(all.layers, part.layers.map((number) => `${number}`));
  find(all.root, ".of-layer").hidden = part.layers.length < 2;
  find(all.root, ".what").textContent = part.what;
  find(all.root, ".layers-note").textContent = part.note;
  all.focus = null;
  return setLayer(all);
}

/** @param {Layers} all */
async function setLayer(all) {
  const turn = ++all.turn;
  const bytes = await all.picture.layer(all.parts.selectedIndex, all.layers.selectedIndex);
  if (turn !== all.turn || !all.root.isConnected) return;  // another layer was requested meanwhile
  all.bytes = bytes;
  for (const [name, edge] of /** @type {[string, number][]} */ ([[".before", 0], [".after", all.layers.length - 1]])) {
    find(all.root, name, HTMLButtonElement).disabled = all.layers.selectedIndex === edge;
  }
  drawLayer(all);
}

/**
 * Draws the current layer: its grid, then the words of the selected row.
 * @param {Layers} all
 */
function drawLayer(all) {
  if (!all.bytes) return;
  const bytes = withFocus(all.bytes, all.focus, all.colors.value), [header] = openMessage(bytes);
  applyTheme(all.root, header.neutrals, header.accents);
  all.focus = header.focus;
  if (all.grid) all.grid.update(bytes);
  else all.grid = drawGrid(find(all.root, ".grid"), bytes, { onPin: (pin) => onPin(all, pin), echoes: false });
  setWords(all);
  all.root.dataset.painted = header.painted;
}

/**
 * @param {Layers} all
 * @param {{ head: number, query: number, key: number, count: number }} pin
 */
function onPin(all, pin) {
  const part = all.picture.about.parts[all.parts.selectedIndex];
  all.focus = { head: pin.head, query: pin.query };
  setWords(all);
  all.ways.onPin?.({ part: part.name, layer: part.layers[all.layers.selectedIndex], ...pin });
}

/**
 * Draws the selected row as words with lines. If a cell covers several tokens, only the table of the grid shows the row.
 * @param {Layers} all
 */
function setWords(all) {
  const place = find(all.root, ".words-of-row"), title = find(all.root, ".row-title");
  const words = all.bytes && all.focus && wordsOf(all.bytes, all.focus, all.colors.value);
  title.textContent = words && all.focus ? rowTitle(all.focus) : "";
  if (!words) {
    all.words?.destroy();
    all.words = null;
  } else if (all.words) all.words.update(words);
  else all.words = drawWords(place, words, { onPin: ({ query }) => onWord(all, query) });
}

/**
 * Selects the query of a pinned word in the grid as well.
 * @param {Layers} all
 * @param {number} query
 */
function onWord(all, query) {
  if (!all.focus) return;
  all.focus = { ...all.focus, query };
  drawLayer(all);
}

/** @param {Layers} all */
function onRemove(all) {
  all.turn += 1;
  all.grid?.destroy();
  all.words?.destroy();
  all.root.remove();
}
