// Handles pointer, wheel and keyboard events of the enlarged head, and requests the selected part.

import { find, createElement, penOf, saveAs } from "./elements.js";
import { laidOut } from "./large_head_picture.js";
import { at, cellUnder, inside, point, showBox } from "./large_head_pointer.js";
import { coveredTokens, nameOf, windowOf, within, zoomAround } from "./large_head_view.js";
import { partText } from "./large_head_words.js";

/**
 * @typedef {import("./large_head_view.js").Lab} Lab
 * @typedef {import("./large_head_view.js").View} View
 * @typedef {import("./large_head_view.js").Spot} Spot
 */

export const PATIENCE = 4000;  // milliseconds to wait for a requested part; after that, the part last received is shown
const QUIET = 160;  // milliseconds without another turn of the wheel before a part is requested
const DRAGGED = 4;  // pixels from which a movement counts as a drag

/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowUp: [-0.25, 0], ArrowDown: [0.25, 0], ArrowLeft: [0, -0.25], ArrowRight: [0, 0.25] };
/** @type {Record<string, number>} */
const TIMES = { "+": 0.5, "=": 0.5, "-": 2, "−": 2 };

/**
 * Shows a part immediately, and requests it after `wait` milliseconds without another change.
 * @param {Lab} lab
 * @param {View} view
 * @param {number} wait
 */
function look(lab, view, wait) {
  if (!lab.data.zooms) return;
  lab.view = within(view, lab.data);
  clearTimeout(lab.timer);
  lab.timer = setTimeout(() => ask(lab), wait);
  laidOut(lab);
  point(lab, lab.pointer);
}

/** @param {Lab} lab */
function ask(lab) {
  lab.timer = 0;
  const { top, left, high, wide } = lab.view, [queries, keys] = lab.data.sizes;
  const rows = coveredTokens(top, high, queries), cols = coveredTokens(left, wide, keys);
  lab.view = { top: rows[0], left: cols[0], high: rows[1] - rows[0] + 1, wide: cols[1] - cols[0] + 1 };
  const name = [rows[0], cols[0], lab.view.high, lab.view.wide].join();
  if (name === nameOf(lab.data)) {
    Object.assign(lab, { asked: null, view: windowOf(lab.data) });
    return laidOut(lab);
  }
  const asked = (lab.asked = { name, since: Date.now() });
  lab.ways.onFrame?.({ rows, cols, count: ++lab.count });
  setTimeout(() => lab.asked === asked && lab.renew(), PATIENCE + 50);
  find(lab.root, ".live").textContent = partText({ rows, columns: cols });
}

/**
 * @param {Lab} lab
 * @param {string} name
 */
function act(lab, name) {
  const [high, wide] = lab.data.sizes, middle = { x: 0.5, y: 0.5 };
  if (name === "png") return savePicture(lab);
  if (name === "whole") return look(lab, { top: 0, left: 0, high, wide }, 0);
  const around = (name === "in" && lab.tapped) || middle;
  lab.tapped = null;
  look(lab, zoomAround(lab.view, name === "in" ? 0.5 : 2, around), 0);
}

/**
 * @param {Lab} lab
 * @param {KeyboardEvent} event
 */
function onKey(lab, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { view } = lab, { high, wide } = view, [down, right] = MOVES[event.key] ?? [0, 0], times = TIMES[event.key];
  if (event.key === "Escape" && lab.start) onDrop(lab);
  else if (down || right) look(lab, { ...view, top: view.top + down * high, left: view.left + right * wide }, QUIET);
  else if (times) look(lab, zoomAround(view, times), QUIET);
  else if (event.key === "0") act(lab, "whole");
  else return;
  event.preventDefault();
  event.stopPropagation();  // the page has keys of its own
}

/** @param {Lab} lab */
function onDrop(lab) {
  lab.start = lab.end = null;
  showBox(lab);
}

/**
 * Selects the dragged rectangle; one of less than a few pixels was a click.
 * @param {Lab} lab
 */
function zoomToFrame(lab) {
  const { start, end, place, view } = lab;
  onDrop(lab);
  if (!start || !end) return;
  const wide = Math.abs(end.x - start.x), high = Math.abs(end.y - start.y);
  if (wide * place.width < DRAGGED || high * place.height < DRAGGED) return;
  const left = view.left + Math.min(start.x, end.x) * view.wide, top = view.top + Math.min(start.y, end.y) * view.high;
  look(lab, { top, left, high: high * view.high, wide: wide * view.wide }, 0);
}

/**
 * @param {Lab} lab
 * @param {MouseEvent} event
 */
function selectRow(lab, event) {
  const spot = at(lab, event), cell = lab.data.pins && inside(spot) ? cellUnder(lab, spot) : null;
  if (cell) lab.ways.onPin?.({ query: lab.data.first[0] + cell.query, count: ++lab.count });
}

/** @param {Lab} lab */
export function listen(lab) {
  const { square, canvas, root } = lab;
  canvas.addEventListener("pointerdown", (event) => down(lab, event));
  canvas.addEventListener("pointermove", (event) => {
    if (lab.start) {
      lab.end = clampSpot(at(lab, event));
      showBox(lab);
    }
    point(lab, event);
  });
  canvas.addEventListener("pointerup", () => lab.start && zoomToFrame(lab));
  canvas.addEventListener("click", (event) => selectRow(lab, event));
  canvas.addEventListener("pointercancel", () => onDrop(lab));
  canvas.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && point(lab, null));
  canvas.addEventListener("wheel", (event) => onWheel(lab, event), { passive: false });
  square.addEventListener("keydown", (event) => onKey(lab, event));
  root.addEventListener("click", ({ target }) => {
    if (target instanceof HTMLElement && target.dataset.act) act(lab, target.dataset.act);
  });
}

/** @param {Spot} spot */
function clampSpot({ x, y }) {
  return { x: Math.max(0, Math.min(1, x)), y: Math.max(0, Math.min(1, y)) };
}

/**
 * @param {Lab} lab
 * @param {PointerEvent} event
 */
function down(lab, event) {
  const spot = at(lab, event), touched = event.pointerType === "touch";
  if (touched && inside(spot)) {
    lab.tapped = spot;
    point(lab, event);
  }
  if (event.button || touched || !inside(spot) || !lab.data.zooms) return;
  lab.start = spot;
  lab.canvas.setPointerCapture(event.pointerId);
}

/**
 * Zooms with the wheel if the head has the focus or Ctrl or Cmd is pressed; otherwise the wheel scrolls the page.
 * @param {Lab} lab
 * @param {WheelEvent} event
 */
function onWheel(lab, event) {
  const spot = at(lab, event), meant = event.ctrlKey || event.metaKey || document.activeElement === lab.square;
  if (!lab.data.zooms || !inside(spot) || !meant) return;
  event.preventDefault();
  const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 : 1;
  const times = 2 ** (Math.max(-300, Math.min(300, event.deltaY * lines)) / 200);
  look(lab, zoomAround(lab.view, times, spot), QUIET);
}

/**
 * Saves the picture with the background of the page.
 * @param {Lab} lab
 */
function savePicture({ canvas, neutrals, data }) {
  const copy = createElement("canvas"), pen = penOf(copy);
  Object.assign(copy, { width: canvas.width, height: canvas.height });
  pen.fillStyle = neutrals.background;
  pen.fillRect(0, 0, copy.width, copy.height);
  pen.drawImage(canvas, 0, 0);
  saveAs(copy, `attention-head-${data.head}.png`);
}
