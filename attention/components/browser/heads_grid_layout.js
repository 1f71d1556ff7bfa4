// The layout of the grid: squares, titles, axes and labels. Sizes are whole CSS pixels.

import { createElement, signs } from "./elements.js";
import { arrangeLarge, setLarge } from "./heads_grid_large.js";
import {
  across, APART, createFigure, down, EDGE, GAP, isRoomy, keyTokens, setSquare, snapSide, TITLE, WIDE,
} from "./heads_grid_square.js";
import { KEY, QUERY_ACROSS, QUERY_DOWN } from "./heads_grid_words.js";

/**
 * @typedef {Omit<import("./message.js").GridHeader, "places" | "sums"> & import("./cells.js").Bytes} GridData
 * @typedef {import("./cells.js").Cell & { shown?: import("./cells.js").Cell }} Spot  a position of the cursor
 */

/**
 * The square of a head and what was last painted into it.
 * @typedef {object} Figure
 * @property {HTMLElement} element
 * @property {HTMLElement} square
 * @property {HTMLCanvasElement} canvas
 * @property {{ codes: Uint16Array, signs: Uint8Array, seeing: Float32Array, key: string } | null} painted
 */

/**
 * Number of columns and side of the squares, in CSS pixels; `pixelHeight` and `pixelWidth` are in device pixels, `ratio` of
 * which are one CSS pixel.
 * @typedef {object} Fit
 * @property {boolean} wide
 * @property {number} columns
 * @property {number} side
 * @property {number} margin
 * @property {number} below
 * @property {number} [labels]  room for the token texts, if they are shown
 * @property {number} [panel]  width of the readout, if it is not what is left
 * @property {number} [gridHeight]  height of the grid, if it is not the given one
 * @property {boolean} [stacked]  whether names are below the numbers of heads
 * @typedef {{ ratio: number, pixelHeight: number, pixelWidth: number, height: number, width: number }} Size
 * @typedef {Size & { cell: { height: number, width: number } }} Square
 * @typedef {Fit & Square & { large?: import("./heads_grid_large.js").Large }} Plan
 */

/**
 * @typedef {object} Grid
 * @property {HTMLElement} root
 * @property {HTMLElement} heads  the large head and all squares
 * @property {HTMLElement} squares
 * @property {Figure} large
 * @property {HTMLElement} spread
 * @property {HTMLDetailsElement} details
 * @property {import("./heads_grid_readout.js").Readout} readout  the elements of the readout, by name
 * @property {import("./heads_grid.js").Ways} ways
 * @property {GridData} data
 * @property {Figure[]} figures
 * @property {Plan} plan
 * @property {import("./theme.js").Ground} neutrals
 * @property {number} width  the width for which it is laid out
 * @property {string} laidOutFor  all that the current layout depends on
 * @property {Spot} cursor
 * @property {Spot} home  where Escape moves the cursor
 * @property {import("./message.js").Focus} told  the last selection by the server
 * @property {boolean} followed  whether the cursor is where the server last put it
 * @property {Spot | null} hover
 * @property {MouseEvent | null} pointer
 * @property {boolean} keyed
 * @property {string[]} sent
 * @property {number} count
 * @property {number} timer  0 if none is running
 * @property {boolean} pending
 * @property {number} snapping  the timer after which the squares are aligned again
 */

const MARGIN = 14, PANEL = 160;
const LABELLED = 24, LEAST_LABEL = 8.4;

/**
 * Returns columns and side of the squares, and the size of the large head, if there is one: heads of several layers have
 * equal squares.
 * @param {GridData} data
 * @param {number} width
 * @returns {Plan}
 */
export function arrangeSquares(data, width) {
  return data.per ? arrangeEqual(data, width) : arrangeLarge(data, width);
}

/**
 * Returns columns and side of equal squares: in a wide window as large as the height allows, in a narrow one two per row.
 * @param {GridData} data
 * @param {number} width
 * @returns {Plan}
 */
function arrangeEqual(data, width) {
  const longest = Math.max(data.rows, data.columns), plain = fitSquares(data, width, MARGIN, 20);
  const unnamed = !data.tokens.length || longest > LABELLED || data.tile > 1;
  if (unnamed || plain.side / longest < LEAST_LABEL + 1) return snapSide(plain, data);
  const longestName = Math.max(...[...data.tokens, ...keyTokens(data)].map((token) => signs(token).length));
  const room = Math.round(Math.min(58, 12 + 5.6 * longestName));
  const labelled = fitSquares(data, width, Math.max(40, room), room + 4);
  return snapSide(labelled.side / longest >= LEAST_LABEL ? { ...labelled, labels: room } : plain, data);
}

