// The picture of the selected part: cells, axes and scale on one canvas. Sizes are CSS pixels.

import { number, paint, weightsOf, ZERO } from "./cells.js";
import { differenceTicks } from "./difference_cells.js";
import { createElement, penOf, signs } from "./elements.js";
import { evenMarks, mirrorMarks, share } from "./uniform.js";
import { drawMarks, spacedLabels } from "./large_head_marks.js";
import { windowOf } from "./large_head_view.js";
import { axisText, KEY, QUERY } from "./large_head_words.js";
import { hatch, RAMP, ramp } from "./theme.js";

/**
 * @typedef {import("./large_head_view.js").Lab} Lab
 * @typedef {import("./large_head_view.js").LargeData} LargeData
 * @typedef {import("./large_head_view.js").View} View
 * @typedef {import("./large_head_marks.js").Label} Label
 * @typedef {CanvasRenderingContext2D} Pen
 */

const LEFT = 62, RIGHT = 64, TOP = 8, BELOW = 40, NAMED = 76, TICKS = 6, NAMES = 128, LINE = 12, CUT = 9, BAR = 12;

/**
 * Returns place and size of the square: as large as there is room, in the proportions of the part that it shows.
 * @param {number} width
 * @param {View} view
 * @param {LargeData} data
 * @returns {import("./large_head_view.js").Place}
 */
export function placeSquare(width, view, data) {
  const named = namesOf(data, view).across.length > 0, below = named ? NAMED : BELOW;
  const room = Math.max(60, Math.min(width - LEFT - RIGHT, data.height - TOP - below));
  const longest = Math.max(view.high, view.wide);
  const side = (/** @type {number} */ tokens) => Math.max(24, Math.round((room * tokens) / longest));
  return { left: LEFT, top: TOP, width: side(view.wide), height: side(view.high), room, below };
}

/**
 * Returns the tokens of both axes, empty if there are too many: beyond, positions say more.
 * @param {LargeData} data
 * @param {View} view
 */
function namesOf(data, { high, wide }) {
  const shown = data.tile === 1 && Math.max(high, wide) <= NAMES;
  return { down: shown ? data.names[0] : [], across: shown ? data.names[1] : [] };
}

/** @param {Lab} lab */
export function laidOut(lab) {
  const { data, root, canvas } = lab, width = root.clientWidth;
  if (!width) return;
  lab.width = width;
  lab.ratio = window.devicePixelRatio || 1;
  const place = (lab.place = placeSquare(width, lab.view, data)), tall = place.top + place.room + place.below;
  const cells = (lab.cells = cellsOf(lab));
  Object.assign(canvas, { width: Math.round(width * lab.ratio), height: Math.round(tall * lab.ratio) });
  Object.assign(canvas.style, { width: `${width}px`, height: `${tall}px` });
  const { left, top, width: broad, height: high } = place;
  canvas.dataset.square = [left, top, broad, high].join(" ");  // for scripts that point at cells
  const pen = penOf(canvas);
  pen.scale(lab.ratio, lab.ratio);
  pen.font = `11px ${getComputedStyle(root).fontFamily}`;
  drawCells(pen, lab, cells.canvas);
  drawMarks(pen, lab);
  drawAxes(pen, lab);
  if (!data.marks?.hides) drawScale(pen, lab);
}

/**
 * Returns a canvas of the received cells, in which a pixel shows the largest code under it; cached per data and size.
 * @param {Lab} lab
 * @returns {import("./large_head_view.js").Drawn}
 */
function cellsOf({ data, place, ratio, cells }) {
  const key = [place.width, place.height, ratio, data.colors].join();
  if (cells?.data === data && cells.key === key) return cells;
  const canvas = createElement("canvas"), { rows, columns, tile, queries, keys } = data;
  // The canvas includes the part of the last tiles that is beyond the last token.
  const pixels = (/** @type {number} */ side, /** @type {number} */ cells, /** @type {number} */ tokens) =>
    Math.max(1, Math.round((side * ratio * cells * tile) / tokens));
  const [width, height] = [pixels(place.width, columns, keys), pixels(place.height, rows, queries)];
  Object.assign(canvas, { width, height });
  paint(canvas, data, 0);
  return { data, key, canvas };
}

