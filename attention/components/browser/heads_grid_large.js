// The selected head of the grid as a large square with labels; the squares of all heads are beside it, or below it in a
// narrow window.

import { createElement, signs } from "./elements.js";
import {
  across, APART, down, EDGE, GAP, isRoomy, keyTokens, setSquare, shortName, snapSide, TITLE, WIDE,
} from "./heads_grid_square.js";
import { KEY, labelled, position, QUERY_UP } from "./heads_grid_words.js";

/**
 * @typedef {import("./heads_grid_layout.js").GridData} GridData
 * @typedef {import("./heads_grid_layout.js").Plan} Plan
 * @typedef {import("./heads_grid_layout.js").Square & { room: number }} Large  `room` for labels, on the left and below
 */

const LETTER = 6.6, BESIDE = 14, MOST_ROOM = 84, CORNER = 48, AXIS = 15;  // pixels; the last is a line of the corner
const PANEL = [160, 230], SENTENCE = 168, TALLEST = 720, NARROW = 440;
const SHARE = 0.68;  // of the width for the large head, if there are others
const LINE = 13;  // pixels from one label to the next
const SPARSE = 3;  // tokens per label beyond which labels are positions, as a few of many words do not tell where they are
const NUMBER = 24, BRIEF_NUMBER = 16, NAME_LETTER = 5.4;  // pixels beside the name of a square, and of one of its letters

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
  const room = named ? Math.round(Math.min(MOST_ROOM, BESIDE + LETTER * letters * lanesOf(data))) : 0;
  const corner = data.trained ? room : Math.max(CORNER, room);
  return { wide, panel, room: corner, area: (wide ? width - panel - APART : width) - corner - EDGE };
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
  const fit = fitNamed(data, left, wide ? TITLE + large.height + room : Infinity, wide, panel - PANEL[0]);
  const shown = { wide, margin: EDGE, below: wide ? 0 : 12, panel, gridHeight: TITLE + large.height + room };
  const widened = wide && (fit.stacked || fit.brief) ? widenTracks(data, fit, left, panel, shown.gridHeight) : {};
  return { ...snapSide({ ...fit, ...shown, ...widened }, data), large };
}

/**
 * Returns the width of the columns of squares so that as many names as possible fit, and that of the readout, which may
 * become narrower for it. `wrapped`: whether longer names take a second line, if there is room for it above all squares.
 * @param {GridData} data
 * @param {{ columns: number, side: number, brief?: boolean }} fit
 * @param {number} left  the width that the squares have
 * @param {number} panel
 * @param {number} height  of the grid
 */
function widenTracks(data, { columns, side, brief }, left, panel, height) {
  const gaps = GAP * (columns - 1), most = Math.floor((left + panel - PANEL[0] - gaps) / columns);
  const widthOf = (/** @type {string} */ name) => Math.ceil(NAME_LETTER * signs(name).length);
  const wanted = brief ? data.short_names?.map((name) => BRIEF_NUMBER + widthOf(name)) ?? [] :
    data.names.map((name) => widthOf(shortName(name)));
  const track = Math.max(side, ...wanted.filter((width) => width <= most));
  const rows = Math.ceil(data.heads / columns), wrappedHeight = rows * (TITLE + 2 * LINE + side) + GAP * (rows - 1);
  const wrapped = !brief && wanted.some((width) => width > track) && wrappedHeight <= height;
  return { track, wrapped, panel: panel - Math.max(0, columns * track + gaps - left) };
}

/**
 * Returns columns and side of the squares. If these are too narrow for a number and a name in one line, they take two, unless
 * most names have no room in these either.
 * @param {GridData} data
 * @param {number} width
 * @param {number} height
 * @param {boolean} wide
 * @param {number} spare  pixels by which the squares may be wider than this
 * @returns {{ columns: number, side: number, stacked?: boolean, brief?: boolean }}
 */
