// A square of the grid: its size, its cells, and the labels beside it. Sizes are whole CSS pixels.

import { cellAt, number, paint, weightsOf } from "./cells.js";
import { createElement, find } from "./elements.js";
import { headTitle, sharedHead, upTo } from "./heads_grid_words.js";

/**
 * @typedef {import("./heads_grid_layout.js").GridData} GridData
 * @typedef {import("./heads_grid_layout.js").Figure} Figure
 * @typedef {import("./heads_grid_layout.js").Square} Square
 */

export const GAP = 10, TITLE = 18, EDGE = 5, APART = 16, WIDE = 620;
const ROOMY = 6, NONE = new Uint8Array();
const WORDED = 110;  // width from which a caption is in words
const SMALL = 11 / 12;  // of the width, in small letters
const LINES = 1.8;  // of its width that a name has room for in two lines, of which the first may end early
const DOT = 17, BESIDE = 4;  // width of what stands beside the words of a caption, and without the dot

/**
 * Returns the token texts of the keys: those of the queries, unless the keys are of another sequence.
 * @param {GridData} data
 */
export function keyTokens({ tokens, key_tokens }) {
  return key_tokens ?? tokens;
}

/**
 * Returns the cells of the row of a cell.
 * @param {GridData} data
 * @param {import("./cells.js").Cell} cell
 */
export function rowCells(data, { head, row }) {
  return Array.from({ length: data.columns }, (_, column) => cellAt(data, head, row, column));
}

/**
 * Rounds the side to device pixels: to a whole number per cell, if that reduces the size by at most 12%.
 * @template {{ side: number }} T
 * @param {T} plan
 * @param {GridData} data
 * @returns {T & Square}
 */
export function snapSide(plan, { rows, columns }) {
  const ratio = window.devicePixelRatio || 1, longest = Math.max(rows, columns);
  const pixels = Math.floor(plan.side * ratio), whole = Math.floor(pixels / longest) * longest;
  const side = whole >= 0.88 * pixels ? whole : pixels;
  const pixelsOf = (/** @type {number} */ cells) => Math.max(1, Math.round((side * cells) / longest));
  const pixelHeight = pixelsOf(rows), pixelWidth = pixelsOf(columns), height = pixelHeight / ratio, width = pixelWidth / ratio;
  const cell = { height: height / rows, width: width / columns };
  return { ...plan, ratio, pixelHeight, pixelWidth, cell, height, width };
}

/**
 * @param {string} kind  the class of the square
 * @returns {Figure}
 */
export function createFigure(kind) {
  const element = createElement("figure"), caption = createElement("figcaption");
  const square = createElement("div", kind), canvas = createElement("canvas");
  caption.append(createElement("b"), createElement("span"));
  square.append(canvas, createElement("i", "pinned"), createElement("i", "row"), createElement("i", "column"));
  element.append(caption, square);
  return { element, square, canvas, painted: null };
}

/** @param {Square} plan */
export function isRoomy({ cell }) {
  return Math.min(cell.width, cell.height) >= ROOMY;
}

/**
 * @param {Figure} figure
 * @param {Square} plan
 */
export function setSquare(figure, plan) {
  const { square, canvas } = figure;
  Object.assign(square.style, { width: `${plan.width}px`, height: `${plan.height}px` });
  if (canvas.width === plan.pixelWidth && canvas.height === plan.pixelHeight) return;
  Object.assign(canvas, { width: plan.pixelWidth, height: plan.pixelHeight });
  figure.painted = null;
}

/** @param {number} size */
function fontOf(size) {
  return `${Math.min(12, size - 0.6)}px`;
}

/**
 * Returns the label of row `i`, as high as its cell, or as `least` if that is more.
 * @param {string} token
 * @param {number} i
 * @param {Square} plan
 * @param {number} room
 * @param {number} [least]
 */
export function down(token, i, { cell }, room, least = 0) {
  const label = createElement("span", "label down", token), size = Math.max(cell.height, least);
  const place = { right: "calc(100% + 7px)", width: `${room - 9}px`, top: `${(i + 0.5) * cell.height - size / 2}px` };
  Object.assign(label.style, place, { height: `${size}px`, lineHeight: `${size}px` });
  label.style.setProperty("--label", fontOf(size));
  return label;
}

/**
 * Returns the label of column `i`, as wide as its cell, or as `least` if that is more.
 * @param {string} token
 * @param {number} i
 * @param {Square} plan
 * @param {number} room
 * @param {number} [least]
 */
export function across(token, i, { cell }, room, least = 0) {
  const label = createElement("span", "label across", token), size = Math.max(cell.width, least);
  const place = { top: "calc(100% + 7px)", height: `${room - 6}px`, left: `${(i + 0.5) * cell.width - size / 2}px` };
  Object.assign(label.style, place, { width: `${size}px`, lineHeight: `${size}px` });
  label.style.setProperty("--label", fontOf(size));
  return label;
}

