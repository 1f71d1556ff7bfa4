// The enlarged map of one head at any length: `draw` adds it to an element of any page, given a message of
// `attention.wire.cells.payload`. It reports which part is selected, and stretches the cells that it has until the cells of
// that part arrive.

import { unpackCells } from "./cells.js";
import { alive, find, createRoot } from "./elements.js";
import { listen, PATIENCE } from "./large_head_events.js";
import { laidOut, placeSquare } from "./large_head_picture.js";
import { point } from "./large_head_pointer.js";
import { nameOf, whole, windowOf } from "./large_head_view.js";
import { MARKUP, partLabel } from "./large_head_words.js";
import { applyTheme, stopsOn } from "./theme.js";

/**
 * @typedef {import("./large_head_view.js").Lab} Lab
 * @typedef {import("./large_head_view.js").LargeData} LargeData
 * @typedef {{ rows: [number, number], cols: [number, number], count: number }} Frame  first and last
 * @typedef {{ query: number, count: number }} Pin  the selected row
 * @typedef {{ onFrame?: (frame: Frame) => void, onPin?: (pin: Pin) => void }} Ways
 */

/**
 * Draws the head at the end of an element.
 * @param {Element} element
 * @param {Uint8Array} bytes
 * @param {Ways} [ways]
 */
export function draw(element, bytes, ways = {}) {
  const lab = createHead(createRoot(element, "large-head", MARKUP), unpackCells(bytes), ways);
  lab.renew = () => update(lab, lab.data);
  listen(lab);
  lab.renew();
  return alive(lab, () => laidOut(lab), (next) => update(lab, unpackCells(next)), () => clearTimeout(lab.timer));
}

/**
 * @param {HTMLElement} root
 * @param {LargeData} data
 * @param {Ways} ways
 * @returns {Lab}
 */
function createHead(root, data, ways) {
  const view = windowOf(data), width = root.clientWidth;
  return {
    root, data, ways, view, width: 0, ratio: 1, place: placeSquare(width, view, data), cells: null,
    canvas: find(root, "canvas", HTMLCanvasElement), square: find(root, ".square"), said: find(root, ".said"),
    neutrals: applyTheme(root, data.neutrals, data.accents), asked: null, timer: 0, count: 0, renew: () => {},
    start: null, end: null, tapped: null, pointer: null,
  };
}

/**
 * @param {Lab} lab
 * @param {LargeData} data
 */
function update(lab, data) {
  lab.data = data;
  lab.neutrals = applyTheme(lab.root, data.neutrals, data.accents);
  data.stops = stopsOn(lab.neutrals, data);
  if (data.marks?.hides) data.stops = [lab.neutrals.background, lab.neutrals.background];
  const awaited = lab.asked && Date.now() - lab.asked.since < PATIENCE && lab.asked.name !== nameOf(data);
  if (!lab.timer && !lab.start && !awaited) Object.assign(lab, { asked: null, view: windowOf(data) });
  for (const button of lab.root.querySelectorAll("button")) {
    const { act } = button.dataset;
    button.disabled = act !== "png" && (!data.zooms || (act !== "in" && whole(lab.view, data)));
  }
  const { first: [row, column], queries, keys } = data;
  const part = partLabel({ head: data.head, rows: [row, row + queries - 1], columns: [column, column + keys - 1] });
  lab.square.setAttribute("aria-label", part);
  lab.root.classList.toggle("closed", !data.zooms);
  lab.root.classList.toggle("pins", Boolean(data.pins));
  lab.root.classList.toggle("marked", Boolean(data.marks && (data.marks.says || !data.marks.hides)));  // the room for words
  lab.root.classList.toggle("hides", Boolean(data.marks?.hides));
  laidOut(lab);
  point(lab, lab.pointer);
  lab.root.dataset.painted = data.painted;
}
