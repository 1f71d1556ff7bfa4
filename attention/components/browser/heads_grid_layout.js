// The layout of the grid: squares, titles, axes and labels. Sizes are whole CSS pixels.

import { createElement, signs } from "./elements.js";

/**
 * @typedef {Omit<import("./message.js").GridHeader, "places"> & import("./cells.js").Bytes} GridData
 * @typedef {import("./cells.js").Cell & { shown?: import("./cells.js").Cell }} Spot  a position of the cursor
 */

/**
 * The square of a head and what was last painted into it.
 * @typedef {object} Figure
 * @property {HTMLElement} element
 * @property {HTMLElement} square
 * @property {HTMLCanvasElement} canvas
 * @property {{ codes: Uint16Array, seeing: Float32Array, key: string } | null} painted
 */

/**
 * Number of columns and side of the squares, in CSS pixels; `high` and `broad` are in device pixels, `ratio` of which
 * are one CSS pixel.
 * @typedef {object} Fit
 * @property {boolean} wide
 * @property {number} columns
 * @property {number} side
 * @property {number} margin
 * @property {number} below
 * @property {number} [labels]  room for the token texts, if they are shown
 * @typedef {{ ratio: number, high: number, broad: number, height: number, width: number }} Size
 * @typedef {Fit & Size & { cell: { height: number, width: number } }} Plan
 */

/**
 * @typedef {object} Grid
 * @property {HTMLElement} root
 * @property {HTMLElement} heads
 * @property {HTMLElement} spread
 * @property {HTMLDetailsElement} details
 * @property {import("./heads_grid_readout.js").Readout} of  the elements of the readout, by name
 * @property {import("./heads_grid.js").Ways} ways
 * @property {GridData} data
 * @property {Figure[]} figures
 * @property {Plan} plan
 * @property {import("./theme.js").Ground} neutrals
 * @property {number} width  the width for which it is laid out
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
 */

export const GAP = 10;
const TITLE = 18, MARGIN = 14, EDGE = 5, PANEL = 160, APART = 16, WIDE = 620, ROOMY = 6;
const LABELLED = 24, LEAST_LABEL = 8.4;

/**
 * Returns columns and side of the squares: in a wide window as large as the height allows, in a narrow one two per row.
 * @param {GridData} data
 * @param {number} width
 * @returns {Plan}
 */
export function arrangeSquares(data, width) {
  const longest = Math.max(data.rows, data.columns), plain = fitSquares(data, width, MARGIN, 20);
  const unnamed = !data.tokens.length || longest > LABELLED || data.tile > 1;
  if (unnamed || plain.side / longest < LEAST_LABEL + 1) return snapSide(plain, data);
  const longestName = Math.max(...[...data.tokens, ...keyTokens(data)].map((token) => signs(token).length));
  const room = Math.round(Math.min(58, 12 + 5.6 * longestName));
  const labelled = fitSquares(data, width, Math.max(40, room), room + 4);
  return snapSide(labelled.side / longest >= LEAST_LABEL ? { ...labelled, labels: room } : plain, data);
}

/**
 * Returns the token texts of the keys: those of the queries, unless the keys are of another sequence.
 * @param {GridData} data
 */
export function keyTokens({ tokens, key_tokens }) {
  return key_tokens ?? tokens;
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
  const wide = width >= WIDE, area = (wide ? width - PANEL - APART : width) - margin - EDGE, tall = data.height - below;
  const sideOf = (/** @type {number} */ columns) => {
    const rows = Math.ceil(data.heads / columns);
    const across = (area - GAP * (columns - 1)) / columns, down = (tall - GAP * (rows - 1)) / rows - TITLE;
    return Math.floor(wide ? Math.min(across, down) : across);
  };
  const choices = wide ? Array.from({ length: data.heads }, (_, i) => i + 1) : [Math.min(2, data.heads)];
  // A grid with an incomplete row is preferred only if its squares are more than a tenth larger.
  const worth = (/** @type {number} */ columns) => sideOf(columns) * (data.heads % columns ? 1 : 1.1);
  const columns = choices.reduce((best, columns) => (worth(columns) > worth(best) ? columns : best));
  return { wide, columns, side: Math.max(24, sideOf(columns)), margin, below };
}

/**
 * Rounds the side to device pixels: to a whole number per cell, if that reduces the size by at most 12%.
 * @param {Fit} plan
 * @param {GridData} data
 * @returns {Plan}
 */