/**
 * @param {import("./heads_grid_layout.js").Figure} figure
 * @param {GridData} data
 * @param {number} h
 */
export function paintHead(figure, data, h) {
  const { painted } = figure, [codes, seeing] = [data.codes[h], data.seeing[h]], signs = data.negative?.[h] ?? NONE;
  const key = [h, data.colors, data.stops, data.columns, data.most[h]].join();
  const known = painted?.key === key && same(painted.codes, codes) && same(painted.signs, signs);
  if (known && same(painted.seeing, seeing)) return;
  paint(figure.canvas, data, h);
  figure.painted = { codes, signs, seeing, key };
}

/**
 * @param {Uint16Array | Uint8Array | Float32Array} a
 * @param {Uint16Array | Uint8Array | Float32Array} b
 */
function same(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * Returns what a head does without its second line, which is shown on hover: on how many texts it does so.
 * @param {string} [name]
 */
export function shortName(name = "") {
  return name.split("\n")[0];
}

/**
 * Sets the title of a square: the number of its head, what the head does, and its maximum on a scale of its own.
 * @param {Figure} figure
 * @param {GridData} data
 * @param {number} h
 * @param {{ width: number, stacked?: boolean, brief?: boolean }} plan  `stacked`: whether the name has a line of its own; that
 *   of a shared key-value head is then beside the number; `brief`: whether the name is the short one
 */
export function setCaption({ element }, data, h, { width, stacked = false, brief = false }) {
  element.style.setProperty("--head", data.head_colors[h % data.head_colors.length]);
  const own = data.colors === "own maximum" && !data.sides && width > 100, most = data.most[h];
  const maximum = own ? upTo(`${data.signed ? "±" : ""}${number(most, weightsOf(data)[most])}`) : "";
  const shared = data.group > 1 ? sharedHead(Math.floor(h / data.group)) : "";
  const role = data.names[h] || "";
  const told = (/** @type {string} */ name) => [name, shared, maximum].filter(Boolean).join(" · ");
  const title = headTitle({}, data.per ? h % data.per : h);
  const short = data.per || width >= WORDED ? title : `${h}`, isBeside = stacked && shared !== "";
  const name = brief ? data.short_names?.[h] ?? "" : shortName(role);
  find(element, "figcaption b").textContent = isBeside ? `${short} · ${shared}` : short;
  find(element, "figcaption").title = told(role);
  const below = isBeside ? [name, maximum].filter(Boolean).join(" · ") : "";
  find(element, "figcaption span").textContent = isBeside ? below : brief ? name || shared : told(name);
  element.dataset.shared = isBeside ? "" : shared;
}

/**
 * Writes the title of a square in smaller letters if it has no room in letters of 12 pixels; if it has none in these either,
 * its name is only in the tooltip, and the number of a shared key-value head stays. It is measured on a canvas, without a layout
 * of the page.
 * @param {HTMLElement} figure
 * @param {import("./heads_grid_layout.js").Plan} plan
 * @param {boolean} brief
 */
export function fitCaption(figure, { width, track = width, stacked, wrapped }, brief) {
  const caption = find(figure, "figcaption span"), { shared } = figure.dataset;
  const number = stacked ? 0 : (brief ? BESIDE : DOT) + textWidth(figure, find(figure, "figcaption b").textContent ?? "");
  if (shared && textWidth(figure, caption.textContent ?? "") * SMALL + number > track) caption.textContent = shared;
  const name = textWidth(figure, caption.textContent ?? "");
  figure.classList.toggle("small", name + number > track);
  figure.classList.toggle("unnamed", name * SMALL + number > track * (wrapped ? LINES : 1));
}

/**
 * Cuts the names that have no room if most others have it; if most have none, all are only in the tooltips.
 * Returns whether most have it.
 * @param {HTMLElement[]} figures
 */
export function fitCaptions(figures) {
  const without = figures.filter((figure) => figure.classList.contains("unnamed")).length, few = 2 * without <= figures.length;
  for (const { classList } of figures) classList.toggle("unnamed", without > 0 && !few);
  return few;
}

/** @type {Map<string, number>} */
const widths = new Map();

/**
 * @param {HTMLElement} element  an element with the font
 * @param {string} text
 */
function textWidth(element, text) {
  const known = widths.get(text), pen = createElement("canvas").getContext("2d");
  if (known !== undefined || !pen || !text) return known ?? 0;
  pen.font = `12px ${getComputedStyle(element).fontFamily}`;
  const { width } = pen.measureText(text);
  if (document.fonts.status === "loaded") widths.set(text, width);
  return width;
}