function fitNamed(data, width, height, wide, spare) {
  const plain = fitBeside(data, width, height, wide, TITLE), named = data.names.filter(Boolean);
  const letters = named.map((name) => signs(shortName(name)).length), longest = Math.max(0, ...letters);
  if (!longest || plain.side >= NUMBER + NAME_LETTER * longest) return plain;
  const two = fitBeside(data, width, height, wide, TITLE + LINE), most = (width + spare) / two.columns - GAP;
  const without = wide && data.group === 1 && 2 * letters.filter((count) => NAME_LETTER * count > most).length > letters.length;
  return without ? { ...plain, brief: Boolean(data.short_names) } : { ...two, stacked: true };
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
  add(labelsOf(data, data.tokens, data.rows, cell.height, lanes).map(([i, name]) => down(name, i, plan, room, LINE)));
  add(labelsOf(data, keyTokens(data), data.columns, cell.width, lanes).map(([i, name]) => across(name, i, plan, room, LINE)));
}

/**
 * Returns the cells of an axis that have a label, each with its text: tokens, or round positions if few of them have room.
 * @param {GridData} data
 * @param {string[]} tokens
 * @param {number} count  cells of the axis
 * @param {number} size  of a cell, in pixels
 * @param {number} lanes
 * @returns {[number, string][]}
 */
function labelsOf(data, tokens, count, size, lanes) {
  const step = tokenStep(data, size, lanes);
  if (step) return every(count, step).map((i) => [i, tokens[i]]);
  const places = every(count * data.tile, roundUp((LINE / size / lanes) * data.tile));
  return places.map((at) => [(at + 0.5) / data.tile - 0.5, position(at)]);
}

/**
 * Returns of how many tokens one has a label; 0 if labels are positions.
 * @param {GridData} data
 * @param {number} size  of a cell, in pixels
 * @param {number} lanes
 */
function tokenStep(data, size, lanes) {
  const least = LINE / size / lanes;
  return isNamed(data) && least <= SPARSE ? Math.max(1, Math.ceil(least)) : 0;
}

/** @param {GridData} data */
function isNamed({ tokens, tile }) {
  return tokens.length > 0 && tile === 1;
}

/**
 * @param {number} end
 * @param {number} step
 */
function every(end, step) {
  return Array.from({ length: Math.ceil(end / step) }, (_, i) => i * step);
}

/**
 * Returns the next round number: 1, 2 or 5 times a power of ten.
 * @param {number} least
 */
function roundUp(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least) ?? 1;
}

/**
 * Labels the row and the column of a cell in bold, where other labels may leave both out, and hides those that this would cover.
 * @param {HTMLElement} square
 * @param {GridData} data
 * @param {Large} plan
 * @param {{ row: number, column: number, query: number, key: number }} cell
 */
export function labelSelected(square, data, plan, { row, column, query, key }) {
  const picked = [row, column, query, key].join();
  if (square.dataset.picked === picked && square.querySelector(".picked")) return;  // most moves of a pointer
  square.dataset.picked = picked;
  for (const old of square.querySelectorAll(".picked")) old.remove();
  const [rowName, columnName] = isNamed(data)
    ? [data.tokens[row], keyTokens(data)[column]] : [query, key].map(position);
  const labels = [down(rowName, row, plan, plan.room, LINE), across(columnName, column, plan, plan.room, LINE)];
  labels.forEach((label) => {
    label.classList.add("picked");
    label.classList.toggle("upright", lanesOf(data) > 1);
  });
  for (const [kind, edge, { style }] of /** @type {const} */ ([["down", "top", labels[0]], ["across", "left", labels[1]]])) {
    for (const other of square.querySelectorAll(`.label.${kind}`)) {
      if (!(other instanceof HTMLElement)) continue;
      const near = Math.abs(parseFloat(other.style[edge]) - parseFloat(style[edge])) < LINE;
      other.style.visibility = near ? "hidden" : "";
    }
  }
  square.append(...labels);
}

/**
 * Names the axes of the large head in its corner, and says which tokens have labels, if not all have.
 * @param {HTMLElement} square
 * @param {GridData} data
 * @param {Large} plan
 */
export function setAxes(square, data, plan) {
  const below = plan.cell.height < LINE ? 4 : 0;  // pixels by which the label of the last row reaches below it
  const steps = [plan.cell.height, plan.cell.width].map((size) => tokenStep(data, size, lanesOf(data)));
  [QUERY_UP, KEY, isNamed(data) ? labelled(steps[0], steps[1]) : ""].forEach((text, line) => {
    const axis = createElement("span", "axis", text);
    Object.assign(axis.style, { top: `calc(100% + ${AXIS * line + below}px)`, right: `${plan.width + 7}px` });
    square.append(axis);
  });
}