function snapSide(plan, { rows, columns }) {
  const ratio = window.devicePixelRatio || 1, longest = Math.max(rows, columns);
  const pixels = Math.floor(plan.side * ratio), whole = Math.floor(pixels / longest) * longest;
  const side = whole >= 0.88 * pixels ? whole : pixels;
  const [high, broad] = [rows, columns].map((cells) => Math.max(1, Math.round((side * cells) / longest)));
  const cell = { height: high / rows / ratio, width: broad / columns / ratio };
  return { ...plan, ratio, high, broad, cell, height: high / ratio, width: broad / ratio };
}

/**
 * Adds or removes figures until there is one per head.
 * @param {Grid} grid
 */
export function setFigures({ heads, figures, data }) {
  while (figures.length > data.heads) figures.pop()?.element.remove();
  while (figures.length < data.heads) {
    const element = createElement("figure"), caption = createElement("figcaption");
    const square = createElement("div", "square"), canvas = createElement("canvas");
    caption.append(createElement("b", "", `Head ${figures.length}`), createElement("span"));
    square.dataset.head = `${figures.length}`;
    square.append(canvas, createElement("i", "pinned"), createElement("i", "row"), createElement("i", "column"));
    element.append(caption, square);
    figures.push({ element, square, canvas, painted: null });
    heads.append(element);
  }
}

/**
 * @param {Grid} grid
 * @param {Plan} plan
 */
export function setLayout(grid, plan) {
  grid.plan = plan;
  const { heads, root } = grid, { cell } = plan;
  root.classList.toggle("wide", plan.wide);
  root.style.minHeight = plan.wide ? `${grid.data.height}px` : "";
  heads.style.padding = `0 ${EDGE}px ${plan.below}px ${plan.margin}px`;
  heads.style.gap = `${GAP}px`;
  heads.style.setProperty("--gap", `${GAP}px`);
  heads.style.gridTemplateColumns = `repeat(${plan.columns}, ${plan.width}px)`;
  heads.classList.toggle("roomy", Math.min(cell.width, cell.height) >= ROOMY);
  for (const figure of grid.figures) {
    const { square, canvas } = figure;
    Object.assign(square.style, { width: `${plan.width}px`, height: `${plan.height}px` });
    if (canvas.width !== plan.broad || canvas.height !== plan.high) {
      Object.assign(canvas, { width: plan.broad, height: plan.high });
      figure.painted = null;
    }
  }
  setLabels(grid);
}

/**
 * Labels the axes once, and writes tokens next to the first square of each row and below the last of each column.
 * @param {Grid} grid
 */
function setLabels({ heads, figures, data, plan }) {
  const { labels, columns } = plan;
  for (const old of heads.querySelectorAll(".axis, .label")) old.remove();
  figures.forEach(({ square }, h) => {
    if (!labels) return;
    if (h % columns === 0) data.tokens.forEach((token, i) => square.append(down(token, i, plan, labels)));
    if (h + columns < figures.length) return;
    keyTokens(data).forEach((token, i) => square.append(across(token, i, plan, labels)));
  });
  const query = createElement("span", labels ? "axis" : "axis upright", labels ? "query ↓" : "query →");
  Object.assign(query.style, labels ? { right: `${plan.width + 4}px`, top: 0 } : { left: "-14px", top: `${TITLE}px` });
  const key = createElement("span", "axis", "key →");
  Object.assign(key.style, { top: "calc(100% + 2px)" }, labels ? { right: `${plan.width + 7}px` } : { left: 0 });
  figures[0].element.append(query);
  figures[Math.floor((figures.length - 1) / columns) * columns].element.append(key);
}

/** @param {number} size */
function fontOf(size) {
  return `${Math.min(11, size - 0.6)}px`;
}

/**
 * @param {string} token
 * @param {number} i
 * @param {Plan} plan
 * @param {number} room
 */
function down(token, i, { cell }, room) {
  const label = createElement("span", "label down", token), size = cell.height;
  const place = { right: "calc(100% + 7px)", width: `${room - 9}px`, top: `${i * size}px` };
  Object.assign(label.style, place, { height: `${size}px`, lineHeight: `${size}px` });
  label.style.setProperty("--label", fontOf(size));
  return label;
}

/**
 * @param {string} token
 * @param {number} i
 * @param {Plan} plan
 * @param {number} room
 */
function across(token, i, { cell }, room) {
  const label = createElement("span", "label across", token), size = cell.width;
  const place = { top: "calc(100% + 7px)", height: `${room - 6}px`, left: `${i * size}px` };
  Object.assign(label.style, place, { width: `${size}px`, lineHeight: `${size}px` });
  label.style.setProperty("--label", fontOf(size));
  return label;
}