/**
 * Draws the selected part. Until its cells arrive, those of the part before are stretched; around them the background is
 * visible.
 * @param {Pen} pen
 * @param {Lab} lab
 * @param {HTMLCanvasElement} canvas
 */
function drawCells(pen, { place, view, data, neutrals }, canvas) {
  const there = windowOf(data), { tile, rows, columns } = data;
  const x = (/** @type {number} */ token) => place.left + ((token - view.left) / view.wide) * place.width;
  const y = (/** @type {number} */ token) => place.top + ((token - view.top) / view.high) * place.height;
  pen.save();
  pen.beginPath();
  pen.rect(place.left, place.top, place.width, place.height);
  pen.clip();
  const [left, top] = [x(there.left), y(there.top)];
  pen.beginPath();
  pen.rect(left, top, x(there.left + there.wide) - left, y(there.top + there.high) - top);
  pen.clip();  // the last tiles reach beyond the end
  pen.fillStyle = hatch(pen, neutrals);
  pen.fill();
  pen.imageSmoothingEnabled = false;
  pen.drawImage(canvas, left, top, x(there.left + columns * tile) - left, y(there.top + rows * tile) - top);
  pen.restore();
  pen.strokeStyle = neutrals.line;
  pen.strokeRect(place.left - 0.5, place.top - 0.5, place.width + 1, place.height + 1);
  const middle = y(data.query + 0.5), size = Math.max(3, place.height / view.high);
  if (middle < place.top || middle > place.top + place.height) return;
  pen.fillStyle = data.accents.query;  // the selected query is marked next to the square, so that no cell is covered
  pen.fillRect(place.left - 5, middle - size / 2, 3, size);
  pen.fillRect(place.left + place.width + 2, middle - size / 2, 3, size);
}

/**
 * @param {Pen} pen
 * @param {Lab} lab
 */
function drawAxes(pen, { root, place, view, data, neutrals }) {
  const names = namesOf(data, view), style = getComputedStyle(root), family = style.fontFamily;
  const write = (/** @type {Label} */ { text, kind }, /** @type {"query" | "key"} */ side,
    /** @type {[number, number]} */ [left, top], /** @type {number} */ room) => {
    pen.font = `${kind ? "bold " : ""}11px ${family}`;
    pen.fillStyle = kind === "pair" ? style.getPropertyValue(`--${side}-words`) : kind ? neutrals.text : neutrals.muted;
    pen.fillText(text, left, top, room);
  };
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  const lineDown = LINE * view.high / place.height, lineAcross = LINE * view.wide / place.width;
  const down = labelsOf(data, 0, names.down, lineDown, () =>
    marks(view.top, view.high, data.sizes[0], place.height / 16));
  for (const label of down) {
    const top = place.top + ((label.token + 0.5 - view.top) / view.high) * place.height;
    write(label, "query", [place.left - 8, top], LEFT - 24);
  }
  const across = labelsOf(data, 1, names.across, lineAcross, () =>
    marks(view.left, view.wide, data.sizes[1], place.width / 44));
  const isNamed = names.across.length > 0;
  for (const label of across) {
    pen.save();
    const left = place.left + ((label.token + 0.5 - view.left) / view.wide) * place.width;
    pen.translate(left, place.top + place.height + 7);
    if (isNamed) pen.rotate(-Math.PI / 2);
    pen.textAlign = isNamed ? "right" : "center";
    write(label, "key", [0, isNamed ? 0 : 6], NAMED);
    pen.restore();
  }
  pen.font = `11px ${family}`;
  pen.fillStyle = neutrals.muted;
  pen.textAlign = "center";
  const keys = axisText(KEY, across.length, names.across.length);
  pen.fillText(keys, place.left + place.width / 2, place.top + place.height + place.below - 8);
  pen.translate(6, place.top + place.height / 2);
  pen.rotate(-Math.PI / 2);
  pen.fillText(axisText(QUERY, down.length, names.down.length), 0, 0);
  pen.rotate(Math.PI / 2);
  pen.translate(-6, -place.top - place.height / 2);
}