/**
 * Returns the best fit with `margin` pixels to the left of the squares and `below` pixels below them.
 * @param {GridData} data
 * @param {number} width
 * @param {number} margin
 * @param {number} below
 * @returns {Fit}
 */
function fitSquares(data, width, margin, below) {
  const wide = width >= WIDE, area = (wide ? width - PANEL - APART : width) - margin - EDGE, height = data.height - below;
  const sideOf = (/** @type {number} */ columns) => {
    const rows = Math.ceil(data.heads / columns);
    const across = (area - GAP * (columns - 1)) / columns, down = (height - GAP * (rows - 1)) / rows - TITLE;
    return Math.floor(wide ? Math.min(across, down) : across);
  };
  const choices = wide ? Array.from({ length: data.heads }, (_, i) => i + 1) : [Math.min(2, data.heads)];
  // A grid with an incomplete row is preferred only if its squares are more than a tenth larger.
  const worth = (/** @type {number} */ columns) => sideOf(columns) * (data.heads % columns ? 1 : 1.1);
  const columns = choices.reduce((best, columns) => (worth(columns) > worth(best) ? columns : best));
  return { wide, columns, side: Math.max(24, sideOf(columns)), margin, below };
}

/**
 * Adds or removes figures until there is one per head.
 * @param {Grid} grid
 */
export function setFigures({ squares, figures, data }) {
  while (figures.length > data.heads) figures.pop()?.element.remove();
  while (figures.length < data.heads) {
    const figure = createFigure("square");
    figure.square.dataset.head = `${figures.length}`;
    figures.push(figure);
    squares.append(figure.element);
  }
}

/**
 * Sets sizes and labels, unless they are the same as before: a new weight alone moves nothing.
 * @param {Grid} grid
 * @param {Plan} plan
 */
export function setLayout(grid, plan) {
  const { height, tokens, key_tokens, tile, heads } = grid.data;
  const laidOutFor = JSON.stringify([plan, height, tokens, key_tokens, tile, heads]);
  if (grid.laidOutFor === laidOutFor) return;
  Object.assign(grid, { plan, laidOutFor });
  const { squares, root } = grid;
  root.classList.toggle("wide", plan.wide);
  root.style.minHeight = plan.wide ? `${plan.gridHeight ?? grid.data.height}px` : "";
  root.style.setProperty("--panel", plan.panel ? `${plan.panel}px` : "");
  squares.style.padding = `0 ${EDGE}px ${plan.below}px ${plan.margin}px`;
  squares.style.gap = `${GAP}px`;
  squares.style.setProperty("--gap", `${GAP}px`);
  squares.style.gridTemplateColumns = `repeat(${plan.columns}, ${plan.width}px)`;
  squares.classList.toggle("roomy", isRoomy(plan));
  squares.classList.toggle("stacked", Boolean(plan.stacked));
  for (const figure of grid.figures) setSquare(figure, plan);
  for (const part of [grid.squares, grid.large.element]) {
    for (const old of part.querySelectorAll(".axis, .label")) old.remove();
  }
  if (plan.large) setLarge(grid, plan.large);
  else {
    grid.large.element.remove();
    setLabels(grid);
  }
  squares.hidden = Boolean(plan.large) && grid.data.heads === 1;  // the large head is the only one
}

/**
 * Labels the axes once, and writes tokens next to the first square of each row and below the last of each column.
 * @param {Grid} grid
 */
function setLabels({ figures, data, plan }) {
  const { labels, columns } = plan;
  figures.forEach(({ square }, h) => {
    if (!labels) return;
    if (h % columns === 0) data.tokens.forEach((token, i) => square.append(down(token, i, plan, labels)));
    if (h + columns < figures.length) return;
    keyTokens(data).forEach((token, i) => square.append(across(token, i, plan, labels)));
  });
  const query = createElement("span", labels ? "axis" : "axis upright", labels ? QUERY_DOWN : QUERY_ACROSS);
  Object.assign(query.style, labels ? { right: `${plan.width + 4}px`, top: 0 } : { left: "-14px", top: `${TITLE}px` });
  const key = createElement("span", "axis", KEY);
  Object.assign(key.style, { top: "calc(100% + 2px)" }, labels ? { right: `${plan.width + 7}px` } : { left: 0 });
  figures[0].element.append(query);
  figures[Math.floor((figures.length - 1) / columns) * columns].element.append(key);
}

