// The selected head of the grid as a large square with labels; the squares of all heads are beside it, or below it in a
// narrow window.

import { createElement, signs } from "./elements.js";
import {
  across, APART, down, EDGE, GAP, isRoomy, keyTokens, setSquare, shortName, snapSide, TITLE, WIDE,
} from "./heads_grid_square.js";
import { KEY, QUERY_DOWN } from "./heads_grid_words.js";

/**
 * @typedef {import("./heads_grid_layout.js").GridData} GridData
 * @typedef {import("./heads_grid_layout.js").Plan} Plan
 * @typedef {import("./heads_grid_layout.js").Square & { room: number }} Large  `room` for labels, on the left and below
 */

const LETTER = 6.6, BESIDE = 14, MOST_ROOM = 84, NUMBERED = 46;  // pixels
const PANEL = [160, 230], SENTENCE = 168, TALLEST = 720, NARROW = 440;
const SHARE = 0.68;  // of the width for the large head, if there are others
const LINE = 13;  // pixels from one label to the next
const NUMBER = 24, NAME_LETTER = 5.4;  // pixels beside the name of a square, and of one of its letters

/**
 * Returns whether the window is wide, the width of the readout, the room for labels, and the width that squares have.
 * @param {GridData} data
 * @param {number} width
 */
export function roomOf(data, width) {
  const wide = width >= WIDE, beside = Math.max(PANEL[0], Math.min(PANEL[1], 0.22 * width));
  const panel = data.trained ? SENTENCE : Math.round(beside);
  const letters = Math.max(0, ...[...data.tokens, ...keyTokens(data)].map((token) => signs(token).length));
  const named = data.tokens.length > 0 && data.tile === 1;
  const room = named ? Math.round(Math.min(MOST_ROOM, BESIDE + LETTER * letters * lanesOf(data))) : NUMBERED;
  return { wide, panel, room, area: (wide ? width - panel - APART : width) - room - EDGE };
}

/**
 * Returns how many columns the labels of rows take: two, by turns, if a training has tokens of one letter, so that more fit.
 * @param {GridData} data
 */
function lanesOf(data) {
  return data.trained && data.tokens.every((token) => signs(token).length === 1) ? 2 : 1;
}

/**
 * Returns the size of the large head and of the squares: the large one as high as the grid, or as wide as the window.
 * @param {GridData} data
 * @param {number} width
 * @returns {Plan}
 */
export function arrangeLarge(data, width) {
  const { wide, panel, room, area } = roomOf(data, width);
  const highest = Math.max(data.height, Math.min(TALLEST, 0.6 * window.innerHeight));
  const side = wide ? Math.min(highest - TITLE - room, data.heads > 1 ? SHARE * area : area) : Math.min(NARROW, area - EDGE);
  const large = { ...snapSide({ side: Math.max(24, Math.floor(side)) }, data), room };
  const left = wide ? area - large.width - GAP - 2 * EDGE : width - 2 * EDGE;
  const fit = fitNamed(data, left, wide ? TITLE + large.height + room : Infinity, wide);
  const shown = { wide, margin: EDGE, below: wide ? 0 : 12, panel, gridHeight: TITLE + large.height + room };
  const widened = wide && fit.stacked ? widenTracks(data, fit, left, panel) : {};
  return { ...snapSide({ ...fit, ...shown, ...widened }, data), large };
}

/**
 * Returns the width of the columns of squares so that as many names as possible fit, and that of the readout, which may
 * become narrower for it.
 * @param {GridData} data
 * @param {{ columns: number, side: number }} fit
 * @param {number} left  the width that the squares have
 * @param {number} panel
 */
function widenTracks(data, { columns, side }, left, panel) {
  const gaps = GAP * (columns - 1), most = Math.floor((left + panel - PANEL[0] - gaps) / columns);
  const wanted = data.names.map((name) => Math.ceil(NAME_LETTER * signs(shortName(name)).length));
  const track = Math.max(side, ...wanted.filter((width) => width <= most));
  return { track, panel: panel - Math.max(0, columns * track + gaps - left) };
}

/**
 * Returns columns and side of the squares. If these are too narrow for a number and a name in one line, they take two.
 * @param {GridData} data
 * @param {number} width
 * @param {number} height
 * @param {boolean} wide
 * @returns {{ columns: number, side: number, stacked?: boolean }}
 */
function fitNamed(data, width, height, wide) {
  const plain = fitBeside(data, width, height, wide, TITLE);
  const longest = Math.max(0, ...data.names.map((name) => signs(shortName(name)).length));
  if (!longest || plain.side >= NUMBER + NAME_LETTER * longest) return plain;
  return { ...fitBeside(data, width, height, wide, TITLE + LINE), stacked: true };
}

/**
 * Returns the columns and the side of the squares that make them largest, below titles of this height.
 * @param {GridData} data
 * @param {number} width
 * @param {number} height
 * @param {boolean} wide
 * @param {number} title
 */
function fitBeside({ heads }, width, height, wide, title) {
  const sideOf = (/** @type {number} */ columns) => {
    const rows = Math.ceil(heads / columns);
    const byWidth = (width - GAP * (columns - 1)) / columns, byHeight = (height - GAP * (rows - 1)) / rows - title;
    return Math.floor(Math.min(byWidth, byHeight));
  };
  const choices = wide ? Array.from({ length: heads }, (_, i) => i + 1) : [Math.min(3, heads)];
  const columns = choices.reduce((best, columns) => (sideOf(columns) > sideOf(best) ? columns : best));
  return { columns, side: Math.max(24, sideOf(columns)) };
}

/**
 * Sets size, place and labels of a large head.
 * @param {import("./heads_grid_layout.js").Figure} large
 * @param {GridData} data
 * @param {Large} plan
 */
export function setLarge(large, data, plan) {
  const { element, square } = large, { room, cell } = plan;
  element.style.margin = `0 0 ${room}px ${room}px`;
  element.classList.toggle("roomy", isRoomy(plan));
  setSquare(large, plan);
  const lanes = lanesOf(data);
  const add = (/** @type {HTMLElement[]} */ labels) => labels.forEach((label, at) => {
    label.classList.toggle("upright", lanes > 1);
    label.classList.toggle("outer", at % lanes > 0);
    square.append(label);
  });
  const names = (/** @type {string[]} */ tokens, /** @type {number} */ count, /** @type {number} */ size) => {
    const step = Math.max(1, Math.ceil(LINE / size / lanes)), named = tokens.length > 0 && data.tile === 1;
    const every = Array.from({ length: Math.ceil(count / step) }, (_, i) => i * step);
    return every.map((i) => /** @type {[number, string]} */ ([i, named ? tokens[i] : `${i * data.tile}`]));
  };
  add(names(data.tokens, data.rows, cell.height).map(([i, name]) => down(name, i, plan, room, LINE)));
  add(names(keyTokens(data), data.columns, cell.width).map(([i, name]) => across(name, i, plan, room, LINE)));
}

/**
 * Names the axes of the large head.
 * @param {HTMLElement} square
 * @param {Large} plan
 */
export function setAxes(square, plan) {
  const query = createElement("span", "axis", QUERY_DOWN), key = createElement("span", "axis", KEY);
  Object.assign(query.style, { right: `${plan.width + 4}px`, top: `-${TITLE}px` });
  Object.assign(key.style, { top: "calc(100% + 2px)", right: `${plan.width + 7}px` });
  square.append(query, key);
}