/**
 * Returns the labels of token texts if there are texts, otherwise those of `marks()`.
 * @param {LargeData} data
 * @param {0 | 1} side
 * @param {string[]} names
 * @param {number} line  tokens per line of text
 * @param {() => [number, string][]} marks
 * @returns {Label[]}
 */
function labelsOf(data, side, names, line, marks) {
  if (!names.length) return marks().map(([token, text]) => ({ token, text, kind: "" }));
  const cut = (/** @type {string[]} */ letters) =>
    letters.length > CUT ? [...letters.slice(0, CUT - 1), "…"] : letters;
  const start = data.first[side];
  const all = names.map((name, i) => /** @type {[number, string]} */ ([start + i, cut(signs(name)).join("")]));
  return spacedLabels(data, side, all, line);
}

/**
 * Returns the round positions of tokens that get a tick, and its text.
 * @param {number} first
 * @param {number} size
 * @param {number} tokens
 * @param {number} room  for how many ticks there is room
 * @returns {[number, string][]}
 */
function marks(first, size, tokens, room) {
  const least = size / Math.max(1, Math.min(TICKS, room)), power = 10 ** Math.floor(Math.log10(least));
  const round = [1, 2, 5, 10].map((times) => times * power).find((each) => each >= least) ?? 10 * power;
  const step = Math.max(1, round), from = Math.ceil(first / step);
  const count = Math.max(0, Math.ceil(Math.min(first + size, tokens) / step) - from);
  return Array.from({ length: count }, (_, i) => [(from + i) * step, formatTick((from + i) * step)]);
}

/** @param {number} token */
function formatTick(token) {
  return token.toLocaleString("en");
}

/**
 * @param {Pen} pen
 * @param {Lab} lab
 */
function drawScale(pen, { place, data, neutrals }) {
  const left = place.left + place.width + 14, colors = ramp(data.stops);
  const strip = createElement("canvas"), image = new ImageData(1, 256);
  Object.assign(strip, { width: 1, height: 256 });
  const color = (/** @type {number} */ i) => colors[Math.round(((255 - i) * (RAMP - 1)) / 255)];
  new Uint32Array(image.data.buffer).forEach((_, i, out) => (out[i] = color(i)));
  penOf(strip).putImageData(image, 0, 0);
  const high = place.room - 18, top = place.top + 18;
  pen.drawImage(strip, left, top, BAR, high);
  pen.strokeRect(left - 0.5, top - 0.5, BAR + 1, high + 1);
  pen.fillStyle = neutrals.muted;
  pen.textAlign = "left";
  const difference = data.rest === null ? "B − A" : "points", weight = data.colors === "times even" ? "× uniform" : "weight";
  pen.fillText(data.sides ? difference : weight, left, place.top + 5);
  for (const [at, text] of scaleMarks(data)) {
    pen.fillText(text, left + BAR + 4, top + (1 - at) * high, RIGHT - BAR - 20);
  }
}

/**
 * @param {LargeData} data
 * @returns {[number, string][]}
 */
function scaleMarks(data) {
  if (data.sides) return differenceTicks(data.colors, data.rest !== null);
  return data.signed ? mirrorMarks(marksOfPositive(data)) : marksOfPositive(data);
}

/**
 * @param {LargeData} data
 * @returns {[number, string][]}
 */
function marksOfPositive(data) {
  const [most] = data.most, shares = !data.signed && data.rest !== null;
  const greatest = most > ZERO ? (shares ? share : number)(most, weightsOf(data)[most]) : "0";
  if (data.colors === "own maximum") return [[0, "0"], [1, greatest]];
  if (data.colors === "linear" && (shares || !data.zooms)) return [[0, "0%"], [0.5, "50%"], [1, "100%"]];
  if (data.colors === "linear") return [[0, "0"], [0.5, "0.5"], [1, "1"]];
  if (data.colors === "times even") return evenMarks(data.times);
  const decades = Math.round(-Math.log10(data.floor));
  const power = (/** @type {number} */ i) => Number((10 ** (i - decades)).toPrecision(1));
  return Array.from({ length: decades + 1 }, (_, i) => [i / decades, `${i ? "" : "≤ "}${power(i)}`]);
}
